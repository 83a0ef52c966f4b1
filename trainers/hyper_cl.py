"""Training Hyper-CL for link prediction on a graph."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.hypernetwork import HyperNetwork, HyperNetworkSettings
from ontodex.encoders.text import TextEncoder, load_sentence_transformer
from ontodex.errors import SettingsError, TrainingError
from ontodex.graph import KnowledgeGraph, TextSettings, entity_texts, relation_texts
from ontodex.trainers.checkpoints import (
    CHECKPOINTS,
    clear_checkpoints,
    clear_model,
    expect_own,
    last_checkpoint,
)
from ontodex.trainers.link_batches import LinkBatches
from ontodex.trainers.link_loss import LinkLoss
from ontodex.trainers.link_models import FrozenLinkModel, LinkModel, TunedLinkModel
from ontodex.trainers.run import run_training

__all__ = ["HyperCLTraining", "train_hyper_cl"]

_LEAST = {
    "steps": 0,
    "queries": 1,
    "entities": 1,
    "negatives": 0,
    "rank": 0,
    "condition": 0,
    "width": 0,
    "max_tokens": 3,
    "save_every": 1,
    "seed": 0,
}


@dataclass(frozen=True)
class HyperCLTraining:
    """Settings of a training run.

    Attributes:
        tune: ``"frozen"`` trains the hypernetwork on fixed embeddings (a minute or two without a GPU), ``"full"`` trains
            the text encoder with it.
        steps: Number of batches; 0 for twenty passes over the triples, but at least 100 and at most 600 batches.
        queries: Most queries (head, relation) in a batch, inverses counted.
        entities: Entities encoded in a batch, with ``tune="full"``.
        negatives: Further candidates of each query: random entities if frozen, the last batches' entities if not.
        rate: Learning rate of the hypernetwork.
        encoder_rate: Learning rate of the text encoder.
        rank: Rank of the projections; 0 for full rank.
        condition: Length of the vector that a relation is reduced to; 0 for the encoder's, as in the public code, which is
            also what ``projection="public"`` takes by default. Otherwise 64.
        projection: ``"residual"`` or ``"public"``, see :class:`~ontodex.encoders.hypernetwork.HyperNetworkSettings`.
        width: Hidden units of the entity layer over a frozen encoder; 0 for none.
        margin: Additive margin.
        temperature: First value of the learnable temperature.
        max_tokens: Texts are cut to this many tokens, the two that frame them counted, with ``tune="full"``.
        save_every: Steps between checkpoints, with ``tune="full"``.
        seed: Seed of weights and batches.

    Raises:
        SettingsError: If one makes no sense.
    """

    tune: str = "frozen"
    steps: int = 0
    queries: int = 1024
    entities: int = 1024
    negatives: int = 1024
    rate: float = 2e-3
    encoder_rate: float = 1e-4
    rank: int = 32
    condition: int | None = None
    projection: str = "residual"
    width: int = 1024
    margin: float = 0.02
    temperature: float = 0.05
    max_tokens: int = 40
    save_every: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        if self.tune not in ("frozen", "full"):
            raise SettingsError(f"tune: expected 'frozen' or 'full', found {self.tune!r}")
        if self.projection not in ("residual", "public"):
            raise SettingsError(f"projection: expected 'residual' or 'public', found {self.projection!r}")
        for name, least in _LEAST.items():
            found = getattr(self, name)
            if (name, found) != ("condition", None) and not (isinstance(found, int) and found >= least):
                raise SettingsError(f"{name}: expected a whole number of at least {least}, found {found!r}")
        for name in ("rate", "encoder_rate", "temperature", "margin"):
            found, zero = getattr(self, name), name == "margin"
            if not isinstance(found, int | float) or not (found > 0 or (found == 0 and zero)):
                raise SettingsError(
                    f"{name}: expected a number {'of at least' if zero else 'above'} 0, found {found!r}"
                )

    def network(self, dim: int) -> HyperNetworkSettings:
        """Return the shape of the hypernetwork over embeddings of ``dim`` dimensions.

        Raises:
            SettingsError: If the rank is above them.
        """
        condition = self.condition
        if condition is None:
            condition = 0 if self.projection == "public" else HyperNetworkSettings.condition
        return HyperNetworkSettings(
            dim=dim,
            condition=condition or dim,
            rank=self.rank,
            projection=self.projection,
            width=self.width if self.tune == "frozen" else 0,
        )


def train_hyper_cl(
    graph: KnowledgeGraph,
    folder: Path,
    *,
    encoder: TextEncoder,
    settings: HyperCLTraining | None = None,
    texts: TextSettings | None = None,
    embeddings: NDArray[np.float32] | None = None,
    quiet: bool = False,
) -> HyperCL:
    """Train projections for the relations of a graph, and write the encoder to ``folder``.

    An interrupted run with ``tune="full"`` goes on from its last checkpoint, if it is called again with the same graph,
    encoder and settings.

    Args:
        graph: Its known triples are learnt, in both directions; those held out are not looked at.
        folder: Where the encoder is written: a new or empty folder, or one that holds an earlier one, which it replaces.
        encoder: The text encoder to start from.
        settings: How to train.
        texts: How an entity's text is built.
        embeddings: Embeddings of the entities by ``encoder``, of shape (entities, dim), if they are there already.
        quiet: Show no progress on stderr.

    Raises:
        TrainingError: If the graph has no triples, the folder holds other files, or the loss is no number.
        SettingsError: If the rank is above the encoder's dimensions.
    """
    settings, texts = settings or HyperCLTraining(), texts or TextSettings()
    shape = settings.network(encoder.dim)
    expect_own(folder, HyperCL.is_at(folder))
    if encoder.folder.resolve().is_relative_to(folder.resolve()):
        raise TrainingError(f"{folder}: expected a folder apart from the encoder to start from, found it in {folder}")
    if settings.steps == 0:
        passes = -(-20 * 2 * graph.n_triples // settings.queries)
        settings = replace(settings, steps=min(600, max(100, passes)))
    frozen = settings.tune == "frozen"
    batches = LinkBatches(
        graph,
        steps=settings.steps,
        queries=settings.queries,
        entities=0 if frozen else settings.entities,
        negatives=settings.negatives,
        seed=settings.seed,
    )
    torch.manual_seed(settings.seed)
    network = HyperNetwork(shape)
    loss = LinkLoss(settings.margin, settings.temperature)
    if frozen:
        vectors = encoder.encode(entity_texts(graph, texts)) if embeddings is None else embeddings
        model: LinkModel = FrozenLinkModel(network, loss, vectors, encoder.encode(relation_texts(graph)))
    else:
        trained = load_sentence_transformer(encoder.folder, encoder.device)
        model = TunedLinkModel(
            network, loss, trained, entity_texts(graph, texts), relation_texts(graph), settings.max_tokens
        )
    run = {"training": asdict(settings), "texts": asdict(texts), "graph": graph.fingerprint}
    run["encoder"] = encoder.fingerprint
    checkpoints = folder / CHECKPOINTS
    encoder_weights = [weight for name, weight in model.named_parameters() if name.startswith("tower.")]
    others = [weight for name, weight in model.named_parameters() if not name.startswith("tower.")]
    run_training(
        model,
        batches,
        checkpoints,
        groups=[{"params": others, "lr": settings.rate}, {"params": encoder_weights, "lr": settings.encoder_rate}],
        save_every=0 if frozen else settings.save_every,
        resume=last_checkpoint(checkpoints, run),
        device=encoder.device,
        seed=settings.seed,
        quiet=quiet,
    )
    clear_model(folder)
    if not frozen:
        trained.max_seq_length = settings.max_tokens  # what it has not been trained on is not read later
        trained.save(str(folder), create_model_card=False)
        encoder = TextEncoder(folder, encoder.device)
    made = HyperCL(encoder, network.cpu(), asdict(texts))
    made.save(folder)
    clear_checkpoints(checkpoints)
    return made
