"""Hierarchies on the command line: training, evaluation, place, audit, plots and bad input."""

from __future__ import annotations

import json

import pytest

from ontodex.graph import write_tsv

METRICS = {
    "random.f1",
    "random.precision",
    "random.recall",
    "hard.f1",
    "hard.precision",
    "hard.recall",
    "homonyms",
}


@pytest.fixture(scope="module")
def farm(tmp_path_factory, small_graph):
    folder = tmp_path_factory.mktemp("data") / "farm"
    write_tsv(small_graph, folder)
    return folder


def test_from_training_to_parents(shell, tmp_path, tiny_encoder, farm):
    model, index = tmp_path / "farm-hit", tmp_path / "farm.odx"
    settings = (
        "--tune",
        "adapter",
        "--rank",
        "4",
        "--epochs",
        "2",
        "--rate",
        "0.001",
        "--encoder",
        tiny_encoder,
    )
    status, out, err = shell("train", "hit", farm, "-o", model, *settings, "--device", "cpu")
    assert (status, out) == (0, ""), err
    assert f"wrote {model}" in err
    status, out, err = shell(
        "eval",
        "hierarchy",
        model,
        farm,
        "-q",
        "--pairs",
        tmp_path / "pairs",
        "--baseline",
        "static",
    )
    assert status == 0, err
    assert {*METRICS, "hop1.recall@10", "static.random.f1"} <= set(json.loads(out))
    assert (tmp_path / "pairs" / "test.jsonl").exists()
    arguments = (
        "--encoder",
        tiny_encoder,
        "--hierarchy-encoder",
        model,
        "--no-train",
        "--no-entailment",
        "-q",
    )
    status, out, err = shell("build", farm, "-o", index, *arguments)
    assert (status, out) == (0, ""), err
    status, out, _ = shell("parents", index, "a young dog", "-k", "3", "--json")
    assert status == 0
    assert all(hit["known"] or 0 < hit["probability"] < 1 for hit in json.loads(out)["hits"])
    status, out, err = shell(
        "eval", "hierarchy", index, farm, "-q", "--negatives", "5", "--task", "transfer"
    )
    assert status == 0, err
    assert set(json.loads(out)) >= METRICS


def test_a_public_checkpoint_gets_its_rule_from_the_graph(
    shell, tmp_path, tiny_encoder, other_encoder, farm
):
    arguments = (
        "--encoder",
        tiny_encoder,
        "--hierarchy-encoder",
        other_encoder,
        "--no-train",
        "--no-entailment",
        "-q",
    )
    status, out, err = shell("build", farm, "-o", tmp_path / "farm.odx", *arguments)
    assert (status, out) == (0, ""), err
    status, out, _ = shell("children", tmp_path / "farm.odx", "animal", "--known", "only", "--tsv")
    assert status == 0
    assert out.splitlines()[0] == "id\tlabel\tscore\tknown\tprobability"


def test_the_relation_of_the_hierarchy_may_have_any_name(shell, tmp_path, tiny_encoder):
    links = (
        "poodle\ttaxon above\tdog\ndog\ttaxon above\tanimal\ncat\ttaxon above\tanimal\n"
        "cat\tfears\tdog\n"
    )
    (tmp_path / "pets.tsv").write_text(links)
    index, more = (
        tmp_path / "pets.odx",
        ("--encoder", tiny_encoder, "--no-train", "--no-entailment", "-q"),
    )
    status, out, err = shell(
        "build", tmp_path / "pets.tsv", "-o", index, *more, "--hierarchy-relation", "taxon above"
    )
    assert (status, out) == (0, ""), err
    told = json.loads(shell("info", index)[1])
    assert told["hierarchy"]["relations"] == ["taxon above"]
    assert "hierarchy_relations" not in told["graph"]
    status, out, _ = shell("parents", index, "poodle", "--known", "only", "--json")
    assert {hit["id"] for hit in json.loads(out)["hits"]} == {"dog", "animal"}
    (tmp_path / "more.tsv").write_text("hound\ttaxon above\tdog\n")
    assert shell("add", index, tmp_path / "more.tsv", "-q")[0] == 0
    status, out, _ = shell("parents", index, "hound", "--known", "only", "--json")
    assert {hit["id"] for hit in json.loads(out)["hits"]} == {"dog", "animal"}
    status, out, err = shell(
        "build", tmp_path / "pets.tsv", "-o", index, *more, "--hierarchy-relation", "taxon abov"
    )
    assert (status, "did you mean 'taxon above'" in err) == (1, True)


