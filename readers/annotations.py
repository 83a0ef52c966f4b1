"""Annotations to ontologies: the Gene Ontology's GAF, GPAD and GPI, and the Human Phenotype Ontology's phenotype.hpoa."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of
from ontodex.readers.problems import Problems
from ontodex.readers.tables.entities import are_denied, denied_left_out
from ontodex.readers.tables.values import one_line

__all__ = ["ANNOTATIONS", "read_annotations"]


ANNOTATED = "annotated with"
"""The relation where nothing tells it."""


class _Layout(NamedTuple):
    """Where what stands in a line; positions.

    Attributes:
        begins: What a file of this layout is known by.
        width: Columns that there are at least.
        head: What is annotated: its id, or the two parts of it.
        label: Its name, if it stands there.
        definition: A longer name, if there is one.
        synonyms: Further names, parted by bars, if there are any.
        term: What it is annotated with, if it is.
        qualifier: NOT, and what the relation is, if it is said.
        relation: What the relation is, if that stands apart.
        aspect: What tells the relation else, if something does.
        relations: The relation of each aspect, or how the others name what stands there.
    """

    begins: re.Pattern[bytes]
    width: int
    head: tuple[int, ...]
    label: int | None = None
    definition: int | None = None
    synonyms: int | None = None
    term: int | None = None
    qualifier: int | None = None
    relation: int | None = None
    aspect: int | None = None
    relations: Mapping[str, str] = MappingProxyType({})


GAF = _Layout(
    begins=re.compile(
        rb"\A(?:!gaf-version|(?:!.*\n)*(?:[^\t\n]+\t){3,4}\t?\w+:\w+\t[^\t\n]+\t[A-Z]{2,3}\t[^\t\n]*\t[PFC]\t)"
    ),
    width=15,
    head=(0, 1),
    label=2,
    qualifier=3,
    term=4,
    aspect=8,
    relations={"F": "enables", "P": "involved_in", "C": "located_in"},
    definition=9,
    synonyms=10,
)
HPOA = _Layout(
    begins=re.compile(
        rb"^#?database_?id\tdisease_?name\tqualifier\thpo_?id\t", re.IGNORECASE | re.MULTILINE
    ),
    width=11,
    head=(0,),
    label=1,
    qualifier=2,
    term=3,
    aspect=10,
    relations={
        "P": "has phenotype",
        "I": "has inheritance",
        "C": "has clinical course",
        "M": "has clinical modifier",
        "H": "has medical history",
    },
)
GPAD = _Layout(
    begins=re.compile(rb"\A!+gpad?-version: *1"), width=6, head=(0, 1), term=3, qualifier=2
)
GPAD_2 = _Layout(
    begins=re.compile(rb"\A!+gpad-version: *2"),
    width=6,
    head=(0,),
    term=3,
    qualifier=1,
    relation=2,
    relations={
        "RO:0002327": "enables",
        "RO:0002326": "contributes_to",
        "RO:0002331": "involved_in",
        "RO:0002263": "acts_upstream_of",
        "RO:0004034": "acts_upstream_of_positive_effect",
        "RO:0004035": "acts_upstream_of_negative_effect",
        "RO:0002264": "acts_upstream_of_or_within",
        "RO:0004032": "acts_upstream_of_or_within_positive_effect",
        "RO:0004033": "acts_upstream_of_or_within_negative_effect",
        "RO:0001025": "located_in",
        "RO:0002432": "is_active_in",
        "RO:0002325": "colocalizes_with",
        "BFO:0000050": "part_of",
    },
)
GPI = _Layout(
    begins=re.compile(rb"\A!+gpi-version: *1\.2"),
    width=6,
    head=(0, 1),
    label=2,
    definition=3,
    synonyms=4,
)
GPI_2 = _Layout(
    begins=re.compile(rb"\A!+gpi-version"), width=5, head=(0,), label=1, definition=2, synonyms=3
)
ANNOTATIONS = {"gaf": GAF, "gpad": GPAD, "gpad2": GPAD_2, "gpi": GPI, "gpi2": GPI_2, "hpoa": HPOA}
"""The formats, and their layouts."""


def read_annotations(
    path: Path, format: str, builder: GraphBuilder, problems: Problems, *, negated: bool = False
) -> None:
    """Read annotations: what is annotated is linked to the term.

    By `GAF 2.2 <https://geneontology.org/docs/go-annotation-file-gaf-format-2.2/>`_ the qualifier is the relation
    (``enables``, ``involved_in``, …), and in
    `GPAD and GPI <https://geneontology.org/docs/gene-product-association-data-gpad-format-2.0/>`_, which names what GPAD
    annotates; before it, and in
    `phenotype.hpoa <https://hpo-annotation-qc.readthedocs.io/en/latest/annotationFormat.html>`_, the aspect tells it.
    Evidence, references, frequencies and dates are left out.

    Args:
        path: The file.
        format: One of :data:`ANNOTATIONS`.
        builder: Takes what is annotated, and the links.
        problems: Takes lines that are no annotations.
        negated: Read what is annotated by NOT, in place of the others.
    """
    layout, denied = ANNOTATIONS[format], 0
    negation = [] if layout.qualifier is None else [(layout.qualifier, ("not",))]
    for cells in _rows(path, layout, problems):
        if negation and are_denied(cells, negation) != negated:
            denied += not negated
            continue
        identifier = _identifier([one_line(cells[at]) for at in layout.head])
        builder.entity(
            identifier,
            "" if layout.label is None else cells[layout.label],
            [] if layout.synonyms is None else [*filter(None, cells[layout.synonyms].split("|"))],
            "" if layout.definition is None else cells[layout.definition],
        )
        if layout.term is not None:
            for relation in _relations(cells, layout):
                builder.triple(identifier, relation, one_line(cells[layout.term]))
    if denied:
        problems.remark(denied_left_out(denied))


def _identifier(parts: Sequence[str]) -> str:
    """Return the id that its parts make; a database whose ids begin with its name (``MGI:MGI:1``) is named once.

    >>> _identifier(["UniProtKB", "A1"]), _identifier(["MGI", "MGI:7"]), _identifier(["MGI:MGI:7"])
    ('UniProtKB:A1', 'MGI:7', 'MGI:7')
    """
    whole = ":".join(parts)
    database, _, own = whole.partition(":")
    return own if own.startswith(f"{database}:") else whole


def _relations(cells: Sequence[str], layout: _Layout) -> list[str]:
    said = [cells[at] for at in (layout.qualifier, layout.relation) if at is not None]
    named = [
        part.strip()
        for cell in said
        for part in cell.split("|")
        if part.strip().upper() not in ("", "NOT")
    ]
    if named or layout.aspect is None:
        return [layout.relations.get(name, name) for name in named] or [ANNOTATED]
    return [layout.relations.get(cells[layout.aspect].strip(), ANNOTATED)]


def _rows(path: Path, layout: _Layout, problems: Problems) -> Iterator[list[str]]:
    """Yield the cells of every annotation; comments and a header are none."""
    for number, line in lines_of(path, problems):
        cells = line.split("\t")
        if line.startswith(("!", "#")) or not line.strip() or cells[0].casefold() == "database_id":
            continue
        needed = [at for at in (*layout.head, layout.term) if at is not None]
        if len(cells) < layout.width or not all(cells[at].strip() for at in needed):
            found = f"expected an annotation of {layout.width} columns or more, found {line[:60]!r}"
            problems.report(found, number, str(path))
        else:
            yield cells
