"""Run by test_numbers.py: query an index full of ties in several batch sizes. Prints JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

import ontodex


def main(index: Path, threads: int) -> None:
    torch.set_num_threads(threads)
    with ontodex.open(index, device="cpu") as engine:
        names = list(engine.graph.ids)[:24]
        asked = {
            "search": lambda some: engine.search_batch(some, k=15),
            "similar": lambda some: engine.similar_batch(some, k=15),
            "tails": lambda some: engine.tails_batch([(name, "is_a") for name in some], k=15),
            "parents": lambda some: engine.parents_batch(some, k=15),
            "entailing": lambda some: engine.entailing_batch(some, k=15),
        }
        found = {}
        for question, ask in asked.items():
            for size in (1, 5, 24):
                answers = [
                    hits
                    for start in range(0, 24, size)
                    for hits in ask(names[start : start + size])
                ]
                found[f"{question} by {size}"] = [
                    [(hit.id, round(hit.score, 5)) for hit in hits] for hits in answers
                ]
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
