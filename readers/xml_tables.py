"""XML elements as rows of tables; the columns are paths to elements and attributes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from xml.etree.ElementTree import Element

import yaml

from ontodex.errors import ReadError, SettingsError
from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import language_rank
from ontodex.readers.problems import Problems
from ontodex.readers.table_files import add_rows
from ontodex.readers.tables.keys import resolved
from ontodex.readers.tables.mapping import TableMapping, mapping_from
from ontodex.readers.tables.paths import DEEPEST, Category, path_of
from ontodex.readers.tables.table import Table
from ontodex.readers.xml_guard import XML, kind_of, language_of

__all__ = ["Elements", "mappings_of", "read_elements"]

UNIT = "\x1f"
"""The character between the values of a cell; XML cannot contain this character."""

NAME = re.compile(r"[A-Za-z_][\w.-]*(?![^\[]*\])")
"""The name of an element in a path."""

ABOVE, PATH = "..", "path()"
"""Columns that every table has: id of the enclosing row; labels from the outermost row down."""


def mappings_of(root: Element, given: Sequence[TableMapping]) -> tuple[TableMapping, ...]:
    """Return the given mappings that match elements of a document, or those of its vocabulary."""
    names = {kind_of(element) for element in root.iter() if isinstance(element.tag, str)}
    fitting = (
        mapping
        for mapping in given
        if any(NAME.findall(path)[-1:] and NAME.findall(path)[-1] in names for path in mapping.rows)
    )
    return tuple(fitting) or _vocabularies().get(kind_of(root), ())


@cache
def _vocabularies() -> dict[str, tuple[TableMapping, ...]]:
    """Return the mappings of each vocabulary, by the name of its root element."""
    found = {}
    for file in files("ontodex.readers.tables.vocabularies").iterdir():
        if file.name.endswith(".yaml"):
            values = yaml.safe_load(file.read_text("utf-8"))
            roots = values["root"] if isinstance(values["root"], list) else [values["root"]]
            tables = tuple(mapping_from(one, file.name) for one in values["tables"])
            found.update(dict.fromkeys(roots, tables))
    return found


@dataclass(frozen=True)
class Elements:
    """A document whose elements are read with mappings.

    Attributes:
        root: The root element.
        mappings: Which elements are rows, and what their columns hold.
    """

    root: Element
    mappings: tuple[TableMapping, ...]


def read_elements(
    document: Elements,
    builder: GraphBuilder,
    problems: Problems,
    table: Table,
) -> None:
    """Read the elements of a document with mappings.

    ``rows`` of a mapping selects elements. The columns are paths from these elements: ``Name``,
    ``@code``, ``Rubric[@kind='preferred']/Label``; the path ``..`` is the id of the enclosing row.
    See `the paths <https://docs.python.org/3/library/xml.etree.elementtree.html#xpath-support>`_.
    Names are without namespaces. If values are in several languages, the values in the preferred
    one are used.

    Args:
        document: The document.
        builder: Receives entities and links.
        problems: Receives elements that are neither.
        table: Receives the mappings.

    Raises:
        ReadError: If no element matches ``rows`` of a mapping.
        SettingsError: If a path is faulty.
    """
    root, mappings = document.root, document.mappings

    def report(what: str, number: int) -> None:
        problems.report(f"{what} in element {number}")

    for element in root.iter():
        if isinstance(element.tag, str):
            element.tag = kind_of(element)
    elements = _Elements(root, mappings, builder.language)
    tables = [(mapping, elements.columns(mapping)) for mapping in mappings]
    found = [(mapping, cells) for mapping, cells in tables if next(iter(cells.values()), ())]
    if not found:
        paths = ", ".join(path for mapping in mappings for path in mapping.rows)
        raise ReadError(f"expected elements {paths}, found none", builder.source)
    for (mapping, cells), keys in zip(found, resolved(found), strict=True):
        columns = [*cells]
        rows = [
            (number, [keys.cell(name, cell, UNIT) for name, cell in zip(columns, row, strict=True)])
            for number, row in enumerate(zip(*cells.values(), strict=True), start=1)
        ]
        own, separators = Table(mapping.table), dict.fromkeys(columns, UNIT)
        of_cells = replace(mapping, separators=separators)
        add_rows(of_cells, columns, rows, builder, problems, own, report)
        table.read_by.append(mapping)
        table.first_ids += own.first_ids


class _Elements:
    """The elements of a document as rows.

    Args:
        root: The root element.
        mappings: Which elements are rows, and what their columns hold.
        language: Tag of the preferred language of texts.

    Raises:
        SettingsError: If a path is faulty.
    """

    def __init__(self, root: Element, mappings: Sequence[TableMapping], language: str) -> None:
        self._language = language
        self._around = {inside: element for element in root.iter() for inside in element}
        self._rows = {
            mapping.table: [one for path in mapping.rows for one in _found(root, path)]
            for mapping in mappings
        }
        self._mapping_of = {
            row: mapping for mapping in mappings for row in self._rows[mapping.table]
        }
        self._labels: dict[Element, Category] = {}

    def columns(self, mapping: TableMapping) -> dict[str, list[str]]:
        """Return the cells of the columns that a mapping reads."""
        return {
            column: [self._cell(row, column, mapping) for row in self._rows[mapping.table]]
            for column in mapping.used
        }

    def _cell(self, row: Element, column: str, mapping: TableMapping) -> str:
        values = self._values(row, column)
        is_single = column in (*mapping.id, *mapping.label, *mapping.definition)
        return UNIT.join(values[:1] if is_single else values)

    def _values(self, row: Element, column: str) -> list[str]:
        """Return the values at the path of a column in a row, in the best language."""
        if column == ABOVE:
            above = self._row_around(row)
            return self._first(above, self._mapping_of[above].id) if above is not None else []
        if column == PATH:
            return [path_of(self._path(row))]
        path, _, last = column.rpartition("/")
        path, attribute = (path, last[1:]) if last.startswith("@") else (column, "")
        attribute = attribute.replace("xml:", XML)
        elements = _found(row, path) if path not in ("", ".") else [row]
        if attribute:
            return [one.attrib[attribute] for one in elements if one.attrib.get(attribute)]
        ranked = [(language_rank(language_of(one), self._language), _text(one)) for one in elements]
        best = min((rank for rank, text in ranked if text), default=0)
        return [text for rank, text in ranked if text and rank == best]

    def _row_around(self, row: Element) -> Element | None:
        """Return the row that encloses an element, or ``None``."""
        above = self._around.get(row)
        while above is not None and above not in self._mapping_of:
            above = self._around.get(above)
        return above

    def _first(self, row: Element, columns: Sequence[str]) -> list[str]:
        return next((values[:1] for one in columns if (values := self._values(row, one))), [])

    def _path(self, row: Element) -> Category:
        """Return the labels of the enclosing rows and the row, outermost first."""
        if row not in self._labels:
            above = self._row_around(row)
            before = self._path(above) if above is not None else ()
            label = self._first(row, self._mapping_of[row].label)
            self._labels[row] = (*before, *label)[-DEEPEST:] if label else before
        return self._labels[row]


def _found(element: Element, path: str) -> list[Element]:
    """Return the elements at a path.

    Raises:
        SettingsError: If the path is faulty.
    """
    try:
        return element.findall(path)
    except (SyntaxError, KeyError, TypeError, ValueError) as error:
        raise SettingsError(
            f"mapping: expected a path of elements such as .//Class or Name/@code, found {path!r} "
            f"({error})"
        ) from None


def _text(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())
