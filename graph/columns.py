"""Columns of text as arrays: compact in memory, and directly memory-mapped from a file."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

__all__ = ["NestedTextColumn", "TextColumn"]


class TextColumn(Sequence[str]):
    """Immutable sequence of strings: UTF-8 bytes in one array, offsets in another.

    Args:
        data: UTF-8 bytes of all strings, one after the other, ``uint8`` of shape (bytes,).
        offsets: Start of each string in ``data``, and the end of the last string, ``int64`` of
            shape (strings + 1,).

    Example:
        >>> column = TextColumn.of(["Marfan syndrome", "", "Gaucher’s"])
        >>> column[0], len(column), column[-1]
        ('Marfan syndrome', 3, 'Gaucher’s')
    """

    __slots__ = ("data", "offsets")

    def __init__(self, data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        self.data = data
        self.offsets = offsets

    @classmethod
    def of(cls, strings: Iterable[str]) -> TextColumn:
        """Make a column of strings."""
        encoded = [string.encode("utf-8", "replace") for string in strings]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(piece) for piece in encoded], out=offsets[1:])
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = int(index)
        if position < 0:
            position += len(self)
        if not 0 <= position < len(self):
            raise IndexError(f"row {index} of a column of {len(self)}")
        return bytes(self.data[self.offsets[position] : self.offsets[position + 1]]).decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        data = self.data.tobytes()
        starts = self.offsets.tolist()
        for start, end in itertools.pairwise(starts):
            yield data[start:end].decode("utf-8")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TextColumn):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.data, other.data)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TextColumn({len(self)} strings, {len(self.data)} bytes)"


class NestedTextColumn(Sequence[tuple[str, ...]]):
    """Immutable sequence of tuples of strings, such as the synonyms of each entity.

    Args:
        strings: All strings, row after row.
        rows: Position in ``strings`` of the first string of each row, and the end of the last row,
            ``int64`` of shape (rows + 1,).

    Example:
        >>> NestedTextColumn.of([("tall", "high"), ()])[0]
        ('tall', 'high')
    """

    __slots__ = ("rows", "strings")

    def __init__(self, strings: TextColumn, rows: NDArray[np.int64]) -> None:
        self.strings = strings
        self.rows = rows

    @classmethod
    def of(cls, nested: Iterable[Sequence[str]]) -> NestedTextColumn:
        """Make a column of sequences of strings."""
        lists = list(nested)
        rows = np.zeros(len(lists) + 1, dtype=np.int64)
        np.cumsum([len(entry) for entry in lists], out=rows[1:])
        return cls(TextColumn.of(string for entry in lists for string in entry), rows)

    @property
    def owners(self) -> NDArray[np.int64]:
        """Row of each string, ``int64`` of shape (strings,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.rows))

    def __len__(self) -> int:
        return len(self.rows) - 1

    @overload
    def __getitem__(self, index: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[str, ...]]: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = int(index)
        if position < 0:
            position += len(self)
        if not 0 <= position < len(self):
            raise IndexError(f"row {index} of a column of {len(self)}")
        return tuple(self.strings[int(self.rows[position]) : int(self.rows[position + 1])])

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        strings = list(self.strings)
        return (tuple(strings[start:end]) for start, end in itertools.pairwise(self.rows.tolist()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NestedTextColumn):
            return NotImplemented
        return self.strings == other.strings and np.array_equal(self.rows, other.rows)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"NestedTextColumn({len(self)} rows, {len(self.strings)} strings)"
