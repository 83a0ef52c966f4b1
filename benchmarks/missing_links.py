"""The likeliest links that a graph lacks, of all relations together: how many of them are true."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

import ontodex
from benchmarks.baselines import ranks_better
from benchmarks.kgc import NAMES_OF_WORDNET
from benchmarks.link_ablation import are_linked
from benchmarks.record import Measured, expect_data
from ontodex.demo_data import write_hpo
from ontodex.graph import KnowledgeGraph
from ontodex.graph.arrays import within
from ontodex.graph.known_links import KnownLinks
from ontodex.graph.subgraph import with_triples

__all__ = ["add_options", "run"]

GRAPHS = {
    "wn18rr": "WN18RR",
    "hpo": "the Human Phenotype Ontology with diseases and genes",
    "fb15k-237": "FB15k-237",
}
FIRST = (100, 300, 1000, 3000, 10_000)
TAKEN_OUT = 0.1
"""Share of the known triples that is taken out of a graph that brings no test triples."""

UNLINKED = "ontodex, between what nothing links yet"
LINKED = "ontodex"
NEAREST = "kNN over linked things"
RULE = "reverse each symmetric link"
PROPOSED = 200_000
"""Links that each baseline proposes from one side, at most."""

CHOSEN_BY = 1000
"""Number of first answers by which the settings of kNN are chosen."""

SYMMETRIC = 0.5
"""Least share of a relation's links that have their reverse, for the rule."""

BLOCK = 512
"""Entities in one block of kNN."""

Keys = NDArray[np.int64]
Values = NDArray[np.float64]


class Nearest(NamedTuple):
    """Settings of kNN over linked things.

    Attributes:
        k: Number of nearest neighbours.
        power: Exponent of the similarity that weighs a vote.
    """

    k: int
    power: int


NEAREST_TRIED = [Nearest(*both) for both in itertools.product((5, 10, 30), (1, 2, 4, 8))]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    parser.add_argument(
        "--graph", choices=list(GRAPHS), action="append", help="default: all; may be repeated"
    )


def run(options: argparse.Namespace) -> Iterator[Measured]:
    """Measure, and yield what came out of each graph as soon as it is there."""
    expect_data(options, "missing-links")
    for name in options.graph or list(GRAPHS):
        yield _measured(options, name)


def _measured(options: argparse.Namespace, name: str) -> Measured:
    graph = _graph(options, name)
    print(f"{graph!r} …", file=sys.stderr)
    true = _keys(graph, graph.test)
    known = np.concatenate([graph.triples, graph.valid])
    figures = _by_ontodex(options, name, graph, true)
    chosen, choices = _chosen(graph, options.seed)
    links, _ = nearest_links(graph, known, chosen)
    heads, _, tails = _ends(graph, links)
    apart = links[~are_linked(graph, known, np.stack([heads, tails], axis=1))]
    for way, kept in ((NEAREST, apart), (f"{NEAREST}, linked or not", links)):
        figures[way] = _shares(np.isin(kept[: max(FIRST)], true))
    reverses = reverse_links(graph, known)
    if len(reverses):
        figures[RULE] = _shares(np.isin(reverses[: max(FIRST)], true))
    return Measured(
        name=f"missing-links-{name}",
        title=f"The likeliest missing links of {GRAPHS[name]}",
        seed=options.seed,
        settings={
            "graph": repr(graph),
            "pretrained network": "none" if name in NAMES_OF_WORDNET else "hyper-cl-names",
            "encoder trained on WordNet": "no"
            if name in NAMES_OF_WORDNET
            else "the pretrained network",
            "split": "validation triples" if len(graph.valid) else "a tenth of the known triples",
            "kNN": {**chosen._asdict(), f"right of the first {CHOSEN_BY:,} by setting": choices},
            "candidates of the rule": len(reverses),
        },
        figures=figures,
        notes=[*_notes(name, graph), *_lost(figures)],
    )


def _by_ontodex(
    options: argparse.Namespace, name: str, graph: KnowledgeGraph, true: Keys
) -> dict[str, dict[str, float]]:
    """Build an index and return the figures of `missing`, with and without linked entities."""
    known = with_triples(graph, graph.triples, graph.valid, graph.test[:0])
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        settings: dict[str, Any] = {
            "training": ontodex.HyperCLTraining(
                steps=5 if options.quick else 0, pretrained=name not in NAMES_OF_WORDNET
            ),
            "structure": ontodex.ComplExTraining(steps=20) if options.quick else True,
            "hierarchy": False,
            "entailment": False,
        }
        ontodex.build(graph, Path(folder) / "missing.odx", **settings).close()
        with ontodex.open(Path(folder) / "missing.odx", known=[known]) as engine:
            for way, linked in ((UNLINKED, False), (LINKED, True)):
                start = time.perf_counter()
                found = engine.missing(k=max(FIRST), linked=linked)
                seconds = time.perf_counter() - start
                promised = np.array([link.probability or 0.0 for link in found])
                figures[way] = {
                    **_shares(np.isin(_keys(graph, _rows(graph, found)), true)),
                    **{
                        f"probability, mean of the first {n:,}": float(promised[:n].mean())
                        for n in FIRST
                    },
                    "seconds": seconds,
                }
    return figures


