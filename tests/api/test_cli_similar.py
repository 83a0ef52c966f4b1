"""Similarity under a condition, from the shell."""

import json

import pytest

import ontodex
from ontodex.cli.answers import keep_open, open_engine
from ontodex.engine.conditions import DISK, MEMORY
from tests.plain import build_plain


def test_answers_under_a_relation_and_any_text(shell, condition_index):
    answers = []
    for condition in ("lives in", "what colour it has"):
        status, out, err = shell(
            "similar", condition_index, "dog", "--condition", condition, "--json", "--device", "cpu"
        )
        assert (status, err) == (0, "")
        answers.append(json.loads(out))
    assert answers[0]["query"]["condition"]["id"] == "ex:livesIn"
    assert answers[1]["query"]["condition"]["kind"] == "free text"
    assert answers[0]["hits"] != answers[1]["hits"]


def test_answers_a_file_of_questions(shell, condition_index):
    status, out, _ = shell(
        "similar", condition_index, "--condition", "eats", "--queries", "-", stdin="dog\nwhale\n"
    )
    assert status == 0
    read = [json.loads(line)["query"] for line in out.splitlines()]
    assert [(query["text"]["id"], query["condition"]["id"]) for query in read] == [
        ("ex:dog", "ex:eats"),
        ("ex:whale", "ex:eats"),
    ]


@pytest.mark.parametrize(
    ("condition", "status", "says"),
    [
        ("", 2, "condition: expected"),
        ("ex:eatss", 1, "ex:eats"),
        ("wild " * 80, 2, "as many tokens"),
    ],
)
def test_a_faulty_condition_is_named(shell, condition_index, condition, status, says):
    found, out, err = shell(
        "similar", condition_index, "dog", "--condition", condition, "--device", "cpu"
    )
    assert (found, out) == (status, "")
    assert says in err


def test_an_untrained_index_says_how_to_get_conditions(shell, small_graph, tiny_encoder, tmp_path):
    build_plain(small_graph, tmp_path / "farm.odx", tiny_encoder).close()
    status, _, err = shell(
        "similar", tmp_path / "farm.odx", "dog", "--condition", "eats", "--device", "cpu"
    )
    assert (status, "ontodex train condition" in err) == (1, True)


def test_projections_of_relations_serve_as_conditions(shell, small_index):
    status, out, _ = shell("similar", small_index, "dog", "--condition", "eats", "--device", "cpu")
    assert (status, "similarity of relation projections" in out) == (0, True)


@pytest.mark.parametrize("budget", ["--condition-memory", "--condition-disk"])
def test_budgets_can_be_set(shell, condition_index, budget):
    status, _, err = shell(
        "similar", condition_index, "dog", "--condition", "eats", budget, "10", "--device", "cpu"
    )
    assert status == 2
    assert f"{budget[2:].replace('-', '_')}: expected at least" in err


def test_the_help_names_the_budgets_of_python(shell):
    status, out, _ = shell("similar", "--help")
    sizes = (f"{MEMORY >> 30} GiB", f"{DISK >> 20} MiB")
    assert (status, [size in out for size in sizes]) == (0, [True, True])


def test_an_open_engine_answers_unless_a_budget_is_given(small_index):
    with ontodex.open(small_index, device="cpu") as engine, keep_open(small_index, engine):
        with open_engine(small_index, "cpu", condition_memory=None) as kept:
            assert kept is engine
        with open_engine(small_index, "cpu", condition_disk=1 << 20) as other:
            assert other is not engine
