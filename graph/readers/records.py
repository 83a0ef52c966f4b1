"""Records of JSON: objects in a list, a line each, or under their ids; what rows are in a table."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import normalise, spellings
from ontodex.graph.readers.entity_columns import ID, LABEL, LABEL_ALONE, PARENT, EntityColumns, one_line, spelt
from ontodex.graph.readers.files import bounded_lines, opened
from ontodex.graph.readers.keys import Table
from ontodex.graph.readers.named_rows import add_named_rows
from ontodex.graph.readers.paths import Category, path_of
from ontodex.graph.readers.problems import Problems
from ontodex.graph.readers.triple_columns import names_ends, no_relation, own_columns, triple_columns

__all__ = ["json_of", "read_records"]

Record = Mapping[str, Any]
Row = dict[str, str]

CHILDREN = frozenset(
    ("children", "subcategories", "sub categories", "subclasses", "sub classes", "subtypes", "narrower", "child nodes")
)
"""Keys of what is more specific than the object that has it."""

LABELS = (*LABEL, *LABEL_ALONE)
NAMES = (*ID, *LABELS)

LINK_NAMES = ("label", "name", "key", "type")
"""Keys of what a link may say where it has no relation."""

MOST_KEYS = 1000
"""Keys that records have in all."""

FREE, MOST_EMPTY = 1_000_000, 100
"""A table that records make may have so many cells, and so many for each that is filled."""


def json_of(path: Path, problems: Problems) -> Any:
    """Return the document in a file, or of a document a line the list of them; lines that are none are problems.

    Raises:
        ReadError: If the file is no JSON.
    """
    try:
        with opened(path) as stream:
            return json.load(stream)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        if not str(error).startswith("Extra data"):
            raise ReadError(f"expected JSON, found a fault ({error}); nothing was read", str(path), line) from None
    with opened(path) as stream:
        return [*_lines(path, bounded_lines(stream, path), problems)]


def _lines(path: Path, lines: Iterator[bytes], problems: Problems) -> Iterator[Any]:
    for number, line in enumerate(lines, start=1):
        if not line.isspace():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                problems.report(f"expected a JSON document a line, found a fault ({error})", number, str(path))


def read_records(
    document: Any, builder: GraphBuilder, problems: Problems, table: Table, *, negated: bool = False
) -> None:
    """Read objects as rows of a table, whose header are their keys: triples, or entities with what is said of them.

    The objects are those of a list, or of the lists in an object (``{"nodes": [...], "links": [...]}``), or what stands
    under ids in an object. An object inside one is an entity of its own if it has an id or a label, and else its keys are
    columns of the one that it is in; what stands in ``children`` is below that. Of a tree without ids, paths are the ids.

    Args:
        document: What was read of JSON.
        builder: Takes the triples, or the entities and their links.
        problems: Takes what holds none.
        table: Takes what the records say of their keys.
        negated: Read what the records say not to hold, in place of what holds.

    Raises:
        ReadError: If there are no objects, or none that tells what it is.
    """
    objects = _records(document)
    _expect_alike({key for one in objects for key in one}, builder.source)
    records = [_unwrapped(one) for one in objects]
    if not records:
        raise ReadError(
            'expected OBO-graph JSON with "graphs", JSON-LD with "@context", or objects in a list, a line each or under '
            "their ids, found other JSON",
            builder.source,
        )
    links, entities = ([one for one in records if _is_link(tuple(one)) == is_link] for is_link in (True, False))
    rows = _Rows(entities)
    try:
        for record in entities:
            rows.add(record)
        told = [rows.link(_with_relation(link)) for link in links]
    except RecursionError:
        raise ReadError("expected objects less deep in one another", builder.source) from None
    for found in filter(None, (told, rows.found + rows.inside)):
        names, header = _names(found, builder.source)
        columns = triple_columns(header) if found is told else own_columns(header) or EntityColumns.of(header)
        if columns is None:
            raise ReadError(no_relation(header), builder.source)
        cells = enumerate(([row.get(name, "") for name in names] for row in found), start=1)
        add_named_rows(columns, cells, builder, problems, table, "record", negated=negated)
    for head, relation, tail in rows.links:
        builder.triple(head, relation, tail)


@lru_cache(maxsize=1 << 12)
def _is_link(names: tuple[str, ...]) -> bool:
    """Tell whether the keys of a record name two ends, and not what is said of an entity that has a start and an end."""
    return names_ends(names) and (triple_columns(names) is not None or own_columns(names) is None)


def _with_relation(link: Record) -> Record:
    """Return a link whose relation stands under a name that says less, if there is no better one."""
    said = next((link[name] for name in LINK_NAMES if isinstance(link.get(name), str)), None)
    return link if said is None or triple_columns([*link]) else {**link, "relation": said}


def _records(document: Any) -> Sequence[Record]:
    """Return the objects of a document that stand for something each: all that are in lists, or under ids."""
    if isinstance(document, list):
        return [one for one in document if isinstance(one, dict)]
    if not isinstance(document, dict):
        return []
    if isinstance(results := document.get("results"), dict) and isinstance(rows := results.get("bindings"), list):
        return [
            {name: one.get("value") for name, one in row.items() if isinstance(one, dict)}
            for row in rows
            if isinstance(row, dict)
        ]
    if any(_is_children(key, value) for key, value in document.items()):
        return [document]
    if listed := [one for value in document.values() if isinstance(value, list) for one in _records(value)]:
        return listed
    objects = {key: value for key, value in document.items() if isinstance(value, dict)}
    if len(objects) == 1 and (inside := _records(*objects.values())):
        return inside
    named = [value if _named(value, ID) else {"id": key, **value} for key, value in objects.items()]
    return named if 2 * len(named) > len(document) else []


def _is_children(key: str, value: Any) -> bool:
    is_list = isinstance(value, list) and any(isinstance(one, dict) for one in value)
    return is_list and bool(CHILDREN.intersection(spellings(key)))


def _named(record: Record, names: Sequence[str]) -> str:
    """Return the key under which a record has a text or a number of one of these names, the most telling, or nothing."""
    found = ((names.index(form), key) for key, form in _forms(tuple(record)) if form in names)
    return next((key for _, key in sorted(found) if _plain(record[key]).strip()), "")


@lru_cache(maxsize=1 << 12)
def _forms(keys: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return (key, spelling) of each."""
    return [(key, form) for key, forms in zip(keys, spelt(keys), strict=True) for form in forms]


