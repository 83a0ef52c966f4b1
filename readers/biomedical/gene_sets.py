"""Gene sets in GMT, as MSigDB, Reactome, WikiPathways, g:Profiler and Enrichr publish them."""

from __future__ import annotations

from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.prefixes import looks_like_identifier
from ontodex.readers.files import lines_of
from ontodex.readers.formats import FileFormat, suffix_of
from ontodex.readers.problems import Problems
from ontodex.readers.tables.values import LETTER, NOTHING

__all__ = ["FORMAT", "read_gene_sets"]

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


FORMAT = FileFormat(
    "gmt",
    (".gmt",),
    "Gene sets in GMT: each gene is a member of its sets.",
    matches=lambda path, head: suffix_of(path) == ".gmt",
    reader=read_gene_sets,
)
