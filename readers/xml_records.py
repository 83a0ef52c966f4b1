"""Records in XML: elements are converted to objects like those of JSON, listed or nested."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ontodex.errors import ReadError
from ontodex.graph.names import language_rank
from ontodex.readers.files import opened
from ontodex.readers.mapping.headers import ID
from ontodex.readers.records import LABELS, Record, is_link, is_named, key_of
from ontodex.readers.xml_guard import XML, GuardedXml, kind_of, language_of, well_formed

__all__ = ["xml_records", "xml_root"]

OF_XML = re.compile(
    rf"(?:{re.escape(XML)}(?!id$)|\{{http://www\.w3\.org/2001/XMLSchema-instance\}}).*"
)
"""Attributes of XML itself, which are not properties of an entity."""

ABOUT = ("head", "header", "meta", "metadata")
"""Elements in the root that describe the document."""


def xml_root(path: Path) -> Element:
    """Return the root element of a file.

    Raises:
        ReadError: If the file is not XML, or declares XML entities that look like an attack.
    """
    with opened(path) as stream, well_formed("XML", path):
        guarded = GuardedXml(stream, path, may_be_external=True)
        return ElementTree.parse(guarded).getroot()  # noqa: S314


def xml_records(root: Element, path: Path, language: str) -> dict[str, list[Record]]:
    """Return the elements with an id or a name as records, by kind (element name).

    Attributes and child elements are properties. If elements of one kind are nested, the inner ones
    are children of the outer one, as in an outline.

    Args:
        root: The root element.
        path: The file.
        language: Tag of the preferred language, if there are texts in several.

    Raises:
        ReadError: If no element has an id or a name.
    """
    for inside in [inside for inside in root if kind_of(inside).lower() in ABOUT]:
        root.remove(inside)
    try:
        document = _Elements(root, language).value(root)
        records = _entities(document) or _rows(document)
    except RecursionError:
        raise ReadError("expected elements less deep in one another", str(path)) from None
    if not records:
        raise ReadError("expected elements that have an id or a name, found none", str(path))
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.kind, []).append(record)
    return found


class _Object(dict[str, Any]):
    """Properties of an element, from attributes and child elements, and its kind (its name)."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind


class _Elements:
    """Conversion of elements to values.

    Args:
        root: The root element.
        language: Tag of the preferred language, if there are texts in several.
    """

    def __init__(self, root: Element, language: str) -> None:
        self._language = language
        self._repeated = {
            (kind_of(element), kind)
            for element in root.iter()
            for kind, count in Counter(map(kind_of, element)).items()
            if count > 1
        }

    def value(self, element: Element) -> Any:
        """Return the value of an element: a text, a list of values of one kind, or an object."""
        found = _Object(kind_of(element))
        for name, value in element.attrib.items():
            if not OF_XML.fullmatch(name):
                found[name.rpartition("}")[2]] = value
        if _language(element):
            found.pop("lang", None)
        around = [element.text, *(inside.tail for inside in element)]
        is_mixed = len(element) > 0 and any(text and text.strip() for text in around)
        text = " ".join(("".join(element.itertext()) if is_mixed else element.text or "").split())
        if len(element) and not is_mixed:
            inside = self._inside(element)
            if len(inside) == 1 and not is_named(inside) and all(map(str.isdigit, found.values())):
                return [one for values in inside.values() for one in _listed(values)]
            found.update(inside)
        elif not is_named(found) and (text or len(found) < 2):
            return text or next(iter(found.values()), "").removeprefix("#")
        _part_names(found)
        if text:
            found.setdefault("definition" if key_of(found, LABELS) else "label", text)
        return found

    def _inside(self, element: Element) -> dict[str, Any]:
        """Return the child elements by kind; a list if any element repeats the kind.

        Those of the kind of the element itself are its children.
        """
        found: dict[str, list[Any]] = {}
        for inside in self._in_language(element):
            if (value := self.value(inside)) not in ("", [], {}):
                is_child = kind_of(inside) == kind_of(element) and is_named(value)
                key = "children" if is_child else _key(inside, value)
                found.setdefault(key, []).extend(_listed(value))
        kind = kind_of(element)
        are_lists = {key for outer, key in self._repeated if outer == kind} | {"children"}
        return {
            key: values if len(values) > 1 or key in are_lists else values[0]
            for key, values in found.items()
        }

    def _in_language(self, element: Element) -> Iterator[Element]:
        """Yield the child elements; of a kind in several languages, only the preferred language."""
        ranks = [language_rank(_language(one), self._language) for one in element]
        best: dict[str, int] = {}
        for one, rank in zip(element, ranks, strict=True):
            best[kind_of(one)] = min(rank, best.get(kind_of(one), rank))
        yield from (
            one for one, rank in zip(element, ranks, strict=True) if rank == best[kind_of(one)]
        )


def _part_names(found: _Object) -> None:
    """Use the first of several ids and labels; further ones are alternative ids and synonyms."""
    for key, value in [*found.items()]:
        are_texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
        if are_texts and is_named({key: key}):
            others = "alternative ids" if key_of({key: key}, ID) else "synonyms"
            found[key], *found[others] = value


def _language(element: Element) -> str:
    """Return the language of a text; ``""`` if the element has none, or is an entity with an id."""
    if not (element.text and element.text.strip()) or "id" in element.attrib:
        return ""
    return language_of(element)


def _key(element: Element, value: Any) -> str:
    """Return the key of an element: its name; for a list, the name of the items if similar."""
    kind = kind_of(element)
    if not isinstance(value, list):
        return kind
    inside = kind_of(element[0])
    return inside if kind.lower().startswith(inside.lower()[:-1]) else kind


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _within(value: Any) -> Iterable[Any]:
    """Return the values of an object, or the items of a list."""
    return (
        value.values() if isinstance(value, _Object) else value if isinstance(value, list) else ()
    )


def _entities(document: Any) -> list[_Object]:
    """Return the records of a document; if one record encloses all others, the enclosed ones."""
    records = [*_records(document)]
    if len(records) == 1 and "children" not in records[0]:
        inside = [one for value in _within(records[0]) for one in _records(value, is_root=False)]
        if len(inside) > 1:
            return inside
    return records


def _rows(document: Any) -> list[_Object]:
    """Return the objects of a document whose objects have no names; they may be rows of a table."""
    return [
        one for inside in _within(document) for one in _listed(inside) if isinstance(one, _Object)
    ]


def _records(value: Any, *, is_root: bool = True) -> Iterator[_Object]:
    """Yield the outermost objects that are entities or links; the root only if it has children."""
    if isinstance(value, _Object) and (
        is_link(tuple(value)) or (is_named(value) and not (is_root and "children" not in value))
    ):
        yield value
        return
    for inside in _within(value):
        yield from _records(inside, is_root=False)
