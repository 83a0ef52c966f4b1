"""Batches of questions: an answer each, with its error in place of one that cannot be given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from ontodex.errors import LookupFailed

__all__ = ["answer_each", "single"]


class Answered(Protocol):
    """An answer, or the error in its place."""

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

    The questions are asked together. If that fails, halves are asked, until the questions at fault
    are alone: names are resolved before anything is computed, so failures cost little.

    Args:
        ask: Answers questions together; raises :class:`~ontodex.errors.LookupFailed` if it cannot
            resolve a name of one of them.
        questions: The questions.
        failed: Makes the answer to a question that has an error.
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
