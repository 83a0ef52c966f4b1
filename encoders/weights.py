"""Writing weights as safetensors with the default file permissions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["save_weights"]


def save_weights(tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    """Write tensors to a safetensors file with the permissions of any new file.

    ``safetensors.torch.save_file`` would write a file that only its owner can read (0600).

    Args:
        tensors: Tensors by name.
        path: The file.
    """
    from safetensors.torch import save

    path.write_bytes(save({name: tensor.contiguous() for name, tensor in tensors.items()}))
