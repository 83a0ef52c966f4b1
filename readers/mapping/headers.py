"""Finding keys, and the columns of a table of entities, by the names in a header."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import chain
from types import MappingProxyType
from typing import Any

import yaml

from ontodex.graph.builder import readable
from ontodex.graph.hierarchy_names import UPWARD
from ontodex.graph.names import normalise, spellings
from ontodex.readers.tables.mapping import TableMapping, column_names

__all__ = [
    "ID",
    "LABEL",
    "LABEL_ALONE",
    "NAMES",
    "PARENT",
    "EntityHeader",
    "are_counted",
    "entity_header",
    "is_key",
    "may_be_parent",
    "negation_in",
    "relation_label",
    "spelt",
    "table_of",
]

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


# Columns of a header ------------------------------------------------------------------------------


NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        key: tuple(of)
        for key, of in yaml.safe_load(
            (files(__package__) / "names.yaml").read_text("utf-8")
        ).items()
    }
)
"""Names of columns by what they hold; see ``names.yaml``."""

ID, LABEL, LABEL_ALONE, KINDS = (NAMES[key] for key in ("id", "label", "label_alone", "kinds"))
PARENT = (
    *NAMES["parent"][:3],
    *(f"parent {name}" for name in (*ID, *LABEL, *LABEL_ALONE, *KINDS)),
    *NAMES["parent"][3:],
    *sorted(UPWARD),
)

OF_A_PARENT = re.compile(r"parent (.+) (?:id|code|name|label)")
"""A name that contains the kind of the entities ("parent skill id")."""

PARENT_OF_KIND = (("parent ", ""), ("broader ", ""), ("", " parent"))
"""Words (before, after) around the kind of the entities in the name of a parent column."""

OF_ITS_KIND = re.compile(r"(.+) (?:id|code|number|name|label|title)")
"""A name of a column of ids or labels that contains the kind of the entities: "Product Name"."""

ID_OF = re.compile(r"(.+) (?:id|code|key|no|number)")
"""A name of a column of ids that contains the kind of their entities: "product id"."""

OWN = (*NAMES["whole_name"], "first", "last", "family", "given")
"""First words of names such as "full name", which mean a name of the row's own entity."""

KINDS_OF_NAMES = "|".join(
    (
        *NAMES["whole_name"],
        *["native", "original", "latin", "inverted", "alias", "former", "prev", "previous"],
    )
)
FURTHER_NAME = re.compile(
    f"(?:{KINDS_OF_NAMES}) (?:name|symbol)s?|(?:name|symbol)s? (?:{KINDS_OF_NAMES})"
    "|symbols?|abbreviations?|acronyms?"
)
"""A name of a column that has synonyms if another column has labels."""

JOINED = re.compile(r"(?<=\w)[.-](?=\w)")
"""Characters that join the words of a name like a space."""

TYPED = re.compile(
    r"(\w*):(ID|string|int|long|float|double|boolean|byte|short|char|date|datetime|point)"
    r"(?:\[\])?(?:\(.*\))?"
)
"""A name with a type, as in files for import to Neo4j: ``movieId:ID(Movie)``, ``year:int``."""

LEVEL = re.compile(r"(?:(.+) )?(level|tier|lvl|l) ?(\d)(?: (category|name|label|title|term))?")
"""A name of a level column, optionally with its kind ("product level 1", "L1 category")."""

LEVELS_OF = "category"
"""Default kind of levels."""

FIELDS = {
    "id": ID,
    "label": (*LABEL, *LABEL_ALONE),
    "synonyms": NAMES["synonyms"],
    "definition": NAMES["definition"],
    "alternative_ids": NAMES["alternative_ids"],
    "parent": PARENT,
    "obsolete": NAMES["obsolete"],
}
"""Names of the columns of each field of a mapping."""

YES = ("true", "t", "yes", "y", "1", "not")


