"""Distillation of a text encoder into a relation network.

The network approximates the encoder's vector of the text "head relation" for any relation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ontodex.encoders.compositions import make_network
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.hypernetwork import LinkNetwork
from ontodex.encoders.text import TextEncoder
from ontodex.errors import TrainingError, expect_number, expect_whole
from ontodex.graph import inverse_text, question_text
from ontodex.trainers.checkpoints import clear_checkpoints, clear_model, expect_own
from ontodex.trainers.links.settings import HyperCLTraining
from ontodex.trainers.run import Run, expect_finite, run_training

__all__ = ["DistillationTraining", "distil_hyper_cl"]

RELATION, TAIL = 1.0, 0.3
"""Weights of the relation's vector in tail queries, and of the tail's vector in head queries.

The weighted vector is added to the vector of the joint text: tails have the type that a relation
names, and heads are similar to the tail.
"""


@dataclass(frozen=True)
class DistillationTraining:
    """Settings of a distillation.

    Attributes:
        pairs: Number of texts "head relation" and "relation tail" that the text encoder encodes,
            which takes most of the time.
        steps: Number of batches.
        queries: Pairs in a batch.
        rate: Learning rate.
        seed: Seed of pairs, weights and batches.

    Raises:
        SettingsError: If a setting is out of range.
    """

    pairs: int = 260_000
    steps: int = 2_500
    queries: int = 1024
    rate: float = 2e-3
    seed: int = 0

    def __post_init__(self) -> None:
        expect_whole(self, pairs=1, steps=1, queries=1, seed=0)
        expect_number(self, "rate")


@dataclass(frozen=True, eq=False)
class _Batch:
    """Rows of the heads, the relation of each, and the target query vector of each pair."""

    heads: NDArray[np.int64]
    relations: NDArray[np.int64]
    wanted: NDArray[np.float32]


class _Batches:
    """Batches of random runs of pairs with the same relation, which need few projections."""

    def __init__(
        self,
        heads: NDArray[np.int64],
        relations: NDArray[np.int64],
        wanted: NDArray[np.float16],
        settings: DistillationTraining,
    ) -> None:
        order = np.argsort(relations, kind="stable")
        self._heads, self._relations, self._wanted = heads[order], relations[order], wanted[order]
        self._starts = np.flatnonzero(np.diff(self._relations, prepend=-1))
        self._ends = np.append(self._starts[1:], len(order))
        self._settings = settings

    def __len__(self) -> int:
        return self._settings.steps

    def __getitem__(self, step: int) -> _Batch:
        if not 0 <= step < len(self):
            raise IndexError(step)
        rng = np.random.default_rng((self._settings.seed, 2, step))
        most = self._settings.queries
        runs = rng.choice(len(self._starts), min(most, len(self._starts)), replace=False)
        chosen = np.concatenate(
            [np.arange(self._starts[run], self._ends[run]) for run in runs.tolist()]
        )[:most]
        return _Batch(
            self._heads[chosen], self._relations[chosen], self._wanted[chosen].astype(np.float32)
        )


class _Model(nn.Module):
    """Loss: one minus the cosine of the network's query and the target query."""

    def __init__(
        self,
        network: LinkNetwork,
        entities: NDArray[np.float16],
        relations: NDArray[np.float32],
        device: str,
    ) -> None:
        super().__init__()
        self.network = network
        self._entities, self._relations, self._device = (
            entities,
            torch.from_numpy(relations),
            device,
        )

    def forward(self, batch: _Batch) -> dict[str, Tensor]:
        """Return ``{"loss": loss}``, as the Trainer of transformers expects."""
        heads = torch.from_numpy(self._entities[batch.heads].astype(np.float32)).to(self._device)
        relations, which = torch.unique(torch.from_numpy(batch.relations), return_inverse=True)
        queries = self.network.queries(
            heads, self._relations[relations].to(self._device), which.to(self._device)
        )
        wanted = torch.from_numpy(batch.wanted).to(self._device)
        return expect_finite(
            1 - nn.functional.cosine_similarity(queries.float(), wanted, dim=-1).mean()
        )


def distil_hyper_cl(
    texts: Sequence[str],
    labels: Sequence[str],
    relations: Sequence[str],
    folder: Path,
    *,
    encoder: TextEncoder,
    settings: DistillationTraining | None = None,
    quiet: bool = False,
) -> HyperCL:
    """Train a relation network from names alone, and write it; it serves for unseen relations.

    The text encoder encodes the label of a head and a relation as one text, "head relation", and
    for inverses "relation tail". The network is trained to predict this joint vector from the
    separate vectors of entity and relation. From the target, the mean of all joint vectors is
    subtracted, which carries no information, and a share of the relation's vector (for inverses,
    of the tail's vector) is added. Links are not used.

    Args:
        texts: Text of every entity, as in the text space of an index.
        labels: Label of every entity.
        relations: Examples of relation texts; more and more diverse examples give better results.
        folder: Output folder: new, empty, or holding a previous Hyper-CL encoder, which is
            replaced.
        encoder: The text encoder.
        settings: Settings of the run.
        quiet: Show no progress on stderr.

    Raises:
        TrainingError: If there are no entities or no relations, the folder holds other files, or
            the loss is not finite.
    """
    settings = settings or DistillationTraining()
    expect_own(folder, HyperCL.is_at(folder), encoder.folder)
    if not len(texts) or not len(relations) or len(texts) != len(labels):
        raise TrainingError(
            "expected a text and a label of each entity, and relations, found "
            f"{len(texts)} texts, {len(labels)} labels and {len(relations)} relations"
        )
    rng = np.random.default_rng((settings.seed, 1))
    drawn = rng.integers(0, len(texts), settings.pairs)
    numbers = rng.integers(0, 2 * len(relations), settings.pairs)
    backward, chosen_relations = np.divmod(numbers, len(relations))
    joint = [
        question_text(labels[row], relations[relation], backward=bool(inverse))
        for row, relation, inverse in zip(
            drawn.tolist(), chosen_relations.tolist(), backward.tolist(), strict=True
        )
    ]
    wanted = encoder.encode(joint)
    used, heads = np.unique(drawn, return_inverse=True)
    entities = encoder.encode([texts[row] for row in used.tolist()]).astype(np.float16)
    words = encoder.encode([*relations, *map(inverse_text, relations)])
    beside = np.where(
        backward[:, None], TAIL * entities[heads].astype(np.float32), RELATION * words[numbers]
    )
    wanted += beside - wanted.mean(axis=0)
    torch.manual_seed(settings.seed)
    network = make_network(HyperCLTraining(width=0).network(encoder.dim)).to(encoder.device)
    run = Run(folder, encoder.device, settings.seed, quiet)
    run_training(
        run,
        _Model(network, entities, words, encoder.device),
        _Batches(heads, numbers, wanted.astype(np.float16), settings),
        [{"params": list(network.parameters()), "lr": settings.rate}],
    )
    clear_model(folder)
    made = HyperCL(encoder, network.cpu())
    made.save(folder)
    clear_checkpoints(run.checkpoints)
    return made
