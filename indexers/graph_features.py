"""Making the structural half of link prediction: trained, weighed, joined with the text, kept when the graph changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

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
from ontodex.indexers.link_weights import Heads, fit_weights, gather, questions
from ontodex.indexers.previous import common_rows
from ontodex.scoring.calibration import fit_calibration
from ontodex.scoring.case_based import CaseBasedEvidence
from ontodex.scoring.graph_features import TYPE_CONSTRAINT, GraphFeatures, QueryFunction
from ontodex.scoring.rules import Rules, mine_rules
from ontodex.scoring.type_constraints import constraint_basis, constraint_vectors

if TYPE_CHECKING:
    from ontodex.storage.index import Index

__all__ = [
    "StructureTrainer",
    "carried",
    "for_fitting",
    "join",
    "make_structure",
    "query_function_as_new",
    "why_not_fitted",
]

StructureTrainer = Callable[[KnowledgeGraph], ComplEx]
"""Trains structural vectors on the known triples of a graph."""

MOST_ENTITIES = 500_000
"""Entities of a graph whose links are learnt: every one is scored for every question about links."""

LEAST, MANY = 50, 5000
"""Triples that weights are fitted on, where the graph holds none out itself: so many at least, and as a rule at most."""

SHARE, LEAST_SHARE, LARGEST_SHARE = 0.05, 0.01, 0.2
"""Share of the known triples that is held out for that; of a graph so large that it makes more than 5,000, and the largest,
of one so small that it takes more for 50."""


AS_NEW = 4096
"""Questions that are asked once more as if their entities were new ones."""


def for_fitting(graph: KnowledgeGraph) -> KnowledgeGraph | None:
    """Return a graph whose known triples are to be learnt, and whose validation triples weights are to be fitted on.

    That is the graph itself where it has at least 50 validation triples; otherwise a twentieth of its known triples is
    held out, at least 50 and at most 5,000, or a hundredth if that is more. ``None`` where 50 are more than a fifth, or
    where there are more than 500,000 entities: structural vectors are left out then. Where texts name neighbours, they name
    those of held-out triples too (texts are not encoded twice), so that text counts for somewhat too much, unless the graph
    has validation triples of its own.
    """
    if graph.n_entities > MOST_ENTITIES:
        return None
    if len(graph.valid) < LEAST:
        count = max(1, graph.n_triples)
        usual = min(SHARE, max(MANY / count, LEAST_SHARE))
        share = min(max(usual, LEAST / count), LARGEST_SHARE)
        graph = split(
            dataclasses.replace(graph, valid=no_triples(), test=no_triples()), valid=share, test=0.0
        )
    return graph if len(graph.valid) >= LEAST else None


def why_not_fitted(graph: KnowledgeGraph) -> str:
    """Return why :func:`for_fitting` has nothing for a graph, or an empty string where it is as small as that."""
    if graph.n_entities > MOST_ENTITIES:
        return f"of its {graph.n_entities:,} entities, more than {MOST_ENTITIES:,}"
    if graph.n_triples * LARGEST_SHARE < LEAST:
        return ""
    return f"fewer than {LEAST} links can be held out to weigh it by: nearly every link is the only one of an entity"


def query_function_as_new(
    encoder: LinkEncoder, graph: KnowledgeGraph, rows: NDArray[np.integer]
) -> tuple[Vectors, QueryFunction]:
    """Encode entities of a graph by their labels alone, as if they were new.

    Args:
        encoder: The link encoder.
        graph: The graph.
        rows: The entities, of shape (n,).

    Returns:
        Their vectors, and a function that makes queries of places in ``rows``.
    """
    labels = [in_words(graph.labels[row]) for row in rows.tolist()]
    vectors, relations = (
        Vectors([encoder.entities(encoder.text.encode(labels))]),
        relation_texts(graph),
    )
    return vectors, query_function(encoder.bind(relations), vectors, labels, relations)


def make_structure(
    train: StructureTrainer,
    learnt: KnowledgeGraph,
    whole: KnowledgeGraph,
    vectors: Vectors,
    ask: QueryFunction,
    read_new: Callable[[NDArray[np.integer]], tuple[Vectors, QueryFunction]],
    folder: Path,
    *,
    quiet: bool = False,
) -> GraphFeatures:
    """Train structural vectors and fit the weights, or take them over from an interrupted build.

    Args:
        train: Trains them.
        learnt: What :func:`for_fitting` returned.
        whole: The graph that it was asked about.
        vectors: Entity vectors of the link space.
        ask: Makes queries of it.
        read_new: Reads entities as if they were new ones, by their labels alone; returns their vectors, and what makes
            queries of them.
        folder: Where they are kept until the build is done.
        quiet: Show no progress on stderr.
    """
    file = folder / "structure.safetensors"
    try:
        left = load_file(file)
        rules, vectors_left = Rules(left["rules"], left["confidences"]), Vectors([left["entities"]])
        return GraphFeatures(
            vectors_left,
            left["relations"],
            left["ranges"],
            rules,
            left["weights"],
            left.get("odds"),
        )
    except (OSError, KeyError, SafetensorError):
        pass
    made = train(learnt)
    made.entities[~_linked(learnt.triples, whole.n_entities)] = 0.0  # what nothing was learnt of
    ranges = constraint_basis(learnt.triples, whole.n_entities, whole.n_relations)
    links = KnownLinks(learnt.triples, whole.n_entities, whole.n_relations)
    rules = mine_rules(links)
    case_based = CaseBasedEvidence(links, vectors, Vectors([made.entities]), rules)
    known = constraint_vectors(learnt.triples, whole.n_entities, ranges)
    random = np.random.default_rng(0)
    asked = questions(learnt.valid, whole, random)
    heads = Heads(np.arange(whole.n_entities), vectors, ask)
    as_new = asked[:AS_NEW]
    rows = distinct(as_new[:, 0])
    new_heads = Heads(rows, *read_new(rows), new=True)
    weights = np.stack(
        [
            fit_weights(
                gather(
                    whole,
                    vectors,
                    some,
                    these,
                    made,
                    (known, ranges),
                    case_based,
                    learnt.valid,
                    random,
                    quiet=quiet,
                ),
                2 * whole.n_relations,
                by_direction=these.new,
            )
            for these, some in ((heads, asked), (new_heads, as_new))
        ]
    )
    as_learnt = Vectors([np.concatenate([made.entities, known], axis=1)])
    structure = GraphFeatures(as_learnt, made.relations, ranges, rules, weights)
    held_out = KnownLinks(learnt.valid, whole.n_entities, whole.n_relations)
    odds = fit_calibration(
        links, held_out, vectors, ask, structure, case_based, whole.reflexive, random, quiet=quiet
    )
    entities = np.concatenate(
        [made.entities, constraint_vectors(whole.triples, whole.n_entities, ranges)], axis=1
    )
    arrays = {
        "entities": entities,
        "relations": made.relations,
        "ranges": ranges,
        "weights": weights,
    }
    arrays.update({} if odds is None else {"odds": odds})
    partial = file.with_suffix(".part")
    save_file({**arrays, "rules": rules.bodies, "confidences": rules.confidences}, partial)
    partial.replace(file)
    return dataclasses.replace(structure, entities=Vectors([entities]), calibration=odds)


def _linked(triples: NDArray[np.integer], size: int) -> NDArray[np.bool_]:
    """Tell which of so many entities are in a triple."""
    linked = np.zeros(size, dtype=bool)
    linked[triples[:, [0, 2]]] = True
    return linked


def join(text: Embeddings, structure: GraphFeatures, file: Path) -> Embeddings:
    """Write the vectors of the hybrid space into a raw float32 file.

    Args:
        text: Entity vectors of the link space, of shape (entities, dim).
        structure: The structural vectors.
        file: The file to make.

    Returns:
        A map of the file, of shape (entities, dim + dim of the structural vectors).
    """
    dim = text.shape[1]
    made = map_file(file, (len(text), dim + structure.entities.dim), new=True)
    for start in range(0, len(text), ROWS):
        part = np.arange(start, min(start + ROWS, len(text)))
        made[part, :dim], made[part, dim:] = text[part], structure.entities[part]
    return made


def carried(index: Index, graph: KnowledgeGraph) -> GraphFeatures | None:
    """Return the structure of an index for a graph that has changed: what is new in it is answered by its text.

    Args:
        index: The index of the graph as it was.
        graph: The graph as it is.
    """
    old = index.structure
    if old is None:
        return None
    count, before = graph.n_relations, index.graph.n_relations
    relations = np.zeros((2 * count, old.relations.shape[1]), dtype=np.float32)
    ranges = np.zeros((2 * count, old.ranges.shape[1]), dtype=np.float32)
    weights = np.repeat(old.weights[:, -1:], 2 * count + 1, axis=1)
    weights[..., TYPE_CONSTRAINT] = 0.0  # a new relation has no place among the ranges
    numbers = np.full(2 * before, -1)
    new, there = common_rows(index.graph.relation_ids, graph.relation_ids)
    for shift, shift_before in ((0, 0), (count, before)):
        relations[new + shift] = old.relations[there + shift_before]
        ranges[new + shift] = old.ranges[there + shift_before]
        weights[:, new + shift] = old.weights[:, there + shift_before]
        numbers[there + shift_before] = new + shift
    entities = np.zeros((graph.n_entities, old.entities.dim), dtype=np.float32)
    new, there = common_rows(_ids_now(index.graph, graph), graph.ids)
    entities[new] = old.entities[there]
    entities[:, relations.shape[1] :] = constraint_vectors(graph.triples, graph.n_entities, ranges)
    return GraphFeatures(
        Vectors([entities]),
        relations,
        ranges,
        old.rules.renumbered(numbers),
        weights,
        old.calibration,
    )


def _ids_now(before: KnowledgeGraph, graph: KnowledgeGraph) -> list[str]:
    """Return the ids of a graph that has changed, as they are now: what was only a name may have got an id since."""
    old, ids = set(before.ids), set(graph.ids)
    renamed = {}
    for name in old - ids if ids - old else ():
        rows, _ = graph.find_all(name) or ([], None)
        if len(rows) == 1 and graph.ids[rows[0]] not in old:
            renamed[name] = graph.ids[rows[0]]
    return [renamed.get(name, name) for name in before.ids]
