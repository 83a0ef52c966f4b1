"""Joining graphs, and taking entities out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import GraphError, UnknownEntity, nearest
from ontodex.graph.builder import readable, unique_triples
from ontodex.graph.columns import NestedTextColumn, TextColumn
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.names import NameKind

__all__ = ["merge", "remove"]

Rows = NDArray[np.int32]


def merge(graph: KnowledgeGraph, other: KnowledgeGraph) -> KnowledgeGraph:
    """Return all that either graph says.

    Entities and relations of ``graph`` keep their rows, new ones come after. Of one that both have, labels and
    definitions of ``graph`` stay (but for labels made of the id), synonyms are joined. A triple that either graph holds
    out is held out, so that nothing leaks.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder, more = GraphBuilder("pets"), GraphBuilder("more")
        >>> builder.triple("dog", "is_a", "animal"); more.triple("cat", "is_a", "animal")
        >>> list(merge(builder.build(), more.build()).ids)
        ['dog', 'animal', 'cat']
    """
    ids, rows = _joined(graph.ids, other.ids)
    relation_ids, numbers = _joined(graph.relation_ids, other.relation_ids)
    labels = _named(ids, graph.labels, other.labels, rows)
    definitions = _filled(len(ids), graph.definitions, other.definitions, rows)
    synonyms = [dict.fromkeys(names) for names in graph.synonyms] + [{} for _ in range(len(ids) - graph.n_entities)]
    for row, names in zip(rows.tolist(), other.synonyms, strict=True):
        synonyms[row].update(dict.fromkeys(names))

    def joined(mine: Rows, theirs: Rows) -> Rows:
        moved = np.stack([rows[theirs[:, 0]], numbers[theirs[:, 1]], rows[theirs[:, 2]]], axis=1)
        return unique_triples(np.concatenate([mine, moved]))

    valid, test = joined(graph.valid, other.valid), joined(graph.test, other.test)
    held_out = {tuple(triple) for triple in (*valid.tolist(), *test.tolist())}
    known = joined(graph.triples, other.triples)
    if held_out:
        known = known[[tuple(triple) not in held_out for triple in known.tolist()]]
    return dataclasses.replace(
        graph,
        ids=TextColumn.of(ids),
        labels=TextColumn.of(labels),
        synonyms=NestedTextColumn.of(
            [name for name in names if name != label] for names, label in zip(synonyms, labels, strict=True)
        ),
        definitions=TextColumn.of(definitions),
        relation_ids=TextColumn.of(relation_ids),
        relation_labels=TextColumn.of(_named(relation_ids, graph.relation_labels, other.relation_labels, numbers)),
        heads=np.ascontiguousarray(known[:, 0]),
        relations=np.ascontiguousarray(known[:, 1]),
        tails=np.ascontiguousarray(known[:, 2]),
        valid=valid,
        test=test,
        prefixes=MappingProxyType({**other.prefixes, **graph.prefixes}),
        skipped=graph.skipped + other.skipped,
    )


def remove(graph: KnowledgeGraph, ids: Iterable[str]) -> KnowledgeGraph:
    """Return the graph without some entities and without the triples they are in.

    The others keep their order, relations stay.

    Args:
        graph: The graph.
        ids: CURIE or IRI of each entity to take out.

    Raises:
        UnknownEntity: If there is no such entity; the nearest ids are named.
        GraphError: If nothing would be left.
    """
    keep = np.ones(graph.n_entities, dtype=bool)
    for name in ids:
        found = graph.find(name)
        if found is None or found[1] is not NameKind.ID:
            raise UnknownEntity(f"no entity has the id {name!r}{nearest(name, graph.ids)}")
        keep[found[0]] = False
    if not keep.any():
        raise GraphError(f"{graph.source}: expected to leave at least one entity, found that all are to be removed")
    rows = np.flatnonzero(keep).tolist()
    moved = (np.cumsum(keep) - 1).astype(np.int32)

    def kept(triples: Rows) -> Rows:
        stay = triples[keep[triples[:, 0]] & keep[triples[:, 2]]]
        return np.stack([moved[stay[:, 0]], stay[:, 1], moved[stay[:, 2]]], axis=1)

    known = kept(graph.triples)
    return dataclasses.replace(
        graph,
        ids=TextColumn.of(graph.ids[row] for row in rows),
        labels=TextColumn.of(graph.labels[row] for row in rows),
        synonyms=NestedTextColumn.of(graph.synonyms[row] for row in rows),
        definitions=TextColumn.of(graph.definitions[row] for row in rows),
        heads=np.ascontiguousarray(known[:, 0]),
        relations=np.ascontiguousarray(known[:, 1]),
        tails=np.ascontiguousarray(known[:, 2]),
        valid=kept(graph.valid),
        test=kept(graph.test),
    )


def _joined(mine: Sequence[str], theirs: Sequence[str]) -> tuple[list[str], Rows]:
    """Return all names, and where each of ``theirs`` is among them."""
    places = {name: row for row, name in enumerate(mine)}
    moved = [places.setdefault(name, len(places)) for name in theirs]
    return list(places), np.array(moved, dtype=np.int32)


def _filled(size: int, mine: Sequence[str], theirs: Sequence[str], rows: Rows) -> list[str]:
    texts = [*mine, *[""] * (size - len(mine))]
    for row, text in zip(rows.tolist(), theirs, strict=True):
        texts[row] = texts[row] or text
    return texts


def _named(ids: list[str], mine: Sequence[str], theirs: Sequence[str], rows: Rows) -> list[str]:
    own = ["" if label == readable(name) else label for name, label in zip(ids, mine, strict=False)]
    return [label or readable(name) for name, label in zip(ids, _filled(len(ids), own, theirs, rows), strict=True)]
