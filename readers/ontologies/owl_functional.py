"""Reading OWL in functional syntax."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.formats import FileFormat, uncommented
from ontodex.readers.ontologies.owl_axioms import Axioms, fault, literal, read_axioms
from ontodex.readers.problems import Problems

__all__ = ["FORMAT", "read_owl_functional"]

TOKEN = re.compile(
    r"""\s+ | \#[^\n]*
    | Prefix\s*\(\s*(?P<prefix>[^\s:=()]*):\s*=\s*<(?P<namespace>[^<>]*)>\s*\)
    | (?P<opened>[A-Za-z]+)\s*\(
    | (?P<closed>\))
    | <(?P<iri>[^<>\s]*)>
    | "(?P<text>[^"\\]*(?:\\.[^"\\]*)*)"(?:@(?P<language>[\w-]+)|\^\^(?:<[^<>\s]*>|[^\s()<>"]+))?
    | (?P<number>\d+)(?=[\s)])
    | (?P<short>[^\s()<>"\#=]*:[^\s()<>"\#=]*)""",
    re.VERBOSE | re.DOTALL,
)
WANTED = "OWL functional syntax"
NAMED = frozenset(
    ("Class", "ObjectProperty", "DataProperty", "AnnotationProperty", "NamedIndividual", "Datatype")
)
"""Kinds of entities, which are written around names: ``Class(:dog)``."""


def read_owl_functional(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read a file in functional syntax; see :func:`.owl_axioms.read_axioms`."""
    read_axioms(path, builder, problems, _add)


def _add(text: str, axioms: Axioms, source: str) -> None:
    """Add the axioms of a document.

    Raises:
        ReadError: If the document has a fault.
    """
    above: list[Element] = []
    at = 0
    while at < len(text):
        token = TOKEN.match(text, at)
        if token is None or (token.lastgroup not in (None, "namespace", "opened") and not above):
            raise fault(text, at, source, WANTED)
        at = token.end()
        if token["opened"]:
            above.append(Element(token["opened"]))
        elif token["namespace"] is not None:
            axioms.statements.prefixes[token["prefix"]] = token["namespace"]
        elif token["closed"]:
            _close(above, axioms)
        elif token["number"]:
            above[-1].set("cardinality", token["number"])
        elif token.lastgroup:
            _name_or_text(above[-1], token)
    if above:
        raise fault(text, at, source, WANTED)


def _close(above: list[Element], axioms: Axioms) -> None:
    """Add a completed element to its parent, or, if it is an axiom, to ``axioms``."""
    whole = above.pop()
    if whole.tag in NAMED and len(whole) == 1:
        whole.attrib = whole[0].attrib
        whole.remove(whole[0])
    if len(above) > 1:
        above[-1].append(whole)
    elif above:
        axioms.add(whole)


def _name_or_text(inside: Element, token: re.Match[str]) -> None:
    """Add an IRI, abbreviated IRI, node or literal to an element, as in OWL/XML."""
    if token["text"] is not None:
        inside.append(literal(token["text"], token["language"]))
    elif token["iri"] is not None:
        SubElement(inside, "IRI", IRI=token["iri"])
    elif token["short"].startswith("_:"):
        SubElement(inside, "AnonymousIndividual", nodeID=token["short"])
    else:
        SubElement(inside, "AbbreviatedIRI", abbreviatedIRI=token["short"])


START = re.compile(rb"\s*(?:Prefix|Ontology)\s*\(")


FORMAT = FileFormat(
    "functional",
    (".ofn", ".owl"),
    "OWL ontologies in functional syntax, as the edit files of OBO ontologies.",
    matches=lambda path, head: START.match(uncommented(head)) is not None,
    reader=read_owl_functional,
)
