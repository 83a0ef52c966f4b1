"""F1 at the validation threshold, and recall of ancestors by distance, against plain loops."""

from dataclasses import replace

import networkx
import numpy as np
import pytest

from ontodex.geometry import poincare, subsumption
from ontodex.graph import Hierarchy
from ontodex.trainers.data.subsumptions import HierarchyTask, Pairs, make_task
from ontodex.trainers.hierarchies.evaluation import (
    KINDS,
    ancestor_recall,
    at_most,
    evaluate_points,
    evaluate_prior,
    evaluate_regression,
    evaluate_scores,
)

C = 1 / 8
NAMES = ("f1", "precision", "recall")
AT_LIMIT = pytest.mark.filterwarnings("ignore:.*expected fitted weights below 64")
"""For points of which the norm alone tells nearly all."""


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


@AT_LIMIT
@pytest.mark.parametrize("kind", KINDS)
def test_points_are_measured_by_the_rule_that_validation_gives(task, points, kind):
    found = evaluate_points(task, points, C)
    norms = poincare.norm(points.astype(np.float64), C)

    def scores_of(child, parent):
        distance = poincare.distance(points[child].astype(float), points[parent].astype(float), C)
        gain = norms[parent] - norms[child]
        tilt = found.get(f"{rule}{kind}.tilt", 0.0)
        return -(distance + found[f"{rule}{kind}.weight"] * gain - tilt * norms[child])

    for rule in ("", "two_weights."):
        wanted = by_hand(scores_of, task, kind)
        assert [found[f"{rule}{kind}.{name}"] for name in NAMES] == pytest.approx(wanted, abs=0.02)
    assert f"{kind}.tilt" not in found
    wanted = by_hand(lambda _, parent: -norms[parent], task, kind)
    assert [found[f"norm.{kind}.{name}"] for name in NAMES] == pytest.approx(wanted)
    distance_only = by_hand(
        lambda child, parent: (
            -poincare.distance(points[child].astype(float), points[parent].astype(float), C)
        ),
        task,
        kind,
    )
    assert found[f"{kind}.weight"] > 0
    assert found[f"{kind}.f1"] > distance_only[0]


def on_a_line(*places):
    """Return points on a line of the ball of curvature -1, by their distance from its origin."""
    return np.tanh(np.array(places)[:, None] / 2).astype(np.float32)


def pairs_of(*rows):
    """Pairs of (child, parent, negative), of one negative of each kind, which is the same."""
    children, parents, negatives = np.array(rows, dtype=np.int32).T
    return Pairs(np.stack([children, parents], axis=1), negatives[:, None], negatives[:, None])


def line_task(train, valid, test, rows=8):
    """A task of rows on a line; the whole hierarchy is that of the training links."""
    links = np.array(train, dtype=np.int32).reshape(-1, 2)
    whole = Hierarchy(*links.T, ids=[str(row) for row in range(rows)])
    return HierarchyTask(links, pairs_of(*valid), pairs_of(*test), whole)


def test_one_weight_two_weights_and_the_norm_by_hand():
    """Distances and norms on a line are differences and absolute values, so scores are by hand.

    Validation, as distance, parent's norm, child's norm: true (6, 3, 3) and (.5, .5, 1), false
    (7, 4, 3) and (2, 1, 1). With one weight λ the scores are -6, -.5 + .5 λ, -7 - λ and -2: the
    second false pair is above the first true one for every λ, so the best accepts three of the
    four, F1 2 * 2 / (2 + 3) = .8. The parent's norm alone has the same order. The child's norm with
    a weight of 2.5 has 1.5, 2, .5 and .5: a threshold of 1 makes no mistake.

    Test: true (6, 3, 3) and (.5, .5, 1); false (5, 2, 3) and (5, 4, 1). With λ = 0 the threshold is
    -6.5, which accepts all: 2 * 2 / (2 + 4). The norm's threshold is -3.5, which refuses the last.
    """
    places = on_a_line(3, -3, -4, 1, 0.5, -1, -2)
    task = line_task([(0, 1)], [(0, 1, 2), (3, 4, 5)], [(0, 1, 6), (3, 4, 2)])
    found = evaluate_points(task, places, 1.0)
    for kind in KINDS:
        assert found[f"{kind}.weight"] == 0
        assert found[f"{kind}.threshold"] == pytest.approx(-6.5, abs=1e-4)
        assert found[f"{kind}.valid_f1"] == pytest.approx(0.8)
        assert found[f"{kind}.f1"] == pytest.approx(2 * 2 / (2 + 4))
        assert found[f"norm.{kind}.threshold"] == pytest.approx(-3.5, abs=1e-4)
        assert found[f"norm.{kind}.valid_f1"] == pytest.approx(0.8)
        assert found[f"norm.{kind}.f1"] == pytest.approx(2 * 2 / (2 + 3))
        assert found[f"two_weights.{kind}.valid_f1"] == 1


