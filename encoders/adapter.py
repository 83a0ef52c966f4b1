"""LoRA adapters in the layout of ``peft``: a few megabytes that turn one model into another."""

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

_SAYS_NOTHING = {
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
"""Settings of ``peft`` under which the tensors mean what they do in plain LoRA; any other must be off."""

_STARTS = (True, False, None, "gaussian", "eva", "orthogonal")
"""First weights of adapters that leave the model's own as they were."""


def add_adapter(weights: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Add the weights of a LoRA adapter to those of a model: W + (alpha / r) B A (Hu et al. 2021, section 4.1).

    The model is as fast as before, and ``peft``, which takes seconds to import, is needed for training alone.

    Args:
        weights: Those of a transformers model by their names, in float32; they are changed where they are.
        folder: Where ``adapter_config.json`` and ``adapter_model.safetensors`` are.

    Raises:
        EncoderError: If they are missing or damaged, do not fit the model, or hold more than plain LoRA, whatever else
            ``peft`` may make of them.
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
                        f"{module}: more or less than the A and B of plain LoRA: {', '.join(sorted(two))}"
                    )
                change, weight = scale * (two["B"] @ two["A"]), weights[f"{module}.weight"]
                if change.shape != weight.shape or not torch.isfinite(change).all():
                    raise ValueError(
                        f"{module}: numbers that are not finite, or not {tuple(weight.shape)} of them"
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
    odd = {key: value for key, value in config.items() if value and key not in _SAYS_NOTHING}
    odd |= {key: config.get(key) for key in ("peft_type",) if config.get(key) != "LORA"}
    odd |= {key: config[key] for key in ("init_lora_weights",) if config.get(key) not in _STARTS}
    if odd:
        raise ValueError(f"more than plain LoRA, which is all that is read: {odd}")


def _unfit(folder: Path, error: Exception) -> str:
    return f"{folder}: expected a LoRA adapter for this model, found one that does not fit ({type(error).__name__}: {error})"
