"""Formulas of Self-StrAE, one by one, against direct implementations.

Opper and Siddharth, "Self-StrAE at SemEval-2024 Task 1: Making Self-Structuring AutoEncoders Learn
More With Less", SemEval 2024. The paper does not number most of its formulas, so tests are named by
what they are about. An embedding is a matrix of k channels of u numbers; ontodex stores its u rows
of k numbers ("planes") one after the other. Where ontodex deviates, the test says so.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers

from ontodex.encoders.forest import compose, decompose, grow, planes, vectors
from ontodex.encoders.self_strae import SelfStrAE
from ontodex.trainers.trees import objectives
from ontodex.trainers.trees.batches import SentenceBatch
from ontodex.trainers.trees.objectives import PUBLIC_MULTIPLIER, TreeModel

CHANNELS, SIZE = 5, 3
LENGTHS = [9, 7, 7, 3, 2, 1]
VOCABULARY = 12
CLOSE = 1e-9
"""Error of vectors in float64.

A node is at most 9 compositions above a token, each of which multiplies numbers by at most about 10
and adds errors of 1e-16: 10^9 would bound the growth, which random weights do not come near.
"""


def drawn_weights(seed):
    """Draw weight (u, 2u) and bias (u,) of composition, then (2u, u) and (2u,) of decomposition."""
    random = torch.Generator().manual_seed(seed)
    return tuple(
        torch.randn(*shape, generator=random, dtype=torch.float64)
        for shape in ((SIZE, 2 * SIZE), (SIZE,), (2 * SIZE, SIZE), (2 * SIZE,))
    )


def drawn_leaves(seed):
    random = torch.Generator().manual_seed(seed)
    leaves = torch.randn(SIZE, sum(LENGTHS), CHANNELS, generator=random, dtype=torch.float64)
    return leaves, torch.tensor(LENGTHS)


def linear(weight, bias, inputs):
    """Return weight · inputs + bias of one channel, by loops."""
    return [
        bias[i] + sum(weight[i, j] * inputs[j] for j in range(len(inputs)))
        for i in range(len(bias))
    ]


def matrices(nodes):
    """Return vectors of nodes, (size, n, channels), as n matrices of shape (channels, size)."""
    return np.ascontiguousarray(nodes.detach().numpy().transpose(1, 2, 0))


def composed(left, right, weight, bias):
    """Composition of two embeddings: W [left_c; right_c] + b in each channel c."""
    return np.array([linear(weight, bias, [*a, *b]) for a, b in zip(left, right, strict=True)])


def decomposed(parent, weight, bias):
    """Decomposition of an embedding: [left_c; right_c] = W parent_c + b in each channel c."""
    both = np.array([linear(weight, bias, channel) for channel in parent])
    return both[:, :SIZE], both[:, SIZE:]


def cosine(one, other):
    one, other = np.ravel(one), np.ravel(other)
    return sum(one * other) / math.sqrt(sum(one * one)) / math.sqrt(sum(other * other))


def merged_greedily(leaves, weight, bias):
    """Build the tree of one text: merge the most similar neighbours until one node is left.

    Returns:
        Merges (left, right, cosine), with all cosines computed anew in every step, and all nodes.
    """
    nodes = list(leaves)
    row, merges = list(range(len(nodes))), []
    while len(row) > 1:
        pairs = list(itertools.pairwise(row))
        cosines = [cosine(nodes[a], nodes[b]) for a, b in pairs]
        best = int(np.argmax(cosines))
        left, right = pairs[best]
        merges.append((left, right, cosines[best]))
        nodes.append(composed(nodes[left], nodes[right], weight, bias))
        row[best : best + 2] = [len(nodes) - 1]
    return merges, nodes


@pytest.mark.parametrize("seed", range(4))
def test_structure_by_greedy_merging(seed):
    """In every step, the adjacent pair of the largest cosine of whole embeddings is merged.

    The merged node is the composition of the pair; of equal pairs, ontodex merges the leftmost.
    """
    leaves, counts = drawn_leaves(seed)
    weight, bias, *_ = drawn_weights(seed)
    forest, nodes = grow(leaves, counts, weight, bias)
    found, first = matrices(nodes), 0
    for text, length in enumerate(LENGTHS):
        merges, wanted = merged_greedily(
            matrices(leaves[:, first : first + length]), weight.numpy(), bias.numpy()
        )
        own = (forest.owners == text).nonzero()[:, 0].tolist()
        numbers = {node: place for place, node in enumerate(own)}
        parents = [node - forest.tokens for node in own[length:]]
        assert [(numbers[int(forest.left[p])], numbers[int(forest.right[p])]) for p in parents] == [
            (left, right) for left, right, _ in merges
        ]
        np.testing.assert_allclose(
            forest.similarities[parents], [value for *_, value in merges], atol=CLOSE
        )
        np.testing.assert_allclose(found[own], wanted, rtol=CLOSE, atol=CLOSE)
        assert int(forest.roots[text]) == own[-1]
        first += length


def test_composition_of_channels():
    """C(e₁, e₂): one linear layer from 2u to u numbers, shared by all k channels."""
    leaves, counts = drawn_leaves(4)
    weight, bias, *_ = drawn_weights(4)
    forest, _ = grow(leaves, counts, weight, bias)
    found = matrices(compose(leaves, weight, bias, forest))
    for parent, (left, right) in enumerate(
        zip(forest.left.tolist(), forest.right.tolist(), strict=True), start=forest.tokens
    ):
        wanted = composed(found[left], found[right], weight.numpy(), bias.numpy())
        np.testing.assert_allclose(found[parent], wanted, rtol=CLOSE, atol=CLOSE)
    np.testing.assert_array_equal(found[: forest.tokens], matrices(leaves))


@pytest.mark.parametrize("public", [False, True])
def test_decomposition_of_channels(public):
    """D(e) = (e₁, e₂): one linear layer from u to 2u numbers, shared by all k channels.

    The decoder starts with the root's own embedding. As in the paper, the first half goes to the
    left child; with ``public``, to the child that was made first, as in the public code.
    """
    leaves, counts = drawn_leaves(5)
    weight, bias, down, down_bias = drawn_weights(5)
    forest, nodes = grow(leaves, counts, weight, bias)
    roots = nodes[:, forest.roots]
    made = decompose(roots, down, down_bias, forest, public=public)
    found = matrices(made.index_select(1, forest.places))
    np.testing.assert_array_equal(found[forest.roots.tolist()], matrices(roots))
    swapped = 0
    for parent, (left, right) in enumerate(
        zip(forest.left.tolist(), forest.right.tolist(), strict=True), start=forest.tokens
    ):
        halves = decomposed(found[parent], down.numpy(), down_bias.numpy())
        if public and right < left:
            left, right, swapped = right, left, swapped + 1
        for child, wanted in zip((left, right), halves, strict=True):
            np.testing.assert_allclose(found[child], wanted, rtol=CLOSE, atol=CLOSE)
    assert bool(swapped) == public


def model_and_batch(objective, **settings):
    """Return a model in float64 without dropout, with random weights, and a batch of six texts."""
    words = {f"w{number}": number for number in range(VOCABULARY - 1)}
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": VOCABULARY - 1, **words}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    shares = torch.full((VOCABULARY,), 1 / VOCABULARY)
    model = TreeModel(
        SelfStrAE(tokenizer, CHANNELS, SIZE), shares, objective=objective, nodes=0, **settings
    ).double()
    random = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5, generator=random)
    tokens = np.random.default_rng(2).integers(0, VOCABULARY - 1, sum(LENGTHS))
    return model.eval(), SentenceBatch(0, tokens, np.array(LENGTHS, dtype=np.int64))


def passed(model, batch):
    """Return the embeddings of all nodes on the way up and down, tokens first, as matrices."""
    network = model.encoder.network
    leaves = planes(network.table[torch.from_numpy(batch.tokens)], SIZE)
    weight, bias = network.weight.detach().numpy(), network.bias.detach().numpy()
    down_weight, down_bias = model.down.weight.detach().numpy(), model.down.bias.detach().numpy()
    tokens, inner, first = ([], []), ([], []), 0
    for length in LENGTHS:
        merges, up = merged_greedily(matrices(leaves[:, first : first + length]), weight, bias)
        down = [None] * len(up)
        down[-1] = up[-1]
        for parent in reversed(range(len(merges))):
            left, right, _ = merges[parent]
            down[left], down[right] = decomposed(down[length + parent], down_weight, down_bias)
        for side, nodes in enumerate((up, down)):
            tokens[side].extend(nodes[:length])
            inner[side].extend(nodes[length:])
        first += length
    return tokens, inner


def cross_entropy(logits, target):
    top = max(logits)
    return top + math.log(sum(math.exp(logit - top) for logit in logits)) - logits[target]


def contrastive_loss(ones, others, multiplier):
    """½ (mean row-wise + mean column-wise cross-entropy) of the matrix of cosines."""
    count = len(ones)
    matrix = [[multiplier * cosine(one, other) for other in others] for one in ones]
    rows = sum(cross_entropy(matrix[i], i) for i in range(count))
    columns = sum(cross_entropy([matrix[i][j] for i in range(count)], j) for j in range(count))
    return (rows + columns) / (2 * count)


def token_loss(model, embeddings, tokens):
    """Mean cross-entropy of the tokens, from a linear layer on the leaves' embeddings."""
    weight, bias = model.head.weight.detach().numpy(), model.head.bias.detach().numpy()
    losses = [
        cross_entropy(linear(weight, bias, np.ravel(leaf.T)), token)
        for leaf, token in zip(embeddings, tokens.tolist(), strict=True)
    ]
    return sum(losses) / len(losses)


