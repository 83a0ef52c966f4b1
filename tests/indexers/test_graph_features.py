"""Graph features of an index: storage, scores, changes of the graph, and interruptions."""

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
from ontodex.geometry.cosine import score_pairs, unit
from ontodex.geometry.vectors import Vectors
from ontodex.graph import GraphBuilder, KnowledgeGraph, both_directions
from ontodex.graph.knowledge_graph import no_triples
from ontodex.graph.known_links import KnownLinks
from ontodex.indexers import graph_features as module
from ontodex.indexers.graph_features import default_graph_features, hold_out, why_not_learned
from ontodex.scoring.graph_features import GraphFeatures
from ontodex.scoring.kinds import kinds_of
from ontodex.scoring.link_similarity import LinkSimilarity
from ontodex.scoring.type_constraints import constraint_basis, constraint_vectors
from ontodex.trainers.links import complex as trained

SMALL: dict[str, Any] = {
    "steps": 5,
    "queries": 32,
    "negatives": 8,
    "rank": 4,
    "condition": 8,
    "width": 16,
}


def numbers() -> KnowledgeGraph:
    """A graph predictable from links: 90 numbers in a circle, linked 1, 7, 14 and 30 ahead."""
    builder = GraphBuilder("numbers")
    for number in range(90):
        for step, relation in ((1, "next"), (7, "week"), (14, "fortnight"), (30, "month")):
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
    """An index of numbers with graph features, fitted on held-out triples."""
    path = tmp_path_factory.mktemp("hybrid") / "numbers.odx"
    build(numbers(), path, tiny_encoder, ontodex.ComplExTraining(rank=12, steps=150)).close()
    return path


def test_the_link_space_is_the_first_part_of_the_hybrid_one(hybrid_index: Path) -> None:
    with ontodex.open(hybrid_index, device="cpu") as engine:
        index = engine.index
        info, features = index.manifest.spaces, engine.resources.graph_features
        assert features is not None
        assert features.kinds.shape[1] > 0
        assert (info["hybrid"].geometry, info["hybrid"].dim) == (
            "product",
            32 + 24 + 8 + features.kinds.shape[1],
        )
        assert (info["link"].stored_in, info["link"].dim) == ("hybrid", 32)
        rows = np.arange(90)
        assert np.array_equal(index.vectors("hybrid")[rows][:, :32], index.vectors("link")[rows])
        assert not any(name.startswith("link/vectors") for name in index.manifest.blobs)
        assert index.verify() == []
        assert index.manifest.settings["structure"]["rank"] == 12


def test_a_score_is_the_weighted_sum_of_all(hybrid_index: Path) -> None:
    with ontodex.open(hybrid_index, device="cpu") as engine:
        index, graph = engine.index, engine.graph
        features = engine.resources.graph_features
        assert features is not None
        for backward, answers in (
            (0, engine.tails("n3", "week", 90, "include")),
            (1, engine.heads("week", "n3", 90, "include")),
        ):
            relation = graph.find_relation("week")[0] + backward * graph.n_relations  # type: ignore[index]
            row = graph.find("n3")[0]  # type: ignore[index]
            text = index.projections.queries(
                index.vectors("link")[np.array([row])], np.array([relation])
            )
            query = compose(
                features.entities[np.array([row])][:, :24], features.relations[[relation]]
            )
            a, b, c, of_kind, *by_case, of_cosine = features.weights[0, relation]
            assert relation in features.rules.bodies[:, 0]
            scores_by_case = by_hand(graph, index.vectors("link"), features, row, relation)
            for hit in answers:
                other = graph.find(hit.id)[0]  # type: ignore[index]
                cosine = score_pairs(text, index.vectors("link")[np.array([other])][None])[0, 0]
                product = score_pairs(query, features.entities[np.array([other])][None, :, :24])[
                    0, 0
                ]
                kind = features.entities[np.array([other])][0, 32:] @ features.kinds[relation]
                in_range = (
                    1 - hit.known
                )  # all are a tail of every relation once, the known ones by this very triple
                plain = score_pairs(
                    index.vectors("link")[np.array([row])],
                    index.vectors("link")[np.array([other])][None],
                )[0, 0]
                wanted = (
                    a * cosine
                    + of_cosine * plain
                    + b * product
                    + c * in_range
                    + of_kind * kind
                    + scores_by_case[:, other] @ by_case
                )
                assert hit.score == pytest.approx(wanted, abs=1e-3)
            assert len(answers) == 89
            assert [hit.score for hit in answers] == sorted(
                (hit.score for hit in answers), reverse=True
            )
            assert "ComplEx + rules" in answers.method


