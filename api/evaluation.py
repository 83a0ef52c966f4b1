"""Evaluation of indexes and encoders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.link_architectures import query_function
from ontodex.encoders.locate import DEFAULT_ENCODER
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.ranking import Adjust, evaluate_links
from ontodex.engine.rerank import COSINE, TOP, Reranker, neighbourhood_offset
from ontodex.errors import (
    IndexMismatch,
    ReadError,
    SettingsError,
    expect_choice,
    expect_count,
    settings_from,
)
from ontodex.geometry import poincare
from ontodex.graph import (
    KnowledgeGraph,
    TextSettings,
    entity_texts,
    hierarchy_texts,
    homonym_rate,
    relation_texts,
)
from ontodex.loading import load_entailment_encoder, load_hierarchy_encoder
from ontodex.readers import read
from ontodex.scoring.graph_features import QueryFunction
from ontodex.storage.space_names import HIERARCHY, LINK
from ontodex.trainers.data.csts import read_csts
from ontodex.trainers.data.csts_rows import CstsRows
from ontodex.trainers.data.entailment_pairs import EntailmentPairs
from ontodex.trainers.data.nli import read_nli
from ontodex.trainers.data.subsumptions import HierarchyTask
from ontodex.trainers.data.task_files import hierarchy_task
from ontodex.trainers.hierarchies.baselines import (
    evaluate_baselines,
    expect_baselines,
    expect_trained_members,
)
from ontodex.trainers.hierarchies.embedded import (
    EmbeddedHierarchy,
    evaluate_embedded,
    evaluate_with_neighbours,
)

__all__ = ["evaluate_csts", "evaluate_hierarchy", "evaluate_kgc", "evaluate_nli", "evaluate_sts"]

SCORES = ("all", "text", "kge", "case-based")
"""What :func:`evaluate_kgc` ranks by: the index's hybrid score, or one part of it."""


def evaluate_kgc(
    model: str | Path,
    source: Any,
    *,
    split: str = "test",
    score: str = "all",
    texts: TextSettings | None = None,
    rerank: str | Path | None = None,
    top: int | None = None,
    hops: int = 0,
    device: str = "auto",
) -> dict[str, float]:
    """Rank the tails and heads of held-out triples among all entities of a graph.

    Ranks are filtered: other known answers of a query do not count. Equal scores share their mean
    rank.

    Args:
        model: An index of the graph, or an encoder of links (:func:`ontodex.train_hyper_cl`).
        source: A graph with held-out triples, or anything that :func:`ontodex.read` reads.
        split: ``"test"`` or ``"valid"``.
        score: What ranks the entities: ``"all"``, the score of the index's answers; or one part
            alone, of an index with graph features: ``"text"``, ``"kge"`` (ComplEx) or
            ``"case-based"`` (similar entities and rules).
        texts: How the text of an entity is built, if ``model`` is an encoder; by default as in the
            training of the encoder.
        rerank: Folder of a cross-encoder that re-ranks the best ``top`` candidates of each query.
        top: Number of candidates to re-rank, at least 1; by default 50.
        hops: If above 0, entities within this many links of the query's entity get a score offset,
            as in SimKGC (5 for WN18RR, 2 for FB15k-237).
        device: Device that encodes and scores.

    Returns:
        ``mrr``, ``mr``, ``hits@1``, ``hits@3`` and ``hits@10`` over both directions, and for each
        direction with the prefix ``tail.`` or ``head.``.

    Raises:
        IndexMismatch: If the index was built from another graph, or lacks projections or the graph
            features that ``score`` names.
        SettingsError: If ``score`` or ``split`` is unknown, ``texts`` comes with an index, or
            ``top`` without ``rerank``.
    """
    expect_choice("score", score, SCORES)
    if top is not None and rerank is None:
        raise SettingsError(
            "top: expected a cross-encoder that re-ranks the best candidates (rerank), found none"
        )
    top = TOP if top is None else top
    expect_count("top", top, 1)
    model, graph = Path(model), read(source)
    better = _Reranking(graph, None if rerank is None else Path(rerank), top, hops, device)
    if _is_index(model):
        if texts is not None:
            raise SettingsError(
                f"texts: expected an encoder, found {model}, an index, "
                "which has the texts it was built with"
            )
        return _evaluate_index(model, graph, split, score, better)
    if score in ("kge", "case-based"):
        raise IndexMismatch(
            f"{model}: expected an index, found an encoder of texts; it has no {score} score "
            "to rank by"
        )
    from ontodex.encoders.link_encoder import load_link_encoder
    from ontodex.geometry.vectors import Vectors

    encoder = load_link_encoder(model, device=device)
    texts = texts or settings_from(TextSettings, encoder.texts, str(model))
    names = entity_texts(graph, texts)
    vectors = Vectors([encoder.entities(encoder.text.encode(names))])
    relations = relation_texts(graph)
    ask = query_function(encoder.bind(relations), vectors, names, relations)
    adjust = better.steps(COSINE)
    return evaluate_links(
        graph, vectors, ask, adjust=adjust, split=split, device=encoder.text.device
    )


