"""Batches of binary trees over tokens: greedy construction, and upward and downward passes.

A vector has ``size`` * ``channels`` numbers and is stored as ``size`` planes of ``channels``
numbers; the vectors of n nodes are a tensor of shape (size, n, channels). All channels share one
small matrix, so that applying it to all nodes of a step is a single matrix product. Downward passes
store nodes in the order in which they compute them: for each step, its left children, then its
right children. The position of a node in this order is its *place*. Each step writes one block and
reads nodes by place, so that no scatter operation is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

__all__ = ["Forest", "compose", "decompose", "grow", "planes", "surround", "vectors"]


@dataclass(frozen=True, eq=False)
class Forest:
    """The trees of a batch of texts, with T tokens and P parents in total.

    Nodes are numbered: first the tokens, text by text, then the parents in the order of their
    creation, so that children precede their parents. A step creates one parent in each text that
    has not been merged into one node; the parents of a step are computed together.

    Attributes:
        left: Left child of each parent, ``int64`` of shape (P,).
        right: Right child of each parent, ``int64`` of shape (P,).
        steps: Index of the first parent of each step, then P.
        roots: Root of each text, ``int64`` of shape (texts,). The root of a text with one token is
            the token.
        places: Place of each node in the results of downward passes, ``int64`` of shape (T + P,).
        owners: Text of each node, ``int64`` of shape (T + P,).
        similarities: Cosine of the children of each parent, ``float32`` of shape (P,).
    """

    left: Tensor
    right: Tensor
    steps: list[int]
    roots: Tensor
    places: Tensor
    owners: Tensor
    similarities: Tensor

    @property
    def tokens(self) -> int:
        """Number of tokens, which is also the number of the first parent."""
        return len(self.places) - len(self.left)

    def climb(self) -> Iterator[tuple[int, int]]:
        """Yield the parents of each step as a range (start, end), from the tokens up."""
        return zip(self.steps[:-1], self.steps[1:], strict=True)

    def descend(self) -> Iterator[tuple[int, int]]:
        """Yield the parents of each step as a range (start, end), from the roots down."""
        return reversed(list(self.climb()))


def planes(vectors: Tensor, size: int) -> Tensor:
    """Return vectors of shape (n, d) as planes of shape (size, n, d / size)."""
    return vectors.view(len(vectors), size, -1).transpose(0, 1).contiguous()


def vectors(planes: Tensor) -> Tensor:
    """Return planes of shape (size, n, channels) as vectors of shape (n, size * channels)."""
    return planes.transpose(0, 1).flatten(1)


@torch.no_grad()
def grow(leaves: Tensor, lengths: Tensor, weight: Tensor, bias: Tensor) -> tuple[Forest, Tensor]:
    """Build trees: merge the two neighbours with the highest cosine, until one node is left.

    Ties are broken in favour of the leftmost pair. A merge computes the two cosines of the new node
    with its neighbours, so that a text of L tokens needs about 3 L cosines in total.

    Args:
        leaves: Vectors of the tokens, of shape (size, T, channels).
        lengths: Number of tokens of each text, at least 1, in descending order, ``int64`` of shape
            (texts,).
        weight: Weight of the composition, of shape (size, 2 size); see :func:`compose`.
        bias: Bias of the composition, of shape (size,).

    Returns:
        The trees, and the vectors of all nodes, of shape (size, T + P, channels).
    """
    size, tokens, channels = leaves.shape
    texts, longest, device = len(lengths), int(lengths[0]), leaves.device
    parents = tokens - texts
    nodes = leaves.new_empty(size, tokens + parents, channels)
    nodes[:, :tokens] = leaves
    scale = leaves.new_empty(tokens + parents)  # 1 / length
    scale[:tokens] = _inverse_length(leaves)

    # A text is a row of positions; a merge keeps the position of the left node. The last position
    # of a row stands for "no neighbour".
    row = torch.arange(texts, device=device)
    place = torch.arange(longest + 1, device=device)
    starts = lengths.cumsum(0) - lengths
    node = torch.where(place < lengths[:, None], starts[:, None] + place, 0)
    after = torch.where(place + 1 < lengths[:, None], place + 1, longest)
    before = torch.where(place > 0, place - 1, longest).repeat(texts, 1)
    cosines = leaves.new_full((texts, longest + 1), -torch.inf)
    pairs = place + 1 < lengths[:, None]
    first = node[pairs]
    cosines[pairs] = (
        (leaves[:, first] * leaves[:, first + 1]).sum((0, 2)) * scale[first] * scale[first + 1]
    )

    owners = torch.empty(tokens + parents, dtype=torch.int64, device=device)
    owners[:tokens] = torch.repeat_interleave(row, lengths)
    left, right, places = (
        torch.empty(n, dtype=torch.int64, device=device)
        for n in (parents, parents, tokens + parents)
    )
    similarities = leaves.new_empty(parents)
    active = (lengths > place[1:, None]).sum(1).tolist()  # number of unfinished texts, by step
    start = 0
    for texts_left in active[:-1]:
        end = start + texts_left
        own, new = row[:texts_left], slice(tokens + start, tokens + end)
        here = cosines[:texts_left].argmax(1)
        there = after[own, here]
        lefts, rights = node[own, here], node[own, there]
        left[start:end], right[start:end], owners[new] = lefts, rights, own
        similarities[start:end] = cosines[own, here]
        places[lefts] = torch.arange(2 * start, start + end, device=device)
        places[rights] = torch.arange(start + end, 2 * end, device=device)
        made = _merged(nodes, lefts, rights, weight, bias)
        nodes[:, new] = made
        scale[new] = _inverse_length(made)

        behind, ahead = after[own, there], before[own, here]
        node[own, here] = torch.arange(tokens + start, tokens + end, device=device)
        after[own, here], before[own, behind] = behind, here
        cosines[own, there] = -torch.inf
        for neighbour, at in ((behind, here), (ahead, ahead)):
            other = node[own, neighbour]
            found = (made * nodes.index_select(1, other)).sum((0, 2)) * scale[new] * scale[other]
            cosines[own, at] = found.masked_fill_(neighbour == longest, -torch.inf)
        start = end
    roots = node[:, 0].clone()
    places[roots] = 2 * parents + row
    steps = [0, *torch.tensor(active[:-1]).cumsum(0).tolist()] if parents else [0]
    return Forest(left, right, steps, roots, places, owners, similarities), nodes


def compose(
    leaves: Tensor, weight: Tensor, bias: Tensor, forest: Forest, keep: Tensor | None = None
) -> Tensor:
    """Upward pass: compute each parent as ``weight @ [left; right] + bias`` in each channel.

    Args:
        leaves: Vectors of the tokens, of shape (size, T, channels).
        weight: Weight of the composition, of shape (size, 2 size).
        bias: Bias of the composition, of shape (size,).
        forest: The trees.
        keep: Scaled dropout mask, by which parents are multiplied, of shape (size, P, channels);
            ``None`` for no dropout.

    Returns:
        The vectors of all nodes, of shape (size, T + P, channels).
    """
    found: Tensor = _Compose.apply(  # type: ignore[no-untyped-call]
        leaves, weight, bias, forest, keep
    )
    return found


def decompose(
    roots: Tensor,
    weight: Tensor,
    bias: Tensor,
    forest: Forest,
    keep: Tensor | None = None,
    *,
    public: bool = False,
) -> Tensor:
    """Downward pass: compute the children as ``[left; right] = weight @ parent + bias``.

    The same weight and bias apply to each channel.

    Args:
        roots: Vectors of the roots, of shape (size, texts, channels).
        weight: Weight of the decomposition, of shape (2 size, size).
        bias: Bias of the decomposition, of shape (2 size,).
        forest: The trees.
        keep: Scaled dropout mask, by which children are multiplied, of shape (size, 2 P, channels);
            ``None`` for no dropout.
        public: If true, the first half of the result goes to the child with the smaller node
            number, as in the authors' code; if false, to the left child.

    Returns:
        The vectors of all nodes by place, of shape (size, T + P, channels).
    """
    found: Tensor = _Decompose.apply(  # type: ignore[no-untyped-call]
        roots, weight, bias, forest, keep, public
    )
    return found


def surround(nodes: Tensor, weight: Tensor, bias: Tensor, forest: Forest) -> Tensor:
    """Downward pass: compute the context of each node, which depends on no token below the node.

    The context of a root is the zero vector. The context of a left child is the composition of its
    parent's context with its sibling, in this order. The context of a right child is the
    composition of its sibling with its parent's context, in this order.

    Args:
        nodes: Vectors of all nodes, of shape (size, T + P, channels).
        weight: Weight of the composition, of shape (size, 2 size); see :func:`compose`.
        bias: Bias of the composition, of shape (size,).
        forest: The trees.

    Returns:
        The contexts of all nodes by place, of shape (size, T + P, channels).
    """
    found: Tensor = _Surround.apply(  # type: ignore[no-untyped-call]
        nodes, weight, bias, forest
    )
    return found


def _inverse_length(planes: Tensor) -> Tensor:
    return planes.square().sum((0, 2)).clamp_min(1e-24).rsqrt()


def _by_node(wide: Tensor, count: int) -> Tensor:
    """Return a matrix of shape (size, count * channels) as planes of ``count`` nodes."""
    return wide.view(len(wide), count, -1)


def _children(nodes: Tensor, lefts: Tensor, rights: Tensor) -> Tensor:
    """Return the concatenated vectors of n pairs of nodes, of shape (2 size, n * channels)."""
    size, _, channels = nodes.shape
    both = nodes.new_empty(2 * size, len(lefts), channels)
    torch.index_select(nodes, 1, lefts, out=both[:size])
    torch.index_select(nodes, 1, rights, out=both[size:])
    return both.flatten(1)


def _merged(nodes: Tensor, lefts: Tensor, rights: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    made = torch.addmm(bias[:, None], weight, _children(nodes, lefts, rights))
    return _by_node(made, len(lefts))


class _Compose(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, leaves: Tensor, weight: Tensor, bias: Tensor, forest: Forest, keep: Tensor | None
    ) -> Tensor:
        size, tokens, channels = leaves.shape
        nodes = leaves.new_empty(size, len(forest.places), channels)
        nodes[:, :tokens] = leaves
        for start, end in forest.climb():
            made = _merged(nodes, forest.left[start:end], forest.right[start:end], weight, bias)
            nodes[:, tokens + start : tokens + end] = (
                made if keep is None else made * keep[:, start:end]
            )
        ctx.save_for_backward(nodes, weight, keep)
        ctx.forest = forest
        return nodes

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        nodes, weight, keep = ctx.saved_tensors
        forest, (given,) = ctx.forest, gradients
        size, tokens = len(nodes), forest.tokens
        above = torch.empty_like(nodes)  # gradients from parents, by place
        above[:, 2 * len(forest.left) :] = 0
        of_weight, of_bias = torch.zeros_like(weight), weight.new_zeros(size)
        for start, end in forest.descend():
            own = slice(tokens + start, tokens + end)
            total = given[:, own] + above.index_select(1, forest.places[own])
            if keep is not None:
                total = total * keep[:, start:end]
            wide = total.flatten(1)
            of_weight += wide @ _children(nodes, forest.left[start:end], forest.right[start:end]).T
            of_bias += wide.sum(1)
            down = _by_node(weight.T @ wide, end - start)
            above[:, 2 * start : start + end], above[:, start + end : 2 * end] = (
                down[:size],
                down[size:],
            )
        of_leaves = given[:, :tokens] + above.index_select(1, forest.places[:tokens])
        return of_leaves, of_weight, of_bias, None, None


class _Decompose(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        roots: Tensor,
        weight: Tensor,
        bias: Tensor,
        forest: Forest,
        keep: Tensor | None,
        public: bool,
    ) -> Tensor:
        size, _, channels = roots.shape
        parents = len(forest.left)
        made = roots.new_empty(size, len(forest.places), channels)
        made[:, 2 * parents :] = roots
        swap = (
            forest.left > forest.right
            if public
            else torch.zeros_like(forest.left, dtype=torch.bool)
        )[:, None]
        for start, end in forest.descend():
            own = made.index_select(1, forest.places[forest.tokens + start : forest.tokens + end])
            both = _by_node(torch.addmm(bias[:, None], weight, own.flatten(1)), end - start)
            down = torch.cat(_swapped(both[:size], both[size:], swap[start:end]), dim=1)
            made[:, 2 * start : 2 * end] = (
                down if keep is None else down * keep[:, 2 * start : 2 * end]
            )
        ctx.save_for_backward(made, weight, keep)
        ctx.forest, ctx.swap = forest, swap
        return made

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        made, weight, keep = ctx.saved_tensors
        forest, (given,) = ctx.forest, gradients
        size, parents, tokens = len(made), len(forest.left), forest.tokens
        below = torch.empty_like(made)  # gradients from children, by node
        below[:, :tokens] = 0
        of_weight, of_bias = torch.zeros_like(weight), weight.new_zeros(2 * size)
        for start, end in forest.climb():
            children = torch.cat([forest.left[start:end], forest.right[start:end]])
            total = given[:, 2 * start : 2 * end] + below.index_select(1, children)
            if keep is not None:
                total = total * keep[:, 2 * start : 2 * end]
            halves = total[:, : end - start], total[:, end - start :]
            wide = torch.cat(_swapped(*halves, ctx.swap[start:end])).flatten(1)
            own = slice(tokens + start, tokens + end)
            of_weight += wide @ made.index_select(1, forest.places[own]).flatten(1).T
            of_bias += wide.sum(1)
            below[:, own] = _by_node(weight.T @ wide, end - start)
        of_roots = given[:, 2 * parents :] + below.index_select(1, forest.roots)
        return of_roots, of_weight, of_bias, None, None, None


class _Surround(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, nodes: Tensor, weight: Tensor, bias: Tensor, forest: Forest) -> Tensor:
        size = len(nodes)
        around = torch.empty_like(nodes)
        around[:, 2 * len(forest.left) :] = 0
        ones, others = weight[:, :size], weight[:, size:]
        for start, end in forest.descend():
            own = around.index_select(
                1, forest.places[forest.tokens + start : forest.tokens + end]
            ).flatten(1)
            both = _children(nodes, forest.left[start:end], forest.right[start:end])
            left, right = both[:size], both[size:]
            for at, one, other in ((2 * start, own, right), (start + end, left, own)):
                made = torch.addmm(bias[:, None], ones, one).addmm_(others, other)
                around[:, at : at + end - start] = _by_node(made, end - start)
        ctx.save_for_backward(nodes, around, weight)
        ctx.forest = forest
        return around

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        nodes, around, weight = ctx.saved_tensors
        forest, (given,) = ctx.forest, gradients
        size, tokens = len(nodes), forest.tokens
        below = torch.empty_like(nodes)  # gradients from the children's contexts, by node
        below[:, :tokens] = 0
        beside = torch.empty_like(nodes)  # gradients from the sibling's context, by place
        beside[:, 2 * len(forest.left) :] = 0
        ones, others = weight[:, :size], weight[:, size:]
        of_weight, of_bias = torch.zeros_like(weight), weight.new_zeros(size)
        for start, end in forest.climb():
            own = slice(tokens + start, tokens + end)
            above = around.index_select(1, forest.places[own]).flatten(1)
            both = _children(nodes, forest.left[start:end], forest.right[start:end])
            left, right = both[:size], both[size:]
            of_left = (
                given[:, 2 * start : start + end] + below.index_select(1, forest.left[start:end])
            ).flatten(1)
            of_right = (
                given[:, start + end : 2 * end] + below.index_select(1, forest.right[start:end])
            ).flatten(1)
            of_weight[:, :size] += of_left @ above.T + of_right @ left.T
            of_weight[:, size:] += of_left @ right.T + of_right @ above.T
            of_bias += of_left.sum(1) + of_right.sum(1)
            below[:, own] = _by_node((ones.T @ of_left).addmm_(others.T, of_right), end - start)
            beside[:, 2 * start : start + end] = _by_node(ones.T @ of_right, end - start)
            beside[:, start + end : 2 * end] = _by_node(others.T @ of_left, end - start)
        return beside.index_select(1, forest.places), of_weight, of_bias, None


def _swapped(one: Tensor, other: Tensor, swap: Tensor) -> tuple[Tensor, Tensor]:
    return torch.where(swap, other, one), torch.where(swap, one, other)
