"""Similarity under a condition: a text encoder and a condition network, in one folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ontodex.encoders.condition_network import ConditionNetwork, ConditionNetworkSettings
from ontodex.encoders.locate import CONDITION
from ontodex.encoders.network_files import load_network, network_fingerprint, save_network
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError, settings_from
from ontodex.geometry.conditioned import under_condition

__all__ = ["ConditionEncoder", "expect_readable", "read_together"]

BLOCK = 128
"""Conditions whose factors are in memory at a time."""


@dataclass(frozen=True)
class _Config:
    """What ``condition/config.json`` holds: shape of the network, texts and conditions that it was trained on."""

    network: dict[str, Any]
    texts: dict[str, Any] = field(default_factory=dict)
    conditions: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not isinstance(self.texts, dict) or not all(
            isinstance(one, str) for one in self.conditions
        ):
            raise SettingsError(f"expected texts by name and a list of conditions, found {self}")


def _network(config: _Config, where: str) -> ConditionNetwork:
    return ConditionNetwork(settings_from(ConditionNetworkSettings, config.network, where))


def read_together(text: str, condition: str) -> str:
    """Return the text that a bi-encoder reads; the condition comes first, so that a long text does not cut it off.

    >>> read_together("Paris", "located in")
    'located in: Paris'
    """
    return f"{condition}: {text}"


def expect_readable(text: TextEncoder, conditions: Sequence[str], most: int | None = None) -> None:
    """Refuse a condition that says nothing, or whose end the encoder would not read.

    Args:
        text: The text encoder that reads them.
        conditions: The conditions.
        most: Tokens that will be read of each, where that is fewer than the text encoder reads now.

    Raises:
        SettingsError: If a condition is empty, or has more tokens than the text encoder reads; it is named.
    """
    for condition in conditions:
        if not condition.strip():
            raise SettingsError(f"condition: expected a text such as 'genre', found {condition!r}")
    for position, length in text.cut(conditions, most):
        raise SettingsError(
            f"condition: expected at most as many tokens as the encoder reads, found {length} in "
            f"{conditions[position][:60]!r}…; say it in fewer words"
        )


class ConditionEncoder:
    """Compares texts under a condition.

    With every architecture but ``"bi-encoder"``, texts and conditions are encoded once and combined cheaply:
    :meth:`factors` of the conditions, :meth:`project` the texts' vectors, and an inner product is the similarity.

    Args:
        text: The text encoder of texts and conditions; it makes unit vectors.
        network: The condition network.
        texts: How the text of an entity was built in training (the fields of ``ontodex.TextSettings``); empty if the texts
            were given.
        conditions: The conditions seen in training.
    """

    def __init__(
        self,
        text: TextEncoder,
        network: ConditionNetwork,
        texts: Mapping[str, Any] | None = None,
        conditions: Iterable[str] = (),
    ) -> None:
        if network.settings.dim != text.dim:
            raise EncoderError(
                f"{text.folder}: the condition network expects embeddings of {network.settings.dim} dimensions, "
                f"the text encoder makes {text.dim}"
            )
        self.text = text
        self.network = network.cpu().eval()
        self.texts = dict(texts or {})
        self.conditions = list(conditions)

    @property
    def architecture(self) -> str:
        """How text and condition are combined; one of :data:`~ontodex.encoders.condition_network.ARCHITECTURES`."""
        return self.network.settings.architecture

    @property
    def dim(self) -> int:
        """Length of a text's vector."""
        return self.text.dim

    @property
    def rank(self) -> int:
        """Length of what is compared under a condition."""
        return self.network.settings.width

    @property
    def mix(self) -> NDArray[np.float32]:
        """The matrix (dim, dim) that a concatenation of text and condition multiplies texts by.

        Other architectures have none.
        """
        return np.ascontiguousarray(self.network.mix.weight.detach().numpy().T)

    @staticmethod
    def is_at(folder: Path) -> bool:
        """Tell whether a folder holds one."""
        return (folder / CONDITION / "config.json").exists()

    @classmethod
    def load(
        cls, folder: Path, text: TextEncoder | None = None, device: str = "auto"
    ) -> ConditionEncoder:
        """Load a folder that :meth:`save` wrote.

        Args:
            folder: The encoder's folder.
            text: The text encoder, if it is loaded already.
            device: Where the text encoder computes.

        Raises:
            EncoderError: If the folder holds no condition encoder or a damaged one.
        """
        config, network = load_network(folder / CONDITION, _Config, _network, "a condition encoder")
        return cls(text or TextEncoder(folder, device), network, config.texts, config.conditions)

    def save(self, folder: Path) -> None:
        """Write the text encoder's folder with the condition network in it.

        ``SentenceTransformer(folder)`` loads it as the plain text encoder.
        """
        if folder.resolve() != self.text.folder.resolve():
            self.text.save(folder)
        self.save_network(folder)

    def save_network(self, folder: Path) -> None:
        """Write the condition network alone into the folder of a text encoder."""
        config = _Config(asdict(self.network.settings), self.texts, self.conditions)
        save_network(folder / CONDITION, asdict(config), self.network.state_dict())

    @property
    def fingerprint(self) -> str:
        """Hash of the text encoder and the condition network, not of the texts they are given (hex, 128 bits)."""
        return network_fingerprint(
            self.text.fingerprint, asdict(self.network.settings), self.network.state_dict()
        )

    @torch.inference_mode()
    def factors(self, conditions: Sequence[str]) -> NDArray[np.float32]:
        """Make the factors of conditions, seen in training or not, from their texts.

        Returns:
            ``float32`` of shape (conditions, dim, rank) for ``"hyper"``, (conditions, dim) for the others.

        Raises:
            SettingsError: If a condition is empty or too long; or with a bi-encoder, which has no factors.
        """
        if self.architecture == "bi-encoder":
            raise SettingsError(
                "expected a condition encoder with factors, found a bi-encoder; see its encode()"
            )
        expect_readable(self.text, conditions)
        return self.network(torch.from_numpy(self.text.encode(conditions))).numpy()  # type: ignore[no-any-return]

    def project(
        self, vectors: NDArray[np.floating], factor: NDArray[np.floating]
    ) -> NDArray[np.float32]:
        """Transform text vectors by the factor of one condition; inner products of the results are the similarities.

        Args:
            vectors: Text vectors of shape (n, dim).
            factor: What :meth:`factors` made of the condition, of shape (dim, rank) or (dim,).

        Returns:
            Unit vectors, computed in ``float64``, ``float32`` of shape (n, rank).
        """
        mix = self.network.mix.weight.detach().numpy().T if self.architecture == "concat" else None
        return under_condition(vectors, factor, mix)

    def encode(self, texts: Sequence[str], condition: str) -> NDArray[np.float32]:
        """Return unit vectors of texts under one condition, ``float32`` of shape (texts, rank), with any architecture.

        Raises:
            SettingsError: If the condition is empty or too long.
        """
        return self.encode_pairs(texts, [condition], np.zeros(len(texts), dtype=np.int64))

    def encode_pairs(
        self, texts: Sequence[str], conditions: Sequence[str], which: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Return unit vectors of texts, each under its own condition; equal texts and conditions are encoded once.

        Args:
            texts: The texts.
            conditions: Distinct conditions.
            which: Condition of each text, an index into ``conditions``, of shape (texts,).

        Returns:
            ``float32`` of shape (texts, rank).

        Raises:
            SettingsError: If a condition is empty or too long.
        """
        if self.architecture == "bi-encoder":
            expect_readable(self.text, conditions)
            return self.text.encode(
                [
                    read_together(text, conditions[at])
                    for text, at in zip(texts, which.tolist(), strict=True)
                ]
            )
        vectors = self.text.encode(texts)
        found = np.empty((len(texts), self.rank), dtype=np.float32)
        for start in range(0, len(conditions), BLOCK):
            for at, factor in enumerate(self.factors(conditions[start : start + BLOCK]), start):
                rows = np.flatnonzero(which == at)
                found[rows] = self.project(vectors[rows], factor)
        return found
