"""The rule, and the probabilities of parents and children, that an index fits to its graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ontodex
from ontodex.encoders.hit import HiT, Learnt
from ontodex.geometry import poincare
from ontodex.geometry.subsumption import MIN_LINKS, Subsumption, differences, fit, metrics
from ontodex.geometry.vectors import Vectors
from ontodex.graph import (
    GraphBuilder,
    Hierarchy,
    KnowledgeGraph,
    draw_negatives,
    links_fingerprint,
    validation_links,
)
from ontodex.graph.names import normalise
from ontodex.indexers.embedded_hierarchy import ASKED, EmbeddedHierarchy
from ontodex.indexers.hierarchy_rule import WEIGHTS, fit_rule_to_graph, with_rule
from ontodex.indexers.neighbour_voting import fit_neighbour_voting
from ontodex.scoring.graph_features import Offsets
from ontodex.scoring.name_evidence import NameEvidence
from ontodex.scoring.name_similarity import NameSimilarity
from ontodex.scoring.neighbour_voting import (
    COMPETING,
    NeighbourVotes,
    NeighbourVoting,
)
from ontodex.scoring.similarity import EntitySimilarity

DIM, COUNT = 32, 1400
C = poincare.curvature(DIM)


@pytest.fixture(scope="module")
def hierarchy() -> Hierarchy:
    """A random tree: each entity has an earlier one as parent, and few have many children."""
    rng = np.random.default_rng(0)
    children = np.arange(1, COUNT, dtype=np.int32)
    parents = (rng.random(COUNT - 1) ** 2 * np.minimum(children, COUNT // 4)).astype(np.int32)
    return Hierarchy(children, parents, ids=[f"e{row}" for row in range(COUNT)])


@pytest.fixture(scope="module")
def names() -> list[str]:
    """Labels, some of them of two entities."""
    return [f"name {row % (COUNT - 60)}" for row in range(COUNT)]


@pytest.fixture(scope="module")
def evidence(names: list[str], hierarchy: Hierarchy) -> NameEvidence:
    builder = GraphBuilder("names")
    for row, name in enumerate(names):
        builder.entity(f"e:{row}", name)
    graph = builder.build()
    return NameEvidence(hierarchy, graph, NameSimilarity.of(graph))


def offsets_of(
    question: str,
    rule: NeighbourVoting,
    embedded: EmbeddedHierarchy,
    texts: Vectors,
    evidence: NameEvidence,
    asked: np.ndarray,
    vectors: np.ndarray | None = None,
) -> list[Offsets]:
    """Return the offsets by texts and names of entities, or of vectors without a name."""
    hierarchy, labels = embedded.hierarchy, embedded.labels
    votes = NeighbourVotes(hierarchy, EntitySimilarity(texts), evidence)
    if vectors is not None:
        new, unnamed = np.full(len(asked), -1), [""] * len(asked)
        return list(votes.offsets(question, rule, vectors, new, unnamed))
    none = np.zeros((len(asked), 0), np.float32)
    return list(votes.offsets(question, rule, none, asked, [labels[row] for row in asked]))


@pytest.fixture(scope="module")
def items(hierarchy: Hierarchy) -> np.ndarray:
    """Points one step from the parent plus equal noise: an encoder of moderate quality."""
    rng = np.random.default_rng(1)
    tangents = np.zeros((COUNT, DIM))
    for row in hierarchy.topological.tolist():
        above = hierarchy.parents(row)
        tangents[row] = (tangents[above[0]] if len(above) else 0) + rng.normal(size=DIM) * 0.5
    points = poincare.exp_origin(tangents + rng.normal(size=tangents.shape) * 0.5, C)
    return np.asarray(poincare.lift_items(points, C), dtype=np.float32)


@pytest.fixture(scope="module")
def embedded(hierarchy: Hierarchy, names: list[str], items: np.ndarray) -> EmbeddedHierarchy:
    return EmbeddedHierarchy(hierarchy, names, items, C)


def bands(probabilities: np.ndarray, found: np.ndarray) -> list[float]:
    """Return the calibration error in each of five bins of equal size."""
    order = np.argsort(probabilities, kind="stable")
    return [
        abs(float(probabilities[part].mean() - found[part].mean()))
        for part in np.array_split(order, 5)
    ]


def test_the_threshold_is_that_of_the_best_f1(
    embedded: EmbeddedHierarchy, hierarchy: Hierarchy, names: list[str], items: np.ndarray
) -> None:
    rule = fit_rule_to_graph(embedded)
    assert rule is not None
    pairs = draw_negatives(hierarchy, hierarchy.links, negatives=10, names=names)
    children, wrong, labels = (
        np.concatenate(two) for two in zip(pairs.pairs("random"), pairs.pairs("hard"), strict=True)
    )
    points = poincare.unlift(items.astype(np.float64), C)
    of_pairs = fit(
        *differences(points, children, wrong, C), labels, weights=(rule.weight, rule.child_weight)
    )
    assert rule.threshold == pytest.approx(of_pairs.threshold, abs=0.3)


def test_an_uninformative_encoder_gives_low_probabilities(
    hierarchy: Hierarchy,
    names: list[str],
    items: np.ndarray,
    tiny_hit: Path,
    evidence: NameEvidence,
) -> None:
    rng = np.random.default_rng(2)
    shuffled = items[rng.permutation(COUNT)]
    embedded = EmbeddedHierarchy(hierarchy, names, shuffled, C)
    hit = with_rule(HiT.load(tiny_hit, "cpu"), embedded)
    assert hit.rule is not None
    texts = Vectors([rng.normal(size=(COUNT, 24)).astype(np.float32)])
    rule = fit_neighbour_voting(hit, embedded, texts, evidence)["parents"]
    asked = np.arange(600, 700)
    offsets = offsets_of("parents", rule, embedded, texts, evidence, asked)
    owners, parents, scores = embedded.best_answers(
        "parents", hit.rule, asked, COMPETING, offsets=offsets
    )
    direct = np.array(
        [row in hierarchy.parents(asked[at]) for at, row in zip(owners, parents, strict=True)]
    )
    found = probabilities(rule, owners, scores)
    assert found.max() < 0.1
    assert found.mean() == pytest.approx(direct.mean(), abs=0.02)


def test_namesakes_are_recognised_by_labels_not_by_texts(
    embedded: EmbeddedHierarchy, hierarchy: Hierarchy, names: list[str], items: np.ndarray
) -> None:
    texts = [f"{name}: definition {row}" for row, name in enumerate(names)]
    apart, labelled = (
        EmbeddedHierarchy(hierarchy, texts, items, C, labels) for labels in (None, names)
    )
    assert labelled.groups.tolist() == embedded.groups.tolist() != apart.groups.tolist()
    assert labelled.order.tolist() == apart.order.tolist()


def probabilities(rule: NeighbourVoting, owners: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the probabilities of the answers to each query, best first."""
    parts = [scores[owners == at] for at in np.unique(owners)]
    return np.concatenate([rule.probability(part, rule.log_odds(part)) for part in parts])