def test_an_index_without_the_hierarchy_says_so(shell, tmp_path, tiny_encoder, farm):
    index = tmp_path / "farm.odx"
    assert (
        shell(
            "build",
            farm,
            "-o",
            index,
            "--encoder",
            tiny_encoder,
            "--no-train",
            "--no-hierarchy",
            "--no-entailment",
            "-q",
        )[0]
        == 0
    )
    status, out, err = shell("place", index, "dog")
    assert (status, out) == (1, "")
    assert "HiT" in err
    assert "build it anew" in err


def test_places(shell, small_index):
    status, out, err = shell("place", small_index, "a wild dog", "-k", "2")
    assert (status, err) == (0, "")
    assert out.startswith("place: text = “a wild dog” (free text)")
    assert out.count("  under  ") == 2
    status, out, _ = shell("place", small_index, "dog", "-k", "2", "--tsv")
    assert (status, len(out.splitlines())) == (0, 3)
    assert out.startswith("parent_id\t")


@pytest.mark.parametrize(
    ("command", "found"), [("parents", "hits"), ("children", "hits"), ("place", "placements")]
)
def test_new_concepts_in_batches(shell, small_index, tmp_path, command, found):
    (tmp_path / "new.txt").write_text(
        "a wild dog\n\nex:cat\n" + "a tame hen " * 3333 + "\n", encoding="utf-8"
    )
    status, out, err = shell(
        command, small_index, "--queries", tmp_path / "new.txt", "-k", "3", "--device", "cpu"
    )
    assert (status, err) == (0, "")
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["query"]["text"]["kind"] for line in lines] == ["free text", "id", "free text"]
    assert all(len(line[found]) == 3 for line in lines)


def test_a_faulty_line_costs_no_other_answer(shell, small_index, tmp_path):
    (tmp_path / "new.txt").write_text("a wild dog\nex:cat\ntwo\tparts\na cow\n", encoding="utf-8")
    status, out, err = shell(
        "parents", small_index, "--queries", tmp_path / "new.txt", "-k", "3", "--device", "cpu"
    )
    first, second, wrong, last = (json.loads(line) for line in out.splitlines())
    assert (status, err) == (1, "")
    assert [one["query"]["text"]["text"] for one in (first, second, last)] == [
        "a wild dog",
        "ex:cat",
        "a cow",
    ]
    assert "new.txt:3: expected 1 text(s)" in wrong["error"]


def test_a_hierarchy_that_is_added_to_an_index_without_one(shell, tmp_path, tiny_encoder, farm):
    (tmp_path / "flat.tsv").write_text("dog\teats\tcat\n")
    index = tmp_path / "x.odx"
    assert (
        shell(
            "build",
            tmp_path / "flat.tsv",
            "-o",
            index,
            "--encoder",
            tiny_encoder,
            "--no-train",
            "--no-entailment",
            "-q",
        )[0]
        == 0
    )
    status, _, err = shell("add", index, farm, "-q")
    assert status == 0
    assert "warning: " in err
    assert "has a hierarchy now, and the index no encoder for it" in err
    assert "warning" not in shell("add", index, tmp_path / "flat.tsv", "-q")[2]


def test_an_audit_in_every_form(shell, small_index):
    status, out, err = shell("audit", small_index, "-k", "3")
    assert (status, err) == (0, "")
    assert "asserted, and doubtful (p as if the child were new):" in out
    status, out, _ = shell("audit", small_index, "-k", "3", "--json")
    rows = json.loads(out)["rows"]
    verdicts = [row["verdict"] for row in rows]
    assert verdicts == sorted(verdicts)
    assert all(verdicts.count(verdict) <= 3 for verdict in ("doubtful", "missing"))
    status, out, _ = shell("audit", small_index, "-k", "3", "--tsv")
    assert len(out.splitlines()) == 1 + len(rows)
    status, out, _ = shell("audit", small_index, "-k", "3", "--sssom")
    assert status == 0
    assert len(
        [line for line in out.splitlines() if "semapv:SemanticSimilarityThresholdMatching" in line]
    ) == len(rows)


