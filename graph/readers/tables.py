"""Triples in tables: TSV and CSV, with and without a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.readers.files import lines_of
from ontodex.graph.readers.problems import Problems

__all__ = ["freebase_words", "read_table", "rows_of", "triple_columns"]

HEAD = (
    "head",
    "h",
    "subject",
    "subj",
    "s",
    "source",
    "start",
    "from",
    "child",
    "head_id",
    "subject_id",
    "entity1",
    "node1",
)
RELATION = ("relation", "r", "predicate", "pred", "p", "rel", "edge", "relationship", "property", "relation_id", "type")
TAIL = ("tail", "t", "object", "obj", "o", "target", "end", "to", "parent", "tail_id", "object_id", "entity2", "node2")


def triple_columns(names: Sequence[str]) -> tuple[int, int, int] | None:
    """Return where head, relation and tail stand in a header, or ``None`` if it is no header.

    >>> triple_columns(["id", "subject", "predicate", "object"]), triple_columns(["ex:dog", "is_a", "ex:animal"])
    ((1, 2, 3), None)
    """
    folded = [str(name).strip().casefold() for name in names]
    found = [next((folded.index(name) for name in known if name in folded), -1) for known in (HEAD, RELATION, TAIL)]
    return None if -1 in found else (found[0], found[1], found[2])


def freebase_words(relation: str) -> str:
    """Return a Freebase relation in words, the narrow ones first (SimKGC's rule, Wang et al. 2022).

    >>> freebase_words("/people/person/nationality")
    'nationality person people'
    >>> freebase_words("/film/actor/film./film/performance/film")
    'performance actor film'
    """
    kept: list[str] = []
    for token in relation.replace("./", "/").replace("_", " ").strip().split("/"):
        if token.strip() and token not in kept[-3:]:
            kept.append(token)
    kept.reverse()
    return " ".join(token for at, token in enumerate(kept) if not at or token != kept[at - 1])


def rows_of(path: Path, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells) of every line that is not blank; the first line tells tabs from commas."""
    delimiter = ""
    for number, line in lines_of(path, problems):
        if not line or line.isspace():
            continue
        if not delimiter:
            delimiter = "\t" if "\t" in line else ","
        if delimiter == "," and '"' in line:
            try:
                yield number, next(csv.reader([line], strict=True))
            except csv.Error as error:
                problems.report(f"expected comma-separated cells, found {line[:60]!r} ({error})", number, str(path))
        else:
            yield number, line.split(delimiter)


def read_table(path: Path, builder: GraphBuilder, problems: Problems, split: str = "train") -> None:
    """Read head, relation and tail of every line; a header is known by its names, without one there are 3 columns.

    Args:
        path: A TSV or CSV file.
        builder: Takes the triples.
        problems: Takes lines that hold no triple.
        split: What the triples are for.
    """
    rows = rows_of(path, problems)
    columns: tuple[int, int, int] | None = None
    width = 3
    for first, (number, cells) in enumerate(rows):
        if first == 0 and (columns := triple_columns(cells)):
            width = len(cells)
            continue
        if len(cells) != width:
            found = f"{len(cells)}: {' | '.join(cells)[:80]!r}"
            problems.report(f"expected {width} columns, found {found}; mend or delete the line", number, str(path))
            continue
        if columns:
            cells = [cells[at] for at in columns]
        head, relation, tail = cells[0].strip(), cells[1].strip(), cells[2].strip()
        if head and relation and tail:
            builder.triple(head, relation, tail, split)
        else:
            problems.report("expected head, relation and tail, found an empty cell", number, str(path))
    for identifier in builder.relation_ids():
        if identifier.startswith("/"):
            builder.relation(identifier, freebase_words(identifier))
