"""BERT for a few short texts in NumPy, without torch, whose import takes seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ontodex.encoders.adapter import LowRank, low_rank_changes
from ontodex.encoders.bert_files import (
    ATTENTION,
    EMBEDDINGS,
    LAYER,
    TOKENIZER,
    WEIGHTS,
    longest_text,
    model_settings,
    pooling,
)
from ontodex.encoders.mapped_weights import mapped_weights
from ontodex.encoders.text_reader import Text
from ontodex.errors import EncoderError

__all__ = ["MOST_TOKENS", "ShortTexts", "erf"]

Floats = NDArray[np.float32]

TABLES = tuple(f"{EMBEDDINGS[table]}.weight" for table in ("words", "positions", "kinds"))
"""Names of the weights of which only some rows are used."""

MOST_TOKENS = 512
"""Largest number of tokens of all texts of a call, including special tokens.

Up to it, NumPy takes a fraction of the seconds that the import of torch takes.
"""

ERF_ABOVE = (
    -1.60960333262415e-02,
    -2.95459980854025e-03,
    -7.34990630326855e-04,
    -5.69250639462346e-05,
    -2.10102402082508e-06,
    2.77068142495902e-08,
    -2.72614225801306e-10,
)
ERF_BELOW = (
    -1.42647390514189e-02,
    -7.37332916720468e-03,
    -1.68282697438203e-03,
    -2.13374055278905e-04,
    -1.45660718464996e-05,
)
"""Coefficients of the numerator and of the denominator of :func:`erf`, lowest power first."""

ERF_LIMIT = 4.0
"""Absolute value from which on erf is 1 in float32."""


def _characters(text: Text) -> int:
    return len(text) if isinstance(text, str) else sum(map(len, text))


def erf(values: Floats) -> Floats:
    """Return the error function, with an absolute error of at most 5e-7.

    A rational function of odd degree 13 over degree 8, as in Eigen and TensorFlow.

    >>> erf(np.array([0.0, 0.5, -9.0], dtype=np.float32)).round(6).tolist()
    [0.0, 0.5205000042915344, -1.0]
    """
    inside = np.clip(values, -ERF_LIMIT, ERF_LIMIT)
    squares = inside * inside
    above, below = (_polynomial(squares, part) for part in (ERF_ABOVE, ERF_BELOW))
    return np.asarray(inside * above / below, dtype=np.float32)


def _polynomial(values: Floats, coefficients: Sequence[float]) -> Floats:
    sums = np.full_like(values, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        sums *= values
        sums += np.float32(coefficient)
    return sums


class ShortTexts:
    """The BERT of :class:`~ontodex.encoders.bert.Bert`, computed by NumPy in ``float32``.

    Weights are mapped; of the embeddings of words, only the rows of the texts' tokens are read. An
    adapter is not merged into the weights, but applied beside them.

    Args:
        folder: A sentence-transformers or Hugging Face folder that
            :func:`~ontodex.encoders.bert_files.is_plain_bert` accepts.
        unit: Normalise vectors to length 1.
        adapter: Folder of a LoRA adapter in the layout of ``peft``.
        max_tokens: Largest number of tokens of a text; longer texts are truncated. The model's own
            limit applies if it is lower.

    Attributes:
        dim: Dimension of vectors.
        longest: Largest number of tokens of a text, including [CLS] and [SEP].

    Raises:
        EncoderError: If the folder or the adapter is damaged.
    """

    def __init__(
        self,
        folder: Path,
        *,
        unit: bool = True,
        adapter: Path | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self._unit = unit
        try:
            self._first = pooling(folder) == "cls"
            config = model_settings(folder)
            self.dim: int = config["hidden_size"]
            self._heads: int = config["num_attention_heads"]
            self._layers: int = config["num_hidden_layers"]
            self._eps = np.float32(config["layer_norm_eps"])
            self.longest: int = min(
                longest_text(folder), max_tokens or config["max_position_embeddings"]
            )
            self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            self._weights: Mapping[str, Floats] = mapped_weights(folder / WEIGHTS, TABLES)
            self._expect_shapes(config["vocab_size"], config["intermediate_size"])
        except Exception as error:
            raise EncoderError(
                f"{folder}: expected a BERT with model.safetensors, found one that does not load "
                f"({type(error).__name__}: {error})"
            ) from error
        self._changes: Mapping[str, LowRank] = {}
        if adapter is not None:
            shapes = {name: weight.shape for name, weight in self._weights.items()}
            self._changes = low_rank_changes(adapter, shapes)

    def _expect_shapes(self, words: int, width: int) -> None:
        """Raise a ``ValueError`` if a weight has another shape than the settings say."""
        if self.dim % self._heads:
            raise ValueError(
                f"expected a dimension divisible by {self._heads} (heads), found {self.dim}"
            )
        shapes = {f"{EMBEDDINGS['words']}.weight": (words, self.dim)}
        for number in range(self._layers):
            layer = f"encoder.layer.{number}"
            for one in ATTENTION:
                shapes[f"{layer}.attention.self.{one}.weight"] = (self.dim, self.dim)
            shapes[f"{layer}.{LAYER['out']}.weight"] = (self.dim, self.dim)
            shapes[f"{layer}.{LAYER['wide']}.weight"] = (width, self.dim)
            shapes[f"{layer}.{LAYER['narrow']}.weight"] = (self.dim, width)
        for name, shape in shapes.items():
            if self._weights[name].shape != shape:
                raise ValueError(
                    f"{name}: expected the shape {shape}, found {self._weights[name].shape}"
                )

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without truncation."""
        return [len(one.ids) for one in self._tokenizer.encode_batch(list(texts))]

    def encode(self, texts: Sequence[Text]) -> Floats | None:
        """Return one vector per text.

        Returns:
            ``float32`` of shape (texts, dim); ``None`` if a text would be truncated, or if the
            texts have more than :data:`MOST_TOKENS` tokens.
        """
        if 2 * len(texts) > MOST_TOKENS or max(map(_characters, texts)) > MOST_CHARACTERS:
            return None
        read = self._tokenizer.encode_batch(list(texts))
        lengths = [len(one.ids) for one in read]
        if sum(lengths) > MOST_TOKENS or max(lengths) > self.longest:
            return None
        states = self._normed(
            self._rows("words", [number for one in read for number in one.ids])
            + self._rows("kinds", [number for one in read for number in one.type_ids])
            + self._rows("positions", [place for length in lengths for place in range(length)]),
            EMBEDDINGS["norm"],
        )
        bounds = np.cumsum([0, *lengths]).tolist()
        for number in range(self._layers):
            states = self._layer(states, bounds, f"encoder.layer.{number}.")
        if self._first:
            vectors = states[bounds[:-1]]
        else:
            sums = np.add.reduceat(states, bounds[:-1], axis=0)
            vectors = sums / np.array(lengths, dtype=np.float32)[:, None]
        if self._unit:
            vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return np.asarray(vectors, dtype=np.float32)

    def _layer(self, states: Floats, bounds: Sequence[int], layer: str) -> Floats:
        """Return the next hidden states of all tokens, of shape (tokens, dim).

        Args:
            states: Hidden states of the texts' tokens, text after text, of shape (tokens, dim).
            bounds: First token of each text, and the end of the last text.
            layer: Prefix of the names of the layer's weights.
        """
        query, key, value = (
            self._linear(states, f"{layer}attention.self.{one}") for one in ATTENTION
        )
        attended = np.empty_like(states)
        for start, end in pairwise(bounds):
            heads = (
                part[start:end].reshape(end - start, self._heads, -1).transpose(1, 0, 2)
                for part in (query, key, value)
            )
            attended[start:end] = _attention(*heads).transpose(1, 0, 2).reshape(end - start, -1)
        out, wide, narrow = (f"{layer}{LAYER[name]}" for name in ("out", "wide", "narrow"))
        states = self._normed(states + self._linear(attended, out), f"{layer}{LAYER['norm']}")
        inner = self._linear(_gelu(self._linear(states, wide)), narrow)
        return self._normed(states + inner, f"{layer}{LAYER['last_norm']}")

    def _linear(self, states: Floats, name: str) -> Floats:
        weight = self._weights[f"{name}.weight"]
        if len(states) < FEW_TOKENS:
            made = np.ascontiguousarray((weight @ states.T).T)
        else:
            made = states @ weight.T
        made += self._weights[f"{name}.bias"]
        change = self._changes.get(name)
        if change is not None:
            made += (states @ change.inner.T) @ change.outer.T
        return made

    def _normed(self, states: Floats, name: str) -> Floats:
        centred: Floats = states - states.mean(axis=1, keepdims=True)
        variance = np.square(centred).mean(axis=1, keepdims=True)
        centred /= np.sqrt(variance + self._eps)
        centred *= self._weights[f"{name}.weight"]
        centred += self._weights[f"{name}.bias"]
        return centred

    def _rows(self, table: str, rows: Sequence[int]) -> Floats:
        found = self._weights[f"{EMBEDDINGS[table]}.weight"][rows]
        return found.astype(np.float32, copy=False)


MOST_CHARACTERS = 8 * MOST_TOKENS
"""Longer texts are not tokenised here; a token has some four characters."""

FEW_TOKENS = 128
"""Number of tokens below which the weights are the left matrix of a product.

OpenBLAS copies the right one first. With 8 tokens a product takes .75 of the time, with 40 .88.
"""

ROOT_HALF = np.float32(0.5**0.5)


def _attention(query: Floats, key: Floats, value: Floats) -> Floats:
    """Return the attention of each head; all of shape (heads, tokens, dim of a head)."""
    scores = (query * np.float32(query.shape[-1] ** -0.5)) @ key.transpose(0, 2, 1)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return np.asarray(scores @ value)


def _gelu(values: Floats) -> Floats:
    return np.asarray(values * (np.float32(0.5) * (1 + erf(values * ROOT_HALF))))
