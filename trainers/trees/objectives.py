"""Training objectives of Self-StrAE: the objectives of the paper, and ``context``."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from ontodex.encoders.device import has_bfloat16
from ontodex.encoders.forest import Forest, compose, decompose, grow, planes, surround, vectors
from ontodex.encoders.self_strae import SelfStrAE
from ontodex.trainers.run import expect_finite
from ontodex.trainers.trees.batches import SentenceBatch
from ontodex.trainers.trees.token_counts import without_common

__all__ = ["OBJECTIVES", "TreeModel"]

OBJECTIVES = ("context", "contrastive", "ce", "ceco", "strcse")
"""Training objectives.

``context``: match nodes with their contexts; ``contrastive``: match the two vectors of a node, from
the upward and from the downward pass; ``ce``: predict tokens; ``ceco``: ``ce`` and ``contrastive``;
``strcse``: predict tokens, and match nodes of the same tree under two dropout masks.
"""

LEAF_DROPOUT, NODE_DROPOUT = 0.2, 0.1
"""Dropout of token vectors, and dropout of other nodes, as in the authors' code."""

PUBLIC_MULTIPLIER = math.exp(0.2)
"""Factor of cosines in the authors' code; the paper calls it a temperature of 1.2."""

CONTEXT_MULTIPLIER = 10.0

CHUNK = 512
"""Number of nodes in a chunk; ``context`` compares only the nodes of a chunk with each other."""

FREQUENT = 1e-3
"""Frequency of tokens whose vectors get half the length of the vectors of rare tokens.

The lengths are smooth inverse frequencies (Arora et al., ICLR 2017).
"""

SUBSAMPLED = 1e-4
"""Frequency above which tokens are sampled less often.

The sampling weight of a token with frequency f is √(SUBSAMPLED / f) (Mikolov et al., NeurIPS 2013).
"""

LONG = 5.0
"""Length of initial vectors from counts; a training step rotates longer vectors less."""


