"""What an audit finds: wrong links that were put into a hierarchy, and right ones that were taken out of it."""

from __future__ import annotations

import argparse
import sys
import tempfile
from typing import Any

import numpy as np

import ontodex
from benchmarks.record import Measured
from benchmarks.untrained import Links, add_graphs, built, hit_alone, of_each_graph, with_links
from ontodex.engine.hierarchy import Subsumptions, audit
from ontodex.graph import Hierarchy

__all__ = ["add_options", "run"]

KS = (20, 100, 500)
"""Rows of either verdict that a curator reads."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    add_graphs(parser)
    parser.add_argument(
        "--links",
        type=int,
        default=300,
        help="most that are put in, and taken out (default %(default)s)",
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Measure, and return what came out."""
    return of_each_graph(options, "audit", _measured)


def _measured(options: argparse.Namespace, name: str, whole: ontodex.KnowledgeGraph) -> Measured:
    hierarchy = whole.hierarchy(on_cycle="warn")
    random = np.random.default_rng(options.seed)
    most = min(50 if options.quick else options.links, max(1, len(hierarchy.links) // 20))
    taken, wrong = _taken(hierarchy, most, random), _wrong(hierarchy, most, random)
    print(f"{whole!r}: {len(taken)} links taken out, {len(wrong)} put in …", file=sys.stderr)
    changed = with_links(whole, wrong, taken_out=taken)
    with tempfile.TemporaryDirectory() as folder, built(changed, folder) as engine:
        left = engine.graph.hierarchy(on_cycle="warn")
        ways = {
            "audit": Subsumptions.of(engine.resources, left),
            "audit, HiT alone": hit_alone(engine),
        }
        figures = {
            way: _figures(whole, hierarchy, taken, wrong, ranked) for way, ranked in ways.items()
        }
    return Measured(
        name=f"audit-{name}",
        title=f"Wrong and missing links of {name} that an audit finds",
        seed=options.seed,
        settings={
            "graph": repr(whole),
            "links": len(left.links),
            "wrong": len(wrong),
            "taken out": len(taken),
        },
        figures=figures,
        notes=[
            "Wrong links lead from a leaf with one parent, half of them to a sibling of it, half to any entity with "
            "children; taken out is one parent of entities with several. HiT is the encoder in the box; nothing is trained.",
            "doubtful: of the first so many asserted links that are doubted, those that were put in. missing: of the first "
            "so many pairs that are proposed, those that were taken out, and those of an entity and any true ancestor.",
            "audit: HiT's score with what is above entities of like text, as ontodex answers; HiT alone: without that.",
        ],
    )


def _taken(hierarchy: Hierarchy, most: int, random: np.random.Generator) -> Links:
    """Draw one link of each of some entities that have several parents."""
    several = [
        row for row in np.unique(hierarchy.links[:, 0]).tolist() if len(hierarchy.parents(row)) > 1
    ]
    return {
        (row, int(random.choice(hierarchy.parents(row))))
        for row in random.permutation(several)[:most].tolist()
    }


def _wrong(hierarchy: Hierarchy, most: int, random: np.random.Generator) -> Links:
    """Draw false parents of leaves that have one parent: siblings, and entities with children, in turn."""
    inner = np.unique(hierarchy.links[:, 1])
    leaves = np.setdiff1d(hierarchy.links[:, 0], inner)
    wrong: set[tuple[int, int]] = set()
    for leaf in random.permutation(
        [row for row in leaves.tolist() if len(hierarchy.parents(row)) == 1]
    ).tolist():
        others = np.setdiff1d(
            inner if len(wrong) % 2 else hierarchy.siblings(leaf),
            [leaf, *hierarchy.ancestors(leaf)],
        )
        if len(others):
            wrong.add((leaf, int(random.choice(others))))
        if len(wrong) == most:
            break
    return wrong


def _figures(
    graph: ontodex.KnowledgeGraph,
    hierarchy: Hierarchy,
    taken: Links,
    wrong: Links,
    ranked: Subsumptions,
) -> dict[str, Any]:
    row_of = {name: row for row, name in enumerate(graph.ids)}
    pairs: dict[str, list[tuple[int, int]]] = {"doubtful": [], "missing": []}
    for row in audit(ranked, max(KS)):
        pairs[row.verdict].append((row_of[row.subject_id], row_of[row.object_id]))
    true = [pair in taken for pair in pairs["missing"]]
    above = [parent in hierarchy.ancestors(child) for child, parent in pairs["missing"]]
    figures: dict[str, Any] = {}
    for k in KS:
        figures[f"doubtful, wrong of the first {k}"] = sum(
            pair in wrong for pair in pairs["doubtful"][:k]
        )
        figures[f"missing, taken out of the first {k}"] = sum(true[:k])
        figures[f"missing, ancestors of the first {k}"] = sum(above[:k])
    return figures
