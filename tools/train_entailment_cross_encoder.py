"""Train the entailment cross-encoder that the package ships.

From the root of the project, with a folder of training pairs (``snli_train_subset.tsv.gz``,
``mnli_train_subset.tsv.gz``, ``scitail_train_subset.tsv.gz``, ``rte_train.tsv``,
``snli_dev.tsv.gz``), and the folder of WordNet's files ``data.noun`` and so on::

    python tools/train_entailment_cross_encoder.py PAIRS WORDNET OUTPUT
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from entailment_pairs import Nouns, captions, definitions, hierarchy_pairs, templates

import ontodex
from benchmarks.everyday_data import sources
from ontodex.encoders.text import TextEncoder
from ontodex.graph.text import in_words
from ontodex.trainers.data.entailment_pairs import ENTAILMENT, NOT_ENTAILMENT, EntailmentPairs
from ontodex.trainers.data.nli import read_nli
from ontodex.trainers.entailment.cross_encoder import train_entailment_cross_encoder
from ontodex.trainers.entailment.settings import EntailmentCrossEncoderTraining

COLLECTIONS = {
    "snli_train_subset.tsv.gz": 30_000,
    "mnli_train_subset.tsv.gz": 26_000,
    "scitail_train_subset.tsv.gz": 4_000,
    "rte_train.tsv": 2_400,
}
"""Files of training pairs, and the largest number of pairs of each."""

LEAST = 3
"""Smallest number of occurrences of a noun in WordNet's own texts."""


def main() -> None:
    """Train and write the encoder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("wordnet", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--share", type=float, default=1.0, help="share of the pairs, for a trial")
    options = parser.parse_args()
    train, valid = pairs(options.pairs, options.wordnet, options.share)
    print(f"{len(train):,} training pairs, {len(valid):,} validation pairs")
    settings = EntailmentCrossEncoderTraining(
        epochs=options.epochs, rate=options.rate, max_tokens=64, evaluations=6
    )
    train_entailment_cross_encoder(
        train,
        valid,
        options.output,
        encoder=TextEncoder.load(),
        settings=settings,
        seen=["SNLI", "MultiNLI", "SciTail", "RTE", "WordNet", "HPO", "EDAM", "Brick"],
    )


def pairs(
    folder: Path, wordnet: Path, share: float = 1.0
) -> tuple[EntailmentPairs, EntailmentPairs]:
    """Return the training pairs and the validation pairs."""
    sets = [
        _some(read_nli(folder / name, on_error="skip"), round(share * most), 0)
        for name, most in COLLECTIONS.items()
    ]
    sentences = sorted({premise for premise, _, _ in sets[0].rows()})
    nouns = Nouns(wordnet, test=False, least=LEAST)
    random.Random(1).shuffle(sentences)
    sets += [
        _of(captions(sentences[: round(share * 8_000)], nouns, 2)),
        _of(pair for _, pair in templates(nouns, round(share * 16_000), test=False, seed=3)),
        _of(wordnet_pairs(Nouns(wordnet, test=False), round(share * 2_500), 4)),
        _of(definitions(Nouns(wordnet, test=False), round(share * 3_500), 7)),
        *(_of(labels(name, round(share * most), 5)) for name, most in HIERARCHIES.items()),
    ]
    print(*(f"{len(part):,}" for part in sets))
    joined = EntailmentPairs.joined(*sets)
    train, held_out = joined.split(0.03, seed=0)
    dev = _some(read_nli(folder / "snli_dev.tsv.gz"), 600, 6)
    return train, EntailmentPairs.joined(dev, held_out)


HIERARCHIES = {"hpo": 2_500, "edam": 900, "brick": 400}


def labels(name: str, count: int, seed: int) -> Iterable[tuple[str, str, bool]]:
    """Return pairs of labels of an ontology that is installed as a Python package."""
    with tempfile.TemporaryDirectory() as folder:
        graph = ontodex.read(*sources(Path(folder))[name], on_error="skip")
    names = [in_words(label) for label in graph.labels]
    links = graph.hierarchy(on_cycle="ignore").links.tolist()
    return hierarchy_pairs(names, [tuple(link) for link in links], count, seed)


def wordnet_pairs(nouns: Nouns, count: int, seed: int) -> Iterable[tuple[str, str, bool]]:
    """Return pairs of nouns of WordNet and their hypernyms."""
    names = sorted(nouns.usable)
    rows = {name: row for row, name in enumerate(names)}
    links = [(rows[name], rows[above]) for name in names for above in nouns.wider(name)[:1]]
    return hierarchy_pairs(names, links, count, seed)


def _of(found: Iterable[tuple[str, str, bool]]) -> EntailmentPairs:
    return EntailmentPairs.of(
        (premise, hypothesis, ENTAILMENT if entailed else NOT_ENTAILMENT)
        for premise, hypothesis, entailed in found
        if premise != hypothesis
    )


def _some(found: EntailmentPairs, count: int, seed: int) -> EntailmentPairs:
    rows = random.Random(seed).sample(range(len(found)), min(count, len(found)))
    return found.part(np.sort(np.array(rows)))


if __name__ == "__main__":
    main()
