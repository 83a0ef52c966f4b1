"""The IRIs that readers and writers of RDF know."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ontodex.graph.prefixes import OBO, WELL_KNOWN

OWL, RDF, RDFS, SKOS = (WELL_KNOWN[prefix] for prefix in ("owl", "rdf", "rdfs", "skos"))
OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
SKOS_XL = "http://www.w3.org/2008/05/skos-xl#"
DCT = "http://purl.org/dc/terms/"
XSD = "http://www.w3.org/2001/XMLSchema#"
SHACL = "http://www.w3.org/ns/shacl#"
BIOPAX = "http://www.biopax.org/release/biopax-level3.owl#"
WIKIBASE = "http://wikiba.se/ontology#"
VOCABULARY = (OWL, RDF, RDFS, XSD)
"""Where nothing is an entity."""
NO_LINKS = (*VOCABULARY, OBO_IN_OWL, SHACL)
"""Where no property links entities of an ontology."""
SCHEMA = ("https://schema.org/", "http://schema.org/")
OURS = "urn:ontodex:"
"""Where ids that are no IRI live in RDF, percent-encoded."""
RELATIONS = OURS + "relation/"
"""Where those of relations do, apart from those of entities, which may be the same."""

TYPE = RDF + "type"
SUBCLASS = RDFS + "subClassOf"
EQUIVALENT = OWL + "equivalentClass"
CARDINALITIES = (OWL + "minQualifiedCardinality", OWL + "qualifiedCardinality")
"""Numbers of what each member of a restriction is linked to, at least."""
ALTERNATIVE = OBO_IN_OWL + "hasAlternativeId"
"""What leads from a class to an id that it has taken over."""
SAME = (SKOS + "exactMatch", OWL + "sameAs", EQUIVALENT, *(space + "sameAs" for space in SCHEMA))
"""What leads from a resource to what it is elsewhere."""
REPLACED_BY = (OBO + "IAO_0100001", DCT + "isReplacedBy")
"""What leads from a deprecated class to the one in its place."""
ASIDE = (*NO_LINKS, *REPLACED_BY)
"""How properties begin whose values are no links of a term, even if they name one."""
PROPOSED = "semapv:SemanticSimilarityThresholdMatching"
"""How SSSOM justifies what a model proposes."""
TOOL = "ontodex"
"""What a line in SSSOM says of where it is from, if it is from here."""
OUR_TOOL = f"mapping_tool: {TOOL}"
"""What a table in SSSOM says above its header of where its lines are from, if it is from here."""
PREDICTIONS = OURS + "Predictions"
"""Class of the named graphs that hold predictions, which are never read as known."""

LABELS = (
    *(RDFS + "label", SKOS + "prefLabel", SKOS_XL + "prefLabel"),
    *(space + "name" for space in SCHEMA),
    *("http://xmlns.com/foaf/0.1/name", "http://www.geonames.org/ontology#name"),
    *(
        DCT + "title",
        "http://purl.org/dc/elements/1.1/title",
        BIOPAX + "displayName",
        BIOPAX + "term",
    ),
)
SYNONYMS = (
    *(space + name for space in (SKOS, SKOS_XL) for name in ("altLabel", "hiddenLabel")),
    *(f"{OBO_IN_OWL}has{scope}Synonym" for scope in ("Exact", "Related", "Broad", "Narrow")),
    *(BIOPAX + name for name in ("standardName", "name")),
)
DEFINITIONS = (
    OBO + "IAO_0000115",
    SKOS + "definition",
    RDFS + "comment",
    SKOS + "scopeNote",
    *(space + "description" for space in SCHEMA),
    DCT + "description",
)
TEXT_OF = (SKOS_XL + "literalForm", RDF + "value")
"""What a label or definition that is a resource reads (SKOS Reference, appendix B; SKOS Primer, section 4.2)."""
SCHEME_LINKS = tuple(SKOS + name for name in ("inScheme", "topConceptOf", "hasTopConcept"))
"""Links between concepts and the scheme that they are of, which is no entity."""
DOCUMENTS = tuple(
    SKOS + name
    for name in ("memberList", "note", "changeNote", "editorialNote", "historyNote", "example")
)
"""SKOS properties whose values may be blank nodes that are no entities."""
DATATYPE = RDFS + "Datatype"
ABOUT = tuple(space + "about" for space in SCHEMA)
CLASSES = (OWL + "Class", RDFS + "Class")
PROPERTIES = (
    RDF + "Property",
    *(
        OWL + kind
        for kind in (
            "ObjectProperty",
            "DatatypeProperty",
            "AnnotationProperty",
            "TransitiveProperty",
        )
    ),
    *(OWL + kind for kind in ("SymmetricProperty", "FunctionalProperty", "OntologyProperty")),
    WIKIBASE + "Property",
)
NO_ENTITIES = (OWL + "Ontology", DATATYPE, SKOS + "ConceptScheme")
"""Types of what is neither an entity nor a property."""
NAMED_BY = WIKIBASE + "directClaim"
"""What leads from an entity that stands for a property to the property."""
NOTES = (
    *(
        WIKIBASE + kind
        for kind in ("Statement", "Reference", "TimeValue", "QuantityValue", "GlobecoordinateValue")
    ),
    *(f"{BIOPAX}{kind}Xref" for kind in ("Unification", "Relationship", "Publication")),
    *(
        BIOPAX + kind
        for kind in (
            "Stoichiometry",
            "SequenceSite",
            "SequenceInterval",
            "ChemicalStructure",
            "Evidence",
        )
    ),
)
"""Types of what says more of a link or an entity, in Wikibase and in BioPAX, and is none itself."""
NEGATED = ("https://w3id.org/biolink/vocab/negated",)
"""Properties of a statement that tell whether it is denied."""
DOMAINS = (RDFS + "domain", *(space + "domainIncludes" for space in SCHEMA))
RANGES = (RDFS + "range", *(space + "rangeIncludes" for space in SCHEMA))

NAMING: Mapping[str, tuple[str, int]] = MappingProxyType(
    {
        predicate: (kind, rank)
        for kind, predicates in (
            ("label", LABELS),
            ("synonym", SYNONYMS),
            ("definition", DEFINITIONS),
        )
        for rank, predicate in enumerate(predicates)
    }
)
"""What each naming predicate gives, and its rank among those that give the same."""
