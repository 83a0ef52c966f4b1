from __future__ import annotations

import copy
import csv
import io
import json
import pickle
from pathlib import Path

import pyoxigraph as ox
import pytest

import ontodex
from ontodex.engine.results.answer_table import tsv
from ontodex.engine.results.hits import Hit, Hits, KnownLeftOut, Resolution
from ontodex.errors import SettingsError
from ontodex.graph import GraphBuilder, KnowledgeGraph, write_nquads
from ontodex.readers import read

DOG = Resolution("Dog", "label", "ex:dog", "dog")
LIVES = Resolution("lives in", "label", "ex:livesIn", "lives in")
FREE = Resolution("a “tame”\tbeast", "free text", None, "a “tame”\tbeast")


@pytest.fixture
def tails(small_graph: KnowledgeGraph) -> Hits:
    hits = Hit("ex:farm", "farm", 0.75, True), Hit("ex:sea", "the\tsea\r\nside ", -0.125, False)
    return Hits(hits, "tails", {"head": DOG, "relation": LIVES}, "cosine", 1.23456, small_graph)


@pytest.fixture
def search(small_graph: KnowledgeGraph) -> Hits:
    return Hits((), "search", {"text": FREE}, "cosine", 0.5, small_graph)


def test_a_sequence(tails: Hits, search: Hits) -> None:
    assert (len(tails), tails[0].id, tails[-1].id, [hit.id for hit in tails[:1]]) == (
        2,
        "ex:farm",
        "ex:sea",
        ["ex:farm"],
    )
    assert [hit.known for hit in tails] == [True, False]
    assert tails[0] in tails
    assert not search


def test_it_prints_as_a_table_and_says_how_it_was_read(tails: Hits, search: Hits) -> None:
    lines = str(tails).splitlines()
    assert lines[:2] == [
        "tails: head = dog (ex:dog, by label), relation = lives in (ex:livesIn, by label)",
        "by cosine, 1.2 ms",
    ]
    assert lines[2].split() == ["1", "0.7500", "known", "ex:farm", "farm"]
    assert lines[3].split()[:3] == ["2", "-0.1250", "ex:sea"]
    assert repr(tails) == str(tails)
    assert "(free text)" in str(search)
    assert str(search).endswith("nothing found")


def test_json_is_one_line_with_the_documented_keys(tails: Hits, search: Hits) -> None:
    line = tails.to_json()
    assert "\n" not in line
    said = json.loads(line)
    assert list(said) == ["query", "method", "hits", "took_ms"]
    assert said["query"] == {
        "question": "tails",
        "head": {
            "text": "Dog",
            "kind": "label",
            "id": "ex:dog",
            "label": "dog",
            "hint": "",
            "inverted": False,
        },
        "relation": {
            "text": "lives in",
            "kind": "label",
            "id": "ex:livesIn",
            "label": "lives in",
            "hint": "",
            "inverted": False,
        },
    }
    assert said["hits"][0] == {"id": "ex:farm", "label": "farm", "score": 0.75, "known": True}
    assert [list(hit) for hit in said["hits"]] == [["id", "label", "score", "known"]] * 2
    assert said["took_ms"] == 1.235
    assert json.loads(search.to_json())["query"]["text"]["text"] == "a “tame”\tbeast"
    assert "“" in search.to_json()


def test_tsv_keeps_a_hit_to_a_line_and_a_cell_to_a_column(tails: Hits, search: Hits) -> None:
    assert [line.split("\t") for line in tails.to_tsv().split("\n")] == [
        ["id", "label", "score", "known"],
        ["ex:farm", "farm", "0.750000", "true"],
        ["ex:sea", "the sea side", "-0.125000", "false"],
        [""],
    ]
    assert search.to_tsv() == "id\tlabel\tscore\tknown\n"
    rows = [["a", '"Cold" sores'], ["b", 'say "b"']]
    assert list(csv.reader(io.StringIO(tsv(["id", "label"], rows)), "excel-tab")) == [
        ["id", "label"],
        *rows,
    ]


