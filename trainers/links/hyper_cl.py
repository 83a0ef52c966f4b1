"""Training of link prediction on a graph: Hyper-CL and the architectures it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from ontodex.encoders.bi_encoder import BiEncoder, query_folder
from ontodex.encoders.compositions import make_network
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.hypernetwork import LinkNetwork
from ontodex.encoders.link_architectures import BI_ENCODER
from ontodex.encoders.link_encoder import LinkEncoder
from ontodex.encoders.text import TextEncoder
from ontodex.graph import KnowledgeGraph, TextSettings, entity_texts, relation_texts
from ontodex.trainers.checkpoints import clear_checkpoints, clear_model, expect_own
from ontodex.trainers.links.batches import LinkBatches
from ontodex.trainers.links.frozen import train_frozen
from ontodex.trainers.links.loss import LinkLoss
from ontodex.trainers.links.models import FrozenLinkModel, LinkModel
from ontodex.trainers.links.settings import HyperCLTraining
from ontodex.trainers.links.validation import ValidationRank
from ontodex.trainers.run import Run, run_training

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

__all__ = ["train_hyper_cl"]

MAX_STEPS, MAX_STEPS_UNVALIDATED = 800, 600
"""Largest default number of batches, with validation triples that end the run and without."""

PASSES, PASSES_PRETRAINED = (20, 100), (10, 50)
"""Default number of passes over the triples, and least number of batches.

The second are for a run that starts from the network that ontodex ships. On Brick, 100, 250 and 422
batches have a mean reciprocal rank of .814, .822 and .807 on held-out triples; on Schema.org 50 and
175 have .738 and .739.
"""


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
    """Train relation projections or a bi-encoder on a graph and write the encoder to ``folder``.

    An interrupted run with ``tune="full"`` resumes from its last checkpoint if it is started again
    with the same graph, encoder and settings.

    Args:
        graph: The graph, whose known triples are the training triples, in both directions.
            Validation triples end a run with ``tune="frozen"`` and ``steps=0``; otherwise held-out
            triples are not used.
        folder: Output folder: new, empty, or holding a previous link encoder, which is replaced.
        encoder: The text encoder that training starts from.
        settings: Settings of the run.
        texts: How entity texts are built.
        embeddings: Embeddings of the entities by ``encoder``, of shape (entities, dim), if already
            computed.
        quiet: Show no progress on stderr.

    Raises:
        TrainingError: If the graph has no triples, the folder holds other files, or the loss is not
            finite.
        SettingsError: If the rank is greater than the encoder's dimension.
    """
    settings, texts = settings or HyperCLTraining(), texts or TextSettings()
    bi_encoder = settings.architecture == BI_ENCODER
    shape = None if bi_encoder else settings.network(encoder.dim)
    expect_own(folder, HyperCL.is_at(folder), encoder.folder)
    stops_early = settings.steps == 0 and settings.tune == "frozen" and len(graph.valid) > 0
    torch.manual_seed(settings.seed)
    network = None if shape is None else make_network(shape)
    seen: list[str] = []
    pretrained = False
    if network is not None and settings.pretrained:
        shipped = HyperCL.in_the_box(encoder)
        if shipped is not None and replace(network.settings, width=0) == shipped.network.settings:
            # The shipped network has no entity layer.
            network.load_state_dict(shipped.network.state_dict(), strict=False)
            seen, pretrained = shipped.seen, True
    if settings.steps == 0:
        passes, least = PASSES_PRETRAINED if pretrained and stops_early else PASSES
        most = MAX_STEPS if stops_early else MAX_STEPS_UNVALIDATED
        count = -(-passes * 2 * graph.n_triples // settings.queries)
        settings = replace(settings, steps=min(most, max(least, count)))
    loss = LinkLoss(settings.margin, settings.temperature)
    names, relations = entity_texts(graph, texts), relation_texts(graph)
    about = {"training": asdict(settings), "texts": asdict(texts), "graph": graph.fingerprint}
    steps = settings.steps
    run = Run(folder, encoder.device, settings.seed, quiet).resumed(
        {**about, "encoder": encoder.fingerprint}
    )
    frozen = settings.tune == "frozen"
    first = settings.steps if frozen else settings.start
    related = None
    if network is not None and first and run.resume is None:
        vectors = encoder.encode(names) if embeddings is None else embeddings
        related = encoder.encode(relations)
        started = FrozenLinkModel(network, loss, vectors, related)
        drawn = LinkBatches(
            graph,
            steps=first,
            queries=settings.queries,
            negatives=settings.negatives,
            seed=settings.seed,
        )
        validate = ValidationRank(graph, started, settings.seed) if stops_early else None
        best = train_frozen(
            started,
            drawn,
            rate=settings.rate,
            device=encoder.device,
            quiet=quiet,
            validate=validate,
        )
        steps = best if frozen else steps
    towers: list[SentenceTransformer] = []
    if not frozen:
        # These import sentence-transformers, which takes seconds.
        from ontodex.encoders.sentence_transformer import load_tunable
        from ontodex.trainers.links.tuned_models import BiEncoderLinkModel, TunedLinkModel

        count = settings.towers if network is None else 1
        towers = [load_tunable(encoder.folder, encoder.device) for _ in range(count)]
        inputs = names, relations, settings.max_tokens
        model: LinkModel = (
            BiEncoderLinkModel(loss, towers[0], towers[-1], *inputs)
            if network is None
            else TunedLinkModel(network, loss, towers[0], *inputs)
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
        steps,
        [*seen, *graph.source_names],
    )
    made.save(folder)
    clear_checkpoints(run.checkpoints)
    if frozen and isinstance(made, HyperCL):
        made.projections(relations, related)  # keeps them, so that relations are encoded once
    return made


def _saved(
    folder: Path,
    encoder: TextEncoder,
    network: LinkNetwork | None,
    towers: Sequence[SentenceTransformer],
    max_tokens: int,
    texts: dict[str, Any],
    steps: int,
    seen: Sequence[str],
) -> LinkEncoder:
    """Save the trained text encoders, and return the link encoder that contains them."""
    folders = (folder, query_folder(folder))
    for tower, own in zip(towers, folders, strict=False):
        # Truncate texts as in training.
        tower.max_seq_length = min(max_tokens, tower.max_seq_length or max_tokens)
        if network is None:
            # Training uses no token types.
            tower.tokenizer.model_input_names = ["input_ids", "attention_mask"]
        tower.save(str(own), create_model_card=False)
    loaded = [TextEncoder(own, encoder.device) for _, own in zip(towers, folders, strict=False)]
    if network is None:
        return BiEncoder(loaded[0], loaded[1] if len(loaded) > 1 else None, texts)
    return HyperCL(loaded[0] if loaded else encoder, network, texts, steps, seen)
