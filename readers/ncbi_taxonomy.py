"""The NCBI Taxonomy as its dump has it: ``nodes.dmp``, ``names.dmp`` and ``merged.dmp`` of a ``taxdump`` folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of
from ontodex.readers.problems import Problems

__all__ = ["is_taxdump", "read_taxdump"]

PREFIX = "NCBITaxon"
"""That of OBO's release of it, so that both meet."""

LABEL = "scientific name"
NO_NAMES = frozenset(("authority", "type material", "in-part", "includes"))
"""Kinds of names that are none of the taxon alone."""

NO_RANK = frozenset(("no rank", ""))


def is_taxdump(folder: Path) -> bool:
    """Tell whether a folder holds a dump of the taxonomy."""
    return all((folder / name).is_file() for name in ("nodes.dmp", "names.dmp"))


def read_taxdump(folder: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read taxa such as ``NCBITaxon:9606``: names, what each is in, its rank, and ids that have been merged into it.

    See `taxdump_readme.txt <https://ftp.ncbi.nlm.nih.gov/pub/taxonomy/taxdump_readme.txt>`_. Divisions, genetic codes, names
    with their authors and type material are left out.

    Args:
        folder: Where the files are.
        builder: Takes the taxa.
        problems: Takes lines that are no records.
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
    """Yield the first cells of each record, the first of which is the id of a taxon."""
    for number, line in lines_of(path, problems):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > width and cells[0].isdigit():
            yield [f"{PREFIX}:{cells[0]}", *cells[1:width]]
        elif line.strip():
            found = (
                f"expected a record of {width} cells that begins with a number, found {line[:60]!r}"
            )
            problems.report(found, number, str(path))
