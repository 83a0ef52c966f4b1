"""A cross-encoder of triples, which reranks a few candidates of each question."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

from ontodex.encoders.device import choose_device, has_bfloat16
from ontodex.encoders.locate import CROSS
from ontodex.errors import EncoderError, expect_whole, settings_from

__all__ = ["CrossEncoder", "CrossEncoderSettings", "Triple", "load_classifier", "tokens_of"]

Triple = tuple[str, str, str]
"""Texts of head, relation and tail."""

CHUNK = 16_384
"""Number of triples that are tokenised together and batched by length."""

BATCH = {"cpu": 32, "cuda": 512}
"""Number of triples in a batch, by device."""


@dataclass(frozen=True)
class CrossEncoderSettings:
    """Contents of ``cross_encoder/config.json``.

    Attributes:
        max_tokens: Largest number of tokens of a triple. A triple with more is truncated, starting
            with the longer text of the pair ("relation [SEP] head", tail).
        texts: Settings of the entity texts in training (the fields of ``ontodex.TextSettings``).
    """

    max_tokens: int = 96
    texts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        expect_whole(self, max_tokens=8)


class CrossEncoder:
    """Scores triples by encoding "relation [SEP] head" and the tail as a pair of texts.

    Args:
        model: A transformers model for sequence classification with one logit, on its device.
        tokenizer: The tokenizer of the model.
        settings: Settings of the encoder.
    """

    def __init__(self, model: Any, tokenizer: Any, settings: CrossEncoderSettings) -> None:
        self._model = model.eval()
        self._tokenizer = tokenizer
        self.settings = settings

    @staticmethod
    def is_at(folder: Path) -> bool:
        """Return whether a folder holds a cross-encoder."""
        return (folder / CROSS / "config.json").exists()

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> CrossEncoder:
        """Load a folder that :meth:`save` wrote.

        Args:
            folder: The folder.
            device: Device to compute on.

        Raises:
            EncoderError: If the folder holds no cross-encoder, or a damaged one.
        """
        path = folder / CROSS / "config.json"
        try:
            settings = settings_from(
                CrossEncoderSettings, json.loads(path.read_text(encoding="utf-8")), str(path)
            )
        except (OSError, ValueError, TypeError) as error:
            raise EncoderError(
                f"{folder}: expected a cross-encoder of triples, found none ({error}); train one "
                "with ontodex train cross-encoder"
            ) from None
        model, tokenizer = load_classifier(folder)
        return cls(model.to(choose_device(device)), tokenizer, settings)

    def save(self, folder: Path) -> None:
        """Write model, tokenizer and settings, in the layout of transformers."""
        (folder / CROSS).mkdir(parents=True, exist_ok=True)
        self._model.save_pretrained(folder)
        self._tokenizer.save_pretrained(folder)
        config = json.dumps(asdict(self.settings), indent=1)
        (folder / CROSS / "config.json").write_text(config, encoding="utf-8")

    @property
    def texts(self) -> Mapping[str, Any]:
        """Settings of the entity texts in training."""
        return self.settings.texts

    @torch.inference_mode()
    def logits(self, triples: Sequence[Triple]) -> NDArray[np.float64]:
        """Return a logit of each triple's probability.

        Args:
            triples: Texts of heads, relations and tails.

        Returns:
            ``float64`` of shape (triples,).
        """
        found = np.empty(len(triples))
        device = str(self._model.device).split(":")[0]
        for start in range(0, len(triples), CHUNK):
            chunk = triples[start : start + CHUNK]
            order = np.argsort([sum(map(len, triple)) for triple in chunk], kind="stable")
            for rows in np.array_split(order, -(-len(order) // BATCH.get(device, BATCH["cpu"]))):
                inputs = tokens_of(
                    self._tokenizer, [chunk[row] for row in rows], self.settings.max_tokens
                )
                with torch.autocast(
                    device, torch.bfloat16, enabled=has_bfloat16(str(self._model.device))
                ):
                    logits = self._model(**inputs.to(self._model.device)).logits
                found[start + rows] = logits[:, 0].float().cpu().numpy()
        return found


def tokens_of(tokenizer: Any, triples: Sequence[Triple], max_tokens: int) -> Any:
    """Return the padded input "[CLS] relation [SEP] head [SEP] tail [SEP]" of each triple."""
    asked = [f"{relation} {tokenizer.sep_token} {head}" for head, relation, _ in triples]
    return tokenizer(
        asked,
        [tail for _, _, tail in triples],
        truncation=True,
        max_length=min(max_tokens, tokenizer.model_max_length),
        padding=True,
        return_tensors="pt",
    )


def load_classifier(folder: Path, labels: int = 1) -> tuple[Any, Any]:
    """Load a transformer with a classification layer, and its tokenizer.

    Args:
        folder: A Hugging Face folder.
        labels: Number of logits. If the folder has no classification layer, the layer gets random
            weights.

    Raises:
        EncoderError: If the folder holds no model, or one that does not load.
    """
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    verbosity = transformers.utils.logging.get_verbosity()
    transformers.utils.logging.set_verbosity(logging.ERROR)  # no warning of a new layer
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            str(folder), num_labels=labels, use_safetensors=True, local_files_only=True
        )
    except Exception as error:
        raise EncoderError(
            f"{folder}: expected a Hugging Face model with model.safetensors, found one that does "
            f"not load ({type(error).__name__}: {error})"
        ) from error
    finally:
        transformers.utils.logging.set_verbosity(verbosity)
    return model.float(), tokenizer
