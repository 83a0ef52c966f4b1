"""Annotations to ontologies: the Gene Ontology's GAF, and the Human Phenotype Ontology's phenotype.hpoa."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.readers.files import lines_of
from ontodex.graph.readers.problems import Problems
from ontodex.graph.readers.tables.entity_columns import one_line
from ontodex.graph.readers.tables.negation import Negation, left_out

__all__ = ["ANNOTATIONS", "read_annotations"]


class _Layout(NamedTuple):
    """Where what stands in a line; positions.

    Attributes:
        begins: What a file of this layout is known by.
        width: Columns that there are at least.
        head: What is annotated: its id, or the two parts of it.
        label: Its name.
        qualifier: NOT, and what the relation is, if it is said.
        term: What it is annotated with.
        aspect: What tells the relation else.
        relations: The relation of each aspect.
        definition: A longer name, if there is one.
        synonyms: Further names, parted by bars, if there are any.
    """

    begins: re.Pattern[bytes]
    width: int
    head: tuple[int, ...]
    label: int
    qualifier: int
    term: int
    aspect: int
    relations: Mapping[str, str]
    definition: int | None = None
    synonyms: int | None = None


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
    begins=re.compile(rb"^#?database_?id\tdisease_?name\tqualifier\thpo_?id\t", re.IGNORECASE | re.MULTILINE),
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
ANNOTATIONS = {"gaf": GAF, "hpoa": HPOA}
"""The formats, and their layouts."""


def read_annotations(
    path: Path, format: str, builder: GraphBuilder, problems: Problems, *, negated: bool = False
) -> None:
    """Read annotations: what is annotated is linked to the term.

    By `GAF 2.2 <https://geneontology.org/docs/go-annotation-file-gaf-format-2.2/>`_ the qualifier is the relation
    (``enables``, ``involved_in``, …); before it, and in
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
    negation = Negation(layout.qualifier, is_flag=False)
    for cells in _rows(path, layout, problems):
        if negation.denies(cells) != negated:
            denied += not negated
            continue
        parts = [one_line(cells[at]) for at in layout.head]
        identifier = parts[-1] if parts[-1].startswith(f"{parts[0]}:") else ":".join(parts)
        builder.entity(
            identifier,
            cells[layout.label],
            [] if layout.synonyms is None else [*filter(None, cells[layout.synonyms].split("|"))],
            "" if layout.definition is None else cells[layout.definition],
        )
        said = [part.strip() for part in cells[layout.qualifier].split("|") if part.strip().upper() not in ("", "NOT")]
        for relation in said or [layout.relations.get(cells[layout.aspect].strip(), "annotated with")]:
            builder.triple(identifier, relation, one_line(cells[layout.term]))
    if denied:
        problems.remark(left_out(denied))


def _rows(path: Path, layout: _Layout, problems: Problems) -> Iterator[list[str]]:
    """Yield the cells of every annotation; comments and a header are none."""
    for number, line in lines_of(path, problems):
        cells = line.split("\t")
        if line.startswith(("!", "#")) or not line.strip() or cells[0].casefold() == "database_id":
            continue
        if len(cells) < layout.width or not all(cells[at].strip() for at in (*layout.head, layout.term)):
            found = f"expected an annotation of {layout.width} columns or more, found {line[:60]!r}"
            problems.report(found, number, str(path))
        else:
            yield cells
