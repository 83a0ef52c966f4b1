"""Answers of the demo and of the README: what people who know Schema.org accept."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import ontodex
from ontodex.demo import DEMOS, Question
from tests.shell import run_ontodex

TESTS = Path(__file__).parents[1]
README = (TESTS.parent / "README.md").read_text(encoding="utf-8")

LINKS = {
    "Hospital is a MedicalBusiness",
    "Hospital is a EmergencyService",
    "JobPosting valid from Date",
    "JobPosting valid from DateTime",
    "MedicalClinic is a EmergencyService",
    "Optician is a MedicalOrganization",
    "Person event Event",
}
"""Links that Schema.org lacks and might have."""

ACCEPTED = {
    ("search", "a place to stay overnight"): {"Accommodation", "Hotel", "LodgingBusiness"},
    ("search", "movie theatre"): {"MovieTheater"},
    ("tails", "MusicGroup"): {"Person"},
    ("tails", "Movie"): {"City", "Country", "State"},
    ("why", "MusicGroup"): {"text", "kind"},
    ("missing",): LINKS,
    ("heads", "opening hours"): {"Accommodation", "Organization", "Place", "TouristAttraction"},
    ("relations", "Person"): {"affiliation", "funder", "member of", "sponsor", "works for"},
    ("similar", "Movie"): {"Clip", "Episode", "MovieSeries", "TVSeries"},
    ("parents", "a shop that repairs bicycles"): {"BikeStore", "LocalBusiness", "Store"},
    ("parents", "bicycle repair shop"): {"BikeStore", "LocalBusiness", "Store"},
    ("place", "a shop that repairs bicycles"): {"BikeStore", "LocalBusiness", "Store"},
    ("children", "FoodEstablishment"): {"Bakery", "CafeOrCoffeeShop", "Restaurant"},
    ("entailed_by", "They sell bread and cakes in this shop."): {
        *("Bakery", "FoodEstablishment", "GroceryStore", "Store")
    },
    ("entailed_by", "bicycle repair shop"): {"BikeStore", "LocalBusiness", "Store"},
}
"""Accepted answers, by the method and its first argument."""

FIRST = 3
"""One of the accepted answers is among so many."""


def names_of(found: Any) -> list[str]:
    """Return what answers say: labels, links or reasons."""
    rows = {
        ontodex.Hits: lambda hit: hit.label,
        ontodex.Placements: lambda placement: placement.parent.label,
        ontodex.MissingLinks: lambda link: (
            f"{link.head_label} {link.relation_label} {link.tail_label}"
        ),
        ontodex.Explanation: lambda reason: reason.by,
    }
    return [rows[type(found)](one) for one in found]


def expect_accepted(method: str, arguments: tuple[str, ...], found: Any) -> None:
    names = names_of(found)[:FIRST]
    assert ACCEPTED[(method, *arguments[:1])] & set(names), f"{method} {arguments}: {names}"


@dataclass(frozen=True)
class Demo:
    """A run of the demo.

    Attributes:
        done: The process.
        folder: Where it ran; the index is ``ontodex-demo/schema-org.odx`` in it.
    """

    done: subprocess.CompletedProcess[str]
    folder: Path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo with short trainings, run in a process that may not use the network."""
    folder = tmp_path_factory.mktemp("demo")
    script, output = TESTS / "reliability" / "without_network.py", folder / "ontodex-demo"
    command = [sys.executable, str(script), "--output", str(output), "--device", "cpu", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    return Demo(done, folder)


def test_the_whole_demo_runs_without_a_network(demo: Demo) -> None:
    assert demo.done.returncode == 0, demo.done.stderr[-3000:]
    assert "forbidden" not in demo.done.stderr
    assert "Done in" in demo.done.stdout


@pytest.fixture(scope="module")
def engine(demo: Demo) -> Iterator[ontodex.Engine]:
    with ontodex.open(demo.folder / "ontodex-demo" / "schema-org.odx", device="cpu") as found:
        yield found


@pytest.mark.parametrize("question", DEMOS["schema-org"].questions, ids=lambda one: one.why)
def test_an_accepted_answer_is_among_the_first(engine: ontodex.Engine, question: Question) -> None:
    ask = getattr(engine, question.method)
    found = ask(*question.arguments, k=question.k, **question.named)
    expect_accepted(question.method, question.arguments, found)


def test_the_python_of_the_readme(demo: Demo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(demo.folder)
    (code,) = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    printed: list[Any] = []
    names: dict[str, Any] = {"print": printed.append}
    exec(code, names)
    names["engine"].close()
    shown = re.search(r"^```text\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    assert shown is not None
    for answer in printed:
        method, _, asked = str(answer).splitlines()[0].partition(": ")
        text = re.search("“(.*?)”", asked)
        arguments = (text[1],) if text else ()
        expect_accepted(method, arguments, answer)
        if method != "missing":  # its links depend on the training, which is short here
            table = shown[1].split(f"{method}: ", 1)[1].splitlines()[2:]
            listed = table[: len(answer)]
            assert [line.split()[-1] for line in listed if ":" in line]
            for hit, line in zip(answer, listed, strict=True):
                assert f" {hit.id} " in line, f"{method}: {hit.id} in {line}"


def test_the_shell_of_the_readme(demo: Demo) -> None:
    (block,) = re.findall(r"^```\n(ontodex .*?)^```", README, re.DOTALL | re.MULTILINE)
    for line in block.splitlines():
        _, command, index, *arguments = shlex.split(line)
        status, out, err = run_ontodex([command, index, *arguments, "--json"], cwd=demo.folder)
        assert status == 0, err
        answer = json.loads(out)
        names = [
            one.get("label") or f"{one['head_label']} {one['relation_label']} {one['tail_label']}"
            for one in answer.get("hits") or answer["links"]
        ]
        asked = () if command == "missing" else arguments[:1]
        accepted = ACCEPTED[(command.replace("-", "_"), *asked)]
        assert accepted & set(names[:FIRST]), f"{line}: {names}"
