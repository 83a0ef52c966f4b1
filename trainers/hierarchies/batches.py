"""Batches of a hierarchy: every text of a batch is encoded once, and stands against every child of the batch."""

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
    """Links, and what each child is to be kept away from.

    Attributes:
        number: Which batch of the run it is.
        texts: The texts to encode, unique: rows of :attr:`TextHierarchy.texts`, of shape (n,).
        children: Position of each link's child in ``texts``, of shape (links,).
        parents: Position of each link's parent.
        negatives: Whether a text is a negative of a link, ``bool`` of shape (links, n).
    """

    number: int
    texts: Ints
    children: Ints
    parents: Ints
    negatives: NDArray[np.bool_]


class TextHierarchy:
    """A hierarchy of texts: entities of one name, but for case and spacing, cannot be told apart and are one node.

    Args:
        task: Its training links are learnt; its whole hierarchy says what is no negative.
        names: Text of every entity.

    Attributes:
        texts: The distinct texts, each as its first entity has it.
        of_entity: Text of every entity, of shape (entities,).
        links: Links (child text, parent text), those of a text to itself left out, of shape (n, 2).

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
                "expected links between entities of different names to learn from, found none"
            )
        keys = task.known.subsumption_keys
        self._true = self._keys(*np.divmod(keys, len(names)))

    def _keys(self, children: NDArray[np.integer], parents: NDArray[np.integer]) -> Ints:
        below, above = self.of_entity[children], self.of_entity[parents]
        return distinct((below * len(self.texts) + above)[below != above])

    def linked(self, texts: Ints) -> tuple[Ints, Ints]:
        """Return (child, parent) positions of the training links among the given texts."""
        keys = texts[:, None] * len(self.texts) + texts[None]
        children, parents = np.nonzero(within(self._links, keys))
        return children, parents

    def false_parents(self, children: Ints, texts: Ints) -> NDArray[np.bool_]:
        """Tell which texts are no ancestors of each child, nor the child: ``bool`` of shape (children, texts)."""
        keys = children[:, None] * len(self.texts) + texts[None]
        false: NDArray[np.bool_] = ~within(self._true, keys) & (children[:, None] != texts[None])
        return false


class HierarchyBatches(EpochBatches[HierarchyBatch, tuple[Ints, Ints]]):
    """The batches of a run: families of a parent and some of its children, so that most links share a text.

    Every link among the texts of a batch is learnt, and every text that is no ancestor is a negative: siblings, which are
    the hard ones, and whatever else is in the batch.

    Args:
        hierarchy: What is learnt.
        steps: Number of batches.
        families: Families in a batch.
        children: Most children of a family; a parent with more is in several.
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
        """Return the number of batches in which every link is learnt at least once."""
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
        """Return all links in random families, and where each family begins and the last one ends."""
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
    """The paper's batches: links at random, each with negatives of its own, random and hard alike.

    A negative that is above a homonym of the child, or bears its name, is left out, as in :class:`HierarchyBatches`.

    Args:
        hierarchy: What is learnt.
        pairs: The training links with their negatives.
        kind: ``"random"`` or ``"hard"`` negatives.
        steps: Number of batches.
        triplets: Triplets in a batch: a link with m negatives makes m of them.
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
