"""Conversion of JSON objects to rows of a table; nested entities get their own rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from ontodex.graph.names import normalise, spellings
from ontodex.readers.mapping.headers import ID, LABEL, LABEL_ALONE, NAMES, PARENT, spelt
from ontodex.readers.mapping.triples import link_columns
from ontodex.readers.tables.paths import Category, path_of
from ontodex.readers.tables.values import one_line, plain

__all__ = [
    "LABELS",
    "Record",
    "RecordRows",
    "Row",
    "is_children",
    "is_map_of_records",
    "is_named",
    "key_of",
    "text_of",
    "under_ids",
]

Record = Mapping[str, Any]
Row = dict[str, str]

CHILDREN = frozenset(NAMES["children"])
"""Keys under which an object has a list of its children."""

LABELS = (*LABEL, *LABEL_ALONE)
NAMING = (*ID, *LABELS)
"""Keys of ids and labels."""


class RecordRows:
    """Rows of records, and of the entities nested in records.

    Args:
        records: The records that are entities.
        key: Key of the ids of records, if it does not have the name of an id.

    Attributes:
        found: Rows of the records.
        inside: Rows of nested entities.
        links: Triples (head, relation, tail) from entities to nested entities.
        columns: Names of the cells in all rows.
    """

    def __init__(self, records: Sequence[Record], key: str = "") -> None:
        self._key = key or "id"
        self.found: list[Row] = []
        self.inside: list[Row] = []
        self.links: list[tuple[str, str, str]] = []
        self.columns: set[str] = set()
        self._own = {self._id(record): text_of(record, LABELS) for record in records}
        label_counts = Counter(map(normalise, self._own.values()))
        named = (
            (identifier, normalise(label))
            for identifier, label in self._own.items()
            if identifier and label
        )
        self._by_label = {
            label: identifier for identifier, label in named if label_counts[label] == 1
        }

    def add(self, record: Record, kind: str = "", above: Category = (), parent: str = "") -> str:
        """Add the rows of a record and its nested entities; return its id, or else its label.

        Args:
            record: The object.
            kind: If the object is nested in another, its key there, which becomes a prefix of
                numeric ids.
            above: Path of the parent.
            parent: Id of the parent.
        """
        identifier, label = self._id(record), text_of(record, LABELS)
        path = (*above, label or identifier)
        children = {key: value for key, value in record.items() if is_children(key, value)}
        if kind and identifier.isdigit() and not self._is_own(identifier, label):
            identifier = f"{kind}:{identifier}"
        if label and not identifier:
            is_category = above or children
            identifier = path_of(path) if is_category else self._by_label.get(normalise(label), "")
        keys = (self._key_of_id(record), self._key), (key_of(record, LABELS), "label")
        own = {key: name for key, name in keys if key}
        taken = {*children, self._key, "label"}.difference(own)
        rest = {own.get(key, key): value for key, value in record.items() if key not in taken}
        row = self.row(rest, identifier or label) | ({self._key: identifier} if identifier else {})
        if parent:
            row["parent"] = row.get("parent") or parent
        self.columns.update(row)
        (self.inside if kind else self.found).append(row)
        for child in chain.from_iterable(children.values()):
            if is_named(child):
                self.add(child, above=path, parent=identifier)
        return identifier or label

    def _key_of_id(self, record: Record) -> str:
        has_key = plain(record.get(self._key)).strip()
        return self._key if has_key else key_of(record, ID)

    def _id(self, record: Record) -> str:
        key = self._key_of_id(record)
        return one_line(plain(record[key])) if key else ""

    def _is_own(self, identifier: str, label: str) -> bool:
        """Return whether an id, together with a label if one is given, belongs to a record."""
        own = self._own.get(identifier)
        return own is not None and (not label or normalise(own) == normalise(label))

    def link(self, record: Record) -> Row:
        """Return the cells of a link, and add rows for nested objects with an id or a label."""
        return self.row(
            {key: self.add(value) if is_named(value) else value for key, value in record.items()}
        )

    def row(self, record: Record, head: str = "") -> Row:
        """Return the cells of a record by name.

        If ``head`` is given, nested entities become links from this id. Otherwise the name of a
        nested entity becomes the text of the cell.
        """
        return dict(self._cells(record, head, ""))

    def _cells(self, record: Record, head: str, before: str) -> Iterator[tuple[str, str]]:
        said: dict[str, Any] = {}
        for key, value in record.items():
            joined = _joined(key, value) if _holds_nameless(value) else {key: value}
            said.update(
                {
                    name if name == key or name not in record else f"{key} {name}": one
                    for name, one in joined.items()
                }
            )
        for key, value in said.items():
            if not isinstance(value, dict) or is_named(value):
                yield f"{before}{key}", self._cell(value, key, head)
            elif len(value) == 1 and next(iter(value)).startswith("$"):
                yield f"{before}{key}", self._cell(next(iter(value.values())), key, head)
            else:
                yield from self._cells(value, head, f"{before}{key}.")

    def _cell(self, value: Any, key: str, head: str) -> str:
        if isinstance(value, list):
            cells = (self._cell(one, key, head) for one in value if not isinstance(one, list))
            return "|".join(filter(None, cells))
        if not is_named(value):
            return plain(value)
        if not head:
            return text_of(value, LABELS) or text_of(value, ID)
        if (
            tail := self.add(value, key)
        ) != head:  # a nested object with the same id adds properties
            self.links.append((head, "is_a" if {*spellings(key)} & {*PARENT} else key, tail))
        return ""


def _holds_nameless(value: Any) -> bool:
    """Return whether a value is a list with objects that have neither an id nor a label."""
    return isinstance(value, list) and any(
        isinstance(one, dict) and not is_named(one) for one in value
    )


def _joined(key: str, values: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the values of a list of objects without ids or labels, grouped by key of the objects.

    Objects with a relation and a tail are links, and their relation is the key.

    >>> _joined("phase", [{"chain": "attack", "of": 1}, {"chain": "defence"}])
    {'phase chain': ['attack', 'defence'], 'phase of': [1]}
    >>> links = [{"relation": "part_of", "target": "b"}, {"relation": "part_of", "target": "c"}]
    >>> _joined("links", links)
    {'part_of': ['b', 'c']}
    """
    found: dict[str, list[Any]] = {}
    for name, inside in chain.from_iterable(_said(key, value) for value in values):
        found.setdefault(name, []).extend(inside if isinstance(inside, list) else [inside])
    return found