@dataclass(frozen=True)
class _Reranking:
    """Settings that change candidates' scores before ranking; see :func:`evaluate_kgc`."""

    graph: KnowledgeGraph
    rerank: Path | None
    top: int
    hops: int
    device: str

    def steps(self, unit: float) -> list[Adjust]:
        """Return the functions that adjust scores, in their order.

        The score offset of near entities comes first, since it also affects which candidates are
        re-ranked.

        Args:
            unit: Score difference that counts as one unit of log-probability.
        """
        steps: list[Adjust] = []
        if self.hops:
            steps.append(neighbourhood_offset(self.graph, self.hops, unit=unit))
        if self.rerank is not None:
            reranker = Reranker(
                self.rerank, self.graph, top=self.top, unit=unit, device=self.device
            )
            steps.append(reranker.adjust)
        return steps


def _evaluate_index(
    path: Path, graph: KnowledgeGraph, split: str, score: str, better: _Reranking
) -> dict[str, float]:
    from ontodex.engine.resources import Resources
    from ontodex.storage.index import Index

    index = Index.open(path)
    resources = Resources(index, better.device)
    index.encoder_info(LINK)
    index.expect_graph(graph)
    link_queries, features = LinkQueries(resources), resources.graph_features
    lacking = features is None or (score == "kge" and features.are_default)
    if score in ("kge", "case-based") and lacking:
        raise IndexMismatch(
            f"{path}: the index has no {score} score to rank by: it was built without "
            "(structure=False, --no-structure), or build left it out since too few triples of the "
            "graph could be held out or it has more than 500,000 entities"
        )
    vectors = index.vectors(link_queries.space)
    ask: QueryFunction = link_queries.of_rows
    steps = [link_queries.add_offsets, *better.steps(link_queries.score_unit)]
    if score == "text":
        vectors = index.vectors(LINK)
        ask, steps = partial(link_queries.of_rows, text_alone=True), better.steps(COSINE)
    elif features is not None and score == "kge":
        vectors, ask, steps = features.kge_vectors(), features.kge_queries, better.steps(1.0)
    elif score == "case-based":
        ask = partial(_zero_queries, dim=vectors.dim)
    return evaluate_links(graph, vectors, ask, adjust=steps, split=split, device=resources.device)


def _zero_queries(
    entities: NDArray[np.integer], relations: NDArray[np.integer], *, dim: int
) -> NDArray[np.float32]:
    """Return queries of zeros, of shape (queries, dim), so that all entities score 0."""
    return np.zeros((len(entities), dim), dtype=np.float32)


