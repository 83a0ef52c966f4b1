"""Text encoders that sentence-transformers loads, for training and inference."""

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
from tokenizers import Tokenizer
from torch import Tensor

from ontodex.encoders.adapter import add_adapter
from ontodex.encoders.locate import CROSS, is_self_strae
from ontodex.encoders.self_strae import SelfStrAE
from ontodex.encoders.text_reader import Text
from ontodex.errors import EncoderError

__all__ = ["LibraryEncoder", "forward_tokens", "load_sentence_transformer", "load_tunable"]

MAX_TOKENS = 512
"""Largest number of tokens of a text, for a model without a limit of its own."""

TEXTS_PER_BATCH = 1024
"""Batch size of encoders that are not transformers and need little memory for a text."""


def load_sentence_transformer(
    folder: Path, device: str, *, unit: bool = True
) -> SentenceTransformer:
    """Load a sentence-transformers or Hugging Face folder.

    Shows no progress bars, loads no pickles, and runs no code from the folder.

    Args:
        folder: The folder.
        device: Device of the model.
        unit: If true, keep modules that normalise vectors to length 1; if false, remove them.

    Raises:
        EncoderError: If the folder holds no model in safetensors, or a cross-encoder.
    """
    if (folder / CROSS).is_dir():
        raise EncoderError(
            f"{folder}: expected an encoder of texts, found a cross-encoder, which reranks answers"
        )
    if is_self_strae(folder):
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
            f"{folder}: expected a sentence-transformers or Hugging Face model with "
            f"model.safetensors, found one that does not load ({type(error).__name__}: {error})"
        ) from error
    if not unit:
        for number in reversed(range(len(model))):  # deletion renumbers the modules that follow
            if type(model[number]).__name__ == "Normalize":
                del model[number]
    return model


def load_tunable(folder: Path, device: str, *, unit: bool = True) -> SentenceTransformer:
    """Load a text encoder that can be fine-tuned; see :func:`load_sentence_transformer`.

    Raises:
        EncoderError: If the folder holds no text encoder, or one that is not a transformer.
    """
    model = load_sentence_transformer(folder, device, unit=unit)
    if model.transformers_model is None:
        raise EncoderError(
            f"{folder}: expected a transformer to fine-tune, found {type(model[0]).__name__}; "
            "choose another encoder, or keep it frozen (--tune frozen, if the command has --tune)"
        )
    return model


class LibraryEncoder:
    """A text encoder for inference, loaded by sentence-transformers.

    Args:
        folder: A sentence-transformers or Hugging Face folder.
        device: Device of the model.
        unit: Normalise vectors to length 1.
        adapter: Folder of a LoRA adapter in the layout of ``peft``, which is merged into the model.
        max_tokens: Largest number of tokens of a text; longer texts are truncated. The model's own
            limit applies if it is lower.

    Attributes:
        model: The model.
        dim: Dimension of vectors.
        encode: Function that encodes texts; ``None`` for a model that takes tokens instead.

    Raises:
        EncoderError: If the folder holds no text encoder, or the adapter does not fit it.
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
        self._tokenizing = Lock()  # a call changes the truncation setting of the shared tokenizer
        if adapter is not None:
            transformer = self.model.transformers_model
            add_adapter(dict(transformer.named_parameters()), adapter)  # type: ignore[union-attr]
        if max_tokens is not None:
            self.model.max_seq_length = min(max_tokens, self.model.max_seq_length or max_tokens)
        self.model.eval()
        dim = self.model.get_embedding_dimension()
        if dim is None:
            raise EncoderError(
                f"{folder}: expected a model with one vector per text, found one without a "
                "dimension"
            )
        self.dim: int = dim
        first = self.model[0]
        takes_tokens = callable(getattr(first, "tokenizer", None)) and hasattr(first, "model")
        self.encode = None if takes_tokens else self._encode

    @property
    def longest(self) -> int | None:
        """Largest number of tokens of a text; ``None`` if there is no limit or it is unknown."""
        return self.model.max_seq_length if self.encode is None else None

    @property
    def trees(self) -> SelfStrAE | None:
        """The Self-StrAE model, which parses texts into trees; ``None`` for other models."""
        return self.model[0] if isinstance(self.model[0], SelfStrAE) else None

    def to_bfloat16(self) -> None:
        """Compute the transformer in bfloat16."""
        self.model[0].to(torch.bfloat16)

    def tokenise(self, texts: Sequence[Text]) -> Mapping[str, list[list[int]]]:
        """Return ``input_ids`` and other columns of the tokenizer, with one row per text.

        Rows are truncated to ``longest`` tokens.
        """
        with self._tokenizing:
            return self.model.tokenizer(  # type: ignore[no-any-return]
                list(texts), truncation=True, max_length=self.model.max_seq_length or MAX_TOKENS
            )

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without truncation."""
        if not texts:
            return []
        tokenizer = self.model.tokenizer
        if isinstance(tokenizer, Tokenizer):  # that of Self-StrAE
            return [len(one.ids) for one in tokenizer.encode_batch(list(texts))]
        with self._tokenizing:
            return [len(ids) for ids in tokenizer(list(texts), verbose=False)["input_ids"]]

    def __call__(self, columns: Mapping[str, Sequence[Sequence[int]]]) -> Tensor:
        """Return the vectors of tokenised texts.

        Args:
            columns: Columns from :meth:`tokenise`, with the rows to encode, not padded.

        Returns:
            Vectors of shape (rows, dim), ``float32``.
        """
        return forward_tokens(self.model, columns, self._device, unit=self._unit)

    def _encode(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Encode texts with a model that does not take tokens."""
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
    """Return the vectors of token ids; all modules but the transformer compute in ``float32``.

    Args:
        model: A sentence-transformers model whose first module is a transformer.
        tokens: Columns of the model's tokenizer, not padded: ``input_ids`` and, for some
            tokenizers, further columns.
        device: Device of the model.
        unit: Normalise vectors to length 1.

    Returns:
        Vectors of shape (texts, dim), ``float32``.

    Raises:
        EncoderError: If the model does not make one vector per text.
    """
    features: dict[str, Any] = dict(model.tokenizer.pad(tokens, return_tensors="pt"))
    features = {name: tensor.to(device) for name, tensor in features.items()}
    features = model[0](features)
    features["token_embeddings"] = features["token_embeddings"].float()
    for module in list(model)[1:]:
        features = module(features)
    if "sentence_embedding" not in features:
        raise EncoderError(
            "expected a model with one vector per text, found one without pooling; see its "
            "modules.json"
        )
    vectors = features["sentence_embedding"].float()
    return torch.nn.functional.normalize(vectors, dim=-1) if unit else vectors
