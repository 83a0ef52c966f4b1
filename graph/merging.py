"""Merging graphs: entities and relations of two graphs become one."""

from __future__ import annotations

import dataclasses
from collections import ChainMap, Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.builder import own_name, readable, unique_triples
from ontodex.graph.columns import NestedTextColumn, TextColumn
from ontodex.graph.hierarchy_names import BROADER, SUBCLASS, spelt
from ontodex.graph.identifiers import Reference, reference
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.names import normalise, unique_ids_by_name
from ontodex.graph.notices import warn_reader
from ontodex.graph.prefixes import contract, expand, local_name
from ontodex.graph.subgraph import with_entities, with_triples

__all__ = ["aligned", "merge", "union"]

Rows = NDArray[np.int32]

OBSOLETE = "obsolete "
"""Start of the labels of obsolete terms in OBO ontologies."""


def merge(
    graph: KnowledgeGraph, other: KnowledgeGraph, *, corrects: bool = False
) -> KnowledgeGraph:
    """Return the union of two graphs, with entities matched by id, alternative id or name.

    ``other`` is aligned with ``graph`` (:func:`aligned`). Then two kinds of names in ``graph`` are
    matched with ``other`` in the same way: entities that occur only in links, and relations without
    a label. If an unlinked entity has the id of an unlabelled relation of the other graph, its
    label becomes the label of that relation, and the entity is removed. Labels, definitions and
    synonyms are combined as in :func:`union`.

    Args:
        graph: The graph whose ids and labels take precedence.
        other: The graph that is added.
        corrects: If true, definitions of ``other`` take precedence, otherwise those of ``graph``.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder, more = GraphBuilder("pets"), GraphBuilder("more")
        >>> builder.triple("dog", "is_a", "animal"); more.triple("cat", "is_a", "animal")
        >>> list(merge(builder.build(), more.build()).ids)
        ['dog', 'animal', 'cat']
    """
    other = aligned(other, graph)
    graph, other = _with_labels_of(graph, other)
    other, graph = _with_labels_of(other, graph)
    named = _named_relations(graph, other)
    counts = Counter(named.values())
    graph = _with_relations(
        graph, {name: meant for name, meant in named.items() if counts[meant] == 1}
    )
    meant = _meant(graph, set(_only_linked(graph)), other)
    return union(_renamed(graph, meant, other), other, corrects=corrects)


def union(
    graph: KnowledgeGraph, other: KnowledgeGraph, *, corrects: bool = False
) -> KnowledgeGraph:
    """Return the union of two graphs, with entities and relations matched by id alone.

    Entities and relations of ``graph`` keep their rows; new entities and relations of ``other``
    follow. An entity of both graphs gets the label of ``graph``, unless this label is derived from
    the id and ``other`` has a label. If both graphs have a label, the label of ``other`` becomes a
    synonym. Synonyms and alternative ids of both graphs are joined. A triple that is held out in
    one graph is held out in the union.

    Args:
        graph: The graph whose labels take precedence.
        other: The graph that is added.
        corrects: If true, definitions of ``other`` take precedence, otherwise those of ``graph``.
    """
    ids, rows = _joined(graph.ids, other.ids)
    relation_ids, numbers = _joined(graph.relation_ids, other.relation_ids)
    labels = _named(ids, [(part.ids, part.labels) for part in (graph, other)], rows, own_name)
    relations = [(part.relation_ids, part.relation_labels) for part in (graph, other)]
    synonyms, alternatives = (
        _all_names(len(ids), columns, rows)
        for columns in (
            (graph.synonyms, other.synonyms),
            (graph.alternative_ids, other.alternative_ids),
        )
    )
    for part, places in zip((graph, other), rows, strict=True):
        for row, name, label in zip(places.tolist(), part.ids, part.labels, strict=True):
            if label not in (labels[row], own_name(name)) and normalise(label) != normalise(
                labels[row]
            ):
                synonyms[row].setdefault(label)
    known_ids = set(ids)
    definitions = [(graph.definitions, rows[0]), (other.definitions, rows[1])][
        :: -1 if corrects else 1
    ]

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
            [name for name in names if name != label]
            for names, label in zip(synonyms, labels, strict=True)
        ),
        definitions=TextColumn.of(_filled(len(ids), *zip(*definitions, strict=True))),
        alternative_ids=NestedTextColumn.of(
            [name for name in names if name not in known_ids] for names in alternatives
        ),
        relation_ids=TextColumn.of(relation_ids),
        relation_labels=TextColumn.of(_named(relation_ids, relations, numbers, readable)),
        heads=np.ascontiguousarray(known[:, 0]),
        relations=np.ascontiguousarray(known[:, 1]),
        tails=np.ascontiguousarray(known[:, 2]),
        valid=valid,
        test=test,
        prefixes=MappingProxyType({**other.prefixes, **graph.prefixes}),
        upward=_upward(graph, other),
        skipped=graph.skipped + other.skipped,
        mappings=(*graph.mappings, *(one for one in other.mappings if one not in graph.mappings)),
    )


