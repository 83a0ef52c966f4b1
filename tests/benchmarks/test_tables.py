"""Pages of the benchmarks are generated from complete records."""

from __future__ import annotations

import json

import pytest

from benchmarks.__main__ import BENCHMARKS
from benchmarks.record import (
    KEYS,
    OPTIONAL,
    RESULTS,
    Goal,
    Measured,
    flat,
    make_record,
    write_record,
)
from benchmarks.reliability import NAME, PAGE, TRIED, page
from benchmarks.tables import PAGES, page_of, pages, read_records, write_pages
from ontodex.encoders.hit import DEFAULT_HIT, HiT

RECORDS = sorted(RESULTS.glob("*.json"))


def test_every_record_is_on_a_page_and_every_line_of_the_summary_has_its_figure() -> None:
    records = read_records()
    made = pages(records)
    assert set(made) <= {"index", *PAGES}
    assert {name for name in BENCHMARKS if name != "tables"} <= set(PAGES)
    for record in records:
        assert f"## {record['title']}\n" in made[page_of(record["name"])]
    lines = [line for page in PAGES.values() for line in page.lines]
    assert all(f"| [{line.what}](" in made["index"] for line in lines)


def test_a_record_without_a_page_is_an_error() -> None:
    with pytest.raises(KeyError, match="add a page"):
        page_of("made-up")


def test_quoted_figures_are_those_of_the_record() -> None:
    record = next(one for one in read_records() if one["name"] == NAME)
    assert set(record["figures"]) == set(TRIED), "run `make torture`"
    assert PAGE.read_text(encoding="utf-8") == page(record), "run python -m benchmarks tables"


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_records_are_whole(path) -> None:
    record = json.loads(path.read_text(encoding="utf-8"))
    assert set(KEYS) <= set(record) <= {*KEYS, *OPTIONAL}
    assert record["name"] == path.stem
    assert record["command"].startswith("python -m benchmarks ")
    assert len(record["commit"]) == 40
    values = flat(record["figures"])
    assert all(isinstance(value, int | float | str) for value in values.values())
    for name, goal in record["goals"].items():
        wanted = Goal(goal.get("at_most"), goal.get("at_least"))
        assert goal["met"] == wanted.met(values[name]), name


def test_what_the_encoders_have_seen_is_in_the_record_and_on_the_page(tmp_path) -> None:
    seen = {"hit-wordnet": HiT.seen_by(DEFAULT_HIT), "untold": HiT.seen_by(tmp_path)}
    assert seen == {"hit-wordnet": ["WordNet 3.0"], "untold": []}
    measured = Measured(name="hierarchy-made-up", title="Made up", seen=seen)
    record = make_record(measured, "python -m benchmarks hierarchy")
    assert record["seen"] == seen
    text = pages([record])["hierarchy"]
    assert "configuration of hit-wordnet names: WordNet 3.0." in text
    assert "configuration of untold names: none." in text


def test_a_record_becomes_a_section(tmp_path) -> None:
    measured = Measured(
        name="search-made-up",
        title="Made up",
        figures={"batch 64": {"ratio": 1.2, "ms": 1234.5}, "recall": 0.99951},
        goals={"batch 64 · ratio": Goal(at_most=1.15), "recall": Goal(at_least=0.999)},
        notes=["A note."],
    )
    record = make_record(measured, "python -m benchmarks search")
    assert set(record) == set(KEYS)
    write_record(record, tmp_path)
    [_, page] = write_pages(read_records(tmp_path), tmp_path / "site")
    text = page.read_text(encoding="utf-8")
    assert "| batch 64 · ratio | 1.2 | ≤ 1.15 | **missed** |" in text
    assert "| batch 64 · ms | 1,234 | | |" in text
    assert "| recall | 0.99951 | ≥ 0.999 | met |" in text
    assert "`python -m benchmarks search`" in text


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
