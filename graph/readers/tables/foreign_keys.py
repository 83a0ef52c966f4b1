"""Tables that are read together: ids that stand for different things, and columns of keys of other tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ontodex.graph.builder import GraphBuilder, own_name
from ontodex.graph.columns import TextColumn
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.merging import merge
from ontodex.graph.names import normalise
from ontodex.graph.readers.problems import Problems
from ontodex.graph.readers.tables.keys import Table, table_of

__all__ = ["Part", "keep_apart", "with_foreign_keys"]


TOLD, SAMPLE = 0.9, 1000
"""A column names rows if so many of its cells do; those looked at first."""


class Part(NamedTuple):
    """One of the sources that are read together."""

    graph: KnowledgeGraph
    problems: Problems
    table: Table


def keep_apart(parts: Sequence[Part]) -> list[Part]:
    """Return the parts; where tables of a database have the same numbers for different things, these are told apart.

    They are if the ids of tables are numbers in a row, most that two of them have bear different labels, and a column of
    keys in one of these tables is named after another. Then the ids begin with the name of the table. A warning says so,
    or, without such a column, that they are read as one.
    """
    tables = [part for part in parts if part.table.own_labels and part.table.is_counted]
    clashes = [(one, other, example) for one, other in combinations(tables, 2) if (example := _clash(one, other))]
    if not clashes:
        return list(parts)
    one, other, example = clashes[0]
    ends = {id(part) for pair in clashes for part in pair[:2]}
    apart = [part for part in parts if id(part) in ends]
    what = f"ids of {one.graph.source} and {other.graph.source} are the same numbers with other labels ({example})"
    if not _is_database([part.table for part in apart]):
        one.problems.remark(
            f"{what}, and are read as one; if they are not, give the ids of each a beginning of its own"
        )
        return list(parts)
    for part in apart:
        part.table.prefix = f"{part.table.name.replace(' ', '_')}:"
    unclear = [column for part in apart for column in _unclear(part.table, [other.table for other in apart])]
    left_out = f"; left out {', '.join(unclear)}, as its numbers may be of any of them: name it as x_{{table}}_id"
    named = ", ".join(f"{part.table.prefix}…" for part in apart)
    one.problems.remark(f"{what}, and are read as {named}{left_out if unclear else ''}")
    return [part._replace(graph=_prefixed(part, unclear)) if part.table.prefix else part for part in parts]


def _clash(one: Part, other: Part) -> str:
    """Return an example of different labels, if most ids that two tables share have different ones."""
    shared = one.table.ids & other.table.ids
    labels = [
        {name: label for name, label in zip(part.graph.ids, part.graph.labels, strict=True) if name in shared}
        for part in (one, other)
    ]
    told = [name for name in sorted(shared) if all(of[name] != own_name(name) for of in labels)]
    different = [name for name in told if normalise(labels[0][name]) != normalise(labels[1][name])]
    if not different or 2 * len(different) <= len(told):
        return ""
    return f"{different[0]} is {labels[0][different[0]]!r} and {labels[1][different[0]]!r}"


def _is_database(tables: Sequence[Table]) -> bool:
    """Tell whether a column of keys in one of the tables is named after another, and each has a name of its own."""
    names = {table.name for table in tables}
    return len(names) == len(tables) and any(table.named & names for table in tables)


def _unclear(table: Table, apart: Sequence[Table]) -> list[str]:
    """Return the columns whose numbers may be ids of its own rows, or of another table's."""
    others = [other.ids for other in apart if other is not table]
    return [column for column, numbers in table.by_number.items() if any(numbers <= ids for ids in others)]


def _prefixed(part: Part, unclear: Collection[str]) -> KnowledgeGraph:
    """Return the graph of a part with the name of its table before its ids, and without the links of unclear numbers."""
    graph, table = part.graph, part.table
    dropped = [number for number, name in enumerate(graph.relation_ids) if name in unclear]
    keep = ~np.isin(graph.relations, dropped)
    return replace(
        graph,
        ids=TextColumn.of(table.prefix + name if name in table.ids else name for name in graph.ids),
        heads=graph.heads[keep],
        relations=graph.relations[keep],
        tails=graph.tails[keep],
    )


def with_foreign_keys(graph: KnowledgeGraph, parts: Sequence[Part]) -> KnowledgeGraph:
    """Return the graph of all parts with the links of the columns that name rows of other tables.

    A column left out of its table is one if nine of ten of its cells are the id, or the label, of one entity; numbers are
    looked for only in the table that it is named after, and so is whatever a column holds that is named after one.
    """
    if not any(part.table.left_out for part in parts):
        return graph
    tables = {part.table.name: part.table for part in parts if part.table.name}
    names: dict[str, str | None] = {}
    for identifier, label in zip(graph.ids, graph.labels, strict=True):
        names[label] = None if label in names else identifier
    names.update((identifier, identifier) for identifier in graph.ids)
    for part in parts:
        found = GraphBuilder(part.graph.source)
        for column, links in list(part.table.left_out.items()):
            table = tables.get(table_of(column, part.table.others))
            cells = list(dict.fromkeys(cell for _, cell in links))
            named = {cell: _named(cell, table, names) for cell in cells[:SAMPLE]}
            if TOLD * len(named) <= sum(map(bool, named.values())):
                named.update((cell, _named(cell, table, names)) for cell in cells[SAMPLE:])
            if links and TOLD * len(links) <= sum(bool(named.get(cell)) for _, cell in links):
                del part.table.left_out[column]
                for head, cell in links:
                    if tail := named[cell]:
                        found.triple(part.table.prefix + head, column, tail)
        if found.relation_ids():
            graph = replace(merge(graph, found.build()), source=graph.source)
    return graph


def _named(cell: str, table: Table | None, names: Mapping[str, str | None]) -> str | None:
    """Return the id of the one entity that a cell names, if it does: of a table, if that is known."""
    if table is not None:
        key = cell if cell in table.ids else cell.removesuffix(".0")
        return table.prefix + key if key in table.ids else None
    return None if cell.replace(".", "", 1).isdigit() else names.get(cell)
