"""Files of a network in a text encoder's folder: configuration, weights and fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from ontodex.encoders.mapped_weights import mapped_weights
from ontodex.encoders.weights import save_weights
from ontodex.errors import EncoderError, settings_from

if TYPE_CHECKING:
    from torch import Tensor, nn

__all__ = ["load_arrays", "load_network", "network_fingerprint", "save_network"]

C = TypeVar("C")
N = TypeVar("N", bound="nn.Module")


def load_arrays(
    folder: Path, config: type[C], shapes: Callable[[C], Mapping[str, tuple[int, ...]]], what: str
) -> tuple[C, dict[str, NDArray[np.float32]]]:
    """Load the weights of a network that :func:`save_network` wrote, without torch.

    Args:
        folder: Folder of the network.
        config: Dataclass of the contents of ``config.json``.
        shapes: Returns the shapes of the weights by name, from a configuration.
        what: Name of the kind of encoder in error messages.

    Returns:
        The configuration and the weights by name.

    Raises:
        EncoderError: If a file is missing or damaged.
    """
    path = folder / "config.json"
    try:
        found = settings_from(config, json.loads(path.read_text(encoding="utf-8")), str(path))
        weights = mapped_weights(folder / "model.safetensors")
        expected, stored = shapes(found), {name: one.shape for name, one in weights.items()}
        if stored != expected:
            raise ValueError(f"expected weights of the shapes {expected}, found {stored}")
        if not all(bool(np.isfinite(weight).all()) for weight in weights.values()):
            raise ValueError("expected finite weights, found others")
    except (OSError, ValueError, TypeError, SafetensorError) as error:
        raise _not_loaded(folder, what, error) from error
    return found, weights


def load_network(
    folder: Path, config: type[C], make: Callable[[C, str], N], what: str
) -> tuple[C, N]:
    """Load a network that :func:`save_network` wrote.

    Args:
        folder: Folder of the network.
        config: Dataclass of the contents of ``config.json``.
        make: Creates the network from a configuration and the file's name, for error messages.
        what: Name of the kind of encoder in error messages, such as ``"a condition encoder"``.

    Returns:
        The configuration and the network.

    Raises:
        EncoderError: If a file is missing or damaged.
    """
    import torch
    from safetensors.torch import load_file

    path = folder / "config.json"
    try:
        found = settings_from(config, json.loads(path.read_text(encoding="utf-8")), str(path))
        network = make(found, str(path))
        network.load_state_dict(load_file(folder / "model.safetensors"))
        if not all(bool(torch.isfinite(weight).all()) for weight in network.state_dict().values()):
            raise ValueError("expected finite weights, found others")
    except (OSError, ValueError, TypeError, SafetensorError, RuntimeError) as error:
        raise _not_loaded(folder, what, error) from error
    return found, network


def _not_loaded(folder: Path, what: str, error: Exception) -> EncoderError:
    return EncoderError(f"{folder.parent}: expected {what}, found one that does not load: {error}")


def save_network(
    folder: Path,
    config: Mapping[str, Any],
    weights: Mapping[str, Tensor] | Mapping[str, NDArray[Any]],
) -> None:
    """Write ``config.json`` and ``model.safetensors`` into a folder, and create it if needed.

    Args:
        folder: Folder of the network.
        config: Contents of ``config.json``.
        weights: Tensors by name, or arrays by name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(
        json.dumps(config, indent=1, ensure_ascii=False), encoding="utf-8"
    )
    save_weights(weights, folder / "model.safetensors")


def network_fingerprint(text: str, shape: Mapping[str, Any], weights: Mapping[str, Any]) -> str:
    """Hash a network together with the fingerprint of its text encoder (hex, 128 bits).

    Args:
        text: Fingerprint of the text encoder.
        shape: Settings of the network.
        weights: Weights of the network by name, arrays or tensors.
    """
    digest = hashlib.blake2b(text.encode(), digest_size=16)
    digest.update(json.dumps(shape).encode())
    for name, tensor in sorted(weights.items()):
        digest.update(name.encode() + np.asarray(tensor).tobytes())
    return digest.hexdigest()
