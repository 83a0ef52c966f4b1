"""OBO 1.4, parsed by fastobo in pieces, so that one bad line costs one line."""

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
from ontodex.graph.names import borne_by_one
from ontodex.graph.prefixes import WELL_KNOWN, contract, expand
from ontodex.graph.vocabulary import ASIDE, SAME
from ontodex.readers.files import lines_of
from ontodex.readers.formats import FileFormat, syntax_matches, uncommented
from ontodex.readers.problems import Problems

__all__ = ["FORMAT", "read_obo"]

PIECE = 1000
LARGEST = 1 << 22
"""Bytes of a frame, and of the frames that are parsed at once; the parser takes sixty times as many."""

FAULTS = (SyntaxError, ValueError, TypeError)
LINKS = ("is_a", "relationship", "intersection_of")
NONE = {("cardinality", "0"), ("maxCardinality", "0"), ("minCardinality", "0")}
"""Qualifiers of links that hold of what has none, too."""

SHORT_ASIDE = ("oboInOwl:", "seeAlso")
"""How OBO writes what else is put aside (:data:`~ontodex.graph.vocabulary.ASIDE`)."""

SHORT_SAME = "exactMatch"
"""How OBO writes what else leads from a term to what it is elsewhere."""

EQUIVALENT = re.compile(r"(?:.*[:/#])?(?:exactMatch|equivalentTo)")
"""Sources that a cross-reference has if it leads to what a term is elsewhere (Mondo's and the Gene Ontology's)."""

NAMES = {
    "alt_id": ("alternatives", "alt_id"),
    "replaced_by": ("instead", "term"),
    "equivalent_to": ("same", "term"),
    "union_of": ("members", "term"),
}
"""Clauses that name a term: which of a term's names they add to, and the field of the clause."""

QUOTED = re.compile(r'def: "(?:[^"\\]|\\.)*"(?=\s*\[)')
ESCAPE = re.compile(r"\\(.)")


@dataclass
class Stanza:
    """The lines of one frame, with their numbers, and how many bytes they are, more or less."""

    lines: list[tuple[int, str]] = field(default_factory=list)
    size: int = 0

    @property
    def number(self) -> int:
        """Line that the frame starts on."""
        return self.lines[0][0]

    @property
    def text(self) -> str:
        """The frame as it stands in the file."""
        return "".join(f"{line}\n" for _, line in self.lines)


@dataclass
class Term:
    """What the frames of one id say of it."""

    number: int
    label: str = ""
    definition: str = ""
    synonyms: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    genus: list[str] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    alternatives: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    instead: list[str] = field(default_factory=list)
    obsolete: bool = False


