"""What is imported for a command or a question: nothing heavy that it does not need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from ontodex.cli.lazy import LazyGroup

HEAVY = {
    *("torch", "transformers", "sentence_transformers", "peft", "accelerate", "faiss", "scipy"),
    *("sklearn", "networkx", "rdflib", "fastobo", "openpyxl", "sentencex", "matplotlib"),
    *("huggingface_hub", "pydantic", "ontodex.readers", "ontodex.trainers", "ontodex.indexers"),
}

RUN = """
import json, sys
from ontodex.cli import main
try:
    main()
except SystemExit as exit:
    assert not exit.code, exit.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def imported(*arguments: str) -> set[str]:
    """Return the modules that a command imports, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_import_no_numbers(option: str) -> None:
    found = imported(option)
    assert not found & {*HEAVY, "numpy"}
    assert found >= {"typer", "ontodex.cli.app"}


@pytest.mark.parametrize(
    "question",
    [
        ("search", "ex:dog"),
        ("search", "an animal of the house"),
        ("similar", "an animal of the house"),
        ("tails", "ex:dog", "lives in"),
        ("heads", "lives in", "ex:farm"),
        ("parents", "ex:dog"),
        ("parents", "an animal of the house"),
        ("children", "ex:animal"),
        ("place", "an animal of the house"),
        ("entailed-by", "an animal of the house"),
        ("why", "ex:dog", "lives in", "ex:farm"),
    ],
    ids=" ".join,
)
def test_a_question_imports_what_it_needs(small_index: Path, question: tuple[str, ...]) -> None:
    found = imported(question[0], str(small_index), *question[1:])
    needed = {"sentencex"} if question[0] == "entailed-by" else set()  # splits the text
    assert found & HEAVY <= needed
    assert "numpy" in found
    assert ("tokenizers" in found) == ("an animal of the house" in question)


def test_a_build_needs_no_trainer_of_transformers(
    tmp_path: Path, tiny_encoder: Path, tiny_hit: Path, tiny_gauss: Path
) -> None:
    """40 relations, and 60 links to parents, have weights and probabilities fitted to them."""
    links = [f"thing {k},is a,group {k % 6}" for k in range(60)]
    links += [f"thing {k},relation {k % 40},thing {(7 * k + 1) % 60}" for k in range(300)]
    source = tmp_path / "things.csv"
    source.write_text("\n".join(["head,relation,tail", *links]), encoding="utf-8")
    encoders = ("--encoder", tiny_encoder, "--hierarchy", tiny_hit, "--entailment", tiny_gauss)
    found = imported("build", str(source), "-o", str(tmp_path / "things.odx"), *map(str, encoders))
    assert found >= {"torch", "ontodex.trainers"}
    slow = {"transformers", "sentence_transformers", "peft", "accelerate", "sklearn"}
    assert not found & {*slow, "torch._dynamo", "scipy.stats"}


def test_the_help_of_all_commands_is_theirs() -> None:
    group = LazyGroup(name="ontodex")
    context = typer.Context(group)
    names = group.list_commands(context)
    assert len(names) > 20
    assert len(set(names)) == len(names)
    for name in names:
        command = group.get_command(context, name)
        group.commands.brief = True
        brief = group.get_command(context, name)
        group.commands.brief = False
        assert command.name == name
        assert (brief.help, brief.rich_help_panel) == (command.help, command.rich_help_panel)
    assert group.get_command(context, "no-such-command") is None
