"""The benchmarks of hierarchies, run on tiny data; every goal names a figure of the record."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

import numpy as np
import pytest

from benchmarks import hierarchy, hierarchy_cost, hierarchy_search
from benchmarks.__main__ import BENCHMARKS, without_places
from benchmarks.record import flat, make_record
from ontodex import evaluation
from ontodex.geometry import poincare
from ontodex.graph.negatives import KINDS
from ontodex.trainers.hierarchies.embedded import EmbeddedHierarchy


def options_of(module, *arguments) -> Namespace:
    parser = ArgumentParser()
    module.add_options(parser)
    return parser.parse_args(arguments)


@pytest.fixture
def farm(monkeypatch, small_graph, tmp_path):
    """Replace WordNet by the small graph, and encoder N by random points of seed N."""

    def embedded(model, graph, device):
        rng = np.random.default_rng(int(model.name))
        found = rng.standard_normal((graph.n_entities, 8)) * (
            0.2 + 0.2 * graph.hierarchy().depth[:, None]
        )
        points = poincare.clip(found.astype(np.float32), 1 / 8)
        return EmbeddedHierarchy(points, 1 / 8, list(graph.labels), None)

    monkeypatch.setattr(evaluation, "_embedded", embedded)
    monkeypatch.setitem(hierarchy.LOADERS, "wordnet", lambda data: small_graph)
    monkeypatch.setitem(hierarchy.LOADERS, "doid-2016", lambda data: small_graph)
    return {"data": tmp_path, "seed": 0, "quick": True}


def test_several_models_give_a_mean_and_a_spread(farm, tmp_path):
    options = options_of(
        hierarchy,
        "--model",
        "3",
        "--model",
        "5",
        "--seeds",
        "0",
        "1",
        "--budget",
        "none",
        "--pairs",
        str(tmp_path / "p"),
    )
    (measured,) = hierarchy.run(Namespace(**{**vars(options), **farm}))
    record = make_record(measured, "python -m benchmarks hierarchy")
    assert record["name"] == "hierarchy-wordnet-multi-hop"
    assert set(record["goals"]) == {"HiT · random.f1", "HiT · hard.f1"}
    each = []
    for model, seed in (("3", "0"), ("5", "1")):
        assert (tmp_path / "p" / seed / "test.jsonl").exists()
        options = options_of(
            hierarchy, "--model", model, "--seeds", seed, "--pairs", str(tmp_path / "p")
        )
        each.append(hierarchy.run(Namespace(**{**vars(options), **farm}))[0].figures["HiT"])
    figures = flat(measured.figures)
    for key in ("random.f1", "hard.precision", "hop1.recall@10"):
        assert figures[f"HiT · {key}"] == pytest.approx((each[0][key] + each[1][key]) / 2)
    spread = figures["HiT, largest - smallest of 2 · random.f1"]
    assert spread == pytest.approx(abs(each[0]["random.f1"] - each[1]["random.f1"]))


def test_baselines_and_transfer_are_in_the_record(farm, tiny_encoder):
    options = options_of(
        hierarchy, "--graph", "doid-2016", "--task", "multi-hop", "--model", "1", "--trained-on",
        "wordnet", "--base",
        str(tiny_encoder), "--baselines", "probe", "classifier", "static",
    )  # fmt: skip
    (measured,) = hierarchy.run(Namespace(**{**vars(options), **farm}))
    assert measured.name == "hierarchy-doid-2016-multi-hop-from-wordnet-encoder"
    assert list(measured.figures) == [
        *("HiT", "HiT, two weights", "parent's norm alone", "entities below the parent"),
        *("probe", "classifier", "static"),
    ]
    assert not measured.goals
    figures = flat(measured.figures)
    assert all(
        0 <= figures[f"{name} · {kind}.f1"] <= 1
        for name in measured.figures
        for kind in ("random", "hard")
    )
    assert any("2 batches" in note for note in measured.notes)
    assert any("20 positives" in note for note in measured.notes)


def test_a_weight_at_its_limit_is_noted():
    found = {"random.weight": 1.0, "hard.weight": 3.0}
    two = {f"two_weights.{kind}.{part}": 0.5 for kind in KINDS for part in ("weight", "tilt")}
    assert hierarchy._limit_notes([{**found, **two}]) == []
    child = {**found, **two, "two_weights.hard.tilt": 63.5}
    (note,) = hierarchy._limit_notes([{**found, **two}, child])
    assert "limit of its search, 64, by two weights, hard negatives:" in note


def test_models_and_seeds_are_as_many(farm):
    options = options_of(hierarchy, "--model", "1", "--model", "2", "--seeds", "0")
    with pytest.raises(SystemExit, match="expected a seed for each of 2 models, found 1"):
        hierarchy.run(Namespace(**{**vars(options), **farm}))
    with pytest.raises(SystemExit, match="--data"):
        hierarchy.run(Namespace(**{**vars(options), **farm, "data": None}))


def test_search_is_equal_to_float64():
    (measured,) = hierarchy_search.run(
        Namespace(**vars(options_of(hierarchy_search)), quick=True, seed=0)
    )
    record = make_record(measured, "python -m benchmarks hierarchy-search")
    equal = {name: goal["met"] for name, goal in record["goals"].items() if "float64" in name}
    assert len(equal) == 4
    assert all(equal.values())
    assert all(value < 1e-9 for name, value in flat(measured.figures).items() if "error" in name)


def test_names_and_places():
    assert {"hierarchy", "hierarchy-search", "hierarchy-cost"} <= set(BENCHMARKS)
    assert without_places(["--model", "a", "--model", "b", "--pairs", "c"]) == [
        "--model",
        "DIR",
    ] * 2 + [
        "--pairs",
        "DIR",
    ]


def test_the_cost_of_a_step_is_counted(farm, small_graph, tiny_encoder, monkeypatch):
    steps = []

    class Peer:
        def __init__(self, folder, **settings):
            pass

        def step(self, triplets):
            steps.append(triplets)

    monkeypatch.setattr(hierarchy_cost, "PublicHiT", Peer)
    options = options_of(hierarchy_cost, "--start", str(tiny_encoder), "--device", "cpu")
    (measured,) = hierarchy_cost.run(Namespace(**{**vars(options), **farm}))
    make_record(measured, "python -m benchmarks hierarchy-cost")
    names, hierarchy = set(small_graph.labels), small_graph.hierarchy()
    rows = {label: row for row, label in enumerate(small_graph.labels)}
    assert len(steps) == 2 * 3
    assert steps[0] == steps[1] != steps[2]
    for child, parent, negative in (triplet for step in steps for triplet in step):
        assert rows[parent] in hierarchy.parents(rows[child])
        assert negative in names - {child}
        assert rows[negative] not in hierarchy.ancestors(rows[child])
    figures = flat(measured.figures)
    assert figures["public triplets · texts encoded a step"] == 3 * len(steps[-1])
    for name in ("in-batch", "triplets, each text once"):
        assert (
            0
            < figures[f"{name} · negatives within the margin a second"]
            <= figures[f"{name} · negatives a second"]
        )
