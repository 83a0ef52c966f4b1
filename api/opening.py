"""The function that opens an index; it imports no reader, indexer or trainer."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from ontodex.engine.conditions import DISK, MEMORY
from ontodex.engine.engine import Engine
from ontodex.errors import SettingsError
from ontodex.graph import KnowledgeGraph
from ontodex.storage.index import Index

__all__ = ["expect_folder", "open"]


def open(
    path: str | Path,
    *,
    device: str = "auto",
    known: Any = (),
    exact: bool = False,
    condition_memory: int = MEMORY,
    condition_disk: int = DISK,
    rerank: str | Path | None = None,
) -> Engine:
    """Open an index.

    Args:
        path: Folder of the index.
        device: Device that encodes and searches.
        known: Additional sources whose triples count as known: a graph, anything that
            :func:`ontodex.read` reads, or a list of them.
        exact: Search exactly, even if the index has a FAISS index of a space.
        condition_memory: Size of the cache of entities transformed by conditions, in bytes of
            memory.
        condition_disk: Size of the cache of conditions' projections, in bytes on disk; 0 for no
            cache.
        rerank: Folder of a cross-encoder that re-ranks the best answers of link prediction.

    Raises:
        ReadError: If an additional source cannot be read.
        SettingsError: If a setting is out of range.
        IndexFailure: If there is no index, the index is damaged, or a newer version wrote it.
    """
    folder = expect_folder(path)
    sources = known if isinstance(known, list | tuple | Iterator) else [known]
    return Engine(
        Index.open(folder),
        device,
        known=[_read(one) for one in sources],
        exact=exact,
        condition_memory=condition_memory,
        condition_disk=condition_disk,
        rerank=rerank,
    )


def expect_folder(path: str | Path) -> Path:
    """Return the folder of an index.

    Raises:
        SettingsError: If ``path`` is empty or not a path.
    """
    if not isinstance(path, str | PathLike) or not str(path):
        raise SettingsError(f"path: expected the folder of an index, found {path!r}")
    return Path(path)


def _read(source: Any) -> KnowledgeGraph:
    from ontodex.readers import read

    return read(source)