class TreeModel(nn.Module):
    """Builds the trees of a batch, computes their nodes and returns the loss.

    Args:
        encoder: The encoder in training; :meth:`fold` makes it ready for use.
        shares: Relative frequency of each token, ``float32`` of shape (vocabulary,).
        objective: One of :data:`OBJECTIVES`.
        counted: Initial vectors of the tokens, from co-occurrence counts, of shape (vocabulary,
            dim). Each node is then initially the weighted sum of its tokens, with greater weights
            for rare tokens. ``None`` for random initial weights, as in the authors' code.
        multiplier: Factor of cosines; 0 for the default of the objective.
        nodes: Largest number of nodes of a batch that are compared; 0 for all. With a limit, a
            sixteenth as many tokens are predicted.
        public_order: Give the first half of a decomposition to the child with the smaller node
            number; see ``public`` of :func:`~ontodex.encoders.forest.decompose`.
    """

    def __init__(
        self,
        encoder: SelfStrAE,
        shares: Tensor,
        *,
        objective: str,
        counted: Tensor | None = None,
        multiplier: float = 0.0,
        nodes: int = 2048,
        public_order: bool = False,
    ) -> None:
        super().__init__()
        size, dim, vocabulary = encoder.config.size, encoder.dim, encoder.config.vocabulary
        self.encoder, self.objective, self.nodes, self.public_order = (
            encoder,
            objective,
            nodes,
            public_order,
        )
        self.multiplier = multiplier or (
            CONTEXT_MULTIPLIER if objective == "context" else PUBLIC_MULTIPLIER
        )
        self.down = nn.Linear(size, 2 * size) if objective != "context" else None
        self.head = nn.Linear(dim, vocabulary) if objective in ("ce", "ceco", "strcse") else None
        weights, up = encoder.network, nn.Linear(2 * size, size)
        length = torch.ones_like(shares)
        with torch.no_grad():
            if counted is None:
                weights.table.uniform_(-0.1, 0.1)
                weights.weight.copy_(up.weight)
                weights.bias.copy_(up.bias)
            else:
                length = FREQUENT / (FREQUENT + shares)
                counted = without_common(counted, shares * length)
                weights.table.copy_(LONG * counted)
                weights.weight.copy_(torch.eye(size).repeat(1, 2))
                if self.down is not None:
                    self.down.weight.copy_(torch.eye(size).repeat(2, 1))
                    self.down.bias.zero_()
        self.register_buffer("counted", counted, persistent=False)
        self.register_buffer("shares", shares, persistent=False)
        self.register_buffer("length", length, persistent=False)
        self.register_buffer(
            "drawn", (SUBSAMPLED / shares.clamp_min(1e-12)).sqrt().clamp(max=1.0), persistent=False
        )

    @torch.no_grad()
    def fold(self) -> SelfStrAE:
        """Return the encoder with token lengths multiplied into its vectors; call it only once.

        If training started from counted vectors, the direction of each token becomes the mean of
        its counted and its trained direction, as the two have different errors. Components that are
        common to all tokens are removed. The model cannot be used afterwards.
        """
        table = self.encoder.table
        if isinstance(self.counted, Tensor):
            trained = without_common(table, self.shares * self.length)  # type: ignore[operator]
            directions = nn.functional.normalize(trained + self.counted, dim=1)
            table.copy_(directions * table.norm(dim=1, keepdim=True))
        table.mul_(self.length[:, None])  # type: ignore[index]
        return self.encoder

    def forward(self, batch: SentenceBatch) -> dict[str, Tensor]:
        """Return ``{"loss": loss}``, as the Trainer of transformers expects.

        Raises:
            TrainingError: If the loss is not finite.
        """
        with torch.autocast(self.encoder.table.device.type, enabled=False):
            loss, _ = self._loss(batch)
        return expect_finite(loss, batch.number)

    @torch.inference_mode()
    def loss_reduction(self, batches: list[SentenceBatch]) -> float:
        """Return how far the loss is below the chance level, as a share of the chance level.

        The chance level is the loss with equal cosines and equal probabilities; at this level the
        reduction is 0.
        """
        device = self.encoder.table.device
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(0)
            found = torch.tensor(
                [[float(value) for value in self._loss(batch)] for batch in batches]
            ).sum(0)
        return 1 - float(found[0] / found[1])

    def _loss(self, batch: SentenceBatch) -> tuple[Tensor, float]:
        """Return the loss of a batch, and the loss at chance level.

        The methods below, which compute terms of the loss, return the same two values.
        """
        network, device = self.encoder.network, self.encoder.table.device
        tokens, lengths = (
            torch.from_numpy(batch.tokens).to(device),
            torch.from_numpy(batch.lengths).to(device),
        )
        lengthened: Tensor = self.length[tokens]  # type: ignore[index]
        wide = nn.functional.embedding(tokens, network.table) * lengthened[:, None]
        leaves = planes(wide, self.encoder.config.size)
        forest, _ = grow(leaves, lengths, network.weight, network.bias)
        if self.objective == "context":
            return self._contexts(leaves, tokens, forest)
        if self.objective == "strcse":
            return self._views(leaves, tokens, forest)
        up, down = self._passed(leaves, forest)
        if self.objective == "contrastive":
            return self._contrasted(up, down, self._any(len(forest.places)))
        predicted = self._predicted(down, tokens)
        if self.objective == "ce":
            return predicted
        inner = self._contrasted(up, down, forest.tokens + self._any(len(forest.left)))
        return (inner[0] + predicted[0]) / 2, (inner[1] + predicted[1]) / 2

    def _contexts(self, leaves: Tensor, tokens: Tensor, forest: Forest) -> tuple[Tensor, float]:
        """Return the loss of ``context``, and the loss at chance level.

        The loss contrasts each sampled token or phrase with its own context. It also contrasts each
        text of two tokens or more with the context of one of its nodes, drawn at random from those
        with at most half of the tokens of the text.
        """
        network, count = self.encoder.network, forest.tokens
        nodes = compose(self._dropped(leaves, LEAF_DROPOUT), network.weight, network.bias, forest)
        around = surround(nodes, network.weight, network.bias, forest)
        named = torch.cat([tokens, -1 - torch.arange(len(forest.left), device=tokens.device)])
        weights = torch.ones(len(forest.places), device=tokens.device)
        weights[forest.roots] = 0
        parts = _parts(forest)
        rows = (
            self._drawn(weights[:count] * self.drawn[tokens]),  # type: ignore[index]
            count + self._drawn(weights[count:]),
            parts,
        )
        matched = torch.cat([*rows[:2], forest.roots[forest.owners[parts]]])
        sizes = [len(some) for some in rows]
        ones = torch.split(_units(nodes.index_select(1, matched)), sizes)
        others = torch.split(_units(around.index_select(1, forest.places[torch.cat(rows)])), sizes)
        found = [
            self._compared(one, other, forest.owners[some], named[some])
            for one, other, some in zip(ones, others, rows, strict=True)
        ]
        return torch.stack([loss for loss, _ in found]).sum(), sum(
            probability for _, probability in found
        )

    def _views(self, leaves: Tensor, tokens: Tensor, forest: Forest) -> tuple[Tensor, float]:
        """Predict tokens in two downward passes, and contrast the inner nodes of the passes.

        The passes have the same trees and different dropout masks.
        """
        downs = [self._passed(leaves, forest)[1] for _ in range(2)]
        predicted = [self._predicted(down, tokens) for down in downs]
        inner = self._contrasted(downs[0], downs[1], forest.tokens + self._any(len(forest.left)))
        found = [*predicted, inner]
        return torch.stack([loss for loss, _ in found]).sum(), sum(
            probability for _, probability in found
        )

    def _passed(self, leaves: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        """Return the vectors of all nodes from the upward pass and from the downward pass."""
        network, down = self.encoder.network, self.down
        assert down is not None
        size, _, channels = leaves.shape
        keep = self._kept((size, len(forest.left), channels), leaves)
        up = compose(
            self._dropped(leaves, LEAF_DROPOUT), network.weight, network.bias, forest, keep
        )
        keep = self._kept((size, 2 * len(forest.left), channels), leaves)
        roots = up.index_select(1, forest.roots)
        made = decompose(roots, down.weight, down.bias, forest, keep, public=self.public_order)
        return up, made.index_select(1, forest.places)

    def _dropped(self, planes: Tensor, share: float) -> Tensor:
        return planes * _mask(planes.shape, share, planes.device) if self.training else planes

    def _kept(self, shape: tuple[int, ...], like: Tensor) -> Tensor | None:
        return _mask(shape, NODE_DROPOUT, like.device) if self.training else None

    def _any(self, count: int) -> Tensor:
        """Return at most ``nodes`` of ``count`` rows at random; all rows if there are fewer."""
        device = self.encoder.table.device
        if not self.nodes or count <= self.nodes:
            return torch.arange(count, device=device)
        return torch.randperm(count, device=device)[: self.nodes]

    def _drawn(self, weights: Tensor) -> Tensor:
        """Sample rows by weight, without replacement.

        All rows with a positive weight are returned if they are no more than ``nodes``.
        """
        known = int((weights > 0).sum())
        if not self.nodes or known <= self.nodes:
            return weights.nonzero()[:, 0]
        return torch.multinomial(weights, self.nodes)

    def _contrasted(self, one: Tensor, other: Tensor, rows: Tensor) -> tuple[Tensor, float]:
        """Contrast the two vectors of each node, with all other nodes of ``rows`` as negatives."""
        ones, others = (_units(planes.index_select(1, rows)) for planes in (one, other))
        return _contrast(ones, others, self.multiplier), math.log(max(len(rows), 2))

    def _compared(
        self, ones: Tensor, others: Tensor, owners: Tensor, named: Tensor
    ) -> tuple[Tensor, float]:
        """Contrast matching rows of two sets of unit vectors, with negatives from the same chunk.

        Vectors of the same text, or of the same token, are not negatives of each other.
        """
        losses, probabilities = [ones.sum() * 0], [0.0]
        for one, other, owner, name in zip(
            *(torch.split(every, CHUNK) for every in (ones, others, owners, named)), strict=True
        ):
            with torch.autocast(
                one.device.type, torch.bfloat16, enabled=has_bfloat16(one.device.type)
            ):
                cosines = one @ other.T
            false = (owner[:, None] == owner) | (name[:, None] == name)
            logits = (cosines.float() * self.multiplier).masked_fill(
                false.fill_diagonal_(False), -torch.inf
            )
            target = torch.arange(len(one), device=one.device)
            both = [
                nn.functional.cross_entropy(side, target, reduction="sum")
                for side in (logits, logits.T)
            ]
            losses.append((both[0] + both[1]) / 2)
            probabilities.append(float((~false).sum(1).log().sum()))
        return torch.stack(losses).sum() / max(len(ones), 1), sum(probabilities) / max(len(ones), 1)

    def _predicted(self, down: Tensor, tokens: Tensor) -> tuple[Tensor, float]:
        """Predict tokens from the downward pass, by a softmax over the vocabulary."""
        assert self.head is not None
        rows = self._any(len(tokens))
        if self.nodes:
            # With this share, the softmax costs about as much as the comparison of nodes.
            rows = rows[: max(1, self.nodes // 16)]
        losses = [
            checkpoint(
                self._token_loss,
                vectors(down.index_select(1, part)),
                tokens[part],
                use_reentrant=False,
            )
            for part in torch.split(rows, CHUNK)
        ]
        return torch.stack(losses).sum() / len(rows), math.log(self.head.out_features)

    def _token_loss(self, found: Tensor, tokens: Tensor) -> Tensor:
        assert self.head is not None
        with torch.autocast(
            found.device.type, torch.bfloat16, enabled=has_bfloat16(found.device.type)
        ):
            logits = self.head(found)
        return nn.functional.cross_entropy(logits.float(), tokens, reduction="sum")


def _parts(forest: Forest) -> Tensor:
    """Return a random node of each tree of two tokens or more.

    The node has at most half of the tokens of its tree.
    """
    sizes = torch.ones_like(forest.owners)
    for start, end in forest.climb():
        both = sizes[forest.left[start:end]] + sizes[forest.right[start:end]]
        sizes[forest.tokens + start : forest.tokens + end] = both
    fit = (2 * sizes <= sizes[forest.roots][forest.owners]).nonzero()[:, 0]
    fit = fit[torch.randperm(len(fit), device=fit.device)]
    fit = fit[forest.owners[fit].argsort(stable=True)]
    owners = forest.owners[fit]
    return fit[torch.cat([owners.new_ones(1, dtype=torch.bool), owners[1:] != owners[:-1]])]


def _units(planes: Tensor) -> Tensor:
    return nn.functional.normalize(vectors(planes), dim=1)


def _contrast(ones: Tensor, others: Tensor, multiplier: float) -> Tensor:
    """Return the mean cross-entropy, in both directions, of matching rows of unit vectors.

    The cosines are computed in blocks to save memory.
    """
    if len(ones) < 2:
        return (ones * others).sum() * 0
    columns = torch.zeros(len(others), device=ones.device)
    rows = torch.zeros((), device=ones.device)
    for block in torch.split(ones, CHUNK):
        of_rows, of_columns = checkpoint(
            _exponentials, block, others, multiplier, use_reentrant=False
        )
        rows, columns = rows + of_rows.log().sum(), columns + of_columns
    return (rows + columns.log().sum()) / (2 * len(ones)) - (ones * others).sum(
        1
    ).mean() * multiplier


def _exponentials(block: Tensor, others: Tensor, multiplier: float) -> tuple[Tensor, Tensor]:
    """Return the sums of exponentiated cosines for each row of ``block`` and of ``others``.

    Cosines are bounded, so that no exponential overflows.
    """
    found = (block @ others.T * multiplier).exp()
    return found.sum(1), found.sum(0)


def _mask(shape: torch.Size | tuple[int, ...], share: float, device: torch.device) -> Tensor:
    """Return a dropout mask with a share of zeros.

    Eight values are taken from each random integer, since drawing random numbers dominates the
    cost.
    """
    zeros = round(256 * share)
    count = math.prod(shape)
    drawn = torch.empty(-(-count // 8), dtype=torch.int64, device=device).random_(-(2**63), None)
    ones = drawn.view(torch.uint8)[:count] >= zeros
    return (ones.float() * (256 / (256 - zeros))).view(shape)
