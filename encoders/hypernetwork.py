"""The hypernetwork of Hyper-CL: from the embedding of a relation to a projection."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ontodex.encoders.link_architectures import TRI_ENCODERS
from ontodex.errors import SettingsError, expect_choice, expect_whole

__all__ = ["HyperNetwork", "LinkNetwork", "LinkNetworkSettings"]


@dataclass(frozen=True)
class LinkNetworkSettings:
    """Shape of what combines heads and relations.

    Attributes:
        dim: Length of an embedding.
        condition: For ``"hyper"``, length of the vector that a relation's embedding is reduced to before factors are made
            of it: it sets the cost and the size of the hypernetwork, dim * rank * condition for each factor. The public
            code keeps ``dim``.
        rank: For ``"hyper"``, rank of a projection, made as two factors; 0 for full rank, one matrix.
        shift: For ``"hyper"``, whether a linear map of the relation's embedding, at first the embedding itself, is added to
            what the matrix makes of a head: a relation says much of its tails whatever the head. Not in the paper.
        projection: ``"residual"``, query = unit(h + moved h), which starts near the plain encoder and learns the
            difference; or ``"public"``, query = moved h without normalisation, from torch's default initial weights, as
            the authors' code has it.
        width: Hidden units of the entity layer, unit(e + layer(e)), which adapts a frozen encoder's embeddings to
            the graph; 0 for none, as when the encoder itself is trained.
        architecture: One of :data:`~ontodex.encoders.link_architectures.TRI_ENCODERS`.

    Raises:
        SettingsError: If one makes no sense.
    """

    dim: int
    condition: int = 64
    rank: int = 32
    shift: bool = False
    projection: str = "residual"
    width: int = 0
    architecture: str = "hyper"

    def __post_init__(self) -> None:
        expect_choice("architecture", self.architecture, TRI_ENCODERS)
        expect_choice("projection", self.projection, ("residual", "public"))
        if self.architecture == "hyper" and not 0 <= self.rank <= self.dim:
            raise SettingsError(
                f"rank: expected 0 to {self.dim} (the dimension), found {self.rank}"
            )
        expect_whole(self, condition=1, width=0)


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


class LinkNetwork(nn.Module):
    """Makes a projection of a relation's embedding, and applies it to heads; what the architectures share.

    Args:
        settings: Its shape.
    """

    def __init__(self, settings: LinkNetworkSettings) -> None:
        super().__init__()
        self.settings = settings
        self.entity = EntityLayer(settings.dim, settings.width) if settings.width else None

    def forward(self, relations: Tensor) -> dict[str, Tensor]:
        """Make projections.

        Args:
            relations: Unit embeddings of relation texts, of shape (relations, dim).

        Returns:
            The parts of :class:`ontodex.geometry.projection.Projections` by name.
        """
        raise NotImplementedError

    def moved(self, heads: Tensor, relations: Tensor, which: Tensor) -> Tensor:
        """Apply to each head the projection of its relation; see :meth:`queries`."""
        raise NotImplementedError

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
        moved = self.moved(heads, relations, which)
        if self.settings.projection == "public":
            return moved
        return nn.functional.normalize(heads + moved, dim=-1)


class HyperNetwork(LinkNetwork):
    """Makes matrices of relations: h·W, or h·P·S in two factors; with a shift h·P·S + s.

    A relation's embedding passes a linear layer (the condition layer of the public code) and one linear layer per factor.
    Yoo et al., "Hyper-CL", ACL 2024, section 3.2; low rank: section 3.4.

    Args:
        settings: Its shape.
    """

    def __init__(self, settings: LinkNetworkSettings) -> None:
        super().__init__(settings)
        dim, rank = settings.dim, settings.rank
        self.condition = nn.Linear(dim, settings.condition)
        self.left = nn.Linear(settings.condition, dim * (rank or dim))
        self.right = nn.Linear(settings.condition, dim * rank) if rank else None
        self.shift = nn.Linear(dim, dim) if settings.shift else None
        if settings.projection == "residual":
            self._start_near_identity()

    def _start_near_identity(self) -> None:
        """Start from projections of a small, known size, so that a query is h at first, or h + r, however deep the rank."""
        dim = self.settings.dim
        nn.init.orthogonal_(self.condition.weight)
        nn.init.zeros_(self.condition.bias)
        for layer in (self.left, self.right):
            if layer is not None:
                nn.init.normal_(layer.weight, std=0.3 / self.settings.condition**0.5)
                nn.init.normal_(layer.bias, std=0.05 if self.right is not None else 0.05 / dim**0.5)
        if self.shift is not None:
            nn.init.eye_(self.shift.weight)
            nn.init.zeros_(self.shift.bias)

    def forward(self, relations: Tensor) -> dict[str, Tensor]:
        """Make ``left`` (relations, dim, rank) and ``right`` (relations, rank, dim), or matrices ``left``; and ``shift``."""
        condition = self.condition(relations)
        dim, rank = self.settings.dim, self.settings.rank
        parts = {"left": self.left(condition).view(-1, dim, rank or dim)}
        if self.right is not None:
            parts["right"] = self.right(condition).view(-1, rank, dim)
        if self.shift is not None:
            parts["shift"] = self.shift(relations)
        return parts

    def moved(self, heads: Tensor, relations: Tensor, which: Tensor) -> Tensor:
        """Multiply each head with the matrix of its relation: one product for all relations of as many heads."""
        counts = torch.bincount(which, minlength=len(relations))
        by_count = torch.argsort(counts, stable=True)
        sizes, repeats = (
            each.tolist() for each in torch.unique_consecutive(counts[by_count], return_counts=True)
        )
        place = torch.argsort(by_count)[which]
        order = torch.argsort(place, stable=True)
        parts = self(relations[by_count])
        along = heads[order]
        for factor in (parts[name] for name in ("left", "right") if name in parts):
            # split, not an index each: the gradient of an index is as large as all factors together.
            rows = torch.split(
                along, [size * repeat for size, repeat in zip(sizes, repeats, strict=True)]
            )
            grouped = zip(rows, torch.split(factor, repeats), sizes, repeats, strict=True)
            products = [
                some.reshape(repeat, size, -1) @ one for some, one, size, repeat in grouped if size
            ]
            along = torch.cat([product.flatten(0, 1) for product in products])
        moved = along[torch.argsort(order)]
        return moved + parts["shift"][place] if "shift" in parts else moved
