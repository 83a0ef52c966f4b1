"""The command line as a process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def shell() -> Shell:
    """Run ``ontodex`` with arguments, and perhaps ``stdin``; return (exit status, stdout, stderr)."""

    def run(*arguments: object, stdin: str = "") -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-c", "from ontodex.cli import main; main()", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return run
