"""Warnings about sources of which some parts are left out."""

from __future__ import annotations

import sys
import warnings

__all__ = ["ReadWarning", "warn_reader"]

PACKAGE = __name__.partition(".")[0]


class ReadWarning(UserWarning):
    """Warning that parts of a source were left out, or that names lack the wanted language.

    Parts are left out if they are faulty, contradictory, or about unknown entities.
    """


def warn_reader(message: str) -> None:
    """Issue a :class:`ReadWarning` at the calling line outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, ReadWarning, stacklevel=level)
