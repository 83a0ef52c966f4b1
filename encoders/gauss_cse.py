"""GaussCSE: a text encoder whose texts are Gaussians, so that entailment between them has a direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ontodex.encoders.adapted import Adapted, Base
from ontodex.encoders.locate import DEFAULT_ENCODER, GAUSSIAN
from ontodex.encoders.network_files import load_network, network_fingerprint, save_network
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, expect_choice, settings_from
from ontodex.geometry.entailment import Entailment
from ontodex.geometry.gaussian import LOG_VARIANCE, SIMILARITIES

__all__ = ["ACTIVATIONS", "DEFAULT_GAUSS_CSE", "GaussCSE", "GaussianHeads"]

DEFAULT_GAUSS_CSE = Path(__file__).resolve().parent / "models" / "gauss-cse-nli"
"""The encoder that the package carries: an adapter of all-MiniLM-L6-v2 and two heads, trained on premises and hypotheses."""

ACTIVATIONS = ("none", "tanh")
"""What the means pass: nothing, or tanh, as in the paper."""

FIRST_LOG_VARIANCE = -2.0
"""Where training starts: e^-2 is about the variance of the numbers of a pooled vector."""


class GaussianHeads(nn.Module):
    """From a pooled vector h to a Gaussian: μ = W h + b, ln σ² = V h + c (Yoda et al., EACL 2024, section 3.1).

    Untrained, the mean is the vector itself, and the variance nearly the same for all.

    Args:
        dim: Length of a vector.
        activation: What the means pass, one of :data:`ACTIVATIONS`.
    """

    def __init__(self, dim: int, activation: str = "none") -> None:
        super().__init__()
        expect_choice("activation", activation, ACTIVATIONS)
        self.activation = activation
        self.mean, self.log_variance = nn.Linear(dim, dim), nn.Linear(dim, dim)
        with torch.no_grad():
            self.mean.weight.copy_(torch.eye(dim))
            self.mean.bias.zero_()
            self.log_variance.weight.mul_(0.1)
            self.log_variance.bias.fill_(FIRST_LOG_VARIANCE)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return Gaussians of shape (n, 2 dim), log-variances within bounds, for vectors of shape (n, dim)."""
        means, logs = self.mean(vectors), self.log_variance(vectors)
        return torch.cat(
            [means.tanh() if self.activation == "tanh" else means, logs.clamp(*LOG_VARIANCE)],
            dim=-1,
        )

    @torch.no_grad()
    def centre(self, shift: Tensor, scale: Tensor) -> None:
        """Make Gaussians that are :func:`~ontodex.geometry.gaussian.moved` from now on.

        No divergence changes, unless a log-variance is at its bound; half precision, which holds small numbers best, loses
        less. Means that pass tanh stay where they are.

        Args:
            shift: Of shape (dim,).
            scale: Of shape (dim,), positive.
        """
        if self.activation == "tanh":
            return
        self.mean.weight.div_(scale[:, None])
        self.mean.bias.sub_(shift).div_(scale)
        self.log_variance.bias.sub_(2 * scale.log())


@dataclass(frozen=True, kw_only=True)
class _Config(Base):
    """What ``gauss_cse/config.json`` holds, besides what an adapter is for.

    Attributes:
        dim: Length of a pooled vector.
        similarity: One of :data:`~ontodex.geometry.gaussian.SIMILARITIES`.
        activation: One of :data:`ACTIVATIONS`.
        rule: The fields of the :class:`~ontodex.geometry.entailment.Entailment` fitted on validation.
    """

    dim: int
    similarity: str
    activation: str
    rule: dict[str, float]

    def __post_init__(self) -> None:
        super().__post_init__()
        expect_choice("similarity", self.similarity, SIMILARITIES)
        settings_from(Entailment, self.rule, "rule")


def _heads(config: _Config, where: str) -> GaussianHeads:
    return GaussianHeads(config.dim, config.activation)