def among_ten(owners: np.ndarray) -> np.ndarray:
    """Return which answers are among the best ten of their query."""
    return np.arange(len(owners)) - np.searchsorted(owners, owners) < 10


def texts_of(hierarchy: Hierarchy, share: float) -> Vectors:
    """Text vectors that are similar where the first parent is the same, plus noise."""
    rng = np.random.default_rng(5)
    kinds, noise = rng.normal(size=(COUNT, 24)), rng.normal(size=(COUNT, 24))
    first = [(*hierarchy.parents(row).tolist(), row)[0] for row in range(COUNT)]
    return Vectors([(share * kinds[first] + noise).astype(np.float32)])


@pytest.mark.slow
def test_neighbour_voting_finds_more_parents_with_calibrated_probabilities(
    embedded: EmbeddedHierarchy, hierarchy: Hierarchy, tiny_hit: Path, evidence: NameEvidence
) -> None:
    hit = with_rule(HiT.load(tiny_hit, "cpu"), embedded)
    assert hit.rule is not None
    asked = np.random.default_rng(0).permutation(np.unique(hierarchy.links[:, 0]))[ASKED:]
    direct = hierarchy.links[:, 0].astype(np.int64) * COUNT + hierarchy.links[:, 1]
    right = []
    for texts in (texts_of(hierarchy, 2.0), texts_of(hierarchy, 0.0)):
        rule = fit_neighbour_voting(hit, embedded, texts, evidence)["parents"]
        added = offsets_of("parents", rule, embedded, texts, evidence, asked)
        owners, parents, scores = embedded.best_answers(
            "parents", hit.rule, asked, COMPETING, offsets=added
        )
        found = np.isin(asked[owners].astype(np.int64) * COUNT + parents, direct)
        assert max(bands(probabilities(rule, owners, scores), found)) < 0.07
        right.append(found[among_ten(owners)].mean())
    owners, parents, _ = embedded.best_answers("parents", hit.rule, asked, 10)
    plain = np.isin(asked[owners].astype(np.int64) * COUNT + parents, direct).mean()
    assert right[0] > 1.3 * plain  # informative texts
    assert right[1] > 0.95 * plain  # uninformative texts


