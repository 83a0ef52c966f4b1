"""When the stages of a build are expected to end, noted for those who ask an unfinished index."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from ontodex.storage import generations

__all__ = ["note_ends", "outlook"]

NAME = "progress.json"


def note_ends(index: Path, ends: Mapping[str, float]) -> None:
    """Write the expected end of each stage to come into the working folder of a build.

    Args:
        index: Folder of the index.
        ends: Ends of stages, in seconds since the epoch.
    """
    (index / generations.WORK / NAME).write_text(json.dumps(dict(ends)))


def outlook(index: Path, stage: str) -> str:
    """Return when a stage of an unfinished index will be there, and what to do, as a clause."""
    if not generations.is_written(index):
        return "the build has stopped; start it again to go on"
    with suppress(OSError, ValueError, KeyError, TypeError):
        end = json.loads((index / generations.WORK / NAME).read_text())[stage]
        return f"the build expects it at about {datetime.fromtimestamp(end):%H:%M}"
    return "the build is running"
