"""Inspection of sources: how each table was or would be read, and warnings of what is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

from ontodex.graph.builder import own_name
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.names import normalise
from ontodex.readers.mapping.headers import are_counted
from ontodex.readers.problems import INSPECT, Problems
from ontodex.readers.tables.mapping import TableMapping, mappings_text
from ontodex.readers.tables.table import Table

__all__ = ["Inspection", "Part", "inspected", "warn_of_clashes", "warn_of_columns"]

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
        f"{_left_out(part)} of {name}" if len(told) > 1 else _left_out(part)
        for part, name in zip(told, names, strict=True)
    ]
    if told:
        told[0].problems.remark(f"left out {'; '.join(named)}: {INSPECT}")


def _left_out(part: Part) -> str:
    """Return the first :data:`MOST_NAMED` of the left-out columns, grouped by reason."""
    by_reason: dict[str, list[str]] = {}
    for column, why in islice(part.table.left_out.items(), MOST_NAMED):
        by_reason.setdefault(why, []).append(column)
    named = ", ".join(f"{', '.join(columns)} ({why})" for why, columns in by_reason.items())
    more = len(part.table.left_out) - MOST_NAMED
    return f"{named}{f' and {more} more' if more > 0 else ''}"


# Inspection ---------------------------------------------------------------------------------------


FIELDS = {
    "head": "head",
    "relation": "relation",
    "tail": "tail",
    "id": "id",
    "label": "label",
    "label_parts": "part of the label",
    "synonyms": "synonyms",
    "definition": "definition",
    "alternative_ids": "alternative ids",
    "parent": "parent",
    "path": "path of the row",
    "levels": "level of a hierarchy",
    "code": "code that begins with that of the parent",
    "justification": "justification (SSSOM)",
    "tool": "tool (SSSOM)",
    "obsolete": "marks obsolete rows",
}
"""Description of a column's role, by the field of the mapping that names the column."""

LONGEST = 60
"""Maximal number of letters of a text in a preview."""

LINKS = 5
"""Maximal number of links of an entity in a preview."""


@dataclass(frozen=True)
class InspectedTable:
    """A table, and how it would be read.

    Attributes:
        source: The file, sheet or list.
        mapping: What the columns hold.
        columns: For each column, what it is read as, or why it is left out.
        samples: The first rows as they would be read, one text per row.
    """

    source: str
    mapping: TableMapping
    columns: dict[str, str]
    samples: tuple[str, ...]

    def __str__(self) -> str:
        kind = "triples" if self.mapping.are_triples else "entities"
        width = max(map(len, self.columns), default=0)
        lines = [f"{self.source}: {kind}"]
        if self.mapping.rows_about:
            lines.append(f"  rows say something of rows of {self.mapping.rows_about}")
        if self.mapping.id_prefix:
            lines.append(f"  ids begin with {self.mapping.id_prefix}")
        lines += [f"  {name:<{width}}  {becomes}" for name, becomes in self.columns.items()]
        lines += ["  for example:", *(f"    {sample}" for sample in self.samples)]
        return "\n".join(lines if self.samples else lines[:-1])


@dataclass(frozen=True)
class Inspection:
    """How sources would be read.

    Attributes:
        graph: The graph that the sources are read into.
        tables: The tables of the sources.
        remarks: The warnings while reading: what was guessed, and what is left out.
    """

    graph: KnowledgeGraph
    tables: tuple[InspectedTable, ...]
    remarks: tuple[str, ...]

    @property
    def mappings(self) -> tuple[TableMapping, ...]:
        """The mappings of the tables."""
        return tuple(table.mapping for table in self.tables)

    def write(self, path: str | Path) -> None:
        """Write the mappings as YAML, to be edited and given to :func:`ontodex.read`."""
        Path(path).write_text(mappings_text(self.mappings), "utf-8")

    def __str__(self) -> str:
        graph = self.graph
        counts = (
            f"{graph.n_entities:,} entities, {graph.n_relations:,} relations, "
            f"{graph.n_triples:,} triples"
        )
        others = ["no tables: the format says what everything is"] if not self.tables else []
        return "\n\n".join([*map(str, self.tables), *others, f"{graph.source}: {counts}"])


def inspected(graph: KnowledgeGraph, parts: Sequence[Part], remarks: Sequence[str]) -> Inspection:
    """Return an inspection of sources that have been read.

    Args:
        graph: The graph of all parts.
        parts: The parts.
        remarks: The warnings that were given.
    """
    tables = [
        InspectedTable(
            part.graph.source, mapping, dict(_columns(mapping)), tuple(_samples(part, mapping))
        )
        for part in parts
        for mapping in part.table.read_by
    ]
    return Inspection(graph, tuple(tables), tuple(remarks))


def _columns(mapping: TableMapping) -> Iterator[tuple[str, str]]:
    """Yield each column, and what it is read as or why it is left out."""
    becomes = {
        column: what
        for field, what in FIELDS.items()
        for column in _several(getattr(mapping, field))
    }
    becomes |= {label: f"label of {column}" for column, label in mapping.labels_of.items()}
    for column, of in mapping.relations.items():
        relation = f"relation {of.relation}" if of.relation else "relation"
        by = "" if of.by in ("any", "id", "nothing") else f", names rows by {of.by}"
        others = "; other values are alternative ids" if column in mapping.alternative_ids else ""
        becomes[column] = f"{relation}{by}{others}"
    for column, words in mapping.negation.items():
        denies = f"denies its row ({', '.join(words)})"
        becomes[column] = f"{becomes[column]}; {denies}" if column in becomes else denies
    for column, what in becomes.items():
        notes = [what]
        if column in mapping.keys:
            notes.append("key of {} ({})".format(*mapping.keys[column]))
        if column in mapping.paths:
            notes.append(f"separated by {mapping.paths[column]!r}")
        if column in mapping.separators:
            notes.append(f"values separated by {mapping.separators[column]!r}")
        becomes[column] = "; ".join(notes)
    becomes |= {column: f"left out: {why}" for column, why in mapping.ignored.items()}
    order = [*mapping.columns, *(name for name in becomes if name not in mapping.columns)]
    yield from ((name, becomes.get(name, "left out")) for name in order)


def _several(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (value,) if value else ()


def _samples(part: Part, mapping: TableMapping) -> Iterator[str]:
    """Yield the first rows of a table as they were read."""
    graph = part.graph
    for head, relation, tail in part.table.first_triples if mapping.are_triples else ():
        yield f"{_short(head)} | {_short(relation)} | {_short(tail)}"
    for identifier in () if mapping.are_triples else part.table.first_ids:
        rows = graph.find(identifier)
        if not rows:
            continue
        row = rows[0]
        names = f" ({', '.join(graph.synonyms[row][:3])})" if graph.synonyms[row] else ""
        relations, tails = graph.outgoing(row)
        links = [
            f"{graph.relation_labels[relation]} {_short(graph.labels[tail])}"
            for relation, tail in zip(
                relations.tolist()[:LINKS], tails.tolist()[:LINKS], strict=True
            )
        ]
        said = f": {'; '.join(links)}" if links else ""
        yield f"{_short(graph.ids[row])} {_short(graph.labels[row])}{names}{said}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
