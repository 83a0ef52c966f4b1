"""Protocol of the model that a text encoder uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor

    from ontodex.encoders.self_strae import SelfStrAE

__all__ = ["Text", "TextReader"]

Text = str | tuple[str, str]
"""A text, or a pair of texts that are encoded jointly as "[CLS] one [SEP] other [SEP]"."""


class TextReader(Protocol):
    """A model that makes vectors of texts.

    Attributes:
        dim: Length of a vector.
    """

    dim: int

    @property
    def encode(self) -> Callable[[Sequence[Text]], NDArray[np.float32]] | None:
        """Function that encodes texts; ``None`` for a model that takes tokens instead."""

    @property
    def longest(self) -> int | None:
        """Largest number of tokens of a text; ``None`` if there is no limit or it is unknown."""

    @property
    def trees(self) -> SelfStrAE | None:
        """The Self-StrAE model, which parses texts into trees; ``None`` for other models."""

    def to_bfloat16(self) -> None:
        """Compute matrix products in bfloat16."""

    def tokenise(self, texts: Sequence[Text]) -> Mapping[str, list[list[int]]]:
        """Return ``input_ids`` and other columns, one row per text, truncated to ``longest``."""

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without truncation."""

    def __call__(self, columns: Mapping[str, Sequence[Sequence[int]]]) -> Tensor:
        """Return the vectors of tokenised texts, a ``float32`` tensor of shape (rows, dim)."""
