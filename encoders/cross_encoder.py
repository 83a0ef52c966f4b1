"""A cross-encoder of triples: head, relation and tail read together; slow, so for a few candidates of each question."""

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
"""Triples that are tokenised together and arranged by length."""

BATCH = {"cpu": 32, "cuda": 512}
"""Triples in one forward pass."""


@dataclass(frozen=True)
class CrossEncoderSettings:
    """What ``cross_encoder/config.json`` holds.

    Attributes:
        max_tokens: A triple is cut to this many tokens, the longer of its two halves first.
        texts: How the text of an entity was built in training (the fields of ``ontodex.TextSettings``).
    """

    max_tokens: int = 96
    texts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        expect_whole(self, max_tokens=8)


class CrossEncoder:
    """Scores triples by reading "relation [SEP] head" and the tail as a pair of texts.

    Args:
        model: A transformers model for sequences with one logit, on its device.
        tokenizer: Its tokenizer.
        settings: How it reads.
    """

    def __init__(self, model: Any, tokenizer: Any, settings: CrossEncoderSettings) -> None:
        self._model = model.eval()
        self._tokenizer = tokenizer
        self.settings = settings

    @staticmethod
    def is_at(folder: Path) -> bool:
        """Tell whether a folder holds one."""
        return (folder / CROSS / "config.json").exists()

    @classmethod
    def load(cls, folder: Path, device: str = "auto") -> CrossEncoder:
        """Load a folder that :meth:`save` wrote.

        Args:
            folder: The folder.
            device: Where to compute.

        Raises:
            EncoderError: If the folder holds no cross-encoder or a damaged one.
        """
        path = folder / CROSS / "config.json"
        try:
            settings = settings_from(
                CrossEncoderSettings, json.loads(path.read_text(encoding="utf-8")), str(path)
            )
        except (OSError, ValueError, TypeError) as error:
            raise EncoderError(
                f"{folder}: expected a cross-encoder of triples, found none ({error}); train one with "
                "ontodex train cross-encoder"
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
        """How the text of an entity was built in training."""
        return self.settings.texts

    @torch.inference_mode()
    def logits(self, triples: Sequence[Triple]) -> NDArray[np.float64]:
        """Score triples; the higher, the likelier.

        Args:
            triples: Texts of heads, relations and tails.

        Returns:
            One logit each, ``float64`` of shape (triples,).
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
    """Return what the model reads of triples, padded: "[CLS] relation [SEP] head [SEP] tail [SEP]"."""
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
    """Load the transformer of a folder with a logit a label on top, new if the folder has none; and its tokenizer.

    Raises:
        EncoderError: If there is none, or it does not load.
    """
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    verbosity = transformers.utils.logging.get_verbosity()
    transformers.utils.logging.set_verbosity(
        logging.ERROR
    )  # that the logits are new needs no warning
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            str(folder), num_labels=labels, use_safetensors=True, local_files_only=True
        )
    except Exception as error:
        raise EncoderError(
            f"{folder}: expected a Hugging Face model with model.safetensors, found one that does not load "
            f"({type(error).__name__}: {error})"
        ) from error
    finally:
        transformers.utils.logging.set_verbosity(verbosity)
    return model.float(), tokenizer
