"""Gene sets in GMT, as MSigDB, Reactome, WikiPathways, g:Profiler and Enrichr give them out."""

from __future__ import annotations

from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.prefixes import looks_like_identifier
from ontodex.readers.files import lines_of
from ontodex.readers.problems import Problems
from ontodex.readers.tables.values import LETTER, NOTHING

__all__ = ["read_gene_sets"]

MEMBER = "member of"
"""What each gene is of its set."""


def read_gene_sets(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read a set a line: its name, what it is, and its genes, which are members of it.

    What it is may be a description, its label if its name is an id (``GO:0006915``), a further id (``R-HSA-109581``), or an
    address, which is left out. So are the weights of Enrichr (``TP53,0.8``).

    Args:
        path: The file.
        builder: Takes sets and genes.
        problems: Takes lines that name no gene.
    """
    for number, line in lines_of(path, problems):
        name, *rest = (cell.strip() for cell in line.split("\t"))
        if not line.strip() or line.startswith("#"):
            continue
        members = [one.partition(",")[0] for one in rest[1:] if one]
        if not name or not members:
            problems.report(
                f"expected a set, what it is, and its genes, found {line[:60]!r}", number, str(path)
            )
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
