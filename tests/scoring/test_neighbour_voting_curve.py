"""Probabilities with neighbour voting rise with the score."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.scoring.neighbour_voting import NeighbourVoting
from tests.plain import build_plain

WORDS = (
    "dog",
    "cat",
    "cow",
    "horse",
    "sheep",
    "goat",
    "pig",
    "hen",
    "duck",
    "mouse",
    "rat",
    "fox",
    "wolf",
    "bear",
    "seal",
)


def drawn(seed: int) -> KnowledgeGraph:
    """Return a hierarchy with uninformative labels."""
    draw, builder = random.Random(seed), GraphBuilder("drawn")
    for row in range(90):
        builder.entity(f"ex:{row}", f"{draw.choice(WORDS)} {draw.choice(WORDS)}")
    for row in range(1, 85):
        builder.triple(f"ex:{row}", "is_a", f"ex:{draw.randrange(row)}")
    return builder.build()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_higher_score_is_never_less_likely(
    tmp_path: Path, tiny_encoder: Path, tiny_hit: Path, seed: int
) -> None:
    with build_plain(
        drawn(seed), tmp_path / "drawn.odx", tiny_encoder, hierarchy=str(tiny_hit)
    ) as engine:
        rules = NeighbourVoting.read(engine.index.manifest.neighbour_voting, "manifest.json")
        curves = [rule.curve for rule in rules.values() if rule.curve is not None]
        assert curves
        assert all(of_score > 0 for of_score, _, _ in curves)
