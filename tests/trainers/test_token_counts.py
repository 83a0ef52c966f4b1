import numpy as np
import pytest
import torch

from ontodex.trainers.trees import token_counts
from ontodex.trainers.trees.batches import TokenisedSentences
from ontodex.trainers.trees.token_counts import counted_vectors, without_common


def sentences_of(*rows):
    tokens = np.concatenate([np.array(row, dtype=np.int32) for row in rows])
    lengths = np.array([len(row) for row in rows])
    return TokenisedSentences(tokens, np.cumsum(lengths) - lengths, lengths)


def two_fields(n=300, seed=0):
    """Return sentences of tokens 0 to 9, or of tokens 10 to 19."""
    random = np.random.default_rng(seed)
    return sentences_of(*(random.integers(0, 10, 6) + 10 * (row % 2) for row in range(n)))


def information_of(rows, vocabulary, window):
    """Return the positive pointwise mutual information, by its formula."""
    counts = np.zeros((vocabulary, vocabulary))
    for row in rows:
        for at, token in enumerate(row):
            for near in (*row[max(0, at - window) : at], *row[at + 1 : at + 1 + window]):
                counts[token, near] += 1
    probabilities = counts.sum(0) ** 0.75 / (counts.sum(0) ** 0.75).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(
            np.maximum(np.log(counts / (counts.sum(1)[:, None] * probabilities)), 0)
        )


def test_vectors_are_the_singular_vectors_of_the_information(monkeypatch):
    monkeypatch.setattr(token_counts, "OFTEN", 100)  # all are counted
    monkeypatch.setattr(token_counts, "TOKENS_EACH", 1)
    monkeypatch.setattr(token_counts, "WINDOW", 2)
    rows = np.random.default_rng(0).integers(0, 12, (40, 9)).tolist()
    left, _, _ = np.linalg.svd(information_of(rows, 12, window=2))
    found = counted_vectors(sentences_of(*rows), 12, 5, seed=0).numpy()
    expected = left[:, :5] / np.linalg.norm(left[:, :5], axis=1, keepdims=True)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=0.02)


def test_tokens_of_similar_contexts_have_similar_vectors():
    cosines = (lambda found: found @ found.T)(counted_vectors(two_fields(), 20, 4, seed=0))
    assert cosines[:10, 10:].abs().max() < 0.1
    assert cosines[0, 1:10].abs().mean() > 0.3


def test_neighbours_are_of_the_same_sentence(monkeypatch):
    monkeypatch.setattr(token_counts, "TOKENS_EACH", 1)
    found = counted_vectors(sentences_of(*[[0, 1, 2], [3, 4, 5]] * 50), 6, 2, seed=0)
    assert float(found[1] @ found[2]) > 0.99
    assert abs(float(found[2] @ found[3])) < 0.01


def test_tokens_without_counts_get_random_unit_vectors():
    found = counted_vectors(sentences_of([0, 1], [0, 1]), 6, 32, seed=0)
    np.testing.assert_allclose(found.norm(dim=1), 1, rtol=1e-5)
    assert abs(float(found[4] @ found[5])) < 0.9
    alone = counted_vectors(sentences_of([3], [4]), 6, 8, seed=0)  # no token has a neighbour
    np.testing.assert_allclose(alone.norm(dim=1), 1, rtol=1e-5)


def test_the_same_seed_draws_the_same_and_long_texts_are_sampled(monkeypatch):
    sentences = two_fields(900)
    monkeypatch.setattr(token_counts, "MOST_TOKENS", 1200)
    one, again, other = (counted_vectors(sentences, 20, 4, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert (one @ one.T)[:10, 10:].abs().max() < 0.2


def test_the_common_direction_is_removed():
    torch.manual_seed(0)
    common = torch.zeros(80)
    common[3] = 1
    vectors = torch.randn(500, 80) * 0.1 + common * (2 + torch.randn(500, 1))
    found = without_common(vectors, torch.ones(500))
    torch.testing.assert_close(found.norm(dim=1), torch.ones(500))
    assert torch.linalg.matrix_rank(found, rtol=1e-4) == 80 - 80 // token_counts.COMMON
    before = torch.nn.functional.normalize(vectors, dim=1)[:, 3].abs().mean()
    assert float(found[:, 3].abs().mean()) < 0.1 < 0.5 < float(before)


def test_excluded_tokens_do_not_change_vectors():
    torch.manual_seed(0)
    vectors = torch.randn(40, 16)
    weights = torch.cat([torch.ones(20), torch.zeros(20)])
    alone = without_common(vectors[:20], weights[:20])
    torch.testing.assert_close(without_common(vectors, weights)[:20], alone, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("dim", [8, 32])
def test_few_numbers_lose_only_their_mean(dim):
    vectors = torch.nn.functional.normalize(torch.randn(50, dim), dim=1)
    found = without_common(vectors, torch.ones(50))
    expected = torch.nn.functional.normalize(vectors - vectors.mean(0), dim=1)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
