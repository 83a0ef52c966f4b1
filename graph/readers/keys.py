"""What a table says of its keys: its own ids, and the columns that may name rows of other tables."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ontodex.graph.names import normalise, spellings
from ontodex.graph.readers.problems import Problems

__all__ = ["Table", "is_key", "table_name", "table_of"]

KEY = re.compile(r"(?:(.+) )?(?:ids?|codes?|keys?|refs?|references?|no|number|numbers)")
"""A name that says that the numbers of a column name rows, and perhaps of what."""

IRREGULAR = {"people": "person", "children": "child"}
ENDINGS = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("ss", "ss"), ("s", ""))


def table_name(source: Any) -> str:
    """Return what the rows of a table are, by the name of its file; nothing of what is no file.

    >>> table_name("db/Film_Companies.csv.gz"), table_name("people.tsv"), table_name(None)
    ('film company', 'person', '')
    """
    if not isinstance(source, str | Path):
        return ""
    name = normalise(Path(source).name.partition(".")[0].replace("-", " "))
    ending, singular = next(((old, new) for old, new in ENDINGS if name.endswith(old)), ("", ""))
    return IRREGULAR.get(name) or name.removesuffix(ending) + singular


def is_key(column: str) -> bool:
    """Tell whether the name of a column says that its numbers name rows.

    >>> is_key("manager_id"), is_key("rating")
    (True, False)
    """
    return any(map(KEY.fullmatch, spellings(column)))


def table_of(column: str, tables: Collection[str]) -> str:
    """Return which of the tables a column of keys is named after, or nothing.

    >>> table_of("production_company_id", ["film", "company"]), table_of("ceo_id", ["company"])
    ('company', '')
    """
    of = [found[1] for form in spellings(column) if (found := KEY.fullmatch(form)) and found[1]]
    return next((table for table in tables for name in of if f" {name}".endswith(f" {table}")), "")


@dataclass
class Table:
    """A table of entities among those that are read together, as far as its rows name rows of others.

    Attributes:
        name: What its rows are, see :func:`table_name`.
        others: What the rows of the other tables are.
        ids: Ids of its rows.
        by_number: Columns whose numbers are read as ids of its rows, and which may be those of another table's.
        left_out: (id, cell) of each cell of the columns that are taken for no relations, by the name of the column.
        prefix: What stands before its ids in the graph.
    """

    name: str = ""
    others: frozenset[str] = frozenset()
    ids: set[str] = field(default_factory=set)
    by_number: set[str] = field(default_factory=set)
    left_out: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    prefix: str = ""

    @property
    def is_counted(self) -> bool:
        """Whether most ids are whole numbers in a row, so that any small number is the id of some row."""
        numbers = [int(name) for name in self.ids if name.isascii() and name.isdigit() and str(int(name)) == name]
        return 2 * len(numbers) > max(len(self.ids), max(numbers, default=0) - min(numbers, default=0))

    def finish(self, problems: Problems) -> None:
        """Say which columns are left out."""
        if self.left_out:
            problems.remark(
                f"left out {', '.join(self.left_out)}: a column of numbers, dates, yes and no, or texts that few rows share "
                "is no relation; if one is, read the table of what it names too, or put it into a table of head, relation "
                "and tail, or, if its numbers are ids, let its name end in id"
            )
