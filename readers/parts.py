"""Sources that are read together: ids that clash, and columns that name entities of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

from ontodex.graph.builder import GraphBuilder, own_name
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.merging import merge
from ontodex.graph.names import ids_by_name, normalise
from ontodex.readers.mapping.keys import are_counted, relation_label
from ontodex.readers.problems import INSPECT, Problems
from ontodex.readers.tables.mapping import RelationColumn
from ontodex.readers.tables.table import Table

__all__ = ["Part", "warn_of_clashes", "warn_of_columns", "with_named"]


TOLD, SAMPLE = 0.9, 1000
"""Minimal share of cells that must name entities; number of cells that are tried first."""


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
    for column, of in islice(part.table.left_out.items(), MOST_NAMED):
        by_reason.setdefault(of.why, []).append(column)
    named = ", ".join(f"{', '.join(columns)} ({why})" for why, columns in by_reason.items())
    more = len(part.table.left_out) - MOST_NAMED
    return f"{named}{f' and {more} more' if more > 0 else ''}"


def with_named(
    graph: KnowledgeGraph, parts: Sequence[Part], known: KnowledgeGraph | None = None
) -> KnowledgeGraph:
    """Add links from columns whose cells name entities of other parts.

    An ignored column becomes a relation if nine of ten cells are the id, label or synonym of
    exactly one entity; ids go before labels, and labels before synonyms. The mapping is changed
    accordingly. Cells that are numbers are not matched, because joins of tables are determined
    before tables are read.

    Args:
        graph: The merged graph of all parts.
        parts: The parts that were merged.
        known: A further graph whose entities may be named.

    Returns:
        The graph with these links.
    """
    if not any(part.table.left_out or part.table.known_only for part in parts):
        return graph
    names = _names_of(known) | _names_of(graph) if known is not None else _names_of(graph)
    for part in parts:
        found = GraphBuilder(part.graph.source)
        for column, (_, links) in list(part.table.left_out.items()):
            cells = list(dict.fromkeys(cell for _, cell in links))
            named = {cell: _named(cell, names) for cell in cells[:SAMPLE]}
            if TOLD * len(named) <= sum(map(bool, named.values())):
                named.update((cell, _named(cell, names)) for cell in cells[SAMPLE:])
            if links and TOLD * len(links) <= sum(bool(named.get(cell)) for _, cell in links):
                del part.table.left_out[column]
                part.table.known_only[column] = links
                _read_known_only(part.table, column)
        for column, links in part.table.known_only.items():
            for head, cell in links:
                if tail := _named(cell, names):
                    found.relation(column, relation_label(column))
                    found.triple(head, column, tail)
        if found.relation_ids():
            graph = replace(merge(graph, found.build()), source=graph.source)
    return graph


def _names_of(graph: KnowledgeGraph) -> dict[str, str | None]:
    """Return entity ids by id, label or synonym; ``None`` for ambiguous names."""
    names = ids_by_name(zip(graph.labels, graph.ids, strict=True))
    names.update((identifier, identifier) for identifier in graph.ids)
    owners = (graph.ids[row] for row in graph.synonyms.owners.tolist())
    return ids_by_name(zip(graph.synonyms.strings, owners, strict=True)) | names


def _read_known_only(table: Table, column: str) -> None:
    """Change the mapping of a table to read an ignored column as a relation to known entities."""
    for number, mapping in enumerate(table.read_by):
        if column in mapping.ignored:
            ignored = {name: why for name, why in mapping.ignored.items() if name != column}
            relation = RelationColumn(label=relation_label(column), known_only=True)
            table.read_by[number] = replace(
                mapping, ignored=ignored, relations={**mapping.relations, column: relation}
            )


def _named(cell: str, names: Mapping[str, str | None]) -> str | None:
    """Return the id of the entity that a cell names; ``None`` for a number or an ambiguous name."""
    return None if cell.replace(".", "", 1).isdigit() else names.get(cell)
