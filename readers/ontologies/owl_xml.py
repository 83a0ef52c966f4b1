"""Reading OWL/XML."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import opened
from ontodex.readers.formats import FileFormat
from ontodex.readers.ontologies.meaning import interpret
from ontodex.readers.ontologies.owl_axioms import Axioms
from ontodex.readers.problems import Problems
from ontodex.readers.xml_guard import XML, GuardedXml, well_formed

__all__ = ["FORMAT", "read_owl_xml"]


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


FORMAT = FileFormat(
    "owlxml",
    (".owx", ".owl"),
    "OWL ontologies in OWL/XML.",
    matches=lambda path, head: ROOT.match(head.lstrip()) is not None,
    reader=read_owl_xml,
)