def evaluate_hierarchy(
    model: str | Path,
    source: Any,
    *,
    task: str | HierarchyTask | None = None,
    relation: str | None = None,
    seed: int = 0,
    negatives: int = 10,
    homonyms: bool = True,
    pairs: str | Path | None = None,
    queries: int = 2000,
    baselines: Sequence[str] = (),
    base: str = DEFAULT_ENCODER,
    device: str = "auto",
    quiet: bool = False,
) -> dict[str, float]:
    """Classify held-out subsumptions of a graph, and rank ancestors among all entities.

    If the model was trained on the graph, it should have been trained with the same task and seed.
    If the model's settings show another task or seed, there is a warning.

    Args:
        model: A HiT encoder (folder or name; ``"hit-wordnet"`` is the one that ontodex ships), or
            an index of the graph with a hierarchy space.
        source: A graph with a hierarchy, or anything that :func:`ontodex.read` reads.
        task: ``"multi-hop"``, ``"mixed-hop"`` or ``"transfer"`` (see :func:`.hierarchy_task`), or a
            task returned by that function. By default the task that the encoder was trained on, if
            it was trained on this hierarchy.
        relation: Relation from child to parent, see :func:`.hierarchy_task`. For an index, the
            default is the relations that were named when it was built.
        seed: Seed of the split, the negatives and the sample of ``queries``.
        negatives: Negatives of each kind for each positive pair.
        homonyms: Whether a negative may have the label of the child or of an ancestor.
        pairs: Folder of the task's files. If the folder has files, the task is read from them;
            otherwise they are written.
        queries: Number of entities whose ancestors are ranked.
        baselines: Names of :data:`.BASELINES` to evaluate as well; see
            :func:`.evaluate_baselines`.
        base: Pretrained encoder of the baselines and of neighbour voting.
        device: Device of encoders and runs.
        quiet: Print no progress on stderr.

    Returns:
        Figures by name. Against random negatives: ``random.f1``, ``random.precision``,
        ``random.recall``, ``random.valid_f1``, and the fitted ``random.weight`` and
        ``random.threshold``, by the paper's rule, which has one weight λ. Against hard negatives:
        the same with the prefix ``hard.``. With a further prefix, the same figures by other rules:
        ``two_weights.`` is the rule that ontodex stores (also ``two_weights.random.tilt``),
        ``norm.`` the norm of the parent alone, ``prior.`` the number of entities below the parent
        in the training links (:func:`.evaluate_points`, :func:`.evaluate_prior`). Recall of
        ancestors: ``hop1.recall@10``, ... with the weight fitted on random negatives, the same with
        the prefix ``two_weights.``, and ``distance_only.hop1.recall@10``, ... by distance alone.
        ``homonyms``: the share of entities that share their label with another. Baselines: their
        figures, with the name of the baseline as prefix. For the task mixed-hop, the figures of HiT
        with neighbour voting (``neighbours.random.f1``, ...; see
        :func:`.evaluate_with_neighbours`). For an index, the figures by the index's own rule
        (``index.random.f1``, ..., ``index.weight``, ``index.hop1.recall@10``).

    Warns:
        UserWarning: If the model was trained on another split of the graph, or a fitted weight is
            at the limit of its search.

    Raises:
        GraphError: If the graph has no hierarchy, or one that is too small for the task.
        IndexMismatch: If the index was built from another graph, or has no hierarchy space.
        SettingsError: If the task or a baseline is unknown.
    """
    from ontodex.encoders.text import TextEncoder

    expect_baselines(baselines)
    graph = read(source)
    embedded = _embedded(model, graph, device)
    if relation is None and embedded.upward:
        graph = graph.with_hierarchy(*embedded.upward)
    if not isinstance(task, HierarchyTask):
        if task is None and pairs is None:
            trained_on = embedded.training_of(graph.hierarchy(relation, on_cycle="ignore"))
            task = trained_on.task if trained_on else None
        task = hierarchy_task(
            graph,
            task,
            relation=relation,
            seed=seed,
            negatives=negatives,
            homonyms=homonyms,
            pairs=pairs,
        )
    expect_trained_members(task, baselines)
    embedded.warn_of_leakage(task, str(model))
    found = evaluate_embedded(task, embedded, queries=queries, seed=seed)
    if task.settings is not None and task.settings.task == "mixed-hop":
        texts = TextEncoder.load(base, device).encode(embedded.texts)
        voted = evaluate_with_neighbours(task, embedded, texts)
        found.update({f"neighbours.{key}": value for key, value in voted.items()})
    found["homonyms"] = homonym_rate([graph.labels[row] for row in task.known.members.tolist()])
    if baselines:
        measured = evaluate_baselines(
            task, graph, baselines, base=base, seed=seed, device=device, quiet=quiet
        )
        found.update(measured)
    return found


def _embedded(model: str | Path, graph: KnowledgeGraph, device: str) -> EmbeddedHierarchy:
    """Return the entities of a graph as points in the Poincaré ball of an encoder or an index."""
    if not _is_index(Path(model)):
        encoder = load_hierarchy_encoder(str(model), device)
        texts = hierarchy_texts(graph, encoder.texts, str(model))
        return EmbeddedHierarchy(encoder.points(texts), encoder.c, texts, encoder.learnt)
    from ontodex.engine.resources import Resources
    from ontodex.storage.index import Index

    index = Index.open(Path(model))
    index.encoder_info(HIERARCHY)
    index.expect_graph(graph)
    items = np.concatenate(index.vectors(HIERARCHY).shards)
    points = np.asarray(poincare.unlift(items, index.curvature), dtype=np.float32)
    encoder = Resources(index, device).encoders.hierarchy
    texts = hierarchy_texts(graph, encoder.texts, str(model))
    return EmbeddedHierarchy(
        points, index.curvature, texts, encoder.learnt, index.rule, index.graph.upward
    )


