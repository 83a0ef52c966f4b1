"""A disk cache of the factors that a condition encoder makes, in the folder of the index."""

from __future__ import annotations

import hashlib
import os
import struct
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import lmdb
import numpy as np
from numpy.typing import NDArray

from ontodex.storage.blobs import open_lmdb

__all__ = ["ConditionCache"]

FILE = "conditions.mdb"
ROOM = 32 * 1024 * 1024
"""Bytes of the file for LMDB's own pages."""

LARGEST = 1 << 28
"""Maximal number of bytes of an unpacked factor.

The limit protects against a manipulated file, in which few bytes unpack to very many.
"""


_USE = struct.Struct(">QQ")
"""Time of a factor's last use, in nanoseconds since 1970, and its size in bytes."""

Factor = NDArray[np.float16] | NDArray[np.float32]
T = TypeVar("T")


class ConditionCache:
    """Cache of factors by encoder and condition, in an LMDB file that several processes may share.

    If all factors together exceed the budget, the least recently used factors are evicted. No
    operation raises an error: if the file is damaged or cannot be written (a read-only medium), the
    cache is empty and stores nothing. Writes are atomic, even if a process is killed.

    Args:
        folder: Folder of the index.
        budget: Maximal size of all factors together, in bytes; 0 for no cache. The file has at most
            twice this size plus 32 MB.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     cache = ConditionCache(Path(folder), budget=1000)
        ...     cache.put("encoder", {"genre": np.ones(3, dtype=np.float16)})
        ...     cache.get("encoder", ["genre", "colour"])
        {'genre': array([1., 1., 1.], dtype=float16)}
    """

    def __init__(self, folder: Path, budget: int) -> None:
        self.path = folder / FILE
        self.budget = budget
        self._environment = _shared(self.path, 2 * budget + ROOM) if budget else None

    def get(self, encoder: str, conditions: Sequence[str]) -> dict[str, Factor]:
        """Return the cached factors of some conditions, and record their use.

        Args:
            encoder: Fingerprint of the encoder.
            conditions: Texts of the conditions.

        Returns:
            Factors by the text of the condition; conditions that are not cached are left out.
        """
        keys = {condition: _key(encoder, condition) for condition in conditions}

        def read(transaction: Any, factors: Any, uses: Any) -> dict[str, Factor]:
            values = {
                condition: _unpacked(transaction.get(key, db=factors))
                for condition, key in keys.items()
            }
            return {condition: factor for condition, factor in values.items() if factor is not None}

        def note(transaction: Any, factors: Any, uses: Any) -> None:
            for condition in found:
                use = transaction.get(keys[condition], db=uses)
                if use is not None:  # another process may have evicted it meanwhile
                    _note(transaction, uses, keys[condition], _USE.unpack(use)[1])

        found = self._run(read) or {}
        if found:
            self._run(note, write=True)
        return found

    def put(self, encoder: str, factors: Mapping[str, Factor]) -> None:
        """Store factors in one transaction, except factors larger than the budget.

        Args:
            encoder: Fingerprint of the encoder that made the factors.
            factors: Factors by the text of the condition, each of shape (n,).
        """
        packed = {
            _key(encoder, condition): _packed(factor) for condition, factor in factors.items()
        }

        def write(transaction: Any, factors: Any, uses: Any) -> None:
            fitting = {key: value for key, value in packed.items() if len(value) <= self.budget}
            of = {bytes(key): _USE.unpack(use) for key, use in transaction.cursor(uses)}
            sizes = {key: of[key][1] for key in sorted(of, key=of.__getitem__)}
            total = sum(sizes.values())
            for key, value in fitting.items():
                total += len(value) - sizes.pop(key, 0)
                while total > self.budget:
                    oldest = next(iter(sizes))
                    total -= sizes.pop(oldest)
                    transaction.delete(oldest, db=factors)
                    transaction.delete(oldest, db=uses)
                sizes[key] = len(value)
                transaction.put(key, value, db=factors)
                _note(transaction, uses, key, len(value))

        self._run(write, write=True)

    @property
    def bytes(self) -> int:
        """Size of all cached factors together, in bytes."""
        return sum(size for _, size in self._uses())

    def __len__(self) -> int:
        return len(self._uses())

    def _uses(self) -> list[tuple[int, int]]:
        return (
            self._run(
                lambda transaction, _, uses: [
                    _USE.unpack(value) for _, value in transaction.cursor(uses)
                ]
            )
            or []
        )

    def _run(self, action: Callable[[Any, Any, Any], T], *, write: bool = False) -> T | None:
        """Run a function in a transaction.

        Returns:
            The result of the function. ``None`` if LMDB fails, or in a forked process, which must
            not use an LMDB file that its parent has opened.
        """
        environment = self._environment
        if environment is None or environment.process != os.getpid():
            return None
        for _ in range(2):
            try:
                with environment.lock, environment.lmdb.begin(write=write) as transaction:
                    return action(transaction, environment.factors, environment.uses)
            except lmdb.MapResizedError:  # another process has enlarged the file
                environment.set_size(0)
            except lmdb.MapFullError:  # the free pages are fragmented
                if action is _clear:
                    break
                self._run(_clear, write=True)
            except lmdb.Error:
                break
        return None


