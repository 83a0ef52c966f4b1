"""Reading RDF files, which pyoxigraph parses, rdflib graphs, and databases of RDF statements."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO
from urllib.parse import quote

import pyoxigraph as ox

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.graph.prefixes import WELL_KNOWN, expand
from ontodex.readers.files import bounded_lines, opened, size_of
from ontodex.readers.formats import (
    FileFormat,
    first_line,
    looks_like_json,
    looks_like_xml,
    suffix_of,
    syntax_matches,
    uncommented,
)
from ontodex.readers.ontologies.meaning import interpret
from ontodex.readers.ontologies.quarantine import Fault, Quarantine
from ontodex.readers.ontologies.statements import RdfStatements
from ontodex.readers.problems import Problems
from ontodex.readers.tables.databases import columns_of, opened_database, rows_in
from ontodex.readers.xml_guard import GuardedXml, after_prolog

__all__ = [
    "JSON_LD",
    "RDF_XML",
    "TEXT_FORMATS",
    "is_semantic_sql",
    "read_rdflib",
    "read_semantic_sql",
]

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
AS_THEY_STAND = "names that are strictly no IRIs are read as they stand"
IRI = re.compile(r'[A-Za-z][\w+.-]*:[^\x00-\x1f<>"\\]*')
"""An IRI that may have invalid characters, such as spaces."""

NESTED = 100
"""Maximal number of nested triples in a line; many more would overflow the parser's stack."""


def read_rdf(path: Path, format: str, builder: GraphBuilder, problems: Problems) -> None:
    """Read an RDF file; imports and other resources are not fetched.

    In N-Triples and N-Quads, reading continues after a faulty line. In other formats a fault raises
    an error, whatever the policy of ``problems``, so that a part of an ontology is not taken for
    the whole. Names of resources that are not valid IRIs (with spaces, relative without a base, or
    an ``rdf:ID`` that is not an XML name) are faults if the policy is ``"raise"``. With other
    policies they are read as they are.

    Args:
        path: The file.
        format: A key of :data:`RDF_FORMATS`.
        builder: Receives the graph.
        problems: Receives faulty lines.

    Raises:
        ReadError: If the document has a fault, or its entity declarations look like an attack.
    """
    statements = RdfStatements(builder.source, builder.language)
    if format in ("ntriples", "nquads"):
        with opened(path) as stream:
            _read_lines(stream, statements, problems, path)
    else:
        try:
            _read_document(path, RDF_FORMATS[format], statements)
        except Fault as strict:
            statements = RdfStatements(builder.source, builder.language)
            _read_leniently(path, RDF_FORMATS[format], statements, problems, strict)
    interpret(statements, builder, problems)


def read_rdflib(graph: Any, builder: GraphBuilder, problems: Problems) -> None:
    """Read an rdflib Graph, ConjunctiveGraph or Dataset."""
    statements = RdfStatements(builder.source, builder.language)
    statements.prefixes = {str(prefix): str(space) for prefix, space in graph.namespaces()}
    for subject, predicate, target, *context in graph:
        if hasattr(target, "language"):
            statements.literal(
                _rdflib_name(subject), str(predicate), str(target), target.language or ""
            )
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
            statements.link(
                name,
                quad.predicate.value,
                end,
                graph.value if isinstance(graph, named | blank) else "",
            )


def _read_document(
    path: Path, format: ox.RdfFormat, statements: RdfStatements, *, lenient: bool = False
) -> None:
    base = f"file:///{quote(path.name)}"
    with opened(path) as stream:
        source: Any = GuardedXml(stream, path) if format == ox.RdfFormat.RDF_XML else stream
        document = Quarantine(source, size_of(path), format, base, str(path), lenient=lenient)
        _add(document, statements)
    statements.prefixes.update(document.prefixes)
    if isinstance(source, GuardedXml):
        statements.prefixes.update(source.prefixes)


