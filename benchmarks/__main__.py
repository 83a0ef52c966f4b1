"""``python -m benchmarks NAME``: run a benchmark, write its record and regenerate the tables.

The record goes to stdout as JSON.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.record import code_state, make_record, write_record
from benchmarks.reliability import write_page
from benchmarks.tables import SITE, read_records, write_pages

BENCHMARKS = {
    "retrieval": "exact top-10 against FAISS and PyKEEN; opening, memory, size on disk",
    "encode": "building an index against SentenceTransformer.encode: speed, equality, memory",
    "kgc": "link prediction on WN18RR and FB15k-237, end to end (needs --data)",
    "small-graphs": "link prediction on three small graphs, beside PyKEEN's tuned models",
    "build": "an index built in stages: when each is ready, beside the encoder's bound",
    "start": "seconds of commands in the shell, and of the first questions in Python",
    "large-graph": "a synthetic graph of many entities, from triples to answers: time and memory",
    "architectures": "link prediction from texts: all architectures at one budget (needs --data)",
    "zero-shot": "link prediction without training: the bundled network (needs --data)",
    "unseen-relations": "link prediction by relations left out of training (needs --data)",
    "conditional": "conditional similarity, by architecture, WN18RR and FB15k-237 (needs --data)",
    "search": "entities found by synonyms, misspelt names and definitions (needs --data)",
    "ground": "texts to terms or to none: synonyms, misspelt labels, other terms (needs --data)",
    "calibration": "probabilities beside the share of right answers, for every question",
    "everyday": "lay words, misspelt, described and foreign names, and new terms, on six graphs",
    "newcomers": "files that nobody prepared: questions, new terms and hidden links",
    "conditional-ranking": "entities ranked by similarity under a relation (needs --data)",
    "link-weights": "candidates by which link weights are fitted, on validation (needs --data)",
    "relations": "relation prediction for known entities and for new ones (needs --data)",
    "missing-links": "link discovery over a whole graph, all relations together (needs --data)",
    "hierarchy": "held-out subsumptions, ancestors by distance, baselines (needs --data)",
    "new-concepts": "taxonomy completion for held-out concepts, without training (needs --data)",
    "small-hierarchies": "small taxonomies: parents and children, untrained (needs --data)",
    "audit": "audit of a hierarchy with wrong links added and links removed (needs --data)",
    "hierarchy-search": "exact top-10 by the subsumption score against geoopt, FAISS and float64",
    "hierarchy-cost": "a training step of HiT against the public implementation (needs --data)",
    "entailment": "SNLI, MNLI and SICK: every loss of GaussCSE at one budget (needs --data)",
    "entailment-kinds": "entailment of pairs of many kinds, beside cosine (needs --data)",
    "entailment-search": "exact top-10 by KL against elementwise KL, FAISS, USearch and float64",
    "sts": "similarity of sentences and words: Self-StrAE from scratch (needs --data)",
    "french": "titles found for French texts: Self-StrAE from scratch on French (needs --data)",
    "sts-cost": "a training step of Self-StrAE against the public algorithm (needs --data)",
    "conditional-search": "search under conditions, warm and cold, against plain torch",
    "caching": "Hyper-CL paper's running times: encoder calls, hit rates, sizes (needs --data)",
    "reliability": "kills, damage, hostile files, load: tests/reliability at full length, an hour",
    "tables": "write docs/benchmarks/*.md and docs/reliability.md from the records",
}
NEED_NO_DATA = (
    "retrieval",
    "encode",
    "small-graphs",
    "everyday",
    "newcomers",
    "calibration",
    "build",
    "start",
    "large-graph",
    "hierarchy-search",
    "entailment-search",
    "conditional-search",
)

PLACES = ("--data", "--encoder", "--keep", "--make", "--model", "--pairs", "--train")
"""Options whose value is a folder."""


def parser_of(name: str | None) -> argparse.ArgumentParser:
    """Return the parser of a benchmark, or for None the parser that lists all benchmarks."""
    listing = "\n".join(f"  {key:<19} {what}" for key, what in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks {name or '[NAME]'}",
        description=BENCHMARKS[name]
        if name
        else f"names:\n{listing}\n\nWithout a name: all benchmarks that need no data.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if name is None:
        parser.add_argument(
            "name", nargs="?", choices=list(BENCHMARKS), metavar="NAME", help="one of the above"
        )
    data = os.environ.get("ONTODEX_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(data) if data else None,
        help="folder of benchmark data (or $ONTODEX_DATA)",
    )
    parser.add_argument("--seed", type=int, default=0, help="default %(default)s")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, as a smoke test; writes no record"
    )
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run the named benchmarks; return 0, also if a goal is missed. Wrong usage exits with 2."""
    if arguments and arguments[0] in BENCHMARKS:
        names, rest = [arguments[0]], arguments[1:]
    else:
        parser_of(None).parse_args(arguments)
        names, rest = list(NEED_NO_DATA), arguments
    for name in names:
        if name == "tables":
            parser_of(name).parse_args(rest)
        else:
            _measure(name, rest)
    write_pages(read_records(), SITE)
    print(f"wrote {SITE} and {write_page()}", file=sys.stderr)
    return 0


def without_places(arguments: Sequence[str]) -> list[str]:
    """Return arguments with DIR in place of local folders, which mean nothing to other readers.

    >>> without_places(["--data", "/home/me/data", "--model=/home/me/model", "--seed", "1"])
    ['--data', 'DIR', '--model=DIR', '--seed', '1']
    """
    within = re.compile(f"({'|'.join(PLACES)})=.*", re.DOTALL)
    return [
        "DIR" if before in PLACES else within.sub(r"\1=DIR", one)
        for before, one in zip(["", *arguments], arguments, strict=False)
    ]


def _measure(name: str, rest: Sequence[str]) -> None:
    module = importlib.import_module(f"benchmarks.{name.replace('-', '_')}")
    parser = parser_of(name)
    module.add_options(parser)
    options = parser.parse_args(rest)
    command = shlex.join(["python", "-m", "benchmarks", name, *without_places(rest)])
    code = code_state()
    for measured in module.run(options):
        if options.quick:
            measured.goals.clear()  # goals hold for full sizes only
        record = make_record(measured, command, code)
        print(json.dumps(record, ensure_ascii=False))
        for figure, goal in record["goals"].items():
            print(
                f"{'met   ' if goal['met'] else 'MISSED'} {measured.name}: {figure}",
                file=sys.stderr,
            )
        if not options.quick:
            print(f"wrote {write_record(record)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
