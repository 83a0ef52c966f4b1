"""Binary trees over the tokens of many texts at once: found by greedy merging, and computed along, up, down and around.

A vector of ``channels`` x ``size`` numbers is kept as ``size`` planes of ``channels`` numbers, the vectors of n nodes as a
tensor of shape (size, n, channels): what is shared by all channels, a matrix of a few numbers, is then one wide matrix
product for a whole batch. Where a node is another's child, what comes down to it is written next to its brothers, so that
nothing is ever scattered.
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
    """The trees of a batch of texts, T tokens and P parents in all.

    Nodes are numbered: first the tokens, text by text, then parents as they were made: children come before their parent.
    Parents of one step, one for each text that is not yet whole, are computed together.

    Attributes:
        left: Left child of each parent, ``int64`` of shape (P,).
        right: Right child of each parent, ``int64`` of shape (P,).
        steps: Number of the first parent of each step, and P.
        roots: Root of each text, ``int64`` of shape (texts,); its only token, if there is only one.
        places: Where what comes down to each node is written, ``int64`` of shape (T + P,).
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
        """Number of tokens, which is that of the first parent."""
        return len(self.places) - len(self.left)

    def climb(self) -> Iterator[tuple[int, int]]:
        """Yield the first parent of each step and the one behind the last, children before parents."""
        return zip(self.steps[:-1], self.steps[1:], strict=True)

    def descend(self) -> Iterator[tuple[int, int]]:
        """Yield the same, parents before children."""
        return reversed(list(self.climb()))


def planes(vectors: Tensor, size: int) -> Tensor:
    """Return vectors of shape (n, d) as planes of shape (size, n, d / size)."""
    return vectors.view(len(vectors), size, -1).transpose(0, 1).contiguous()


def vectors(planes: Tensor) -> Tensor:
    """Return planes of shape (size, n, channels) as vectors of shape (n, size * channels)."""
    return planes.transpose(0, 1).flatten(1)