def _notes(name: str, graph: KnowledgeGraph) -> list[str]:
    notes = [
        "The share of test triples among the first answers of `missing`, all relations together; "
        "training and validation triples are known. What is true and in no split counts as "
        "wrong. All-MiniLM-L6-v2, frozen; the default build, one seed. There is no paper's "
        f"protocol for this task. The row of each graph is {UNLINKED}.",
        f"{NEAREST}, a baseline without text or training: the similarity of two entities is the "
        "cosine of their links (relation with direction, and the other end; inverse document "
        "frequencies); each entity is proposed what its k nearest neighbours are linked to, by "
        "the sum of powers of their similarities, and what both ends propose has the sum of "
        "both. k and the exponent are chosen by the first "
        f"{CHOSEN_BY:,} on the split that the settings name.",
        f"{RULE}, a baseline: the missing reverses of the links of relations of which at least "
        "half have their reverse, the most symmetric relation first. The number of candidates is "
        "in the settings; of more answers than candidates, the rest counts as wrong.",
    ]
    if name in NAMES_OF_WORDNET:
        notes.append(
            "On WN18RR, `missing` with linked entities mostly applies that rule; "
            f"{UNLINKED} leaves these links out. The network that ontodex ships read WordNet's "
            "nouns, so that training starts without it here."
        )
    if not len(graph.valid):
        notes.append(
            f"{len(graph.test):,} known triples, a tenth, are held out to test on; the build holds "
            "out at most 5,000 of the rest to fit on, so that probabilities are of so many "
            "missing links, not of so many more."
        )
    return notes


def _lost(figures: dict[str, dict[str, float]]) -> list[str]:
    """Return a note on the figures in which a baseline is better than its row of ontodex."""
    parts = []
    for ours, baselines in (
        (UNLINKED, [NEAREST]),
        (LINKED, [f"{NEAREST}, linked or not", RULE]),
    ):
        better = {
            figure: ranks_better(figures, ours, figure, baselines)
            for figure in (f"right of the first {n:,}" for n in FIRST)
        }
        parts += [f"{figure}: {text}" for figure, text in better.items() if text]
    return [f"A baseline is better: {'; '.join(parts)}."] if parts else []


def _graph(options: argparse.Namespace, name: str) -> KnowledgeGraph:
    if name != "hpo":
        return dataclasses.replace(ontodex.read(options.data / name), source=name)
    with tempfile.TemporaryDirectory() as folder:
        whole = ontodex.read(*write_hpo(Path(folder)))
    out = np.random.default_rng(options.seed).random(whole.n_triples) < TAKEN_OUT
    kept = with_triples(whole, whole.triples[~out], whole.valid[:0], whole.triples[out])
    return dataclasses.replace(kept, source=name)


def _keys(graph: KnowledgeGraph, triples: NDArray[np.integer]) -> Keys:
    heads, relations, tails = triples.astype(np.int64).T
    return np.asarray((relations * graph.n_entities + heads) * graph.n_entities + tails)


def _rows(graph: KnowledgeGraph, found: ontodex.MissingLinks) -> Keys:
    rows = {name: row for row, name in enumerate(graph.ids)}
    numbers = {name: number for number, name in enumerate(graph.relation_ids)}
    return np.array([(rows[link.head], numbers[link.relation], rows[link.tail]) for link in found])


def _shares(right: NDArray[np.bool_]) -> dict[str, float]:
    """Return the share of right answers among the first ones; missing answers are wrong."""
    return {f"right of the first {n:,}": float(right[:n].sum() / n) for n in FIRST}


def _ends(graph: KnowledgeGraph, keys: Keys) -> tuple[Keys, Keys, Keys]:
    """Return the heads, relations and tails of keys."""
    left, tails = np.divmod(keys, graph.n_entities)
    relations, heads = np.divmod(left, graph.n_entities)
    return heads, relations, tails


def reverse_links(graph: KnowledgeGraph, known: NDArray[np.integer]) -> Keys:
    """Return the missing reverses of symmetric relations' links, the most symmetric first.

    Args:
        graph: The graph.
        known: Known triples, of shape (n, 3).
    """
    keys = np.unique(_keys(graph, known[known[:, 0] != known[:, 2]]))
    heads, relations, tails = _ends(graph, keys)
    reverses = (relations * graph.n_entities + tails) * graph.n_entities + heads
    there = np.isin(reverses, keys)
    counts = np.bincount(relations, minlength=graph.n_relations)
    share = np.bincount(relations, there, graph.n_relations) / np.maximum(counts, 1)
    new = ~there & (share[relations] >= SYMMETRIC)
    order = np.lexsort((reverses[new], -share[relations[new]]))
    return np.asarray(reverses[new][order])


