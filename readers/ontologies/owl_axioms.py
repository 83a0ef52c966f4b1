"""Reading OWL/XML and the functional syntax, whose axioms are translated to RDF statements.

The translation follows the OWL 2 Mapping to RDF Graphs, for the axioms that
:mod:`ontodex.readers.ontologies.meaning` reads. OWL/XML and the functional syntax have the same
names of axioms. The Manchester syntax is translated to these names.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from ontodex.errors import ReadError
from ontodex.graph import vocabulary as rdf
from ontodex.graph.builder import GraphBuilder
from ontodex.graph.prefixes import WELL_KNOWN, expand
from ontodex.readers.files import opened, text_of
from ontodex.readers.formats import FileFormat, uncommented
from ontodex.readers.ontologies.meaning import interpret
from ontodex.readers.ontologies.statements import RdfStatements
from ontodex.readers.problems import Problems
from ontodex.readers.xml_guard import LANGUAGES, XML, GuardedXml, kind_of, well_formed

__all__ = ["OWL_FUNCTIONAL", "OWL_XML", "Axioms", "fault", "literal", "read_axioms"]

DEEPEST = 50
"""Maximal depth of class expressions; deeper expressions are ignored."""
LISTS = {"ObjectIntersectionOf": "intersectionOf", "ObjectUnionOf": "unionOf"}
RESTRICTIONS = {
    "ObjectSomeValuesFrom": "someValuesFrom",
    "ObjectHasValue": "hasValue",
    "ObjectMinCardinality": "onClass",
    "ObjectExactCardinality": "onClass",
}
ESCAPED = re.compile(r"\\(.)", re.DOTALL)
ENDS = {"ObjectPropertyDomain": "domain", "ObjectPropertyRange": "range"}


class Axioms:
    """Collects axioms as RDF statements.

    Args:
        source: Name of the source.
        language: Tag of the language of names and definitions.

    Attributes:
        statements: The statements that were added so far.
        base: Base of relative IRIs.
    """

    def __init__(self, source: str, language: str) -> None:
        self.statements = RdfStatements(source, language)
        self.base = ""
        self._prefixes = ChainMap(self.statements.prefixes, dict(WELL_KNOWN))
        self._blanks = 0

    def add(self, axiom: Element) -> None:
        """Add an axiom, a declaration or a prefix; other elements are ignored."""
        kind, parts = kind_of(axiom), [part for part in axiom if kind_of(part) != "Annotation"]
        link = self.statements.link
        if kind == "Prefix":
            self.statements.prefixes[axiom.get("name", "")] = axiom.get("IRI", "")
        elif kind == "Declaration" and parts:
            link(self._term(parts[0]), rdf.TYPE, rdf.OWL + kind_of(parts[0]))
        elif kind == "SubClassOf" and len(parts) == 2:
            link(self._term(parts[0]), rdf.SUBCLASS, self._term(parts[1]))
        elif kind == "EquivalentClasses" and parts:
            one, *others = sorted(map(self._term, parts), key=lambda term: term.startswith("_:"))
            for other in others:
                link(one, rdf.EQUIVALENT, other)
        elif kind == "ClassAssertion" and len(parts) == 2:
            link(self._term(parts[1]), rdf.TYPE, self._term(parts[0]))
        elif kind == "ObjectPropertyAssertion" and len(parts) == 3:
            head, tail = map(self._term, parts[1:])
            if kind_of(parts[0]) == "ObjectInverseOf" and len(parts[0]):
                link(tail, self._term(parts[0][0]), head)
            else:
                link(head, self._term(parts[0]), tail)
        elif kind in ENDS and len(parts) == 2:
            link(self._term(parts[0]), rdf.RDFS + ENDS[kind], self._term(parts[1]))
        elif kind in ("AnnotationAssertion", "DataPropertyAssertion") and len(parts) == 3:
            about, subject = map(self._term, parts[:2])
            if kind_of(parts[2]) == "Literal":
                self.statements.literal(
                    subject, about, parts[2].text or "", parts[2].get(LANGUAGES[0], "")
                )
            else:
                link(subject, about, self._term(parts[2]))

    def _term(self, element: Element, depth: int = 0) -> str:
        """Return the IRI of an element; for anonymous individuals and expressions, a blank node."""
        kind, text = kind_of(element), (element.text or "").strip()
        if short := element.get("abbreviatedIRI", text if kind == "AbbreviatedIRI" else ""):
            return expand(short, self._prefixes) or short
        if iri := element.get("IRI", text if kind == "IRI" else ""):
            return iri if ":" in iri.partition("#")[0] else urljoin(self.base, iri)
        if node := element.get("nodeID", ""):
            return f"_:{node.removeprefix('_:')}"
        return self._expression(element, depth)

    def _expression(self, element: Element, depth: int) -> str:
        self._blanks += 1
        node, kind = f"_:expression {self._blanks}", kind_of(element)
        if depth < DEEPEST and kind in RESTRICTIONS and len(element) == 2:
            self.statements.link(node, rdf.OWL + "onProperty", self._term(element[0], depth + 1))
            self.statements.link(
                node, rdf.OWL + RESTRICTIONS[kind], self._term(element[1], depth + 1)
            )
            self.statements.literal(node, rdf.CARDINALITIES[0], element.get("cardinality", ""), "")
        elif depth < DEEPEST and kind in LISTS:
            predicate, at = rdf.OWL + LISTS[kind], node
            for number, part in enumerate(element):
                rest = f"{node} {number}"
                self.statements.link(at, predicate, rest)
                self.statements.link(rest, rdf.RDF + "first", self._term(part, depth + 1))
                predicate, at = rdf.RDF + "rest", rest
        return node


def read_axioms(
    path: Path, builder: GraphBuilder, problems: Problems, add: Callable[[str, Axioms, str], None]
) -> None:
    """Read a document of axioms.

    Imports are not fetched. A fault raises an error, whatever the policy of ``problems``.

    Args:
        path: The file.
        builder: Receives the graph.
        problems: Receives remarks.
        add: Function that adds the axioms of a text; its arguments are the text, the axioms and the
            name of the file.

    Raises:
        ReadError: If the document is not in the syntax, or not encoded in UTF-8.
    """
    axioms = Axioms(builder.source, builder.language)
    add(text_of(path), axioms, str(path))
    interpret(axioms.statements, builder, problems)


def literal(quoted: str, language: str | None) -> Element:
    """Return a literal as an element of OWL/XML, given the escaped text between the quotes."""
    element = Element("Literal", {LANGUAGES[0]: language or ""})
    element.text = ESCAPED.sub(r"\1", quoted)
    return element


def fault(text: str, at: int, source: str, wanted: str) -> ReadError:
    """Return an error at a position of a text, with its line and what was expected."""
    found = f"{text[at : at + 24]!r}" if at < len(text) else "the end of the file"
    return ReadError(
        f"expected {wanted}, found a fault ({found}); mend it", source, text.count("\n", 0, at) + 1
    )


# OWL/XML ------------------------------------------------------------------------------------------


def read_owl_xml(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read an OWL/XML file.

    Imports are not fetched. A fault raises an error, whatever the policy of ``problems``.

    Args:
        path: The file.
        builder: Receives the graph.
        problems: Receives remarks.

    Raises:
        ReadError: If the file is not XML, or its entity declarations look like an attack.
    """
    axioms = Axioms(builder.source, builder.language)
    with opened(path) as stream, well_formed("OWL/XML", path):
        root: Element | None = None
        depth = 0
        events = ElementTree.iterparse(GuardedXml(stream, path), ("start", "end"))  # noqa: S314
        for event, element in events:
            depth += 1 if event == "start" else -1
            if root is None:
                root = element
                axioms.base = element.get(f"{XML}base") or element.get("ontologyIRI") or ""
            elif event == "end" and depth == 1:
                axioms.add(element)
                root.clear()
    interpret(axioms.statements, builder, problems)


