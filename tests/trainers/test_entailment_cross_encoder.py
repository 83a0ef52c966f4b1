"""Training of the entailment cross-encoder: what it learns, what it writes, what it refuses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from ontodex.encoders.entailment_cross_encoder import EntailmentCrossEncoder
from ontodex.encoders.sentence_transformer import load_tunable
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError
from ontodex.trainers.adapter import as_adapter
from ontodex.trainers.data.entailment_pairs import ENTAILMENT, NOT_ENTAILMENT, EntailmentPairs
from ontodex.trainers.entailment.cross_encoder import train_entailment_cross_encoder
from ontodex.trainers.entailment.settings import EntailmentCrossEncoderTraining

SETTINGS = EntailmentCrossEncoderTraining(epochs=12, batch=16, evaluations=3, rate=3e-3, rank=32)


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return TextEncoder(tiny_encoder, "cpu")


@pytest.fixture(scope="module")
def pairs():
    """Pairs: “the dog and the farm” entails both of its nouns, and is entailed by neither."""
    nouns = ("dog", "cat", "cow", "wolf", "fox", "hen", "farm", "forest", "house", "sea")
    rows = []
    for one in nouns:
        for two in nouns:
            if one != two:
                whole = f"the {one} and the {two}"
                rows += [(whole, f"the {one}", ENTAILMENT), (whole, f"the {two}", ENTAILMENT)]
                rows += [(f"the {one}", whole, NOT_ENTAILMENT)]
    return EntailmentPairs.of(rows)


def trained(pairs, folder, encoder, settings):
    train, valid = pairs.split(0.2, 0)
    made = train_entailment_cross_encoder(
        train,
        valid,
        folder,
        encoder=encoder,
        base=str(encoder.folder),
        settings=settings,
        seen=["farms"],
        quiet=True,
    )
    return made, [(one, two) for one, two, _ in valid.rows()], valid.entailed


@pytest.mark.slow
@pytest.mark.parametrize("tune", ["adapter", "full"])
def test_it_learns_and_loads_as_it_was_trained(pairs, tmp_path, encoder, tune):
    made, texts, entailed = trained(pairs, tmp_path / "m", encoder, replace(SETTINGS, tune=tune))
    found = made.probabilities(texts)
    assert np.mean((found > 0.5) == entailed) > 0.9
    base = encoder.folder if tune == "adapter" else None
    loaded = EntailmentCrossEncoder.load(tmp_path / "m", "cpu", base=base)
    np.testing.assert_allclose(loaded.probabilities(texts), found, atol=1e-6)
    assert loaded.seen == ["farms"]
    assert (tmp_path / "m" / "config.json").exists() == (tune == "full")
    logits = loaded.logits(texts)
    np.testing.assert_allclose(
        found, 1 / (1 + np.exp(-(loaded.slope * logits + loaded.offset))), atol=1e-6
    )


@pytest.mark.parametrize("rank", [4, 32])
def test_an_adapter_is_the_best_approximation_of_an_update(encoder, rank):
    trained = load_tunable(encoder.folder, "cpu")
    module = trained.transformers_model.encoder.layer[0].attention.self.query
    before = module.weight.detach().clone()
    update = torch.randn(before.shape, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        module.weight.add_(update)
    as_adapter(trained, encoder, rank)
    adapted = trained.transformers_model.encoder.layer[0].attention.self.query
    change = adapted.scaling["default"] * (
        adapted.lora_B["default"].weight @ adapted.lora_A["default"].weight
    )
    values = torch.linalg.svdvals(update)
    torch.testing.assert_close(adapted.base_layer.weight, before)
    assert float(torch.linalg.norm(change.detach() - update)) == pytest.approx(
        float(torch.linalg.norm(values[rank:])), rel=1e-4, abs=1e-4
    )


def test_pairs_of_one_kind_are_refused(pairs, tmp_path, encoder):
    entailed = pairs.part(pairs.entailed)
    for train, valid, name in ((entailed, pairs, "training"), (pairs, entailed, "validation")):
        with pytest.raises(SettingsError, match=f"{name} pairs"):
            train_entailment_cross_encoder(train, valid, tmp_path, encoder=encoder)


def test_a_folder_without_an_encoder_is_refused(tmp_path):
    with pytest.raises(EncoderError, match="entailment cross-encoder"):
        EntailmentCrossEncoder.load(tmp_path, "cpu")
