from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from ontodex.encoders.bi_encoder import BiEncoder
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.link_encoder import load_link_encoder
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError


@pytest.fixture(scope="module")
def text(tiny_encoder: Path) -> TextEncoder:
    return TextEncoder(tiny_encoder, "cpu")


@pytest.fixture(scope="module")
def query(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> TextEncoder:
    """Another encoder of the same kind."""
    folder = tmp_path_factory.mktemp("query") / "encoder"
    shutil.copytree(tiny_encoder, folder)
    weights = load_file(folder / "model.safetensors")
    save_file(
        {name: weight * 0.9 for name, weight in weights.items()}, folder / "model.safetensors"
    )
    return TextEncoder(folder, "cpu")


@pytest.mark.parametrize("towers", [1, 2])
def test_a_saved_encoder_is_loaded(
    text: TextEncoder, query: TextEncoder, tmp_path: Path, towers: int
) -> None:
    made = BiEncoder(text, query if towers == 2 else None, {"synonyms": 2})
    made.save(tmp_path / "model")
    made.save(tmp_path / "model")  # saving again changes nothing
    assert HyperCL.is_at(tmp_path / "model")
    loaded = load_link_encoder(tmp_path / "model", device="cpu")
    assert isinstance(loaded, BiEncoder)
    assert (loaded.texts, loaded.fingerprint) == ({"synonyms": 2}, made.fingerprint)
    assert loaded.text.fingerprint == text.fingerprint
    assert (loaded.query is loaded.text) == (towers == 1)
    pairs = [("dog", "eats"), ("dog", "lives in"), ("dog", "eats")]
    assert np.array_equal(loaded.queries(pairs), made.queries(pairs))
    assert np.array_equal(loaded.queries(pairs)[0], loaded.queries(pairs)[2])
    assert not np.array_equal(loaded.queries(pairs)[0], text.encode(["dog eats"])[0])
    vectors = text.encode(["dog"])
    assert loaded.entities(vectors) is vectors


def test_fingerprints_of_one_and_two_towers_differ(text: TextEncoder, query: TextEncoder) -> None:
    assert BiEncoder(text).fingerprint != BiEncoder(text, query).fingerprint


def test_towers_of_two_dimensions(text: TextEncoder, other_encoder: Path) -> None:
    with pytest.raises(EncoderError, match="makes 32 dimensions, that of queries 16"):
        BiEncoder(text, TextEncoder(other_encoder, "cpu"))


@pytest.mark.parametrize(
    "content",
    [
        {"network": {"architecture": "bi-encoder", "towers": 3}, "texts": {}},
        {"network": {"architecture": "bi-encoder", "tower": 1}, "texts": {}},
        {"network": {"architecture": "bi-encoder"}, "texts": {}},
        {"network": {"architecture": "bi-encoder", "towers": 2}, "texts": 4},
        {"network": {"architecture": "bi-encoder", "towers": 2}},
    ],
    ids=str,
)
def test_other_contents_of_the_settings_file(
    text: TextEncoder, tmp_path: Path, content: object
) -> None:
    BiEncoder(text).save(tmp_path / "model")
    (tmp_path / "model" / "hyper_cl" / "config.json").write_text(json.dumps(content))
    with pytest.raises(EncoderError, match="expected a bi-encoder, found one that does not load"):
        load_link_encoder(tmp_path / "model", text)


def test_a_missing_tower(text: TextEncoder, query: TextEncoder, tmp_path: Path) -> None:
    BiEncoder(text, query).save(tmp_path / "model")
    shutil.rmtree(tmp_path / "model" / "hyper_cl" / "query")
    with pytest.raises(EncoderError, match="query: expected"):
        load_link_encoder(tmp_path / "model", text)


def test_a_tri_encoder_names_the_kind_of_a_bi_encoder_folder(
    text: TextEncoder, tmp_path: Path
) -> None:
    BiEncoder(text).save(tmp_path / "model")
    with pytest.raises(EncoderError, match="expected a Hyper-CL encoder"):
        HyperCL.load(tmp_path / "model", text)
