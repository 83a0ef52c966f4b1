"""What Self-StrAE is trained by: the paper's objectives, and one of contexts."""

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
"""What is learnt: of which node a context is; which node's vector comes down the tree where it went up; which token; both;
or, besides the token, which node of the same tree under another dropout."""

LEAF_DROPOUT, NODE_DROPOUT = 0.2, 0.1
"""Shares of numbers that are dropped of tokens and of what is composed or decomposed, as in the authors' code."""

PUBLIC_MULTIPLIER = math.exp(0.2)
"""What the paper calls a temperature of 1.2: what its code multiplies cosines by."""

CONTEXT_MULTIPLIER = 10.0

CHUNK = 512
"""Nodes that are compared with each other where only some are compared."""

FREQUENT = 1e-3
"""Tokens of this share of a text are half as long as rare ones (smooth inverse frequency, Arora et al., ICLR 2017)."""

SUBSAMPLED = 1e-4
"""Tokens of a greater share are drawn less often, by the square root (Mikolov et al., NeurIPS 2013)."""

LONG = 5.0
"""Length of counted vectors: a step of training turns longer ones less."""


class TreeModel(nn.Module):
    """Finds the trees of a batch, computes their nodes, and returns the loss.

    Args:
        encoder: What is trained; :meth:`fold` makes it ready for use.
        shares: Share of each token in the text, ``float32`` of shape (vocabulary,).
        objective: One of :data:`OBJECTIVES`.
        counted: Vectors of the tokens to start from, of shape (vocabulary, dim): every node is then the sum of its tokens,
            rare ones longer. ``None`` starts from torch's and the paper's random numbers.
        multiplier: What cosines are multiplied by; 0 for the objective's own.
        nodes: Nodes of a batch that are compared, and tokens that are predicted; 0 for all.
        public_order: Decompose as the authors' code does; see :func:`~ontodex.encoders.forest.decompose`.
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
        """Return the encoder, the lengths of its tokens in their vectors; the model is of no use after that.

        Where it started from counted vectors, a token's direction is the mean of what was counted and what was learnt of it,
        what is common to all tokens taken away: each of the two errs in its own way.
        """
        table = self.encoder.table
        if isinstance(self.counted, Tensor):
            learnt = without_common(table, self.shares * self.length)  # type: ignore[operator]
            directions = nn.functional.normalize(learnt + self.counted, dim=1)
            table.copy_(directions * table.norm(dim=1, keepdim=True))
        table.mul_(self.length[:, None])  # type: ignore[index]
        return self.encoder

    def forward(self, batch: SentenceBatch) -> dict[str, Tensor]:
        """Return ``{"loss": loss}``, as transformers' Trainer expects.

        Raises:
            TrainingError: If the loss is no number.
        """
        with torch.autocast(self.encoder.table.device.type, enabled=False):
            loss, _ = self._loss(batch)
        return expect_finite(loss, batch.number)

    @torch.inference_mode()
    def learnt(self, batches: list[SentenceBatch]) -> float:
        """Return by which share the loss is below that of equal cosines and equal chances: 0 if nothing was learnt."""
        device = self.encoder.table.device
        with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
            torch.manual_seed(0)
            found = torch.tensor(
                [[float(value) for value in self._loss(batch)] for batch in batches]
            ).sum(0)
        return 1 - float(found[0] / found[1])

    def _loss(self, batch: SentenceBatch) -> tuple[Tensor, float]:
        """Return the loss of a batch, and what it would be if nothing were learnt."""
        network, device = self.encoder.network, self.encoder.table.device
        tokens, lengths = (
            torch.from_numpy(batch.tokens).to(device),
            torch.from_numpy(batch.lengths).to(device),
        )
        wide = nn.functional.embedding(tokens, network.table) * self.length[tokens][:, None]  # type: ignore[index]
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
        """Compare tokens, and phrases, with what is around them; and a sentence with what is around a part of it."""
        network, count = self.encoder.network, forest.tokens
        nodes = compose(self._dropped(leaves, LEAF_DROPOUT), network.weight, network.bias, forest)
        around = surround(nodes, network.weight, network.bias, forest)
        named = torch.cat([tokens, -1 - torch.arange(len(forest.left), device=tokens.device)])
        apart = torch.ones(len(forest.places), device=tokens.device)
        apart[forest.roots] = 0
        parts = _parts(forest)
        rows = (
            self._drawn(apart[:count] * self.drawn[tokens]),  # type: ignore[index]
            count + self._drawn(apart[count:]),
            parts,
        )
        wholes = torch.cat([*rows[:2], forest.roots[forest.owners[parts]]])
        sizes = [len(some) for some in rows]
        ones = torch.split(_units(nodes.index_select(1, wholes)), sizes)
        others = torch.split(_units(around.index_select(1, forest.places[torch.cat(rows)])), sizes)
        found = [
            self._compared(one, other, forest.owners[some], named[some])
            for one, other, some in zip(ones, others, rows, strict=True)
        ]
        return torch.stack([loss for loss, _ in found]).sum(), sum(
            probability for _, probability in found
        )

    def _views(self, leaves: Tensor, tokens: Tensor, forest: Forest) -> tuple[Tensor, float]:
        """Predict the tokens from two passes down the same trees, and contrast the inner nodes of one with the other's."""
        downs = [self._passed(leaves, forest)[1] for _ in range(2)]
        predicted = [self._predicted(down, tokens) for down in downs]
        inner = self._contrasted(downs[0], downs[1], forest.tokens + self._any(len(forest.left)))
        found = [*predicted, inner]
        return torch.stack([loss for loss, _ in found]).sum(), sum(
            probability for _, probability in found
        )

    def _passed(self, leaves: Tensor, forest: Forest) -> tuple[Tensor, Tensor]:
        """Return all nodes' vectors on the way up, and on the way down."""
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
        """Return some of so many rows, or all."""
        device = self.encoder.table.device
        if not self.nodes or count <= self.nodes:
            return torch.arange(count, device=device)
        return torch.randperm(count, device=device)[: self.nodes]

    def _drawn(self, weights: Tensor) -> Tensor:
        """Return rows drawn by weight, none twice; all that have any where as many are wanted."""
        known = int((weights > 0).sum())
        if not self.nodes or known <= self.nodes:
            return weights.nonzero()[:, 0]
        return torch.multinomial(weights, self.nodes)

    def _contrasted(self, one: Tensor, other: Tensor, rows: Tensor) -> tuple[Tensor, float]:
        """Contrast every node with every other: the mean of both directions' cross entropy."""
        ones, others = (_units(planes.index_select(1, rows)) for planes in (one, other))
        return _contrast(ones, others, self.multiplier), math.log(max(len(rows), 2))

    def _compared(
        self, ones: Tensor, others: Tensor, owners: Tensor, named: Tensor
    ) -> tuple[Tensor, float]:
        """Contrast unit vectors with each other in chunks, but those of one text, or of one token."""
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
        """Predict tokens from the vectors that came down to them: cross entropy over the vocabulary."""
        assert self.head is not None
        rows = self._any(len(tokens))
        if self.nodes:
            rows = rows[
                : max(1, self.nodes // 16)
            ]  # so that the vocabulary costs about what the nodes do
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
    """Return a node of each tree of two tokens or more at random: one that has at most half of its tokens."""
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
    """Contrast unit vectors of the same rows; never more than a block of the cosines is held."""
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
    """Return sums over the others and over the block; cosines are bounded, so that no exponential is too large."""
    found = (block @ others.T * multiplier).exp()
    return found.sum(1), found.sum(0)


def _mask(shape: torch.Size | tuple[int, ...], share: float, device: torch.device) -> Tensor:
    """Return a mask of dropout, a share of zeros, eight numbers from each random one: the draw is what costs."""
    zeros = round(256 * share)
    count = math.prod(shape)
    drawn = torch.empty(-(-count // 8), dtype=torch.int64, device=device).random_(-(2**63), None)
    kept = drawn.view(torch.uint8)[:count] >= zeros
    return (kept.float() * (256 / (256 - zeros))).view(shape)
