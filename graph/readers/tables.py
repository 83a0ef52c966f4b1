"""Tables in TSV and CSV: triples, with and without a header, or entities with what is said of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.graph.readers.entities import add_entities
from ontodex.graph.readers.entity_columns import EntityColumns, entity_columns, one_line, spelt
from ontodex.graph.readers.keys import Table
from ontodex.graph.readers.negation import Negation, left_out, negation_in
from ontodex.graph.readers.path_files import are_paths, read_paths
from ontodex.graph.readers.problems import Problems
from ontodex.graph.readers.rows import Rows, rows_of
from ontodex.graph.readers.sssom import SssomHeader, sssom_header
from ontodex.graph.readers.vocabulary import PROPOSED, TOOL

__all__ = [
    "Reviewed",
    "TripleColumns",
    "freebase_words",
    "names_ends",
    "no_relation",
    "own_columns",
    "read_table",
    "triple_columns",
]

STEMS = (
    *(("head", "tail"), ("h", "t"), ("subject", "object"), ("subj", "obj"), ("s", "o"), ("source", "target")),
    *(("start", "end"), ("from", "to"), ("child", "parent"), ("entity1", "entity2"), ("node1", "node2")),
)
ENDS = (
    *STEMS,
    *((f"{head} id", f"{tail} id") for head, tail in (*STEMS, (":start", ":end"))),
    *((f"{head} {kind}", f"{tail} {kind}") for kind in ("label", "name") for head, tail in STEMS),
    *((f"x {name}", f"y {name}") for name in ("index", "id", "name")),
)
"""Names of the columns of heads and of tails."""

RELATION = (
    *("relation", "r", "predicate", "pred", "p", "rel", "edge", "relationship", "property", "type", "relation id"),
    *("predicate id", "relation type", "edge type", "metaedge", "interaction", ":type"),
)
VALUES = ("value", "value id", "value label")
"""Names of a column of tails beside one of ids and one of relations."""

CLEAR_RELATION = ("relation", "predicate", "pred", "rel", "edge", "relationship", "property")
"""Names of a column of relations that say so beside one of ids."""

LOOKED_AT = 20
"""Rows in which a header must not recur, where it has only one of the names."""

ABOVE = 1000
"""Lines that may stand above a header."""

CONCEPTNET = "/r/"
"""How relations of ConceptNet begin, whose last part says it all; other paths are Freebase's."""

HEADER = "name head, relation and tail in a header, or id, label and parent"
UNNAMED = f"{HEADER}, or read lines that are sentences by --format sentences, or paths by --format paths, or "
IF_OTHERWISE = f"if the first line is a header or the columns are something else, {HEADER}"

FEW = 3
"""Triples from which on they tell whether the first line is one of them."""


class TripleColumns(NamedTuple):
    """Where head, relation and tail stand in a table, their labels, and what negates or justifies a triple (SSSOM's)."""

    head: int = 0
    relation: int = 1
    tail: int = 2
    labels: tuple[int | None, int | None, int | None] = (None, None, None)
    negation: Negation | None = None
    justification: int | None = None
    tool: int | None = None

    def add(self, cells: Sequence[str], builder: GraphBuilder, split: str = "train") -> bool:
        """Add the triple of a row and its labels; return whether no cell is empty."""
        head, relation, tail = (one_line(cells[at]) for at in self[:3])
        if not (head and relation and tail):
            return False
        builder.triple(head, relation, tail, split)
        self.add_ends(cells, builder)
        if self.labels[1] is not None:
            builder.relation(relation, label=cells[self.labels[1]])
        return True

    def add_ends(self, cells: Sequence[str], builder: GraphBuilder) -> None:
        """Add head and tail with their labels, where there are any."""
        for end, at in ((self.head, self.labels[0]), (self.tail, self.labels[2])):
            if at is not None:
                builder.entity(one_line(cells[end]), label=cells[at], synonyms=[cells[at]])


def triple_columns(names: Sequence[str]) -> TripleColumns | None:
    """Return where head, relation and tail stand in a header, or ``None`` if it is no header.

    A header that names an id and a label too is one of triples only if head and tail are named alike; something that has a
    label, a start and an end is an entity. Without a label, an id is a head where a relation and a tail stand beside it.

    >>> triple_columns(["id", "subject", "predicate", "object"])[:3], triple_columns(["ex:dog", "is_a", "ex:animal"])
    ((1, 2, 3), None)
    >>> triple_columns(["id", "relation", "target_label"])[:3], triple_columns(["id", "name", "relation", "target_label"])
    ((0, 1, 2), None)
    """
    places = _places(names)
    entities = entity_columns(names)
    if entities is not None and entities.id and (of_an_id := _of_an_id(places, entities)):
        return of_an_id
    is_entity = entities is not None and bool(entities.id and (entities.label or entities.definition))
    pairs = [pair for pair in ENDS if {*pair} <= {*places} and not (is_entity and pair == ("start", "end"))]
    if not pairs and not is_entity:
        heads, tails = ([name for name in known if name in places] for known in zip(*ENDS, strict=True))
        pairs = list(zip(heads[:1], tails[:1], strict=False))
    relation = next((name for name in RELATION if name in places), None)
    if relation is None or not pairs:
        return None
    found = (pairs[0][0], relation, pairs[0][1])
    head, middle, tail = (places[name] for name in found)
    labels = [next((places[label] for label in _labels_of(name) if label in places), None) for name in found]
    return TripleColumns(
        head,
        middle,
        tail,
        (labels[0], labels[1], labels[2]),
        negation_in(spelt(names)),
        places.get("mapping justification"),
        places.get("mapping tool"),
    )


