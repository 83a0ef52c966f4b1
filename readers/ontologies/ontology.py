"""Ontologies in RDF statements: classes, subclasses, restrictions and other links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import vocabulary as rdf
from ontodex.readers.ontologies.statements import RdfStatements, expect_in_proportion, most_facts

__all__ = ["Ontology"]

Triples = list[tuple[int, int, int]]


class Ontology:
    """Triples between the named classes and individuals of an ontology.

    * a named superclass: (class, ``rdfs:subClassOf``, superclass);
    * an existential restriction of a class, also in an intersection or equivalence: (class,
      property, filler). Restrictions to a value or to a cardinality of at least one are treated
      alike. The named classes in such an intersection are parents of the class, if it has no other
      parents. If the filler is an intersection, each named class in it is a filler;
    * a class that is equivalent to a union: (member, ``rdfs:subClassOf``, class);
    * two equivalent named classes: (class, ``owl:equivalentClass``, class);
    * domain and range of a property: (domain, property, range);
    * the type of an individual, and links between classes, individuals, concepts and other
      resources with a label;
    * links by a property that is not an annotation property, and by which no class, property or
      ontology has a link. Such links connect individuals.

    Args:
        statements: The RDF statements.

    Attributes:
        links: See :attr:`RdfStatements.links`.
    """

    def __init__(self, statements: RdfStatements) -> None:
        self._statements = statements
        self.links = statements.links
        self._subclass = statements.number(rdf.SUBCLASS)
        self._type = statements.number(rdf.TYPE)
        self._broader = statements.number(rdf.SKOS + "broader")
        self._out = statements.deprecated | {
            number
            for number, term in enumerate(statements.terms)
            if term.startswith((*rdf.VOCABULARY, "_:"))
        }

    def _pairs(self, *predicates: str) -> list[tuple[int, int]]:
        wanted = list(self._statements.numbers(predicates))
        return [(s, o) for s, _, o in self.links[np.isin(self.links[:, 1], wanted)].tolist()]

    def _is_named(self, number: int) -> bool:
        return number not in self._out

    def _typed(self, kinds: Iterable[str]) -> set[int]:
        wanted = self._statements.numbers(kinds)
        return {s for s, kind in self._pairs(rdf.TYPE) if kind in wanted and self._is_named(s)}

    @cached_property
    def has_axioms(self) -> bool:
        """Whether there is a subclass axiom, or a class that is equivalent to an expression."""
        expressions = (
            self._parts["onProperty"].keys()
            | self._parts["intersectionOf"].keys()
            | self._parts["unionOf"].keys()
        )
        return bool((self.links[:, 1] == self._subclass).any()) or any(
            node in expressions for _, node in self._pairs(rdf.EQUIVALENT)
        )

    @cached_property
    def classes(self) -> set[int]:
        """Named classes, declared or used in axioms; empty if no class is declared."""
        declared = self._typed(rdf.CLASSES)
        if not declared:
            return set()
        used = {end for pair in self._pairs(rdf.SUBCLASS) for end in pair}
        used |= {subject for subject, _ in self._pairs(rdf.EQUIVALENT)} | set(
            self._parts["someValuesFrom"].values()
        )
        used |= set(self._parts["onClass"].values())
        used.update(*map(self._members, self._parts["intersectionOf"].values()))
        return declared | set(filter(self._is_named, used)) - self._typed(
            (rdf.DATATYPE, *rdf.PROPERTIES)
        )

    @cached_property
    def _properties(self) -> set[int]:
        used = set(self.links[:, 1].tolist()) | set(self._parts["onProperty"].values())
        return (self._typed(rdf.PROPERTIES) | used) - self.classes

    @cached_property
    def entities(self) -> set[int]:
        """Classes, individuals, concepts, and other resources with a label."""
        kinds = self._pairs(rdf.TYPE)
        individuals = {end for pair in kinds if all(map(self._is_said, pair)) for end in pair}
        others = self._typed((rdf.OWL + "NamedIndividual", rdf.SKOS + "Concept"))
        labelled = {number for number in self._statements.named if self._statements.label(number)}
        others |= set(filter(self._is_said, labelled)) - self._typed(rdf.NO_ENTITIES)
        return (self.classes | individuals | others) - self._properties

    def _is_said(self, number: int) -> bool:
        return self._is_named(number) and not self._statements.terms[number].startswith(rdf.SKOS)

    @cached_property
    def _parts(self) -> dict[str, dict[int, int]]:
        """Object of each structural predicate (such as ``onProperty``), by subject."""
        names = ("onProperty", "someValuesFrom", "hasValue", "onClass", "intersectionOf", "unionOf")
        predicates = {name: rdf.OWL + name for name in names} | {
            name: rdf.RDF + name for name in ("first", "rest")
        }
        return {name: dict(self._pairs(predicate)) for name, predicate in predicates.items()}

    def _members(self, start: int) -> Iterator[int]:
        seen: set[int] = set()
        while start in self._parts["first"] and start not in seen:
            seen.add(start)
            yield self._parts["first"][start]
            start = self._parts["rest"].get(start, start)

    def _conjuncts(self, node: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of a class expression: (relation, filler), or (subclass, named class)."""
        parts, waiting, seen = self._parts, [node], set[int]()
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            if node in self.classes:
                yield self._subclass, node
            elif node in parts["onProperty"]:
                relation = parts["onProperty"][node]
                if self._is_named(relation):
                    yield from ((relation, filler) for filler in self._fillers(node))
            elif node in parts["intersectionOf"]:
                waiting.extend(reversed(list(self._members(parts["intersectionOf"][node]))))

    def _fillers(self, restriction: int) -> list[int]:
        """Return the fillers of a restriction: named classes, or the individual of ``hasValue``."""
        parts = self._parts
        filler = parts["someValuesFrom"].get(restriction, -1)
        if restriction in self._statements.at_least_one:
            filler = parts["onClass"].get(restriction, filler)
        if filler in parts["intersectionOf"]:
            return [
                one for one in self._members(parts["intersectionOf"][filler]) if one in self.classes
            ]
        if filler in self.classes:
            return [filler]
        value = parts["hasValue"].get(restriction, -1)
        return [value] if value >= 0 and self._is_named(value) else []

    def triples(self) -> Triples:
        """Return the triples (head, relation, tail), as numbers of resources.

        Raises:
            ReadError: If the triples are too many for the number of statements.
        """
        kinds = (
            self._subsumptions,
            self._equivalences,
            self._expressions,
            self._schema,
            self._others,
        )
        found = list(
            islice(chain.from_iterable(kind() for kind in kinds), most_facts(len(self.links)) + 1)
        )
        expect_in_proportion(len(found), len(self.links), self._statements.source)
        return found

    def _subsumptions(self) -> Iterator[tuple[int, int, int]]:
        for child, parent in self._pairs(rdf.SUBCLASS):
            if child in self.classes and parent in self.classes and child != parent:
                yield child, self._subclass, parent

    def _equivalences(self) -> Iterator[tuple[int, int, int]]:
        for one, other in self._pairs(rdf.EQUIVALENT):
            if one in self.classes and other in self.classes and one != other:
                yield one, self._statements.number(rdf.EQUIVALENT), other

    def _expressions(self) -> Iterator[tuple[int, int, int]]:
        with_parent = {child for child, _, _ in self._subsumptions()}
        for child, node in self._pairs(rdf.SUBCLASS, rdf.EQUIVALENT):
            if child not in self.classes or node in self.classes:
                continue
            for relation, target in self._conjuncts(node):
                if target != child and not (relation == self._subclass and child in with_parent):
                    yield child, relation, target
        for whole, node in self._pairs(rdf.EQUIVALENT):
            if whole in self.classes and node in self._parts["unionOf"]:
                yield from (
                    (part, self._subclass, whole)
                    for part in self._named_ends(node)
                    if part != whole
                )
        for child, start in self._pairs(rdf.OWL + "intersectionOf"):
            if child in self.classes:
                for member in self._members(start):
                    for relation, target in self._conjuncts(member):
                        if target != child and not (
                            relation == self._subclass and child in with_parent
                        ):
                            yield child, relation, target

    def _named_ends(self, node: int) -> list[int]:
        members = (
            self._members(self._parts["unionOf"][node])
            if node in self._parts["unionOf"]
            else [node]
        )
        return [member for member in members if member in self.classes]

    def _schema(self) -> Iterator[tuple[int, int, int]]:
        ranges: dict[int, list[int]] = defaultdict(list)
        for relation, node in self._pairs(*rdf.RANGES):
            ranges[relation].extend(self._named_ends(node))
        for relation, node in self._pairs(*rdf.DOMAINS):
            if self._is_named(relation) and not self._statements.terms[relation].startswith(
                rdf.NO_LINKS
            ):
                for domain in self._named_ends(node):
                    yield from ((domain, relation, target) for target in ranges[relation])

    def _of_individuals(self) -> NDArray[np.bool_]:
        """Return which links connect individuals, as ``bool`` of shape (links,).

        No class, property or ontology may have a link by the property. Links to or from resources
        of a vocabulary, such as OWL, are excluded.
        """
        heads, relations = self.links[:, 0], self.links[:, 1]
        others = self._properties | self._typed(rdf.NO_ENTITIES)
        described = set(relations[np.isin(heads, list(self.classes | others))].tolist())
        annotations = self._typed([rdf.OWL + "AnnotationProperty"])
        fits: NDArray[np.bool_] = ~np.isin(relations, list(described | annotations | self._out))
        fits &= ~np.isin(self.links[:, [0, 2]], list(self._out | others)).any(axis=1)
        return fits

    def _others(self) -> Iterator[tuple[int, int, int]]:
        narrower = self._statements.numbers([rdf.SKOS + "narrower"])
        ignored = {
            number
            for number in set(self.links[:, 1].tolist())
            if number != self._type
            and self._statements.terms[number].startswith((*rdf.NO_LINKS, *rdf.SCHEME_LINKS))
        }
        ends = list(self.entities)
        within = np.isin(self.links[:, 0], ends) & np.isin(self.links[:, 2], ends)
        for head, relation, tail in self.links[within | self._of_individuals()].tolist():
            if relation in narrower:
                yield tail, self._broader, head
            elif relation not in ignored:
                yield head, relation, tail
