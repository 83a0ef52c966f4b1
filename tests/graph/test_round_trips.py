from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import networkx
import pyoxigraph
import pytest
import rdflib
from hypothesis import given, settings

from ontodex.errors import GraphError, UnknownEntity, UnknownRelation
from ontodex.graph import GraphBuilder, KnowledgeGraph, write_nquads, write_tsv
from ontodex.graph.writers.nquads import predictions_as_nquads
from ontodex.readers import read
from tests.graph_strategies import graphs, says

FINGERS = "purl.obolibrary.org/obo/HP_0001166"


@settings(deadline=None, max_examples=60)
@given(graphs(held_out=True))
def test_a_folder_of_tsv_reads_back(graph: KnowledgeGraph) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_tsv(graph, Path(folder) / "set")
        again = read(Path(folder) / "set", on_error="raise")
    assert says(again) == says(graph)
    assert list(again.ids) == list(graph.ids)


@settings(deadline=None, max_examples=60)
@given(graphs())
def test_networkx_reads_back(graph: KnowledgeGraph) -> None:
    again = read(graph.to_networkx(), on_error="raise")
    assert again.fingerprint == graph.fingerprint


@settings(deadline=None, max_examples=60)
@given(graphs())
def test_rdflib_reads_back(graph: KnowledgeGraph) -> None:
    assert says(read(graph.to_rdflib(), on_error="raise")) == says(graph)


def test_rdflib_answers_by_the_names_that_a_user_knows() -> None:
    builder = GraphBuilder("pets")
    builder.prefixes["ex"] = "http://example.org/"
    builder.entity("HP:0001166", "long fingers", ["spider fingers"], "Fingers that are long.")
    builder.entity("ex:dog", "dog")
    builder.relation("rdfs:subClassOf", "is a")
    builder.triple("ex:dog", "rdfs:subClassOf", "ex:animal")
    builder.triple("ex:dog", "ex:has", "HP:0001166")
    builder.triple("ex:cat", "ex:has", "HP:0001166", "test")
    made = builder.build().to_rdflib()
    assert isinstance(made, rdflib.Graph)
    dog, fingers = (rdflib.URIRef(f"http://{place}") for place in ("example.org/dog", FINGERS))
    assert set(made.objects(dog, rdflib.RDFS.subClassOf)) == {
        rdflib.URIRef("http://example.org/animal")
    }
    assert made.value(fingers, rdflib.RDFS.label) == rdflib.Literal("long fingers")
    assert made.value(fingers, rdflib.SKOS.altLabel) == rdflib.Literal("spider fingers")
    assert made.value(fingers, rdflib.SKOS.definition) == rdflib.Literal("Fingers that are long.")
    found = made.query("SELECT ?who WHERE { ?who ex:has ?what . ?what rdfs:label 'long fingers' }")
    assert [str(who) for (who,) in found] == ["http://example.org/dog"]
    assert 'ex:dog rdfs:label "dog"' in made.serialize(format="turtle")


def write_both(
    graph: KnowledgeGraph, path: Path, predictions: list[tuple[str, str, str, float]]
) -> None:
    write_nquads(graph, path)
    path.write_text(
        path.read_text(encoding="utf-8") + predictions_as_nquads(graph, predictions),
        encoding="utf-8",
    )


