"""Link prediction without training: the bundled network, on graphs that it was not trained on."""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ontodex
from benchmarks.hierarchies import LOADERS
from benchmarks.record import Measured, expect_data
from ontodex.demo_data import write_hpo
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.link_architectures import query_function
from ontodex.encoders.text import TextEncoder
from ontodex.engine.ranking import evaluate_links
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph, entity_texts, question_text, relation_texts
from ontodex.graph.text import in_words
from ontodex.scoring.graph_features import QueryFunction
from ontodex.trainers.links.distillation import DistillationTraining, distil_hyper_cl

__all__ = ["KEPT", "add_options", "asking_together", "make", "relation_phrases", "run"]

GRAPHS = {"fb15k-237": "FB15k-237", "hpo": "the Human Phenotype Ontology with diseases and genes"}
KEPT = ("mrr", "hits@1", "hits@10", "tail.mrr", "head.mrr")
PATTERNS = (
    "{}",
    "{} of",
    "has {}",
    "is {}",
    "is {} of",
    "{} by",
    "{} {}",
    "{} {} {}",
    "{0} {1} {2}. {0} {3}",
    "GRAM",
)
SHARES = (0.3, 0.06, 0.04, 0.02, 0.02, 0.02, 0.12, 0.1, 0.12, 0.2)
"""Share of each pattern among the drawn relations; GRAM is an n-gram of plain text."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--graph", choices=list(GRAPHS), action="append", help="default: both")
    parser.add_argument(
        "--questions", type=int, default=3000, help="triples to rank (default %(default)s)"
    )
    parser.add_argument(
        "--make",
        type=Path,
        help="train the network again into this folder, and measure that network",
    )
    parser.add_argument(
        "--relations", type=int, default=60_000, help="with --make: relations drawn (%(default)s)"
    )
    parser.add_argument(
        "--texts", type=int, default=260_000, help="with --make: texts used (default %(default)s)"
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Run the benchmark and return its records."""
    expect_data(options, "zero-shot")
    text = TextEncoder.load()
    if options.make is not None:
        made = make(options, text)
    else:
        made = HyperCL.in_the_box(text)
        if made is None:
            sys.exit(
                "python -m benchmarks zero-shot: expected the encoder that the network in the "
                "box is for, found another"
            )
    return [_measured(options, name, text, made) for name in options.graph or list(GRAPHS)]


def make(options: argparse.Namespace, text: TextEncoder) -> HyperCL:
    """Train the bundled network on names of WordNet, ConceptNet, ontologies, and plain text."""
    rng = np.random.default_rng((options.seed, 0))
    graphs = [LOADERS[name](options.data) for name in ("wordnet", "doid-2026", "go-2022")]
    schema = ontodex.read(options.data / "ontologies" / "schemaorg-30.0.ttl")
    concepts = sorted(_conceptnet(options.data))
    texts, labels = list(concepts), list(concepts)
    for graph in (*graphs, schema):
        texts += entity_texts(graph, ontodex.TextSettings())
        labels += graph.labels
    names = [
        _properties(options.data),
        [name.lower() for name in graphs[0].labels if len(name.split()) <= 2],
        [name.lower() for name in concepts if len(name.split()) <= 3],
        [in_words(name) for name in schema.labels if len(name.split()) <= 3],
    ]
    relations = relation_phrases(
        names, _sentences(options.data), 200 if options.quick else options.relations, rng
    )
    settings = DistillationTraining(pairs=options.texts, seed=options.seed)
    if options.quick:
        settings = dataclasses.replace(settings, pairs=2000, steps=20)
    return distil_hyper_cl(texts, labels, relations, options.make, encoder=text, settings=settings)


def relation_phrases(
    names: list[list[str]], sentences: list[list[str]], count: int, rng: np.random.Generator
) -> list[str]:
    """Draw phrases that relations may have as names.

    They are names alone, names with function words, sequences of names, and n-grams of plain text.
    """
    shares = np.array([0.4, 0.25, 0.2, 0.15])
    found = set()
    for pattern in rng.choice(PATTERNS, count, p=SHARES).tolist():
        if pattern == "GRAM":
            words = sentences[rng.integers(len(sentences))]
            length = int(rng.integers(1, min(6, len(words)) + 1))
            start = int(rng.integers(len(words) - length + 1))
            found.add(" ".join(words[start : start + length]))
        else:
            kinds = rng.choice(len(names), 4, p=shares)
            found.add(
                pattern.format(*(names[kind][rng.integers(len(names[kind]))] for kind in kinds))
            )
    return sorted(found)


