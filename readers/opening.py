"""Sources before they are read: what files of JSON, YAML and XML hold, and tables with ids in place of keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ontodex.errors import ReadError
from ontodex.readers.archives import Archives
from ontodex.readers.cx import is_cx, nodes_and_links
from ontodex.readers.formats import format_of
from ontodex.readers.joining import Document, gathered, joined
from ontodex.readers.mapping.joins import remarks_on
from ontodex.readers.mapping.model import TableMapping
from ontodex.readers.memory import is_frame, table_of_frame
from ontodex.readers.problems import Problems
from ontodex.readers.records import json_of, lists_of, rows_in
from ontodex.readers.tables.table import Table, table_name
from ontodex.readers.tables.workbooks import Sheet
from ontodex.readers.tables.xml import mappings_of
from ontodex.readers.wikibase import is_wikibase
from ontodex.readers.xml_records import xml_records, xml_root
from ontodex.readers.yaml_files import yaml_of

__all__ = ["How", "opened_sources"]


@dataclass(frozen=True)
class How:
    """How sources are read; see :func:`ontodex.readers.read`."""

    on_error: str
    format: str | None
    language: str
    negated: bool
    archives: Archives
    mappings: tuple[TableMapping, ...] = ()

    def problems(self, source: str) -> Problems:
        """Return what collects the faulty parts of a source."""
        return Problems(self.on_error, self.archives.named(source), self.archives.named)


def opened_sources(sources: Sequence[Any], how: How) -> list[tuple[int, Any, Table]]:
    """Return what is to be read: the number of the source that it is of, what it is, and what is known of its table.

    What a file of JSON, YAML or XML holds stands for it, or why it cannot be read; the lists of a document are sources of
    their own if keys join them to other tables, and the records in a folder of files that hold one each are one.

    Args:
        sources: Files and folders that are one source each, sheets, and objects.
        how: How they are read.
    """
    names = [table_name(one) for one in sources]
    tables = [
        Table(
            name,
            frozenset(names) - {name, ""},
            is_alone=len(names) == 1,
            mappings=how.mappings,
        )
        for name in names
    ]
    sources = gathered([_opened(one, how) for one in sources])
    at = [number for number, one in enumerate(sources) if _may_be_joined(one, how, len(sources))]
    may_be = [
        table_of_frame(sources[number]) if is_frame(sources[number]) else sources[number]
        for number in at
    ]
    found = dict(
        zip(at, joined(may_be, [tables[number].name for number in at], how.mappings), strict=True)
    )
    joins = [join for of_source in found.values() for _, join in of_source]
    joined_names = frozenset(join.table for join in joins)
    read: list[tuple[int, Any, Table]] = []
    for number, (one, table) in enumerate(zip(sources, tables, strict=True)):
        if one is None:
            continue
        read += [(number, one, table)] if not found.get(number) else []
        for source, join in found.get(number, ()):
            others = (joined_names | table.others) - {join.table, ""}
            is_given = any(join is mapping for mapping in how.mappings)
            part = Table(
                join.table,
                others,
                is_alone=False,
                is_of_others=bool(join.rows_about),
                mappings=(join,) if is_given else (),
                join=None if is_given else join,
            )
            read.append((number, source, part))
    given = {id(mapping) for mapping in how.mappings}
    for what in remarks_on([join for join in joins if id(join) not in given]):
        how.problems(str(getattr(may_be[0], "path", may_be[0]))).remark(what)
    return read


def _opened(source: Any, how: How) -> Any:
    """Return what a file of JSON, YAML or XML holds, or why it cannot be read; any other source as it is."""
    if not isinstance(source, Path) or not source.is_file():
        return source
    try:
        format = how.format or format_of(source)
        if format not in ("json", "yaml", "xml"):
            return source
        problems = how.problems(str(source))
        if format == "xml":
            root = xml_root(source)
            if mapped := mappings_of(root, how.mappings):
                return Document(source, problems, {}, form="elements", value=(root, mapped))
            return Document(source, problems, xml_records(root, source, how.language))
        value = yaml_of(source) if format == "yaml" else json_of(source, problems)
        if isinstance(value, dict) and isinstance(value.get("graphs"), list):
            return Document(source, problems, {}, form="obographs", value=value)
        value = nodes_and_links(value, problems) if is_cx(value) else value
        if rows := rows_in(value):
            return Sheet(
                source, "", [*enumerate(rows, start=1)], has_header=isinstance(value, dict)
            )
        lists = lists_of(value, source.stem)
        if is_wikibase(chain.from_iterable(lists.values())):
            return Document(
                source, problems, {}, form="wikibase", value=chain.from_iterable(lists.values())
            )
        return Document(
            source,
            problems,
            lists,
            is_record=any(one is value for records in lists.values() for one in records),
        )
    except ReadError as error:
        return error


def _may_be_joined(source: Any, how: How, count: int) -> bool:
    """Tell whether one of so many sources is a table among others, or holds several."""
    if isinstance(source, Document):
        return count > 1 or len(source.lists) > 1
    if how.mappings and isinstance(source, Path | Sheet):
        count += any(mapping.keys or mapping.id_prefix for mapping in how.mappings)
    if isinstance(source, Path) and count > 1 and source.is_file():
        return (how.format or format_of(source)) == "table"
    return count > 1 and (isinstance(source, Sheet) or is_frame(source))
