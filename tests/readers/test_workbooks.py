"""Workbooks of Excel."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says

GOODS = [
    ["Goods of 2026"],
    [],
    ["product_id", "name", "kind", "brand_id", "since"],
    [1, "Drill", "Tools > Drills", 1, datetime.datetime(2026, 1, 2)],
    [2, "Saw", "Tools > Saws", 2, datetime.datetime(2026, 1, 3)],
    [3, "Awl", "Tools > Saws", 1, datetime.datetime(2026, 1, 4)],
]
BRANDS = [
    ["id", "name", "country"],
    [1, "Bolt", "Malta"],
    [2, "Axe & Co", "Malta"],
    [3, "Zip", "Samoa"],
]


@pytest.fixture
def workbook(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes sheets, and returns the path of the workbook."""

    def written(hidden: Sequence[str] = (), **sheets: Sequence[Sequence[Any]]) -> Path:
        book = openpyxl.Workbook()
        book.remove(book.active)
        for name, rows in sheets.items():
            sheet = book.create_sheet(name)
            sheet.sheet_state = "hidden" if name in hidden else "visible"
            for row in rows:
                sheet.append(row)
        path = tmp_path / "a.xlsx"
        book.save(path)
        return path

    return written


@pytest.mark.filterwarnings("ignore:.*left out since")
def test_sheets_are_the_tables_of_a_database(workbook) -> None:
    with pytest.warns(ReadWarning, match=r"read as products:…, brands:…"):
        graph = read(
            workbook(
                products=GOODS,
                brands=BRANDS,
                lists=[["id", "name"], [1, "hidden"]],
                hidden=["lists"],
            )
        )
    said = says(graph)
    assert {("products:2", "brand_id", "brands:2"), ("products:2", "kind", "Tools > Saws")} <= said[
        "known"
    ]
    assert {("Tools > Saws", "is_a", "Tools"), ("brands:1", "country", "Malta")} <= said["known"]
    assert said["entities"]["brands:2"][0] == "Axe & Co"
    assert "hidden" not in {label for label, *_ in said["entities"].values()}


@pytest.mark.parametrize(
    "rows",
    [
        [["Level 1", "Level 2"], ["Pets", None], [None, "Dogs"], [None, "Cats"]],
        [["Pets"], ["Pets > Dogs"], ["Pets > Cats"]],
        [["child", "parent"], ["Pets > Dogs", "Pets"], ["Pets > Cats", "Pets"]],
        [["Pets > Dogs", "is_a", "Pets"], ["Pets > Cats", "is_a", "Pets"]],
    ],
)
def test_rows_are_read_as_those_of_a_text(workbook, rows: list[list[str]]) -> None:
    found = read(workbook(pets=rows), on_error="raise")
    assert says(found)["known"] == {
        ("Pets > Dogs", "is_a", "Pets"),
        ("Pets > Cats", "is_a", "Pets"),
    }


def test_workbooks_in_a_folder_stand_for_their_sheets(workbook, write) -> None:
    path = workbook(brands=BRANDS)
    write("more.csv", "id,name,country\n4,Nut,Malta\n5,Bolt,Malta\n")
    assert len(says(read(path.parent, on_error="raise"))["known"]) == 5


def test_a_sheet_that_is_no_table_is_left_out(workbook) -> None:
    with pytest.warns(ReadWarning, match="left out a table that cannot be read"):
        graph = read(workbook(brands=BRANDS, about=[["Ask Ann."], ["She knows."]]))
    assert graph.n_triples == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04" + bytes(100), "a damaged archive, or a document of an office"),
        (b"\xd0\xcf\x11\xe0" + bytes(100), "a workbook of an old Excel"),
        (
            {"content.xml": b"<a/>", "mimetype": b""},
            "a damaged archive, or a document of an office",
        ),
        ({"xl/workbook.xml": b"<workbook/>"}, "expected a workbook, found a fault"),
        ({"xl/workbook.xml": b"<!DOCTYPE workbook []><workbook/>"}, "without a DOCTYPE"),
        ({"xl/workbook.xml": b"<workbook/>", "xl/large.xml": bytes(1 << 24)}, "grows beyond"),
    ],
)
def test_what_is_no_workbook_is_refused(write, content: Any, message: str) -> None:
    if isinstance(content, dict):
        stream = BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in content.items():
                archive.writestr(name, part)
        content = stream.getvalue()
    with pytest.raises(ReadError, match=message):
        read(write("a.xlsx", content))


def test_what_holds_nothing_is_refused(workbook) -> None:
    with pytest.raises(ReadError, match="expected a workbook with a table"):
        read(workbook(empty=[]))
    path = workbook(wide=[["x"] * 10_000, *([["x"]] * 1000)])
    with pytest.raises(ReadError, match="cells wide"):
        read(path)


def test_a_damaged_workbook_is_refused(workbook) -> None:
    path = workbook(brands=BRANDS)
    content = path.read_bytes()
    path.write_bytes(content[:200] + bytes(200) + content[400:])
    with pytest.raises(ReadError, match="expected a workbook"):
        read(path)
