"""IRIs of RDF vocabularies that readers and writers use."""

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
"""Namespaces without entities."""
NO_LINKS = (*VOCABULARY, OBO_IN_OWL, SHACL)
"""Namespaces of properties that do not link entities of an ontology."""
SCHEMA = ("https://schema.org/", "http://schema.org/")
OURS = "urn:ontodex:"
"""Namespace of percent-encoded ids that are not IRIs."""
RELATIONS = OURS + "relation/"
"""Namespace of percent-encoded relation ids; an entity may have the same id."""

TYPE = RDF + "type"
SUBCLASS = RDFS + "subClassOf"
EQUIVALENT = OWL + "equivalentClass"
CARDINALITIES = (OWL + "minQualifiedCardinality", OWL + "qualifiedCardinality")
"""Properties whose value is the minimal number of links in a cardinality restriction."""
ALTERNATIVE = OBO_IN_OWL + "hasAlternativeId"
"""Property from a class to an alternative id."""
SAME = (SKOS + "exactMatch", OWL + "sameAs", EQUIVALENT, *(space + "sameAs" for space in SCHEMA))
"""Properties from a resource to an equivalent one."""
REPLACED_BY = (OBO + "IAO_0100001", DCT + "isReplacedBy")
"""Properties from a deprecated class to its replacement."""
ASIDE = (*NO_LINKS, *REPLACED_BY)
"""Prefixes of the IRIs of properties whose values are not links of a term."""
PROPOSED = "semapv:SemanticSimilarityThresholdMatching"
"""SSSOM's mapping justification of predicted links."""
TOOL = "ontodex"
"""Value of SSSOM's ``mapping_tool`` in rows written by ontodex."""
OUR_TOOL = f"mapping_tool: {TOOL}"
"""Metadata line above the header of an SSSOM table written by ontodex."""
PREDICTIONS = OURS + "Predictions"
"""Class of named graphs with predictions; they are not read as known triples."""

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
"""Properties from a label or definition that is a resource to its text.

See SKOS Reference, appendix B, and SKOS Primer, section 4.2.
"""
SCHEME_LINKS = tuple(SKOS + name for name in ("inScheme", "topConceptOf", "hasTopConcept"))
"""Links between concepts and their scheme; a scheme is not an entity."""
DOCUMENTS = tuple(
    SKOS + name
    for name in ("memberList", "note", "changeNote", "editorialNote", "historyNote", "example")
)
"""SKOS properties whose values may be blank nodes that are not entities."""
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
"""Types of resources that are neither entities nor properties."""
NAMED_BY = WIKIBASE + "directClaim"
"""Property from the Wikibase entity of a property to the property itself."""
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
"""Types of nodes in Wikibase and BioPAX that only describe a link or an entity."""
NEGATED = ("https://w3id.org/biolink/vocab/negated",)
"""Properties that mark a statement as negated."""
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
"""Kind of name of each naming predicate, and its rank within the kind."""