def by_hand(
    graph: KnowledgeGraph, vectors: Vectors, features: GraphFeatures, row: int, relation: int
) -> np.ndarray:
    """Score all tails of a query by case-based evidence, as defined."""
    known = both_directions(graph.triples, graph.n_relations)
    found, similarities = [], []
    for items in (vectors, features.kge_vectors()):
        every = unit(items[np.arange(len(items))].astype(np.float64))
        similarities.append(np.exp((every @ every.T - 1) / 0.1))
        np.fill_diagonal(similarities[-1], 0)  # 90 entities: all others are among the 128 nearest
    links = KnownLinks(graph.triples, graph.n_entities, graph.n_relations)
    near, values = LinkSimilarity(links).of(np.arange(len(vectors)))
    similarities.append(np.zeros((len(vectors), len(vectors))))
    np.put_along_axis(similarities[-1], near, values, axis=1)
    for similarity in similarities:
        heads, tails = np.zeros(len(vectors)), np.zeros(len(vectors))
        for head, kind, tail in known.tolist():
            if kind == relation:
                heads[tail] += similarity[row, head]
                tails += similarity[tail] * (head == row)
        found += [np.log1p(heads / 0.005), np.log1p(tails / 0.005)]
    wrong = np.ones(len(vectors))
    for (kind, first, second), confidence in zip(
        features.rules.bodies, features.rules.confidences, strict=True
    ):
        if kind == relation:
            ends = {tail for head, step, tail in known.tolist() if (head, step) == (row, first)}
            if second >= 0:
                ends = {
                    tail for head, step, tail in known.tolist() if head in ends and step == second
                }
            wrong[list(ends)] *= 1 - confidence
    return np.stack([*found, np.log1p((1 - wrong) / 0.05)])


def test_few_answers_are_the_first_of_many(hybrid_index: Path) -> None:
    with ontodex.open(hybrid_index, device="cpu") as engine:
        for known in ("include", "exclude", "only"):
            every = [engine.tails(f"n{number}", "week", 90, known) for number in range(0, 90, 9)]
            some = engine.tails_batch(
                [(f"n{number}", "week") for number in range(0, 90, 9)], 4, known
            )
            assert [list(hits)[:4] for hits in every] == [list(hits) for hits in some]


def test_graph_features_find_links_that_texts_do_not_show(hybrid_index: Path) -> None:
    graph = numbers()
    held_out = hold_out(graph)
    assert held_out is not None
    with ontodex.open(hybrid_index, device="cpu"):
        found = {
            score: ontodex.evaluate_kgc(
                hybrid_index, held_out, split="valid", score=score, device="cpu"
            )["mrr"]
            for score in ("all", "text", "kge", "case-based")
        }
    assert found["kge"] > found["text"] + 0.1
    assert found["all"] > found["text"] + 0.1
    assert 0 < found["case-based"] < found["all"]


