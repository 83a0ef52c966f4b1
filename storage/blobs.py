"""Arrays in LMDB: a few large values, memory-mapped without a copy, each with a checksum."""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import lmdb
import numpy as np
from numpy.typing import NDArray

from ontodex.errors import IndexDamaged, IndexFailure

__all__ = ["BlobInfo", "BlobReader", "BlobWriter", "checksum", "open_lmdb", "tree_checksum"]

PAGE = 4096
HEADER = 16
"""Bytes of the LMDB header before a value that has pages of its own."""

CHECKED_ON_READ = 64 * 1024
"""Blobs of up to this many bytes are compared with their checksum on every read."""


@dataclass(frozen=True)
class BlobInfo:
    """The manifest's entry for a blob, that is, a stored array.

    Attributes:
        dtype: Type of the numbers, in NumPy's notation.
        shape: Shape of the array.
        bytes: Length in bytes.
        blake2b: BLAKE2b checksum.
        offset: Position in the file of a large blob, which has pages of its own; ``None`` for a
            small blob, which shares a page with other blobs.
    """

    dtype: str
    shape: tuple[int, ...]
    bytes: int
    blake2b: str
    offset: int | None = None


def checksum(data: Any) -> str:
    """Return the BLAKE2b checksum of a buffer (hex, 128 bits)."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


class BlobWriter:
    """Writes arrays into a new LMDB file, one transaction each: only one array is in memory.

    Args:
        path: The file to make.
        capacity: Approximate size of all arrays together, in bytes.

    Raises:
        IndexFailure: If the file cannot be made, for example on a full disk.
    """

    def __init__(self, path: Path, capacity: int) -> None:
        size = (capacity + capacity // 4 + 64 * 1024 * 1024) // PAGE * PAGE
        try:
            self._env = lmdb.open(
                str(path), subdir=False, map_size=size, lock=False, sync=False, metasync=False
            )
        except lmdb.Error as error:
            raise IndexFailure(f"{path}: the store cannot be made ({error})") from None
        self.infos: dict[str, BlobInfo] = {}

    def put(self, name: str, array: NDArray[Any]) -> None:
        """Store an array under a name.

        Raises:
            IndexFailure: If the array cannot be written, for example on a full disk.
        """
        flat = np.ascontiguousarray(array)
        data = flat.reshape(-1).view(np.uint8).data
        try:
            with self._env.begin(write=True) as transaction:
                transaction.put(name.encode(), data)
        except lmdb.Error as error:
            raise IndexFailure(
                f"{self._env.path()}: blob {name!r} cannot be written ({error})"
            ) from None
        self.infos[name] = BlobInfo(flat.dtype.str, tuple(flat.shape), flat.nbytes, checksum(data))

    def close(self) -> None:
        """Sync the file, close it, and look up the offset of each large blob.

        Raises:
            IndexFailure: If the file cannot be synced, for example on a full disk.
        """
        path, page = Path(self._env.path()), self._env.stat()["psize"]
        try:
            self._env.sync(True)
        except lmdb.Error as error:
            raise IndexFailure(f"{path}: the store cannot be synced ({error})") from None
        finally:
            self._env.close()
        environment = _Environment(path)
        for name, info in self.infos.items():
            if info.bytes > page:
                address = _address(environment.transaction.get(name.encode()))
                # The LMDB header before a value begins with the number of the value's first page.
                number = int.from_bytes(ctypes.string_at(address - HEADER, 8), sys.byteorder)
                self.infos[name] = replace(info, offset=number * page + HEADER)


def tree_checksum(path: Path, infos: Mapping[str, BlobInfo]) -> str:
    """Return the BLAKE2b checksum of a store outside its large blobs: B-tree pages, small blobs.

    LMDB follows page numbers in the B-tree without checking them. A changed byte may make LMDB read
    beyond the end of the file, which kills the process. Therefore this checksum is compared before
    LMDB opens the file.
    """
    digest = hashlib.blake2b(digest_size=16)
    blobs = sorted((info.offset, info.bytes) for info in infos.values() if info.offset is not None)
    with path.open("rb") as file:
        start = 0
        for offset, size in [*blobs, (path.stat().st_size, 0)]:
            file.seek(start)
            digest.update(file.read(max(0, offset - start)))
            start = offset + size
    return digest.hexdigest()


def open_lmdb(path: Path, **options: Any) -> lmdb.Environment:
    """Open an LMDB file; if another thread is closing the file, wait up to about two seconds."""
    attempts = 2000
    while True:
        try:
            return lmdb.open(str(path), subdir=False, readahead=False, **options)
        except lmdb.Error as error:
            if not attempts or "already open" not in str(error):
                raise
        attempts -= 1
        time.sleep(0.001)


class _Environment:
    """An LMDB file mapped for reading, as long as any array is a view of the file."""

    def __init__(self, path: Path) -> None:
        self.lmdb = open_lmdb(path, readonly=True, lock=False, max_readers=1)
        self.transaction = self.lmdb.begin(buffers=True)


def _address(buffer: Any) -> int:
    return int(np.frombuffer(buffer, dtype=np.uint8).__array_interface__["data"][0])


_environments: WeakValueDictionary[tuple[int, int], _Environment] = WeakValueDictionary()
"""Open files by device and inode, since LMDB must not map a file twice in a process."""

_opening = threading.Lock()


class BlobReader:
    """Arrays of an LMDB file, memory-mapped: a page is read from the disk when it is first used.

    Args:
        path: The file.
        infos: The manifest's entries for the blobs.

    Raises:
        IndexDamaged: If the file is not an LMDB file.
    """

    def __init__(self, path: Path, infos: Mapping[str, BlobInfo]) -> None:
        self.path = path
        self.infos = infos
        status = os.stat(path)
        key = (status.st_dev, status.st_ino)
        with _opening:
            environment = _environments.get(key)
            if environment is None:
                try:
                    environment = _Environment(path)
                except lmdb.Error as error:
                    raise IndexDamaged(
                        f"{path}: expected an LMDB file, found damage ({error}); "
                        "build the index anew"
                    ) from None
                _environments[key] = environment
        self._environment = environment

    def __contains__(self, name: str) -> bool:
        return name in self.infos

    def get(self, name: str) -> NDArray[Any]:
        """Return an array as a read-only view of the file.

        Raises:
            IndexDamaged: If the blob is missing or has another length, or if a blob of at most
                :data:`CHECKED_ON_READ` bytes does not match its checksum.
        """
        info = self.infos.get(name)
        if info is None:
            raise IndexDamaged(f"{self.path}: expected a blob {name!r}, found none in the manifest")
        try:
            found = self._environment.transaction.get(name.encode())
        except lmdb.Error as error:
            raise IndexDamaged(
                f"{self.path}: blob {name!r} cannot be read ({error}); build the index anew"
            ) from None
        if found is None or len(found) != info.bytes:
            size = "nothing" if found is None else f"{len(found):,} bytes"
            raise IndexDamaged(
                f"{self.path}: blob {name!r}: expected {info.bytes:,} bytes, found {size}"
            )
        if info.bytes == 0:
            return np.zeros(info.shape, dtype=info.dtype)
        if info.bytes <= CHECKED_ON_READ and checksum(found) != info.blake2b:
            raise IndexDamaged(
                f"{self.path}: blob {name!r} does not match its checksum; build the index anew"
            )
        # NumPy keeps `window` alive, and `window` keeps the mapping alive, so the file stays mapped
        # as long as an array is in use.
        window = (ctypes.c_char * info.bytes).from_address(_address(found))
        window._environment = self._environment  # type: ignore[attr-defined]
        try:
            array = np.frombuffer(memoryview(window).toreadonly(), dtype=info.dtype).reshape(
                info.shape
            )
        except (ValueError, TypeError) as error:
            raise IndexDamaged(
                f"{self.path}: blob {name!r} is no array of {info.shape} {info.dtype} ({error})"
            ) from None
        return array

    def damaged(self, prefix: str = "") -> Iterator[str]:
        """Yield a message for each blob that does not match its checksum.

        Args:
            prefix: Only blobs whose names begin with this prefix are checked.
        """
        for name, info in self.infos.items():
            if not name.startswith(prefix):
                continue
            try:
                array = self.get(name)
            except IndexDamaged as error:
                yield str(error)
                continue
            if info.bytes and checksum(array.reshape(-1).view(np.uint8).data) != info.blake2b:
                yield f"{self.path}: blob {name!r} does not match its checksum"
