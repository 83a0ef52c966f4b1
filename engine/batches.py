"""Batches of questions: each gets an answer, or an error if it has an unknown name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from ontodex.errors import LookupFailed

__all__ = ["answer_each", "single"]


class Answered(Protocol):
    """An answer that holds an error if its question could not be resolved."""

    @property
    def error(self) -> LookupFailed | None: ...


Q = TypeVar("Q")
A = TypeVar("A", bound=Answered)


def answer_each(
    ask: Callable[[list[Q]], list[A]],
    questions: Sequence[Q],
    failed: Callable[[Q, LookupFailed], A],
) -> list[A]:
    """Answer a batch of questions; an unknown entity or relation in one does not stop the others.

    The questions are asked together. If that fails, each half is asked separately, and so on until
    every faulty question is alone. Names are resolved before anything is computed, so failures cost
    little.

    Args:
        ask: Answers questions together; raises :class:`~ontodex.errors.LookupFailed` if a name in
            one of the questions cannot be resolved.
        questions: The questions.
        failed: Makes the answer to a question that could not be resolved, from its error.
    """
    try:
        return ask(list(questions))
    except LookupFailed as error:
        if len(questions) == 1:
            return [failed(questions[0], error)]
    half = len(questions) // 2
    parts = questions[:half], questions[half:]
    return [answer for part in parts for answer in answer_each(ask, part, failed)]


def single(answers: list[A]) -> A:
    """Return the only answer of a batch.

    Raises:
        LookupFailed: If the question could not be resolved.
    """
    (answer,) = answers
    if answer.error is not None:
        raise answer.error
    return answer
