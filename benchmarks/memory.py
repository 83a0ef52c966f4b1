"""Memory of this process, and measurements in separate processes."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["in_process", "peak_bytes", "resident_bytes"]

ROOT = Path(__file__).resolve().parent.parent


def peak_bytes() -> int:
    """Return the peak memory of this process in bytes, including mapped files.

    The value is Linux's ``VmHWM``; ``ru_maxrss`` would start from that of the parent process.
    """
    found = _status("VmHWM")
    return found if found is not None else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def resident_bytes() -> int:
    """Return the current memory of this process in bytes, including mapped files."""
    return _status("VmRSS") or peak_bytes()


def in_process(module: str, *arguments: str) -> dict[str, Any]:
    """Run ``python -m MODULE ARGUMENTS`` in the project root; return the JSON of its last line."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _status(name: str) -> int | None:
    path = Path("/proc/self/status")
    if not path.exists():
        return None
    facts = dict(line.split(":", 1) for line in path.read_text().splitlines())
    return int(facts[name].split()[0]) * 1024