def _said(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (column name, value) for the values of one element of the list under ``key``."""
    if not isinstance(value, dict) or is_named(value):
        yield key, value
        return
    names = tuple(value)
    link = link_columns(names)
    if link and (relation := one_line(plain(value[names[link[0]]]))):
        yield f"{key} {relation}" if is_named({relation: 1}) else relation, value[names[link[1]]]
    else:
        yield from (
            (key if own.startswith("$") else f"{key} {own}", inside)
            for own, inside in value.items()
        )


def is_map_of_records(value: Any) -> bool:
    """Return whether a value is an object whose values are all objects or ``None``."""
    return isinstance(value, dict) and all(
        one is None or isinstance(one, dict) for one in value.values()
    )


def under_ids(records: Mapping[str, Any]) -> list[Record]:
    """Return the records in a map, each with its key as id.

    >>> under_ids({"dog": {"is_a": "pet"}, "pet": None})
    [{'id': 'dog', 'is_a': 'pet'}, {'id': 'pet'}]
    """
    return [{"id": name, **(record or {})} for name, record in records.items()]


def is_children(key: str, value: Any) -> bool:
    """Tell whether a value is a list of objects under a key such as ``children``."""
    is_list = isinstance(value, list) and any(isinstance(one, dict) for one in value)
    return is_list and bool(CHILDREN.intersection(spellings(key)))


def key_of(record: Record, names: Sequence[str]) -> str:
    """Return the key of a text or number that is named by the first of ``names`` that occurs.

    The result is an empty string if no key has such a name.
    """
    found = ((names.index(form), key) for key, form in _forms(tuple(record)) if form in names)
    return next((key for _, key in sorted(found) if plain(record[key]).strip()), "")


@lru_cache(maxsize=1 << 12)
def _forms(keys: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return pairs (key, spelling) of all spellings of each key."""
    return [(key, form) for key, forms in zip(keys, spelt(keys), strict=True) for form in forms]


def is_named(value: Any) -> bool:
    """Tell whether an object has an id or a label."""
    return isinstance(value, dict) and bool(key_of(value, NAMING))


def text_of(record: Record, names: Sequence[str]) -> str:
    """Return the text that a record has under the first of ``names`` that occurs, or ``""``."""
    key = key_of(record, names)
    return one_line(plain(record[key])) if key else ""
