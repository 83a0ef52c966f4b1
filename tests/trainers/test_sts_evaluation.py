import numpy as np
import pytest

from ontodex.encoders.self_strae import Node, Tree
from ontodex.trainers.data.sts import ScoredPairs
from ontodex.trainers.trees.evaluation import evaluate_pairs, tree_agreement


def on_a_circle(texts):
    angles = np.array([float(text) for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_cosines_are_ranked_against_scores():
    pairs = ScoredPairs(
        ["0", "0", "0", "0"], ["0.1", "0.5", "1", "1.5"], np.array([4.0, 3.0, 1.0, 2.0])
    )
    found = evaluate_pairs(on_a_circle, pairs)
    assert found["spearman"] == pytest.approx(0.8)
    cosines = np.cos([0.1, 0.5, 1.0, 1.5])
    assert found["pearson"] == pytest.approx(np.corrcoef(cosines, pairs.scores)[0, 1], abs=1e-5)
    assert found["alignment"] == pytest.approx(
        2 - 2 * np.cos(0.1), abs=1e-5
    )  # the one pair of the upper fifth
    angles = np.array([0, 0.1, 0.5, 1.0, 1.5])
    apart = (2 - 2 * np.cos(angles[:, None] - angles))[np.triu_indices(5, 1)]
    assert found["uniformity"] == pytest.approx(np.log(np.exp(-2 * apart).mean()), abs=1e-5)
    assert found["pairs"] == 4


def tree(*merges, tokens):
    nodes = [Node(2 * at, 2 * at + 1) for at in range(tokens)]
    for left, right in merges:
        nodes.append(Node(nodes[left].start, nodes[right].end, left, right, 0.5))
    return Tree("a " * tokens, tuple(nodes), np.zeros((len(nodes), 2), dtype=np.float32))


@pytest.mark.parametrize(
    ("merges", "expected"),
    [
        ([(2, 3), (1, 4), (0, 5)], {"right": 1.0, "left": 0.0, "balanced": 0.5}),
        ([(0, 1), (4, 2), (5, 3)], {"right": 0.0, "left": 1.0, "balanced": 0.5}),
        ([(0, 1), (2, 3), (4, 5)], {"right": 0.5, "left": 0.5, "balanced": 1.0}),
    ],
)
def test_trees_agree_with_plain_ones(merges, expected):
    assert tree_agreement([tree(*merges, tokens=4), tree((0, 1), tokens=2)]) == expected


def test_texts_of_two_tokens_have_no_phrases():
    assert tree_agreement([tree((0, 1), tokens=2)]) == {}


@pytest.mark.parametrize(
    ("rows", "left_out"),
    [
        ([("0", "10", 1.0)], {"spearman", "pearson"}),
        ([("0", "10", 3.0), ("0", "40", 3.0)], {"spearman", "pearson"}),
        ([("0", "10", 1.0), ("0", "10", 3.0)], {"spearman", "pearson"}),
        ([("0", "0", 1.0)], {"spearman", "pearson", "uniformity"}),
    ],
)
def test_what_is_not_defined_is_left_out(rows, left_out):
    ones, others, scores = zip(*rows, strict=True)
    found = evaluate_pairs(on_a_circle, ScoredPairs(ones, others, np.array(scores)))
    assert set(found) == {"spearman", "pearson", "alignment", "uniformity", "pairs"} - left_out
    assert np.isfinite(list(found.values())).all()
