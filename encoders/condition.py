"""Conditional similarity: a text encoder and a condition network, in one folder."""

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
"""Number of conditions whose factors are in memory at a time."""


@dataclass(frozen=True)
class _Config:
    """Contents of ``condition/config.json``.

    Attributes:
        network: Settings of the network.
        texts: Settings of the entity texts in training.
        conditions: Conditions of the training data.

    Raises:
        SettingsError: If ``texts`` is not a mapping, or a condition is not a string.
    """

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
    """Return the joint text of a text and its condition, the input of a bi-encoder.

    The condition comes first, so that the truncation of a long text does not remove it.

    >>> read_together("Paris", "located in")
    'located in: Paris'
    """
    return f"{condition}: {text}"


def expect_readable(text: TextEncoder, conditions: Sequence[str], most: int | None = None) -> None:
    """Check that no condition is empty or would be truncated.

    Args:
        text: The text encoder of the conditions.
        conditions: The conditions.
        most: Largest number of tokens; the text encoder's own limit applies if it is lower.

    Raises:
        SettingsError: If a condition is empty or has too many tokens; the message quotes it.
    """
    for condition in conditions:
        if not condition.strip():
            raise SettingsError(f"condition: expected a text such as 'genre', found {condition!r}")
    for position, length in text.cut(conditions, most):
        raise SettingsError(
            f"condition: expected at most as many tokens as the encoder reads, found {length} in "
            f"{conditions[position][:60]!r}…; shorten the condition"
        )


class ConditionEncoder:
    """Compares texts under a condition.

    Every architecture but ``"bi-encoder"`` encodes each text and each condition once:
    :meth:`factors` makes the factors of conditions, :meth:`project` applies a factor to the vectors
    of texts, and the similarity is the inner product of the results.

    Args:
        text: The text encoder of texts and conditions, which makes unit vectors.
        network: The condition network.
        texts: How the text of an entity was built in training (the fields of
            ``ontodex.TextSettings``); empty if the training data were texts.
        conditions: The conditions of training.

    Raises:
        EncoderError: If the network and the text encoder have different dimensions.
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
                f"{text.folder}: the condition network expects embeddings of "
                f"{network.settings.dim} dimensions, the text encoder makes {text.dim}"
            )
        self.text = text
        self.network = network.cpu().eval()
        self.texts = dict(texts or {})
        self.conditions = list(conditions)

    @property
    def architecture(self) -> str:
        """How text and condition are combined.

        One of :data:`~ontodex.encoders.condition_network.ARCHITECTURES`.
        """
        return self.network.settings.architecture

    @property
    def dim(self) -> int:
        """Dimension of the vectors of texts."""
        return self.text.dim

    @property
    def rank(self) -> int:
        """Dimension of the vectors under a condition."""
        return self.network.settings.width

    @property
    def mix(self) -> NDArray[np.float32]:
        """The matrix W of the architecture ``"concat"``, ``float32`` of shape (dim, dim).

        A text embedding x and a condition's factor v give the vector x·W + v. Other architectures
        do not have this matrix.
        """
        return np.ascontiguousarray(self.network.mix.weight.detach().numpy().T)

    @staticmethod
    def is_at(folder: Path) -> bool:
        """Return whether a folder holds a condition encoder."""
        return (folder / CONDITION / "config.json").exists()

    @classmethod
    def load(
        cls, folder: Path, text: TextEncoder | None = None, device: str = "auto"
    ) -> ConditionEncoder:
        """Load a folder that :meth:`save` wrote.

        Args:
            folder: The encoder's folder.
            text: The text encoder, if it is loaded already.
            device: Device of the text encoder.

        Raises:
            EncoderError: If the folder holds no condition encoder or a damaged one.
        """
        config, network = load_network(folder / CONDITION, _Config, _network, "a condition encoder")
        return cls(text or TextEncoder(folder, device), network, config.texts, config.conditions)

    def save(self, folder: Path) -> None:
        """Write the text encoder and the condition network into a folder.

        ``SentenceTransformer(folder)`` loads the folder as the plain text encoder.
        """
        if folder.resolve() != self.text.folder.resolve():
            self.text.save(folder)
        self.save_network(folder)

    def save_network(self, folder: Path) -> None:
        """Write the condition network into the folder of a text encoder."""
        config = _Config(asdict(self.network.settings), self.texts, self.conditions)
        save_network(folder / CONDITION, asdict(config), self.network.state_dict())

    @property
    def fingerprint(self) -> str:
        """Hash of the text encoder and the condition network (hex, 128 bits).

        The hash does not cover ``texts`` and ``conditions``, which do not change vectors.
        """
        return network_fingerprint(
            self.text.fingerprint, asdict(self.network.settings), self.network.state_dict()
        )

    @torch.inference_mode()
    def factors(self, conditions: Sequence[str]) -> NDArray[np.float32]:
        """Return the factors of conditions, which need not occur in the training data.

        Returns:
            ``float32`` of shape (conditions, dim, rank) for ``"hyper"``, (conditions, dim) for
            ``"hadamard"`` and ``"concat"``.

        Raises:
            SettingsError: If a condition is empty or too long, or if the architecture is
                ``"bi-encoder"``, which has no factors.
        """
        if self.architecture == "bi-encoder":
            raise SettingsError(
                "expected a condition encoder with factors, found a bi-encoder; see its encode()"
            )
        expect_readable(self.text, conditions)
        found = self.network(torch.from_numpy(self.text.encode(conditions)))
        return found.numpy()  # type: ignore[no-any-return]

    def project(
        self, vectors: NDArray[np.floating], factor: NDArray[np.floating]
    ) -> NDArray[np.float32]:
        """Apply the factor of one condition to text vectors.

        Inner products of the results are the similarities under the condition.

        Args:
            vectors: Text vectors of shape (n, dim).
            factor: Factor of the condition, from :meth:`factors`, of shape (dim, rank) or (dim,).

        Returns:
            Unit vectors, ``float32`` of shape (n, rank), computed in ``float64``.
        """
        mix = self.network.mix.weight.detach().numpy().T if self.architecture == "concat" else None
        return under_condition(vectors, factor, mix)

    def encode(self, texts: Sequence[str], condition: str) -> NDArray[np.float32]:
        """Return unit vectors of texts under one condition, with any architecture.

        Returns:
            ``float32`` of shape (texts, rank).

        Raises:
            SettingsError: If the condition is empty or too long.
        """
        return self.encode_pairs(texts, [condition], np.zeros(len(texts), dtype=np.int64))

    def encode_pairs(
        self, texts: Sequence[str], conditions: Sequence[str], which: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """Return unit vectors of texts, each under its own condition.

        Each distinct text and condition is encoded once.

        Args:
            texts: The texts.
            conditions: Distinct conditions.
            which: Index into ``conditions`` of each text's condition, of shape (texts,).

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
