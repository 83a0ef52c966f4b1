"""What an audit finds: wrong links that replaced right ones, and right ones that were taken out."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence

import numpy as np

from benchmarks.baselines import VOTERS, TrigramVotes, ranks_better
from benchmarks.record import Measured
from benchmarks.untrained import Links, add_graphs, built, hit_alone, of_each_graph, with_links
from ontodex.engine.audit import audit
from ontodex.engine.hierarchy import Subsumptions
from ontodex.graph import Hierarchy, KnowledgeGraph

__all__ = ["add_options", "run"]

KS = (20, 100, 500)
"""Numbers of rows of either verdict that are counted."""

Pairs = list[tuple[int, int]]
"""Rows of children and parents, in the order of a verdict."""

VOTE = "vote of neighbours by trigrams"
IMPLIED = "redundancy check, the implied link"
IMPLYING = "redundancy check, the link that implies it"
BASELINES = (VOTE, IMPLIED, IMPLYING)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    add_graphs(parser)
    parser.add_argument(
        "--links",
        type=int,
        default=300,
        help="most that are replaced, and taken out (default %(default)s)",
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Measure, and return what came out."""
    return of_each_graph(options, "audit", _measured)


def _measured(options: argparse.Namespace, name: str, whole: KnowledgeGraph) -> Measured:
    hierarchy = whole.hierarchy(on_cycle="warn")
    random = np.random.default_rng(options.seed)
    most = min(50 if options.quick else options.links, max(1, len(hierarchy.links) // 20))
    replaced = _replaced(hierarchy, most, random)
    wrong = set(replaced.values())
    taken = _taken(hierarchy, most, random, {child for child, _ in wrong})
    print(f"{whole!r}: {len(taken)} links taken out, {len(wrong)} replaced …", file=sys.stderr)
    changed = with_links(whole, wrong, taken_out=[*taken, *replaced])
    with tempfile.TemporaryDirectory() as folder, built(changed, folder) as engine:
        left = engine.graph.hierarchy(on_cycle="warn")
        found = {
            way: _found(whole, ranked)
            for way, ranked in (
                ("audit", Subsumptions.of(engine.resources, left)),
                ("audit, HiT alone", hit_alone(engine)),
            )
        }
    left = changed.hierarchy(on_cycle="warn")
    implied, implying = _redundant(left)
    found |= {
        VOTE: _by_votes(changed, left),
        IMPLIED: (implied, []),
        IMPLYING: (implying, []),
    }
    outside = wrong - {*implied, *implying}
    figures = {
        way: _figures(hierarchy, taken, wrong, outside, *pairs) for way, pairs in found.items()
    }
    return Measured(
        name=f"audit-{name}",
        title=f"Wrong and missing links of {name} that an audit finds",
        seed=options.seed,
        settings={
            "graph": repr(whole),
            "links": len(left.links),
            "wrong": len(wrong),
            "wrong, outside triangles": len(outside),
            "taken out": len(taken),
            **_of_several(left, wrong),
            "wrong of 100 links at random": 100 * len(wrong) / len(left.links),
            "split": "the rules are fitted to the changed graph; nothing is chosen by these links",
            "encoder trained on WordNet": "HiT: yes; all-MiniLM-L6-v2: no",
        },
        figures=figures,
        notes=[*NOTES, *_lost(figures)],
    )


NOTES = [
    "Wrong links: one parent of a leaf drawn at random, with one parent or several, is replaced, "
    "in turn by a sibling that it has through this parent and by any entity with children, and "
    "never by an ancestor. The right link is not in the graph any more. Wrong links thus occur "
    "among children with one parent and with several as often as leaves have them (settings), and "
    "the number of parents tells nothing. One draw (seed as above).",
    "Taken out is one parent of other entities with several, of at most half of these. HiT is "
    "the encoder that ontodex ships, trained on WordNet's nouns; it is not trained here.",
    "doubtful: of the first so many asserted links that are doubted, those that are wrong, and "
    "those of them outside triangles: in a triangle, c-s, s-q and c-q are all asserted, or s-q "
    "follows, and a check without learning sees it. The audit lists the implied links c-q apart, "
    "and does not doubt them. missing: of the first so many pairs that are "
    "proposed, the links that were taken out, the right links that were replaced, and the pairs "
    "of an entity and any true ancestor.",
    "audit: HiT's score with neighbour votes by all-MiniLM-L6-v2, as ontodex answers; HiT alone: "
    "without the votes.",
    "Baselines without training or encoder. redundancy check: asserted links c-q that c-s and "
    "s-q imply, and the links c-s that imply them, each in row order. "
    f"{VOTE}: the {VOTERS} nearest neighbours of a child's label (cosine of TF-IDF of trigrams of "
    "names) vote for their parents with that cosine; links are doubted by the votes of the "
    "parent less those of the best other entity, and pairs proposed by the opposite.",
]


def _lost(figures: dict[str, dict[str, int]]) -> list[str]:
    """Return notes on the counts that are higher for a baseline than for the audit."""
    better = {
        figure: ranks_better(figures, "audit", figure, BASELINES) for figure in figures["audit"]
    }
    lost = "; ".join(f"{figure}: {text}" for figure, text in better.items() if text)
    return [f"A baseline finds more than the audit: {lost}."] if lost else []


def _of_several(hierarchy: Hierarchy, wrong: Links) -> dict[str, int]:
    """Count the links of children with several parents, and the wrong ones among them."""
    several = [
        (child, parent)
        for child, parent in hierarchy.links.tolist()
        if len(hierarchy.parents(child)) > 1
    ]
    return {
        "links of children with several parents": len(several),
        "wrong, of children with several parents": len(set(several) & set(wrong)),
    }


def _taken(
    hierarchy: Hierarchy, most: int, random: np.random.Generator, without: set[int]
) -> set[tuple[int, int]]:
    """Draw one link of each of some entities with several parents, of at most half of them."""
    several = [
        row
        for row in np.unique(hierarchy.links[:, 0]).tolist()
        if len(hierarchy.parents(row)) > 1 and row not in without
    ]
    return {
        (row, int(random.choice(hierarchy.parents(row))))
        for row in random.permutation(several)[: min(most, (len(several) + 1) // 2)].tolist()
    }


def _replaced(
    hierarchy: Hierarchy, most: int, random: np.random.Generator
) -> dict[tuple[int, int], tuple[int, int]]:
    """Draw links of leaves, and the wrong link that replaces each.

    The wrong parents are siblings through the right parent, and entities with children, in turn.
    """
    inner = np.unique(hierarchy.links[:, 1])
    leaves = np.setdiff1d(hierarchy.links[:, 0], inner)
    replaced: dict[tuple[int, int], tuple[int, int]] = {}
    for leaf in random.permutation(leaves).tolist():
        right = int(random.choice(hierarchy.parents(leaf)))
        others = np.setdiff1d(
            inner if len(replaced) % 2 else hierarchy.children(right),
            [leaf, *hierarchy.ancestors(leaf)],
        )
        if len(others):
            replaced[leaf, right] = leaf, int(random.choice(others))
        if len(replaced) == most:
            break
    return replaced


def _redundant(hierarchy: Hierarchy) -> tuple[Pairs, Pairs]:
    """Return the asserted links that others imply, and the links c-s that imply a c-q."""
    implied = [(child, parent) for child, parent in hierarchy.redundant_links().tolist()]
    implying = {
        (child, between)
        for child, parent in implied
        for between in hierarchy.parents(child).tolist()
        if parent in hierarchy.ancestors(between)
    }
    return implied, sorted(implying)


def _by_votes(graph: KnowledgeGraph, hierarchy: Hierarchy) -> tuple[Pairs, Pairs]:
    """Return doubted and proposed links by the votes of neighbours by trigrams."""
    children = np.unique(hierarchy.links[:, 0]).tolist()
    asserted: dict[tuple[int, int], float] = {}
    others: dict[tuple[int, int], float] = {}
    votes_of_all = TrigramVotes(graph, hierarchy).of_entities(children)
    for child, votes in zip(children, votes_of_all, strict=True):
        parents = hierarchy.parents(child).tolist()
        related = {
            child,
            *hierarchy.ancestors(child).tolist(),
            *hierarchy.descendants(child).tolist(),
            *hierarchy.siblings(child).tolist(),
        }
        new = {row: votes[row] for row in votes if row not in related}
        best = max(votes.get(parent, 0.0) for parent in parents)
        for parent in parents:
            asserted[child, parent] = votes.get(parent, 0.0) - max(
                (votes[row] for row in votes if row != parent), default=0.0
            )
        for row, vote in new.items():
            others[child, row] = vote - best
    return (
        sorted(asserted, key=lambda pair: (asserted[pair], pair)),
        sorted(others, key=lambda pair: (-others[pair], pair)),
    )


def _found(graph: KnowledgeGraph, ranked: Subsumptions) -> tuple[Pairs, Pairs]:
    """Return the doubtful and the missing links of an audit."""
    row_of = {name: row for row, name in enumerate(graph.ids)}
    pairs: dict[str, Pairs] = {"doubtful": [], "missing": []}
    for row in audit(ranked, max(KS)):
        if row.verdict in pairs:
            pairs[row.verdict].append((row_of[row.subject_id], row_of[row.object_id]))
    return pairs["doubtful"], pairs["missing"]


def _figures(
    hierarchy: Hierarchy,
    taken: Links,
    wrong: Links,
    outside: Links,
    doubtful: Sequence[tuple[int, int]],
    missing: Sequence[tuple[int, int]],
) -> dict[str, int]:
    links = {(child, parent) for child, parent in hierarchy.links.tolist()}
    changed = {child for child, _ in wrong}
    implied = [parent in hierarchy.ancestors(child) for child, parent in missing[: max(KS)]]
    figures: dict[str, int] = {}
    for k in KS:
        figures[f"doubtful, wrong of the first {k}"] = len(set(doubtful[:k]) & set(wrong))
        figures[f"doubtful, wrong outside triangles of the first {k}"] = len(
            set(doubtful[:k]) & set(outside)
        )
        if missing:
            first = missing[:k]
            figures[f"missing, taken out of the first {k}"] = len(set(first) & set(taken))
            figures[f"missing, replaced of the first {k}"] = sum(
                pair in links and pair[0] in changed for pair in first
            )
            figures[f"missing, ancestors of the first {k}"] = sum(implied[:k])
    return figures
