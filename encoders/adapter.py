"""LoRA adapters in the layout of ``peft``: read, and merged into the weights of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from ontodex.encoders.mapped_weights import mapped_weights
from ontodex.errors import EncoderError

if TYPE_CHECKING:
    import torch

__all__ = ["ADAPTER_FILES", "LowRank", "add_adapter", "low_rank_changes"]

ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")

_PREFIX = "base_model.model."

_PLAIN_SETTINGS = {
    *(
        "peft_type",
        "peft_version",
        "task_type",
        "auto_mapping",
        "base_model_name_or_path",
        "revision",
    ),
    *(
        "inference_mode",
        "runtime_config",
        "r",
        "lora_alpha",
        "lora_dropout",
        "bias",
        "target_modules",
    ),
    *(
        "exclude_modules",
        "layers_to_transform",
        "layers_pattern",
        "init_lora_weights",
        "eva_config",
    ),
    *("megatron_core", "qalora_group_size"),
}
"""Settings of ``peft`` that do not change the formula of plain LoRA.

Every other setting must be empty or false.
"""

_STARTS = (True, False, None, "gaussian", "eva", "orthogonal")
"""Initialisations of an adapter that do not change the weights of the base model."""


class LowRank(NamedTuple):
    """The change of a weight by an adapter: ``outer @ inner``, already scaled.

    Attributes:
        inner: Matrix A, ``float32`` of shape (r, columns).
        outer: Matrix B times alpha / r, ``float32`` of shape (rows, r).
    """

    inner: NDArray[np.float32]
    outer: NDArray[np.float32]


def low_rank_changes(folder: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, LowRank]:
    """Read a LoRA adapter, which adds (alpha / r) B A to a weight (Hu et al. 2021, section 4.1).

    Args:
        folder: Folder with ``adapter_config.json`` and ``adapter_model.safetensors``.
        shapes: Shapes of the weights of a transformers model by name.

    Returns:
        The change of ``<module>.weight`` for each module that the adapter changes.

    Raises:
        EncoderError: If a file is missing or damaged, if the adapter does not fit the model, or if
            it is not plain LoRA. Variants that ``peft`` supports are rejected as well.
    """
    try:
        config = json.loads((folder / ADAPTER_FILES[0]).read_text(encoding="utf-8"))
        _expect_plain(config)
        scale = np.float32(config["lora_alpha"] / config["r"])
        pairs: dict[str, dict[str, NDArray[np.float32]]] = {}
        for name, array in mapped_weights(folder / ADAPTER_FILES[1]).items():
            module, _, part = (
                name.removeprefix(_PREFIX).removesuffix(".weight").rpartition(".lora_")
            )
            pairs.setdefault(module, {})[part] = array
        return {
            module: _change(module, two, scale, shapes[f"{module}.weight"])
            for module, two in pairs.items()
        }
    except (
        OSError,
        ArithmeticError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        SafetensorError,
    ) as error:
        raise EncoderError(
            f"{folder}: expected a LoRA adapter for this model, found one that does not fit "
            f"({type(error).__name__}: {error})"
        ) from error


def add_adapter(weights: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Merge a LoRA adapter into the weights of a model.

    A merged model is as fast as its base model. ``peft``, which takes seconds to import, is needed
    for training only.

    Args:
        weights: Weights of a transformers model by name, in float32; they are modified in place.
        folder: The adapter; see :func:`low_rank_changes`.

    Raises:
        EncoderError: If the adapter cannot be read, or does not fit the model.
    """
    import torch

    shapes = {name: tuple(weight.shape) for name, weight in weights.items()}
    with torch.no_grad():
        for module, change in low_rank_changes(folder, shapes).items():
            weight = weights[f"{module}.weight"]
            weight += torch.from_numpy(change.outer @ change.inner).to(weight.device)


def _change(
    module: str,
    two: Mapping[str, NDArray[np.float32]],
    scale: np.float32,
    shape: tuple[int, ...],
) -> LowRank:
    if set(two) != {"A", "B"}:
        raise ValueError(
            f"{module}: expected the matrices A and B of plain LoRA, found {', '.join(sorted(two))}"
        )
    inner, outer = two["A"], scale * two["B"]
    found = (*outer.shape[:1], *inner.shape[1:])
    finite = bool(np.isfinite(inner).all() and np.isfinite(outer).all())
    if found != shape or not finite or outer.shape[1:] != inner.shape[:1]:
        raise ValueError(
            f"{module}: expected finite numbers of shape {shape}, found "
            f"the shape {found} or numbers that are not finite"
        )
    return LowRank(inner, outer)


def _expect_plain(config: dict[str, Any]) -> None:
    odd = {key: value for key, value in config.items() if value and key not in _PLAIN_SETTINGS}
    odd |= {key: config.get(key) for key in ("peft_type",) if config.get(key) != "LORA"}
    odd |= {key: config[key] for key in ("init_lora_weights",) if config.get(key) not in _STARTS}
    if odd:
        raise ValueError(f"expected plain LoRA, found the settings {odd}")
