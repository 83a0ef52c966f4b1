"""Reading OWL in Manchester syntax: a frame for each class, property and individual.

See the `specification <https://www.w3.org/TR/owl2-manchester-syntax/>`_.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pyparsing as pp

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.vocabulary import XSD
from ontodex.readers.formats import TABLE_SUFFIXES, FileFormat, suffix_of, uncommented
from ontodex.readers.ontologies.owl_axioms import Axioms, fault, literal, read_axioms
from ontodex.readers.problems import Problems

__all__ = ["FORMAT", "read_owl_manchester"]

FRAMES = {
    "Class": "Class",
    "ObjectProperty": "ObjectProperty",
    "DataProperty": "DataProperty",
    "AnnotationProperty": "AnnotationProperty",
    "Datatype": "Datatype",
    "Individual": "NamedIndividual",
}
"""Kind of the entity in axioms, by the keyword of the frame."""

AXIOMS = {
    ("Class", "SubClassOf"): "SubClassOf",
    ("Class", "SuperClassOf"): "SubClassOf",
    ("Class", "EquivalentTo"): "EquivalentClasses",
    ("NamedIndividual", "Types"): "ClassAssertion",
    ("ObjectProperty", "Domain"): "ObjectPropertyDomain",
    ("ObjectProperty", "Range"): "ObjectPropertyRange",
}
"""Kind of the axioms that a section states, by the kind of the frame and the section's keyword."""

REVERSED = ("SuperClassOf", "Types")
"""Sections whose axioms have the subject of the frame at last."""

SECTIONS = (*dict.fromkeys(section for _, section in AXIOMS), "DisjointWith", "DisjointUnionOf")
"""Sections with lists of expressions."""

PASSED = (
    *("SubPropertyOf", "SuperPropertyOf", "SubPropertyChain", "InverseOf", "Characteristics"),
    *("HasKey", "SameAs", "DifferentFrom"),
)
"""Sections that are not read."""

OUTSIDE = (
    *("DisjointClasses", "EquivalentProperties", "DisjointProperties"),
    *("SameIndividual", "DifferentIndividuals", "Rule"),
)
"""Keywords outside of frames whose axioms are not read."""

OTHERS = ("Prefix", "Ontology", "Import", "Annotations", "Facts", "EquivalentClasses")
KEYWORDS = "|".join((*OTHERS, *FRAMES, *OUTSIDE, *SECTIONS, *PASSED))
RESTRICTIONS = {
    "some": "SomeValuesFrom",
    "only": "AllValuesFrom",
    "value": "HasValue",
    "min": "MinCardinality",
    "max": "MaxCardinality",
    "exactly": "ExactCardinality",
    "Self": "HasSelf",
}
RESERVED = "|".join(("and", "that", "or", "not", "inverse", "o", *RESTRICTIONS))
END = r"""(?=[\s,(){}\[\]<>"]|$)"""
"""What follows a word."""

WORD = rf"""(?!(?:{KEYWORDS}):(?:\s|$))[^\s,(){{}}\[\]<>"]+"""
IRI = r"<[^<>\s]*>"
TEXT = (
    r'"(?P<text>[^"\\]*(?:\\.[^"\\]*)*)"'
    r'(?:@(?P<language>[\w-]+)|\^\^(?:<[^<>\s]*>|[^\s,(){}\[\]<>"]+))?'
)
COMMENT = re.compile(rf"(?P<kept>{TEXT}|{IRI})|#[^\n]*", re.DOTALL)
DATATYPES = frozenset(("integer", "decimal", "float", "string"))
"""Datatypes that are written without a prefix."""