def test_asserted_parents_are_marked_and_predicted_ones_have_a_probability(
    small_graph: KnowledgeGraph,
) -> None:
    found = (
        Hit("ex:tame", "tame animal", -1.25, True),
        Hit("ex:wild", "wild animal", -7.5, False, 0.125),
    )
    hits = Hits(found, "parents", {"text": DOG}, "subsumption", 1.0, small_graph)
    assert str(hits).splitlines()[2].split() == [
        "1",
        "-1.2500",
        "asserted",
        "ex:tame",
        "tame",
        "animal",
    ]
    assert str(hits).splitlines()[3].split()[2] == "p=0.12"
    places = {line.index("ex:") for line in str(hits).splitlines()[2:]}
    assert len(places) == 1
    assert hits.to_tsv().splitlines()[:2] == [
        "id\tlabel\tscore\tknown\tprobability",
        "ex:tame\ttame animal\t-1.250000\ttrue\t",
    ]
    assert [hit["probability"] for hit in json.loads(hits.to_json())["hits"]] == [None, 0.125]
    assert list(hits.to_pandas().columns) == ["id", "label", "score", "known", "probability"]


def test_what_is_left_out_as_known_is_said(small_graph: KnowledgeGraph) -> None:
    left = KnownLeftOut(4, ("farm", "field", "forest"))
    hits = Hits((), "tails", {"head": DOG}, "score", 1.0, small_graph, known_left_out=left)
    assert str(hits).splitlines()[2:] == [
        "      nothing found",
        "      4 known left out: farm, field, forest, …; --known include",
    ]
    assert json.loads(hits.to_json())["known_left_out"] == {
        "count": 4,
        "labels": ["farm", "field", "forest"],
    }


def test_pandas(tails: Hits, search: Hits) -> None:
    frame = tails.to_pandas()
    assert (
        list(frame.columns) == list(search.to_pandas().columns) == ["id", "label", "score", "known"]
    )
    assert frame.to_dict("records")[0] == {
        "id": "ex:farm",
        "label": "farm",
        "score": 0.75,
        "known": True,
    }
    assert [str(kind) for kind in frame.dtypes[["score", "known"]]] == ["float64", "bool"]


def test_triples_are_put_together_for_each_direction(
    small_graph: KnowledgeGraph, tails: Hits, search: Hits
) -> None:
    assert tails.triples == [
        ("ex:dog", "ex:livesIn", "ex:sea", -0.125)
    ]  # known links are no predictions
    hits = (Hit("ex:cat", "cat", 0.5, False),)
    heads = Hits(hits, "heads", {"tail": DOG, "relation": LIVES}, "cosine", 1.0, small_graph)
    assert heads.triples == [("ex:cat", "ex:livesIn", "ex:dog", 0.5)]
    relation = (Hit("is_a", "is a", 0.5, False),)
    relations = Hits(relation, "relations", {"head": DOG, "tail": DOG}, "cosine", 1.0, small_graph)
    assert relations.triples == [("ex:dog", "is_a", "ex:dog", 0.5)]
    free = Hits(hits, "heads", {"tail": FREE, "relation": LIVES}, "cosine", 1.0, small_graph)
    for answer in (search, free):
        with pytest.raises(SettingsError, match="to make triples of"):
            answer.to_rdf()


def test_triples_of_an_inverse_relation_lead_the_other_way(small_index: Path) -> None:
    with ontodex.open(small_index, device="cpu") as engine:
        asked = [
            engine.tails("farm", "inverse lives in", k=1),
            engine.tails("animal", "narrower", k=1),
        ]
        assert [answer.triples for answer in asked] == [
            [(asked[0][0].id, "ex:livesIn", "ex:farm", asked[0][0].score)],
            [(asked[1][0].id, "is_a", "ex:animal", asked[1][0].score)],
        ]
        hits = engine.heads("inverse lives in", "dog", k=1)
        assert hits.triples == [("ex:dog", "ex:livesIn", hits[0].id, hits[0].score)]


