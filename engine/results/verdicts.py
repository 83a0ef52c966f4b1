"""Answers about entailment: whether one text entails another."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ontodex.engine.results.hits import Resolution
from ontodex.engine.results.printable import json_text, printable

__all__ = ["Direction", "Verdict"]


@dataclass(frozen=True)
class Verdict:
    """Whether a premise entails a hypothesis.

    Attributes:
        premise: Resolution of the premise.
        hypothesis: Resolution of the hypothesis.
        similarity: Similarity of the hypothesis to the premise, in (0, 1].
        probability: Probability of entailment, calibrated on the validation pairs of the encoder.
        entailed: Whether the similarity is above the encoder's threshold.
        known: Whether the graph asserts that the premise is a kind of the hypothesis.
    """

    premise: Resolution
    hypothesis: Resolution
    similarity: float
    probability: float
    entailed: bool
    known: bool

    def __str__(self) -> str:
        verb = "entails" if self.entailed else "does not entail"
        return printable(
            f"{self.premise} {verb} {self.hypothesis}: p={self.probability:.2f}, "
            f"similarity {self.similarity:.4f}{'; asserted in the graph' if self.known else ''}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as plain data."""
        return asdict(self)

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json_text(self.to_dict())


@dataclass(frozen=True)
class Direction:
    """Both directions between two texts.

    Attributes:
        forward: Whether the first entails the second.
        backward: Whether the second entails the first.
    """

    forward: Verdict
    backward: Verdict

    @property
    def direction(self) -> str:
        """``"forward"`` or ``"backward"`` by the larger similarity; ``"equal"`` for equal ones."""
        difference = self.forward.similarity - self.backward.similarity
        return "equal" if not difference else "forward" if difference > 0 else "backward"

    def __str__(self) -> str:
        return f"{self.direction}\n  {self.forward}\n  {self.backward}"

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as plain data."""
        return {
            "direction": self.direction,
            "forward": self.forward.to_dict(),
            "backward": self.backward.to_dict(),
        }

    def to_json(self) -> str:
        """Return one line of JSON."""
        return json_text(self.to_dict())
