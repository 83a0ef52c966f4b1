"""The record of a benchmark: what was run, where, and what came out, as JSON under ``benchmarks/results``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = [
    "KEYS",
    "RESULTS",
    "Goal",
    "Measured",
    "code_state",
    "expect_data",
    "flat",
    "make_record",
    "write_record",
]

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
KEYS = (
    *("name", "title", "command", "commit", "dirty", "date", "seed", "machine", "settings"),
    *("figures", "goals", "notes"),
)
"""What every record has."""

PACKAGES = (
    "ontodex",
    "numpy",
    "torch",
    "faiss-cpu",
    "faiss-gpu",
    "lmdb",
    "sentence-transformers",
    "transformers",
    "pykeen",
    "scikit-learn",
    "bm25s",
    "rapidfuzz",
)


@dataclass(frozen=True)
class Goal:
    """What a figure should be: at most, or at least, so much."""

    at_most: float | None = None
    at_least: float | None = None

    def met(self, value: float) -> bool:
        """Tell whether a value is within."""
        return (self.at_most is None or value <= self.at_most) and (
            self.at_least is None or value >= self.at_least
        )


@dataclass
class Measured:
    """What a benchmark hands back.

    Attributes:
        name: Name of the record's file.
        title: Heading in the README.
        seed: Seed of everything random.
        settings: Sizes and whatever else the figures depend on.
        figures: Figures by name, in groups if there are many; the names say the units.
        goals: Goals by the figure's name, groups joined by " · ".
        notes: What a reader must know to judge the figures.
    """

    name: str
    title: str
    seed: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    goals: dict[str, Goal] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def flat(figures: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return figures without groups, names joined by " · ".

    >>> flat({"batch 64": {"ms": 1.5}, "recall": 1.0})
    {'batch 64 · ms': 1.5, 'recall': 1.0}
    """
    found: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, Mapping):
            found.update(flat(value, f"{above}{name} · "))
        else:
            found[above + name] = value
    return found


def expect_data(options: argparse.Namespace, name: str) -> None:
    """Leave with a message if a benchmark that needs the folder of benchmark data was not given it."""
    if options.data is None:
        sys.exit(
            f"python -m benchmarks {name}: expected --data DIR or $ONTODEX_DATA, found neither"
        )


def code_state() -> dict[str, Any]:
    """Return the commit, and whether files differ from it; asked before a run, for others may commit meanwhile."""
    changed = _git(
        "status", "--porcelain", "--", ".", ":!benchmarks/results", ":!benchmarks/README.md"
    )
    return {"commit": _git("rev-parse", "HEAD"), "dirty": bool(changed)}


def make_record(
    measured: Measured, command: str, code: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the whole record: what was measured, and on what.

    Args:
        measured: What came out.
        command: What was called.
        code: :func:`code_state` when the run began; now by default.

    Raises:
        KeyError: If a goal is of a figure that there is not.
    """
    values = flat(measured.figures)
    return {
        "name": measured.name,
        "title": measured.title,
        "command": command,
        **(code or code_state()),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "seed": measured.seed,
        "machine": _machine(),
        "settings": measured.settings,
        "figures": measured.figures,
        "goals": {
            name: {
                **{key: value for key, value in asdict(goal).items() if value is not None},
                "met": goal.met(values[name]),
            }
            for name, goal in measured.goals.items()
        },
        "notes": measured.notes,
    }


def write_record(record: Mapping[str, Any], folder: Path = RESULTS) -> Path:
    """Write a record to ``NAME.json``, or ``NAME-part.json`` where the one there has rows that it lacks; return the path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{record['name']}.json"
    if path.exists() and _rows(json.loads(path.read_text(encoding="utf-8"))) - _rows(record):
        record = {**record, "name": f"{record['name']}-part"}
        path = folder / f"{record['name']}.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def _rows(record: Mapping[str, Any]) -> set[str]:
    """Return the groups of a record's figures."""
    return {name for name, value in record["figures"].items() if isinstance(value, Mapping)}


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def _machine() -> dict[str, Any]:
    import torch

    from ontodex.encoders.device import has_bfloat16

    gpu = torch.cuda.is_available()
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "gpu": torch.cuda.get_device_name() if gpu else None,
        "bfloat16": has_bfloat16("cuda" if gpu else "cpu"),
        "load": round(os.getloadavg()[0], 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": sys.version.split()[0],
        **{name: found for name in PACKAGES if (found := _version(name))},
    }


def _cpu() -> str:
    """Return the processor's name, with its number of family and model where that is all it tells."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    facts = dict(
        line.split(":", 1) for line in info.read_text().split("\n\n")[0].splitlines() if ":" in line
    )
    known = {name.strip(): value.strip() for name, value in facts.items()}
    return f"{known.get('model name', platform.machine())}, family {known.get('cpu family')} model {known.get('model')}"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
