"""The command line, as a process."""

import io
import json
import os

import numpy as np
import pytest

from ontodex.cli.answers import _batches
from ontodex.graph import write_tsv
from ontodex.readers import read


def test_from_a_file_to_answers(shell, tmp_path, tiny_encoder, small_graph):
    write_tsv(small_graph, tmp_path / "farm")
    index = tmp_path / "farm.odx"
    status, out, err = shell(
        "build", tmp_path / "farm", "-o", index, "--encoder", tiny_encoder, "--device", "cpu"
    )
    assert (status, out) == (0, ""), err
    assert "training" in err
    status, out, _ = shell("info", index)
    assert (status, json.loads(out)["graph"]["entities"]) == (0, small_graph.n_entities)
    relations = {one["label"]: one for one in json.loads(out)["relations"]}
    assert relations["eats"]["triples"] == 20
    assert relations["eats"]["example"].split(" eats ")[0] in small_graph.labels
    assert list(json.loads(out))[:4] == ["path", "graph", "relations", "hierarchy"]
    assert json.loads(out)["hierarchy"] == {
        "relations": ["is a"],
        "entities": 53,
        "roots": 1,
        "first_roots": ["thing"],
        "depth": 4,
    }
    status, out, _ = shell("eval", "kgc", index, tmp_path / "farm")
    assert status == 0
    assert 0 < json.loads(out)["tail.mrr"] <= 1
    status, out, _ = shell("verify", index)
    assert (status, "whole" in out) == (0, True)
    (tmp_path / "new.tsv").write_text("ex:dog\tex:eats\tex:bone\n")
    status, _, err = shell("add", index, tmp_path / "new.tsv")
    assert (status, "added 1 entities, 0 relations, 1 triples (such as bone)" in err) == (0, True)
    status, out, _ = shell("tails", index, "dog", "eats", "--known", "only", "--tsv")
    assert (status, "ex:bone\tbone" in out) == (0, True)
    assert shell("remove", index, "--links", tmp_path / "new.tsv", "-q")[0] == 0
    assert shell("tails", index, "dog", "eats", "--known", "only", "--tsv")[1].count("ex:bone") == 0
    assert shell("remove", index, "ex:bone", "-q")[0] == 0
    for wrong in ((), ("ex:dog", "--links", tmp_path / "new.tsv")):
        assert shell("remove", index, *wrong)[0] == 2
    assert shell("export", index, "-o", tmp_path / "out.nq")[0] == 0
    assert read(tmp_path / "out.nq").n_entities == small_graph.n_entities


@pytest.mark.parametrize(
    "question",
    [
        ("tails", "dog", "eats"),
        ("heads", "eats", "dog"),
        ("relations", "dog", "farm"),
        ("search", "ex:dog"),
        ("similar", "dog"),
        ("parents", "dog"),
        ("children", "place"),
    ],
)
def test_every_question_answers_in_json(shell, small_index, question):
    command, *parts = question
    status, out, err = shell(command, small_index, *parts, "-k", "2", "--json", "--device", "cpu")
    assert (status, err) == (0, "")
    answer = json.loads(out)
    left_out = {"known_left_out"} if command in ("tails", "heads") else set()
    assert set(answer) == {"query", "method", "hits", "took_ms"} | left_out
    more = {"probability"} if command in ("parents", "children", "relations") else set()
    assert [set(hit) for hit in answer["hits"]] == [{"id", "label", "score", "known"} | more] * 2


def test_a_file_of_questions_gives_json_lines(shell, small_index):
    status, out, _ = shell(
        "tails", small_index, "--queries", "-", "-k", "1", stdin="dog\teats\ncat\tlives in\n"
    )
    assert status == 0
    assert [json.loads(line)["query"]["head"]["id"] for line in out.splitlines()] == [
        "ex:dog",
        "ex:cat",
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_question(shell, small_index, tmp_path):
    file = tmp_path / "questions.tsv"
    file.write_bytes(b"\xef\xbb\xbfdog\teats\r\n")
    for queries, stdin in ((file, ""), ("-", "\ufeffdog\teats\n")):
        status, out, _ = shell("tails", small_index, "--queries", queries, "-k", "1", stdin=stdin)
        assert (status, json.loads(out)["query"]["head"]["id"]) == (0, "ex:dog")


def test_predictions_as_rdf(shell, small_index):
    status, out, _ = shell("tails", small_index, "dog", "eats", "--rdf", "-k", "1")
    assert (status, "<http://example.org/dog> <http://example.org/eats>" in out) == (0, True)


def test_a_question_that_makes_no_triples_does_not_cost_the_others(shell, small_index):
    questions = "dog\teats\na strange thing\teats\nex:dgo\teats\ncat\teats\n"
    status, out, err = shell(
        "tails", small_index, "--queries", "-", "--rdf", "-k", "1", stdin=questions
    )
    assert (status, out.count("rdf-syntax-ns#Statement")) == (1, 2)
    assert [json.loads(line)["query"][0] for line in err.splitlines()] == [
        "a strange thing",
        "ex:dgo",
    ]


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("tails", "INDEX", "dog", "eats", "-k", "0"), 2, "-k"),
        (("tails", "INDEX", "dog"), 2, "--queries"),
        (("tails", "INDEX", "dog", "eats", "--known", "onyl"), 2, "did you mean 'only'"),
        (("tails", "INDEX", "dog", "eats", "--json", "--tsv"), 2, "one of"),
        (("tails", "INDEX", "ex:dgo", "eats"), 1, "ex:dog"),
        (("search", "NOWHERE", "dog"), 1, "ontodex build"),
        (("build", "NOWHERE", "-o", "x.odx"), 1, "NOWHERE"),
        (("demo", "--graph", "hop"), 2, "did you mean 'hpo'"),
        (("search", "INDEX", "caf\udce9"), 2, "expected text in UTF-8"),
        (("frobnicate",), 2, "No such command"),
    ],
)
def test_failures_say_what_to_do_on_stderr(shell, small_index, tmp_path, arguments, status, says):
    found = shell(*(small_index if part == "INDEX" else part for part in arguments))
    assert found[0] == status
    assert found[1] == ""
    assert says in found[2]
    assert "Traceback" not in found[2]


