"""Training of ComplEx, the knowledge graph embedding of link prediction."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from ontodex.encoders.device import choose_device, has_bfloat16
from ontodex.errors import TrainingError
from ontodex.geometry.complex import ComplEx
from ontodex.graph import KnowledgeGraph
from ontodex.trainers.links.complex_batches import ComplExBatch, ComplExBatches
from ontodex.trainers.links.settings import ComplExTraining

__all__ = ["train_complex"]

START = 1e-3
"""Standard deviation of the initial vectors."""

STRENGTH = 0.12
"""Weight of the regularisation for one link per entity.

It decreases with the square root of the number of links per entity.
"""


def train_complex(
    graph: KnowledgeGraph,
    settings: ComplExTraining | None = None,
    *,
    device: str = "auto",
    quiet: bool = False,
) -> ComplEx:
    """Train ComplEx on the known triples of a graph; held-out triples are not used.

    The objective is from Lacroix et al. ("Canonical Tensor Decomposition for Knowledge Base
    Completion", ICML 2018, equation 7). For every triple and its inverse, which has its own
    relation, it adds the cross-entropy of the tail among the candidates and the N3 regularisation
    of the three vectors. Triples with the same query (entity, relation) share one softmax, which
    gives the same loss at a fraction of the cost: FB15k-237 has 544,230 triples (inverses
    included) and 149,689 queries.

    Args:
        graph: The graph.
        settings: Settings of the run.
        device: Device of the computation.
        quiet: Show no progress on stderr.

    Raises:
        TrainingError: If the graph has no triples, or the loss is not finite.
    """
    settings = settings or ComplExTraining()
    where = choose_device(device)
    batches = ComplExBatches(
        graph,
        steps=settings.steps,
        passes=settings.passes,
        queries=settings.queries,
        candidates=settings.candidates,
        seed=settings.seed,
    )
    regularisation = settings.regularisation
    if regularisation is None:
        regularisation = (
            STRENGTH * (np.count_nonzero(batches.linked_entities) / graph.n_triples) ** 0.5
        )
    random = torch.Generator().manual_seed(settings.seed)
    sizes = (graph.n_entities, 2 * graph.n_relations)
    entities, relations = (
        _Table((torch.randn(size, 2 * settings.rank, generator=random) * START).to(where))
        for size in sizes
    )
    narrow = torch.bfloat16 if has_bfloat16(where) else torch.float32
    with tqdm(
        total=len(batches), desc="ComplEx", unit="step", file=sys.stderr, disable=quiet
    ) as bar:
        for step in range(len(batches)):
            batch = batches[step]
            known, turned = entities.rows(batch.entities), relations.rows(batch.relations)
            loss = _loss(batch, known, turned, regularisation, narrow)
            value = float(loss.detach())
            if not np.isfinite(value):
                raise TrainingError(
                    f"{graph.source}: the loss of ComplEx became {value}; lower its learning rate"
                )
            loss.backward()  # type: ignore[no-untyped-call]
            rate = settings.rate * (1 - step / len(batches))
            entities.update(rate)
            relations.update(rate)
            bar.update()
            bar.set_postfix(loss=f"{value:.3f}", refresh=False)
    return ComplEx(
        _zero_unused(entities.weights, batches.linked_entities),
        _zero_unused(relations.weights, batches.used_relations),
    )


class _Table:
    """Embeddings under Adagrad; each step reads and updates only some of the rows."""

    def __init__(self, weights: Tensor) -> None:
        self.weights = weights
        self._squares = torch.zeros_like(weights)

    def rows(self, wanted: NDArray[np.int64]) -> Tensor:
        """Return the given rows; :meth:`update` applies their gradients."""
        self._wanted = torch.from_numpy(wanted).to(self.weights.device)
        self._taken = self.weights[self._wanted].requires_grad_()
        return self._taken

    @torch.no_grad()
    def update(self, rate: float) -> None:
        """Take a step; rows with zero gradient are unchanged, as under dense Adagrad."""
        gradient = self._taken.grad
        assert gradient is not None
        squares = self._squares[self._wanted].addcmul_(gradient, gradient)
        self._squares[self._wanted] = squares
        self.weights[self._wanted] = self._taken.detach().addcdiv_(
            gradient, squares.sqrt_().add_(1e-10), value=-rate
        )


def _loss(
    batch: ComplExBatch,
    entities: Tensor,
    relations: Tensor,
    regularisation: float,
    narrow: torch.dtype,
) -> Tensor:
    """Return cross-entropy plus regularisation, averaged over the triples of the batch."""
    device = entities.device
    heads, kinds, owners, tails = (
        torch.from_numpy(part).to(device)
        for part in (batch.heads, batch.kinds, batch.owners, batch.tails)
    )
    head, relation = entities[heads], relations[kinds]
    real, imaginary = head.chunk(2, dim=1)
    turn, lift = relation.chunk(2, dim=1)
    queries = torch.cat([real * turn - imaginary * lift, real * lift + imaginary * turn], dim=1)
    candidates = entities[torch.from_numpy(batch.candidates).to(device)]
    apply: Any = _GroupedCrossEntropy.apply
    loss: Tensor = apply(queries, candidates, owners, tails, narrow)
    if regularisation:
        counts = torch.bincount(owners, minlength=len(heads))
        shared = ((_cubes(head) + _cubes(relation)) * counts).sum() + _cubes(candidates)[
            tails
        ].sum()
        loss = loss + regularisation * shared / len(owners)
    return loss


def _cubes(vectors: Tensor) -> Tensor:
    """Return the sum of |x_i|³ over the complex numbers of each vector."""
    real, imaginary = vectors.chunk(2, dim=1)
    return (real * real + imaginary * imaginary).pow(1.5).sum(dim=1)


class _GroupedCrossEntropy(torch.autograd.Function):
    """Cross-entropy of many triples, with one softmax for all triples of a query.

    The gradients are computed in the forward pass, after which the scores are freed. No second pass
    is needed, and the large matrices stay in the type ``narrow``.
    """

    @staticmethod
    def forward(
        ctx: Any, queries: Tensor, candidates: Tensor, owners: Tensor, tails: Tensor, narrow: Any
    ) -> Tensor:
        """Return the mean over triples.

        Args:
            ctx: Stores the gradients.
            queries: Query vectors, of shape (queries, width).
            candidates: Candidate vectors, of shape (candidates, width).
            owners: Index of each triple's query.
            tails: Index of each triple's tail among the candidates.
            narrow: Type of the products.
        """
        left, right = queries.to(narrow), candidates.to(narrow)
        probabilities = torch.softmax(left @ right.T, dim=1)
        total = len(owners)
        loss = -probabilities[owners, tails].float().clamp_min(1e-30).log().sum() / total
        weights = torch.bincount(owners, minlength=len(queries)).to(narrow) / total
        probabilities *= weights[:, None]
        probabilities.index_put_(
            (owners, tails), probabilities.new_full((total,), -1 / total), accumulate=True
        )
        ctx.save_for_backward(probabilities @ right, probabilities.T @ left)
        return loss

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of queries and candidates."""
        queries, candidates = ctx.saved_tensors
        return queries.float() * gradient, candidates.float() * gradient, None, None, None


def _zero_unused(weights: Tensor, used: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the weights, with zeros for rows that are in no triple.

    Such rows were only moved as negatives.
    """
    made: NDArray[np.float32] = weights.cpu().numpy()
    made[~used] = 0.0
    return made
