"""The command ``shell``: the answers of the commands, one index, names that complete."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from ontodex.cli.shell import NameCompleter
from ontodex.graph import KnowledgeGraph


def run(*arguments: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ontodex", *arguments],
        input=lines,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def test_lines_get_the_answers_of_the_commands(small_index: Path) -> None:
    lines = "search ex:dog --tsv\n\ntails ex:dog 'lives in' -k 2 --tsv\nquit\nsearch ex:cat\n"
    done = run("shell", str(small_index), "--device", "cpu", lines=lines)
    alone = [
        run("search", str(small_index), "ex:dog", "--tsv"),
        run("tails", str(small_index), "ex:dog", "lives in", "-k", "2", "--tsv"),
    ]
    assert done.stdout == "".join(one.stdout for one in alone)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_faulty_line_is_named_and_the_next_one_is_answered(small_index: Path) -> None:
    lines = (
        "sing a song\nsearch 'open\nsearch\ntails ex:nobody is_a\nsearch --no\nsearch dog --tsv\n"
    )
    done = run("shell", str(small_index), lines=lines)
    assert done.returncode == 1
    assert "\nex:dog\tdog\t1.0" in done.stdout
    messages = [line for line in done.stderr.splitlines() if line.startswith("ontodex: ")]
    assert len(messages) == 5
    parts = ("'sing'", "No closing quotation", "found fewer", "ex:nobody", "--no")
    assert all(part in message for message, part in zip(messages, parts, strict=True))


def completed(completer: NameCompleter, line: str) -> list[str]:
    found = completer.get_completions(Document(line), CompleteEvent())
    return [line[: len(line) + one.start_position] + one.text for one in found]


def test_commands_names_and_relations_are_completed(small_graph: KnowledgeGraph) -> None:
    completer = NameCompleter(small_graph, ["search", "similar", "tails"])
    assert completed(completer, "s") == ["search ", "similar "]
    assert completed(completer, "tails") == ["tails "]
    assert completed(completer, "tails Fo") == ["tails forest ", "tails fox "]
    assert completed(completer, "tails dog liv") == ["tails dog 'lives in' "]
    assert completed(completer, "tails dog 'lives i") == ["tails dog 'lives in' "]
    assert completed(completer, "search ex:hen") == ["search ex:hen "]
    assert completed(completer, "search ") == []
    assert completed(completer, "search nothing-like-it") == []
