"""Start: seconds of commands in the shell, and of the first questions in Python."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ontodex
from benchmarks.record import Goal, Measured
from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.scoring.lexicon import FILE

SIZES, QUICK_SIZES = (10_000, 100_000), (300,)
REPEATED = 5
"""Number of runs of a command; the one of the median CPU time is reported."""

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""Variable with which Python compiles all modules anew in each process; commands run without it."""

ASKED = 20
"""Number of different questions of each kind; the first one is reported by itself."""

BRANCHES = 8
"""Number of children of an entity of the synthetic hierarchy."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument(
        "--sizes", type=int, nargs="+", help="numbers of entities; default 10000 100000"
    )


def run(options: argparse.Namespace) -> Iterator[Measured]:
    """Measure indexes of several sizes, and yield one result."""
    warnings.simplefilter("ignore")
    sizes = options.sizes or (QUICK_SIZES if options.quick else SIZES)
    figures: dict[str, Any] = {
        "ontodex --version": _command("--version"),
        "ontodex --help": _command("--help"),
    }
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "made.odx"
            start = time.perf_counter()
            ontodex.build(
                made_graph(size, options.seed), path, train=False, device="cpu", quiet=True
            ).close()
            built = time.perf_counter() - start
            of_size = f"{size:,} entities"
            one, text = "ex:7", "a new word for an old thing"
            for name, arguments in (
                ("search by id", ("search", str(path), one)),
                ("search by text", ("search", str(path), text)),
                ("tails by id", ("tails", str(path), one, "related to")),
                ("parents by id", ("parents", str(path), one)),
                ("parents by text", ("parents", str(path), text)),
            ):
                figures[f"{of_size}, ontodex {name}"] = _command(*arguments)
            asked = subprocess.run(
                [sys.executable, "-m", "benchmarks.start", str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
            figures[f"{of_size}, in Python"] = {"building, s": built, **json.loads(asked.stdout)}
    largest = f"{max(sizes):,} entities"
    yield Measured(
        "start",
        "Start of the command line, and first questions",
        options.seed,
        {"sizes": list(sizes), "runs of a command": REPEATED, "questions of a kind": ASKED},
        figures,
        {
            "ontodex --version · CPU, s": Goal(at_most=0.3),
            "ontodex --help · CPU, s": Goal(at_most=0.3),
            f"{largest}, ontodex search by id · CPU, s": Goal(at_most=0.5),
            f"{largest}, ontodex search by text · CPU, s": Goal(at_most=1.0),
            f"{largest}, in Python · opening, ms": Goal(at_most=50.0),
            f"{largest}, in Python · first search by text, ms": Goal(at_most=500.0),
            f"{largest}, in Python · search by text, ms": Goal(at_most=15.0),
            f"{largest}, in Python · place, ms": Goal(at_most=40.0),
            f"{largest}, in Python · why, ms": Goal(at_most=40.0),
        },
        [
            "Commands are processes of their own, with a warm file cache; CPU is the time in user "
            "mode and in the kernel, of one thread (OMP_NUM_THREADS=1).",
            "Graphs are synthetic: labels of three words of WordNet, a hierarchy, and one further "
            "relation. All their texts are encoded by all-MiniLM-L6-v2 and by the encoders of "
            "hierarchies and entailment that ontodex ships, without training and graph features.",
            "First questions in Python are asked of one engine, one kind after the other, so a "
            "kind finds the encoders of those before it loaded. Further questions have other texts "
            "each; the median is given.",
            "An index of a million entities is not measured: without vectors there is no index, "
            "and to encode its texts takes hours on a CPU.",
        ],
    )


def made_graph(size: int, seed: int) -> KnowledgeGraph:
    """Return a graph of ``size`` entities with short labels, a hierarchy and a relation."""
    words = [line.split(b"\t")[0].decode() for line in FILE.read_bytes().splitlines()]
    words = [word for word in words if word.isalpha()]
    random = np.random.default_rng(seed)
    drawn = random.integers(len(words), size=(size, 3))
    others = random.integers(size, size=size).tolist()
    builder = GraphBuilder("made")
    builder.relation("is_a", "is a")
    builder.relation("ex:related", "related to")
    for row, three in enumerate(drawn.tolist()):
        builder.entity(f"ex:{row}", " ".join(words[at] for at in three))
        if row:
            builder.triple(f"ex:{row}", "is_a", f"ex:{(row - 1) // BRANCHES}")
        builder.triple(f"ex:{row}", "ex:related", f"ex:{others[row]}")
    return builder.build()


def _command(*arguments: str) -> dict[str, float]:
    """Run a command of ontodex several times; return the seconds of the run with the median CPU."""
    took = []
    usual = {name: value for name, value in os.environ.items() if name != NO_BYTECODE}
    for _ in range(REPEATED + 1):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "ontodex", *arguments],
            capture_output=True,
            check=True,
            env={**usual, "OMP_NUM_THREADS": "1"},
        )
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        took.append((cpu, wall))
    cpu, wall = sorted(took[1:])[REPEATED // 2]
    return {"CPU, s": cpu, "wall, s": wall}


def _ask(path: Path) -> dict[str, float]:
    """Open an index, and ask questions of each kind; return milliseconds."""
    opened = ontodex.open  # imports the engine
    start = time.perf_counter()
    engine = opened(path, device="cpu")
    found = {"opening, ms": 1e3 * (time.perf_counter() - start)}
    ids = [f"ex:{7 + number}" for number in range(ASKED)]
    texts = [
        f"a {one} {other} thing"
        for one, other in itertools.product(
            ("new", "red", "big", "old"), ("cat", "sea", "oak", "pan", "hat")
        )
    ]
    kinds: dict[str, tuple[Callable[..., Any], list[tuple[str, ...]]]] = {
        "search by id": (engine.search, [(one,) for one in ids]),
        "search by text": (engine.search, [(text,) for text in texts]),
        "similar by text": (engine.similar, [(text,) for text in texts]),
        "tails by id": (engine.tails, [(one, "related to") for one in ids]),
        "tails by text": (engine.tails, [(text, "related to") for text in texts]),
        "parents by id": (engine.parents, [(one,) for one in ids]),
        "parents by text": (engine.parents, [(text,) for text in texts]),
        "place": (engine.place, [(text,) for text in texts]),
        "entailed_by by text": (engine.entailed_by, [(text,) for text in texts]),
        "why": (engine.why, [(one, "related to", "ex:5") for one in ids]),
    }
    for name, (ask, questions) in kinds.items():
        took = []
        for question in questions:
            start = time.perf_counter()
            ask(*question)
            took.append(1e3 * (time.perf_counter() - start))
        found[f"first {name}, ms"] = took[0]
        found[f"{name}, ms"] = float(np.median(took[1:]))
    engine.close()
    return found


if __name__ == "__main__":
    print(json.dumps(_ask(Path(sys.argv[1]))))
