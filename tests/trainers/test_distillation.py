"""Distillation: a network learns from names to predict embeddings of joint texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.text import TextEncoder
from ontodex.errors import SettingsError, TrainingError
from ontodex.trainers.links.distillation import DistillationTraining, distil_hyper_cl
from tests.conftest import ANIMALS, PLACES

RELATIONS = [
    "is a kind of",
    "lives in",
    "eats",
    "wild animal",
    "tame thing",
    "the place of",
    "a",
    "in the wild",
]
QUICK = DistillationTraining(pairs=300, steps=150, queries=64)


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return TextEncoder(tiny_encoder, "cpu")


def nearness(made, encoder, relations):
    """Return the mean cosine of queries with centred embeddings of joint texts plus relations."""
    pairs = [(animal, relation) for animal in ANIMALS for relation in relations]
    together = encoder.encode([f"{animal} {relation}" for animal, relation in pairs])
    mean = encoder.encode([f"{r} {a}" for a, r in pairs] + [f"{a} {r}" for a, r in pairs]).mean(
        axis=0
    )
    wanted = together - mean + encoder.encode([relation for _, relation in pairs])
    heads = encoder.encode([animal for animal, _ in pairs])
    projections = made.projections([relation for _, relation in pairs])
    queries = np.concatenate(
        [projections.project(heads[row : row + 1], row) for row in range(len(pairs))]
    )
    lengths = np.linalg.norm(queries, axis=1) * np.linalg.norm(wanted, axis=1)
    return float((np.einsum("nd,nd->n", queries, wanted) / lengths).mean())


@pytest.mark.slow
def test_queries_approach_embeddings_of_joint_texts(encoder, tmp_path):
    labels = [*ANIMALS, *PLACES]
    made, untrained = (
        distil_hyper_cl(
            labels,
            labels,
            RELATIONS,
            tmp_path / name,
            encoder=encoder,
            settings=settings,
            quiet=True,
        )
        for name, settings in (("made", QUICK), ("untrained", replace(QUICK, steps=1, rate=1e-9)))
    )
    for relations, most in ((RELATIONS, 0.6), (["eats a", "wild place"], 1.0)):
        left, before = (1 - nearness(one, encoder, relations) for one in (made, untrained))
        assert left < most * before


def test_the_same_seed_makes_the_same_network_and_it_loads(encoder, tmp_path):
    settings = DistillationTraining(pairs=50, steps=5, queries=16)
    made = [
        distil_hyper_cl(
            ANIMALS,
            ANIMALS,
            RELATIONS,
            tmp_path / name,
            encoder=encoder,
            settings=settings,
            quiet=True,
        )
        for name in ("one", "two")
    ]
    assert made[0].fingerprint == made[1].fingerprint == HyperCL.load(tmp_path / "one").fingerprint
    assert not list(tmp_path.glob("*/checkpoints"))


@pytest.mark.parametrize(
    ("texts", "labels", "relations"),
    [([], [], ["eats"]), (["dog"], ["dog"], []), (["dog"], ["dog", "cat"], ["eats"])],
)
def test_a_graph_without_training_data_is_refused(encoder, tmp_path, texts, labels, relations):
    with pytest.raises(TrainingError, match="expected a text and a label of each entity"):
        distil_hyper_cl(texts, labels, relations, tmp_path / "m", encoder=encoder, quiet=True)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("name", "value"), [("pairs", 0), ("steps", 0), ("queries", 1.5), ("rate", 0), ("seed", -1)]
)
def test_settings_that_make_no_sense_are_refused(name, value):
    with pytest.raises(SettingsError, match=f"^{name}: expected .*, found {value!r}$"):
        DistillationTraining(**{name: value})
