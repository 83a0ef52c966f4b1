"""Learning the graph features of links: KGE vectors, type constraints, kinds, rules, weights."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from ontodex.encoders.link_architectures import query_function
from ontodex.encoders.link_encoder import LinkEncoder
from ontodex.geometry.complex import ComplEx
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph, relation_texts, split
from ontodex.graph.arrays import distinct
from ontodex.graph.knowledge_graph import no_triples
from ontodex.graph.known_links import KnownLinks
from ontodex.graph.text import in_words
from ontodex.indexers.embed import ROWS, Embeddings, map_file
from ontodex.indexers.link_weights import (
    START,
    Heads,
    draw_questions,
    fit_weights,
    score_answers,
)
from ontodex.scoring.calibration import fit_calibration
from ontodex.scoring.case_based import CaseBasedEvidence
from ontodex.scoring.graph_features import (
    CALIBRATIONS,
    KIND,
    GraphFeatures,
    QueryFunction,
)
from ontodex.scoring.kinds import kinds_of
from ontodex.scoring.rules import Rules, mine_rules
from ontodex.scoring.type_constraints import constraint_basis, constraint_vectors

__all__ = [
    "KGETrainer",
    "default_graph_features",
    "hold_out",
    "join",
    "learn_graph_features",
    "query_function_as_new",
    "why_not_learned",
]

KGETrainer = Callable[[KnowledgeGraph], ComplEx]
"""Trains KGE vectors (ComplEx) on the known triples of a graph."""

MAX_ENTITIES = 500_000
"""Largest number of entities of a graph with features, as a question scores every entity."""

MIN_HELD_OUT, MAX_HELD_OUT = 50, 5000
"""Smallest, and usual largest, number of held-out triples on which weights are fitted."""

SHARE, MIN_SHARE, MAX_SHARE = 0.05, 0.01, 0.2
"""Shares of the known triples to hold out.

The usual share; the smallest share, which large graphs hold out even if it is more than
:data:`MAX_HELD_OUT` triples; the largest share, up to which small graphs hold out
:data:`MIN_HELD_OUT` triples.
"""

MIN_KIND = 1.0
"""Smallest weight of kinds for new entities, which takes their log-odds as they are.