@dataclass(frozen=True)
class EntityHeader:
    """What the names in a header say of a table of entities.

    Attributes:
        mapping: The columns whose names say what they hold.
        names: Name in the header of each column.
        others: The columns that are not in the mapping.
        keys: Columns of keys; the rows decide which one is the id.
    """

    mapping: TableMapping
    names: Mapping[str, str]
    others: tuple[str, ...]
    keys: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: Sequence[str]) -> EntityHeader:
        """Find the columns by the names in a header."""
        plain, value_labels = _with_labels(spelt(names))
        found = {
            field: tuple(at for name in known for at, forms in enumerate(plain) if name in forms)
            for field, known in FIELDS.items()
        }
        ids, labels = found["id"], found["label"]
        full_name = () if any({*plain[at]} & {*LABEL} for at in labels) else _full_name(plain)
        labels = () if full_name else labels
        is_named = bool(labels or full_name)
        pair = () if ids or is_named else _paired(plain)
        ids = ids or pair[:1] or _of_its_kind(plain, ("id", "code", "number"))
        keys = _keys(plain) if is_named and not ids and ID_OF.fullmatch(plain[0][-1]) else ()
        found |= {"id": ids, "label": labels, "label_parts": full_name}
        said = {*chain.from_iterable(found.values())}
        if not is_named:
            others = [() if at in said.difference(ids) else form for at, form in enumerate(plain)]
            labels = pair[1:] or _of_its_kind(others, ("name", "label", "title"))
            is_own = labels and (pair or labels[0] - 1 in ids or _is_own(plain[labels[0]]))
            if ids and not is_own:
                labels = ()
            if not labels and (found["parent"] or not ids):
                labels = _kind(plain, said)
        found["label"] = tuple(
            at
            for at in labels
            if plain[at] == plain[labels[0]] or not {*plain[at]} & {*LABEL_ALONE}
        )
        if labels:
            further = [at for at in _further_names(plain) if at not in {*said, *labels}]
            found["synonyms"] += tuple(further)
        levels, level_of = level_columns(names)
        found |= {"id": ids or keys[:1], "levels": levels}
        taken = {*chain.from_iterable(found.values()), *value_labels.values()}
        rest = [at for at in range(len(names)) if at not in taken]
        negation = negation_in([form if at in rest else () for at, form in enumerate(plain)])
        columns = column_names(names)
        fields: dict[str, Any] = {
            field: tuple(columns[at] for at in places) for field, places in found.items()
        }
        mapping = TableMapping(
            columns=tuple(columns),
            **fields,
            level_of=level_of,
            labels_of={columns[at]: columns[label] for at, label in value_labels.items()},
            negation={columns[negation[0]]: negation[1]} if negation else {},
        )
        called_so = dict(zip(columns, (str(name).strip() for name in names), strict=True))
        unnamed, of_keys = (tuple(columns[at] for at in places) for places in (rest, keys))
        return cls(mapping, called_so, unnamed, of_keys)

    @classmethod
    def of_others(cls, names: Sequence[str]) -> EntityHeader:
        """Find the columns if rows describe rows of another table and have no labels."""
        header = cls.of(names)
        mapping = header.mapping
        said = (*mapping.label, *mapping.label_parts, *mapping.definition)
        others = header.in_order((*header.others, *said))
        mapping = replace(mapping, label=(), label_parts=(), definition=())
        return replace(header, mapping=mapping, others=others)

    def in_order(self, columns: Collection[str]) -> tuple[str, ...]:
        """Return some columns in the order of the table."""
        return tuple(one for one in self.mapping.columns if one in columns)

    def cells(self, rows: Iterable[Sequence[str]], column: str) -> list[str]:
        """Return the cells of a column."""
        at = self.mapping.columns.index(column)
        return [cells[at] for cells in rows]

    def identified(self, column: str) -> EntityHeader:
        """Return the header with a column as the id; other possible ids become others."""
        mapping = self.mapping
        further = [one for one in mapping.id if one != column] if column in mapping.id else []
        others = {*self.others, *self.keys, *mapping.id}.difference((column, *further))
        mapping = replace(
            mapping,
            id=(column, *further),
            label=tuple(one for one in mapping.label if one != column),
            label_parts=() if column in mapping.label_parts else mapping.label_parts,
            parent=tuple(one for one in mapping.parent if one != column),
        )
        return replace(self, mapping=mapping, others=self.in_order(others), keys=())

    def labelled(self, column: str) -> EntityHeader:
        """Return the header with another label column; columns of further names are synonyms."""
        others = [one for one in self.others if one != column]
        further = _further_names(spelt([self.names[one] for one in others]))
        synonyms = (*self.mapping.synonyms, *(others[at] for at in further))
        mapping = replace(self.mapping, label=(column,), synonyms=synonyms)
        return replace(
            self, mapping=mapping, others=tuple(one for one in others if one not in synonyms)
        )

    @property
    def told(self) -> int:
        """Number of columns with a known name."""
        others = [normalise(self.names[one]) for one in self.others]
        return len(self.names) - sum(name not in (*LABEL_ALONE, *KINDS) for name in others)

    @property
    def are_labelled(self) -> bool:
        """Whether there are columns of labels."""
        return bool(self.mapping.label or self.mapping.label_parts)


