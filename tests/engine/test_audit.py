"""Audits, over points in which a hierarchy and some errors are planted."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from planted import C, as_parents, names, plant, probabilities_as_parents, with_votes

from ontodex.engine.audit import audit
from ontodex.engine.hierarchy import Subsumptions
from ontodex.engine.placement import complete_taxonomy
from ontodex.engine.results.audit_rows import Audit, AuditRow, predicate_of
from ontodex.geometry.subsumption import MIN_LINKS
from ontodex.graph import GraphBuilder, KnowledgeGraph, ReadWarning, remove_links
from ontodex.graph.vocabulary import PROPOSED
from ontodex.readers import read
from ontodex.scoring.neighbour_voting import NeighbourVoting


def test_an_audit_finds_the_planted_errors(planted: Subsumptions) -> None:
    rows = audit(planted, 6)
    doubtful = [row for row in rows if row.verdict == "doubtful"]
    missing = [row for row in rows if row.verdict == "missing"]
    assert 1 <= len(doubtful) <= 6
    assert 1 <= len(missing) <= 6
    assert all(row.probability <= 0.5 for row in doubtful)
    assert (doubtful[0].subject_id, doubtful[0].object_id) == ("ex:whale", "ex:wild")
    assert (missing[0].subject_id, missing[0].object_id) in {
        ("ex:whale", "ex:tame"),
        ("ex:young-whale", "ex:tame"),
    }
    assert audit(planted, 3)[:3] == rows[:3]
    assert "whale (ex:whale) is a wild animal (ex:wild)" in str(rows)


@pytest.mark.parametrize("votes", [False, True])
@pytest.mark.parametrize("k", [3, 40])
def test_missing_links_are_the_best_pairs_that_the_hierarchy_does_not_relate(
    planted: Subsumptions, k: int, votes: bool
) -> None:
    audited = with_votes(planted) if votes else planted
    graph, hierarchy = planted.graph, planted.hierarchy
    members = hierarchy.members.tolist()
    pairs, likely = [], []
    for child in members:
        scores = as_parents(audited, child)
        related = {
            child,
            *hierarchy.ancestors(child).tolist(),
            *hierarchy.descendants(child).tolist(),
        }
        related |= {
            other
            for other in members
            if set(hierarchy.parents(other)) & set(hierarchy.parents(child))
        }
        best = sorted(set(members) - related, key=lambda at: (-scores[at], at))[:5]
        pairs.extend((child, parent) for parent in best)
        likely.extend(probabilities_as_parents(audited, child)[best])
    wanted: dict[frozenset[int], tuple[str, str]] = {}
    for _, (child, parent) in sorted(zip(np.negative(likely), pairs, strict=True)):
        wanted.setdefault(frozenset((child, parent)), (graph.ids[child], graph.ids[parent]))
    found = [
        (row.subject_id, row.object_id) for row in audit(audited, k) if row.verdict == "missing"
    ]
    assert found == list(wanted.values())[:k]
    assert len(found) > 2


@pytest.mark.parametrize("votes", [False, True])
def test_doubtful_links_are_the_least_likely(planted: Subsumptions, votes: bool) -> None:
    audited = with_votes(planted) if votes else planted
    graph, hierarchy = planted.graph, planted.hierarchy
    links = hierarchy.links.tolist()
    probabilities = {
        (child, parent): probabilities_as_parents(audited, child, new=True)[parent]
        for child, parent in links
    }
    wanted = sorted(links, key=lambda link: probabilities[tuple(link)])
    wanted = [link for link in wanted if probabilities[tuple(link)] <= 0.5]
    assert 1 <= len(wanted) < len(links)
    rows = [row for row in audit(audited, len(links) + 5) if row.verdict == "doubtful"]
    assert [(row.subject_id, row.object_id) for row in rows] == [
        (graph.ids[a], graph.ids[b]) for a, b in wanted
    ]
    assert [row.probability for row in rows] == pytest.approx(
        [probabilities[tuple(link)] for link in wanted]
    )
    for row in audit(audited, 5):
        child, parent = graph.find(row.subject_id)[0], graph.find(row.object_id)[0]
        likely = probabilities_as_parents(audited, child, new=row.verdict == "doubtful")
        assert row.probability == pytest.approx(likely[parent])


def test_a_further_parent_is_never_likelier_than_one_of_a_new_term() -> None:
    builder = GraphBuilder("many with two parents")
    for name in map(str, range(30)):
        builder.triple(f"ex:{name}", "is_a", "ex:r")
        builder.triple(f"ex:{name}", "is_a", "ex:s")
    builder.triple("ex:one", "is_a", "ex:r")
    both = plant(builder.build(), {}, {})
    row, scores = both.graph.find("ex:one")[0], np.array([-1.0, 2.0])
    found = both.probabilities("parents", scores, 0.0, row)
    assert np.array_equal(found, both.probabilities("parents", scores, 0.0, None))


def test_pairs_of_namesakes_are_not_missing_links() -> None:
    builder = GraphBuilder("twins")
    for name, label in (
        ("a", "mouse"),
        ("b", "Mouse"),
        ("c", "animal"),
        ("d", "device"),
        ("r", "thing"),
    ):
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
        parents = [one.parent.label for one in complete_taxonomy(twins, [text], 9)[0]]
        assert ("Mouse" in parents) == there


def test_links_of_probability_below_one_half_are_doubtful(planted: Subsumptions) -> None:
    def audited(intercept: float) -> Audit:
        votes = planted._voting["parents"]
        shifted = replace(votes[0], curve=(*votes[0].curve[:2], intercept))
        other = copy.copy(planted)
        other._voting = {**planted._voting, "parents": (shifted, votes[1])}
        return audit(other, 500)

    links = len(planted.hierarchy.links)
    every, none = audited(-1e3), audited(1e3)
    assert sum(row.verdict == "doubtful" for row in every) == links
    assert all(row.verdict == "missing" for row in none)
    assert len(every) - links == len(none) > 0  # whatever its probability
    assert "no asserted link has a probability of at most 0.5" in str(none)


def test_without_probabilities_doubtful_links_are_not_judged(planted: Subsumptions) -> None:
    offsets = planted._voting["parents"][1]
    unfitted = copy.copy(planted)
    unfitted._voting = {**planted._voting, "parents": (NeighbourVoting(itself=1.0), offsets)}
    rows = audit(unfitted, 5)
    assert '"judged":false' in rows.to_json().replace(" ", "")
    assert {row.verdict for row in rows} == {"missing"}
    assert "  not judged: no probabilities could be fitted; " in str(rows)
    assert f"at least {MIN_LINKS} links" in str(rows)
    assert "no asserted link has a probability" not in str(rows)
    assert audit(planted, 5).judged


def test_links_that_others_imply_are_redundant_and_not_doubtful() -> None:
    builder = GraphBuilder("triangle")
    for child, parent in (("poodle", "dog"), ("poodle", "pet"), ("dog", "pet"), ("pet", "thing")):
        builder.triple(child, "is_a", parent)
    graph = builder.build()
    audited = with_votes(plant(graph, {}, {}))
    offsets = audited._voting["parents"][1]
    every = NeighbourVoting(itself=1.0, curve=(1.0, -0.8, -1e3))
    audited._voting = {**audited._voting, "parents": (every, offsets)}
    rows = audit(audited, 20)
    by_verdict = {
        verdict: {(row.subject_label, row.object_label) for row in rows if row.verdict == verdict}
        for verdict in ("doubtful", "redundant")
    }
    assert by_verdict["redundant"] == {("poodle", "pet")}
    assert by_verdict["doubtful"] == {("poodle", "dog"), ("dog", "pet"), ("pet", "thing")}
    assert rows[-1].verdict == "redundant"
    assert "asserted, and implied by other links:" in str(rows)
    lines = [line for line in rows.to_sssom().splitlines() if not line.startswith("#")]
    assert len(lines) == 1 + len(rows) - 1  # a header, and all rows but the redundant one


def test_an_audit_of_no_links_finds_none(small_graph: KnowledgeGraph) -> None:
    whole = plant(small_graph, {}, {})
    nothing = audit(
        Subsumptions(small_graph, None, whole.space.vectors, C, whole.rule, encode=whole._encode), 5
    )
    assert len(nothing) == 0
    assert "none" in str(nothing)


def test_sssom_has_the_required_metadata_and_says_not_of_doubtful_links(
    planted: Subsumptions,
) -> None:
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
    assert [row["predicate_modifier"] for row in table] == ["Not"] * count + [""] * (
        len(rows) - count
    )
    assert table[0]["confidence"] == ""
    assert table[count]["confidence"] == f"{rows[count].probability:.6f}"
    for row in table:
        for entity in (
            row["subject_id"],
            row["object_id"],
            row["predicate_id"],
            row["mapping_justification"],
        ):
            assert entity.split(":")[0] in metadata["curie_map"]


def test_sssom_turns_every_kind_of_identifier_into_a_curie() -> None:
    from ontodex.engine.results.sssom import SssomMapping, sssom_table

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
    lines = [
        SssomMapping((name, "x"), "skos:broader", False, ("ex:thing", "thing"), 0.5) for name in ids
    ]
    text = sssom_table(lines, prefixes)
    metadata = yaml.safe_load(
        "\n".join(line[1:] for line in text.splitlines() if line.startswith("#"))
    )
    curies = [line.split("\t")[0] for line in text.splitlines() if not line.startswith("#")][1:]
    full = [
        metadata["curie_map"][prefix] + local
        for prefix, _, local in (curie.partition(":") for curie in curies)
    ]
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


def test_the_audit_of_a_graph_without_links_is_empty(
    small_graph: KnowledgeGraph, planted: Subsumptions
) -> None:
    bare = Subsumptions(
        small_graph, None, planted.space.vectors, C, planted.rule, encode=planted._encode
    )
    assert len(audit(bare, 5)) == 0
    assert str(audit(bare, 5)).count("  none: ") == 3
    assert not any(hit.known for hit in bare.ranked("parents", ["dog"], 100, "include")[0])
    assert all(one.children == () for one in complete_taxonomy(bare, ["dog"], 3)[0])


def test_an_audit_converts_to_pandas_and_pickles_and_is_not_read_as_facts(
    planted: Subsumptions, tmp_path: Path
) -> None:
    rows = audit(planted, 6)
    frame = rows.to_pandas()
    assert list(frame.columns) == rows.to_tsv().splitlines()[0].split("\t")
    assert frame["subject_id"].tolist() == [row.subject_id for row in rows]
    assert pickle.loads(pickle.dumps(rows)).to_sssom() == rows.to_sssom()
    places = complete_taxonomy(planted, ["a yak"], 3)[0]
    assert places.to_pandas()["parent_id"].tolist() == [one.parent.id for one in places]
    path = tmp_path / "review.sssom.tsv"
    path.write_text(rows.to_sssom())
    missing = sum(row.verdict == "missing" for row in rows)
    with pytest.warns(ReadWarning, match=rf"left out {len(rows)} line\(s\) that ontodex proposed"):
        assert read(planted.graph, path).n_triples == planted.graph.n_triples
    accepted = path.read_text().replace(PROPOSED, "semapv:ManualMappingCuration")
    path.write_text(accepted)
    assert (
        read(planted.graph, path, on_error="raise").n_triples == planted.graph.n_triples + missing
    )
    denied = {(row.subject_id, row.object_id) for row in rows if row.verdict == "doubtful"}
    left = remove_links(planted.graph, read(path, on_error="raise", negated=True))
    assert (left.n_triples, len(denied)) == (
        planted.graph.n_triples - len(denied),
        len(rows) - missing,
    )


def test_ids_in_an_audit_without_curies_resolve(tmp_path: Path) -> None:
    builder = GraphBuilder("words")
    for child, parent in (
        ("big dog", "dog, or hound"),
        ("dog, or hound", "http://ex.org/a#b"),
        ("http://ex.org/a#b", "x:"),
    ):
        builder.triple(child, "broader", parent)
    graph = builder.build()
    links = [
        tuple(graph.ids[end] for end in (head, tail)) for head, _, tail in graph.triples.tolist()
    ]
    rows = tuple(
        AuditRow(child, child, parent, parent, 0.1, -9.0, "doubtful") for child, parent in links
    )
    path = tmp_path / "review.sssom.tsv"
    path.write_text(
        Audit(rows, "", 0.0, True, predicate_of(graph), {})
        .to_sssom()
        .replace(PROPOSED, "semapv:ManualMappingCuration")
    )
    assert set(read(path, on_error="raise", negated=True).ids) >= {"big dog", "dog, or hound", "x:"}
    assert remove_links(graph, read(path, on_error="raise", negated=True)).n_triples == 0
