"""Annotations to ontologies."""

from __future__ import annotations

import pytest

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says

GAF = """!gaf-version: 2.2
!generated-by: GOC
UniProtKB\tA1\tNUDT4B\tenables\tGO:0003723\tGO_REF:1\tIEA\tX:1\tF\tKinase\tNU4|N4B\tprotein\ttaxon:9606\t\t\t\t
UniProtKB\tA1\tNUDT4B\tcontributes_to|enables\tGO:0003724\tGO_REF:1\tIEA\tX:1\tF\tKinase\t\tprotein\ttaxon:9606\t\t\t\t
MGI\tMGI:7\tIgk\tNOT|involved_in\tGO:0002250\tGO_REF:1\tIEA\t\tP\tGlobulin\t\tprotein\ttaxon:10090\t20230306\tMGI\t\t
MGI\tMGI:7\tIgk\t\tGO:0002251\tGO_REF:1\tIEA\t\tP\tGlobulin\t\tprotein\ttaxon:10090\t20230306\tMGI\t\t
"""
HPOA = """#description: "HPO annotations for rare diseases"
database_id\tdisease_name\tqualifier\thpo_id\treference\tevidence\tonset\tfrequency\tsex\tmodifier\taspect\tbiocuration
OMIM:154700\tMarfan syndrome\t\tHP:0001166\tPMID:1\tPCS\t\t1/2\t\t\tP\tHPO:x
OMIM:154700\tMarfan syndrome\t\tHP:0000006\tPMID:1\tPCS\t\t\t\t\tI\tHPO:x
OMIM:154700\tMarfan syndrome\tNOT\tHP:0001249\tPMID:1\tPCS\t\t\t\t\tP\tHPO:x
"""


def test_gene_products_and_terms(write) -> None:
    with pytest.warns(ReadWarning, match=r"left out 1 line\(s\) that say what does not hold"):
        graph = read(write("goa.gaf", GAF))
    said = says(graph)
    assert said["known"] == {
        ("UniProtKB:A1", "enables", "GO:0003723"),
        ("UniProtKB:A1", "enables", "GO:0003724"),
        ("UniProtKB:A1", "contributes_to", "GO:0003724"),
        ("MGI:7", "involved_in", "GO:0002251"),
    }
    assert said["entities"]["UniProtKB:A1"][:2] == ("NUDT4B", {"NU4", "N4B"})
    rows = GAF.replace("!gaf-version: 2.2\n", "").replace("!generated-by: GOC\n", "")
    for content in (rows, "!of one gene\n" + rows):
        assert says(read(write("rows.tsv", content), on_error="skip")) == said
    assert says(read(write("goa.gaf", GAF), negated=True))["known"] == {
        ("MGI:7", "involved_in", "GO:0002250")
    }


@pytest.mark.parametrize(
    "header",
    ["database_id\tdisease_name\tqualifier\thpo_id", "#DatabaseID\tDiseaseName\tQualifier\tHPO_ID"],
)
def test_diseases_and_phenotypes(write, header: str) -> None:
    content = HPOA.replace("database_id\tdisease_name\tqualifier\thpo_id", header)
    ontology = write(
        "hp.obo", "format-version: 1.4\n\n[Term]\nid: HP:0001166\nname: Arachnodactyly\n"
    )
    graph = read(ontology, write("phenotype.hpoa", content), on_error="skip")
    said = says(graph)
    assert said["known"] == {
        ("OMIM:154700", "has phenotype", "HP:0001166"),
        ("OMIM:154700", "has inheritance", "HP:0000006"),
    }
    assert said["entities"]["OMIM:154700"][0] == "Marfan syndrome"
    assert said["entities"]["HP:0001166"][0] == "Arachnodactyly"
    assert graph.skipped == 0


def test_lines_that_are_none_are_named(write) -> None:
    with pytest.raises(
        ReadError, match=r"a\.gaf:7: expected an annotation of 15 columns or more, found 'UniProtKB"
    ):
        read(write("a.gaf", f"{GAF}UniProtKB\tA2\n"), on_error="raise")
    assert read(write("a.gaf", f"{GAF}UniProtKB\tA2\n"), on_error="skip").skipped == 1


