"""Formats of tables and records, which are opened first, then joined by their keys, then read.

Opening a file of such a format returns tables (:class:`.tables.workbooks.Sheet`, or the path of a
text file that is read row by row) or records (:class:`.joining.Document`). ``opening.py`` joins
the tables and records of all sources. :func:`read_tabular` reads one of them into a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.biomedical.cx import is_cx, nodes_and_links
from ontodex.readers.formats import (
    TABLE_SUFFIXES,
    FileFormat,
    NamedFormat,
    Source,
    first_line,
    is_binary,
    looks_like_json,
    looks_like_xml,
    never,
    suffix_of,
)
from ontodex.readers.joining import Document
from ontodex.readers.ontologies.obographs import read_obographs
from ontodex.readers.ontologies.rdf import is_semantic_sql, read_semantic_sql
from ontodex.readers.problems import Problems
from ontodex.readers.records import json_of, lists_of, read_records, rows_in
from ontodex.readers.table_files import read_paths, read_table
from ontodex.readers.tables.databases import is_database, tables_of
from ontodex.readers.tables.table import Table
from ontodex.readers.tables.workbooks import Sheet, is_workbook, sheets_of
from ontodex.readers.wikibase import is_wikibase, read_wikibase
from ontodex.readers.xml_records import xml_records, xml_root
from ontodex.readers.xml_tables import Elements, mappings_of, read_elements
from ontodex.readers.yaml_files import yaml_of

__all__ = [
    "DATABASE",
    "JSON",
    "PATHS",
    "TABLE",
    "WORKBOOK",
    "XML",
    "YAML",
    "TabularFormat",
    "read_tabular",
]


@dataclass(frozen=True)
class NamedDocument:
    """A document in a vocabulary that has a reader of its own; it is never joined.

    Attributes:
        value: The parsed content of the file, or its path.
        reader: Reads the value into a builder, and reports faulty parts.
    """

    value: Any
    reader: Callable[[Any, GraphBuilder, Problems], None]


Content = Path | Sheet | Document | Elements | NamedDocument
"""Content of a file: text file, table, records, XML elements, or document with its own reader."""


@dataclass(frozen=True)
class TabularFormat(NamedFormat):
    """A format of tables or records.

    Attributes:
        matches: Returns whether a file is in the format, given its path and first bytes.
        opener: Returns the tables and records of a file, and reports faulty parts.
    """

    matches: Callable[[Path, bytes], bool]
    opener: Callable[[Source, Problems], Sequence[Content]]

    def sniff(self, path: Path, head: bytes) -> bool:
        """Tell whether a file is in this format."""
        return self.matches(path, head)

    def open(self, source: Source, problems: Problems) -> Sequence[Content]:
        """Return the tables and records of a file; each becomes the ``content`` of its own source.

        Raises:
            ReadError: If the file cannot be opened.
        """
        return self.opener(source, problems)

    def read(self, source: Source, builder: GraphBuilder, problems: Problems) -> None:
        """Read one of the tables or records that :meth:`open` returned."""
        read_tabular(source, builder, problems)


def read_tabular(source: Source, builder: GraphBuilder, problems: Problems) -> None:
    """Read the table or the records that are the content of a source.

    Args:
        source: The source; ``source.table`` receives ids and unread columns.
        builder: Receives entities, relations and triples.
        problems: Receives faulty rows, and remarks.

    Raises:
        ReadError: If the content is neither triples nor entities.
    """
    content = source.content
    if isinstance(content, NamedDocument):
        content.reader(content.value, builder, problems)
    elif isinstance(content, Elements):
        read_elements(content, builder, problems, source.table)
    elif isinstance(content, Document):
        records = [*chain.from_iterable(content.lists.values())]
        read_records(records, content.path, builder, problems, source.table)
    else:
        read_table(content, builder, problems, source.table)


# Tables -----------------------------------------------------------------------------------------


def _is_table(path: Path, head: bytes) -> bool:
    first = first_line(head)
    has_cells = first.count(b"\t") >= 2 or first.count(b",") >= 2
    return not is_binary(head) and (has_cells or suffix_of(path) in TABLE_SUFFIXES)


TABLE = TabularFormat(
    "table",
    TABLE_SUFFIXES,
    "Triples, or entities with an id, a label or a parent, in TSV or CSV (SSSOM, KGTK, …).",
    matches=_is_table,
    opener=lambda source, problems: [source.path],
)

WORKBOOK = TabularFormat(
    "workbook",
    (".xlsx", ".xlsm"),
    "Tables in the sheets of an Excel workbook.",
    matches=lambda path, head: is_workbook(path),
    opener=lambda source, problems: sheets_of(source.path),
)


def _open_database(source: Source, problems: Problems) -> Sequence[Content]:
    if is_semantic_sql(source.path):
        return [NamedDocument(source.path, read_semantic_sql)]
    return tables_of(source.path)


DATABASE = TabularFormat(
    "database",
    (".db", ".sqlite", ".sqlite3"),
    "Tables of an SQLite database, or an ontology in Semantic-SQL.",
    matches=lambda path, head: is_database(path),
    opener=_open_database,
)


# Records ----------------------------------------------------------------------------------------


def _contents(value: Any, source: Source, problems: Problems) -> list[Content]:
    """Return the content of a JSON or YAML document: a named document, a table, or records."""
    path = source.path
    if isinstance(value, dict) and isinstance(value.get("graphs"), list):
        return [NamedDocument(value, read_obographs)]
    value = nodes_and_links(value, problems) if is_cx(value) else value
    if rows := rows_in(value):
        return [Sheet(path, "", [*enumerate(rows, start=1)], has_header=isinstance(value, dict))]
    lists = lists_of(value, path.stem)
    entities = [*chain.from_iterable(lists.values())]
    if is_wikibase(entities):
        return [NamedDocument(entities, read_wikibase)]
    is_record = any(one is value for one in entities)
    return [Document(path, problems, lists, is_record=is_record)]


JSON = TabularFormat(
    "json",
    (".json", ".jsonl", ".ndjson"),
    "Records in JSON, one document or one a line; OBO graphs, Wikibase entities, CX networks.",
    matches=lambda path, head: looks_like_json(head),
    opener=lambda source, problems: _contents(json_of(source.path, problems), source, problems),
)

YAML_SUFFIXES = (".yaml", ".yml")

YAML = TabularFormat(
    "yaml",
    YAML_SUFFIXES,
    "Records in YAML, and schemas of LinkML.",
    matches=lambda path, head: suffix_of(path) in YAML_SUFFIXES,
    opener=lambda source, problems: _contents(yaml_of(source.path), source, problems),
)


def _open_xml(source: Source, problems: Problems) -> Sequence[Content]:
    root = xml_root(source.path)
    if mappings := mappings_of(root, source.settings.mappings):
        return [Elements(root, mappings)]
    lists = xml_records(root, source.path, source.settings.language)
    return [Document(source.path, problems, lists)]


XML = TabularFormat(
    "xml",
    (".xml",),
    "Records in the elements of XML: ClaML, ICD, MeSH, Orphanet, OPML and others.",
    matches=lambda path, head: looks_like_xml(head),
    opener=_open_xml,
)


# Lines ------------------------------------------------------------------------------------------


PATHS = FileFormat(
    "paths",
    (),
    "Paths of categories, one a line (Animals > Birds); tables of paths are detected.",
    matches=never,
    reader=lambda path, builder, problems: read_paths(path, builder, problems, Table()),
)