class _Environment:
    """An open LMDB file; it is closed with the last cache that uses it."""

    def __init__(self, path: Path, size: int) -> None:
        self.lmdb = open_lmdb(path, map_size=size, max_dbs=2, metasync=False)
        pages = self.lmdb.info()["last_pgno"] + 1
        if path.stat().st_size < pages * self.lmdb.stat()["psize"]:
            self.lmdb.close()  # reading beyond the end of the file would kill the process
            raise lmdb.CorruptedError(f"{path}: cut off")
        self.factors = self.lmdb.open_db(b"factors")
        self.uses = self.lmdb.open_db(b"uses")
        self.process = os.getpid()
        self.lock = threading.Lock()

    def set_size(self, size: int) -> None:
        """Set the number of mapped bytes; 0 means the current size of the file.

        The lock ensures that no transaction is open.
        """
        with self.lock:
            self.lmdb.set_mapsize(size)


_environments: WeakValueDictionary[tuple[int, int], _Environment] = WeakValueDictionary()
"""Open files by device and inode, since LMDB must not map a file twice in a process."""

_opening = threading.Lock()

_DAMAGE = (
    lmdb.InvalidError,
    lmdb.CorruptedError,
    lmdb.VersionMismatchError,
    lmdb.PageNotFoundError,
)


def _shared(path: Path, size: int) -> _Environment | None:
    """Open the file of a cache; a damaged file is replaced by a new one.

    Returns:
        The open file; ``None`` if it cannot be opened or replaced.
    """
    with _opening:
        for _ in range(2):
            try:
                if path.exists():
                    status = path.stat()
                    known = _environments.get((status.st_dev, status.st_ino))
                    if known is not None:
                        if known.process == os.getpid() and known.lmdb.info()["map_size"] < size:
                            known.set_size(size)
                        return known
                made = _Environment(path, size)
            except _DAMAGE:
                try:
                    path.unlink()
                except OSError:
                    return None
                continue
            except (lmdb.Error, OSError):
                return None
            status = path.stat()
            _environments[(status.st_dev, status.st_ino)] = made
            return made
    return None


def _note(transaction: Any, uses: Any, key: bytes, size: int) -> None:
    transaction.put(key, _USE.pack(time.time_ns(), size), db=uses)


def _clear(transaction: Any, factors: Any, uses: Any) -> None:
    for database in (factors, uses):
        transaction.drop(database, delete=False)


def _key(encoder: str, condition: str) -> bytes:
    text = f"{encoder}\0{condition}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=32).digest()


def _packed(factor: Factor) -> bytes:
    """Return a factor as bytes: a checksum, the size of a number, and the compressed numbers.

    Before compression, bytes are grouped by their position within a number.
    """
    numbers = np.ascontiguousarray(factor).view(np.uint8).reshape(-1, factor.itemsize)
    content = bytes([factor.itemsize]) + zlib.compress(
        np.ascontiguousarray(numbers.T).tobytes(), level=1
    )
    return hashlib.blake2b(content, digest_size=16).digest() + content


def _unpacked(value: Any) -> Factor | None:
    """Return a factor from its packed bytes.

    If there are no bytes, or they do not match their checksum, return ``None``.
    """
    if value is None:
        return None
    checksum, content = bytes(value[:16]), bytes(value[16:])
    if hashlib.blake2b(content, digest_size=16).digest() != checksum:
        return None
    size, unpacking = content[0], zlib.decompressobj()
    numbers = np.frombuffer(unpacking.decompress(content[1:], LARGEST), dtype=np.uint8)
    if not unpacking.eof:
        return None
    factor: Factor = np.ascontiguousarray(numbers.reshape(size, -1).T).view(f"f{size}").ravel()
    return factor
