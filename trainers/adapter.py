"""LoRA adapters in training: injection, scaling of the update, and export in half precision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from torch import nn

from ontodex.encoders.adapter import ADAPTER_FILES
from ontodex.encoders.sentence_transformer import load_tunable
from ontodex.encoders.text import TextEncoder
from ontodex.encoders.weights import save_weights
from ontodex.trainers.checkpoints import clear_model

__all__ = ["as_adapter", "inject_adapter", "only_matrices", "weaken", "write_tuned"]


def inject_adapter(encoder: SentenceTransformer, rank: int) -> None:
    """Add LoRA adapters to all linear layers of a transformer and freeze every other weight.

    Args:
        encoder: The text encoder, changed in place.
        rank: Rank of the adapters; their alpha is twice the rank.
    """
    from peft import LoraConfig, inject_adapter_in_model

    transformer: Any = encoder.transformers_model
    linear = {
        name.rpartition(".")[2]
        for name, module in transformer.named_modules()
        if isinstance(module, nn.Linear)
    }
    encoder.requires_grad_(False)
    inject_adapter_in_model(
        LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=sorted(linear)), transformer
    )


def only_matrices(encoder: SentenceTransformer) -> None:
    """Freeze all weights of a transformer but the matrices of its linear layers, in place."""
    encoder.requires_grad_(False)
    transformer: Any = encoder.transformers_model
    for module in transformer.modules():
        if isinstance(module, nn.Linear):
            module.weight.requires_grad_(True)


@torch.no_grad()
def as_adapter(trained: SentenceTransformer, encoder: TextEncoder, rank: int) -> None:
    """Replace the update of each matrix by a LoRA adapter: its best approximation of a rank.

    The update W - W0 is replaced by its first singular vectors and values (Eckart and Young 1936).

    Args:
        trained: The trained encoder, changed in place: its matrices are those before training, with
            adapters.
        encoder: The encoder before training.
        rank: Rank of the approximation.
    """
    before: Any = load_tunable(encoder.folder, encoder.device).transformers_model
    model: Any = trained.transformers_model
    updates = {
        name: module.weight - before.get_submodule(name).weight
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear)
    }
    model.load_state_dict(before.state_dict())
    inject_adapter(trained, rank)
    for name, update in updates.items():
        left, values, right = torch.linalg.svd(update.float(), full_matrices=False)
        adapted = model.get_submodule(name)
        root = (values[:rank] / adapted.scaling["default"]).sqrt()
        adapted.lora_B["default"].weight.copy_(left[:, :rank] * root)
        adapted.lora_A["default"].weight.copy_(root[:, None] * right[:rank])


@torch.no_grad()
def weaken(trained: SentenceTransformer, encoder: TextEncoder, strength: float) -> None:
    """Scale the update that training made, in place: W0 + strength · (W - W0).

    W0 and W are the weights before and after training. For an adapter, the factor B of the update
    B A is scaled.

    Args:
        trained: The trained encoder.
        encoder: The encoder before training.
        strength: Factor of the update; 1 leaves the weights unchanged.
    """
    if strength == 1:
        return
    factors = [weight for name, weight in trained.named_parameters() if ".lora_B." in name]
    for factor in factors:
        factor.mul_(strength)
    if not factors:
        before = load_tunable(encoder.folder, encoder.device)
        for weight, old in zip(trained.parameters(), before.parameters(), strict=True):
            weight.lerp_(old.to(weight), 1 - strength)


def write_tuned(
    folder: Path,
    own: str,
    trained: SentenceTransformer,
    encoder: TextEncoder,
    *,
    base: str,
    max_tokens: int,
    rank: int | None,
) -> tuple[TextEncoder, Path | None]:
    """Write a trained text encoder or its adapter, and load it; a previous encoder is removed.

    Args:
        folder: Output folder.
        own: Name of the subfolder for an adapter.
        trained: The trained encoder.
        encoder: The encoder before training.
        base: Name of the encoder before training; an adapter is stored with this name.
        max_tokens: Number of tokens to which texts were truncated in training; the written encoder
            truncates them likewise.
        rank: Rank of the adapter that :func:`inject_adapter` added; ``None`` after full
            fine-tuning.

    Returns:
        The text encoder, whose vectors are not normalised, and the folder of its adapter, if it has
        one.
    """
    clear_model(folder)
    if rank is None:
        trained.max_seq_length = min(max_tokens, trained.max_seq_length or max_tokens)
        trained.save(str(folder), create_model_card=False)
        return TextEncoder(folder, encoder.device, unit=False), None
    adapter = _write_adapter(folder / own, trained.transformers_model, rank, base)
    return TextEncoder(
        encoder.folder, encoder.device, unit=False, adapter=adapter, max_tokens=max_tokens
    ), adapter


def _write_adapter(folder: Path, transformer: Any, rank: int, base: str) -> Path:
    """Write an adapter in half precision."""
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
    config: dict[str, Any] = {
        "peft_type": "LORA",
        "task_type": None,
        "r": rank,
        "lora_alpha": 2 * rank,
    }
    config |= {
        "target_modules": modules,
        "base_model_name_or_path": base,
        "bias": "none",
        "inference_mode": True,
    }
    (folder / ADAPTER_FILES[0]).write_text(json.dumps(config, indent=1), encoding="utf-8")
    return folder
