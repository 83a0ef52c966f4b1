"""Batches of hierarchy links with in-batch negatives; each text is encoded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import TrainingError
from ontodex.graph.arrays import distinct, within
from ontodex.graph.names import normalise
from ontodex.graph.negatives import Pairs
from ontodex.trainers.data.subsumptions import HierarchyTask
from ontodex.trainers.epoch_batches import EpochBatches

__all__ = ["HierarchyBatch", "HierarchyBatches", "TextHierarchy", "TripletBatches"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HierarchyBatch:
    """Links of a batch, and the negatives of each link.

    Attributes:
        number: Number of the batch in the run.
        texts: Distinct texts to encode, as indices into :attr:`TextHierarchy.texts`, of shape (n,).
        children: Position of each link's child in ``texts``, of shape (links,).
        parents: Position of each link's parent in ``texts``, of shape (links,).
        negatives: Whether a text is a negative of a link, ``bool`` of shape (links, n).
    """

    number: int
    texts: Ints
    children: Ints
    parents: Ints
    negatives: NDArray[np.bool_]


class TextHierarchy:
    """A hierarchy over texts: entities whose names differ only in case and spacing are one node.

    A text encoder cannot distinguish such entities.

    Args:
        task: The task. Its training links are the links of the hierarchy. Its full hierarchy
            excludes true ancestors from the negatives.
        names: Text of every entity.

    Attributes:
        texts: Distinct texts, each in the spelling of its first entity.
        of_entity: Text of every entity, an index into ``texts``, of shape (entities,).
        links: Links (child text, parent text) without self-links, of shape (n, 2).

    Raises:
        TrainingError: If no link is left.
    """

    def __init__(self, task: HierarchyTask, names: Sequence[str]) -> None:
        rows: dict[str, int] = {}
        self.of_entity = np.array(
            [rows.setdefault(normalise(name), len(rows)) for name in names], dtype=np.int64
        )
        _, first = np.unique(self.of_entity, return_index=True)
        self.texts = [names[row] for row in first.tolist()]
        self._links = self._keys(task.train[:, 0], task.train[:, 1])
        self.links = np.stack(np.divmod(self._links, len(rows)), axis=1)
        if not len(self.links):
            raise TrainingError(
                "expected links between entities of different names to train on, found none"
            )
        keys = task.known.subsumption_keys
        self._true = self._keys(*np.divmod(keys, len(names)))

    def _keys(self, children: NDArray[np.integer], parents: NDArray[np.integer]) -> Ints:
        below, above = self.of_entity[children], self.of_entity[parents]
        return distinct((below * len(self.texts) + above)[below != above])

    def linked(self, texts: Ints) -> tuple[Ints, Ints]:
        """Return the positions in ``texts`` of children and parents of the links between them."""
        keys = texts[:, None] * len(self.texts) + texts[None]
        children, parents = np.nonzero(within(self._links, keys))
        return children, parents

    def false_parents(self, children: Ints, texts: Ints) -> NDArray[np.bool_]:
        """Return whether each text is neither the child nor an ancestor of the child.

        Args:
            children: Texts of the children, of shape (children,).
            texts: Candidate texts, of shape (texts,).

        Returns:
            ``bool`` of shape (children, texts).
        """
        keys = children[:, None] * len(self.texts) + texts[None]
        false: NDArray[np.bool_] = ~within(self._true, keys) & (children[:, None] != texts[None])
        return false


class HierarchyBatches(EpochBatches[HierarchyBatch, tuple[Ints, Ints]]):
    """Batches of families: parents with some of their children, so that most links share a text.

    All training links between texts of a batch are positives. All texts of the batch that are not
    ancestors of the child are negatives; siblings of the child are hard negatives.

    Args:
        hierarchy: The training hierarchy.
        steps: Number of batches.
        families: Families in a batch.
        children: Largest number of children in a family; a parent with more is in several families.
        seed: Seed of all draws.
    """

    def __init__(
        self, hierarchy: TextHierarchy, *, steps: int, families: int, children: int, seed: int
    ) -> None:
        self.hierarchy = hierarchy
        self._families, self._children, self._seed = families, children, seed
        links = hierarchy.links
        self._by_parent = links[np.lexsort((links[:, 0], links[:, 1]))]
        super().__init__(steps, self.epoch_length(hierarchy, families, children))

    @staticmethod
    def epoch_length(hierarchy: TextHierarchy, families: int, children: int) -> int:
        """Return the number of batches that contain every link at least once."""
        _, counts = np.unique(hierarchy.links[:, 1], return_counts=True)
        return int(-(-int((-(-counts // children)).sum()) // families))

    def _batch(self, step: int, turn: int, order: tuple[Ints, Ints]) -> HierarchyBatch:
        links, bounds = order
        here = bounds[turn * self._families : (turn + 1) * self._families + 1]
        texts = distinct(links[here[0] : here[-1]].ravel())
        children, parents = self.hierarchy.linked(texts)
        return HierarchyBatch(
            step, texts, children, parents, self.hierarchy.false_parents(texts[children], texts)
        )

    def _draw_order(self, epoch: int) -> tuple[Ints, Ints]:
        """Return all links grouped by family in random order, and the bounds of the families."""
        rng = np.random.default_rng((self._seed, 4, epoch))
        links = self._by_parent[
            np.lexsort((rng.random(len(self._by_parent)), self._by_parent[:, 1]))
        ]
        place = np.arange(len(links)) - np.searchsorted(links[:, 1], links[:, 1])
        family = np.cumsum(place % self._children == 0) - 1
        turn = rng.permutation(int(family[-1]) + 1)[family]
        order = np.argsort(turn, kind="stable")
        bounds = np.append(np.searchsorted(turn[order], np.arange(int(family[-1]) + 1)), len(links))
        return links[order], bounds


class TripletBatches(EpochBatches[HierarchyBatch, Ints]):
    """Batches of the paper: random links, each with its own random or hard negatives.

    As in :class:`HierarchyBatches`, a negative is left out if it has the name of the child, or if
    it is an ancestor of an entity with the name of the child.

    Args:
        hierarchy: The training hierarchy.
        pairs: Training links with their negatives.
        kind: ``"random"`` or ``"hard"`` negatives.
        steps: Number of batches.
        triplets: Triplets in a batch; a link with m negatives gives m triplets.
        seed: Seed of all draws.
    """

    def __init__(
        self,
        hierarchy: TextHierarchy,
        pairs: Pairs,
        kind: str,
        *,
        steps: int,
        triplets: int,
        seed: int,
    ) -> None:
        self.hierarchy = hierarchy
        negatives = pairs.random if kind == "random" else pairs.hard
        rows = hierarchy.of_entity[np.concatenate([pairs.positives, negatives], axis=1)]
        self._rows = rows[rows[:, 0] != rows[:, 1]]
        self._seed = seed
        self._links = max(1, triplets // max(1, negatives.shape[1]))
        super().__init__(steps, per_epoch=-(-len(self._rows) // self._links))

    def _batch(self, step: int, turn: int, order: Ints) -> HierarchyBatch:
        rows = self._rows[order[turn * self._links : (turn + 1) * self._links]]
        texts, place = np.unique(rows, return_inverse=True)
        place = place.reshape(rows.shape)
        negatives = np.zeros((len(rows), len(texts)), dtype=bool)
        negatives[np.arange(len(rows))[:, None], place[:, 2:]] = True
        negatives &= self.hierarchy.false_parents(rows[:, 0], texts)
        return HierarchyBatch(step, texts, place[:, 0], place[:, 1], negatives)

    def _draw_order(self, epoch: int) -> Ints:
        return np.random.default_rng((self._seed, 5, epoch)).permutation(len(self._rows))
