"""Completion of names, against a direct computation, and description of entities."""

from __future__ import annotations

import random
import re

import pytest

import ontodex
from ontodex.errors import SettingsError, UnknownEntity
from ontodex.graph import GraphBuilder
from ontodex.scoring import name_completion
from ontodex.scoring.name_completion import NameCompletion
from ontodex.scoring.name_similarity import plain
from tests.plain import build_plain


def direct(graph, prefix, k):
    """Rank all names by the rules of completion."""
    typed, found = plain(prefix) + " " * prefix[-1:].isspace(), {}
    for row, (label, synonyms) in enumerate(zip(graph.labels, graph.synonyms, strict=True)):
        for at, name in enumerate((label, *synonyms)):
            folded = plain(name)
            starts = [0, *(one.start() for one in re.finditer(r"[^\W_]+", folded))]
            fits = [start for start in starts if folded[start:].startswith(typed)]
            if fits:
                key = at > 0, min(fits) > 0, len(folded.encode()), folded[min(fits) :].encode()
                found[row] = min(found.get(row, (key, row, name)), (key, row, name))
    return sorted(found.values())[:k]


@pytest.mark.parametrize("block", [1, 3, 1024])
def test_completions_are_those_of_a_direct_computation(monkeypatch, block):
    monkeypatch.setattr(name_completion, "BLOCK", block)
    draw = random.Random(block)
    words = ["heart", "Héart", "hear", "ear", "(ear-ache)", "日本", "tear", "Foo_bar", "x"]
    builder = GraphBuilder("names")
    for number in range(300):
        names = [" ".join(draw.choices(words, k=draw.randint(1, 3))) for _ in range(3)]
        builder.entity(f"ex:{number}", names[0], names[1:])
    graph = builder.build()
    names = NameCompletion.of(graph)
    for prefix in ("h", "hear", "hear ", "ear", "EAR-", "日", "heart x", "é", "f", "bar", "q"):
        for k in (1, 7, 1000):
            found = names.find(prefix, k)
            expected = direct(graph, prefix, k)
            assert len(found) == len(expected)
            place = [number - names.owners.searchsorted(row) for row, number in found]
            folded = [
                plain((graph.labels[row], *graph.synonyms[row])[at])
                for (row, _), at in zip(found, place, strict=True)
            ]
            keys = [(at > 0, len(name.encode())) for at, name in zip(place, folded, strict=True)]
            assert keys == [(key[0], key[2]) for key, *_ in expected]
            assert len({row for row, _ in found}) == len(found)


def test_labels_come_first_then_beginnings_then_short_names(tmp_path, tiny_encoder):
    builder = GraphBuilder("heart")
    builder.entity("ex:1", "Abnormal heart rate")
    builder.entity("ex:2", "Heart murmur sound")
    builder.entity("ex:3", "Cardiac arrest", ["Heart stop"])
    builder.entity("ex:4", "Heart pain", ["Heart ache"])
    with build_plain(builder.build(), tmp_path / "x.odx", tiny_encoder) as engine:
        found = engine.complete("HEÄR")
        assert [(one.id, one.name, one.kind) for one in found] == [
            ("ex:4", "Heart pain", "label"),
            ("ex:2", "Heart murmur sound", "label"),
            ("ex:1", "Abnormal heart rate", "label"),
            ("ex:3", "Heart stop", "synonym"),
        ]
        assert found[3].label == "Cardiac arrest"
        assert "Heart stop (synonym of Cardiac arrest)" in str(found)
        assert found.to_dict()["completions"][0]["id"] == "ex:4"
        assert [one.id for one in engine.complete("heart ", k=1)] == ["ex:4"]
        assert "nothing found" in str(engine.complete("heartx"))
        for prefix, k in (("", 1), ("  ", 1), ("h", 0)):
            with pytest.raises(SettingsError):
                engine.complete(prefix, k)


def test_a_description_has_names_hierarchy_and_links(small_index):
    with ontodex.open(small_index, device="cpu") as engine:
        found = engine.describe("dog")
        assert (found.id, found.label, found.definition) == (
            "ex:dog",
            "dog",
            "a tame animal that lives in a farm",
        )
        assert found.synonyms == ("common dog", "dogs")
        assert found.parents.first == (("ex:tame", "tame animal"),)
        assert (found.children.count, found.children.first) == (1, (("ex:young-dog", "young dog"),))
        assert found.paths == (("thing", "animal", "tame animal", "dog"),)
        links = {some.relation: (some.count, some.first) for some in found.links}
        assert links["lives in"] == (1, (("ex:farm", "farm"),))
        assert set(links) == {"lives in", "eats", "inverse eats"}
        assert set(found.spaces) == set(engine.index.manifest.spaces)
        assert "path: thing > animal > tame animal > dog" in str(found)
        assert found.to_dict()["links"][0]["first"][0]["label"]
        tame = engine.describe("ex:tame").children
        assert (tame.count, len(tame.first)) == (10, 8)
        assert str(tame).endswith("and 2 more")
        assert engine.describe("ex:thing").paths == ()
        with pytest.raises(UnknownEntity, match=r"to describe, found free text .doog.*dog"):
            engine.describe("doog")


def test_the_shortest_paths_come_first_and_a_former_id_is_replaced(tmp_path, tiny_encoder):
    builder = GraphBuilder("paths")
    for child, parent in ("ab", "bc", "cr", "ar", "dr", "ad"):
        builder.triple(f"ex:{child}", "is_a", f"ex:{parent}")
    builder.replace({"ex:old": "ex:a"})
    with build_plain(builder.build(), tmp_path / "x.odx", tiny_encoder) as engine:
        found = engine.describe("ex:old")
        assert [len(path) for path in found.paths] == [2, 3, 4]
        assert found.resolution.kind == "alternative id"
        assert "in place of ex:old" in str(found)