def _is_named(value: Any) -> bool:
    """Tell whether an object has an id or a label."""
    return isinstance(value, dict) and bool(_named(value, NAMES))


def _unwrapped(record: Record) -> Record:
    """Return what a record says of itself where an object in it does (``{"data": {"id": …}}``), or as Neo4j exports it."""
    if record.get("type") == "relationship" and {"start", "label", "end"} <= {*record}:
        return {"head": record["start"], "relation": record["label"], "tail": record["end"]}
    if record.get("type") == "node" and isinstance(properties := record.get("properties", {}), dict):
        return {"labels": record.get("labels"), **properties, "id": record.get("id")}
    if label := _text(record, LABELS):
        return {
            key: _without_label(value, label) if isinstance(value, dict) else value for key, value in record.items()
        }
    if _is_named(record) or _is_link(tuple(record)):
        return record
    inside = [
        key for key, value in record.items() if isinstance(value, dict) and (_is_named(value) or _is_link(tuple(value)))
    ]
    return {**record, **record[inside[0]], inside[0]: None} if len(inside) == 1 else record


def _without_label(inside: Record, label: str) -> Record:
    """Return what an object in a record says, without the label if it is that of the record, of which it tells more."""
    own = "" if _named(inside, ID) else _named(inside, LABELS)
    is_same = own and normalise(_plain(inside[own])) == normalise(label)
    return {key: value for key, value in inside.items() if key != own} if is_same else inside


def _names(rows: Sequence[Row], source: str) -> tuple[list[str], list[str]]:
    """Return the names of the cells in rows, and what they are called: by their last part where that tells them apart.

    Raises:
        ReadError: If there are too many.
    """
    names = [*dict.fromkeys(chain.from_iterable(rows))]
    is_sparse = len(names) * len(rows) > FREE + MOST_EMPTY * sum(map(len, rows))
    _expect_alike(names, source, MOST_EMPTY if is_sparse else MOST_KEYS)
    last = Counter(name.rpartition(".")[2] for name in names)
    return names, [name.rpartition(".")[2] if last[name.rpartition(".")[2]] == 1 else name for name in names]


def _expect_alike(keys: Collection[str], source: str, most: int = MOST_KEYS) -> None:
    if len(keys) > most:
        raise ReadError(f"expected records of the same keys, found {len(keys):,} different ones", source)


