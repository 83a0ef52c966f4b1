"""Negatives of true subsumptions: random entities and siblings of the child.

Source: He et al., Language Models as Hierarchy Encoders (2024), section 4 and its public data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import GraphError, SettingsError, expect_choice
from ontodex.graph.arrays import Keys, distinct, within
from ontodex.graph.hierarchy import Hierarchy, Rows
from ontodex.graph.names import normalise

__all__ = ["KINDS", "Pairs", "bits_of", "draw_negatives", "homonym_rate", "name_groups"]

KINDS = ("random", "hard")
"""Kinds of negatives."""

ROUNDS = 32
"""Maximal number of rounds of rejection sampling.

For a child whose draws are still incomplete then, the allowed entities are listed.
"""

BLOCK = 1 << 22
"""Maximal number of siblings in memory at once."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """True subsumptions, each with negatives.

    Attributes:
        positives: (child, parent), ``int32`` of shape (n, 2).
        random: Random negative parents: members of the hierarchy, ``int32`` of shape (n, m).
        hard: Hard negative parents: siblings of the child, then random negatives if there are
            fewer than m siblings, ``int32`` of shape (n, m).
    """

    positives: Rows
    random: Rows
    hard: Rows

    def __len__(self) -> int:
        return len(self.positives)

    def pairs(self, kind: str) -> tuple[Rows, Rows, NDArray[np.bool_]]:
        """Return children, parents and labels, each of shape (n * (m + 1),).

        Each of the n positives is followed by its m negatives. A label is true for a positive.

        Args:
            kind: ``"random"`` or ``"hard"``.

        Raises:
            SettingsError: If ``kind`` has another value.
        """
        expect_choice("negatives", kind, KINDS)
        parents = np.concatenate(
            [self.positives[:, 1:], self.random if kind == "random" else self.hard], axis=1
        )
        labels = np.zeros(parents.shape, dtype=bool)
        labels[:, 0] = True
        return np.repeat(self.positives[:, 0], parents.shape[1]), parents.ravel(), labels.ravel()


def bits_of(*seed: int) -> np.random.PCG64:
    """Return a random bit generator that gives equal bits on every machine and numpy version.

    Raises:
        SettingsError: If a number is negative.
    """
    if min(seed) < 0:
        raise SettingsError(f"seed: expected 0 or more, found {min(seed)}")
    return np.random.PCG64(np.random.SeedSequence(seed))


def homonym_rate(names: Sequence[str]) -> float:
    """Return the share of names that occur several times, ignoring case and white space.

    Without names the share is 0.

    >>> homonym_rate(["bank", "Bank", "river", "shore"])
    0.5
    """
    groups = name_groups(names)
    return float((np.bincount(groups)[groups] > 1).mean()) if len(groups) else 0.0


def name_groups(names: Sequence[str]) -> Keys:
    """Return a number for each name; homonyms have the same number.

    >>> name_groups(["bank", "river", "Bank"]).tolist()
    [0, 1, 0]
    """
    numbers: dict[str, int] = {}
    return np.array(
        [numbers.setdefault(normalise(name), len(numbers)) for name in names], dtype=np.int64
    )


def draw_negatives(
    hierarchy: Hierarchy,
    positives: Rows,
    *,
    negatives: int = 10,
    seed: int | Sequence[int] = 0,
    names: Sequence[str] | None = None,
) -> Pairs:
    """Draw distinct negatives for each child, excluding the child itself and its ancestors.

    Random negatives are drawn uniformly from all members of the hierarchy. They may be descendants
    of the child, as in the paper. (The paper also allows the child itself and repetitions.) Hard
    negatives are siblings of the child through any parent, in random order; if there are too few
    siblings, random negatives follow.

    Args:
        hierarchy: The full hierarchy.
        positives: (child, parent), ``int32`` of shape (n, 2).
        negatives: Number of random and of hard negatives for each positive.
        seed: Equal seeds give equal draws; several numbers together are one seed.
        names: Name of each row. If given, a negative never has the name of the child, of an
            ancestor or of another negative of the child, because an encoder reads only names and
            cannot distinguish homonyms.

    Raises:
        GraphError: If a child has fewer candidates than ``negatives``; the message names the child.
        SettingsError: If ``negatives`` is less than 1, or the length of ``names`` is not the number
            of rows of the hierarchy.
    """
    if negatives < 1:
        raise SettingsError(f"negatives: expected 1 or more, found {negatives}")
    if names is not None and len(names) != len(hierarchy.ids):
        raise SettingsError(
            f"names: expected one for each of {len(hierarchy.ids)} entities, found {len(names)}"
        )
    drawing = _Drawing(
        hierarchy, names, bits_of(*(seed if isinstance(seed, Sequence) else [seed])), negatives
    )
    children = positives[:, 0].astype(np.int64)
    random = drawing.random(children)
    hard = [drawing.hard(children[block], random[block]) for block in drawing.blocks(children)]
    return Pairs(positives.astype(np.int32), random, np.concatenate([random[:0], *hard]))


class _Drawing:
    """Draws negatives, given the names that each child excludes.

    Attributes:
        groups: Number of the name of each row; homonyms have the same number.
        refused: Sorted keys ``child * len(groups) + name`` of excluded names: the name of the child
            itself, and the names of its ancestors.
        count: Number of negatives for each child.
        bits: Random bit generator.
    """

    def __init__(
        self, hierarchy: Hierarchy, names: Sequence[str] | None, bits: np.random.PCG64, count: int
    ) -> None:
        self.hierarchy, self.bits, self.count = hierarchy, bits, count
        n = max(len(hierarchy.ids), 1)
        self.groups: Keys = np.arange(n) if names is None else name_groups(names)
        keys, own = hierarchy.subsumption_keys, hierarchy.members.astype(np.int64)
        self.refused = distinct(
            np.concatenate([keys // n * n + self.groups[keys % n], own * n + self.groups[own]])
        )

    def allowed(self, children: Keys, parents: Rows) -> NDArray[np.bool_]:
        """Return whether each parent is allowed as a negative of its child."""
        return ~within(self.refused, children * len(self.groups) + self.groups[parents])

    def random(self, children: Keys) -> Rows:
        """Draw negatives from all members; redraw excluded and repeated entities."""
        members = self.hierarchy.members
        table: Rows = np.zeros((len(children), self.count), dtype=np.int32)
        open_ = np.ones(table.shape, dtype=bool)
        for _ in range(ROUNDS):
            rows, columns = np.nonzero(open_)
            if not len(rows):
                return table
            table[rows, columns] = members[
                self.bits.random_raw(len(rows)) % np.uint64(len(members))
            ]
            open_[rows, columns] = ~self.allowed(children[rows], table[rows, columns])
            again = np.unique(rows)
            open_[again] |= _repeated(
                np.where(open_[again], -1 - np.arange(self.count), self.groups[table[again]])
            )
        for row in np.flatnonzero(open_.any(axis=1)).tolist():
            table[row] = self.exactly(children[row])
        return table

    def exactly(self, child: np.int64) -> Rows:
        """Draw the negatives of one child from a list of all allowed entities."""
        members = self.hierarchy.members
        order = members[np.argsort(self.bits.random_raw(len(members)), kind="stable")]
        order = order[self.allowed(np.full(len(order), child), order)]
        _, first = np.unique(self.groups[order], return_index=True)
        if len(first) < self.count:
            raise GraphError(
                f"expected at least {self.count} entities that are no ancestors of "
                f"{self.hierarchy.ids[int(child)]}, as negatives, found {len(first)}; ask for "
                "fewer negatives, or take a larger hierarchy"
            )
        found: Rows = order[np.sort(first)[: self.count]]
        return found

    def blocks(self, children: Keys) -> Iterator[slice]:
        """Divide the children into blocks with a bounded number of siblings."""
        links, n = self.hierarchy.links, len(self.groups)
        fans = np.bincount(links[:, 1], minlength=n)[links[:, 1]]
        siblings = np.bincount(links[:, 0], weights=fans, minlength=n).astype(np.int64)
        starts = np.flatnonzero(
            np.diff(np.cumsum(siblings[children]) // BLOCK, prepend=-1)
        ).tolist()
        return (
            slice(start, end)
            for start, end in zip(starts, [*starts[1:], len(children)], strict=False)
        )

    def hard(self, children: Keys, random: Rows) -> Rows:
        """Draw negatives from the siblings, then take random negatives if there are too few."""
        owners, siblings = self.hierarchy.siblings_of(children)
        kept = self.allowed(children[owners], siblings)
        owners, siblings = owners[kept], siblings[kept]
        order = np.lexsort((self.bits.random_raw(len(owners)), owners))
        owners = np.concatenate([owners[order], np.repeat(np.arange(len(children)), self.count)])
        found = np.concatenate([siblings[order], random.ravel()])
        _, first = np.unique(
            owners * len(self.groups) + self.groups[found], return_index=True
        )  # keep each name once for a child
        first.sort()
        first = first[
            np.argsort(owners[first], kind="stable")
        ]  # for each child: siblings, then random negatives
        rank = (
            np.arange(len(first))
            - np.searchsorted(owners[first], np.arange(len(children)))[owners[first]]
        )
        hard: Rows = found[first[rank < self.count]].reshape(len(children), self.count)
        return hard


def _repeated(table: Keys) -> NDArray[np.bool_]:
    """Return whether the value of each cell occurs to its left in the same row."""
    order = np.argsort(table, axis=1, kind="stable")
    ordered = np.take_along_axis(table, order, axis=1)
    again = np.zeros(table.shape, dtype=bool)
    np.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    return again
