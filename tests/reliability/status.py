"""What Linux says of the memory of this process."""

from __future__ import annotations

import re
from pathlib import Path


def megabytes(field: str) -> float:
    """Return a field of ``/proc/self/status``: ``VmHWM``, the peak of all of it, or ``RssAnon``, what is of no file."""
    return int(re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024
