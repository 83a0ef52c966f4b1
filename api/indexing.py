"""From a graph to an engine in one call."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontodex.engine.conditions import DISK, MEMORY
from ontodex.engine.engine import Engine
from ontodex.errors import SettingsError
from ontodex.graph import KnowledgeGraph, TextSettings
from ontodex.readers import read
from ontodex.storage.index import Index

if TYPE_CHECKING:
    from ontodex.encoders.condition import ConditionEncoder
    from ontodex.encoders.gauss_cse import GaussCSE
    from ontodex.encoders.hit import HiT
    from ontodex.encoders.link_encoder import LinkEncoder
    from ontodex.encoders.text import TextEncoder
    from ontodex.geometry.complex import ComplEx
    from ontodex.indexers.graph_features import KGETrainer
    from ontodex.indexers.steps.embed_links import LinkTrainer
    from ontodex.trainers.links.complex import ComplExTraining
    from ontodex.trainers.links.hyper_cl import HyperCLTraining

__all__ = [
    "ENTAILMENT_IN_THE_BOX",
    "HIERARCHY_IN_THE_BOX",
    "build",
    "expect_folder",
    "has_links",
    "load_entailment_encoder",
    "load_hierarchy_encoder",
    "open",
]

HIERARCHY_IN_THE_BOX = "hit-wordnet"
"""Name of the hierarchy encoder that ontodex brings: of WordNet's nouns, on all-MiniLM-L6-v2."""

ENTAILMENT_IN_THE_BOX = "gauss-cse-nli"
"""Name of the entailment encoder that ontodex brings: of premises and hypotheses, on all-MiniLM-L6-v2."""


def build(
    source: Any,
    path: str | Path,
    *,
    encoders: str | Path | Sequence[str | Path] = (),
    train: bool = True,
    structure: bool | ComplExTraining = True,
    hierarchy: bool | str | Path | None = True,
    hierarchy_relation: str | Sequence[str] = (),
    entailment: bool | str | Path | None = True,
    spans: bool = False,
    training: HyperCLTraining | None = None,
    texts: TextSettings | None = None,
    device: str = "auto",
    quiet: bool = False,
) -> Engine:
    """Build an index of a graph, and open it.

    Where there is an index already, a new generation takes its place; what it has encoded is not encoded again, and its
    readers are not disturbed.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads.
        path: Folder of the index.
        encoders: Folders or names of encoders. A Hyper-CL encoder takes the relations, a condition encoder
            (``ontodex.train_condition``) what is similar under a condition, any other text encoder the texts; by default
            all-MiniLM-L6-v2, and projections trained for this graph.
        train: Train projections for the graph's relations, on its known triples, unless a Hyper-CL encoder is given. Where
            nothing is trained, those of the network that ontodex brings are taken, if the text encoder is all-MiniLM-L6-v2.
        structure: Whether link prediction looks at the links of the graph too (ComplEx, the ranges of relations, analogies,
            rules), not at texts alone, and how ComplEx is trained. Weights of all are fitted, relation
            by relation, on the graph's validation triples, or on a twentieth of its triples at most, which is held out from
            training. Left out where that makes fewer than 50 triples, where there are more than 500,000 entities, and where
            nothing is trained.
        hierarchy: What embeds the entities in the Poincaré ball, for parents, children and places: ``True`` for the
            HiT encoder that ontodex brings (if the graph has a hierarchy), the folder or name of another, which may be a
            public checkpoint, or ``False`` or ``None`` for nothing.
        hierarchy_relation: Id or label of the relation, or relations, from child to parent; by default they are known by
            their names (is a, subClassOf, broader, hypernym, …).
        entailment: What embeds the sentences of labels and definitions as Gaussians, for what entails what: ``True`` for the
            GaussCSE encoder that ontodex brings, the folder of another, or ``False`` or ``None`` for
            nothing.
        spans: Embed every phrase of labels and definitions too, for ``engine.search(…, spans=True)``; the text encoder must
            find the trees of texts (:func:`ontodex.train_self_strae`).
        training: How to train.
        texts: How an entity's text is built.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or another torch device.
        quiet: Show no progress on stderr.

    Raises:
        ReadError: If the source cannot be read.
        UnknownRelation: If the graph does not have a relation that is to be one of the hierarchy.
        EncoderError: If an encoder cannot be loaded.
        IndexLocked: If another process is writing the index.
        IndexFailure: If the folder cannot be written.
    """
    from ontodex.encoders.hyper_cl import HyperCL
    from ontodex.encoders.index_encoders import Encoders
    from ontodex.indexers.build import build_index
    from ontodex.trainers.links.complex import ComplExTraining
    from ontodex.trainers.links.hyper_cl import HyperCLTraining

    folder, graph = expect_folder(path), read(source)
    if hierarchy_relation:
        graph = graph.with_hierarchy(*map(str, _listed(hierarchy_relation)))
    text, link, condition = _load(_listed(encoders), device)
    training = training or HyperCLTraining()
    hit = None
    if hierarchy and (hierarchy is not True or has_links(graph, on_cycle="ignore")):
        hit = load_hierarchy_encoder(
            HIERARCHY_IN_THE_BOX if hierarchy is True else str(hierarchy), device
        )
    gauss = None
    if entailment:
        gauss = load_entailment_encoder(
            ENTAILMENT_IN_THE_BOX if entailment is True else str(entailment), device
        )
    trains = train and link is None and graph.n_triples > 0
    learns_links = graph.n_triples > 0 and (train or link is not None)
    if link is None and not trains:
        link = HyperCL.in_the_box(text)
    structural = ComplExTraining(seed=training.seed) if structure is True else structure or None
    if not learns_links:
        structural = None
    build_index(
        graph,
        folder,
        Encoders(text, link, hit, condition, gauss),
        train=_trainer(training, texts, quiet) if trains else None,
        train_kge=_kge_trainer(structural, device, quiet) if structural else None,
        texts=texts,
        settings={
            "training": dataclasses.asdict(training) if trains else None,
            "structure": dataclasses.asdict(structural) if structural else None,
            "spans": spans,
        },
        quiet=quiet,
    )
    return open(path, device=device)