@pytest.mark.slow
def test_neighbour_voting_finds_more_children_with_calibrated_probabilities(
    embedded: EmbeddedHierarchy, hierarchy: Hierarchy, tiny_hit: Path, evidence: NameEvidence
) -> None:
    hit = with_rule(HiT.load(tiny_hit, "cpu"), embedded)
    assert hit.rule is not None
    turned = hierarchy.turned()
    asked = np.random.default_rng(0).permutation(np.unique(turned.links[:, 0]))[:ASKED]
    right = []
    noise = np.random.default_rng(5).normal(size=(COUNT, 200))
    first = [(*hierarchy.parents(row).tolist(), row)[0] for row in range(COUNT)]
    direct = hierarchy.links[:, 0].astype(np.int64) * COUNT + hierarchy.links[:, 1]
    for share in (0.7, 0.0):  # of the parent's text
        texts = Vectors([(noise + share * noise[first]).astype(np.float32)])
        rule = fit_neighbour_voting(hit, embedded, texts, evidence)["children"]
        assert (rule.parents, rule.ancestors) == (0.0, 0.0)
        added = offsets_of("children", rule, embedded, texts, evidence, asked)
        owners, children, scores = embedded.best_answers(
            "children", hit.rule, asked, COMPETING, offsets=added
        )
        found = np.isin(children.astype(np.int64) * COUNT + asked[owners], direct)
        assert max(bands(probabilities(rule, owners, scores), found)) < 0.07
        right.append(found[among_ten(owners)].mean())
    owners, children, _ = embedded.best_answers("children", hit.rule, asked, 10)
    plain = np.isin(children.astype(np.int64) * COUNT + asked[owners], direct).mean()
    assert right[0] > 1.1 * plain  # informative texts
    assert right[1] > 0.95 * plain  # uninformative texts


def test_children_of_an_entity_are_found_by_other_words_for_it(
    embedded: EmbeddedHierarchy, hierarchy: Hierarchy, tiny_hit: Path, evidence: NameEvidence
) -> None:
    hit = with_rule(HiT.load(tiny_hit, "cpu"), embedded)
    assert hit.rule is not None
    turned, rng = hierarchy.turned(), np.random.default_rng(7)
    asked = rng.permutation(np.unique(turned.links[:, 0]))[:ASKED]
    noise = rng.normal(
        size=(COUNT, 200)
    )  # texts of children are unrelated to those of their parents
    texts = Vectors([noise.astype(np.float32)])
    rule = fit_neighbour_voting(hit, embedded, texts, evidence)["children"]
    words = (0.8 * noise[asked] + 0.6 * rng.normal(size=(len(asked), 200))).astype(np.float32)
    offsets = offsets_of("children", rule, embedded, texts, evidence, asked, words)
    direct = hierarchy.links[:, 0].astype(np.int64) * COUNT + hierarchy.links[:, 1]
    right = []
    for added in (offsets, ()):
        owners, children, _ = embedded.best_answers("children", hit.rule, asked, 10, offsets=added)
        right.append(np.isin(children.astype(np.int64) * COUNT + asked[owners], direct).mean())
    assert right[0] > 1.3 * right[1]


def test_there_is_no_neighbour_voting_without_a_rule(
    embedded: EmbeddedHierarchy, items: np.ndarray, tiny_hit: Path, evidence: NameEvidence
) -> None:
    hit = HiT.load(tiny_hit, "cpu")
    hit.rule = None  # as of a public checkpoint
    assert fit_neighbour_voting(hit, embedded, Vectors([items]), evidence) == {}


