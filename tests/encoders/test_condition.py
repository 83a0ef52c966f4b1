"""Condition encoders: cosines, folders and refused settings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

from ontodex.encoders.condition import ConditionEncoder, read_together
from ontodex.encoders.condition_network import (
    ARCHITECTURES,
    ConditionNetwork,
    ConditionNetworkSettings,
)
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError

TEXTS = ["a dog", "a cat in the house", "whale", "a dog"]
CONDITIONS = ["lives in", "eats", "a condition that was never seen"]
FACTORED = ("hyper", "hadamard", "concat")
ROUNDED = float(np.finfo(np.float32).eps)
"""Tolerance: one float32 step below 1, as both sides are float64 results rounded to float32."""


@pytest.fixture(scope="module")
def text(tiny_encoder: Path) -> TextEncoder:
    return TextEncoder(tiny_encoder, "cpu")


def made(
    text: TextEncoder, architecture: str = "hyper", rank: int = 6, seed: int = 0
) -> ConditionEncoder:
    torch.manual_seed(seed)
    network = ConditionNetwork(
        ConditionNetworkSettings(text.dim, architecture, rank=rank, condition=5)
    )
    for parameter in network.parameters():  # away from the near-identity start
        torch.nn.init.normal_(parameter, std=0.3)
    return ConditionEncoder(text, network, {"definition": False}, CONDITIONS[:2])


@pytest.mark.parametrize("architecture", FACTORED)
@pytest.mark.parametrize("rank", [0, 6])
def test_numpy_and_torch_project_alike(text, architecture, rank):
    encoder = made(text, architecture, rank)
    vectors, factors = text.encode(TEXTS), encoder.factors(CONDITIONS)
    width = 6 if rank and architecture == "hyper" else text.dim
    assert encoder.rank == width
    assert factors.shape == ((3, text.dim, width) if architecture == "hyper" else (3, text.dim))
    assert factors.dtype == np.float32
    which = torch.tensor([2, 0, 2, 1])
    with torch.inference_mode():
        expected = encoder.network.project(
            torch.from_numpy(vectors), torch.from_numpy(factors), which
        )
        expected = torch.nn.functional.normalize(expected, dim=-1).numpy()
    rows = [
        encoder.project(vectors[[row]], factors[at])[0] for row, at in enumerate(which.tolist())
    ]
    np.testing.assert_allclose(np.stack(rows), expected, atol=1e-6)
    np.testing.assert_allclose(
        encoder.encode_pairs(TEXTS, CONDITIONS, which.numpy()), np.stack(rows), atol=ROUNDED
    )
    assert rows[0].dtype == np.float32


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_conditions_change_similarities(text, architecture):
    encoder = made(text, architecture)
    first, second = (encoder.encode(TEXTS, condition) for condition in CONDITIONS[:2])
    for vectors in (first, second):
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
        np.testing.assert_allclose(vectors[0], vectors[3], atol=ROUNDED)
    assert np.abs(first @ first.T - second @ second.T).max() > 1e-3


def test_a_network_starts_near_the_plain_encoder(text):
    vectors = text.encode(TEXTS)
    for architecture in FACTORED:
        torch.manual_seed(0)
        network = ConditionNetwork(ConditionNetworkSettings(text.dim, architecture, rank=0))
        encoder = ConditionEncoder(text, network)
        found = encoder.encode(TEXTS, "eats")
        np.testing.assert_allclose(found @ found.T, vectors @ vectors.T, atol=0.15)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_folder_keeps_everything(text, tmp_path, architecture):
    encoder = made(text, architecture)
    encoder.save(tmp_path / "model")
    assert ConditionEncoder.is_at(tmp_path / "model")
    assert not ConditionEncoder.is_at(text.folder)
    again = ConditionEncoder.load(tmp_path / "model", device="cpu")
    assert again.fingerprint == encoder.fingerprint
    assert (again.architecture, again.rank) == (encoder.architecture, encoder.rank)
    assert (again.texts, again.conditions) == ({"definition": False}, CONDITIONS[:2])
    np.testing.assert_array_equal(again.encode(TEXTS, "eats"), encoder.encode(TEXTS, "eats"))
    plain = SentenceTransformer(str(tmp_path / "model"), device="cpu")
    assert plain.encode(TEXTS).shape == (4, text.dim)
    again.save(tmp_path / "model")  # saving over its own folder
    assert ConditionEncoder.load(tmp_path / "model", text).fingerprint == encoder.fingerprint


def test_fingerprints_differ_by_network_not_by_training_texts(text):
    encoder = made(text)
    assert made(text, seed=1).fingerprint != encoder.fingerprint
    assert made(text, "concat").fingerprint != made(text, "hadamard").fingerprint
    assert ConditionEncoder(text, encoder.network).fingerprint == encoder.fingerprint


def test_a_bi_encoder_reads_both_and_has_no_factors(text):
    encoder = made(text, "bi-encoder")
    np.testing.assert_array_equal(
        encoder.encode(["a dog"], "eats"), text.encode([read_together("a dog", "eats")])
    )
    with pytest.raises(SettingsError, match="bi-encoder"):
        encoder.factors(["eats"])


@pytest.mark.parametrize("architecture", ["hyper", "bi-encoder"])
def test_conditions_that_cannot_be_read(text, architecture):
    encoder = made(text, architecture)
    with pytest.raises(SettingsError, match="expected a text such as 'genre', found ' '"):
        encoder.encode(TEXTS, " ")
    with pytest.raises(
        SettingsError, match=r"condition: expected at most .* found 102 in 'eats eats"
    ):
        encoder.encode(TEXTS, "eats " * 100)


def test_damaged_folders_say_so(text, tmp_path):
    with pytest.raises(EncoderError, match="does not load"):
        ConditionEncoder.load(text.folder, text)
    made(text).save_network(tmp_path)
    config = tmp_path / "condition" / "config.json"
    whole = config.read_text()
    for broken in (
        "{",
        "[]",
        whole.replace('"hyper"', '"hyperr"'),
        whole.replace('"rank": 6', '"rank": 7'),
    ):
        config.write_text(broken)
        with pytest.raises(EncoderError, match="does not load"):
            ConditionEncoder.load(tmp_path, text)
    config.write_text(json.dumps({**json.loads(whole), "more": 1}))
    with pytest.raises(EncoderError, match="unknown setting 'more'"):
        ConditionEncoder.load(tmp_path, text)


def test_settings_that_make_no_sense(text):
    for wrong in ({"architecture": "hyperr"}, {"rank": 33}, {"rank": -1}, {"condition": 0}):
        with pytest.raises(SettingsError, match=next(iter(wrong))):
            ConditionNetworkSettings(**{"dim": 32, "rank": 4, **wrong})
    with pytest.raises(EncoderError, match="embeddings of 8 dimensions"):
        ConditionEncoder(text, ConditionNetwork(ConditionNetworkSettings(8, rank=4)))
