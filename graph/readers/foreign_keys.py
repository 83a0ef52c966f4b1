"""Tables that are read together: ids that stand for different things, and columns of keys of other tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.columns import TextColumn
from ontodex.graph.edit import merge
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.names import NameKind, normalise
from ontodex.graph.readers.keys import Table, is_key, table_of
from ontodex.graph.readers.problems import Problems

__all__ = ["Part", "keep_apart", "with_foreign_keys"]


class Part(NamedTuple):
    """One of the sources that are read together."""

    graph: KnowledgeGraph
    problems: Problems
    table: Table


def keep_apart(parts: Sequence[Part]) -> list[Part]:
    """Return the parts; where tables have the same numbers for different things, their ids begin with the table's name.

    Numbers in a row are such ids if most of those that two tables share have different labels. Which of the tables the other
    numbers mean is told by the names of their columns alone. A warning says so, and where tables have no names of their own,
    as data frames, that their rows are taken for the same things.
    """
    found: dict[int, Part] = {}
    example = ""
    for one, other in combinations([part for part in parts if part.table.is_counted], 2):
        theirs = dict(zip(other.graph.ids, other.graph.labels, strict=True))
        shared = [
            (name, label, theirs[name])
            for name, label in zip(one.graph.ids, one.graph.labels, strict=True)
            if name in one.table.ids and name in other.table.ids
        ]
        different = [
            f"{name} is {label!r} and {their!r}"
            for name, label, their in shared
            if normalise(label) != normalise(their)
        ]
        if 2 * len(different) > len(shared):
            found.update({id(one): one, id(other): other})
            example = example or different[0]
    if not found:
        return list(parts)
    clashing, problems = list(found.values()), next(iter(found.values())).problems
    sources = ", ".join(part.graph.source for part in clashing)
    what = f"the ids of {sources} are the same numbers of different things ({example})"
    names = {part.table.name for part in clashing}
    if len(names) < len(clashing) or "" in names:
        problems.remark(f"{what}, which are read as one; give the ids of each a beginning of its own")
        return list(parts)
    for part in clashing:
        part.table.prefix = f"{part.table.name}:"
    unclear = sorted({column for part in clashing for column in part.table.by_number})
    advice = f"; left out {', '.join(unclear)}: let the name end in that of the table that is meant (…_{min(names)}_id)"
    problems.remark(
        f"{what}; they are read as {', '.join(f'{name}:…' for name in sorted(names))}{advice if unclear else ''}"
    )
    return [part._replace(graph=_prefixed(part)) if part.table.prefix else part for part in parts]


def _prefixed(part: Part) -> KnowledgeGraph:
    """Return the graph of a part with the name of its table before its ids, and without the links of unclear numbers."""
    graph, table = part.graph, part.table
    unclear = [number for number, name in enumerate(graph.relation_ids) if name in table.by_number]
    keep = ~np.isin(graph.relations, unclear)
    return replace(
        graph,
        ids=TextColumn.of(table.prefix + name if name in table.ids else name for name in graph.ids),
        heads=graph.heads[keep],
        relations=graph.relations[keep],
        tails=graph.tails[keep],
    )


def with_foreign_keys(graph: KnowledgeGraph, parts: Iterable[Part]) -> KnowledgeGraph:
    """Return the graph of all parts with the links of the columns that name rows of other tables.

    A column left out of its table is one if most of its cells are the id, or the label, of one entity of the graph; numbers
    are looked for only if its name says that they are keys, and first in the table that it is named after.
    """
    prefixes = {part.table.name: part.table.prefix for part in parts}
    for part in parts:
        found = GraphBuilder(part.graph.source)
        for column, links in list(part.table.left_out.items()):
            before = prefixes.get(table_of(column, part.table.others), "")
            named = {cell: _named(graph, cell, before, is_key(column)) for cell in {cell for _, cell in links}}
            if 2 * sum(bool(named[cell]) for _, cell in links) > len(links):
                del part.table.left_out[column]
                for head, cell in links:
                    if tail := named[cell]:
                        found.triple(part.table.prefix + head, column, tail)
        if found.relation_ids():
            graph = replace(merge(graph, found.build()), source=graph.source)
    return graph


def _named(graph: KnowledgeGraph, cell: str, before: str, as_key: bool) -> str:
    """Return the id of the one entity that a cell names, or nothing."""
    number = cell.removesuffix(".0")
    if number.isdigit() and not as_key:
        return ""
    for name in dict.fromkeys((before + number, cell)):
        rows, kind = graph.find_all(name) or ([], NameKind.SYNONYM)
        if len(rows) == 1 and kind in (NameKind.ID, NameKind.LABEL):
            return graph.ids[rows[0]]
    return ""
