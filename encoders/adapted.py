"""A text encoder with something of its own: the whole, or an adapter of a few megabytes for another one."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
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
    """The text encoder that an adapter is for.

    Attributes:
        base: Its name, if the folder holds an adapter for it and not the encoder itself.
        base_weights: Hash of its weights: a copy of the same model may have other files beside them.
        max_tokens: Texts are cut to this many tokens, where the encoder's own files do not say so: those of an adapter.

    Raises:
        SettingsError: If one is of another kind.
    """

    base: str | None = None
    base_weights: str | None = None
    max_tokens: int | None = None

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

    def load(
        self, folder: Path, own: str, device: str, found: Path | None
    ) -> tuple[TextEncoder, Path | None]:
        """Load the text encoder, its vectors of the length that it pools them in.

        Args:
            folder: Folder of the encoder.
            own: Name of the folder inside it that holds the adapter, if it is one.
            device: Where it computes.
            found: Folder of the text encoder that an adapter is for, if it is neither in ``folder`` nor found by its name.

        Returns:
            The text encoder, with its adapter, and the folder of that.

        Raises:
            EncoderError: If it cannot be loaded, or is not the one that the adapter is for.
        """
        if self.base is None:
            return TextEncoder(folder, device, unit=False), None
        if (folder / "config.json").exists():
            found = folder
        elif found is None:
            found = locate(self.base)
        if weights_hash(found) != self.base_weights:
            raise EncoderError(
                f"{folder}: an adapter for another text encoder than the one in {found} ({self.base})"
            )
        adapter = folder / own
        return TextEncoder(
            found, device, unit=False, adapter=adapter, max_tokens=self.max_tokens
        ), adapter


class Adapted:
    """What HiT and GaussCSE share: a text encoder, whole or adapted, and a folder of their own inside its folder.

    Args:
        text: Makes the pooled vectors.
        adapter: Folder of the LoRA adapter that ``text`` has been given, if it has.
        base: Name under which the text encoder is found, without its adapter.
    """

    FOLDER: ClassVar[str]
    """Name of that folder."""

    precision: ClassVar[type[np.floating]] = np.float32
    """In which an index stores what is made of a text."""

    def __init__(
        self, text: TextEncoder, adapter: Path | None, base: str = DEFAULT_ENCODER
    ) -> None:
        self.text = text
        self.adapter = adapter
        self.base = base

    @classmethod
    def is_at(cls, folder: Path) -> bool:
        """Tell whether a folder holds one."""
        return (folder / cls.FOLDER / "config.json").exists()

    def save(self, folder: Path) -> None:
        """Write the encoder: the whole, or an adapter and the name of its text encoder."""
        if self.adapter is None and folder.resolve() != self.text.folder.resolve():
            self.text.save(folder)
        self.save_own(folder)

    def save_own(self, folder: Path) -> None:
        """Write what is not the text encoder into the folder of its own."""
        raise NotImplementedError

    @property
    def fingerprint(self) -> str:
        """Hash of what makes the vectors, not of the rule (hex, 128 bits)."""
        return self.text_fingerprint

    def save_adapter(self, own: Path) -> Base:
        """Write the adapter, if there is one, into a folder, which is made; return what its configuration says of it."""
        own.mkdir(parents=True, exist_ok=True)
        if self.adapter is None:
            return Base()
        if self.adapter.resolve() != own.resolve():
            for name in ADAPTER_FILES:
                shutil.copyfile(self.adapter / name, own / name)
        return Base(self.base, weights_hash(self.text.folder), self.text.max_tokens)

    @property
    def dim(self) -> int:
        """Length of a pooled vector."""
        return self.text.dim

    @property
    def width(self) -> int:
        """How many numbers an index stores of a text."""
        raise NotImplementedError

    def stored(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Make what an index stores of pooled vectors, (n, dim) to ``float32`` of shape (n, width)."""
        raise NotImplementedError

    @cached_property
    def text_fingerprint(self) -> str:
        """Hash of the text encoder, of its adapter, and of where texts are cut (hex, 128 bits)."""
        digest = hashlib.blake2b(self.text.fingerprint.encode(), digest_size=16)
        if self.adapter is not None:
            for name in ADAPTER_FILES:
                digest.update((self.adapter / name).read_bytes())
        if self.text.max_tokens is not None:
            digest.update(f"{self.text.max_tokens} tokens".encode())
        return digest.hexdigest()