def test_parents_and_children_are_triples_of_the_hierarchy(small_graph: KnowledgeGraph) -> None:
    found = (
        Hit("ex:tame", "tame animal", -1.25, True),
        Hit("ex:wild", "wild animal", -7.5, False, 0.125),
    )
    parents, children = (
        Hits(found, name, {"text": DOG}, "subsumption", 1.0, small_graph)
        for name in ("parents", "children")
    )
    assert parents.triples == [("ex:dog", "is_a", "ex:wild", -7.5)]
    assert children.triples == [("ex:wild", "is_a", "ex:dog", -7.5)]
    both = GraphBuilder("two hierarchies")
    both.triple("a", "is_a", "b"), both.triple("a", "skos:broader", "c")
    with pytest.raises(
        SettingsError, match=r"expected one relation of the hierarchy .*is_a, skos:broader"
    ):
        _ = Hits(found, "parents", {"text": DOG}, "subsumption", 1.0, both.build()).triples


def test_answers_leave_the_process_without_the_graph(
    tails: Hits, search: Hits, small_graph: KnowledgeGraph
) -> None:
    for answer in (tails, search):
        copied = pickle.loads(pickle.dumps(answer))
        assert (str(copied), copied.to_json()) == (str(answer), answer.to_json())
        assert len(pickle.dumps(answer)) < len(pickle.dumps(small_graph)) / 2
    assert pickle.loads(pickle.dumps(tails)).to_rdf() == tails.to_rdf()
    graph = copy.deepcopy(small_graph)
    assert (graph.find("dog"), graph.triples.tolist()) == (
        small_graph.find("dog"),
        small_graph.triples.tolist(),
    )
    assert dict(graph.prefixes) == dict(small_graph.prefixes)


def test_rdf_reads_back(tails: Hits, small_graph: KnowledgeGraph, tmp_path: Path) -> None:
    quads = list(ox.parse(tails.to_rdf(), format=ox.RdfFormat.N_QUADS))
    names = {ox.NamedNode(f"http://example.org/{name}") for name in ("dog", "livesIn", "sea")}
    stated = [
        quad for quad in quads if quad.predicate == ox.NamedNode("http://example.org/livesIn")
    ]
    assert {
        node for quad in stated for node in (quad.subject, quad.predicate, quad.object)
    } == names
    assert {quad.graph_name for quad in quads} == {ox.NamedNode("urn:ontodex:predictions")}
    scores = {
        float(quad.object.value)
        for quad in quads
        if quad.predicate == ox.NamedNode("urn:ontodex:score")
    }
    assert scores == {-0.125}
    # Read together with the graph, predictions do not become facts.
    path = tmp_path / "farm.nq"
    write_nquads(small_graph, path)
    path.write_text(path.read_text() + tails.to_rdf())
    known = {
        (graph.ids[h], graph.ids[t]) for graph in [read(path)] for h, _, t in graph.triples.tolist()
    }
    assert ("ex:dog", "ex:farm") in known
    assert ("ex:dog", "ex:sea") not in known


def test_answers_of_an_engine(small_index: Path) -> None:
    with ontodex.open(small_index, device="cpu") as engine:
        hits = engine.tails("dog", "lives in", k=5, known="include")
        assert len(hits) == 5
        assert len(list(ox.parse(hits.to_rdf(), format=ox.RdfFormat.N_QUADS))) == 1 + 6 * 5
        assert [tuple(row) for row in hits.to_pandas().to_numpy()] == [
            (hit.id, hit.label, hit.score, hit.known) for hit in hits
        ]


