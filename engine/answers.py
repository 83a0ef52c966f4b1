"""Helpers of all query functions: they make answers from rows and scores."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.resolve import ResolvedTerm
from ontodex.engine.results.hits import NONE_LEFT_OUT, Hit, Hits, KnownLeftOut, Resolution
from ontodex.errors import expect_count
from ontodex.graph import KnowledgeGraph

if TYPE_CHECKING:
    from ontodex.encoders.text import TextEncoder
    from ontodex.engine.results.placements import Placements

__all__ = [
    "Answer",
    "Rows",
    "Scored",
    "answered",
    "checked",
    "hits_of",
    "left_out",
    "milliseconds",
    "no_rows",
    "own_row",
    "with_cuts",
]

Resolved = TypeVar("Resolved", Hits, "Placements")
Rows = NDArray[np.int64]
Scored = tuple[Rows, NDArray[np.float64]]
"""Rows of entities and their scores, both of shape (n,)."""


@dataclass(frozen=True)
class Answer:
    """The answer to one question of a batch.

    Attributes:
        hits: The hits, best first.
        resolutions: The resolution of each part of the question, by the name of the part.
        method: Name of the score.
        known_left_out: The known answers that were excluded from the hits.
    """

    hits: tuple[Hit, ...] = ()
    resolutions: dict[str, Resolution] = field(default_factory=dict)
    method: str = ""
    known_left_out: KnownLeftOut = NONE_LEFT_OUT


def no_rows() -> Rows:
    """Return an empty array of rows."""
    return np.zeros(0, dtype=np.int64)


def own_row(one: ResolvedTerm) -> Rows:
    """Return the row of an entity as an array of shape (1,); for free text, an empty array."""
    return no_rows() if one.row is None else np.array([one.row], dtype=np.int64)


def checked(k: Any) -> int:
    """Check a number of answers, and return it as an ``int``.

    Raises:
        SettingsError: If ``k`` is not an integer of at least 1.
    """
    return expect_count("k", k, 1)


def hits_of(
    graph: KnowledgeGraph,
    scored: Scored,
    known: Rows,
    probabilities: NDArray[np.float64] | None = None,
) -> tuple[Hit, ...]:
    """Return entities as hits.

    Args:
        graph: Graph of the entities.
        scored: Rows and scores of the entities.
        known: Rows of known answers.
        probabilities: Probability of each entity; ``None`` for hits without probabilities. Hits of
            known answers never have a probability.
    """
    rows, scores = scored
    values = [None] * len(rows) if probabilities is None else probabilities.tolist()
    marked = np.isin(rows, known).tolist()
    return tuple(
        Hit(graph.ids[row], graph.labels[row], score, mark, None if mark else probability)
        for row, score, mark, probability in zip(
            rows.tolist(), scores.tolist(), marked, values, strict=True
        )
    )


def milliseconds(start: float, questions: int) -> float:
    """Return the time since ``start``, divided by the number of questions, in milliseconds."""
    return (time.perf_counter() - start) * 1000 / max(1, questions)


def answered(
    graph: KnowledgeGraph, question: str, answers: Sequence[Answer], start: float
) -> list[Hits]:
    """Return the answers to a batch of questions as :class:`Hits`.

    Args:
        graph: Graph of the index.
        question: Kind of question, such as ``"tails"``.
        answers: An answer to each question.
        start: Time at which the batch was asked, by ``time.perf_counter``.
    """
    took = milliseconds(start, len(answers))
    return [
        Hits(
            one.hits,
            question,
            one.resolutions,
            one.method,
            took,
            graph,
            known_left_out=one.known_left_out,
        )
        for one in answers
    ]


SHORT = 60
"""Number of characters of a text that no encoder cuts."""


def with_cuts(found: Sequence[Resolved], encoder: Callable[[], TextEncoder]) -> list[Resolved]:
    """Say in the resolutions which free texts are longer than what an encoder reads.

    Args:
        found: The answers.
        encoder: Loads the encoder that the answers depend on; called only if a text may be cut.
    """
    texts = list(
        dict.fromkeys(
            one.text
            for answer in found
            for one in answer.resolutions.values()
            if one.id is None and len(one.text) > SHORT
        )
    )
    if not texts:
        return list(found)
    reader = encoder()
    lengths = {texts[at]: length for at, length in reader.cut(texts)}

    def noted(one: Resolution) -> Resolution:
        if one.id is not None or one.text not in lengths:
            return one
        hint = f"; only the first {reader.longest} of its {lengths[one.text]:,} tokens are read"
        return replace(one, hint=one.hint + hint)

    return [
        replace(answer, resolutions={role: noted(one) for role, one in answer.resolutions.items()})
        for answer in found
    ]


EXAMPLES = 3
"""Number of left-out known answers that are named."""


def left_out(labels: Sequence[str], rows: Rows, known: str) -> KnownLeftOut:
    """Return the known answers that an answer leaves out.

    Args:
        labels: Labels by row.
        rows: Rows of the known answers.
        known: ``"exclude"`` if known answers are left out; with any other value, none are.
    """
    if known != "exclude":
        return NONE_LEFT_OUT
    named = tuple(labels[row] for row in rows[:EXAMPLES].tolist())
    return KnownLeftOut(len(rows), named)
