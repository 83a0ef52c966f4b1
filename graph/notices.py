"""What is said about a source that can be used all the same."""

from __future__ import annotations

__all__ = ["ReadWarning"]


class ReadWarning(UserWarning):
    """Parts of a source were left out: they are faulty, contradict each other, or are about nothing that is known.

    Or it has no names in the language they are wanted in.
    """
