"""``python -m benchmarks NAME``: measure, print JSON to stdout, keep the record, and renew the tables."""

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
    "retrieval": "exact top-10 against FAISS and PyKEEN, opening, memory, size on disk",
    "encode": "building an index against SentenceTransformer.encode: speed, equality, flat memory",
    "kgc": "link prediction on WN18RR and FB15k-237, end to end (needs --data)",
    "small-graphs": "link prediction on three small graphs, beside PyKEEN's tuned models",
    "large-graph": "a made-up graph of very many entities, from a file of triples to answers: time and memory",
    "architectures": "link prediction from texts alone: every architecture at one budget (needs --data)",
    "zero-shot": "link prediction before any training: the network in the box (needs --data)",
    "unseen-relations": "link prediction by relations left out of training (needs --data)",
    "conditional": "similarity under a condition, made from WN18RR and FB15k-237: every architecture (needs --data)",
    "search": "entities found by other names, misspelt ones, and definitions (needs --data)",
    "conditional-ranking": "what shares tails of a relation, ranked by similarity under it (needs --data)",
    "relations": "the relation of two entities, ranked among all, for known entities and for new ones (needs --data)",
    "missing-links": "the likeliest missing links of a whole graph, all relations together (needs --data)",
    "hierarchy": "held-out subsumptions of a hierarchy, ancestors by distance, baselines (needs --data)",
    "new-concepts": "parents, children and places of concepts taken out of a hierarchy, before any training (needs --data)",
    "small-hierarchies": "parents and children in taxonomies of a few entities, before any training (needs --data)",
    "audit": "wrong links put into a hierarchy, and right ones taken out of it, that an audit finds (needs --data)",
    "hierarchy-search": "exact top-10 by the subsumption score against geoopt, FAISS and float64",
    "hierarchy-cost": "a training step of HiT against the public implementation's (needs --data)",
    "entailment": "entailment on SNLI, MNLI and SICK: every loss of GaussCSE at one budget (needs --data)",
    "entailment-search": "exact top-10 by KL against elementwise passes, FAISS, USearch and float64",
    "sts": "similarity of sentences and words: Self-StrAE trained from nothing (needs --data)",
    "french": "French texts found among titles: Self-StrAE trained on French from nothing (needs --data)",
    "sts-cost": "a training step of Self-StrAE against the public code read directly; encoding (needs --data)",
    "conditional-search": "search under conditions, warm and cold, against plain torch",
    "caching": "running times of the Hyper-CL paper: encoder calls, hit rates, wall time, cache sizes (needs --data)",
    "reliability": "kills, damage, hostile files, load: all that tests/reliability tries, for an hour",
    "tables": "write docs/benchmarks/*.md and docs/reliability.md from the records, measure nothing",
}
NEED_NO_DATA = (
    "retrieval",
    "encode",
    "small-graphs",
    "large-graph",
    "hierarchy-search",
    "entailment-search",
    "conditional-search",
)

PLACES = ("--data", "--keep", "--make", "--model", "--pairs", "--train")
"""Options that name a folder."""


def parser_of(name: str | None) -> argparse.ArgumentParser:
    """Return the command line of a benchmark, or the one that lists them all."""
    listing = "\n".join(f"  {key:<19} {what}" for key, what in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks {name or '[NAME]'}",
        description=BENCHMARKS[name]
        if name
        else f"names:\n{listing}\n\nWithout a name: all that need no data.",
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
        "--quick", action="store_true", help="small sizes, to see that it runs; keeps no record"
    )
    return parser


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for; 1 if a goal is missed is not an error, 2 is wrong usage."""
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
    """Return arguments with DIR for folders of this machine, which say nothing to anybody else.

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
            measured.goals.clear()  # they are for real sizes
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
