"""The knowledge graph: immutable columns of texts and integers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import GraphError, UnknownRelation, nearest
from ontodex.graph.arrays import Keys, distinct, runs, spans
from ontodex.graph.columns import NestedTextColumn, TextColumn
from ontodex.graph.equivalents import through_equivalents
from ontodex.graph.hierarchy import Hierarchy
from ontodex.graph.hierarchy_names import EQUIVALENT, INSTANCE, UPWARD, spelt
from ontodex.graph.identifiers import other_forms
from ontodex.graph.names import NameIndex, NameKind
from ontodex.graph.notices import warn_reader
from ontodex.graph.prefixes import contract, local_name

if TYPE_CHECKING:
    import networkx
    import rdflib

__all__ = ["KnowledgeGraph", "both_directions", "no_triples"]

NAMED = 5
"""Maximal number of removed hierarchy links that a warning lists."""


def no_triples() -> NDArray[np.int32]:
    """Return an empty array of triples, ``int32`` of shape (0, 3)."""
    return np.zeros((0, 3), dtype=np.int32)


def both_directions(triples: NDArray[np.integer], n_relations: int) -> NDArray[np.int64]:
    """Return triples and their inverses, ``int64`` of shape (2n, 3).

    The inverse of (head, relation, tail) is (tail, relation + n_relations, head).
    """
    backward = np.stack([triples[:, 2], triples[:, 1] + n_relations, triples[:, 0]], axis=1)
    return np.concatenate([triples, backward]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class KnowledgeGraph:
    """Entities, relations and triples, as columns of text and of integers.

    An entity is given by its row; ``ids[row]`` is its CURIE or IRI. Triples are unique and sorted
    by (head, relation, tail); other orders are computed on first use. A graph is made by
    :func:`ontodex.read` or by a :class:`~ontodex.graph.GraphBuilder`.

    Attributes:
        ids: CURIE, IRI or name of each entity, unique.
        labels: Label of each entity; a name derived from the id if the source has no label.
        synonyms: Other names of each entity.
        definitions: Definition of each entity, or an empty string.
        alternative_ids: Other ids of each entity: former ids, ids of entities that it replaces, and
            its ids in other vocabularies. An alternative id is never in ``ids``.
        relation_ids: Identifier of each relation, unique.
        relation_labels: Label of each relation, such as "has phenotype".
        heads: Head of each known triple, ``int32`` of shape (triples,).
        relations: Relation of each known triple, ``int32`` of shape (triples,).
        tails: Tail of each known triple, ``int32`` of shape (triples,).
        valid: Triples held out for validation, ``int32`` of shape (n, 3): head, relation, tail.
        test: Triples held out for testing, ``int32`` of shape (n, 3).
        prefixes: IRI namespace of each CURIE prefix.
        upward: Ids of the relations from child to parent. If empty, these relations are recognised
            by their names (:attr:`hierarchy_relations`).
        source: Name of the source.
        skipped: Number of faulty parts of the source that were left out.
        mappings: Mappings of the tables that were read, as written by
            :class:`ontodex.TableMapping`.
    """

    ids: TextColumn
    labels: TextColumn
    synonyms: NestedTextColumn
    definitions: TextColumn
    relation_ids: TextColumn
    relation_labels: TextColumn
    alternative_ids: NestedTextColumn
    heads: NDArray[np.int32]
    relations: NDArray[np.int32]
    tails: NDArray[np.int32]
    valid: NDArray[np.int32] = field(default_factory=no_triples)
    test: NDArray[np.int32] = field(default_factory=no_triples)
    prefixes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    upward: tuple[str, ...] = ()
    source: str = ""
    skipped: int = 0
    mappings: tuple[Mapping[str, Any], ...] = ()

    @property
    def n_entities(self) -> int:
        """Number of entities."""
        return len(self.ids)

    @property
    def n_relations(self) -> int:
        """Number of relations, without inverses."""
        return len(self.relation_ids)

    @property
    def n_triples(self) -> int:
        """Number of known triples, without held-out triples."""
        return len(self.heads)

    @property
    def triples(self) -> NDArray[np.int32]:
        """Known triples in (head, relation, tail) order, ``int32`` of shape (triples, 3)."""
        return np.stack([self.heads, self.relations, self.tails], axis=1)

    def __repr__(self) -> str:
        held_out = (
            f", {len(self.valid)} + {len(self.test)} held out"
            if len(self.valid) + len(self.test)
            else ""
        )
        return (
            f"KnowledgeGraph({self.source!r}: {self.n_entities:,} entities, "
            f"{self.n_relations:,} relations, {self.n_triples:,} triples{held_out})"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, without computed views, for copies and other processes."""
        return {column.name: getattr(self, column.name) for column in fields(self)} | {
            "prefixes": dict(self.prefixes)
        }

    # Views of the triples ------------------------------------------------------------------------

    def with_stored(self, names: NameIndex, by_tail: NDArray[np.int64]) -> KnowledgeGraph:
        """Return the graph with :attr:`names` and :attr:`by_tail` set to stored values."""
        graph = replace(self)
        vars(graph).update(names=names, by_tail=by_tail)  # where cached properties keep values
        return graph

    @cached_property
    def by_tail(self) -> NDArray[np.int64]:
        """Positions of the triples in (tail, relation, head) order."""
        return np.lexsort((self.heads, self.relations, self.tails))

    @cached_property
    def _sorted_tails(self) -> NDArray[np.int32]:
        ordered: NDArray[np.int32] = self.tails[self.by_tail]
        return ordered

    def outgoing(self, entity: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return relations and tails of the triples with head ``entity``, each of shape (n,)."""
        span = slice(*np.searchsorted(self.heads, np.array([entity, entity + 1], dtype=np.int32)))
        return self.relations[span], self.tails[span]

    def incoming(self, entity: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return relations and heads of the triples with tail ``entity``, each of shape (n,)."""
        ends = np.searchsorted(self._sorted_tails, np.array([entity, entity + 1], dtype=np.int32))
        span = self.by_tail[slice(*ends)]
        return self.relations[span], self.heads[span]

    def tails_of(self, head: int, relation: int) -> NDArray[np.int32]:
        """Return the known tails of ``head`` and ``relation``, ascending."""
        relations, tails = self.outgoing(head)
        found: NDArray[np.int32] = tails[relations == relation]
        return found

    def heads_of(self, relation: int, tail: int) -> NDArray[np.int32]:
        """Return the known heads of ``relation`` and ``tail``, ascending."""
        relations, heads = self.incoming(tail)
        found: NDArray[np.int32] = heads[relations == relation]
        return found

    def relations_between(self, head: int, tail: int) -> NDArray[np.int32]:
        """Return the known relations from ``head`` to ``tail``, ascending."""
        relations, tails = self.outgoing(head)
        found: NDArray[np.int32] = relations[tails == tail]
        return found

    @property
    def source_names(self) -> list[str]:
        """Names of the files or folders that the graph was read from, without their folders."""
        return [Path(part).name for part in self.source.split(" + ") if part]

    @cached_property
    def reflexive(self) -> frozenset[int]:
        """Relations with at least one triple from an entity to itself."""
        return frozenset(np.unique(self.relations[self.heads == self.tails]).tolist())

    def neighbours(self, entity: int) -> NDArray[np.int32]:
        """Return the other entities that share a triple with ``entity``, ascending."""
        linked = np.union1d(self.outgoing(entity)[1], self.incoming(entity)[1])
        others: NDArray[np.int32] = linked[linked != entity].astype(np.int32)
        return others

    def linked(self, entities: NDArray[np.int64], most: int) -> tuple[Keys, Keys]:
        """Return other entities that share a triple with each of many entities.

        Args:
            entities: Rows.
            most: Largest number of triples of an entity that are looked at, in each direction.

        Returns:
            For each (entity, other entity) pair, the position in ``entities`` and the row of the
            other one, both of shape (pairs,); pairs are distinct and ascending.
        """
        keys = []
        for column in (self.heads, self._sorted_tails):
            starts, counts = spans(column, entities)
            owners, places = runs(starts, np.minimum(counts, most))
            forward = column is self.heads
            others = self.tails[places] if forward else self.heads[self.by_tail[places]]
            keys.append(owners * self.n_entities + others)
        owners, rows = np.divmod(distinct(np.concatenate(keys)), self.n_entities)
        found = entities[owners] != rows
        return owners[found], rows[found]

    # Names ---------------------------------------------------------------------------------------

    @cached_property
    def names(self) -> NameIndex:
        """Index of entities by id, label, synonym and alternative id."""

        def every_name() -> Iterator[tuple[str, int, NameKind]]:
            for row, name in enumerate(self.ids):
                yield name, row, NameKind.ID
            for row, name in enumerate(self.labels):
                yield name, row, NameKind.LABEL
            for column, kind in (
                (self.synonyms, NameKind.SYNONYM),
                (self.alternative_ids, NameKind.ALTERNATIVE_ID),
            ):
                for row, name in zip(column.owners.tolist(), column.strings, strict=True):
                    yield name, row, kind

        return NameIndex.of(every_name())

    def find(self, name: str) -> tuple[int, NameKind] | None:
        """Return the entity with a CURIE, IRI, label, synonym or alternative id.

        If several entities match, they are compared by the kind of the matched name (id, label,
        synonym, alternative id), then by spelling (exact before normalised), then by number of
        triples, then by row. The first entity is returned.

        Returns:
            Row of the entity and kind of the name; ``None`` if no entity matches.
        """
        found = self.find_all(name)
        if found is None:
            return None
        rows, kind = found
        return self.by_links(rows)[0], kind

    def find_all(self, name: str) -> tuple[list[int], NameKind] | None:
        """Return the rows of all entities that match a name best, and the kind of the name.

        Matches are compared as in :meth:`find`, but not by number of triples or row.

        Returns:
            Rows and kind of the name; ``None`` if no entity matches.
        """
        return self._strongest(self.names, name, self._names_of)

    def by_links(self, rows: Sequence[int]) -> list[int]:
        """Return entities ordered by number of triples, descending, then by row."""
        return (
            list(rows) if len(rows) < 2 else sorted(rows, key=lambda row: (-self._degree(row), row))
        )

    def _strongest(
        self, index: NameIndex, name: str, names_of: Callable[[int, NameKind], Sequence[str]]
    ) -> tuple[list[int], NameKind] | None:
        """Look up a name as given, as a CURIE, and in other forms of the identifier.

        If the name is an id in exactly this spelling, other forms are not looked up.
        """
        spelt = tuple(dict.fromkeys((name, contract(name, self.prefixes))))
        found = index.strongest(spelt, names_of)
        is_id = found is not None and found[1] is NameKind.ID
        if found is not None and is_id and not {*spelt}.isdisjoint(names_of(found[0][0], found[1])):
            return found
        others = other_forms(name, self.prefixes)
        return index.strongest((*spelt, *others), names_of) if others else found

    def _degree(self, entity: int) -> int:
        return len(self.outgoing(entity)[1]) + len(self.incoming(entity)[1])

    def _names_of(self, row: int, kind: NameKind) -> tuple[str, ...]:
        if kind is NameKind.ID:
            return (self.ids[row],)
        if kind is NameKind.LABEL:
            return (self.labels[row],)
        return self.synonyms[row] if kind is NameKind.SYNONYM else self.alternative_ids[row]

    @cached_property
    def _relation_names(self) -> dict[NameKind, list[str]]:
        """Names of the relations by kind; local names have the kind of synonyms."""
        ids = list(self.relation_ids)
        return {
            NameKind.ID: ids,
            NameKind.LABEL: list(self.relation_labels),
            NameKind.SYNONYM: [local_name(name) for name in ids],
        }

    @cached_property
    def _relation_index(self) -> NameIndex:
        return NameIndex.of(
            (name, number, kind)
            for kind, names in self._relation_names.items()
            for number, name in enumerate(names)
        )

    def find_relation(self, name: str) -> tuple[int, NameKind] | None:
        """Return the relation with a CURIE, IRI, label or local name.

        If several relations match, they are compared by the kind of the matched name (id, label,
        local name), then by spelling (exact before normalised), then by number. The first relation
        is returned.

        Returns:
            Number of the relation, and kind of the name (a local name has the kind of an id);
            ``None`` if no relation matches.
        """
        found = self._strongest(
            self._relation_index, name, lambda number, kind: (self._relation_names[kind][number],)
        )
        if found is None:
            return None
        numbers, kind = found
        return numbers[0], NameKind.LABEL if kind is NameKind.LABEL else NameKind.ID

    # Hierarchy -----------------------------------------------------------------------------------

    @cached_property
    def hierarchy_relations(self) -> tuple[int, ...]:
        """Numbers of the relations from child to parent.

        If :attr:`upward` is empty, these are the relations with usual names (is a, …).
        """
        if self.upward:
            return tuple(
                number
                for number, identifier in enumerate(self.relation_ids)
                if identifier in self.upward
            )
        return self._relations_named(UPWARD)

    @cached_property
    def instance_relations(self) -> tuple[int, ...]:
        """Numbers of the relations from an individual to its class (``rdf:type``, …)."""
        return self._relations_named(INSTANCE)

    def is_individual(self, entity: int) -> bool:
        """Return whether an entity is an instance of a class, and no class itself."""
        own, toward = self.outgoing(entity)[0], self.incoming(entity)[0]
        of_classes = self.hierarchy_relations + self.instance_relations
        return bool(
            np.isin(own, self.instance_relations).any()
            and not np.isin(own, self.hierarchy_relations).any()
            and not np.isin(toward, of_classes).any()
        )

    def _relations_named(self, names: frozenset[str]) -> tuple[int, ...]:
        """Return the numbers of the relations with one of some normalised names."""
        return tuple(number for number, own in enumerate(self._relation_spellings) if names & own)

    @cached_property
    def _relation_spellings(self) -> tuple[frozenset[str], ...]:
        """The normalised names of each relation."""
        return tuple(map(spelt, self.relation_ids, self.relation_labels))

    def with_hierarchy(self, *relations: str) -> KnowledgeGraph:
        """Return the graph with the given relations as its relations from child to parent.

        Args:
            relations: Id or label of each relation.

        Raises:
            UnknownRelation: If the graph lacks one of the relations.
        """
        return replace(
            self, upward=tuple(self.relation_ids[self.expect_relation(name)] for name in relations)
        )

    def expect_relation(self, name: str) -> int:
        """Return the number of a relation; see :meth:`find_relation`.

        Raises:
            UnknownRelation: If the graph does not have the relation.
        """
        found = self.find_relation(name)
        if found is None:
            raise UnknownRelation(
                f"{self.source}: no relation {name!r}{nearest(name, self.relation_labels)}"
            )
        return found[0]

    def hierarchy(self, relation: str | None = None, *, on_cycle: str = "raise") -> Hierarchy:
        """Return the is-a hierarchy of the graph.

        Equivalent classes (``owl:equivalentClass``) have their parents and children in common; see
        :func:`~ontodex.graph.equivalents.through_equivalents`. Individuals are children of their
        classes (:attr:`instance_relations`). The class of a class counts only if it has a place in
        the hierarchy itself, and is another: a metaclass such as ``sh:NodeShape`` is no parent.

        Args:
            relation: The relation from child to parent, alone; by default
                :attr:`hierarchy_relations`, and :attr:`instance_relations` unless :attr:`upward`
                names the relations.
            on_cycle: What to do if the links have a cycle: ``"raise"`` raises an error, ``"warn"``
                removes the links that close a cycle, with a :class:`~ontodex.graph.ReadWarning`
                that counts the links and lists the first ones, ``"ignore"`` removes the links
                without a warning.

        Raises:
            GraphError: If ``relation`` is ``None`` and the graph has no hierarchy relation.
            UnknownRelation: If the graph does not have the given relation.
            CycleError: If the links have a cycle and ``on_cycle`` is ``"raise"``.
        """
        if relation is None:
            chosen = self.hierarchy_relations
            if not chosen:
                raise GraphError(
                    f"{self.source}: expected a relation such as is_a or rdfs:subClassOf, found "
                    f"{', '.join(self.relation_labels[:8]) or 'no relations'}; name the one that "
                    "leads to the parent (relation=, in ontodex.build hierarchy_relation=, in the "
                    "shell --relation and --hierarchy-relation)"
                )
        else:
            chosen = (self.expect_relation(relation),)
        ends = np.stack([self.heads, self.tails], axis=1)
        links, equivalent, types = (
            ends[np.isin(self.relations, some)]
            for some in (chosen, self._relations_named(EQUIVALENT), self.instance_relations)
        )
        individuals = types[:0, 0]
        if relation is None and not self.upward:
            is_class = np.zeros(self.n_entities, dtype=np.bool_)
            is_class[links] = True
            counts = is_class[types[:, 1]] | ~is_class[types[:, 0]]
            types = types[counts & (types[:, 0] != types[:, 1])]
            is_class[types[:, 1]] = True
            individuals = types[~is_class[types[:, 0]], 0]
            links = np.concatenate([links, types])
        children, parents = through_equivalents(links, equivalent, self.n_entities).T
        cut = "ignore" if on_cycle == "warn" else on_cycle
        hierarchy = Hierarchy(
            children, parents, ids=self.ids, individuals=individuals, on_cycle=cut
        )
        if hierarchy.dropped and on_cycle == "warn":
            named = [
                f"{self.ids[child]} -> {self.ids[parent]}"
                for child, parent in hierarchy.dropped[:NAMED]
            ]
            more = len(hierarchy.dropped) - len(named)
            warn_reader(
                f"{self.source}: expected a hierarchy without cycles, left out "
                f"{len(hierarchy.dropped)} link(s) that close one: {', '.join(named)}"
                f"{f' and {more} more' if more else ''}; mend the source"
            )
        return hierarchy

    # Other libraries -----------------------------------------------------------------------------

    def to_networkx(self) -> networkx.MultiDiGraph[Any]:
        """Return the known triples as edges from head to tail, with the id of the relation as key.

        Nodes are ids of entities with the attributes ``label``, ``definition``, ``synonyms`` and
        ``alternative_ids`` (lists). The graph has the attributes ``relations`` (label of each
        relation) and ``prefixes``. Held-out triples are not exported.

        Example:
            >>> from ontodex.graph import GraphBuilder
            >>> builder = GraphBuilder("pets")
            >>> builder.triple("dog", "is_a", "animal")
            >>> list(builder.build().to_networkx().edges(keys=True))
            [('dog', 'animal', 'is_a')]
        """
        from ontodex.graph.exports import as_networkx

        return as_networkx(self)

    def to_rdflib(self) -> rdflib.Graph:
        """Return the known triples, names and definitions as statements of an rdflib graph.

        Labels are values of ``rdfs:label``, synonyms of ``skos:altLabel``, definitions of
        ``skos:definition`` and alternative ids of ``oboInOwl:hasAlternativeId``. CURIEs are
        expanded by the prefixes of the graph, which are bound. An id that is neither an IRI nor a
        CURIE with a known prefix is percent-encoded under ``urn:ontodex:``. Held-out triples are
        not exported. :func:`ontodex.read` reads the result as the same graph.

        Example:
            >>> from ontodex.graph import GraphBuilder
            >>> builder = GraphBuilder("pets")
            >>> builder.prefixes["ex"] = "http://example.org/"
            >>> builder.triple("ex:dog", "rdfs:subClassOf", "ex:animal")
            >>> query = "SELECT ?above WHERE { ex:dog rdfs:subClassOf ?above }"
            >>> [str(above) for (above,) in builder.build().to_rdflib().query(query)]
            ['http://example.org/animal']
        """
        from ontodex.graph.exports import as_rdflib

        return as_rdflib(self)

    # Identity ------------------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """Hash of texts and triples, 128 bits in hexadecimal."""
        digest = hashlib.blake2b(digest_size=16)
        for column in (
            *(self.ids, self.labels, self.definitions, self.synonyms.strings),
            *(self.relation_ids, self.relation_labels),
        ):
            digest.update(column.offsets.tobytes())
            digest.update(column.data.tobytes())
        if len(
            self.alternative_ids.strings
        ):  # graphs without alternative ids keep the hash of earlier versions
            digest.update(
                self.alternative_ids.strings.offsets.tobytes()
                + self.alternative_ids.strings.data.tobytes()
            )
            digest.update(self.alternative_ids.rows.tobytes())
        for array in (
            self.synonyms.rows,
            self.heads,
            self.relations,
            self.tails,
            self.valid,
            self.test,
        ):
            digest.update(array.tobytes())
        digest.update("\n".join(self.upward).encode())
        return digest.hexdigest()
