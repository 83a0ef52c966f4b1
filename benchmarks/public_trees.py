"""Self-StrAE by the algorithm of its public code, the peer of our implementation.

All sentences advance together, padded. Every merge computes all cosines of adjacent nodes again,
takes the best of each sentence, composes channel by channel, and drops the merged position by a
mask. Gradients flow through every merge. The decoder goes down a tree level by level. Every node of
a batch is contrasted with every other in one matrix.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

__all__ = ["PublicTrees"]


class PublicTrees(nn.Module):
    """The contrastive objective, one training step at a time.

    Args:
        vocabulary: Number of tokens.
        channels: Channels of a vector.
        size: Dimensions of a channel.
    """

    def __init__(self, vocabulary: int, channels: int, size: int) -> None:
        super().__init__()
        self.channels, self.size = channels, size
        self.table = nn.Embedding(vocabulary, channels * size)
        nn.init.uniform_(self.table.weight, -0.1, 0.1)
        self.up, self.down = nn.Linear(2 * size, size), nn.Linear(size, 2 * size)
        self._optimiser = torch.optim.Adam(self.parameters(), lr=1e-3)

    def trees(
        self, tokens: NDArray[np.int64], lengths: NDArray[np.int64]
    ) -> tuple[list[Tensor], NDArray[np.int64]]:
        """Return node vectors as created, and (sentence, left, right, parent) of each merge."""
        texts, longest = len(lengths), int(lengths.max())
        places = np.full((texts, longest), -1)
        places[np.arange(longest) < lengths[:, None]] = np.arange(len(tokens))
        leaves = nn.functional.dropout(self.table(torch.from_numpy(tokens)), 0.2, self.training)
        row = leaves.new_zeros(texts, longest, leaves.shape[1])
        real = torch.from_numpy(places >= 0)
        row[real] = leaves
        vectors, merges, made = [leaves], [], len(tokens)
        node = torch.from_numpy(places)
        while row.shape[1] > 1:
            cosines = nn.functional.cosine_similarity(row[:, :-1], row[:, 1:], dim=2)
            cosines = cosines.detach().masked_fill(node[:, 1:] < 0, -torch.inf)
            open_ones = (node[:, 1] >= 0).nonzero()[:, 0]
            best = cosines.argmax(1)[open_ones]
            left, right = row[open_ones, best], row[open_ones, best + 1]
            parts = torch.cat(
                [left.view(-1, self.channels, self.size), right.view(-1, self.channels, self.size)],
                dim=2,
            )
            parents = nn.functional.dropout(self.up(parts).flatten(1), 0.1, self.training)
            numbers = torch.arange(made, made + len(open_ones))
            merges.append(
                torch.stack(
                    [open_ones, node[open_ones, best], node[open_ones, best + 1], numbers], dim=1
                )
            )
            made += len(open_ones)
            vectors.append(parents)
            row, node = row.clone(), node.clone()
            row[open_ones, best], node[open_ones, best] = parents, numbers
            keep = torch.ones_like(node, dtype=torch.bool)
            keep[open_ones, best + 1] = False
            done = torch.ones(texts, dtype=torch.bool)
            done[open_ones] = False
            keep[done, -1] = False
            row = row[keep].view(texts, -1, row.shape[2])
            node = node[keep].view(texts, -1)
        return vectors, torch.cat(merges).numpy()

    def step(
        self, tokens: NDArray[np.int64], lengths: NDArray[np.int64], *, loss: bool = True
    ) -> None:
        """Take a training step; without the loss, compute the trees up and down with gradients."""
        vectors, merges = self.trees(tokens, lengths)
        up = torch.cat(vectors)
        level = np.zeros(len(up), dtype=np.int64)
        for _, left, right, parent in merges.tolist():
            level[parent] = max(level[left], level[right]) + 1
        parent_of = merges[:, 3]
        inner = np.setdiff1d(parent_of, merges[:, 1:3])
        alone = np.setdiff1d(np.arange(len(tokens)), merges[:, 1:3])
        down: list[Tensor] = [up[torch.from_numpy(np.concatenate([inner, alone]))]]
        where = {
            int(node): place for place, node in enumerate(np.concatenate([inner, alone]).tolist())
        }
        for height in range(int(level.max()), 0, -1):
            now = merges[level[parent_of] == height]
            own = torch.cat(down)[torch.tensor([where[node] for node in now[:, 3].tolist()])]
            both = self.down(own.view(-1, self.channels, self.size))
            for half, nodes in zip(both.chunk(2, dim=2), (now[:, 1], now[:, 2]), strict=True):
                start = sum(len(part) for part in down)
                where.update({node: start + place for place, node in enumerate(nodes.tolist())})
                down.append(nn.functional.dropout(half.flatten(1), 0.1, self.training))
        found = torch.cat(down)[torch.tensor([where[node] for node in range(len(up))])]
        if loss:
            logits = (
                nn.functional.normalize(up, dim=1)
                @ nn.functional.normalize(found, dim=1).T
                * math.exp(0.2)
            )
            rows = torch.arange(len(up))
            entropy = nn.functional.cross_entropy
            total = (entropy(logits, rows) + entropy(logits.T, rows)) / 2
        else:
            total = (up.sum() + found.sum()) / len(up)
        total.backward()
        nn.utils.clip_grad_norm_(self.parameters(), 1.0)
        self._optimiser.step()
        self._optimiser.zero_grad()
