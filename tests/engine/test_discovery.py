"""Link discovery, against held-out links and against the answers of `tails` and `heads`."""

from __future__ import annotations

import json
import pickle
import shutil

import numpy as np
import pytest

import ontodex
from ontodex.engine.discovery import _joined, _most_probable
from ontodex.errors import IndexMismatch, SettingsError, UnknownRelation
from ontodex.graph import GraphBuilder
from tests.plain import build_plain


def triples(found):
    return [(link.head, link.relation, link.tail) for link in found]


@pytest.fixture(scope="module")
def missing(family):
    engine, _ = family
    return engine.missing(k=300, quiet=True)


def test_held_out_links_rank_first(family, missing):
    _, held_out = family
    true = {(child, "ex:childOf", parent) for child, parent in held_out}
    assert np.mean([triple in true for triple in triples(missing)[: len(true)]]) > 0.8
    first = [link.probability for link in missing[: len(true)]]
    assert np.mean(first) > 5 * np.mean([link.probability for link in missing[-50:]])


@pytest.mark.slow
def test_the_missing_direction_of_symmetric_links_is_found(tmp_path, tiny_encoder):
    builder, couples = GraphBuilder("couples"), 150
    for one in range(couples):
        builder.triple(f"ex:{one}", "ex:marriedTo", f"ex:{one + couples}")
        if one % 6:
            builder.triple(f"ex:{one + couples}", "ex:marriedTo", f"ex:{one}")
    settings = {
        "training": ontodex.HyperCLTraining(steps=5),
        "hierarchy": False,
        "entailment": False,
        "quiet": True,
    }
    with ontodex.build(
        builder.build(), tmp_path / "couples.odx", encoders=[tiny_encoder], device="cpu", **settings
    ) as engine:
        found = triples(engine.missing(k=couples // 6, quiet=True))
    halves = {(f"ex:{one + couples}", "ex:marriedTo", f"ex:{one}") for one in range(0, couples, 6)}
    assert len(halves & set(found)) > 0.8 * len(halves)


def test_every_link_is_new_named_once_and_its_probability_falls(family, missing):
    engine, _ = family
    found = triples(missing)
    known = {
        (engine.graph.ids[h], engine.graph.relation_ids[r], engine.graph.ids[t])
        for h, r, t in engine.graph.triples.tolist()
    }
    assert len(found) == len(set(found)) == 300
    assert not known & set(found)
    assert all(head != tail for head, _, tail in found)
    probabilities = [link.probability for link in missing]
    assert probabilities == sorted(probabilities, reverse=True)
    assert 0 < probabilities[-1] < probabilities[0] < 1
    np.testing.assert_allclose([link.score for link in missing], np.log(probabilities))
    assert [link.head_label for link in missing] == [f"person {head[3:]}" for head, _, _ in found]


def test_a_link_is_an_answer_about_its_head_or_its_tail(family, missing):
    engine, _ = family
    for head, relation, tail in triples(missing)[:40]:
        about_head = [hit.id for hit in engine.tails(head, relation, k=20)]
        assert tail in about_head or head in [hit.id for hit in engine.heads(relation, tail, k=20)]


def test_links_found_in_both_directions_have_the_larger_probability():
    found = [(np.array([5, 9]), np.array([0.5, 0.9])), (np.array([5, 3]), np.array([0.4, 1.0]))]
    links, probabilities = _joined(found)
    assert links.tolist() == [3, 5, 9]
    np.testing.assert_allclose(probabilities, [1.0, 0.5, 0.9])
    assert _joined([])[0].tolist() == []
    more = np.array([11, 12]), np.array([0.9, 0.1])
    best, likely = _most_probable([(links, probabilities), more], 3)
    assert best.tolist() == [3, 9, 11]
    np.testing.assert_allclose(likely, [1.0, 0.9, 0.9])


def test_no_link_is_more_probable_than_as_an_answer(family, missing):
    engine, _ = family
    assert engine.resources.graph_features.asked_calibration is not None
    for link in missing[:60]:
        tails = engine.tails(link.head, link.relation, k=20)
        heads = engine.heads(link.relation, link.tail, k=20)
        answers = [hit for hit in tails if hit.id == link.tail]
        answers += [hit for hit in heads if hit.id == link.head]
        assert link.probability <= max(hit.probability for hit in answers) + 1e-6


@pytest.mark.parametrize("name", ["ex:childOf", "child of", "inverse child of"])
def test_of_one_relation(family, missing, name):
    engine, _ = family
    found = engine.missing(name, k=20, quiet=True)
    assert (
        triples(found) == [triple for triple in triples(missing) if triple[1] == "ex:childOf"][:20]
    )
    assert found.relation.id == "ex:childOf"
    assert "child of" in str(found).splitlines()[0]
    with pytest.raises(UnknownRelation, match=r"'childOff'; did you mean 'child of'"):
        engine.missing("childOff", quiet=True)
    with pytest.raises(SettingsError, match="k: expected"):
        engine.missing(k=0, quiet=True)


def test_pairs_that_are_linked_already_may_be_left_out(family):
    engine, _ = family
    linked = {frozenset(pair) for pair in engine.graph.triples[:, [0, 2]].tolist()}
    apart = engine.missing(k=50, linked=False, quiet=True)
    rows = {name: row for row, name in enumerate(engine.graph.ids)}
    assert len(apart) == 50
    assert not [link for link in apart if frozenset((rows[link.head], rows[link.tail])) in linked]
    assert [
        link
        for link in engine.missing(k=50, quiet=True)
        if frozenset((rows[link.head], rows[link.tail])) in linked
    ]


def test_further_known_triples_are_not_missing(family, missing):
    engine, held_out = family
    more = GraphBuilder("more")
    for child, parent in held_out:
        more.triple(child, "ex:childOf", parent)
    with ontodex.open(engine.index.path, device="cpu", known=[more.build()]) as extended:
        found = triples(extended.missing(k=300, quiet=True))
    assert found
    assert not {(child, "ex:childOf", parent) for child, parent in held_out} & set(found)


def test_links_entailed_by_the_hierarchy_are_not_missing(small_graph, tmp_path, tiny_encoder):
    settings = {
        "training": ontodex.HyperCLTraining(steps=5),
        "hierarchy": False,
        "entailment": False,
        "quiet": True,
    }
    with ontodex.build(
        small_graph, tmp_path / "farm.odx", encoders=[tiny_encoder], device="cpu", **settings
    ) as engine:
        found = engine.missing("is a", k=10_000, quiet=True)
        above = engine.hierarchy.is_ancestor
        rows = {name: row for row, name in enumerate(engine.graph.ids)}
        assert found
        assert found[0].probability is None
        assert "probability" not in found.to_tsv()
        assert "not calibrated" in str(found)
        for link in found:
            head, tail = np.array([rows[link.head]]), np.array([rows[link.tail]])
            assert not above(head, tail)[0]
            assert not above(tail, head)[0]


def test_links_entailed_by_further_known_hierarchies_are_not_missing(
    small_graph, tmp_path, tiny_encoder
):
    settings = {
        "training": ontodex.HyperCLTraining(steps=5),
        "hierarchy": False,
        "entailment": False,
        "quiet": True,
    }
    ontodex.build(
        small_graph, tmp_path / "farm.odx", encoders=[tiny_encoder], device="cpu", **settings
    ).close()
    with ontodex.open(tmp_path / "farm.odx", device="cpu") as engine:
        found = set(triples(engine.missing("is a", k=10_000, quiet=True)))
        row = {name: row for row, name in enumerate(engine.graph.ids)}
        hierarchy = engine.hierarchy
    for child, relation, parent in sorted(found):
        above = {engine.graph.ids[one] for one in hierarchy.ancestors(row[parent]).tolist()}
        follows = {(child, relation, one) for one in above} & found
        if follows:
            break
    assert follows
    more = GraphBuilder("more")
    more.triple(child, relation, parent)
    with ontodex.open(tmp_path / "farm.odx", device="cpu", known=[more.build()]) as extended:
        left = set(triples(extended.missing("is a", k=10_000, quiet=True)))
    assert not left & ({(child, relation, parent), (parent, relation, child)} | follows)


def test_output_forms(family, missing, tmp_path):
    engine, _ = family
    few = engine.missing(k=3, quiet=True)
    assert triples(few) == triples(missing)[:3]
    assert str(few).splitlines()[2].startswith("   1  -")
    read = json.loads(few.to_json())
    assert read["query"] == {"question": "missing"}
    assert [link["tail"] for link in read["links"]] == [link.tail for link in few]
    assert list(few.to_pandas().columns)[:3] == ["head", "head_label", "relation"]
    assert triples(pickle.loads(pickle.dumps(few))) == triples(few)
    (tmp_path / "more.tsv").write_text(few.to_tsv())
    (tmp_path / "more.nq").write_text(few.to_rdf())
    again = ontodex.read(tmp_path / "more.tsv")
    assert list(again.relation_ids) == ["ex:childOf"]
    assert {
        tuple(again.ids[row] for row in pair) for pair in again.triples[:, [0, 2]].tolist()
    } == {(link.head, link.tail) for link in few}
    assert "ontodex:predictions" in few.to_rdf()
    assert pickle.loads(pickle.dumps(few)).to_rdf() == few.to_rdf()
    assert len(pickle.dumps(few)) < 10_000


def test_added_links_are_known_and_the_calibration_stays(family, tmp_path):
    engine, _ = family
    before = engine.missing(k=5, quiet=True)
    more = GraphBuilder("more")
    more.triple(*triples(before)[0])
    path = tmp_path / "family.odx"
    shutil.copytree(engine.index.path, path)
    with ontodex.add(more.build(), path, device="cpu", quiet=True) as after:
        assert (
            after.resources.graph_features.calibration.tolist()
            == engine.resources.graph_features.calibration.tolist()
        )
        found = after.missing(k=5, quiet=True)
    assert triples(before)[0] not in triples(found)
    assert found[0].probability is not None


def test_an_index_without_projections_is_refused(tmp_path, small_graph, tiny_encoder):
    with build_plain(small_graph, tmp_path / "plain.odx", [tiny_encoder]) as engine, pytest.raises(
        IndexMismatch, match="no relation projections"
    ):  # fmt: skip
        engine.missing(quiet=True)
