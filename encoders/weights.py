"""Writing weights as safetensors with the default file permissions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

__all__ = ["save_weights"]


def save_weights(
    weights: Mapping[str, torch.Tensor] | Mapping[str, NDArray[Any]], path: Path
) -> None:
    """Write weights to a safetensors file with the permissions of any new file.

    ``safetensors.torch.save_file`` would write a file that only its owner can read (0600).

    Args:
        weights: Tensors by name, or arrays by name.
        path: The file.
    """
    arrays = {name: one for name, one in weights.items() if isinstance(one, np.ndarray)}
    if arrays:
        from safetensors.numpy import save as save_arrays

        whole = {name: np.ascontiguousarray(one) for name, one in arrays.items()}
        path.write_bytes(save_arrays(whole))
        return
    from safetensors.torch import save

    tensors = {
        name: one.contiguous() for name, one in weights.items() if not isinstance(one, np.ndarray)
    }
    path.write_bytes(save(tensors))
