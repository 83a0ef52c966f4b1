"""Architectures of link prediction on the command line: training, evaluation and queries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ontodex.graph import KnowledgeGraph, write_tsv


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, small_graph: KnowledgeGraph) -> Path:
    folder = tmp_path_factory.mktemp("data") / "farm"
    write_tsv(small_graph, folder)
    return folder


@pytest.fixture(scope="module")
def cross(tmp_path_factory: pytest.TempPathFactory, shell, data: Path, tiny_encoder: Path) -> Path:
    folder = tmp_path_factory.mktemp("cross") / "model"
    done = shell(
        "train",
        "cross-encoder",
        data,
        "-o",
        folder,
        "--encoder",
        tiny_encoder,
        "--steps",
        2,
        "--device",
        "cpu",
    )
    assert done[0] == 0, done[2]
    assert done[1] == ""
    return folder


def test_a_model_of_another_architecture_is_trained_and_evaluated(
    shell, data, cross, tiny_encoder, tmp_path
):
    train = (
        "train",
        "hyper-cl",
        data,
        "-o",
        tmp_path / "m",
        "--encoder",
        tiny_encoder,
        "--steps",
        3,
        "--quiet",
    )
    done = shell(*train, "--architecture", "concat", "--device", "cpu")
    assert done[0] == 0, done[2]
    config = json.loads((tmp_path / "m" / "hyper_cl" / "config.json").read_text())
    assert config["network"]["architecture"] == "concat"
    plain, better = (
        shell("eval", "kgc", tmp_path / "m", data, "--device", "cpu", *more)
        for more in ((), ("--rerank", cross, "--top", 30, "--hops", 1))
    )
    assert plain[0] == better[0] == 0, plain[2] + better[2]
    assert (
        json.loads(plain[1]).keys() == json.loads(better[1]).keys() >= {"mrr", "hits@10", "head.mr"}
    )
    assert json.loads(plain[1]) != json.loads(better[1])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--top", 3), "top: expected a cross-encoder"),
        (("--neighbours", 5), "texts: expected an encoder, found"),
        (("--score", "kge"), "too few triples of the graph could be held out"),
    ],
)
def test_options_that_an_evaluation_cannot_use_are_refused(shell, small_index, data, more, message):
    status, _, err = shell("eval", "kgc", small_index, data, *more)
    assert status in (1, 2)
    assert message in " ".join(err.split())


def test_answers_are_reranked(shell, small_index, cross):
    for question in (("tails", small_index, "dog", "eats"), ("heads", small_index, "eats", "dog")):
        done = shell(*question, "-k", 3, "--json", "--rerank", cross, "--device", "cpu")
        assert done[0] == 0, done[2]
        assert len(json.loads(done[1])["hits"]) == 3


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--architecture", "hypr"), "did you mean 'hyper'"),
        (("--architecture", "bi-encoder"), "tune: expected 'full' for a bi-encoder"),
        (("--towers", "3"), "towers: expected 1 or 2"),
    ],
)
def test_settings_that_make_no_sense_are_wrong_usage(shell, data, tmp_path, more, message):
    code, _, stderr = shell("train", "hyper-cl", data, "-o", tmp_path / "m", *more)
    assert (code, message in stderr) == (2, True), stderr
    assert not (tmp_path / "m").exists()


def test_a_folder_without_a_cross_encoder(shell, small_index, tiny_encoder):
    code, stdout, stderr = shell(
        "tails", small_index, "dog", "eats", "--rerank", tiny_encoder, "--device", "cpu"
    )
    assert (code, stdout) == (1, "")
    assert "expected a cross-encoder of triples" in stderr


def test_missing_links(shell, small_index, tmp_path):
    done = shell("missing", small_index, "-k", 3, "--device", "cpu")
    assert done[0] == 0, done[2]
    assert done[1].startswith("missing: all relations\n")
    read, table, rdf = (
        shell(
            "missing", small_index, "eats", "-k", 3, "--no-linked", "--device", "cpu", "-q", form
        )[1]
        for form in ("--json", "--tsv", "--rdf")
    )
    links = json.loads(read)["links"]
    assert {link["relation_label"] for link in links} == {"eats"}
    assert table.splitlines()[0].split("\t")[:4] == [
        "head",
        "head_label",
        "relation",
        "relation_label",
    ]
    assert [row.split("\t")[4] for row in table.splitlines()[1:]] == [
        link["tail"] for link in links
    ]
    (tmp_path / "more.tsv").write_text(table)
    given = ("--also-known", tmp_path / "more.tsv", "--json", "--device", "cpu")
    again = shell("missing", small_index, "eats", "-k", 3, *given)
    known = {(link["head"], link["tail"]) for link in links}
    assert known.isdisjoint((link["head"], link["tail"]) for link in json.loads(again[1])["links"])
    assert rdf.count(" <urn:ontodex:predictions> .") >= 3


@pytest.mark.parametrize(
    ("more", "status", "message"),
    [
        (("--json", "--tsv"), 2, "expected one of --json, --tsv and --rdf"),
        (("-k", "0"), 2, "x>=1"),
        (("eatz",), 1, "did you mean 'eats'"),
    ],
)
def test_missing_links_that_cannot_be_asked_for(shell, small_index, more, status, message):
    code, stdout, stderr = shell("missing", small_index, *more, "--device", "cpu")
    assert (code, stdout) == (status, "")
    assert message in stderr


def test_why_explains_an_answer(shell, small_index):
    asked = ("why", small_index, "dog", "eats", "cow", "--device", "cpu")
    status, stdout, stderr = shell(*asked)
    assert status == 0, stderr
    assert stdout.startswith("why: head = dog (ex:dog, by label), relation = eats")
    reasons = json.loads(shell(*asked, "--json")[1])["reasons"]
    table = shell(*asked, "--tsv", "-k", 1)[1].splitlines()
    assert [row.split("\t")[0] for row in table] == ["by", *(reason["by"] for reason in reasons)]
    for wrong, message, expected in (
        (("--json", "--tsv"), "expected one of --json and --tsv", 2),
        (("-k", "0"), "x>=1", 2),
    ):
        status, stdout, stderr = shell(*asked, *wrong)
        assert (status, stdout, message in stderr) == (expected, "", True)
    status, _, stderr = shell(
        "why", small_index, "dog", "eats", "nothing of the kind", "--device", "cpu"
    )
    assert (status, "expected an entity of the graph" in stderr) == (1, True)
