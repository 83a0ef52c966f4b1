"""Damaged indexes: named errors or right answers. The golden index still answers as before."""

from __future__ import annotations

import dataclasses
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ontodex
from ontodex.errors import IndexFailure
from ontodex.graph import KnowledgeGraph
from ontodex.graph.columns import TextColumn
from ontodex.storage.manifest import FORMAT
from tests.plain import build_plain
from tests.reliability.damage import answers

GOLDEN = Path(__file__).with_name("golden")


def golden(folder: Path) -> Path:
    with tarfile.open(GOLDEN / f"format-{FORMAT}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "farm.odx"


def test_the_golden_index_answers_as_the_version_that_wrote_it(tmp_path: Path) -> None:
    index = golden(tmp_path)
    expected = json.loads((GOLDEN / f"format-{FORMAT}.json").read_text())
    assert json.loads(json.dumps(answers(index))) == expected
    with ontodex.open(index, device="cpu") as engine:
        assert engine.index.manifest.format == FORMAT
        assert engine.index.verify() == []
        assert engine.search("a wild thing")[0].score > 0
        assert engine.missing(k=1, quiet=True)[0].probability is not None
    with ontodex.remove(["ex:hen"], index, device="cpu", quiet=True) as engine:
        assert engine.index.manifest.format == FORMAT
        assert engine.index.verify() == []
        assert "ex:hen" not in [hit.id for hit in engine.search("hen", k=59)]


def test_damage_is_refused_by_name_or_does_no_harm(
    tmp_path: Path, run_script: Callable[..., Any], figures: Callable[..., None], torture: bool
) -> None:
    found = run_script(
        "damage.py", golden(tmp_path), *((10_000, 120) if torture else (4, 2)), timeout=6000
    )
    assert found["bad"] == []
    assert found["whole"]
    assert (
        found["outcomes"]["refused"] > found["outcomes"]["right answers"] > 0
    )  # damage to caches, and to bytes that are not read
    figures("damaged", **found["outcomes"])


def test_files_of_another_index_are_refused(
    tmp_path: Path, small_graph: KnowledgeGraph, own_index: Path
) -> None:
    """Files of an index that differs in one letter of a label, and so have the same lengths."""
    labels = ["hog" if label == "dog" else label for label in small_graph.labels]
    models = own_index / "gen-000001" / "encoders"
    twin = tmp_path / "twin.odx"
    shutil.copytree(own_index, twin)
    other = dataclasses.replace(small_graph, labels=TextColumn.of(labels))
    for path, graph in ((own_index, small_graph), (twin, other)):
        shutil.copytree(models / "text", tmp_path / path.stem)
        shutil.rmtree(path)
        build_plain(graph, path, tmp_path / path.stem).close()
    right = answers(own_index, "all")
    swapped = 0
    for file in sorted((twin / "gen-000001").rglob("*")):
        place = own_index / "gen-000001" / file.relative_to(twin / "gen-000001")
        if not file.is_file() or file.read_bytes() == place.read_bytes():
            continue
        swapped += 1
        assert file.name == "manifest.json" or file.stat().st_size == place.stat().st_size
        content = place.read_bytes()
        place.unlink()
        shutil.copyfile(file, place)
        with pytest.raises(IndexFailure, match=r"store\.mdb|manifest\.json"):
            answers(own_index, "all")
        with pytest.raises(IndexFailure), ontodex.open(own_index, device="cpu") as engine:
            raise IndexFailure(engine.index.verify()[0])
        place.unlink()
        place.write_bytes(content)
    assert swapped == 2
    assert answers(own_index, "all") == right
