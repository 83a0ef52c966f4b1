"""Pictures that the engine draws of its graph."""

from __future__ import annotations

import pytest

import ontodex
from ontodex.encoders.hit import DEFAULT_HIT
from ontodex.encoders.locate import DEFAULT_ENCODER
from ontodex.errors import IndexMismatch, SettingsError, UnknownEntity
from tests.plain import build_plain


@pytest.fixture(scope="module")
def engine(small_index):
    with ontodex.open(small_index, device="cpu") as opened:
        yield opened


def test_the_hierarchy_around_an_entity(engine, tmp_path):
    engine.plot("beast", tmp_path / "plain.svg")
    plain = (tmp_path / "plain.svg").read_text(encoding="utf-8")
    assert "young dog" in plain
    assert "predicted" not in plain


@pytest.mark.slow
def test_answers_are_drawn_with_their_probabilities(small_graph, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with build_plain(
        small_graph, tmp_path / "x.odx", DEFAULT_ENCODER, hierarchy=DEFAULT_HIT
    ) as engine:
        engine.plot("ex:tame", tmp_path / "answers.svg", answers=4)
        parents, children = (
            engine.parents("ex:tame", 4, "exclude"),
            engine.children("ex:tame", 4, "exclude"),
        )
    answers = (tmp_path / "answers.svg").read_text(encoding="utf-8")
    surest = {}
    for kind, hits in (("parents", parents), ("children", children)):
        for hit in hits:  # an entity that is both is drawn as what is likelier
            surest[hit.label] = max(surest.get(hit.label, (0.0, "")), (hit.probability, kind))
    assert len(surest) >= 4
    for label, (probability, kind) in surest.items():
        assert f"predicted {kind}" in answers
        assert f"{label} {probability:.0%}" in answers


def test_norms_of_the_members_alone(engine, tmp_path):
    engine.plot_norms(tmp_path / "norms.svg")
    drawn = (tmp_path / "norms.svg").read_text(encoding="utf-8")
    members, depth = engine.hierarchy.members, engine.hierarchy.depth
    assert len(members) < engine.graph.n_entities
    assert f">{(depth[members] == 0).sum()}</" in drawn


def test_what_cannot_be_drawn(engine, tmp_path, small_graph, tiny_encoder):
    with pytest.raises(UnknownEntity, match="did you mean 'animal'"):
        engine.plot("anmal", tmp_path / "x.svg")
    with pytest.raises(SettingsError, match=r"\.svg or \.png"):
        engine.plot("animal", tmp_path / "x.pdf")
    with pytest.raises(
        SettingsError, match="answers: expected a whole number of at least 0, found '3'"
    ):
        engine.plot("dog", tmp_path / "a.svg", answers="3")
    with pytest.raises(
        SettingsError, match="answers: expected a whole number of at least 0, found -1"
    ):
        engine.plot("animal", tmp_path / "x.svg", answers=-1)
    with build_plain(small_graph, tmp_path / "x.odx", tiny_encoder) as plain:
        plain.plot("animal", tmp_path / "x.svg")
        with pytest.raises(IndexMismatch, match="HiT"):
            plain.plot("animal", tmp_path / "x.svg", answers=1)
        with pytest.raises(IndexMismatch, match="HiT"):
            plain.plot_norms(tmp_path / "x.svg")
