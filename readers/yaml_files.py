"""YAML documents as dicts and lists like those of JSON, within limits on depth and size."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ontodex.errors import ReadError
from ontodex.readers.files import opened

__all__ = ["yaml_of"]

DEEPEST = 200
"""Maximal depth of nested objects and lists."""

FREE, MOST_TIMES = 1_000_000, 100
"""Maximal number of values with aliases expanded: ``FREE``, or ``MOST_TIMES`` the written ones."""

NOTHING = ("", "~", "null", "Null", "NULL")
"""Unquoted scalars that are null."""


def yaml_of(path: Path) -> Any:
    """Parse a file; return its document, or a list if there are several.

    Scalars are texts as they are written (``NO`` is Norway), or ``None``. The file is parsed event
    by event, because the C parser's stack overflows if it composes deep documents itself.

    Raises:
        ReadError: If the file is not YAML, or exceeds the limits on nesting and aliases.
    """
    builder = _Builder(str(path))
    try:
        with opened(path) as stream:
            for event in yaml.parse(stream, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
                builder.take(event)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        fault = " ".join(str(problem or error).split())
        line = mark.line + 1 if mark else None
        raise ReadError(
            f"expected YAML, found a fault ({fault}); nothing was read", str(path), line
        ) from None
    return builder.documents[0] if len(builder.documents) == 1 else builder.documents


@dataclass
class _Container:
    """An object or a list that is not complete.

    Attributes:
        value: Members so far.
        anchor: Anchor of the container, or ``None``.
        before: Number of values in the document before the container.
        key: In an object, the key of the next value.
    """

    value: dict[str, Any] | list[Any]
    anchor: str | None
    before: int
    key: str | None = None

    def add(self, value: Any) -> None:
        """Add a value, or a key of an object; keys that are not scalars become empty texts."""
        if isinstance(self.value, list):
            self.value.append(value)
        elif self.key is None:
            self.key = value if isinstance(value, str) else ""
        else:
            self.value[self.key], self.key = value, None


@dataclass
class _Builder:
    """Builds documents from parser events."""

    source: str
    documents: list[Any] = field(default_factory=list)
    _open: list[_Container] = field(default_factory=list)
    _anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)
    _count: int = 0
    _written: int = 0

    def take(self, event: yaml.Event) -> None:
        """Process the next event."""
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._expect(
                event,
                len(self._open) < DEEPEST,
                f"at most {DEEPEST} objects and lists in one another",
            )
            value: dict[str, Any] | list[Any] = (
                {} if isinstance(event, yaml.MappingStartEvent) else []
            )
            self._open.append(_Container(value, event.anchor, self._count))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            ended = self._open.pop()
            self._add(ended.value, ended.anchor, 1, self._count + 1 - ended.before)
        elif isinstance(event, yaml.ScalarEvent):
            is_nothing = event.implicit[0] and event.value in NOTHING
            self._add(None if is_nothing else event.value, event.anchor, 1, 1)
        elif isinstance(event, yaml.AliasEvent):
            self._expect(
                event,
                event.anchor in self._anchors,
                "an alias of what stands before it",
                found="another",
            )
            value, size = self._anchors[event.anchor]
            self._add(value, None, size, size)
            most = max(FREE, MOST_TIMES * self._written)
            self._expect(
                event, self._count <= most, f"aliases that make no more than {most:,} values"
            )

    def _add(self, value: Any, anchor: str | None, more: int, size: int) -> None:
        """Add a value to its container or the documents; record its anchor and number of values."""
        self._count += more
        self._written += 1
        if anchor:
            self._anchors[anchor] = (value, size)
        if self._open:
            self._open[-1].add(value)
        else:
            self.documents.append(value)

    def _expect(self, event: yaml.Event, is_so: object, what: str, found: str = "more") -> None:
        if not is_so:
            raise ReadError(
                f"expected {what}, found {found}", self.source, event.start_mark.line + 1
            )
