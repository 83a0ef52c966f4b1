"""The entailment space of an index: Gaussians in half precision, and its encoder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ontodex
from ontodex.encoders import text as text_module
from ontodex.encoders.gauss_cse import GaussCSE
from ontodex.errors import EncoderError, IndexMismatch
from ontodex.graph import entity_sentences
from ontodex.storage import manifest
from tests.plain import build_plain


def test_every_sentence_is_stored_in_half_precision(
    tmp_path, small_graph, tiny_encoder, tiny_gauss
):
    with build_plain(
        small_graph, tmp_path / "x.odx", tiny_encoder, entailment=tiny_gauss
    ) as engine:
        sentences = entity_sentences(small_graph)
        index = engine.index
        assert list(index.sentences("entailment").texts) == list(sentences.texts)
        np.testing.assert_array_equal(index.sentences("entailment").owners, sentences.owners)
        stored = np.concatenate(index.vectors("entailment").shards)
        assert stored.dtype == np.float16
        wanted = GaussCSE.load(tiny_gauss, "cpu").encode(sentences.texts)
        np.testing.assert_allclose(stored, wanted, rtol=2e-2, atol=5e-3)
        assert index.manifest.spaces["entailment"].geometry == "gaussian"
        assert index.verify() == []
        assert not list(index.folder.glob("entailment.*"))


def test_what_is_encoded_is_not_encoded_again(
    tmp_path, small_graph, tiny_encoder, tiny_gauss, monkeypatch
):
    build_plain(small_graph, tmp_path / "x.odx", tiny_encoder, entailment=tiny_gauss).close()
    encoded = []
    real = text_module.TextEncoder._encode_unique
    monkeypatch.setattr(
        text_module.TextEncoder,
        "_encode_unique",
        lambda self, texts: encoded.extend(texts) or real(self, texts),
    )
    with build_plain(
        small_graph, tmp_path / "x.odx", tiny_encoder, entailment=tiny_gauss
    ) as engine:
        assert encoded == []
        assert engine.index.manifest.generation == 2
        assert len(engine.entailed_by("ex:dog", 3)) == 3


def test_numbers_that_half_precision_cannot_hold_are_refused(
    tmp_path, small_graph, tiny_encoder, tiny_gauss
):
    model = GaussCSE.load(tiny_gauss, "cpu")
    weights = dict(model.heads.weights)
    weights["mean.bias"] = np.full(model.dim, 60_000.0, dtype=np.float32)
    weights["mean.weight"] = weights["mean.weight"] * np.float32(10_000.0)
    model.heads = replace(model.heads, weights=weights)
    model.save(tmp_path / "model")
    with pytest.raises(EncoderError, match="finite numbers in float16 for every text, found"):
        build_plain(small_graph, tmp_path / "x.odx", tiny_encoder, entailment=tmp_path / "model")
    assert not (tmp_path / "x.odx" / "CURRENT").exists()


def test_an_encoder_that_was_exchanged_is_refused(tmp_path, small_graph, tiny_encoder, tiny_gauss):
    path = tmp_path / "x.odx"
    build_plain(small_graph, path, tiny_encoder, entailment=tiny_gauss).close()
    file = path / (path / "CURRENT").read_text().strip() / "manifest.json"
    content = json.loads(file.read_text())
    del content["blake2b"]
    content["encoders"]["entailment"]["fingerprint"] = "0" * 32
    file.write_text(json.dumps({"blake2b": manifest._digest(content), **content}))
    (file.parent / "encoders" / "entailment" / "gauss_cse" / "config.json").touch()
    with ontodex.open(path, device="cpu") as engine:
        assert len(engine.entailed_by("ex:dog", 3)) == 3  # its sentences are stored
        with pytest.raises(IndexMismatch, match="not the encoder that the index was built with"):
            engine.entailed_by("free text", 3)


def test_an_adapter_finds_its_text_encoder_in_the_index(
    tmp_path, small_graph, other_encoder, tiny_gauss
):
    """The text space has another encoder, so that of the adapter is copied into the index."""
    path = tmp_path / "x.odx"
    build_plain(small_graph, path, other_encoder, entailment=tiny_gauss).close()
    gauss = path / (path / "CURRENT").read_text().strip() / "encoders" / "entailment"
    assert (gauss / "config.json").exists()
    assert Path(GaussCSE.load(gauss, "cpu").text.folder) == gauss
