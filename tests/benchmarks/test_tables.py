"""The README of the benchmarks is what the records say, and the records are whole."""

from __future__ import annotations

import json

import pytest

from benchmarks.record import KEYS, RESULTS, Goal, Measured, flat, make_record, write_record
from benchmarks.reliability import NAME, PAGE, TRIED, page
from benchmarks.tables import README, read_records, readme, write_readme

RECORDS = sorted(RESULTS.glob("*.json"))


def test_readme_is_generated() -> None:
    assert README.read_text(encoding="utf-8") == readme(read_records()), (
        "run python -m benchmarks tables"
    )


def test_the_promise_says_what_the_record_says() -> None:
    record = next(one for one in read_records() if one["name"] == NAME)
    assert set(record["figures"]) == set(TRIED), "run `make torture`"
    assert PAGE.read_text(encoding="utf-8") == page(record), "run python -m benchmarks tables"


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_records_are_whole(path) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))
    assert set(record) == set(KEYS)
    assert record["name"] == path.stem
    assert record["command"].startswith("python -m benchmarks ")
    assert len(record["commit"]) == 40
    values = flat(record["figures"])
    assert all(isinstance(value, int | float | str) for value in values.values())
    for name, goal in record["goals"].items():
        wanted = Goal(goal.get("at_most"), goal.get("at_least"))
        assert goal["met"] == wanted.met(values[name]), name


def test_a_record_becomes_a_section(tmp_path) -> None:
    measured = Measured(
        name="made-up",
        title="Made up",
        figures={"batch 64": {"ratio": 1.2, "ms": 1234.5}, "recall": 0.99951},
        goals={"batch 64 · ratio": Goal(at_most=1.15), "recall": Goal(at_least=0.999)},
        notes=["A note."],
    )
    record = make_record(measured, "python -m benchmarks made-up")
    assert set(record) == set(KEYS)
    write_record(record, tmp_path)
    text = write_readme(tmp_path, tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| batch 64 · ratio | 1.2 | ≤ 1.15 | **missed** |" in text
    assert "| batch 64 · ms | 1,234 | | |" in text
    assert "| recall | 0.99951 | ≥ 0.999 | met |" in text
    assert "`python -m benchmarks made-up`" in text


def test_a_record_of_some_rows_does_not_replace_one_of_all(tmp_path) -> None:
    def write(*rows: str) -> str:
        figures = {"share": 0.5, **{row: {"mrr": 0.5} for row in rows}}
        return write_record(
            make_record(Measured("made-up", "Made up", figures=figures), "…"), tmp_path
        ).name

    assert [write("hyper"), write("hyper", "concat")] == ["made-up.json"] * 2
    assert write("concat") == "made-up-part.json"
    assert [(record["name"], len(record["figures"])) for record in read_records(tmp_path)] == [
        ("made-up-part", 2),
        ("made-up", 3),
    ]
    assert write("concat", "hyper") == "made-up.json"


def test_a_goal_of_nothing_is_refused() -> None:
    with pytest.raises(KeyError, match="recall"):
        make_record(
            Measured(name="x", title="X", goals={"recall": Goal(at_least=1)}),
            "python -m benchmarks x",
        )
