"""Invariances: the order of lines, the spelling of identifiers, and unrelated entities.

Searches are compared with float64 passes beside each space (``tests/engine``), and round trips of
files are in ``tests/graph/test_round_trips.py``.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ontodex
from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.readers import read
from tests.plain import build_plain

Answers = dict[str, dict[str, tuple[float, bool]]]


@pytest.fixture
def build(
    tmp_path: Path, tiny_encoder: Path, tiny_hit: Path, tiny_gauss: Path
) -> Callable[[KnowledgeGraph, str], Path]:
    def made(graph: KnowledgeGraph, name: str) -> Path:
        build_plain(
            graph, tmp_path / name, tiny_encoder, hierarchy=tiny_hit, entailment=tiny_gauss
        ).close()
        return tmp_path / name

    return made


def answers(path: Path, rename: Callable[[str], str] = str) -> Answers:
    """Return the scores of all entities, by query."""
    found: Answers = {}
    with ontodex.open(path, device="cpu") as engine:
        count = engine.graph.n_entities
        for name in ("ex:dog", "ex:wild", "ex:farm"):
            entity = rename(name)
            asked: dict[str, Any] = {
                "similar": engine.similar(entity, count),
                "tails": engine.tails(entity, rename("ex:livesIn"), count),
                "heads": engine.heads(rename("ex:livesIn"), entity, count),
                "relations": engine.relations(entity, rename("ex:barn")),
                "parents": engine.parents(entity, count),
                "children": engine.children(entity, count),
                "entailed by": engine.entailed_by(entity, count),
                "entailing": engine.entailing(entity, count),
                "search": engine.search(f"a thing like a {name[3:]}", count),
            }
            for question, hits in asked.items():
                found[f"{question} {name}"] = {hit.id: (hit.score, hit.known) for hit in hits}
    return found


def expect_alike(found: Answers, expected: Answers) -> None:
    """Compare entities, known marks and scores.

    Scores may differ by rounding in other batches, and by weights that are fitted to draws of the
    entities in their order.
    """
    for question, scores in expected.items():
        assert found[question].keys() == scores.keys(), question
        for name, (score, known) in scores.items():
            assert found[question][name] == (pytest.approx(score, abs=0.002, rel=0.005), known), (
                question,
                name,
            )


def obo_of(
    graph: KnowledgeGraph, order: random.Random | None = None, rename: Callable[[str], str] = str
) -> str:
    """Write a graph as OBO, with frames and lines in random order."""
    links = defaultdict(list)
    for head, relation, tail in zip(graph.heads, graph.relations, graph.tails, strict=True):
        name, target = graph.relation_ids[relation], rename(graph.ids[tail])
        links[head].append(
            f"is_a: {target}" if name == "is_a" else f"relationship: {rename(name)} {target}"
        )
    frames = []
    for row in range(graph.n_entities):
        lines = [f"name: {graph.labels[row]}", *links[row]]
        lines += [f'def: "{graph.definitions[row]}" []'] if graph.definitions[row] else []
        if order:
            order.shuffle(lines)
        lines += [
            f'synonym: "{name}" EXACT []' for name in graph.synonyms[row]
        ]  # its text names them in this order
        frames.append("\n".join([f"[Term]\nid: {rename(graph.ids[row])}", *lines]))
    for number, name in enumerate(graph.relation_ids):
        if name != "is_a":
            frames.append(f"[Typedef]\nid: {rename(name)}\nname: {graph.relation_labels[number]}")
    if order:
        order.shuffle(frames)
    return "format-version: 1.4\n\n" + "\n\n".join(frames) + "\n"


def test_the_order_of_the_lines_of_a_file_changes_no_answer(
    tmp_path: Path,
    small_graph: KnowledgeGraph,
    build: Callable[[KnowledgeGraph, str], Path],
    figures: Callable[..., None],
    torture: bool,
) -> None:
    (tmp_path / "a.obo").write_text(obo_of(small_graph))
    expected = answers(build(read(tmp_path / "a.obo", on_error="raise"), "a.odx"))
    orders = 20 if torture else 2
    for seed in range(orders):
        (tmp_path / "b.obo").write_text(obo_of(small_graph, random.Random(seed)))
        expect_alike(
            answers(build(read(tmp_path / "b.obo", on_error="raise"), f"b{seed}.odx")), expected
        )
    figures("metamorphic", orders=orders, questions=len(expected))


def test_other_identifiers_change_no_answer(
    tmp_path: Path, small_graph: KnowledgeGraph, build: Callable[[KnowledgeGraph, str], Path]
) -> None:
    def rename(name: str) -> str:
        return f"other:{name[3:][::-1]}-{len(name)}" if name.startswith("ex:") else name

    (tmp_path / "a.obo").write_text(obo_of(small_graph))
    (tmp_path / "b.obo").write_text(obo_of(small_graph, rename=rename))
    expected = answers(build(read(tmp_path / "a.obo"), "a.odx"))
    renamed = {
        question: {rename(name): score for name, score in scores.items()}
        for question, scores in expected.items()
    }
    expect_alike(answers(build(read(tmp_path / "b.obo"), "b.odx"), rename), renamed)


def test_an_entity_that_has_nothing_to_do_with_it_changes_no_score(
    small_graph: KnowledgeGraph, build: Callable[[KnowledgeGraph, str], Path]
) -> None:
    path = build(small_graph, "a.odx")
    before = answers(path)
    builder = GraphBuilder("news")
    for number in range(9):
        builder.entity(f"ex:news{number}", f"quite another {number}", definition="of no kind")
    ontodex.add(builder.build(), path, device="cpu", quiet=True).close()
    after = answers(path)
    for scores in after.values():
        for name in [name for name in scores if "news" in name]:
            del scores[name]
    for question in [
        name
        for name in before
        if name.startswith(("relations", "search", "parents", "children", "place"))
    ]:  # all have a share in those, or in how rare letters are
        assert before.pop(question).keys() == after.pop(question).keys()
    expect_alike(after, before)
