"""Parents, children, positions and audits, over points in which a hierarchy is planted."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import yaml
from planted import C, plant

from ontodex.engine.audit import audit
from ontodex.engine.audit_rows import Audit
from ontodex.engine.place import place
from ontodex.engine.resolve import Resolved
from ontodex.engine.subsumptions import Subsumptions
from ontodex.errors import SettingsError, UnknownEntity
from ontodex.geometry import poincare
from ontodex.graph import GraphBuilder, KnowledgeGraph
from ontodex.indexers.kin import Added, KinRule


@pytest.fixture(scope="module")
def planted(small_graph: KnowledgeGraph) -> Subsumptions:
    """The small graph, the whale among the tame animals, and ruminants a kind of their own."""
    ruminants = dict.fromkeys(("cow", "sheep", "goat"), "ruminant")
    texts = {"ruminant": "tame animal", "a yak": "tame animal"}
    return plant(small_graph, {"whale": "tame animal", **ruminants}, texts)


def names(hits) -> list[str]:
    return [hit.label for hit in hits]


def brute(subsumptions: Subsumptions, row: int, upward: bool) -> np.ndarray:
    """Score every entity as a parent (or child) of another, in float64."""
    items = np.concatenate(subsumptions.space.vectors.shards).astype(np.float64)
    points, norms = poincare.unlift(items, C), poincare.item_norms(items, C)
    parents, children = (norms, norms[row]) if upward else (norms[row], norms)
    return subsumptions.rule.score(poincare.distance(points[row], points, C), parents - children, children)


@pytest.mark.parametrize("known", ["include", "exclude", "only"])
@pytest.mark.parametrize("question", ["parents", "children"])
@pytest.mark.parametrize("name", ["dog", "tame animal", "thing", "young cow", "thing 3"])
def test_answers_are_the_best_by_the_rule(planted: Subsumptions, question: str, name: str, known: str) -> None:
    graph, hierarchy = planted.graph, planted.hierarchy
    row = graph.find(name)[0]
    upward = question == "parents"
    above, below = set(hierarchy.ancestors(row).tolist()), set(hierarchy.descendants(row).tolist())
    asserted, circular = (above, below) if upward else (below, above)
    scores = brute(planted, row, upward)
    allowed = set(range(graph.n_entities)) - circular - {row} - (asserted if known == "exclude" else set())
    allowed &= asserted if known == "only" else allowed
    wanted = sorted(allowed, key=lambda at: (-scores[at], at))[:12]
    (hits,) = planted.ranked(question, [name], 12, known)
    assert [hit.id for hit in hits] == [graph.ids[at] for at in wanted]
    assert [hit.score for hit in hits] == scores[wanted].tolist()
    assert [hit.known for hit in hits] == [at in asserted for at in wanted]
    assert [hit.probability for hit in hits] == planted.rule.probability(scores[wanted]).tolist()


def test_ancestors_rank_above_everything_else(planted: Subsumptions) -> None:
    assert set(names(planted.ranked("parents", ["dog"], 3, "include")[0])) == {"tame animal", "animal", "thing"}
    assert set(names(planted.ranked("parents", ["a yak"], 3, "include")[0])) == {"tame animal", "animal", "thing"}
    assert set(names(planted.ranked("children", ["ruminant"], 3, "include")[0])) == {"cow", "sheep", "goat"}


def test_batches_equal_single_questions(planted: Subsumptions) -> None:
    texts = ["dog", "a yak", "ex:tame", "thing", "common cow", "dog"]
    for question in ("parents", "children"):
        for text, hits in zip(texts, planted.ranked(question, texts, 7, "include"), strict=True):
            assert hits.hits == planted.ranked(question, [text], 7, "include")[0].hits
    for text, one in zip(texts, place(planted, texts, 3), strict=True):
        assert one.placements == place(planted, [text], 3)[0].placements


def with_kin(planted: Subsumptions) -> Subsumptions:
    """The same, with something added to the scores, and to the logits, of some parents and children."""

    def added(entities: Sequence[Resolved]) -> list[Added]:
        found = []
        for one in entities:
            rows = np.arange(0, planted.graph.n_entities, 3 if one.row is None else 2)
            rng = np.random.default_rng(one.row or 0)
            found.append(Added(rows, 9 * rng.random(len(rows)) - 3, rng.normal(size=len(rows))))
        return found

    kin = KinRule(slope=0.6, offset=-0.6 * planted.rule.threshold, itself=1.0, parents=1.0, ancestors=1.0), added
    graph, space = planted.graph, planted.space
    both = dict.fromkeys(("parents", "children"), kin)
    return Subsumptions(graph, planted.hierarchy, space.vectors, C, planted.rule, encode=planted._encode, kin=both)


def as_parents(subsumptions: Subsumptions, row: int) -> np.ndarray:
    """Scores of all entities as parents of an entity, with what like entities add."""
    scores = brute(subsumptions, row, upward=True)
    [added] = subsumptions.added("parents", subsumptions.read([subsumptions.graph.ids[row]]))
    scores[added.rows] += added.scores
    return scores


def chances_as_parents(subsumptions: Subsumptions, row: int) -> np.ndarray:
    """Probabilities of all entities as parents of an entity."""
    [added] = subsumptions.added("parents", subsumptions.read([subsumptions.graph.ids[row]]))
    return subsumptions.chances(
        "parents", (np.arange(subsumptions.graph.n_entities), as_parents(subsumptions, row)), added
    )


@pytest.mark.parametrize("known", ["include", "exclude", "only"])
@pytest.mark.parametrize("question", ["parents", "children"])
@pytest.mark.parametrize("name", ["dog", "thing", "tame animal"])
def test_what_like_entities_say_is_added_to_the_scores(
    planted: Subsumptions, name: str, question: str, known: str
) -> None:
    graph, hierarchy = planted.graph, planted.hierarchy
    row = graph.find(name)[0]
    raised = with_kin(planted)
    [added] = with_kin(planted).added(question, raised.read([name]))
    scores, logits = brute(planted, row, question == "parents"), np.zeros(graph.n_entities)
    scores[added.rows] += added.scores
    logits[added.rows] = added.logits
    above, below = set(hierarchy.ancestors(row).tolist()), set(hierarchy.descendants(row).tolist())
    asserted, circular = (above, below) if question == "parents" else (below, above)
    allowed = set(range(graph.n_entities)) - circular - {row}
    allowed = allowed & asserted if known == "only" else allowed - (asserted if known == "exclude" else set())
    wanted = sorted(allowed, key=lambda at: (-scores[at], at))[:12]
    (hits,) = raised.ranked(question, [name], 12, known)
    assert [hit.id for hit in hits] == [graph.ids[at] for at in wanted]
    np.testing.assert_allclose([hit.score for hit in hits], scores[wanted])
    curve = 1 / (1 + np.exp(0.6 * (planted.rule.threshold - scores[wanted]) - logits[wanted]))
    np.testing.assert_allclose([hit.probability for hit in hits], curve)
    assert "entities of like text" in hits.method


def test_positions_are_under_the_parents_that_like_entities_have_too(planted: Subsumptions) -> None:
    raised = with_kin(planted)
    (parents,) = raised.ranked("parents", ["a yak"], 50, "include")
    (places,) = place(raised, ["a yak"], 5)
    likely = [raised.graph.find(hit.id)[0] for hit in parents if hit.probability > 0.9]
    above = {raised.graph.ids[row] for one in likely for row in raised.hierarchy.ancestors(one).tolist()}
    wanted = [hit for hit in parents if hit.id not in above] + [hit for hit in parents if hit.id in above]
    assert [one.parent for one in places] == wanted[:5]
    assert above
    assert places.method == parents.method


def test_one_text_is_no_list_of_questions(planted: Subsumptions) -> None:
    for ask in (lambda: planted.ranked("parents", "dog", 7, "include"), lambda: place(planted, "dog", 3)):
        with pytest.raises(SettingsError, match="expected a list of texts, found one text, 'dog'"):
            ask()


def test_no_questions_no_answers(planted: Subsumptions) -> None:
    assert planted.ranked("parents", [], 7, "include") == []
    assert place(planted, [], 3) == []


def test_a_new_concept_goes_under_its_most_specific_parent(planted: Subsumptions) -> None:
    (best, *_), (also, *_) = place(planted, ["a yak", "ruminant"], 3)
    assert (best.parent.label, best.children) == ("tame animal", ())
    assert also.parent.label == "tame animal"
    assert set(names(also.children)) == {"cow", "sheep", "goat"}  # not the young: they move with their parents
    assert also.parent.probability > 0.5
    assert all(hit.score > planted.rule.threshold for hit in also.children)
    assert not any(hit.known for hit in (also.parent, *also.children))


def test_an_entity_is_placed_as_if_it_were_new(planted: Subsumptions) -> None:
    (places,) = place(planted, ["ex:dog"], 4)
    assert len(places) == 4
    assert (places[0].parent.label, places[0].parent.known) == ("tame animal", True)
    assert [(child.label, child.known) for child in places[0].children] == [("young dog", True)]
    assert all("dog" not in names((one.parent, *one.children)) for one in places)


def test_positions_print_and_turn_into_json_and_a_table(planted: Subsumptions) -> None:
    (places,) = place(planted, ["ruminant"], 2)
    lines = str(places).splitlines()
    assert lines[0] == "place: text = “ruminant” (free text)"
    assert lines[2].split()[0] == "1"
    assert lines[2].split()[2:] == ["under", "ex:tame", "tame", "animal"]
    assert [line.split()[0] for line in lines[3:6]] == ["over"] * 3
    said = json.loads(places.to_json())
    assert list(said) == ["query", "method", "placements", "took_ms"]
    assert said["placements"][0]["parent"]["id"] == "ex:tame"
    assert {child["id"] for child in said["placements"][0]["children"]} == {"ex:cow", "ex:sheep", "ex:goat"}
    header, first, *_ = (line.split("\t") for line in places.to_tsv().splitlines())
    assert header == ["parent_id", "parent_label", "child_ids", "child_labels", "probability"]
    assert set(first[2].split("|")) == {"ex:cow", "ex:sheep", "ex:goat"}


def test_an_audit_finds_the_planted_errors(planted: Subsumptions) -> None:
    rows = audit(planted, 6)
    doubtful = [row for row in rows if row.verdict == "doubtful"]
    missing = [row for row in rows if row.verdict == "missing"]
    assert 1 <= len(doubtful) <= 6
    assert 1 <= len(missing) <= 6
    assert all(row.probability <= 0.5 for row in doubtful)
    assert (doubtful[0].subject_id, doubtful[0].object_id) == ("ex:whale", "ex:wild")
    assert (missing[0].subject_id, missing[0].object_id) in {("ex:whale", "ex:tame"), ("ex:young-whale", "ex:tame")}
    assert [row.score for row in doubtful] == sorted(row.score for row in doubtful)
    assert [row.score for row in missing] == sorted((row.score for row in missing), reverse=True)
    assert "whale (ex:whale) is a wild animal (ex:wild)" in str(rows)


@pytest.mark.parametrize("kin", [False, True])
@pytest.mark.parametrize("k", [3, 40])
def test_missing_links_are_the_best_pairs_that_the_hierarchy_does_not_relate(
    planted: Subsumptions, k: int, kin: bool
) -> None:
    audited = with_kin(planted) if kin else planted
    graph, hierarchy = planted.graph, planted.hierarchy
    members = hierarchy.members.tolist()
    pairs = []
    for child in members:
        scores = as_parents(audited, child)
        related = {child, *hierarchy.ancestors(child).tolist(), *hierarchy.descendants(child).tolist()}
        related |= {other for other in members if set(hierarchy.parents(other)) & set(hierarchy.parents(child))}
        best = sorted(set(members) - related, key=lambda at: (-scores[at], at))[: min(k, 5)]
        pairs.extend((-scores[parent], child, parent) for parent in best)
    wanted: dict[frozenset[int], tuple[str, str]] = {}
    for _, child, parent in sorted(pairs):
        wanted.setdefault(frozenset((child, parent)), (graph.ids[child], graph.ids[parent]))
    found = [(row.subject_id, row.object_id) for row in audit(audited, k) if row.verdict == "missing"]
    assert found == list(wanted.values())[:k]
    assert len(found) > 2


@pytest.mark.parametrize("kin", [False, True])
def test_doubtful_links_are_the_least_likely_of_the_asserted_ones(planted: Subsumptions, kin: bool) -> None:
    audited = with_kin(planted) if kin else planted
    graph, links = planted.graph, planted.hierarchy.links.tolist()
    chances = {(child, parent): chances_as_parents(audited, child)[parent] for child, parent in links}
    wanted = sorted(links, key=lambda link: chances[tuple(link)])
    wanted = [link for link in wanted if chances[tuple(link)] <= 0.5]
    assert 1 <= len(wanted) < len(links)
    rows = [row for row in audit(audited, len(links) + 5) if row.verdict == "doubtful"]
    assert [(row.subject_id, row.object_id) for row in rows] == [(graph.ids[a], graph.ids[b]) for a, b in wanted]
    assert [row.probability for row in rows] == pytest.approx([chances[tuple(link)] for link in wanted])
    for row in audit(audited, 5):
        child, parent = graph.find(row.subject_id)[0], graph.find(row.object_id)[0]
        assert row.probability == pytest.approx(chances_as_parents(audited, child)[parent])


def test_namesakes_are_not_missing_links() -> None:
    builder = GraphBuilder("twins")
    for name, label in (("a", "mouse"), ("b", "Mouse"), ("c", "animal"), ("d", "device"), ("r", "thing")):
        builder.entity(f"ex:{name}", label)
    for child, parent in ("ac", "bd", "cr", "dr"):
        builder.triple(f"ex:{child}", "is_a", f"ex:{parent}")
    twins = plant(builder.build(), {}, {})
    found = {(row.subject_id, row.object_id) for row in audit(twins, 50)}
    assert ("ex:a", "ex:d") in found
    assert not {("ex:a", "ex:b"), ("ex:b", "ex:a")} & found
    assert not {("ex:c", "ex:d"), ("ex:d", "ex:c")} & found  # siblings
    assert twins.namesakes(0).tolist() == [1]
    for text, there in (("ex:a", False), ("a mouse", True)):
        for question in ("parents", "children"):
            assert ("Mouse" in names(twins.ranked(question, [text], 9, "include")[0])) == there
        parents = [one.parent.label for one in place(twins, [text], 9)[0]]
        assert ("Mouse" in parents) == there


def test_an_asserted_ancestor_of_the_same_label_stays_an_answer() -> None:
    builder = GraphBuilder("twins")
    for name, label in (("a", "mouse"), ("b", "Mouse"), ("r", "thing")):
        builder.entity(f"ex:{name}", label)
    for child, parent in ("ab", "br"):
        builder.triple(f"ex:{child}", "is_a", f"ex:{parent}")
    twins = plant(builder.build(), {}, {})
    for known in ("include", "only"):
        assert ("Mouse", True) in {(hit.label, hit.known) for hit in twins.ranked("parents", ["ex:a"], 9, known)[0]}


@pytest.mark.parametrize("name", ["tame animal", "animal", "dog", "whale"])
def test_a_place_closes_no_circle(planted: Subsumptions, name: str) -> None:
    row = planted.graph.find(name)[0]
    above, below = (
        {planted.graph.ids[at] for at in rows}
        for rows in (planted.hierarchy.ancestors(row), planted.hierarchy.descendants(row))
    )
    lenient = plant(planted.graph, {}, {})
    lenient.rule = replace(lenient.rule, threshold=-1e6)
    for one in (*place(planted, [name], 60)[0], *place(lenient, [name], 60)[0]):
        assert one.parent.id not in below
        assert not {child.id for child in one.children} & above
        assert planted.graph.ids[row] not in {one.parent.id, *(child.id for child in one.children)}


def test_place_decides_by_the_threshold_of_the_rule(planted: Subsumptions) -> None:
    def moved(threshold: float) -> set[str]:
        other = copy.copy(planted)
        other.rule = replace(planted.rule, threshold=threshold)
        return {child.label for one in place(other, ["ruminant"], 1)[0] for child in one.children}

    assert moved(planted.rule.threshold) >= {"cow", "sheep", "goat"}
    assert moved(1.0) == set()
    assert moved(-1e6) >= {"cow", "sheep", "goat"}


def test_an_audit_doubts_what_is_no_likelier_than_not(planted: Subsumptions) -> None:
    def audited(even: float) -> Audit:
        other = copy.copy(planted)
        other.rule = replace(planted.rule, offset=-planted.rule.slope * even)
        return audit(other, 500)

    links = len(planted.hierarchy.links)
    every, none = audited(1.0), audited(-1e6)
    assert sum(row.verdict == "doubtful" for row in every) == links
    assert all(row.verdict == "missing" for row in none)
    assert len(every) - links == len(none) > 0  # however likely
    assert "every asserted link is likelier than not" in str(none)


def test_an_audit_of_no_links_finds_none(small_graph: KnowledgeGraph) -> None:
    whole = plant(small_graph, {}, {})
    nothing = audit(Subsumptions(small_graph, None, whole.space.vectors, C, whole.rule, encode=whole._encode), 5)
    assert len(nothing) == 0
    assert "none" in str(nothing)


def test_sssom_has_the_required_metadata_and_says_not_of_doubtful_links(planted: Subsumptions) -> None:
    rows = audit(planted, 4)
    count = sum(row.verdict == "doubtful" for row in rows)
    assert 1 <= count < len(rows)
    lines = rows.to_sssom(license="https://creativecommons.org/publicdomain/zero/1.0/").splitlines()
    metadata = yaml.safe_load("\n".join(line[1:] for line in lines if line.startswith("#")))
    assert metadata["mapping_set_id"].startswith("https://w3id.org/sssom/mappings/")
    assert metadata["license"] == "https://creativecommons.org/publicdomain/zero/1.0/"
    assert metadata["mapping_tool"] == "ontodex"
    assert metadata["curie_map"]["ex"] == "http://example.org/"
    header, *cells = (line.split("\t") for line in lines if not line.startswith("#"))
    table = [dict(zip(header, row, strict=True)) for row in cells]
    assert {row["predicate_id"] for row in table} == {"rdfs:subClassOf"}
    assert [row["predicate_modifier"] for row in table] == ["Not"] * count + [""] * (len(rows) - count)
    assert table[0]["confidence"] == f"{1 - rows[0].probability:.6f}"
    assert table[count]["confidence"] == f"{rows[count].probability:.6f}"
    for row in table:
        for entity in (row["subject_id"], row["object_id"], row["predicate_id"], row["mapping_justification"]):
            assert entity.split(":")[0] in metadata["curie_map"]


def test_sssom_turns_every_kind_of_identifier_into_a_curie() -> None:
    from ontodex.engine.sssom import Mapping, sssom_table

    prefixes = {"ex": "http://example.org/", "ns1": "http://taken.org/"}
    ids = [
        "ex:dog",
        "HP:0001166",
        "http://other.org/onto#cat",
        "http://other.org/onto#cow",
        "a b\tc",
        "no:where#x",
        "ns1:y",
        "ex:",
        "http://other.org/onto#",
        "urn:lex:eu:directive-1",
        "urn:lex:a/",
    ]
    lines = [Mapping((name, "x"), "skos:broader", False, ("ex:thing", "thing"), 0.5) for name in ids]
    text = sssom_table(lines, prefixes, mapping_set_id="https://example.org/set")
    metadata = yaml.safe_load("\n".join(line[1:] for line in text.splitlines() if line.startswith("#")))
    assert metadata["mapping_set_id"] == "https://example.org/set"
    curies = [line.split("\t")[0] for line in text.splitlines() if not line.startswith("#")][1:]
    full = [metadata["curie_map"][prefix] + local for prefix, _, local in (curie.partition(":") for curie in curies)]
    assert full == [
        "http://example.org/dog",
        "http://purl.obolibrary.org/obo/HP_0001166",
        "http://other.org/onto#cat",
        "http://other.org/onto#cow",
        "urn:ontodex:a%20b%09c",
        "urn:ontodex:no%3Awhere%23x",
        "http://taken.org/y",
        "urn:ontodex:ex%3A",
        "urn:ontodex:http%3A%2F%2Fother.org%2Fonto%23",
        "urn:lex:eu:directive-1",
        "urn:ontodex:urn%3Alex%3Aa%2F",
    ]
    assert all(curie.partition(":")[2] for curie in curies)


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
def test_bad_questions_are_refused_by_name(planted: Subsumptions, text, k, known, error, says) -> None:
    with pytest.raises(error, match=says):
        planted.ranked("parents", [text], k, known)
    if known == "include":
        with pytest.raises(error, match=says):
            place(planted, [text], k)
    if text == "dog" and known == "include":
        with pytest.raises(error, match=says):
            audit(planted, k)


def test_a_graph_without_links_has_no_positions_to_doubt(small_graph: KnowledgeGraph, planted: Subsumptions) -> None:
    bare = Subsumptions(small_graph, None, planted.space.vectors, C, planted.rule, encode=planted._encode)
    assert len(audit(bare, 5)) == 0
    assert str(audit(bare, 5)).count("  none: ") == 2
    assert not any(hit.known for hit in bare.ranked("parents", ["dog"], 100, "include")[0])
    assert all(one.children == () for one in place(bare, ["dog"], 3)[0])
