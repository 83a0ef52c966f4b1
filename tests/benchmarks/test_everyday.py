"""The benchmark of everyday questions: ranks of right answers, by kind and ranker."""

from __future__ import annotations

from argparse import Namespace

import ontodex
from benchmarks import everyday
from benchmarks.baselines import FUSION
from benchmarks.everyday_data import Question
from ontodex.graph import write_tsv


def asked(kind, text, *gold):
    return Question("schema-org", kind, "development", text, gold, "")


def test_right_answers_have_their_ranks(
    tmp_path, monkeypatch, small_graph, tiny_encoder, tiny_hit
) -> None:
    write_tsv(small_graph, tmp_path / "graph")
    build = ontodex.build

    def quick(graph, path, **settings):
        hit = tiny_hit if settings.pop("hierarchy") else False
        if settings.get("train", True):
            settings["training"] = ontodex.HyperCLTraining(
                steps=5, queries=32, negatives=8, rank=4, condition=8, width=16
            )
        settings["encoders"] = tiny_encoder
        return build(graph, path, **settings, hierarchy=hit, device="cpu")

    monkeypatch.setattr(ontodex, "build", quick)
    monkeypatch.setattr(everyday, "sources", lambda folder: {"schema-org": [tmp_path / "graph"]})
    rows = [
        asked("misspelt", "doog", "ex:dog", "ex:cat"),
        asked("lay", "hound", "ex:dog"),
        asked("place", "a dog with spots", "ex:tame"),
        asked("kind", "a puppy -> ex:livesIn -> ?", "below:ex:place"),
        asked("kind", "? -> ex:livesIn -> a puddle", "ex:*"),
        asked("none", "quark"),
    ]
    monkeypatch.setattr(everyday, "questions", lambda half: rows)
    (measured,) = everyday.run(
        Namespace(half="development", kind=None, graph=None, encoder=None, seed=0, quick=True)
    )
    assert measured.name == "everyday-development"
    figures = measured.figures
    kinds = ["misspelt", "lay", "place", "kind"]
    assert set(figures) == {
        f"{of} · {kind}" for of in ("all graphs", "schema-org") for kind in kinds
    }
    misspelt = figures["schema-org · misspelt"]
    assert {"search", "trigrams", "rapidfuzz", FUSION} <= set(misspelt)
    assert misspelt["trigrams"] == {
        "questions": 1.0,
        "first right": 1.0,
        "among the first 3": 1.0,
        "among the first 10": 1.0,
        "mrr": 1.0,
    }
    assert set(figures["schema-org · place"]) == {"parents", "trigram votes"}
    of_kind = figures["schema-org · kind"]["tails, heads"]
    assert of_kind["questions"] == 2
    assert 0.5 < of_kind["share of the first 10"] <= 1  # all heads have the prefix
    ranked = [group for name, group in figures.items() if not name.endswith("kind")]
    assert all(0 <= one["mrr"] <= 1 for group in ranked for one in group.values())
