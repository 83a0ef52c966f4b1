"""The baseline without texts: Poincaré embeddings of the entities."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from ontodex.encoders.device import choose_device
from ontodex.errors import TrainingError, expect_number, expect_whole
from ontodex.geometry import poincare
from ontodex.trainers.data.subsumptions import HierarchyTask
from ontodex.trainers.hierarchies.evaluation import Floats, Rows, Score

__all__ = ["StaticPoincareTraining", "exponential_map", "train_static_poincare"]

DECAY = 0.999
NORM_WEIGHT = 1000.0
PAIRS_PER_BLOCK = 65_536


@dataclass(frozen=True)
class StaticPoincareTraining:
    """Settings of the training, as in the paper except for batch size and optimiser.

    The paper has batches of 200 links, and Riemannian Adam.

    Attributes:
        epochs: Passes over the links.
        burn_in: Epochs of linear warm-up; the rate decays linearly to 0 over the other epochs.
        dim: Dimension of the embeddings.
        negatives: Random negatives of each link.
        batch: Links in a batch.
        rate: Peak learning rate, approximately the distance that a point moves in a step.
        seed: Seed of points and batches.

    Raises:
        SettingsError: If a setting is out of range.
    """

    epochs: int = 200
    burn_in: int = 10
    dim: int = 200
    negatives: int = 10
    batch: int = 1024
    rate: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        expect_whole(self, epochs=1, burn_in=0, dim=1, negatives=1, batch=1, seed=0)
        expect_number(self, "rate")


def train_static_poincare(
    task: HierarchyTask,
    *,
    settings: StaticPoincareTraining | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> Score:
    """Embed the entities of the training links of a task (Nickel & Kiela 2017, equation 6).

    The optimiser is adaptive Riemannian descent with one running mean of the squared gradient for
    each point, as in Bécigneul & Ganea 2019, without momentum; only the points of a batch move.

    Returns:
        A function that scores pairs: -(1 + 1000 (‖parent‖ - ‖child‖)) d(child, parent), with
        Euclidean norms. The score is undefined for entities that are in no training link.

    Raises:
        TrainingError: If the links have fewer than two entities, or the loss is not finite.
    """
    settings, device = settings or StaticPoincareTraining(), choose_device(device)
    members = np.unique(task.train)
    if len(members) < 2:
        raise TrainingError(
            "expected a task with training links, found none; leave out the static embeddings"
        )
    links = torch.from_numpy(np.searchsorted(members, task.train).astype(np.int64))
    generator = torch.Generator().manual_seed(settings.seed)
    table = (torch.rand(len(members), settings.dim, generator=generator) * 2e-3 - 1e-3).to(device)
    squares, times = (
        torch.zeros(len(members), 1, device=device),
        torch.zeros(len(members), 1, device=device),
    )
    per_epoch = -(-len(links) // settings.batch)
    rising, total = settings.burn_in * per_epoch, settings.epochs * per_epoch
    steps = tqdm(total=total, desc="static Poincaré", unit="step", file=sys.stderr, disable=quiet)
    for _ in range(settings.epochs):
        for batch in torch.split(
            links[torch.randperm(len(links), generator=generator)], settings.batch
        ):
            negatives = _negatives(batch, len(members), settings.negatives, generator)
            true = task.known.is_ancestor(
                np.repeat(members[batch[:, 0]], settings.negatives),
                members[negatives.numpy()].ravel(),
            )
            masked = torch.from_numpy(np.asarray(true).reshape(len(batch), -1))
            rows, inverse = torch.unique(torch.cat([batch, negatives], 1), return_inverse=True)
            rows, inverse, masked = rows.to(device), inverse.to(device), masked.to(device)
            points = table[rows]
            loss, gradient = _gradient(points, inverse, masked)
            if not torch.isfinite(loss):
                raise TrainingError(
                    f"expected a finite loss, found {loss} at step {steps.n}; lower the rate"
                )
            rate = settings.rate * min(
                (steps.n + 1) / max(1, rising), (total - steps.n) / max(1, total - rising), 1
            )
            scale = (1 - points.square().sum(-1, keepdim=True)) / 2  # 1 / the conformal factor
            length = scale * gradient.norm(dim=-1, keepdim=True)
            times[rows] += 1
            squares[rows] = DECAY * squares[rows] + (1 - DECAY) * length.square()
            mean = squares[rows] / (1 - DECAY ** times[rows])
            step = gradient * (-rate * scale.square() / (mean.sqrt() + 1e-8))
            table[rows] = poincare.clip(exponential_map(points, step), 1.0)
            steps.update()
    steps.close()
    return _score(members, table.cpu())


def exponential_map(points: Tensor, vectors: Tensor) -> Tensor:
    """Return the exponential map of the unit ball, of shape (n, dim).

    The map follows geodesics from ``points`` along the tangent ``vectors``, both of shape (n, dim)
    (Ganea, Bécigneul & Hofmann 2018, equation 12, with c = 1).
    """
    square = points.square().sum(-1, keepdim=True)
    length = vectors.norm(dim=-1, keepdim=True).clamp_min(1e-15)
    moved = torch.tanh(length / (1 - square)) * vectors / length
    product, other = (points * moved).sum(-1, keepdim=True), moved.square().sum(-1, keepdim=True)
    mapped: Tensor = ((1 + 2 * product + other) * points + (1 - square) * moved) / (
        1 + 2 * product + square * other
    )
    return mapped


def _negatives(links: Tensor, count: int, negatives: int, generator: torch.Generator) -> Tensor:
    """Draw entities other than the child, uniformly."""
    offsets = torch.randint(1, count, (len(links), negatives), generator=generator)
    return (links[:, :1] + offsets) % count


def _gradient(points: Tensor, inverse: Tensor, masked: Tensor) -> tuple[Tensor, Tensor]:
    """Return the loss of a batch and its Euclidean gradient.

    The loss is the cross-entropy of the parent in a softmax whose logits are negative distances.
    """
    leaf = points.detach().requires_grad_()
    gathered = leaf[inverse]
    distances = poincare.distance(gathered[:, :1], gathered[:, 1:], 1.0)
    logits = torch.cat([-distances[:, :1], (-distances[:, 1:]).masked_fill(masked, -torch.inf)], 1)
    loss = torch.nn.functional.cross_entropy(
        logits, torch.zeros(len(logits), dtype=torch.long, device=logits.device)
    )
    (gradient,) = torch.autograd.grad(loss, leaf)
    return loss.detach(), gradient


def _score(members: Rows, table: Tensor) -> Score:
    points = table.double().numpy()
    norms = np.linalg.norm(points, axis=1)

    def score(children: Rows, parents: Rows) -> Floats:
        left, right = (
            np.minimum(np.searchsorted(members, rows), len(members) - 1)
            for rows in (children, parents)
        )
        found = np.empty(len(children))
        for start in range(0, len(children), PAIRS_PER_BLOCK):
            block = slice(start, start + PAIRS_PER_BLOCK)
            distance = poincare.distance(points[left[block]], points[right[block]], 1.0)
            found[block] = (
                -(1 + NORM_WEIGHT * (norms[right[block]] - norms[left[block]])) * distance
            )
        return found

    return score
