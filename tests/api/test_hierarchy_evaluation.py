"""Evaluating hierarchy encoders: the pairs are kept as files, and what is asked for wrongly is refused."""

import numpy as np
import pytest

import ontodex
from ontodex import hierarchy_evaluation
from ontodex.encoders.hit import HiT
from ontodex.encoders.text import TextEncoder
from ontodex.errors import GraphError, IndexMismatch, SettingsError
from ontodex.geometry import poincare
from ontodex.graph import GraphBuilder
from ontodex.hierarchy_evaluation import evaluate_baselines, evaluate_hierarchy, hierarchy_task
from ontodex.trainers.hierarchy_evaluation import evaluate_points


@pytest.fixture
def placed(monkeypatch, small_graph):
    """Points without an encoder."""
    depth = small_graph.hierarchy().depth
    found = np.random.default_rng(0).standard_normal((len(depth), 8)) * (0.2 + 0.2 * depth[:, None])
    points = poincare.clip(found.astype(np.float32), 1 / 8)
    monkeypatch.setattr(hierarchy_evaluation, "_points", lambda *_: (points, 1 / 8))


def test_pairs_are_kept_as_files_and_read_again(placed, small_graph, tmp_path):
    folder = tmp_path / "pairs"
    first = evaluate_hierarchy("m", small_graph, seed=3, pairs=folder)
    changed = (folder / "test.jsonl").read_text(encoding="utf-8").splitlines()[:2]
    assert evaluate_hierarchy("m", small_graph, seed=3, pairs=folder) == first
    assert evaluate_hierarchy("m", small_graph, seed=3) == first
    (folder / "test.jsonl").write_text("\n".join(changed) + "\n", encoding="utf-8")
    assert evaluate_hierarchy("m", small_graph, seed=3, pairs=folder) != first


@pytest.mark.parametrize("other", [{"seed": 1}, {"task": "mixed-hop"}, {"negatives": 5}, {"homonyms": False}])
def test_pairs_of_another_task_are_refused(small_graph, tmp_path, other):
    hierarchy_task(small_graph, pairs=tmp_path / "pairs")
    with pytest.raises(SettingsError, match="name another folder"):
        hierarchy_task(small_graph, **{"task": "multi-hop", **other}, pairs=tmp_path / "pairs")


def test_figures_have_the_names_of_the_field(placed, small_graph):
    found = evaluate_hierarchy("m", small_graph, task="transfer", queries=10)
    kinds = {f"{kind}.{name}" for kind in ("random", "hard") for name in ("f1", "precision", "recall")}
    assert kinds | {"homonyms", "hop1.recall@10", "hop4+.recall@100", "distance_only.hop2.recall@10"} <= set(found)
    assert all(isinstance(value, float | int) for value in found.values())
    assert found["homonyms"] == 0.0


def test_what_there_is_not_is_refused(placed, small_graph):
    with pytest.raises(SettingsError, match="task: expected multi-hop, mixed-hop, transfer, found 'hop'"):
        evaluate_hierarchy("m", small_graph, task="hop")
    with pytest.raises(SettingsError, match="baselines: expected probe, classifier, static, found 'other'"):
        evaluate_baselines(hierarchy_task(small_graph), small_graph, ["probe", "other"])
    builder = GraphBuilder("flat")
    builder.triple("dog", "eats", "cat")
    with pytest.raises(GraphError, match="is_a"):
        evaluate_hierarchy("m", builder.build())


def test_an_encoder_is_evaluated_on_the_texts_that_it_was_trained_on(tiny_encoder, small_graph, tmp_path):
    encoder = HiT(TextEncoder(tiny_encoder, "cpu", unit=False), None, {"synonyms": 0, "definition": False})
    encoder.save(tmp_path / "hit")
    found = evaluate_hierarchy(tmp_path / "hit", small_graph, seed=2, device="cpu")
    task = hierarchy_task(small_graph, seed=2)
    wanted = evaluate_points(task, encoder.points(list(small_graph.labels)), encoder.c)
    assert {key: found[key] for key in wanted} == pytest.approx(wanted)


def test_an_index_without_points_is_refused(small_graph, tiny_encoder, tmp_path):
    path = tmp_path / "x.odx"
    settings = {"train": False, "hierarchy": False, "device": "cpu", "quiet": True}
    ontodex.build(small_graph, path, encoders=tiny_encoder, **settings).close()
    with pytest.raises(IndexMismatch, match="no points of a HiT encoder"):
        evaluate_hierarchy(path, small_graph, device="cpu")


def test_a_checkpoint_that_does_not_say_reads_labels_alone(other_encoder, small_graph):
    found = evaluate_hierarchy(other_encoder, small_graph, seed=2, device="cpu")
    encoder = HiT(TextEncoder(other_encoder, "cpu", unit=False), None, {})
    wanted = evaluate_points(hierarchy_task(small_graph, seed=2), encoder.points(list(small_graph.labels)), encoder.c)
    assert {key: found[key] for key in wanted} == pytest.approx(wanted)
