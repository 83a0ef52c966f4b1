"""Loss, batches, training runs and evaluation of similarity under a condition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats

from ontodex.encoders.condition import ConditionEncoder
from ontodex.encoders.condition_network import (
    ARCHITECTURES,
    ConditionNetwork,
    ConditionNetworkSettings,
)
from ontodex.encoders.text import TextEncoder
from ontodex.errors import SettingsError, TrainingError
from ontodex.geometry.conditioned import second_factor
from ontodex.trainers.conditions.batches import ConditionBatches
from ontodex.trainers.conditions.condition_encoder import train_condition
from ontodex.trainers.conditions.evaluation import (
    evaluate_conditions,
    in_text_space,
    pearson,
    spearman,
)
from ontodex.trainers.conditions.loss import LOSSES, ConditionLoss
from ontodex.trainers.conditions.models import FrozenConditionModel
from ontodex.trainers.conditions.settings import ConditionTraining
from ontodex.trainers.data.csts_rows import CstsRows

ANIMALS, COLOURS = ["dog", "cat", "cow", "horse", "whale"], ["a", "b", "c", "d", "e"]
QUICK = ConditionTraining(rank=8, condition=8, epochs=30, pairs=8, rate=0.02)


def things(count=200, seed=0):
    """Rows of pairs that are similar under one of two conditions: same animal or same letter."""
    rng, rows, drawn = np.random.default_rng(seed), [], set()
    while len(rows) < 2 * count:
        animals, letters = rng.integers(5, size=2), rng.integers(5, size=2)
        first, second = (
            f"{ANIMALS[animal]} {COLOURS[letter]}"
            for animal, letter in zip(animals, letters, strict=True)
        )
        if (animals[0] == animals[1]) == (letters[0] == letters[1]):
            continue
        drawn.add((first, second))
        rows.append((first, second, "kind of animal", 5 if animals[0] == animals[1] else 1))
        rows.append((first, second, "thing", 5 if letters[0] == letters[1] else 1))
    return CstsRows.of(rows)


@pytest.fixture(scope="module")
def data():
    return things(100, 0), things(60, 1)


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return TextEncoder(tiny_encoder, "cpu")


def test_batches_hold_every_pair_once_an_epoch(data):
    train, _ = data
    batches = ConditionBatches(train, pairs=48, epochs=2, seed=3)
    assert len(batches) == 6
    rows = train.rows()
    for epoch in range(2):
        seen = []
        for number in range(3 * epoch, 3 * epoch + 3):
            batch = batches[number]
            assert len(np.unique(batch.texts)) == len(batch.texts)
            for at, target in enumerate(batch.targets.tolist()):
                first, second = (
                    train.texts[row] for row in batch.texts[batch.sides[:, at]].tolist()
                )
                condition = train.conditions[batch.conditions[batch.which[at]]]
                seen.append((first, second, condition, 4 * target + 1))
            texts = batch.texts[batch.sides]
            np.testing.assert_array_equal(texts[:, 0::2], texts[:, 1::2])
        assert sorted(seen) == sorted(rows)
    assert not np.array_equal(batches[0].targets, batches[3].targets)
    with pytest.raises(IndexError):
        batches[6]


@pytest.mark.parametrize("architecture", ["hyper", "hadamard", "concat"])
def test_training_and_encoder_compute_the_same_cosines(encoder, data, architecture):
    train, _ = data
    torch.manual_seed(0)
    network = ConditionNetwork(
        ConditionNetworkSettings(encoder.dim, architecture, rank=5, condition=4)
    )
    model = FrozenConditionModel(
        network, ConditionLoss(), encoder.encode(train.texts), encoder.encode(train.conditions)
    )
    batch = ConditionBatches(train, pairs=20, epochs=1, seed=0)[0]
    with torch.inference_mode():
        found = model.cosines(batch).numpy()
    made = ConditionEncoder(encoder, network)
    for at, cosine in enumerate(found.tolist()):
        texts = [train.texts[row] for row in batch.texts[batch.sides[:, at]].tolist()]
        one, other = made.encode(texts, train.conditions[batch.conditions[batch.which[at]]])
        assert one @ other == pytest.approx(cosine, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("loss", LOSSES)
def test_a_frozen_hypernetwork_learns_to_read_the_condition(encoder, data, tmp_path, loss):
    train, valid = data
    untrained = ConditionEncoder(encoder, ConditionNetwork(QUICK.network(encoder.dim)))
    made = train_condition(
        train,
        valid,
        tmp_path / "m",
        encoder=encoder,
        settings=replace(QUICK, loss=loss),
        quiet=True,
    )
    before, after = (evaluate_conditions(one, valid) for one in (untrained, made))
    assert abs(before["spearman"]) < 0.3
    assert after["spearman"] > 0.6
    assert after["pairs.accuracy"] > 0.85
    assert made.conditions == train.conditions
    again = ConditionEncoder.load(tmp_path / "m", device="cpu")
    assert evaluate_conditions(again, valid) == after
    assert not (tmp_path / "m" / "checkpoints").exists()


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_text_encoder_is_trained_with_every_architecture(encoder, data, tmp_path, architecture):
    train, valid = data
    settings = replace(
        QUICK,
        architecture=architecture,
        tune="full",
        epochs=4,
        encoder_rate=3e-3,
        rate=1e-2,
        temperature=0.5,
    )
    made = train_condition(
        train, valid, tmp_path / "m", encoder=encoder, settings=settings, quiet=True
    )
    assert made.architecture == architecture
    assert made.text.fingerprint != encoder.fingerprint
    plain = evaluate_conditions(
        ConditionEncoder(encoder, ConditionNetwork(settings.network(encoder.dim))), valid
    )
    learnt = evaluate_conditions(made, valid)["spearman"] - plain["spearman"]
    assert abs(plain["spearman"]) < 0.3
    # With concat a condition only shifts both texts equally, which changes cosines little.
    assert learnt > (0.1 if architecture == "concat" else 0.3)


def test_an_interrupted_run_ends_as_one_that_was_not(encoder, data, tmp_path, monkeypatch):
    train, valid = data
    settings = replace(QUICK, tune="full", epochs=3, pairs=32, encoder_rate=1e-3)
    whole = train_condition(
        train, valid, tmp_path / "whole", encoder=encoder, settings=settings, quiet=True
    )
    get = ConditionBatches.__getitem__

    def stop(self, number):
        if number == 2 * self.per_epoch + 1:
            raise KeyboardInterrupt
        return get(self, number)

    monkeypatch.setattr(ConditionBatches, "__getitem__", stop)
    with pytest.raises(KeyboardInterrupt):
        train_condition(
            train, valid, tmp_path / "cut", encoder=encoder, settings=settings, quiet=True
        )
    assert not ConditionEncoder.is_at(tmp_path / "cut")
    monkeypatch.setattr(ConditionBatches, "__getitem__", get)
    resumed = train_condition(
        train, valid, tmp_path / "cut", encoder=encoder, settings=settings, quiet=True
    )
    np.testing.assert_allclose(
        resumed.encode(valid.texts, "thing"), whole.encode(valid.texts, "thing"), atol=1e-5
    )


def test_bad_input_leaves_nothing_behind(encoder, data, tmp_path):
    train, valid = data
    empty = CstsRows.of([])
    with pytest.raises(TrainingError, match="found 200 and 0"):
        train_condition(train, empty, tmp_path / "m", encoder=encoder, settings=QUICK, quiet=True)
    long = CstsRows.of([("a", "b", "thing " * 100, 1.0), ("a", "b", "c", 2.0)])
    with pytest.raises(SettingsError, match="at most as many tokens"):
        train_condition(long, valid, tmp_path / "m", encoder=encoder, settings=QUICK, quiet=True)
    with pytest.raises(SettingsError, match="rank"):
        train_condition(
            train,
            valid,
            tmp_path / "m",
            encoder=encoder,
            settings=replace(QUICK, rank=33),
            quiet=True,
        )
    short = replace(QUICK, tune="full", max_tokens=3)
    with pytest.raises(
        SettingsError, match="at most as many tokens"
    ):  # the rows that training would read
        train_condition(train, valid, tmp_path / "m", encoder=encoder, settings=short, quiet=True)
    for rows, wrong in (
        (
            [("a", "b", "c", 5), ("a", "d", "e", 1)],
            "training row 0: expected two rows of the same two texts",
        ),
        (
            [("a", "b", "c", 5), ("a", "b", "e", 1), ("a", "b", "f", 1)],
            "training row 2: expected two rows",
        ),
        (
            [("a", "b", "c", 5), ("a", "b", "e", 9)],
            "training row 1: expected a label from 1 to 5, found 9",
        ),
        ([("a", "b", "c", 5), ("a", "b", "e", float("nan"))], "row 1: expected a label"),
    ):
        with pytest.raises(TrainingError, match=wrong):
            train_condition(
                CstsRows.of(rows),
                valid,
                tmp_path / "m",
                encoder=encoder,
                settings=QUICK,
                quiet=True,
            )
    wrong = CstsRows.of([("a", "b", "c", 0)])
    with pytest.raises(
        TrainingError, match="validation row 0: expected a label from 1 to 5, found 0"
    ):
        train_condition(train, wrong, tmp_path / "m", encoder=encoder, settings=QUICK, quiet=True)
    assert not (tmp_path / "m").exists()
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "mine.txt").write_text("mine")
    with pytest.raises(TrainingError, match="found other files"):
        train_condition(train, valid, tmp_path / "m", encoder=encoder, settings=QUICK, quiet=True)


def test_validation_rows_need_no_pairs(encoder, data, tmp_path):
    train, valid = data
    alone = CstsRows.of(valid.rows()[1::2])
    made = train_condition(
        train, alone, tmp_path / "m", encoder=encoder, settings=replace(QUICK, epochs=1), quiet=True
    )
    assert made.network.settings.rank == QUICK.rank


def test_settings_that_make_no_sense():
    for wrong in (
        {"tune": "half"},
        {"loss": "all"},
        {"temperature": 0},
        {"epochs": -1},
        {"pairs": -1},
        {"rate": 0.0},
        {"architecture": "tri"},
    ):
        with pytest.raises(SettingsError, match=next(iter(wrong))):
            ConditionTraining(**wrong)
    with pytest.raises(SettingsError, match="bi-encoder, which consists of text encoders alone"):
        ConditionTraining(architecture="bi-encoder")


def test_correlations_equal_scipy():
    rng = np.random.default_rng(0)
    for ties in (3, 1000):
        found, expected = rng.integers(ties, size=(2, 200)) / 7
        assert spearman(found, expected) == pytest.approx(
            stats.spearmanr(found, expected).statistic
        )
        assert pearson(found, expected) == pytest.approx(stats.pearsonr(found, expected).statistic)
    assert spearman(np.ones(5), np.arange(5)) == 0


def test_seen_and_unseen_conditions_are_measured_apart(encoder, data):
    _, valid = data
    network = ConditionNetwork(QUICK.network(encoder.dim))
    found = evaluate_conditions(ConditionEncoder(encoder, network, conditions=["thing"]), valid)
    assert (found["seen.rows"], found["unseen.rows"], found["rows"]) == (60, 60, 120)
    rows = CstsRows.of(row for row in valid.rows() if row[2] == "thing")
    alone = evaluate_conditions(ConditionEncoder(encoder, network, conditions=["thing"]), rows)
    assert alone["spearman"] == pytest.approx(found["seen.spearman"])
    assert "seen.spearman" not in alone
    assert "pairs.accuracy" not in alone


def test_vectors_of_different_conditions_are_compared_by_both_factors(encoder):
    """A rotation of the factor changes no cosine under a condition, and no entropy across them."""
    rng = np.random.default_rng(0)
    network = ConditionNetwork(ConditionNetworkSettings(encoder.dim, "hyper", rank=4))
    made, conditions = ConditionEncoder(encoder, network), ["thing", "kind", "animal"]
    texts = [f"{word} {number}" for number in range(20) for word in ("dog", "river", "house")]
    which = np.arange(60) % 3
    plain, factors = encoder.encode(texts).astype(float), made.factors(conditions).astype(float)

    def under(by):
        found = np.stack([plain[row] @ by[which[row]] for row in range(60)])
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    vectors = made.encode_pairs(texts, conditions, which)
    lifted = in_text_space(made, conditions, which, vectors)
    for at in range(3):
        here = which == at
        np.testing.assert_allclose(
            lifted[here] @ lifted[here].T, vectors[here] @ vectors[here].T, atol=1e-5
        )
    turned = [factor @ np.linalg.qr(rng.normal(size=(4, 4)))[0] for factor in factors]
    symmetric = []  # W = (P Pᵀ)^(1/2), which no rotation changes
    for factor in factors:
        values, axes = np.linalg.eigh(factor @ factor.T)
        symmetric.append(axes * np.sqrt(np.maximum(values, 0)) @ axes.T)
    np.testing.assert_allclose(lifted, under(symmetric), atol=1e-4)
    by_turned = np.stack(
        [
            vector @ second_factor(turned[at])
            for vector, at in zip(under(turned), which, strict=True)
        ]
    )
    np.testing.assert_allclose(by_turned, lifted, atol=1e-4)
    full = ConditionNetwork(ConditionNetworkSettings(encoder.dim, "hyper", rank=0))
    whole = ConditionEncoder(encoder, full)
    own = whole.encode_pairs(texts, conditions, which)
    np.testing.assert_array_equal(in_text_space(whole, conditions, which, own), own)