@torch.no_grad()
def grow(leaves: Tensor, lengths: Tensor, weight: Tensor, bias: Tensor) -> tuple[Forest, Tensor]:
    """Merge the two neighbours that are most alike, the leftmost of equals, until every text is one node.

    Each merge computes two cosines, those of the new node and its neighbours: a text of L tokens costs 3 L of them.

    Args:
        leaves: Vectors of the tokens, of shape (size, T, channels).
        lengths: Number of tokens of each text, at least 1, ``int64`` of shape (texts,), falling.
        weight: Of shape (size, 2 size); see :func:`compose`.
        bias: Of shape (size,).

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

    # A text is a row of places, of which a merge leaves the left one; the last place of a row stands for "no neighbour".
    row = torch.arange(texts, device=device)
    place = torch.arange(longest + 1, device=device)
    starts = lengths.cumsum(0) - lengths
    node = torch.where(place < lengths[:, None], starts[:, None] + place, 0)
    after = torch.where(place + 1 < lengths[:, None], place + 1, longest)
    before = torch.where(place > 0, place - 1, longest).repeat(texts, 1)
    alike = leaves.new_full((texts, longest + 1), -torch.inf)
    pairs = place + 1 < lengths[:, None]
    first = node[pairs]
    alike[pairs] = (
        (leaves[:, first] * leaves[:, first + 1]).sum((0, 2)) * scale[first] * scale[first + 1]
    )

    owners = torch.empty(tokens + parents, dtype=torch.int64, device=device)
    owners[:tokens] = torch.repeat_interleave(row, lengths)
    left, right, places = (
        torch.empty(n, dtype=torch.int64, device=device)
        for n in (parents, parents, tokens + parents)
    )
    similarities = leaves.new_empty(parents)
    active = (
        (lengths > place[1:, None]).sum(1).tolist()
    )  # texts that have a merge left, step by step
    start = 0
    for texts_left in active[:-1]:
        end = start + texts_left
        own, new = row[:texts_left], slice(tokens + start, tokens + end)
        here = alike[:texts_left].argmax(1)
        there = after[own, here]
        lefts, rights = node[own, here], node[own, there]
        left[start:end], right[start:end], owners[new] = lefts, rights, own
        similarities[start:end] = alike[own, here]
        places[lefts] = torch.arange(2 * start, start + end, device=device)
        places[rights] = torch.arange(start + end, 2 * end, device=device)
        made = _merged(nodes, lefts, rights, weight, bias)
        nodes[:, new] = made
        scale[new] = _inverse_length(made)

        behind, ahead = after[own, there], before[own, here]
        node[own, here] = torch.arange(tokens + start, tokens + end, device=device)
        after[own, here], before[own, behind] = behind, here
        alike[own, there] = -torch.inf
        for neighbour, at in ((behind, here), (ahead, ahead)):
            other = node[own, neighbour]
            found = (made * nodes.index_select(1, other)).sum((0, 2)) * scale[new] * scale[other]
            alike[own, at] = found.masked_fill_(neighbour == longest, -torch.inf)
        start = end
    roots = node[:, 0].clone()
    places[roots] = 2 * parents + row
    steps = [0, *torch.tensor(active[:-1]).cumsum(0).tolist()] if parents else [0]
    return Forest(left, right, steps, roots, places, owners, similarities), nodes


def compose(
    leaves: Tensor, weight: Tensor, bias: Tensor, forest: Forest, keep: Tensor | None = None
) -> Tensor:
    """Compute every node from its children: in each channel, ``weight @ [left; right] + bias``.

    Args:
        leaves: Vectors of the tokens, of shape (size, T, channels).
        weight: Of shape (size, 2 size).
        bias: Of shape (size,).
        forest: The trees.
        keep: What parents are multiplied by, for dropout, of shape (size, P, channels).

    Returns:
        The vectors of all nodes, of shape (size, T + P, channels).
    """
    return _Compose.apply(leaves, weight, bias, forest, keep)  # type: ignore[no-any-return,no-untyped-call]


def decompose(
    roots: Tensor,
    weight: Tensor,
    bias: Tensor,
    forest: Forest,
    keep: Tensor | None = None,
    *,
    public: bool = False,
) -> Tensor:
    """Compute every node from its parent: in each channel, ``[left; right] = weight @ parent + bias``.

    Args:
        roots: Vectors of the roots, of shape (size, texts, channels).
        weight: Of shape (2 size, size).
        bias: Of shape (2 size,).
        forest: The trees.
        keep: What children are multiplied by, for dropout, of shape (size, 2 P, channels).
        public: Give the first half to the child that was made first, as the authors' code does, not to the left one.

    Returns:
        The vectors of all nodes, by their places, of shape (size, T + P, channels).
    """
    return _Decompose.apply(roots, weight, bias, forest, keep, public)  # type: ignore[no-any-return,no-untyped-call]


def surround(nodes: Tensor, weight: Tensor, bias: Tensor, forest: Forest) -> Tensor:
    """Compute what is around every node: what is around its parent, composed with its brother, on the side where that is.

    Around a root there is nothing, a vector of zeros. What is around a node depends on no token of its own.

    Args:
        nodes: Vectors of all nodes, of shape (size, T + P, channels).
        weight: As in :func:`compose`.
        bias: As there.
        forest: The trees.

    Returns:
        Vectors by places, of shape (size, T + P, channels).
    """
    return _Surround.apply(nodes, weight, bias, forest)  # type: ignore[no-any-return,no-untyped-call]


def _inverse_length(planes: Tensor) -> Tensor:
    return planes.square().sum((0, 2)).clamp_min(1e-24).rsqrt()


def _by_node(wide: Tensor, count: int) -> Tensor:
    """Return a matrix of planes as planes of so many nodes."""
    return wide.view(len(wide), count, -1)


def _children(nodes: Tensor, lefts: Tensor, rights: Tensor) -> Tensor:
    """Return the vectors of pairs of nodes, one's planes above the other's, of shape (2 size, n * channels)."""
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
        above = torch.empty_like(nodes)  # what comes down from the parent, by places
        above[:, 2 * len(forest.left) :] = 0
        of_weight, of_bias = torch.zeros_like(weight), weight.new_zeros(size)
        for start, end in forest.descend():
            own = slice(tokens + start, tokens + end)
            whole = given[:, own] + above.index_select(1, forest.places[own])
            if keep is not None:
                whole = whole * keep[:, start:end]
            wide = whole.flatten(1)
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
        below = torch.empty_like(made)  # what comes up from the children, by nodes
        below[:, :tokens] = 0
        of_weight, of_bias = torch.zeros_like(weight), weight.new_zeros(2 * size)
        for start, end in forest.climb():
            children = torch.cat([forest.left[start:end], forest.right[start:end]])
            whole = given[:, 2 * start : 2 * end] + below.index_select(1, children)
            if keep is not None:
                whole = whole * keep[:, 2 * start : 2 * end]
            halves = whole[:, : end - start], whole[:, end - start :]
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
        below = torch.empty_like(nodes)  # what comes up from around the children, by nodes
        below[:, :tokens] = 0
        beside = torch.empty_like(nodes)  # what a node gets from around its brother, by places
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
