"""Run by test_concurrency.py: sixteen threads query a new engine. Prints differing answers."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ontodex

THREADS = 16


def answers(engine: ontodex.Engine, turn: int) -> list[Any]:
    """Ask every kind of query, with texts of several lengths, in a rotated order."""
    text = " ".join(["a wild animal that lives in the sea"] * (1 + turn % 5))
    asked = [
        lambda: engine.search(text, k=5),
        lambda: engine.tails("ex:dog", "lives in", k=5),
        lambda: engine.tails(text, "feeds on", k=5),
        lambda: engine.relations("ex:dog", "ex:farm"),
        lambda: engine.parents(text, k=5),
        lambda: engine.children("ex:tame", k=5),
        lambda: engine.place(text, k=3),
        lambda: engine.entailed_by(text, k=5),
        lambda: engine.entails(text, "an animal lives"),
    ]
    shift = turn % len(asked)
    found = [
        (number, asked[number]().to_dict()) for number in [*range(shift, len(asked)), *range(shift)]
    ]
    return [rounded(answer) for _, answer in sorted(found, key=lambda pair: pair[0])]


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items() if name != "took_ms"}
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value


def main(index: Path, rounds: int) -> None:
    with ontodex.open(index, device="cpu") as engine:
        alone = [answers(engine, turn) for turn in range(THREADS)]
    wrong = 0
    for _ in range(rounds):
        with ontodex.open(index, device="cpu") as engine, ThreadPoolExecutor(THREADS) as pool:
            wrong += sum(
                found != alone[turn]
                for turn, found in enumerate(
                    pool.map(lambda turn, e=engine: answers(e, turn), range(THREADS))
                )
            )
    print(json.dumps({"wrong": wrong, "asked": 9 * THREADS * rounds}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
