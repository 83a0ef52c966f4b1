"""Reading OBO files, which fastobo parses in pieces, so that only faulty lines are lost.

fastobo parses OBO 1.4. Lines in the syntax of OBO 1.0 and 1.2 are rewritten, and clauses that are
not read are left out, before a piece is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import fastobo

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import unique_ids_by_name
from ontodex.graph.prefixes import WELL_KNOWN, contract, expand
from ontodex.graph.vocabulary import ASIDE, EQUIVALENT, SAME
from ontodex.readers.files import lines_of
from ontodex.readers.formats import FileFormat, syntax_matches, uncommented
from ontodex.readers.problems import Problems

__all__ = ["FORMAT", "read_obo"]

PIECE = 1000
LARGEST = 1 << 22
"""Maximal bytes of a frame, and of frames parsed at once; parsing takes 60 times as much memory."""

FAULTS = (SyntaxError, ValueError, TypeError)
LINKS = ("is_a", "relationship", "intersection_of")
NONE = {("cardinality", "0"), ("maxCardinality", "0"), ("minCardinality", "0")}
"""Qualifiers of a link that mean that an instance may have no target."""

SHORT_ASIDE = ("oboInOwl:", "seeAlso")
"""Beginnings of short forms of ignored properties (:data:`~ontodex.graph.vocabulary.ASIDE`)."""

SHORT_SAME = "exactMatch"
"""Short form in OBO of the property whose value is an equivalent term."""

EQUIVALENCE = contract(EQUIVALENT, WELL_KNOWN)
"""Relation between equivalent terms of a file, the same as in OWL."""

EQUIVALENT_SOURCE = re.compile(r"(?:.*[:/#])?(?:exactMatch|equivalentTo)")
"""``source`` of a cross-reference to an equivalent, as in Mondo and the Gene Ontology."""

NAMES = {
    "alt_id": ("alternatives", "alt_id"),
    "replaced_by": ("instead", "term"),
    "equivalent_to": ("equivalents", "term"),
    "union_of": ("members", "term"),
}
"""For clauses that name a term: attribute of :class:`Term`, and field of the clause."""

READ = frozenset(
    (
        *("id", "name", "def", "synonym", "is_obsolete", "property_value", "xref"),
        *(*LINKS, *NAMES),
    )
)
"""Clauses of frames that are read; others are left out before parsing."""

IN_HEADER = ("idspace", "treat-xrefs-as-equivalent")
"""Clauses of the header that are read."""

TAG = re.compile(r"([A-Za-z_][\w-]*):")
TEXT = r'("(?:[^"\\]|\\.)*")'
DEFINITION = re.compile(rf"def:\s*{TEXT}(?=\s*(?:\[|\{{|!|$))")
SYNONYM = re.compile(
    rf"(?:(exact|broad|narrow|related)_)?synonym:\s*{TEXT}\s*"
    r"(EXACT|BROAD|NARROW|RELATED)?(?=[\s[{!]|$)"
)
"""A synonym without references; OBO 1.0 has its scope in the tag, OBO 1.2 need not have one."""

SPACED = re.compile(
    r"(id|alt_id|is_a|union_of|equivalent_to|replaced_by|xref)"
    r"(?:_analog|_unk|_unknown)?:\s*([A-Za-z][\w.-]*(?:\ [\w.-]+)*:)(?=\S)"
)
"""A clause with an id; its prefix may have spaces (``NIST Chemistry WebBook:22325-47-9``)."""

ESCAPE = re.compile(r"\\(.)")


@dataclass
class Stanza:
    """Lines of a frame with their numbers, and its approximate size in bytes."""

    lines: list[tuple[int, str]] = field(default_factory=list)
    size: int = 0

    @property
    def number(self) -> int:
        """Number of the first line of the frame."""
        return self.lines[0][0]

    @property
    def text(self) -> str:
        """The text of the frame."""
        return "".join(f"{line}\n" for _, line in self.lines)


@dataclass
class Term:
    """Content of all frames with the same id."""

    number: int
    label: str = ""
    definition: str = ""
    synonyms: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    genus: list[str] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    equivalents: list[str] = field(default_factory=list)
    alternatives: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    instead: list[str] = field(default_factory=list)
    obsolete: bool = False


def read_obo(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read terms and instances with their links.

    Triples are ``is_a``, relationships, differentiae of ``intersection_of``, property values that
    name another term of the file, and equivalence to another term of the file. If a term has no
    parents, the genus of its intersection is its parent. A union is the parent of its members.
    Links with a cardinality of 0 or with ``all_only`` are left out. Obsolete terms and their links
    are left out; the id of an obsolete term with one replacement becomes an alternative id of the
    replacement. If frames have the same id, a fault is reported, and the frames are merged. The
    target of a link may have no frame, because another source may define the term.

    These ids of other vocabularies are alternative ids of a term: equivalents without a frame,
    exact matches, and cross-references that are marked as equivalent by their source
    (``MONDO:equivalentTo``) or by the header (``treat-xrefs-as-equivalent``).

    A line that cannot be parsed is a fault if it has no tag, or a clause that ontodex reads.

    Args:
        path: The file.
        builder: Receives the graph.
        problems: Receives faults.

    Raises:
        ReadError: If a frame is larger than 4 MiB, or if a fault is found and the policy of
            ``problems`` is ``"raise"``.
    """
    stanzas = _stanzas(lines_of(path, problems), problems.source)
    equivalent = _read_header(next(stanzas, Stanza()), builder, problems)
    terms: dict[str, Term] = {}
    relations: dict[str, str] = {}
    for stanza, frame in _frames((_read_alone(one, equivalent) for one in stanzas), problems):
        identifier = _name(frame.id, builder)
        if isinstance(frame, fastobo.typedef.TypedefFrame):
            relations.setdefault(identifier, "")
            relations[identifier] = relations[identifier] or next(
                (c.name for c in frame if c.raw_tag() == "name"), ""
            )
            continue
        if identifier in terms:
            first = terms[identifier].number
            message = (
                f"expected each id once, found {identifier} again (first in line {first}); "
                "the two were merged"
            )
            problems.report(message, stanza.number)
        _collect(frame, terms.setdefault(identifier, Term(stanza.number)), builder, equivalent)
    _declare(terms, relations, builder)


