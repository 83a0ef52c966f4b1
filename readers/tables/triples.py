"""Tables of triples, read with a mapping; SSSOM metadata may stand above the header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.prefixes import expand
from ontodex.graph.vocabulary import OUR_TOOL, OURS, PROPOSED, TOOL
from ontodex.readers.problems import Problems
from ontodex.readers.tables.entities import Layout, are_denied, denied_left_out
from ontodex.readers.tables.mapping import TableMapping
from ontodex.readers.tables.table import PREVIEW, Table
from ontodex.readers.tables.values import one_line

__all__ = ["SssomHeader", "TripleRows", "sssom_header"]

PREFIX = re.compile(r"\s+[\"']?([A-Za-z_][\w.-]*)[\"']?:\s+[\"']?([^\s\"']+)[\"']?\s*$")
"""A line of SSSOM's map of prefixes."""

NO_TERM = re.compile(
    r"(?:(?:sssom|semapv):|https://w3id\.org/(?:sssom|semapv(?:/vocab)?)/)NoTermFound"
    r"|owl:Nothing|http://www\.w3\.org/2002/07/owl#Nothing",
    re.IGNORECASE,
)
"""Ids of a subject or object that mean that a vocabulary has no matching term."""

NO_ID = frozenset(
    ("na", "n/a", "none", "null", "nan", "nil", "unmapped", "no_match", "no match", "-")
)
"""Cells that mean the same as ``NO_TERM``, in tables with justifications."""


@dataclass(frozen=True)
class SssomHeader:
    """The comments above a table in SSSOM/TSV (https://w3id.org/sssom).

    Attributes:
        is_ours: Whether an audit of ontodex wrote the table.
        prefixes: IRI namespace of each prefix.
    """

    is_ours: bool = False
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def own_id(self, name: str) -> str:
        """Return the id in the graph for an id in a table that ontodex wrote.

        ontodex writes ids that are neither IRIs nor CURIEs as CURIEs with the prefix ``ontodex``.

        >>> SssomHeader().own_id("ontodex:big%20dog")
        'big dog'
        """
        iri = expand(name, {"ontodex": OURS, **self.prefixes})
        return unquote(iri.removeprefix(OURS)) if iri is not None and iri.startswith(OURS) else name


def sssom_header(lines: Iterable[str]) -> SssomHeader:
    """Parse the comments above a table, which are lines of YAML after a ``#``.

    >>> sssom_header(["#curie_map:", '#  ex: "http://ex.org/"', "#mapping_tool: ontodex"])
    SssomHeader(is_ours=True, prefixes={'ex': 'http://ex.org/'})
    """
    is_ours, prefixes, in_map = False, dict[str, str](), False
    for line in lines:
        text = line.removeprefix("#")
        if text[:1].strip():
            in_map = text.strip() == "curie_map:"
            is_ours = is_ours or text.strip() == OUR_TOOL
        elif in_map and (found := PREFIX.match(text)):
            prefixes[found[1]] = found[2]
    return SssomHeader(is_ours, prefixes)


class TripleRows(Layout):
    """Adds the triples of rows; leaves out negated triples, and triples that ontodex proposed.

    Args:
        mapping: What the columns hold.
        columns: Names of the columns.
        header: The comments above the table; ``None`` for a source that cannot have comments.
        table: Says whether negated triples are read, or all others.

    Attributes:
        first: The first triples, for a preview.
    """

    def __init__(
        self,
        mapping: TableMapping,
        columns: Sequence[str],
        header: SssomHeader | None,
        table: Table,
    ) -> None:
        super().__init__(mapping, columns)
        self.first: list[tuple[str, str, str]] = []
        self._header, self._negated = header, table.negated
        self._proposed = self._denied = self._headless = self._no_term = 0
        self._ends = self.at((mapping.head, mapping.relation, mapping.tail))
        self._labels = [
            self.at([mapping.labels_of[name]])[0] if name in mapping.labels_of else None
            for name in (mapping.head, mapping.relation, mapping.tail)
        ]
        self._justification = next(iter(self.at(filter(None, [mapping.justification]))), None)
        self._tool = next(iter(self.at(filter(None, [mapping.tool]))), None)

    def add(self, cells: Sequence[str], builder: GraphBuilder, split: str = "train") -> bool:
        """Add the triple of a row and its labels; return false if one of its three ids is empty."""
        head, relation, tail = (one_line(cells[at]) for at in self._ends)
        header = self._header or SssomHeader()
        is_ours = header.is_ours or (self._tool is not None and cells[self._tool].strip() == TOOL)
        if is_ours:
            self._headless += self._header is not None and not header.is_ours
            head, relation, tail = map(header.own_id, (head, relation, tail))
        if is_ours and self._is_proposed(cells):
            self._proposed += 1
            builder.entity(head)
            builder.entity(tail)
            return True
        if self.denials and are_denied(cells, self.denials) != self._negated:
            self._denied += not self._negated
            return True
        if not (head and relation and tail):
            return False
        if self._is_no_term(head) or self._is_no_term(tail):
            self._no_term += 1
            return True
        builder.triple(head, relation, tail, split)
        if len(self.first) < PREVIEW:
            self.first.append((head, relation, tail))
        for end, at in ((head, self._labels[0]), (tail, self._labels[2])):
            if at is not None:
                builder.entity(end, label=cells[at], synonyms=[cells[at]])
        if self._labels[1] is not None:
            builder.relation(relation, label=cells[self._labels[1]])
        return True

    def _is_proposed(self, cells: Sequence[str]) -> bool:
        return self._justification is not None and cells[self._justification].strip() == PROPOSED

    def _is_no_term(self, name: str) -> bool:
        is_mapping = self._justification is not None
        return bool(NO_TERM.fullmatch(name)) or (is_mapping and name.casefold() in NO_ID)

    def warn(self, problems: Problems) -> None:
        """Warn of rows that were left out."""
        if self._proposed:
            problems.remark(
                f"left out {self._proposed} line(s) that ontodex proposed and nobody confirmed; "
                "to have one read, change "
                "its mapping_justification, as to semapv:ManualMappingCuration"
            )
        if self._denied:
            problems.remark(denied_left_out(self._denied))
        if self._no_term:
            problems.remark(
                f"left out {self._no_term} line(s) whose subject or object stands for no term "
                "(sssom:NoTermFound)"
            )
        if self._headless:
            problems.remark(
                "the lines above the header, which begin with #, are gone, and with them the "
                "prefixes of ids"
            )
