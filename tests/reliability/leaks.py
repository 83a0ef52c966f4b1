"""Run by test_resources.py: open, query and close an index thousands of times. Prints JSON."""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path

import ontodex
from tests.reliability.status import megabytes


def held() -> dict[str, float]:
    gc.collect()
    maps = len(Path("/proc/self/maps").read_text().splitlines())
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "maps": maps,
        "megabytes": megabytes("RssAnon"),
    }


def main(index: Path, times: int) -> None:
    def turn() -> None:
        with ontodex.open(index, device="cpu") as engine:
            engine.similar("ex:dog", k=3)
            engine.tails("ex:dog", "is_a", k=3)

    for _ in range(50):
        turn()
    before = held()
    for _ in range(times):
        turn()
    after = held()
    print(json.dumps({name: after[name] - before[name] for name in before}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
