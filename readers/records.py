"""Records as rows of a table: JSON objects in a list, a line each, under their ids, or nested."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import normalise, spellings
from ontodex.readers.files import bounded_lines, opened
from ontodex.readers.mapping.headers import (
    ID,
    LABEL,
    LABEL_ALONE,
    NAMES,
    PARENT,
    EntityHeader,
    spelt,
)
from ontodex.readers.mapping.triples import link_columns, names_ends, own_columns, triples_mapping
from ontodex.readers.problems import Problems
from ontodex.readers.table_files import read_table
from ontodex.readers.tables.paths import Category, path_of
from ontodex.readers.tables.table import Table
from ontodex.readers.tables.values import one_line, plain, whole_name
from ontodex.readers.tables.workbooks import Sheet

__all__ = [
    "LABELS",
    "Record",
    "are_alike",
    "cell_of",
    "is_link",
    "is_named",
    "json_of",
    "key_of",
    "lists_of",
    "read_records",
    "rows_in",
    "say_the_same",
    "unwrapped",
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
        yield from ((f"{key} {own}", inside) for own, inside in value.items())


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


# Records of a document ----------------------------------------------------------------------------


LINK_NAMES = ("label", "name", "key")
"""Keys whose value is the relation of a link that has no more specific key for it."""

MOST_KEYS = 1000
"""Maximal number of different keys of the records of a list."""

TRAPI = "knowledge_graph"
"""Path of the graph in a response of the Translator Reasoner API."""

LINKML = ("classes", "slots", "types", "enums", "subsets")
"""Keys of a LinkML schema, each with a map from names to elements."""

INSIDE = ("attributes", "permissible_values")
"""Named parts of elements of a schema: slots of a class, values of an enumeration."""

ABOUT = frozenset(("meta", "metadata", "head", "header", "info", "context", "@context", "prefixes"))
"""Keys of objects that describe the document."""

FREE, MOST_EMPTY = 1_000_000, 100
"""A table of records may have ``FREE`` cells, plus ``MOST_EMPTY`` for each filled cell."""


def json_of(path: Path, problems: Problems) -> Any:
    """Return the JSON document in a file.

    If the file has one document per line, return them as a list. Faulty lines are reported to
    ``problems``.

    Raises:
        ReadError: If the file is not JSON.
    """
    try:
        with opened(path) as stream:
            return json.load(stream)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        if not str(error).startswith("Extra data"):
            raise ReadError(
                f"expected JSON, found a fault ({error}); nothing was read", str(path), line
            ) from None
    with opened(path) as stream:
        return [*_lines(path, bounded_lines(stream, path), problems)]


def _lines(path: Path, lines: Iterator[bytes], problems: Problems) -> Iterator[Any]:
    for number, line in enumerate(lines, start=1):
        if not line.isspace():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                problems.report(f"expected a JSON document a line, found a fault ({error})", number)


def read_records(
    objects: Sequence[Record],
    path: Path,
    builder: GraphBuilder,
    problems: Problems,
    table: Table,
) -> None:
    """Read objects as rows of a table whose header is their keys: triples or entities.

    A nested object with an id or a label is an entity; the keys of any other nested object are
    columns of the outer object. Objects listed under ``children`` are children of the outer object.
    In a tree without ids, the path of an object is its id.

    Args:
        objects: The objects, as from :func:`lists_of`.
        path: The file.
        builder: Receives the triples, or the entities and their links.
        problems: Receives faulty objects.
        table: Has the given mappings; receives the mappings that were used.

    Raises:
        ReadError: If there are no objects, or no links are found in them.
    """
    _expect_alike(objects, builder.source)
    records = [_with_full_name(unwrapped(one)) for one in objects]
    if not records:
        raise ReadError(
            'expected OBO-graph JSON with "graphs", JSON-LD with "@context", or objects in a list, '
            "a line each or under their ids, found other JSON or YAML",
            builder.source,
        )
    links, entities = (
        [one for one in records if is_link(tuple(one)) == wanted] for wanted in (True, False)
    )
    rows = RecordRows(entities, table.join.id[0] if table.join and table.join.id else "")
    try:
        for record in entities:
            rows.add(record)
            _expect_few(len(rows.columns), builder.source)
        told = [rows.link(_with_relation(link)) for link in links]
    except RecursionError:
        raise ReadError("expected objects less deep in one another", builder.source) from None
    for found in filter(any, (told, rows.found + rows.inside)):
        names, header = _names(found, builder.source)
        cells = enumerate(([row.get(name, "") for name in names] for row in found), start=1)
        named = [(0, header), *cells]
        are_links = found is told
        sheet = Sheet(path, "", named, True, are_links=are_links, unit="record")
        read_table(sheet, builder, problems, table, may_lack_links=bool(rows.links))
    for head, relation, tail in rows.links:
        builder.triple(head, relation, tail)


@lru_cache(maxsize=1 << 12)
def is_link(names: tuple[str, ...]) -> bool:
    """Return whether the keys of a record are the keys of a link rather than of an entity."""
    return names_ends(names) and (triples_mapping(names) is not None or own_columns(names) is None)


def _with_relation(link: Record) -> Record:
    """Return a link with a relation from a less specific key, if it has no specific one."""
    inside = [
        key
        for value in link.values()
        if isinstance(value, dict) and not is_named(value)
        for key in value
    ]
    said = next((link[name] for name in LINK_NAMES if isinstance(link.get(name), str)), None)
    return link if said is None or triples_mapping([*link, *inside]) else {**link, "relation": said}


def lists_of(document: Any, name: str = "") -> dict[str, list[Record]]:
    """Return the records of a document, by the key of their list.

    The records are the objects of a list, of the lists in an object (``{"nodes": [...], "links":
    [...]}``), or of a map from ids. If the document itself has an id or a label, it is the record.

    Args:
        document: The JSON value.
        name: Key for a list that has none.
    """
    if isinstance(document, list):
        return {name: [one for one in document if isinstance(one, dict)]}
    if not isinstance(document, dict):
        return {}
    if isinstance(results := document.get("results"), dict) and isinstance(
        rows := results.get("bindings"), list
    ):
        bindings = [row for row in rows if isinstance(row, dict)]
        return {
            name: [
                {key: one.get("value") for key, one in row.items() if isinstance(one, dict)}
                for row in bindings
            ]
        }
    if any(is_children(key, value) for key, value in document.items()):
        return {name: [document]}
    if isinstance(graph := document.get(TRAPI), dict):
        return {key: under_ids(one) for key, one in graph.items() if is_map_of_records(one)}
    objects = {key: value for key, value in document.items() if isinstance(value, dict)}
    if schema := _schema(document):
        return schema
    lists = {key: lists_of(value)[""] for key, value in document.items() if isinstance(value, list)}
    if any(lists.values()):
        beside = {key: value for key, value in objects.items() if _is_map(key, value)}
        maps = {key: under_ids(value) for key, value in beside.items()}
        order = [key for key in document if key in maps or key in lists]
        return {key: maps[key] if key in maps else lists[key] for key in order}
    if len(objects) == 1 and (inside := lists_of(next(iter(objects.values())), name)):
        return inside
    named: list[Record] = [
        value if key_of(value, ID) else {"id": key, **value} for key, value in objects.items()
    ]
    if 2 * len(named) > len(document):
        return {name: named}
    return {name: [document]} if is_named(document) and len(document) <= MOST_KEYS else {}


def _schema(document: Mapping[str, Any]) -> dict[str, list[Record]]:
    """Return the elements of a LinkML schema by kind; empty for other documents."""
    if not {"id", "name"} <= document.keys() and "prefixes" not in document:
        return {}
    return {
        key: [*map(_element, under_ids(value))]
        for key in LINKML
        if isinstance(value := document.get(key), dict) and value and is_map_of_records(value)
    }


def _element(record: Record) -> Record:
    """Return an element of a schema with its named parts as lists of elements.

    Permissible values of an enumeration are such parts. ``meaning`` becomes ``alternative_ids``.
    """
    found: dict[str, Any] = {}
    for key, value in record.items():
        if key in INSIDE and is_map_of_records(value):
            found[key] = [*map(_element, under_ids(value))]
        else:
            found["alternative_ids" if key == "meaning" else key] = value
    return found


def _is_map(key: str, value: Record) -> bool:
    """Return whether a value next to lists is a map from ids to records with similar keys.

    >>> _is_map("nodes", {"n1": {"label": "Ann"}, "n2": {"label": "Bo"}})
    True
    >>> _is_map("meta", {"by": {"name": "Ann"}})
    False
    """
    if key.lower() in ABOUT or not value or not is_map_of_records(value):
        return False
    counts = Counter(name for inside in value.values() for name in inside or ())
    return not counts or 2 * max(counts.values()) > len(value)


def rows_in(document: Any) -> list[list[str]]:
    """Return the rows of a table in JSON, or an empty list if the document is not a table.

    Supported are lists of rows, maps from columns to cells, and the layouts that pandas writes. If
    the columns have names, the first row is the names.

    >>> rows_in({"id": {"0": "a", "1": "b"}, "name": {"0": "Ann", "1": "Bob"}})
    [['id', 'name'], ['a', 'Ann'], ['b', 'Bob']]
    >>> rows_in({"columns": ["id", "name"], "data": [["a", "Ann"]]})
    [['id', 'name'], ['a', 'Ann']]
    >>> rows_in([["dog", "is_a", "animal"]])
    [['dog', 'is_a', 'animal']]
    """
    if isinstance(document, list):
        is_table = _are(list, document) and all(len(row) > 1 for row in document)
        return [[*map(cell_of, row)] for row in document] if is_table else []
    if not isinstance(document, dict):
        return []
    columns, data = document.get("columns"), document.get("data")
    if isinstance(columns, list) and isinstance(data, list) and _are(list, data):
        return [[*map(cell_of, row)] for row in (columns, *data)]
    values = [*document.values()]
    if _are(dict, values) and [*values[0]] == [*map(str, range(len(values[0])))]:
        values = [[*value.values()] for value in values if value.keys() == values[0].keys()]
    elif len(document) > MOST_KEYS or (
        triples_mapping([*document]) is None and own_columns([*document]) is None
    ):
        return []
    if not _are(list, values) or len({*map(len, values)}) > 1 or len(values) < len(document):
        return []
    if any(isinstance(cell, dict) for cells in values for cell in cells):
        return []
    return [[*document], *([*map(cell_of, row)] for row in zip(*values, strict=True))]


def _are(kind: type, values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(one, kind) for one in values)


def cell_of(value: Any) -> str:
    """Return a JSON value as a cell: the items of a list joined by ``|``, ``""`` for an object."""
    return (
        "|".join(filter(None, map(plain, value)))
        if isinstance(value, list)
        else plain(value).strip()
    )


def unwrapped(record: Record) -> Record:
    """Return the properties of a record, taken out of a wrapper.

    Wrappers are an object nested in the record (``{"data": {"id": …}}``), and the nodes and
    relationships that Neo4j exports.
    """
    if record.get("type") == "relationship" and {"start", "label", "end"} <= {*record}:
        return {"head": record["start"], "relation": record["label"], "tail": record["end"]}
    if record.get("type") == "node" and isinstance(
        properties := record.get("properties", {}), dict
    ):
        return {"labels": record.get("labels"), **properties, "id": record.get("id")}
    if is_named(record) or is_link(tuple(record)):
        return record
    inside = [
        key
        for key, value in record.items()
        if isinstance(value, dict) and (is_named(value) or is_link(tuple(value)))
    ]
    return {**record, **record[inside[0]], inside[0]: None} if len(inside) == 1 else record


def _with_full_name(record: Record) -> Record:
    """Return a record of a person labelled with first and last name, if it has no other label."""
    full_name = _full_name_of(tuple(record))
    if not full_name:
        return record
    rest = {key: value for key, value in record.items() if key not in full_name}
    return {**rest, "label": whole_name(plain(record[key]) for key in full_name)}


@lru_cache(maxsize=1 << 12)
def _full_name_of(names: tuple[str, ...]) -> list[str]:
    mapping = EntityHeader.of(names).mapping
    return [names[mapping.columns.index(one)] for one in mapping.label_parts]


def _names(rows: Sequence[Row], source: str) -> tuple[list[str], list[str]]:
    """Return the names of the cells in rows, and for each name its last part if that is unique.

    Raises:
        ReadError: If there are too many names.
    """
    names = _expect_alike(rows, source)
    last = Counter(name.rpartition(".")[2] for name in names)
    return names, [
        name.rpartition(".")[2] if last[name.rpartition(".")[2]] == 1 else name for name in names
    ]


def _expect_alike(rows: Sequence[Record], source: str) -> list[str]:
    """Return the keys of rows.

    Raises:
        ReadError: If a table with these columns would be too large, or nearly empty.
    """
    keys = _keys(rows)
    if not are_alike(rows):
        _expect_few(len(keys), source, most=0)
    return keys


def _expect_few(count: int, source: str, most: int = MOST_KEYS) -> None:
    """Check that records do not have more different keys than a table may have columns.

    Raises:
        ReadError: If ``count`` is more than ``most``.
    """
    if count > most:
        raise ReadError(
            f"expected records of the same keys, found {count:,} different ones; cut the list or "
            "the map of the records that you want out of the document, and read that",
            source,
        )


def are_alike(rows: Sequence[Record]) -> bool:
    """Tell whether a table of rows would be neither too large nor nearly empty."""
    keys = _keys(rows)
    is_sparse = len(keys) * len(rows) > FREE + MOST_EMPTY * sum(map(len, rows))
    return len(keys) <= (MOST_EMPTY if is_sparse else MOST_KEYS)


def _keys(rows: Sequence[Record]) -> list[str]:
    return [*dict.fromkeys(chain.from_iterable(rows))]


def say_the_same(records: Sequence[Record]) -> bool:
    """Return whether most keys of each record are keys of most records."""
    counts = Counter(key for record in records for key in record)
    usual = {key for key, count in counts.items() if 2 * count > len(records)}
    return all(2 * len(usual.intersection(record)) > len(record) for record in records)
