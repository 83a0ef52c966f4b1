"""Run by test_resources.py: build and query an index; print peaks of memory in MB, as JSON.

Only anonymous memory is counted: the system can reclaim mapped files at any time.
"""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path

import ontodex
from ontodex.graph import GraphBuilder
from tests.plain import build_plain
from tests.reliability.status import megabytes


class Peak:
    """Peak of memory within the context, sampled every two milliseconds."""

    def __enter__(self) -> Peak:
        self.megabytes, self._over = megabytes("RssAnon"), threading.Event()
        self._watch = threading.Thread(target=self._look)
        self._watch.start()
        return self

    def _look(self) -> None:
        while not self._over.wait(0.002):
            self.megabytes = max(self.megabytes, megabytes("RssAnon"))

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watch.join()


def main(encoder: Path, index: Path, entities: int) -> None:
    builder = GraphBuilder("many")
    for number in range(entities):
        builder.entity(f"ex:{number}", f"animal {number}")
        builder.triple(f"ex:{number}", "is_a", f"ex:{number // 2}")
    graph = builder.build()
    del builder
    with Peak() as building:
        build_plain(graph, index, encoder).close()
    with Peak() as query_function, ontodex.open(index, device="cpu") as engine:
        engine.search_batch([f"wild animal {number}" for number in range(64)])
        engine.tails_batch([(f"ex:{number}", "is_a") for number in range(64)])
    print(json.dumps({"build": building.megabytes, "ask": query_function.megabytes}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
