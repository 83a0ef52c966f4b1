"""Pictures as files: SVG with text, PNG, and labels that do not overlap."""

from __future__ import annotations

import builtins
import struct
import sys
import time
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from ontodex.engine.plotting import labels as picture_labels
from ontodex.engine.plotting.hierarchy import draw_hierarchy, draw_norms
from ontodex.engine.plotting.labels import LabelPlacer, _overlap
from ontodex.errors import SettingsError
from ontodex.graph import Hierarchy

SVG = "{http://www.w3.org/2000/svg}"


def made(links: list[tuple[int, int]], n: int) -> Hierarchy:
    pairs = np.array(links, dtype=np.int32).reshape(-1, 2)
    return Hierarchy(pairs[:, 0], pairs[:, 1], ids=[f"e{row}" for row in range(n)])


def random_tree(n: int, seed: int = 0, spread: int = 12) -> Hierarchy:
    rng = np.random.default_rng(seed)
    return made(
        [(row, int(rng.integers(max(0, row // 2 - spread), row))) for row in range(1, n)], n
    )


def texts(path: Path) -> list[str]:
    return [
        "".join(text.itertext()) for text in ElementTree.parse(path).getroot().iter(f"{SVG}text")
    ]


def titles(path: Path) -> list[str]:
    return [str(title.text) for title in ElementTree.parse(path).getroot().iter(f"{SVG}title")]


def moves(path: Path, group: str) -> int:
    found = ElementTree.parse(path).getroot().find(f".//{SVG}g[@id='{group}']/{SVG}path")
    return 0 if found is None else found.attrib["d"].count("M")


@pytest.fixture
def boxes(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Corners of every label that is written."""
    written: list[np.ndarray] = []
    write = LabelPlacer._write

    def kept(
        self: LabelPlacer, node: int, text: str, size: float, colour: str, bold: bool, *place: Any
    ) -> None:
        written.append(place[0])
        write(self, node, text, size, colour, bold, *place)

    monkeypatch.setattr(picture_labels.LabelPlacer, "_write", kept)
    return written


@pytest.mark.parametrize("seed", range(6))
def test_thirty_labels_all_there_and_apart(
    tmp_path: Path, boxes: list[np.ndarray], seed: int
) -> None:
    labels = [
        f"{row} kinds of disease of the nervous system"[: 10 + row].strip() for row in range(30)
    ]
    hierarchy = random_tree(30, seed)
    draw_hierarchy(hierarchy, labels, 0, tmp_path / "tree.svg")
    found = texts(tmp_path / "tree.svg")
    assert len(boxes) == 30
    assert not any(_overlap(box, np.stack(boxes[:at])) for at, box in enumerate(boxes) if at)
    for label in labels:
        assert any(
            text == label or (text.endswith("…") and label.startswith(text[:-1])) for text in found
        ), label
    assert sorted(titles(tmp_path / "tree.svg")) == sorted(labels)
    assert "30 entities, 29 asserted links" in found
    assert moves(tmp_path / "tree.svg", "links") == 29


def test_every_link_of_a_dag_and_the_answers(tmp_path: Path) -> None:
    links = [(3, 1), (3, 2), (1, 0), (2, 0), (4, 1), (4, 2), (5, 3), (6, 3), (6, 5)]
    labels = [
        "thing",
        "left",
        "right",
        "here",
        "beside",
        "below",
        "under",
        "guess up",
        "guess down",
    ]
    path = tmp_path / "dag.svg"
    answers = [(7, "parent", 0.915), (8, "child", None), (5, "child", 0.5)]
    draw_hierarchy(made(links, 9), labels, 3, path, answers=answers)
    assert moves(path, "links") + moves(path, "more-links") == 9
    assert (moves(path, "answers-parent"), moves(path, "answers-child")) == (1, 2)
    dashed = ElementTree.parse(path).getroot().find(f".//{SVG}g[@id='answers-parent']/{SVG}path")
    assert dashed is not None
    assert "stroke-dasharray" in dashed.attrib["style"]
    found = texts(path)
    for text in (
        *labels[:5],
        "below 50%",
        "guess up 92%",
        "guess down",
        "predicted parents",
        "predicted children",
    ):
        assert text in found


def test_the_same_picture_is_the_same_file(tmp_path: Path) -> None:
    for suffix in (".svg", ".png"):
        files = [tmp_path / f"{name}{suffix}" for name in "ab"]
        for file in files:
            draw_hierarchy(
                random_tree(12),
                [f"n{row}" for row in range(12)],
                0,
                file,
                answers=[(5, "child", 0.3)],
            )
        assert files[0].read_bytes() == files[1].read_bytes()


def test_png(tmp_path: Path) -> None:
    draw_hierarchy(made([(1, 0)], 2), ["a", "b"], 1, tmp_path / "two.PNG")
    content = (tmp_path / "two.PNG").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (1500, 1500)


def test_one_node(tmp_path: Path) -> None:
    draw_hierarchy(made([], 1), ["alone"], 0, tmp_path / "one.svg", answers=[(0, "parent", 0.2)])
    found = texts(tmp_path / "one.svg")
    assert found.count("alone") == 2
    assert "1 entity, 0 asserted links" in found


def test_labels_as_files_hold_them(tmp_path: Path) -> None:
    labels = [
        "costs $5 and $x_1$",
        "a\x00b\x07c\nd\u202ee",
        "<b>&amp;</b> \\frac{1}",
        "very long " * 500,
        "日本語 العربية 🦊",
        "",
        "\ud800half",
        "$",
    ]
    hierarchy = made([(row, 0) for row in range(1, len(labels))], len(labels))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for suffix in (".svg", ".png"):
            draw_hierarchy(hierarchy, labels, 0, tmp_path / f"odd{suffix}")
    assert not caught
    found = texts(tmp_path / "odd.svg")
    for text in (
        "costs $5 and $x_1$",
        "a b c d e",
        "<b>&amp;</b> \\frac{1}",
        "日本語 العربية 🦊",
        "e5",
        "half",
        "$",
    ):
        assert text in found
    assert max(map(len, found)) < 80
    assert ("very long " * 500).strip() in titles(tmp_path / "odd.svg")


@pytest.mark.slow
def test_three_thousand_nodes(tmp_path: Path, boxes: list[np.ndarray]) -> None:
    hierarchy = random_tree(4000, spread=200)
    labels = [f"entity number {row}" for row in range(4000)]
    start = time.process_time()
    draw_hierarchy(hierarchy, labels, 0, tmp_path / "many.svg")
    assert time.process_time() - start < 30
    assert (tmp_path / "many.svg").stat().st_size < 2_000_000
    assert "3,000 entities, 2,999 asserted links; 1,000 more are left out" in texts(
        tmp_path / "many.svg"
    )
    assert len(titles(tmp_path / "many.svg")) == 3000
    assert 20 < len(boxes) <= 400
    assert not any(_overlap(box, np.stack(boxes[:at])) for at, box in enumerate(boxes) if at)


def test_norms(tmp_path: Path) -> None:
    depths = np.repeat([0, 1, 2, 5], [1, 40, 1200, 2])
    draw_norms((depths + 1).astype(np.float32), depths, tmp_path / "norms.svg")
    found = texts(tmp_path / "norms.svg")
    for text in ("hyperbolic norm", "5", "1,200", "40"):
        assert text in found
    draw_norms(np.array([1.0]), np.array([0]), tmp_path / "norms.png")
    assert (tmp_path / "norms.png").read_bytes()[:4] == b"\x89PNG"


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    pair = made([(1, 0)], 2)
    with pytest.raises(SettingsError, match=r"\.svg or \.png"):
        draw_hierarchy(pair, ["a", "b"], 0, tmp_path / "tree.pdf")
    with pytest.raises(SettingsError, match="2 rows, found 1"):
        draw_hierarchy(pair, ["a"], 0, tmp_path / "tree.svg")
    with pytest.raises(SettingsError, match="'sister'"):
        draw_hierarchy(pair, ["a", "b"], 0, tmp_path / "tree.svg", answers=[(1, "sister", None)])
    for norms, depths in (([1.0, np.nan], [0, 1]), ([1.0], [0, 1]), ([], []), ([[1.0]], [[0]])):
        with pytest.raises(SettingsError, match="expected"):
            draw_norms(np.array(norms), np.array(depths, dtype=int), tmp_path / "norms.svg")
    assert not list(tmp_path.iterdir())


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(SettingsError, match=r"pip install 'ontodex\[plot\]'"):
        draw_hierarchy(made([(1, 0)], 2), ["a", "b"], 0, tmp_path / "tree.svg")


def test_settings_of_the_program_are_left_alone(tmp_path: Path) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"text.usetex": True, "figure.facecolor": "red"}):
        draw_hierarchy(made([(1, 0)], 2), ["a", "b"], 0, tmp_path / "tree.png")
        assert matplotlib.rcParams["text.usetex"]
    assert dict(matplotlib.rcParams) == before
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()
