"""Annotations with terms (GAF, GPAD, GPI and phenotype.hpoa), and gene sets in GMT."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.prefixes import looks_like_identifier
from ontodex.readers.files import lines_of
from ontodex.readers.formats import FileFormat, NamedFormat, Source, suffix_of
from ontodex.readers.problems import Problems
from ontodex.readers.tables.entities import are_denied, denied_left_out
from ontodex.readers.tables.values import LETTER, NOTHING, one_line

__all__ = ["FORMATS", "GENE_SETS", "AnnotationFormat"]

ANNOTATED = "annotated with"
"""The relation of an annotation if neither qualifier nor aspect gives one."""


class _Layout(NamedTuple):
    """The columns of an annotation format, by position from 0; ``None`` for missing columns.

    Attributes:
        begins: Pattern that recognises the first bytes of a file.
        width: Minimal number of columns.
        head: Columns of the id of the annotated entity, or of the parts of its id.
        label: Label of the annotated entity.
        definition: Full name of the annotated entity.
        synonyms: Synonyms, separated by bars.
        term: Ontology term that the entity is annotated with.
        qualifier: Relations, or NOT, separated by bars.
        relation: The relation, if it has its own column.
        aspect: Aspect of the term; it implies the relation if none is given.
        relations: The relation of each aspect, or the name of each relation id.
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
        rb"\A(?:!gaf-version|(?:!.*\n)*(?:[^\t\n]+\t){3,4}\t?"
        rb"\w+:\w+\t[^\t\n]+\t[A-Z]{2,3}\t[^\t\n]*\t[PFC]\t)"
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


@dataclass(frozen=True)
class AnnotationFormat(NamedFormat):
    """A format of annotations.

    In `GAF 2.2 <https://geneontology.org/docs/go-annotation-file-gaf-format-2.2/>`_ and in `GPAD
    <https://geneontology.org/docs/gene-product-association-data-gpad-format-2.0/>`_ the qualifier
    is the relation (``enables``, ``involved_in``, …). In GAF before 2.2 and in `phenotype.hpoa
    <https://hpo-annotation-qc.readthedocs.io/en/latest/annotationFormat.html>`_ the aspect implies
    the relation. GPAD has no names of entities; GPI has only names. Evidence, references,
    frequencies and dates are left out.

    Attributes:
        layout: The columns.
    """

    layout: _Layout

    def sniff(self, path: Path, head: bytes) -> bool:
        """Tell whether a file is in this format, by its version line, its header or its columns."""
        return self.layout.begins.search(head) is not None

    def read(self, source: Source, builder: GraphBuilder, problems: Problems) -> None:
        """Read annotations, and link each annotated entity to its term.

        Lines that are not annotations are reported to ``problems``. Negated annotations (qualifier
        NOT) are left out; if ``source.settings.negated`` is true, only they are read.
        """
        layout, negated, denied = self.layout, source.settings.negated, 0
        negation = [] if layout.qualifier is None else [(layout.qualifier, ("not",))]
        for cells in _rows(source.path, layout, problems):
            if negation and are_denied(cells, negation) != negated:
                denied += not negated
                continue
            identifier = _identifier([one_line(cells[at]) for at in layout.head])
            names = [] if layout.synonyms is None else cells[layout.synonyms].split("|")
            builder.entity(
                identifier,
                "" if layout.label is None else cells[layout.label],
                [*filter(None, names)],
                "" if layout.definition is None else cells[layout.definition],
            )
            if layout.term is not None:
                for relation in _relations(cells, layout):
                    builder.triple(identifier, relation, one_line(cells[layout.term]))
        if denied:
            problems.remark(denied_left_out(denied))


