"""Records of JSON."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pandas as pd
import pytest

from ontodex.errors import ReadError
from ontodex.graph import KnowledgeGraph, ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says

BOOKS = [
    {
        "id": 1,
        "title": "Dune",
        "author": {"id": 1, "name": "Frank Herbert", "born_in": {"name": "Tacoma"}},
        "genres": ["Epic", "Science fiction"],
        "summary": "a desert; spice",
        "sequel": {"id": 2},
        "print": {"pages": 412, "language": "English"},
    },
    {
        "id": 2,
        "title": "Dune Messiah",
        "author": {"id": 1, "name": "Frank Herbert"},
        "genres": ["Science fiction"],
        "print": {"language": "English"},
    },
    {
        "id": 3,
        "title": "Sinuhe",
        "author": {"id": 2, "name": "Mika Waltari"},
        "genres": ["Epic"],
        "sequel": None,
    },
]


def labels_of(graph: KnowledgeGraph) -> dict[str, str]:
    return dict(zip(graph.ids, graph.labels, strict=True))


def known(graph: KnowledgeGraph) -> set[tuple[str, str, str]]:
    return says(graph)["known"]


@pytest.mark.parametrize("form", ["list", "lines", "inside", "by id"])
def test_records_are_entities(write, form: str) -> None:
    documents: dict[str, Any] = {
        "list": BOOKS,
        "inside": {"count": 3, "results": BOOKS},
        "by id": {
            str(book["id"]): {key: value for key, value in book.items() if key != "id"}
            for book in BOOKS
        },
    }
    lines = "\n".join(map(json.dumps, BOOKS))
    content = lines if form == "lines" else json.dumps(documents[form], indent=1)
    with pytest.warns(
        ReadWarning, match=r"left out summary \(texts that few rows share\), pages \(numbers"
    ):
        graph = read(write("books.json", content))
    assert known(graph) == {
        *(("1", "author", "author:1"), ("2", "author", "author:1"), ("3", "author", "author:2")),
        *(
            ("1", "genres", "Epic"),
            ("1", "genres", "Science fiction"),
            ("2", "genres", "Science fiction"),
        ),
        *(("3", "genres", "Epic"), ("1", "sequel", "2"), ("author:1", "born_in", "Tacoma")),
        *(("1", "language", "English"), ("2", "language", "English")),
    }
    assert {"1": "Dune", "author:1": "Frank Herbert"}.items() <= labels_of(graph).items()


@pytest.mark.parametrize(
    "document",
    [
        {
            "nodes": [{"id": "d", "label": "dog"}, {"id": "a"}],
            "links": [{"source": "d", "target": "a", "key": "is_a"}],
        },
        {
            "nodes": [{"id": "d", "label": "dog"}, {"id": "a"}],
            "edges": [{"source": "d", "target": "a", "label": "is_a"}],
        },
        {
            "elements": {
                "nodes": [{"data": {"id": "d", "label": "dog"}}, {"data": {"id": "a"}}],
                "edges": [
                    {"data": {"id": "e1", "source": "d", "target": "a", "interaction": "is_a"}}
                ],
            }
        },
        [{"head": {"id": "d", "label": "dog"}, "relation": "is_a", "tail": {"id": "a"}}],
        [{"subject": "d", "predicate": "is_a", "object": "a", "subject_label": "dog"}],
    ],
    ids=["networkx", "edges", "Cytoscape", "ends that are objects", "triples"],
)
def test_links(write, document: Any) -> None:
    graph = read(write("a.json", json.dumps(document)), on_error="raise")
    assert known(graph) == {("d", "is_a", "a")}
    assert labels_of(graph) == {"d": "dog", "a": "a"}


def test_what_neo4j_exports(write) -> None:
    lines = [
        {
            "type": "node",
            "id": "0",
            "labels": ["Person"],
            "properties": {"name": "Ann", "since": 2015},
        },
        {"type": "node", "id": "1", "labels": ["Person"], "properties": {"name": "Bob"}},
        {
            "type": "relationship",
            "id": "0",
            "label": "KNOWS",
            "start": {"id": "0"},
            "end": {"id": "1"},
        },
    ]
    graph = read(write("a.jsonl", "\n".join(map(json.dumps, lines))), on_error="skip")
    assert known(graph) == {
        ("0", "KNOWS", "1"),
        ("0", "labels", "Person"),
        ("1", "labels", "Person"),
    }
    assert labels_of(graph)["1"] == "Bob"


def test_what_has_the_id_of_its_record_is_no_tail_of_it(write) -> None:
    records = {
        "AED": {"name": "Dirham", "iso": {"code": "AED", "zone": "Gulf"}},
        "QAR": {"name": "Riyal", "iso": {"code": "QAR", "zone": "Gulf"}},
    }
    assert known(read(write("a.json", json.dumps(records)), on_error="skip")) == {
        ("AED", "zone", "Gulf"),
        ("QAR", "zone", "Gulf"),
    }


def test_numbers_by_place_are_no_links(write) -> None:
    records = [
        {"place": place, "year": year, "count": year % 7}
        for year in range(1990, 2000)
        for place in ("Rome", "Oslo")
    ]
    with pytest.raises(ReadError, match="expected a column of ids or labels, found none"):
        read(write("a.json", json.dumps(records)), on_error="skip")


def test_a_bundle_of_stix(write) -> None:
    def phase(name: str) -> dict[str, str]:
        return {"chain": "attack", "phase": name}

    objects = [
        {
            "type": "malware",
            "id": "m--1",
            "name": "Mimikatz",
            "platforms": ["Windows", "Linux"],
            "phases": [phase("theft")],
        },
        {
            "type": "malware",
            "id": "m--2",
            "name": "Chopstick",
            "platforms": ["Windows"],
            "phases": [phase("theft")],
        },
        {"type": "malware", "id": "m--3", "name": "Gone", "revoked": True},
        {
            "type": "tool",
            "id": "t--1",
            "name": "Ping",
            "platforms": ["Linux"],
            "phases": [phase("start"), phase("theft")],
        },
        {
            "type": "relationship",
            "id": "r",
            "relationship_type": "uses",
            "source_ref": "m--1",
            "target_ref": "t--1",
        },
    ]
    found = known(
        read(
            write("a.json", json.dumps({"type": "bundle", "id": "b", "objects": objects})),
            on_error="raise",
        )
    )
    assert {
        ("m--1", "uses", "t--1"),
        ("m--1", "platforms", "Linux"),
        ("t--1", "phases phase", "theft"),
    } <= found
    assert not any("m--3" in link or "is_a" in link for link in found)


def test_a_tree_is_a_hierarchy(write) -> None:
    tree = {
        "name": "Things",
        "children": [
            {"name": "Pets", "children": [{"name": "Dogs"}, {"name": "Other"}]},
            {
                "name": "Tools",
                "children": [{"name": "Other", "use": "repair"}, {"name": "Saws", "use": "repair"}],
            },
        ],
    }
    graph = read(write("a.json", json.dumps(tree)), on_error="raise")
    assert ("Things > Pets > Other", "is_a", "Things > Pets") in known(graph)
    assert ("Things > Tools > Other", "use", "repair") in known(graph)
    assert labels_of(graph)["Things > Pets > Other"] == "Other"
    assert len(graph.hierarchy().links) == 6
    with_ids = {
        "id": "t",
        "name": "Things",
        "children": [{"id": "p", "name": "Pets", "children": []}],
    }
    assert known(read(write("b.json", json.dumps([with_ids])), on_error="raise")) == {
        ("p", "is_a", "t")
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"some": "json"}', "found other JSON"),
        ('["dog", "cat"]', "found other JSON"),
        ("[]", "found something else"),
        ("[[[1]]]", "found other JSON"),
        ('[{"source": "a", "target": "b"}]', "expected a relation beside both ends"),
        ('[{"weight": 1}, {"weight": 2}]', "expected a column of ids or labels"),
        ('{"id": "a"} {"id": "b"}', "expected a JSON document a line"),
        ('[{"id": "a",]', "expected JSON, found a fault"),
        (
            json.dumps([{"id": "a", **{f"k{at}": at for at in range(1001)}}]),
            "expected records of the same keys",
        ),
    ],
)
def test_other_json(write, content: str, message: str) -> None:
    with pytest.raises(ReadError, match=rf"a\.json.*{message}"):
        read(write("a.json", content), on_error="raise")


@pytest.mark.parametrize(
    "content",
    [
        f'[{{"id": "a", "b": {"[" * 900}{"]" * 900}}}]',
        '{"id": "a", "b": ' * 900 + "1" + "}" * 900,
        '[{"id": {"id": {"id": 1}}}]',
        '[{"id": null, "name": ["a"], "children": [{}, 1, {"name": ""}]}]',
    ],
)
def test_odd_records_are_read_or_refused(write, content: str) -> None:
    with contextlib.suppress(ReadError):
        assert len(read(write("a.json", content), on_error="skip").ids) > 0


def test_a_faulty_line_does_not_cost_the_others(write) -> None:
    path = write(
        "a.jsonl",
        '{"head": "a", "relation": "r", "tail": "b"}\n\n{"head": \n{"head": "c", "relation": '
        '"r", "tail": null}\n',
    )
    graph = read(path, on_error="skip")
    assert (known(graph), graph.skipped) == ({("a", "r", "b")}, 2)
    with pytest.raises(ReadError, match=r"a.jsonl:3: expected a JSON document a line"):
        read(path, on_error="raise")


def test_records_meet_tables(write) -> None:
    films = json.dumps(
        [{"id": at, "title": f"Film {at}", "company_id": at % 2 + 1} for at in range(1, 7)]
    )
    write("films.json", films)
    path = write("companies.csv", "id,name\n1,Ufa\n2,Gaumont\n")
    with pytest.warns(ReadWarning, match="read as companies"):
        graph = read(path.parent)
    assert ("films:1", "company_id", "companies:2") in known(graph)


STAFF = pd.DataFrame(
    {"id": ["a", "b", "c"], "name": ["Ann", "Bob", "Cy"], "boss": ["b", "c", None]}
)


@pytest.mark.parametrize(
    "form", ["split", "records", "index", "columns", "values", "table", "list"]
)
def test_tables_by_rows_or_by_columns(write, form: Any) -> None:
    """As pandas writes them; rows without names of their columns must be triples."""
    frame = pd.DataFrame([["a", "boss", "b"], ["b", "boss", "c"]]) if form == "values" else STAFF
    text = json.dumps(frame.to_dict("list")) if form == "list" else frame.to_json(orient=form)
    graph = read(write("staff.json", text), on_error="skip")
    assert known(graph) == {("a", "boss", "b"), ("b", "boss", "c")}
    assert form == "values" or labels_of(graph) == {"a": "Ann", "b": "Bob", "c": "Cy"}


def test_a_key_that_each_link_has_for_itself_is_no_relation(write) -> None:
    links = [
        {"key": f"e{at}", "source": head, "target": "a", "type": "is_a"}
        for at, head in enumerate("bcd")
    ]
    assert known(read(write("a.json", json.dumps(links)))) == {
        (head, "is_a", "a") for head in "bcd"
    }
    nested = [
        {
            "key": link["key"],
            "source": link["source"],
            "target": "a",
            "attributes": {"type": "is_a"},
        }
        for link in links
    ]
    assert known(read(write("a.json", json.dumps(nested)))) == {
        (head, "is_a", "a") for head in "bcd"
    }
    keyed = [{"source": link["source"], "target": "a", "key": "is_a"} for link in links]
    assert known(read(write("a.json", json.dumps(keyed)))) == {
        (head, "is_a", "a") for head in "bcd"
    }


def test_files_of_a_folder_may_be_a_record_each(write) -> None:
    names = {"Norway", "Sweden", "Finland"}
    borders = {name: sorted(names - {name}) for name in names}
    for name, others in borders.items():
        code = {"Norway": "NOR", "Sweden": "SWE", "Finland": "FIN"}[name]
        record = {"name": name, "region": "Europe", "borders": others, "ISO": {"alpha3": code}}
        path = write(f"countries/{name}.json", json.dumps(record))
    with pytest.warns(ReadWarning, match="countries: left out alpha3"):
        graph = read(path.parent)
    assert known(graph) == {(name, "region", "Europe") for name in borders} | {
        (name, "borders", other) for name in borders for other in {*borders} - {name}
    }


def test_records_of_a_folder_that_say_different_things_stay_apart(write) -> None:
    write("a/dog.json", json.dumps({"name": "dog", "children": [{"name": "pup"}]}))
    write("a/codes.json", json.dumps({"mid": "x", **{f"c{at}": "y" for at in range(1100)}}))
    path = write(
        "a/tool.json",
        json.dumps({"name": "tool", "version": "1", "licence": "MIT", "author": "Ann"}),
    )
    with pytest.warns(ReadWarning) as found:
        graph = read(path.parent)
    assert known(graph) == {("dog > pup", "is_a", "dog")}
    said = "\n".join(str(one.message) for one in found)
    assert "codes.json: expected OBO-graph JSON" in said
    assert "tool.json: left out version (numbers or dates), licence, author (" in said


@pytest.mark.parametrize("form", ["csv", "json"])
def test_what_a_sparql_endpoint_answers(write, form: str) -> None:
    place = "http://x.org/entity/"
    names = ("item", "itemLabel", "itemDescription", "country", "countryLabel")
    rows = [
        (f"{place}Q64", "Berlin", "a city", f"{place}Q183", "Germany"),
        (f"{place}Q1726", "Munich", "another", f"{place}Q183", "Germany"),
        (f"{place}Q90", "Paris", "a third", f"{place}Q142", "France"),
    ]
    bindings = [
        {
            name: {"type": "uri" if "://" in cell else "literal", "value": cell}
            for name, cell in zip(names, row, strict=True)
        }
        for row in rows
    ]
    answer = {"head": {"vars": names}, "results": {"bindings": [*bindings, 1, {"item": 2}]}}
    table = "\n".join(map(",".join, [names, *rows])) + "\n"
    graph = read(
        write(f"a.{form}", table if form == "csv" else json.dumps(answer)), on_error="skip"
    )
    assert known(graph) == {
        (f"{place}{city}", "country", f"{place}{country}")
        for city, country in (("Q64", "Q183"), ("Q1726", "Q183"), ("Q90", "Q142"))
    }
    assert {f"{place}Q64": "Berlin", f"{place}Q142": "France"}.items() <= labels_of(graph).items()
    assert "a city" in graph.definitions


def test_objects_inside_records_that_are_records_too(write) -> None:
    records = [
        {
            "id": 1,
            "label": None,
            "name": "dog",
            "parent": {"name": "Animal"},
            "likes": [{"name": "cat"}, {"name": "bone"}],
        },
        {"name": "cat", "label": "", "id": 2, "parent": {"id": 3}},
        {"id": 3, "name": "animal"},
    ]
    graph = read(write("a.json", json.dumps(records)), on_error="raise")
    assert known(graph) == {
        ("1", "is_a", "3"),
        ("2", "is_a", "3"),
        ("1", "likes", "2"),
        ("1", "likes", "bone"),
    }
    assert labels_of(graph) == {"1": "dog", "2": "cat", "3": "animal", "bone": "bone"}
    assert len(graph.hierarchy().links) == 2


def test_links_in_lists_inside_records_have_their_own_relations(write) -> None:
    dog = {
        "id": "d",
        "label": "dog",
        "links": [{"type": "hypernym", "target": "a"}, {"type": "has", "target": "t"}],
    }
    animal = {
        "id": "a",
        "label": "animal",
        "links": [{"rel": "part_of", "object_id": "w"}, {"rel": "name", "to": "w"}],
    }
    others = [{"id": "t", "label": "tail"}, {"id": "w", "label": "world"}]
    graph = read(write("a.json", json.dumps([dog, animal, *others])), on_error="raise")
    assert known(graph) == {
        ("d", "is_a", "a"),
        ("d", "has", "t"),
        ("a", "part_of", "w"),
        ("a", "links name", "w"),
    }


GENE = {"name": "gene one", "categories": ["biolink:Gene"]}
ILLNESS = {"name": "illness one", "categories": ["biolink:Disease"]}
EDGE = {"subject": "G:1", "predicate": "biolink:causes", "object": "M:1"}


@pytest.mark.parametrize(
    "document",
    [
        {
            "graph": {
                "directed": True,
                "nodes": {"G:1": GENE, "M:1": ILLNESS},
                "edges": [EDGE, EDGE],
            }
        },
        {"nodes": {"G:1": GENE, "M:1": ILLNESS}, "edges": [EDGE]},
        {"concepts": {"G:1": GENE, "M:1": ILLNESS}, "relations": [EDGE]},
        {"edges": {"x1": EDGE}, "nodes": [{"id": "G:1", **GENE}, {"id": "M:1", **ILLNESS}]},
        {
            "message": {
                "query_graph": {
                    "nodes": {"n0": {"ids": ["G:1"]}, "n1": {}},
                    "edges": {"e0": {"subject": "n0", "object": "n1"}},
                },
                "knowledge_graph": {
                    "nodes": {"G:1": GENE, "M:1": ILLNESS},
                    "edges": {"x1": {**EDGE, "sources": [{"resource_id": "infores:a"}]}},
                },
                "results": [{"node_bindings": {"n0": [{"id": "G:1"}], "n1": [{"id": "M:1"}]}}],
            }
        },
    ],
)
@pytest.mark.filterwarnings("ignore:.*left out")
def test_a_map_under_ids_stands_beside_a_list(write, document: dict) -> None:
    graph = read(write("a.json", json.dumps(document)))
    assert ("G:1", "biolink:causes", "M:1") in says(graph)["known"]
    names = dict(zip(graph.ids, graph.labels, strict=True))
    assert (names["G:1"], names["M:1"]) == ("gene one", "illness one")
    assert names.keys() <= {"G:1", "M:1", "biolink:Gene", "biolink:Disease"}


def test_objects_about_a_document_are_no_records(write) -> None:
    document = {
        "meta": {"by": {"name": "Ann"}, "for": {"name": "Bob"}},
        "nodes": [{"id": "a", "name": "A"}],
    }
    assert [*read(write("a.json", json.dumps(document)), on_error="skip").ids] == ["a"]


def test_records_of_too_many_keys_are_refused_at_once(write) -> None:
    """As the interfaces of services in JSON have them: 7,483 shapes, each of other members."""
    shapes = {
        f"Shape{at}": {"type": "structure", "members": {f"F{at}": {"of": 1}, "Name": {"of": 2}}}
        for at in range(7483)
    }
    path = write(
        "a.json", json.dumps({"version": "2.0", "metadata": {"of": "x"}, "shapes": shapes})
    )
    start = time.process_time()
    with pytest.raises(ReadError, match="different ones; cut the list or the map of the records"):
        read(path)
    assert time.process_time() - start < 5
