"""Interpretation of RDF statements as an ontology of classes, or as plain data."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from functools import cached_property
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import ReadError
from ontodex.graph import vocabulary as rdf
from ontodex.graph.builder import LANGUAGE, GraphBuilder, readable
from ontodex.graph.prefixes import contract, looks_like_identifier
from ontodex.readers.ontologies.statements import RdfStatements, expect_in_proportion, most_facts
from ontodex.readers.problems import Problems

__all__ = ["interpret"]

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


# Interpretation -----------------------------------------------------------------------------------


Links = NDArray[np.int32]
"""Subject, predicate and object of each link, of shape (links, 3)."""

NO_FACTS = (
    *(
        rdf.OWL + name
        for name in ("imports", "versionIRI", "priorVersion", "backwardCompatibleWith")
    ),
    *(
        rdf.OWL + name
        for name in ("inverseOf", "equivalentProperty", "propertyDisjointWith", "disjointWith")
    ),
    *(rdf.RDFS + name for name in ("domain", "range", "subPropertyOf")),
    rdf.OWL + "propertyChainAxiom",
    *rdf.SCHEME_LINKS,
)
"""Predicates of ontologies, classes and properties that do not link entities."""
CHECKED = (rdf.OWL, rdf.RDF, rdf.RDFS, rdf.SKOS)
ALIKE = 0.8
"""Least ratio (difflib) of a term that a vocabulary does not have and the one that is meant."""


def interpret(statements: RdfStatements, builder: GraphBuilder, problems: Problems) -> None:
    """Add RDF statements to a graph.

    Statements are read as an ontology if they have classes with axioms, and otherwise as plain
    data.

    Raises:
        ReadError: If all subjects are blank nodes.
    """
    statements.read_resources()
    if statements.language != LANGUAGE and (taken := statements.other_languages):
        problems.remark(
            f"no name is in the language {statements.language!r}; labels are taken from "
            f"{', '.join(taken)} (language=, --language)"
        )
    prefixes = statements.all_prefixes()
    builder.prefixes.update(prefixes)
    ontology, present = Ontology(statements), statements.present()
    links = ontology.links
    is_ontology = bool(ontology.classes) and ontology.has_axioms
    names = statements.curies()
    if is_ontology:
        triples, entities = ontology.triples(), ontology.entities
    else:
        called = _called(statements, links)
        facts = _with_members(statements, links)
        triples, entities = _data(statements, facts, called, set(present.values()), problems)
        for number, name in called.items():
            names[number] = name
    used = {end for head, _, tail in triples for end in (head, tail)}
    named = used.union(entities)
    if (
        len(links)
        and not named
        and all(statements.terms[head].startswith("_:") for head in links[:, 0].tolist())
    ):
        raise ReadError(
            "expected entities with an IRI or a name, found only blank nodes; give each an IRI "
            "(in JSON-LD an @id)",
            builder.source,
        )
    for number in sorted(named):
        builder.entity(
            names[number],
            statements.label(number),
            statements.synonyms(number),
            statements.definition(number),
        )
    alternatives = {
        contract(name, prefixes): names[number] for name, number in statements.alternatives.items()
    }
    alternatives |= {names[old]: names[new] for old, new in present.items()}
    builder.replace(alternatives)
    naming = links[np.isin(links[:, 1], list(statements.numbers([rdf.NAMED_BY])))].tolist()
    named_by = {relation: one for one, _, relation in naming if not statements.label(relation)}
    relations = sorted({relation for _, relation, _ in triples})
    _expect_defined([statements.terms[number] for number in relations], problems)
    for number in relations:
        builder.relation(
            names[number], _relation_label(statements, named_by.get(number, number), is_ontology)
        )
    for head, relation, tail in triples:
        builder.triple(names[head], names[relation], names[tail])


def _expect_defined(relations: list[str], problems: Problems) -> None:
    """Warn of relations that are misspelt terms of OWL, RDF, RDFS or SKOS."""
    checked = [relation for relation in relations if relation.startswith(CHECKED)]
    if not checked:
        return
    from rdflib import namespace

    for vocabulary in (namespace.OWL, namespace.RDF, namespace.RDFS, namespace.SKOS):
        start = str(vocabulary)
        defined = {str(term).removeprefix(start) for term in dir(vocabulary)}
        for name in (one.removeprefix(start) for one in checked if one.startswith(start)):
            if name not in defined and (meant := get_close_matches(name, defined, 1, ALIKE)):
                problems.remark(
                    f"{start}{name} is not defined, and is read as any other relation; did you "
                    f"mean {start}{meant[0]}?"
                )


def _relation_label(statements: RdfStatements, number: int, is_ontology: bool) -> str:
    """Return the label of a property; camel case is split in ontologies such as Schema.org."""
    label = statements.label(number)
    if not label and statements.terms[number] == rdf.SUBCLASS:
        return "is a"
    return readable(label) if is_ontology and re.fullmatch(r"\w+", label) else label


def _called(statements: RdfStatements, links: Links) -> dict[int, str]:
    """Return the names of the entities that labelled blank nodes become, by number of the node.

    The name is the label of the node. Blank nodes with the same label and the same outgoing links
    become one entity. If nodes with the same label have different links, the second entity is named
    ``label (2)``, the third ``label (3)``, and so on. Blank nodes without a label, or with a label
    that looks like an identifier, are left out.
    """
    blank = [
        number for number in sorted(statements.named) if statements.terms[number].startswith("_:")
    ]
    links_of: dict[int, set[tuple[int, int]]] = {number: set() for number in blank}
    for head, relation, tail in links[np.isin(links[:, 0], blank)].tolist():
        links_of[head].add((relation, tail))
    different: dict[str, dict[frozenset[tuple[int, int]], str]] = {}
    names = {}
    for number in blank:
        name = " ".join(statements.label(number).split())
        if name and not looks_like_identifier(name):
            of_name = different.setdefault(name, {})
            names[number] = of_name.setdefault(
                frozenset(links_of[number]), f"{name} ({len(of_name) + 1})" if of_name else name
            )
    return names


def _with_members(statements: RdfStatements, links: Links) -> Links:
    """Replace each link to a list by links to the members of the list.

    Raises:
        ReadError: If the members are too many for the number of statements, as when many links
            share a list.
    """
    links = links[
        ~np.isin(links[:, 2], list(statements.numbers([rdf.RDF + "nil"])))
    ]  # without links to the end of a list or to an empty list
    first, rest = ({*statements.numbers([rdf.RDF + name])} for name in ("first", "rest"))
    parts = np.isin(links[:, 1], [*first, *rest])
    after = {head: tail for head, relation, tail in links[parts].tolist() if relation in rest}
    member = {head: tail for head, relation, tail in links[parts].tolist() if relation in first}
    if not member:
        return links
    found, to_lists = [], np.isin(links[:, 2], list(member))
    for head, relation, tail in links[~parts & to_lists].tolist():
        seen: set[int] = set()
        while tail in member and tail not in seen:
            seen.add(tail)
            found.append((head, relation, member[tail]))
            tail = after.get(tail, tail)
        expect_in_proportion(len(found), len(links), statements.source)
    return np.concatenate(
        [links[~parts & ~to_lists], np.array(found, dtype=np.int32).reshape(-1, 3)]
    )


def _of_documents(statements: RdfStatements) -> list[int]:
    """Return the properties that describe documents, such as notes and prefixes."""
    return [
        number
        for number, term in enumerate(statements.terms)
        if term.startswith(rdf.SHACL) or term in rdf.DOCUMENTS
    ]


def _data(
    statements: RdfStatements,
    links: Links,
    called: Collection[int],
    present: set[int],
    problems: Problems,
) -> tuple[list[tuple[int, int, int]], set[int]]:
    """Return the triples and further entities of plain data.

    Each link between IRIs is a triple, except declarations. Blank nodes with a name (``called``)
    are treated like IRIs. Links to other blank nodes are counted in a warning. A resource that
    replaces another one (``present``) is an entity even without links. In data of Wikibase
    (Wikidata), direct claims are read; documents about entities and nodes of statements are not.

    Returns:
        Triples (head, relation, tail), and entities that may have no links, as numbers of
        resources.
    """
    terms = statements.terms
    blank = np.array(
        [term.startswith("_:") and number not in called for number, term in enumerate(terms)]
    )
    vocabulary = np.array([term.startswith(CHECKED) for term in terms])
    wikibase = np.array([term.startswith(rdf.WIKIBASE) for term in terms])
    kinds = list(statements.numbers([rdf.TYPE]))

    def typed(*names: str) -> set[int]:
        typing = np.isin(links[:, 1], kinds) & np.isin(links[:, 2], list(statements.numbers(names)))
        return set(links[typing, 0].tolist())

    items = links[np.isin(links[:, 1], kinds) & wikibase[links[:, 2]], 0]
    about = np.isin(links[:, 1], list(statements.numbers(rdf.ABOUT))) & np.isin(links[:, 2], items)
    skip = [*statements.deprecated, *links[about, 0].tolist(), *typed(*rdf.NOTES)]
    kept = links[~np.isin(links[:, [0, 2]], skip).any(axis=1)]
    kept = kept[
        ~(np.isin(kept[:, 1], list(statements.numbers(NO_FACTS))) | wikibase[kept].any(axis=1))
    ]
    nameless = blank[kept[:, [0, 2]]].any(axis=1)
    lost = kept[nameless & ~blank[kept[:, 0]] & ~np.isin(kept[:, 1], _of_documents(statements))]
    if len(lost):
        problems.remark(
            f"left out {len(lost)} link(s) to nodes without an IRI or a name (blank nodes), the "
            f"first by {terms[int(lost[0, 1])]}; give what is an entity an IRI (in JSON-LD an @id) "
            "or a name"
        )
    kept = kept[~nameless]
    declares = np.isin(kept[:, 1], kinds) & vocabulary[kept[:, 2]]
    declared = typed(*rdf.PROPERTIES, *rdf.NO_ENTITIES)
    facts = kept[~declares]
    narrower = np.isin(facts[:, 1], list(statements.numbers([rdf.SKOS + "narrower"])))
    if narrower.any():
        facts = facts.copy()
        facts[narrower] = facts[narrower][:, ::-1]
        facts[narrower, 1] = statements.number(rdf.SKOS + "broader")
    predicates = set(links[:, 1].tolist())
    described = statements.named | typed(rdf.SKOS + "Concept") | present
    alone = (
        {number for number in described if not blank[number]} - predicates - declared - set(skip)
    )
    return [(h, r, t) for h, r, t in facts.tolist()], alone