def test_new_heads_are_answered_by_text_and_similar_entities(
    hybrid_index: Path,
) -> None:
    with ontodex.open(hybrid_index, device="cpu") as engine:
        link_queries = engine._links._queries
        features = engine.resources.graph_features
        assert features is not None
        for head, relation in (
            ("never seen", "next"),
            ("n3", "never seen"),
            ("never seen", "nor this"),
        ):
            hits = engine.tails(head, relation, 90)
            entity, kind = (
                one(engine.graph, name)
                for one, name in ((resolve_entity, head), (resolve_relation, relation))
            )
            new = int(entity.row is None)
            weights = features.weights[new, -1 if kind.row is None else kind.row]
            head_vector = link_queries.vectors([entity])[0]
            text = link_queries.vectors_of_terms([entity], [kind], backward=False, text_alone=True)[
                0
            ]
            [(reached, added)] = link_queries.of_terms([entity], [kind])[1]
            assert len(reached) == (0 if kind.row is None else 89)  # number of neighbours
            more = np.zeros(90)
            more[reached] = added
            if kind.row is not None:
                more += features.weights[new, kind.row, 2] * (
                    features.entities[np.arange(90)][:, 24:32] @ features.type_constraints[kind.row]
                )
                more += features.weights[new, kind.row, 3] * (
                    features.entities[np.arange(90)][:, 32:] @ features.kinds[kind.row]
                )
            for hit in hits:
                row = engine.graph.find(hit.id)[0]  # type: ignore[index]
                wanted = (
                    float(
                        engine.index.vectors("link")[np.array([row])][0]
                        @ (weights[0] * text + weights[11] * head_vector * (kind.row is not None))
                    )
                    + more[row]
                )
                assert hit.score == pytest.approx(wanted, abs=1e-3)


def scores_without_kinds(engine: ontodex.Engine) -> dict[str, float]:
    """Return the scores of the tails of one question, less the part of kinds, by their ids.

    Kinds are computed anew for a changed graph, and their log-odds hold up to a constant.
    """
    features = engine.resources.graph_features
    assert features is not None
    week = engine.graph.find_relation("week")[0]  # type: ignore[index]
    of_kind = features.entities[np.arange(90)][:, 32:] @ features.kinds[week]
    of_kind *= features.weights[0, week, 3]
    hits = engine.tails("n5", "week", 90, "include")
    return {hit.id: hit.score - of_kind[engine.graph.find(hit.id)[0]] for hit in hits}  # type: ignore[index]


def test_a_changed_graph_keeps_its_fitted_features(hybrid_index: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(hybrid_index, tmp_path / "numbers.odx"))
    more = GraphBuilder("more")
    more.triple("a0", "before", "n5")
    more.triple("n5", "after", "a0")
    with ontodex.open(path, device="cpu") as engine:
        before = scores_without_kinds(engine)
        rules = named_rules(engine)
    ontodex.add(more.build(), path, device="cpu", quiet=True).close()
    with ontodex.remove("n7", path, device="cpu", quiet=True) as engine:
        after = scores_without_kinds(engine)
        assert engine.index.verify() == []
        features = engine.resources.graph_features
        assert features is not None
        row = engine.graph.find("a0")[0]  # type: ignore[index]
        assert not features.entities[np.array([row])][:, :24].any()
        assert not features.entities[np.array([row])][
            :, 24:32
        ].any()  # new relations have no type constraints
        assert features.entities[np.array([row])][:, 32:].any()
        new = engine.graph.find_relation("before")[0]  # type: ignore[index]
        assert np.array_equal(features.weights[:, new], features.weights[:, -1])
        for head, relation, tail in (
            ("a0", new, "n5"),
            ("n5", new + engine.graph.n_relations, "a0"),
        ):
            row, other = (np.array([engine.graph.find(name)[0]]) for name in (head, tail))  # type: ignore[index]
            text = engine.index.vectors("link")[row]
            [(reached, added)] = features.offsets(
                engine.resources.case_based.scores(text, row, np.array([relation])),
                row,
                np.array([relation]),
            )
            assert not added[reached == other].any()  # so no offset to subtract
        assert named_rules(engine) == rules != {}
    assert set(before) ^ set(after) == {"n7", "a0"}
    changed = {
        name
        for name in set(before) & set(after)
        if after[name] != pytest.approx(before[name], abs=1e-4)
    }
    assert changed == {"n14"}  # which n7 was linked to


