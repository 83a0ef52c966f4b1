"""The hypernetwork of Hyper-CL: from the embedding of a relation to a projection."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ontodex.encoders.link_architectures import PROJECTIONS, TRI_ENCODERS
from ontodex.errors import SettingsError, expect_choice, expect_number, expect_whole

__all__ = ["HyperNetwork", "LinkNetwork", "LinkNetworkSettings"]


@dataclass(frozen=True)
class LinkNetworkSettings:
    """Settings of a network that combines heads and relations.

    Attributes:
        dim: Dimension of embeddings.
        condition: For ``"hyper"``, dimension to which a relation's embedding is reduced before the
            factors are computed. The layer of a factor has dim * rank * condition weights. The
            public code uses ``dim``.
        rank: For ``"hyper"``, rank of a projection, which is the product of two factors; 0 for full
            rank, where a projection is one matrix.
        shift: Whether a linear map of the relation's embedding is added to the projected head,
            since the relation alone determines the tails in part. The paper does not have this
            map; ``"concat"`` always has it, as the relation's half of its layer.
        projection: ``"residual"``, query = unit(h + projected h), which starts near the plain
            encoder and learns the difference; ``"paper"``, query = unit(projected h), so that the
            score is cos(W_r h, t) (Hyper-CL, section 3.2); or ``"public"``, query = projected h
            without normalisation, as in the authors' code. The latter two start from torch's
            default initial weights, also as in the authors' code.
        dropout: For ``"concat"``, share of the inputs [h; r] that training sets to 0; 0.1 in the
            authors' code.
        width: Hidden units of the entity layer, unit(e + layer(e)), which adapts the embeddings of
            a frozen encoder to the graph; 0 for no layer.
        architecture: One of :data:`~ontodex.encoders.link_architectures.TRI_ENCODERS`.

    Raises:
        SettingsError: If a value is invalid.
    """

    dim: int
    condition: int = 64
    rank: int = 32
    shift: bool = False
    projection: str = "residual"
    width: int = 0
    architecture: str = "hyper"
    dropout: float = 0.0

    def __post_init__(self) -> None:
        expect_choice("architecture", self.architecture, TRI_ENCODERS)
        expect_choice("projection", self.projection, PROJECTIONS)
        if self.architecture == "hyper" and not 0 <= self.rank <= self.dim:
            raise SettingsError(
                f"rank: expected 0 to {self.dim} (the dimension), found {self.rank}"
            )
        expect_whole(self, condition=1, width=0)
        expect_number(self, "dropout", zero=True)
        if self.dropout >= 1:
            raise SettingsError(f"dropout: expected a share below 1, found {self.dropout}")


class EntityLayer(nn.Module):
    """Adapts the embeddings of a frozen encoder: unit(e + layer(e)), initially the identity.

    Args:
        dim: Dimension of embeddings.
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
    """Base class of networks that make projections of relations and apply them to heads.

    Args:
        settings: Settings of the network.
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
        """Return the product of each head with its relation's projection; see :meth:`queries`."""
        raise NotImplementedError

    def entities(self, vectors: Tensor) -> Tensor:
        """Apply the entity layer; return unit vectors of shape (n, dim)."""
        return vectors if self.entity is None else self.entity(vectors)

    def queries(self, heads: Tensor, relations: Tensor, which: Tensor) -> Tensor:
        """Project each head by its relation; the projection of a relation is made once.

        Args:
            heads: Entity vectors of shape (n, dim).
            relations: Embeddings of the distinct relations, of shape (relations, dim).
            which: Relation of each head, an index into ``relations``, of shape (n,).

        Returns:
            Queries of shape (n, dim), whose inner products with entity vectors are scores.
        """
        moved = self.moved(heads, relations, which)
        if self.settings.projection == "public":
            return moved
        if self.settings.projection == "residual":
            moved = heads + moved
        return nn.functional.normalize(moved, dim=-1)

    def _shift(self) -> nn.Linear | None:
        """Return the layer of the shift, initially the identity if residual, or ``None``."""
        if not self.settings.shift:
            return None
        layer = nn.Linear(self.settings.dim, self.settings.dim)
        if self.settings.projection == "residual":
            nn.init.eye_(layer.weight)
            nn.init.zeros_(layer.bias)
        return layer


class HyperNetwork(LinkNetwork):
    """Computes a projection from a relation's embedding: h·W, h·P·S, or h·P·S + s with a shift.

    The embedding passes a linear layer (the condition layer of the public code), then one linear
    layer for each factor W, P or S. Yoo et al., "Hyper-CL", ACL 2024, section 3.2; low rank:
    section 3.4.

    Args:
        settings: Settings of the network.
    """

    def __init__(self, settings: LinkNetworkSettings) -> None:
        super().__init__(settings)
        dim, rank = settings.dim, settings.rank
        self.condition = nn.Linear(dim, settings.condition)
        self.left = nn.Linear(settings.condition, dim * (rank or dim))
        self.right = nn.Linear(settings.condition, dim * rank) if rank else None
        self.shift = self._shift()
        if settings.projection == "residual":
            self._start_near_identity()

    def _start_near_identity(self) -> None:
        """Initialise projections with a small norm that does not depend on the rank."""
        dim = self.settings.dim
        nn.init.orthogonal_(self.condition.weight)
        nn.init.zeros_(self.condition.bias)
        for layer in (self.left, self.right):
            if layer is not None:
                nn.init.normal_(layer.weight, std=0.3 / self.settings.condition**0.5)
                nn.init.normal_(layer.bias, std=0.05 if self.right is not None else 0.05 / dim**0.5)

    def forward(self, relations: Tensor) -> dict[str, Tensor]:
        """Make the parts of projections; see :class:`LinkNetwork`.

        Returns:
            ``left`` (relations, dim, rank) and ``right`` (relations, rank, dim), or full matrices
            ``left`` (relations, dim, dim); with a shift also ``shift`` (relations, dim).
        """
        condition = self.condition(relations)
        dim, rank = self.settings.dim, self.settings.rank
        parts = {"left": self.left(condition).view(-1, dim, rank or dim)}
        if self.right is not None:
            parts["right"] = self.right(condition).view(-1, rank, dim)
        if self.shift is not None:
            parts["shift"] = self.shift(relations)
        return parts

    def moved(self, heads: Tensor, relations: Tensor, which: Tensor) -> Tensor:
        """Multiply each head with the matrix of its relation.

        Relations with equal numbers of heads share one batched product.
        """
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
            # split instead of indexing: the gradient of each index has the size of all factors
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
