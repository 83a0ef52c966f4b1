"""The bi-encoder of SimKGC: encodes head and relation as one pair, and entities alone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.link_architectures import BI_ENCODER, PairArchitecture
from ontodex.encoders.locate import NETWORK
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError, settings_from

__all__ = ["BiEncoder", "query_folder"]


def query_folder(folder: Path) -> Path:
    """Return the folder of the query encoder, in a bi-encoder with two text encoders (towers)."""
    return folder / NETWORK / "query"


@dataclass(frozen=True)
class _Settings:
    """The ``network`` entry of ``config.json``: the number of text encoders (towers)."""

    towers: int
    architecture: str = BI_ENCODER

    def __post_init__(self) -> None:
        if self.architecture != BI_ENCODER or self.towers not in (1, 2):
            raise SettingsError(f"expected a {BI_ENCODER} of 1 or 2 towers, found {self}")


class BiEncoder:
    """Encodes a head and a relation as one pair of texts (SimKGC).

    Wang et al., "SimKGC", ACL 2022, section 3.2.

    Relations have no stored form: every query needs the encoder, unlike with tri-encoders.

    Args:
        text: The text encoder of entities.
        query: The text encoder of pairs of head and relation; by default ``text``.
        texts: How the text of an entity was built in training (the fields of
            ``ontodex.TextSettings``); empty if that is not known.
    """

    moves_entities = False

    def __init__(
        self,
        text: TextEncoder,
        query: TextEncoder | None = None,
        texts: Mapping[str, Any] | None = None,
    ) -> None:
        if query is not None and query.dim != text.dim:
            raise EncoderError(
                f"{text.folder}: the encoder of entities makes {text.dim} dimensions, that of "
                f"queries {query.dim}"
            )
        self.text = text
        self.query = query or text
        self.texts = dict(texts or {})

    @classmethod
    def load(cls, folder: Path, text: TextEncoder | None = None, device: str = "auto") -> BiEncoder:
        """Load a folder that :meth:`save` wrote.

        Args:
            folder: The encoder's folder.
            text: The text encoder of entities, if it is loaded already.
            device: Device of the encoders.

        Raises:
            EncoderError: If the folder holds no bi-encoder, or a damaged one.
        """
        path = folder / NETWORK / "config.json"
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
            settings = settings_from(_Settings, config["network"], str(path))
            texts = dict(config["texts"])
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise EncoderError(
                f"{folder}: expected a bi-encoder, found one that does not load: {error}"
            ) from error
        text = text or TextEncoder(folder, device)
        query = TextEncoder(query_folder(folder), device) if settings.towers == 2 else None
        return cls(text, query, texts)

    def save(self, folder: Path) -> None:
        """Write the entity encoder into a folder, and the query encoder into a subfolder.

        ``SentenceTransformer(folder)`` loads the folder as the plain encoder of entities.
        """
        if folder.resolve() != self.text.folder.resolve():
            self.text.save(folder)
        self.save_network(folder)

    def save_network(self, folder: Path) -> None:
        """Write only the query encoder and the settings, into the folder of the entity encoder."""
        (folder / NETWORK).mkdir(parents=True, exist_ok=True)
        own = query_folder(folder)
        if self.query is not self.text and own.resolve() != self.query.folder.resolve():
            self.query.save(own)
        network = asdict(_Settings(1 if self.query is self.text else 2))
        config = json.dumps({"network": network, "texts": self.texts}, indent=1)
        (folder / NETWORK / "config.json").write_text(config, encoding="utf-8")

    @property
    def fingerprint(self) -> str:
        """Hash of both text encoders (hex, 128 bits)."""
        both = f"{BI_ENCODER} {self.text.fingerprint} {self.query.fingerprint}"
        return hashlib.blake2b(both.encode(), digest_size=16).hexdigest()

    def entities(self, embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vectors of entities, which are their text embeddings, unchanged."""
        return embeddings

    def queries(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Encode pairs (head text, relation text); equal pairs are encoded once.

        Returns:
            Unit queries, ``float32`` of shape (pairs, dim).
        """
        return self.query.encode(pairs)

    def described(self) -> dict[str, Any]:
        """Return the architecture's entry in the manifest of an index."""
        return {"architecture": BI_ENCODER}

    def projections(self, relations: Sequence[str]) -> None:
        """Return ``None``: a bi-encoder has no stored form of relations."""

    def bind(self, relations: Sequence[str]) -> PairArchitecture:
        """Return the architecture; see :class:`~ontodex.encoders.link_encoder.LinkEncoder`."""
        return PairArchitecture(lambda: self)
