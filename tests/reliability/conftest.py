"""Fixtures of the reliability tests, which run at full length with ``--torture``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FIGURES = pytest.StashKey[dict[str, dict[str, Any]]]()


@pytest.fixture(scope="session")
def torture(request: pytest.FixtureRequest) -> bool:
    """Whether to run at full length."""
    return bool(request.config.getoption("--torture"))


@pytest.fixture(scope="session")
def figures(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Record the extent of a test; ``--figures FILE`` writes it for the reliability benchmark."""
    noted = request.config.stash.setdefault(FIGURES, {})

    def note(group: str, **found: Any) -> None:
        noted.setdefault(group, {}).update(found)

    return note


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write the records of what was tried."""
    file = session.config.getoption("--figures")
    if file:
        file.write_text(json.dumps(session.config.stash.get(FIGURES, {})), encoding="utf-8")


@pytest.fixture(scope="session")
def run_script() -> Callable[..., Any]:
    """Run a script of this folder as a process; return the JSON that it prints."""

    def run(name: str, *arguments: Any, timeout: float = 600, **environment: str) -> Any:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name(name)), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(
                    filter(None, (os.environ.get("PYTHONPATH"), str(ROOT)))
                ),
                "OMP_NUM_THREADS": "1",
                "TOKENIZERS_PARALLELISM": "false",
                **environment,
            },
        )
        assert done.returncode == 0, f"{name} ended with {done.returncode}: {done.stderr[-3000:]}"
        return json.loads(done.stdout)

    return run