def _declare(terms: dict[str, Term], relations: dict[str, str], builder: GraphBuilder) -> None:
    gone = {identifier for identifier, term in terms.items() if term.obsolete}
    alternatives = unique_ids_by_name(
        (other, identifier)
        for identifier, term in terms.items()
        if identifier not in gone
        for other in (*term.same, *term.equivalents)
    )
    for identifier, term in terms.items():
        if identifier in gone:
            if len(term.instead) == 1 and term.instead[0] in terms and term.instead[0] not in gone:
                alternatives[identifier] = term.instead[0]
            continue
        alternatives.update(dict.fromkeys(term.alternatives, identifier))
        builder.entity(identifier, term.label, term.synonyms, term.definition)
    builder.replace(alternatives)
    for identifier, term in terms.items():
        if identifier in gone:
            continue
        values = [*term.notes, *((EQUIVALENCE, other) for other in term.equivalents)]
        notes = (
            (identifier, by, tail) for by, tail in values if tail in terms and tail != identifier
        )
        for head, relation, tail in chain(_links(identifier, term), notes):
            if gone.intersection(builder.aliases.get(name, name) for name in (head, tail)):
                continue
            builder.relation(relation, relations.get(relation, ""))
            builder.triple(head, relation, tail)


def _links(identifier: str, term: Term) -> Iterator[tuple[str, str, str]]:
    """Yield the (head, relation, tail) links of a term."""
    yield from ((identifier, relation, target) for relation, target in term.links)
    if not any(relation == "is_a" for relation, _ in term.links):
        yield from ((identifier, "is_a", genus) for genus in term.genus)
    yield from ((member, "is_a", identifier) for member in term.members)


