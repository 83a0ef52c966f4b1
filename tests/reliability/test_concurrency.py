"""Readers beside a writer, threads, forks, and closing: right answers or named errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ontodex
from ontodex.errors import IndexFailure
from tests.reliability.reader import answered

READERS = 8
"""Processes that read at once; half as many without ``--torture``."""


def test_sixteen_threads_get_the_answers_of_one(
    small_index: Path, run_script: Callable[..., Any], figures: Callable[..., None], torture: bool
) -> None:
    found = run_script("many_threads.py", small_index, 100 if torture else 2, timeout=1200)
    assert found["wrong"] == 0
    figures("threads", threads=16, asked=found["asked"])


def test_every_answer_is_of_one_generation_while_a_writer_publishes(
    own_index: Path, figures: Callable[..., None], torture: bool
) -> None:
    """The writer adds and removes an entity in turn, so that only two sets of answers are right."""
    seconds, count = (60, READERS) if torture else (6, READERS // 2)
    legal = set()
    with ontodex.open(own_index, device="cpu") as engine:
        legal.add(answered(engine))
    more = graph_of_one()
    with ontodex.add(more, own_index, device="cpu", quiet=True) as engine:
        legal.add(answered(engine))
    command = [
        sys.executable,
        str(Path(__file__).with_name("reader.py")),
        str(own_index),
        str(seconds),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    readers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        for _ in range(count)
    ]
    published = 0
    while any(reader.poll() is None for reader in readers):
        ontodex.remove(["ex:axolotl"], own_index, device="cpu", quiet=True).close()
        ontodex.add(more, own_index, device="cpu", quiet=True).close()
        published += 2
    answers, generations = 0, 0
    for reader in readers:
        said, complaint = reader.communicate()
        assert reader.returncode == 0, complaint.decode()[-2000:]
        found = json.loads(said)
        assert set(found["seen"]) <= legal, found
        answers += 2 * 12 * sum(found["seen"].values())
        generations += found["generations"]
    assert published >= 2
    assert generations > count
    assert len(list(own_index.glob("gen-*"))) == 1
    figures("readers", readers=count, seconds=seconds, answers=answers, published=published)


def graph_of_one() -> ontodex.KnowledgeGraph:
    from ontodex.graph import GraphBuilder

    builder = GraphBuilder("news")
    builder.entity("ex:axolotl", "axolotl", definition="a wild animal that lives in a river")
    builder.triple("ex:axolotl", "is_a", "ex:wild")
    return builder.build()


def test_closing_waits_for_the_questions_of_other_threads(
    small_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ontodex.open(small_index, device="cpu")
    begun, order = threading.Event(), []
    encode = engine.resources.encoders.text.encode

    def slowly(texts: Any) -> Any:
        begun.set()
        time.sleep(0.3)
        order.append("answered")
        return encode(texts)

    monkeypatch.setattr(engine.resources.encoders.text, "encode", slowly)
    found: list[Any] = []
    query_function = threading.Thread(
        target=lambda: found.append(engine.search("some words that are new"))
    )
    query_function.start()
    assert begun.wait(10)
    engine.close()
    order.append("closed")
    query_function.join()
    assert order == ["answered", "closed"]
    assert len(found[0]) == 10
    with pytest.raises(IndexFailure, match="found one that was closed; open it again"):
        engine.search("dog")


def test_closing_in_the_middle_of_a_question_of_ones_own(small_index: Path) -> None:
    """As by an exception within ``with``, or a callback: the thread must not wait for itself."""
    with ontodex.open(small_index, device="cpu") as engine:
        with engine.guard:
            engine.close()
        with pytest.raises(IndexFailure, match="was closed"):
            engine.tails("ex:dog", "is_a")


def test_calls_from_a_forked_process_are_refused(small_index: Path) -> None:
    script = f"""
import os, sys
import ontodex
from ontodex.errors import IndexFailure
engine = ontodex.open({str(small_index)!r}, device="cpu")
expected = [hit.id for hit in engine.similar("ex:dog")]
pid = os.fork()
if pid == 0:
    code = 1
    try:
        engine.similar("ex:dog")
    except IndexFailure as error:
        code = 0 if "open the index after the fork" in str(error) else 2
    engine.close()
    with ontodex.open({str(small_index)!r}, device="cpu") as own:
        code = code or 3 * ([hit.id for hit in own.similar("ex:dog")] != expected)
    os._exit(code)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(status or 4 * ([hit.id for hit in engine.similar("ex:dog")] != expected))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
