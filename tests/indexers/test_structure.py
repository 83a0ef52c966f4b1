"""Structural vectors in an index: what is stored, who is asked, what survives changes, and interruptions."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ontodex
from ontodex.engine.resolve import resolve_entity, resolve_relation
from ontodex.errors import IndexMismatch, SettingsError
from ontodex.geometry.complex import compose
from ontodex.geometry.cosine import score_pairs
from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.graph.knowledge_graph import no_triples
from ontodex.indexers import structure_build as stored
from ontodex.indexers.structure_build import for_fitting
from ontodex.trainers import complex as trained

SMALL: dict[str, Any] = {"steps": 5, "queries": 32, "negatives": 8, "rank": 4, "condition": 8, "width": 16}


def numbers() -> KnowledgeGraph:
    """A graph whose links follow from links alone: 90 numbers, each linked to those 1, 7 and 30 farther in a circle."""
    builder = GraphBuilder("numbers")
    for number in range(90):
        for step, relation in ((1, "next"), (7, "week"), (30, "month")):
            builder.triple(f"n{number}", relation, f"n{(number + step) % 90}")
    return builder.build()


def build(graph: KnowledgeGraph, path: Path, encoder: Path, structure: Any) -> ontodex.Engine:
    training = ontodex.HyperCLTraining(**SMALL)
    return ontodex.build(
        graph,
        path,
        encoders=encoder,
        structure=structure,
        training=training,
        device="cpu",
        entailment=False,
        quiet=True,
    )


@pytest.fixture(scope="module")
def hybrid_index(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    """An index of numbers with structural vectors, fitted on held-out triples."""
    path = tmp_path_factory.mktemp("hybrid") / "numbers.odx"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "SHARE", 0.2)
        build(numbers(), path, tiny_encoder, ontodex.ComplExTraining(rank=12, steps=150)).close()
    return path


def test_the_link_space_is_the_first_part_of_the_hybrid_one(hybrid_index: Path) -> None:
    with ontodex.open(hybrid_index, device="cpu") as engine:
        index = engine.index
        info = index.manifest.spaces
        assert (info["hybrid"].geometry, info["hybrid"].dim) == ("product", 32 + 24)
        assert (info["link"].vectors, info["link"].dim) == ("hybrid", 32)
        rows = np.arange(90)
        assert np.array_equal(index.vectors("hybrid")[rows][:, :32], index.vectors("link")[rows])
        assert not any(name.startswith("link/vectors") for name in index.manifest.blobs)
        assert index.verify() == []
        assert index.manifest.settings["structure"]["rank"] == 12


def test_a_score_is_the_weighted_sum_of_both(hybrid_index: Path) -> None:
    with ontodex.open(hybrid_index, device="cpu") as engine:
        index, graph = engine.index, engine.graph
        structure = index.structure
        assert structure is not None
        for backward, answers in (
            (0, engine.tails("n3", "next", 90, "include")),
            (1, engine.heads("next", "n3", 90, "include")),
        ):
            relation = graph.find_relation("next")[0] + backward * graph.n_relations  # type: ignore[index]
            row = graph.find("n3")[0]  # type: ignore[index]
            text = index.projections.queries(index.vectors("link")[np.array([row])], np.array([relation]))
            query = compose(structure.entities[np.array([row])], structure.relations[[relation]])
            a, b = structure.weights[relation]
            for hit in answers:
                other = np.array([graph.find(hit.id)[0]])  # type: ignore[index]
                cosine = score_pairs(text, index.vectors("link")[other][None])[0, 0]
                product = score_pairs(query, structure.entities[other][None])[0, 0]
                assert hit.score == pytest.approx(a * cosine + b * product, abs=1e-3)
            assert len(answers) == 89
            assert "links of the graph" in answers.method


def test_structure_finds_what_texts_do_not_say(hybrid_index: Path) -> None:
    graph = numbers()
    held_out = for_fitting_of(graph)
    with ontodex.open(hybrid_index, device="cpu"):
        found = {
            score: ontodex.evaluate_kgc(hybrid_index, held_out, split="valid", score=score, device="cpu")["mrr"]
            for score in ("both", "text", "structure")
        }
    assert found["structure"] > found["text"] + 0.1
    assert found["both"] > found["text"] + 0.1


def for_fitting_of(graph: KnowledgeGraph) -> KnowledgeGraph:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored, "SHARE", 0.2)
        made = for_fitting(graph)
    assert made is not None
    return made


def test_text_alone_answers_for_what_the_graph_does_not_have(hybrid_index: Path) -> None:
    with ontodex.open(hybrid_index, device="cpu") as engine:
        projector = engine._links._projector
        structure = engine.index.structure
        assert structure is not None
        for head, relation in (("never seen", "next"), ("n3", "never seen"), ("never seen", "nor this")):
            hits = engine.tails(head, relation, 90)
            entity, kind = (
                one(engine.graph, name) for one, name in ((resolve_entity, head), (resolve_relation, relation))
            )
            weight = structure.weights[-1 if kind.row is None else kind.row, 0]
            text = projector._text_queries([entity], [kind], False)[0]
            for hit in hits:
                row = engine.graph.find(hit.id)[0]  # type: ignore[index]
                wanted = weight * float(engine.index.vectors("link")[np.array([row])][0] @ text)
                assert hit.score == pytest.approx(wanted, abs=1e-3)


def test_changing_the_graph_keeps_what_was_learnt(hybrid_index: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(hybrid_index, tmp_path / "numbers.odx"))
    more = GraphBuilder("more")
    more.triple("a0", "before", "n5")
    more.triple("n5", "after", "a0")
    with ontodex.open(path, device="cpu") as engine:
        before = {hit.id: hit.score for hit in engine.tails("n5", "week", 90, "include")}
    ontodex.add(more.build(), path, device="cpu", quiet=True).close()
    with ontodex.remove("n7", path, device="cpu", quiet=True) as engine:
        after = {hit.id: hit.score for hit in engine.tails("n5", "week", 90, "include")}
        assert engine.index.verify() == []
        structure = engine.index.structure
        assert structure is not None
        row = engine.graph.find("a0")[0]  # type: ignore[index]
        assert not structure.entities[np.array([row])].any()
        new = engine.graph.find_relation("before")[0]  # type: ignore[index]
        assert np.array_equal(structure.weights[new], structure.weights[-1])
    assert set(before) ^ set(after) == {"n7", "a0"}
    assert all(after[name] == pytest.approx(before[name], abs=1e-4) for name in set(before) & set(after))


def test_an_interrupted_build_does_not_train_again(
    tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "SHARE", 0.2)
    runs: list[int] = []
    train = trained.train_complex
    monkeypatch.setattr(trained, "train_complex", lambda *given, **named: runs.append(1) or train(*given, **named))
    settings = ontodex.ComplExTraining(rank=4, steps=3)
    with monkeypatch.context() as patch:
        patch.setattr("ontodex.indexers.build.join", lambda *_: (_ for _ in ()).throw(OSError("no room")))
        with pytest.raises(ontodex.OntodexError, match="no room"):
            build(numbers(), tmp_path / "a.odx", tiny_encoder, settings)
    build(numbers(), tmp_path / "a.odx", tiny_encoder, settings).close()
    assert len(runs) == 1
    assert not list((tmp_path / "a.odx").rglob("structure.safetensors"))


def test_weights_are_fitted_on_what_is_held_out(small_graph: KnowledgeGraph) -> None:
    assert for_fitting(small_graph) is None  # too few triples
    graph = numbers()
    assert for_fitting(graph) is None
    learnt = for_fitting_of(graph)
    assert (len(learnt.valid), learnt.n_triples) == (54, 270 - 54)
    own = dataclasses.replace(graph, valid=graph.triples[:60])
    assert for_fitting(own) is own
    tested = dataclasses.replace(graph, test=graph.triples[:3])
    assert np.array_equal(for_fitting_of(tested).test, no_triples())


def test_no_structure_where_it_is_not_wanted_or_cannot_be(
    tmp_path: Path, tiny_encoder: Path, small_graph: KnowledgeGraph
) -> None:
    for graph, wanted in ((numbers(), False), (small_graph, True)):
        with build(graph, tmp_path / f"{wanted}.odx", tiny_encoder, wanted) as engine:
            assert "hybrid" not in engine.index.manifest.spaces
            assert engine.index.structure is None
    held_out = dataclasses.replace(numbers(), test=numbers().triples[:5])
    with pytest.raises(IndexMismatch, match="no structural vectors"):
        ontodex.evaluate_kgc(tmp_path / "False.odx", held_out, score="structure", device="cpu")
    with pytest.raises(SettingsError, match="score: expected both, text or structure"):
        ontodex.evaluate_kgc(tmp_path / "False.odx", held_out, score="best", device="cpu")
