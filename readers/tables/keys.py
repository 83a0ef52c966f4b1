"""What a table says of its keys: its own ids, and the columns that may name rows of other tables."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ontodex.graph.builder import readable
from ontodex.graph.names import normalise, spellings
from ontodex.readers.files import ZIPPED
from ontodex.readers.tables.workbooks import Sheet

__all__ = ["Table", "are_counted", "is_key", "relation_label", "table_name", "table_of"]

SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".json", ".jsonl", ".ndjson")

KEY = re.compile(r"(?:(.+) )?(?:ids?|codes?|keys?|refs?|references?)")
"""A name that says that the numbers of a column name rows."""

OF_ANOTHER = re.compile(r"(.+) (?:ids?|keys?|refs?|references?)")
"""A name that says of which table the rows are that the cells of a column name."""

PLURALS = (("s", ""), ("es", ""), ("ies", "y"))
IRREGULAR = {"people": "person", "children": "child"}


def table_name(source: Any) -> str:
    """Return what a table is called, by the name of file or sheet, without dates and numbers; nothing of what is no table.

    >>> table_name("db/public.FilmCompanies_2024.csv.gz"), table_name("people.tsv"), table_name("pets.obo")
    ('film companies', 'people', '')
    """
    name = f"{source.name}.csv" if isinstance(source, Sheet) else source
    path = Path(name) if isinstance(name, str | Path) else Path()
    path = path.with_suffix("") if path.suffix in ZIPPED else path
    if path.suffix.lower() not in SUFFIXES:
        return ""
    words = spellings(path.stem.rpartition(".")[2].replace("-", " "))[-1]
    return words.rstrip("0123456789 ") or words


def is_key(column: str) -> bool:
    """Tell whether the name of a column says that its numbers name rows.

    >>> is_key("manager_id"), is_key("rating")
    (True, False)
    """
    return any(map(KEY.fullmatch, spellings(column)))


def table_of(column: str, tables: Collection[str]) -> str:
    """Return which of the tables a column of keys is named after, the most telling one, or nothing.

    >>> table_of("production_company_id", ["films", "companies"]), table_of("ceo_id", ["movies"])
    ('companies', '')
    """
    of = [f" {found[1]}" for form in spellings(column) if (found := OF_ANOTHER.fullmatch(form))]
    named = [
        table
        for table in tables
        if any(one.endswith(f" {form}") for form in _singulars(table) for one in of)
    ]
    return max(named, key=lambda table: (len(table), table), default="")


def relation_label(column: str, others: Collection[str] = ()) -> str:
    """Return what the relation of a column of keys is called: what they name, if no other column is called so.

    >>> relation_label("ProductID"), relation_label("mother_id", ["mother"]), relation_label("genre")
    ('Product', 'mother id', 'genre')
    """
    label = readable(column)
    named = label.rpartition(" ")[0] if OF_ANOTHER.fullmatch(normalise(label)) else ""
    return (
        label
        if not named or normalise(named) in {spellings(other)[-1] for other in others}
        else named
    )


def _singulars(name: str) -> list[str]:
    forms = [name, IRREGULAR.get(name, name)]
    return forms + [
        name.removesuffix(plural) + single for plural, single in PLURALS if name.endswith(plural)
    ]


def are_counted(names: Collection[str]) -> bool:
    """Tell whether most of some different names are whole numbers in a row.

    >>> are_counted({"1", "2", "4"}), are_counted({"01", "02"}), are_counted({"100", "200"})
    (True, False, False)
    """
    numbers = [
        int(name) for name in names if name.isascii() and name.isdigit() and str(int(name)) == name
    ]
    return 2 * len(numbers) > max(len(names), max(numbers, default=0) - min(numbers, default=0))


@dataclass
class Table:
    """A table of entities among those that are read together, as far as its rows name rows of others.

    Attributes:
        name: See :func:`table_name`.
        others: Names of the other tables.
        is_alone: Whether nothing else is read with it.
        ids: Ids of its rows.
        own_labels: Whether its rows have labels in a column that is named as one of labels.
        left_out: (id, cell) of each cell of the columns that are taken for no relations, by the name of the column; none
            of those that cannot name rows of another table.
        is_of_others: Whether its rows say something of those of another table, so that no column holds labels of theirs.
    """

    name: str = ""
    others: frozenset[str] = frozenset()
    is_alone: bool = True
    ids: set[str] = field(default_factory=set)
    own_labels: bool = False
    left_out: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    is_of_others: bool = False

    @property
    def is_counted(self) -> bool:
        """Whether its ids are, so that any small number is the id of some row."""
        return are_counted(self.ids)
