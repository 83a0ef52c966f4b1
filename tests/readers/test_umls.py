"""UMLS and RxNorm releases, made by hand: releases may not be redistributed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ontodex.readers import ReadWarning, read

NAMES = (
    "C0011849|ENG|S|L0|VO|S1|Y|A1|||D003920|MSH|PM|D003920|Diabetes|0|N||",
    "C0011849|ENG|P|L1|PF|S2|Y|A2|||D003920|MSH|MH|D003920|Diabetes Mellitus|0|N||",
    "C0011849|ENG|P|L1|PF|S3|Y|A3|||1|OLD|PT|1|Sugar|0|O||",
    "C0011849|GER|P|L2|PF|S4|Y|A4|||D003920|MSHGER|MH|D003920|Zuckerkrankheit|0|N||",
    "C0025517|ENG|P|L3|PF|S5|Y|A5|||D008659|MSH|MH|D008659|Metabolic Diseases|0|N||",
    "C0025598|ENG|P|L4|PF|S6|Y|A6|||D008687|MSH|MH|D008687|Metformin|0|N||",
)
LINKS = (
    "C0011849|A2|AUI|PAR|C0025517|A5|AUI||R1||MSH|MSH||Y|N||",
    "C0025517|A5|AUI|CHD|C0011849|A2|AUI||R2||MSH|MSH||N|N||",
    "C0025517|A5|AUI|CHD|C0011849|A2|AUI|isa|R3||SNO|SNO||Y|N||",
    "C0011849|A2|AUI|PAR|C0025517|A5|AUI|inverse_isa|R4||SNO|SNO||N|N||",
    "C0011849|A2|AUI|RO|C0025598|A6|AUI|may_treat|R5||MED|MED||Y|N||",
    "C0011849|A2|AUI|RO|C0025517|A5|AUI||R6||MED|MED|||N||",
    "C0011849|A2|AUI|RO|C9999999|A6|AUI|may_treat|R7||MED|MED||Y|N||",
    "C0011849|A2|AUI|RO|C0025517|A6|AUI|may_treat|R8||MED|MED||Y|O||",
)


def write_lines(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def said(graph) -> set[tuple[str, str, str]]:
    return {
        (graph.labels[h], graph.relation_ids[r], graph.labels[t])
        for h, r, t in graph.triples.tolist()
    }


@pytest.fixture
def umls(tmp_path: Path) -> Path:
    write_lines(tmp_path / "META" / "MRCONSO.RRF", *NAMES)
    write_lines(tmp_path / "META" / "MRREL.RRF", *LINKS)
    write_lines(
        tmp_path / "META" / "MRDEF.RRF", "C0011849|A2|AT1||MSH|Too much sugar in the blood.|N||"
    )
    write_lines(
        tmp_path / "META" / "MRSTY.RRF", "C0011849|T047|B2.2.1.2.1|Disease or Syndrome|AT2|256|"
    )
    return tmp_path


@pytest.mark.parametrize("place", [".", "META"])
def test_umls_is_read_by_its_names_and_up_its_hierarchies(umls: Path, place: str) -> None:
    graph = read(umls / place, on_error="raise")
    assert said(graph) == {
        ("Diabetes Mellitus", "is_a", "Metabolic Diseases"),
        ("Metformin", "may_treat", "Diabetes Mellitus"),
        ("Diabetes Mellitus", "semantic type", "Disease or Syndrome"),
    }
    row = graph.ids.index("UMLS:C0011849")
    assert (graph.synonyms[row], graph.definitions[row]) == (
        ("Diabetes",),
        "Too much sugar in the blood.",
    )
    german = read(umls, language="de")
    assert german.labels[german.ids.index("UMLS:C0011849")] == "Zuckerkrankheit"


def test_rxnorm_prefers_its_own_names(tmp_path: Path) -> None:
    rows = (
        "161|ENG||||||1|1|161||MTHSPL|SU|362|ACETAMINOPHEN||N||",
        "161|ENG||||||2|2|161||RXNORM|IN|161|acetaminophen||N||",
        "313782|ENG||||||3|3|313782||RXNORM|SCD|313782|acetaminophen 325 MG Oral Tablet||N||",
    )
    write_lines(tmp_path / "rrf" / "RXNCONSO.RRF", *rows)
    links = (
        "161||CUI|RO|313782||CUI|has_ingredient|4||RXNORM||||N||",
        "|1|AUI|SY||2|AUI|included_in|5||RXNORM||||N||",
    )
    write_lines(tmp_path / "rrf" / "RXNREL.RRF", *links)
    graph = read(tmp_path, on_error="raise")
    assert said(graph) == {("acetaminophen 325 MG Oral Tablet", "has_ingredient", "acetaminophen")}
    assert (graph.ids[0], graph.synonyms[0]) == ("RXNORM:161", ("ACETAMINOPHEN",))


def test_lines_that_do_not_fit(umls: Path) -> None:
    with (umls / "META" / "MRREL.RRF").open("a", encoding="utf-8") as file:
        file.write("C0011849|A2|AUI|\n")
    with pytest.warns(ReadWarning, match="expected 16 columns"):
        assert read(umls).n_triples == 3
