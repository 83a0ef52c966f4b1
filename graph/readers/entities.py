"""Entities in tables: one to a row, what is said of it in columns that a header names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.knowledge_graph import HIERARCHY_NAMES
from ontodex.graph.names import normalise, spellings
from ontodex.graph.prefixes import WELL_KNOWN

__all__ = ["ID", "EntityColumns", "add_entities", "add_entity", "entity_columns", "spelt"]

ID = (
    *("id", "identifier", "mid", "entity", "entity id", "curie", "iri", "uri", "code", "notation", "class id"),
    *("concept id", "concept uri", "child id", "sku"),
)
LABEL = ("label", "name", "preferred label", "preflabel", "wikidata label")
LABEL_ALONE = ("title", "term", "concept", "child")
"""Names of a column of labels where there is no better one."""

KINDS = ("class", "category")
"""Names of a column of labels where no other column stands before it; after one, what they hold is said of that."""

SYNONYMS = (
    *("synonyms", "synonym", "lemmas", "aliases", "alias", "alternative labels", "alternative label", "altlabel"),
    *("altlabels", "alt label", "alt labels", "also known as", "aka", "exact synonyms", "exact synonym"),
)
DEFINITION = ("definition", "definitions", "gloss", "description", "first sentence", "comment", "wikidata description")
FORMER = ("former ids", "former id", "alt ids", "alt id", "alternative ids", "alternative id", "replaces")
PARENT = (
    *("parent", "parents", "parent ids", *(f"parent {name}" for name in (*ID, *LABEL, *LABEL_ALONE, *KINDS))),
    *("superclass", "super class", "broader uri", "type of", *sorted(HIERARCHY_NAMES)),
)

OF_A_PARENT = re.compile(r"parent (.+) (?:id|code|name|label)")
"""A name that tells what the entities of a table are, and so what need not stand in the other names."""

NO_VALUES = frozenset(("true", "false", "yes", "no", "y", "n"))
"""Cells that say whether something holds, and of what nothing is told by it."""

NOTHING = frozenset(("na", "n/a", "none", "null", "nan", "nil", "-", "--", "–", "—", "?"))
"""Cells of names and links that say that there is none."""

NO_PARENT = frozenset(("0", "0.0", "owl:thing", f"{WELL_KNOWN['owl']}Thing".casefold()))
"""Cells of parents that say so too."""

HEADS = ("id", "identifier", "curie", "iri", "uri", "sku", "label", "name", "preferred label", "preflabel")
"""Names that in the first column tell a header by themselves."""

OF_ITS_KIND = re.compile(r"(.+) (?:id|code|number|name|label|title)")
"""A name of a column of ids or labels that tells what the entities are: "Product Name"."""

OBSOLETE = ("obsolete", "is obsolete", "deprecated", "is deprecated")
TRUE = frozenset(("true", "yes", "y", "1"))

SHARED = 2 / 3
"""A column is a relation if it has at most this many values for each filled cell: rows share them."""

APART, LONGEST = 0.9, 60
"""A column may hold the labels of a table that names none if so many of its rows have one and so many differ, no longer than
this in the mean."""

LETTER = re.compile(r"[^\W\d_]")

NUMBER = re.compile(r"[-+]?(?:0|[1-9]\d*)(?:[.,]\d+)?")

OF_IDS = re.compile(r"(?:.+ )?(?:ids?|codes?|keys?|refs?|references?|no|number|numbers)")
"""A name that says that the numbers of a column name rows."""

Report = Callable[[str, int], None]
"""Takes what is wrong with a row, and its number."""


@dataclass(frozen=True)
class EntityColumns:
    """Where a header has what is said of entities; positions, the first the most telling.

    Attributes:
        width: Number of columns.
        id: Identifiers; where there are none, labels identify.
        label: Labels; all but the first are synonyms, and so are other ones of an id that is repeated.
        synonyms: Synonyms, parted by ``|``, ``;`` or new lines.
        definition: Definitions.
        former: Former ids, parted likewise.
        parents: What is more general, by id or label, parted likewise.
        obsolete: Whether the entity is obsolete, and so left out.
        others: All other columns, and their names.
    """

    width: int
    id: tuple[int, ...]
    label: tuple[int, ...]
    synonyms: tuple[int, ...]
    definition: tuple[int, ...]
    former: tuple[int, ...]
    parents: tuple[int, ...]
    obsolete: tuple[int, ...]
    others: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, names: Sequence[str]) -> EntityColumns:
        """Find the columns by the names of a header."""
        plain = spelt(names)
        ids, labels, synonyms, definitions, former, parents, obsolete = (
            tuple(place for name in known for place, other in enumerate(plain) if name in other)
            for known in (ID, (*LABEL, *LABEL_ALONE), SYNONYMS, DEFINITION, FORMER, PARENT, OBSOLETE)
        )
        ids = ids or _of_its_kind(plain, ("id", "code", "number"))
        said = {*ids, *labels, *synonyms, *definitions, *former, *parents, *obsolete}
        labels = (
            tuple(at for at in labels if plain[at] == plain[labels[0]] or not {*plain[at]} & {*LABEL_ALONE})
            or _of_its_kind(
                [() if at in said - {*ids} else form for at, form in enumerate(plain)], ("name", "label", "title")
            )
            or tuple(
                at for at in range(len(plain)) if at not in said and {*plain[at]} & {*KINDS} and {*range(at)} <= said
            )
        )
        taken = {*ids, *labels, *synonyms, *definitions, *former, *parents, *obsolete}
        rest = tuple((place, str(name).strip()) for place, name in enumerate(names) if place not in taken)
        return cls(len(names), ids, labels, synonyms, definitions, former, parents, obsolete, rest)

    @property
    def told(self) -> int:
        """How many columns have a name that is one of an entity's."""
        return self.width - sum(normalise(name) not in (*LABEL_ALONE, *KINDS) for _, name in self.others)

    def labels(self, cells: Sequence[str]) -> list[str]:
        """Return the labels in a row."""
        return [cells[at] for at in self.label if cells[at].strip()]

    def names(self, places: Sequence[int], cells: Sequence[str], *, exact: bool = False) -> list[str]:
        """Return the names in some columns of a row; ``exact``: parted by ``|`` alone, and no word stands for none."""
        parts = [part for at in places for part in _parts(cells[at], "|" if exact else "|;\n")]
        return [part for part in parts if exact or part.casefold() not in NOTHING]


