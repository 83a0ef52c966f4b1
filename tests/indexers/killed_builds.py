"""Run by test_interrupted.py: builds in forked children that are killed, or that run into a full disk.

Everything is imported once; each child is a fork, so that a killed build costs no new start of Python and torch.
Prints one JSON object.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import torch

import ontodex
from ontodex.encoders import text as text_encoder
from ontodex.errors import IndexFailure
from ontodex.graph import KnowledgeGraph, read
from ontodex.indexers import embed

os.environ["TOKENIZERS_PARALLELISM"] = "false"
torch.set_num_threads(1)
text_encoder.CHUNK = 8
POINTS = 14


def build(graph: KnowledgeGraph, index: Path, encoder: Path) -> None:
    ontodex.build(
        graph, index, encoders=[encoder], train=False, hierarchy=False, device="cpu", entailment=False, quiet=True
    ).close()


def in_child(action: Callable[[], Any]) -> int:
    """Run in a fork; return its exit status, negative for a signal."""
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            code = action() or 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def counting(limit: int, counter: list[int]) -> Callable[[FrameType, str, Any], None]:
    """Return a profiler that kills the process at the given call out of the code of the indexers."""

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event in ("call", "c_call") and "/indexers/" in frame.f_code.co_filename:
            counter[0] += 1
            if counter[0] == limit:
                os.kill(os.getpid(), signal.SIGKILL)

    return profile


def killed_at(limit: int, graph: KnowledgeGraph, index: Path, encoder: Path) -> None:
    sys.setprofile(counting(limit, [0]))
    build(graph, index, encoder)


def count_calls(graph: KnowledgeGraph, index: Path, encoder: Path) -> int:
    counter = [0]
    sys.setprofile(counting(-1, counter))
    build(graph, index, encoder)
    sys.setprofile(None)
    return counter[0]


def killed_after_chunks(chunks: int, graph: KnowledgeGraph, index: Path, encoder: Path) -> None:
    note = embed._note

    def noted(journal: Path, vectors: Any, done: int, texts: int) -> None:
        note(journal, vectors, done, texts)
        if done == chunks:
            os.kill(os.getpid(), signal.SIGKILL)

    embed._note = noted
    build(graph, index, encoder)


def limited(size: int, graph: KnowledgeGraph, index: Path, encoder: Path) -> int:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        build(graph, index, encoder)
    except IndexFailure as error:
        sys.stderr.write(f"{size} {error}\n")
        return 7
    return 0


def state(index: Path) -> dict[str, Any]:
    with ontodex.open(index, device="cpu") as engine:
        return {"graph": engine.graph.fingerprint, "problems": engine.index.verify()}


def main(folder: Path, encoder: Path, new: Path) -> None:
    old, graph = folder / "old.odx", read(new)
    random.seed(0)
    calls = count_calls(graph, Path(shutil.copytree(old, folder / "count.odx")), encoder)
    killed = []
    for number, limit in enumerate(sorted(random.sample(range(1, calls), POINTS))):
        index = Path(shutil.copytree(old, folder / f"killed-{number}.odx"))
        status = in_child(lambda limit=limit, index=index: killed_at(limit, graph, index, encoder))
        after = state(index)
        again = in_child(lambda index=index: build(graph, index, encoder))
        left = sorted(entry.name for entry in index.iterdir())
        killed.append({"status": status, "after": after, "again": again, "finally": state(index), "left": left})
    chunks = in_child(lambda: killed_after_chunks(4, graph, folder / "resumed.odx", encoder))
    full = []
    for size in (0, 5000, 20_000, 50_000):
        index = Path(shutil.copytree(old, folder / f"full-{size}.odx"))
        status = in_child(lambda size=size, index=index: limited(size, graph, index, encoder))
        full.append(
            {
                "size": size,
                "status": status,
                "after": state(index),
                "again": in_child(lambda index=index: build(graph, index, encoder)),
            }
        )
    sys.stdout.write(json.dumps({"calls": calls, "killed": killed, "chunks": chunks, "full": full}))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
