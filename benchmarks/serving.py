"""Building, opening and serving a synthetic index, one process each: time and peak memory."""

from __future__ import annotations

import argparse
import importlib
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_bytes

__all__ = ["build", "first_answer", "serve"]


def build(path: Path, entities: int, seed: int) -> dict[str, Any]:
    """Build an index; its memory excludes the imports and the source of the graph."""
    from benchmarks.synthetic import Synthetic, encoders, graph_of
    from ontodex.encoders.index_encoders import Encoders
    from ontodex.indexers.build import build_index

    importlib.import_module("faiss")
    imported = peak_bytes()
    made = Synthetic(entities, seed)
    graph = graph_of(made)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        text, link = encoders(made, Path(folder))
        build_index(graph, path, Encoders(text, link=link), quiet=True)
    return {
        "seconds": time.perf_counter() - start,
        "peak": peak_bytes() - imported,
        "imports": imported,
    }


def first_answer(path: Path, entity: str, relation: str) -> dict[str, Any]:
    """Open an index and answer one query."""
    ontodex = _imported()
    start = time.perf_counter()
    engine = ontodex.open(path, device="cpu")
    opened = time.perf_counter()
    hits = engine.tails(entity, relation)
    end = time.perf_counter()
    return {"open": (opened - start) * 1000, "ms": (end - start) * 1000, "hits": len(hits)}


def serve(path: Path, entities: int, seed: int) -> dict[str, Any]:
    """Answer single queries and large batches, by exact search and by candidates if in use."""
    import numpy as np

    from benchmarks.synthetic import RELATIONS

    ontodex = _imported()
    importlib.import_module("faiss")
    imported = peak_bytes()
    rows = np.random.default_rng(seed).choice(entities, min(1024, entities), replace=False).tolist()
    questions = [(f"ex:{row:07d}", RELATIONS[row % len(RELATIONS)]) for row in rows]
    found = {"imports": imported}
    for name, exact in (("exact", True), ("default", False)):
        with ontodex.open(path, device="cpu", exact=exact) as engine:
            for question in questions[:20]:
                engine.tails(*question)
            engine.tails_batch(questions)
            found[name] = peak_bytes() - imported
    return found


def _imported() -> Any:
    """Import the modules of a query, so that the clock excludes the imports."""
    for name in ("numpy", "lmdb", "ontodex.engine.engine", "ontodex.indexing"):
        importlib.import_module(name)
    return importlib.import_module("ontodex")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("build", "open", "serve"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--entities", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ask", nargs=2)
    asked = parser.parse_args()
    if asked.action == "build":
        print(json.dumps(build(asked.path, asked.entities, asked.seed)))
    elif asked.action == "serve":
        print(json.dumps(serve(asked.path, asked.entities, asked.seed)))
    else:
        print(json.dumps(first_answer(asked.path, *asked.ask)))
