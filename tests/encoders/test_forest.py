import pytest
import torch

from ontodex.encoders.forest import Forest, compose, decompose, grow, planes, surround, vectors

CHANNELS, SIZE = 5, 3


def weights(seed=0, size=SIZE):
    draw = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=draw, dtype=torch.float64)

    return normal(size, 2 * size), normal(size), normal(2 * size, size), normal(2 * size)


def some(lengths, seed=1):
    draw = torch.Generator().manual_seed(seed)
    leaves = torch.randn(SIZE, sum(lengths), CHANNELS, generator=draw, dtype=torch.float64)
    return leaves, torch.tensor(lengths)


def test_of_equal_neighbours_the_leftmost_are_merged():
    leaves = torch.ones(SIZE, 5, CHANNELS)
    forest, _ = grow(leaves, torch.tensor([5]), torch.eye(SIZE).repeat(1, 2), torch.zeros(SIZE))
    assert [
        (int(left), int(right)) for left, right in zip(forest.left, forest.right, strict=True)
    ] == [
        (0, 1),
        (5, 2),
        (6, 3),
        (7, 4),
    ]


def test_a_text_has_the_same_tree_alone_and_among_others():
    leaves, counts = some([9, 7, 7, 3])
    weight, bias, *_ = weights()
    whole, _ = grow(leaves.float(), counts, weight.float(), bias.float())
    alone, _ = grow(leaves[:, 9:16].float(), torch.tensor([7]), weight.float(), bias.float())
    own = (whole.owners == 1).nonzero()[:, 0].tolist()
    numbers = {node: place for place, node in enumerate(own)}
    parents = [node - whole.tokens for node in own[7:]]
    assert [numbers[int(whole.left[p])] for p in parents] == alone.left.tolist()
    assert [numbers[int(whole.right[p])] for p in parents] == alone.right.tolist()


def made() -> tuple[Forest, torch.Tensor]:
    leaves, counts = some([6, 4, 4, 2, 1])
    weight, bias, *_ = weights()
    return grow(leaves, counts, weight, bias)


@pytest.mark.slow
def test_gradients_are_those_of_finite_differences():
    forest, nodes = made()
    weight, bias, down, down_bias = weights()
    leaves, roots = nodes[:, : forest.tokens].clone(), nodes[:, forest.roots].clone()
    parents = len(forest.left)
    draw = torch.Generator().manual_seed(3)
    keep = (torch.rand(SIZE, parents, CHANNELS, generator=draw) > 0.3).double()
    keep_down = (torch.rand(SIZE, 2 * parents, CHANNELS, generator=draw) > 0.3).double()
    for tensor in (weight, bias, down, down_bias, leaves, roots, nodes):
        tensor.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda *given: compose(*given, forest, keep), (leaves, weight, bias)
    )
    assert torch.autograd.gradcheck(lambda *given: surround(*given, forest), (nodes, weight, bias))
    for public in (False, True):
        assert torch.autograd.gradcheck(
            lambda *given, public=public: decompose(*given, forest, keep_down, public=public),
            (roots, down, down_bias),
        )


def test_composing_gives_the_vectors_of_the_search():
    forest, nodes = made()
    weight, bias, *_ = weights()
    torch.testing.assert_close(compose(nodes[:, : forest.tokens], weight, bias, forest), nodes)


def test_the_context_of_a_node_does_not_depend_on_its_tokens():
    forest, nodes = made()
    weight, bias, *_ = weights()
    leaves = nodes[:, : forest.tokens]
    below = {node: {node} for node in range(forest.tokens)}
    for parent, (left, right) in enumerate(
        zip(forest.left.tolist(), forest.right.tolist(), strict=True)
    ):
        below[forest.tokens + parent] = below[left] | below[right]
    around = surround(compose(leaves, weight, bias, forest), weight, bias, forest)
    for node in range(len(forest.places)):
        inside = sorted(below[node])
        changed = leaves.clone()
        changed[:, inside] += 1.0
        again = surround(compose(changed, weight, bias, forest), weight, bias, forest)
        place = forest.places[node]
        torch.testing.assert_close(again[:, place], around[:, place])
    assert around[:, forest.places[forest.roots]].abs().max() == 0


def test_to_planes_and_back_is_the_identity():
    found = torch.arange(24.0).view(2, 12)
    assert planes(found, 3).shape == (3, 2, 4)
    torch.testing.assert_close(vectors(planes(found, 3)), found)
