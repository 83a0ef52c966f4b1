"""Memory of this process on Linux."""

from __future__ import annotations

import re
from pathlib import Path


def megabytes(field: str) -> float:
    """Return a field of ``/proc/self/status``: ``VmHWM``, the peak, or ``RssAnon``, anonymous."""
    return int(re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024
