"""F1 at the validation threshold, and recall of ancestors by distance, against plain loops."""

import networkx
import numpy as np
import pytest

from ontodex.geometry import poincare, subsumption
from ontodex.graph import Hierarchy
from ontodex.trainers.data.subsumptions import make_task
from ontodex.trainers.hierarchies.evaluation import (
    KINDS,
    ancestor_recall,
    at_most,
    evaluate_points,
    evaluate_regression,
    evaluate_scores,
)

C = 1 / 8


@pytest.fixture(scope="module")
def hierarchy():
    """Return a hierarchy of 200 entities, each with one or two earlier parents."""
    rng = np.random.default_rng(0)
    children = np.repeat(np.arange(1, 200), 2)
    links = np.stack([children, rng.integers(0, children)], axis=1)
    return Hierarchy(
        links[:, 0].astype(np.int32),
        links[:, 1].astype(np.int32),
        ids=[f"e{row}" for row in range(203)],
    )


@pytest.fixture(scope="module")
def points(hierarchy):
    """Return points whose norms grow with depth, so that the norm is informative."""
    rng = np.random.default_rng(1)
    found = rng.standard_normal((len(hierarchy.ids), 8)) * (0.2 + 0.1 * hierarchy.depth[:, None])
    return poincare.clip(found.astype(np.float32), C, 0.05)


@pytest.fixture(scope="module")
def task(hierarchy):
    return make_task(hierarchy, "multi-hop", negatives=5, held_out=0.3)


def by_hand(scores_of, task, kind):
    """F1, precision and recall of test pairs at the threshold of validation, one pair at a time."""
    (children, parents, labels) = task.valid.pairs(kind)
    scores = [scores_of(a, b) for a, b in zip(children, parents, strict=True)]
    threshold = subsumption.best_threshold(scores, labels)[1]
    counts = np.zeros((2, 2))
    for child, parent, label in zip(*task.test.pairs(kind), strict=True):
        counts[int(scores_of(child, parent) > threshold), int(label)] += 1
    precision, recall = counts[1, 1] / counts[1].sum(), counts[1, 1] / counts[:, 1].sum()
    return 2 * precision * recall / (precision + recall), precision, recall


@pytest.mark.parametrize("kind", KINDS)
def test_any_score_is_measured_at_the_threshold_of_validation(task, kind):
    asked = []

    def score(children, parents):
        asked.append(len(children))
        assert len(np.unique(np.stack([children, parents]), axis=1).T) == len(children)
        return children - 2.5 * parents

    found = evaluate_scores(task, score)
    assert len(asked) == 1
    wanted = by_hand(lambda child, parent: child - 2.5 * parent, task, kind)
    assert [found[f"{kind}.{name}"] for name in ("f1", "precision", "recall")] == pytest.approx(
        wanted
    )


def test_pairs_of_the_same_names_are_scored_once(task, hierarchy):
    names = [f"name {row % 10}" for row in range(len(hierarchy.ids))]
    seen = []

    def score(children, parents):
        seen.extend((names[a], names[b]) for a, b in zip(children, parents, strict=True))
        return (7 * (children % 10) + 3 * (parents % 10)) % 11

    by_name = evaluate_scores(task, score, names)
    assert len(seen) == len(set(seen)) <= 100
    assert by_name == evaluate_scores(task, score)


