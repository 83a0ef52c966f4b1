"""Splitting the sources that a user names into pieces, each of which is read into one graph.

Archives are unpacked, folders are replaced by their files, the format of each file is detected,
files of tables and records are opened, and tables are joined by their keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ontodex.errors import ReadError, SettingsError
from ontodex.graph.builder import GraphBuilder
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.readers import registry
from ontodex.readers.archives import Archives, innermost, is_archive
from ontodex.readers.formats import FOLDER, Format, ReadSettings, Source
from ontodex.readers.joining import Document, joined
from ontodex.readers.mapping.joins import remarks_on
from ontodex.readers.memory import is_frame, read_object, table_of_frame
from ontodex.readers.problems import Problems
from ontodex.readers.records import say_the_same
from ontodex.readers.tables.declared import DATA_PACKAGE, Declared, declared_by
from ontodex.readers.tables.table import Table, table_name
from ontodex.readers.tables.workbooks import Sheet
from ontodex.readers.tabular import TabularFormat, read_tabular

__all__ = ["Piece", "Session", "opened"]

ABOUT_OTHERS = re.compile(
    r"(?:readme|licen[cs]e|changelog)(?:\.txt)?|datapackage\.json|.*\.(?:md|rst|pdf|html?)",
    re.IGNORECASE,
)
"""Names of files that describe the other files of a folder, and are not read."""

SHOWN = 5
"""Maximal number of file names that a message lists."""

Reader = Callable[[Source, GraphBuilder, Problems], None]


@dataclass(frozen=True)
class Session:
    """Settings and archives that all sources of one call of :func:`ontodex.read` share.

    Attributes:
        settings: Settings of the call.
        archives: Context in which archives are unpacked, until the call ends.
    """

    settings: ReadSettings
    archives: Archives

    def problems(self, name: object) -> Problems:
        """Return a collector of the faulty parts of a source."""
        return Problems(self.settings.on_error, str(name), self.archives.named)


@dataclass(frozen=True)
class Piece:
    """A file, folder, object, or table or list in a file, that is read into one graph.

    Attributes:
        source: The source with its settings.
        problems: Receives the faulty parts of the source.
        reader: Reads the source; not called if there is a fault.
        fault: Error that says why the source cannot be read, or ``None``.
        kind: ``"file"``, ``"table"`` or ``"list"``, for messages.
        has_siblings: Whether the source that the user named has other pieces.
    """

    source: Source
    problems: Problems
    reader: Reader
    fault: ReadError | None = None
    kind: str = "file"
    has_siblings: bool = False

    def of(self, content: Any, table: Table | None = None, **changes: Any) -> Piece:
        """Return the piece with another content, and with other attributes."""
        table = table or self.source.table
        return replace(self, source=replace(self.source, content=content, table=table), **changes)

    @property
    def place(self) -> Path:
        """The folder of a file, or the file of a table or a list."""
        return self.source.path.parent if self.kind == "file" else self.source.path


def opened(sources: Sequence[Any], session: Session) -> list[Piece]:
    """Return the pieces of sources, in order, with tables joined: foreign keys are replaced by ids.

    Args:
        sources: Paths and objects in memory.
        session: Settings and archives of the call.

    Raises:
        ReadError: If no file of a folder can be read, or if ``on_error`` is ``"raise"`` and one
            file of a folder cannot.
    """
    pieces: list[Piece] = []
    for one in sources:
        inside = [*_pieces(one, session)]
        pieces += [replace(piece, has_siblings=len(inside) > 1) for piece in inside]
    names = [_table_name(piece.source) for piece in pieces]
    tables = [
        Table(
            name,
            frozenset(names) - {name, ""},
            negated=session.settings.negated,
            mappings=session.settings.mappings,
            declared=_declared(piece.source),
        )
        for name, piece in zip(names, pieces, strict=True)
    ]
    named = [
        piece.of(piece.source.content, table) for piece, table in zip(pieces, tables, strict=True)
    ]
    return [*_joined(_gathered(named), session, count=len(named))]


# Sources to pieces ------------------------------------------------------------------------------


def _pieces(source: Any, session: Session) -> Iterator[Piece]:
    """Yield the pieces of a source: an object in memory, a folder, an archive or a file."""
    if not isinstance(source, str | Path):
        yield _object_piece(source, session)
        return
    path = innermost(session.archives.unpacked(Path(source)))
    if path.is_dir():
        yield from _in_folder(path, session)
        return
    try:
        yield from _in_file(path, session)
    except ReadError as error:
        of = Source(path, session.settings)
        yield Piece(of, session.problems(path), read_tabular, fault=error)


def _object_piece(source: Any, session: Session) -> Piece:
    """Return an object in memory as a piece.

    Raises:
        SettingsError: If a format is given for an object that is not a :class:`KnowledgeGraph`.
    """
    settings = session.settings
    is_graph = isinstance(source, KnowledgeGraph)
    if settings.format is not None and not is_graph:
        raise SettingsError(
            f"format: expected None for a source in memory, found {settings.format!r}"
        )
    name = source.source if is_graph else type(source).__name__
    problems, path = session.problems(name), Path(type(source).__name__)
    if is_frame(source):
        content = table_of_frame(source, problems)
        return Piece(Source(path, settings, content), problems, read_tabular)
    return Piece(Source(path, settings, source), problems, read_object)


def _in_folder(folder: Path, session: Session) -> Iterator[Piece]:
    """Yield a folder as one piece if it is in a folder format, or else the pieces of its files.

    Raises:
        ReadError: If no file can be read, or if ``on_error`` is ``"raise"`` and one cannot.
    """
    name = session.settings.format
    format = registry.sniff_folder(folder) if name is None else _named_folder(folder, name)
    if format is not None:
        yield _piece(folder, format, session)
        return
    inside = sorted(one for one in folder.iterdir() if not one.name.startswith("."))
    found, others = list[Piece](), list[str]()
    for path in inside:
        of_file = [] if path.is_dir() else _of_folder(path, session)
        found += of_file
        others += [] if of_file or path.name == DATA_PACKAGE else [path.name]
    if not found:
        named = ", ".join(one.name for one in inside[:SHOWN]) or "none"
        raise ReadError(
            f"expected files that ontodex reads, found {named}; name a folder that has some, or a "
            "file",
            str(folder),
        )
    if others:
        session.problems(folder).remark(
            f"left out {len(others)} folder(s) and file(s) of other formats in it "
            f"({', '.join(others[:SHOWN])}); name what is to be read too"
        )
    yield from found


def _named_folder(folder: Path, name: str) -> Format | None:
    """Return the folder format in which to read a folder, given the name of a format.

    If the named format is not a folder format, a folder of benchmark splits still has the format
    ``splits``, and the result for other folders is ``None``.
    """
    format = registry.with_name(name)
    if FOLDER in format.suffixes:
        return format
    splits = registry.with_name("splits")
    return splits if splits.sniff(folder, b"") else None


def _of_folder(path: Path, session: Session) -> list[Piece]:
    """Return the pieces of a file in a folder.

    A file that describes the other files or is in no known format has no pieces.

    Raises:
        ReadError: If the file is in no known format, and ``on_error`` is ``"raise"``.
    """
    if session.settings.format is None and ABOUT_OTHERS.fullmatch(path.name):
        return []
    try:
        return [*(_pieces if is_archive(path) else _in_file)(path, session)]
    except ReadError:
        if session.settings.on_error == "raise":
            raise
        return []


def _in_file(path: Path, session: Session) -> Iterator[Piece]:
    """Yield a file as one piece, or, if its format opens files, a piece for each content found.

    Raises:
        ReadError: If there is no file, or the file is in no known format.
    """
    if not path.exists():
        raise ReadError(
            "expected a file or a folder, found nothing of this name; check the path", str(path)
        )
    name = session.settings.format
    format = registry.sniff(path) if name is None else registry.with_name(name)
    piece = _piece(path, format, session)
    if not isinstance(format, TabularFormat):
        yield piece
        return
    try:
        contents = format.open(piece.source, piece.problems)
    except ReadError as error:
        yield replace(piece, fault=error)
        return
    for content in contents:
        if not isinstance(content, Sheet):
            yield piece.of(content)
            continue
        problems = session.problems(content) if content.name else piece.problems
        yield piece.of(content, problems=problems, kind="table")


def _piece(path: Path, format: Format, session: Session) -> Piece:
    return Piece(Source(path, session.settings), session.problems(path), format.read)


# Tables that are read together ------------------------------------------------------------------


def _table_name(source: Source) -> str:
    """Return the name of a sheet or else of the file, in words."""
    if isinstance(source.content, Sheet) and source.content.name:
        return table_name(source.content)
    return table_name(source.path)


def _declared(source: Source) -> Declared:
    """Return what a data package beside a file declares about the table in the file."""
    return declared_by(source.content) if isinstance(source.content, Path) else Declared()


def _gathered(pieces: Sequence[Piece]) -> list[Piece]:
    """Return pieces, with the files of a folder that have one record each as one piece.

    The piece takes the position of the first of these files. Files stay apart if their records have
    different keys.
    """
    by_folder: dict[Path, list[Piece]] = {}
    for piece in pieces:
        content = piece.source.content
        if isinstance(content, Document) and content.is_record:
            by_folder.setdefault(content.path.parent, []).append(piece)
    instead: dict[int, Piece | None] = {}
    for folder, (first, *others) in by_folder.items():
        lists = chain.from_iterable(one.source.content.lists.values() for one in (first, *others))
        records = [*chain.from_iterable(lists)]
        if others and say_the_same(records):
            problems = first.problems.of(str(folder))
            document = Document(folder, problems, {folder.name: records})
            instead.update(dict.fromkeys(map(id, others)))
            instead[id(first)] = first.of(document, problems=problems)
    found = (instead.get(id(piece), piece) for piece in pieces)
    return [piece for piece in found if piece is not None]


def _joined(pieces: Sequence[Piece], session: Session, count: int) -> Iterator[Piece]:
    """Yield pieces with tables joined (foreign keys replaced by ids), and warn of guessed joins.

    If a list of a document is joined, each list of the document becomes a piece.

    Args:
        pieces: All pieces.
        session: Settings and archives of the call.
        count: Number of pieces before record files were combined.
    """
    mappings = session.settings.mappings
    count += any(mapping.keys or mapping.id_prefix for mapping in mappings)
    tables = {
        number: content
        for number, piece in enumerate(pieces)
        if _may_join(content := piece.source.content, count)
    }
    of_pieces = [pieces[number].source.table for number in tables]
    found = dict(zip(tables, joined([*tables.values()], of_pieces, mappings), strict=True))
    joins = [join for of_piece in found.values() for _, join in of_piece]
    join_names = frozenset(join.table for join in joins)
    given = {id(mapping) for mapping in mappings}
    for number, piece in enumerate(pieces):
        if not found.get(number):
            yield piece
            continue
        others = piece.source.table.others | join_names
        for content, join in found[number]:
            table = Table(
                join.table,
                others - {join.table, ""},
                negated=session.settings.negated,
                declared=piece.source.table.declared,
                mappings=(join,) if id(join) in given else (),
                join=None if id(join) in given else join,
            )
            problems, kind = piece.problems, "table"
            if isinstance(content, Document):
                problems, kind = content.problems, "list" if len(found[number]) > 1 else "file"
            yield piece.of(content, table, problems=problems, kind=kind, reader=read_tabular)
    for what in remarks_on([join for join in joins if id(join) not in given]):
        first = next(iter(tables.values()))
        session.problems(getattr(first, "path", first)).remark(what)


def _may_join(content: Any, count: int) -> bool:
    """Tell whether a content is a table or document to join, given the number of pieces."""
    if isinstance(content, Document):
        return count > 1 or len(content.lists) > 1
    return count > 1 and isinstance(content, Path | Sheet)
