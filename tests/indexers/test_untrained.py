"""Indexes without training, by choice or for lack of triples."""

from __future__ import annotations

from pathlib import Path

import pytest

import ontodex
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.errors import IndexMismatch
from ontodex.graph import GraphBuilder, KnowledgeGraph


def words(*names: str) -> KnowledgeGraph:
    builder = GraphBuilder("words")
    for name in names:
        builder.entity(name)
    builder.relation("eats")
    return builder.build()


def test_one_entity(tmp_path: Path, tiny_encoder: Path, small_graph: KnowledgeGraph) -> None:
    with ontodex.build(
        words("otter"),
        tmp_path / "a.odx",
        encoders=tiny_encoder,
        device="cpu",
        entailment=False,
        quiet=True,
    ) as engine:
        assert list(engine.index.manifest.spaces) == ["name", "text", "definition"]
        assert [hit.id for hit in engine.search("cat")] == ["otter"]
        assert [hit.id for hit in engine.search("otter")] == ["otter"]
        assert len(engine.similar("otter")) == 0
        assert engine.index.verify() == []
    with pytest.warns(UserWarning, match="the graph has a hierarchy now"):
        engine = ontodex.add(small_graph, tmp_path / "a.odx", device="cpu", quiet=True)
    with engine:
        assert engine.graph.n_entities == 1 + small_graph.n_entities


def test_another_text_encoder_reads_head_and_relation_together(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    graph = words("dog", "cat", "farm")
    with ontodex.build(
        graph, tmp_path / "a.odx", encoders=tiny_encoder, device="cpu", entailment=False, quiet=True
    ) as engine:
        assert list(engine.index.manifest.spaces) == ["name", "text", "definition"]
        assert engine.index.manifest.settings["training"] is None
        hits = engine.tails("dog", "eats")
        assert len(hits) > 0
        assert "no link encoder" in hits.method
        with pytest.raises(
            IndexMismatch, match="the index has no relation projections; build it with training"
        ):
            _ = engine.resources.encoders.link
        assert engine.index.verify() == []


@pytest.mark.parametrize("linked", [False, True])
def test_the_network_in_the_box_answers_where_nothing_is_trained(
    tmp_path: Path, linked: bool
) -> None:
    builder = GraphBuilder("kitchen")
    for name in ("hammer", "nail", "carpenter", "insulin", "diabetes", "heron", "fish"):
        builder.entity(name)
    if linked:
        builder.triple("insulin", "treats", "diabetes")
    graph = builder.build()
    path = tmp_path / "a.odx"
    with ontodex.build(
        graph, path, train=not linked, hierarchy=False, device="cpu", entailment=False, quiet=True
    ) as engine:
        box = HyperCL.in_the_box(engine.resources.encoders.text)
        assert box is not None
        assert engine.resources.encoders.link.fingerprint == box.fingerprint
        assert (
            engine.index.manifest.settings["training"]
            is engine.index.manifest.settings["structure"]
            is None
        )
        assert {hit.id for hit in engine.tails("carpenter", "works with the tool", k=2)} <= {
            "hammer",
            "nail",
        }
        assert engine.tails("a grey heron", "feeds on", k=2, known="include")[0].id in {
            "heron",
            "fish",
        }
        assert engine.heads("treats", "diabetes", k=1, known="include")[0].id == "insulin"
        assert engine.index.verify() == []
    with ontodex.open(path, device="cpu") as engine:
        assert engine.resources.encoders.link.fingerprint == box.fingerprint
