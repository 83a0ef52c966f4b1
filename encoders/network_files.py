"""A small network in the folder of a text encoder: its configuration, its weights and its fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from ontodex.encoders.weights import save_weights
from ontodex.errors import EncoderError, settings_from

__all__ = ["load_network", "network_fingerprint", "save_network"]

C = TypeVar("C")
N = TypeVar("N", bound=nn.Module)


def load_network(
    folder: Path, config: type[C], make: Callable[[C, str], N], what: str
) -> tuple[C, N]:
    """Load what :func:`save_network` wrote.

    Args:
        folder: Folder of the network.
        config: Dataclass of what its ``config.json`` holds.
        make: Makes the network from that, and the name of the file for its messages.
        what: What is expected, for the message, as in ``"a condition encoder"``.

    Raises:
        EncoderError: If it is not there, or damaged.
    """
    path = folder / "config.json"
    try:
        found = settings_from(config, json.loads(path.read_text(encoding="utf-8")), str(path))
        network = make(found, str(path))
        network.load_state_dict(load_file(folder / "model.safetensors"))
        if not all(bool(torch.isfinite(weight).all()) for weight in network.state_dict().values()):
            raise ValueError("weights that are not finite")
    except (OSError, ValueError, TypeError, SafetensorError, RuntimeError) as error:
        raise EncoderError(
            f"{folder.parent}: expected {what}, found one that does not load: {error}"
        ) from error
    return found, network


def save_network(folder: Path, config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> None:
    """Write ``config.json`` and ``model.safetensors`` into a folder, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(
        json.dumps(config, indent=1, ensure_ascii=False), encoding="utf-8"
    )
    save_weights(weights, folder / "model.safetensors")


def network_fingerprint(text: str, shape: Mapping[str, Any], weights: Mapping[str, Tensor]) -> str:
    """Hash a text encoder's fingerprint, the shape of a network and its weights (hex, 128 bits)."""
    digest = hashlib.blake2b(text.encode(), digest_size=16)
    digest.update(json.dumps(shape).encode())
    for name, tensor in sorted(weights.items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    return digest.hexdigest()
