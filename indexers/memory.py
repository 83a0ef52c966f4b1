"""The memory that a build takes, compared with what is free before it starts."""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path

from ontodex.graph import KnowledgeGraph

__all__ = ["warn_of_memory"]

BASE, PER_ENTITY = 1_500_000_000, 25_000
"""Bytes that a build takes in all, and for each entity, measured on graphs of up to 120,000."""


def warn_of_memory(graph: KnowledgeGraph) -> None:
    """Warn if a build of a graph is likely to take more memory than is free."""
    needed, free = BASE + PER_ENTITY * graph.n_entities, free_bytes()
    if free is not None and needed > free:
        warnings.warn(
            f"{graph.source}: building is likely to take {needed / 1e9:.1f} GB of memory, and "
            f"{free / 1e9:.1f} GB are free; close other programs, or build less "
            '(--only search, only="search")',
            stacklevel=2,
        )


def free_bytes() -> int | None:
    """Return the bytes of memory that programs can still take; ``None`` if it is not known."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    return None
