"""Hyper-CL for link prediction: a text encoder with a composition network, in one folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ontodex.encoders.compositions import make_network
from ontodex.encoders.hypernetwork import LinkNetwork, LinkNetworkSettings
from ontodex.encoders.link_architectures import ProjectionArchitecture
from ontodex.encoders.locate import NETWORK, weights_hash
from ontodex.encoders.network_files import load_network, network_fingerprint, save_network
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError, settings_from
from ontodex.geometry.projection import Projections

__all__ = ["DEFAULT_HYPER_CL", "HyperCL"]

DEFAULT_HYPER_CL = Path(__file__).resolve().parent / "models" / "hyper-cl-names"
"""The network that comes with the package, for all-MiniLM-L6-v2, trained on names of relations."""


@dataclass(frozen=True)
class _Config:
    """Contents of ``hyper_cl/config.json``.

    Attributes:
        network: Settings of the network.
        texts: Settings of the entity texts in training.
        base_weights: Hash of the text encoder's weights, if the folder does not hold the text
            encoder.
        steps: Number of training batches; 0 if unknown.
        seen: Names of the graphs and lists of names that the network was trained on.
    """

    network: dict[str, Any]
    texts: dict[str, Any] = field(default_factory=dict)
    base_weights: str | None = None
    steps: int = 0
    seen: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not isinstance(self.texts, dict):
            raise SettingsError(f"texts: expected settings by name, found {self.texts!r}")


def _network(config: _Config, where: str) -> LinkNetwork:
    return make_network(settings_from(LinkNetworkSettings, config.network, where))


class HyperCL:
    """A tri-encoder: heads, relations and tails are encoded separately, and composed by a network.

    Args:
        text: The text encoder of entities and relations.
        network: The network that composes heads and relations, such as a hypernetwork.
        texts: How the text of an entity was built in training (the fields of
            ``ontodex.TextSettings``), and is built in use; empty if that is not known.
        steps: Number of training batches; 0 if unknown.
        seen: Names of the graphs and lists of names that the network was trained on.
    """

    def __init__(
        self,
        text: TextEncoder,
        network: LinkNetwork,
        texts: Mapping[str, Any] | None = None,
        steps: int = 0,
        seen: Sequence[str] = (),
    ) -> None:
        if network.settings.dim != text.dim:
            raise EncoderError(
                f"{text.folder}: the network expects embeddings of {network.settings.dim} "
                f"dimensions, the text encoder makes {text.dim}"
            )
        self.text = text
        self.network = network.eval()
        self.texts = dict(texts or {})
        self.steps = steps
        self.seen = list(seen)
        self._made: tuple[tuple[str, ...], Projections] | None = None

    @property
    def architecture(self) -> str:
        """The composition: one of :data:`~ontodex.encoders.link_architectures.TRI_ENCODERS`."""
        return self.network.settings.architecture

    @property
    def residual(self) -> bool:
        """Whether the projected head is added to the head's vector."""
        return self.network.settings.projection == "residual"

    @property
    def moves_entities(self) -> bool:
        """Whether :meth:`entities` changes text embeddings."""
        return self.network.entity is not None

    @staticmethod
    def is_at(folder: Path) -> bool:
        """Return whether a folder holds a link encoder."""
        return (folder / NETWORK / "config.json").exists()

    @classmethod
    def load(cls, folder: Path, text: TextEncoder | None = None, device: str = "auto") -> HyperCL:
        """Load a folder that :meth:`save` wrote.

        Args:
            folder: The encoder's folder.
            text: The text encoder, if it is loaded already.
            device: Device of the text encoder.

        Raises:
            EncoderError: If the folder holds no Hyper-CL encoder, or a damaged one.
        """
        config, network = load_network(folder / NETWORK, _Config, _network, "a Hyper-CL encoder")
        return cls(
            text or TextEncoder(folder, device), network, config.texts, config.steps, config.seen
        )

    @classmethod
    def in_the_box(cls, text: TextEncoder) -> HyperCL | None:
        """Load the packaged network; ``None`` if it is for another text encoder than ``text``."""
        config, network = load_network(
            DEFAULT_HYPER_CL / NETWORK, _Config, _network, "a Hyper-CL encoder"
        )
        return (
            cls(text, network, config.texts, config.steps, config.seen)
            if config.base_weights == weights_hash(text.folder)
            else None
        )

    def save(self, folder: Path) -> None:
        """Write the text encoder into a folder, and the network into a subfolder.

        ``SentenceTransformer(folder)`` loads the folder as the plain text encoder.
        """
        if folder.resolve() != self.text.folder.resolve():
            self.text.save(folder)
        self.save_network(folder)

    def save_network(self, folder: Path) -> None:
        """Write the network alone into the folder of the text encoder."""
        config = asdict(
            _Config(asdict(self.network.settings), self.texts, steps=self.steps, seen=self.seen)
        )
        save_network(folder / NETWORK, config, self.network.state_dict())

    @property
    def fingerprint(self) -> str:
        """Hash of the text encoder and the network (hex, 128 bits)."""
        shape = asdict(self.network.settings)
        for name, first in (("architecture", "hyper"), ("shift", False), ("dropout", 0.0)):
            if shape[name] == first:
                del shape[name]  # fingerprints from before the setting lack it
        return network_fingerprint(self.text.fingerprint, shape, self.network.state_dict())

    @torch.inference_mode()
    def entities(self, embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vectors of entities from their text embeddings, both of shape (n, dim)."""
        return self.network.entities(torch.from_numpy(np.ascontiguousarray(embeddings))).numpy()

    @torch.inference_mode()
    def projections(
        self, relations: Sequence[str], embeddings: NDArray[np.float32] | None = None
    ) -> Projections:
        """Make projections of relations from their texts; those made last are kept.

        Args:
            relations: Texts of the relations.
            embeddings: Embeddings of the texts by the text encoder, of shape (relations, dim), if
                already computed.
        """
        made = self._made  # read once, as other threads may replace it
        if made is None or made[0] != tuple(relations):
            vectors = self.text.encode(relations) if embeddings is None else embeddings
            parts = self.network(torch.from_numpy(vectors))
            arrays = {name: part.contiguous().numpy() for name, part in parts.items()}
            made = tuple(relations), Projections(residual=self.residual, **arrays)
            self._made = made
        return made[1]

    def described(self) -> dict[str, Any]:
        """Return the architecture's entry in the manifest of an index."""
        return {
            "architecture": self.architecture,
            "residual": self.residual,
            "steps": self.steps,
        }

    def bind(self, relations: Sequence[str]) -> ProjectionArchitecture:
        """Return the architecture; see :class:`~ontodex.encoders.link_encoder.LinkEncoder`."""
        made = self.projections(relations)
        return ProjectionArchitecture(lambda: made, lambda: self)
