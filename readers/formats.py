"""Which format a file has, by its first bytes and its suffix."""

from __future__ import annotations

import re
from pathlib import Path

from ontodex.errors import ReadError
from ontodex.readers.annotations import ANNOTATIONS
from ontodex.readers.archives import is_archive
from ontodex.readers.conceptnet import ASSERTION
from ontodex.readers.cx import MARKS
from ontodex.readers.files import ZIP, head_of, plain_name
from ontodex.readers.sqlite import SQLITE, is_database
from ontodex.readers.tables.outlines import is_outline
from ontodex.readers.tables.workbooks import is_workbook
from ontodex.readers.xml_guard import after_prolog

__all__ = ["GRAPH_XML", "format_of"]

OTHERS = {
    ZIP: "a damaged archive, or a document of an office; save its tables as .xlsx or CSV",
    b"PAR1": "a Parquet file; read it with pandas or polars and give the frame to ontodex.read",
    SQLITE: "a gzipped database of SQLite; unzip it",
    b"%PDF": "a PDF; ontodex reads tables, graphs and ontologies, and plain text with --format sentences",
    b"\xd0\xcf\x11\xe0": "a workbook of an old Excel; save it as .xlsx or CSV",
}
"""What files begin with that are none of ours, and what to do about them."""

GRAPH_XML = ("graphml", "gexf")
"""Formats of graphs in XML."""

SUFFIXES = {
    ".csv": "table",
    ".tsv": "table",
    ".txt": "table",
    ".tab": "table",
    ".md": "outline",
    ".gmt": "gmt",
    ".obo": "obo",
    ".ttl": "turtle",
    ".turtle": "turtle",
    ".nt": "ntriples",
    ".ntriples": "ntriples",
    ".nq": "nquads",
    ".nquads": "nquads",
    ".trig": "trig",
    ".rdf": "rdfxml",
    ".owl": "rdfxml",
    ".jsonld": "jsonld",
    ".yaml": "yaml",
    ".yml": "yaml",
}
LINE_RDF = re.compile(
    rb"(?:<[^<>\s]*>|_:\S+)\s+<[^<>\s]*>\s+(?:<[^<>\s]*>|_:\S+|\".*?\"\S*)\s*(<[^<>\s]*>|_:\S+)?\s*\.\s*$"
)
TURTLE = re.compile(
    rb"^\s*(?:@prefix|@base|prefix\s+\S*:\s*<|base\s*<)", re.IGNORECASE | re.MULTILINE
)
OBO = re.compile(
    rb"^(?:format-version:|ontology:\s|\[(?:Term|Typedef|Instance)\]\s*$)", re.MULTILINE
)
FUNCTIONAL = re.compile(rb"\s*(?:Prefix|Ontology)\s*\(")
MANCHESTER = re.compile(rb"^\s*(?:Prefix:|Ontology:)\s", re.MULTILINE)
OTHER_XML = re.compile(rb"<(?:!doctype\s+)?(html|graphml|gexf)[\s>]", re.IGNORECASE)
XML = re.compile(
    rb"<(?:[!?]|[A-Za-z_][\w:.-]*(?:\s+[\w:.-]+\s*=[^<>]*>|\s*/?>(?!\s+<[^<>\s]*>\s+[<\"_])))"
)
OWN_JSON = re.compile(rb'\{\s*"graphs"\s*:|\[\s*\{\s*"(?:%b)"' % "|".join(MARKS).encode())
RDF_ROOT = re.compile(
    rb"<(?:!DOCTYPE\s+)?(?:[\w-]+:)?RDF[\s>\[]|<[^<>]*\s[\w-]+:(?:about|ID|nodeID)\s*="
)
RDF_NAMESPACE = re.compile(rb"[\"']http://www\.w3\.org/1999/02/22-rdf-syntax-ns#[\"']")
OWL_XML = re.compile(rb"\A(?:[^<]|<[^A-Za-z])*<(?:owl:)?Ontology\s")


def format_of(path: Path) -> str:
    """Return the name of the format of a file.

    Raises:
        ReadError: If the file is empty, or its format is unknown or not supported.
    """
    if is_workbook(path):
        return "workbook"
    if is_database(path):
        return "database"
    if is_archive(path):
        return "archive"
    head = head_of(path)
    if not head.strip():
        raise ReadError("expected a graph or an ontology, found an empty file", str(path))
    if other := next((other for start, other in OTHERS.items() if head.startswith(start)), None):
        raise ReadError(f"expected a graph or an ontology, found {other}", str(path))
    if known := next(
        (name for name, layout in ANNOTATIONS.items() if layout.begins.search(head)), None
    ):
        return known
    if match := OTHER_XML.match(head, after_prolog(head)):
        if (kind := match[1].decode().lower()) in GRAPH_XML:
            return kind
        instead = "a server's answer in place of the file: fetch the file itself"
        raise ReadError(
            f"expected a graph or an ontology, found an HTML page; {instead}", str(path)
        )
    suffix = SUFFIXES.get(Path(plain_name(path)).suffix)
    body = b"\n".join(
        line for line in head.splitlines() if not line.lstrip().startswith((b"#", b"!"))
    )
    if suffix != "table" and MANCHESTER.search(body):
        return "manchester"
    found = suffix if suffix in ("yaml", "gmt") else _by_content(head.lstrip(), body, suffix)
    if found is None:
        raise ReadError(
            "expected triples or entities (TSV, CSV, JSON, YAML, XML, Excel, SQLite), GAF, GPAD, GPI, GMT, OBO, RDF "
            "(RDF/XML, Turtle, N-Triples, N-Quads, TriG, JSON-LD), OWL/XML, the functional or Manchester syntax of OWL, "
            f"GraphML, GEXF, OBO-graph JSON or an archive, found something else ({head[:24]!r}…); give format= in Python or "
            "--format on the command line",
            str(path),
        )
    return found


def _by_content(head: bytes, body: bytes, suffix: str | None) -> str | None:
    if OWL_XML.match(head):
        return "owlxml"
    if FUNCTIONAL.match(body):
        return "functional"
    if XML.match(head):
        is_rdf = RDF_ROOT.match(head, after_prolog(head)) or suffix == "rdfxml"
        return "rdfxml" if is_rdf and RDF_NAMESPACE.search(head) else "xml"
    if head.startswith((b"{", b"[")) and not re.match(
        rb"\[(?:Term|Typedef|Instance)\]|\[\s*(?:a\s|<|\])", head
    ):
        if OWN_JSON.match(head):
            return "json"
        return (
            "jsonld"
            if suffix == "jsonld" or re.search(rb'"@(?:context|graph|id|type)"', head)
            else "json"
        )
    if suffix in ("turtle", "ntriples", "nquads", "trig", "obo"):
        return suffix
    if OBO.search(body) and b"\t" not in body.split(b"\n", 1)[0]:
        return "obo"
    if TURTLE.search(body):
        return "trig"
    first = next((line for line in body.splitlines() if line.strip()), b"")
    if match := LINE_RDF.match(first.strip()):
        return "nquads" if match[1] else "ntriples"
    return _by_lines(head, first, suffix)


def _by_lines(head: bytes, first: bytes, suffix: str | None) -> str | None:
    if sum(byte < 9 for byte in head[:1024]) > 8:
        return None
    if ASSERTION.match(head):
        return "conceptnet"
    if suffix in ("table", "outline") and is_outline(head.decode("utf-8", "replace")):
        return "outline"
    if first.count(b"\t") >= 2 or first.count(b",") >= 2 or suffix == "table":
        return "table"
    return None