@pytest.mark.parametrize("kind", KINDS)
def test_points_are_measured_by_the_rule_that_validation_gives(task, points, kind):
    found = evaluate_points(task, points, C)
    norms = poincare.norm(points.astype(np.float64), C)

    def scores_of(child, parent):
        distance = poincare.distance(points[child].astype(float), points[parent].astype(float), C)
        gain = norms[parent] - norms[child]
        return -(distance + found[f"{kind}.weight"] * gain - found[f"{kind}.tilt"] * norms[child])

    wanted = by_hand(scores_of, task, kind)
    assert [found[f"{kind}.{name}"] for name in ("f1", "precision", "recall")] == pytest.approx(
        wanted, abs=0.02
    )
    distance_only = by_hand(
        lambda child, parent: (
            -poincare.distance(points[child].astype(float), points[parent].astype(float), C)
        ),
        task,
        kind,
    )
    assert found[f"{kind}.weight"] > 0
    assert found[f"{kind}.f1"] > distance_only[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_regression_joins_scores_that_each_tell_a_part(task, hierarchy, kind):
    true = hierarchy.is_ancestor(*np.indices((203, 203)))
    noise = np.random.default_rng(3).standard_normal((2, 203, 203))

    def measure(children, parents):
        informative = true[children, parents] + 0.7 * noise[:, children, parents]
        return np.stack([100 * informative[0], -informative[1]])

    both = evaluate_regression(task, measure)
    one = evaluate_scores(task, lambda children, parents: measure(children, parents)[0])
    alone = evaluate_regression(task, lambda children, parents: measure(children, parents)[:1])
    for name in ("f1", "precision", "recall", "valid_f1"):
        assert alone[f"{kind}.{name}"] == pytest.approx(one[f"{kind}.{name}"])
    assert both[f"{kind}.f1"] > one[f"{kind}.f1"] + 0.05


def test_no_more_positives_than_asked_for(task):
    small = at_most(task, 7, seed=1)
    assert len(small.valid) == len(small.test) == 7
    whole = {
        tuple(row)
        for row in np.concatenate(
            [task.test.positives, task.test.random, task.test.hard], 1
        ).tolist()
    }
    cut = np.concatenate([small.test.positives, small.test.random, small.test.hard], 1)
    assert {tuple(row) for row in cut.tolist()} <= whole
    assert at_most(task, 7, seed=1).test.positives.tolist() == small.test.positives.tolist()
    assert len(at_most(task, 10**6).test) == len(task.test)


def test_hops_are_the_shortest_ways_up(hierarchy):
    graph = networkx.DiGraph(hierarchy.links.tolist())
    for entity in hierarchy.members.tolist():
        wanted = networkx.single_source_shortest_path_length(graph, entity)
        assert hierarchy.hops_upward(entity) == {row: hop for row, hop in wanted.items() if hop}
    assert hierarchy.hops_upward(202) == {}


@pytest.mark.parametrize("weight", [0.0, 1.5])
def test_recall_of_ancestors_is_that_of_a_full_sort(hierarchy, points, weight):
    found = ancestor_recall(hierarchy, points, C, weight=weight, most=(3, 20), queries=10**6)
    wide, hits, pairs = points.astype(np.float64), {}, {}
    norms = poincare.norm(wide, C)
    for entity in hierarchy.members.tolist():
        score = -(poincare.distance(wide[entity], wide, C) + weight * (norms - norms[entity]))
        order = [row for row in np.argsort(-score) if row != entity and row in hierarchy.members]
        for ancestor, hop in hierarchy.hops_upward(entity).items():
            name = "4+" if hop > 3 else str(hop)
            pairs[name] = pairs.get(name, 0) + 1
            for most in (3, 20):
                key = f"hop{name}.recall@{most}"
                hits[key] = hits.get(key, 0) + (ancestor in order[:most])
    wanted = {key: count / pairs[key[3 : key.index(".")]] for key, count in hits.items()}
    assert {key: value for key, value in found.items() if "recall" in key} == pytest.approx(
        wanted, abs=2e-3
    )
    assert {key: value for key, value in found.items() if "pairs" in key} == {
        f"hop{name}.pairs": count for name, count in pairs.items()
    }


def test_sampled_queries_are_the_same_for_a_seed(hierarchy, points):
    def drawn(seed):
        return ancestor_recall(hierarchy, points, C, weight=0.0, queries=40, seed=seed)

    assert drawn(0) == drawn(0) != drawn(1)


def test_a_top_longer_than_the_hierarchy_holds_all(hierarchy, points):
    found = ancestor_recall(hierarchy, points, C, weight=1.0, most=(10_000,))
    assert {value for key, value in found.items() if "recall" in key} == {1.0}
