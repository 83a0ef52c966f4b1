"""Training of ComplEx, the knowledge graph embedding of link prediction."""

from __future__ import annotations

import sys

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
        Table((torch.randn(size, 2 * settings.rank, generator=random) * START).to(where))
        for size in sizes
    )
    narrow = torch.bfloat16 if has_bfloat16(where) else torch.float32
    with (
        torch.inference_mode(),
        tqdm(range(len(batches)), "ComplEx", unit="step", file=sys.stderr, disable=quiet) as bar,
    ):
        for step in bar:
            batch = batches[step]
            loss, *gradients = loss_and_gradients(
                batch,
                entities.rows(batch.entities),
                relations.rows(batch.relations),
                regularisation,
                narrow,
            )
            if not np.isfinite(loss):
                raise TrainingError(
                    f"{graph.source}: the loss of ComplEx became {loss}; lower its learning rate"
                )
            rate = settings.rate * (1 - step / len(batches))
            for table, gradient in zip((entities, relations), gradients, strict=True):
                table.update(gradient, rate)
            bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
    return ComplEx(
        _zero_unused(entities.weights, batches.linked_entities),
        _zero_unused(relations.weights, batches.used_relations),
    )


class Table:
    """Embeddings under Adagrad; each step reads and updates only some of the rows."""

    def __init__(self, weights: Tensor) -> None:
        self.weights = weights
        self._squares = torch.zeros_like(weights)

    def rows(self, wanted: NDArray[np.int64]) -> Tensor:
        """Return copies of the given rows; :meth:`update` applies their gradients."""
        self._wanted = torch.from_numpy(wanted).to(self.weights.device)
        self._taken = self.weights[self._wanted]
        return self._taken

    def update(self, gradient: Tensor, rate: float) -> None:
        """Take a step; rows with zero gradient are unchanged, as under dense Adagrad."""
        squares = self._squares[self._wanted].addcmul_(gradient, gradient)
        self._squares[self._wanted] = squares
        self.weights[self._wanted] = self._taken.addcdiv_(
            gradient, squares.sqrt_().add_(1e-10), value=-rate
        )


def loss_and_gradients(
    batch: ComplExBatch,
    entities: Tensor,
    relations: Tensor,
    regularisation: float,
    narrow: torch.dtype,
) -> tuple[float, Tensor, Tensor]:
    """Return cross-entropy plus regularisation, averaged over the triples, and their gradients.

    Args:
        batch: The batch.
        entities: Vectors of the batch's entities, of shape (entities, width).
        relations: Vectors of the batch's relations, of shape (relations, width).
        regularisation: Weight of the regularisation.
        narrow: Type of the products with all candidates; the large matrices are of this type.

    Returns:
        The loss, and its gradients of the shapes of ``entities`` and ``relations``.
    """
    heads, kinds, owners, tails = (
        torch.from_numpy(part).to(entities.device)
        for part in (batch.heads, batch.kinds, batch.owners, batch.tails)
    )
    count = len(owners)
    head, relation = entities[heads], relations[kinds]
    queries, candidates = _product(head, relation).to(narrow), entities.to(narrow)
    probabilities = torch.softmax(queries @ candidates.T, dim=1)
    loss = -probabilities[owners, tails].float().clamp_min(1e-30).log().sum() / count
    shares = torch.bincount(owners, minlength=len(heads)).to(entities.dtype) / count
    probabilities *= shares[:, None].to(narrow)
    probabilities.index_put_(
        (owners, tails), probabilities.new_full((count,), -1 / count), accumulate=True
    )
    by_query = (probabilities @ candidates).to(entities.dtype)
    by_entity = (probabilities.T @ queries).to(entities.dtype)
    by_head, by_kind = (_product(by_query, other, -1.0) for other in (relation, head))
    if regularisation:
        of_tails = torch.bincount(tails, minlength=len(entities)).to(entities.dtype) / count
        for vectors, weights, gradient in (
            (head, shares, by_head),
            (relation, shares, by_kind),
            (entities, of_tails, by_entity),
        ):
            loss += _add_cubes(vectors, regularisation * weights, gradient)
    by_entity.index_add_(0, heads, by_head)
    by_relation = torch.zeros_like(relations).index_add_(0, kinds, by_kind)
    return float(loss), by_entity, by_relation


def _product(left: Tensor, right: Tensor, sign: float = 1.0) -> Tensor:
    """Return the products of complex numbers; of ``sign`` -1, with the conjugates of ``right``.

    Vectors of real parts, then of imaginary parts, are of shape (n, width).
    """
    (a, b), (c, d) = left.chunk(2, dim=1), right.chunk(2, dim=1)
    return torch.cat(
        [torch.addcmul(a * c, b, d, value=-sign), torch.addcmul(b * c, a, d, value=sign)], dim=1
    )


def _add_cubes(vectors: Tensor, weights: Tensor, gradient: Tensor) -> Tensor:
    """Return the weighted sum of |x|³ over the complex numbers; add its gradient, in place.

    Args:
        vectors: Vectors of shape (n, width).
        weights: Weight of each vector, of shape (n,).
        gradient: What the gradient is added to, of shape (n, width).
    """
    real, imaginary = vectors.chunk(2, dim=1)
    lengths = torch.addcmul(real * real, imaginary, imaginary).sqrt_()
    slopes = 3 * weights[:, None] * lengths
    for part, own in zip(vectors.chunk(2, dim=1), gradient.chunk(2, dim=1), strict=True):
        own.addcmul_(slopes, part)
    return (slopes * lengths * lengths).sum() / 3


def _zero_unused(weights: Tensor, used: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return the weights, with zeros for rows that are in no triple.

    Such rows were only moved as negatives.
    """
    made: NDArray[np.float32] = weights.cpu().numpy()
    made[~used] = 0.0
    return made