def _upward(graph: KnowledgeGraph, other: KnowledgeGraph) -> tuple[str, ...]:
    """Return the ids of the hierarchy relations of a union; none if they are to be recognised.

    If only one graph names its hierarchy relations, the relations that are recognised in the other
    one, and that the first one does not have, are named as well.
    """
    named = (*graph.upward, *other.upward)
    if graph.upward and not other.upward:
        named += _recognised(other, besides=graph)
    if other.upward and not graph.upward:
        named = (*_recognised(graph, besides=other), *named)
    return tuple(dict.fromkeys(named))


def _recognised(graph: KnowledgeGraph, *, besides: KnowledgeGraph) -> tuple[str, ...]:
    """Return the ids of a graph's hierarchy relations, without relations of another graph."""
    names = (graph.relation_ids[number] for number in graph.hierarchy_relations)
    return tuple(name for name in names if name not in besides.relation_ids)


def aligned(part: KnowledgeGraph, graph: KnowledgeGraph) -> KnowledgeGraph:
    """Return a graph with its ids written as in another graph.

    Ids of entities in ``part`` are replaced by ids of ``graph`` in three cases:

    - A CURIE and an IRI stand for the same entity, whatever the prefixes of each graph.
    - An id is an alternative id, or another form of the id, of an entity of ``graph``. The label
      and definition in ``graph`` then apply.
    - A name that occurs only in links is the label of exactly one entity, or, if no entity has this
      label, a synonym of exactly one entity.

    Two rows of the result may therefore have the same id. Links between two ids that become one
    are removed.

    Relations are matched by CURIE, IRI and other forms of their ids as well. A relation whose id is
    a name in words is replaced by the relation of ``graph`` with the same label. A relation named
    ``is_a``, ``subclass of`` and the like is replaced by a hierarchy relation of ``graph``,
    preferably one with such a name, then by number of triples. A relation named ``broader`` and the
    like is replaced only by a hierarchy relation with such a name.

    The result keeps only those prefixes that ``graph`` lacks.

    Args:
        part: The graph to rewrite.
        graph: The graph with the wanted ids.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder, more = GraphBuilder("pets"), GraphBuilder("more")
        >>> builder.prefixes["ex"] = "http://example.org/"
        >>> builder.triple("ex:dog", "is_a", "ex:animal")
        >>> more.triple("http://example.org/cat", "is_a", "ex:animal")
        >>> list(aligned(more.build(), builder.build()).ids)
        ['ex:cat', 'ex:animal']
    """
    new = {
        p: n
        for p, n in part.prefixes.items()
        if p not in graph.prefixes and n not in graph.prefixes.values()
    }
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

    relation_ids = written(part.relation_ids, graph.relation_ids, graph.ids)
    ids = written(part.ids, graph.ids, graph.relation_ids)
    part = dataclasses.replace(
        part,
        ids=ids,
        labels=_relabelled(part.labels, part.ids, ids, own_name),
        alternative_ids=NestedTextColumn(
            written(part.alternative_ids.strings, graph.ids, graph.relation_ids),
            part.alternative_ids.rows,
        ),
        relation_ids=relation_ids,
        relation_labels=_relabelled(
            part.relation_labels, part.relation_ids, relation_ids, readable
        ),
        prefixes=MappingProxyType(new),
    )
    relations = (
        _same_relations(part, graph),
        _hierarchy_relations(part, graph),
        _named_relations(part, graph),
    )
    part = _with_relations(part, dict(ChainMap(*reversed(relations))))
    return _renamed(part, _meant(part, set(_only_linked(part)), graph), graph)


