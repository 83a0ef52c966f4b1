"""Removal of entities and links from a graph."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import GraphError, UnknownEntity, nearest
from ontodex.graph.arrays import Keys, within
from ontodex.graph.hierarchy_names import BROADER, SUBCLASS, spelt
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.merging import aligned
from ontodex.graph.notices import warn_reader
from ontodex.graph.prefixes import looks_like_identifier
from ontodex.graph.subgraph import with_entities, with_triples

__all__ = ["remove", "remove_links"]

Rows = NDArray[np.int32]


def remove(graph: KnowledgeGraph, ids: Iterable[str]) -> KnowledgeGraph:
    """Return the graph without some entities and their triples.

    The other entities keep their order, and the relations remain.

    Args:
        graph: The graph.
        ids: CURIE, IRI, label or synonym of each entity to remove.

    Raises:
        UnknownEntity: If there is no such entity (the nearest names are listed), or several
            entities match a name equally well (their ids are listed).
        GraphError: If no entity would remain.
    """
    keep = np.ones(graph.n_entities, dtype=bool)
    for name in ids:
        keep[_only(graph, name)] = False
    if not keep.any():
        raise GraphError(
            f"{graph.source}: expected to leave at least one entity, found that all are to be "
            "removed"
        )
    return with_entities(graph, keep)


def remove_links(graph: KnowledgeGraph, links: KnowledgeGraph) -> KnowledgeGraph:
    """Return the graph without the triples of another graph.

    A triple is removed whether it is known or held out. All entities and relations remain.

    Args:
        graph: The graph.
        links: Triples to remove. Entities and relations are matched as by :func:`merge`, or by
            label or synonym. A usual name of the relation from child to parent (``is_a``,
            ``subclass of``, ``broader``, …) stands for all hierarchy relations of the graph, if the
            graph has no relation of that name.

    Raises:
        UnknownEntity: If the head or tail of a link is not in the graph, or matches several
            entities.
        UnknownRelation: If the relation of a link is not in the graph.
        GraphError: If the graph has none of the links, or ``links`` is empty.

    Warns:
        ReadWarning: If the graph lacks some of the links.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder, wrong = GraphBuilder("pets"), GraphBuilder("wrong")
        >>> builder.triple("dog", "is_a", "animal"); builder.triple("dog", "is_a", "plant")
        >>> wrong.triple("dog", "is_a", "plant")
        >>> remove_links(builder.build(), wrong.build()).triples.tolist()
        [[0, 0, 1]]
    """
    usual = [_usual(graph, name) for name in links.relation_ids]
    links = aligned(links, graph)
    asked = np.concatenate([links.triples, links.valid, links.test])
    if not len(asked):
        raise GraphError(f"{links.source}: expected links to remove, found none")
    rows = {row: _only(graph, links.ids[row]) for row in np.unique(asked[:, [0, 2]]).tolist()}
    numbers = {
        row: usual[row] or (graph.expect_relation(links.relation_ids[row]),)
        for row in np.unique(asked[:, 1]).tolist()
    }
    known = np.sort(_keys(graph, np.concatenate([graph.triples, graph.valid, graph.test])))
    wanted, missing = list[Rows](), list[Rows]()
    for head, relation, tail in asked.tolist():
        meant = np.array(
            [(rows[head], number, rows[tail]) for number in numbers[relation]], dtype=np.int32
        )
        found = meant[within(known, _keys(graph, meant))]
        (wanted if len(found) else missing).append(found if len(found) else meant[:1])
    if missing:
        head, relation, tail = missing[0][0].tolist()
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        message = (
            f"{graph.source}: expected links of the graph to remove, found {graph.labels[head]!r} "
            f"{graph.relation_labels[relation]!r} {graph.labels[tail]!r}{more}, "
            "which it does not have"
        )
        if not wanted:
            raise GraphError(message)
        warn_reader(message)
    gone = np.sort(_keys(graph, np.concatenate(wanted)))
    stay = [
        part[~within(gone, _keys(graph, part))] for part in (graph.triples, graph.valid, graph.test)
    ]
    return with_triples(graph, *stay)


def _usual(graph: KnowledgeGraph, name: str) -> tuple[int, ...]:
    """Return the relations from child to parent if ``name`` is a usual name of one.

    The result is empty if ``name`` is not a usual name, or if the graph has a relation of this
    name.
    """
    is_usual = bool(spelt(name) & (SUBCLASS | BROADER)) and graph.find_relation(name) is None
    return graph.hierarchy_relations + graph.instance_relations if is_usual else ()


def _keys(graph: KnowledgeGraph, triples: Rows) -> Keys:
    heads, relations, tails = triples.T.astype(np.int64)
    keys: Keys = (heads * graph.n_relations + relations) * graph.n_entities + tails
    return keys


def _only(graph: KnowledgeGraph, name: str) -> int:
    """Return the row of the only entity with a name."""
    found = graph.find_all(name)
    if found is None:
        offered = graph.ids if looks_like_identifier(name) else dict.fromkeys(graph.labels)
        raise UnknownEntity(f"{graph.source}: no entity {name!r}{nearest(name, offered)}")
    rows, kind = found
    if len(rows) > 1:
        listed = ", ".join(graph.ids[row] for row in rows[:8]) + (", …" if len(rows) > 8 else "")
        raise UnknownEntity(
            f"{graph.source}: expected one entity, found {len(rows)} with the {kind} {name!r}: "
            f"{listed}; give the id of the one that is meant"
        )
    return rows[0]
