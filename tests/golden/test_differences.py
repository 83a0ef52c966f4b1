"""The comparison of two sets of answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.differences import differences


def answer(*hits: tuple[str, float], method: str = "cosine") -> dict[str, Any]:
    return {"method": method, "hits": [{"id": name, "score": score} for name, score in hits]}


BEFORE = answer(("ex:a", 0.5), ("ex:b", 0.25))


@pytest.mark.parametrize(
    ("after", "where"),
    [
        (answer(("ex:a", 0.5 + 9e-7), ("ex:b", 0.25)), []),
        (answer(("ex:a", 0.5 + 2e-6), ("ex:b", 0.25)), ["hits > 0 > score"]),
        (answer(("ex:b", 0.5), ("ex:a", 0.25)), ["hits > ids and order"]),
        (answer(("ex:a", 0.5)), ["hits > ids and order"]),
        (answer(("ex:a", 0.5), ("ex:b", 0.25), method="other"), ["method"]),
        ({**BEFORE, "known": True}, ["known"]),
        ({"error": "SettingsError"}, ["method", "hits", "error"]),
    ],
)
def test_what_is_not_the_same_is_found(after, where):
    assert [" > ".join(one.where) for one in differences(BEFORE, after, 1e-6)] == where


@pytest.mark.parametrize(
    ("before", "after", "is_found"),
    [
        (1, 1.0, True),
        (True, 1, True),
        (float("nan"), float("nan"), False),
        ("score 0.123456", "score 0.123457", False),
        ("score 0.123456", "score 0.123459", True),
        ("3 faults", "4 faults", True),
        (["a", "b"], ["a"], True),
        (None, [], True),
    ],
)
def test_values_and_numbers_within_texts(before, after, is_found):
    assert bool([*differences(before, after, 1e-6)]) is is_found


def test_differences_of_prose_are_distinguished():
    assert next(
        differences(BEFORE, answer(("ex:a", 0.5), ("ex:b", 0.25), method="x"), 1e-6)
    ).is_wording
    assert not next(differences(BEFORE, answer(("ex:b", 0.5), ("ex:a", 0.25)), 1e-6)).is_wording
    assert not next(differences({"message": "x"}, {}, 1e-6)).is_wording
