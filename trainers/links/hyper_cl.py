"""Training link prediction on a graph: Hyper-CL, and the architectures that it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from ontodex.encoders.bi_encoder import BiEncoder, query_folder
from ontodex.encoders.compositions import make_network
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.hypernetwork import LinkNetwork, LinkNetworkSettings
from ontodex.encoders.link_architectures import BI_ENCODER, TRI_ENCODERS
from ontodex.encoders.link_encoder import LinkEncoder
from ontodex.encoders.sentence_transformer import load_tunable
from ontodex.encoders.text import TextEncoder
from ontodex.errors import SettingsError, expect_choice, expect_number, expect_whole
from ontodex.graph import KnowledgeGraph, TextSettings, entity_texts, relation_texts
from ontodex.trainers.checkpoints import clear_checkpoints, clear_model, expect_own
from ontodex.trainers.links.batches import LinkBatches
from ontodex.trainers.links.loss import LinkLoss
from ontodex.trainers.links.models import (
    BiEncoderLinkModel,
    FrozenLinkModel,
    LinkModel,
    TunedLinkModel,
)
from ontodex.trainers.run import Run, run_training

__all__ = ["HyperCLTraining", "train_hyper_cl"]


@dataclass(frozen=True)
class HyperCLTraining:
    """Settings of a training run.

    Attributes:
        tune: ``"frozen"`` trains the network on fixed embeddings (a minute or two without a GPU), ``"full"`` trains
            the text encoder with it.
        steps: Number of batches; 0 for twenty passes over the triples, but at least 100 and at most 600 batches.
        queries: Most queries (head, relation) in a batch, inverses counted.
        entities: Entities encoded in a batch, with ``tune="full"``.
        negatives: Further candidates of each query: random entities if frozen, the last batches' entities if not.
        start: Batches on fixed embeddings that train the network before the text encoder is trained with it, with
            ``tune="full"``: what they cost is little beside that, and without them it has to be learnt from far off.
        rate: Learning rate of the network; half of it where the text encoder is trained with it.
        encoder_rate: Learning rate of the text encoder.
        architecture: ``"hyper"``, ``"hadamard"`` or ``"concat"``: head and relation encoded apart and combined by a
            hypernetwork, an elementwise product, or a linear layer over both; or ``"bi-encoder"``: read together, as in
            SimKGC, with ``tune="full"``.
        pretrained: Start from the network that ontodex brings, where text encoder and shape are its own.
        rank: Rank of a hypernetwork's projections; 0 for full rank. By default 32, or the embeddings' dimension if that is
            less.
        condition: Length of the vector that a hypernetwork reduces a relation to; 0 for the encoder's, as in the public
            code, which is also what ``projection="public"`` takes by default. Otherwise 64.
        projection: ``"residual"`` or ``"public"``, see :class:`~ontodex.encoders.hypernetwork.LinkNetworkSettings`.
        towers: Text encoders of a bi-encoder: 2, one for pairs of head and relation and one for entities, or 1 for both.
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
    start: int = 300
    rate: float = 2e-3
    encoder_rate: float = 1e-4
    pretrained: bool = True
    rank: int | None = None
    condition: int | None = None
    projection: str = "residual"
    architecture: str = "hyper"
    towers: int = 2
    width: int = 1024
    margin: float = 0.02
    temperature: float = 0.05
    max_tokens: int = 40
    save_every: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        expect_choice("tune", self.tune, ("frozen", "full"))
        expect_choice("architecture", self.architecture, (*TRI_ENCODERS, BI_ENCODER))
        expect_choice("projection", self.projection, ("residual", "public"))
        if self.architecture == BI_ENCODER and self.tune != "full":
            raise SettingsError(
                f"tune: expected 'full' for a bi-encoder, which has nothing but its text encoders, found {self.tune!r}"
            )
        if self.towers not in (1, 2):
            raise SettingsError(f"towers: expected 1 or 2, found {self.towers!r}")
        expect_whole(self, steps=0, queries=1, entities=1, negatives=0, start=0)
        expect_whole(self, width=0, max_tokens=3, save_every=1, seed=0)
        for name in ("rank", "condition"):
            if getattr(self, name) is not None:
                expect_whole(self, **{name: 0})
        expect_number(self, "rate", "encoder_rate", "temperature")
        expect_number(self, "margin", zero=True)

    def network(self, dim: int) -> LinkNetworkSettings:
        """Return the shape of the network over embeddings of ``dim`` dimensions.

        Raises:
            SettingsError: If the rank is above them.
        """
        condition = self.condition
        if condition is None:
            condition = 0 if self.projection == "public" else LinkNetworkSettings.condition
        return LinkNetworkSettings(
            dim=dim,
            condition=condition or dim,
            rank=min(dim, LinkNetworkSettings.rank) if self.rank is None else self.rank,
            shift=self.architecture == "hyper" and self.projection == "residual",
            projection=self.projection,
            width=self.width if self.tune == "frozen" else 0,
            architecture=self.architecture,
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
) -> LinkEncoder:
    """Train projections for the relations of a graph, or a bi-encoder, and write the encoder to ``folder``.

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
    bi_encoder = settings.architecture == BI_ENCODER
    shape = None if bi_encoder else settings.network(encoder.dim)
    expect_own(folder, HyperCL.is_at(folder), encoder.folder)
    if settings.steps == 0:
        passes = -(-20 * 2 * graph.n_triples // settings.queries)
        settings = replace(settings, steps=min(600, max(100, passes)))
    torch.manual_seed(settings.seed)
    network = None if shape is None else make_network(shape)
    if network is not None and settings.pretrained:
        brought = HyperCL.in_the_box(encoder)
        if brought is not None and replace(network.settings, width=0) == brought.network.settings:
            network.load_state_dict(
                brought.network.state_dict(), strict=False
            )  # all but the entity layer
    loss = LinkLoss(settings.margin, settings.temperature)
    names, relations = entity_texts(graph, texts), relation_texts(graph)
    about = {"training": asdict(settings), "texts": asdict(texts), "graph": graph.fingerprint}
    run = Run(folder, encoder.device, settings.seed, quiet).resumed(
        {**about, "encoder": encoder.fingerprint}
    )
    frozen = settings.tune == "frozen"
    first = settings.steps if frozen else settings.start
    if network is not None and first and run.resume is None:
        vectors = encoder.encode(names) if embeddings is None else embeddings
        started = FrozenLinkModel(network, loss, vectors, encoder.encode(relations))
        drawn = LinkBatches(
            graph,
            steps=first,
            queries=settings.queries,
            negatives=settings.negatives,
            seed=settings.seed,
        )
        run_training(
            run, started, drawn, [{"params": list(started.parameters()), "lr": settings.rate}]
        )
    towers: list[SentenceTransformer] = []
    if not frozen:
        count = settings.towers if network is None else 1
        towers = [load_tunable(encoder.folder, encoder.device) for _ in range(count)]
        read = names, relations, settings.max_tokens
        model: LinkModel = (
            BiEncoderLinkModel(loss, towers[0], towers[-1], *read)
            if network is None
            else TunedLinkModel(network, loss, towers[0], *read)
        )
        batches = LinkBatches(
            graph,
            steps=settings.steps,
            queries=settings.queries,
            entities=settings.entities,
            negatives=settings.negatives,
            seed=settings.seed,
        )
        named = list(model.named_parameters())
        groups = [
            {
                "params": [weight for name, weight in named if "tower" not in name],
                "lr": settings.rate / 2,
            },
            {
                "params": [weight for name, weight in named if "tower" in name],
                "lr": settings.encoder_rate,
            },
        ]
        run_training(run, model, batches, groups, save_every=settings.save_every)
    clear_model(folder)
    made = _saved(
        folder,
        encoder,
        None if network is None else network.cpu(),
        towers,
        settings.max_tokens,
        asdict(texts),
    )
    made.save(folder)
    clear_checkpoints(run.checkpoints)
    return made


def _saved(
    folder: Path,
    encoder: TextEncoder,
    network: LinkNetwork | None,
    towers: Sequence[SentenceTransformer],
    max_tokens: int,
    texts: dict[str, Any],
) -> LinkEncoder:
    """Write the text encoders that were trained, and return the encoder of which they are part."""
    folders = (folder, query_folder(folder))
    for tower, own in zip(towers, folders, strict=False):
        tower.max_seq_length = min(
            max_tokens, tower.max_seq_length or max_tokens
        )  # what it has not been trained on is not read later
        if network is None:
            tower.tokenizer.model_input_names = [
                "input_ids",
                "attention_mask",
            ]  # no token types: none in training
        tower.save(str(own), create_model_card=False)
    read = [TextEncoder(own, encoder.device) for _, own in zip(towers, folders, strict=False)]
    if network is None:
        return BiEncoder(read[0], read[1] if len(read) > 1 else None, texts)
    return HyperCL(read[0] if read else encoder, network, texts)
