"""Overview of a graph."""

from __future__ import annotations

from ontodex.graph import GraphBuilder
from ontodex.graph.overview import RELATIONS, overview


def test_relations_with_most_triples_come_first() -> None:
    builder = GraphBuilder("relations")
    for number in range(RELATIONS + 5):
        for head in range(number):
            builder.triple(f"head {head}", f"ex:r{number}", "tail")
    found = overview(builder.build())
    assert [one["triples"] for one in found["relations"]] == [24 - at for at in range(RELATIONS)]
    assert found["relations"][0]["id"] == "ex:r24"
    assert found["relations"][0]["example"] == "head 0 r24 tail"
    assert "hierarchy" not in found


def test_roots_with_most_children_come_first_and_cycles_do_no_harm() -> None:
    builder = GraphBuilder("hierarchy")
    for child, parent in ("ab", "cd", "ed", "fe", "gf", "xy", "yx"):
        builder.triple(child, "is_a", parent)
    found = overview(builder.build())["hierarchy"]
    assert found["first_roots"][:2] == ["d", "b"]
    assert found["roots"] == len(found["first_roots"])
    assert found["depth"] == 3


def test_a_relation_without_triples_has_no_example() -> None:
    builder = GraphBuilder("one")
    builder.entity("ex:1", "one")
    builder.relation("ex:r", "of")
    assert overview(builder.build()) == {
        "relations": [{"id": "ex:r", "label": "of", "triples": 0, "example": None}]
    }
