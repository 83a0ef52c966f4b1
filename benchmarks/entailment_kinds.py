"""Entailment of pairs of many kinds: collections of others, replaced words, templates, labels."""

from __future__ import annotations

import argparse
import csv
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from benchmarks.hierarchies import LOADERS
from benchmarks.record import Measured, expect_data
from ontodex.encoders.entailment_cross_encoder import (
    EntailmentCrossEncoder,
)
from ontodex.encoders.gauss_cse import GaussCSE
from ontodex.encoders.text import TextEncoder
from ontodex.geometry.entailment import fit_entailment
from ontodex.geometry.gaussian import similarity
from ontodex.graph import KnowledgeGraph
from ontodex.graph.text import in_words
from ontodex.trainers.data.entailment_pairs import ENTAILMENT, NOT_ENTAILMENT, EntailmentPairs
from ontodex.trainers.data.nli import read_nli

__all__ = ["add_options", "run"]

PAIRS = Path(__file__).with_name("entailment_kinds.tsv")
"""Pairs of the kinds that the package's cross-encoder was taught, made by
``tools/entailment_pairs.py`` of other nouns and other templates than the training pairs."""

COLLECTIONS = {
    "SNLI test": "snli_test.tsv.gz",
    "MultiNLI dev matched": "mnli_dev_matched.tsv.gz",
    "SICK test": "SICK.txt.gz",
    "RTE dev": "rte_dev.tsv",
    "SciTail test": "scitail_test.tsv",
}
HIERARCHIES = ("doid-2026", "go-2022", "schema-org")
Scores = NDArray[np.float64]
Judge = Callable[[EntailmentPairs], Scores]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--count", type=int, default=1000, help="of a set (default %(default)s)")
    parser.add_argument("--encoder", type=Path, help="a cross-encoder; default: in the box")


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its record."""
    expect_data(options, "entailment-kinds")
    most = 100 if options.quick else options.count
    valid = _some(read_nli(options.data / "nli" / "snli_dev.tsv.gz"), most)
    sets = {name: _some(pairs, most) for name, pairs in _sets(options.data)}
    figures: dict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    for way, judge, threshold in _ways(options.encoder):
        print(f"{way} …", file=sys.stderr)
        if threshold is None:
            threshold = fit_entailment(judge(valid), valid.entailed).threshold
        for name, pairs in sets.items():
            scores = judge(pairs)
            figures[name][way] = {
                "accuracy": float(np.mean((scores > threshold) == pairs.entailed)),
                "balanced accuracy": float(
                    balanced_accuracy_score(pairs.entailed, scores > threshold)
                ),
                "auc": float(roc_auc_score(pairs.entailed, scores)),
                "direction": _direction(judge, pairs),
            }
    return [
        Measured(
            name="entailment-kinds",
            title="Entailment of pairs of many kinds",
            seed=options.seed,
            settings={
                "pairs of a set": most,
                "split": "thresholds of the baselines are chosen on SNLI dev",
                "encoder trained on WordNet": "the cross-encoder: yes, on other nouns",
            },
            figures=dict(figures),
            notes=NOTES,
        )
    ]


NOTES = [
    "accuracy: entailed or not. balanced accuracy: the mean of that of entailed pairs and that of "
    "others. auc: area under the ROC curve, which needs no threshold. direction: of entailed pairs "
    "whose reverse is not known to be entailed, the share whose premise entails the hypothesis "
    "more than the reverse; equal scores count one half.",
    "Threshold: the cross-encoder's own probability of .5; for the others the best on SNLI dev, as "
    "in GaussCSE's paper.",
    "labels: a child's label entails its parent's; the reverse, and a sibling's label, are not "
    "entailed. No label of these three ontologies was in training.",
    "The other kinds are made pairs of nouns of WordNet and of templates that are not in the "
    "training pairs, and of captions of SNLI test. About 15 of each kind were read.",
    "both: the sum of the log odds of the cross-encoder and of GaussCSE, by whose difference "
    "ontodex decides the direction of a pair; its threshold is 0.",
    "length: the premise's number of characters less the hypothesis'.",
]


def _ways(encoder: Path | None) -> Iterator[tuple[str, Judge, float | None]]:
    cross = (
        EntailmentCrossEncoder.load() if encoder is None else EntailmentCrossEncoder.load(encoder)
    )
    yield "cross-encoder", lambda pairs: cross.probabilities(_texts(pairs)), 0.5
    gauss = GaussCSE.load()
    yield "GaussCSE", lambda pairs: _gaussian(gauss, pairs), None
    yield "both", lambda pairs: _log_odds(cross, gauss, pairs), 0.0
    text = TextEncoder.load()
    yield "cosine of all-MiniLM-L6-v2", lambda pairs: _cosine(text, pairs), None
    yield "length", _length, None


def _log_odds(cross: EntailmentCrossEncoder, gauss: GaussCSE, pairs: EntailmentPairs) -> Scores:
    found = cross.probabilities(_texts(pairs))
    return np.log(found) - np.log1p(-found) + gauss.rule.log_odds(_gaussian(gauss, pairs))


def _gaussian(encoder: GaussCSE, pairs: EntailmentPairs) -> Scores:
    found = encoder.encode(pairs.texts).astype(np.float64)
    return np.asarray(
        similarity(found[pairs.hypotheses], found[pairs.premises], encoder.similarity)
    )


def _cosine(encoder: TextEncoder, pairs: EntailmentPairs) -> Scores:
    found = encoder.encode(pairs.texts).astype(np.float64)
    return np.einsum("pd,pd->p", found[pairs.premises], found[pairs.hypotheses])


def _length(pairs: EntailmentPairs) -> Scores:
    return np.array(
        [float(len(premise) - len(hypothesis)) for premise, hypothesis, _ in pairs.rows()]
    )


def _direction(judge: Judge, pairs: EntailmentPairs) -> float:
    one_way = pairs.part(pairs.entailed & ~pairs.two_way)
    reverse = EntailmentPairs(
        one_way.texts, one_way.hypotheses, one_way.premises, one_way.labels, one_way.two_way
    )
    difference = judge(one_way) - judge(reverse)
    return float(np.mean(np.where(difference == 0, 0.5, difference > 0)))


def _sets(data: Path) -> Iterator[tuple[str, EntailmentPairs]]:
    for name, file in COLLECTIONS.items():
        only = {"SemEval_set": "TEST"} if file.startswith("SICK") else None
        yield name, read_nli(data / "nli" / file, only=only, on_error="skip")
    kinds = defaultdict(list)
    with PAIRS.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            label = ENTAILMENT if row["entailed"] == "yes" else NOT_ENTAILMENT
            kinds[row["kind"]].append((row["premise"], row["hypothesis"], label))
    for kind, rows in kinds.items():
        yield kind, EntailmentPairs.of(rows)
    for name in HIERARCHIES:
        yield f"labels of {name}", _labels(LOADERS[name](data))


def _labels(graph: KnowledgeGraph) -> EntailmentPairs:
    """Return pairs of labels of 500 links, with the reverse and a sibling of each."""
    hierarchy = graph.hierarchy(on_cycle="ignore")
    draw = random.Random(0)
    links = [tuple(link) for link in hierarchy.links.tolist()]
    names = [in_words(label) for label in graph.labels]
    rows = []
    for child, parent in draw.sample(links, min(500, len(links))):
        above = set(hierarchy.ancestors(child).tolist())
        below = set(hierarchy.descendants(child).tolist())
        rows.append((names[child], names[parent], ENTAILMENT))
        rows.append((names[parent], names[child], NOT_ENTAILMENT))
        beside = [
            row
            for row in hierarchy.children(parent).tolist()
            if row != child and row not in above and row not in below
        ]
        if beside:
            rows.append((names[child], names[draw.choice(beside)], NOT_ENTAILMENT))
    return EntailmentPairs.of(rows)


def _texts(pairs: EntailmentPairs) -> Sequence[tuple[str, str]]:
    return [(premise, hypothesis) for premise, hypothesis, _ in pairs.rows()]


def _some(pairs: EntailmentPairs, count: int) -> EntailmentPairs:
    rows = np.random.default_rng(0).permutation(len(pairs))[:count]
    return pairs.part(np.sort(rows))