GPAD = """!gpa-version: 1.1
!generated-by: GOC
UniProtKB\tA1\tenables\tGO:0003723\tGO_REF:1\tECO:0000322\t\t\t20211010\tUniProt\t\tgo_evidence=IEA
UniProtKB\tA1\tcontributes_to|enables\tGO:0003724\tGO_REF:1\tECO:0000322\t\t\t20211010\tUniProt\t\t
MGI\tMGI:7\tNOT|involved_in\tGO:0002250\tGO_REF:1\tECO:0000322\t\t\t20211010\tUniProt\t\t
MGI\tMGI:7\tinvolved_in\tGO:0002251\tGO_REF:1\tECO:0000322\t\t\t20211010\tUniProt\t\t
"""
GPAD_2 = """!gpad-version: 2.0
!generated-by: GOC
UniProtKB:A1\t\tRO:0002327\tGO:0003723\tGO_REF:1\tECO:0000322\t\t\t2021-10-10\tUniProt\t\t
UniProtKB:A1\t\tRO:0002327\tGO:0003724\tGO_REF:1\tECO:0000322\t\t\t2021-10-10\tUniProt\t\t
UniProtKB:A1\t\tRO:0002326\tGO:0003724\tGO_REF:1\tECO:0000322\t\t\t2021-10-10\tUniProt\t\t
MGI:MGI:7\tNOT\tRO:0002331\tGO:0002250\tGO_REF:1\tECO:0000322\t\t\t2021-10-10\tUniProt\t\t
MGI:MGI:7\t\tRO:0002331\tGO:0002251\tGO_REF:1\tECO:0000322\t\t\t2021-10-10\tUniProt\t\t
"""
GPI = """!gpi-version: 1.2
UniProtKB\tA1\tNUDT4B\tKinase\tNU4|N4B\tprotein\ttaxon:9606\t\t\t
MGI\tMGI:7\tIgk\tGlobulin\t\tgene\ttaxon:10090\t\t\t
"""
GPI_2 = """!!gpi-version: 2.1
UniProtKB:A1\tNUDT4B\tKinase\tNU4|N4B\tPR:000000001\tNCBITaxon:9606\t\t\t\t\t
MGI:MGI:7\tIgk\tGlobulin\t\tSO:0001217\tNCBITaxon:10090\t\t\t\t\t
"""


@pytest.mark.parametrize(("annotations", "products"), [(GPAD, GPI), (GPAD_2, GPI_2)])
def test_annotations_and_what_they_annotate_may_stand_apart(
    write, annotations: str, products: str
) -> None:
    sources = write("goa.gpad", annotations), write("goa.gpi", products)
    with pytest.warns(ReadWarning, match=r"left out 1 line\(s\) that say what does not hold"):
        graph = read(*sources)
    assert says(graph) == says(read(write("goa.gaf", GAF), on_error="skip"))
    assert says(read(*sources, negated=True))["known"] == {("MGI:7", "involved_in", "GO:0002250")}


def test_genes_are_members_of_their_sets(write) -> None:
    sets = [
        ("HALLMARK_APOPTOSIS", "https://www.gsea-msigdb.org/HALLMARK_APOPTOSIS", "CASP3", "BAX"),
        ("Hemostasis", "R-HSA-109582", "F2", "BAX", ""),
        ("GO:0006915", "apoptotic process", "CASP3"),
        ("MODULE 1", "genes of the ovary, by expression", "F2,0.8"),
        ("Term A", "", "F2"),
        ("none", "na"),
    ]
    path = write("sets.gmt", "\n".join(map("\t".join, sets)))
    with pytest.warns(
        ReadWarning, match=r"sets\.gmt:6: expected a set, what it is, and its genes, found 'none"
    ):
        said = says(read(path))
    assert {
        head: {tail for one, _, tail in said["known"] if one == head}
        for head, _, _ in said["known"]
    } == {
        "CASP3": {"HALLMARK_APOPTOSIS", "GO:0006915"},
        "BAX": {"HALLMARK_APOPTOSIS", "Hemostasis"},
        "F2": {"Hemostasis", "MODULE 1", "Term A"},
    }
    assert {relation for _, relation, _ in said["known"]} == {"member of"}
    assert said["entities"]["Hemostasis"] == ("Hemostasis", {"R-HSA-109582"}, "")
    assert said["entities"]["GO:0006915"] == ("apoptotic process", set(), "")
    assert said["entities"]["MODULE 1"] == ("MODULE 1", set(), "genes of the ovary, by expression")