def test_pictures(shell, small_index, tmp_path):
    around, norms = tmp_path / "animal.svg", tmp_path / "norms.png"
    status, out, err = shell(
        "plot", small_index, "--root", "ex:animal", "--answers", "2", "--limit", "20", "-o", around
    )
    assert (status, out, err) == (0, "", "")
    assert "predicted parents" in around.read_text(encoding="utf-8")
    assert shell("plot", small_index, "--norms", "-o", norms)[0] == 0
    assert norms.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("train", "hit", "FARM", "-o", "m", "--tune", "adpter"), 2, "adapter"),
        (("train", "hit", "FARM", "-o", "m", "--batches", "all"), 2, "families"),
        (("train", "hit", "FARM", "-o", "m", "--epochs", "0"), 2, "epochs"),
        (("train", "hit", "FARM", "-o", "m", "--task", "multihop"), 2, "did you mean 'multi-hop'"),
        (("train", "hit", "FARM", "-o", "m", "--relation", "is b"), 1, "did you mean 'is a'"),
        (("train", "hit", "FARM"), 2, "--output"),
        (("eval", "hierarchy", "NOWHERE/x", "FARM"), 1, "NOWHERE"),
        (("eval", "hierarchy", "INDEX", "FARM", "--task", "transfr"), 2, "did you mean 'transfer'"),
        (("eval", "hierarchy", "INDEX", "FARM", "--baseline", "prob"), 2, "did you mean 'probe'"),
        (("eval", "hierarchy", "INDEX", "FARM", "--negatives", "0"), 2, "--negatives"),
        (
            ("build", "FARM", "-o", "x", "--no-hierarchy", "--hierarchy-encoder", "HIT"),
            2,
            "found both",
        ),
        (("build", "FARM", "-o", "x", "--encoder", "HIT"), 2, "--hierarchy-encoder"),
        (("place", "INDEX"), 2, "--queries"),
        (("place", "INDEX", "dog", "-k", "0"), 2, "-k"),
        (("place", "INDEX", "ex:dgo"), 1, "ex:dog"),
        (("parents", "INDEX", " "), 2, "expected a CURIE"),
        (("audit", "INDEX", "--json", "--sssom"), 2, "one of"),
        (("plot", "INDEX", "-o", "x.svg"), 2, "found neither"),
        (("plot", "INDEX", "-o", "x.svg", "--root", "dog", "--norms"), 2, "found both"),
        (("plot", "INDEX", "-o", "x.gif", "--root", "dog"), 2, ".svg or .png"),
        (("plot", "INDEX", "-o", "x.svg", "--root", "anmal"), 1, "did you mean 'animal'"),
    ],
)
def test_failures_say_what_to_do_on_stderr(
    shell, small_index, tiny_hit, farm, tmp_path, monkeypatch, arguments, status, says
):
    monkeypatch.chdir(tmp_path)
    names = {"INDEX": small_index, "FARM": farm, "HIT": tiny_hit}
    found = shell(*(names.get(part, part) for part in arguments))
    assert (found[0], found[1]) == (status, "")
    assert says in found[2]
    assert "Traceback" not in found[2]
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("triples", "says"),
    [
        ("dog\teats\tcat\n", "is_a"),
        ("dog\tis_a\tanimal\nanimal\tis_a\tdog\n", "found 1 and 1 that close a circle"),
    ],
    ids=["no hierarchy", "a circle"],
)
def test_graphs_that_cannot_be_trained_on_are_refused(shell, tmp_path, triples, says):
    (tmp_path / "x.tsv").write_text(triples)
    status, out, err = shell("train", "hit", tmp_path / "x.tsv", "-o", tmp_path / "m")
    assert (status, out) == (1, "")
    assert says in err
    assert "warning:" not in err
    assert "Traceback" not in err
    assert not (tmp_path / "m").exists()


def test_a_chain_is_too_narrow_to_learn_from(shell, tmp_path):
    lines = "".join(f"dog {number}\tis_a\tdog {number + 1}\n" for number in range(60))
    (tmp_path / "x.tsv").write_text(lines)
    status, out, err = shell("train", "hit", tmp_path / "x.tsv", "-o", tmp_path / "m")
    assert (status, out) == (1, "")
    assert "a hierarchy that is larger or branches more" in err
    assert "an index needs no training" in err
    assert "fewer negatives" not in err
    assert not (tmp_path / "m").exists()
