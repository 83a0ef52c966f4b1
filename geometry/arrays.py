"""Helpers for formulas that accept both numpy arrays and torch tensors."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

__all__ = ["Array", "all_products", "floating", "joined", "library_of", "widened"]

Array = TypeVar("Array", NDArray[Any], "torch.Tensor")


def library_of(array: Array) -> Any:
    """Return torch for a tensor and numpy for an array, without importing torch."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(array, torch.Tensor) else np


def floating(array: Array) -> Array:
    """Return float32 and float64 arrays unchanged, others as float32."""
    library = library_of(array)
    return (
        array
        if array.dtype in (library.float32, library.float64)
        else _cast(array, library.float32)
    )


def widened(array: Array) -> Array:
    """Return the array in float64."""
    return _cast(array, library_of(array).float64)


def joined(*parts: Array, like: Array) -> Array:
    """Concatenate arrays along the last axis, in the dtype of ``floating(like)``."""
    concatenated: Array = library_of(like).concatenate(parts, -1)
    return _cast(concatenated, floating(like).dtype)


def all_products(left: Array, right: Array) -> Array:
    """Return ``left @ right.T`` in full precision, also under torch's autocast."""
    full = (
        nullcontext()
        if isinstance(left, np.ndarray)
        else library_of(left).autocast(left.device.type, enabled=False)
    )
    with full:
        products: Array = left @ right.T
    return products


def _cast(array: Array, dtype: Any) -> Array:
    cast: Array = (
        array.astype(dtype, copy=False) if isinstance(array, np.ndarray) else array.to(dtype)
    )
    return cast