def spelt(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the spellings of the names in a header, without a mark of comments, and without what all are of.

    >>> spelt(["#catId", "cat_name", "parent_cat_id"])
    [('catid', 'id'), ('name',), ('parent id',)]
    """
    forms = [spellings(str(name).strip().lstrip("#")) for name in names]
    of = next((found[1] for form in forms if (found := OF_A_PARENT.fullmatch(form[-1]))), " ")
    return [tuple(name.replace(f"{of} ", "") for name in form) for form in forms]


def entity_columns(names: Sequence[str]) -> EntityColumns | None:
    """Return what a header says, or ``None`` if it names no entities, or nothing of them.

    >>> columns = entity_columns(["ID", "Label", "Parent_ID", "food"])
    >>> columns.id, columns.label, columns.parents, columns.others
    ((0,), (1,), (2,), ((3, 'food'),))
    >>> entity_columns(["dog", "is_a", "animal"])
    """
    columns = EntityColumns.of(names)
    return columns if (columns.id or columns.label) and (columns.told > 1 or {*spelt(names)[0]} & {*HEADS}) else None


def _of_its_kind(names: Sequence[tuple[str, ...]], kinds: Sequence[str]) -> tuple[int, ...]:
    """Return the one column whose name ends as one of the kinds, if the entities of all such columns are the same."""
    found = [(at, form) for at, name in enumerate(names) for form in name[-1:] if OF_ITS_KIND.fullmatch(form)]
    if len({form.rpartition(" ")[0] for _, form in found}) != 1:
        return ()
    return tuple(at for at, form in found if form.rpartition(" ")[2] in kinds)[:1]


def add_entity(columns: EntityColumns, cells: Sequence[str], builder: GraphBuilder, *, exact: bool = False) -> str:
    """Add what a row says of its entity, links apart; return its id, or nothing where the row has neither id nor label.

    Args:
        columns: What the header says.
        cells: The row, as wide as the header.
        builder: Takes the entity.
        exact: How synonyms are read, see :meth:`EntityColumns.names`.
    """
    named = (cells[at].strip().replace("\n", " ") for at in columns.id or columns.label)
    identifier = next(filter(None, named), "")
    if identifier:
        labels = columns.labels(cells)
        builder.entity(
            identifier,
            label=next(iter(labels), ""),
            synonyms=columns.names(columns.synonyms, cells, exact=exact) + labels,
            definition=next((cells[at] for at in columns.definition if cells[at].strip()), ""),
        )
    return identifier


def add_entities(
    columns: EntityColumns,
    rows: Iterable[tuple[int, Sequence[str]]],
    builder: GraphBuilder,
    report: Report,
    remark: Callable[[str], None],
) -> None:
    """Add the entities of a table, and their links.

    A parent is an entity by its id, by its label, or by its label in any case; what names no row is an entity of this name,
    but for 0 and ``owl:Thing``. Any other column is a relation if most of its cells name rows, or if rows share its values
    (``habitat``, say); numbers, dates and remarks are left out, and so are rows that are marked as obsolete. Where ids are
    numbers in a row, a number names a row only in a column whose name says so (``manager_id``). Where no column is named as
    one of labels, the first of short texts that differ is taken for it.

    Args:
        columns: What the header says.
        rows: (number, cells) of every row.
        builder: Takes them.
        report: Takes rows that hold no entity.
        remark: Takes what is to be said of columns that are left out.
    """
    if not columns.label:
        rows = list(rows)
        columns = _labelled([cells for _, cells in rows if len(cells) == columns.width], columns, remark)
    named: list[tuple[str, Sequence[str]]] = []
    found = _Found()
    for number, cells in rows:
        fits = len(cells) == columns.width
        if fits and any(cells[at].strip().casefold() in TRUE for at in columns.obsolete):
            continue
        identifier = add_entity(columns, cells, builder) if fits else ""
        if not identifier:
            what = f"{len(cells)}: {' | '.join(cells)[:60]!r}"
            report(f"expected {columns.width} columns and an id or label, found {what}", number)
            continue
        found.add(identifier, next(iter(columns.labels(cells)), identifier))
        named.append((identifier, cells))
    builder.replace({name: identifier for identifier, cells in named for name in columns.names(columns.former, cells)})
    parents, others = [(at, "is_a") for at in columns.parents], [(at, name) for at, name in columns.others if name]
    left_out = []
    for at, relation in parents + others:
        links = [(identifier, part) for identifier, cells in named for part in found.parts(cells[at])]
        nothing = NOTHING | NO_PARENT if at in columns.parents else NOTHING
        links = [(identifier, part) for identifier, part in links if found.row(part) or part.casefold() not in nothing]
        if at in columns.parents or _is_relation([part for _, part in links], found.rows_by(relation)):
            for identifier, part in links:
                builder.triple(identifier, relation, found.row(part) or part)
        elif links:
            left_out.append(relation)
    if left_out:
        remark(
            f"left out {', '.join(left_out)}: a column of numbers, dates, yes and no, or texts that few rows share is no "
            "relation; if one is, put it into a table of head, relation and tail, or, if its numbers are ids, let its name "
            "end in id"
        )


class _Found:
    """The entities of a table, to be found by id, by label, or by label in any case."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._by_label: dict[str, str] = {}
        self._by_spelling: dict[str, str] = {}

    def add(self, identifier: str, label: str) -> None:
        self._ids.add(identifier)
        self._by_label.setdefault(label.strip(), identifier)
        self._by_spelling.setdefault(normalise(label), identifier)

    def row(self, part: str) -> str | None:
        """Return the id that a part of a cell names; numbers of columns with gaps are written 1.0 for 1."""
        whole = part.removesuffix(".0")
        found = part if part in self._ids else self._by_label.get(part) or self._by_spelling.get(normalise(part))
        return found or (whole if whole in self._ids else None)

    def parts(self, cell: str) -> list[str]:
        """Return the parts of a cell that names no row; commas part it only where every part is an entity of the table."""
        if self.row(cell.strip()):
            return [cell.strip()]
        parts = _parts(cell)
        finer = [part.strip() for part in cell.split(",")]
        return finer if len(parts) == 1 and not self.row(parts[0]) and all(map(self.row, finer)) else parts

    def rows_by(self, relation: str) -> Callable[[str], str | None]:
        """Return what finds the row that a part names, where numbers are read as ids only if they can be meant so."""
        if not self._are_counted or any(OF_IDS.fullmatch(form) for form in spellings(relation)):
            return self.row
        return lambda part: None if NUMBER.fullmatch(part) else self.row(part)

    @cached_property
    def _are_counted(self) -> bool:
        """Whether most ids are whole numbers in a row, so that any small number is the id of some row."""
        numbers = [int(name) for name in self._ids if name.isascii() and name.isdigit() and str(int(name)) == name]
        return 2 * len(numbers) > max(len(self._ids), max(numbers, default=0) - min(numbers, default=0))


def _labelled(rows: Sequence[Sequence[str]], columns: EntityColumns, remark: Callable[[str], None]) -> EntityColumns:
    """Return the columns with the one that holds labels, if one does though it is not named so."""
    ids = {cells[at].strip() for cells in rows for at in columns.id}
    for at, name in columns.others:
        filled = [cell for cells in rows if (cell := cells[at].strip())]
        words = sum(bool(LETTER.search(cell)) and cell not in ids for cell in filled)
        if (
            rows
            and min(words, len(set(filled))) >= APART * len(rows)
            and sum(map(len, filled)) <= LONGEST * len(filled)
        ):
            remark(f"took {name} for the labels, as no column is named label or name; name the one that is")
            return replace(columns, label=(at,), others=tuple(other for other in columns.others if other[0] != at))
    return columns


def _parts(cell: str, marks: str = "|;\n") -> list[str]:
    return [part.strip() for part in re.split(f"[{marks}]", cell) if part.strip()]


def _is_relation(cells: Sequence[str], row: Callable[[str], str | None]) -> bool:
    """Tell whether most cells of a column name rows of the table, or whether rows share its values."""
    values = Counter(cells)
    if 2 * sum(count for part, count in values.items() if row(part)) > len(cells):
        return True
    words = sum(count for part, count in values.items() if LETTER.search(part))
    is_said = {part.casefold() for part in values} <= NO_VALUES
    return not is_said and 2 * words > len(cells) and len(values) <= SHARED * len(cells)
