"""HiT: a text encoder whose vectors are points of a Poincaré ball, general texts near its origin."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.adapter import ADAPTER_FILES
from ontodex.encoders.locate import DEFAULT_ENCODER, HIERARCHY, locate, weights_hash
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError, settings_from
from ontodex.geometry.poincare import clip, curvature, lift_items
from ontodex.geometry.subsumption import Subsumption

__all__ = ["DEFAULT_HIT", "HiT", "Learnt"]

DEFAULT_HIT = Path(__file__).resolve().parent / "models" / "hit-wordnet"
"""The encoder that the package carries: an adapter of all-MiniLM-L6-v2 for the hierarchy of WordNet's nouns."""


@dataclass(frozen=True)
class Learnt:
    """What an encoder was trained on.

    Attributes:
        links: :func:`~ontodex.graph.subsumptions.links_fingerprint` of the whole hierarchy, through its texts.
        task: ``"multi-hop"``: every link; ``"mixed-hop"``: all but a share of the links.
        seed: Seed of what was held out.
        held_out: That share.
    """

    links: str
    task: str
    seed: int
    held_out: float


@dataclass(frozen=True)
class _Config:
    """What ``hit/config.json`` holds.

    Attributes:
        rule: The fields of the :class:`~ontodex.geometry.subsumption.Subsumption` found on validation.
        texts: The fields of ``ontodex.TextSettings`` that training used.
        base: Name of the text encoder, if the folder holds an adapter for it and not the encoder itself.
        base_weights: Hash of its weights: a copy of the same model may have other files beside them.
        max_tokens: Texts are cut to this many tokens, where the encoder's own files do not say so: those of an adapter.
        learnt: The fields of :class:`Learnt`, where it is known.
    """

    rule: dict[str, float] | None
    texts: dict[str, Any] = field(default_factory=dict)
    base: str | None = None
    base_weights: str | None = None
    max_tokens: int | None = None
    learnt: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.base, str | None) or not isinstance(self.base_weights, str | None):
            raise SettingsError(f"base: expected a name and the hash of its weights, found {self.base!r}")
        if self.max_tokens is not None and (not isinstance(self.max_tokens, int) or self.max_tokens < 1):
            raise SettingsError(f"max_tokens: expected a whole number of at least 1, found {self.max_tokens!r}")


class HiT:
    """A hierarchy transformer (He et al., NeurIPS 2024): mean-pooled vectors, read as points of a Poincaré ball.

    Made by :meth:`load`, or by :func:`ontodex.trainers.hit.train_hit`.

    Args:
        text: Makes the pooled vectors.
        rule: When a text counts as below another; ``None`` for a public checkpoint, until one is fitted.
        texts: How an entity's text is built (the fields of ``ontodex.TextSettings``).
        adapter: Folder of the LoRA adapter that ``text`` has been given, if it has.
        base: Name under which the text encoder is found, without its adapter.
        learnt: What it was trained on, where that is known.
    """

    def __init__(
        self,
        text: TextEncoder,
        rule: Subsumption | None,
        texts: Mapping[str, Any],
        *,
        adapter: Path | None = None,
        base: str = DEFAULT_ENCODER,
        learnt: Learnt | None = None,
    ) -> None:
        self.text = text
        self.rule = rule
        self.texts = dict(texts)
        self.adapter = adapter
        self.base = base
        self.learnt = learnt

    @staticmethod
    def is_at(folder: Path) -> bool:
        """Tell whether a folder holds one."""
        return (folder / HIERARCHY / "config.json").exists()

    @classmethod
    def load(cls, folder: Path = DEFAULT_HIT, device: str = "auto", *, base: Path | None = None) -> HiT:
        """Load a folder that :meth:`save` wrote, or a public HiT checkpoint (a sentence-transformers folder).

        Args:
            folder: The encoder's folder.
            device: Where it computes.
            base: Folder of the text encoder that an adapter is for, if it is neither in ``folder`` nor found by its name.

        Raises:
            EncoderError: If the folder holds none or a damaged one, or an adapter's text encoder is not the right one.
        """
        if not cls.is_at(folder):
            return cls(TextEncoder(locate(str(folder)), device, unit=False), None, {})
        path = folder / HIERARCHY / "config.json"
        try:
            config = settings_from(_Config, json.loads(path.read_text(encoding="utf-8")), str(path))
            rule = None if config.rule is None else settings_from(Subsumption, config.rule, str(path))
            texts = dict(config.texts)
            learnt = None if config.learnt is None else settings_from(Learnt, config.learnt, str(path))
        except (OSError, ValueError, TypeError, SettingsError) as error:
            raise EncoderError(f"{path}: expected the settings of a HiT encoder, found others: {error}") from error
        if config.base is None:
            return cls(TextEncoder(folder, device, unit=False), rule, texts, learnt=learnt)
        if (folder / "config.json").exists():
            base = folder
        elif base is None:
            base = locate(config.base)
        if weights_hash(base) != config.base_weights:
            raise EncoderError(f"{folder}: an adapter for another text encoder than the one in {base} ({config.base})")
        own = folder / HIERARCHY
        text = TextEncoder(base, device, unit=False, adapter=own, max_tokens=config.max_tokens)
        return cls(text, rule, texts, adapter=own, base=config.base, learnt=learnt)

    def save(self, folder: Path) -> None:
        """Write the encoder: the whole, or an adapter and the name of its text encoder."""
        if self.adapter is None and folder.resolve() != self.text.folder.resolve():
            self.text.save(folder)
        self.save_own(folder)

    def save_own(self, folder: Path) -> None:
        """Write what is not the text encoder: the rule, how texts are built, and the adapter."""
        own = folder / HIERARCHY
        own.mkdir(parents=True, exist_ok=True)
        rule = None if self.rule is None else asdict(self.rule)
        config = _Config(rule, self.texts, learnt=None if self.learnt is None else asdict(self.learnt))
        if self.adapter is not None:
            weights = weights_hash(self.text.folder)
            config = replace(config, base=self.base, base_weights=weights, max_tokens=self.text.max_tokens)
        (own / "config.json").write_text(json.dumps(asdict(config), indent=1), encoding="utf-8")
        if self.adapter is not None and self.adapter.resolve() != own.resolve():
            for name in ADAPTER_FILES:
                shutil.copyfile(self.adapter / name, own / name)

    @property
    def dim(self) -> int:
        """Dimension of the ball."""
        return self.text.dim

    @property
    def c(self) -> float:
        """The ball's curvature is -c."""
        return curvature(self.dim)

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the weights, the adapter's among them, and of where texts are cut, not of the rule (hex, 128 bits)."""
        digest = hashlib.blake2b(self.text.fingerprint.encode(), digest_size=16)
        if self.adapter is not None:
            for name in ADAPTER_FILES:
                digest.update((self.adapter / name).read_bytes())
        if self.text.max_tokens is not None:
            digest.update(f"{self.text.max_tokens} tokens".encode())
        return digest.hexdigest()

    def points(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return points of the ball, ``float32`` of shape (texts, dim)."""
        return np.asarray(clip(self.text.encode(texts), self.c), dtype=np.float32)

    def items(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return lifted points (:func:`~ontodex.geometry.poincare.lift_items`), ``float32`` of shape (texts, dim + 1)."""
        return self.lifted(self.text.encode(texts))

    def lifted(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Lift pooled vectors of shape (n, dim) to ``float32`` of shape (n, dim + 1)."""
        return np.asarray(lift_items(clip(vectors.astype(np.float64), self.c), self.c), dtype=np.float32)
