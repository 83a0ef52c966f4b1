"""Link encoders: the protocol that they follow, and the registry of their architectures."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.link_architectures import (
    BI_ENCODER,
    TRI_ENCODERS,
    LinkArchitecture,
    PairArchitecture,
    ProjectionArchitecture,
    TextArchitecture,
)
from ontodex.encoders.locate import NETWORK
from ontodex.geometry.projection import Projections

if TYPE_CHECKING:
    from ontodex.encoders.text import TextEncoder

__all__ = ["LinkEncoder", "load_link_encoder", "open_architecture"]


class LinkEncoder(Protocol):
    """An encoder of link prediction.

    Attributes:
        text: The text encoder of entities.
        texts: How the text of an entity was built in training (the fields of
            ``ontodex.TextSettings``); empty if that is not known.
    """

    text: TextEncoder
    texts: dict[str, Any]

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and settings (hex, 128 bits)."""

    @property
    def moves_entities(self) -> bool:
        """Whether :meth:`entities` changes text embeddings."""

    def entities(self, embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vectors of entities from their text embeddings, both of shape (n, dim)."""

    def described(self) -> dict[str, Any]:
        """Return the manifest's entry: the architecture, and its settings if it has any."""

    def projections(self, relations: Sequence[str]) -> Projections | None:
        """Return projections of relations, given as texts; ``None`` for a bi-encoder."""

    def bind(self, relations: Sequence[str]) -> LinkArchitecture:
        """Return the architecture for the relations of a graph.

        Args:
            relations: Texts of the relations, then of their inverses.
        """

    def save(self, folder: Path) -> None:
        """Write the whole encoder into a folder."""

    def save_network(self, folder: Path) -> None:
        """Write everything but the text encoder of entities, into the folder of that encoder."""


@dataclass(frozen=True)
class _Kind:
    """An entry of the registry of architectures.

    Attributes:
        load: Loads an encoder from a folder, a text encoder (``None`` if it is not loaded yet) and
            a device.
        open: Makes the architecture from two functions, which return the stored projections and
            the encoder.
    """

    load: Callable[[Path, TextEncoder | None, str], LinkEncoder]
    open: Callable[[Callable[[], Projections], Callable[[], Any]], LinkArchitecture]


def _load_tri_encoder(folder: Path, text: TextEncoder | None, device: str) -> LinkEncoder:
    from ontodex.encoders.hyper_cl import HyperCL  # imports torch

    return HyperCL.load(folder, text, device)


def _load_bi_encoder(folder: Path, text: TextEncoder | None, device: str) -> LinkEncoder:
    from ontodex.encoders.bi_encoder import BiEncoder

    return BiEncoder.load(folder, text, device)


_TRI_ENCODER = _Kind(_load_tri_encoder, ProjectionArchitecture)
_KINDS = {
    **dict.fromkeys(TRI_ENCODERS, _TRI_ENCODER),
    BI_ENCODER: _Kind(_load_bi_encoder, lambda _, encoder: PairArchitecture(encoder)),
}
"""The registry: each architecture by the name that its settings and an index's manifest give it."""


def load_link_encoder(
    folder: Path, text: TextEncoder | None = None, device: str = "auto"
) -> LinkEncoder:
    """Load a link encoder of any architecture.

    Args:
        folder: The encoder's folder.
        text: The text encoder of entities, if it is loaded already.
        device: Device of the text encoders.

    Raises:
        EncoderError: If the folder holds no link encoder, or a damaged one.
    """
    kind = _TRI_ENCODER
    with suppress(OSError, ValueError, KeyError, TypeError):  # the loader reports the damage
        config = json.loads((folder / NETWORK / "config.json").read_text(encoding="utf-8"))
        kind = _KINDS.get(config["network"]["architecture"], kind)
    return kind.load(folder, text, device)


def open_architecture(
    name: str | None,
    projections: Callable[[], Projections],
    encoder: Callable[[], Any],
    text: Callable[[], TextEncoder],
) -> LinkArchitecture:
    """Return the architecture that has a given name.

    Args:
        name: A key of the registry, or ``None`` for no link encoder.
        projections: Returns the stored projections; called for a tri-encoder only.
        encoder: Returns the link encoder; not called if ``name`` is ``None``.
        text: Returns the text encoder.

    Raises:
        KeyError: If no architecture has the name.
    """
    return TextArchitecture(text) if name is None else _KINDS[name].open(projections, encoder)
