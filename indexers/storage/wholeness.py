"""What is compared before a generation is mapped: a file that is cut short, or leads astray, kills its reader."""

from __future__ import annotations

from pathlib import Path

from ontodex.errors import IndexDamaged, IndexFailure
from ontodex.indexers.storage.blobs import layout
from ontodex.indexers.storage.manifest import Manifest, file_info

__all__ = ["STORE", "expect_whole"]

STORE = "store.mdb"
WITH_LAYOUT = 3
"""The first format whose manifest has a checksum of what blobs are found by."""


def expect_whole(folder: Path, manifest: Manifest) -> None:
    """Compare the lengths of all files, and what blobs are found by, with the manifest; of an older format the whole store.

    Raises:
        IndexDamaged: If a file is missing, has another length, or does not fit.
        IndexFailure: If a file may not be read.
    """
    for name, info in manifest.files.items():
        file = folder / name
        size = file.stat().st_size if file.is_file() else None
        if size != info.bytes and not name.endswith(".faiss"):
            found = "no such file" if size is None else f"{size:,} bytes"
            raise IndexDamaged(f"{file}: expected {info.bytes:,} bytes, found {found}; build the index anew")
    store = folder / STORE
    try:
        if manifest.format < WITH_LAYOUT:
            fits = file_info(store) == manifest.files[STORE]
        else:
            fits = layout(store, manifest.blobs) == manifest.layout
    except OSError as error:
        raise IndexFailure(f"{store}: expected a file that can be read, found {error.strerror}") from None
    if not fits:
        raise IndexDamaged(f"{store}: what its blobs are found by does not fit its checksum; build the index anew")