def test_a_bad_line_among_the_questions_is_named(shell, small_index, tmp_path):
    (tmp_path / "questions.tsv").write_text("dog\teats\ncat\n\teats\ncow\teats\n")
    status, out, err = shell("tails", small_index, "--queries", tmp_path / "questions.tsv")
    first, bad, headless, last = (json.loads(line) for line in out.splitlines())
    assert (status, err) == (1, "")
    assert "questions.tsv:2: expected 2 text(s)" in bad["error"]
    assert "questions.tsv:3: expected 2 text(s)" in headless["error"]
    assert [one["query"]["head"]["id"] for one in (first, last)] == ["ex:dog", "ex:cow"]


def test_a_question_without_an_answer_does_not_cost_the_others(shell, small_index):
    asked = "ex:dgo\teats\ndog\teats\n"
    status, out, err = shell("tails", small_index, "--queries", "-", "-k", "1", stdin=asked)
    lines = [json.loads(line) for line in out.splitlines()]
    assert (status, err) == (1, "")
    assert "ex:dog" in lines[0]["error"]
    assert lines[1]["query"]["head"]["id"] == "ex:dog"


def test_questions_that_are_not_utf8_are_named_and_the_others_answered(
    shell, small_index, tmp_path
):
    (tmp_path / "questions.tsv").write_bytes(
        "dog\teats\n\nhöhle\teats\ncat\teats\n".encode("latin-1")
    )
    status, out, err = shell("tails", small_index, "--queries", tmp_path / "questions.tsv")
    lines = [json.loads(line) for line in out.splitlines()]
    assert (status, err) == (1, "")
    assert "questions.tsv:3: expected UTF-8" in lines[1]["error"]
    assert [lines[place]["query"]["head"]["id"] for place in (0, 2)] == ["ex:dog", "ex:cat"]


def test_queries_from_a_pipe_are_answered_at_once():
    end, start = os.pipe()
    with open(end, "rb") as questions, open(start, "wb", buffering=0) as asker:
        asker.write(b"dog\ncat\nho")
        batches = _batches(questions)
        assert next(batches) == [(1, b"dog"), (2, b"cat")]
        asker.write(b"rse\n")
        assert next(batches) == [(3, b"horse")]
        asker.write(b"pig")
        asker.close()
        assert list(batches) == [[(4, b"pig")]]


def test_many_questions_are_asked_in_parts():
    lines = [f"question {number}".encode() for number in range(5000)]
    batches = list(_batches(io.BytesIO(b"\n".join(lines))))
    assert [line for batch in batches for _, line in batch] == lines
    assert [number for batch in batches for number, _ in batch] == list(range(1, 5001))
    assert max(map(len, batches)) <= 512


def test_the_version_and_an_unknown_suffix(shell, small_index, tmp_path):
    assert shell("--version")[1].startswith("ontodex 0.")
    status, _, err = shell("export", small_index, "-o", tmp_path / "farm.ttl")
    assert (status, ".nq" in err, (tmp_path / "farm.ttl").exists()) == (2, True, False)


def test_vectors_are_written_for_other_programs(shell, small_index, tmp_path):
    status, _, err = shell(
        "export", small_index, "-o", tmp_path / "farm.npy", "--space", "hierarchy"
    )
    assert (status, err) == (0, "")
    rows = (tmp_path / "farm.npy.tsv").read_text().splitlines()
    assert np.load(tmp_path / "farm.npy").shape == (len(rows) - 1, 32)
    status, _, err = shell(
        "export", small_index, "-o", tmp_path / "farm.nq", "--space", "hierarchy"
    )
    assert (status, "--space hierarchy" in err, (tmp_path / "farm.nq").exists()) == (2, True, False)


def test_names_are_in_the_requested_language(shell, tmp_path, tiny_encoder):
    head = (
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> . "
        "@prefix ex: <http://example.org/> .\n"
    )
    file, more, index = tmp_path / "pets.ttl", tmp_path / "more.ttl", tmp_path / "pets.odx"
    file.write_text(head + 'ex:dog skos:broader ex:animal ; skos:prefLabel "dog"@en, "Hund"@de .')
    more.write_text(head + 'ex:cat skos:broader ex:animal ; skos:prefLabel "cat"@en, "Katze"@de .')
    plain = (
        "--encoder",
        tiny_encoder,
        "--no-train",
        "--no-hierarchy",
        "--no-entailment",
        "--device",
        "cpu",
        "-q",
    )
    status, _, err = shell("build", file, "-o", index, "--language", "de", *plain)
    assert (status, err) == (0, "")
    assert shell("add", index, more, "--language", "de", "-q")[0] == 0
    status, out, _ = shell("similar", index, "Katze", "-k", "1", "--json")
    answer = json.loads(out)
    assert answer["query"]["text"]["kind"] == "label"
    assert answer["hits"][0]["label"] in ("Hund", "animal")
    status, _, err = shell("build", file, "-o", index, "--language", "german", *plain)
    assert status == 2
    assert "expected a tag such as 'en', 'de' or 'pt-BR', found 'german'" in err
