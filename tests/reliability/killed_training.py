"""Run by test_crash.py: training runs killed at random points, and then run to the end.

Prints, as JSON, how far the weights of each are from those of an uninterrupted run.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file

import ontodex
from tests.conftest import make_small_graph
from tests.reliability.changes import in_child
from tests.reliability.killed import counting

TRAINING = ontodex.HyperCLTraining(
    steps=12, queries=16, negatives=4, rank=2, condition=4, width=8, tune="full", save_every=2
)
WHERE = "/trainers/"
STEPS = "/transformers/trainer"


def train(folder: Path, encoder: Path) -> None:
    ontodex.train_hyper_cl(
        make_small_graph(), folder, encoder=encoder, training=TRAINING, device="cpu", quiet=True
    )


def killed_at(where: str, limit: int, folder: Path, encoder: Path) -> None:
    sys.setprofile(counting(where, limit, [0]))
    train(folder, encoder)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    found = {}
    for file in sorted(folder.rglob("*.safetensors")):
        assert "checkpoints" not in file.parts, file
        found.update(
            {
                f"{file.relative_to(folder)} {name}": tensor
                for name, tensor in load_file(file).items()
            }
        )
    return found


def main(folder: Path, encoder: Path, points: int) -> None:
    torch.set_num_threads(1)
    rng = random.Random(0)
    train(folder / "whole", encoder)
    whole = weights(folder / "whole")
    found = []
    for where in (WHERE, STEPS):
        counter = [0]
        sys.setprofile(counting(where, -1, counter))
        train(folder / "count", encoder)
        sys.setprofile(None)
        shutil.rmtree(folder / "count")
        for limit in sorted(rng.sample(range(1, counter[0]), points)):
            path = folder / f"killed-{limit}"
            status = in_child(lambda w=where, n=limit, p=path: killed_at(w, n, p, encoder))
            left = max(
                (int(one.name[11:]) for one in path.glob("checkpoints/checkpoint-*")), default=0
            )
            again = in_child(lambda p=path: train(p, encoder))
            other = weights(path) if not again else {}
            apart = (
                max((float((other[name] - whole[name]).abs().max()) for name in whole), default=0.0)
                if other
                else -1.0
            )
            found.append(
                {
                    "where": where,
                    "call": limit,
                    "status": status,
                    "left": left,
                    "again": again,
                    "apart": apart,
                }
            )
            shutil.rmtree(path)
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
