"""What an index has encoded already, for its next generation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ontodex.errors import IndexFailure, IndexMismatch
from ontodex.indexers.index import Index

__all__ = ["live"]


@contextmanager
def live(path: Path) -> Iterator[Index | None]:
    """Open the live generation for what it has encoded, if there is one that can be read.

    Raises:
        IndexMismatch: If it was written by a newer version: nothing is put in its place.
    """
    index = None
    try:
        index = Index.open(path)
    except IndexMismatch:
        raise
    except IndexFailure:
        pass
    try:
        yield index
    finally:
        if index is not None:
            index.close()