def open(
    path: str | Path,
    *,
    device: str = "auto",
    known: Any = (),
    exact: bool = False,
    condition_memory: int = MEMORY,
    condition_disk: int = DISK,
    rerank: str | Path | None = None,
) -> Engine:
    """Open an index.

    Args:
        path: Folder of the index.
        device: Where to encode and to search.
        known: Further sources whose triples count as known: a graph or anything that :func:`ontodex.read` reads, or a list.
        exact: See :class:`~ontodex.engine.engine.Engine`, also for the rest.
        condition_memory: Bytes of memory for entities under conditions.
        condition_disk: Bytes of disk for the projections of conditions.
        rerank: Folder of a cross-encoder that reads the best answers again.

    Raises:
        ReadError: If a further source cannot be read.
        SettingsError: If a setting makes no sense.
        IndexFailure: If there is no index, or it is damaged, or was written by a newer version.
    """
    folder = expect_folder(path)
    return Engine(
        Index.open(folder),
        device,
        known=[
            read(one) for one in (known if isinstance(known, list | tuple | Iterator) else [known])
        ],
        exact=exact,
        condition_memory=condition_memory,
        condition_disk=condition_disk,
        rerank=rerank,
    )


def expect_folder(path: str | Path) -> Path:
    """Return the folder of an index.

    Raises:
        SettingsError: If it is no path.
    """
    if not isinstance(path, str | PathLike) or not str(path):
        raise SettingsError(f"path: expected the folder of an index, found {path!r}")
    return Path(path)


def load_hierarchy_encoder(name: str, device: str = "auto") -> HiT:
    """Load a HiT encoder.

    Args:
        name: A folder, a name on the Hugging Face hub, or ``"hit-wordnet"``, the encoder that ontodex brings.
        device: Where it computes.

    Raises:
        EncoderError: If there is none, or another, or it cannot be loaded.
    """
    from ontodex.encoders.condition import ConditionEncoder
    from ontodex.encoders.gauss_cse import GaussCSE
    from ontodex.encoders.hit import DEFAULT_HIT, HiT
    from ontodex.encoders.hyper_cl import HyperCL
    from ontodex.encoders.self_strae import SelfStrAE
    from ontodex.errors import EncoderError

    folder = _located(name, HIERARCHY_IN_THE_BOX, DEFAULT_HIT)
    others = (
        (HyperCL, "Hyper-CL", "relations"),
        (GaussCSE, "GaussCSE", "entailment"),
        (SelfStrAE, "Self-StrAE", "texts"),
        (ConditionEncoder, "condition", "similarity under a condition"),
    )
    for kind, what, use in others:
        if kind.is_at(folder):
            raise EncoderError(
                f"{folder}: expected a HiT encoder, for hierarchies, found a {what} encoder, for {use}"
            )
    return HiT.load(folder, device)


