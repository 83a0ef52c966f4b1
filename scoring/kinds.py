"""Kinds of entities: what the known tails of a relation have in common, as an inner product.

The profile of an entity has a feature for every relation of which it is a head or tail, for every
frequent prefix of ids, for every large branch of the hierarchy, and for every large class of which
it is an instance. A relation has a vector that
tells entities like its known tails from others, so that it also scores tails without a link by the
relation: of a relation of one head to one tail, or of an entity that is new to the graph.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import KnowledgeGraph, both_directions
from ontodex.graph.arrays import distinct

__all__ = ["Kinds", "kinds_of"]

Floats = NDArray[np.float32]

MAX_FEATURES = 64
"""Largest number of features of each sort; the most frequent are taken."""

MIN_SHARE = 0.01
"""Smallest share of all entities that a prefix, branch or class has."""

SMOOTHING = 1.0
"""Number of tails, with the features of all entities, that are added to the tails of a relation."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """Profiles of entities, and vectors of relations.

    Attributes:
        entities: 1 if an entity has a feature, else 0; ``float32`` of shape (entities, features).
        relations: Vectors of the R relations, then of their inverses, ``float32`` of shape (2R,
            features). The product with an entity's profile is the log-odds that the entity is a
            tail of the relation, up to a constant, if features are independent (naive Bayes).
    """

    entities: Floats
    relations: Floats


def kinds_of(graph: KnowledgeGraph) -> Kinds:
    """Return the kinds of a graph, by its known triples, ids and hierarchy.

    Whether an entity is a tail of a relation does not count for the relation itself, and of what
    class it is does not count for the relation from an individual to its class.
    """
    known = both_directions(graph.triples, graph.n_relations)
    tails = np.unique(known[:, [1, 2]], axis=0)
    counts = np.bincount(tails[:, 0], minlength=2 * graph.n_relations)
    memberships = np.argsort(-counts, kind="stable")[:MAX_FEATURES]
    memberships = memberships[counts[memberships] > 0]
    members = [tails[tails[:, 0] == relation, 1] for relation in memberships.tolist()]
    others, classes = [*_prefixes(graph), *_branches(graph)], _classes(graph)
    columns = [*members, *others, *classes]
    profiles = np.zeros((graph.n_entities, len(columns)), dtype=np.float32)
    for column, rows in enumerate(columns):
        profiles[rows, column] = 1.0
    base = (profiles.sum(axis=0) + 0.5) / (graph.n_entities + 1)
    relations = np.zeros((2 * graph.n_relations, len(columns)), dtype=np.float32)
    starts = np.searchsorted(tails[:, 0], np.arange(2 * graph.n_relations + 1))
    for relation in np.flatnonzero(counts).tolist():
        own = tails[starts[relation] : starts[relation + 1], 1]
        share = (profiles[own].sum(axis=0) + SMOOTHING * base) / (len(own) + SMOOTHING)
        relations[relation] = np.log(share / (1 - share)) - np.log(base / (1 - base))
    relations[memberships, np.arange(len(memberships))] = 0.0
    for relation in graph.instance_relations:
        relations[[relation, relation + graph.n_relations], len(columns) - len(classes) :] = 0.0
    return Kinds(profiles, relations)


def _prefixes(graph: KnowledgeGraph) -> list[NDArray[np.int64]]:
    """Return the rows of the entities of each frequent prefix of ids."""
    prefixes = [name.partition(":")[0] for name in graph.ids]
    return [
        np.flatnonzero([one == prefix for one in prefixes])
        for prefix, count in Counter(prefixes).most_common(MAX_FEATURES)
        if MIN_SHARE * len(prefixes) <= count < len(prefixes)
    ]


def _classes(graph: KnowledgeGraph) -> list[NDArray[np.int64]]:
    """Return the rows of the instances of each large class."""
    typed = np.isin(graph.relations, graph.instance_relations)
    instances, classes = graph.heads[typed], graph.tails[typed]
    return [
        distinct(instances[classes == one].astype(np.int64))
        for one in _largest(np.bincount(classes, minlength=graph.n_entities))
    ]


def _branches(graph: KnowledgeGraph) -> list[NDArray[np.int64]]:
    """Return the rows of the classes of each large branch of the hierarchy, with its top.

    Individuals count in their class alone, see :func:`_classes`: features are taken as independent.
    When they counted in each branch above their class, the MRR of heads in a graph of software fell
    from .41 to .36.
    """
    if not graph.hierarchy_relations:
        return []
    hierarchy = graph.hierarchy(on_cycle="ignore")
    classes = np.setdiff1d(np.arange(graph.n_entities), hierarchy.individuals)
    places, tops = hierarchy.ancestors_of(classes)
    entities = classes[places]
    return [
        distinct(np.append(entities[tops == top], top).astype(np.int64))
        for top in _largest(np.bincount(tops, minlength=graph.n_entities))
    ]


def _largest(sizes: NDArray[np.int64]) -> list[int]:
    """Return the entities below which enough others stand to be a feature, the largest first."""
    largest = np.argsort(-sizes, kind="stable")[:MAX_FEATURES]
    found: list[int] = largest[sizes[largest] >= max(1.0, MIN_SHARE * len(sizes))].tolist()
    return found
