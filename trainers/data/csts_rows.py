"""Rows of C-STS: two texts, a condition, and their similarity under the condition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["LABELS", "CstsRow", "CstsRows"]

LABELS = (1.0, 5.0)
"""Smallest label (dissimilar) and greatest label (equivalent)."""

CstsRow = tuple[str, str, str, float]
"""Two texts, a condition, a label."""


@dataclass(frozen=True, eq=False)
class CstsRows:
    """Rows of conditional similarity (Deshpande et al., "C-STS", EMNLP 2023), as columns.

    Each text and condition is stored once. In training data, rows 2i and 2i + 1 have the same two
    texts and different conditions.

    Attributes:
        texts: Distinct texts.
        conditions: Distinct conditions.
        first: First text of each row, an index into ``texts``, ``int64`` of shape (rows,).
        second: Second text of each row, an index into ``texts``, ``int64`` of shape (rows,).
        which: Condition of each row, an index into ``conditions``, ``int64`` of shape (rows,).
        labels: Similarity of the texts under the condition, 1 to 5, ``float64`` of shape (rows,).

    Example:
        >>> rows = CstsRows.of([("Paris", "Rome", "kind", 5), ("Paris", "Rome", "country", 1)])
        >>> rows.texts, rows.conditions, rows.labels.tolist()
        (['Paris', 'Rome'], ['kind', 'country'], [5.0, 1.0])
    """

    texts: list[str]
    conditions: list[str]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    which: NDArray[np.int64]
    labels: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def of(cls, rows: Iterable[CstsRow]) -> CstsRows:
        """Build the columns from rows."""
        texts: dict[str, int] = {}
        conditions: dict[str, int] = {}
        places, labels = [], []
        for first, second, condition, label in rows:
            place = [texts.setdefault(text, len(texts)) for text in (first, second)]
            places.append([*place, conditions.setdefault(condition, len(conditions))])
            labels.append(float(label))
        one, two, which = np.array(places, dtype=np.int64).reshape(-1, 3).T.copy()
        return cls(
            list(texts), list(conditions), one, two, which, np.array(labels, dtype=np.float64)
        )

    def rows(self) -> list[CstsRow]:
        """Return the rows as tuples."""
        columns = (
            self.first.tolist(),
            self.second.tolist(),
            self.which.tolist(),
            self.labels.tolist(),
        )
        return [
            (self.texts[first], self.texts[second], self.conditions[condition], label)
            for first, second, condition, label in zip(*columns, strict=True)
        ]

    @property
    def targets(self) -> NDArray[np.float64]:
        """Labels, scaled from the range 1 to 5 to the range 0 to 1, as targets of cosines."""
        least, most = LABELS
        return (self.labels - least) / (most - least)
