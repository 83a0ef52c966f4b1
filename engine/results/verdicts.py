"""Answers about entailment: whether one text entails another."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from ontodex.engine.results.hits import Resolution
from ontodex.engine.results.printable import json_text, printable
from ontodex.errors import LookupFailed

__all__ = ["Direction", "Verdict"]


@dataclass(frozen=True)
class Verdict:
    """Whether a premise entails a hypothesis.

    Attributes:
        premise: Resolution of the premise.
        hypothesis: Resolution of the hypothesis.
        similarity: GaussCSE's similarity of the hypothesis to the premise, in (0, 1].
        probability: Probability of entailment, calibrated on the validation pairs of the encoder:
            by the cross-encoder that reads both texts, or by the similarity if there is none.
        entailed: Whether the premise entails the hypothesis: always if the graph asserts it
            (:attr:`known`); otherwise if the probability is above one half, or, if there is no
            cross-encoder, the similarity above its threshold.
        known: Whether the graph asserts that the premise is a kind of the hypothesis.
        error: In a batch, the error if a text is an unknown id; otherwise ``None``. With an error,
            similarity and probability are NaN.
    """

    premise: Resolution
    hypothesis: Resolution
    similarity: float
    probability: float
    entailed: bool
    known: bool
    error: LookupFailed | None = None

    @classmethod
    def failed(cls, pair: tuple[str, str], error: LookupFailed) -> Verdict:
        """Return the answer to a (premise, hypothesis) pair that could not be resolved."""
        premise, hypothesis = map(Resolution.unresolved, pair)
        return cls(premise, hypothesis, math.nan, math.nan, False, False, error)

    def __str__(self) -> str:
        if self.error is not None:
            return printable(f"{self.premise} and {self.hypothesis}: error: {self.error}")
        verb = "entails" if self.entailed else "does not entail"
        judged = f"p={self.probability:.2f}, similarity {self.similarity:.4f}"
        if self.known:
            verb, judged = "entails (asserted in the graph)", f"by the texts alone {judged}"
        return printable(f"{self.premise} {verb} {self.hypothesis}: {judged}")

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as plain data; with an error, only the texts and the error."""
        if self.error is None:
            return {name: value for name, value in asdict(self).items() if name != "error"}
        texts = {name: asdict(getattr(self, name)) for name in ("premise", "hypothesis")}
        return {**texts, "error": str(self.error)}

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json_text(self.to_dict())


@dataclass(frozen=True)
class Direction:
    """Entailment between two texts in both directions.

    Attributes:
        forward: Whether the first entails the second.
        backward: Whether the second entails the first.
        difference: Log odds that the first entails the second, less those of the reverse: the sum
            of what the cross-encoder and GaussCSE say, or GaussCSE's alone if there is no
            cross-encoder.
    """

    forward: Verdict
    backward: Verdict
    difference: float

    @classmethod
    def failed(cls, pair: tuple[str, str], error: LookupFailed) -> Direction:
        """Return the answer to a pair of texts that could not be resolved."""
        return cls(Verdict.failed(pair, error), Verdict.failed(pair[::-1], error), math.nan)

    @property
    def error(self) -> LookupFailed | None:
        """In a batch, the error if a text is an unknown id; otherwise ``None``."""
        return self.forward.error

    @property
    def direction(self) -> str:
        """``"forward"`` or ``"backward"``, whichever is likelier by the sign of :attr:`difference`.

        Perhaps neither text entails the other, or each does: see the two verdicts.
        It is ``"equal"`` if there is no difference, and ``"unresolved"`` if there is an error.
        """
        if self.error is not None:
            return "unresolved"
        if not self.difference:
            return "equal"
        return "forward" if self.difference > 0 else "backward"

    def __str__(self) -> str:
        if self.error is not None:
            return str(self.forward)
        return f"{self._headline}\n  {self.forward}\n  {self.backward}"

    @property
    def _headline(self) -> str:
        """What both verdicts say, and which direction is likelier if that says something else."""
        likelier = "equally likely" if self.direction == "equal" else f"likelier {self.direction}"
        likelier += " by p and similarity"
        if self.forward.entailed == self.backward.entailed:
            said = "each entails" if self.forward.entailed else "neither entails"
            return f"{said} the other; {likelier}"
        said = "forward" if self.forward.entailed else "backward"
        return said if said == self.direction else f"{said}; {likelier}"

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as plain data; with an error, only the texts and the error."""
        if self.error is not None:
            return self.forward.to_dict()
        return {
            "direction": self.direction,
            "forward": self.forward.to_dict(),
            "backward": self.backward.to_dict(),
        }

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json_text(self.to_dict())
