from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

from ontodex.demo_data import write_hpo, write_schema_org
from ontodex.errors import OntodexError
from ontodex.graph import KnowledgeGraph
from ontodex.readers import read


@pytest.fixture(scope="module")
def schema_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (path,) = write_schema_org(tmp_path_factory.mktemp("demo") / "schema")
    return path


@pytest.fixture(scope="module")
def schema(schema_file: Path) -> KnowledgeGraph:
    return read(schema_file, on_error="raise")


@pytest.fixture(scope="module")
def hpo_files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_hpo(tmp_path_factory.mktemp("demo") / "hpo")


@pytest.fixture(scope="module")
def hpo(hpo_files: list[Path]) -> KnowledgeGraph:
    return read(*hpo_files, on_error="raise")


def row(graph: KnowledgeGraph, name: str) -> int:
    found = graph.find(name)
    assert found is not None, name
    return found[0]


def linked(graph: KnowledgeGraph, head: str, relation: str) -> set[str]:
    """The labels of the tails."""
    found = graph.find_relation(relation)
    assert found is not None, relation
    return {graph.labels[tail] for tail in graph.tails_of(row(graph, head), found[0]).tolist()}


def triples_by_relation(graph: KnowledgeGraph) -> Counter[str]:
    return Counter(graph.relation_ids[number] for number in graph.relations.tolist())


def test_schema_org_has_its_size(schema: KnowledgeGraph) -> None:
    assert 900 <= schema.n_entities <= 1000
    assert 1400 <= schema.n_relations <= 1600
    assert 900 <= triples_by_relation(schema)["rdfs:subClassOf"] <= 1100
    assert 4000 <= schema.n_triples <= 6000
    assert all(schema.definitions)


def test_schema_org_has_the_expected_facts(schema: KnowledgeGraph) -> None:
    assert linked(schema, "Person", "is a") == {"Thing"}
    assert linked(schema, "Person", "works for") == {"Organization"}
    assert linked(schema, "Person", "schema:birthDate") == {"Date"}
    assert (
        schema.definitions[row(schema, "Person")] == "A person (alive, dead, undead, or fictional)."
    )
    assert schema.hierarchy_relations == (schema.find_relation("rdfs:subClassOf")[0],)


def test_schema_org_states_its_licence(schema_file: Path) -> None:
    note = schema_file.read_text(encoding="utf-8").split("@prefix")[0]
    assert "CC BY-SA 3.0" in note
    assert all(line.startswith("#") for line in note.splitlines())


def test_hpo_has_its_size(hpo: KnowledgeGraph) -> None:
    kinds = Counter(name.partition(":")[0] for name in hpo.ids)
    assert set(kinds) == {"HP", "OMIM", "ORPHA", "DECIPHER", "NCBIGene"}
    assert 18_000 <= kinds["HP"] <= 20_000
    assert 4_500 <= kinds["NCBIGene"] <= 6_000
    assert 12_000 <= kinds["OMIM"] + kinds["ORPHA"] + kinds["DECIPHER"] <= 14_000
    found = triples_by_relation(hpo)
    assert set(found) == {
        "is_a",
        "has_phenotype",
        "has_mode_of_inheritance",
        "associated_with_disease",
    }
    assert 240_000 <= found["has_phenotype"] <= 260_000
    assert 8_000 <= found["has_mode_of_inheritance"] <= 10_000
    assert 11_000 <= found["associated_with_disease"] <= 14_000


def test_hpo_has_the_expected_facts(hpo: KnowledgeGraph) -> None:
    assert hpo.ids[row(hpo, "Marfan syndrome")] == "OMIM:154700"
    assert "Arachnodactyly" in linked(hpo, "Marfan syndrome", "has phenotype")
    assert "Arachnodactyly" in linked(hpo, "ORPHA:558", "has phenotype")
    assert linked(hpo, "OMIM:154700", "has mode of inheritance") == {
        "Autosomal dominant inheritance"
    }
    assert "Marfan syndrome" in linked(hpo, "FBN1", "associated with disease")
    assert hpo.ids[row(hpo, "FBN1")] == "NCBIGene:2200"
    assert hpo.ids[row(hpo, "insomnia")] == "HP:0100785"
    assert linked(hpo, "Insomnia", "is a") == {"Sleep abnormality"}
    assert hpo.definitions[row(hpo, "HP:0001166")]


def test_names_in_capitals_are_made_readable_and_other_names_kept(hpo: KnowledgeGraph) -> None:
    assert hpo.labels[row(hpo, "OMIM:272300")] == "Sulfocysteinuria"
    assert hpo.synonyms[row(hpo, "OMIM:272300")] == ("Sulfite oxidase deficiency",)
    assert hpo.labels[row(hpo, "ORPHA:550")] == "MELAS"


@pytest.mark.parametrize(
    ("disease", "absent"),
    [
        pytest.param("ORPHA:1401", "HP:0001270", id="qualifier NOT"),
        pytest.param("OMIM:612201", "HP:0001712", id="seen in 0 of 11"),
    ],
)
def test_negated_phenotypes_of_a_disease_are_left_out(
    hpo: KnowledgeGraph, disease: str, absent: str
) -> None:
    assert linked(hpo, disease, "has phenotype")
    assert hpo.relations_between(row(hpo, disease), row(hpo, absent)).size == 0


def test_annotations_can_be_read_without_the_ontology(hpo_files: list[Path]) -> None:
    graph = read(hpo_files[1], on_error="raise")
    assert "Arachnodactyly" in linked(graph, "Marfan syndrome", "has phenotype")
    assert "release 20" in (hpo_files[0].parent / "README.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("write", [write_schema_org, write_hpo])
def test_a_missing_package_is_named(write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(OntodexError, match=r"pip install 'ontodex\[demo\]'"):
        write(tmp_path / "demo")
    assert not (tmp_path / "demo").exists()
