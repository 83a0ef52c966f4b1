"""Interpretation of RDF statements as an ontology of classes, or as plain data."""

from __future__ import annotations

import re
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import ReadError
from ontodex.graph import vocabulary as rdf
from ontodex.graph.builder import LANGUAGE, GraphBuilder, readable
from ontodex.graph.prefixes import contract, looks_like_identifier
from ontodex.readers.ontologies.ontology import Ontology
from ontodex.readers.ontologies.statements import RdfStatements, expect_in_proportion
from ontodex.readers.problems import Problems

__all__ = ["interpret"]

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
    for number in sorted({relation for _, relation, _ in triples}):
        builder.relation(
            names[number], _relation_label(statements, named_by.get(number, number), is_ontology)
        )
    for head, relation, tail in triples:
        builder.triple(names[head], names[relation], names[tail])


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
