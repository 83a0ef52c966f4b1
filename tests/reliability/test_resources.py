"""Memory, leaks, and file systems that cannot be written to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ontodex
from ontodex.graph import KnowledgeGraph
from tests.plain import build_plain


def test_opening_and_closing_leaks_nothing(
    small_index: Path, run_script: Callable[..., Any], figures: Callable[..., None], torture: bool
) -> None:
    times = 10_000 if torture else 300
    grown = run_script("leaks.py", small_index, times, timeout=1800)
    assert grown["descriptors"] <= 0, grown
    assert grown["maps"] <= 5, grown
    assert grown["megabytes"] < 10, grown
    figures("opened", times=times, **{name: round(more, 1) for name, more in grown.items()})


def test_memory_grows_with_the_graph_and_not_with_the_vectors(
    tmp_path: Path,
    tiny_encoder: Path,
    run_script: Callable[..., Any],
    figures: Callable[..., None],
    torture: bool,
) -> None:
    """Names, hashes and triples take about 200 bytes an entity; vectors stay in mapped files."""
    entities = 100_000 if torture else 5000
    one, four = (
        run_script("memory.py", tiny_encoder, tmp_path / f"{size}.odx", size, timeout=3000)
        for size in (entities, 4 * entities)
    )
    for what in ("build", "ask"):
        more = (four[what] - one[what]) * 2**20 / (3 * entities)
        limit = (
            1500 if torture else 1500 + 60e6 / (3 * entities)
        )  # memory kept by the allocator dominates small sizes
        assert more < limit, (what, one, four, more)
    sizes = {
        f"{what}, {times} times": round(found[what])
        for times, found in ((1, one), (4, four))
        for what in found
    }
    figures("memory", entities=entities, **sizes)


WITHOUT_RIGHTS = """
import ctypes
# Drop the capabilities of root, which ignores the permissions of files.
ctypes.CDLL(None).capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
import ontodex
from ontodex.errors import OntodexError
try:
    {}
except OntodexError as error:
    print(type(error).__name__, error)
"""


def without_rights(action: str) -> str:
    """Run code in a process without the rights of root; return its output."""
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_RIGHTS.format(action)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture
def readable(own_index: Path) -> Iterator[Path]:
    """Index in a folder without write permission."""
    everything = [own_index.parent, own_index, *own_index.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield own_index
    for path in everything:
        path.chmod(0o755)


def test_an_index_on_a_read_only_medium_answers(readable: Path) -> None:
    said = without_rights(
        f"engine = ontodex.open({str(readable)!r}, device='cpu'); "
        "print([hit.id for hit in engine.search('a wild dog', k=2)], engine.index.verify())"
    )
    assert "[]" in said
    assert "ex:" in said


def test_a_folder_without_write_permission_is_named(readable: Path) -> None:
    said = without_rights(f"ontodex.remove('ex:dog', {str(readable)!r}, device='cpu', quiet=True)")
    assert said.startswith("IndexFailure")
    assert f"{readable}: expected a folder that can be written, found Permission denied" in said


def test_an_index_that_may_not_be_read_is_named(readable: Path) -> None:
    store = next(readable.glob("gen-*/store.mdb"))
    store.chmod(0)
    said = without_rights(f"ontodex.open({str(readable)!r}, device='cpu')")
    assert said.startswith("Index")
    assert "store.mdb" in said
    assert "Permission denied" in said


@pytest.mark.parametrize(
    "name", ["with spaces", "Größe", "日本語 の", "a'b\"c", "-dash", "%20", "emoji 🐋"]
)
def test_any_name_serves(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path, name: str
) -> None:
    path = tmp_path / name / f"{name}.odx"
    build_plain(small_graph, path, tiny_encoder).close()
    with ontodex.open(path, device="cpu") as engine:
        assert engine.index.verify() == []
        assert engine.search("dog")[0].id == "ex:dog"