def test_the_prior_counts_the_entities_below_a_parent():
    """By hand: training links 1-0, 2-1, 3-1, 4-0, 5-4 leave 5 below 0, 2 below 1 and 1 below 4.

    Validation: true parents 0 and 1 (5 and 2), negatives 4 and 5 (1 and 0): threshold 1.5. Test:
    true parents 0 and 4 (5 and 1), negatives 1 and 5 (2 and 0): 0 and 1 are accepted, F1 1 / 2.
    """
    train = [(1, 0), (2, 1), (3, 1), (4, 0), (5, 4)]
    task = line_task(train, [(2, 0, 4), (3, 1, 5)], [(3, 0, 1), (5, 4, 5)])
    found = evaluate_prior(task)
    for kind in KINDS:
        assert (found[f"{kind}.threshold"], found[f"{kind}.valid_f1"]) == (1.5, 1)
        assert found[f"{kind}.f1"] == 2 * 1 / (2 + 2)


def test_without_training_links_the_prior_counts_validation_but_not_the_pair_itself():
    """By hand: parents of validation are 0 three times and 1 once; the positives do not count
    themselves.

    They score 2, 2, 2 and 0, their negatives 1, 1, 1 and 3 (parents 1, 1, 1 and 0): the best
    threshold is 1.5, F1 2 * 3 / (4 + 4). Test: true 0 and 1 (3 and 1), false 1 and 2 (1 and 0): one
    of two is accepted, 2 * 1 / (2 + 1).
    """
    valid = [(2, 0, 1), (3, 0, 1), (4, 0, 1), (5, 1, 0)]
    found = evaluate_prior(line_task([], valid, [(6, 0, 1), (7, 1, 2)]))
    for kind in KINDS:
        assert (found[f"{kind}.threshold"], found[f"{kind}.valid_f1"]) == (1.5, 0.75)
        assert found[f"{kind}.f1"] == pytest.approx(2 / 3)


def test_a_weight_at_the_limit_is_warned_about():
    """The true parent is 6.3 away, its norm smaller by .1; the false one is at the child's place.

    By hand: the true score -(6.3 - .1 λ) is above the false one, 0, from λ = 63; the search ends at
    64.
    """
    task = line_task([(0, 1)], [(0, 1, 2)], [(0, 1, 2)])
    with pytest.warns(UserWarning, match="expected fitted weights below 64, .* found 64") as given:
        found = evaluate_points(task, on_a_line(3.2, -3.1, 3.2), 1.0)
    assert [str(one.message).partition(":")[0] for one in given] == [
        *("random", "hard", "two_weights.random", "two_weights.hard")
    ]
    assert found["random.weight"] == pytest.approx(64)
    assert found["random.f1"] == 1


def test_a_weight_below_the_limit_is_not_at_it():
    rule = subsumption.Subsumption(weight=63.9, threshold=0.0, slope=1.0, offset=0.0, tilt=-3.0)
    assert not rule.at_limit
    assert replace(rule, tilt=0.1).at_limit  # the weight of the child's norm


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
    found = ancestor_recall(hierarchy, points, C, weights={"": weight}, most=(3, 20), queries=10**6)
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
        return ancestor_recall(hierarchy, points, C, weights={"": 0.0}, queries=40, seed=seed)

    assert drawn(0) == drawn(0) != drawn(1)


def test_a_top_longer_than_the_hierarchy_holds_all(hierarchy, points):
    found = ancestor_recall(hierarchy, points, C, weights={"": 1.0}, most=(10_000,))
    assert {value for key, value in found.items() if "recall" in key} == {1.0}
