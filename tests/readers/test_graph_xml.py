"""Graphs in XML: GraphML and GEXF."""

from __future__ import annotations

from io import BytesIO

import networkx
import pytest

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says

NEO4J = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="name" for="node" attr.name="name" attr.type="string"/>
<key id="labels" for="node" attr.name="labels" attr.type="string"/>
<key id="label" for="edge" attr.name="label" attr.type="string"/>
<graph id="G" edgedefault="directed">
<node id="n1" labels=":User:Person"><data key="labels">:User:Person</data>
<data key="name">Ann</data></node>
<node id="n2" labels=":User"><data key="labels">:User</data><data key="name">Bob</data></node>
<edge id="e1" source="n1" target="n2" label="KNOWS"><data key="label">KNOWS</data></edge>
</graph></graphml>
"""


def pets(*, named_by_key: bool = False) -> networkx.MultiDiGraph:
    graph = networkx.MultiDiGraph()
    for name, (label, kind) in {
        "d": ("dog", "tame"),
        "c": ("cat", "tame"),
        "a": ("animal", "any"),
    }.items():
        graph.add_node(name, label=label, kind=kind)
    for head, relation, tail in (("d", "is_a", "a"), ("c", "is_a", "a"), ("d", "chases", "c")):
        graph.add_edge(head, tail, **{"key" if named_by_key else "relation": relation})
    return graph


def written(graph: networkx.Graph, format: str) -> bytes:
    stream = BytesIO()
    {"graphml": networkx.write_graphml, "gexf": networkx.write_gexf}[format](graph, stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("format", "named_by_key"), [("graphml", False), ("graphml", True), ("gexf", False)]
)
def test_nodes_and_edges(write, format: str, named_by_key: bool) -> None:
    said = says(
        read(
            write(f"a.{format}", written(pets(named_by_key=named_by_key), format)), on_error="skip"
        )
    )
    assert {
        ("d", "is_a", "a"),
        ("c", "is_a", "a"),
        ("d", "chases", "c"),
        ("d", "kind", "tame"),
    } <= said["known"]
    assert said["entities"]["d"][0] == "dog"


def test_attributes_named_as_ends_and_ids_are_none(write) -> None:
    graph = networkx.DiGraph()
    graph.add_node("d", label="dog", id="7")
    graph.add_edge("d", "a", relation="is_a", source="a book")
    assert says(read(write("a.graphml", written(graph, "graphml")), on_error="skip"))["known"] == {
        ("d", "is_a", "a")
    }


def test_what_neo4j_exports(write) -> None:
    said = says(read(write("a.xml", NEO4J), on_error="raise"))
    assert said["known"] == {
        ("n1", "KNOWS", "n2"),
        ("n1", "labels", "User"),
        ("n1", "labels", "Person"),
        ("n2", "labels", "User"),
    }
    assert said["entities"]["n1"][0] == "Ann"


def test_edges_without_a_direction_make_a_warning(write) -> None:
    graph = networkx.Graph()
    graph.add_edge("d", "c", relation="near")
    with pytest.warns(ReadWarning, match="no direction"):
        assert says(read(write("a.graphml", written(graph, "graphml"))))["known"] == {
            ("d", "near", "c")
        }


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.graphml", NEO4J.replace("</graph>", ""), "found a fault"),
        (
            "a.graphml",
            NEO4J.replace('for="edge" attr.name="label"', 'for="edge" attr.name="since"'),
            "expected a relation",
        ),
        ("a.graphml", NEO4J.replace('key="name"', 'key="age"'), "found a fault"),
        ("a.graphml", '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"/>', "found a fault"),
        ("a.graphml", "<graphml><graph/></graphml>", "a graph with nodes"),
        ("a.gexf", '<gexf version="1.3"><graph/></gexf>', "found a fault"),
        (
            "a.graphml",
            '<!DOCTYPE graphml [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
            + NEO4J.partition(">")[2],
            "external",
        ),
        (
            "a.graphml",
            f'<!DOCTYPE graphml [<!ENTITY a "&b;&b;">]>{NEO4J.partition(">")[2]}',
            "holds others",
        ),
    ],
)
def test_what_is_no_graph_is_refused(write, name: str, content: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read(write(name, content))


def test_graphml_may_do_without_its_namespace(write) -> None:
    plain = NEO4J.replace(' xmlns="http://graphml.graphdrawing.org/xmlns"', "")
    assert says(read(write("a.graphml", plain), on_error="raise")) == says(
        read(write("b.graphml", NEO4J))
    )
