"""What the functional and the Manchester syntax of OWL have in common: a text in which a fault has a place, and literals."""

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
    """Read a document of axioms. Nothing that it imports is fetched; a fault is an error whatever the policy.

    Args:
        path: The file.
        builder: Takes what is read.
        problems: Takes remarks.
        add: Adds what a text says to axioms; it is also given the name of the file.

    Raises:
        ReadError: If it is not in the syntax that ``add`` reads, or no UTF-8.
    """
    axioms = Axioms(builder.source, builder.language)
    add(text_of(path), axioms, str(path))
    interpret(axioms.statements, builder, problems)


def literal(quoted: str, language: str | None) -> Element:
    """Return a literal as OWL/XML has it, from what stands between its quotes."""
    element = Element("Literal", {LANGUAGE: language or ""})
    element.text = ESCAPED.sub(r"\1", quoted)
    return element


def fault(text: str, at: int, source: str, wanted: str) -> ReadError:
    """Return an error that names what was wanted at a place of a text, and its line."""
    found = f"{text[at : at + 24]!r}" if at < len(text) else "the end of the file"
    return ReadError(
        f"expected {wanted}, found a fault ({found}); mend it", source, text.count("\n", 0, at) + 1
    )
