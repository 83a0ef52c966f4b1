"""Reading and writing C-STS as CSV files, with two rows for each pair of sentences."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from pathlib import Path

from ontodex.errors import ReadError
from ontodex.graph.notices import warn_reader
from ontodex.graph.writers.atomic import expect_own_folder
from ontodex.readers.problems import Problems
from ontodex.trainers.data.conditional_pairs import ConditionalPairs
from ontodex.trainers.data.csts_rows import LABELS, CstsRow, CstsRows

__all__ = ["CSTS_FILES", "read_csts", "write_conditional_pairs", "write_csts"]

COLUMNS = ("sentence1", "sentence2", "condition", "label")
CSTS_FILES = {
    "train": "train.csv",
    "valid": "valid.csv",
    "test": "test.csv",
    "unseen_conditions": "test-unseen-conditions.csv",
    "unseen_entities": "test-unseen-entities.csv",
}
"""File name of each part of a data set."""


def read_csts(path: str | Path, *, paired: bool = True, on_error: str = "raise") -> CstsRows:
    """Read a C-STS file.

    Args:
        path: A CSV file with the columns ``sentence1``, ``sentence2``, ``condition`` and ``label``,
            1 to 5; other columns are ignored.
        paired: If true, expect two rows for each pair of sentences, under different conditions, as
            training does, and make the two rows adjacent. Pairs of rows under the same condition
            (C-STS's training file has some) are left out, with a
            :class:`~ontodex.graph.ReadWarning` that counts them. If false, read all rows.
        on_error: Policy for faulty rows: ``"raise"`` stops at the first, ``"warn"`` leaves them out
            with one warning that counts them, ``"skip"`` leaves them out without a warning.

    Raises:
        ReadError: If the file cannot be read, a column is missing, or no row is left; or if a row
            is faulty or unpaired and ``on_error`` is ``"raise"``.
        SettingsError: If the policy is unknown.
    """
    problems = Problems(on_error, str(path))
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            rows = _rows(csv.DictReader(file), problems)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ReadError(
            f"expected a CSV file, found none that can be read ({error})", str(path)
        ) from None
    if paired:
        rows = _paired(rows, problems)
    problems.finish()
    if not rows:
        raise ReadError(f"expected at least one row of {', '.join(COLUMNS)}, found none", str(path))
    return CstsRows.of(row for _, row in rows)


def _rows(reader: csv.DictReader[str], problems: Problems) -> list[tuple[int, CstsRow]]:
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        found = ", ".join(reader.fieldnames or ()) or "none"
        raise ReadError(
            f"expected the columns {', '.join(COLUMNS)}, found {found}", problems.source, 1
        )
    rows: list[tuple[int, CstsRow]] = []
    for entry in reader:
        first, second, condition, label = ((entry[name] or "").strip() for name in COLUMNS)
        problem = _problem(first, second, condition, label)
        if problem:
            problems.report(problem, reader.line_num)
        else:
            rows.append((reader.line_num, (first, second, condition, float(label))))
    return rows


def _problem(first: str, second: str, condition: str, label: str) -> str | None:
    """Return a message about the fault of a row, or ``None`` if the row has no fault."""
    least, most = LABELS
    for name, text in zip(COLUMNS, (first, second, condition), strict=False):
        if not text:
            return f"expected a text as {name}, found nothing"
    try:
        fits = least <= float(label) <= most
    except ValueError:
        fits = False
    hidden = "; the labels of the public test file are hidden" if label in ("-1", "-1.0") else ""
    return None if fits else f"expected a label from {least:g} to {most:g}, found {label!r}{hidden}"


def _paired(rows: list[tuple[int, CstsRow]], problems: Problems) -> list[tuple[int, CstsRow]]:
    """Return the rows with each pair adjacent, without pairs under the same condition."""
    groups: dict[tuple[str, str], list[tuple[int, CstsRow]]] = {}
    for line, row in rows:
        groups.setdefault(row[:2], []).append((line, row))
    pairs, twice = [], list[str]()
    for group in groups.values():
        lines = ", ".join(str(line) for line, _ in group)
        if len(group) != 2:
            problems.report(
                f"expected two rows of the same two sentences, found {len(group)} (line {lines}): "
                f"{group[0][1][0][:60]!r}",
                group[0][0],
            )
        elif group[0][1][2] == group[1][1][2]:
            twice.append(f"{group[0][1][2]!r}, line {lines}")
        else:
            pairs += group
    if twice and problems.policy != "skip":
        warn_reader(
            f"{problems.source}: left out {len(twice):,} pair(s) of rows with one condition twice, "
            f"the first {twice[0]}; give each of the two rows a condition of its own"
        )
    return pairs


def write_csts(rows: CstsRows, path: Path) -> None:
    """Write a C-STS file that :func:`read_csts` reads."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows((*texts, f"{label:g}") for *texts, label in rows.rows())


def write_conditional_pairs(pairs: ConditionalPairs, folder: Path) -> None:
    """Write a data set to a folder: a file for each part, and its settings as ``settings.json``.

    Files of a previous data set are replaced.

    Raises:
        GraphError: If the folder has other files.
    """
    expect_own_folder(folder, CSTS_FILES["unseen_conditions"])
    folder.mkdir(parents=True, exist_ok=True)
    for part, name in CSTS_FILES.items():
        write_csts(getattr(pairs, part), folder / name)
    about = {**asdict(pairs.settings), "seen": list(pairs.seen)}
    (folder / "settings.json").write_text(
        json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
