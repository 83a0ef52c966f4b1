"""Run by test_concurrency.py: open, query and close repeatedly beside a writer. Prints JSON."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections import Counter
from pathlib import Path

import ontodex


def answered(engine: ontodex.Engine) -> str:
    """Return a checksum of answers that need no encoder, and of the graph they are from."""
    said = [
        engine.graph.fingerprint,
        engine.graph.n_entities,
        engine.index.manifest.spaces["text"].rows,
    ]
    for name in ("ex:dog", "ex:wild", "ex:farm"):
        for hits in (
            engine.similar(name),
            engine.tails(name, "is_a"),
            engine.parents(name),
            engine.entailing(name),
        ):
            said.append([(hit.id, round(hit.score, 6), hit.known) for hit in hits])
    return hashlib.blake2b(json.dumps(said).encode(), digest_size=8).hexdigest()


def main(index: Path, seconds: float) -> None:
    start = time.time()
    seen: Counter[str] = Counter()
    generations = set()
    # On a busy machine one round may take all the time: go on until a second generation was seen.
    while (spent := time.time() - start) < seconds or (
        len(generations) < 2 and spent < 10 * seconds
    ):
        with ontodex.open(index, device="cpu") as engine:
            generations.add(engine.index.manifest.generation)
            first = answered(engine)
            time.sleep(0.02)
            seen[first if answered(engine) == first else "changed while open"] += 1
    print(json.dumps({"seen": seen, "generations": len(generations)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