@settings(deadline=None, max_examples=60)
@given(graphs())
def test_nquads_read_back(graph: KnowledgeGraph) -> None:
    head, tail = graph.ids[0], graph.ids[-1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.nq"
        write_both(
            graph,
            path,
            [(head, graph.relation_ids[0], tail, 0.5), (tail, graph.relation_ids[-1], head, 0.25)],
        )
        again = read(path, on_error="raise")
    assert says(again) == says(graph)


@pytest.fixture
def pets() -> KnowledgeGraph:
    builder = GraphBuilder("pets")
    builder.prefixes["ex"] = "http://example.org/"
    builder.entity("ex:dog", "dog", ["hound"], "An animal\nthat barks.")
    builder.entity("wild cat", "cat")
    builder.replace({"ex:canis": "ex:dog"})
    builder.triple("ex:dog", "is_a", "ex:animal")
    return builder.build()


def test_a_folder_with_files_of_somebody_else_is_left_alone(
    pets: KnowledgeGraph, tmp_path: Path
) -> None:
    (tmp_path / "valid.tsv").write_text("mine")
    with pytest.raises(GraphError, match=r"expected an empty folder, .*found other files"):
        write_tsv(pets, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["valid.tsv"]


def test_an_earlier_export_is_replaced(pets: KnowledgeGraph, tmp_path: Path) -> None:
    folder = tmp_path / "pets.2025"
    folder.mkdir()
    held_out = replace(pets, test=pets.triples[:1])
    write_tsv(held_out, folder)
    assert (folder / "test.tsv").exists()
    write_tsv(pets, folder)
    assert not (folder / "test.tsv").exists()


def test_one_file_of_triples(pets: KnowledgeGraph, tmp_path: Path) -> None:
    write_tsv(pets, tmp_path / "pets.tsv")
    assert (tmp_path / "pets.tsv").read_text() == "head\trelation\ttail\nex:dog\tis_a\tex:animal\n"
    assert says(read(tmp_path / "pets.tsv"))["known"] == {("ex:dog", "is_a", "ex:animal")}


def test_ids_that_would_collide_in_a_cell_are_refused(tmp_path: Path) -> None:
    builder = GraphBuilder("odd")
    builder.triple("a b", "r", "a\tb")
    with pytest.raises(GraphError, match="'a b' twice"):
        write_tsv(builder.build(), tmp_path / "odd.tsv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning")  # rdflib 7.6 of itself
def test_predictions_are_in_their_own_graph_with_scores(
    pets: KnowledgeGraph, tmp_path: Path
) -> None:
    path = tmp_path / "pets.nq"
    write_both(pets, path, [("wild cat", "is_a", "ex:animal", 0.75)])
    dataset = rdflib.Dataset()
    dataset.parse(path, format="nquads")
    rows = list(
        dataset.query(
            "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> SELECT ?s ?o ?v WHERE { "
            "GRAPH <urn:ontodex:predictions> { ?s ?p ?o . ?x a rdf:Statement ; rdf:subject ?s ; "
            "rdf:predicate ?p ; "
            "rdf:object ?o ; <urn:ontodex:score> ?v } }"
        )
    )
    assert [(str(s), str(o), float(v)) for s, o, v in rows] == [
        ("urn:ontodex:wild%20cat", "http://example.org/animal", 0.75)
    ]
    assert says(read(path)) == says(pets)


def test_predictions_of_several_calls_can_be_concatenated(pets: KnowledgeGraph) -> None:
    calls = [[("wild cat", "is_a", "ex:animal", 0.5)], [("ex:animal", "is_a", "ex:dog", 0.25)]]
    text = "".join(predictions_as_nquads(pets, call) for call in calls)
    scored = [
        quad
        for quad in pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.N_QUADS)
        if "score" in str(quad)
    ]
    assert len({quad.subject.value for quad in scored}) == 2
    assert predictions_as_nquads(pets, calls[0]) == predictions_as_nquads(pets, calls[0])


def test_predictions_take_curies_and_iris_to_the_letter(pets: KnowledgeGraph) -> None:
    curie, iri = (
        [("ex:dog", "is_a", "ex:animal", 0.5)],
        [("http://example.org/dog", "is_a", "ex:animal", 0.5)],
    )
    assert predictions_as_nquads(pets, iri) == predictions_as_nquads(pets, curie)
    for head, relation, tail, error in (
        ("EX:dog", "is_a", "ex:animal", UnknownEntity), ("wild cat", "is_a", "bird", UnknownEntity),
        ("ex:dog", "is a", "ex:animal", UnknownRelation),
        ("wild cat", "eats", "ex:dog", UnknownRelation),
    ):  # fmt: skip
        with pytest.raises(error):
            predictions_as_nquads(pets, [(head, relation, tail, 0.5)])


def test_predictions_stay_apart_when_another_tool_reorders_the_file(
    pets: KnowledgeGraph, tmp_path: Path
) -> None:
    path = tmp_path / "pets.nq"
    write_both(pets, path, [("wild cat", "is_a", "ex:animal", 0.75)])
    quads = sorted(pyoxigraph.parse(path=path), key=str)
    pyoxigraph.serialize(quads, path, pyoxigraph.RdfFormat.N_QUADS)
    assert says(read(path))["known"] == {("ex:dog", "is_a", "ex:animal")}


def test_alternative_ids_of_nodes_are_read_as_they_are_given() -> None:
    made = networkx.MultiDiGraph()
    made.add_node("A", alternative_ids=["B", "", None, "C"])
    made.add_node("B", label="bee", alternative_ids=7)
    made.add_edge("A", "B", key="near")
    graph = read(made)
    assert says(graph)["alternatives"] == {"A": {"C"}, "B": {"7"}}
    assert graph.labels[graph.find("B")[0]] == "bee"


def test_networkx_carries_names(pets: KnowledgeGraph) -> None:
    made = pets.to_networkx()
    assert isinstance(made, networkx.MultiDiGraph)
    said = {
        "label": "dog",
        "definition": "An animal that barks.",
        "synonyms": ["hound"],
        "alternative_ids": ["ex:canis"],
    }
    assert made.nodes["ex:dog"] == said
    assert list(made.edges(keys=True)) == [("ex:dog", "ex:animal", "is_a")]


def test_nquads_of_earlier_versions_are_read(write) -> None:
    graph = read(
        write("old.nq", "<urn:ontodex:a%20dog> <urn:ontodex:is_a> <urn:ontodex:animal> .\n"),
        on_error="raise",
    )
    assert (sorted(graph.ids), list(graph.relation_ids)) == (["a dog", "animal"], ["is_a"])
