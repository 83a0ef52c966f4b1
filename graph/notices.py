"""What is said about a source that can be used all the same."""

from __future__ import annotations

import sys
import warnings

__all__ = ["ReadWarning", "warn_reader"]

PACKAGE = __name__.partition(".")[0]


class ReadWarning(UserWarning):
    """Parts of a source were left out: they are faulty, contradict each other, or are about nothing that is known.

    Or it has no names in the language they are wanted in.
    """


def warn_reader(message: str) -> None:
    """Give a :class:`ReadWarning` at the line outside this package that asked for what is read."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, ReadWarning, stacklevel=level)
