"""Reader of semantic textual similarity data: pairs of texts with similarity scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import ReadError
from ontodex.readers.problems import Problems
from ontodex.readers.tables.rows import rows_of

__all__ = ["ScoredPairs", "read_sts"]

HEADERS = (
    ("sent1", "sentence1", "sentence_a", "text1", "word1"),
    ("sent2", "sentence2", "sentence_b", "text2", "word2"),
    ("score", "similarity", "relatedness_score", "simlex999", "gold"),
)
"""Column names of the two texts and of the score."""


@dataclass(frozen=True, eq=False)
class ScoredPairs:
    """Pairs of texts with human similarity scores.

    Attributes:
        ones: First text of each pair.
        others: Second text of each pair.
        scores: Similarity of each pair on any scale, ``float64`` of shape (pairs,).
    """

    ones: Sequence[str]
    others: Sequence[str]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.scores)


def read_sts(path: Path, *, on_error: str = "raise") -> ScoredPairs:
    r"""Read a table (TSV or CSV, may be gzipped) with two texts and a score in each line.

    If the table has a header (sent1, sent2 and score; or sentence1, sentence2, relatedness_score
    and similar names), columns are found by name. Otherwise the first three columns are read.

    Args:
        path: The file.
        on_error: Policy for faulty lines: ``"raise"``, ``"warn"`` (leave them out with a warning)
            or ``"skip"``.

    Raises:
        ReadError: If the file cannot be read, a line is faulty (with ``"raise"``), or there are no
            pairs.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "words.tsv"
        ...     _ = path.write_text("old\tnew\t1.58\nsmart\tclever\t9.2\n")
        ...     read_sts(path).scores.tolist()
        [1.58, 9.2]
    """
    if not path.is_file():
        raise ReadError("expected a file of texts and scores, found none of this name", str(path))
    problems = Problems(on_error, str(path))
    columns: tuple[int, ...] = ()
    found: list[tuple[str, str, float]] = []
    for number, cells in rows_of(path, problems):
        if not columns:
            columns = _columns(cells)
            if columns != (0, 1, 2) or len(cells) < 3 or _number(cells[2]) is None:
                continue
        score = _number(cells[columns[2]]) if len(cells) > max(columns) else None
        if score is None:
            problems.report(
                f"expected two texts and a number, found {' | '.join(cells)[:60]!r}", number
            )
        else:
            found.append((cells[columns[0]], cells[columns[1]], score))
    if not found:
        raise ReadError("expected pairs of texts with scores, found none", str(path))
    problems.finish()
    ones, others, scores = zip(*found, strict=True)
    return ScoredPairs(ones, others, np.array(scores))


def _columns(cells: Sequence[str]) -> tuple[int, ...]:
    """Return the columns of the texts and the score, given the first line; see :func:`read_sts`."""
    names = [cell.strip().strip('"').casefold() for cell in cells]
    known = [
        next((names.index(name) for name in header if name in names), None) for header in HEADERS
    ]
    return (
        tuple(column for column in known if column is not None) if None not in known else (0, 1, 2)
    )


def _number(cell: str) -> float | None:
    try:
        found = float(cell)
    except ValueError:
        return None
    return found if math.isfinite(found) else None
