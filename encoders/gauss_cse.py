"""GaussCSE: a text encoder that embeds texts as Gaussians, for directed entailment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.adapted import Adapted, Base
from ontodex.encoders.locate import DEFAULT_ENCODER, GAUSSIAN
from ontodex.encoders.network_files import load_arrays, network_fingerprint, save_network
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, expect_choice, settings_from
from ontodex.geometry.entailment import Entailment
from ontodex.geometry.gaussian import LOG_VARIANCE, SIMILARITIES

__all__ = ["ACTIVATIONS", "DEFAULT_GAUSS_CSE", "GaussCSE", "GaussianMap"]

DEFAULT_GAUSS_CSE = Path(__file__).resolve().parent / "models" / "gauss-cse-nli"
"""The encoder of the package, trained on NLI: an adapter of all-MiniLM-L6-v2, and two heads."""

HEADS = ("mean", "log_variance")
"""Names of the heads in ``model.safetensors``."""

ACTIVATIONS = ("none", "tanh")
"""Activations of the mean: none, as in the paper, or tanh, as in the authors' code."""


@dataclass(frozen=True)
class GaussianMap:
    """Two affine maps from a pooled vector h to a Gaussian: μ = W h + b, ln σ² = V h + c.

    :class:`~ontodex.encoders.gaussian_heads.GaussianHeads` trains them.

    Attributes:
        weights: ``mean.weight``, ``mean.bias``, ``log_variance.weight`` and ``log_variance.bias``,
            of shape (dim, dim) and (dim,), ``float32``.
        activation: Activation of the mean, one of :data:`ACTIVATIONS`.

    Raises:
        SettingsError: If the activation is unknown.
    """

    weights: Mapping[str, NDArray[np.float32]]
    activation: str = "none"

    def __post_init__(self) -> None:
        expect_choice("activation", self.activation, ACTIVATIONS)

    def __call__(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the Gaussians of pooled vectors.

        Args:
            vectors: Pooled vectors of shape (n, dim).

        Returns:
            Means, then log-variances, ``float32`` of shape (n, 2 dim). Log-variances are clamped to
            :data:`~ontodex.geometry.gaussian.LOG_VARIANCE`.
        """
        means, logs = (
            vectors @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
            for name in HEADS
        )
        if self.activation == "tanh":
            means = np.tanh(means)
        return np.concatenate([means, logs.clip(*LOG_VARIANCE)], axis=1, dtype=np.float32)


@dataclass(frozen=True, kw_only=True)
class _Config(Base):
    """Contents of ``gauss_cse/config.json``, besides the base model of an adapter.

    Attributes:
        dim: Dimension of pooled vectors.
        similarity: One of :data:`~ontodex.geometry.gaussian.SIMILARITIES`.
        activation: One of :data:`ACTIVATIONS`.
        rule: Fields of the :class:`~ontodex.geometry.entailment.Entailment` that was fitted on
            validation data.
    """

    dim: int
    similarity: str
    activation: str
    rule: dict[str, float]

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_choice("similarity", self.similarity, SIMILARITIES)
        settings_from(Entailment, self.rule, "rule")


def _shapes(config: _Config) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the weights of the heads."""
    return {
        f"{head}.{part}": shape
        for head in HEADS
        for part, shape in (("weight", (config.dim, config.dim)), ("bias", (config.dim,)))
    }


class GaussCSE(Adapted):
    """Gaussian sentence embeddings (Yoda et al., EACL 2024): a text encoder with two heads.

    Created by :meth:`load`, or by :func:`ontodex.trainers.entailment.gauss_cse.train_gauss_cse`.

    Args:
        text: The text encoder, which makes pooled vectors.
        heads: Map pooled vectors to Gaussians.
        rule: Decides whether a premise entails a hypothesis.
        similarity: The function from a KL divergence to a similarity, one of
            :data:`~ontodex.geometry.gaussian.SIMILARITIES`.
        adapter: Folder of the LoRA adapter that ``text`` was loaded with; ``None`` without one.
        base: Name of the base model, by which :func:`~ontodex.encoders.locate.locate` finds it.
        seen: Names of the data sets that it was trained on.

    Raises:
        SettingsError: If the similarity is unknown.
    """

    FOLDER = GAUSSIAN
    precision = np.float16

    def __init__(
        self,
        text: TextEncoder,
        heads: GaussianMap,
        rule: Entailment,
        similarity: str = "scaled",
        *,
        adapter: Path | None = None,
        base: str = DEFAULT_ENCODER,
        seen: Sequence[str] = (),
    ) -> None:
        super().__init__(text, adapter, base, seen)
        expect_choice("similarity", similarity, SIMILARITIES)
        self.heads = heads
        self.rule = rule
        self.similarity = similarity

    @classmethod
    def load(
        cls,
        folder: Path = DEFAULT_GAUSS_CSE,
        device: str = "auto",
        *,
        base: Path | None = None,
        unchanged: bool = False,
    ) -> GaussCSE:
        """Load a folder that :meth:`save` wrote.

        Args:
            folder: The encoder's folder.
            device: Device to compute on.
            base: Folder of the base model of an adapter, if it is neither in ``folder`` nor found
                by its name.
            unchanged: See :meth:`Base.load <ontodex.encoders.adapted.Base.load>`.

        Raises:
            EncoderError: If the folder holds no GaussCSE encoder or a damaged one, or if the text
                encoder is not the base model of the adapter.
        """
        config, weights = load_arrays(folder / GAUSSIAN, _Config, _shapes, "a GaussCSE encoder")
        text, adapter = config.load(folder, GAUSSIAN, device, base, unchanged=unchanged)
        if text.dim != config.dim:
            raise EncoderError(
                f"{folder}: expected a text encoder of {config.dim} dimensions, found one of "
                f"{text.dim}"
            )
        rule = Entailment(**config.rule)
        return cls(
            text,
            GaussianMap(weights, config.activation),
            rule,
            config.similarity,
            adapter=adapter,
            base=config.base or DEFAULT_ENCODER,
            seen=config.seen,
        )

    def save_own(self, folder: Path) -> None:
        """Write the heads, the rule, and the adapter if there is one, without the text encoder.

        Heads with an adapter are written in half precision.
        """
        own = folder / GAUSSIAN
        base = self.save_adapter(own)
        config = _Config(
            dim=self.dim,
            similarity=self.similarity,
            activation=self.heads.activation,
            rule=asdict(self.rule),
            **asdict(base),
        )
        narrow = np.float32 if self.adapter is None else np.float16
        weights = {name: weight.astype(narrow) for name, weight in self.heads.weights.items()}
        save_network(own, asdict(config), weights)

    @property
    def width(self) -> int:
        """Dimension of a stored Gaussian: a mean and a log-variance for each dimension."""
        return 2 * self.dim

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the text encoder, the adapter and the heads, without the rule (hex, 128 bits)."""
        shape = {"similarity": self.similarity, "activation": self.heads.activation}
        return network_fingerprint(self.text_fingerprint, shape, self.heads.weights)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one Gaussian per text; each distinct text is encoded once.

        Training centres Gaussians (:meth:`GaussianHeads.centre`), so that the average of each
        number is near zero. Divergences do not depend on it.

        Returns:
            Means, then log-variances, ``float32`` of shape (texts, 2 dim).
        """
        distinct = list(dict.fromkeys(texts))
        rows = {text: row for row, text in enumerate(distinct)}
        return self.stored(self.text.encode(distinct))[[rows[text] for text in texts]]

    def stored(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the Gaussians of pooled vectors, ``float32`` of shape (n, 2 dim).

        Args:
            vectors: Pooled vectors of shape (n, dim).
        """
        return self.heads(np.asarray(vectors, dtype=np.float32))
