"""Evaluation of hierarchy encoders: files of pairs, metrics, baselines and refused arguments."""

from dataclasses import replace

import numpy as np
import pytest

import ontodex
from ontodex import evaluation
from ontodex.encoders.hit import HiT, Learnt
from ontodex.encoders.text import TextEncoder
from ontodex.errors import GraphError, IndexMismatch, SettingsError
from ontodex.evaluation import evaluate_hierarchy
from ontodex.geometry import poincare
from ontodex.geometry.subsumption import differences, metrics
from ontodex.graph import GraphBuilder, links_fingerprint, write_tsv
from ontodex.graph.columns import TextColumn
from ontodex.trainers.data.task_files import hierarchy_task
from ontodex.trainers.hierarchies.baselines import evaluate_baselines
from ontodex.trainers.hierarchies.embedded import EmbeddedHierarchy
from ontodex.trainers.hierarchies.evaluation import evaluate_points
from tests.plain import build_plain

pytestmark = pytest.mark.filterwarnings("ignore:.*expected fitted weights below 64")
"""Random points, and an encoder of a few steps, have no distances that tell anything."""


@pytest.fixture
def placed(monkeypatch, small_graph):
    """An index of given points, made without an encoder."""
    depth = small_graph.hierarchy().depth
    found = np.random.default_rng(0).standard_normal((len(depth), 8)) * (0.2 + 0.2 * depth[:, None])
    points = poincare.clip(found.astype(np.float32), 1 / 8)
    found = EmbeddedHierarchy(points, 1 / 8, list(small_graph.labels), None)
    monkeypatch.setattr(evaluation, "_embedded", lambda *_: found)


def test_pairs_are_kept_as_files_and_read_again(placed, small_graph, tmp_path):
    folder = tmp_path / "pairs"
    first = evaluate_hierarchy("m", small_graph, seed=3, pairs=folder)
    changed = (folder / "test.jsonl").read_text(encoding="utf-8").splitlines()[:2]
    assert evaluate_hierarchy("m", small_graph, seed=3, pairs=folder) == first
    assert evaluate_hierarchy("m", small_graph, seed=3) == first
    (folder / "test.jsonl").write_text("\n".join(changed) + "\n", encoding="utf-8")
    assert evaluate_hierarchy("m", small_graph, seed=3, pairs=folder) != first


def test_a_graph_and_a_folder_may_be_given_by_their_paths(placed, small_graph, tmp_path):
    write_tsv(small_graph, tmp_path / "graph")
    folder = str(tmp_path / "pairs")
    found = evaluate_hierarchy("m", small_graph, seed=3, pairs=folder)
    assert evaluate_hierarchy("m", str(tmp_path / "graph"), seed=3, pairs=folder) == found


@pytest.mark.parametrize(
    "other", [{"seed": 1}, {"task": "mixed-hop"}, {"negatives": 5}, {"homonyms": False}]
)
def test_pairs_of_another_task_are_refused(small_graph, tmp_path, other):
    hierarchy_task(small_graph, pairs=tmp_path / "pairs")
    with pytest.raises(SettingsError, match="name another folder"):
        hierarchy_task(small_graph, **{"task": "multi-hop", **other}, pairs=tmp_path / "pairs")


def test_pairs_of_another_relation_or_hierarchy_are_refused(small_graph, tmp_path):
    hierarchy_task(small_graph, relation="is_a", pairs=tmp_path / "pairs")
    with pytest.raises(
        SettingsError, match=r"relation=None.*found .*relation='is_a'.*name another folder"
    ):
        hierarchy_task(small_graph, pairs=tmp_path / "pairs")
    other = GraphBuilder("another")
    for row, name in enumerate(small_graph.ids):
        other.entity(name, small_graph.labels[row])
    for child, parent in small_graph.hierarchy().links[1:].tolist():
        other.triple(small_graph.ids[child], "is_a", small_graph.ids[parent])
    with pytest.raises(
        SettingsError,
        match=r"hierarchy of another, found those of another, or .* name another folder",
    ):
        hierarchy_task(other.build(), relation="is_a", pairs=tmp_path / "pairs")


