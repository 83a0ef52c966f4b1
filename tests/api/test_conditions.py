"""Similarity under a condition in Python and on the command line, from data set to evaluation."""

from __future__ import annotations

import json

import pytest

import ontodex
from ontodex.encoders.condition import ConditionEncoder
from ontodex.errors import EncoderError, GraphError, ReadError, SettingsError
from ontodex.graph import GraphBuilder, write_tsv

QUICK = ontodex.ConditionTraining(rank=8, condition=8, epochs=1, pairs=16)


@pytest.fixture(scope="module")
def farm(tmp_path_factory, small_graph):
    folder = tmp_path_factory.mktemp("data") / "farm"
    write_tsv(small_graph, folder)
    return folder


def test_from_a_graph_to_metrics(shell, tmp_path, tiny_encoder, farm):
    rows, model = tmp_path / "rows", tmp_path / "model"
    nothing_unseen = ("--unseen-conditions", "0", "--unseen-entities", "0")
    status, out, err = shell("conditions", farm, "-o", rows, *nothing_unseen)
    assert (status, out) == (0, ""), err
    assert f"wrote {rows}" in err
    names = ("train", "valid", "test", "test-unseen-conditions", "test-unseen-entities")
    assert {path.name for path in rows.iterdir()} == {
        *(f"{name}.csv" for name in names),
        "settings.json",
    }
    common = ("--encoder", tiny_encoder, "--rank", "8", "--epochs", "1", "--device", "cpu")
    files = ("--csts", rows / "train.csv", "--valid", rows / "valid.csv")
    status, out, err = shell("train", "condition", *files, "-o", model, *common)
    assert (status, out) == (0, ""), err
    assert f"wrote {model}" in err
    assert ConditionEncoder.load(model, device="cpu").texts == {}
    status, out, err = shell("eval", "csts", model, rows / "test.csv", "--device", "cpu")
    assert status == 0, err
    assert {"spearman", "pearson", "mse", "rows", "norm_variance"} <= set(json.loads(out))
    status, out, err = shell("train", "condition", farm, "-o", tmp_path / "own", *common, "-q")
    assert (status, out, err) == (0, "", "")
    assert ConditionEncoder.load(tmp_path / "own", device="cpu").texts["definition"] is True


def test_bad_input_on_the_command_line(shell, tmp_path, farm):
    rows = tmp_path / "rows.csv"
    rows.write_text("sentence1,sentence2,condition,label\na,b,c,9\n")
    model = tmp_path / "model"
    for arguments in (
        (),
        (farm, "--csts", rows, "--valid", rows),
        ("--csts", rows),
        (farm, "--valid", rows),
    ):
        status, out, err = shell("train", "condition", *arguments, "-o", model)
        assert (status, out) == (2, "")
        assert "expected files of a graph, or --csts and --valid" in err
    status, _, err = shell("train", "condition", "--csts", rows, "--valid", rows, "-o", model)
    assert status == 1
    assert "rows.csv:2: expected a label from 1 to 5, found '9'" in err
    status, _, err = shell("train", "condition", farm, "-o", model, "--architecture", "bi-encoder")
    assert status == 2
    assert "tune: expected 'full'" in err
    assert not model.exists()


def test_sources_of_training_data(small_graph, tiny_encoder, tmp_path):
    pairs = ontodex.conditional_pairs(
        small_graph,
        settings=ontodex.ConditionalPairsSettings(unseen_conditions=0.0, unseen_entities=0.0),
    )
    common = {"encoder": tiny_encoder, "training": QUICK, "device": "cpu", "quiet": True}
    whole = ontodex.train_condition(pairs, tmp_path / "pairs", **common)
    rows = ontodex.train_condition(pairs.train, tmp_path / "rows", valid=pairs.valid, **common)
    assert rows.fingerprint == whole.fingerprint
    assert whole.conditions == pairs.train.conditions
    found = ontodex.evaluate_csts(tmp_path / "rows", pairs.test, device="cpu")
    assert found["rows"] == len(pairs.test)
    with pytest.raises(SettingsError, match="expected valid"):
        ontodex.train_condition(pairs.train, tmp_path / "none", **common)
    with pytest.raises(SettingsError, match="rows of C-STS only"):
        ontodex.train_condition(small_graph, tmp_path / "none", valid=pairs.valid, **common)
    with pytest.raises(ReadError, match="found none"):
        ontodex.evaluate_csts(tmp_path / "rows", pairs.unseen_conditions)
    with pytest.raises(EncoderError, match="condition encoder"):
        ontodex.evaluate_csts(tiny_encoder, pairs.test)
    builder = GraphBuilder("one")
    builder.triple("a", "r", "b")
    with pytest.raises(GraphError, match="two relations"):
        ontodex.train_condition(builder.build(), tmp_path / "none", **common)
    assert not (tmp_path / "none").exists()
