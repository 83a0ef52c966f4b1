"""Readers of entailment data: SNLI, MultiNLI, SICK, SimCSE and plain tables of pairs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ontodex.errors import ReadError
from ontodex.readers.files import lines_of, plain_name
from ontodex.readers.problems import Problems
from ontodex.readers.tables.rows import rows_of
from ontodex.trainers.data.entailment_pairs import (
    CONTRADICTION,
    ENTAILMENT,
    LABELS,
    NEUTRAL,
    NOT_ENTAILMENT,
    EntailmentPairs,
)

__all__ = ["read_nli"]

Row = tuple[str, str, int]
Cells = Mapping[str, Any]

PREMISE = ("premise", "sentence1", "sentence_a", "text1")
HYPOTHESIS = ("hypothesis", "sentence2", "sentence_b", "text2")
LABEL = ("label", "gold_label", "entailment_label", "entailment_judgment")
TRIPLE = ("sent0", "sent1", "hard_neg")
"""Columns of SimCSE: a premise, an entailed hypothesis, and a contradicting hypothesis."""

BOTH_WAYS = ("entailment_ab", "entailment_ba")
"""Columns of SICK that label each direction."""

NAMES = {
    **{name: number for number, name in enumerate(LABELS)},
    "non-entailment": NOT_ENTAILMENT,
    "not entailment": NOT_ENTAILMENT,
    "entails": ENTAILMENT,
    "contradicts": CONTRADICTION,
    **{str(number): number for number in (ENTAILMENT, NEUTRAL, CONTRADICTION)},
}
"""Labels by name, and by number as in the public data sets on the Hugging Face Hub."""

UNDECIDED = ("-", "-1", "none")
"""Labels of pairs without agreement of the annotators."""


def read_nli(
    path: str | Path,
    *,
    both_ways: bool = False,
    only: Mapping[str, str] | None = None,
    on_error: str = "raise",
) -> EntailmentPairs:
    """Read pairs of premise, hypothesis and label.

    The file is a table with a header (TSV or CSV, recognised by the first line; may be gzipped), or
    has a JSON object with the same names in each line. SNLI, MultiNLI and SICK have the columns
    ``premise`` or ``sentence1``, ``hypothesis`` or ``sentence2``, and ``label`` or ``gold_label``.
    SimCSE has the columns ``sent0``, ``sent1`` and ``hard_neg``; each line gives an entailed pair
    and a contradiction. Pairs without a gold label (``-``) are left out.

    Args:
        path: The file.
        both_ways: Also read the reversed pairs of data sets that label both directions (SICK).
        only: Required values of columns, such as ``{"SemEval_set": "TRAIN"}``.
        on_error: Policy for faulty lines: ``"raise"`` stops at the first, ``"warn"`` leaves them
            out with one warning that counts them and names the first, ``"skip"`` leaves them out
            without a warning.

    Raises:
        ReadError: If the file does not exist, a column is missing, or no pair is left; or if a line
            is faulty and ``on_error`` is ``"raise"``.
        SettingsError: If the policy is unknown.
    """
    path = Path(path)
    problems = Problems(on_error, str(path))
    if not path.is_file():
        raise ReadError(
            "expected a file of premises, hypotheses and labels, found none of this name", str(path)
        )
    wanted = {name.casefold(): value for name, value in (only or {}).items()}
    of_json = plain_name(path).endswith((".jsonl", ".json", ".ndjson"))
    reversed_pairs: list[bool] = []

    def rows() -> Iterator[Row]:
        pairs_in: Callable[[Cells], list[Row]] | None = None
        for line, cells in (_objects if of_json else _records)(path, problems):
            if pairs_in is None or of_json:
                pairs_in = _layout(
                    [name for name in cells if name], str(path), line if of_json else None
                )
            if any(str(cells.get(name, "")).strip() != value for name, value in wanted.items()):
                continue
            try:
                found = pairs_in(cells)
            except ValueError as error:
                problems.report(str(error), line)
                continue
            reversed_pairs.extend(
                at > 0 and all(name in cells for name in BOTH_WAYS) for at in range(len(found))
            )
            yield from found

    found = EntailmentPairs.of(rows())
    if not both_ways:
        found = found.part(~np.array(reversed_pairs, dtype=bool))
    problems.finish()
    if not len(found):
        more = f": {problems.summary()}" if problems.count else ""
        raise ReadError(f"expected at least one pair with a label, found none{more}", str(path))
    return found


def _layout(names: Sequence[str], source: str, line: int | None) -> Callable[[Cells], list[Row]]:
    """Return the function that makes pairs from the cells of a line, chosen by the column names.

    Raises:
        ReadError: If columns are missing.
    """
    if all(name in names for name in TRIPLE):
        return _triple
    chosen = [
        next((name for name in known if name in names), None)
        for known in (PREMISE, HYPOTHESIS, LABEL)
    ]
    if None in chosen:
        lacking = [
            known[0]
            for known, name in zip((PREMISE, HYPOTHESIS, LABEL), chosen, strict=True)
            if name is None
        ]
        raise ReadError(
            f"expected columns named premise, hypothesis and label, or sent0, sent1 and hard_neg; "
            f"found no {' and no '.join(lacking)} among {', '.join(names) or 'nothing'}",
            source,
            line,
        )
    premise, hypothesis, label = (str(name) for name in chosen)
    if all(name in names for name in BOTH_WAYS):
        return lambda cells: _both_ways(cells, premise, hypothesis)
    return lambda cells: _pair(cells[premise], cells[hypothesis], cells[label])


def _pair(premise: Any, hypothesis: Any, label: Any) -> list[Row]:
    """Return the pair, or nothing if it has no gold label.

    Raises:
        ValueError: If a text is empty, or the label is unknown.
    """
    texts = []
    for column, text in (("premise", premise), ("hypothesis", hypothesis)):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"expected a text as {column}, found nothing")
        texts.append(text.strip())
    name = str(label).strip().casefold()
    if name in UNDECIDED:
        return []
    if name not in NAMES:
        raise ValueError(
            f"expected a label of {', '.join(LABELS)}, or - for none, found {str(label)[:40]!r}"
        )
    return [(texts[0], texts[1], NAMES[name])]


def _triple(cells: Cells) -> list[Row]:
    premise, entailed, contradicted = (cells[name] for name in TRIPLE)
    return [*_pair(premise, entailed, ENTAILMENT), *_pair(premise, contradicted, CONTRADICTION)]


def _both_ways(cells: Cells, first: str, second: str) -> list[Row]:
    """Return pairs in both directions, from labels such as ``A_entails_B`` and ``B_neutral_A``."""
    one, two = (str(cells[name]).split("_") for name in BOTH_WAYS)
    if len(one) != 3 or len(two) != 3:
        raise ValueError(
            f"expected labels such as A_entails_B, found {cells[BOTH_WAYS[0]]!r} and "
            f"{cells[BOTH_WAYS[1]]!r}"
        )
    return [
        *_pair(cells[first], cells[second], one[1]),
        *_pair(cells[second], cells[first], two[1]),
    ]


def _records(path: Path, problems: Problems) -> Iterator[tuple[int, Cells]]:
    """Yield (line number, cells by lower-case column names) of a table."""
    header: list[str] = []
    for number, cells in rows_of(path, problems):
        if not header:
            header = [name.strip().strip('"').casefold() for name in cells]
        elif len(cells) < len(header):
            problems.report(
                f"expected {len(header)} cells, found {len(cells)}: {cells[0][:60]!r}", number
            )
        else:
            yield number, dict(zip(header, cells, strict=False))


def _objects(path: Path, problems: Problems) -> Iterator[tuple[int, Cells]]:
    """Yield (line number, object with lower-case names) of JSON lines."""
    for number, line in lines_of(path, problems):
        if not line or line.isspace():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            problems.report(f"expected a line of JSON, found {line[:60]!r} ({error})", number)
            continue
        if isinstance(found, dict):
            yield number, {str(name).casefold(): value for name, value in found.items()}
        else:
            problems.report(f"expected a JSON object, found {line[:60]!r}", number)
