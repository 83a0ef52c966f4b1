"""Untrusted XML: entity declarations are checked before a parser expands them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from xml.etree.ElementTree import Element, ParseError

from ontodex.errors import ReadError

__all__ = [
    "LANGUAGES",
    "XML",
    "GuardedXml",
    "after_prolog",
    "check_doctype",
    "kind_of",
    "language_of",
    "well_formed",
]

XML = "{http://www.w3.org/XML/1998/namespace}"
"""Prefix of the names in XML's own namespace, such as ``lang`` and ``base``, in ElementTree."""

LANGUAGES = (f"{XML}lang", "lang")
"""Attributes with the language of the text of an element."""

HEAD = 1 << 20
LONGEST = 500
"""Maximal number of bytes of an entity."""
MOST = 1000
"""Maximal number of entities that a document declares."""
PROLOG = re.compile(rb"\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*)*", re.DOTALL)
ENTITY = re.compile(rb"<!ENTITY\s+(%\s+)?([^\s\"'>]+)\s+(?:\"([^\"]*)\"|'([^']*)'|([^>]*))\s*>")
NAMESPACE = re.compile(rb"xmlns:([\w.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
LATE = (b"<!DOCTYPE", b"<!ENTITY")


def kind_of(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def after_prolog(head: bytes) -> int:
    """Return the position of the first declaration or tag, after comments and instructions.

    >>> after_prolog(b'<?xml version="1.0"?> <r/>')
    22
    """
    return PROLOG.match(head).end()  # type: ignore[union-attr]


def language_of(element: Element) -> str:
    """Return the language of the text of an element, or ``""``."""
    return next((element.attrib[name] for name in LANGUAGES if name in element.attrib), "")


@contextmanager
def well_formed(what: str, path: Path) -> Iterator[None]:
    """Turn the errors of Python's XML parser into a :class:`ReadError` with the line.

    Args:
        what: Name of the expected format.
        path: The file.

    Raises:
        ReadError: If the document is not XML.
    """
    try:
        yield
    except ParseError as error:
        raise ReadError(
            f"expected {what}, found a fault ({error}); mend it", str(path), error.position[0]
        ) from None
    except (LookupError, ValueError) as error:  # an unknown or wrong encoding
        raise ReadError(
            f"expected {what} in UTF-8, found another encoding ({error}); save it as UTF-8",
            str(path),
        ) from None


def check_doctype(
    head: bytes, source: str, *, may_be_external: bool = False
) -> tuple[int, dict[str, str]]:
    """Check the entities that a document declares.

    Short entities of plain text are allowed, as Protégé writes such entities for namespaces.

    Args:
        head: The first bytes of the document.
        source: Name of the document, for messages.
        may_be_external: Allow a reference to an external DTD; safe only if the parser does not
            fetch it.

    Returns:
        The position after the DOCTYPE, and the values of the entities by name.

    Raises:
        ReadError: If an entity is nested, long or external, or the DOCTYPE ends after ``head``.

    Example:
        >>> check_doctype(b'<!DOCTYPE r [<!ENTITY obo "http://o/">]><r/>', "x.owl")
        (40, {'obo': 'http://o/'})
    """
    start = after_prolog(head)
    if not head.startswith(b"<!DOCTYPE", start):
        return start, {}
    opening = re.compile(rb"<!DOCTYPE[^\[>]*([\[>])").match(head, start)
    end = (
        head.find(b"]", start)
        if opening and opening[1] == b"["
        else opening.end() - 1
        if opening
        else -1
    )
    after = re.compile(rb"\]?\s*>").match(head, end) if end >= 0 else None
    if opening is None or after is None:
        raise ReadError(
            "expected a DOCTYPE that ends near the start of the file, found none; remove it", source
        )
    if not may_be_external and re.search(rb"\s(?:SYSTEM|PUBLIC)\s", opening[0]):
        raise ReadError(
            "expected no external DOCTYPE (SYSTEM, PUBLIC), found one; nothing is fetched: "
            "remove it",
            source,
        )
    subset = head[opening.end() : end]
    entities: dict[str, str] = {}
    for parameter, name, double, single, other in ENTITY.findall(subset):
        value = double or single
        shown = name.decode("latin-1")
        if parameter or other.strip():
            raise ReadError(
                f"expected no external entity, found {shown!r}; nothing is fetched: remove it",
                source,
            )
        if b"&" in value or b"%" in value or b"<" in value:
            raise ReadError(
                f"expected entities of plain text, found {shown!r} that holds others; refused",
                source,
            )
        if len(value) > LONGEST:
            found = f"{shown!r} of {len(value)}"
            raise ReadError(
                f"expected entities of at most {LONGEST} bytes, found {found}; refused", source
            )
        entities[shown] = value.decode("utf-8", "replace")
    if subset.count(b"<!ENTITY") != len(entities) or len(entities) > MOST:
        raise ReadError(
            f"expected at most {MOST} well-formed entities in the DOCTYPE, found others; refused",
            source,
        )
    return after.end(), entities


class GuardedXml:
    """A binary stream of XML that rejects declarations after the start of the root element.

    Args:
        stream: The document.
        path: The file, for messages.
        may_be_external: See :func:`check_doctype`.

    Raises:
        ReadError: See :func:`check_doctype`. Also raised while reading, if a declaration follows
            the start of the root element.
    """

    def __init__(self, stream: BinaryIO, path: Path, *, may_be_external: bool = False) -> None:
        self.source = str(path)
        self._stream = stream
        self._head = stream.read(HEAD)
        start, entities = check_doctype(self._head, self.source, may_be_external=may_be_external)
        self.prefixes = self._namespaces(self._head[start : start + (1 << 16)], entities)
        self._tail = b""
        self._refuse_late(self._head[start:])

    @staticmethod
    def _namespaces(root: bytes, entities: dict[str, str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, double, single in NAMESPACE.findall(root.split(b">", 1)[0]):
            value = (double or single).decode("utf-8", "replace")
            found[name.decode()] = re.sub(
                r"&([^;]+);", lambda match: entities.get(match[1], match[0]), value
            )
        return found

    def _refuse_late(self, chunk: bytes) -> None:
        window = self._tail + chunk
        if any(mark in window for mark in LATE):
            raise ReadError(
                "expected no DOCTYPE or ENTITY inside the document, found one; refused", self.source
            )
        self._tail = window[-16:]

    def read(self, size: int = -1) -> bytes:
        """Return up to ``size`` further bytes."""
        if self._head:
            chunk, self._head = (
                (self._head, b"") if size < 0 else (self._head[:size], self._head[size:])
            )
            return chunk
        chunk = self._stream.read(size)
        self._refuse_late(chunk)
        return chunk
