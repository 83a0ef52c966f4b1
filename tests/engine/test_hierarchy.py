"""Parents, children and positions, over points in which a hierarchy is planted."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import numpy as np
import pytest
from planted import brute, names, plant, probabilities, with_votes

from ontodex.engine.audit import audit
from ontodex.engine.hierarchy import Subsumptions
from ontodex.engine.placement import complete_taxonomy
from ontodex.errors import SettingsError, UnknownEntity
from ontodex.graph import GraphBuilder


@pytest.mark.parametrize("known", ["include", "exclude", "only"])
@pytest.mark.parametrize("question", ["parents", "children"])
@pytest.mark.parametrize("name", ["dog", "tame animal", "thing", "young cow", "thing 3"])
def test_answers_are_the_best_by_the_rule(
    planted: Subsumptions, question: str, name: str, known: str
) -> None:
    graph, hierarchy = planted.graph, planted.hierarchy
    row = graph.find(name)[0]
    upward = question == "parents"
    above, below = set(hierarchy.ancestors(row).tolist()), set(hierarchy.descendants(row).tolist())
    asserted, circular = (above, below) if upward else (below, above)
    scores = brute(planted, row, upward)
    allowed = (
        set(range(graph.n_entities))
        - circular
        - {row}
        - (asserted if known == "exclude" else set())
    )
    allowed &= asserted if known == "only" else allowed
    wanted = in_order(hierarchy, row, upward, allowed, asserted, scores)[:12]
    (hits,) = planted.ranked(question, [name], 12, known)
    assert [hit.id for hit in hits] == [graph.ids[at] for at in wanted]
    assert [hit.score for hit in hits] == scores[wanted].tolist()
    assert [hit.known for hit in hits] == [at in asserted for at in wanted]
    likely = probabilities(planted, question, row, scores)
    assert [hit.probability for hit in hits] == [
        None if at in asserted else pytest.approx(likely[at]) for at in wanted
    ]
    left_out = sorted(asserted) if known == "exclude" else []
    assert hits.known_left_out.count == len(left_out)
    assert hits.known_left_out.labels == tuple(graph.labels[at] for at in left_out[:3])


def in_order(hierarchy, row, upward, allowed, asserted, scores) -> list[int]:
    """Sort answers: asserted ones that are direct, other asserted ones, predicted ones."""
    direct = set((hierarchy.parents(row) if upward else hierarchy.children(row)).tolist())
    return sorted(allowed, key=lambda at: (at not in direct, at not in asserted, -scores[at], at))


def test_ancestors_rank_above_everything_else(planted: Subsumptions) -> None:
    assert set(names(planted.ranked("parents", ["dog"], 3, "include")[0])) == {
        "tame animal",
        "animal",
        "thing",
    }
    assert set(names(planted.ranked("parents", ["a yak"], 3, "include")[0])) == {
        "tame animal",
        "animal",
        "thing",
    }
    assert set(names(planted.ranked("children", ["ruminant"], 3, "include")[0])) == {
        "cow",
        "sheep",
        "goat",
    }


def test_batches_equal_single_questions(planted: Subsumptions) -> None:
    texts = ["dog", "a yak", "ex:tame", "thing", "common cow", "dog"]
    for question in ("parents", "children"):
        for text, hits in zip(texts, planted.ranked(question, texts, 7, "include"), strict=True):
            assert hits.hits == planted.ranked(question, [text], 7, "include")[0].hits
    for text, one in zip(texts, complete_taxonomy(planted, texts, 3), strict=True):
        assert one.placements == complete_taxonomy(planted, [text], 3)[0].placements


@pytest.mark.parametrize("known", ["include", "exclude", "only"])
@pytest.mark.parametrize("question", ["parents", "children"])
@pytest.mark.parametrize("name", ["dog", "thing", "tame animal"])
def test_neighbour_voting_is_added_to_the_scores(
    planted: Subsumptions, name: str, question: str, known: str
) -> None:
    graph, hierarchy = planted.graph, planted.hierarchy
    row = graph.find(name)[0]
    raised = with_votes(planted)
    [added] = with_votes(planted).vote_offsets(question, raised.resolve([name]))
    scores = brute(planted, row, question == "parents")
    scores[added[0]] += added[1]
    above, below = set(hierarchy.ancestors(row).tolist()), set(hierarchy.descendants(row).tolist())
    asserted, circular = (above, below) if question == "parents" else (below, above)
    allowed = set(range(graph.n_entities)) - circular - {row}
    allowed = (
        allowed & asserted
        if known == "only"
        else allowed - (asserted if known == "exclude" else set())
    )
    wanted = in_order(hierarchy, row, question == "parents", allowed, asserted, scores)[:12]
    (hits,) = raised.ranked(question, [name], 12, known)
    assert [hit.id for hit in hits] == [graph.ids[at] for at in wanted]
    np.testing.assert_allclose([hit.score for hit in hits], scores[wanted])
    likely = probabilities(raised, question, row, scores)
    assert [hit.probability for hit in hits] == [
        None if at in asserted else pytest.approx(likely[at]) for at in wanted
    ]
    assert "neighbour votes" in hits.method


def test_positions_are_ranked_as_parents_are(planted: Subsumptions) -> None:
    raised = with_votes(planted)
    for text in ("a yak", "dog"):
        (parents,) = raised.ranked("parents", [text], 5, "include")
        (places,) = complete_taxonomy(raised, [text], 5)
        assert tuple(one.parent for one in places) == parents.hits
        assert places.method == parents.method


def test_without_a_curve_there_are_no_probabilities(planted: Subsumptions) -> None:
    bare = Subsumptions(
        planted.graph,
        planted.hierarchy,
        planted.space.vectors,
        planted.space.curvature,
        planted.rule,
        encode=planted._encode,
    )
    for text in ("a yak", "dog"):
        (hits,) = bare.ranked("parents", [text], 9, "include")
        assert [hit.id for hit in hits] == [
            hit.id for hit in planted.ranked("parents", [text], 9, "include")[0]
        ]
        assert {hit.probability for hit in hits} == {None}
        assert "p=" not in str(hits)
        (places,) = complete_taxonomy(bare, [text], 9)
        assert "p=" not in str(places)
        assert ("asserted" in str(places)) == (text == "dog")
    audited = audit(bare, 9)
    assert {(row.verdict, row.probability) for row in audited} == {("missing", None)}
    assert [row.score for row in audited] == sorted((row.score for row in audited), reverse=True)
    assert "p=" not in str(audited)
    assert audited.to_sssom().splitlines()[-1].endswith("\t")


def test_one_text_is_no_list_of_questions(planted: Subsumptions) -> None:
    for ask in (
        lambda: planted.ranked("parents", "dog", 7, "include"),
        lambda: complete_taxonomy(planted, "dog", 3),
    ):
        with pytest.raises(SettingsError, match="expected a list of texts, found one text, 'dog'"):
            ask()


def test_no_questions_no_answers(planted: Subsumptions) -> None:
    assert planted.ranked("parents", [], 7, "include") == []
    assert complete_taxonomy(planted, [], 3) == []


def test_a_new_concept_goes_under_its_most_specific_parent(planted: Subsumptions) -> None:
    (best, *_), (also, *others) = complete_taxonomy(planted, ["a yak", "ruminant"], 3)
    assert (best.parent.label, best.children) == ("tame animal", ())
    assert also.parent.label == "tame animal"
    assert set(names(also.children)) == {
        "cow",
        "sheep",
        "goat",
    }  # not the young: they move with their parents
    likely = [one.parent.probability for one in (also, *others)]
    assert likely[0] > 1.5 * likely[1] > 0
    assert sum(likely) <= 1  # each child has one parent
    assert all(hit.score > planted.rule.threshold for hit in also.children)
    assert {hit.probability for hit in also.children} == {None}
    assert not any(hit.known for hit in (also.parent, *also.children))


def test_an_entity_is_placed_as_if_it_were_new(planted: Subsumptions) -> None:
    (places,) = complete_taxonomy(planted, ["ex:dog"], 4)
    assert len(places) == 4
    assert (places[0].parent.label, places[0].parent.known) == ("tame animal", True)
    assert [(child.label, child.known) for child in places[0].children] == [("young dog", True)]
    assert all("dog" not in names((one.parent, *one.children)) for one in places)


def test_positions_print_and_turn_into_json_and_a_table(planted: Subsumptions) -> None:
    (places,) = complete_taxonomy(planted, ["ruminant"], 2)
    lines = str(places).splitlines()
    assert lines[0] == "place: text = “ruminant” (free text)"
    assert lines[2].split()[0] == "1"
    assert lines[2].split()[2:] == ["under", "ex:tame", "tame", "animal"]
    assert [line.split()[0] for line in lines[3:6]] == ["over"] * 3
    said = json.loads(places.to_json())
    assert list(said) == ["query", "already_there", "method", "placements", "took_ms"]
    assert said["already_there"] is None
    assert said["placements"][0]["parent"]["id"] == "ex:tame"
    assert {child["id"] for child in said["placements"][0]["children"]} == {
        "ex:cow",
        "ex:sheep",
        "ex:goat",
    }
    header, first, *_ = (line.split("\t") for line in places.to_tsv().splitlines())
    assert header == ["parent_id", "parent_label", "child_ids", "child_labels", "probability"]
    assert set(first[2].split("|")) == {"ex:cow", "ex:sheep", "ex:goat"}


def test_the_place_of_an_entity_says_that_it_is_there_already(planted: Subsumptions) -> None:
    (places,) = complete_taxonomy(planted, ["dog"], 5)
    lines = str(places).splitlines()
    assert lines[1] == "already there: dog (ex:dog)"
    assert lines[3].split() == ["1", "asserted", "under", "ex:tame", "tame", "animal"]
    assert json.loads(places.to_json())["already_there"] == "ex:dog"
    parents = [place.parent for place in places]
    assert [one.known for one in parents] == sorted((one.known for one in parents), reverse=True)
    assert all((one.probability is None) == one.known for one in parents)
    assert places.to_tsv().splitlines()[1].endswith("\t")


def test_an_asserted_ancestor_of_the_same_label_stays_an_answer() -> None:
    builder = GraphBuilder("twins")
    for name, label in (("a", "mouse"), ("b", "Mouse"), ("r", "thing")):
        builder.entity(f"ex:{name}", label)
    for child, parent in ("ab", "br"):
        builder.triple(f"ex:{child}", "is_a", f"ex:{parent}")
    twins = plant(builder.build(), {}, {})
    for known in ("include", "only"):
        assert ("Mouse", True) in {
            (hit.label, hit.known) for hit in twins.ranked("parents", ["ex:a"], 9, known)[0]
        }


def test_individuals_have_their_classes_as_parents_and_are_no_parents_themselves() -> None:
    builder = GraphBuilder("software")
    for child, relation, parent in (
        ("VersionControl", "rdfs:subClassOf", "Software"),
        ("Compiler", "rdfs:subClassOf", "Software"),
        ("Git", "rdf:type", "VersionControl"),
        ("Mercurial", "rdf:type", "VersionControl"),
    ):
        builder.triple(child, relation, parent)
    software = plant(builder.build(), {}, {"a twin of Git": "Git"})
    of_git, of_twin = software.ranked("parents", ["Git", "a twin of Git"], 9, "include")
    assert names(of_git) == ["VersionControl", "Software", "Compiler"]
    assert [hit.known for hit in of_git] == [True, True, False]
    assert set(names(of_twin)) == {"VersionControl", "Software", "Compiler"}
    [below] = software.ranked("children", ["VersionControl"], 9, "only")
    assert set(names(below)) == {"Git", "Mercurial"}
    assert not {"Git", "Mercurial"} & {row.object_label for row in audit(software, 20)}


@pytest.mark.parametrize("name", ["tame animal", "animal", "dog", "whale"])
def test_a_place_closes_no_circle(planted: Subsumptions, name: str) -> None:
    row = planted.graph.find(name)[0]
    above, below = (
        {planted.graph.ids[at] for at in rows}
        for rows in (planted.hierarchy.ancestors(row), planted.hierarchy.descendants(row))
    )
    lenient = plant(planted.graph, {}, {})
    lenient.rule = replace(lenient.rule, threshold=-1e6)
    for one in (
        *complete_taxonomy(planted, [name], 60)[0],
        *complete_taxonomy(lenient, [name], 60)[0],
    ):
        assert one.parent.id not in below
        assert not {child.id for child in one.children} & above
        assert planted.graph.ids[row] not in {one.parent.id, *(child.id for child in one.children)}


def test_place_decides_by_the_threshold_of_the_rule(planted: Subsumptions) -> None:
    def moved(threshold: float) -> set[str]:
        other = copy.copy(planted)
        other.rule = replace(planted.rule, threshold=threshold)
        return {
            child.label
            for one in complete_taxonomy(other, ["ruminant"], 1)[0]
            for child in one.children
        }

    assert moved(planted.rule.threshold) >= {"cow", "sheep", "goat"}
    assert moved(1.0) == set()
    assert moved(-1e6) >= {"cow", "sheep", "goat"}


@pytest.mark.parametrize(
    ("text", "k", "known", "error", "says"),
    [
        ("", 5, "include", SettingsError, "expected a CURIE"),
        ("  ", 5, "include", SettingsError, "expected a CURIE"),
        ("ex:dgo", 5, "include", UnknownEntity, "ex:dog"),
        ("dog", 0, "include", SettingsError, "at least 1"),
        ("dog", 1.5, "include", SettingsError, "at least 1"),
        ("dog", 5, "onyl", SettingsError, "only"),
    ],
)
def test_bad_questions_are_refused_by_name(
    planted: Subsumptions, text, k, known, error, says
) -> None:
    with pytest.raises(error, match=says):
        planted.ranked("parents", [text], k, known)
    if known == "include":
        with pytest.raises(error, match=says):
            complete_taxonomy(planted, [text], k)
    if text == "dog" and known == "include":
        with pytest.raises(error, match=says):
            audit(planted, k)
