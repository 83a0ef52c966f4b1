"""The heads of GaussCSE in torch, for training."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ontodex.encoders.gauss_cse import ACTIVATIONS, GaussianMap
from ontodex.errors import expect_choice
from ontodex.geometry.gaussian import LOG_VARIANCE

__all__ = ["GaussianHeads"]

FIRST_LOG_VARIANCE = -2.0
"""Initial log-variance: e^-2 is about the variance of the numbers of a pooled vector."""


class GaussianHeads(nn.Module):
    """Two linear layers that map a pooled vector h to a Gaussian: μ = W h + b, ln σ² = V h + c.

    GaussCSE (Yoda et al., EACL 2024) has two linear layers as heads, one for the mean and one for
    the variance, without an activation. The activation ``"tanh"``, with which μ = tanh(W h + b),
    is not in the paper; the authors' code has it. For the loss, see section 2.4 of the paper; for
    its tasks, natural language inference and the direction of entailment, sections 3.1 and 3.2.

    Before training, the mean is the pooled vector (with ``"tanh"``, its tanh), and the variance is
    nearly the same for all texts.

    Args:
        dim: Dimension of pooled vectors.
        activation: Activation of the mean, one of :data:`ACTIVATIONS`.

    Raises:
        SettingsError: If the activation is unknown.
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
        """Return the Gaussians of pooled vectors.

        Args:
            vectors: Pooled vectors of shape (n, dim).

        Returns:
            Means, then log-variances, of shape (n, 2 dim). Log-variances are clamped to
            :data:`~ontodex.geometry.gaussian.LOG_VARIANCE`.
        """
        means, logs = self.mean(vectors), self.log_variance(vectors)
        return torch.cat(
            [means.tanh() if self.activation == "tanh" else means, logs.clamp(*LOG_VARIANCE)],
            dim=-1,
        )

    @torch.no_grad()
    def centre(self, shift: Tensor, scale: Tensor) -> None:
        """Fold the affine map of :func:`~ontodex.geometry.gaussian.moved` into the weights.

        KL divergences do not change, unless a log-variance is clamped. Centred Gaussians lose less
        in half precision, which is most precise for small numbers. With ``"tanh"``, nothing is
        changed, because the map cannot be folded into the weights.

        Args:
            shift: Shift of each dimension, of shape (dim,).
            scale: Scale of each dimension, positive, of shape (dim,).
        """
        if self.activation == "tanh":
            return
        self.mean.weight.div_(scale[:, None])
        self.mean.bias.sub_(shift).div_(scale)
        self.log_variance.bias.sub_(2 * scale.log())

    def frozen(self) -> GaussianMap:
        """Return a copy of the heads in NumPy, ``float32``."""
        weights = {
            name: weight.detach().cpu().float().numpy().copy()
            for name, weight in self.state_dict().items()
        }
        return GaussianMap(weights, self.activation)