def _further_names(names: Sequence[tuple[str, ...]]) -> list[int]:
    """Return the columns that have synonyms if another column has labels."""
    return [at for at, forms in enumerate(names) if any(map(FURTHER_NAME.fullmatch, forms))]


def spelt(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the spellings of the names in a header, without comment mark and common prefix.

    A name that is only the kind of the entities ("Skill") becomes ``label``.

    >>> spelt(["CWE-ID", "owner.name"])
    [('cwe id',), ('owner name',)]
    >>> spelt(["movieId:ID(Movie)", "name:string"])
    [('id',), ('name',)]
    >>> spelt(["#catId", "cat_name", "parent_cat_id"])
    [('catid', 'id'), ('name',), ('parent id',)]
    >>> spelt(["Skill", "Parent skill", "description"])
    [('label',), ('parent',), ('description',)]
    """
    forms = [spellings(JOINED.sub(" ", _untyped(str(name).strip().lstrip("#")))) for name in names]
    of = next((found[1] for form in forms if (found := OF_A_PARENT.fullmatch(form[-1]))), " ")
    there = {form[-1] for form in forms}
    parents = {f"{before}{name}{after}": name for name in there for before, after in PARENT_OF_KIND}
    kinds = {of, *(parents[name] for name in there.intersection(parents))}.difference(
        ID, LABEL, LABEL_ALONE, KINDS
    )
    said = {name: "label" for name in kinds if not ID_OF.fullmatch(name)}
    said.update({name: "parent" for name, kind in parents.items() if kind in said})
    return [
        (said[form[-1]],)
        if form[-1] in said
        else tuple(name.replace(f"{of} ", "") for name in form)
        for form in forms
    ]


def may_be_parent(column: str) -> bool:
    """Return whether a column is named like a parent, of entities of whatever kind.

    >>> may_be_parent("Parent skill"), may_be_parent("super-skill"), may_be_parent("parents")
    (True, True, False)
    """
    words = (*PARENT_OF_KIND, ("super ", ""))
    return any(
        form.startswith(before) and form.endswith(after)
        for form in spelt([column])[0]
        for before, after in words
    )


def _untyped(name: str) -> str:
    """Return a name without its Neo4j type; the type ID is the name of an id column."""
    found = TYPED.fullmatch(name)
    if not found:
        return name
    return found[2] if found[2] == "ID" else found[1]


def entity_header(names: Sequence[str]) -> EntityHeader | None:
    """Return what a header says of entities, or ``None`` if it is not a header of entities.

    >>> header = entity_header(["ID", "Label", "Parent_ID", "food"])
    >>> header.mapping.id, header.mapping.label, header.mapping.parent, header.others
    (('ID',), ('Label',), ('Parent_ID',), ('food',))
    >>> entity_header(["dog", "is_a", "animal"])
    """
    header = EntityHeader.of(names)
    mapping = header.mapping
    if mapping.levels:
        return header
    is_named = bool(mapping.id or mapping.label)
    is_header = is_named and (header.told > 1 or {*spelt(names)[0]} & {*NAMES["header"]})
    return header if is_header else None


def _with_labels(names: Sequence[tuple[str, ...]]) -> tuple[list[tuple[str, ...]], dict[int, int]]:
    """Find pairs of columns such as "item" and "itemLabel", as in results of SPARQL.

    If no other column is an id or label, the first pair is renamed to id and label.

    Returns:
        The names, and for each other pair the position of its label column by the position of its
        first column. The name of the label column becomes ``()``.

    Example:
        >>> _with_labels(spelt(["item", "itemLabel", "itemDescription", "country", "countryLabel"]))
        ([('id',), ('label',), ('definition',), ('country',), ()], {3: 4})
    """
    places = {form: at for at, forms in enumerate(names) for form in forms}
    pairs = {
        at: places[f"{forms[-1]} label"]
        for at, forms in enumerate(names)
        if f"{forms[-1]} label" in places
    }
    found, own = list(names), next(iter(pairs), None)
    others = {form for at, forms in enumerate(names) for form in forms if at != own}
    if own is not None and not others.intersection((*ID, *LABEL, *LABEL_ALONE)):
        stem = names[own][-1]
        del pairs[own]
        for kind, name in (
            ("", "id"),
            (" label", "label"),
            (" description", "definition"),
            (" alt label", "synonyms"),
        ):
            if (at := places.get(f"{stem}{kind}")) is not None:
                found[at] = (name,)
    for at in pairs.values():
        found[at] = ()
    return found, pairs


def _of_its_kind(names: Sequence[tuple[str, ...]], kinds: Sequence[str]) -> tuple[int, ...]:
    """Return the first column whose name is a kind of entity and one of some words.

    For example, "product name" is found for the word "name". The result is empty if the header has
    several kinds of entities.

    Args:
        names: Spellings of the names in the header.
        kinds: The words, such as "name" and "label".
    """
    found = [
        (at, form)
        for at, name in enumerate(names)
        for form in name[-1:]
        if OF_ITS_KIND.fullmatch(form)
    ]
    if len({form.rpartition(" ")[0] for _, form in found}) != 1:
        return ()
    return tuple(at for at, form in found if form.rpartition(" ")[2] in kinds)[:1]


def _paired(names: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    """Return the first column of ids with a label column, and this column.

    For example, these are "product id" and "product name". The result is empty without a pair.
    """
    for at, forms in enumerate(names):
        if found := ID_OF.fullmatch(forms[-1]):
            labels = {f"{found[1]} {kind}" for kind in ("name", "label", "title")}
            if of := [place for place, other in enumerate(names) if labels.intersection(other)]:
                return at, of[0]
    return ()


def _full_name(names: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    """Return the columns of first and last names; empty unless there are both.

    >>> _full_name(spelt(["CustomerId", "FirstName", "LastName"]))
    (1, 2)
    >>> _full_name(spelt(["id", "last_name"]))
    ()
    """
    places = [
        [at for at, forms in enumerate(names) if {*forms} & {*known}]
        for known in (NAMES["given_name"], NAMES["family_name"])
    ]
    return (places[0][0], places[1][0]) if all(places) else ()


def _kind(names: Sequence[tuple[str, ...]], said: Collection[int]) -> tuple[int, ...]:
    """Return the first column with a kind of entities (``category``), if no other is before it."""
    rest = [at for at in range(len(names)) if at not in said][:1]
    return tuple(at for at in rest if {*names[at]} & {*KINDS})


def _keys(names: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    return tuple(at for at, forms in enumerate(names) if ID_OF.fullmatch(forms[-1]))


def _is_own(forms: Sequence[str]) -> bool:
    """Tell whether a column name means a name of the row's own entity ("full name")."""
    return any(form.partition(" ")[0] in OWN for form in forms)


def level_columns(names: Sequence[str]) -> tuple[tuple[int, ...], str]:
    """Return the columns of levels, broadest first, and their kind; empty for less than two levels.

    >>> level_columns(["sku", "Product_Level_1", "Product_Level_2"])
    ((1, 2), 'product')
    >>> level_columns(["Tier 2", "Tier 1"])
    ((1, 0), 'category')
    >>> level_columns(["id", "level 1"]), level_columns(["L1", "binds", "L2"])
    (((), ''), ((), ''))
    """
    found: dict[tuple[str, ...], dict[int, int]] = {}
    for at, name in enumerate(names):
        if match := LEVEL.fullmatch(normalise(str(name))):
            of, word, number, kind = match.groups("")
            found.setdefault((of, word, kind), {}).setdefault(int(number), at)
    for (of, word, _), places in found.items():
        numbers = sorted(places)
        levels = tuple(places[number] for number in numbers)
        stand_together = levels == tuple(range(levels[0], levels[0] + len(levels)))
        is_row = numbers[0] < 2 and numbers[-1] - numbers[0] == len(numbers) - 1 > 0
        if is_row and (word != "l" or stand_together):
            return levels, of or LEVELS_OF
    return (), ""


def negation_in(names: Sequence[tuple[str, ...]]) -> tuple[int, tuple[str, ...]] | None:
    """Return the position of the column that may negate rows, and the words that negate.

    Args:
        names: Spellings of the names in the header.

    Example:
        >>> negation_in([("subject",), ("qualifier",)]), negation_in([("subject",)])
        ((1, ('not',)), None)
    """
    for known, cells in ((NAMES["qualifier"], ("not",)), (NAMES["negated"], YES)):
        for at, forms in enumerate(names):
            if {*forms}.intersection(known):
                return at, cells
    return None