ROOT = re.compile(rb"\A(?:[^<]|<[^A-Za-z])*<(?:owl:)?Ontology\s")


OWL_XML = FileFormat(
    "owlxml",
    (".owx", ".owl"),
    "OWL ontologies in OWL/XML.",
    matches=lambda path, head: ROOT.match(head.lstrip()) is not None,
    reader=read_owl_xml,
)


# Functional syntax --------------------------------------------------------------------------------


FUNCTIONAL_TOKEN = re.compile(
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
FUNCTIONAL = "OWL functional syntax"
NAMED = frozenset(
    ("Class", "ObjectProperty", "DataProperty", "AnnotationProperty", "NamedIndividual", "Datatype")
)
"""Kinds of entities, which are written around names: ``Class(:dog)``."""


def read_owl_functional(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read a file in functional syntax; see :func:`read_axioms`."""
    read_axioms(path, builder, problems, _add_functional)


def _add_functional(text: str, axioms: Axioms, source: str) -> None:
    """Add the axioms of a document.

    Raises:
        ReadError: If the document has a fault.
    """
    above: list[Element] = []
    at = 0
    while at < len(text):
        token = FUNCTIONAL_TOKEN.match(text, at)
        if token is None or (token.lastgroup not in (None, "namespace", "opened") and not above):
            raise fault(text, at, source, FUNCTIONAL)
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
        raise fault(text, at, source, FUNCTIONAL)


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


FUNCTIONAL_START = re.compile(rb"\s*(?:Prefix|Ontology)\s*\(")


OWL_FUNCTIONAL = FileFormat(
    "functional",
    (".ofn", ".owl"),
    "OWL ontologies in functional syntax, as the edit files of OBO ontologies.",
    matches=lambda path, head: FUNCTIONAL_START.match(uncommented(head)) is not None,
    reader=read_owl_functional,
)
