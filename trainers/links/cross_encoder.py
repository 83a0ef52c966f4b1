"""Training of a cross-encoder of triples, the re-ranker of link prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from torch import Tensor, nn

from ontodex.encoders.cross_encoder import (
    CrossEncoder,
    CrossEncoderSettings,
    Triple,
    load_classifier,
    tokens_of,
)
from ontodex.encoders.text import TextEncoder
from ontodex.errors import TrainingError
from ontodex.graph import (
    KnowledgeGraph,
    TextSettings,
    both_directions,
    entity_texts,
    relation_texts,
)
from ontodex.graph.known_links import KnownLinks
from ontodex.trainers.checkpoints import clear_checkpoints, clear_model, expect_own
from ontodex.trainers.epoch_batches import EpochBatches
from ontodex.trainers.links.settings import CrossEncoderTraining
from ontodex.trainers.run import Run, expect_finite, run_training

__all__ = ["train_cross_encoder"]


def train_cross_encoder(
    graph: KnowledgeGraph,
    folder: Path,
    *,
    encoder: TextEncoder,
    settings: CrossEncoderTraining | None = None,
    texts: TextSettings | None = None,
    quiet: bool = False,
) -> CrossEncoder:
    """Train a cross-encoder to distinguish the known tails of a graph from wrong tails.

    Heads are trained as the tails of inverse relations. The loss is the cross-entropy of the true
    tail among the true and the wrong tails of its query. An interrupted run resumes from its last
    checkpoint if it is started again with the same graph, encoder and settings.

    Args:
        graph: Its known triples are the training triples; held-out triples are not used.
        folder: Output folder: new, empty, or holding a previous cross-encoder, which is replaced.
        encoder: The text encoder. Training starts from its transformer. Its vectors find similar
            entities, which serve as wrong tails.
        settings: Settings of the run.
        texts: How entity texts are built.
        quiet: Show no progress on stderr.

    Raises:
        TrainingError: If the graph has no triples, the folder holds other files, or the loss is not
            finite.
        EncoderError: If the encoder's folder holds no transformer.
    """
    settings, texts = settings or CrossEncoderTraining(), texts or TextSettings()
    if not graph.n_triples:
        raise TrainingError(f"{graph.source}: expected triples to train on, found none")
    expect_own(folder, CrossEncoder.is_at(folder), encoder.folder)
    steps = settings.steps or min(2000, max(100, -(-2 * graph.n_triples // settings.queries)))
    transformers.set_seed(settings.seed)
    model, tokenizer = load_classifier(encoder.folder)
    names = entity_texts(graph, texts)
    stored = CrossEncoderSettings(settings.max_tokens, asdict(texts))
    batches = _Batches(graph, encoder.encode(names), steps, settings)
    trained = _Model(model, tokenizer, names, relation_texts(graph), stored.max_tokens)
    about = {"training": asdict(settings), "texts": asdict(texts), "graph": graph.fingerprint}
    run = Run(folder, encoder.device, settings.seed, quiet).resumed(
        {**about, "encoder": encoder.fingerprint}
    )
    groups = [{"params": list(trained.parameters()), "lr": settings.rate}]
    run_training(run, trained, batches, groups, save_every=settings.save_every)
    clear_model(folder)
    made = CrossEncoder(model, tokenizer, stored)
    made.save(folder)
    clear_checkpoints(run.checkpoints)
    return made


class _Model(nn.Module):
    """Scores the tails of a batch of queries and returns the loss."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        entities: Sequence[str],
        relations: Sequence[str],
        max_tokens: int,
    ) -> None:
        super().__init__()
        self.model = model
        for module in model.modules():
            # Few passes over the triples train faster without dropout.
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        self._tokenizer, self._max_tokens = tokenizer, max_tokens
        self._entities, self._relations = entities, relations

    def forward(self, batch: NDArray[np.int64]) -> dict[str, Tensor]:
        """Return ``{"loss": loss}`` for rows (head, relation, true tail, wrong tail, …)."""
        triples: list[Triple] = [
            (self._entities[head], self._relations[relation], self._entities[tail])
            for head, relation, *tails in batch.tolist()
            for tail in tails
        ]
        inputs = tokens_of(self._tokenizer, triples, self._max_tokens).to(self.model.device)
        logits = self.model(**inputs).logits.float().view(len(batch), -1)
        true = torch.zeros(len(batch), dtype=torch.long, device=logits.device)
        return expect_finite(nn.functional.cross_entropy(logits, true))


class _Batches(EpochBatches[NDArray[np.int64], NDArray[np.int64]]):
    """Batches of rows (head, relation, true tail, wrong tail, …)."""

    NEAREST = 16

    def __init__(
        self,
        graph: KnowledgeGraph,
        vectors: NDArray[np.float32],
        steps: int,
        settings: CrossEncoderTraining,
    ) -> None:
        triples = both_directions(graph.triples, graph.n_relations)
        super().__init__(steps, per_epoch=max(1, len(triples) // settings.queries))
        self.settings, self._vectors = settings, vectors
        self._true = KnownLinks(graph.triples, graph.n_entities, graph.n_relations)
        self._triples = triples[np.argsort(triples[:, 1], kind="stable")]
        self._starts = np.searchsorted(self._triples[:, 1], np.arange(2 * graph.n_relations + 1))

    def _batch(self, step: int, turn: int, order: NDArray[np.int64]) -> NDArray[np.int64]:
        queries = self._triples[
            order[turn * self.settings.queries : (turn + 1) * self.settings.queries]
        ]
        rng = np.random.default_rng((self.settings.seed, 2, step))
        wrong = np.concatenate(
            [self._same_relation(queries, rng), self._similar(queries, rng)], axis=1
        )
        heads, relations = queries[:, :1], queries[:, 1:2]
        bad = self._true.known(heads, relations, wrong) | (wrong == heads)
        anything = rng.integers(0, self._true.n_entities, wrong.shape)
        anything = np.where(self._true.known(heads, relations, anything), wrong, anything)
        return np.concatenate([queries, np.where(bad, anything, wrong)], axis=1)

    def _draw_order(self, epoch: int) -> NDArray[np.int64]:
        return np.random.default_rng((self.settings.seed, 1, epoch)).permutation(len(self._triples))

    def _same_relation(
        self, queries: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw tails of the same relation from all triples, which probably have the right type."""
        count = -(-self.settings.negatives // 2)
        first, last = self._starts[queries[:, 1]], self._starts[queries[:, 1] + 1]
        drawn: NDArray[np.int64] = self._triples[
            rng.integers(first[:, None], last[:, None], (len(queries), count)), 2
        ]
        return drawn

    def _similar(self, queries: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw entities whose texts are similar to the true tail's text or to the head's text."""
        count = self.settings.negatives // 2
        near = np.where(rng.random(len(queries)) < 0.5, queries[:, 0], queries[:, 2])
        scores = self._vectors[near] @ self._vectors.T
        found = np.argpartition(-scores, min(self.NEAREST, scores.shape[1] - 1), axis=1)[
            :, : self.NEAREST
        ]
        drawn: NDArray[np.int64] = np.take_along_axis(
            found, rng.integers(0, found.shape[1], (len(queries), count)), axis=1
        )
        return drawn