def read_obo(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read terms and instances, and is_a, relationship and the differentiae of intersection_of as triples.

    So are property values that name another term of the file, as in OWL.

    The genus of an intersection is taken as parent of a term that states none, and a union as the parent of its members.
    Links that say that there is none (a cardinality of 0), or only such if any, are left out. Alternative ids stand for
    their term.
    Obsolete terms and what links to them are left out, but for those that name one term in their place. Frames of one id
    are merged and links to terms without a frame are kept; both count as problems.

    What a term is elsewhere is an alternative id of it: what is said to be equivalent, an exact match, or cross-references
    of which their source (``MONDO:equivalentTo``) or the header (``treat-xrefs-as-equivalent``) says so.
    """
    stanzas = _stanzas(lines_of(path, problems), str(path))
    equivalent = _read_header(next(stanzas, Stanza()), builder, problems, str(path))
    terms: dict[str, Term] = {}
    relations: dict[str, str] = {}
    for stanza, frame in _frames(stanzas, problems, str(path)):
        identifier = _name(frame.id, builder)
        if isinstance(frame, fastobo.typedef.TypedefFrame):
            relations.setdefault(identifier, "")
            relations[identifier] = relations[identifier] or next(
                (c.name for c in frame if c.raw_tag() == "name"), ""
            )
            continue
        if identifier in terms:
            first = terms[identifier].number
            message = f"expected each id once, found {identifier} again (first in line {first}); the two were merged"
            problems.report(message, stanza.number, str(path))
        _collect(frame, terms.setdefault(identifier, Term(stanza.number)), builder, equivalent)
    _declare(terms, relations, builder, problems, str(path))


def _declare(
    terms: dict[str, Term],
    relations: dict[str, str],
    builder: GraphBuilder,
    problems: Problems,
    source: str,
) -> None:
    gone = {identifier for identifier, term in terms.items() if term.obsolete}
    alternatives = borne_by_one(
        (other, identifier)
        for identifier, term in terms.items()
        if identifier not in gone
        for other in term.same
    )
    for identifier, term in terms.items():
        if identifier in gone:
            if len(term.instead) == 1 and term.instead[0] in terms and term.instead[0] not in gone:
                alternatives[identifier] = term.instead[0]
            continue
        alternatives.update(dict.fromkeys(term.alternatives, identifier))
        builder.entity(identifier, term.label, term.synonyms, term.definition)
    builder.replace(alternatives)
    dangling: set[str] = set()
    for identifier, term in terms.items():
        if identifier in gone:
            continue
        notes = (
            (identifier, by, tail)
            for by, tail in term.notes
            if tail in terms and tail != identifier
        )
        for head, relation, tail in chain(_links(identifier, term), notes):
            ends = [builder.aliases.get(name, name) for name in (head, tail)]
            if gone.intersection(ends):
                continue
            for end in ends:
                if end not in terms and end not in dangling:
                    dangling.add(end)
                    message = f"expected a frame of {end}, found only a link to it; it is kept without a label"
                    problems.report(message, term.number, source)
            builder.relation(relation, relations.get(relation, ""))
            builder.triple(head, relation, tail)


def _links(identifier: str, term: Term) -> Iterator[tuple[str, str, str]]:
    """Yield the (head, relation, tail) that a term states."""
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
        elif tag in LINKS and not _says_none(clause):
            _link(clause, tag, term, builder)


def _link(clause: Any, tag: str, term: Term, builder: GraphBuilder) -> None:
    target, relation = _name(clause.term, builder), getattr(clause, "typedef", None)
    if relation is not None:
        term.links.append((_name(relation, builder), target))
    elif tag == "is_a":
        term.links.append((tag, target))
    else:
        term.genus.append(target)


def _note(said: Any, term: Term, builder: GraphBuilder) -> None:
    """Add what a property says of a term, if its value may be a term too."""
    if not isinstance(said, fastobo.pv.ResourcePropertyValue):
        return
    by, value = _name(said.relation, builder), _name(said.value, builder)
    iri = expand(by, WELL_KNOWN) or by
    if iri in (SHORT_SAME, *SAME):
        term.same.append(value)
    if not iri.startswith((*SHORT_ASIDE, *ASIDE)):
        term.notes.append((by, value))


def _is_equivalent(clause: Any, equivalent: Set[str]) -> bool:
    """Tell whether a cross-reference leads to what the term is elsewhere."""
    sources = [one.value for one in clause.qualifiers or () if str(one.key) == "source"]
    return (
        any(map(EQUIVALENT.fullmatch, sources))
        or str(clause.xref.id).partition(":")[0] in equivalent
    )


def _says_none(clause: Any) -> bool:
    """Tell whether the qualifiers of a link let it hold of what has none."""
    said = {(str(one.key), one.value) for one in clause.qualifiers or ()}
    return bool(said & NONE) or (("all_only", "true") in said and ("all_some", "true") not in said)


def _name(identifier: Any, builder: GraphBuilder) -> str:
    return contract(ESCAPE.sub(r"\1", str(identifier)), builder.prefixes)


def _stanzas(lines: Iterable[tuple[int, str]], source: str) -> Iterator[Stanza]:
    """Yield the header, which may be empty, and then each frame.

    Raises:
        ReadError: If one is larger than 4 MiB.
    """
    stanza = Stanza()
    for number, line in lines:
        if line.startswith("["):
            yield stanza
            stanza = Stanza()
        if line.strip() and not line.lstrip().startswith(
            "!"
        ):  # fastobo knows comments only after a clause
            stanza.lines.append((number, _as_term(line)))
            stanza.size += len(line)
            if stanza.size > LARGEST:
                message = (
                    f"expected frames of at most {LARGEST:,} bytes, found a larger one; split it"
                )
                raise ReadError(message, source, stanza.number)
    yield stanza


def _as_term(line: str) -> str:
    """Write a line of an instance as one of a term: fastobo knows instances, but not what is in them."""
    if line.startswith("[Instance]"):
        return line.replace("Instance", "Term", 1)
    return (
        line.replace("instance_of:", "relationship: instance_of", 1)
        if line.startswith("instance_of:")
        else line
    )


def _read_header(
    header: Stanza, builder: GraphBuilder, problems: Problems, source: str
) -> set[str]:
    """Read prefixes; return those whose cross-references lead to equivalents."""
    equivalent: set[str] = set()
    for number, line in header.lines:
        try:
            clauses = list(_loads(line + "\n").header)
        except FAULTS as error:
            problems.report(
                f"expected a header clause of OBO 1.4, found {line[:60]!r} ({_why(error)})",
                number,
                source,
            )
            continue
        for clause in clauses:
            if clause.raw_tag() == "idspace":
                builder.prefixes[str(clause.prefix)] = str(clause.url)
            elif clause.raw_tag() == "treat-xrefs-as-equivalent":
                equivalent.add(str(clause.idspace))
    return equivalent


def _frames(
    stanzas: Iterator[Stanza], problems: Problems, source: str
) -> Iterator[tuple[Stanza, Any]]:
    piece: list[Stanza] = []
    size = 0
    for stanza in stanzas:
        piece.append(stanza)
        size += stanza.size
        if len(piece) == PIECE or size > LARGEST:
            yield from _parse(piece, problems, source)
            piece, size = [], 0
    yield from _parse(piece, problems, source)


def _parse(piece: list[Stanza], problems: Problems, source: str) -> Iterator[tuple[Stanza, Any]]:
    """Parse many frames at once; where that fails, halve them until the bad ones are alone."""
    try:
        frames = list(_loads("\n".join(stanza.text for stanza in piece), threads=0))
        if len(frames) == len(piece):
            yield from zip(piece, frames, strict=True)
            return
    except FAULTS:
        pass
    if len(piece) > 1:
        yield from _parse(piece[: len(piece) // 2], problems, source)
        yield from _parse(piece[len(piece) // 2 :], problems, source)
    elif piece:
        yield from _mend(piece[0], problems, source)


def _mend(stanza: Stanza, problems: Problems, source: str) -> Iterator[tuple[Stanza, Any]]:
    """Parse a frame clause by clause and leave the bad ones out; of a definition, only its references where it can."""
    start = stanza.lines[0][1]
    identity = next((line for _, line in stanza.lines[1:] if line.startswith("id:")), "")
    kept = f"{start}\n{identity}\n"
    try:
        _loads(kept)
    except FAULTS as error:
        message = f"expected a frame with an id, found {start!r} with {identity!r} ({_why(error)}); the frame is left out"
        problems.report(message, stanza.number, source)
        return
    head = kept
    for number, line in stanza.lines[1:]:
        if line == identity:
            continue
        try:
            _loads(f"{head}{line}\n")
            kept += f"{line}\n"
        except FAULTS as error:
            problems.report(
                f"expected an OBO clause, found {line[:80]!r} ({_why(error)})", number, source
            )
            if quoted := QUOTED.match(line):
                kept += f"{quoted[0]} []\n"
    yield stanza, next(iter(_loads(kept)))


def _loads(text: str, threads: int = 1) -> Any:
    """Parse with fastobo; its panics, which are no ``Exception``, become a ``ValueError``."""
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
"""Lines that only OBO has."""


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
