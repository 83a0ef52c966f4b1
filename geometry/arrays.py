"""What lets one formula take numpy arrays and torch tensors alike."""

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
    """Return the module whose functions take ``array``: torch, which need not be imported to find out, or numpy."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(array, torch.Tensor) else np


def floating(array: Array) -> Array:
    """Return float32 and float64 as they are, anything else as float32."""
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
    """Join arrays along their last axis, in the type that ``like`` has as :func:`floating`."""
    whole: Array = library_of(like).concatenate(parts, -1)
    return _cast(whole, floating(like).dtype)


def all_products(left: Array, right: Array) -> Array:
    """Return left @ right.T, in full precision also where torch's autocast would lower it."""
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
