"""What an index says of itself: ``manifest.json``."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ontodex.errors import IndexDamaged, IndexMismatch, SettingsError, settings_from
from ontodex.storage.blobs import BlobInfo

__all__ = ["FORMAT", "FileInfo", "Manifest", "SpaceInfo", "file_info"]

FORMAT = 12
"""Version of the layout on disk. An index of a newer one is refused, older ones are read."""

NAME = "manifest.json"


@dataclass(frozen=True)
class FileInfo:
    """Length in bytes and BLAKE2b checksum of a file."""

    bytes: int
    blake2b: str


@dataclass(frozen=True)
class SpaceInfo:
    """A space: vectors of all entities, or of what they say, under one score.

    Attributes:
        geometry: ``"cosine"``: unit vectors; ``"poincare"``: lifted points of the ball
            (:func:`~ontodex.geometry.poincare.lift_items`); ``"product"``: vectors of any length; or ``"gaussian"``: means
            and log-variances, in half precision, of the sentences that entities say.
        dim: Length of a vector.
        rows: Number of vectors.
        shards: Number of blobs that the vectors are in.
        vectors: Name below which the vectors are stored; spaces may share them, or be the first numbers of another's.
        recall: Share of the exact ten nearest that the candidates of the FAISS structure hold, where there is one.
    """

    geometry: str
    dim: int
    rows: int
    shards: int
    vectors: str
    recall: float | None = None


@dataclass(frozen=True)
class Manifest:
    """Everything there is to know of a generation before its files are touched.

    ``layout`` is the checksum of what the blobs are found by (:func:`ontodex.storage.blobs.layout`); indexes of
    format 1 and 2 have none.
    """

    format: int
    generation: int
    version: str
    created: str
    graph: dict[str, Any]
    spaces: dict[str, SpaceInfo]
    encoders: dict[str, dict[str, Any]]
    settings: dict[str, Any]
    job: str
    files: dict[str, FileInfo] = field(default_factory=dict)
    blobs: dict[str, BlobInfo] = field(default_factory=dict)
    layout: str = ""
    seconds: dict[str, float] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write ``manifest.json``, with a checksum of its own content."""
        content = dataclasses.asdict(self)
        (folder / NAME).write_text(
            json.dumps({"blake2b": _digest(content), **content}, indent=1), encoding="utf-8"
        )

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read ``manifest.json``.

        Raises:
            IndexDamaged: If it is missing, is no JSON, lacks a part, or does not fit its checksum.
            IndexMismatch: If it was written by a newer version.
        """
        path = folder / NAME
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            stated = content.pop("blake2b")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise IndexDamaged(
                f"{path}: expected the manifest of an index, found none ({error})"
            ) from None
        if isinstance(content.get("format"), int) and content["format"] > FORMAT:
            raise IndexMismatch(
                f"{path}: the index has format {content['format']}, this version reads up to {FORMAT}; update ontodex"
            )
        if _digest(content) != stated:
            raise IndexDamaged(
                f"{path}: the manifest does not fit its checksum; build the index anew"
            )
        try:
            parts = {
                "spaces": {
                    key: settings_from(SpaceInfo, value, str(path))
                    for key, value in content["spaces"].items()
                },
                "files": {
                    key: settings_from(FileInfo, value, str(path))
                    for key, value in content["files"].items()
                },
                "blobs": {
                    key: settings_from(
                        BlobInfo, {**value, "shape": tuple(value["shape"])}, str(path)
                    )
                    for key, value in content["blobs"].items()
                },
            }
            return settings_from(cls, {**content, **parts}, str(path))
        except (KeyError, TypeError, AttributeError, SettingsError) as error:
            raise IndexDamaged(
                f"{path}: expected the manifest of an index, found another content ({error})"
            ) from None


def _digest(content: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()


def file_info(path: Path) -> FileInfo:
    """Measure a file."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return FileInfo(path.stat().st_size, digest.hexdigest())
