"""Splits of a graph into known and held-out triples."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence

import numpy as np

from ontodex.errors import GraphError, SettingsError
from ontodex.graph.hierarchy import Hierarchy, Rows
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.negatives import bits_of

__all__ = ["DIRECT", "hold_out", "links_fingerprint", "split", "validation_links"]

DIRECT = 2
"""Number of the random stream that draws held-out direct links; see :func:`hold_out`."""


def split(
    graph: KnowledgeGraph, valid: float = 0.05, test: float = 0.05, seed: int = 0
) -> KnowledgeGraph:
    """Hold out a fraction of the known triples for validation and testing.

    A triple remains known if its head, tail or relation would have no known triple left. A
    graph with few triples per entity may therefore hold out fewer triples than requested.

    Args:
        graph: A graph without held-out triples.
        valid: Fraction of the triples to hold out for validation.
        test: Fraction of the triples to hold out for testing.
        seed: Equal seeds give equal splits.

    Raises:
        GraphError: If the graph already has held-out triples.
        SettingsError: If a fraction is negative, or the fractions sum to 1 or more.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("square")
        >>> for head in "abcd":
        ...     for tail in "abcd":
        ...         builder.triple(head, "near", tail)
        >>> split(builder.build(), valid=0.25, test=0.125)
        KnowledgeGraph('square': 4 entities, 1 relations, 10 triples, 4 + 2 held out)
    """
    if len(graph.valid) or len(graph.test):
        found = f"{len(graph.valid)} + {len(graph.test)}"
        raise GraphError(
            f"{graph.source}: expected a graph without held-out triples, found {found}; "
            "it is split already"
        )
    if not (valid >= 0 and test >= 0 and valid + test < 1):
        raise SettingsError(
            f"expected fractions of at least 0 that sum to less than 1, found {valid} and {test}"
        )
    triples = graph.triples
    n_valid, n_test = round(valid * len(triples)), round(test * len(triples))
    left = np.bincount(triples[:, [0, 2]].ravel(), minlength=graph.n_entities).tolist()
    left_of_relation = np.bincount(triples[:, 1], minlength=graph.n_relations).tolist()
    held: list[int] = []
    for position in np.random.default_rng(seed).permutation(len(triples)).tolist():
        if len(held) == n_valid + n_test:
            break
        head, relation, tail = triples[position].tolist()
        least = 2 if head == tail else 1
        if left[head] > least and left[tail] > least and left_of_relation[relation] > 1:
            left[head] -= 1
            left[tail] -= 1
            left_of_relation[relation] -= 1
            held.append(position)
    share = round(len(held) * n_valid / max(n_valid + n_test, 1))
    known = np.ones(len(triples), dtype=bool)
    known[held] = False
    return dataclasses.replace(
        graph,
        heads=graph.heads[known],
        relations=graph.relations[known],
        tails=graph.tails[known],
        valid=triples[sorted(held[:share])],
        test=triples[sorted(held[share:])],
    )


def validation_links(hierarchy: Hierarchy, *, seed: int, held_out: float = 0.1) -> Rows:
    """Return the direct links held out for validation, of shape (n, 2).

    The task ``"mixed-hop"`` of :func:`make_task` holds out the same links.
    """
    return hold_out(hierarchy.links, held_out, seed, DIRECT)[1]


def links_fingerprint(links: Rows, names: Sequence[str]) -> str:
    """Return a 128-bit hash of links in their order, in hexadecimal.

    The order counts because random draws depend on it. Links are hashed by the names of child and
    parent.

    Args:
        links: (child, parent), of shape (n, 2).
        names: Name of each row.

    Example:
        >>> links = np.array([[1, 0]])
        >>> names, other = ["animal", "dog"], ["animal", "cat"]
        >>> links_fingerprint(links, names) == links_fingerprint(links, other)
        False
    """
    digest = hashlib.blake2b(digest_size=16)
    for row in links.ravel().tolist():
        digest.update(f"{names[row]}\0".encode("utf-8", "replace"))
    return digest.hexdigest()


def hold_out(pairs: Rows, share: float, seed: int, part: int) -> list[Rows]:
    """Draw a share of pairs, half of it for validation and half for testing.

    Args:
        pairs: Of shape (n, 2).
        share: Fraction of the pairs to draw.
        seed: Equal seeds and parts give equal draws.
        part: Number of the random stream; different parts give independent draws.

    Returns:
        The remaining pairs, the first half and the second half; each in the order of ``pairs``.
    """
    drawn = np.argsort(bits_of(seed, part).random_raw(len(pairs)), kind="stable")
    count = round(share * len(pairs))
    bounds = [(count, len(pairs)), (0, count // 2), (count // 2, count)]
    return [pairs[np.sort(drawn[start:end])] for start, end in bounds]
