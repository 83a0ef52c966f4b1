"""LoRA adapters in training: put into a transformer, and written in half precision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torch import nn

from ontodex.encoders.adapter import ADAPTER_FILES
from ontodex.encoders.weights import save_weights

__all__ = ["inject_adapter", "write_adapter"]

LORA_MODULES = [
    "query",
    "key",
    "value",
    "dense",
    "q",
    "k",
    "v",
    "o",
    "q_lin",
    "k_lin",
    "v_lin",
    "out_lin",
    "lin1",
    "lin2",
]
"""Names of the linear layers of BERT, RoBERTa, MPNet and DistilBERT."""


def inject_adapter(transformer: Any, rank: int) -> None:
    """Give a transformer a LoRA adapter (alpha is twice the rank), which alone is trained from then on."""
    from peft import LoraConfig, inject_adapter_in_model

    present = {name.rpartition(".")[2] for name, module in transformer.named_modules() if isinstance(module, nn.Linear)}
    transformer.requires_grad_(False)
    inject_adapter_in_model(
        LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=[name for name in LORA_MODULES if name in present]),
        transformer,
    )


def write_adapter(folder: Path, transformer: Any, rank: int, base: str) -> Path:
    """Write the adapter that :func:`inject_adapter` has given a transformer.

    Args:
        folder: Where to; made if it is not there.
        transformer: The trained transformer.
        rank: As it was injected.
        base: Name of the text encoder that it is for.

    Returns:
        The folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: weight for name, weight in transformer.named_parameters() if ".lora_" in name}
    save_weights(
        {
            f"base_model.model.{name.replace('.default', '')}": weight.detach().half()
            for name, weight in weights.items()
        },
        folder / ADAPTER_FILES[1],
    )
    modules = sorted({name.split(".lora_")[0].rpartition(".")[2] for name in weights})
    config: dict[str, Any] = {"peft_type": "LORA", "task_type": None, "r": rank, "lora_alpha": 2 * rank}
    config |= {"target_modules": modules, "base_model_name_or_path": base, "bias": "none", "inference_mode": True}
    (folder / ADAPTER_FILES[0]).write_text(json.dumps(config, indent=1), encoding="utf-8")
    return folder
