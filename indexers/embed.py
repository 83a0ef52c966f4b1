"""Embedding all entities of a graph into a file: resumable, nothing encoded twice, memory flat."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ontodex.encoders.text import TextEncoder
from ontodex.indexers.vectors import Vectors

__all__ = ["Embeddings", "embed", "map_blocks", "text_keys"]

Embeddings = NDArray[np.float32]


def text_keys(texts: Sequence[str]) -> NDArray[np.bytes_]:
    """Return a 128-bit hash of each text, as ``S16`` of shape (texts,)."""
    keys = b"".join(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest() for text in texts)
    return np.frombuffer(keys, dtype="S16")


def embed(
    texts: Sequence[str],
    encoder: TextEncoder,
    file: Path,
    *,
    known: tuple[NDArray[np.bytes_], Vectors] | None = None,
    quiet: bool = False,
) -> Embeddings:
    """Encode texts into a raw float32 file, going on where an interrupted call stopped.

    Args:
        texts: One text per entity.
        encoder: The encoder.
        file: The file to make; a journal beside it says how far it is.
        known: Keys and vectors of texts that the same encoder has encoded before, in an earlier generation.
        quiet: Show no progress on stderr.

    Returns:
        The vectors as a map of the file, of shape (texts, dim).
    """
    journal = file.with_suffix(".json")
    done = json.loads(journal.read_text())["chunks"] if journal.exists() else -1
    vectors = np.memmap(file, dtype=np.float32, mode="r+" if done >= 0 else "w+", shape=(len(texts), encoder.dim))
    missing = _copy_known(texts, known, vectors, copy=done < 0) if known else np.arange(len(texts))
    _note(journal, vectors, max(done, 0))
    wanted = [texts[row] for row in missing.tolist()]
    chunks = encoder.stream(wanted, done=max(done, 0))
    with tqdm(total=len(wanted), desc="encoding", unit="text", file=sys.stderr, disable=quiet or not wanted) as bar:
        for number, (positions, found) in enumerate(chunks, start=max(done, 0) + 1):
            vectors[missing[positions]] = found
            _note(journal, vectors, number)
            bar.update(len(positions))
        bar.update(bar.total - bar.n)
    return vectors


def map_blocks(
    source: Embeddings, file: Path, function: Callable[[Embeddings], Embeddings], rows: int = 16384
) -> Embeddings:
    """Apply a function to blocks of rows, into another raw float32 file of the same shape."""
    made = np.memmap(file, dtype=np.float32, mode="w+", shape=source.shape)
    for start in range(0, len(source), rows):
        made[start : start + rows] = function(np.array(source[start : start + rows]))
    return made


def _copy_known(
    texts: Sequence[str], known: tuple[NDArray[np.bytes_], Vectors], vectors: Embeddings, *, copy: bool
) -> NDArray[np.int64]:
    """Fill in the vectors of texts that were encoded before; return the rows that are missing."""
    keys, earlier = known
    order = np.argsort(keys)
    wanted = text_keys(texts)
    places = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    found = keys[order[places]] == wanted
    if copy:
        rows = np.flatnonzero(found)
        for start in range(0, len(rows), 16384):
            block = rows[start : start + 16384]
            vectors[block] = earlier[order[places[block]]]
    return np.flatnonzero(~found)


def _note(journal: Path, vectors: Embeddings, chunks: int) -> None:
    """Say that so many chunks are on the disk, once they are."""
    assert isinstance(vectors, np.memmap)
    vectors.flush()
    flag = journal.with_suffix(".tmp")
    flag.write_text(json.dumps({"chunks": chunks}))
    os.replace(flag, journal)
