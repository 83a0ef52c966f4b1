"""The manifest of a generation, ``manifest.json``: its spaces, encoders, settings and checksums."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ontodex.errors import (
    IndexDamaged,
    IndexFailure,
    IndexMismatch,
    SettingsError,
    settings_from,
)
from ontodex.storage.blobs import BlobInfo

__all__ = ["FORMAT", "FileInfo", "Manifest", "SpaceInfo", "file_info"]

FORMAT = 1
"""Version of the layout on disk; an index with a newer version is rejected."""

KIND = "ontodex index"
"""Value of the key ``kind``; manifests of development versions do not have this key."""

NAME = "manifest.json"


@dataclass(frozen=True)
class FileInfo:
    """Length in bytes and BLAKE2b checksum of a file."""

    bytes: int
    blake2b: str


@dataclass(frozen=True)
class SpaceInfo:
    """A space: one vector for each entity, sentence or phrase, and a geometry that scores them.

    Attributes:
        geometry: ``"cosine"``: unit vectors; ``"poincare"``: lifted points of the ball
            (:func:`~ontodex.geometry.poincare.lift_items`); ``"product"``: vectors of any length;
            ``"gaussian"``: means followed by log-variances, in half precision.
        dim: Dimension of the vectors.
        rows: Number of vectors.
        shards: Number of blobs that hold the vectors.
        stored_in: Name of the space whose blobs hold the vectors. This may be another space, whose
            vectors are the same, or begin with the ``dim`` numbers of this space's vectors.
        recall: Recall@10 of the FAISS candidates, measured on the index's own vectors; ``None`` if
            the space has no candidates.
    """

    geometry: str
    dim: int
    rows: int
    shards: int
    stored_in: str
    recall: float | None = None


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The manifest of a generation.

    Attributes:
        kind: :data:`KIND`.
        format: :data:`FORMAT`.
        generation: Number of the generation.
        version: Version of ontodex that wrote the generation.
        created: Time of writing, in ISO 8601 (UTC).
        graph: Source, prefixes and counts of the graph.
        spaces: The spaces by name.
        encoders: Fingerprint and settings of each space's encoder.
        settings: Settings of the build.
        neighbour_voting: Weights of neighbour voting by question, ``"parents"`` and ``"children"``;
            empty in an index without a hierarchy space.
        grounding: Weights and threshold of grounding, fitted to the graph; empty if it has too few
            synonyms to fit them.
        files: Length and checksum of each file, by its path in the generation's folder.
        blobs: Type, shape and checksum of each array in the store.
        tree_checksum: Checksum of the store outside its large blobs
            (:func:`ontodex.storage.blobs.tree_checksum`).
        seconds: Duration of each step of the build.
        mappings: Mappings of the tables that the graph was read from; ``ontodex add`` reads tables
            by these mappings.
        pending: Stages of the build that were still to come when the generation was published
            (:data:`ontodex.storage.space_names.STAGES`); empty in a finished index.
    """

    kind: str = KIND
    format: int = FORMAT
    generation: int
    version: str
    created: str
    graph: dict[str, Any]
    spaces: dict[str, SpaceInfo]
    encoders: dict[str, dict[str, Any]]
    settings: dict[str, Any]
    neighbour_voting: dict[str, dict[str, Any]]
    files: dict[str, FileInfo]
    blobs: dict[str, BlobInfo]
    tree_checksum: str
    seconds: dict[str, float] = field(default_factory=dict)
    mappings: list[dict[str, Any]] = field(default_factory=list)
    grounding: dict[str, Any] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Write ``manifest.json``, with a checksum of the other content."""
        content = dataclasses.asdict(self)
        (folder / NAME).write_text(
            json.dumps({"blake2b": _digest(content), **content}, indent=1), encoding="utf-8"
        )

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read ``manifest.json``.

        Raises:
            IndexDamaged: If the file is missing, is not JSON, lacks a key, or does not match its
                checksum.
            IndexFailure: If a development version wrote the file.
            IndexMismatch: If a newer version wrote the file.
        """
        path = folder / NAME
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            stated = content.pop("blake2b")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise IndexDamaged(
                f"{path}: expected the manifest of an index, found none ({error})"
            ) from None
        found, has_kind = content.get("format"), "kind" in content
        if has_kind and isinstance(found, int) and found > FORMAT:
            raise IndexMismatch(
                f"{path}: the index has format {found}, this version reads up to {FORMAT}; "
                "update ontodex"
            )
        if _digest(content) != stated:
            raise IndexDamaged(
                f"{path}: the manifest does not match its checksum; build the index anew"
            )
        if not has_kind and isinstance(found, int):
            raise IndexFailure(
                f"{path}: expected an index of format {FORMAT}, found one that was made by a "
                f"development version (format {found}); build it anew"
            )
        return cls._parse(content, str(path))

    @classmethod
    def _parse(cls, content: dict[str, Any], path: str) -> Manifest:
        """Make a manifest from parsed JSON.

        Raises:
            IndexDamaged: If a key is missing, unknown, or of another type.
        """
        try:
            if content["kind"] != KIND:
                raise SettingsError(f"kind: expected {KIND!r}, found {content['kind']!r}")
            blobs = {
                key: {**value, "shape": tuple(value["shape"])}
                for key, value in content["blobs"].items()
            }
            parts = {
                name: {key: settings_from(kind, value, path) for key, value in values.items()}
                for name, kind, values in (
                    ("spaces", SpaceInfo, content["spaces"]),
                    ("files", FileInfo, content["files"]),
                    ("blobs", BlobInfo, blobs),
                )
            }
            return settings_from(cls, {**content, **parts}, path)
        except (KeyError, TypeError, AttributeError, SettingsError) as error:
            raise IndexDamaged(
                f"{path}: expected the manifest of an index, found another content ({error})"
            ) from None


def _digest(content: dict[str, Any]) -> str:
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()


def file_info(path: Path) -> FileInfo:
    """Return the length and the checksum of a file."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return FileInfo(path.stat().st_size, digest.hexdigest())