def _with_labels_of(
    graph: KnowledgeGraph, other: KnowledgeGraph
) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """Take labels for unlabelled relations of ``graph`` from entities of ``other``.

    An entity is used if its id is the id of the relation, and no triple links it.

    Returns:
        ``graph`` with these labels, and ``other`` without these entities.
    """
    bare = zip(graph.relation_ids, graph.relation_labels, strict=True)
    unnamed = {name for name, label in bare if label == readable(name)}.intersection(
        other.ids
    ).difference(graph.ids)
    if not unnamed:
        return graph, other
    linked = np.zeros(other.n_entities, dtype=bool)
    for triples in (other.triples, other.valid, other.test):
        linked[triples[:, [0, 2]]] = True
    rows = zip(other.ids, other.labels, linked.tolist(), strict=True)
    named = {
        name: label
        for name, label, used in rows
        if name in unnamed and not used and label != own_name(name)
    }
    labels = zip(graph.relation_ids, graph.relation_labels, strict=True)
    called = dataclasses.replace(
        graph, relation_labels=TextColumn.of(named.get(name, label) for name, label in labels)
    )
    return called, with_entities(
        other, np.array([name not in named for name in other.ids], dtype=bool)
    )


def _relabelled(
    labels: Sequence[str], before: Sequence[str], after: Sequence[str], made: Callable[[str], str]
) -> TextColumn:
    """Return labels in which a label derived from an old id is derived from the new id.

    Args:
        labels: Label of each entity or relation.
        before: Their old ids.
        after: Their new ids.
        made: Derives a label from an id.
    """
    rows = zip(labels, before, after, strict=True)
    return TextColumn.of(made(new) if label == made(old) else label for label, old, new in rows)


def _by_iri(names: Sequence[str], graph: KnowledgeGraph) -> dict[str, str]:
    return {iri: name for name in names if (iri := expand(name, graph.prefixes)) is not None}


def _meant(part: KnowledgeGraph, linked: set[str], graph: KnowledgeGraph) -> dict[str, str]:
    """Match ids of ``part`` with entities that have another id in ``graph``.

    An id stands for the entity that has this id as an alternative id, or that has another form of
    this id (:func:`~ontodex.graph.identifiers.reference`). A name that occurs only in links stands
    for the entity with this label, if exactly one entity of both graphs has it; an entity without a
    label counts with the name that is derived from its id. If several entities have the label, the
    name is not matched, and a :class:`ReadWarning` is issued. If no entity has the label, the name
    stands for the only entity of ``graph`` that has it as a synonym, in exactly this spelling.

    Args:
        part: The graph with the ids.
        linked: Ids of ``part`` that occur only in links.
        graph: The graph with the entities.

    Returns:
        The id in ``graph`` for each id of ``part`` that is matched.
    """
    alternatives = zip(
        graph.alternative_ids.strings, graph.alternative_ids.owners.tolist(), strict=True
    )
    meant = {name: graph.ids[row] for name, row in alternatives}
    there = set(graph.ids)
    own = _by_reference(
        (name for name in part.ids if name not in there), {**graph.prefixes, **part.prefixes}
    )
    rows = zip(graph.ids, graph.ids, strict=True)
    for name, one in chain(list(meant.items()), rows) if own else ():
        if found := reference(name, graph.prefixes):
            meant.update(dict.fromkeys(own.get(found, ()), one))
    named: dict[str, list[str]] = {}
    for name in linked.difference(graph.ids, meant):
        if _is_word(name) and reference(name) is None:
            named.setdefault(normalise(name), []).append(name)
    labelled: dict[str, set[str]] = {}
    alike = [
        row for one in (part, graph) if named for row in _rows(one) if normalise(row[1]) in named
    ]
    unnamed = {identifier for identifier, label in alike if label == own_name(identifier)}
    called = {
        row[0]
        for one in (part, graph)
        if unnamed
        for row in _rows(one)
        if row[0] in unnamed and row[1] != own_name(row[0])
    }
    for identifier, label in alike:
        if label != own_name(identifier) or not (_is_word(identifier) or identifier in called):
            labelled.setdefault(normalise(label), set()).add(identifier)
    for key, of_key in labelled.items():
        if len(of_key) == 1 and there.issuperset(of_key):
            meant.update(dict.fromkeys(named[key], *of_key))
    shared = {named[key][0]: sorted(of_key) for key, of_key in labelled.items() if len(of_key) > 1}
    for name, of_name in islice(shared.items(), 1):
        more = f", and {len(shared) - 1} more such names" if len(shared) > 1 else ""
        warn_reader(
            f"{part.source}: {name!r} is the label of {' and '.join(of_name[:3])}{more}; links of "
            "it are not theirs but of another entity, which has this name as its id; give the id "
            "of the one that is meant"
        )
    return meant | _of_synonyms(
        {name for key in named.keys() - labelled.keys() for name in named[key]}, graph
    )


def _by_reference(names: Iterable[str], prefixes: Mapping[str, str]) -> dict[Reference, list[str]]:
    """Group ids by their references; ids outside the known vocabularies are left out.

    Args:
        names: The ids.
        prefixes: IRI namespace of each CURIE prefix in the source of the ids.
    """
    found: dict[Reference, list[str]] = {}
    for name in names:
        if one := reference(name, prefixes):
            found.setdefault(one, []).append(name)
    return found