class GaussCSE(Adapted):
    """Gaussian sentence embeddings (Yoda et al., EACL 2024): a pooled vector, and two heads that make a Gaussian of it.

    Made by :meth:`load`, or by :func:`ontodex.trainers.entailment.gauss_cse.train_gauss_cse`.

    Args:
        text: Makes the pooled vectors.
        heads: Make Gaussians of them.
        rule: When a premise entails a hypothesis.
        similarity: How a KL divergence becomes a similarity, one of :data:`~ontodex.geometry.gaussian.SIMILARITIES`.
        adapter: Folder of the LoRA adapter that ``text`` has been given, if it has.
        base: Name under which the text encoder is found, without its adapter.
        seen: Names of the data sets that it was trained on.
    """

    FOLDER = GAUSSIAN
    precision = np.float16

    def __init__(
        self,
        text: TextEncoder,
        heads: GaussianHeads,
        rule: Entailment,
        similarity: str = "scaled",
        *,
        adapter: Path | None = None,
        base: str = DEFAULT_ENCODER,
        seen: Sequence[str] = (),
    ) -> None:
        super().__init__(text, adapter, base, seen)
        expect_choice("similarity", similarity, SIMILARITIES)
        self.heads = heads.float().eval()
        self.rule = rule
        self.similarity = similarity

    @classmethod
    def load(
        cls, folder: Path = DEFAULT_GAUSS_CSE, device: str = "auto", *, base: Path | None = None
    ) -> GaussCSE:
        """Load a folder that :meth:`save` wrote.

        Args:
            folder: The encoder's folder.
            device: Where it computes.
            base: Folder of the text encoder that an adapter is for, if it is neither in ``folder`` nor found by its name.

        Raises:
            EncoderError: If the folder holds none or a damaged one, or an adapter's text encoder is not the right one.
        """
        config, heads = load_network(folder / GAUSSIAN, _Config, _heads, "a GaussCSE encoder")
        text, adapter = config.load(folder, GAUSSIAN, device, base)
        if text.dim != config.dim:
            raise EncoderError(
                f"{folder}: expected a text encoder of {config.dim} dimensions, found one of {text.dim}"
            )
        rule = Entailment(**config.rule)
        return cls(
            text,
            heads,
            rule,
            config.similarity,
            adapter=adapter,
            base=config.base or DEFAULT_ENCODER,
            seen=config.seen,
        )

    def save_own(self, folder: Path) -> None:
        """Write what is not the text encoder: the heads, the rule, and the adapter; with one, in half precision."""
        own = folder / GAUSSIAN
        base = self.save_adapter(own)
        config = _Config(
            dim=self.dim,
            similarity=self.similarity,
            activation=self.heads.activation,
            rule=asdict(self.rule),
            **asdict(base),
        )
        narrow = torch.float32 if self.adapter is None else torch.float16
        weights = {
            name: weight.detach().to(narrow) for name, weight in self.heads.state_dict().items()
        }
        save_network(own, asdict(config), weights)

    @property
    def width(self) -> int:
        """A Gaussian has a mean and a log-variance for each dimension."""
        return 2 * self.dim

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the text encoder, the adapter and the heads, not of the rule (hex, 128 bits)."""
        shape = {"similarity": self.similarity, "activation": self.heads.activation}
        return network_fingerprint(self.text_fingerprint, shape, self.heads.state_dict())

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one Gaussian per text: means, then log-variances, ``float32`` of shape (texts, 2 dim).

        Equal texts have equal Gaussians: each is computed once.
        Training leaves the average of every number near zero (:meth:`GaussianHeads.centre`); no divergence depends on it.
        """
        distinct = list(dict.fromkeys(texts))
        rows = {text: row for row, text in enumerate(distinct)}
        return self.stored(self.text.encode(distinct))[[rows[text] for text in texts]]

    def stored(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Make Gaussians of pooled vectors, (n, dim) to ``float32`` of shape (n, 2 dim)."""
        with torch.inference_mode():
            return np.asarray(
                self.heads(
                    torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32))
                ).numpy()
            )
