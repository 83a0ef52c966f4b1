"""Run by test_interrupted.py: a build that is killed after some chunks of texts."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import torch

from ontodex.encoders import text as text_encoder
from ontodex.graph import KnowledgeGraph
from ontodex.indexers import embed
from ontodex.readers import read
from tests.plain import build_plain

os.environ["TOKENIZERS_PARALLELISM"] = "false"
torch.set_num_threads(1)
text_encoder.CHUNK = 8


def killed_after_chunks(chunks: int, graph: KnowledgeGraph, index: Path, encoder: Path) -> None:
    note = embed._note

    def noted(journal: Path, vectors: Any, done: int, job: str) -> None:
        note(journal, vectors, done, job)
        if done == chunks:
            os.kill(os.getpid(), signal.SIGKILL)

    embed._note = noted
    build_plain(graph, index, encoder)


def main(folder: Path, encoder: Path, new: Path) -> None:
    killed_after_chunks(4, read(new), folder / "resumed.odx", encoder)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