def load_entailment_encoder(name: str, device: str = "auto") -> GaussCSE:
    """Load a GaussCSE encoder.

    Args:
        name: A folder, a name on the Hugging Face hub, or ``"gauss-cse-nli"``, the encoder that ontodex brings.
        device: Where it computes.

    Raises:
        EncoderError: If there is none, or another, or it cannot be loaded.
    """
    from ontodex.encoders.gauss_cse import DEFAULT_GAUSS_CSE, GaussCSE

    return GaussCSE.load(_located(name, ENTAILMENT_IN_THE_BOX, DEFAULT_GAUSS_CSE), device)


def _located(name: str, boxed: str, default: Path) -> Path:
    """Return the folder of an encoder, of which ontodex brings one under the name ``boxed``."""
    from ontodex.encoders.locate import locate

    return default if name == boxed and not Path(name).exists() else locate(name)


def _listed(given: str | Path | Sequence[str | Path]) -> Sequence[str | Path]:
    return [given] if isinstance(given, str | Path) else given


def has_links(graph: KnowledgeGraph, on_cycle: str = "warn") -> bool:
    """Tell whether a graph has a hierarchy with links in it."""
    return bool(graph.hierarchy_relations) and len(graph.hierarchy(on_cycle=on_cycle).links) > 0


def _load(
    encoders: Sequence[str | Path], device: str
) -> tuple[TextEncoder, LinkEncoder | None, ConditionEncoder | None]:
    from ontodex.encoders.condition import ConditionEncoder
    from ontodex.encoders.gauss_cse import GaussCSE
    from ontodex.encoders.hit import HiT
    from ontodex.encoders.hyper_cl import HyperCL
    from ontodex.encoders.link_encoder import load_link_encoder
    from ontodex.encoders.locate import DEFAULT_ENCODER, fingerprint, locate
    from ontodex.encoders.text import TextEncoder
    from ontodex.errors import SettingsError

    folders = [locate(str(name)) for name in encoders]
    for folder in folders:
        for kind, what, option in (
            (HiT, "hierarchies", "hierarchy"),
            (GaussCSE, "entailment", "entailment"),
        ):
            if kind.is_at(folder):
                raise SettingsError(
                    f"encoders: expected encoders of texts and relations, found {folder}, which is one of {what}; "
                    f"give it as {option}= (in the shell --{option}-encoder)"
                )
    links = [folder for folder in folders if HyperCL.is_at(folder)]
    conditions = [folder for folder in folders if ConditionEncoder.is_at(folder)]
    texts = [folder for folder in folders if folder not in links + conditions] or [
        locate(DEFAULT_ENCODER)
    ]
    if max(len(links), len(conditions), len(texts)) > 1:
        raise SettingsError(
            "encoders: expected at most one text encoder, one Hyper-CL encoder and one condition encoder, found more"
        )
    text = TextEncoder(texts[0], device)
    link = condition = None
    if links:
        link = load_link_encoder(links[0], device=device)
        if link.text.fingerprint == text.fingerprint:
            link = load_link_encoder(links[0], text, device)
    if conditions:
        own = fingerprint(conditions[0]) != text.fingerprint
        condition = ConditionEncoder.load(conditions[0], None if own else text, device)
        if condition.architecture == "bi-encoder":
            raise SettingsError(
                f"encoders: expected a condition encoder that combines vectors, found {conditions[0]}, a bi-encoder, which "
                "would read every entity anew under every condition; train one of another architecture"
            )
    return text, link, condition


def _trainer(training: HyperCLTraining, texts: TextSettings | None, quiet: bool) -> LinkTrainer:
    def train(
        graph: KnowledgeGraph, text: TextEncoder, embeddings: Any, folder: Path
    ) -> LinkEncoder:
        from ontodex.trainers.links.hyper_cl import train_hyper_cl

        return train_hyper_cl(
            graph,
            folder,
            encoder=text,
            settings=training,
            texts=texts,
            embeddings=embeddings,
            quiet=quiet,
        )

    return train


def _kge_trainer(settings: ComplExTraining, device: str, quiet: bool) -> KGETrainer:
    def train(graph: KnowledgeGraph) -> ComplEx:
        from ontodex.trainers.links.complex import train_complex

        return train_complex(graph, settings, device=device, quiet=quiet)

    return train
