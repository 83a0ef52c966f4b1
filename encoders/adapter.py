"""Merging LoRA adapters in the layout of ``peft`` into the weights of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontodex.errors import EncoderError

if TYPE_CHECKING:
    import torch

__all__ = ["ADAPTER_FILES", "add_adapter"]

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


def add_adapter(weights: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Merge a LoRA adapter into the weights of a model: W + (alpha / r) B A.

    Hu et al. 2021, section 4.1. A merged model is as fast as its base model. ``peft``, which takes
    seconds to import, is needed for training only.

    Args:
        weights: Weights of a transformers model by name, in float32; they are modified in place.
        folder: Folder with ``adapter_config.json`` and ``adapter_model.safetensors``.

    Raises:
        EncoderError: If a file is missing or damaged, if the adapter does not fit the model, or if
            it is not plain LoRA. Variants that ``peft`` supports are rejected as well.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        config = json.loads((folder / ADAPTER_FILES[0]).read_text(encoding="utf-8"))
        _expect_plain(config)
        tensors = load_file(folder / ADAPTER_FILES[1])
        scale = config["lora_alpha"] / config["r"]
        pairs: dict[str, dict[str, torch.Tensor]] = {}
        for name, tensor in tensors.items():
            module, _, part = (
                name.removeprefix(_PREFIX).removesuffix(".weight").rpartition(".lora_")
            )
            pairs.setdefault(module, {})[part] = tensor.float()
        with torch.no_grad():
            for module, two in pairs.items():
                if set(two) != {"A", "B"}:
                    raise ValueError(
                        f"{module}: expected the matrices A and B of plain LoRA, found "
                        f"{', '.join(sorted(two))}"
                    )
                change, weight = scale * (two["B"] @ two["A"]), weights[f"{module}.weight"]
                if change.shape != weight.shape or not torch.isfinite(change).all():
                    raise ValueError(
                        f"{module}: expected finite numbers of shape {tuple(weight.shape)}, found "
                        f"the shape {tuple(change.shape)} or numbers that are not finite"
                    )
                weight += change.to(weight.device)
    except (
        OSError,
        ArithmeticError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RuntimeError,
        SafetensorError,
    ) as error:
        raise EncoderError(_unfit(folder, error)) from error


def _expect_plain(config: dict[str, Any]) -> None:
    odd = {key: value for key, value in config.items() if value and key not in _PLAIN_SETTINGS}
    odd |= {key: config.get(key) for key in ("peft_type",) if config.get(key) != "LORA"}
    odd |= {key: config[key] for key in ("init_lora_weights",) if config.get(key) not in _STARTS}
    if odd:
        raise ValueError(f"expected plain LoRA, found the settings {odd}")


def _unfit(folder: Path, error: Exception) -> str:
    return (
        f"{folder}: expected a LoRA adapter for this model, found one that does not fit "
        f"({type(error).__name__}: {error})"
    )