@pytest.fixture
def exact(monkeypatch):
    """Compute the logits of tokens in float64 wherever the tests run; their softmax is float32."""
    monkeypatch.setattr(objectives, "has_bfloat16", lambda device: False)


TOKENS_CLOSE = 2e-6
"""Relative error of cross-entropies over 12 tokens in float32: a few times 2^-24 of 10."""


@pytest.mark.parametrize("multiplier", [0.0, 1 / 1.2, 1.2])
def test_contrastive_objective(multiplier):
    """L_cont = ½ (CE over rows + CE over columns) of cosines of all nodes' up and down embeddings.

    The paper has a temperature τ of 1.2. Its public code multiplies cosines by exp(0.2) = 1.2214,
    ontodex's default (0 here); 1 / 1.2 and 1.2 are the two readings of τ.
    """
    model, batch = model_and_batch("contrastive", multiplier=multiplier)
    tokens, inner = passed(model, batch)
    wanted = contrastive_loss(
        *(tokens[side] + inner[side] for side in (0, 1)), multiplier or math.exp(0.2)
    )
    assert math.exp(0.2) == PUBLIC_MULTIPLIER
    assert model(batch)["loss"].item() == pytest.approx(wanted, rel=CLOSE)


def test_cross_entropy_objective(exact):
    """L_CE: cross-entropy of the tokens, predicted from the decoder's leaves.

    The layer has a bias, as in the public code; the paper has none.
    """
    model, batch = model_and_batch("ce")
    tokens, _ = passed(model, batch)
    wanted = token_loss(model, tokens[1], batch.tokens)
    assert model(batch)["loss"].item() == pytest.approx(wanted, rel=TOKENS_CLOSE)


