"""Kinds of entities, against the definition and on a graph of one-to-one relations."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

import ontodex
from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.scoring.kinds import kinds_of

SYLLABLES = ("ba", "lo", "mi", "ra", "tu", "ve", "so", "ki", "ne", "da", "pu", "go")


def pets() -> KnowledgeGraph:
    """Three pets of two owners, and a thing without links; classes of pets."""
    builder = GraphBuilder("pets")
    for name in ("p:rex", "p:tom", "p:kit", "o:ann", "o:bob", "p:none"):
        builder.entity(name, name)
    builder.triple("o:ann", "has", "p:rex")
    builder.triple("o:bob", "has", "p:tom")
    builder.triple("p:tom", "fears", "p:rex")
    for name, kind in (("p:rex", "c:dog"), ("p:tom", "c:cat"), ("p:kit", "c:cat")):
        builder.triple(name, "is_a", kind)
    return builder.build()


def test_the_vector_of_a_relation_is_that_of_the_definition() -> None:
    graph = pets()
    kinds = kinds_of(graph)
    row = {name: at for at, name in enumerate(graph.ids)}
    relation = graph.relation_ids.index("has")
    columns = {tuple(column): at for at, column in enumerate(kinds.entities.T)}

    def column(*names: str) -> int:
        return columns[tuple(float(name in names) for name in row)]

    count = graph.n_entities
    pet, cat = (
        column("p:rex", "p:tom", "p:kit", "p:none"),  # prefix
        column("p:tom", "p:kit", "c:cat"),  # branch
    )
    for at, size, of_tails in ((pet, 4, 2), (cat, 3, 1)):
        base = (size + 0.5) / (count + 1)
        share = (of_tails + base) / 3
        wanted = np.log(share / (1 - share)) - np.log(base / (1 - base))
        np.testing.assert_allclose(kinds.relations[relation, at], wanted, rtol=1e-5)
    assert kinds.relations[relation, column("p:rex", "p:tom")] == 0  # its tails
    assert kinds.relations[relation, column("o:ann", "o:bob")] < 0  # its heads
    scores = kinds.entities @ kinds.relations[relation]
    assert scores[row["p:kit"]] > scores[row["p:none"]] > scores[row["o:ann"]]


def test_the_class_of_an_individual_is_a_part_of_its_kind() -> None:
    builder = GraphBuilder("art")
    for name, of in (("Louvre", "museum"), ("Prado", "museum"), ("Raphael", "painter")):
        builder.triple(name, "rdf:type", of)
    builder.triple("museum", "rdfs:subClassOf", "institution")
    builder.triple("Mona Lisa", "located in", "Louvre")
    graph = builder.build()
    kinds = kinds_of(graph)
    row = {name: at for at, name in enumerate(graph.ids)}
    located, of = (graph.relation_ids.index(name) for name in ("located in", "rdf:type"))
    scores = kinds.entities @ kinds.relations[located]
    assert scores[row["Prado"]] > scores[row["Raphael"]]
    museums = [float(name in ("Louvre", "Prado")) for name in graph.ids]
    column = kinds.entities.T.tolist().index(museums)
    assert kinds.relations[located, column] > 0
    assert not kinds.relations[[of, of + graph.n_relations], column].any()


def test_a_graph_without_links_has_no_vectors() -> None:
    builder = GraphBuilder("bare")
    builder.entity("a:1", "one")
    builder.relation("r", "r")
    kinds = kinds_of(builder.build())
    assert kinds.entities.shape[0] == 1
    assert not kinds.relations.any()


def world() -> tuple[KnowledgeGraph, dict[str, str]]:
    """Countries with one capital each, cities, and people; and the kind of each name."""
    draw, builder, kind = random.Random(0), GraphBuilder("world"), {}

    def names(count: int, ending: str, of: str) -> list[str]:
        made: list[str] = []
        while len(made) < count:
            name = "".join(draw.choice(SYLLABLES) for _ in range(3)).capitalize() + ending
            if name not in kind:
                kind[name] = of
                made.append(name)
        return made

    countries = names(60, "land", "country")
    cities, people = names(120, " City", "city"), names(100, " Tunson", "person")
    where = dict(
        zip(cities, [*countries, *(draw.choice(countries) for _ in cities[60:])], strict=True)
    )
    for city, country in where.items():
        builder.triple(city, "located in country", country)
    for city in cities[:60]:
        builder.triple(where[city], "capital", city)
    for person in people:
        born = draw.choice(cities)
        builder.triple(person, "born in", born)
        builder.triple(person, "citizen of", where[born])
        builder.triple(person, "married to", draw.choice(people))
    return builder.build(), kind


def test_answers_about_new_entities_are_of_the_kind_of_the_relation(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    graph, kind = world()
    training = ontodex.HyperCLTraining(
        steps=20, queries=32, negatives=8, rank=4, condition=8, width=16
    )
    with ontodex.build(
        graph,
        tmp_path / "world.odx",
        encoders=tiny_encoder,
        structure=ontodex.ComplExTraining(rank=12, steps=150),
        training=training,
        device="cpu",
        entailment=False,
        quiet=True,
    ) as engine:
        for relation, ending, tails, heads in (
            ("located in country", " City", "country", None),
            ("capital", "land", "city", None),
            ("capital", " City", None, "country"),
            ("citizen of", " Miveson", "country", None),
            ("born in", " City", None, "person"),
        ):
            new = [f"{a}vo{b}{ending}" for a in ("Tra", "Mil") for b in ("ne", "ki", "go")]
            if tails:
                answers = engine.tails_batch([(name, relation) for name in new], 10)
            else:
                answers = engine.heads_batch([(relation, name) for name in new], 10)
            found = [kind[hit.id] == (tails or heads) for hits in answers for hit in hits]
            assert np.mean(found) >= 0.95
        assert "kind" in str(engine.why("Travone City", "located in country", next(iter(kind))))
