"""The command line as a process, for the tests of the public interface."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.shell import run_ontodex

Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def shell() -> Shell:
    """Run ``ontodex`` with arguments and optional ``stdin``; return (status, stdout, stderr)."""

    def run(*arguments: object, stdin: str = "") -> tuple[int, str, str]:
        return run_ontodex(arguments, stdin=stdin, timeout=300)

    return run
