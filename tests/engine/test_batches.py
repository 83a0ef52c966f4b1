"""Batches: an answer for each query, or its error where an id is unknown."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import ontodex
from ontodex.engine.batches import answer_each, single
from ontodex.errors import LookupFailed, SettingsError, UnknownEntity, UnknownRelation


@pytest.fixture(scope="module")
def engine(small_index: Path) -> Iterator[ontodex.Engine]:
    with ontodex.open(small_index, device="cpu") as opened:
        yield opened


UNKNOWN = "ex:dgo"
BATCHES = {
    "similar": ["dog", UNKNOWN, "cat"],
    "parents": ["dog", UNKNOWN, "cat"],
    "children": ["animal", UNKNOWN, "tool"],
    "place": ["dog", UNKNOWN, "cat"],
    "entailed_by": ["dog", UNKNOWN, "cat"],
    "entailing": ["animal", UNKNOWN, "tool"],
    "tails": [("dog", "eats"), (UNKNOWN, "eats"), ("cat", "eats")],
    "heads": [("eats", "dog"), ("eats", UNKNOWN), ("eats", "cat")],
    "relations": [("dog", "farm"), ("dog", UNKNOWN), ("cat", "farm")],
    "entails": [("a dog", "an animal"), ("a dog", UNKNOWN), ("a cat", "an animal")],
    "direction": [("a dog", "an animal"), (UNKNOWN, "an animal"), ("a cat", "an animal")],
}


def _plain(answer: object) -> object:
    said = json.loads(answer.to_json())  # type: ignore[attr-defined]
    said.pop("took_ms", None)
    return said


@pytest.mark.parametrize("question", BATCHES)
def test_an_unknown_id_costs_its_own_answer_alone(engine: ontodex.Engine, question: str) -> None:
    questions = BATCHES[question]
    first, failed, last = getattr(engine, f"{question}_batch")(questions)
    assert isinstance(failed.error, UnknownEntity)
    assert "did you mean 'ex:dog'" in str(failed.error)
    assert (first.error, last.error) == (None, None)
    ask = getattr(engine, question)
    for answer, asked in ((first, questions[0]), (last, questions[2])):
        alone = ask(asked) if isinstance(asked, str) else ask(*asked)
        assert _close(_plain(answer), _plain(alone))
    with pytest.raises(UnknownEntity, match="no entity 'ex:dgo'"):
        ask(questions[1]) if isinstance(questions[1], str) else ask(*questions[1])


def _close(one: object, other: object) -> bool:
    """Compare plain data; numbers may differ by the rounding of other matrix shapes."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_close(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_close, one, other))
    return one == pytest.approx(other, abs=1e-5) if isinstance(one, float) else one == other


def test_an_error_is_shown_in_every_output_form(engine: ontodex.Engine) -> None:
    _, hits = engine.tails_batch([("dog", "eats"), (UNKNOWN, "eats")])
    message = str(hits.error)
    assert (len(hits), list(hits)) == (0, [])
    assert str(hits) == (
        f"tails: head = “{UNKNOWN}” (unresolved), relation = “eats” (unresolved)\n"
        f"      error: {message}"
    )
    said = hits.to_dict()
    assert said["error"] == message
    assert said["query"]["head"] == {
        **{"text": UNKNOWN, "kind": "unresolved", "id": None, "label": UNKNOWN},
        **{"hint": "", "inverted": False},
    }
    assert hits.to_tsv().splitlines() == ["id\tlabel\tscore\tknown"]
    with pytest.raises(SettingsError, match="unresolved"):
        _ = hits.triples
    for made in (copy.deepcopy(hits), pickle.loads(pickle.dumps(hits))):
        assert (type(made.error), str(made.error)) == (UnknownEntity, message)
    answered = engine.tails("dog", "eats")
    assert "error" not in answered.to_dict()
    (placements,) = engine.place_batch([UNKNOWN])
    assert (
        str(placements)
        == f"place: text = “{UNKNOWN}” (unresolved)\n      error: {placements.error}"
    )
    assert placements.to_dict()["error"] == str(placements.error)
    (verdict,) = engine.entails_batch([(UNKNOWN, "a dog")])
    assert not verdict.entailed
    assert verdict.to_dict().keys() == {"premise", "hypothesis", "error"}
    assert (
        str(verdict) == f"“{UNKNOWN}” (unresolved) and “a dog” (unresolved): error: {verdict.error}"
    )
    (direction,) = engine.direction_batch([(UNKNOWN, "a dog")])
    assert (direction.direction, direction.to_dict()) == ("unresolved", verdict.to_dict())
    assert str(direction) == str(verdict)
    assert "error" not in engine.entails("a dog", "a dog").to_dict()


def test_unknown_relations_likewise(engine: ontodex.Engine) -> None:
    first, failed = engine.tails_batch([("dog", "eats"), ("dog", "ex:etas")])
    assert first.error is None
    assert isinstance(failed.error, UnknownRelation)


def test_conditions_may_differ_by_query(small_index: Path) -> None:
    with ontodex.open(small_index, device="cpu") as engine:
        first, second, last = engine.similar_batch(
            ["dog", "cat", UNKNOWN], condition=["eats", "ex:etas", "eats"]
        )
        assert first.error is None
        assert isinstance(second.error, UnknownRelation)
        assert isinstance(last.error, UnknownEntity)
        assert second.resolutions["condition"].text == "ex:etas"
        with pytest.raises(UnknownRelation):
            engine.similar_batch(["dog", "cat"], condition="ex:etas")
        first, last = engine.similar_batch(["dog", UNKNOWN], condition="eats")
        assert (first.error, type(last.error)) == (None, UnknownEntity)


def test_batches_of_errors_alone_and_empty_batches(engine: ontodex.Engine) -> None:
    assert all(hits.error for hits in engine.parents_batch([UNKNOWN] * 5))
    assert engine.parents_batch([]) == []


def test_wrong_usage_stops_a_batch(engine: ontodex.Engine) -> None:
    with pytest.raises(SettingsError, match="expected a list of texts"):
        engine.parents_batch("dog")
    with pytest.raises(SettingsError, match="expected a CURIE"):
        engine.parents_batch([UNKNOWN, ""])


def test_queries_without_errors_are_answered_in_one_batch() -> None:
    asked = []

    def ask(questions: list[str]) -> list[SimpleNamespace]:
        asked.append(len(questions))
        if "wrong" in questions:
            raise UnknownEntity("wrong")
        return [SimpleNamespace(text=text, error=None) for text in questions]

    def failed(text: str, error: LookupFailed) -> SimpleNamespace:
        return SimpleNamespace(text=text, error=error)

    batch = [str(number) for number in range(512)]
    batch[300] = "wrong"
    found = answer_each(ask, batch, failed)
    assert [one.text for one in found] == batch
    assert [one.error is not None for one in found] == [text == "wrong" for text in batch]
    assert len(asked) == 1 + 2 * 9
    with pytest.raises(UnknownEntity):
        single(found[300:301])
    assert single(found[:1]).text == "0"
