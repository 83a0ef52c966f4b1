"""Run by test_damage.py: damage a file of an index in many ways; print the outcomes as JSON.

A fork opens and queries the index after each damage, so that a crash is recorded too.
"""

from __future__ import annotations

import json
import os
import random
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import torch

import ontodex
from ontodex.errors import IndexFailure

PAGE = 4096
RIGHT, REFUSED, WRONG, UNNAMED, OTHER = range(5)
OUTCOMES = {
    RIGHT: "right answers",
    REFUSED: "refused",
    WRONG: "wrong answers",
    UNNAMED: "unnamed",
    OTHER: "other error",
}


def answers(path: Path, encoder: str = "") -> list[Any]:
    """Answer stored queries, those of one encoder, or all of them with ``"all"``."""
    text = "a wild thing in the sea"
    with ontodex.open(path, device="cpu") as engine:
        spaces = engine.index.manifest.spaces
        asked = []
        if encoder in ("", "all"):
            asked += [
                engine.tails("ex:dog", "lives in"),
                engine.similar("ex:dog"),
                engine.relations("ex:dog", "ex:farm"),
            ]
            asked += (
                [engine.parents("ex:dog"), engine.children("ex:animal")]
                if "hierarchy" in spaces
                else []
            )
            asked += [engine.entailing("ex:wild")] if "entailment" in spaces else []
        of = {"text": engine.search, "link": lambda text: engine.tails(text, "feeds on")}
        of.update({"hierarchy": engine.parents} if "hierarchy" in spaces else {})
        of.update({"entailment": engine.entailed_by} if "entailment" in spaces else {})
        asked += [ask(text) for name, ask in of.items() if encoder in (name, "all")]
        return [
            [(hit.id, hit.label, round(hit.score, 3), hit.known) for hit in hits] for hits in asked
        ]


def look(path: Path, name: str, right: dict[str, list[Any]]) -> int:
    """Return the outcomes of damages to a file, counted; a killed process is negative."""
    pid = os.fork()
    if pid == 0:
        code = OTHER
        try:
            encoder = name.split("/")[1] if name.startswith("encoders/") else ""
            code = RIGHT if answers(path, encoder) == right[encoder] else WRONG
        except IndexFailure as error:
            place = f"encoders/{encoder}" if encoder else name
            code = (
                REFUSED
                if any(part in str(error) for part in (name, place, "encoders/text"))
                else UNNAMED
            )
            if code == UNNAMED:
                sys.stderr.write(f"{name}: {error}\n")
        except BaseException as error:
            sys.stderr.write(f"{name}: {error!r}\n")
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def header(name: str, content: bytes) -> set[int]:
    """Return the offsets of the header of a file: for LMDB first pages and page headers."""
    if name.endswith(".safetensors"):
        return set(range(8 + int.from_bytes(content[:8], "little")))
    if name.endswith(".mdb"):
        pages = range(0, len(content), PAGE)
        return {page + at for page in pages for at in range(160 if page in (0, PAGE) else 16)}
    return set(range(min(len(content), 400)))


def damages(
    name: str, content: bytes, headers: int, others: int, rng: random.Random
) -> list[tuple[str, bytes]]:
    """Return damaged contents of a file: truncated, or one byte of header or body changed."""
    size = len(content)
    found = [
        (f"cut to {length}", content[:length]) for length in sorted({0, 1, size // 2, size - 1})
    ]
    first = header(name, content)
    rest = sorted(set(range(size)) - first)
    chosen = {
        *rng.sample(sorted(first), min(headers, len(first))),
        *rng.sample(rest, min(others, len(rest))),
    }
    for at in sorted(chosen):
        changed = content[at] ^ rng.choice((1, 0x20, 0x80, 0xFF))
        found.append((f"byte {at}", content[:at] + bytes([changed]) + content[at + 1 :]))
    return found


def main(index: Path, headers: int, others: int) -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rng = random.Random(0)
    generation = index / (index / "CURRENT").read_text().strip()
    right = {
        encoder: answers(index, encoder)
        for encoder in ("", "text", "link", "hierarchy", "entailment", "all")
    }
    outcomes: Counter[str] = Counter()
    bad = []
    for file in sorted(
        [index / "CURRENT", *(path for path in generation.rglob("*") if path.is_file())]
    ):
        name = file.relative_to(generation).as_posix() if generation in file.parents else file.name
        content = file.read_bytes()
        for what, other in damages(name, content, headers, others, rng):
            file.unlink()
            file.write_bytes(other)
            code = look(index, name, right)
            outcomes[OUTCOMES.get(code, f"killed by signal {-code}")] += 1
            if code not in (RIGHT, REFUSED):
                bad.append((name, what, OUTCOMES.get(code, code)))
        file.unlink()
        file.write_bytes(content)
    print(
        json.dumps(
            {"outcomes": outcomes, "bad": bad, "whole": answers(index, "all") == right["all"]}
        )
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
