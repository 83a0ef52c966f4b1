"""The NCBI Taxonomy: ``nodes.dmp``, ``names.dmp`` and ``merged.dmp`` of a ``taxdump`` folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of
from ontodex.readers.formats import folder_format
from ontodex.readers.problems import Problems

__all__ = ["FORMAT", "is_taxdump", "read_taxdump"]

PREFIX = "NCBITaxon"
"""Prefix of taxa; the OBO release of the taxonomy has the same, so that both can be merged."""

LABEL = "scientific name"
NO_NAMES = frozenset(("authority", "type material", "in-part", "includes"))
"""Classes of names that are not read as synonyms."""

NO_RANK = frozenset(("no rank", ""))


def is_taxdump(folder: Path) -> bool:
    """Tell whether a folder contains a dump of the taxonomy."""
    return all((folder / name).is_file() for name in ("nodes.dmp", "names.dmp"))


def read_taxdump(folder: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read taxa (``NCBITaxon:9606``) with names, parent and rank; merged ids are alternative ids.

    Divisions, genetic codes, names with authors and type material are left out. See
    `taxdump_readme.txt <https://ftp.ncbi.nlm.nih.gov/pub/taxonomy/taxdump_readme.txt>`_.

    Args:
        folder: Folder of the files.
        builder: Receives the taxa.
        problems: Receives lines that are not records.
    """
    for taxon, name, _, kind in _records(folder / "names.dmp", 4, problems):
        if kind == LABEL:
            builder.entity(taxon, label=name)
        elif kind not in NO_NAMES:
            builder.entity(taxon, synonyms=[name])
    for taxon, parent, rank in _records(folder / "nodes.dmp", 3, problems):
        builder.entity(taxon)
        if f"{PREFIX}:{parent}" != taxon:
            builder.triple(taxon, "is_a", f"{PREFIX}:{parent}")
        if rank not in NO_RANK:
            builder.triple(taxon, "has rank", f"{PREFIX}:{rank.replace(' ', '_')}")
    if (folder / "merged.dmp").is_file():
        merged = _records(folder / "merged.dmp", 2, problems)
        builder.replace({old: f"{PREFIX}:{taxon}" for old, taxon in merged})


def _records(path: Path, width: int, problems: Problems) -> Iterator[list[str]]:
    """Yield the first ``width`` cells of each record; the first one as the CURIE of a taxon."""
    for number, line in lines_of(path, problems):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > width and cells[0].isdigit():
            yield [f"{PREFIX}:{cells[0]}", *cells[1:width]]
        elif line.strip():
            what = f"a record of {width} cells that begins with a number"
            problems.unexpected(what, line, number, path)


FORMAT = folder_format(
    "taxdump",
    "The NCBI Taxonomy: a folder with nodes.dmp and names.dmp.",
    matches=is_taxdump,
    reader=read_taxdump,
)
