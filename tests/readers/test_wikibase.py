"""Entities of Wikibase in JSON, as Wikidata's dumps and pages have them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says


def statement(
    relation: str, value: Any, rank: str = "normal", kind: str = "wikibase-entityid"
) -> dict[str, Any]:
    data = {
        "type": kind,
        "value": {"entity-type": "item", "id": value} if kind == "wikibase-entityid" else value,
    }
    snak = {"snaktype": "value", "property": relation, "datavalue": data}
    return {"mainsnak": snak, "type": "statement", "rank": rank, "qualifiers": {"P580": [snak]}}


def entity(identifier: str, claims: Any, **labels: str) -> dict[str, Any]:
    return {
        "type": "property" if identifier.startswith("P") else "item",
        "id": identifier,
        "labels": {tag: {"language": tag, "value": text} for tag, text in labels.items()},
        "descriptions": {"en": {"language": "en", "value": f"what {identifier} is"}}
        if labels
        else [],
        "aliases": {"en": [{"language": "en", "value": f"{identifier} too"}]} if labels else [],
        "claims": claims,
        "sitelinks": {"enwiki": {"site": "enwiki", "title": identifier, "badges": []}},
    }


DOG = entity(
    "Q144",
    {
        "P279": [statement("P279", "Q39201"), statement("P279", "Q1", "deprecated")],
        "P1659": [statement("P1659", "Q2"), statement("P1659", "Q3", "preferred")],
        "P1036": [statement("P1036", "599.77", kind="string")],
        "P10": [{"mainsnak": {"snaktype": "novalue", "property": "P10"}, "rank": "normal"}],
    },
    de="Hund",
    en="dog",
)
PET = entity("Q39201", [], en="pet")
SEE_ALSO = entity("P1659", {"P31": [statement("P31", "Q4")]}, en="see also")


@pytest.mark.parametrize("form", ["page", "dump", "lines"])
def test_statements_that_count_are_links(write, form: str) -> None:
    entities = [DOG, PET, SEE_ALSO]
    text = {
        "page": json.dumps({"entities": {one["id"]: one for one in entities}}),
        "dump": "[\n" + ",\n".join(map(json.dumps, entities)) + "\n]\n",
        "lines": "\n".join(map(json.dumps, entities)),
    }[form]
    graph = read(write("wikidata.json", text), on_error="raise")
    assert says(graph)["known"] == {("Q144", "P279", "Q39201"), ("Q144", "P1659", "Q3")}
    assert dict(zip(graph.relation_ids, graph.relation_labels, strict=True)) == {
        "P279": "subclass of",
        "P1659": "see also",
    }
    assert says(graph)["entities"]["Q144"] == ("dog", {"Q144 too"}, "what Q144 is")
    assert {graph.ids[one] for one in graph.hierarchy().ancestors([*graph.ids].index("Q144"))} == {
        "Q39201"
    }


def test_labels_may_be_in_another_language(write) -> None:
    graph = read(write("wikidata.json", json.dumps([DOG, PET, SEE_ALSO])), language="de")
    assert {"Hund", "pet"} <= {*graph.labels}


def test_properties_without_a_label_are_named(write) -> None:
    broken = {"id": 3, "claims": {}}
    with pytest.warns(ReadWarning) as found:
        graph = read(write("wikidata.json", json.dumps([DOG, broken])))
    assert "found no label of P1659: read the entities of these properties too" in str(
        found[0].message
    )
    assert graph.skipped == 1
