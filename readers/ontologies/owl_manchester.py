"""Reading OWL in Manchester syntax: a frame for each class, property and individual.

See the `specification <https://www.w3.org/TR/owl2-manchester-syntax/>`_.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from xml.etree.ElementTree import Element

from ontodex.errors import ReadError
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

OUTSIDE = (
    *("EquivalentClasses", "DisjointClasses", "EquivalentProperties", "DisjointProperties"),
    *("SameIndividual", "DifferentIndividuals", "Rule"),
)
"""Keywords outside of frames; only ``EquivalentClasses`` is read."""

SECTIONS = (
    *("SubClassOf", "SuperClassOf", "EquivalentTo", "DisjointWith", "DisjointUnionOf"),
    *("Types", "Domain", "Range"),
)
"""Sections with lists of expressions."""

PASSED = (
    *("SubPropertyOf", "SuperPropertyOf", "SubPropertyChain", "InverseOf", "Characteristics"),
    *("HasKey", "SameAs", "DifferentFrom"),
)
"""Sections that are not read."""

OF_DOCUMENTS = ("Prefix", "Ontology", "Import", "Annotations", "Facts")
KEYWORDS = (*OF_DOCUMENTS, *FRAMES, *OUTSIDE, *SECTIONS, *PASSED)
RESTRICTIONS = {
    "some": "SomeValuesFrom",
    "only": "AllValuesFrom",
    "value": "HasValue",
    "min": "MinCardinality",
    "max": "MaxCardinality",
    "exactly": "ExactCardinality",
    "Self": "HasSelf",
}
RESERVED = frozenset(("and", "that", "or", "not", "inverse", "o", *RESTRICTIONS))
TOKEN = re.compile(
    rf"""\s+ | \#[^\n]*
    | (?P<keyword>{"|".join(sorted(KEYWORDS, reverse=True))}):(?=\s|$)
    | <(?P<iri>[^<>\s]*)>
    | "(?P<text>[^"\\]*(?:\\.[^"\\]*)*)"
      (?:@(?P<language>[\w-]+)|\^\^(?:<[^<>\s]*>|[^\s,(){{}}\[\]<>"]+))?
    | (?P<mark>[,(){{}}<>]|\[[^\[\]]*\])
    | (?P<word>[^\s,(){{}}\[\]<>"]+)""",
    re.VERBOSE | re.DOTALL,
)
PLAIN_LITERAL = re.compile(r"[+-]?\.?\d.*|true|false")
DATATYPES = frozenset(("integer", "decimal", "float", "string"))
"""Datatypes that are written without a prefix."""

DEEPEST = 100
"""Maximal depth of expressions, and of annotations."""

T = TypeVar("T")


def read_owl_manchester(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read a file in Manchester syntax; see :func:`.owl_axioms.read_axioms`."""
    read_axioms(
        path, builder, problems, lambda text, axioms, source: _Document(text, axioms, source).read()
    )


class _Document:
    """Parser of a document, with a lookahead of one token.

    Args:
        text: The document.
        axioms: Receives the axioms.
        source: Name of the document.
    """

    def __init__(self, text: str, axioms: Axioms, source: str) -> None:
        self._text, self._axioms, self._source = text, axioms, source
        self._tokens = self._parted()
        self._at = self._depth = 0
        self._step()

    def read(self) -> None:
        while self._token is not None:
            keyword = self._expect("keyword")
            if keyword == "Prefix":
                name, namespace = self._expect("word"), self._expect("iri")
                self._axioms.statements.prefixes[name.removesuffix(":")] = namespace
            elif keyword == "Annotations":
                self._annotations()
            elif keyword == "EquivalentClasses":
                self._add(keyword, *self._listed(self._expression))
            elif keyword in FRAMES:
                self._frame(FRAMES[keyword])
            elif keyword in ("Ontology", "Import"):
                while self._peek("iri") is not None or self._peek("word") is not None:
                    self._step()
            elif keyword in OUTSIDE:
                self._pass()
            else:
                raise self._fault()

    def _frame(self, kind: str) -> None:
        subject = self._name(kind)
        declared = Element(kind, subject.attrib)
        self._add("Declaration", declared)
        while (keyword := self._peek("keyword")) is not None and keyword not in (*FRAMES, *OUTSIDE):
            self._step()
            if keyword == "Annotations":
                for about, value in self._annotations():
                    self._add("AnnotationAssertion", about, subject, value)
            elif keyword == "Facts":
                for about, value in filter(None, self._listed(self._fact)):
                    literal = value.tag == "Literal"
                    self._add(
                        "DataPropertyAssertion" if literal else "ObjectPropertyAssertion",
                        about,
                        subject,
                        value,
                    )
            elif keyword in SECTIONS:
                for said in self._listed(self._expression):
                    self._section(keyword, kind, subject, said)
            else:
                self._pass()

    def _section(self, keyword: str, kind: str, subject: Element, said: Element) -> None:
        if keyword == "SubClassOf":
            self._add("SubClassOf", subject, said)
        elif keyword == "SuperClassOf":
            self._add("SubClassOf", said, subject)
        elif keyword == "EquivalentTo" and kind == "Class":
            self._add("EquivalentClasses", subject, said)
        elif keyword == "Types":
            self._add("ClassAssertion", said, subject)
        elif keyword in ("Domain", "Range") and kind == "ObjectProperty":
            self._add(f"{kind}{keyword}", subject, said)

    def _add(self, kind: str, *parts: Element) -> None:
        axiom = Element(kind)
        axiom.extend(parts)
        self._axioms.add(axiom)

    # Parts of frames -----------------------------------------------------------------------------

    def _listed(self, item: Callable[[], T]) -> list[T]:
        """Return the items of a list; annotations of items are skipped."""
        found = list[T]()
        while self._token is not None and self._peek("keyword") in (None, "Annotations"):
            if self._accept("keyword", "Annotations"):
                self._annotations()
            found.append(item())
            if not self._accept("mark", ","):
                break
        return found

    def _annotations(self) -> list[tuple[Element, Element]]:
        """Return annotations as pairs (property, value); annotations of annotations are ignored."""
        self._deeper()
        found = self._listed(lambda: (self._name("AnnotationProperty"), self._value()))
        self._depth -= 1
        return found

    def _fact(self) -> tuple[Element, Element] | None:
        denied = self._accept("word", "not")
        fact = self._property(), self._value()
        return None if denied else fact

    def _pass(self) -> None:
        """Skip to the next keyword other than ``Annotations``."""
        while self._token is not None and self._peek("keyword") in (None, "Annotations"):
            self._step()

    # Expressions ---------------------------------------------------------------------------------

    def _expression(self) -> Element:
        self._deeper()
        made = self._joined(
            "ObjectUnionOf",
            ("or",),
            lambda: self._joined("ObjectIntersectionOf", ("and", "that"), self._one),
        )
        self._depth -= 1
        return made

    def _joined(self, kind: str, words: tuple[str, ...], part: Callable[[], Element]) -> Element:
        parts = [part()]
        while any(self._accept("word", word) for word in words):
            parts.append(part())
        if len(parts) == 1:
            return parts[0]
        made = Element(kind)
        made.extend(parts)
        return made

    def _one(self) -> Element:
        """Read an expression that is not joined by ``and`` or ``or``."""
        if self._accept("word", "not"):
            self._deeper()
            made = Element("ObjectComplementOf")
            made.append(self._one())
            self._depth -= 1
            return made
        if self._accept("mark", "("):
            made = self._expression()
            self._expect("mark", ")")
            return made
        if self._accept("mark", "{"):
            made = Element("ObjectOneOf")
            made.extend(self._listed(self._value))
            self._expect("mark", "}")
            return made
        if self._peek("text") is not None or PLAIN_LITERAL.fullmatch(self._peek("word") or ""):
            return self._value()
        named = self._property()
        if (mark := self._peek("mark")) is not None and mark.startswith("["):
            self._step()
            return Element("DatatypeRestriction")
        return self._restriction(named) if self._peek("word") in RESTRICTIONS else named

    def _restriction(self, by: Element) -> Element:
        kind = RESTRICTIONS[self._expect("word")]
        made = Element(f"Object{kind}")
        made.append(by)
        if kind.endswith("Cardinality"):
            made.set("cardinality", self._expect("word"))
            if self._token is None or not self._begins_expression():
                return made
        if kind == "HasValue":
            made.append(self._value())
        elif kind != "HasSelf":
            self._deeper()
            made.append(self._one())
            self._depth -= 1
        return made

    def _begins_expression(self) -> bool:
        word = self._peek("word")
        if word is not None:
            return word not in RESERVED or word in ("not", "inverse")
        return self._peek("iri") is not None or self._peek("mark") in ("(", "{")

    def _property(self) -> Element:
        if not self._accept("word", "inverse"):
            return self._name("Class")
        made, bracket = Element("ObjectInverseOf"), self._accept("mark", "(")
        made.append(self._name("ObjectProperty"))
        if bracket:
            self._expect("mark", ")")
        return made

    def _name(self, kind: str) -> Element:
        """Return an IRI or name as an element of OWL/XML."""
        if (iri := self._peek("iri")) is not None:
            self._step()
            return Element(kind, IRI=iri)
        word = self._expect("word")
        if word in RESERVED:
            raise self._fault()
        if word.startswith("_:"):
            return Element("AnonymousIndividual", nodeID=word)
        if word in DATATYPES or word.startswith("xsd:"):
            return Element(kind, IRI=XSD + word.removeprefix("xsd:"))
        return Element(kind, abbreviatedIRI=word if ":" in word else f":{word}")

    def _value(self) -> Element:
        """Return a literal or a name as an element of OWL/XML."""
        token, word = self._token, self._peek("word") or ""
        if token is None or not (token["text"] is not None or PLAIN_LITERAL.fullmatch(word)):
            return self._name("NamedIndividual")
        self._step()
        return literal(word or token["text"], token["language"])

    # Tokens --------------------------------------------------------------------------------------

    def _parted(self) -> Iterator[re.Match[str]]:
        at = 0
        while at < len(self._text):
            token = TOKEN.match(self._text, at)
            if token is None:
                self._at = at
                raise self._fault()
            at = token.end()
            if token.lastgroup:
                yield token

    def _step(self) -> None:
        self._token = next(self._tokens, None)
        self._at = len(self._text) if self._token is None else self._token.start()

    def _peek(self, group: str) -> str | None:
        return None if self._token is None else self._token[group]

    def _accept(self, group: str, wanted: str) -> bool:
        if self._peek(group) != wanted:
            return False
        self._step()
        return True

    def _expect(self, group: str, wanted: str | None = None) -> str:
        found = self._peek(group)
        if found is None or wanted not in (None, found):
            raise self._fault()
        self._step()
        return found

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._fault(f"expressions less than {DEEPEST} deep in one another")

    def _fault(self, wanted: str = "OWL Manchester syntax") -> ReadError:
        return fault(self._text, self._at, self._source, wanted)


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
