"""The functional syntax of OWL: an axiom in brackets, as editors of ontologies keep their files."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.graph.readers.files import text_of
from ontodex.graph.readers.ontologies.meaning import interpret
from ontodex.graph.readers.ontologies.owl_axioms import LANGUAGE, Axioms
from ontodex.graph.readers.problems import Problems

__all__ = ["read_owl_functional"]

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
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
NAMED = frozenset(("Class", "ObjectProperty", "DataProperty", "AnnotationProperty", "NamedIndividual", "Datatype"))
"""What stands around the name of an entity to say of what kind it is."""


def read_owl_functional(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read a file in OWL functional syntax. Nothing that it imports is fetched; a fault is an error whatever the policy.

    Args:
        path: The file.
        builder: Takes what is read.
        problems: Takes remarks.

    Raises:
        ReadError: If it is not in that syntax, or no UTF-8.
    """
    axioms = Axioms(builder.source, builder.language)
    _add(text_of(path), axioms, str(path))
    interpret(axioms.statements, builder, problems)


def _add(text: str, axioms: Axioms, source: str) -> None:
    """Add the axioms of a document.

    Raises:
        ReadError: If there is a fault in it.
    """
    above: list[Element] = []
    at = 0
    while at < len(text):
        token = TOKEN.match(text, at)
        if token is None or (token.lastgroup not in (None, "namespace", "opened") and not above):
            raise _fault(text, at, source)
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
        raise _fault(text, at, source)


def _close(above: list[Element], axioms: Axioms) -> None:
    """Put what is whole now into what it stands in, which of an axiom is the ontology."""
    whole = above.pop()
    if whole.tag in NAMED and len(whole) == 1:
        whole.attrib = whole[0].attrib
        whole.remove(whole[0])
    if len(above) > 1:
        above[-1].append(whole)
    elif above:
        axioms.add(whole)


def _name_or_text(inside: Element, token: re.Match[str]) -> None:
    """Put an IRI, a short one, a node or a literal into an element, as OWL/XML has them."""
    if token["text"] is not None:
        literal = SubElement(inside, "Literal", {LANGUAGE: token["language"] or ""})
        literal.text = ESCAPED.sub(r"\1", token["text"])
    elif token["iri"] is not None:
        SubElement(inside, "IRI", IRI=token["iri"])
    elif token["short"].startswith("_:"):
        SubElement(inside, "AnonymousIndividual", nodeID=token["short"])
    else:
        SubElement(inside, "AbbreviatedIRI", abbreviatedIRI=token["short"])


def _fault(text: str, at: int, source: str) -> ReadError:
    found = f"{text[at : at + 24]!r}" if at < len(text) else "the end of the file"
    return ReadError(
        f"expected OWL functional syntax, found a fault ({found}); mend it", source, text.count("\n", 0, at) + 1
    )
