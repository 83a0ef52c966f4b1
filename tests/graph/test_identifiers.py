"""Identifiers of known vocabularies match in all their forms, in files and in queries."""

from __future__ import annotations

import re
from itertools import permutations

import pytest

from ontodex.engine.resolve import resolve_entity, resolve_relation
from ontodex.errors import UnknownEntity, UnknownRelation
from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.graph.identifiers import TABLE, Reference, other_forms, reference
from ontodex.readers import read

EYE = (
    "EFO:0003966",
    "EFO_0003966",
    "efo:0003966",
    "efo:EFO_0003966",
    "http://www.ebi.ac.uk/efo/EFO_0003966",
    "https://www.ebi.ac.uk/efo/EFO_0003966",
    "https://identifiers.org/efo/0003966",
    "https://bioregistry.io/efo:0003966",
)
FEVER = (
    "HP:0001945",
    "HP_0001945",
    "hp:0001945",
    "HPO:0001945",
    "obo:HP_0001945",
    "http://purl.obolibrary.org/obo/HP_0001945",
    "https://purl.obolibrary.org/obo/HP_0001945",
    "https://bioregistry.io/hp:0001945",
    "http://identifiers.org/hp/HP:0001945",
)
SUICIDE = (
    "GO:0006915",
    "GO_0006915",
    "go:0006915",
    "https://identifiers.org/GO:0006915",
    "http://identifiers.org/go/GO:0006915",
    "http://purl.obolibrary.org/obo/GO_0006915",
)
MARFAN = (
    "OMIM:154700",
    "MIM:154700",
    "http://omim.org/entry/154700",
    "https://omim.org/entry/154700",
    "https://www.omim.org/entry/154700",
    "http://identifiers.org/omim/154700",
)
TWICE = {
    "efo:efo_0003966",
    "http://identifiers.org/hp/hp:0001945",
    "http://identifiers.org/go/go:0006915",
}
"""Forms with the prefix twice are accepted, but not generated."""

ONTOLOGY = """format-version: 1.2

[Term]
id: EFO:0000408
name: illness

[Term]
id: EFO:0003966
name: eye illness
is_a: EFO:0000408

[Term]
id: HP:0001945
name: raised temperature

[Term]
id: GO:0006915
name: cell self destruction

[Term]
id: OMIM:154700
name: long limbs

[Term]
id: ZB:12
name: rake
"""


@pytest.mark.parametrize("forms", [EYE, FEVER, SUICIDE, MARFAN], ids=lambda forms: forms[0])
def test_all_forms_refer_to_one_thing(forms: tuple[str, ...]) -> None:
    assert len({reference(form) for form in forms}) == 1
    for form in forms:
        others = {other.casefold() for other in (form, *other_forms(form, {}))}
        assert others >= {other.casefold() for other in forms} - TWICE


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ORPHA:558", "http://www.orpha.net/ORDO/Orphanet_558"),
        ("Orphanet:558", "ORPHANET:558"),
        ("UMLS_CUI:C0001", "http://linkedlifedata.com/resource/umls/id/C0001"),
        ("MSH:D012345", "http://id.nlm.nih.gov/mesh/D012345"),
        ("MESH_D012345", "MESH:D012345"),
        ("NCI:C123", "NCIT_C123"),
        ("SNOMEDCT_US:40733004", "http://snomed.info/id/40733004"),
        ("SNOMEDCT_US_40733004", "sct:40733004"),
        ("SCTID:40733004", "http://identifiers.org/snomedct/40733004"),
        ("ICD-10-CM:A00.1", "http://purl.bioontology.org/ontology/ICD10CM/A00.1"),
        ("taxon:9606", "http://identifiers.org/taxonomy/9606"),
        ("NCBITaxon_9606", "NCBITaxon:9606"),
        ("Entrez:7157", "GeneID:7157"),
        ("HGNC:HGNC:5", "http://identifiers.org/hgnc/HGNC:5"),
        ("Ensembl:ENSG00000139618", "http://identifiers.org/ensembl/ENSG00000139618"),
        ("UniProt:P12345", "http://purl.uniprot.org/uniprot/P12345"),
        ("wd:Q42", "http://www.wikidata.org/entity/Q42"),
        ("APOLLO_SV_00000796", "http://purl.obolibrary.org/obo/APOLLO_SV_00000796"),
        ("ZB_12", "ZB:12"),
        ("ZB_12", "http://purl.obolibrary.org/obo/ZB_12"),
    ],
)
def test_two_forms_refer_to_one_thing(one: str, other: str) -> None:
    assert reference(one) == reference(other) is not None


@pytest.mark.parametrize(
    "name",
    [
        *("has_part", "New_York", "New_York_2", "page_19", "companies:1", "HP_high", "HP_"),
        *(
            "Blade Runner: 2049",
            "HP_0001945 fever",
            "AC/DC",
            ":-)",
            "hp_0001945",
            "ex:dog",
            "EX:dog",
        ),
        *(
            "http://example.org/HP_0001945",
            "http://schema.org/Person",
            "schema:Person",
            "12345",
            "",
        ),
        *(
            "dbr:Berlin",
            "HP_٠٠٠١٩٤٥",
            "GO:0006915 ",
            "note:word",
            "a:b:c",
            "https://identifiers.org/hp",
        ),
    ],
)
def test_words_are_no_identifiers(name: str) -> None:
    assert reference(name) is None
    assert other_forms(name, {}) == []


