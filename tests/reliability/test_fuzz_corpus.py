"""The fuzz corpus: every input is read, or refused by an OntodexError."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tarfile
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reliability.fuzz import CORPUS, KEPT, run_one, targets


@pytest.mark.parametrize("path", sorted(CORPUS.iterdir()), ids=lambda path: path.name)
def test_an_input_of_the_corpus_is_read_or_refused(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_one(path.read_bytes(), targets())


def test_what_an_hour_of_fuzzing_kept_is_read_or_refused() -> None:
    known = targets()
    with warnings.catch_warnings(), tarfile.open(KEPT) as archive:
        warnings.simplefilter("ignore")
        members = archive.getmembers()
        for member in members:
            run_one(archive.extractfile(member).read(), known)
    assert len(members) > 500


def test_fuzzing_finds_nothing_new(torture: bool, figures: Callable[..., None]) -> None:
    """Two minutes with ``--torture``; otherwise three seconds, where atheris is installed."""
    if importlib.util.find_spec("atheris") is None:
        assert not torture, "make torture needs atheris: it is in the extra `torture`"
        return
    seconds = 120 if torture else 3
    done = subprocess.run(
        [sys.executable, "-m", "tests.reliability.fuzz", str(seconds)],
        capture_output=True,
        text=True,
        timeout=seconds + 120,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert done.returncode == 0, done.stderr[-3000:]
    runs = int(done.stderr.rsplit("Done ", 1)[1].split()[0])
    assert runs > 100
    figures("fuzzed", seconds=seconds, inputs=runs, targets=len(targets()))
