"""Text encoders for inference: distinct texts in batches by length, in bfloat16 where native.

A few short texts are encoded by NumPy, in float32 (:mod:`ontodex.encoders.short_texts`). Which
texts are depends on the call's texts alone. torch, and sentence-transformers for models other than
a plain BERT, are imported when they are first needed, because each import takes seconds.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.bert_files import is_plain_bert, vocabulary_size
from ontodex.encoders.device import choose_device, has_bfloat16
from ontodex.encoders.locate import DEFAULT_ENCODER, files_of, fingerprint, locate
from ontodex.encoders.short_texts import ShortTexts
from ontodex.encoders.text_reader import Text, TextReader

if TYPE_CHECKING:
    from ontodex.encoders.self_strae import SelfStrAE

__all__ = ["TextEncoder"]

MANY_LANGUAGES, PIECES = 100_000, 3
"""Size above which a vocabulary is shared by many languages, and most tokens of a known word."""

CHUNK = 4096
"""Number of texts that are tokenised and sorted by their number of tokens at a time."""

TOKENS_PER_BATCH = {"cpu": 1024, "cuda": 65536, "mps": 8192}
"""Largest number of tokens, including padding, of one forward pass, by device.

It is large enough to use the device fully, and small enough for its caches.
"""


class TextEncoder:
    """A text encoder for inference.

    Args:
        folder: A sentence-transformers or Hugging Face folder.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or another torch device.
        unit: Normalise vectors to length 1. If false, vectors are as the model pools them, for
            models in which the length of a vector has a meaning.
        adapter: Folder of a LoRA adapter in the layout of ``peft``, which is merged into the model.
        max_tokens: Largest number of tokens of a text; longer texts are truncated. The model's own
            limit applies if it is lower.

    Raises:
        EncoderError: If the folder holds no text encoder.

    Example:
        >>> encoder = TextEncoder.load()
        >>> encoder.encode(["a cat", "a cat"]).shape
        (2, 384)
    """

    def __init__(
        self,
        folder: Path,
        device: str = "auto",
        *,
        unit: bool = True,
        adapter: Path | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self.folder = folder
        self.max_tokens = max_tokens
        self.device = choose_device(device)
        self.unit = unit
        self._adapter, self._loading = adapter, Lock()
        self._plain = is_plain_bert(folder)
        self._short: ShortTexts | None = None
        if self._plain and self.device == "cpu":
            self._short = ShortTexts(folder, unit=unit, adapter=adapter, max_tokens=max_tokens)
        self.dim: int = (self._short or self._reader).dim

    @property
    def _reader(self) -> TextReader:
        """The model in torch, loaded on first use."""
        with self._loading:
            return self._loaded

    @cached_property
    def _loaded(self) -> TextReader:
        arguments: dict[str, Any] = {
            "unit": self.unit,
            "adapter": self._adapter,
            "max_tokens": self.max_tokens,
        }
        reader: TextReader
        if self._plain:
            from ontodex.encoders.bert import Bert

            reader = Bert(self.folder, **arguments).to(self.device)
        else:
            from ontodex.encoders.sentence_transformer import LibraryEncoder

            reader = LibraryEncoder(self.folder, self.device, **arguments)
        if reader.encode is None and has_bfloat16(self.device):
            reader.to_bfloat16()
        return reader

    @property
    def structured(self) -> SelfStrAE | None:
        """The Self-StrAE model, which parses texts into trees; ``None`` for other models."""
        return None if self._plain else self._reader.trees

    @classmethod
    def load(cls, name: str | Path = DEFAULT_ENCODER, device: str = "auto") -> TextEncoder:
        """Load an encoder by path or name; see :func:`~ontodex.encoders.locate.locate`."""
        return cls(locate(str(name)), device)

    @property
    def fingerprint(self) -> str:
        """Hash of the weights, the tokenizer and the settings (hex, 128 bits)."""
        return fingerprint(self.folder)

    def save(self, folder: Path) -> None:
        """Copy the files of the encoder, without its adapter, into a folder."""
        for relative in files_of(self.folder):
            (folder / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.folder / relative, folder / relative)

    def encode(self, texts: Sequence[Text]) -> NDArray[np.float32]:
        """Return one vector per text, ``float32`` of shape (texts, dim).

        Vectors have length 1, unless ``unit`` is false.
        """
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        for positions, found in self.stream(texts):
            vectors[positions] = found
        return vectors

    @property
    def longest(self) -> int | None:
        """Largest number of tokens of a text that are read; ``None`` if there is no known limit."""
        return (self._short or self._reader).longest

    def cut(self, texts: Sequence[str], most: int | None = None) -> list[tuple[int, int]]:
        """Return the texts that the encoder would truncate.

        Args:
            texts: The texts.
            most: Largest number of tokens; the encoder's own limit applies if it is lower.

        Returns:
            Position and number of tokens of each text above the limit; empty if the encoder has no
            known limit.
        """
        tokenizer = self._short or self._reader
        if tokenizer.longest is None:
            return []
        longest = min(tokenizer.longest, most or tokenizer.longest)
        return [
            (position, length)
            for position, length in enumerate(tokenizer.lengths(texts))
            if length > longest
        ]

    def knows(self, words: Sequence[str]) -> list[bool]:
        """Return whether the encoder knows each word: its tokenizer hardly divides it.

        A known word has one token, or at most three if the vocabulary is shared by many languages,
        which divides most words of each.
        """
        most = PIECES if self._plain and vocabulary_size(self.folder) > MANY_LANGUAGES else 1
        *lengths, letter = (self._short or self._reader).lengths([*words, "a"])
        return [length - letter < most for length in lengths]

    def stream(
        self, texts: Sequence[Text], done: int = 0
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Encode texts in chunks; each distinct text is encoded once.

        The chunks are determined by the texts, so that an interrupted run can be resumed.

        Args:
            texts: The texts.
            done: Number of chunks to skip, which a previous run has computed.

        Yields:
            Positions in ``texts``, ``int64`` of shape (n,), and the vectors of these texts,
            ``float32`` of shape (n, dim).
        """
        # Longest texts first: the first chunk needs the most memory.
        order = sorted(
            range(len(texts)), key=lambda position: (-len(texts[position]), texts[position])
        )
        bounds = [0]
        while bounds[-1] < len(order):
            at = min(bounds[-1] + CHUNK, len(order))
            while at < len(order) and texts[order[at]] == texts[order[at - 1]]:
                at += 1
            bounds.append(at)
        chunks = [order[start:end] for start, end in itertools.pairwise(bounds)]
        for chunk in chunks[done:]:
            unique = list(dict.fromkeys(texts[position] for position in chunk))
            rows = {text: row for row, text in enumerate(unique)}
            vectors = self._encode_unique(unique)
            yield (
                np.array(chunk, dtype=np.int64),
                vectors
                if len(unique) == len(chunk)
                else vectors[[rows[texts[position]] for position in chunk]],
            )

    def _encode_unique(self, texts: list[Text]) -> NDArray[np.float32]:
        if self._short is not None and (found := self._short.encode(texts)) is not None:
            return found
        import torch

        if self._reader.encode is not None:
            return self._reader.encode(texts)
        tokens = self._reader.tokenise(texts)
        lengths = np.array([len(ids) for ids in tokens["input_ids"]])
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        with torch.inference_mode():
            for rows in _batches(lengths, TOKENS_PER_BATCH.get(self.device.split(":")[0], 1024)):
                inputs = {name: [column[row] for row in rows] for name, column in tokens.items()}
                vectors[rows] = self._reader(inputs).cpu().numpy()
        return vectors


def _batches(lengths: NDArray[np.int64], budget: int) -> Iterator[NDArray[np.int64]]:
    """Yield batches of rows of similar lengths.

    A batch has at most ``budget`` tokens, including padding, or a single row.
    """
    order = np.argsort(lengths, kind="stable")
    start = 0
    while start < len(order):
        end = start + 1
        while end < len(order) and lengths[order[end]] * (end + 1 - start) <= budget:
            end += 1
        yield order[start:end]
        start = end
