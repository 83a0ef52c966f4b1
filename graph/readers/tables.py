"""Tables in TSV and CSV: triples, with and without a header, or entities with what is said of them."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.readers.entities import add_entities, entity_columns
from ontodex.graph.readers.files import lines_of
from ontodex.graph.readers.problems import Problems

__all__ = ["freebase_words", "read_table", "rows_of", "triple_columns"]

ENDS = (
    *(("head", "tail"), ("h", "t"), ("subject", "object"), ("subj", "obj"), ("s", "o"), ("source", "target")),
    *(("start", "end"), ("from", "to"), ("child", "parent"), ("head_id", "tail_id"), ("subject_id", "object_id")),
    *(("entity1", "entity2"), ("node1", "node2")),
)
"""Names of the columns of heads and of tails."""
RELATION = (
    "relation",
    "r",
    "predicate",
    "pred",
    "p",
    "rel",
    "edge",
    "relationship",
    "property",
    "type",
    "relation_id",
    "predicate_id",
)
LOOKED_AT = 20
"""Lines that tell what parts the cells of a table."""

LONGEST_CELL = 1000
"""Lines over which a quoted cell may run, beside its first."""

CONCEPTNET = "/r/"
"""How relations of ConceptNet begin, whose last part says it all; other paths are Freebase's."""

MARKS = ("\t", ",", ";")
"""What may part cells; of marks that as many lines have, the first."""


def triple_columns(names: Sequence[str]) -> tuple[int, int, int] | None:
    """Return where head, relation and tail stand in a header, or ``None`` if it is no header.

    A header that names an id and a label too is one of triples only if head and tail are named alike; something that has a
    label, a start and an end is an entity.

    >>> triple_columns(["id", "subject", "predicate", "object"]), triple_columns(["ex:dog", "is_a", "ex:animal"])
    ((1, 2, 3), None)
    """
    folded = [str(name).strip().casefold() for name in names]
    entities = entity_columns(names)
    is_entity = entities is not None and bool(entities.id and (entities.label or entities.definition))
    pairs = [pair for pair in ENDS if {*pair} <= {*folded} and not (is_entity and pair == ("start", "end"))]
    if not pairs and not is_entity:
        heads, tails = ([name for name in known if name in folded] for known in zip(*ENDS, strict=True))
        pairs = list(zip(heads[:1], tails[:1], strict=False))
    relation = next((folded.index(name) for name in RELATION if name in folded), None)
    return None if relation is None or not pairs else (folded.index(pairs[0][0]), relation, folded.index(pairs[0][1]))


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
    """Yield (line number, cells) of every line that is not blank, parted by tabs, commas or semicolons.

    The mark that most of the first lines have is the one; cells within quotes may hold it where it is no tab, and
    new lines. Quotes around a cell are no part of it.
    """
    filled = ((number, line) for number, line in lines_of(path, problems) if line and not line.isspace())
    first = list(islice(filled, LOOKED_AT))
    mark = max(MARKS, key=lambda mark: sum(mark in line for _, line in first))
    lines, again = chain(first, filled), list[tuple[int, str]]()
    while (found := again.pop(0) if again else next(lines, None)) is not None:
        number, line = found
        if mark != "\t" and '"' in line:
            cells, again = _quoted(line, mark, again, lines)
            if isinstance(cells, csv.Error):
                problems.report(f"expected cells parted by {mark!r}, found {line[:60]!r} ({cells})", number, str(path))
            else:
                yield number, cells
        else:
            cells = line.split(mark)
            yield number, [_unquoted(cell) for cell in cells] if '"' in line else cells


def _unquoted(cell: str) -> str:
    """Return what is in a quoted cell of a table with tabs; where quotes are part of a text, it stays."""
    inner = cell.strip()[1:-1]
    return inner.replace('""', '"') if cell.strip() == f'"{inner}"' and '"' not in inner.replace('""', "") else cell


def _quoted(
    line: str, mark: str, again: list[tuple[int, str]], lines: Iterator[tuple[int, str]]
) -> tuple[list[str] | csv.Error, list[tuple[int, str]]]:
    """Return the cells of a line, or why there are none, and the lines that were read ahead and are still to be read.

    A quoted cell may go on in the next lines, ``again`` before ``lines``.
    """
    taken: list[tuple[int, str]] = []

    def text() -> Iterator[str]:
        yield f"{line}\n"
        for found in islice(chain(again, lines), LONGEST_CELL):
            taken.append(found)
            yield f"{found[1]}\n"

    try:
        return next(csv.reader(text(), delimiter=mark, strict=True)), again[len(taken) :]
    except csv.Error as error:
        return error, taken + again[len(taken) :]


def read_table(path: Path, builder: GraphBuilder, problems: Problems, split: str = "train") -> None:
    """Read head, relation and tail of every line; a header is known by its names, without one there are 3 columns.

    Where the header names entities instead (``id``, ``label``, ``parent``, …), each line is one of them; see
    :func:`ontodex.graph.readers.entities.add_entities`.

    Args:
        path: A TSV or CSV file.
        builder: Takes the triples, or the entities and their links.
        problems: Takes lines that hold none.
        split: What the triples are for.
    """
    columns: tuple[int, int, int] | None = None
    width, begun = 3, False
    rows, again = rows_of(path, problems), list[tuple[int, list[str]]]()
    while found := again.pop() if again else next(rows, None):
        number, cells = found
        if not begun and (columns := triple_columns(cells)):
            width, begun = len(cells), True
            continue
        if not begun and (named := entity_columns(cells)):
            again = list(islice(rows, 1))
            below = again[0][1] if again else []
            if not any(cell == other and cell.strip() for cell, other in zip(cells, below, strict=False)):
                add_entities(named, chain(again, rows), builder, lambda what, at: problems.report(what, at, str(path)))
                return
        if len(cells) != width:
            remedy = "" if begun else "name head, relation and tail in a header, or id, label and parent, or "
            message = f"expected {width} columns, found {len(cells)}: {' | '.join(cells)[:80]!r}"
            problems.report(f"{message}; {remedy}mend or delete the line", number, str(path))
            continue
        begun = True
        if columns:
            cells = [cells[at] for at in columns]
        head, relation, tail = (cell.strip().replace("\n", " ") for cell in cells)
        if head and relation and tail:
            builder.triple(head, relation, tail, split)
        else:
            problems.report("expected head, relation and tail, found an empty cell", number, str(path))
    for identifier in builder.relation_ids():
        if identifier.startswith("/") and not identifier.startswith(CONCEPTNET):
            builder.relation(identifier, freebase_words(identifier))
