"""A table that is read together with other tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ontodex.graph.names import spellings
from ontodex.readers.files import ZIPPED
from ontodex.readers.tables.declared import Declared
from ontodex.readers.tables.mapping import TableMapping
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["PREVIEW", "Table", "table_name"]

PREVIEW = 5
"""Number of rows in a preview."""

SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".json", ".jsonl", ".ndjson")


def table_name(source: Any) -> str:
    """Return the name of a table: the name of its file or sheet, without dates and numbers.

    If the source is not a table, the name is empty.

    >>> table_name("db/public.FilmCompanies_2024.csv.gz"), table_name("people.tsv")
    ('film companies', 'people')
    >>> table_name("pets.obo")
    ''
    """
    name = f"{source.name}.csv" if isinstance(source, Sheet) else source
    path = Path(name) if isinstance(name, str | Path) else Path()
    path = path.with_suffix("") if path.suffix in ZIPPED else path
    if path.suffix.lower() not in SUFFIXES:
        return ""
    words = spellings(path.stem.rpartition(".")[2].replace("-", " "))[-1]
    return words.rstrip("0123456789 ") or words


@dataclass
class Table:
    """A table that is read, and results of reading it.

    Attributes:
        name: Name of the table; see :func:`table_name`.
        others: Names of the other tables.
        negated: Whether negated rows are read; if false, all other rows are.
        declared: Declarations of a data package.
        join: Guessed keys of the table, if tables are joined.
        mappings: Given mappings; if none of them fits, a mapping is guessed.
        read_by: The mappings that were used.
        first_ids: Ids of the first rows, for a preview.
        first_triples: The first triples, for a preview.
        ids: Ids of the rows.
        own_labels: Whether the header names a column of labels.
        left_out: Reason for each column with values that are no links.
    """

    name: str = ""
    others: frozenset[str] = frozenset()
    negated: bool = False
    declared: Declared = field(default_factory=Declared)
    join: TableMapping | None = None
    mappings: tuple[TableMapping, ...] = ()
    read_by: list[TableMapping] = field(default_factory=list)
    first_ids: list[str] = field(default_factory=list)
    first_triples: list[tuple[str, str, str]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    own_labels: bool = False
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def is_of_others(self) -> bool:
        """Whether the rows describe rows of another table and have no labels."""
        return bool(self.join and self.join.rows_about)