def _conceptnet(data: Path) -> set[str]:
    """Return the concepts of ConceptNet; its links are not used."""
    with gzip.open(
        data / "ontologies" / "conceptnet-5.6.0-subset.ndjson.gz", "rt", encoding="utf-8"
    ) as lines:
        edges = map(json.loads, lines)
        return {end for edge in edges for end in (edge["start"], edge["end"])}


def _properties(data: Path) -> list[str]:
    """Return the names of the properties of Schema.org, in words."""
    lines = (data / "ontologies" / "schemaorg-30.0.ttl").read_text(encoding="utf-8")
    return sorted(
        {
            in_words(name)
            for name in re.findall(r"^(?:schema)?:(\w+) a rdf:Property", lines, re.MULTILINE)
        }
    )


def _sentences(data: Path, most: int = 60_000) -> list[list[str]]:
    """Return every fifth sentence of the plain text as words, at most ``most``."""
    found: list[list[str]] = []
    with gzip.open(data / "corpus" / "english-9m-words.txt.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            words = re.sub(r"[^a-z' -]", "", line.lower()).split()
            if number % 5 == 0 and len(words) > 8:
                found.append(words)
            if len(found) == most:
                break
    return found


def _graph(options: argparse.Namespace, name: str) -> KnowledgeGraph:
    """Return a graph with some triples as test triples; all are known, as nothing is trained."""
    if name == "hpo":
        with tempfile.TemporaryDirectory() as folder:
            graph = ontodex.read(*write_hpo(Path(folder)))
    else:
        graph = ontodex.read(options.data / name)
    asked = graph.test if len(graph.test) else graph.triples
    drawn = np.random.default_rng((options.seed, 1)).permutation(len(asked))
    count = 50 if options.quick else options.questions
    rest = asked[drawn[count:]] if len(graph.test) else asked[:0]
    return dataclasses.replace(
        graph, source=name, test=asked[drawn[:count]], valid=np.concatenate([graph.valid, rest])
    )


def asking_together(graph: KnowledgeGraph, text: TextEncoder) -> QueryFunction:
    """Return the query function of a plain encoder: entity and relation encoded as one text."""
    labels, relations = list(graph.labels), list(graph.relation_labels)

    def together(rows: NDArray[np.integer], numbers: NDArray[np.integer]) -> NDArray[np.float32]:
        backward, asked = np.divmod(numbers, len(relations))
        return text.encode(
            [
                question_text(labels[row], relations[relation], backward=bool(inverse))
                for row, relation, inverse in zip(
                    rows.tolist(), asked.tolist(), backward.tolist(), strict=True
                )
            ]
        )

    return together


def _measured(options: argparse.Namespace, name: str, text: TextEncoder, made: HyperCL) -> Measured:
    graph = _graph(options, name)
    print(f"{graph!r} …", file=sys.stderr)
    names = entity_texts(graph, ontodex.TextSettings())
    vectors = Vectors([text.encode(names)])
    figures: dict[str, Any] = {}
    ways: dict[str, QueryFunction] = {
        "the text “head relation”, plain encoder": asking_together(graph, text),
        "the network in the box": query_function(
            made.bind(relation_texts(graph)), vectors, names, relation_texts(graph)
        ),
    }
    for way, ask in ways.items():
        start = time.perf_counter()
        found = evaluate_links(graph, vectors, ask)
        figures[way] = {key: found[key] for key in KEPT} | {"seconds": time.perf_counter() - start}
    return Measured(
        name=f"zero-shot-{name}",
        title=f"Link prediction without training, {GRAPHS[name]}",
        seed=options.seed,
        settings={"graph": repr(graph), "made": "anew" if options.make else "in the box"},
        figures=figures,
        goals={},
        notes=[
            "The bundled network was trained on neither the graph nor its relations. "
            f"{len(graph.test):,} triples are ranked in both directions, filtered by all "
            "triples; ties get their mean rank. The query entity is no candidate, unless the "
            "graph has a triple that links an entity to itself by the relation.",
            "Seconds include encoding: every query for the plain encoder, the relations alone "
            "for the network.",
        ],
    )
