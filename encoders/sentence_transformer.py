"""Any text encoder that sentence-transformers loads, for training and for inference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from torch import Tensor

from ontodex.encoders.adapter import add_adapter
from ontodex.encoders.locate import CROSS
from ontodex.encoders.self_strae import SelfStrAE
from ontodex.encoders.text_reader import Text
from ontodex.errors import EncoderError

__all__ = ["LibraryEncoder", "forward_tokens", "load_sentence_transformer", "load_tunable"]

MAX_TOKENS = 512
"""Tokens that are read of a text, where a model does not say."""

TEXTS_PER_BATCH = 1024
"""Texts of one pass of an encoder that is no transformer, and holds little for each."""


def load_sentence_transformer(
    folder: Path, device: str, *, unit: bool = True
) -> SentenceTransformer:
    """Load a sentence-transformers or Hugging Face folder without progress bars, pickles or code from the folder.

    Args:
        folder: The folder.
        device: Where the model is put.
        unit: Keep the modules that scale vectors to length 1, if there are any.

    Raises:
        EncoderError: If the folder does not hold a model in safetensors, or a cross-encoder.
    """
    if (folder / CROSS).is_dir():
        raise EncoderError(
            f"{folder}: expected an encoder of texts, found a cross-encoder, which reads answers again"
        )
    if SelfStrAE.is_at(folder):
        return SentenceTransformer(modules=[SelfStrAE.load(folder)], device=device)
    transformers.utils.logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model = SentenceTransformer(
            str(folder),
            device=device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as error:
        raise EncoderError(
            f"{folder}: expected a sentence-transformers or Hugging Face model with model.safetensors, "
            f"found one that does not load ({type(error).__name__}: {error})"
        ) from error
    if not unit:
        for number in reversed(range(len(model))):  # those behind one that goes are numbered anew
            if type(model[number]).__name__ == "Normalize":
                del model[number]
    return model


def load_tunable(folder: Path, device: str, *, unit: bool = True) -> SentenceTransformer:
    """Load a text encoder that can be trained further; see :func:`load_sentence_transformer`.

    Raises:
        EncoderError: If the folder does not hold one, or one that is no transformer.
    """
    model = load_sentence_transformer(folder, device, unit=unit)
    if model.transformers_model is None:
        raise EncoderError(
            f"{folder}: expected a transformer to train further, found {type(model[0]).__name__}; take another encoder, or "
            "leave it as it is (--tune frozen, where there is one)"
        )
    return model


class LibraryEncoder:
    """A text encoder for inference, as sentence-transformers loads it.

    Args:
        folder: A sentence-transformers or Hugging Face folder.
        device: Where the model is put.
        unit: Scale the vectors to length 1.
        adapter: A folder with a LoRA adapter in the layout of ``peft``, whose weights are added to the model's.
        max_tokens: Texts are cut to this many tokens, if the model's own limit is not lower.

    Attributes:
        model: The model.
        dim: Length of a vector.
        encode: Makes vectors of texts, if the model takes no tokens; else ``None``.

    Raises:
        EncoderError: If the folder is no encoder.
    """

    def __init__(
        self,
        folder: Path,
        device: str,
        *,
        unit: bool = True,
        adapter: Path | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.model = load_sentence_transformer(folder, device, unit=unit)
        self._device, self._unit = device, unit
        self._tokenizing = (
            Lock()
        )  # a tokenizer of the library keeps from one call to the next whether it cuts
        if adapter is not None:
            add_adapter(dict(self.model.transformers_model.named_parameters()), adapter)  # type: ignore[union-attr]
        if max_tokens is not None:
            self.model.max_seq_length = min(max_tokens, self.model.max_seq_length or max_tokens)
        self.model.eval()
        dim = self.model.get_embedding_dimension()
        if dim is None:
            raise EncoderError(
                f"{folder}: expected a model with one vector per text, found one without a dimension"
            )
        self.dim: int = dim
        transformer = self.model[0]
        takes_tokens = callable(getattr(transformer, "tokenizer", None)) and hasattr(
            transformer, "model"
        )
        self.encode = None if takes_tokens else self._encode

    @property
    def longest(self) -> int | None:
        """Tokens that are read of a text; ``None`` where there is no limit, or none that is known."""
        return self.model.max_seq_length if self.encode is None else None

    @property
    def trees(self) -> SelfStrAE | None:
        """The encoder itself, if it finds the trees of texts; else ``None``."""
        return self.model[0] if isinstance(self.model[0], SelfStrAE) else None

    def to_bfloat16(self) -> None:
        """Compute the transformer in bfloat16."""
        self.model[0].to(torch.bfloat16)

    def tokenise(self, texts: Sequence[Text]) -> Mapping[str, list[list[int]]]:
        """Return ``input_ids``, and further columns where the tokenizer makes them, cut to what is read of a text."""
        with self._tokenizing:
            return self.model.tokenizer(  # type: ignore[no-any-return]
                list(texts), truncation=True, max_length=self.model.max_seq_length or MAX_TOKENS
            )

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, not cut."""
        if not texts:
            return []
        with self._tokenizing:
            return [
                len(ids) for ids in self.model.tokenizer(list(texts), verbose=False)["input_ids"]
            ]

    def __call__(self, columns: Mapping[str, Sequence[Sequence[int]]]) -> Tensor:
        """Embed rows of what :meth:`tokenise` returned.

        Returns:
            Vectors of shape (rows, dim), ``float32``.
        """
        return forward_tokens(self.model, columns, self._device, unit=self._unit)

    def _encode(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Embed texts without tokens."""
        found = self.model.encode(
            list(texts),
            batch_size=TEXTS_PER_BATCH,
            convert_to_numpy=True,
            normalize_embeddings=self._unit,
            show_progress_bar=False,
        )
        return np.asarray(found, dtype=np.float32)


def forward_tokens(
    model: SentenceTransformer,
    tokens: Mapping[str, Sequence[Any]],
    device: str,
    *,
    unit: bool = True,
) -> torch.Tensor:
    """Pass token ids through a text encoder, all but its transformer in float32.

    Args:
        model: A sentence-transformers model whose first module is a transformer.
        tokens: What its tokenizer returned, not padded: ``input_ids`` and, where it makes them, further columns.
        device: Where the model is.
        unit: Scale the vectors to length 1.

    Returns:
        Vectors of shape (texts, dim).

    Raises:
        EncoderError: If the model makes no vector per text.
    """
    features: dict[str, Any] = dict(model.tokenizer.pad(tokens, return_tensors="pt"))
    features = {name: tensor.to(device) for name, tensor in features.items()}
    features = model[0](features)
    features["token_embeddings"] = features["token_embeddings"].float()
    for module in list(model)[1:]:
        features = module(features)
    if "sentence_embedding" not in features:
        raise EncoderError(
            "expected a model with one vector per text, found one without pooling; see its modules.json"
        )
    vectors = features["sentence_embedding"].float()
    return torch.nn.functional.normalize(vectors, dim=-1) if unit else vectors
