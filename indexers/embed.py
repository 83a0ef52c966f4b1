"""Embedding the texts of a space into a file: resumable, no text encoded twice, memory bounded."""

from __future__ import annotations

import contextlib
import errno
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
from ontodex.geometry.vectors import Vectors, release
from ontodex.storage.integrity import expect_valid

__all__ = ["ROWS", "Embeddings", "KnownTexts", "embed", "map_blocks", "map_file", "text_keys"]

ROWS = 16384
"""Number of rows that are copied from file to file at a time."""

Embeddings = NDArray[np.float32]

KnownTexts = tuple[NDArray[np.bytes_], Vectors]
"""Keys (:func:`text_keys`) and vectors of texts that are encoded already."""


def text_keys(texts: Sequence[str]) -> NDArray[np.bytes_]:
    """Return a 128-bit hash of each text, as ``S16`` of shape (texts,)."""
    keys = b"".join(
        hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest() for text in texts
    )
    return np.frombuffer(keys, dtype="S16")


def embed(
    texts: Sequence[str],
    encoder: TextEncoder,
    file: Path,
    *,
    known: KnownTexts | None = None,
    transform: Callable[[Embeddings], Embeddings] | None = None,
    width: int | None = None,
    dtype: type[np.floating] = np.float32,
    geometry: str = "cosine",
    quiet: bool = False,
) -> Embeddings:
    """Encode texts into a raw file, and resume where an interrupted call stopped.

    Args:
        texts: The texts.
        encoder: The encoder.
        file: The file to make; a journal beside it (``.json``) records how many chunks are done.
        known: Keys (:func:`text_keys`) and vectors of texts that are encoded already, by the same
            encoder and ``transform``.
        transform: Applied to each block of embeddings before it is stored.
        width: Length of a stored vector; by default the dimension of the encoder.
        dtype: Type of the stored numbers.
        geometry: Geometry of the space, in which the vectors must be valid.
        quiet: Show no progress on stderr.

    Returns:
        The vectors as a map of the file, of shape (texts, width).

    Raises:
        EncoderError: If the vector of a text is not valid in the geometry.
    """
    journal = file.with_suffix(".json")
    keys = text_keys(texts)
    rows, places = _known_rows(keys, known[0]) if known else (np.zeros(0, dtype=np.int64),) * 2
    missing = np.setdiff1d(np.arange(len(texts)), rows)
    job = hashlib.blake2b(keys.tobytes() + missing.tobytes(), digest_size=16).hexdigest()
    done = _chunks_done(journal, file, job)
    vectors = map_file(file, (len(texts), width or encoder.dim), new=done is None, dtype=dtype)
    if done is None and known:
        for start in range(0, len(rows), ROWS):
            vectors[rows[start : start + ROWS]] = known[1][places[start : start + ROWS]]
    done = done or 0
    _note(journal, vectors, done, job)
    wanted = [texts[row] for row in missing.tolist()]
    chunks = encoder.stream(wanted, done=done)
    with tqdm(
        total=len(wanted),
        desc="encoding",
        unit="text",
        file=sys.stderr,
        leave=False,
        disable=quiet or not wanted,
    ) as bar:
        for number, (positions, found) in enumerate(chunks, start=done + 1):
            with np.errstate(over="ignore"):  # infinite numbers are rejected below
                made = (found if transform is None else transform(found)).astype(dtype)
            expect_valid(geometry, made, [wanted[position] for position in positions.tolist()])
            vectors[missing[positions]] = made
            _note(journal, vectors, number, job)
            bar.update(len(positions))
        bar.update(len(wanted) - bar.n)
    return vectors


def map_blocks(
    source: Embeddings,
    file: Path,
    function: Callable[[Embeddings], Embeddings] | None = None,
    *,
    dtype: type[np.floating] = np.float32,
) -> Embeddings:
    """Apply a function, if there is one, to blocks of rows, and write a raw file of that shape."""
    made = map_file(file, source.shape, new=True, dtype=dtype)
    for start in range(0, len(source), ROWS):
        block = np.array(source[start : start + ROWS])
        made[start : start + ROWS] = block if function is None else function(block)
        release(source)
    return made


def map_file(
    file: Path, shape: tuple[int, ...], *, new: bool, dtype: type[np.floating] = np.float32
) -> Embeddings:
    """Map a raw file into memory; if ``new``, create the file first.

    The disk blocks of a new file are allocated at once, because writing to the map of a sparse file
    on a full disk kills the process.
    """
    if new:
        with file.open("wb") as made:
            size = int(np.prod(shape)) * np.dtype(dtype).itemsize
            try:
                os.posix_fallocate(made.fileno(), 0, size)
            except AttributeError:  # no such call on macOS and Windows
                pass
            except OSError as error:
                if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
                    raise
            made.truncate(size)
    return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


def _known_rows(
    wanted: NDArray[np.bytes_], keys: NDArray[np.bytes_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of ``wanted`` whose keys are in ``keys``, and their positions in ``keys``."""
    order = np.argsort(keys, kind="stable")  # of equal keys, the first is found
    places = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    rows = np.flatnonzero(keys[places] == wanted)
    return rows, places[rows]


def _chunks_done(journal: Path, file: Path, job: str) -> int | None:
    """Return how many chunks an interrupted call with the same texts has done, else ``None``."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        content = json.loads(journal.read_text())
        if content["job"] == job and file.exists():
            return int(content["chunks"])
    return None


def _note(journal: Path, vectors: Embeddings, chunks: int, job: str) -> None:
    """Sync the vectors to the disk, then record how many chunks are done."""
    assert isinstance(vectors, np.memmap)
    vectors.flush()
    release(vectors)
    flag = journal.with_suffix(".tmp")
    flag.write_text(json.dumps({"chunks": chunks, "job": job}))
    os.replace(flag, journal)
