"""The dump of the NCBI Taxonomy."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says

FILES = {
    "names.dmp": """1|root||scientific name
2|Bacteria|Bacteria <bacteria>|scientific name
2|eubacteria||genbank common name
9605|Homo||scientific name
9606|Homo sapiens||scientific name
9606|human||genbank common name
9606|Homo sapiens Linnaeus, 1758||authority
""",
    "nodes.dmp": """1|1|no rank||8|0
2|1|superkingdom||0|0
9605|1|genus||5|1
9606|9605|species|HS|5|1
""",
    "merged.dmp": "63221|9606\n",
    "division.dmp": "0|BCT|Bacteria|\n",
}


@pytest.fixture
def taxdump(tmp_path: Path) -> Path:
    folder = tmp_path / "taxdump"
    folder.mkdir()
    for name, content in FILES.items():
        lines = ("\t|\t".join(line.split("|")) + "\t|\n" for line in content.splitlines())
        (folder / name).write_text("".join(lines))
    return folder


def test_a_dump_of_the_taxonomy(taxdump: Path, tmp_path: Path) -> None:
    graph = read(taxdump, on_error="raise")
    said = says(graph)
    assert said["entities"]["NCBITaxon:9606"] == ("Homo sapiens", {"human"}, "")
    assert said["entities"]["NCBITaxon:2"] == ("Bacteria", {"eubacteria"}, "")
    assert said["known"] == {
        *(("NCBITaxon:2", "is_a", "NCBITaxon:1"), ("NCBITaxon:9605", "is_a", "NCBITaxon:1")),
        *(
            ("NCBITaxon:9606", "is_a", "NCBITaxon:9605"),
            ("NCBITaxon:9606", "has rank", "NCBITaxon:species"),
        ),
        *(
            ("NCBITaxon:2", "has rank", "NCBITaxon:superkingdom"),
            ("NCBITaxon:9605", "has rank", "NCBITaxon:genus"),
        ),
    }
    assert graph.alternative_ids[graph.ids.index("NCBITaxon:9606")] == ("NCBITaxon:63221",)
    with tarfile.open(tmp_path / "taxdump.tar.gz", "w:gz") as archive:
        for name in FILES:
            archive.add(taxdump / name, name)
    assert says(read(tmp_path / "taxdump.tar.gz", on_error="raise")) == said


def test_lines_that_are_no_records_are_named(taxdump: Path) -> None:
    with (taxdump / "nodes.dmp").open("a") as file:
        file.write("9999\t|\t1\n")
    with pytest.warns(
        ReadWarning, match=r"nodes\.dmp:5: expected a record of 3 cells that begins with a number"
    ):
        assert read(taxdump).skipped == 1
