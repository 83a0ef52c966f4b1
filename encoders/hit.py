"""HiT: a text encoder whose vectors are points of a Poincaré ball, general texts near its origin."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.adapted import Adapted, Base
from ontodex.encoders.locate import DEFAULT_ENCODER, HIERARCHY, locate
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
        links: :func:`~ontodex.trainers.data.subsumptions.links_fingerprint` of the whole hierarchy, through its texts.
        task: ``"multi-hop"``: every link; ``"mixed-hop"``: all but a share of the links.
        seed: Seed of what was held out.
        held_out: That share.
    """

    links: str
    task: str
    seed: int
    held_out: float


@dataclass(frozen=True, kw_only=True)
class _Config(Base):
    """What ``hit/config.json`` holds, besides what an adapter is for.

    Attributes:
        rule: The fields of the :class:`~ontodex.geometry.subsumption.Subsumption` found on validation.
        texts: The fields of ``ontodex.TextSettings`` that training used.
        learnt: The fields of :class:`Learnt`, where it is known.
    """

    rule: dict[str, float] | None
    texts: dict[str, Any] = field(default_factory=dict)
    learnt: dict[str, Any] | None = None


class HiT(Adapted):
    """A hierarchy transformer (He et al., NeurIPS 2024): mean-pooled vectors, read as points of a Poincaré ball.

    Made by :meth:`load`, or by :func:`ontodex.trainers.hierarchies.hit.train_hit`.

    Args:
        text: Makes the pooled vectors.
        rule: When a text counts as below another; ``None`` for a public checkpoint, until one is fitted.
        texts: How an entity's text is built (the fields of ``ontodex.TextSettings``).
        adapter: Folder of the LoRA adapter that ``text`` has been given, if it has.
        base: Name under which the text encoder is found, without its adapter.
        learnt: What it was trained on, where that is known.
        seen: Names of the graphs that it was trained on.
    """

    FOLDER = HIERARCHY

    def __init__(
        self,
        text: TextEncoder,
        rule: Subsumption | None,
        texts: Mapping[str, Any],
        *,
        adapter: Path | None = None,
        base: str = DEFAULT_ENCODER,
        learnt: Learnt | None = None,
        seen: Sequence[str] = (),
    ) -> None:
        super().__init__(text, adapter, base, seen)
        self.rule = rule
        self.texts = dict(texts)
        self.learnt = learnt

    @classmethod
    def load(
        cls, folder: Path = DEFAULT_HIT, device: str = "auto", *, base: Path | None = None
    ) -> HiT:
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
            rule = (
                None if config.rule is None else settings_from(Subsumption, config.rule, str(path))
            )
            texts = dict(config.texts)
            learnt = (
                None if config.learnt is None else settings_from(Learnt, config.learnt, str(path))
            )
        except (OSError, ValueError, TypeError, SettingsError) as error:
            raise EncoderError(
                f"{path}: expected the settings of a HiT encoder, found others: {error}"
            ) from error
        text, adapter = config.load(folder, HIERARCHY, device, base)
        return cls(
            text,
            rule,
            texts,
            adapter=adapter,
            base=config.base or DEFAULT_ENCODER,
            learnt=learnt,
            seen=config.seen,
        )

    def save_own(self, folder: Path) -> None:
        """Write what is not the text encoder: the rule, how texts are built, and the adapter."""
        own = folder / HIERARCHY
        base = self.save_adapter(own)
        rule = None if self.rule is None else asdict(self.rule)
        learnt = None if self.learnt is None else asdict(self.learnt)
        config = _Config(rule=rule, texts=self.texts, learnt=learnt, **asdict(base))
        (own / "config.json").write_text(json.dumps(asdict(config), indent=1), encoding="utf-8")

    @property
    def c(self) -> float:
        """The ball's curvature is -c."""
        return curvature(self.dim)

    @property
    def width(self) -> int:
        """A lifted point has one number more than the ball has dimensions."""
        return self.dim + 1

    def points(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return points of the ball, ``float32`` of shape (texts, dim)."""
        return np.asarray(clip(self.text.encode(texts), self.c), dtype=np.float32)

    def items(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return lifted points (:func:`~ontodex.geometry.poincare.lift_items`), ``float32`` of shape (texts, dim + 1)."""
        return self.stored(self.text.encode(texts))

    def stored(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Lift pooled vectors of shape (n, dim) to ``float32`` of shape (n, dim + 1)."""
        return np.asarray(
            lift_items(clip(vectors.astype(np.float64), self.c), self.c), dtype=np.float32
        )