def _of_synonyms(names: Collection[str], graph: KnowledgeGraph) -> dict[str, str]:
    """Return the id of the entity for each name that is a synonym of exactly one entity.

    Names and synonyms must have the same spelling.
    """
    rows = zip(graph.synonyms.strings, graph.synonyms.owners.tolist(), strict=True) if names else ()
    return unique_ids_by_name(
        (synonym, graph.ids[row]) for synonym, row in rows if synonym in names
    )


def _rows(graph: KnowledgeGraph) -> Iterator[tuple[str, str]]:
    """Return the id and the label of each entity."""
    return zip(graph.ids, graph.labels, strict=True)


def _is_word(name: str) -> bool:
    """Return whether an id is a name in words, not an IRI, a CURIE or a number."""
    return local_name(name) == name and any(map(str.isalpha, name))


def _renamed(
    graph: KnowledgeGraph, meant: Mapping[str, str], other: KnowledgeGraph
) -> KnowledgeGraph:
    """Return a graph with some ids replaced by ids of another graph.

    If either graph has a label, a definition or synonyms for the new id, the old label becomes a
    synonym (unless it marks an obsolete term), and the old definition is dropped. Otherwise the
    entity keeps its label and definition. Links between two ids that become one are removed.

    Args:
        graph: The graph.
        meant: New id of each id that is replaced.
        other: The graph with the new ids.
    """
    renamed = (
        [row for row, name in enumerate(graph.ids) if meant.get(name, name) != name]
        if meant
        else []
    )
    if not renamed:
        return graph
    ids, labels, definitions = list(graph.ids), list(graph.labels), list(graph.definitions)
    synonyms = list(graph.synonyms)
    targets = {meant[ids[row]] for row in renamed}
    both = (graph, other)
    described = {
        name
        for one in both
        for name in targets.intersection(one.ids).difference(_only_linked(one, targets))
    }
    for row in renamed:
        is_named, ids[row] = labels[row] != own_name(ids[row]), meant[ids[row]]
        if is_named and ids[row] not in described:
            continue
        if is_named and not labels[row].casefold().startswith(OBSOLETE):
            synonyms[row] = (labels[row], *synonyms[row])
        labels[row], definitions[row] = own_name(ids[row]), ""
    _, (rows,) = _joined(ids)

    def still_two(triples: Rows) -> Rows:
        heads, tails = triples[:, 0], triples[:, 2]
        left: Rows = triples[(heads == tails) | (rows[heads] != rows[tails])]
        return left

    named = dataclasses.replace(
        graph,
        ids=TextColumn.of(ids),
        labels=TextColumn.of(labels),
        synonyms=NestedTextColumn.of(synonyms),
        definitions=TextColumn.of(definitions),
    )
    return with_triples(
        named, still_two(graph.triples), still_two(graph.valid), still_two(graph.test)
    )


def _hierarchy_relations(part: KnowledgeGraph, graph: KnowledgeGraph) -> dict[str, str]:
    """Match relations of ``part`` that have a usual name of a hierarchy relation.

    A name such as ``is_a`` (:data:`~ontodex.graph.hierarchy_names.SUBCLASS`) is matched with a
    hierarchy relation of ``graph`` that has such a name, or with any hierarchy relation if none has
    one. A name such as ``broader`` is matched only with a hierarchy relation that has such a name.
    If several fit, the relation with most triples is used.

    Returns:
        The id in ``graph`` for each id of ``part`` that is matched.
    """
    known = {number: _spelt(graph, number) for number in graph.hierarchy_relations}
    counts = np.bincount(graph.relations, minlength=graph.n_relations)
    meant = {}
    for usual in (SUBCLASS, BROADER):
        alike = [number for number, names in known.items() if usual & names]
        fitting = alike or (list(known) if usual is SUBCLASS else [])
        if fitting:
            most = graph.relation_ids[max(fitting, key=lambda number: (counts[number], -number))]
            named = {
                name
                for number, name in enumerate(part.relation_ids)
                if usual & _spelt(part, number)
            }
            meant.update(dict.fromkeys(named.difference(graph.relation_ids), most))
    return meant


def _spelt(graph: KnowledgeGraph, relation: int) -> frozenset[str]:
    return spelt(graph.relation_ids[relation], graph.relation_labels[relation])


