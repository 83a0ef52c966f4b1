"""Changing an index: one writer from the reading of its graph to the new generation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ontodex
from ontodex.errors import IndexFailure, IndexLocked
from ontodex.graph import GraphBuilder, KnowledgeGraph, remove
from ontodex.indexers.update import update_index
from tests.plain import build_plain


def test_a_change_that_comes_in_between_is_refused_not_lost(own_index: Path) -> None:
    def change(graph: KnowledgeGraph) -> KnowledgeGraph:
        with pytest.raises(IndexLocked, match="is writing this index"):
            ontodex.remove(["ex:cat"], own_index, device="cpu", quiet=True)
        return remove(graph, ["ex:dog"])

    assert update_index(own_index, change, device="cpu", quiet=True) == 2
    assert [entry.name for entry in own_index.glob("gen-*")] == ["gen-000002"]
    with ontodex.remove(["ex:cat"], own_index, device="cpu", quiet=True) as engine:
        assert [engine.graph.find(f"ex:{name}") for name in ("dog", "cat")] == [None, None]
        assert engine.graph.n_entities == 58


def test_a_change_that_fails_leaves_the_index_as_it_was(own_index: Path) -> None:
    with pytest.raises(ontodex.OntodexError, match="no-such-thing"):
        ontodex.remove(["ex:no-such-thing"], own_index, device="cpu", quiet=True)
    with ontodex.open(own_index, device="cpu") as engine:
        assert (engine.index.manifest.generation, engine.graph.n_entities) == (1, 60)
    ontodex.remove(
        ["ex:dog"], own_index, device="cpu", quiet=True
    ).close()  # and the lock is released


def test_changing_no_index_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(IndexFailure, match="expected an index, found no such folder"):
        update_index(tmp_path / "none.odx", lambda graph: graph, device="cpu")
    assert not (tmp_path / "none.odx").exists()


def test_alternative_ids_are_kept_and_what_is_added_finds_them(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    builder = GraphBuilder("pets")
    builder.entity("ex:1", "dog")
    builder.triple("ex:1", "is_a", "ex:2")
    builder.replace({"ex:8": "ex:1", "ex:9": "ex:2"})
    build_plain(builder.build(), tmp_path / "pets.odx", tiny_encoder).close()
    more = GraphBuilder("more")
    more.triple("ex:8", "eats", "ex:meat")
    with ontodex.add(more.build(), tmp_path / "pets.odx", device="cpu", quiet=True) as engine:
        assert list(engine.graph.ids) == ["ex:1", "ex:2", "ex:meat"]
        assert list(engine.graph.alternative_ids) == [("ex:8",), ("ex:9",), ()]
        hits = engine.tails("ex:8", "eats", k=3, known="only")
        assert [hit.id for hit in hits] == ["ex:meat"]
        assert "dog (ex:1, by alternative id)" in str(hits)
    ontodex.remove(["ex:9"], tmp_path / "pets.odx", device="cpu", quiet=True).close()
    with ontodex.open(tmp_path / "pets.odx", device="cpu") as engine:
        assert list(engine.graph.alternative_ids) == [("ex:8",), ()]


def test_a_relation_that_is_called_otherwise_has_the_projection_that_it_had(
    own_index: Path,
) -> None:
    with ontodex.open(own_index, device="cpu") as engine:
        before = [
            [(hit.id, hit.score) for hit in engine.tails(name, "eats", k=5)]
            for name in ("ex:dog", "a wolf")
        ]
    more = GraphBuilder("more")
    more.relation("ex:eats", "devours")
    more.relation("ex:new", "is born in")
    more.triple("ex:dog", "ex:new", "ex:farm")
    more.triple("ex:cow", "ex:eats", "ex:dog")
    with ontodex.add(more.build(), own_index, device="cpu", quiet=True) as engine:
        assert engine.tails("ex:dog", "devours").resolutions["relation"].id == "ex:eats"
        after = [
            [(hit.id, hit.score) for hit in engine.tails(name, "devours", k=5)]
            for name in ("ex:dog", "a wolf")
        ]
        projections, encoder = engine.index.projections, engine.resources.encoders.link
        row = engine.graph.relation_ids.index("ex:new")
        made = encoder.projections(["is born in", "inverse is born in"])
        for at, one in enumerate((row, row + engine.graph.n_relations)):
            np.testing.assert_allclose(projections.left[one], made.left[at], atol=1e-5)
    assert [[name for name, _ in hits] for hits in after] == [
        [name for name, _ in hits] for hits in before
    ]
    for hits, others in zip(after, before, strict=True):
        np.testing.assert_allclose(
            [score for _, score in hits], [score for _, score in others], atol=1e-4
        )
