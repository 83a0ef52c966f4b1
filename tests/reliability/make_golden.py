"""Make ``golden/format-N.tar.gz``, an index of the format of this version, and its answers.

Run it from the root of the project when the format has changed::

    python -m tests.reliability.make_golden
"""

from __future__ import annotations

import json
import os
import shutil
import tarfile
import tempfile
from pathlib import Path
from unittest.mock import patch

import torch

import ontodex
from ontodex.encoders.text import TextEncoder
from ontodex.storage.manifest import FORMAT
from ontodex.trainers.data.subsumptions import make_task
from ontodex.trainers.hierarchies.hit import train_hit
from ontodex.trainers.hierarchies.settings import HiTTraining
from tests.conftest import make_small_graph, make_tiny_encoder
from tests.reliability.damage import answers

GOLDEN = Path(__file__).with_name("golden")
LINKS = ontodex.HyperCLTraining(steps=5, queries=32, negatives=8, rank=4, condition=8, width=16)
STRUCTURE = ontodex.ComplExTraining(rank=16)
"""Too small for large blobs, damage to which only ``verify`` finds."""

SENTENCES = ontodex.GaussCSETraining(
    tune="adapter", epochs=20, batch=32, rank=8, rate=1e-2, evaluations=2
)


def make(folder: Path) -> Path:
    """Build an index with every space, and with candidates, which large indexes have."""
    os.chdir(folder)  # relative paths: no path of this machine gets into the index
    graph, base = make_small_graph(), make_tiny_encoder(folder)
    base.rename("base")
    base = folder / "base"
    task = make_task(graph.hierarchy(), "mixed-hop", negatives=5, held_out=0.5)
    settings = HiTTraining(tune="adapter", epochs=4, families=4, rank=4, evaluations=1)
    text = TextEncoder(base, "cpu")
    train_hit(
        task,
        list(graph.labels),
        folder / "hit",
        encoder=text,
        base="base",
        settings=settings,
        quiet=True,
    )
    with patch("ontodex.training.findable", str):
        ontodex.train_gauss_cse(
            graph, folder / "gauss", encoder="base", training=SENTENCES, device="cpu", quiet=True
        )
    models = {"encoders": base, "hierarchy": folder / "hit", "entailment": folder / "gauss"}
    # By default so small a graph has neither graph features nor a calibration of them.
    features = patch.multiple("ontodex.indexers.graph_features", MIN_HELD_OUT=5, SHARE=0.2)
    calibration = patch("ontodex.scoring.calibration.LEAST_TRUE", 1)
    with features, calibration, patch("ontodex.indexers.store.EXACT_UP_TO", 10):
        ontodex.build(
            graph,
            folder / "farm.odx",
            training=LINKS,
            structure=STRUCTURE,
            device="cpu",
            quiet=True,
            **models,
        ).close()
    return folder / "farm.odx"


def without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def main() -> None:
    torch.set_num_threads(1)
    with (
        tempfile.TemporaryDirectory() as folder,
        tarfile.open(GOLDEN / f"format-{FORMAT}.tar.gz", "w:gz") as archive,
    ):
        index = make(Path(folder))
        shutil.rmtree(Path(folder) / "base")
        expected = json.dumps(answers(index))
        (GOLDEN / f"format-{FORMAT}.json").write_text(expected + "\n", encoding="utf-8")
        archive.add(index, "farm.odx", filter=without_owner)


if __name__ == "__main__":
    main()