def test_an_entity_that_gets_an_id_keeps_its_kge_vector(hybrid_index: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(hybrid_index, tmp_path / "numbers.odx"))
    more = GraphBuilder("more")
    for number in range(60):
        more.entity(f"ex:{number}", f"n{number}")
    with ontodex.open(path, device="cpu") as engine:
        assert engine.resources.graph_features is not None
        before = dict(
            zip(
                engine.graph.ids,
                engine.resources.graph_features.entities[np.arange(90)][:, :24],
                strict=True,
            )
        )
    with ontodex.add(more.build(), path, device="cpu", quiet=True) as engine:
        assert engine.resources.graph_features is not None
        after = dict(
            zip(
                engine.graph.labels,
                engine.resources.graph_features.entities[np.arange(90)][:, :24],
                strict=True,
            )
        )
        assert set(engine.graph.ids) == {f"ex:{n}" for n in range(60)} | {
            f"n{n}" for n in range(60, 90)
        }
    assert all(np.array_equal(after[name], before[name]) for name in before)


def named_rules(engine: ontodex.Engine) -> dict[tuple[str, ...], float]:
    """Confidences of the rules of an index, by the names of their relations."""
    assert engine.resources.graph_features is not None
    rules, names = engine.resources.graph_features.rules, engine.graph.relation_ids
    both = [*names, *(f"inverse of {name}" for name in names), "no second"]  # -1 is the last
    return {
        tuple(both[number] for number in body): float(confidence)
        for body, confidence in zip(rules.bodies, rules.confidences, strict=True)
    }


