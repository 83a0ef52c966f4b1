"""Generations of an index.

Each generation is a folder. The file ``CURRENT`` names the live generation. Only one process at a
time may write the next generation.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ontodex.errors import IndexDamaged, IndexFailure, IndexLocked
from ontodex.storage.manifest import NAME as MANIFEST

try:
    import fcntl
except ImportError:  # Windows never deletes an open file
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "WORK",
    "current",
    "drop_old",
    "folder_of",
    "hold",
    "is_index",
    "is_written",
    "next_number",
    "publish",
    "sync_tree",
    "writer",
]

_FOLDER = re.compile(r"gen-(\d{6,})$")
_LEFT = re.compile(r"gen-\d{6,}(\.tmp)?$|build\.tmp$|WRITER$|CURRENT\.tmp$")

WORK = "build.tmp"
"""Folder, in the folder of an index, of a build's working files, from which it resumes."""


def folder_of(index: Path, generation: int) -> Path:
    """Return the folder of a generation."""
    return index / f"gen-{generation:06d}"


def current(index: Path) -> int:
    """Return the number of the live generation.

    Raises:
        IndexFailure: If there is no index.
        IndexDamaged: If ``CURRENT`` does not name a generation.
    """
    try:
        name = (index / "CURRENT").read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        found = "no such folder" if not index.exists() else "no CURRENT in it"
        raise IndexFailure(
            f"{index}: expected an index, found {found}; make one with `ontodex build`"
        ) from None
    match = _FOLDER.match(name)
    if match is None:
        raise IndexDamaged(
            f"{index / 'CURRENT'}: expected the name of a generation, found {name[:40]!r}"
        )
    return int(match[1])


def is_index(folder: Path) -> bool:
    """Return whether a folder is an index, or the remains of an interrupted first build.

    Databases of other programs (LevelDB, RocksDB) also have files ``CURRENT`` and ``LOCK``, but
    their ``CURRENT`` does not name a generation.
    """
    if not (folder / "CURRENT").exists():
        left = [entry.name for entry in folder.iterdir()]
        # After a loss of power, the folder of a build may lack LOCK.
        return "LOCK" in left or (bool(left) and all(map(_LEFT.match, left)))
    try:
        current(folder)
    except IndexDamaged:
        return False
    return True


def next_number(index: Path) -> int:
    """Return the number after the highest generation in the folder."""
    numbers = [int(match[1]) for entry in index.iterdir() if (match := _FOLDER.match(entry.name))]
    return max(numbers, default=0) + 1


@contextlib.contextmanager
def writer(index: Path) -> Iterator[None]:
    """Hold the lock of an index as its only writer.

    Raises:
        IndexLocked: If another process holds the lock; the message names the process.
        IndexFailure: If the folder cannot be written.
    """
    from filelock import FileLock, Timeout  # imports asyncio

    owner = index / "WRITER"
    lock = FileLock(index / "LOCK", timeout=0, is_singleton=False)
    try:
        index.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        with contextlib.suppress(OSError):
            raise IndexLocked(
                f"{index}: process {owner.read_text()} is writing this index; wait for it to end"
            ) from None
        raise IndexLocked(
            f"{index}: another process is writing this index; wait for it to end"
        ) from None
    except OSError as error:
        raise IndexFailure(
            f"{index}: expected a folder that can be written, found {error.strerror}"
        ) from None
    try:
        with contextlib.suppress(OSError):  # on a full disk, the lock holds without the name
            owner.write_text(str(os.getpid()))
        yield
    finally:
        with contextlib.suppress(OSError):
            owner.unlink()
        lock.release()


def is_written(index: Path) -> bool:
    """Return whether a process, this one or another, is writing the index."""
    from filelock import FileLock, Timeout

    lock = FileLock(index / "LOCK", timeout=0, is_singleton=False)
    try:
        lock.acquire()
    except Timeout:
        return True
    except OSError:  # the folder cannot be written
        return False
    lock.release()
    return False


def hold(generation: Path) -> IO[bytes]:
    """Keep a writer from dropping a generation until the returned file is closed.

    Raises:
        OSError: If the generation is missing.
    """
    file = (generation / MANIFEST).open("rb")
    if fcntl is not None:
        with contextlib.suppress(OSError):  # some network file systems have no locks
            fcntl.flock(file, fcntl.LOCK_SH)  # a writer that drops it holds LOCK_EX
        if not os.fstat(file.fileno()).st_nlink:
            file.close()
            raise FileNotFoundError(errno.ENOENT, "removed as it was opened", str(generation))
    return file


def sync_tree(folder: Path) -> None:
    """Sync all files and folders below a folder, and the folder itself, to the disk."""
    for path in [*folder.rglob("*"), folder]:
        _sync(path)


def publish(index: Path, built: Path, generation: int) -> None:
    """Make a finished build the live generation: rename its folder, then replace ``CURRENT``.

    Both steps are atomic. The build must be synced to the disk before (:func:`sync_tree`).
    """
    os.rename(built, folder_of(index, generation))
    _sync(index)
    flag = index / "CURRENT.tmp"
    flag.write_text(folder_of(index, generation).name + "\n")
    _sync(flag)
    os.replace(flag, index / "CURRENT")
    _sync(index)


def drop_old(index: Path, keep: int) -> None:
    """Remove all published generations except ``keep`` and generations that a reader holds."""
    for entry in index.iterdir():
        match = _FOLDER.match(entry.name)
        if match is not None and int(match[1]) != keep and _dropped(entry / MANIFEST):
            shutil.rmtree(entry, ignore_errors=True)


def _dropped(manifest: Path) -> bool:
    """Invalidate a generation by removing its manifest, unless a reader holds the generation.

    Returns:
        Whether the manifest is removed.
    """
    try:
        with manifest.open("rb") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                manifest.unlink()
        manifest.unlink(missing_ok=True)  # on Windows, which cannot unlink an open file
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
