"""Weights of a safetensors file as arrays that are mapped, not read."""

from __future__ import annotations

import json
import mmap
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

__all__ = ["mapped_weights"]

TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""Types of weights in NumPy's notation; bfloat16 is read as the upper half of float32."""


def mapped_weights(path: Path, tables: Collection[str] = ()) -> dict[str, NDArray[Any]]:
    """Map the weights of a safetensors file.

    Weights in float32 are read-only views of the file, of which a page is read when it is first
    used. Weights in another precision are converted, except tables of half precision, which are
    views as well. Arrays of integers are left out.

    Args:
        path: The file.
        tables: Names of weights that stay in half precision, if they are stored so, because only
            some of their rows are used.

    Returns:
        Weights by name, ``float32``, or ``float16`` for ``tables``.

    Raises:
        OSError: If the file cannot be read.
        SafetensorError: If the file is not a safetensors file, or is not as long as its header
            says.
    """
    with safe_open(path, "np"):  # compares the header with the length of the file
        pass
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    first = 8 + int.from_bytes(data[:8], "little")
    header: dict[str, Any] = json.loads(data[8:first])
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        if entry["dtype"] in TYPES:
            start, end = entry["data_offsets"]
            kind = np.dtype(TYPES[entry["dtype"]])
            count = (end - start) // kind.itemsize
            stored = np.frombuffer(data, kind, count, first + start).reshape(entry["shape"])
            half = name in tables and kind == np.float16
            found[name] = stored if half else _as_float32(stored)
    return found


def _as_float32(stored: NDArray[Any]) -> NDArray[np.float32]:
    if stored.dtype == np.uint16:
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float32, copy=False)
