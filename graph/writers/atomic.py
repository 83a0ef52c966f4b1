"""Atomic writing of files, and checks of target folders."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ontodex.errors import GraphError

__all__ = ["expect_own_folder", "replacing"]


def expect_own_folder(folder: Path, mark: str) -> None:
    """Check that a folder does not exist, is empty, or has a previous export.

    Args:
        folder: The folder.
        mark: Name of a file that every export has.

    Raises:
        GraphError: If the folder has files, but no file ``mark``.
    """
    if folder.is_dir() and any(folder.iterdir()) and not (folder / mark).exists():
        raise GraphError(
            f"{folder}: expected an empty folder, or an earlier one with {mark}, found other "
            "files; choose another name"
        )


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces ``path`` when the block ends without an error.

    Raises:
        OSError: If the folder cannot be written to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
