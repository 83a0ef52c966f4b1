"""Base class of answers: a sequence of rows that prints as a table and converts to other forms."""

from __future__ import annotations

import csv
import io
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ontodex.engine.results.printable import json_text, printable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AnswerTable", "tsv"]

T = TypeVar("T")


class AnswerTable(Sequence[T]):
    """A sequence of rows that prints as a table."""

    @property
    @abstractmethod
    def _parts(self) -> tuple[T, ...]: ...

    @abstractmethod
    def _table(self) -> tuple[list[str], list[list[Any]]]:
        """Return the names of the columns, and the cells of every row."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data."""

    @abstractmethod
    def __str__(self) -> str: ...

    def __repr__(self) -> str:
        return str(self)

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._parts[index]

    def to_json(self) -> str:
        """Return :meth:`to_dict` as one line of JSON."""
        return json_text(self.to_dict())

    def to_tsv(self) -> str:
        """Return a table with a header, one line per row, and cells separated by tabs."""
        return tsv(*self._table())

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame with the columns of :meth:`to_tsv`."""
        import pandas as pd

        columns, rows = self._table()
        return pd.DataFrame(rows, columns=columns)


def tsv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    r"""Return a table in the dialect ``excel-tab`` of Python's ``csv``.

    Floats have six digits after the point, booleans are ``true`` and ``false``, ``None`` is empty.

    >>> tsv(["name", "score", "known"], [["a tab\tor two", 0.5, True]])
    'name\tscore\tknown\na tab or two\t0.500000\ttrue\n'
    """
    table = io.StringIO()
    csv.writer(table, "excel-tab", lineterminator="\n").writerows(
        [_cell(value) for value in row] for row in (header, *rows)
    )
    return table.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6f}" if isinstance(value, float) else printable(" ".join(str(value).split()))
