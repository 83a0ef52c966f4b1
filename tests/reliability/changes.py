"""Shared by the scripts of the crash tests: changes to an index, and checksums of its contents."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

import ontodex
from ontodex.encoders import text as text_encoder
from ontodex.errors import IndexFailure
from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.indexers import build as building
from ontodex.storage import generations

torch.set_num_threads(1)
text_encoder.CHUNK = 8
TRAINING = ontodex.HyperCLTraining(steps=4, queries=16, negatives=4, rank=2, condition=4, width=8)
NOTHING = "no index"


def other_graph() -> KnowledgeGraph:
    """Return a graph of 77 entities, none of them in the index."""
    builder = GraphBuilder("zoo")
    for number in range(70):
        builder.triple(f"animal {number % 7} wild {number}", "is_a", f"animal {number % 7}")
        builder.triple(
            f"animal {number % 7} wild {number}",
            "near",
            f"animal {number % 7} wild {(number + 7) % 70}",
        )
    return builder.build()


@dataclass
class Models:
    """Folders of the encoders of a build."""

    text: Path
    hit: Path
    gauss: Path


@dataclass
class Change:
    """A change to a copy of an index, and the states of it that are legal meanwhile.

    A change in stages publishes several states, ``"stage 1"`` and so on, before the new one.
    """

    name: str
    act: Callable[[Path], Any]
    start: Path | None
    stages: bool = False
    legal: dict[str, str] = field(default_factory=dict)

    def copy(self, path: Path) -> Path:
        if self.start is not None:
            shutil.copytree(self.start, path)
        return path

    def again(self, path: Path) -> None:
        """Apply the change unless it was applied: adding or removing twice is another change."""
        if content(path) != self.legal["new"]:
            self.act(path)

    def prepare(self, folder: Path) -> None:
        """Apply the change undisturbed, to know the new state."""
        self.legal["old"] = NOTHING if self.start is None else content(self.start)
        whole, stages = self.copy(folder / f"{self.name}-whole.odx"), []
        publish = generations.publish

        def noted(*given: Any) -> None:
            publish(*given)
            stages.append(content(whole))

        with patch.object(generations, "publish", noted):
            self.act(whole)
        if self.stages:
            self.legal.update({f"stage {n}": found for n, found in enumerate(stages[:-1], 1)})
        self.legal["new"] = content(whole)
        shutil.rmtree(whole)

    def state(self, path: Path) -> str:
        """Return ``"old"``, ``"new"``, or a description of another state."""
        found = content(path)
        return next(
            (name for name, legal in self.legal.items() if found == legal), f"neither: {found}"
        )


def changes(old: Path, models: Models) -> list[Change]:
    """Return the changes: first builds, also in stages, a build over an index, add and remove."""
    graph = other_graph()

    def build(path: Path, **further: Any) -> None:
        given = {
            "encoders": models.text,
            "hierarchy": models.hit,
            "entailment": models.gauss,
            **further,
        }
        ontodex.build(graph, path, device="cpu", quiet=True, **given).close()

    def in_stages(path: Path) -> None:
        with patch.object(building, "STAGED_FROM", 0):
            build(path, training=TRAINING)

    return [
        Change("first", lambda path: build(path, train=False, entailment=False), None),
        Change("stages", lambda path: in_stages(path), None, stages=True),
        Change("build", lambda path: build(path, training=TRAINING), old),
        Change("add", lambda path: ontodex.add(graph, path, device="cpu", quiet=True).close(), old),
        Change(
            "remove",
            lambda path: ontodex.remove(
                ["ex:dog", "ex:sea"], path, device="cpu", quiet=True
            ).close(),
            old,
        ),
    ]


def content(path: Path) -> str:
    """Return a checksum of graph, arrays and encoders of an index, or the error of opening it."""
    try:
        engine = ontodex.open(path, device="cpu")
    except IndexFailure as error:
        return NOTHING if "found no" in str(error) else f"{type(error).__name__}: {error}"
    with engine:
        index = engine.index
        if problems := index.verify():
            return f"damaged: {problems}"
        manifest = index.manifest
        parts: Any = [engine.graph.fingerprint, manifest.encoders, manifest.settings]
        parts += [(name, info.blake2b) for name, info in sorted(manifest.blobs.items())]
        parts += [
            (name, info.blake2b)
            for name, info in sorted(manifest.files.items())
            if name.startswith("encoders/")
        ]
        answers = engine.search("a wild dog", k=3).to_dict()["hits"]
        return hashlib.blake2b(
            json.dumps([parts, answers], sort_keys=True).encode(), digest_size=8
        ).hexdigest()


def in_child(action: Callable[[], Any]) -> int:
    """Run in a fork, without a new Python and torch; return its status, negative for a signal."""
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            code = action() or 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
