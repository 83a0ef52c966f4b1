"""The errors that ontodex raises.

::

    OntodexError
    ├── GraphError             a graph is inconsistent, or lacks what an operation needs
    │   ├── ReadError          a source could not be read (file, line, what was expected)
    │   └── CycleError         a hierarchy has a cycle (the message lists it)
    ├── LookupFailed           a name could not be resolved
    │   ├── UnknownEntity      no such entity (the message offers the nearest names)
    │   └── UnknownRelation    no such relation (the message offers the nearest names)
    ├── PlugInError            a package that adds a format of files is faulty
    ├── SettingsError          an argument or a setting is wrong (also a ValueError)
    ├── EncoderError           an encoder cannot be found, loaded or used
    ├── TrainingError          a training run cannot start or continue
    └── IndexFailure           an index on disk cannot be used
        ├── IndexDamaged       a file or blob does not match the manifest
        ├── IndexMismatch      an index does not fit its encoders, a graph or a query
        └── IndexLocked        another process is writing the index

A message states what was expected, what was found, where, and what to do.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import operator
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

__all__ = [
    "CycleError",
    "EncoderError",
    "GraphError",
    "IndexDamaged",
    "IndexFailure",
    "IndexLocked",
    "IndexMismatch",
    "LookupFailed",
    "OntodexError",
    "PlugInError",
    "ReadError",
    "SettingsError",
    "TrainingError",
    "UnknownEntity",
    "UnknownRelation",
    "expect_choice",
    "expect_count",
    "expect_number",
    "expect_whole",
    "nearest",
    "settings_from",
]

T = TypeVar("T")


class OntodexError(Exception):
    """Base of all errors raised by ontodex."""


class GraphError(OntodexError):
    """A graph is inconsistent, or lacks what an operation needs."""


class ReadError(GraphError):
    """A source could not be read.

    Args:
        message: What was expected, what was found, and what to do.
        source: File or object that was read.
        line: Line number, counted from 1; ``None`` if unknown.
    """

    def __init__(self, message: str, source: str = "", line: int | None = None) -> None:
        self.source = source
        self.line = line
        where = source if line is None else f"{source}:{line}"
        super().__init__(f"{where}: {message}" if where else message)


class CycleError(GraphError):
    """A hierarchy has a cycle; ``cycle`` lists its entities."""

    def __init__(self, cycle: Iterable[str]) -> None:
        self.cycle = tuple(cycle)
        super().__init__(
            "expected a hierarchy without cycles, found "
            + " -> ".join(self.cycle)
            + "; remove one of these links"
        )


class LookupFailed(OntodexError):
    """A name could not be resolved."""


class UnknownEntity(LookupFailed):
    """No entity has this id, label or synonym."""


class UnknownRelation(LookupFailed):
    """No relation has this id or label."""


class PlugInError(OntodexError):
    """An installed package that adds a format of files cannot be loaded, or fails."""


class SettingsError(OntodexError, ValueError):
    """An argument or a setting is wrong."""


class EncoderError(OntodexError):
    """An encoder cannot be found, loaded or used."""


class TrainingError(OntodexError):
    """A training run cannot start or continue."""


class IndexFailure(OntodexError):
    """An index on disk cannot be used."""


class IndexDamaged(IndexFailure):
    """A file or blob of an index does not match its manifest."""


class IndexMismatch(IndexFailure):
    """An index does not fit its encoders, a graph or a query."""


class IndexLocked(IndexFailure):
    """Another process is writing the index."""


def nearest(name: str, known: Iterable[str], n: int = 3) -> str:
    """Return a hint with the known names that are nearest to a name, or an empty string.

    >>> nearest("hed", ["head", "tail"])
    "; did you mean 'head'?"
    """
    matches = difflib.get_close_matches(name, list(known), n=n, cutoff=0.6)
    return f"; did you mean {' or '.join(map(repr, matches))}?" if matches else ""


def expect_choice(name: str, found: object, choices: Iterable[str]) -> None:
    """Require one of ``choices``; the message offers the nearest.

    >>> expect_choice("tune", "ful", ("frozen", "full"))
    Traceback (most recent call last):
    ontodex.errors.SettingsError: tune: expected one of frozen, full, found 'ful'; did you mean ...
    """
    known = tuple(choices)
    if found not in known:
        raise SettingsError(
            f"{name}: expected one of {', '.join(known)}, "
            f"found {found!r}{nearest(str(found), known)}"
        )


def expect_count(name: str, found: Any, lowest: int = 0) -> int:
    """Require a whole number of at least ``lowest``, and return it as an ``int``.

    >>> expect_count("k", "3", 1)
    Traceback (most recent call last):
    ontodex.errors.SettingsError: k: expected a whole number of at least 1, found '3'
    """
    number = None
    if not isinstance(found, bool):
        with suppress(TypeError):
            number = operator.index(found)
    if number is None or number < lowest:
        raise SettingsError(
            f"{name}: expected a whole number of at least {lowest}, found {found!r}"
        )
    return number


def expect_whole(settings: object, **least: int) -> None:
    """Require that the named fields are whole numbers of at least the given values.

    They become ``int``, because settings are written as JSON.

    >>> expect_whole(slice(0), stop=1)
    Traceback (most recent call last):
    ontodex.errors.SettingsError: stop: expected a whole number of at least 1, found 0
    """
    for name, lowest in least.items():
        object.__setattr__(settings, name, expect_count(name, getattr(settings, name), lowest))


def expect_number(settings: object, *names: str, zero: bool = False) -> None:
    """Require that the named fields are finite numbers above 0, or with ``zero`` at least 0.

    >>> expect_number(slice(-0.5), "stop")
    Traceback (most recent call last):
    ontodex.errors.SettingsError: stop: expected a number above 0, found -0.5
    """
    for name in names:
        found = getattr(settings, name)
        if (
            not isinstance(found, int | float)
            or not math.isfinite(found)
            or found < 0
            or (found == 0 and not zero)
        ):
            raise SettingsError(
                f"{name}: expected a number {'of at least' if zero else 'above'} 0, found {found!r}"
            )


def settings_from(cls: type[T], values: Mapping[str, Any], where: str) -> T:
    """Return an instance of a dataclass with the given values of its fields.

    Args:
        cls: A dataclass.
        values: Values by field name, as read from JSON.
        where: The file or argument of the values, for the message.

    Raises:
        SettingsError: If a key is not a field of ``cls`` (the message offers the nearest), or a
            field without default is missing.
    """
    fields = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
    for key in values:
        if key not in fields:
            raise SettingsError(
                f"{where}: unknown setting {key!r}{nearest(key, fields)}; "
                f"known: {', '.join(fields)}"
            )
    try:
        return cls(**values)
    except TypeError as error:
        raise SettingsError(f"{where}: {error}") from None
