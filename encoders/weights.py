"""Writing weights so that whoever may read the folder may read them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["save_weights"]


def save_weights(tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    """Write tensors as safetensors, with the permissions that other new files get: the library's own are 0600."""
    from safetensors.torch import save_file

    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