def read_owl_manchester(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read a file in Manchester syntax; see :func:`.owl_axioms.read_axioms`."""
    read_axioms(path, builder, problems, _add)


def _add(text: str, axioms: Axioms, source: str) -> None:
    """Add the axioms of a document.

    Raises:
        ReadError: If the document has a fault, or its expressions are too deep in one another.
    """
    at = 0
    text = COMMENT.sub(lambda found: found["kept"] or " " * len(found[0]), text)
    try:
        for found, start, end in _grammar().scan_string(text):
            if text[at:start].strip():
                break
            at = end
            _add_item(*found, axioms=axioms)
    except pp.ParseBaseException as error:
        raise fault(text, error.loc, source, "OWL Manchester syntax") from None
    except RecursionError:
        at += len(text[at:]) - len(text[at:].lstrip())
        raise fault(text, at, source, "expressions less deep in one another") from None
    if text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        raise fault(text, at, source, "OWL Manchester syntax")


def _add_item(keyword: str, *parts: Any, axioms: Axioms) -> None:
    """Add a prefix, the axioms of a frame, or the equivalence of classes."""
    if keyword == "Prefix":
        name, namespace = parts
        axioms.statements.prefixes[name.removesuffix(":")] = namespace[1:-1]
    elif keyword == "EquivalentClasses":
        axioms.add(_element(keyword, *parts))
    elif keyword in FRAMES:
        kind, (subject, *sections) = FRAMES[keyword], parts
        axioms.add(_element("Declaration", Element(kind, subject.attrib)))
        for section, *values in sections:
            for value in values:
                axioms.add(_axiom(kind, subject, section, value))


def _axiom(kind: str, subject: Element, section: str, value: Any) -> Element:
    """Return the axiom that a section of a frame states by one of its values."""
    if section in ("Annotations", "Facts"):
        about, target = value
        assertion = "DataProperty" if target.tag == "Literal" else "ObjectProperty"
        of_facts = assertion if section == "Facts" else "Annotation"
        return _element(f"{of_facts}Assertion", about, subject, target)
    ends = (value, subject) if section in REVERSED else (subject, value)
    return _element(AXIOMS.get((kind, section), "Passed"), *ends)


def _element(kind: str, *parts: Element) -> Element:
    """Return an element of OWL/XML."""
    made = Element(kind)
    made.extend(parts)
    return made


# Grammar ----------------------------------------------------------------------------------------


@cache
def _grammar() -> pp.ParserElement:
    """Return the grammar of a prefix, an import, a frame, or another part of a document.

    Each part is parsed to its keyword and its values; names and expressions, to elements.
    """
    item, expression, primary = pp.Forward(), pp.Forward(), pp.Forward()
    annotations = pp.Forward()
    name = (pp.Regex(IRI) | pp.Regex(rf"(?!(?:{RESERVED}){END}){WORD}")).add_parse_action(_name)
    plain = pp.Regex(rf"(?P<text>(?:[+-]?\.?\d[^\s,(){{}}\[\]<>\"]*|true|false)){END}")
    text = (pp.Regex(TEXT, re.DOTALL) | plain).add_parse_action(_literal)
    value = text | name
    inverse = _word("inverse").suppress() - (_in("(", name, ")") | name)
    by = inverse.add_parse_action(lambda found: _element("ObjectInverseOf", *found)) | name

    # expressions
    restriction = (
        _word("some|only") - primary
        | _word("value") - value
        | _word("min|max|exactly") - pp.Regex(r"\d+") - pp.Opt(primary)
        | _word("Self")
        | pp.Regex(r"\[[^\[\]]*\]")
    )
    no_class = _word("not").suppress() - primary
    one_of = _in("{", _listed(value, annotations), "}")
    primary <<= (
        no_class.add_parse_action(lambda found: Element("ObjectComplementOf"))
        | one_of.add_parse_action(lambda found: Element("ObjectOneOf"))
        | _in("(", expression, ")")
        | text
        | (by + pp.Opt(restriction)).add_parse_action(_restriction)
    )
    both = _joined("ObjectIntersectionOf", primary, "and|that")
    expression <<= _joined("ObjectUnionOf", both, "or")

    # parts of a document
    no_fact = (_word("not") - by - value).suppress()
    fact = no_fact | pp.Group(by + value)
    annotation = pp.Group(name - value)
    annotations <<= _keyword("Annotations") - _listed(annotation, annotations)
    anything = pp.Regex(rf"(?:Annotations:(?=\s)|{TEXT}|{IRI}|[,(){{}}<>\[\]]|{WORD})", re.DOTALL)
    section = pp.Group(
        annotations
        | _keyword("Facts") - _listed(fact, annotations)
        | _keyword("|".join(SECTIONS)) - _listed(expression, annotations)
    )
    passed = (_keyword("|".join(PASSED)) - anything[...]).suppress()
    item <<= (
        _keyword("Prefix") - pp.Regex(WORD) - pp.Regex(IRI)
        | _keyword("Ontology|Import") - (pp.Regex(IRI) | pp.Regex(WORD))[...]
        | annotations
        | _keyword("EquivalentClasses") - _listed(expression, annotations)
        | _keyword("|".join(FRAMES)) - name - (section | passed)[...]
        | _keyword("|".join(OUTSIDE)) - anything[...]
    )
    return item.parse_with_tabs()


def _keyword(names: str) -> pp.ParserElement:
    """Return the grammar of one of some keywords, which are parsed without their colon."""
    return pp.Regex(rf"(?:{names}):(?=\s|$)").add_parse_action(lambda found: found[0][:-1])


def _word(words: str) -> pp.ParserElement:
    return pp.Regex(f"(?:{words}){END}")


def _in(opening: str, inside: pp.ParserElement, closing: str) -> pp.ParserElement:
    return pp.Suppress(opening) - inside - pp.Suppress(closing)


def _listed(one: pp.ParserElement, annotations: pp.ParserElement) -> pp.ParserElement:
    """Return the grammar of a list, which may be empty; annotations of its items are left out."""
    return pp.Opt(pp.DelimitedList(pp.Opt(annotations.suppress()) + one))


def _joined(kind: str, part: pp.ParserElement, words: str) -> pp.ParserElement:
    """Return the grammar of expressions that are joined by one of some words."""
    several = pp.DelimitedList(part, delim=_word(words))
    return several.add_parse_action(
        lambda found: _element(kind, *found) if len(found) > 1 else found[0]
    )


def _restriction(found: pp.ParseResults) -> Element:
    """Return a name, or a restriction of the property with this name."""
    by: Element = found[0]
    if len(found) == 1:
        return by
    word, *parts = found[1:]
    kind = RESTRICTIONS.get(word, "DatatypeRestriction")
    number = parts.pop(0) if kind.endswith("Cardinality") else ""
    made = _element(f"Object{kind}", by, *parts)
    made.set("cardinality", number)
    return made


def _name(found: pp.ParseResults) -> Element:
    """Return an IRI or a name as an element."""
    word = str(found[0])
    if word.startswith("<"):
        return Element("Class", IRI=word[1:-1])
    if word.startswith("_:"):
        return Element("AnonymousIndividual", nodeID=word)
    if word in DATATYPES or word.startswith("xsd:"):
        return Element("Class", IRI=XSD + word.removeprefix("xsd:"))
    return Element("Class", abbreviatedIRI=word if ":" in word else f":{word}")


def _literal(found: pp.ParseResults) -> Element:
    return literal(str(found["text"]), found.as_dict().get("language"))


START = re.compile(rb"^\s*(?:Prefix:|Ontology:)\s", re.MULTILINE)


def _is_manchester(path: Path, head: bytes) -> bool:
    return suffix_of(path) not in TABLE_SUFFIXES and bool(START.search(uncommented(head)))


FORMAT = FileFormat(
    "manchester",
    (".omn", ".owl"),
    "OWL ontologies in Manchester syntax.",
    matches=_is_manchester,
    reader=read_owl_manchester,
)
