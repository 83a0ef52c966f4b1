"""How most tests build an index: with nothing trained, and with no more in it than they are about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ontodex
from ontodex.graph import KnowledgeGraph

__all__ = ["build_plain"]


def build_plain(
    graph: KnowledgeGraph, path: Path, encoders: Path | str | Sequence[Path], **further: Any
) -> ontodex.Engine:
    """Build an index on the CPU that only has what the given encoders make, and what further settings ask for."""
    settings = {
        "train": False,
        "hierarchy": False,
        "entailment": False,
        "device": "cpu",
        "quiet": True,
        **further,
    }
    return ontodex.build(graph, path, encoders=encoders, **settings)
