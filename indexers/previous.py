"""Reuse of the previous generation: of its vectors in builds, of its fitted parts in updates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import IndexFailure, IndexMismatch
from ontodex.geometry.projection import Projections
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph
from ontodex.scoring.graph_features import TYPE_CONSTRAINT, GraphFeatures
from ontodex.scoring.kinds import kinds_of
from ontodex.scoring.type_constraints import constraint_vectors
from ontodex.storage.index import Index
from ontodex.storage.space_names import HYBRID

__all__ = [
    "carry_over_graph_features",
    "carry_over_projections",
    "common_rows",
    "known_vectors",
    "open_previous",
]


@contextmanager
def open_previous(path: Path) -> Iterator[Index | None]:
    """Open the live generation, if there is one and it can be read.

    Raises:
        IndexMismatch: If a newer version of ontodex wrote the generation, which must not be
            replaced then.
    """
    index = None
    try:
        index = Index.open(path)
    except IndexMismatch:
        raise
    except IndexFailure:
        pass
    try:
        yield index
    finally:
        if index is not None:
            index.close()


def known_vectors(
    previous: Index | None, space: str, encoder: str, key: str, fingerprint: str
) -> tuple[NDArray[np.bytes_], Vectors] | None:
    """Return the keys (``S16``) and vectors of the texts that a generation has in a space.

    Args:
        previous: The generation, if there is one.
        space: Name of the space.
        encoder: Space whose encoder made the vectors.
        key: Key of the fingerprint in the manifest's entry of this encoder.
        fingerprint: Fingerprint of the current encoder.

    Returns:
        Keys and vectors; ``None`` if the space does not exist or is damaged, or if its vectors are
        from an encoder with another fingerprint.
    """
    if previous is None or space not in previous.manifest.spaces:
        return None
    if previous.manifest.encoders.get(encoder, {}).get(key) != fingerprint:
        return None
    prefixes = f"{previous.space_info(space).stored_in}/vectors/", f"{space}/keys"
    with suppress(IndexFailure):
        if not any(any(previous.blobs.damaged(prefix)) for prefix in prefixes):
            return previous.blobs.get(f"{space}/keys"), previous.vectors(space)
    return None


def common_rows(
    before: Sequence[str], after: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows in ``after``, and in ``before``, of the names that are in both lists."""
    known = {name: row for row, name in enumerate(before)}
    pairs = [(row, known[name]) for row, name in enumerate(after) if name in known]
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def carry_over_projections(made: Projections, index: Index, graph: KnowledgeGraph) -> Projections:
    """Replace the projections of known relations by the projections that an index stores.

    A relation keeps its projection in an update, even if its text changes.

    Args:
        made: Projections of all relations of the changed graph and of their inverses.
        index: Index of the graph before the update.
        graph: The graph after the update.
    """
    new, old = common_rows(index.graph.relation_ids, graph.relation_ids)
    rows = np.concatenate([new, new + graph.n_relations])
    old_rows = np.concatenate([old, old + index.graph.n_relations])
    return made.carrying(rows, index.projections, old_rows)


def carry_over_graph_features(index: Index, graph: KnowledgeGraph) -> GraphFeatures | None:
    """Return the graph features of an index for the graph after an update.

    New entities and relations get no KGE vectors. Type constraints of entities, and kinds, are
    computed from the new graph.

    Args:
        index: Index of the graph before the update.
        graph: The graph after the update.

    Returns:
        The graph features; ``None`` if the index has none.
    """
    if HYBRID not in index.manifest.spaces:
        return None
    old = GraphFeatures.read(index.blobs, index.vectors(HYBRID))
    count, old_count = graph.n_relations, index.graph.n_relations
    relations = np.zeros((2 * count, old.relations.shape[1]), dtype=np.float32)
    relation_constraints = np.zeros((2 * count, old.type_constraints.shape[1]), dtype=np.float32)
    weights = np.repeat(old.weights[:, -1:], 2 * count + 1, axis=1)
    weights[..., TYPE_CONSTRAINT] = 0.0  # a new relation has no type constraint
    numbers = np.full(2 * old_count, -1)
    new, known = common_rows(index.graph.relation_ids, graph.relation_ids)
    for shift, old_shift in ((0, 0), (count, old_count)):
        relations[new + shift] = old.relations[known + old_shift]
        relation_constraints[new + shift] = old.type_constraints[known + old_shift]
        weights[:, new + shift] = old.weights[:, known + old_shift]
        numbers[known + old_shift] = new + shift
    kge = np.zeros((graph.n_entities, relations.shape[1]), dtype=np.float32)
    new, known = common_rows(_current_ids(index.graph, graph), graph.ids)
    kge[new] = old.kge_vectors()[known]
    constraints = constraint_vectors(graph.triples, graph.n_entities, relation_constraints)
    kinds = kinds_of(graph)
    return GraphFeatures(
        Vectors([np.concatenate([kge, constraints, kinds.entities], axis=1)]),
        relations,
        relation_constraints,
        kinds.relations,
        old.rules.renumbered(numbers),
        weights,
        old.calibration,
        old.asked_calibration,
    )


def _current_ids(before: KnowledgeGraph, graph: KnowledgeGraph) -> list[str]:
    """Return the ids of a graph as they are after an update.

    An update may give an id to an entity that had only a name.
    """
    old, ids = set(before.ids), set(graph.ids)
    renamed = {}
    for name in old - ids if ids - old else ():
        rows, _ = graph.find_all(name) or ([], None)
        if len(rows) == 1 and graph.ids[rows[0]] not in old:
            renamed[name] = graph.ids[rows[0]]
    return [renamed.get(name, name) for name in before.ids]
