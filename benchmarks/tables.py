"""``benchmarks/README.md``, made from the records."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.record import RESULTS, flat

__all__ = ["README", "read_records", "readme", "write_readme"]

README = RESULTS.parent / "README.md"
HEAD = """\
# Benchmarks

Made from the records in [`results/`](results) by `python -m benchmarks tables`; not edited by hand.
`python -m benchmarks --help` lists what there is. Times compared with each other were taken in turn, in one run.
"""


def read_records(folder: Path = RESULTS) -> list[dict[str, Any]]:
    """Return all records, by name."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def readme(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the README: a section for each record."""
    return "\n".join([HEAD, *(_section(record) for record in records)])


def write_readme(folder: Path = RESULTS, path: Path = README) -> Path:
    """Write the README; return its path."""
    path.write_text(readme(read_records(folder)), encoding="utf-8")
    return path


def _section(record: Mapping[str, Any]) -> str:
    machine = record["machine"]
    packages = [f"{name} {found}" for name, found in machine.items() if name in _shown(machine)]
    where = [
        machine["cpu"],
        f"{machine['cores']} cores",
        f"{machine['memory_gb']:g} GB",
        *([machine["gpu"]] if machine["gpu"] else []),
        "bfloat16" if machine["bfloat16"] else "no bfloat16",
        f"load {machine['load']:g} at the end",
    ]
    commit = f"{record['commit'][:10]}{' with changes' if record['dirty'] else ''}"
    lines = [
        f"## {record['title']}",
        "",
        f"`{record['command']}`, {record['date'][:10]}, commit {commit}, seed {record['seed']}  ",
        f"{', '.join(where)}; {', '.join(packages)}",
        "",
        "| figure | value | goal | |",
        "| --- | ---: | ---: | --- |",
        *(
            _row(name, value, record["goals"].get(name))
            for name, value in flat(record["figures"]).items()
        ),
        "",
        *(f"* {note}" for note in record["notes"]),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _shown(machine: Mapping[str, Any]) -> list[str]:
    return [
        name
        for name in machine
        if name in ("python", "numpy", "torch", "faiss-cpu", "faiss-gpu", "lmdb", "pykeen")
    ]


def _row(name: str, value: Any, goal: Mapping[str, Any] | None) -> str:
    if goal is None:
        return f"| {name} | {_number(value)} | | |"
    wanted = [
        f"{sign} {_number(goal[key])}"
        for key, sign in (("at_most", "≤"), ("at_least", "≥"))
        if key in goal
    ]
    return f"| {name} | {_number(value)} | {', '.join(wanted)} | {'met' if goal['met'] else '**missed**'} |"


def _number(value: Any) -> str:
    """Show enough digits: 1,234, 12.3, 0.123; a share near 1 in full.

    >>> [_number(value) for value in (1234.5, 12.34, 0.1234, 0.99995, 300000, "auto")]
    ['1,234', '12.3', '0.123', '0.99995', '300,000', 'auto']
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    if 0.99 < value < 1:
        return f"{value:.5f}".rstrip("0")
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"