def test_an_interrupted_build_does_not_train_again(
    tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []
    train = trained.train_complex
    monkeypatch.setattr(
        trained, "train_complex", lambda *given, **named: runs.append(1) or train(*given, **named)
    )
    settings = ontodex.ComplExTraining(rank=4, steps=3)
    with monkeypatch.context() as patch:
        patch.setattr(
            "ontodex.indexers.steps.learn_links.join",
            lambda *_: (_ for _ in ()).throw(OSError("no room")),
        )
        with pytest.raises(ontodex.OntodexError, match="no room"):
            build(numbers(), tmp_path / "a.odx", tiny_encoder, settings)
    build(numbers(), tmp_path / "a.odx", tiny_encoder, settings).close()
    assert len(runs) == 1
    assert not list((tmp_path / "a.odx").rglob("graph_features.safetensors"))


def test_weights_are_fitted_on_what_is_held_out(small_graph: KnowledgeGraph) -> None:
    assert hold_out(small_graph) is None  # too few triples
    graph = numbers()
    training_graph = hold_out(graph)
    assert training_graph is not None
    assert (len(training_graph.valid), training_graph.n_triples) == (50, 360 - 50)
    few = dataclasses.replace(
        graph, heads=graph.heads[:240], relations=graph.relations[:240], tails=graph.tails[:240]
    )
    assert hold_out(few) is None
    assert not why_not_learned(few)
    star = GraphBuilder("star")
    for leaf in range(300):
        star.triple(f"leaf {leaf}", "is_a", "leaf")
    assert hold_out(star.build()) is None
    assert "nearly every link is the only one" in why_not_learned(star.build())
    own = dataclasses.replace(graph, valid=graph.triples[:60])
    assert hold_out(own) is own
    tested = dataclasses.replace(graph, test=graph.triples[:3])
    again = hold_out(tested)
    assert again is not None
    assert np.array_equal(again.test, no_triples())


def test_of_a_large_graph_less_is_held_out_and_of_too_many_entities_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = numbers()
    monkeypatch.setattr(module, "MIN_HELD_OUT", 5)
    for many, expected in ((18, 18), (10, 10), (5, 7)):
        monkeypatch.setattr(module, "MAX_HELD_OUT", many)
        monkeypatch.setattr(module, "MIN_SHARE", 0.02)
        training_graph = hold_out(graph)
        assert training_graph is not None
        assert len(training_graph.valid) == expected, many
    monkeypatch.setattr(module, "MAX_ENTITIES", graph.n_entities - 1)
    assert hold_out(graph) is None
    assert (
        f"of its {graph.n_entities} entities, more than {graph.n_entities - 1}"
        in why_not_learned(graph)
    )


def test_no_graph_features_where_unwanted_or_impossible(
    tmp_path: Path, tiny_encoder: Path, small_graph: KnowledgeGraph
) -> None:
    with build(numbers(), tmp_path / "False.odx", tiny_encoder, False) as engine:
        assert "hybrid" not in engine.index.manifest.spaces
        assert engine.resources.graph_features is None
    build(small_graph, tmp_path / "small.odx", tiny_encoder, True).close()
    for path, graph in (("False.odx", numbers()), ("small.odx", small_graph)):
        held_out = dataclasses.replace(graph, test=graph.triples[:5])
        with pytest.raises(IndexMismatch, match="no kge score to rank by"):
            ontodex.evaluate_kgc(tmp_path / path, held_out, score="kge", device="cpu")
    held_out = dataclasses.replace(numbers(), test=numbers().triples[:5])
    with pytest.raises(SettingsError, match="score: expected one of all, text, kge, case-based"):
        ontodex.evaluate_kgc(tmp_path / "False.odx", held_out, score="best", device="cpu")


def test_a_graph_with_few_links_has_default_weights(
    tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder = GraphBuilder("films")
    people = ["Ann Lee", "Bo Berg", "Cy Young", "Di Ray", "Ed Poe"]
    for film in range(10):
        builder.triple(f"film {film}", "directed by", people[film % 3])
        builder.triple(f"film {film}", "starring", people[3 + film % 2])
    graph = builder.build()
    assert hold_out(graph) is None
    with build(graph, tmp_path / "films.odx", tiny_encoder, True) as engine:
        features = engine.resources.graph_features
        assert features is not None
        assert features.are_default
        hits = engine.heads("starring", "Ann Lee", k=10)
        assert {hit.label for hit in hits} == {f"film {film}" for film in range(10)}
        assert hits.method.startswith("hybrid score (default weights): ")
        assert hits.method.endswith(" + rules + similar entities")
        assert "ComplEx" not in hits.method
        assert {hit.probability for hit in hits} == {None}
        entities, relations = np.array([0, 3]), np.array([0, 2])
        text = engine.index.vectors("link")[entities]
        hybrid = engine.index.vectors("hybrid")
        kinds, dim = kinds_of(graph), text.shape[1]
        asked = engine.index.projections.queries(text, relations)
        scores = features.queries(asked, text, entities, relations) @ hybrid[np.arange(15)].T
        wanted = (15 * asked + 5 * text) @ engine.index.vectors("link")[np.arange(15)].T
        wanted += 0.4 * kinds.relations[relations] @ kinds.entities.T
        basis = constraint_basis(graph.triples, 15, 2)
        of_heads = np.array([[0.0], [-0.5]])  # relation 2 is the first inverse
        wanted += of_heads * (basis[relations] @ constraint_vectors(graph.triples, 15, basis).T)
        np.testing.assert_allclose(scores, wanted, atol=1e-3)
        assert hybrid.dim == dim + basis.shape[1] + kinds.entities.shape[1]
        explained = engine.why("film 1", "starring", "Ed Poe")
        assert not {reason.by for reason in explained} & {"ComplEx", "similar heads (links)"}
        assert "similar heads (shared links)" in {reason.by for reason in explained}
        assert engine.missing(k=3)[0].probability is None
    more = GraphBuilder("more")
    more.triple("film 10", "written by", "Bo Berg")
    with ontodex.add(more.build(), tmp_path / "films.odx", device="cpu", quiet=True) as engine:
        hits = engine.heads("starring", "Ann Lee", k=10)
        assert sum(hit.label.startswith("film") for hit in hits) >= 9
    monkeypatch.setattr(module, "MAX_ENTITIES", graph.n_entities - 1)
    assert default_graph_features(graph) is None