def _collect(frame: Any, term: Term, builder: GraphBuilder, equivalent: Set[str]) -> None:
    for clause in frame:
        tag = clause.raw_tag()
        if tag == "name":
            term.label = term.label or clause.name
        elif tag == "def":
            term.definition = term.definition or str(clause.definition)
        elif tag == "synonym":
            term.synonyms.append(clause.synonym.desc)
        elif tag in NAMES:
            kind, name = NAMES[tag]
            getattr(term, kind).append(_name(getattr(clause, name), builder))
        elif tag == "is_obsolete":
            term.obsolete = term.obsolete or bool(clause.obsolete)
        elif tag == "property_value":
            _note(clause.property_value, term, builder)
        elif tag == "xref" and _is_equivalent(clause, equivalent):
            term.same.append(_name(clause.xref.id, builder))
        elif tag in LINKS and not _allows_none(clause):
            _link(clause, tag, term, builder)


def _link(clause: Any, tag: str, term: Term, builder: GraphBuilder) -> None:
    target, relation = _name(clause.term, builder), getattr(clause, "typedef", None)
    if relation is not None:
        term.links.append((_name(relation, builder), target))
    elif tag == "is_a":
        term.links.append((tag, target))
    else:
        term.genus.append(target)


def _note(value: Any, term: Term, builder: GraphBuilder) -> None:
    """Add a property value that may be the id of a term."""
    if not isinstance(value, fastobo.pv.ResourcePropertyValue):
        return
    by, target = _name(value.relation, builder), _name(value.value, builder)
    iri = expand(by, WELL_KNOWN) or by
    if iri in (SHORT_SAME, *SAME):
        term.same.append(target)
    if not iri.startswith((*SHORT_ASIDE, *ASIDE)):
        term.notes.append((by, target))


def _is_equivalent(clause: Any, equivalent: Set[str]) -> bool:
    """Return whether a cross-reference leads to an equivalent of the term."""
    sources = [one.value for one in clause.qualifiers or () if str(one.key) == "source"]
    return (
        any(map(EQUIVALENT_SOURCE.fullmatch, sources))
        or str(clause.xref.id).partition(":")[0] in equivalent
    )


def _allows_none(clause: Any) -> bool:
    """Return whether the qualifiers of a link mean that an instance may have no target."""
    found = {(str(one.key), one.value) for one in clause.qualifiers or ()}
    only, some = ((name, "true") in found for name in ("all_only", "all_some"))
    return bool(found & NONE) or (only and not some)


def _name(identifier: Any, builder: GraphBuilder) -> str:
    return contract(ESCAPE.sub(r"\1", str(identifier)), builder.prefixes)


def _stanzas(lines: Iterable[tuple[int, str]], source: str) -> Iterator[Stanza]:
    """Yield the header, which may be empty, and then each frame.

    Raises:
        ReadError: If a frame is larger than 4 MiB.
    """
    stanza = Stanza()
    for number, line in lines:
        if line.startswith("["):
            yield stanza
            stanza = Stanza()
        if line.strip() and not line.lstrip().startswith(
            "!"
        ):  # fastobo supports comments only after a clause
            stanza.lines.append((number, line))
            stanza.size += len(line)
            if stanza.size > LARGEST:
                message = (
                    f"expected frames of at most {LARGEST:,} bytes, found a larger one; split it"
                )
                raise ReadError(message, source, stanza.number)
    yield stanza


def _read_header(header: Stanza, builder: GraphBuilder, problems: Problems) -> set[str]:
    """Read prefixes; return the prefixes whose cross-references are equivalents."""
    equivalent: set[str] = set()
    for number, line in header.lines:
        if (tag := TAG.match(line)) and tag[1] not in IN_HEADER:
            continue
        try:
            clauses = list(_loads(line + "\n").header)
        except FAULTS as error:
            problems.unexpected("a header clause of OBO", line, number, why=_why(error))
            continue
        for clause in clauses:
            if clause.raw_tag() == "idspace":
                builder.prefixes[str(clause.prefix)] = str(clause.url)
            elif clause.raw_tag() == "treat-xrefs-as-equivalent":
                equivalent.add(str(clause.idspace))
    return equivalent


def _read_alone(stanza: Stanza, equivalent: Set[str]) -> Stanza:
    """Return a frame in the syntax of OBO 1.4, without clauses that are not read.

    An instance is written as a term, because fastobo ignores clauses of instances.
    """
    (start, kind), *others = stanza.lines
    lines = [(start, kind.replace("[Instance]", "[Term]", 1))]
    for number, line in others:
        line = _modern(line)
        tag = TAG.match(line)
        is_other = tag and tag[1] == "xref" and not equivalent and "source=" not in line
        if tag is None or (tag[1] in READ and not is_other):
            lines.append((number, line))
    return Stanza(lines, stanza.size)


