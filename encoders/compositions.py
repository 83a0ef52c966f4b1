"""Simpler compositions of separately encoded heads and relations: the baselines of Hyper-CL."""

from __future__ import annotations

from torch import Tensor, nn

from ontodex.encoders.hypernetwork import HyperNetwork, LinkNetwork, LinkNetworkSettings

__all__ = ["Concatenation", "HadamardProduct", "make_network"]


class HadamardProduct(LinkNetwork):
    """Multiplies a head elementwise with a linear map of the relation's embedding, h ∘ s_r.

    Hyper-CL, section 4.2.

    Args:
        settings: Settings of the network.
    """

    def __init__(self, settings: LinkNetworkSettings) -> None:
        super().__init__(settings)
        self.scale = nn.Linear(settings.dim, settings.dim)
        if settings.projection == "residual":
            nn.init.normal_(self.scale.weight, std=0.1)
            nn.init.zeros_(self.scale.bias)
        self.shift = self._shift()

    def forward(self, relations: Tensor) -> dict[str, Tensor]:
        """Make ``scale`` and, with a shift, ``shift``, both of shape (relations, dim)."""
        parts = {"scale": self.scale(relations)}
        if self.shift is not None:
            parts["shift"] = self.shift(relations)
        return parts

    def moved(self, heads: Tensor, relations: Tensor, which: Tensor) -> Tensor:
        """Multiply each head with the vector of its relation."""
        parts = self(relations)
        moved: Tensor = heads * parts["scale"][which]
        return moved + parts["shift"][which] if "shift" in parts else moved


class Concatenation(LinkNetwork):
    """Applies a linear layer to head and relation: [h; r]·W + b = h·W_h + (r·W_r + b).

    This is the layer of the paper (Hyper-CL, section 4.2). The public code applies an activation
    after the layer. Without the activation, a relation is stored as one vector, r·W_r + b.

    Args:
        settings: Settings of the network.
    """

    def __init__(self, settings: LinkNetworkSettings) -> None:
        super().__init__(settings)
        dim = settings.dim
        self.dropout = nn.Dropout(settings.dropout)
        self.head = nn.Linear(dim, dim, bias=False)
        self.shift = nn.Linear(dim, dim)
        if settings.projection == "residual":
            nn.init.normal_(self.head.weight, std=0.1 / dim**0.5)
            nn.init.normal_(self.shift.weight, std=0.3 / dim**0.5)
            nn.init.zeros_(self.shift.bias)

    def forward(self, relations: Tensor) -> dict[str, Tensor]:
        """Make ``shared`` (dim, dim), one for all relations, and ``shift`` (relations, dim)."""
        return {"shared": self.head.weight.T, "shift": self.shift(relations)}

    def moved(self, heads: Tensor, relations: Tensor, which: Tensor) -> Tensor:
        """Apply the layer."""
        if self.settings.dropout:  # a mask for each pair
            shift = self.shift(self.dropout(relations[which]))
        else:
            shift = self.shift(relations)[which]
        moved: Tensor = self.head(self.dropout(heads)) + shift
        return moved


def make_network(settings: LinkNetworkSettings) -> LinkNetwork:
    """Return a new network of the architecture in its settings."""
    kinds: dict[str, type[LinkNetwork]] = {
        "hyper": HyperNetwork,
        "hadamard": HadamardProduct,
        "concat": Concatenation,
    }
    return kinds[settings.architecture](settings)
