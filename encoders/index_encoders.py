"""The encoders of an index, saved into a generation's folder and loaded from it.

``encoders/text`` holds the text encoder. The folder of another space holds an adapter or a network.
It also holds a text encoder if the space does not use the one in ``encoders/text``.
"""

from __future__ import annotations

import filecmp
import os
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ontodex.encoders.adapter import ADAPTER_FILES
from ontodex.encoders.locate import GAUSSIAN, files_of, fingerprint
from ontodex.errors import EncoderError, IndexMismatch

if TYPE_CHECKING:
    from ontodex.encoders.condition import ConditionEncoder
    from ontodex.encoders.entailment_cross_encoder import EntailmentCrossEncoder
    from ontodex.encoders.gauss_cse import GaussCSE
    from ontodex.encoders.hit import HiT
    from ontodex.encoders.link_encoder import LinkEncoder
    from ontodex.encoders.text import TextEncoder

__all__ = ["Encoders", "StoredEncoders"]

FOLDER = "encoders"
"""Name of the folder of the encoders, in the folder of a generation."""

TEXT, LINK, HIERARCHY, CONDITION, ENTAILMENT = (
    "text",
    "link",
    "hierarchy",
    "condition",
    "entailment",
)
"""The spaces of an index that have an encoder, and the names of their folders."""

NAME = "name"
"""The space of names, which the text encoder embeds as well."""


@dataclass(frozen=True)
class Encoders:
    """The encoder of each space; ``None`` for a space that the index does not have.

    Attributes:
        text: Encoder of the text space and the span space.
        link: Encoder of link prediction.
        hierarchy: Encoder of the hierarchy space.
        condition: Encoder of similarity under a condition.
        entailment: Encoder of the entailment space.
    """

    text: TextEncoder
    link: LinkEncoder | None = None
    hierarchy: HiT | None = None
    condition: ConditionEncoder | None = None
    entailment: GaussCSE | None = None

    @property
    def fingerprints(self) -> list[Any]:
        """Fingerprint of each encoder except ``text``, with its settings of entity texts."""
        read = [
            [one.fingerprint, one.texts]
            for one in (self.link, self.hierarchy, self.condition)
            if one is not None
        ]
        return read if self.entailment is None else [*read, self.entailment.fingerprint]

    def described(self) -> dict[str, dict[str, Any]]:
        """Return the manifest's entry for each encoder, by space."""
        found: dict[str, dict[str, Any]] = {TEXT: {"fingerprint": self.text.fingerprint}}
        if self.link is not None:
            found[LINK] = {
                "text_encoder": self.link.text.fingerprint,
                "fingerprint": self.link.fingerprint,
                **self.link.described(),
            }
        if self.hierarchy is not None and self.hierarchy.rule is not None:
            found[HIERARCHY] = {
                "fingerprint": self.hierarchy.fingerprint,
                "curvature": self.hierarchy.c,
                "rule": asdict(self.hierarchy.rule),
            }
        if self.condition is not None:
            found[CONDITION] = {
                "text_encoder": self.condition.text.fingerprint,
                "fingerprint": self.condition.fingerprint,
                "architecture": self.condition.architecture,
                "width": self.condition.rank,
            }
        if self.entailment is not None:
            found[ENTAILMENT] = {
                "fingerprint": self.entailment.fingerprint,
                "similarity": self.entailment.similarity,
                "rule": asdict(self.entailment.rule),
            }
        return found

    def save(self, index: Path, generation: Path) -> None:
        """Save the encoders into a generation's folder; a shared text encoder is saved once.

        Args:
            index: Folder of the index. Encoder files in this folder are hard-linked, not copied.
            generation: Folder of the generation; encoders in this folder are removed first.
        """
        folder = generation / FOLDER
        shutil.rmtree(folder, ignore_errors=True)
        _copy(index, self.text.folder, folder / TEXT)
        for name, network in ((LINK, self.link), (CONDITION, self.condition)):
            if network is not None:
                if network.text.fingerprint != self.text.fingerprint:
                    _copy(index, network.text.folder, folder / name)
                network.save_network(folder / name)
        for name, adapted in ((HIERARCHY, self.hierarchy), (ENTAILMENT, self.entailment)):
            if adapted is not None:
                if adapted.adapter is None or adapted.text.fingerprint != self.text.fingerprint:
                    _copy(index, adapted.text.folder, folder / name)
                adapted.save_own(folder / name)


def _copy(index: Path, source: Path, target: Path) -> None:
    """Copy the files of a text encoder; hard-link them if they are in the index already."""
    in_index = source.resolve().is_relative_to(index.resolve())
    for relative in files_of(source):
        (target / relative).parent.mkdir(parents=True, exist_ok=True)
        try:
            (os.link if in_index else shutil.copyfile)(source / relative, target / relative)
        except OSError:  # not every file system has hard links
            shutil.copyfile(source / relative, target / relative)


class OpenIndex(Protocol):
    """An index opened for reading, as :class:`ontodex.storage.index.Index` is."""

    @property
    def folder(self) -> Path:
        """Folder of the generation."""

    @property
    def curvature(self) -> float:
        """The number c; the ball of the hierarchy space has curvature -c."""

    def encoder_info(self, space: str) -> dict[str, Any]:
        """Return the manifest's entry for the encoder of a space."""

    def dim(self, space: str) -> int:
        """Return the length of the vectors of a space."""


class _Fingerprinted(Protocol):
    @property
    def fingerprint(self) -> str: ...


T = TypeVar("T", bound=_Fingerprinted)


