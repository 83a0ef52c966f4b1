"""What a text encoder delegates: the model that reads texts, as a protocol."""

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
"""A text, or two that are read together: "[CLS] one [SEP] other [SEP]"."""


class TextReader(Protocol):
    """A model that makes vectors of texts.

    Attributes:
        dim: Length of a vector.
    """

    dim: int

    @property
    def encode(self) -> Callable[[Sequence[Text]], NDArray[np.float32]] | None:
        """Makes vectors of texts in a model that takes no tokens; ``None`` for one that does."""

    @property
    def longest(self) -> int | None:
        """Tokens that are read of a text; ``None`` if there is no limit, or none that is known."""

    @property
    def trees(self) -> SelfStrAE | None:
        """The Self-StrAE model, if this is one and parses texts into trees; else ``None``."""

    def to_bfloat16(self) -> None:
        """Compute matrix products in bfloat16."""

    def tokenise(self, texts: Sequence[Text]) -> Mapping[str, list[list[int]]]:
        """Return ``input_ids`` and further columns with a row for each text, cut to the limit."""

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, not cut."""

    def __call__(self, columns: Mapping[str, Sequence[Sequence[int]]]) -> Tensor:
        """Return vectors of rows of tokens, a ``float32`` tensor of shape (rows, dim)."""
