"""Run by test_damage.py: damage a file of an index in many ways, one at a time; print what came of each, as JSON.

Every damage is looked at by a fork, so that one that kills its process is seen.
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
HEADER = {".mdb": 160, ".safetensors": 1200, ".json": 400, ".faiss": 100}
RIGHT, REFUSED, WRONG, UNNAMED, OTHER = range(5)
OUTCOMES = {
    RIGHT: "right answers",
    REFUSED: "refused",
    WRONG: "wrong answers",
    UNNAMED: "unnamed",
    OTHER: "other error",
}


def answers(path: Path, encoders: bool) -> list[Any]:
    """Ask everything that is stored, and if so what encoders are loaded for."""
    with ontodex.open(path, device="cpu") as engine:
        asked = [engine.tails("ex:dog", "lives in"), engine.similar("ex:dog"), engine.relations("ex:dog", "ex:farm")]
        spaces = engine.index.manifest.spaces
        if "hit" in spaces:
            asked += [engine.parents("ex:dog"), engine.children("ex:animal")]
        if "gauss" in spaces:
            asked += [engine.entailing("ex:wild")]
        if encoders:
            text = "a wild thing in the sea"
            asked += [engine.search(text), engine.tails(text, "feeds on")]
            asked += [engine.parents(text)] if "hit" in spaces else []
            asked += [engine.entailed_by(text)] if "gauss" in spaces else []
        return [[(hit.id, hit.label, round(hit.score, 3), hit.known) for hit in hits] for hits in asked]


def look(path: Path, name: str, right: dict[bool, list[Any]]) -> int:
    """Return what came of a damage to a file, by its outcome; a killed process is negative."""
    pid = os.fork()
    if pid == 0:
        code = OTHER
        try:
            encoders = name.startswith("encoders/")
            code = RIGHT if answers(path, encoders) == right[encoders] else WRONG
        except IndexFailure as error:
            place = "/".join(name.split("/")[:2]) if encoders else name
            code = REFUSED if any(part in str(error) for part in (name, place, "encoders/text")) else UNNAMED
            if code == UNNAMED:
                sys.stderr.write(f"{name}: {error}\n")
        except BaseException as error:
            sys.stderr.write(f"{name}: {error!r}\n")
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def damages(name: str, content: bytes, flips: int, rng: random.Random) -> list[tuple[str, bytes]]:
    """Return what a file may hold instead: its beginning, or one byte changed, each of its header and some of the rest."""
    size = len(content)
    found = [(f"cut to {length}", content[:length]) for length in sorted({0, 1, size // 2, size - 1})]
    header = set(range(min(size, HEADER.get(Path(name).suffix, 100))))
    if name.endswith(".mdb"):
        header |= {page + at for page in range(0, size, PAGE) for at in range(16)} | set(range(PAGE, PAGE + 160))
    rest = sorted(set(range(size)) - header)
    chosen = {*rng.sample(sorted(header), min(flips, len(header))), *rng.sample(rest, min(flips // 4, len(rest)))}
    for at in sorted(chosen):
        changed = content[at] ^ rng.choice((1, 0x20, 0x80, 0xFF))
        found.append((f"byte {at}", content[:at] + bytes([changed]) + content[at + 1 :]))
    return found


def main(index: Path, flips: int) -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rng = random.Random(0)
    generation = index / (index / "CURRENT").read_text().strip()
    right = {encoders: answers(index, encoders) for encoders in (False, True)}
    outcomes: Counter[str] = Counter()
    bad = []
    for file in sorted([index / "CURRENT", *(path for path in generation.rglob("*") if path.is_file())]):
        name = file.relative_to(generation).as_posix() if generation in file.parents else file.name
        content = file.read_bytes()
        for what, other in damages(name, content, flips, rng):
            file.unlink()
            file.write_bytes(other)
            code = look(index, name, right)
            outcomes[OUTCOMES.get(code, f"killed by signal {-code}")] += 1
            if code not in (RIGHT, REFUSED):
                bad.append((name, what, OUTCOMES.get(code, code)))
        file.unlink()
        file.write_bytes(content)
    print(json.dumps({"outcomes": outcomes, "bad": bad, "whole": answers(index, True) == right[True]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