def evaluate_csts(
    model: str | Path,
    data: CstsRows | str | Path,
    *,
    on_error: str = "raise",
    device: str = "auto",
    seed: int = 0,
) -> dict[str, float]:
    """Compare the cosines of a condition encoder with the labels of C-STS rows.

    Args:
        model: Folder of a condition encoder.
        data: Rows of C-STS, or a CSV file of rows. Rows need not come in pairs of conditions.
        on_error: Handling of faulty rows in a file: ``"raise"``, ``"warn"`` or ``"skip"``.
        device: Device of the encoder.
        seed: Seed of the sample of texts that are clustered.

    Returns:
        The figures of :func:`ontodex.trainers.conditions.evaluation.evaluate_conditions`:
        ``spearman``, ``pearson``, ``mse`` and others, over all rows, and separately for conditions
        that were seen in training and conditions that were not.

    Raises:
        EncoderError: If the folder holds no condition encoder.
        ReadError: If the file cannot be read, or has no rows.
    """
    from ontodex.encoders.condition import ConditionEncoder
    from ontodex.trainers.conditions.evaluation import evaluate_conditions

    if not isinstance(data, CstsRows):
        data = read_csts(Path(data), paired=False, on_error=on_error)
    if not len(data):
        raise ReadError("expected rows to measure on, found none")
    return evaluate_conditions(ConditionEncoder.load(Path(model), device=device), data, seed)


def evaluate_nli(
    model: str | Path,
    data: EntailmentPairs | str | Path,
    *,
    valid: EntailmentPairs | str | Path | None = None,
    against: str | Path | None = None,
    on_error: str = "raise",
    device: str = "auto",
    seed: int = 0,
) -> dict[str, float]:
    """Compare the judgements of an entailment encoder with labels.

    Args:
        model: Folder or name of a GaussCSE encoder; ``"gauss-cse-nli"`` is the one that ontodex
            ships.
        data: Labelled pairs, or a file of them (:func:`ontodex.read_nli`).
        valid: Labelled pairs, or a file of them, on which the threshold is chosen. By default, the
            encoder's own threshold is used, which was chosen on its validation pairs.
        against: A second encoder to compare with (McNemar's test).
        on_error: Handling of faulty lines in a file: ``"raise"``, ``"warn"`` or ``"skip"``.
        device: Device of the encoders.
        seed: Seed of the bootstrap.

    Returns:
        The figures of :func:`ontodex.trainers.entailment.evaluation.evaluate_encoder`:
        ``accuracy``, ``auprc``, ``direction.accuracy`` and others; with ``against`` also
        ``against.accuracy``, ``mcnemar.better``, ``mcnemar.worse`` and ``mcnemar.p``.

    Raises:
        EncoderError: If an encoder cannot be found or loaded, or is not a GaussCSE encoder.
        ReadError: If a file cannot be read, or has no pairs.
        SettingsError: If all pairs of ``valid`` are entailed, or none.
    """
    from ontodex.trainers.entailment.evaluation import evaluate_encoder

    pairs = _pairs(data, on_error)
    if not len(pairs):
        raise ReadError("expected pairs to measure on, found none")
    return evaluate_encoder(
        load_entailment_encoder(str(model), device),
        pairs,
        valid=None if valid is None else _pairs(valid, on_error),
        against=None if against is None else load_entailment_encoder(str(against), device),
        seed=seed,
    )


def _pairs(data: EntailmentPairs | str | Path, on_error: str) -> EntailmentPairs:
    return data if isinstance(data, EntailmentPairs) else read_nli(Path(data), on_error=on_error)


def evaluate_sts(
    model: str | Path,
    data: str | Path | Sequence[str | Path],
    *,
    on_error: str = "raise",
    device: str = "auto",
) -> dict[str, dict[str, float]]:
    """Compare the cosines of a text encoder with human similarity scores of pairs of texts.

    Args:
        model: Folder or name of any text encoder.
        data: One file or several; see :func:`ontodex.trainers.data.sts.read_sts`.
        on_error: Handling of faulty lines: ``"raise"``, ``"warn"`` or ``"skip"``.
        device: Device of the encoder.

    Returns:
        For each file, by its name (by its path if several have the same name), the figures of
        :func:`ontodex.trainers.trees.evaluation.evaluate_encoder`: ``spearman``, ``pearson``,
        ``alignment``, ``uniformity``, ``pairs``, and for encoders with trees ``tree.right``,
        ``tree.left`` and ``tree.balanced``.

    Raises:
        EncoderError: If the encoder cannot be found or loaded.
        ReadError: If a file cannot be read, or has no pairs.
    """
    from ontodex.encoders.text import TextEncoder
    from ontodex.trainers.data.sts import read_sts
    from ontodex.trainers.trees.evaluation import evaluate_encoder

    files = [Path(file) for file in ([data] if isinstance(data, str | Path) else data)]
    names = Counter(file.name for file in files)
    sets = {
        file.name if names[file.name] == 1 else str(file): read_sts(file, on_error=on_error)
        for file in files
    }
    encoder = TextEncoder.load(model, device)
    return {name: evaluate_encoder(encoder, pairs) for name, pairs in sets.items()}


def _is_index(path: Path) -> bool:
    return (path / "CURRENT").exists()