def test_ceco_objective(exact):
    """L_CECO = ½ (L_CE + L_cont): L_CE over the leaves, L_cont over the other nodes."""
    model, batch = model_and_batch("ceco")
    tokens, inner = passed(model, batch)
    predicted = token_loss(model, tokens[1], batch.tokens)
    wanted = (predicted + contrastive_loss(*inner, PUBLIC_MULTIPLIER)) / 2
    assert model(batch)["loss"].item() == pytest.approx(wanted, rel=TOKENS_CLOSE)


@pytest.mark.parametrize("training", [False, True])
def test_strcse_objective(exact, monkeypatch, training):
    """L_StrCSE: L_CE of both of two passes, plus L_cont of their decoders' inner nodes.

    The passes differ in dropout alone. In ontodex they share the trees, which the paper leaves
    open: nodes of different trees cannot be matched.
    """
    model, batch = model_and_batch("strcse")
    downs = []
    real = TreeModel._passed

    def noted(self, leaves, forest):
        up, down = real(self, leaves, forest)
        downs.append((matrices(down), forest.tokens))
        return up, down

    monkeypatch.setattr(TreeModel, "_passed", noted)
    torch.manual_seed(0)
    found = model.train(training)(batch)["loss"].item()
    assert len(downs) == 2
    (one, count), (other, _) = downs
    assert np.array_equal(one, other) != training
    wanted = sum(token_loss(model, down[:count], batch.tokens) for down in (one, other))
    wanted += contrastive_loss(one[count:], other[count:], PUBLIC_MULTIPLIER)
    assert found == pytest.approx(wanted, rel=TOKENS_CLOSE)
    if not training:
        tokens, _ = passed(model, batch)
        np.testing.assert_allclose(one[:count], tokens[1], rtol=CLOSE, atol=CLOSE)


@pytest.mark.parametrize(("size", "parameters"), [(32, 4192), (8, 280), (4, 76), (2, 22), (1, 7)])
def test_number_of_parameters(size, parameters):
    """Composition and decomposition have 4u² + 3u parameters: seven for channels of one number.

    The paper prints 88 for u = 4, where the formula gives 76.
    """
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    model = TreeModel(
        SelfStrAE(tokenizer, 256 // size, size), torch.ones(1), objective="contrastive"
    )
    network, down = model.encoder.network, model.down
    found = sum(part.numel() for part in (network.weight, network.bias, down.weight, down.bias))
    assert found == parameters == 4 * size**2 + 3 * size
    assert network.table.shape == (1, 256)


def test_sentence_embedding_is_that_of_the_root():
    """A text is embedded by the root of its tree, of k · u numbers."""
    model, batch = model_and_batch("contrastive")
    texts = [
        " ".join(f"w{token}" for token in part)
        for part in np.split(batch.tokens, np.cumsum(LENGTHS)[:-1])
    ]
    encoder = model.encoder
    found = encoder(encoder.preprocess(texts))["sentence_embedding"].numpy()
    network = encoder.network
    leaves = planes(network.table[torch.from_numpy(batch.tokens)], SIZE)
    first = 0
    for length, row in zip(LENGTHS, found, strict=True):
        _, nodes = merged_greedily(
            matrices(leaves[:, first : first + length]),
            network.weight.detach().numpy(),
            network.bias.detach().numpy(),
        )
        np.testing.assert_allclose(row, np.ravel(nodes[-1].T), rtol=CLOSE, atol=CLOSE)
        first += length
    assert vectors(leaves).shape == (sum(LENGTHS), CHANNELS * SIZE)
