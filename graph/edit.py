"""Joining graphs, and taking entities out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import GraphError, UnknownEntity, nearest
from ontodex.graph.builder import own_name, readable, unique_triples
from ontodex.graph.columns import NestedTextColumn, TextColumn
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.prefixes import contract, expand, looks_like_identifier

__all__ = ["aligned", "merge", "remove"]

Rows = NDArray[np.int32]


def merge(graph: KnowledgeGraph, other: KnowledgeGraph) -> KnowledgeGraph:
    """Return all that either graph says.

    Entities and relations of ``graph`` keep their rows, new ones come after. Of one that both have, labels and
    definitions of ``graph`` stay (but for labels made of the id), synonyms and former ids are joined. A triple that
    either graph holds out is held out, so that nothing leaks. Entities and relations meet by CURIE or IRI, see
    :func:`aligned`.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder, more = GraphBuilder("pets"), GraphBuilder("more")
        >>> builder.triple("dog", "is_a", "animal"); more.triple("cat", "is_a", "animal")
        >>> list(merge(builder.build(), more.build()).ids)
        ['dog', 'animal', 'cat']
    """
    said = [_not_made(part.ids, part.labels, own_name) for part in (graph, other)]
    relations_said = [_not_made(part.relation_ids, part.relation_labels, readable) for part in (graph, other)]
    other = aligned(other, graph)
    ids, rows = _joined(_present_ids(graph, other), other.ids)
    relation_ids, numbers = _joined(graph.relation_ids, other.relation_ids)
    labels, relation_labels = (
        [label or made(name) for name, label in zip(names, _filled(len(names), columns, places), strict=True)]
        for names, columns, places, made in (
            (ids, said, rows, own_name),
            (relation_ids, relations_said, numbers, readable),
        )
    )
    synonyms, former = (
        _all_names(len(ids), columns, rows)
        for columns in ((graph.synonyms, other.synonyms), (graph.former_ids, other.former_ids))
    )
    known_ids = set(ids)

    def joined(*parts: Rows) -> Rows:
        moved = [
            np.stack([row[triples[:, 0]], number[triples[:, 1]], row[triples[:, 2]]], axis=1)
            for triples, row, number in zip(parts, rows, numbers, strict=True)
        ]
        return unique_triples(np.concatenate(moved))

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
        definitions=TextColumn.of(_filled(len(ids), (graph.definitions, other.definitions), rows)),
        former_ids=NestedTextColumn.of([name for name in names if name not in known_ids] for names in former),
        relation_ids=TextColumn.of(relation_ids),
        relation_labels=TextColumn.of(relation_labels),
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

    A CURIE whose prefix ``part`` does not declare is read with the prefixes of ``graph``. An id that an entity of ``graph``
    had formerly becomes its present one. The prefixes of the result are those that ``graph`` lacks.

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

    present = _present(graph)

    def written(names: Sequence[str], own: Sequence[str], rest: Sequence[str]) -> Iterator[str]:
        places, there = {**_by_iri(rest, graph), **_by_iri(own, graph)}, set(own)
        for old in names:
            iri = expand(old, spaces)
            if iri is None or (old in there and expand(old, known) == iri):
                yield old
            elif iri in places:
                yield places[iri]
            else:
                yield old if "://" not in old and expand(old, known) == iri else contract(iri, known)

    ids = (present.get(name, name) for name in written(part.ids, graph.ids, graph.relation_ids))
    return dataclasses.replace(
        part,
        ids=TextColumn.of(ids),
        relation_ids=TextColumn.of(written(part.relation_ids, graph.relation_ids, graph.ids)),
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
        former_ids=NestedTextColumn.of(graph.former_ids[row] for row in rows),
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
            f"{graph.source}: expected one entity, found {len(rows)} with the {kind} {name!r}: {listed}; "
            "give the id of the one that is meant"
        )
    return rows[0]


def _by_iri(names: Sequence[str], graph: KnowledgeGraph) -> dict[str, str]:
    return {iri: name for name in names if (iri := expand(name, graph.prefixes)) is not None}


def _present(graph: KnowledgeGraph) -> dict[str, str]:
    """Return the present id of every former one."""
    former = zip(graph.former_ids.strings, graph.former_ids.owners.tolist(), strict=True)
    return {name: graph.ids[row] for name, row in former}


def _present_ids(graph: KnowledgeGraph, other: KnowledgeGraph) -> list[str]:
    """Return the ids of a graph, present ones in the place of what the other graph knows as former ones.

    Only links may name those: what has a label, a synonym or a definition is an entity of its own.
    """
    ids, present = list(graph.ids), _present(other)
    for row, name in enumerate(ids):
        if name in present and not (
            graph.synonyms[row] or graph.definitions[row] or graph.labels[row] != own_name(name)
        ):
            ids[row] = present[name]
    return ids


def _joined(*parts: Sequence[str]) -> tuple[list[str], list[Rows]]:
    """Return all names, and where those of each part are among them."""
    places: dict[str, int] = {}
    moved = [[places.setdefault(name, len(places)) for name in names] for names in parts]
    return list(places), [np.array(rows, dtype=np.int32) for rows in moved]


def _all_names(size: int, columns: Sequence[NestedTextColumn], rows: Sequence[Rows]) -> list[dict[str, None]]:
    """Return the names that any part has of each of so many, each once."""
    names: list[dict[str, None]] = [{} for _ in range(size)]
    for column, places in zip(columns, rows, strict=True):
        for row, of_one in zip(places.tolist(), column, strict=True):
            names[row].update(dict.fromkeys(of_one))
    return names


def _filled(size: int, columns: Sequence[Sequence[str]], rows: Sequence[Rows]) -> list[str]:
    """Return for each of so many the first text that is not empty."""
    texts = [""] * size
    for column, places in zip(columns, rows, strict=True):
        for row, text in zip(places.tolist(), column, strict=True):
            texts[row] = texts[row] or text
    return texts


def _not_made(ids: Sequence[str], labels: Sequence[str], made: Callable[[str], str]) -> list[str]:
    """Return labels, without those that were made of the ids."""
    return ["" if label == made(name) else label for name, label in zip(ids, labels, strict=True)]
