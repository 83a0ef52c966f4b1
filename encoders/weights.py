"""Writing weights so that whoever may read the folder may read them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["save_weights"]


def save_weights(tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    """Write tensors as safetensors, with the permissions of any new file: the library's own function leaves 0600."""
    from safetensors.torch import save

    path.write_bytes(save({name: tensor.contiguous() for name, tensor in tensors.items()}))
