"""The hypernetwork of Hyper-CL: from the embedding of a relation to a projection."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ontodex.errors import SettingsError

__all__ = ["HyperNetwork", "HyperNetworkSettings"]


@dataclass(frozen=True)
class HyperNetworkSettings:
    """Shape of a hypernetwork.

    Attributes:
        dim: Length of an embedding.
        condition: Length of the vector that a relation's embedding is reduced to before factors are made of it: it sets the
            cost and the size of the hypernetwork, dim * rank * condition for each factor. The public code keeps ``dim``.
        rank: Rank of a projection, made as two factors; 0 for full rank, one matrix.
        projection: ``"residual"``, query = unit(h + h·W), which starts near the plain encoder and learns the difference;
            or ``"public"``, query = h·W without normalisation, from torch's default initial weights, as the
            authors' code has it.
        width: Hidden units of the entity layer, unit(e + layer(e)), which adapts a frozen encoder's embeddings to
            the graph; 0 for none, as when the encoder itself is trained.
    """

    dim: int
    condition: int = 64
    rank: int = 32
    projection: str = "residual"
    width: int = 0

    def __post_init__(self) -> None:
        if self.projection not in ("residual", "public"):
            raise SettingsError(f"projection: expected 'residual' or 'public', found {self.projection!r}")
        if not 0 <= self.rank <= self.dim:
            raise SettingsError(f"rank: expected 0 to {self.dim} (the dimension), found {self.rank}")
        if self.condition < 1:
            raise SettingsError(f"condition: expected a length of at least 1, found {self.condition}")
        if self.width < 0:
            raise SettingsError(f"width: expected 0 or more hidden units, found {self.width}")


class EntityLayer(nn.Module):
    """Adapts the embeddings of a frozen encoder: unit(e + layer(e)), at first e itself.

    Args:
        dim: Length of an embedding.
        width: Hidden units.
    """

    def __init__(self, dim: int, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(dim, width)
        self.outer = nn.Linear(width, dim)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return unit vectors of shape (n, dim)."""
        moved = self.outer(nn.functional.gelu(self.inner(vectors)))
        return nn.functional.normalize(vectors + moved, dim=-1)


class HyperNetwork(nn.Module):
    """Makes projections of relations, and applies them to heads.

    A relation's embedding passes a linear layer (the condition layer of the public code) and one linear layer per factor.
    Yoo et al., "Hyper-CL", ACL 2024, section 3.2; low rank: section 3.4.

    Args:
        settings: Its shape.
    """

    def __init__(self, settings: HyperNetworkSettings) -> None:
        super().__init__()
        self.settings = settings
        dim, rank = settings.dim, settings.rank
        self.condition = nn.Linear(dim, settings.condition)
        self.left = nn.Linear(settings.condition, dim * (rank or dim))
        self.right = nn.Linear(settings.condition, dim * rank) if rank else None
        self.entity = EntityLayer(dim, settings.width) if settings.width else None
        if settings.projection == "residual":
            self._start_near_identity()

    def _start_near_identity(self) -> None:
        """Start from projections of a small, known size, so that h + h·W is h at first, however deep the rank."""
        dim = self.settings.dim
        nn.init.orthogonal_(self.condition.weight)
        nn.init.zeros_(self.condition.bias)
        for layer in (self.left, self.right):
            if layer is not None:
                nn.init.normal_(layer.weight, std=0.3 / self.settings.condition**0.5)
                nn.init.normal_(layer.bias, std=0.05 if self.right is not None else 0.05 / dim**0.5)

    def forward(self, relations: Tensor) -> tuple[Tensor, Tensor | None]:
        """Make projections.

        Args:
            relations: Unit embeddings of relation texts, of shape (relations, dim).

        Returns:
            Left factors (relations, dim, rank) and right factors (relations, rank, dim); at full rank matrices
            (relations, dim, dim) and ``None``.
        """
        condition = self.condition(relations)
        dim, rank = self.settings.dim, self.settings.rank
        left = self.left(condition).view(-1, dim, rank or dim)
        return left, None if self.right is None else self.right(condition).view(-1, rank, dim)

    def entities(self, vectors: Tensor) -> Tensor:
        """Pass embeddings through the entity layer: unit vectors of shape (n, dim)."""
        return vectors if self.entity is None else self.entity(vectors)

    def queries(self, heads: Tensor, relations: Tensor, which: Tensor) -> Tensor:
        """Project each head by its relation; every relation's projection is made once.

        Args:
            heads: Entity vectors of shape (n, dim).
            relations: Embeddings of the distinct relations, of shape (relations, dim).
            which: Relation of each head, an index into ``relations``, of shape (n,).

        Returns:
            Queries of shape (n, dim), to be scored with entity vectors by inner product.
        """
        left, right = self(relations)
        order = torch.argsort(which, stable=True)
        counts = torch.bincount(which, minlength=len(relations)).tolist()
        # unbind, not an index each: the gradient of an index is as large as all factors together.
        moved = [group @ factor for group, factor in zip(torch.split(heads[order], counts), left.unbind(), strict=True)]
        if right is not None:
            moved = [along @ factor for along, factor in zip(moved, right.unbind(), strict=True)]
        projected = torch.cat(moved)[torch.argsort(order)]
        if self.settings.projection == "public":
            return projected
        return nn.functional.normalize(heads + projected, dim=-1)
