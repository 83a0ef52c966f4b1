from __future__ import annotations

from tests.reliability.report import PAGE, ROWS, load, render


def test_the_page_says_what_the_record_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(load()), "run `python -m tests.reliability.report`"


def test_everything_was_tried_at_full_length() -> None:
    assert {name for name, _ in ROWS} <= load().keys(), "run `make torture`"
