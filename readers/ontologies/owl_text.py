"""Common parts of the functional and the Manchester syntax of OWL: faults and literals."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import Element

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import text_of
from ontodex.readers.ontologies.meaning import interpret
from ontodex.readers.ontologies.owl_axioms import LANGUAGE, Axioms
from ontodex.readers.problems import Problems

__all__ = ["fault", "literal", "read_axioms"]

ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def read_axioms(
    path: Path, builder: GraphBuilder, problems: Problems, add: Callable[[str, Axioms, str], None]
) -> None:
    """Read a document of axioms.

    Imports are not fetched. A fault is an error whatever the policy.

    Args:
        path: The file.
        builder: Receives the graph.
        problems: Receives remarks.
        add: Adds the axioms of a text; it gets the text, the axioms and the name of the file.

    Raises:
        ReadError: If the syntax is another one, or the encoding is not UTF-8.
    """
    axioms = Axioms(builder.source, builder.language)
    add(text_of(path), axioms, str(path))
    interpret(axioms.statements, builder, problems)


def literal(quoted: str, language: str | None) -> Element:
    """Return a literal as an element of OWL/XML, given the text in quotes."""
    element = Element("Literal", {LANGUAGE: language or ""})
    element.text = ESCAPED.sub(r"\1", quoted)
    return element


def fault(text: str, at: int, source: str, wanted: str) -> ReadError:
    """Return an error at a position of a text, with its line and what was expected."""
    found = f"{text[at : at + 24]!r}" if at < len(text) else "the end of the file"
    return ReadError(
        f"expected {wanted}, found a fault ({found}); mend it", source, text.count("\n", 0, at) + 1
    )
