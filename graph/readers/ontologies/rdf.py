"""RDF from files, by pyoxigraph, and from rdflib graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO
from urllib.parse import quote

import pyoxigraph as ox

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.graph.readers.files import bounded_lines, opened, size_of
from ontodex.graph.readers.ontologies.meaning import interpret
from ontodex.graph.readers.ontologies.quarantine import Fault, Quarantine
from ontodex.graph.readers.ontologies.statements import RdfStatements
from ontodex.graph.readers.problems import Problems
from ontodex.graph.readers.xml_guard import GuardedXml

__all__ = ["RDF_FORMATS", "read_rdf", "read_rdflib"]

RDF_FORMATS: Mapping[str, ox.RdfFormat] = MappingProxyType(
    {
        "turtle": ox.RdfFormat.TURTLE,
        "trig": ox.RdfFormat.TRIG,
        "ntriples": ox.RdfFormat.N_TRIPLES,
        "nquads": ox.RdfFormat.N_QUADS,
        "rdfxml": ox.RdfFormat.RDF_XML,
        "jsonld": ox.RdfFormat.JSON_LD,
    }
)
BLOCK = 1 << 20
NESTED = 100
"""Triples in triples, and in these; a hundred thousand deep they overflow the parser's stack."""


def read_rdf(path: Path, format: str, builder: GraphBuilder, problems: Problems) -> None:
    """Read an RDF file. Nothing that it imports or names is fetched.

    N-Triples and N-Quads go on after a bad line. The other formats cannot be read past a fault, and half an ontology
    must not pass for a whole one: there a fault is an error whatever the policy.

    Args:
        path: The file.
        format: A key of :data:`RDF_FORMATS`.
        builder: Takes what is read.
        problems: Takes bad lines.

    Raises:
        ReadError: At a fault that cannot be read past, or an entity declaration that looks hostile.
    """
    statements = RdfStatements(builder.source, builder.language)
    with opened(path) as stream:
        if format in ("ntriples", "nquads"):
            _read_lines(stream, statements, problems, path)
        else:
            _read_document(stream, path, RDF_FORMATS[format], statements)
    interpret(statements, builder, problems)


def read_rdflib(graph: Any, builder: GraphBuilder, problems: Problems) -> None:
    """Read an rdflib Graph, ConjunctiveGraph or Dataset."""
    statements = RdfStatements(builder.source, builder.language)
    statements.prefixes = {str(prefix): str(space) for prefix, space in graph.namespaces()}
    for subject, predicate, target, *context in graph:
        if hasattr(target, "language"):
            statements.literal(_rdflib_name(subject), str(predicate), str(target), target.language or "")
        else:
            name = str(context[0]) if context and context[0] is not None else ""
            statements.link(_rdflib_name(subject), str(predicate), _rdflib_name(target), name)
    interpret(statements, builder, problems)


def _rdflib_name(node: Any) -> str:
    return f"_:{node}" if type(node).__name__ == "BNode" else str(node)


def _add(quads: Iterable[Any], statements: RdfStatements) -> None:
    named, blank, literal = ox.NamedNode, ox.BlankNode, ox.Literal
    for quad in quads:
        subject, target = quad.subject, quad.object
        if isinstance(subject, named):
            name = subject.value
        elif isinstance(subject, blank):
            name = f"_:{subject.value}"
        else:
            continue
        if isinstance(target, literal):
            statements.literal(name, quad.predicate.value, target.value, target.language or "")
        elif isinstance(target, named | blank):
            end = target.value if isinstance(target, named) else f"_:{target.value}"
            graph = quad.graph_name
            statements.link(name, quad.predicate.value, end, graph.value if isinstance(graph, named | blank) else "")


def _read_document(stream: BinaryIO, path: Path, format: ox.RdfFormat, statements: RdfStatements) -> None:
    source: Any = GuardedXml(stream, path) if format == ox.RdfFormat.RDF_XML else stream
    base = f"file:///{quote(path.name)}"
    document = Quarantine(source, size_of(path), format, base, str(path))
    try:
        _add(document, statements)
    except Fault as error:
        with opened(path) as whole:
            lines = sum(1 for _ in whole)
        left = f"{lines - error.line + 1} of {lines} lines were not read" if error.line else "the rest was not read"
        mend = "Mend the line and read again"
        if "remote contexts" in str(error):
            mend = "Nothing is fetched: write the context into the document"
        message = f"expected {format.name}, found a fault ({error}); {left}. {mend}"
        raise ReadError(message, str(path), error.line) from None
    statements.prefixes.update(document.prefixes)
    if isinstance(source, GuardedXml):
        statements.prefixes.update(source.prefixes)


def _read_lines(stream: BinaryIO, statements: RdfStatements, problems: Problems, path: Path) -> None:
    """Read N-Triples or N-Quads in blocks of lines; a block with a fault is read line by line."""
    start, size, block = 1, 0, list[bytes]()
    for line in bounded_lines(stream, path):
        block.append(line)
        size += len(line)
        if size > BLOCK:
            _read_block(block, start, statements, problems, str(path))
            start, size, block = start + len(block), 0, []
    _read_block(block, start, statements, problems, str(path))


def _read_block(block: list[bytes], start: int, statements: RdfStatements, problems: Problems, source: str) -> None:
    try:
        _add(_parsed(b"".join(block)), statements)
        return
    except (SyntaxError, ValueError):
        pass
    for number, line in enumerate(block, start=start):
        try:
            _add(_parsed(line), statements)
        except (SyntaxError, ValueError) as error:
            shown = line[:60].decode("utf-8", "replace").strip()
            problems.report(f"expected a statement, found {shown!r} ({error.args[0]})", number, source)


def _parsed(lines: bytes) -> list[Any]:
    if b"\0" in lines:
        raise ValueError("a NUL byte")
    if lines.count(b"<<") > NESTED and any(line.count(b"<<") > NESTED for line in lines.splitlines()):
        raise ValueError(f"more than {NESTED} triples in one another")
    return list(ox.parse(lines, format=ox.RdfFormat.N_QUADS))
