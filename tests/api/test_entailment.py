"""Entailment on the command line, as a process, and its evaluation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import bootstrap

import ontodex
from ontodex.encoders.gauss_cse import GaussCSE
from ontodex.errors import EncoderError, ReadError, SettingsError
from ontodex.graph import write_tsv
from ontodex.trainers.data.entailment_pairs import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    EntailmentPairs,
)
from ontodex.trainers.entailment.evaluation import (
    Judged,
    evaluate_judged,
    judge,
    length_baselines,
    mcnemar,
)

ANIMALS = ("dog", "cat", "cow", "wolf", "fox", "hen")
FILE = "premise\thypothesis\tlabel\n" + "".join(
    f"the {one} lives in the farm\tthe {other}\t"
    f"{'entailment' if one == other else 'contradiction'}\n"
    for one in ANIMALS
    for other in ANIMALS
)


@pytest.fixture(scope="module")
def nli(tmp_path_factory):
    path = tmp_path_factory.mktemp("nli") / "pairs.tsv"
    path.write_text(FILE, encoding="utf-8")
    return path


def test_from_judgements_to_answers(shell, tmp_path, tiny_encoder, small_graph, nli):
    model, index, graph = tmp_path / "model", tmp_path / "farm.odx", tmp_path / "farm"
    write_tsv(small_graph, graph)
    settings = ("--tune", "adapter", "--epochs", "4", "--encoder", tiny_encoder, "--device", "cpu")
    status, out, err = shell(
        "train", "gauss-cse", "--nli", nli, "--valid", nli, "-o", model, *settings
    )
    assert (status, out) == (0, ""), err
    assert f"wrote {model}" in err
    status, out, err = shell("eval", "nli", model, nli, "--against", model, "--valid", nli)
    assert status == 0, err
    found = json.loads(out)
    assert found["pairs"] == 36
    assert found["accuracy"] == found["against.accuracy"] >= 5 / 6
    assert found["mcnemar.p"] == 1.0
    arguments = (
        "--encoder",
        tiny_encoder,
        "--entailment-encoder",
        model,
        "--no-train",
        "--no-hierarchy",
        "-q",
    )
    status, out, err = shell("build", graph, "-o", index, *arguments)
    assert (status, out) == (0, ""), err
    for command in ("entailed-by", "entailing"):
        status, out, err = shell(command, index, "the dog", "-k", "3", "--json")
        assert status == 0, err
        hits = json.loads(out)["hits"]
        assert len(hits) == 3
        assert all(0 < hit["probability"] < 1 and hit["text"] for hit in hits)
    status, out, _ = shell("entails", index, "the dog lives in the farm", "the dog", "--json")
    assert status == 0
    assert json.loads(out)["forward"]["entailed"] in (True, False)
    status, out, _ = shell(
        "entails", index, "--queries", "-", stdin="the dog\ta dog\nthe cat\ta cat\n"
    )
    assert [
        json.loads(line)["direction"] in ("forward", "backward") for line in out.splitlines()
    ] == [True, True]


def test_a_graph_is_learnt_from_on_the_command_line(shell, tmp_path, tiny_encoder, small_graph):
    write_tsv(small_graph, tmp_path / "farm")
    settings = ("--epochs", "1", "--encoder", tiny_encoder, "--device", "cpu", "-q")
    status, out, err = shell(
        "train", "gauss-cse", tmp_path / "farm", "-o", tmp_path / "model", *settings
    )
    assert (status, out, err) == (0, "", "")
    assert GaussCSE.is_at(tmp_path / "model")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("train", "gauss-cse", "-o", "m"), 2, "expected files of a graph, or --nli"),
        (("train", "gauss-cse", "-o", "m", "--nli", "none.tsv"), 1, "none of this name"),
        (
            ("build", "x.tsv", "-o", "m", "--no-entailment", "--entailment-encoder", "y"),
            2,
            "found both",
        ),
        (("eval", "nli", "nothing-here/model", "none.tsv"), 1, "none of this name"),
    ],
)
def test_wrong_usage_is_named(shell, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    status, _, err = shell(*arguments)
    assert status == code
    assert message in err


def test_other_encoders_are_refused(tiny_encoder, tiny_gauss, tiny_hit, small_graph, tmp_path, nli):
    with pytest.raises(SettingsError, match="one of entailment; give it as entailment="):
        ontodex.build(
            small_graph,
            tmp_path / "x.odx",
            encoders=[tiny_encoder, tiny_gauss],
            device="cpu",
            entailment=False,
            quiet=True,
        )
    with pytest.raises(EncoderError, match="expected a GaussCSE encoder"):
        ontodex.evaluate_nli(tiny_hit, nli)
    with pytest.raises(ReadError, match="none of this name"):
        ontodex.evaluate_nli(tiny_gauss, "nothing.tsv", device="cpu")


def test_figures_are_their_definitions():
    rng = np.random.default_rng(0)
    rows = [(f"a premise of words {i}", f"h {i}", int(rng.integers(3))) for i in range(400)]
    rows += [
        ("one", "two", ENTAILMENT),
        ("two", "one", ENTAILMENT),
        ("short", "a much longer text", ENTAILMENT),
    ]
    pairs = EntailmentPairs.of(rows)
    forward, backward = rng.random((2, len(pairs)))
    judged = Judged(forward, backward, rng.random(len(pairs)) < 0.5)
    found = evaluate_judged(judged, pairs, 0.4, seed=1)
    truth = pairs.labels == ENTAILMENT
    right = (forward > 0.4) == truth
    assert found["accuracy"] == pytest.approx(right.mean())
    one_way = truth.copy()
    one_way[-3:-1] = False
    assert found["direction.pairs"] == one_way.sum()
    assert found["direction.accuracy"] == pytest.approx((forward > backward)[one_way].mean())
    assert found["direction.variance"] == pytest.approx(judged.wider[one_way].mean())
    longer = np.array([len(premise) > len(hypothesis) for premise, hypothesis, _ in rows])
    assert found["direction.characters"] == pytest.approx(longer[one_way].mean())
    wordier = [np.sign(len(p.split()) - len(h.split())) / 2 + 0.5 for p, h, _ in rows]
    assert found["direction.words"] == pytest.approx(np.array(wordier)[one_way].mean())
    for name, label in (
        ("entailment", ENTAILMENT),
        ("neutral", NEUTRAL),
        ("contradiction", CONTRADICTION),
    ):
        assert found[f"label.{name}"] == pytest.approx(right[pairs.labels == label].mean())
    assert "label.not_entailment" not in found
    assert found["ratio.1-inf"] == float(right[-1])
    interval = bootstrap(
        (right,), np.mean, n_resamples=2000, method="percentile", rng=np.random.default_rng(0)
    )
    assert found["accuracy.low"] == pytest.approx(interval.confidence_interval.low, abs=0.02)
    assert found["accuracy.high"] == pytest.approx(interval.confidence_interval.high, abs=0.02)


def test_the_length_baselines_count_characters_and_words():
    """By hand: more characters 2 of 4, as many 1; more words 1 of 4, as many 2."""
    rows = [
        ("A big dog runs", "A dog", ENTAILMENT),
        ("Someone sings", "Ann sings", ENTAILMENT),
        ("A cat", "A dog", ENTAILMENT),
        ("Dogs", "An animal", ENTAILMENT),
        ("A very long text of no entailment", "A dog", NEUTRAL),
        ("Both of these say one thing", "One thing", ENTAILMENT),
        ("One thing", "Both of these say one thing", ENTAILMENT),
    ]
    found = length_baselines(EntailmentPairs.of(rows))
    assert found == {"direction.characters": 2 / 4, "direction.words": (1 + 2 / 2) / 4}
    assert length_baselines(EntailmentPairs.of(rows[-3:])) == {}


def test_two_models_are_compared_on_the_same_pairs():
    one, other = np.array([True] * 12 + [False] * 3), np.array([True] * 2 + [False] * 13)
    assert mcnemar(one, other) == {"better": 10, "worse": 0, "p": pytest.approx(2 / 2**10)}
    assert mcnemar(one, one)["p"] == 1.0


def test_the_threshold_comes_from_the_encoder_or_from_validation_pairs(tiny_gauss, nli):
    own = ontodex.evaluate_nli(tiny_gauss, nli, device="cpu")
    chosen = ontodex.evaluate_nli(tiny_gauss, nli, valid=nli, device="cpu")
    encoder, pairs = GaussCSE.load(tiny_gauss, "cpu"), ontodex.read_nli(nli)
    forward = judge(encoder, pairs).forward
    assert own["threshold"] == encoder.rule.threshold
    assert own["accuracy"] == pytest.approx(((forward > own["threshold"]) == pairs.entailed).mean())
    assert chosen["accuracy"] >= own["accuracy"]