def test_pairs_are_written_whole_or_not_at_all(small_graph, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(
            "ontodex.trainers.data.task_files._write_lines",
            lambda *_: (_ for _ in ()).throw(OSError("disk full")),
        )
        with pytest.raises(OSError, match="disk full"):
            hierarchy_task(small_graph, pairs=tmp_path / "pairs")
    assert not any(tmp_path.iterdir())
    (tmp_path / "pairs").mkdir()
    made = hierarchy_task(small_graph, pairs=tmp_path / "pairs")
    assert {entry.name for entry in tmp_path.iterdir()} == {"pairs"}
    assert hierarchy_task(small_graph, pairs=tmp_path / "pairs").settings == made.settings


def test_another_split_than_that_of_training_is_warned_about(small_graph, tiny_encoder, tmp_path):
    links = links_fingerprint(small_graph.hierarchy().links, list(small_graph.labels))
    encoder = HiT(
        TextEncoder(tiny_encoder, "cpu", unit=False),
        None,
        {},
        learnt=Learnt(links, "mixed-hop", 2, 0.1),
    )
    encoder.save(tmp_path / "hit")
    found = evaluate_hierarchy(
        tmp_path / "hit", small_graph, task="mixed-hop", seed=2, device="cpu"
    )
    assert evaluate_hierarchy(tmp_path / "hit", small_graph, seed=2, device="cpu") == found
    for changed in ({"task": "multi-hop"}, {"seed": 3}, {"task": "transfer"}):
        with pytest.warns(
            UserWarning, match="trained on this hierarchy as mixed-hop with seed 2, evaluated as"
        ):
            evaluate_hierarchy(
                tmp_path / "hit",
                small_graph,
                **{"task": "mixed-hop", "seed": 2, **changed},
                device="cpu",
            )
    encoder.learnt = Learnt("0" * 32, "mixed-hop", 2, 0.1)
    encoder.save(tmp_path / "other")
    evaluate_hierarchy(tmp_path / "other", small_graph, task="multi-hop", seed=3, device="cpu")


def test_an_index_states_the_relations_of_its_hierarchy(
    tmp_path, small_graph, tiny_encoder, tiny_hit
):
    names = ["taxon above" if name == "is_a" else name for name in small_graph.relation_ids]
    graph = replace(
        small_graph, relation_ids=TextColumn.of(names), relation_labels=TextColumn.of(names)
    )
    path = tmp_path / "farm.odx"
    build_plain(
        graph, path, tiny_encoder, hierarchy=tiny_hit, hierarchy_relation="taxon above"
    ).close()
    with pytest.warns(
        UserWarning, match="trained on this hierarchy"
    ):  # the index stores the relation of its hierarchy
        found = evaluate_hierarchy(path, graph, task="transfer", device="cpu")
    with pytest.warns(UserWarning, match="trained on this hierarchy"):
        assert found == evaluate_hierarchy(
            path, graph, task="transfer", relation="taxon above", device="cpu"
        )
    with pytest.raises(GraphError, match="expected a relation such as is_a"):
        evaluate_hierarchy(tiny_hit, graph, device="cpu")


def test_an_index_is_measured_by_its_own_rule_too(small_index, small_graph):
    task = hierarchy_task(small_graph, "transfer", seed=1)
    with pytest.warns(
        UserWarning,
        match="trained on this hierarchy as mixed-hop with seed 0, evaluated as transfer",
    ):
        found = evaluate_hierarchy(small_index, small_graph, task=task, seed=1, device="cpu")
    with ontodex.open(small_index, device="cpu") as engine:
        rule, c = engine.index.rule, engine.index.curvature
        points = poincare.unlift(
            engine.index.vectors("hierarchy")[np.arange(small_graph.n_entities)], c
        )
    assert [found[f"index.{part}"] for part in ("weight", "tilt", "threshold")] == [
        rule.weight,
        rule.tilt,
        rule.threshold,
    ]
    for kind in ("random", "hard"):
        children, parents, labels = task.test.pairs(kind)
        scores = rule.score(*differences(points, children, parents, c))
        wanted = metrics(scores, labels, rule.threshold)
        assert [found[f"index.{kind}.{name}"] for name in wanted] == pytest.approx(
            list(wanted.values())
        )
    assert any(key.startswith("index.hop1.recall") for key in found)


def test_baselines_read_what_a_hierarchy_encoder_reads(tiny_encoder):
    def probed(spelling):
        builder = GraphBuilder("camel")
        for row in range(60):
            builder.entity(f"e{row}", spelling(f"kind {'abcdefghij'[row // 6] * 3} dog"))
            builder.triple(f"e{row}", "is_a", f"e{(row - 1) // 3}" if row else "root")
        task = hierarchy_task(builder.build(), "transfer", negatives=3)
        return evaluate_baselines(
            task, builder.build(), ["probe"], base=str(tiny_encoder), device="cpu"
        )

    assert probed(lambda label: label.title().replace(" ", "")) == pytest.approx(
        probed(str.capitalize)
    )


def test_static_embeddings_cover_trained_entities_only(small_graph):
    with pytest.raises(
        SettingsError, match=r"static embeddings on multi-hop only, .* found mixed-hop"
    ):
        evaluate_baselines(
            hierarchy_task(small_graph, "mixed-hop"), small_graph, ["static"], device="cpu"
        )


def test_figures_have_the_names_of_the_field(placed, small_graph):
    found = evaluate_hierarchy("m", small_graph, task="transfer", queries=10)
    kinds = {
        f"{kind}.{name}" for kind in ("random", "hard") for name in ("f1", "precision", "recall")
    }
    assert kinds | {
        "homonyms",
        "hop1.recall@10",
        "hop4+.recall@100",
        "distance_only.hop2.recall@10",
    } <= set(found)
    assert all(isinstance(value, float | int) for value in found.values())
    assert found["homonyms"] == 0.0


def test_neighbour_voting_over_training_links_predicts_parents(tiny_encoder, monkeypatch):
    builder, rng = GraphBuilder("kinds"), np.random.default_rng(0)
    for row in range(400):
        kind = (row - 1) // 4 if row else row
        builder.entity(
            f"e{row}", " ".join(f"{word}{kind}" for word in ("red", "dog", "tail")) + f" x{row}"
        )
        if row:
            builder.triple(f"e{row}", "is_a", f"e{kind}")
    graph = builder.build()
    points = poincare.clip(rng.standard_normal((400, 8)).astype(np.float32) * 0.3, 1 / 8)
    embedded = EmbeddedHierarchy(points, 1 / 8, list(graph.labels), None)
    monkeypatch.setattr(evaluation, "_embedded", lambda *_: embedded)
    found = evaluate_hierarchy("m", graph, task="mixed-hop", base=str(tiny_encoder), device="cpu")
    assert found["neighbours.random.f1"] > found["random.f1"] + 0.1
    assert found["neighbours.hard.f1"] > found["hard.f1"] + 0.1
    for task in ("multi-hop", "transfer"):  # either every link is a training link or none is
        assert not any(
            "neighbours" in key for key in evaluate_hierarchy("m", graph, task=task, device="cpu")
        )


def test_unknown_arguments_are_refused(placed, small_graph):
    with pytest.raises(
        SettingsError, match="task: expected one of multi-hop, mixed-hop, transfer, found 'hop'"
    ):
        evaluate_hierarchy("m", small_graph, task="hop")
    with pytest.raises(
        SettingsError, match="baselines: expected one of probe, classifier, static, found 'other'"
    ):
        evaluate_baselines(hierarchy_task(small_graph), small_graph, ["probe", "other"])
    builder = GraphBuilder("flat")
    builder.triple("dog", "eats", "cat")
    with pytest.raises(GraphError, match="is_a"):
        evaluate_hierarchy("m", builder.build())


def test_an_encoder_is_evaluated_on_the_texts_that_it_was_trained_on(
    tiny_encoder, small_graph, tmp_path
):
    encoder = HiT(
        TextEncoder(tiny_encoder, "cpu", unit=False), None, {"synonyms": 0, "definition": False}
    )
    encoder.save(tmp_path / "hit")
    found = evaluate_hierarchy(tmp_path / "hit", small_graph, seed=2, device="cpu")
    task = hierarchy_task(small_graph, seed=2)
    wanted = evaluate_points(task, encoder.points(list(small_graph.labels)), encoder.c)
    assert {key: found[key] for key in wanted} == pytest.approx(wanted)


def test_an_index_without_points_is_refused(small_graph, tiny_encoder, tmp_path):
    path = tmp_path / "x.odx"
    build_plain(small_graph, path, tiny_encoder).close()
    with pytest.raises(IndexMismatch, match="no hierarchy space; build one of a graph"):
        evaluate_hierarchy(path, small_graph, device="cpu")


def test_a_checkpoint_without_text_settings_reads_labels(other_encoder, small_graph):
    found = evaluate_hierarchy(other_encoder, small_graph, seed=2, device="cpu")
    encoder = HiT(TextEncoder(other_encoder, "cpu", unit=False), None, {})
    wanted = evaluate_points(
        hierarchy_task(small_graph, seed=2), encoder.points(list(small_graph.labels)), encoder.c
    )
    assert {key: found[key] for key in wanted} == pytest.approx(wanted)
