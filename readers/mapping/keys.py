"""Recognising key columns by their names."""

from __future__ import annotations

import re
from collections.abc import Collection

from ontodex.graph.builder import readable
from ontodex.graph.names import normalise, spellings

__all__ = ["are_counted", "is_key", "relation_label", "table_of"]

KEY = re.compile(r"(?:(.+) )?(?:ids?|codes?|keys?|refs?|references?)")
"""A name of a key column: its numbers name rows."""

OF_ANOTHER = re.compile(r"(.+) (?:ids?|keys?|refs?|references?)")
"""A name of a foreign key column that contains the name of the other table: "company id"."""

PLURALS = (("s", ""), ("es", ""), ("ies", "y"))
IRREGULAR = {"people": "person", "children": "child"}


def is_key(column: str) -> bool:
    """Return whether a column has the name of a key.

    >>> is_key("manager_id"), is_key("rating")
    (True, False)
    """
    return any(map(KEY.fullmatch, spellings(column)))


def table_of(column: str, tables: Collection[str]) -> str:
    """Return the table that the name of a key column refers to best, or an empty string.

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
    """Return the label of the relation for a column, without "id" or the like at its end.

    If another column has the shorter name, the ending is kept.

    >>> relation_label("ProductID"), relation_label("mother_id", ["mother"])
    ('Product', 'mother id')
    >>> relation_label("genre")
    'genre'
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
    """Return whether most of some distinct names are consecutive whole numbers.

    There may be gaps: at least half of the numbers in the range must occur.

    >>> are_counted({"1", "2", "4"}), are_counted({"01", "02"}), are_counted({"100", "200"})
    (True, False, False)
    """
    numbers = [
        int(name) for name in names if name.isascii() and name.isdigit() and str(int(name)) == name
    ]
    return 2 * len(numbers) > max(len(names), max(numbers, default=0) - min(numbers, default=0))
