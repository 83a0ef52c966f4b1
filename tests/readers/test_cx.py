"""Networks of NDEx and Cytoscape."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says

CX: list[Any] = [
    {"numberVerification": [{"longNumber": 281474976710655}]},
    {"metaData": [{"name": "nodes", "elementCount": 2}]},
    {"@context": [{"uniprot": "http://identifiers.org/uniprot/"}]},
    {
        "nodes": [
            {"@id": 1, "n": "LRP6", "r": "uniprot:O75581"},
            {"@id": 2, "n": "Axin complex", "r": "a complex"},
        ]
    },
    {"nodes": [{"@id": 3, "n": "twin"}, {"@id": 4, "n": "twin"}]},
    {
        "edges": [
            {"@id": 5, "s": 1, "t": 2, "i": "inhibits"},
            {"@id": 6, "s": 3, "t": 4, "i": "binds"},
        ]
    },
    {
        "nodeAttributes": [
            *(
                {"po": number, "n": "TYPE", "v": kind}
                for number, kind in ((1, "protein"), (2, "complex"), (3, "protein"))
            ),
            {"po": 1, "n": "alias", "v": ["ADCAD2", "STHAG7"], "d": "list_of_string"},
            {"po": 99, "n": "TYPE", "v": "of nobody"},
        ]
    },
    {"edgeAttributes": [{"po": 5, "n": "name", "v": "LRP6 (inhibits) Axin"}]},
    {"cartesianLayout": [{"node": 1, "x": 269.6, "y": 65.5}]},
    {"status": [{"error": "", "success": True}]},
]
CX2: list[Any] = [
    {"CXVersion": "2.0", "hasFragments": False},
    {
        "attributeDeclarations": [
            {
                "nodes": {
                    "name": {"a": "n", "d": "string"},
                    "represents": {"a": "r"},
                    "TYPE": {"a": "t", "d": "string"},
                },
                "edges": {"interaction": {"a": "i"}},
            }
        ]
    },
    {
        "nodes": [
            {
                "id": 1,
                "x": 1.5,
                "y": 2.5,
                "v": {
                    "n": "LRP6",
                    "r": "uniprot:O75581",
                    "t": "protein",
                    "alias": ["ADCAD2", "STHAG7"],
                },
            },
            {"id": 2, "v": {"n": "Axin complex", "r": "a complex", "t": "complex"}},
            {"id": 3, "v": {"n": "twin", "t": "protein"}},
            {"id": 4, "v": {"n": "twin"}},
        ]
    },
    {
        "edges": [
            {"id": 5, "s": 1, "t": 2, "v": {"i": "inhibits", "name": "LRP6 (inhibits) Axin"}},
            {"id": 6, "s": 3, "t": 4, "v": {"interaction": "binds"}},
        ]
    },
    {"visualProperties": [{"default": {"edge": {"EDGE_WIDTH": 2.0}}}]},
    {"status": [{"success": True}]},
]


@pytest.mark.parametrize("document", [CX, CX2])
def test_nodes_and_edges(write, document: list[Any]) -> None:
    said = says(read(write("net.cx", json.dumps(document, indent=1)), on_error="skip"))
    assert said["known"] == {
        ("uniprot:O75581", "inhibits", "Axin complex"),
        ("3", "binds", "4"),
        ("uniprot:O75581", "TYPE", "protein"),
        ("Axin complex", "TYPE", "complex"),
        ("3", "TYPE", "protein"),
    }
    assert said["entities"]["uniprot:O75581"] == ("LRP6", {"ADCAD2", "STHAG7"}, "")
    assert said["entities"]["3"][0] == said["entities"]["4"][0] == "twin"


def test_what_is_no_node_or_edge_is_named(write) -> None:
    broken = [
        *CX2,
        {"nodes": [7, {"v": {"n": "nobody"}}]},
        {"edges": [{"id": 8, "s": 1, "t": 77, "v": {"i": "inhibits"}}]},
    ]
    with pytest.warns(
        ReadWarning, match=r"(?s)3 faulty part\(s\).*of nodes with an id.*between two nodes"
    ):
        assert read(write("net.cx2", json.dumps(broken))).skipped == 3


def test_edges_that_do_not_say_what_they_are_are_refused(write) -> None:
    bare = [CX[0], CX[3], {"edges": [{"@id": 5, "s": 1, "t": 2}]}]
    with pytest.raises(ReadError, match="a relation beside both ends"):
        read(write("net.cx", json.dumps(bare)))