def test_a_local_id_has_the_form_that_its_vocabulary_asks_for() -> None:
    assert reference("MONDO:0000001") == reference("mondo:0000001") == Reference("mondo", "0000001")
    assert reference("MONDO:1") == Reference("MONDO", "1") != reference("mondo:1")
    assert reference("MP_3") == Reference("MP", "3") != reference("MP:0000003")


def test_prefixes_of_a_source_go_before_those_of_the_table() -> None:
    assert reference("a:0001945", {"a": "http://purl.obolibrary.org/obo/HP_"}) == reference(
        FEVER[0]
    )
    assert reference("MP:0001945", {"MP": "http://purl.obolibrary.org/obo/HP_"}) == reference(
        FEVER[0]
    )
    forms = other_forms("HP:0001945", {"jax": "https://hpo.jax.org/app/browse/term/"})
    assert "jax:0001945" in forms


def test_the_table_has_nothing_twice() -> None:
    rows = [
        line.split("\t")
        for line in TABLE.read_text("utf-8").splitlines()
        if not line.startswith("#")
    ]
    prefixes = [name for *_, names, _ in rows for name in names.casefold().split("|") if name]
    spaces = [space for *_, found in rows for space in found.split()]
    assert len(rows) > 1500
    assert len({row[0] for row in rows}) == len(rows)
    assert len(set(prefixes)) == len(prefixes)
    assert len(set(spaces)) == len(spaces)
    assert all(re.compile(pattern) for _, pattern, *_ in rows)


def _ontology_and_tables(write) -> list[str]:
    links = [f"ENSG{at}\tassociated with\t{form}" for at, form in enumerate(EYE + FEVER)]
    more = [f"rs{at}\tmapped to\t{form}" for at, form in enumerate(SUICIDE + MARFAN + ("ZB_12",))]
    header = "head\trelation\ttail\n"
    return [
        write("a.obo", ONTOLOGY),
        write("b.tsv", header + "\n".join(links) + "\n"),
        write("c.tsv", header + "\n".join(more) + "\n"),
    ]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_forms_meet_in_files_and_in_questions(write, order: tuple[int, ...]) -> None:
    sources = _ontology_and_tables(write)
    graph = read(*(sources[at] for at in order), on_error="raise")
    linked = {graph.labels[tail] for tail in graph.tails.tolist()}
    assert linked == {
        *("eye illness", "raised temperature", "cell self destruction", "long limbs", "rake"),
        "illness",
    }
    named = {"eye illness": EYE, "raised temperature": FEVER, "rake": ("ZB_12", "ZB:12")}
    named |= {"cell self destruction": SUICIDE, "long limbs": MARFAN}
    for label, forms in named.items():
        for form in forms:
            found = resolve_entity(graph, form)
            assert (found.row, found.resolution.label) == (graph.labels.index(label), label)


def test_two_sources_without_an_ontology_meet(write) -> None:
    one = write("a.tsv", "head\trelation\ttail\nENSG1\tRO_0002331\tGO_0006915\n")
    two = write(
        "b.tsv", "head\trelation\ttail\nENSG2\tRO:0002331\thttps://identifiers.org/GO:0006915\n"
    )
    graph = read(one, two, on_error="raise")
    assert (set(graph.ids), list(graph.relation_ids)) == (
        {"ENSG1", "ENSG2", "GO_0006915"},
        ["RO_0002331"],
    )
    assert graph.find_relation("http://purl.obolibrary.org/obo/RO_0002331") == graph.find_relation(
        "RO:0002331"
    )


def test_words_with_underscores_stay_labels(write) -> None:
    one = write(
        "a.tsv", "head\trelation\ttail\nNew_York\tlies in\tMP_high\npage_19\tnext\tpage_20\n"
    )
    graph = read(one, write("a.obo", ONTOLOGY), on_error="raise")
    assert {"New_York", "MP_high", "page_19", "page_20"} <= set(graph.ids)
    assert graph.labels[graph.ids.index("New_York")] == "New York"


def _graph() -> KnowledgeGraph:
    builder = GraphBuilder("pets")
    builder.entity("HP:0001945", "raised temperature")
    builder.entity("http://purl.obolibrary.org/obo/MONDO_0000001", "disease")
    builder.triple("HP:0001945", "RO:0002200", "page_19")
    return builder.build()


@pytest.mark.parametrize("name", ["HP_9999999", "hp:9999999", "HP:9999999", "MONDO_0000002"])
def test_an_unknown_id_in_use_is_no_free_text(name: str) -> None:
    with pytest.raises(UnknownEntity, match=name):
        resolve_entity(_graph(), name)


@pytest.mark.parametrize(
    "name", ["page_21", "GO_0006915", "HP_high", "Covid_19", "has_part", "note: this"]
)
def test_other_words_are_free_text(name: str) -> None:
    assert resolve_entity(_graph(), name).resolution.kind == "free text"


def test_relations_by_their_short_form() -> None:
    assert resolve_relation(_graph(), "RO_0002200").row == 0
    with pytest.raises(UnknownRelation):
        resolve_relation(_graph(), "RO_0002201")