def _of_an_id(places: Mapping[str, int], entities: EntityColumns) -> TripleColumns | None:
    """Return where the triples of a table are whose heads are in a column of ids, if nothing else is said of these."""
    told = {*entities.id, *(entities.label if entities.guess else ())}
    relation = next((name for name in CLEAR_RELATION if name in places), None)
    tails = [name for _, tail in STEMS for name in (tail, f"{tail} id", f"{tail} label", f"{tail} name")]
    tail = next((name for name in (*tails, *VALUES) if name in places), None)
    heads = {head for head, _ in ENDS}.intersection(places)
    if (
        heads
        or relation is None
        or tail is None
        or entities.width != 3
        or entities.width - len(entities.others) > len(told)
    ):
        return None
    return TripleColumns(entities.id[0], places[relation], places[tail])


def own_columns(names: Sequence[str]) -> EntityColumns | None:
    """Return what a header says of entities, or ``None`` if it says nothing, or names the two ends of links.

    >>> own_columns(["subject_id", "subject_label", "object_id", "verdict"]), own_columns(["id", "label"]).id
    (None, (0,))
    """
    return None if {"subject id", "object id"} <= _places(names).keys() else entity_columns(names)


def names_ends(names: Sequence[str]) -> bool:
    """Tell whether a header names heads and tails."""
    return any({*pair} <= {*_places(names)} for pair in ENDS)


def no_relation(names: Sequence[str]) -> str:
    """Return what is said of a header that names heads and tails alone."""
    return (
        f"expected a relation beside both ends, found {', '.join(map(str, names))[:80]}; add a column named relation, which "
        "may say the same in every row, or name the columns child and parent; of an audit, give the table in SSSOM"
    )


def _places(names: Sequence[str]) -> dict[str, int]:
    """Return the first column of each name, as a header spells it, without a group of ids in brackets (Neo4j's)."""
    forms = spelt([str(name).partition("(")[0] for name in names])
    return {name: at for at, form in reversed([*enumerate(forms)]) for name in form}


def _labels_of(name: str) -> list[str]:
    stem = re.sub(" (?:id|index)$", "", name)
    return [label for label in (f"{stem} label", f"{stem} name") if label != name]


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


def _header_of(rows: Rows) -> tuple[list[str], Rows, Rows]:
    """Return the header of a table, the rows above it and those below; without a header, no names and no rows above."""
    above: list[tuple[int, list[str]]] = []
    for number, cells in rows:
        if triple_columns(cells):
            return cells, iter(above), rows
        columns = entity_columns(cells)
        if columns or names_ends(cells):
            below = [*islice(rows, LOOKED_AT if columns and columns.told < 2 else 1)]
            rows = chain(below, rows)
            pairs = [pair for _, others in below for pair in zip(cells, others, strict=False)]
            if not any(cell == other and cell.strip() for cell, other in pairs):
                return cells, iter(above), rows
        above.append((number, cells))
        if len(above) > ABOVE or (len(cells) == 3 and not cells[0].startswith("#")):
            break
    return [], iter(()), chain(above, rows)