def _chosen(graph: KnowledgeGraph, seed: int) -> tuple[Nearest, dict[str, float]]:
    """Return the settings of kNN with most right answers on validation, and those of all."""
    known, held_out = graph.triples, graph.valid
    if not len(held_out):
        out = np.random.default_rng(seed + 1).random(len(known)) < TAKEN_OUT
        known, held_out = known[~out], known[out]
    true, links = _keys(graph, held_out), _Neighbours(graph, known)
    found = {
        one: float(np.isin(links.proposed(one)[0][:CHOSEN_BY], true).sum() / CHOSEN_BY)
        for one in NEAREST_TRIED
    }
    named = {f"k {one.k}, power {one.power}": right for one, right in found.items()}
    return max(NEAREST_TRIED, key=found.__getitem__), named


def nearest_links(
    graph: KnowledgeGraph, known: NDArray[np.integer], settings: Nearest
) -> tuple[Keys, Values]:
    """Return the links that kNN over linked things proposes, the best first, and their scores.

    Args:
        graph: The graph.
        known: Known triples, of shape (n, 3); they are not proposed.
        settings: Settings of kNN.
    """
    return _Neighbours(graph, known).proposed(settings)


class _Neighbours:
    """The nearest neighbours of entities by their links."""

    def __init__(self, graph: KnowledgeGraph, known: NDArray[np.integer]) -> None:
        self._links = KnownLinks(known, graph.n_entities, graph.n_relations)
        self._graph, self._known = graph, np.unique(_keys(graph, known))
        heads, relations, tails = self._links.triples.T
        self._features, columns = np.unique(
            relations * graph.n_entities + tails, return_inverse=True
        )
        ones = np.ones(len(heads), dtype=np.float32)
        shape = graph.n_entities, len(self._features)
        self._has = csr_matrix((ones, (heads, columns)), shape=shape)
        counts = np.bincount(columns, minlength=len(self._features))
        weights = np.log(graph.n_entities / counts).astype(np.float32)
        weighted = csr_matrix((weights[columns], (heads, columns)), shape=shape)
        lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
        scales = 1 / np.maximum(lengths, 1e-9)
        self._unit = weighted.multiply(scales[:, None]).tocsr().astype(np.float32)
        self._near = self._nearest(max(one.k for one in NEAREST_TRIED))

    def _nearest(self, k: int) -> list[tuple[Keys, NDArray[np.float32]]]:
        """Return the k nearest other entities of each entity, and their similarities."""
        transposed, found = self._unit.T.tocsr(), []
        for start in range(0, self._graph.n_entities, BLOCK):
            similar = (self._unit[start : start + BLOCK] @ transposed).tocsr()
            for at in range(similar.shape[0]):
                part = slice(similar.indptr[at], similar.indptr[at + 1])
                rows, values = similar.indices[part], similar.data[part]
                other = rows != start + at
                rows, values = rows[other], values[other]
                best = np.lexsort((rows, -values))[:k]
                found.append((rows[best].astype(np.int64), values[best]))
        return found

    def proposed(self, settings: Nearest) -> tuple[Keys, Values]:
        """Return the proposed links, the best first, and their scores."""
        sides = [self._of_side(settings, inverse) for inverse in (False, True)]
        links, at = np.unique(np.concatenate([keys for keys, _ in sides]), return_inverse=True)
        scores = np.bincount(at, np.concatenate([values for _, values in sides]), len(links))
        best = np.lexsort((links, -scores))
        return links[best], scores[best]

    def _of_side(self, settings: Nearest, inverse: bool) -> tuple[Keys, Values]:
        """Return the best links proposed to their heads, or with ``inverse`` to their tails."""
        graph, count = self._graph, self._graph.n_relations
        relations, others = np.divmod(self._features, graph.n_entities)
        wanted = np.flatnonzero((relations >= count) == inverse)
        has = self._has[:, wanted].tocsr()
        keys, values = [], []
        for start in range(0, graph.n_entities, BLOCK):
            votes = (self._weights(start, settings) @ has).tocoo()
            own, features = votes.row.astype(np.int64) + start, wanted[votes.col]
            heads, tails = (others[features], own) if inverse else (own, others[features])
            found = (relations[features] % count * graph.n_entities + heads) * graph.n_entities
            found += tails
            new = (heads != tails) & ~within(self._known, found)
            keys.append(found[new])
            values.append(votes.data[new].astype(np.float64))
        links, scores = np.concatenate(keys), np.concatenate(values)
        best = np.lexsort((links, -scores))[:PROPOSED]
        return links[best], scores[best]

    def _weights(self, start: int, settings: Nearest) -> csr_matrix:
        """Return the weights of the neighbours of a block of entities."""
        near = self._near[start : start + BLOCK]
        rows = [one[: settings.k] for one, _ in near]
        values = [one[: settings.k] ** settings.power for _, one in near]
        starts = np.cumsum([0, *(len(one) for one in rows)])
        return csr_matrix(
            (np.concatenate(values), np.concatenate(rows), starts),
            shape=(len(near), self._graph.n_entities),
        )
