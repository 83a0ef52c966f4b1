"""Individuals in answers: below their classes, and what *is a* means of them."""

from __future__ import annotations

import pytest

import ontodex
from ontodex.graph import GraphBuilder
from tests.plain import build_plain


def test_an_individual_stands_below_its_class(tmp_path, tiny_encoder):
    builder = GraphBuilder("software")
    builder.triple("VersionControl", "rdfs:subClassOf", "Software")
    builder.triple("Git", "rdf:type", "VersionControl")
    builder.triple("Git", "written in", "C")
    with build_plain(builder.build(), tmp_path / "x.odx", tiny_encoder) as engine:
        found = engine.describe("Git")
        assert found.paths == (("Software", "VersionControl", "Git"),)
        assert found.parents.first == (("VersionControl", "VersionControl"),)
        assert [some.relation for some in found.links] == ["written in"]
        [hit] = engine.tails("C", "inverse written in", known="only").described()
        assert hit.path == ("Software", "VersionControl", "Git")


@pytest.mark.parametrize(
    ("head", "relation", "by", "tail"),
    [
        ("Git", "is a", "rdf:type", "VersionControl"),
        ("VersionControl", "is a", "rdfs:subClassOf", "Software"),
        ("Git", "rdfs:subClassOf", "rdfs:subClassOf", None),
        ("Software", "narrower", "rdfs:subClassOf", "VersionControl"),
        ("Software", "is a", "rdfs:subClassOf", None),  # its metaclass is no parent
    ],
)
def test_is_a_of_an_individual_leads_to_its_class(tmp_path, tiny_encoder, head, relation, by, tail):
    builder = GraphBuilder("software")
    builder.relation("rdfs:subClassOf", "is a")
    builder.triple("VersionControl", "rdfs:subClassOf", "Software")
    builder.triple("Git", "rdf:type", "VersionControl")
    builder.triple("Software", "rdf:type", "NodeShape")
    with build_plain(builder.build(), tmp_path / "x.odx", tiny_encoder) as engine:
        found = engine.tails(head, relation, known="only")
        assert found.resolutions["relation"].id == by
        assert [hit.id for hit in found] == [tail] * (tail is not None)
        if tail == "VersionControl" and by == "rdf:type":
            assert engine.why(head, relation, tail).asserted_by == "software"


def test_a_class_above_the_asserted_one_is_no_missing_link(tmp_path, tiny_encoder):
    builder = GraphBuilder("software")
    for child, by, parent in (
        ("VersionControl", "rdfs:subClassOf", "Software"),
        ("Compiler", "rdfs:subClassOf", "Software"),
        ("Git", "rdf:type", "VersionControl"),
    ):
        builder.triple(child, by, parent)
    trained = {"train": True, "training": ontodex.HyperCLTraining(steps=1), "structure": False}
    with build_plain(builder.build(), tmp_path / "x.odx", tiny_encoder, **trained) as engine:
        found = {(link.head, link.tail) for link in engine.missing("rdf:type", k=50)}
        assert ("Git", "Compiler") in found
        assert ("Git", "Software") not in found