FORMATS = (
    AnnotationFormat(
        "gaf", (".gaf",), "Gene Ontology annotations in GAF: gene products and terms.", GAF
    ),
    AnnotationFormat("gpad", (".gpad",), "Gene Ontology annotations in GPAD 1.", GPAD),
    AnnotationFormat("gpad2", (".gpad",), "Gene Ontology annotations in GPAD 2.", GPAD_2),
    AnnotationFormat("gpi", (".gpi",), "Names of gene products in GPI 1.2.", GPI),
    AnnotationFormat("gpi2", (".gpi",), "Names of gene products in GPI 2.", GPI_2),
    AnnotationFormat(
        "hpoa", (".hpoa",), "Phenotypes of diseases: phenotype.hpoa of the HPO.", HPOA
    ),
)
"""The formats of annotations; GPI 1.2 is tried before GPI 2, whose pattern is more general."""


def _identifier(parts: Sequence[str]) -> str:
    """Join the parts of an id; a prefix that is repeated (``MGI:MGI:1``) is written once.

    >>> _identifier(["UniProtKB", "A1"]), _identifier(["MGI", "MGI:7"]), _identifier(["MGI:MGI:7"])
    ('UniProtKB:A1', 'MGI:7', 'MGI:7')
    """
    whole = ":".join(parts)
    database, _, own = whole.partition(":")
    return own if own.startswith(f"{database}:") else whole


def _relations(cells: Sequence[str], layout: _Layout) -> list[str]:
    """Return the stated relations of an annotation, or else the relation of its aspect."""
    stated = [cells[at] for at in (layout.qualifier, layout.relation) if at is not None]
    named = [
        part.strip()
        for cell in stated
        for part in cell.split("|")
        if part.strip().upper() not in ("", "NOT")
    ]
    if named or layout.aspect is None:
        return [layout.relations.get(name, name) for name in named] or [ANNOTATED]
    return [layout.relations.get(cells[layout.aspect].strip(), ANNOTATED)]


def _rows(path: Path, layout: _Layout, problems: Problems) -> Iterator[list[str]]:
    """Yield the cells of each annotation, without comments and header."""
    for number, line in lines_of(path, problems):
        cells = line.split("\t")
        if line.startswith(("!", "#")) or not line.strip() or cells[0].casefold() == "database_id":
            continue
        needed = [at for at in (*layout.head, layout.term) if at is not None]
        if len(cells) < layout.width or not all(cells[at].strip() for at in needed):
            what = f"an annotation of {layout.width} columns or more"
            problems.unexpected(what, line, number)
        else:
            yield cells


# Gene sets ----------------------------------------------------------------------------------------


MEMBER = "member of"
"""The relation of a gene to a set."""


def read_gene_sets(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read one gene set per line: name, description, genes; each gene is a member of the set.

    If the name is an id (``GO:0006915``), the description is the label. Otherwise a description of
    several words is the definition, and a description of one word (``R-HSA-109581``) is a synonym.
    URLs and Enrichr's weights (``TP53,0.8``) are left out.

    Args:
        path: The file.
        builder: Receives sets and genes.
        problems: Receives lines without genes.
    """
    for number, line in lines_of(path, problems):
        name, *rest = (cell.strip() for cell in line.split("\t"))
        if not line.strip() or line.startswith("#"):
            continue
        members = [one.partition(",")[0] for one in rest[1:] if one]
        if not name or not members:
            problems.unexpected("a set, what it is, and its genes", line, number)
            continue
        about = (
            ""
            if "://" in rest[0] or rest[0].casefold() in NOTHING or not LETTER.search(rest[0])
            else rest[0]
        )
        if looks_like_identifier(name):
            builder.entity(name, label=about)
        elif " " in about:
            builder.entity(name, definition=about)
        else:
            builder.entity(name, synonyms=[about] if about else [])
        for member in members:
            builder.triple(member, MEMBER, name)


GENE_SETS = FileFormat(
    "gmt",
    (".gmt",),
    "Gene sets in GMT: each gene is a member of its sets.",
    matches=lambda path, head: suffix_of(path) == ".gmt",
    reader=read_gene_sets,
)