class _Rows:
    """The rows that records make, with one for each entity that stands inside a record.

    Args:
        records: Those that are entities.

    Attributes:
        found: The rows of the records, so far.
        inside: Those of what stands inside them.
        links: The links of entities to those that stand inside them.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self.found: list[Row] = []
        self.inside: list[Row] = []
        self.links: list[tuple[str, str, str]] = []
        self._own = {_text(record, ID): _text(record, LABELS) for record in records}
        bearers = Counter(map(normalise, self._own.values()))
        named = ((identifier, normalise(label)) for identifier, label in self._own.items() if identifier and label)
        self._by_label = {label: identifier for identifier, label in named if bearers[label] == 1}
        self._maps = _maps(records)

    def add(self, record: Record, kind: str = "", above: Category = (), parent: str = "") -> str:
        """Add the row of a record, and those of the entities inside it; return its id, or its label if it has none.

        Args:
            record: The object.
            kind: The key that it stands under in another object; its number is told from those of the records by it.
            above: The path of what it is below.
            parent: The id of that.
        """
        identifier, label = _text(record, ID), _text(record, LABELS)
        path = (*above, label or identifier)
        children = {key: value for key, value in record.items() if _is_children(key, value)}
        if kind and identifier.isdigit() and not self._is_own(identifier, label):
            identifier = f"{kind}:{identifier}"
        if label and not identifier:
            is_category = above or children
            identifier = path_of(path) if is_category else self._by_label.get(normalise(label), "")
        own = {key: name for names, name in ((ID, "id"), (LABELS, "label")) if (key := _named(record, names))}
        taken = {*children, "id", "label"}.difference(own)
        rest = {own.get(key, key): value for key, value in record.items() if key not in taken}
        row = self.row(rest, identifier or label) | ({"id": identifier} if identifier else {})
        if parent:
            row["parent"] = row.get("parent") or parent
        (self.inside if kind else self.found).append(row)
        for child in chain.from_iterable(children.values()):
            if _is_named(child):
                self.add(child, above=path, parent=identifier)
        return identifier or label

    def _is_own(self, identifier: str, label: str) -> bool:
        """Tell whether an id, and a label if there is one, are those of a record."""
        own = self._own.get(identifier)
        return own is not None and (not label or normalise(own) == normalise(label))

    def link(self, record: Record) -> Row:
        """Return the cells of a link, and add the rows of its ends if they say something of themselves."""
        return self.row({key: self.add(value) if _is_named(value) else value for key, value in record.items()})

    def row(self, record: Record, head: str = "") -> Row:
        """Return the cells of a record by their names; of a ``head``, what stands inside it makes links."""
        return dict(self._cells(record, head, ""))

    def _cells(self, record: Record, head: str, before: str) -> Iterator[tuple[str, str]]:
        said: dict[str, Any] = {}
        for key, value in record.items():
            said.update(_joined(key, value) if _holds_nameless(value) else {key: value})
        for key, value in said.items():
            if not isinstance(value, dict) or _is_named(value):
                yield f"{before}{key}", self._cell(value, key, head)
            elif key in self._maps:
                yield f"{before}{key}", self._cell(_listed(value), key, head)
            elif len(value) == 1 and next(iter(value)).startswith("$"):
                yield f"{before}{key}", self._cell(next(iter(value.values())), key, head)
            else:
                yield from self._cells(value, head, f"{before}{key}.")

    def _cell(self, value: Any, key: str, head: str) -> str:
        if isinstance(value, list):
            cells = (self._cell(one, key, head) for one in value if not isinstance(one, list))
            return "|".join(filter(None, cells))
        if not _is_named(value):
            return _plain(value)
        if not head:
            return _text(value, LABELS) or _text(value, ID)
        self.links.append((head, "is_a" if {*spellings(key)} & {*PARENT} else key, self.add(value, key)))
        return ""


def _holds_nameless(value: Any) -> bool:
    """Tell whether a list holds objects that are no entities."""
    return isinstance(value, list) and any(isinstance(one, dict) and not _is_named(one) for one in value)


def _joined(key: str, values: Sequence[Any]) -> dict[str, list[Any]]:
    """Return what is in a list that holds objects without a name: under each of their keys what they have there.

    >>> _joined("phase", [{"chain": "attack", "of": 1}, {"chain": "defence"}])
    {'phase chain': ['attack', 'defence'], 'phase of': [1]}
    """
    found: dict[str, list[Any]] = {}
    for value in values:
        is_nameless = isinstance(value, dict) and not _is_named(value)
        for own, inside in value.items() if is_nameless else [("", value)]:
            name = key if not own or own.startswith("$") else f"{key} {own}"
            found.setdefault(name, []).extend(inside if isinstance(inside, list) else [inside])
    return found


def _maps(records: Sequence[Record]) -> set[str]:
    """Return the keys whose objects have no key in half of them: what names columns is in most, other keys are values."""
    count, keys = Counter[str](), defaultdict[str, Counter[str]](Counter)
    left: list[Any] = [[*records]]
    while left:
        value = left.pop()
        for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(inside, dict) and isinstance(key, str):
                count[key] += 1
                keys[key].update([*inside])
            if isinstance(inside, dict | list):
                left.append(inside)
    return {key for key, found in keys.items() if 2 * max(found.values(), default=count[key]) < count[key]}


def _listed(value: Record) -> list[Any]:
    """Return what an object under names of values lists: its values, or its names where these are numbers."""
    is_counted = all(isinstance(one, int | float) or one is None for one in value.values())
    return [*value] if is_counted else [*value.values()]


def _plain(value: Any) -> str:
    """Return a text or a number as text; nothing of what holds others.

    >>> _plain(None), _plain(True), _plain(2.0), _plain(" dog"), _plain([2])
    ('', 'true', '2', ' dog', '')
    """
    if value is None or isinstance(value, dict | list):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _text(record: Record, names: Sequence[str]) -> str:
    """Return what a record has under the most telling of some names, or nothing."""
    key = _named(record, names)
    return one_line(_plain(record[key])) if key else ""
