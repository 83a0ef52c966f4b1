"""What turns the embedding of a condition into a transformation of text embeddings: the four architectures."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ontodex.errors import SettingsError, expect_choice, expect_whole

__all__ = ["ARCHITECTURES", "ConditionNetwork", "ConditionNetworkSettings"]

ARCHITECTURES = ("hyper", "hadamard", "concat", "bi-encoder")
"""Hypernetwork, elementwise product, linear layer over both embeddings; or text and condition read together."""


@dataclass(frozen=True)
class ConditionNetworkSettings:
    """Shape of a condition network.

    Attributes:
        dim: Length of an embedding.
        architecture: One of :data:`ARCHITECTURES`.
        rank: Width of what is compared, for ``"hyper"``; 0 for full rank.
        condition: Length of the vector that a condition's embedding is reduced to, for ``"hyper"``: it sets the cost and the
            size of the hypernetwork, dim * rank * condition numbers.

    Raises:
        SettingsError: If one makes no sense.
    """

    dim: int
    architecture: str = "hyper"
    rank: int = 64
    condition: int = 64

    def __post_init__(self) -> None:
        expect_choice("architecture", self.architecture, ARCHITECTURES)
        most = self.dim if self.architecture == "hyper" else self.rank  # the others have no rank
        if not isinstance(self.rank, int) or not 0 <= self.rank <= most:
            raise SettingsError(
                f"rank: expected 0 to {self.dim} (the dimension), found {self.rank!r}"
            )
        expect_whole(self, condition=1)

    @property
    def width(self) -> int:
        """Length of what is compared."""
        return self.rank or self.dim if self.architecture == "hyper" else self.dim


class ConditionNetwork(nn.Module):
    """Makes the factor of a condition, and applies it to text embeddings x (Yoo et al., "Hyper-CL", ACL 2024, section 3).

    ============  ===========================  ====================================  =============================
    architecture  factor of a condition c      compared under c                      at first
    ============  ===========================  ====================================  =============================
    hyper         P of shape (dim, width)      x·P                                   the same orthonormal P for all
    hadamard      v of shape (dim,)            x ∘ v                                 v of ones
    concat        v of shape (dim,)            x·W + v, which is [x; c] times one    x, but for a small v
                                               matrix
    bi-encoder    none                         the encoder's vector of both texts    the plain encoder's
    ============  ===========================  ====================================  =============================

    The paper's low rank has two factors, x·P·S with P of shape (dim, rank) and S of shape (rank, dim). Only cosines of two
    texts under one condition are asked for, and for these one factor says as much: with the thin QR decomposition Sᵀ = Q·R
    the vector x·P·S is (x·P·Rᵀ)·Qᵀ, Q has orthonormal columns and changes no inner product, and P·Rᵀ has the shape of P. So
    one factor is made, half the numbers, and what is compared has ``rank`` numbers instead of ``dim``.

    Args:
        settings: Its shape.
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
            # A small part of the factor's size (its entries have the square 1 / dim): what a condition changes is learnt.
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
        """Make factors.

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
            factors: What :meth:`forward` made, one of each condition.
            which: Condition of each vector, an index into ``factors``, of shape (n,).

        Returns:
            What is compared, not scaled, of shape (n, width).
        """
        if self.settings.architecture == "hadamard":
            return vectors * factors[which]
        if self.settings.architecture == "concat":
            mixed: Tensor = self.mix(vectors)
            return mixed + factors[which]
        order = torch.argsort(which, stable=True)
        counts = torch.bincount(which, minlength=len(factors)).tolist()
        # unbind, not an index each: the gradient of an index is as large as all factors together.
        groups = zip(torch.split(vectors[order], counts), factors.unbind(), strict=True)
        return torch.cat([group @ factor for group, factor in groups])[torch.argsort(order)]
