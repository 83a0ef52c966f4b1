"""Records of benchmarks: command, machine, settings and figures as JSON, in ``results/``."""

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
    "OPTIONAL",
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
"""Keys of every record."""

OPTIONAL = ("seen",)
"""What a record has if it says it."""

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
    """Bounds of a figure: at most, at least, or both."""

    at_most: float | None = None
    at_least: float | None = None

    def met(self, value: float) -> bool:
        """Return whether a value is within the bounds."""
        return (self.at_most is None or value <= self.at_most) and (
            self.at_least is None or value >= self.at_least
        )


@dataclass
class Measured:
    """Result of a benchmark.

    Attributes:
        name: Name of the record's file.
        title: Heading on the page.
        seed: Seed of all random numbers.
        settings: Sizes and other settings that the figures depend on.
        figures: Figures by name, in groups if there are many; the names state the units.
        goals: Goals by the name of the figure; names of groups are joined by " · ".
        notes: Protocol, as far as a reader needs it to judge the figures.
        seen: What the encoders were trained on, by model, as their configurations state.
    """

    name: str
    title: str
    seed: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    goals: dict[str, Goal] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seen: dict[str, list[str]] = field(default_factory=dict)


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
    """Exit with a message if the folder of benchmark data is missing."""
    if options.data is None:
        sys.exit(
            f"python -m benchmarks {name}: expected --data DIR or $ONTODEX_DATA, found neither"
        )


def code_state() -> dict[str, Any]:
    """Return the commit, and whether files differ from it.

    Call it before a run, as commits may happen during the run.
    """
    changed = _git(
        "status", "--porcelain", "--", ".", ":!benchmarks/results", ":!benchmarks/README.md"
    )
    return {"commit": _git("rev-parse", "HEAD"), "dirty": bool(changed)}


def make_record(
    measured: Measured, command: str, code: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the complete record of a result.

    Args:
        measured: The result.
        command: The command line.
        code: :func:`code_state` at the start of the run; by default the current one.

    Raises:
        KeyError: If a goal names a figure that does not exist.
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
        **({"seen": measured.seen} if measured.seen else {}),
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
    """Write a record to ``NAME.json`` and return the path.

    The path is ``NAME-part.json`` if the existing record has rows that the new one lacks.
    """
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
    """Return the model name of the processor, with its family and model numbers."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    facts = dict(
        line.split(":", 1) for line in info.read_text().split("\n\n")[0].splitlines() if ":" in line
    )
    known = {name.strip(): value.strip() for name, value in facts.items()}
    name = known.get("model name", platform.machine())
    return f"{name}, family {known.get('cpu family')} model {known.get('model')}"


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
