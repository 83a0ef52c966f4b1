"""Regression check for refactorings: write all answers before a change, compare them after it.

Only the public API of ontodex is used, so inner modules may be renamed in between. Run it from the
root of the project, in an environment with the extras ``demo`` and ``dev``::

    GOLDEN_SOURCES=SOURCES python -m pytest -p tests.golden.collect_sources tests/graph/readers
    python -m tests.golden.answers write BEFORE.json --sources SOURCES --data DATA
    ...                                                  # the change
    python -m tests.golden.answers compare BEFORE.json

``compare`` computes everything anew, from the sources and data that ``write`` was given, prints
each difference (where, before, after), and exits with status 1 if there is one. ``compare
BEFORE.json AFTER.json`` compares two written files. There are two parts; ``--only`` selects one:

* ``answers``: the answers of indexes of three small graphs to every kind of question, in Python and
  from the shell (``questions.py``). All seeds are fixed, and there is one thread;
* ``reading``: the graphs, warnings and errors of :func:`ontodex.read` for the fuzz corpus, for
  files of PyPI packages, for the sources of the readers' tests (``--sources``, see
  ``collect_sources.py``), and for folders of data (``--data``). ``write`` leaves out files of
  ``--data`` that take more than ``--limit`` seconds of processor time; ``compare`` reads no others
  than ``write`` did.

Floating-point numbers may differ by ``--tolerance`` (absolute); everything else must be equal: ids,
order, integers, texts. ``--ignore-wording`` leaves out prose: methods, hints, and the messages of
warnings and errors. On two idle cores both parts take about three minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

from tests.golden.differences import Difference, differences
from tests.golden.reading import (
    Source,
    from_corpus,
    from_data,
    from_packages,
    from_sources,
    read_source,
)

ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
}
"""One thread a process; set before torch is imported, which the worker processes do."""

GRAPHS = ("phenotypes", "people", "instruments")
PARTS = ("answers", "reading")
LONGEST = 300
"""Most characters printed of a value."""


def main() -> int:
    """Run the command line."""
    os.environ.update(ENVIRONMENT)
    options = arguments()
    parts = [options.only] if options.only else [*PARTS]
    if options.command == "write":
        settings = {
            name: [str(path.resolve()) for path in getattr(options, name)]
            for name in ("data", "sources")
        }
        found = {"settings": settings, **everything(options, settings, parts)}
        options.file.write_text(
            json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True), "utf-8"
        )
        return 0
    before = json.loads(options.file.read_text("utf-8"))
    parts = [part for part in parts if part in before]
    if options.after is None:
        after = everything(options, before["settings"], parts, before.get("reading"))
    else:
        after = json.loads(options.after.read_text("utf-8"))
    compared = [{part: one.get(part, {}) for part in parts} for one in (before, after)]
    found = [
        one
        for one in differences(*compared, options.tolerance)
        if not (options.ignore_wording and one.is_wording)
    ]
    for one in found:
        show(one)
    print(f"{len(found)} difference(s) in {' and '.join(parts)}", file=sys.stderr)
    return 1 if found else 0


def arguments() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.golden.answers", description=__doc__.splitlines()[0]
    )
    parser.add_argument("command", choices=("write", "compare"))
    parser.add_argument(
        "file", type=Path, metavar="FILE.json", help="file to write, or to compare with"
    )
    parser.add_argument(
        "after", type=Path, nargs="?", help="compare: a written file, in place of a new run"
    )
    parser.add_argument("--only", choices=PARTS, help="one part only")
    parser.add_argument(
        "--data",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="write: a folder of data to read",
    )
    parser.add_argument(
        "--sources",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="write: a folder of collect_sources",
    )
    parser.add_argument(
        "--limit", type=float, default=20, help="write: seconds for a file of --data"
    )
    parser.add_argument(
        "--tolerance", type=float, default=1e-6, help="compare: absolute, of numbers"
    )
    parser.add_argument("--ignore-wording", action="store_true", help="compare: leave out prose")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    return parser.parse_args()


def everything(
    options: argparse.Namespace,
    settings: dict[str, list[str]],
    parts: list[str],
    wanted: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Compute the parts.

    Args:
        options: Options of the command line.
        settings: Folders of ``--data`` and ``--sources``.
        parts: Names of the parts.
        wanted: Names of the sources to read; all by default, unless they exceed the time limit.
    """
    found = dict[str, Any]()
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(options.jobs) as pool:
        asked = {}
        if "answers" in parts:
            for graph in GRAPHS:
                place = Path(folder) / graph
                place.mkdir()
                asked[graph] = pool.submit(ask, graph, place)
        if "reading" in parts:
            sources = [
                one
                for one in all_sources(Path(folder), settings)
                if wanted is None or one.name in wanted
            ]
            limits = [
                0.0 if wanted is not None or not is_data(one, settings) else options.limit
                for one in sources
            ]
            done = zip(sources, pool.map(read_source, sources, limits, chunksize=4), strict=True)
            found["reading"] = {source.name: read for source, read in done if read is not None}
            print(f"{len(found['reading'])} sources read", file=sys.stderr)
            for name in (source.name for source in sources if source.name not in found["reading"]):
                print(f"left out, takes more than {options.limit:g} s: {name}", file=sys.stderr)
        if asked:
            found["answers"] = {graph: future.result() for graph, future in asked.items()}
    print(f"{time.monotonic() - start:.0f} s", file=sys.stderr)
    return json.loads(json.dumps(found))


def ask(graph: str, folder: Path) -> dict[str, Any]:
    """Build and query the indexes of a graph; torch is imported in the worker process only."""
    from tests.golden.questions import answers_of

    return answers_of(graph, folder)


def all_sources(folder: Path, settings: dict[str, list[str]]) -> Iterator[Source]:
    """Yield all sources to read."""
    (folder / "packages").mkdir()
    for data in settings["data"]:
        yield from from_data(Path(data))
    yield from from_packages(folder / "packages")
    for sources in settings["sources"]:
        yield from from_sources(Path(sources))
    yield from from_corpus(folder / "corpus")


def is_data(source: Source, settings: dict[str, list[str]]) -> bool:
    """Tell whether a source is one of ``--data``."""
    return source.root in settings["data"]


def show(difference: Difference) -> None:
    """Print a difference."""
    print(" > ".join(difference.where))
    for name, value in (("before", difference.before), ("after", difference.after)):
        text = json.dumps(value, ensure_ascii=False)
        cut = "".join(islice(text, LONGEST)) + ("…" if len(text) > LONGEST else "")
        print(f"    {name}: {cut}")


if __name__ == "__main__":
    sys.exit(main())
