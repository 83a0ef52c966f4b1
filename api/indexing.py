"""Functions that build and change an index."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ontodex.engine.engine import Engine
from ontodex.engine.resolve import expect_words, list_of
from ontodex.errors import SettingsError, expect_choice
from ontodex.graph import KnowledgeGraph, TextSettings, merge
from ontodex.graph import remove as remove_entities
from ontodex.graph import remove_links as without_links
from ontodex.loading import (
    ENTAILMENT_IN_THE_BOX,
    HIERARCHY_IN_THE_BOX,
    load_entailment_encoder,
    load_hierarchy_encoder,
    load_text_encoders,
)
from ontodex.opening import expect_folder, open
from ontodex.readers import read, read_more
from ontodex.storage.index import Index
from ontodex.storage.space_names import FIRST_STAGES, HIERARCHY, NAME, STAGES, TEXT
from ontodex.trainers.links.settings import ComplExTraining, HyperCLTraining

if TYPE_CHECKING:
    from ontodex.encoders.link_encoder import LinkEncoder
    from ontodex.encoders.text import TextEncoder
    from ontodex.geometry.complex import ComplEx
    from ontodex.indexers.graph_features import KGETrainer
    from ontodex.indexers.step import Build
    from ontodex.indexers.steps.embed_links import LinkTrainer

__all__ = ["add", "build", "read_for", "remove", "remove_links"]


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
    first: str = "search",
    only: str | Sequence[str] = (),
    device: str = "auto",
    quiet: bool = False,
) -> Engine:
    """Build an index of a graph, and open it.

    If the folder already holds an index, a new generation replaces it. Texts that the previous
    generation encoded are not encoded again, and processes that read the index are not disturbed.

    An index of a graph of at least a thousand entities is built in stages: names are found by their
    letters at once, by meaning after the stage ``"search"``, by definitions as well after
    ``"texts"``; the stages ``"links"``, ``"hierarchy"`` and ``"entailment"`` follow. Other
    processes can open the index as soon as it has names, and ask what the finished stages answer.
    An interrupted build keeps what is done, and continues when it is called again with the same
    arguments.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads.
        path: Folder of the index.
        encoders: Folders or names of encoders: a Hyper-CL encoder (:func:`ontodex.train_hyper_cl`)
            for relations, a condition encoder (:func:`ontodex.train_condition`) for similarity
            under a condition, any text encoder for texts. By default, texts are encoded by
            all-MiniLM-L6-v2, and projections are trained on this graph.
        train: Train projections for the graph's relations on its known triples, unless a Hyper-CL
            encoder is given. If ``False``, the projections come from the network that ontodex
            ships, if the text encoder is all-MiniLM-L6-v2.
        structure: Use graph features (ComplEx, type constraints, case-based evidence, rules) for
            link prediction, in addition to texts: ``True``, ``False``, or the settings of the
            training of ComplEx. The weights of graph features are fitted for each relation on the
            graph's validation triples or, if there are fewer than 50, on a small share of its
            triples (usually a twentieth), which are held out from training. Graph features are left
            out if fewer than 50 triples can be held out, if the graph has more than 500,000
            entities, or if ``train`` is ``False`` and no Hyper-CL encoder is given.
        hierarchy: Encoder of the entities in the Poincaré ball, for parents and children: ``True``
            for the HiT encoder that ontodex ships (if the graph has a hierarchy), the folder or
            name of another HiT encoder, ``False`` or ``None`` for none.
        hierarchy_relation: Id or label of the relation (or several relations) from child to parent.
            By default, such relations are recognised by name (is a, subClassOf, broader, hypernym,
            …).
        entailment: Encoder of the sentences of labels and definitions as Gaussians: ``True`` for
            the GaussCSE encoder that ontodex ships, the folder of another GaussCSE encoder,
            ``False`` or ``None`` for none.
        spans: Embed every phrase of labels and definitions as well, for
            ``engine.search(…, spans=True)``. The text encoder must be a Self-StrAE encoder
            (:func:`ontodex.train_self_strae`).
        training: Settings of the training of projections.
        texts: How the text of an entity is built.
        first: Stage that follows ``"search"`` and ``"texts"``, which every index has: ``"links"``,
            ``"hierarchy"`` or ``"entailment"``.
        only: The stages to build, beside ``"search"`` and ``"texts"``; by default all.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or another torch device.
        quiet: Print no progress on stderr.

    Returns:
        The engine on the new index.

    Raises:
        ReadError: If the source cannot be read.
        SettingsError: If a stage is unknown.
        UnknownRelation: If the graph lacks a relation of ``hierarchy_relation``.
        EncoderError: If an encoder cannot be loaded.
        IndexLocked: If another process is writing the index.
        IndexFailure: If the folder cannot be written.
    """
    from ontodex.encoders.hyper_cl import HyperCL
    from ontodex.encoders.index_encoders import Encoders
    from ontodex.indexers.build import build_index

    chosen = _listed(only) or tuple(STAGES)
    for setting, stage in (("first", first), *(("only", stage) for stage in chosen)):
        expect_choice(setting, stage, STAGES)
    folder, graph = expect_folder(path), read(source)
    if hierarchy_relation:
        graph = graph.with_hierarchy(*map(str, _listed(hierarchy_relation)))
    text, link, condition = load_text_encoders(_listed(encoders), device)
    training = training or HyperCLTraining()
    asked_for = {
        "hierarchy": hierarchy and (hierarchy is not True or _has_links(graph, on_cycle="ignore")),
        "entailment": entailment or spans,
    }
    stages = [
        stage
        for stage in STAGES
        if stage in FIRST_STAGES or (stage in chosen and asked_for.get(stage, True))
    ]
    stages.sort(key=lambda stage: (stage not in FIRST_STAGES, stage != first))

    def more_encoders(made: Encoders) -> Encoders:
        hit = gauss = None
        if "hierarchy" in stages:
            name = HIERARCHY_IN_THE_BOX if hierarchy is True else str(hierarchy)
            hit = load_hierarchy_encoder(name, device)
        if "entailment" in stages and entailment:
            name = ENTAILMENT_IN_THE_BOX if entailment is True else str(entailment)
            gauss = load_entailment_encoder(name, device)
        return dataclasses.replace(made, hierarchy=hit, entailment=gauss)

    train = train and "links" in stages
    trains = train and link is None and graph.n_triples > 0
    if "links" not in stages:
        link = condition = None
    uses_triples = graph.n_triples > 0 and (train or link is not None)
    if "links" in stages and link is None and not trains:
        link = HyperCL.in_the_box(text)
    features = ComplExTraining(seed=training.seed) if structure is True else structure or None
    if not uses_triples:
        features = None
    build_index(
        graph,
        folder,
        Encoders(text, link, condition=condition),
        train=_link_trainer(training, texts, quiet) if trains else None,
        train_kge=_kge_trainer(features, device, quiet) if features else None,
        fit_grounding=_fit_grounding,
        texts=texts,
        settings={
            "training": dataclasses.asdict(training) if trains else None,
            "structure": dataclasses.asdict(features) if features else None,
            "spans": spans and "entailment" in stages,
        },
        stages=stages,
        more_encoders=more_encoders,
        quiet=quiet,
    )
    return open(path, device=device)


def read_for(path: str | Path, *sources: Any, **settings: Any) -> KnowledgeGraph:
    """Read sources that are to be added to an index.

    Tables are read by the mappings with which the index was built.

    Args:
        path: Folder of the index.
        sources: See :func:`ontodex.read`.
        settings: Keyword arguments of :func:`ontodex.read`. A ``mapping`` takes precedence over the
            mappings of the index.

    Raises:
        ReadError: If a source cannot be read.
        IndexFailure: If there is no index.
    """
    index = Index.open(expect_folder(path))
    try:
        return read_more(index.graph.mappings, *sources, **settings)
    finally:
        index.close()


def add(
    source: Any,
    path: str | Path,
    *,
    mapping: Any = None,
    device: str = "auto",
    quiet: bool = False,
) -> Engine:
    """Add the entities and triples of a source to an index; only new texts are encoded.

    For an entity that the index already has, a label of the source becomes a synonym, and a
    definition of the source replaces the previous definition.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads.
        path: Folder of the index.
        mapping: Mappings of the columns of tables, see :func:`ontodex.read`. By default, tables are
            read by the mappings with which the index was built.
        device: Device of the encoders.
        quiet: Print no progress on stderr.

    Returns:
        The engine on the new generation of the index.

    Warns:
        UserWarning: If the graph had no hierarchy before and now has one, but the index has no
            hierarchy encoder.
        ReadWarning: If the hierarchy now has a cycle; the warning names the links that are left out
            of the hierarchy.
    """
    folder = expect_folder(path)
    more = read_for(folder, source, mapping=mapping)
    first_links = False

    def merged(graph: KnowledgeGraph) -> KnowledgeGraph:
        nonlocal first_links
        both = merge(graph, more, corrects=True)
        first_links = _has_links(both) and not _has_links(graph, on_cycle="ignore")
        return both

    engine = _updated(folder, merged, device, quiet)
    if HIERARCHY not in engine.index.manifest.spaces and first_links:
        warnings.warn(
            f"{path}: the graph has a hierarchy now, and the index no encoder for it: parents, "
            "children, place and audit need one; build the index anew",
            stacklevel=2,
        )
    return engine


def remove(
    entities: str | Sequence[str], path: str | Path, *, device: str = "auto", quiet: bool = False
) -> Engine:
    """Remove entities from an index, with the triples that contain them.

    Args:
        entities: CURIEs, IRIs, labels or synonyms.
        path: Folder of the index.
        device: Device of the encoders; the texts of neighbours may have to be encoded again.
        quiet: Print no progress on stderr.

    Returns:
        The engine on the new generation of the index.

    Raises:
        UnknownEntity: If an entity is not in the index.
        SettingsError: If ``entities`` is empty, or holds something that is not text.
    """
    folder = expect_folder(path)
    names = [entities] if isinstance(entities, str) else list_of(entities, "names")
    if not names:
        raise SettingsError("entities: expected names of entities to remove, found none")
    for name in names:
        expect_words(name, "entity")
    return _updated(folder, lambda graph: remove_entities(graph, names), device, quiet)


def remove_links(
    source: Any, path: str | Path, *, device: str = "auto", quiet: bool = False
) -> Engine:
    """Remove triples from an index; entities and relations stay.

    In an SSSOM table such as :meth:`ontodex.Audit.to_sssom` writes, the triples to remove are the
    negated rows (``predicate_modifier`` ``Not``) that a curator confirmed. A row counts as
    confirmed if its justification differs from the one that ontodex writes.

    Args:
        source: The triples: a graph, or anything that :func:`ontodex.read` reads. Entities and
            relations may be named by CURIE, IRI, label or synonym.
        path: Folder of the index.
        device: Device of the encoders; the texts of neighbours may have to be encoded again.
        quiet: Print no progress on stderr.

    Returns:
        The engine on the new generation of the index.

    Raises:
        UnknownEntity: If an entity of a triple is not in the index.
        UnknownRelation: If a relation is not in the index.
        GraphError: If the source has no triples, or the index has none of them.

    Warns:
        ReadWarning: If the index lacks some of the triples.
    """
    folder, links = expect_folder(path), read(source, negated=True)
    return _updated(folder, lambda graph: without_links(graph, links), device, quiet)


def _updated(
    folder: Path, change: Callable[[KnowledgeGraph], KnowledgeGraph], device: str, quiet: bool
) -> Engine:
    """Apply a change to the graph of an index, and open the new generation."""
    from ontodex.indexers.update import update_index

    update_index(folder, change, device=device, quiet=quiet)
    return open(folder, device=device)


def _listed(given: str | Path | Sequence[str | Path]) -> Sequence[str | Path]:
    return [given] if isinstance(given, str | Path) else given


def _has_links(graph: KnowledgeGraph, on_cycle: str = "warn") -> bool:
    """Return whether a graph has a hierarchy with at least one link."""
    return bool(graph.hierarchy_relations) and len(graph.hierarchy(on_cycle=on_cycle).links) > 0


def _link_trainer(
    training: HyperCLTraining, texts: TextSettings | None, quiet: bool
) -> LinkTrainer:
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


def _fit_grounding(build: Build) -> dict[str, Any]:
    """Fit the rule of grounding to the names of a graph; return an empty entry if there are few."""
    from ontodex.engine.grounding_fit import fit_grounding
    from ontodex.geometry.vectors import Vectors

    graph, encoder = build.inputs.graph, build.encoders.text
    names = build.spaces[NAME]
    assert names.sentences is not None
    rule = fit_grounding(
        graph,
        graph.hierarchy(on_cycle="ignore") if graph.hierarchy_relations else None,
        Vectors([build.spaces[TEXT].vectors]),
        names.sentences,
        Vectors([names.vectors]),
        build.inputs.texts,
        encoder.encode,
        encoder.knows,
    )
    return {} if rule is None else dataclasses.asdict(rule)
