"""Building an index without training, with only the spaces that a test needs."""

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
    """Build an index on the CPU with the spaces of the given encoders and of further settings."""
    settings = {
        "train": False,
        "hierarchy": False,
        "entailment": False,
        "device": "cpu",
        "quiet": True,
        **further,
    }
    return ontodex.build(graph, path, encoders=encoders, **settings)