class StoredEncoders:
    """The encoders of an opened index; each is loaded on first use.

    An encoder whose files were changed after the build is compared with the manifest. Each property
    raises :class:`~ontodex.errors.IndexMismatch` if the index has no such encoder, or if the
    encoder in its folder is not the one that the manifest describes.

    Args:
        index: The opened index.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or another torch device to compute on.
    """

    def __init__(self, index: OpenIndex, device: str = "auto") -> None:
        self._index = index
        self._device = device

    @cached_property
    def text(self) -> TextEncoder:
        """The encoder of names and texts."""
        from ontodex.encoders.text import TextEncoder

        folder, info = self._folder(TEXT), self._index.encoder_info(TEXT)
        if not self._unchanged(TEXT):
            _expect_fingerprint(folder, fingerprint(folder), info["fingerprint"])
        encoder = TextEncoder(folder, self._device)
        if encoder.dim != self._index.dim(NAME):
            raise IndexMismatch(
                f"{folder}: the index holds vectors of {self._index.dim(NAME)} dimensions, "
                f"its encoder makes {encoder.dim}; build the index anew"
            )
        return encoder

    @cached_property
    def link(self) -> LinkEncoder:
        """The encoder of link prediction."""
        from ontodex.encoders.link_encoder import load_link_encoder

        return self._loaded(
            LINK,
            lambda folder: load_link_encoder(folder, self._shared_text(LINK), self._device),
        )

    @cached_property
    def hierarchy(self) -> HiT:
        """The encoder of the hierarchy space."""
        from ontodex.encoders.hit import HiT

        base = self._folder(TEXT)
        unchanged = self._unchanged(HIERARCHY)
        encoder = self._loaded(
            HIERARCHY,
            lambda folder: HiT.load(folder, self._device, base=base, unchanged=unchanged),
        )
        curvature, dim = self._index.curvature, self._index.dim(HIERARCHY)
        if (encoder.c, encoder.dim + 1) != (curvature, dim):
            raise IndexMismatch(
                f"{self._index.folder}: the index holds points of {dim - 1} dimensions and "
                f"curvature -{curvature:g}, its encoder makes {encoder.dim} and -{encoder.c:g}; "
                "build the index anew"
            )
        return encoder

    @cached_property
    def condition(self) -> ConditionEncoder:
        """The encoder of similarity under a condition."""
        from ontodex.encoders.condition import ConditionEncoder

        return self._loaded(
            CONDITION,
            lambda folder: ConditionEncoder.load(
                folder, self._shared_text(CONDITION), self._device
            ),
        )

    @cached_property
    def entailment(self) -> GaussCSE:
        """The encoder of the entailment space."""
        from ontodex.encoders.gauss_cse import GaussCSE

        base = self._folder(TEXT)
        unchanged = self._unchanged(ENTAILMENT)
        encoder = self._loaded(
            ENTAILMENT,
            lambda folder: GaussCSE.load(folder, self._device, base=base, unchanged=unchanged),
        )
        dim = self._index.dim(ENTAILMENT)
        if 2 * encoder.dim != dim:
            raise IndexMismatch(
                f"{self._index.folder}: expected an encoder of {dim // 2} dimensions, "
                f"found {encoder.dim}"
            )
        return encoder

    @cached_property
    def entailment_cross_encoder(self) -> EntailmentCrossEncoder | None:
        """The package's cross-encoder; ``None`` if another GaussCSE encoder made the index."""
        from ontodex.encoders.entailment_cross_encoder import EntailmentCrossEncoder
        from ontodex.encoders.gauss_cse import DEFAULT_GAUSS_CSE

        own, packaged = (
            folder / GAUSSIAN / ADAPTER_FILES[1]
            for folder in (self._folder(ENTAILMENT), DEFAULT_GAUSS_CSE)
        )
        if not own.exists() or not filecmp.cmp(own, packaged, shallow=False):
            return None
        return EntailmentCrossEncoder.load(device=self._device, base=self.entailment.text.folder)

    def load(self, spaces: set[str]) -> Encoders:
        """Load the encoders of some spaces.

        Raises:
            IndexMismatch: If an encoder is not the one that the manifest describes.
        """
        return Encoders(
            self.text,
            self.link if LINK in spaces else None,
            self.hierarchy if HIERARCHY in spaces else None,
            self.condition if CONDITION in spaces else None,
            self.entailment if ENTAILMENT in spaces else None,
        )

    def _folder(self, space: str) -> Path:
        return self._index.folder / FOLDER / space

    def _loaded(self, space: str, load: Callable[[Path], T]) -> T:
        """Load the encoder of a space, and compare its fingerprint with the manifest's."""
        folder, info = self._folder(space), self._index.encoder_info(space)
        try:
            encoder = load(folder)
        except EncoderError as error:
            raise IndexMismatch(
                f"{folder}: the encoder does not load ({error}); build the index anew"
            ) from error
        if not self._unchanged(space):
            _expect_fingerprint(folder, encoder.fingerprint, info["fingerprint"])
        return encoder

    def _unchanged(self, space: str) -> bool:
        """Return whether all files of a space's encoder are older than the manifest.

        Such files are those that the manifest describes; hashing them would take longer than most
        questions. ``Index.verify`` compares their checksums.
        """
        written = (self._index.folder / "manifest.json").stat().st_mtime_ns
        return all(
            path.stat().st_mtime_ns < written
            for folder in {self._folder(TEXT), self._folder(space)}
            for path in folder.rglob("*")
        )

    def _shared_text(self, space: str) -> TextEncoder | None:
        """Return the encoder of the text space if another space uses it, else ``None``."""
        shared = self._index.encoder_info(TEXT)["fingerprint"]
        return self.text if self._index.encoder_info(space)["text_encoder"] == shared else None


def _expect_fingerprint(folder: Path, found: str, expected: str) -> None:
    if found != expected:
        raise IndexMismatch(
            f"{folder}: not the encoder that the index was built with; build the index anew"
        )
