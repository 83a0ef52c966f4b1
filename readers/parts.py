"""Warnings of sources that are read together: ids that clash, and columns that are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

from ontodex.graph.builder import own_name
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.names import normalise
from ontodex.readers.mapping.keys import are_counted
from ontodex.readers.problems import INSPECT, Problems
from ontodex.readers.tables.table import Table

__all__ = ["Part", "warn_of_clashes", "warn_of_columns"]

MOST_NAMED = 20
"""Maximal number of columns of a table that a warning names."""


class Part(NamedTuple):
    """The graph that a piece was read into, with the problems and the table of the piece."""

    graph: KnowledgeGraph
    problems: Problems
    table: Table


def warn_of_clashes(parts: Sequence[Part]) -> None:
    """Warn if two tables share numeric ids, most of which have a different label in each."""
    tables = [part for part in parts if part.table.own_labels and are_counted(part.table.ids)]
    clashes = ((one, other, _clash(one, other)) for one, other in combinations(tables, 2))
    for one, other, example in islice((clash for clash in clashes if clash[2]), 1):
        one.problems.remark(
            f"ids of {one.graph.source} and {other.graph.source} are the same numbers with "
            f"other labels ({example}), and are read as one; to keep them apart, give id_prefix in "
            "a mapping"
        )


def _clash(one: Part, other: Part) -> str:
    """Return an example of an id with two labels if most shared ids have two; otherwise ``""``."""
    shared = one.table.ids & other.table.ids
    labels = [
        {
            name: label
            for name, label in zip(part.graph.ids, part.graph.labels, strict=True)
            if name in shared
        }
        for part in (one, other)
    ]
    told = [name for name in sorted(shared) if all(of[name] != own_name(name) for of in labels)]
    different = [name for name in told if normalise(labels[0][name]) != normalise(labels[1][name])]
    if not different or 2 * len(different) <= len(told):
        return ""
    return f"{different[0]} is {labels[0][different[0]]!r} and {labels[1][different[0]]!r}"


def warn_of_columns(parts: Sequence[Part]) -> None:
    """Warn of the columns of tables that are left out, with the reasons."""
    told = [part for part in parts if part.table.left_out]
    count = Counter(part.table.name for part in told)
    names = [
        part.table.name if count[part.table.name] == 1 else Path(part.graph.source).name
        for part in told
    ]
    named = [
        f"{_columns(part)} of {name}" if len(told) > 1 else _columns(part)
        for part, name in zip(told, names, strict=True)
    ]
    if told:
        told[0].problems.remark(f"left out {'; '.join(named)}: {INSPECT}")


def _columns(part: Part) -> str:
    """Return the first :data:`MOST_NAMED` of the left-out columns, grouped by reason."""
    by_reason: dict[str, list[str]] = {}
    for column, why in islice(part.table.left_out.items(), MOST_NAMED):
        by_reason.setdefault(why, []).append(column)
    named = ", ".join(f"{', '.join(columns)} ({why})" for why, columns in by_reason.items())
    more = len(part.table.left_out) - MOST_NAMED
    return f"{named}{f' and {more} more' if more > 0 else ''}"
