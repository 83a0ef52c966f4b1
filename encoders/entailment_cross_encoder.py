"""A cross-encoder of sentence pairs, which decides whether a premise entails a hypothesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.adapted import Adapted, Base
from ontodex.encoders.locate import DEFAULT_ENCODER, PAIRS
from ontodex.encoders.network_files import load_arrays, save_network
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError
from ontodex.geometry.logistic import sigmoid

__all__ = ["DEFAULT_ENTAILMENT_CROSS_ENCODER", "EntailmentCrossEncoder"]

DEFAULT_ENTAILMENT_CROSS_ENCODER = (
    Path(__file__).resolve().parent / "models" / "cross-encoder-entailment"
)
"""The cross-encoder of the package: an adapter of all-MiniLM-L6-v2, and a linear layer."""


@dataclass(frozen=True, kw_only=True)
class _Config(Base):
    """Contents of ``entailment_cross_encoder/config.json``, besides the base model of an adapter.

    Attributes:
        dim: Dimension of pooled vectors.
        slope: Factor of a logit, in the curve that was fitted on validation pairs.
        offset: Summand of a logit, in the same curve.
    """

    dim: int
    slope: float = 1.0
    offset: float = 0.0


def _shapes(config: _Config) -> dict[str, tuple[int, ...]]:
    return {"weight": (1, config.dim), "bias": (1,)}


class EntailmentCrossEncoder(Adapted):
    """Reads a premise and a hypothesis together and returns the probability of entailment.

    A logit is a linear function of the pooled vector of "[CLS] premise [SEP] hypothesis [SEP]".

    Created by :meth:`load`, or by
    :func:`ontodex.trainers.entailment.cross_encoder.train_entailment_cross_encoder`.

    Args:
        text: The text encoder, which makes pooled vectors of pairs.
        linear: ``weight``, of shape (1, dim), and ``bias``, of shape (1,), of the linear layer from
            a pooled vector to a logit, ``float32``.
        slope: Factor of a logit in the curve that maps logits to probabilities.
        offset: Summand in the same curve.
        adapter: Folder of the LoRA adapter that ``text`` was loaded with; ``None`` without one.
        base: Name of the base model, by which :func:`~ontodex.encoders.locate.locate` finds it.
        seen: Names of the data sets that it was trained on.
    """

    FOLDER = PAIRS

    def __init__(
        self,
        text: TextEncoder,
        linear: Mapping[str, NDArray[np.float32]],
        slope: float = 1.0,
        offset: float = 0.0,
        *,
        adapter: Path | None = None,
        base: str = DEFAULT_ENCODER,
        seen: Sequence[str] = (),
    ) -> None:
        super().__init__(text, adapter, base, seen)
        self.linear = linear
        self.slope, self.offset = slope, offset

    @classmethod
    def load(
        cls,
        folder: Path = DEFAULT_ENTAILMENT_CROSS_ENCODER,
        device: str = "auto",
        *,
        base: Path | None = None,
    ) -> EntailmentCrossEncoder:
        """Load a folder that :meth:`save` wrote.

        Args:
            folder: The encoder's folder.
            device: Device to compute on.
            base: Folder of the base model of an adapter, if it is neither in ``folder`` nor found
                by its name.

        Raises:
            EncoderError: If the folder holds no such encoder or a damaged one, or if the text
                encoder is not the base model of the adapter.
        """
        config, linear = load_arrays(
            folder / PAIRS, _Config, _shapes, "an entailment cross-encoder"
        )
        text, adapter = config.load(folder, PAIRS, device, base)
        if text.dim != config.dim:
            raise EncoderError(
                f"{folder}: expected a text encoder of {config.dim} dimensions, found one of "
                f"{text.dim}"
            )
        return cls(
            text,
            linear,
            config.slope,
            config.offset,
            adapter=adapter,
            base=config.base or DEFAULT_ENCODER,
            seen=config.seen,
        )

    def save_own(self, folder: Path) -> None:
        """Write the linear layer, the curve, and the adapter if there is one."""
        own = folder / PAIRS
        base = self.save_adapter(own)
        config = _Config(dim=self.dim, slope=self.slope, offset=self.offset, **asdict(base))
        save_network(own, asdict(config), self.linear)

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return the logit of each pair before the curve, ``float64`` of shape (pairs,).

        Args:
            pairs: Premises and hypotheses. A pair with more tokens than the encoder reads is
                truncated, starting with its longer text.
        """
        logits = self.text.encode(pairs) @ self.linear["weight"][0] + self.linear["bias"][0]
        return np.asarray(logits, dtype=np.float64)

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """Return the probability that each premise entails its hypothesis, of shape (pairs,).

        Args:
            pairs: Premises and hypotheses.
        """
        return sigmoid(self.slope * self.logits(pairs) + self.offset)