The text projections were trained on the held-out triples as well, so fitted weights trust texts of
new entities too much, and kinds too little.
"""

AS_NEW = 4096
"""Number of questions that are also scored as if their entities were new to the graph."""


def hold_out(graph: KnowledgeGraph) -> KnowledgeGraph | None:
    """Return a graph with validation triples, on which the weights of scores can be fitted.

    A graph that has at least 50 validation triples is returned unchanged. Otherwise a twentieth of
    the known triples is held out, at least 50 and at most 5,000; if a hundredth of them is more
    than 5,000, a hundredth is held out.

    Entity texts may name neighbours. Texts are not encoded again without held-out triples, so the
    weight of text is then somewhat too high, unless the graph has its own validation triples.

    Returns:
        The graph; ``None`` if fewer than 50 triples can be held out without exceeding a fifth, or
        if the graph has more than 500,000 entities.
    """
    if graph.n_entities > MAX_ENTITIES:
        return None
    if len(graph.valid) < MIN_HELD_OUT:
        count = max(1, graph.n_triples)
        usual = min(SHARE, max(MAX_HELD_OUT / count, MIN_SHARE))
        share = min(max(usual, MIN_HELD_OUT / count), MAX_SHARE)
        graph = split(
            dataclasses.replace(graph, valid=no_triples(), test=no_triples()), valid=share, test=0.0
        )
    return graph if len(graph.valid) >= MIN_HELD_OUT else None


def default_graph_features(graph: KnowledgeGraph) -> GraphFeatures | None:
    """Return graph features with default weights, for a graph to which none can be fitted.

    Args:
        graph: The graph.

    Returns:
        Graph features without KGE vectors, with the weights with which a fit would start; ``None``
        for a graph with more than 500,000 entities.
    """
    if graph.n_entities > MAX_ENTITIES:
        return None
    count = graph.n_relations
    constraints = constraint_basis(graph.triples, graph.n_entities, count)
    known_constraints = constraint_vectors(graph.triples, graph.n_entities, constraints)
    kinds = kinds_of(graph)
    tails, heads = np.array(START)
    weights = np.concatenate(
        [np.tile(tails, (count, 1)), np.tile(heads, (count, 1)), [(tails + heads) / 2]]
    )
    return GraphFeatures(
        Vectors([np.concatenate([known_constraints, kinds.entities], axis=1)]),
        np.zeros((2 * count, 0), dtype=np.float32),
        constraints,
        kinds.relations,
        mine_rules(KnownLinks(graph.triples, graph.n_entities, count)),
        np.stack([weights, weights]).astype(np.float32),
    )


def why_not_learned(graph: KnowledgeGraph) -> str:
    """Return why :func:`hold_out` returns ``None``; an empty text if the graph is too small."""
    if graph.n_entities > MAX_ENTITIES:
        return f"of its {graph.n_entities:,} entities, more than {MAX_ENTITIES:,}"
    if graph.n_triples * MAX_SHARE < MIN_HELD_OUT:
        return ""
    return (
        f"fewer than {MIN_HELD_OUT} links can be held out to weigh it by: nearly every link is the "
        "only one of an entity"
    )


def query_function_as_new(
    encoder: LinkEncoder, graph: KnowledgeGraph, rows: NDArray[np.integer]
) -> tuple[Vectors, QueryFunction]:
    """Encode entities of a graph by their labels alone, as if they were new.

    Args:
        encoder: The link encoder.
        graph: The graph.
        rows: The entities, of shape (n,).

    Returns:
        The vectors of the entities, and a function from positions in ``rows`` and numbers of
        relations to queries.
    """
    labels = [in_words(graph.labels[row]) for row in rows.tolist()]
    vectors = Vectors([encoder.entities(encoder.text.encode(labels))])
    relations = relation_texts(graph)
    return vectors, query_function(encoder.bind(relations), vectors, labels, relations)


def learn_graph_features(
    train: KGETrainer,
    training_graph: KnowledgeGraph,
    graph: KnowledgeGraph,
    vectors: Vectors,
    query: QueryFunction,
    encode_as_new: Callable[[NDArray[np.integer]], tuple[Vectors, QueryFunction]],
    folder: Path,
    *,
    quiet: bool = False,
) -> GraphFeatures:
    """Train KGE vectors, mine rules and fit all weights.

    If an interrupted build has saved the result, the result is loaded.

    Args:
        train: Trains the KGE vectors.
        training_graph: The graph to learn from; see :func:`hold_out`.
        graph: The full graph.
        vectors: Entity vectors of the link space.
        query: Makes queries of the link space.
        encode_as_new: Encodes the entities of given rows by their labels alone, as if they were
            new. Returns their vectors, and a function that makes queries from positions among the
            given rows.
        folder: Folder of the build, where the result is saved.
        quiet: Show no progress on stderr.
    """
    file = folder / "graph_features.safetensors"
    if (saved := _load(file)) is not None:
        return saved
    n_entities, n_relations = graph.n_entities, graph.n_relations
    kge = train(training_graph)
    kge.entities[~_linked(training_graph.triples, n_entities)] = 0.0  # never trained
    constraints = constraint_basis(training_graph.triples, n_entities, n_relations)
    known_constraints = constraint_vectors(training_graph.triples, n_entities, constraints)
    kinds = kinds_of(training_graph)
    links = KnownLinks(training_graph.triples, n_entities, n_relations)
    held_out = training_graph.valid
    rules = mine_rules(links)
    case_based = CaseBasedEvidence(links, vectors, Vectors([kge.entities]), rules)
    random = np.random.default_rng(0)
    asked = draw_questions(held_out, graph, random)
    as_new = asked[:AS_NEW]
    new_rows = distinct(as_new[:, 0])
    heads = Heads(np.arange(n_entities), vectors, query)
    new_heads = Heads(new_rows, *encode_as_new(new_rows), new=True)
    weights = np.stack(
        [
            fit_weights(
                score_answers(
                    graph,
                    vectors,
                    questions,
                    of_heads,
                    kge,
                    (known_constraints, constraints),
                    kinds,
                    case_based,
                    held_out,
                    random,
                    quiet=quiet,
                ),
                2 * n_relations,
            )
            for of_heads, questions in ((heads, asked), (new_heads, as_new))
        ]
    )
    weights[1, :, KIND] = np.maximum(weights[1, :, KIND], MIN_KIND)
    entities = Vectors([np.concatenate([kge.entities, known_constraints, kinds.entities], axis=1)])
    features = GraphFeatures(entities, kge.relations, constraints, kinds.relations, rules, weights)
    calibrations = fit_calibration(
        links,
        KnownLinks(held_out, n_entities, n_relations),
        vectors,
        query,
        features,
        case_based,
        graph.reflexive,
        random,
        quiet=quiet,
    )
    all_constraints = constraint_vectors(graph.triples, n_entities, constraints)
    kinds = kinds_of(graph)
    entities = Vectors([np.concatenate([kge.entities, all_constraints, kinds.entities], axis=1)])
    features = dataclasses.replace(
        features,
        entities=entities,
        kinds=kinds.relations,
        calibration=calibrations[0],
        asked_calibration=calibrations[1],
    )
    _save(features, file)
    return features


def _load(file: Path) -> GraphFeatures | None:
    """Load the graph features of a file; ``None`` if it is missing or damaged."""
    try:
        saved = load_file(file)
        return GraphFeatures(
            Vectors([saved["entities"]]),
            saved["relations"],
            saved["type_constraints"],
            saved["kinds"],
            Rules(saved["rules"], saved["confidences"]),
            saved["weights"],
            *(saved.get(name) for name in CALIBRATIONS),
        )
    except (OSError, KeyError, SafetensorError):
        return None


def _save(features: GraphFeatures, file: Path) -> None:
    """Save graph features into a file, atomically."""
    arrays = {
        "entities": features.entities.shards[0],
        "relations": features.relations,
        "type_constraints": features.type_constraints,
        "kinds": features.kinds,
        "rules": features.rules.bodies,
        "confidences": features.rules.confidences,
        "weights": features.weights,
    }
    fitted = {name: getattr(features, name) for name in CALIBRATIONS}
    arrays |= {name: array for name, array in fitted.items() if array is not None}
    partial = file.with_suffix(".part")
    save_file(arrays, partial)
    partial.replace(file)


def _linked(triples: NDArray[np.integer], n_entities: int) -> NDArray[np.bool_]:
    """Return whether each entity is in a triple, of shape (entities,)."""
    linked = np.zeros(n_entities, dtype=bool)
    linked[triples[:, [0, 2]]] = True
    return linked


def join(vectors: Embeddings, features: GraphFeatures, file: Path) -> Embeddings:
    """Write the vectors of the hybrid space into a raw float32 file.

    Args:
        vectors: Entity vectors of the link space, of shape (entities, dim).
        features: The graph features.
        file: The file to make.

    Returns:
        A map of the file, of shape (entities, dim + number of features of an entity).
    """
    dim = vectors.shape[1]
    made = map_file(file, (len(vectors), dim + features.entities.dim), new=True)
    for start in range(0, len(vectors), ROWS):
        part = np.arange(start, min(start + ROWS, len(vectors)))
        made[part, :dim], made[part, dim:] = vectors[part], features.entities[part]
    return made
