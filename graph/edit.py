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
from ontodex.graph.prefixes import contract, expand, looks_like_identifier

__all__ = ["aligned", "merge", "remove"]

Rows = NDArray[np.int32]


def merge(graph: KnowledgeGraph, other: KnowledgeGraph) -> KnowledgeGraph:
    """Return all that either graph says.

    Entities and relations of ``graph`` keep their rows, new ones come after. Of one that both have, labels and
    definitions of ``graph`` stay (but for labels made of the id), synonyms are joined. A triple that either graph holds
    out is held out, so that nothing leaks. Entities and relations meet by CURIE or IRI, see :func:`aligned`.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder, more = GraphBuilder("pets"), GraphBuilder("more")
        >>> builder.triple("dog", "is_a", "animal"); more.triple("cat", "is_a", "animal")
        >>> list(merge(builder.build(), more.build()).ids)
        ['dog', 'animal', 'cat']
    """
    other = aligned(other, graph)
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


def aligned(part: KnowledgeGraph, graph: KnowledgeGraph) -> KnowledgeGraph:
    """Return ``part`` with its ids written as in ``graph``: a CURIE meets its IRI, whatever prefixes each has.

    A CURIE whose prefix ``part`` does not declare is read with the prefixes of ``graph``. The prefixes of the result are
    those that ``graph`` lacks.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder, more = GraphBuilder("pets"), GraphBuilder("more")
        >>> builder.prefixes["ex"] = "http://example.org/"
        >>> builder.triple("ex:dog", "is_a", "ex:animal"); more.triple("http://example.org/cat", "is_a", "ex:animal")
        >>> list(aligned(more.build(), builder.build()).ids)
        ['ex:cat', 'ex:animal']
    """
    new = {p: n for p, n in part.prefixes.items() if p not in graph.prefixes and n not in graph.prefixes.values()}
    known, spaces = {**new, **graph.prefixes}, {**graph.prefixes, **part.prefixes}

    def written(names: Sequence[str], own: Sequence[str], rest: Sequence[str]) -> TextColumn:
        places, there = {**_by_iri(rest, graph), **_by_iri(own, graph)}, set(own)

        def name(old: str) -> str:
            iri = expand(old, spaces)
            if iri is None or (old in there and expand(old, known) == iri):
                return old
            if iri in places:
                return places[iri]
            return old if "://" not in old and expand(old, known) == iri else contract(iri, known)

        return TextColumn.of(map(name, names))

    return dataclasses.replace(
        part,
        ids=written(part.ids, graph.ids, graph.relation_ids),
        relation_ids=written(part.relation_ids, graph.relation_ids, graph.ids),
        prefixes=MappingProxyType(new),
    )


def remove(graph: KnowledgeGraph, ids: Iterable[str]) -> KnowledgeGraph:
    """Return the graph without some entities and without the triples they are in.

    The others keep their order, relations stay.

    Args:
        graph: The graph.
        ids: CURIE, IRI, label or synonym of each entity to take out.

    Raises:
        UnknownEntity: If there is no such entity (the nearest names are offered), or a name fits several equally well
            (their ids are listed).
        GraphError: If nothing would be left.
    """
    keep = np.ones(graph.n_entities, dtype=bool)
    for name in ids:
        keep[_only(graph, name)] = False
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


def _only(graph: KnowledgeGraph, name: str) -> int:
    """Return the one entity that is meant by a name."""
    found = graph.find_all(name)
    if found is None:
        offered = graph.ids if looks_like_identifier(name) else dict.fromkeys(graph.labels)
        raise UnknownEntity(f"{graph.source}: no entity {name!r}{nearest(name, offered)}")
    rows, kind = found
    if len(rows) > 1:
        listed = ", ".join(graph.ids[row] for row in rows[:8]) + (", …" if len(rows) > 8 else "")
        raise UnknownEntity(
            f"{graph.source}: expected one entity, found {len(rows)} with the {kind.name.lower()} {name!r}: {listed}; "
            "give the id of the one that is meant"
        )
    return rows[0]


def _by_iri(names: Sequence[str], graph: KnowledgeGraph) -> dict[str, str]:
    return {iri: name for name in names if (iri := expand(name, graph.prefixes)) is not None}


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