def _named_relations(part: KnowledgeGraph, graph: KnowledgeGraph) -> dict[str, str]:
    """Match relations of ``part`` whose ids are only names with relations of the same label.

    Returns:
        The id in ``graph`` for each id of ``part`` that is matched.
    """
    labelled = zip(graph.relation_ids, graph.relation_labels, strict=True)
    by_label = unique_ids_by_name((normalise(label), identifier) for identifier, label in labelled)
    known, meant = set(graph.relation_ids), {}
    for identifier, label in zip(part.relation_ids, part.relation_labels, strict=True):
        key, is_bare = normalise(label), _is_word(identifier) and label == readable(identifier)
        if is_bare and identifier not in known and key in by_label:
            meant[identifier] = by_label[key]
    return meant


def _same_relations(part: KnowledgeGraph, graph: KnowledgeGraph) -> dict[str, str]:
    """Match relations of ``part`` with relations that have another form of the same id.

    Returns:
        The id in ``graph`` for each id of ``part`` that is matched.
    """
    known = set(graph.relation_ids)
    own = _by_reference((name for name in part.relation_ids if name not in known), part.prefixes)
    there = _by_reference(graph.relation_ids, graph.prefixes) if own else {}
    return {name: there[one][0] for one in own.keys() & there.keys() for name in own[one]}


def _with_relations(graph: KnowledgeGraph, meant: Mapping[str, str]) -> KnowledgeGraph:
    """Return a graph with new ids of some relations; ``meant`` has the new id of each old id."""
    if not meant:
        return graph
    ids = TextColumn.of(meant.get(name, name) for name in graph.relation_ids)
    labels = _relabelled(graph.relation_labels, graph.relation_ids, ids, readable)
    upward = tuple(meant.get(name, name) for name in graph.upward)
    return dataclasses.replace(graph, relation_ids=ids, relation_labels=labels, upward=upward)


def _only_linked(graph: KnowledgeGraph, among: Collection[str] | None = None) -> Iterator[str]:
    """Yield the ids of entities that occur only in links.

    Such entities have no label, no definition and no synonyms.

    Args:
        graph: The graph.
        among: Ids to consider; all by default.
    """
    columns = zip(
        graph.ids,
        graph.labels,
        graph.definitions,
        np.diff(graph.synonyms.rows).tolist(),
        strict=True,
    )
    for name, label, definition, synonyms in columns:
        if (
            (among is None or name in among)
            and not (definition or synonyms)
            and label == own_name(name)
        ):
            yield name


def _joined(*parts: Sequence[str]) -> tuple[list[str], list[Rows]]:
    """Return the distinct names of all parts, and for each part the positions of its names."""
    places: dict[str, int] = {}
    moved = [[places.setdefault(name, len(places)) for name in names] for names in parts]
    return list(places), [np.array(rows, dtype=np.int32) for rows in moved]


def _all_names(
    size: int, columns: Sequence[NestedTextColumn], rows: Sequence[Rows]
) -> list[dict[str, None]]:
    """Return the distinct names that each entity has in any part.

    Args:
        size: Number of entities in the union.
        columns: For each part, the names of its entities.
        rows: For each part, the rows of its entities in the union.
    """
    names: list[dict[str, None]] = [{} for _ in range(size)]
    for column, places in zip(columns, rows, strict=True):
        for row, of_one in zip(places.tolist(), column, strict=True):
            if of_one:
                names[row].update(dict.fromkeys(of_one))
    return names


def _filled(
    size: int, columns: Sequence[Sequence[str]], rows: Sequence[NDArray[np.integer]]
) -> list[str]:
    """Return the first non-empty text of each entity, or an empty string.

    Args:
        size: Number of entities in the union.
        columns: For each part, the texts of its entities.
        rows: For each part, the rows of its entities in the union.
    """
    texts = [""] * size
    for column, places in zip(columns, rows, strict=True):
        for row, text in zip(places.tolist(), column, strict=True):
            texts[row] = texts[row] or text
    return texts


def _named(
    names: list[str],
    parts: Sequence[tuple[Sequence[str], Sequence[str]]],
    rows: Sequence[NDArray[np.integer]],
    made: Callable[[str], str],
) -> list[str]:
    """Return the first label of each id that differs from the derived label, or the derived label.

    Args:
        names: All ids.
        parts: For each part, its ids and labels.
        rows: For each part, the positions of its ids in ``names``.
        made: Derives a label from an id.
    """
    given = [
        ["" if label == made(name) else label for name, label in zip(*part, strict=True)]
        for part in parts
    ]
    return [
        label or made(name)
        for name, label in zip(names, _filled(len(names), given, rows), strict=True)
    ]