def _frames(stanzas: Iterator[Stanza], problems: Problems) -> Iterator[tuple[Stanza, Any]]:
    piece: list[Stanza] = []
    size = 0
    for stanza in stanzas:
        piece.append(stanza)
        size += stanza.size
        if len(piece) == PIECE or size > LARGEST:
            yield from _parse(piece, problems)
            piece, size = [], 0
    yield from _parse(piece, problems)


def _parse(piece: list[Stanza], problems: Problems) -> Iterator[tuple[Stanza, Any]]:
    """Parse frames together; if that fails, parse them in halves."""
    try:
        frames = list(_loads("\n".join(stanza.text for stanza in piece), threads=0))
        if len(frames) == len(piece):
            yield from zip(piece, frames, strict=True)
            return
    except FAULTS:
        pass
    if len(piece) > 1:
        for half in (piece[: len(piece) // 2], piece[len(piece) // 2 :]):
            yield from _parse(half, problems)
    elif piece:
        yield from _mend(piece[0], problems)


def _modern(line: str) -> str:
    r"""Return a clause in the syntax of OBO 1.4; synonyms and definitions lose their references.

    >>> _modern('exact_synonym: "a" [NIST Chemistry WebBook:]'), _modern('synonym: "a" [x y:1]')
    ('synonym: "a" EXACT []', 'synonym: "a" RELATED []')
    >>> _modern('xref: NIST Chemistry WebBook:22325-47-9 "CAS Registry Number"')
    'xref: NIST\\ Chemistry\\ WebBook:22325-47-9 "CAS Registry Number"'
    """
    if line.startswith("instance_of:"):
        return line.replace("instance_of:", "relationship: instance_of", 1)
    if match := SYNONYM.match(line):
        scope = match[1] or match[3] or "RELATED"
        return f"synonym: {match[2]} {scope.upper()} []"
    if match := DEFINITION.match(line):
        return f"def: {match[1]} []"
    if match := SPACED.match(line):
        prefix = match[2].replace(" ", "\\ ")
        return f"{match[1]}: {prefix}{line[match.end() :]}"
    return line


def _mend(stanza: Stanza, problems: Problems) -> Iterator[tuple[Stanza, Any]]:
    """Parse a frame clause by clause, and leave out the clauses that cannot be parsed."""
    start = stanza.lines[0][1]
    identity = next((line for _, line in stanza.lines[1:] if line.startswith("id:")), "")
    kept = f"{start}\n{identity}\n"
    try:
        _loads(kept)
    except FAULTS as error:
        message = (
            f"expected a frame with an id, found {start!r} with {identity!r} ({_why(error)}); "
            "the frame is left out"
        )
        problems.report(message, stanza.number)
        return
    head = kept
    for number, line in stanza.lines[1:]:
        if line == identity:
            continue
        try:
            _loads(f"{head}{line}\n")
            kept += f"{line}\n"
        except FAULTS as error:
            problems.unexpected("an OBO clause", line, number, why=_why(error))
    yield stanza, next(iter(_loads(kept)))


def _loads(text: str, threads: int = 1) -> Any:
    """Parse with fastobo; turn its panic, which is not an ``Exception``, into a ``ValueError``."""
    try:
        return fastobo.loads(text, threads=threads)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ValueError(f"the parser failed: {error}") from None


def _why(error: Exception) -> str:
    return str(error.args[0] if error.args else error).splitlines()[0]


STARTS = re.compile(
    rb"^(?:format-version:|ontology:\s|\[(?:Term|Typedef|Instance)\]\s*$)", re.MULTILINE
)
"""Lines that occur in no format but OBO."""


def _is_obo(path: Path, head: bytes) -> bool:
    text = uncommented(head)
    content = STARTS.search(text) and b"\t" not in text.split(b"\n", 1)[0]
    return syntax_matches(path, (".obo",), content=content)


FORMAT = FileFormat(
    "obo",
    (".obo",),
    "Ontologies in OBO: terms, relationships, synonyms and alternative ids.",
    matches=_is_obo,
    reader=read_obo,
)
