"""Training Hyper-CL for link prediction on a graph."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from ontodex.encoders.device import has_bfloat16
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.hypernetwork import HyperNetwork, HyperNetworkSettings
from ontodex.encoders.text import TextEncoder, load_sentence_transformer
from ontodex.errors import SettingsError
from ontodex.graph import KnowledgeGraph, TextSettings, entity_texts, relation_texts
from ontodex.trainers.checkpoints import ProgressOnStderr, last_checkpoint
from ontodex.trainers.link_batches import LinkBatches
from ontodex.trainers.link_loss import LinkLoss
from ontodex.trainers.link_models import FrozenLinkModel, LinkModel, TunedLinkModel

__all__ = ["HyperCLTraining", "train_hyper_cl"]

DEFAULT_TEXTS = TextSettings()


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
        condition: Length of the vector that a relation is reduced to; 0 for the encoder's, as in the public code.
        projection: ``"residual"`` or ``"public"``, see :class:`~ontodex.encoders.hypernetwork.HyperNetworkSettings`.
        width: Hidden units of the entity layer over a frozen encoder; 0 for none.
        margin: Additive margin.
        temperature: First value of the learnable temperature.
        max_tokens: Texts are cut to this many tokens, with ``tune="full"``.
        save_every: Steps between checkpoints, with ``tune="full"``.
        seed: Seed of weights and batches.
    """

    tune: str = "frozen"
    steps: int = 0
    queries: int = 1024
    entities: int = 1024
    negatives: int = 1024
    rate: float = 2e-3
    encoder_rate: float = 1e-4
    rank: int = 32
    condition: int = 64
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


def train_hyper_cl(
    graph: KnowledgeGraph,
    folder: Path,
    *,
    encoder: TextEncoder,
    settings: HyperCLTraining | None = None,
    texts: TextSettings = DEFAULT_TEXTS,
    embeddings: NDArray[np.float32] | None = None,
    quiet: bool = False,
) -> HyperCL:
    """Train projections for the relations of a graph, and write the encoder to ``folder``.

    An interrupted run with ``tune="full"`` goes on from its last checkpoint, if it is called again with the same settings.

    Args:
        graph: Its known triples are learnt, in both directions; those held out are not looked at.
        folder: Where the encoder is written.
        encoder: The text encoder to start from.
        settings: How to train.
        texts: How an entity's text is built.
        embeddings: Embeddings of the entities by ``encoder``, of shape (entities, dim), if they are there already.
        quiet: Show no progress on stderr.

    Raises:
        TrainingError: If the graph has no triples, or the loss is no number.
    """
    settings = settings or HyperCLTraining()
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
    width = settings.width if frozen else 0
    network = HyperNetwork(
        HyperNetworkSettings(
            dim=encoder.dim,
            condition=settings.condition or encoder.dim,
            rank=min(settings.rank, encoder.dim),
            projection=settings.projection,
            width=width,
        )
    )
    loss = LinkLoss(settings.margin, settings.temperature)
    if frozen:
        vectors = encoder.encode(entity_texts(graph, texts)) if embeddings is None else embeddings
        model: LinkModel = FrozenLinkModel(network, loss, vectors, encoder.encode(relation_texts(graph)))
    else:
        trained = load_sentence_transformer(encoder.folder, encoder.device)
        model = TunedLinkModel(
            network, loss, trained, entity_texts(graph, texts), relation_texts(graph), settings.max_tokens
        )
    _run(model, batches, settings, folder / "checkpoints", encoder.device, quiet)
    if not frozen:
        trained.save(str(folder), create_model_card=False)
        encoder = TextEncoder(folder, encoder.device)
    made = HyperCL(encoder, network.cpu())
    made.save(folder)
    shutil.rmtree(folder / "checkpoints", ignore_errors=True)
    return made


def _run(
    model: LinkModel, batches: LinkBatches, settings: HyperCLTraining, checkpoints: Path, device: str, quiet: bool
) -> None:
    from transformers import PrinterCallback, ProgressCallback, Trainer, TrainingArguments

    frozen = settings.tune == "frozen"
    arguments = TrainingArguments(
        output_dir=str(checkpoints),
        max_steps=settings.steps,
        per_device_train_batch_size=1,
        train_sampling_strategy="sequential",
        learning_rate=settings.rate,
        lr_scheduler_type="linear",
        warmup_steps=min(100, settings.steps // 10),
        max_grad_norm=1.0,
        bf16=has_bfloat16(device),
        use_cpu=device == "cpu",
        seed=settings.seed,
        logging_steps=50,
        logging_nan_inf_filter=False,
        save_strategy="no" if frozen else "steps",
        save_steps=settings.save_every,
        save_total_limit=1,
        report_to=[],
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        log_level="error",
    )
    encoder = [parameter for name, parameter in model.named_parameters() if name.startswith("encoder.")]
    others = [parameter for name, parameter in model.named_parameters() if not name.startswith("encoder.")]
    groups = [{"params": others, "lr": settings.rate}, {"params": encoder, "lr": settings.encoder_rate}]
    optimiser = torch.optim.AdamW([group for group in groups if group["params"]], weight_decay=0.0, fused=True)
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=batches,
        data_collator=lambda batches: {"batch": batches[0]},
        optimizers=(optimiser, None),
        callbacks=[ProgressOnStderr(quiet)],
    )
    for callback in (PrinterCallback, ProgressCallback):
        trainer.remove_callback(callback)
    trainer.train(resume_from_checkpoint=last_checkpoint(checkpoints, asdict(settings)))
