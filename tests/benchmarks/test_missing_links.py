"""The benchmark of link discovery: missing links ranked by probability and by score."""

from __future__ import annotations

import dataclasses
from argparse import ArgumentParser, Namespace

import numpy as np
import pytest

from benchmarks import missing_links
from ontodex.graph import GraphBuilder, write_tsv


def test_every_way_is_measured(tmp_path, monkeypatch):
    builder = GraphBuilder("numbers")
    for number in range(120):
        for later in range(number + 1, number + 4):
            builder.triple(f"n{number}", "before", f"n{later % 120}")
            builder.triple(f"n{later % 120}", "after", f"n{number}")
    graph = builder.build()
    out = np.random.default_rng(0).random(graph.n_triples) < 0.1
    kept = {side: getattr(graph, side)[~out] for side in ("heads", "relations", "tails")}
    write_tsv(dataclasses.replace(graph, **kept, test=graph.triples[out]), tmp_path / "wn18rr")
    monkeypatch.setattr(missing_links, "FIRST", (5, 50))
    parser = ArgumentParser()
    missing_links.add_options(parser)
    options = Namespace(
        **vars(parser.parse_args(["--graph", "wn18rr"])), seed=0, quick=True, data=tmp_path
    )
    (measured,) = missing_links.run(options)
    assert list(measured.figures) == [
        *("ontodex, between what nothing links yet", "ontodex"),
        *("kNN over linked things", "kNN over linked things, linked or not"),
    ]
    for way, figures in measured.figures.items():
        shares = [figures[f"right of the first {n}"] for n in (5, 50)]
        assert all(0 <= share <= 1 for share in shares)
        assert ("seconds" in figures) == way.startswith("ontodex")
    assert measured.figures["ontodex"]["right of the first 50"] > 0.1
    assert measured.settings["candidates of the rule"] == 0


def small(*triples):
    builder = GraphBuilder("small")
    for triple in triples:
        builder.triple(*triple)
    return builder.build()


def triples_of(graph, keys):
    heads, relations, tails = missing_links._ends(graph, keys)
    return [
        (graph.ids[head], graph.relation_ids[relation], graph.ids[tail])
        for head, relation, tail in zip(heads, relations, tails, strict=True)
    ]


def test_reverses_of_symmetric_relations_are_proposed():
    graph = small(
        *(("a", "like", "b"), ("b", "like", "a"), ("c", "like", "d")),
        *(("a", "above", "b"), ("b", "above", "c")),
    )
    found = missing_links.reverse_links(graph, graph.triples)
    assert triples_of(graph, found) == [("d", "like", "c")]


@pytest.mark.parametrize("power", [1, 4])
def test_neighbours_by_shared_links_propose_what_they_have(power):
    graph = small(
        *(("a", "has", "x"), ("a", "has", "y"), ("a", "has", "z")),
        *(("b", "has", "x"), ("b", "has", "y")),
        *(("c", "has", "w"), ("c", "in", "x")),
    )
    keys, scores = missing_links.nearest_links(
        graph, graph.triples, missing_links.Nearest(1, power)
    )
    found = triples_of(graph, keys)
    assert found[0] == ("b", "has", "z")
    known = set(triples_of(graph, missing_links._keys(graph, graph.triples)))
    assert not known & set(found)
    assert len(set(found)) == len(found)
    assert (np.diff(scores) <= 0).all()
    heads, _, tails = missing_links._ends(graph, keys)
    linked = missing_links.are_linked(graph, graph.triples, np.stack([heads, tails], axis=1))
    pairs = {frozenset((head, tail)) for head, _, tail in known}
    assert linked.tolist() == [frozenset((head, tail)) in pairs for head, _, tail in found]
