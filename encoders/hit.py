"""HiT: a text encoder with points of a Poincaré ball as vectors, general texts near the origin."""

from __future__ import annotations

import copy
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
"""The encoder of the package: an adapter of all-MiniLM-L6-v2, trained on WordNet's nouns."""


@dataclass(frozen=True)
class Learnt:
    """The training data of an encoder.

    Attributes:
        links: Hash of the links of the full hierarchy, as pairs of texts; see
            :func:`~ontodex.trainers.data.subsumptions.links_fingerprint`.
        task: ``"multi-hop"`` if every link was in the training data, ``"mixed-hop"`` if a share of
            the links was held out.
        seed: Seed of the choice of held-out links.
        held_out: Share of the links that was held out, from 0 to 1.
    """

    links: str
    task: str
    seed: int
    held_out: float


@dataclass(frozen=True, kw_only=True)
class _Config(Base):
    """Contents of ``hit/config.json``, besides the base model of an adapter.

    Attributes:
        rule: Fields of the :class:`~ontodex.geometry.subsumption.Subsumption` that was fitted on
            validation data; ``None`` without one.
        texts: Fields of the ``ontodex.TextSettings`` of training.
        learnt: Fields of :class:`Learnt`; ``None`` if the training data are unknown.
    """

    rule: dict[str, float] | None
    texts: dict[str, Any] = field(default_factory=dict)
    learnt: dict[str, Any] | None = None


class HiT(Adapted):
    """A hierarchy transformer (He et al., NeurIPS 2024).

    Mean-pooled vectors are points of a Poincaré ball. Created by :meth:`load`, or by
    :func:`ontodex.trainers.hierarchies.hit.train_hit`.

    Args:
        text: The text encoder, which makes pooled vectors.
        rule: Decides whether an entity is subsumed by another; ``None`` for a public checkpoint,
            for which no rule has been fitted.
        texts: How an entity's text is built (the fields of ``ontodex.TextSettings``).
        adapter: Folder of the LoRA adapter that ``text`` was loaded with; ``None`` without one.
        base: Name of the base model, by which :func:`~ontodex.encoders.locate.locate` finds it.
        learnt: The training data; ``None`` if they are unknown.
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
        cls,
        folder: Path = DEFAULT_HIT,
        device: str = "auto",
        *,
        base: Path | None = None,
        unchanged: bool = False,
    ) -> HiT:
        """Load a folder that :meth:`save` wrote, or a public HiT checkpoint.

        A public checkpoint is a sentence-transformers folder; the encoder has no rule.

        Args:
            folder: The encoder's folder.
            device: Device to compute on.
            base: Folder of the base model of an adapter, if it is neither in ``folder`` nor found
                by its name.
            unchanged: See :meth:`Base.load <ontodex.encoders.adapted.Base.load>`.

        Raises:
            EncoderError: If the folder holds no HiT encoder or a damaged one, or if the text
                encoder is not the base model of the adapter.
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
        text, adapter = config.load(folder, HIERARCHY, device, base, unchanged=unchanged)
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
        """Write the rule, the settings of texts, and the adapter if there is one."""
        own = folder / HIERARCHY
        base = self.save_adapter(own)
        rule = None if self.rule is None else asdict(self.rule)
        learnt = None if self.learnt is None else asdict(self.learnt)
        config = _Config(rule=rule, texts=self.texts, learnt=learnt, **asdict(base))
        (own / "config.json").write_text(json.dumps(asdict(config), indent=1), encoding="utf-8")

    def with_rule(self, rule: Subsumption) -> HiT:
        """Return the same encoder with another rule."""
        made = copy.copy(self)
        made.rule = rule
        return made

    @property
    def c(self) -> float:
        """Parameter c of the ball, whose curvature is -c."""
        return curvature(self.dim)

    @property
    def width(self) -> int:
        """Dimension of a lifted point, one more than that of the ball."""
        return self.dim + 1

    def points(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the points of texts in the ball, ``float32`` of shape (texts, dim)."""
        return np.asarray(clip(self.text.encode(texts), self.c), dtype=np.float32)

    def items(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the lifted points of texts, ``float32`` of shape (texts, dim + 1).

        See :func:`~ontodex.geometry.poincare.lift_items`.
        """
        return self.stored(self.text.encode(texts))

    def stored(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the lifted points of pooled vectors, ``float32`` of shape (n, dim + 1).

        Args:
            vectors: Pooled vectors of shape (n, dim).
        """
        return np.asarray(
            lift_items(clip(vectors.astype(np.float64), self.c), self.c), dtype=np.float32
        )