def test_described_hits_have_paths_and_definitions(small_graph: KnowledgeGraph) -> None:
    found = (
        Hit("ex:young-dog", "young dog", 0.5, True, None, "a young dog"),
        Hit("ex:thing", "thing", 0.25, False),
        Hit("ex:n1", "thing 1", 0.125, False),
    )
    plain = Hits(found, "search", {"text": DOG}, "cosine", 1.0, small_graph)
    hits = plain.described()
    assert [hit.path for hit in hits] == [
        ("thing", "animal", "tame animal", "dog", "young dog"),
        None,
        None,
    ]
    assert [hit.definition for hit in hits] == [None, "whatever there is", None]
    lines = str(hits).splitlines()
    assert [line.strip() for line in lines[3:6:2]] == [
        "thing > … > tame animal > dog > young dog",
        "whatever there is",
    ]
    assert lines[3].index("thing") == lines[2].index("ex:young-dog")
    assert [line for line in lines if line in str(plain).splitlines()] == str(plain).splitlines()
    table = csv.DictReader(io.StringIO(hits.to_tsv()), dialect="excel-tab")
    assert [(row["path"], row["definition"]) for row in table] == [
        ("thing > animal > tame animal > dog > young dog", ""),
        ("", "whatever there is"),
        ("", ""),
    ]
    as_json = json.loads(hits.to_json())["hits"]
    assert as_json[0]["path"] == list(hits[0].path or ())
    assert "definition" not in as_json[0]
    assert [hit.path for hit in plain.described(path=False)] == [None] * 3
    assert plain.described(path=False, definition=False).to_json() == plain.to_json()
    copied = pickle.loads(pickle.dumps(hits))
    assert str(copied) == str(hits)


def test_relations_are_not_described(small_graph: KnowledgeGraph) -> None:
    builder = GraphBuilder("one name twice")
    builder.triple("a", "is_a", "b"), builder.triple("b", "a", "c")
    builder.entity("a", "a", definition="the first")
    relation = (Hit("a", "a", 0.5, False),)
    hits = Hits(relation, "relations", {"head": DOG, "tail": DOG}, "cosine", 1.0, builder.build())
    assert hits.described().hits == relation


def test_a_path_ends_in_a_hierarchy_with_cycles() -> None:
    builder = GraphBuilder("cycles")
    for child, parent in (("a", "b"), ("b", "a"), ("b", "c"), ("d", "e"), ("e", "d")):
        builder.triple(child, "is_a", parent)
    found = tuple(Hit(name, name, 0.5, False) for name in "acd")
    hits = Hits(found, "search", {"text": DOG}, "cosine", 1.0, builder.build())
    assert [hit.path for hit in hits.described()] == [("c", "b", "a"), None, None]


def test_a_path_is_the_first_of_a_description(small_index: Path) -> None:
    with ontodex.open(small_index, device="cpu") as engine:
        for hit in engine.search("dog", k=60).described():
            paths = engine.describe(hit.id).paths
            assert hit.path == (paths[0] if paths else None)
            assert hit.definition == (engine.describe(hit.id).definition or None)


def test_pickled_parents_keep_the_relation_of_the_hierarchy() -> None:
    builder = GraphBuilder("cars")
    builder.triple("ex:wheel", "ex:partOf", "ex:car")
    graph = builder.build().with_hierarchy("ex:partOf")
    wheel = Resolution("wheel", "label", "ex:wheel", "wheel")
    parents = Hits((Hit("ex:car", "car", 0.5, False),), "parents", {"text": wheel}, "", 1.0, graph)
    assert parents.triples == [("ex:wheel", "ex:partOf", "ex:car", 0.5)]
    assert pickle.loads(pickle.dumps(parents)).triples == parents.triples


def test_a_pickled_answer_has_no_entities_but_those_of_the_graph(tails: Hits, search: Hits) -> None:
    assert set(pickle.loads(pickle.dumps(tails))._graph.ids) == {"ex:dog", "ex:farm", "ex:sea"}
    assert list(pickle.loads(pickle.dumps(search))._graph.ids) == []