@pytest.mark.parametrize("question", ["parents", "children"])
@pytest.mark.parametrize("block", [COUNT, 97])
def test_the_best_answers_are_those_of_a_full_sort(
    embedded: EmbeddedHierarchy,
    hierarchy: Hierarchy,
    names: list[str],
    items: np.ndarray,
    block: int,
    question: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ontodex.indexers.embedded_hierarchy.BLOCK", block)
    asked = np.array([COUNT - 1, 3, 0, 40])
    rule = Subsumption(weight=0.5, threshold=0.0, slope=1.0, offset=0.0, tilt=0.2)
    rng = np.random.default_rng(0)
    offsets = [(np.sort(rng.permutation(COUNT)[:30]), rng.normal(size=30) * 5) for _ in asked]
    owners, parents, scores = embedded.best_answers(question, rule, asked, k=7, offsets=offsets)
    hierarchy = hierarchy if question == "parents" else hierarchy.turned()
    points = poincare.unlift(items.astype(np.float64), C)
    norms = poincare.norm(points, C)
    for at, row in enumerate(asked.tolist()):
        above, below = (norms, norms[row]) if question == "parents" else (norms[row], norms)
        every = -(poincare.distance(points[row], points, C) + 0.5 * (above - below) - 0.2 * below)
        every[offsets[at][0]] += offsets[at][1]
        same = {other for other in range(COUNT) if normalise(names[other]) == normalise(names[row])}
        refused = {
            row,
            *hierarchy.descendants(row).tolist(),
            *(same - set(hierarchy.ancestors(row).tolist())),
        }
        wanted = [
            other for other in np.argsort(-every, kind="stable").tolist() if other not in refused
        ][:7]
        assert parents[owners == at].tolist() == wanted
        np.testing.assert_allclose(scores[owners == at], every[wanted], atol=1e-6)


def test_the_rule_is_fitted_to_links_held_out_from_the_encoder(
    embedded: EmbeddedHierarchy, hierarchy: Hierarchy, names: list[str], tiny_hit: Path
) -> None:
    hit = HiT.load(tiny_hit, "cpu")
    links = links_fingerprint(hierarchy.links, names)
    of_all = fit_rule_to_graph(embedded)
    held_out = validation_links(hierarchy, seed=3, held_out=0.2)
    of_held_out = fit_rule_to_graph(embedded, links=held_out)
    assert of_all != of_held_out
    for learnt, wanted in (
        (None, of_all),
        (Learnt(links, "multi-hop", 3, 0.2), of_all),
        (Learnt("0" * 32, "mixed-hop", 3, 0.2), of_all),
        (Learnt(links, "mixed-hop", 3, 0.02), of_all),  # too few are held out
        (Learnt(links, "mixed-hop", 3, 0.2), of_held_out),
    ):
        hit.learnt = learnt
        made = with_rule(hit, embedded)
        assert (made.rule, made.learnt) == (wanted, learnt)


def test_the_rule_is_fitted_to_the_graph_s_own_links(
    small_index: Path, tiny_hit: Path, small_graph: KnowledgeGraph
) -> None:
    hit, names, hierarchy = (
        HiT.load(tiny_hit, "cpu"),
        list(small_graph.labels),
        small_graph.hierarchy(),
    )
    assert len(hierarchy.links) >= MIN_LINKS
    pairs = draw_negatives(hierarchy, hierarchy.links, negatives=10, names=names)
    children, parents, labels = (
        np.concatenate(column)
        for column in zip(pairs.pairs("random"), pairs.pairs("hard"), strict=True)
    )
    points = hit.points(names)
    with ontodex.open(small_index, device="cpu") as engine:
        found = engine.index.rule
    measured = differences(points, children, parents, hit.c)
    wanted = fit(*measured, labels, weights=(found.weight, found.child_weight))
    f1, best = (
        metrics(rule.score(*measured), labels, rule.threshold)["f1"] for rule in (found, wanted)
    )
    assert found != hit.rule
    assert f1 == pytest.approx(best, abs=0.005)

    def reciprocal_rank(weight: float, upward: bool) -> float:
        """Of the asserted parents, or children, among all entities, brute force."""
        ranks = []
        for link in hierarchy.links.tolist():
            asked, wanted = link if upward else link[::-1]
            rows = np.delete(np.arange(len(names)), asked)
            distance, gain, _ = differences(points, np.full(len(rows), asked), rows, hit.c)
            scores = -(distance + weight * gain) if upward else -(distance - weight * gain)
            ranks.append(1 + (scores > scores[rows == wanted] + 1e-6).sum())
        return float((1 / np.array(ranks)).mean())

    for upward, weight in ((True, found.weight), (False, found.child_weight)):
        best = max(reciprocal_rank(other, upward) for other in WEIGHTS)
        assert reciprocal_rank(weight, upward) == pytest.approx(best, abs=0.01)