def _read_leniently(
    path: Path, format: ox.RdfFormat, statements: RdfStatements, problems: Problems, strict: Fault
) -> None:
    """Read a document again, accepting names of resources that are not valid IRIs.

    Raises:
        ReadError: If the document has another fault, or the policy of ``problems`` is ``"raise"``.
    """
    fault = strict
    if problems.policy != "raise":
        try:
            _read_document(path, format, statements, lenient=True)
        except Fault as error:
            fault = error
        else:
            problems.remark(f"{AS_THEY_STAND}: {strict}")
            return
    with opened(path) as whole:
        lines = sum(1 for _ in whole)
    left = (
        f"{lines - fault.line + 1} of {lines} lines were not read"
        if fault.line
        else "the rest was not read"
    )
    mend = "Mend the line and read again"
    if "remote contexts" in str(fault):
        mend = "Nothing is fetched: write the context into the document"
    raise ReadError(
        f"expected {format.name}, found a fault ({fault}); {left}. {mend}", str(path), fault.line
    ) from None


def _read_lines(
    stream: BinaryIO, statements: RdfStatements, problems: Problems, path: Path
) -> None:
    """Read N-Triples or N-Quads in blocks of lines; a block with a fault is read line by line."""
    start, size, block = 1, 0, list[bytes]()
    lenient: list[str] = []
    for line in bounded_lines(stream, path):
        block.append(line)
        size += len(line)
        if size > BLOCK:
            lenient += _read_block(block, start, statements, problems)
            start, size, block = start + len(block), 0, []
    lenient += _read_block(block, start, statements, problems)
    if lenient:
        problems.remark(f"{AS_THEY_STAND} in {len(lenient):,} line(s), the first: {lenient[0]}")


def _read_block(
    block: list[bytes], start: int, statements: RdfStatements, problems: Problems
) -> list[str]:
    """Read lines; return the messages for invalid names of resources that were accepted."""
    try:
        _add(_parsed(b"".join(block)), statements)
        return []
    except (SyntaxError, ValueError):
        pass
    lenient: list[str] = []
    for number, line in enumerate(block, start=start):
        try:
            _add(_parsed(line), statements)
        except (SyntaxError, ValueError) as error:
            if problems.policy != "raise" and (found := _parsed_leniently(line)):
                _add(found, statements)
                lenient.append(str(error.args[0]))
                continue
            shown = line.decode("utf-8", "replace").strip()
            problems.unexpected("a statement", shown, number, why=error.args[0])
    return lenient


def _parsed(lines: bytes, *, lenient: bool = False) -> list[Any]:
    if b"\0" in lines:
        raise ValueError("a NUL byte")
    if lines.count(b"<<") > NESTED and any(
        line.count(b"<<") > NESTED for line in lines.splitlines()
    ):
        raise ValueError(f"more than {NESTED} triples in one another")
    return list(ox.parse(lines, format=ox.RdfFormat.N_QUADS, lenient=lenient))


def _parsed_leniently(line: bytes) -> list[Any]:
    """Return the quads of a line whose only faults are characters of IRIs."""
    try:
        found = _parsed(line, lenient=True)
    except (SyntaxError, ValueError):
        return []
    names = [node.value for quad in found for node in quad if isinstance(node, ox.NamedNode)]
    return found if all(map(IRI.fullmatch, names)) else []


# Formats ----------------------------------------------------------------------------------------

STATEMENT = re.compile(
    rb"(?:<[^<>\s]*>|_:\S+)\s+<[^<>\s]*>\s+(?:<[^<>\s]*>|_:\S+|\".*?\"\S*)\s*"
    rb"(<[^<>\s]*>|_:\S+)?\s*\.\s*$"
)
"""A line of N-Triples, or of N-Quads if it has a fourth term."""

DIRECTIVE = re.compile(
    rb"^\s*(?:@prefix|@base|prefix\s+\S*:\s*<|base\s*<)", re.IGNORECASE | re.MULTILINE
)
"""A directive of Turtle or TriG (TriG is Turtle with named graphs)."""

ROOT = re.compile(
    rb"<(?:!DOCTYPE\s+)?(?:[\w-]+:)?RDF[\s>\[]|<[^<>]*\s[\w-]+:(?:about|ID|nodeID)\s*="
)
NAMESPACE = re.compile(rb"[\"']http://www\.w3\.org/1999/02/22-rdf-syntax-ns#[\"']")
XML_SUFFIXES = (".rdf", ".owl")

NO_JSON_LD = re.compile(rb"\{\s*\"graphs\"\s*:|\[\s*\{\s*\"(?:CXVersion|numberVerification)\"")
"""The beginning of an OBO graph or of CX; both may also contain keys of JSON-LD."""

KEYWORD = re.compile(rb'"@(?:context|graph|id|type)"')


