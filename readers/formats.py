"""Formats: the protocol that readers and plug-ins implement, and the sources that they read.

To add a format, write an object with the members of :class:`Format` and list it in
``ontodex.readers.registry``. A separate package registers the object as an entry point instead::

    [project.entry-points."ontodex.readers"]
    toy = "toy_format:FORMAT"

:class:`FileFormat` and :func:`folder_format` build a format from two functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from ontodex.errors import ReadError, SettingsError, expect_choice
from ontodex.graph.builder import LANGUAGE, GraphBuilder
from ontodex.readers.files import plain_name
from ontodex.readers.problems import ON_ERROR, Problems
from ontodex.readers.tables.mapping import TableMapping
from ontodex.readers.tables.table import Table

__all__ = [
    "FOLDER",
    "TABLE_SUFFIXES",
    "FileFormat",
    "Format",
    "NamedFormat",
    "ReadSettings",
    "Source",
    "expect_folder",
    "first_line",
    "folder_format",
    "is_binary",
    "looks_like_json",
    "looks_like_xml",
    "never",
    "suffix_of",
    "syntax_matches",
    "uncommented",
]

FOLDER = "/"
"""The only suffix of a format whose sources are folders."""

TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".tab")
"""Suffixes of tables; their cells may contain text that looks like another format."""

SYNTAX_SUFFIXES = frozenset(
    (".obo", ".ttl", ".turtle", ".nt", ".ntriples", ".nq", ".nquads", ".trig")
)
"""Suffixes that identify a text syntax of OBO or RDF; the content is then not examined."""

XML = re.compile(
    rb"<(?:[!?]|[A-Za-z_][\w:.-]*(?:\s+[\w:.-]+\s*=[^<>]*>|\s*/?>(?!\s+<[^<>\s]*>\s+[<\"_])))"
)
"""The beginning of an XML document, but not an IRI in angle brackets as in N-Triples."""

NO_JSON = re.compile(rb"\[(?:Term|Typedef|Instance)\]|\[\s*(?:a\s|<|\])")
"""A bracket that starts a stanza of OBO or a blank node of Turtle, not a JSON list."""

LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")


@dataclass(frozen=True)
class ReadSettings:
    """Settings of :func:`ontodex.read`, the same for all sources of a call.

    Args:
        on_error: What to do about faulty parts: ``"raise"``, ``"warn"`` or ``"skip"``.
        format: Name of the format of all sources; ``None`` to detect it for each.
        language: Tag of the preferred language of labels, synonyms and definitions.
        negated: Read the links that a source negates, instead of the links that it asserts.
        mappings: What the columns of tables hold. For a table that no mapping fits, the mapping is
            guessed.

    Raises:
        SettingsError: If ``on_error`` is unknown or ``language`` is not a language tag.
    """

    on_error: str = "warn"
    format: str | None = None
    language: str = LANGUAGE
    negated: bool = False
    mappings: tuple[TableMapping, ...] = ()

    def __post_init__(self) -> None:
        expect_choice("on_error", self.on_error, ON_ERROR)
        if not LANGUAGE_TAG.fullmatch(str(self.language)):
            raise SettingsError(
                f"language: expected a tag such as 'en', 'de' or 'pt-BR', found {self.language!r}"
            )


@dataclass(frozen=True)
class Source:
    """A file, folder or object, or a part of a file, that a format reads into one graph.

    Attributes:
        path: The file or folder. For an object in memory, the name of its class.
        settings: Settings of the call.
        content: For an object in memory, the object. For a format that opens files before they are
            read, what was found: one of the tables, or a parsed document. Otherwise ``None``.
        table: Receives the ids and the unread columns of a table, so that tables that are read
            together can be compared.
    """

    path: Path
    settings: ReadSettings = field(default_factory=ReadSettings)
    content: Any = None
    table: Table = field(default_factory=Table)


class Format(Protocol):
    """A format of files or folders.

    Attributes:
        name: Name of the format for users (``format=``, ``--format``).
        suffixes: Lower-case suffixes of its files, such as ``.obo``; ``(FOLDER,)`` for folders.
        description: One sentence for ``ontodex formats``.
    """

    @property
    def name(self) -> str:
        """See the class."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """See the class."""

    @property
    def description(self) -> str:
        """See the class."""

    def sniff(self, path: Path, head: bytes) -> bool:
        """Tell whether a file or folder is in this format.

        The registry asks its formats in order, once for each source, and uses the first format that
        returns true.

        Args:
            path: The file, or the folder if :attr:`suffixes` is ``(FOLDER,)``.
            head: The first 64 KiB of the file, decompressed; empty for a folder.
        """

    def read(self, source: Source, builder: GraphBuilder, problems: Problems) -> None:
        """Read a source.

        Args:
            source: The source and its settings.
            builder: Receives entities, relations and triples.
            problems: Receives faulty parts, with their lines, and remarks.

        Raises:
            ReadError: If the source cannot be read.
        """


@dataclass(frozen=True)
class NamedFormat:
    """The attributes that every format has; see :class:`Format`."""

    name: str
    suffixes: tuple[str, ...]
    description: str


@dataclass(frozen=True)
class FileFormat(NamedFormat):
    """A format of files or folders whose reader needs only the path of a file, and no settings.

    Attributes:
        matches: Returns whether a file is in the format, given its path and first bytes.
        reader: Reads what is at a path into a builder, and reports faulty parts.
    """

    matches: Callable[[Path, bytes], bool]
    reader: Callable[[Path, GraphBuilder, Problems], None]

    def sniff(self, path: Path, head: bytes) -> bool:
        """Tell whether a file is in this format."""
        return self.matches(path, head)

    def read(self, source: Source, builder: GraphBuilder, problems: Problems) -> None:
        """Read a file or folder."""
        if FOLDER in self.suffixes:
            expect_folder(source.path, self.name)
        self.reader(source.path, builder, problems)


def folder_format(
    name: str,
    description: str,
    matches: Callable[[Path], bool],
    reader: Callable[[Path, GraphBuilder, Problems], None],
) -> FileFormat:
    """Return a format of folders whose reader needs only the path of a folder, and no settings."""
    return FileFormat(name, (FOLDER,), description, lambda path, head: matches(path), reader)


def expect_folder(path: Path, format: str) -> None:
    """Check that a source of a folder format is a folder.

    Raises:
        ReadError: If the path is not a folder.
    """
    if not path.is_dir():
        raise ReadError(f"expected a folder for the format {format!r}, found a file", str(path))


# Detection by first bytes and suffix ------------------------------------------------------------


def never(path: Path, head: bytes) -> bool:
    """Match no file; this is for formats that are used only if ``format=`` names them."""
    return False


def suffix_of(path: Path) -> str:
    """Return the lower-case suffix of a file, before a suffix of compression such as ``.gz``.

    >>> suffix_of(Path("pets.OBO.gz"))
    '.obo'
    """
    return Path(plain_name(path)).suffix


def syntax_matches(path: Path, suffixes: tuple[str, ...], *, content: object = False) -> bool:
    """Tell whether a text is in a syntax of OBO or RDF, by its suffix or else by its content.

    Args:
        path: The file.
        suffixes: Suffixes of the syntax.
        content: Whether the first bytes look like the syntax; used only if the suffix is not a
            suffix of any syntax of OBO or RDF.
    """
    suffix = suffix_of(path)
    return suffix in suffixes or (suffix not in SYNTAX_SUFFIXES and bool(content))


@lru_cache(maxsize=1)
def uncommented(head: bytes) -> bytes:
    """Return the first bytes of a file without lines that start with ``#`` or ``!``."""
    return b"\n".join(
        line for line in head.splitlines() if not line.lstrip().startswith((b"#", b"!"))
    )


def first_line(head: bytes) -> bytes:
    """Return the first line of a file that is neither blank nor a comment."""
    return next((line for line in uncommented(head).splitlines() if line.strip()), b"")


def is_binary(head: bytes) -> bool:
    """Tell whether first bytes are binary: many of the first 1,024 are control characters."""
    return sum(byte < 9 for byte in head.lstrip()[:1024]) > 8


def looks_like_xml(head: bytes) -> bool:
    """Tell whether a file begins like XML."""
    return bool(XML.match(head.lstrip()))


def looks_like_json(head: bytes) -> bool:
    """Tell whether a file begins like JSON, with an object or a list."""
    start = head.lstrip()
    return start.startswith((b"{", b"[")) and not NO_JSON.match(start)