class _Unnamed:
    """Triples without a header, and what speaks against them."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._is_alone = True
        self._count = 0
        self._relations: set[str] = set()

    def take(self, cells: list[str]) -> None:
        self._is_alone = self._is_alone and not {*cells} & {*self._first}
        self._first = self._first or cells
        self._count += 1
        self._relations.add(cells[1])

    def warn(self, problems: Problems) -> None:
        if self._count > FEW and len(self._relations) >= 3 / 4 * self._count:
            problems.remark(f"found {len(self._relations)} relations in {self._count} triples; {IF_OTHERWISE}")
        elif self._count >= FEW and self._is_alone:
            found = " | ".join(self._first)[:80]
            problems.remark(f"the first line, {found!r}, has nothing in common with the others; {IF_OTHERWISE}")


class Reviewed:
    """Lines of a table that are no facts: what it says not to hold, and in SSSOM what ontodex proposed.

    Args:
        columns: Where what stands.
        header: What stands above them; ``None`` where nothing can.
        negated: Whether what does not hold is wanted, in place of what does.
    """

    def __init__(self, columns: TripleColumns, header: SssomHeader | None, *, negated: bool) -> None:
        self._columns, self._header, self._negated = columns, header, negated
        self._proposed = self._denied = self._headless = 0

    def keeps(self, cells: list[str], builder: GraphBuilder) -> bool:
        """Tell whether a line is a fact; ids that ontodex wrote are read as they were, in place."""
        columns, header = self._columns, self._header or SssomHeader()
        is_ours = header.is_ours or (columns.tool is not None and cells[columns.tool].strip() == TOOL)
        if is_ours:
            self._headless += self._header is not None and not header.is_ours
            for at in (columns.head, columns.relation, columns.tail):
                cells[at] = header.own_id(one_line(cells[at]))
        if is_ours and columns.justification is not None and cells[columns.justification].strip() == PROPOSED:
            self._proposed += 1
            for at in (columns.head, columns.tail):
                builder.entity(cells[at])
            return False
        wanted = columns.negation is None or columns.negation.denies(cells) == self._negated
        self._denied += not (wanted or self._negated)
        return wanted

    def warn(self, problems: Problems) -> None:
        """Say what was left out."""
        if self._proposed:
            problems.remark(
                f"left out {self._proposed} line(s) that ontodex proposed and nobody confirmed; to have one read, change "
                "its mapping_justification, as to semapv:ManualMappingCuration"
            )
        if self._denied:
            problems.remark(left_out(self._denied))
        if self._headless:
            problems.remark(
                "the lines above the header, which begin with #, are gone, and with them the prefixes of ids"
            )


class _Misfits:
    """Lines that are not as wide as the table: faults, but for comments above it."""

    def __init__(self, path: Path, problems: Problems, width: int) -> None:
        self.problems, self.source, self.width = problems, str(path), width
        self.begun = False
        self._hint = UNNAMED

    def report(self, number: int, cells: Sequence[str]) -> None:
        if self.begun or not cells[0].startswith("#"):
            found = f"expected {self.width} columns, found {len(cells)}: {' | '.join(cells)[:80]!r}"
            self.problems.report(
                f"{found}; {'' if self.begun else self._hint}mend or delete the line", number, self.source
            )
            self._hint = ""


def read_table(
    path: Path, builder: GraphBuilder, problems: Problems, table: Table, split: str = "train", *, negated: bool = False
) -> None:
    """Read head, relation and tail of every line; a header is known by its names, without one there are 3 columns.

    Without one, a first line that shares nothing with the others, or nearly as many relations as lines, make a warning.
    Where the header names entities instead (``id``, ``label``, ``parent``, …), each line is one of them; see
    :func:`ontodex.graph.readers.entities.add_entities`; where lines are paths of categories, see
    :func:`ontodex.graph.readers.path_files.read_paths`. Lines above the table that start with # are comments, or SSSOM's
    metadata, of which the prefixes are read. What an audit proposed in SSSOM is no fact, unless its justification is another
    now.

    Args:
        path: A TSV or CSV file.
        builder: Takes the triples, or the entities and their links.
        problems: Takes lines that hold none.
        table: Takes what a table of entities says of its keys.
        split: What the triples are for.
        negated: Read what the table says not to hold, in place of what holds.

    Raises:
        ReadError: If the header names heads and tails and no relation.
    """
    names, above, rows = _header_of(rows_of(path, problems))
    columns, entities = triple_columns(names), own_columns(names)
    first = [] if names else [*islice(rows, LOOKED_AT)]
    if are_paths([cells for _, cells in first if not cells[0].startswith("#")]):
        read_paths(path, builder, problems, table)
        return
    rows = chain(first, rows)
    misfits = _Misfits(path, problems, len(names) or 3)
    comments = list(above)
    for number, cells in comments:
        misfits.report(number, cells)
    misfits.begun = bool(names)
    if not names or columns:
        header = sssom_header(cells[0] for _, cells in comments)
        builder.prefixes.update(header.prefixes)
        _read_triples(columns or TripleColumns(), header, rows, builder, misfits, split, negated)
    elif entities:
        add_entities(
            entities,
            rows,
            builder,
            table,
            lambda what, at: problems.report(what, at, str(path)),
            problems.remark,
            negated=negated,
        )
    else:
        raise ReadError(no_relation(names), str(path))


def _read_triples(
    columns: TripleColumns,
    header: SssomHeader,
    rows: Rows,
    builder: GraphBuilder,
    misfits: _Misfits,
    split: str,
    negated: bool,
) -> None:
    unnamed, reviewed, problems = _Unnamed(), Reviewed(columns, header, negated=negated), misfits.problems
    is_named = misfits.begun
    for number, cells in rows:
        if len(cells) != misfits.width:
            misfits.report(number, cells)
            continue
        misfits.begun = True
        if reviewed.keeps(cells, builder) and not columns.add(cells, builder, split):
            problems.report("expected head, relation and tail, found an empty cell", number, misfits.source)
        elif not is_named and split == "train":
            unnamed.take(cells)
    unnamed.warn(problems)
    reviewed.warn(problems)
    for identifier in builder.relation_ids():
        if identifier.startswith("/") and not identifier.startswith(CONCEPTNET):
            builder.relation(identifier, freebase_words(identifier))