def _is_rdf_xml(path: Path, head: bytes) -> bool:
    head = head.lstrip()
    is_rdf = suffix_of(path) in XML_SUFFIXES or ROOT.match(head, after_prolog(head))
    return looks_like_xml(head) and bool(is_rdf and NAMESPACE.search(head))


def _is_json_ld(path: Path, head: bytes) -> bool:
    if not looks_like_json(head) or NO_JSON_LD.match(head.lstrip()):
        return False
    return suffix_of(path) == ".jsonld" or bool(KEYWORD.search(head))


def _terms(head: bytes) -> int:
    """Return 3 if the first statement is in N-Triples, 4 if it is in N-Quads, otherwise 0."""
    statement = STATEMENT.match(first_line(head).strip())
    return 0 if statement is None else 4 if statement[1] else 3


def _format(
    name: str,
    suffixes: tuple[str, ...],
    syntax: str,
    matches: Callable[[Path, bytes], bool],
) -> FileFormat:
    """Return a format of RDF; ``name`` is a key of :data:`RDF_FORMATS`."""

    def reader(path: Path, builder: GraphBuilder, problems: Problems) -> None:
        read_rdf(path, name, builder, problems)

    return FileFormat(
        name, suffixes, f"RDF and OWL ontologies in {syntax}.", matches=matches, reader=reader
    )


def _syntax_format(
    name: str, suffixes: tuple[str, ...], syntax: str, content: Callable[[bytes], object]
) -> FileFormat:
    """Return a format of RDF that is detected by its suffix, or else by its content."""

    def matches(path: Path, head: bytes) -> bool:
        return syntax_matches(path, suffixes, content=content(head))

    return _format(name, suffixes, syntax, matches)


RDF_XML = _format("rdfxml", XML_SUFFIXES, "RDF/XML", _is_rdf_xml)
JSON_LD = _format("jsonld", (".jsonld",), "JSON-LD", _is_json_ld)
TRIG = _syntax_format("trig", (".trig",), "TriG", lambda head: DIRECTIVE.search(uncommented(head)))
NQUADS = _syntax_format("nquads", (".nq", ".nquads"), "N-Quads", lambda head: _terms(head) == 4)
NTRIPLES = _syntax_format(
    "ntriples", (".nt", ".ntriples"), "N-Triples", lambda head: _terms(head) == 3
)
TURTLE = _syntax_format("turtle", (".ttl", ".turtle"), "Turtle", lambda head: False)
TEXT_FORMATS = (TRIG, NQUADS, NTRIPLES, TURTLE)
"""Text formats of RDF, in the order of detection; files of Turtle are also valid TriG."""


# Semantic-SQL -------------------------------------------------------------------------------------


COLUMNS = ("subject", "predicate", "object", "value", "language")


def is_semantic_sql(path: Path) -> bool:
    """Return whether a database has a table of RDF statements.

    Raises:
        ReadError: If the database cannot be read.
    """
    with opened_database(path) as database:
        return {*COLUMNS} <= {*columns_of(database).get("statements", [])}


def read_semantic_sql(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read the RDF statements of a database; its table of prefixes is used to expand CURIEs.

    See https://github.com/INCATools/semantic-sql.

    Args:
        path: The database.
        builder: Receives the graph.
        problems: Receives remarks.

    Raises:
        ReadError: If the database cannot be read.
    """
    statements = RdfStatements(builder.source, builder.language)
    spaces = ChainMap(statements.prefixes, dict(WELL_KNOWN))

    def name(short: str) -> str:
        return short if short.startswith("_:") else expand(short, spaces) or short

    with opened_database(path) as database:
        if {"prefix", "base"} <= {*columns_of(database).get("prefix", [])}:
            spaces_in = rows_in(
                database, "SELECT prefix, base FROM prefix WHERE prefix <> '' AND base <> ''", path
            )
            statements.prefixes.update((str(prefix), str(base)) for prefix, base in spaces_in)
        query = "SELECT subject, predicate, object, value, language FROM statements"
        for row in rows_in(database, query, path):
            subject, predicate, target, value, language = (
                cell if isinstance(cell, str) else "" for cell in row
            )
            if subject and predicate and target:
                statements.link(name(subject), name(predicate), name(target))
            elif subject and predicate:
                statements.literal(name(subject), name(predicate), value, language)
    interpret(statements, builder, problems)
