"""Base class of HiT and GaussCSE: a full text encoder, or a base model with a LoRA adapter."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.adapter import ADAPTER_FILES
from ontodex.encoders.locate import DEFAULT_ENCODER, locate, weights_hash
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError

__all__ = ["Adapted", "Base"]


@dataclass(frozen=True)
class Base:
    """The entry for the base model of an adapter, in the configuration of an encoder.

    Attributes:
        base: Name of the base model; ``None`` if the folder holds a full text encoder.
        base_weights: Hash of the base model's weights. The hash leaves out other files, which may
            differ between copies of a model.
        max_tokens: Largest number of tokens of a text, for an adapter; longer texts are truncated.
        seen: Names of the graphs and data sets that the encoder was trained on, beside what its
            base model was trained on.

    Raises:
        SettingsError: If a value has the wrong type, or ``max_tokens`` is below 1.
    """

    base: str | None = None
    base_weights: str | None = None
    max_tokens: int | None = None
    seen: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not isinstance(self.base, str | None) or not isinstance(self.base_weights, str | None):
            raise SettingsError(
                f"base: expected a name and the hash of its weights, found {self.base!r}"
            )
        if self.max_tokens is not None and (
            not isinstance(self.max_tokens, int) or self.max_tokens < 1
        ):
            raise SettingsError(
                f"max_tokens: expected a whole number of at least 1, found {self.max_tokens!r}"
            )
        if not isinstance(self.seen, list) or not all(isinstance(one, str) for one in self.seen):
            raise SettingsError(f"seen: expected a list of names, found {self.seen!r}")

    def load(
        self, folder: Path, own: str, device: str, found: Path | None, *, unchanged: bool = False
    ) -> tuple[TextEncoder, Path | None]:
        """Load the text encoder, with its adapter if there is one; vectors are not normalised.

        Args:
            folder: Folder of the encoder.
            own: Name of the subfolder that may hold an adapter.
            device: Device to compute on.
            found: Folder of the base model, for an adapter whose folder does not hold it; ``None``
                to find the base model by its name.
            unchanged: Whether the files are known to be those that were saved together, so that
                the base model's weights need not be hashed, which takes longer than most questions.

        Returns:
            The text encoder, and the folder of its adapter; ``None`` for a full text encoder.

        Raises:
            EncoderError: If the text encoder cannot be loaded, or its weights are not the weights
                of the adapter's base model.
        """
        if self.base is None:
            return TextEncoder(folder, device, unit=False), None
        if (folder / "config.json").exists():
            found = folder
        elif found is None:
            found = locate(self.base)
        if not unchanged and weights_hash(found) != self.base_weights:
            raise EncoderError(
                f"{folder}: an adapter for another text encoder than the one in {found} "
                f"({self.base})"
            )
        adapter = folder / own
        return TextEncoder(
            found, device, unit=False, adapter=adapter, max_tokens=self.max_tokens
        ), adapter


class Adapted:
    """A text encoder, full or with a LoRA adapter, and further files in a subfolder.

    Args:
        text: The text encoder, which makes pooled vectors.
        adapter: Folder of the LoRA adapter that ``text`` was loaded with; ``None`` without one.
        base: Name of the base model, by which :func:`~ontodex.encoders.locate.locate` finds it.
        seen: Names of the graphs and data sets that it was trained on.
    """

    FOLDER: ClassVar[str]
    """Name of the subfolder."""

    precision: ClassVar[type[np.floating]] = np.float32
    """Type of the vectors that an index stores."""

    def __init__(
        self,
        text: TextEncoder,
        adapter: Path | None,
        base: str = DEFAULT_ENCODER,
        seen: Sequence[str] = (),
    ) -> None:
        self.text = text
        self.adapter = adapter
        self.base = base
        self.seen = list(seen)

    @classmethod
    def seen_by(cls, folder: Path) -> list[str]:
        """Return what the encoder of a folder was trained on, without loading it.

        Returns:
            The ``seen`` of its configuration; empty if the folder holds no encoder of this kind.
        """
        path = folder / cls.FOLDER / "config.json"
        if not path.exists():
            return []
        return list(json.loads(path.read_text(encoding="utf-8")).get("seen", []))

    @classmethod
    def is_at(cls, folder: Path) -> bool:
        """Return whether a folder holds an encoder of this kind."""
        return (folder / cls.FOLDER / "config.json").exists()

    def save(self, folder: Path) -> None:
        """Write the subfolder, and the text encoder unless the subfolder holds an adapter."""
        if self.adapter is None and folder.resolve() != self.text.folder.resolve():
            self.text.save(folder)
        self.save_own(folder)

    def save_own(self, folder: Path) -> None:
        """Write the files of the subfolder, without the text encoder."""
        raise NotImplementedError

    @property
    def fingerprint(self) -> str:
        """Hash of all that determines vectors, without the decision rule (hex, 128 bits)."""
        return self.text_fingerprint

    def save_adapter(self, own: Path) -> Base:
        """Create a folder and write the adapter into it, if there is one.

        Returns:
            The configuration entry for the base model.
        """
        own.mkdir(parents=True, exist_ok=True)
        if self.adapter is None:
            return Base(seen=self.seen)
        if self.adapter.resolve() != own.resolve():
            for name in ADAPTER_FILES:
                shutil.copyfile(self.adapter / name, own / name)
        return Base(self.base, weights_hash(self.text.folder), self.text.max_tokens, self.seen)

    @property
    def dim(self) -> int:
        """Dimension of pooled vectors."""
        return self.text.dim

    @property
    def width(self) -> int:
        """Dimension of the vectors that an index stores."""
        raise NotImplementedError

    def stored(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the vectors that an index stores, ``float32`` of shape (n, width).

        Args:
            vectors: Pooled vectors of shape (n, dim).
        """
        raise NotImplementedError

    @cached_property
    def text_fingerprint(self) -> str:
        """Hash of the text encoder, its adapter and its token limit (hex, 128 bits)."""
        digest = hashlib.blake2b(self.text.fingerprint.encode(), digest_size=16)
        if self.adapter is not None:
            for name in ADAPTER_FILES:
                digest.update((self.adapter / name).read_bytes())
        if self.text.max_tokens is not None:
            digest.update(f"{self.text.max_tokens} tokens".encode())
        return digest.hexdigest()
