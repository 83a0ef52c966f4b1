"""YAML documents as dicts and lists like those of JSON, within limits on depth and size."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from ontodex.errors import ReadError
from ontodex.readers.files import text_of

__all__ = ["yaml_of"]

DEEPEST = 200
"""Maximal depth of nested objects and lists."""

FREE, MOST_TIMES = 1_000_000, 100
"""Maximal number of values with aliases expanded: ``FREE``, or ``MOST_TIMES`` the written ones."""

NOTHING = ("", "~", "null", "Null", "NULL")
"""Unquoted scalars that are null."""

STARTS = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
ENDS = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class _Loader(LOADER):  # type: ignore[misc]
    """Loads scalars as texts as they are written, or ``None``, and keys always as texts."""

    def construct_scalar(self, node: yaml.ScalarNode) -> str | None:
        is_nothing = not node.style and node.value in NOTHING
        return None if is_nothing else str(node.value)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        return {
            key.value if isinstance(key, yaml.ScalarNode) else "": self.construct_object(value)
            for key, value in node.value
        }


def yaml_of(path: Path) -> Any:
    """Parse a file; return its document, or a list if there are several.

    Scalars are texts as they are written (``NO`` is Norway), or ``None``. The limits are checked
    before documents are composed, because the C parser's stack overflows in deep ones.

    Raises:
        ReadError: If the file is not YAML, or exceeds the limits on nesting and aliases.
    """
    text = text_of(path)
    try:
        _expect_limits(yaml.parse(text, Loader=LOADER), str(path))
        documents = [*yaml.load_all(text, Loader=_Loader)]
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        fault = " ".join(str(problem or error).split())
        line = mark.line + 1 if mark else None
        raise ReadError(
            f"expected YAML, found a fault ({fault}); nothing was read", str(path), line
        ) from None
    return documents[0] if len(documents) == 1 else documents


def _expect_limits(events: Iterable[yaml.Event], source: str) -> None:
    """Check the depth of documents, and the number of values that their aliases stand for.

    Raises:
        ReadError: If a document exceeds the limits, or has an alias of something after it.
    """
    above: list[tuple[str | None, int]] = []
    sizes: dict[str | None, int] = {}
    count = written = 0

    def expect(is_so: object, what: str, found: str = "more") -> None:
        if not is_so:
            line = event.start_mark.line + 1
            raise ReadError(f"expected {what}, found {found}", source, line)

    for event in events:
        if isinstance(event, STARTS):
            expect(len(above) < DEEPEST, f"at most {DEEPEST} objects and lists in one another")
            above.append((event.anchor, count))
        elif isinstance(event, ENDS):
            anchor, before = above.pop()
            sizes[anchor] = count + 1 - before
        elif isinstance(event, yaml.ScalarEvent):
            sizes[event.anchor] = 1
        elif isinstance(event, yaml.AliasEvent):
            expect(event.anchor in sizes, "an alias of what stands before it", found="another")
            count += sizes[event.anchor] - 1
        if isinstance(event, (*ENDS, yaml.ScalarEvent, yaml.AliasEvent)):
            count, written = count + 1, written + 1
            most = max(FREE, MOST_TIMES * written)
            expect(count <= most, f"aliases that make no more than {most:,} values")
