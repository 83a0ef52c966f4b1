"""Condition networks: from the embedding of a condition to a transformation of text embeddings."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ontodex.errors import SettingsError, expect_choice, expect_whole

__all__ = ["ARCHITECTURES", "ConditionNetwork", "ConditionNetworkSettings"]

ARCHITECTURES = ("hyper", "hadamard", "concat", "bi-encoder")
"""Hypernetwork, elementwise product, linear layer over both embeddings, or one joint encoding."""


@dataclass(frozen=True)
class ConditionNetworkSettings:
    """Settings of a condition network.

    Attributes:
        dim: Dimension of embeddings.
        architecture: One of :data:`ARCHITECTURES`.
        rank: For ``"hyper"``, dimension of the vectors under a condition; 0 for full rank.
        condition: For ``"hyper"``, dimension that a condition's embedding is reduced to. The
            hypernetwork has dim * rank * condition weights.

    Raises:
        SettingsError: If a value is invalid.
    """

    dim: int
    architecture: str = "hyper"
    rank: int = 64
    condition: int = 64

    def __post_init__(self) -> None:
        expect_choice("architecture", self.architecture, ARCHITECTURES)
        most = self.dim if self.architecture == "hyper" else self.rank  # only "hyper" has a rank
        if not isinstance(self.rank, int) or not 0 <= self.rank <= most:
            raise SettingsError(
                f"rank: expected 0 to {self.dim} (the dimension), found {self.rank!r}"
            )
        expect_whole(self, condition=1)

    @property
    def width(self) -> int:
        """Dimension of the vectors under a condition."""
        return self.rank or self.dim if self.architecture == "hyper" else self.dim


class ConditionNetwork(nn.Module):
    """Makes factors of conditions c and applies them to text embeddings x.

    Yoo et al., "Hyper-CL", ACL 2024, section 3.

    ============  =======================  ===========================  ======================
    architecture  factor of c              vector under c               initial state
    ============  =======================  ===========================  ======================
    hyper         P of shape (dim, width)  x·P                          orthonormal P
    hadamard      v of shape (dim,)        x ∘ v                        v of ones
    concat        v of shape (dim,)        x·W + v, a linear map of     W = identity, small v
                                           [x; c]
    bi-encoder    none                     encoding of both texts       the plain encoder
    ============  =======================  ===========================  ======================

    The paper writes a low-rank projection as x·P·S, with P of shape (dim, rank) and S of shape
    (rank, dim). For cosines of two texts under one condition, one factor is enough: with the thin
    QR decomposition Sᵀ = Q·R, the vector x·P·S is (x·P·Rᵀ)·Qᵀ. The columns of Q are orthonormal,
    so Q preserves inner products, and P·Rᵀ has the shape of P. The network therefore produces one
    factor, with half as many numbers. Vectors under a condition have ``rank`` dimensions.

    Args:
        settings: Settings of the network.
    """

    def __init__(self, settings: ConditionNetworkSettings) -> None:
        super().__init__()
        self.settings = settings
        dim, width = settings.dim, settings.width
        if settings.architecture == "hyper":
            self.reduce = nn.Linear(dim, settings.condition)
            self.make = nn.Linear(settings.condition, dim * width)
            nn.init.orthogonal_(self.reduce.weight)
            nn.init.zeros_(self.reduce.bias)
            # A factor is a bias, which all conditions share, plus a part that depends on the
            # condition. Initially this part is small: the bias has the mean square 1 / dim.
            nn.init.normal_(self.make.weight, std=0.1 / (settings.condition * dim) ** 0.5)
            base = torch.eye(dim) if width == dim else nn.init.orthogonal_(torch.empty(dim, width))
            self.make.bias = nn.Parameter(base.flatten())
        elif settings.architecture == "hadamard":
            self.make = nn.Linear(dim, dim)
            nn.init.ones_(self.make.bias)
        elif settings.architecture == "concat":
            self.make = nn.Linear(dim, dim)
            self.mix = nn.Linear(dim, dim, bias=False)
            nn.init.normal_(self.make.weight, std=0.1 / dim**0.5)
            nn.init.zeros_(self.make.bias)
            nn.init.eye_(self.mix.weight)

    def forward(self, conditions: Tensor) -> Tensor:
        """Return the factors of conditions.

        Args:
            conditions: Unit embeddings of conditions, of shape (conditions, dim).

        Returns:
            Factors of shape (conditions, dim, width) for ``"hyper"``, otherwise (conditions, dim).
        """
        if self.settings.architecture == "hyper":
            made: Tensor = self.make(self.reduce(conditions))
            return made.view(-1, self.settings.dim, self.settings.width)
        made = self.make(conditions)
        return made

    def project(self, vectors: Tensor, factors: Tensor, which: Tensor) -> Tensor:
        """Transform each vector by the factor of its condition.

        Args:
            vectors: Text embeddings of shape (n, dim).
            factors: Factors of the conditions; see :meth:`forward`.
            which: Condition of each vector, an index into ``factors``, of shape (n,).

        Returns:
            Vectors under the conditions, not normalised, of shape (n, width).
        """
        if self.settings.architecture == "hadamard":
            return vectors * factors[which]
        if self.settings.architecture == "concat":
            mixed: Tensor = self.mix(vectors)
            return mixed + factors[which]
        order = torch.argsort(which, stable=True)
        counts = torch.bincount(which, minlength=len(factors)).tolist()
        # unbind instead of indexing: the gradient of each index has the size of all factors.
        groups = zip(torch.split(vectors[order], counts), factors.unbind(), strict=True)
        return torch.cat([group @ factor for group, factor in groups])[torch.argsort(order)]
