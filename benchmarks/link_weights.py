"""Candidates by which weights of links are fitted: how many, and whether the asked entity is one.

Nothing of the test is used. The weights are fitted on one half of the validation triples, and the
other half is ranked; then the halves change places.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ontodex
from benchmarks.kgc import GRAPHS, NAMES_OF_WORDNET
from benchmarks.link_ablation import CANDIDATE, PROTOCOLS, Refitting, refitted
from benchmarks.record import Measured, expect_data
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.link_architectures import query_function
from ontodex.encoders.link_encoder import load_link_encoder
from ontodex.encoders.text import TextEncoder
from ontodex.geometry.complex import ComplEx
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph, entity_texts, relation_texts
from ontodex.graph.known_links import KnownLinks
from ontodex.graph.subgraph import with_triples
from ontodex.indexers.link_weights import DRAWN, LIKELY
from ontodex.scoring.case_based import CaseBasedEvidence
from ontodex.scoring.graph_features import WEIGHTS, GraphFeatures
from ontodex.scoring.kinds import kinds_of
from ontodex.scoring.rules import mine_rules
from ontodex.scoring.type_constraints import constraint_basis, constraint_vectors
from ontodex.trainers.links.complex import train_complex
from ontodex.trainers.links.hyper_cl import train_hyper_cl

__all__ = ["add_options", "run"]

MORE = 2560
"""Number of drawn candidates of a question, in the rows that have more than the code."""

ROWS = {
    "as in the code": (DRAWN, False),
    f"{MORE:,} drawn candidates": (MORE, False),
    "the asked entity a candidate of the fit": (DRAWN, True),
    f"{MORE:,} drawn candidates, the asked entity a candidate of the fit": (MORE, True),
}
"""Number of drawn candidates, and whether the asked entity is a candidate."""

FILES = EMBEDDINGS, ENCODER, COMPLEX = "embeddings.npz", "encoder", "complex.npz"
"""What is kept of a graph."""

Floats = NDArray[np.float32]
Reciprocal = dict[str, NDArray[np.float64]]
"""Reciprocal ranks of all questions, by the end of the names of a protocol's figures."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--graph", choices=list(GRAPHS), action="append", help="default: both")
    parser.add_argument(
        "--steps",
        type=int,
        default=0,
        help="training steps of the projections (default: stopped by validation, as in build)",
    )
    parser.add_argument(
        "--keep", type=Path, help="folder to keep what was learnt in, and to go on from"
    )


def run(options: argparse.Namespace) -> Iterator[Measured]:
    """Run the benchmark; yield the record of each graph when it is complete."""
    expect_data(options, "link-weights")
    for name in options.graph or GRAPHS:
        yield _measured(options, name)


def _measured(options: argparse.Namespace, name: str) -> Measured:
    graph = dataclasses.replace(ontodex.read(options.data / name), source=name)
    print(f"{graph!r} …", file=sys.stderr)
    steps = 20 if options.quick else options.steps
    training = ontodex.HyperCLTraining(
        steps=steps, pretrained=name not in NAMES_OF_WORDNET, seed=options.seed
    )
    structure = ontodex.ComplExTraining(steps=20 if options.quick else 0, seed=options.seed)
    with tempfile.TemporaryDirectory() as folder:
        kept = (options.keep or Path(folder)) / name
        earlier = [file for file in FILES if (kept / file).exists()]
        found = _reciprocal_ranks(_learnt(graph, kept, training, structure), graph, options.seed)
    figures = _figures(found)
    return Measured(
        name=f"link-weights-{name}",
        title=f"Candidates by which weights of links are fitted, {GRAPHS[name]}",
        seed=options.seed,
        settings={
            "graph": repr(graph),
            "training": dataclasses.asdict(training),
            "structure": dataclasses.asdict(structure),
            "learnt in an earlier run": earlier,
            "drawn candidates of a question": DRAWN,
            "likely candidates of a question": LIKELY,
            "split": "validation, two halves: one to fit on, the other to rank; no test triples",
        },
        figures=figures,
        notes=[
            "Weights are fitted on one half of the validation triples, drawn by the seed, and the "
            "triples of the other half are ranked, in both directions; then the halves change "
            "places. Means over all validation triples. Projections, ComplEx and rules are the "
            "same for all rows, learnt from train"
            + ("." if steps else "; the steps of the projections are stopped by all of validation.")
            + " All-MiniLM-L6-v2, frozen.",
            f"Beside its {LIKELY} likely candidates a question has candidates drawn at random, "
            f"which stand for all others: {DRAWN}, or {MORE:,}. In the code the asked entity is no "
            "candidate of the fit, unless train has a triple that links an entity to itself by "
            "the relation.",
            f"“{CANDIDATE}” is the papers' protocol of ranking, for every row alike. Without these "
            "words: as ontodex answers.",
            "gain: the MRR of the code less that of the row, with the standard error of the mean "
            "difference over questions.",
            _verdict(figures),
        ],
    )


def _learnt(
    graph: KnowledgeGraph,
    folder: Path,
    training: ontodex.HyperCLTraining,
    structure: ontodex.ComplExTraining,
) -> Refitting:
    """Learn all parts of the hybrid score but the weights, as build does.

    Args:
        graph: The graph.
        folder: Where embeddings, projections and KGE vectors are kept; those that are there already
            are not learnt again.
        training: Settings of the projections.
        structure: Settings of ComplEx.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text, texts, names = TextEncoder.load(), entity_texts(graph), relation_texts(graph)
    (embeddings,) = _kept(folder / EMBEDDINGS, lambda: [text.encode(texts)])
    if not HyperCL.is_at(folder / ENCODER):
        train_hyper_cl(
            graph,
            folder / ENCODER,
            encoder=text,
            settings=training,
            embeddings=embeddings,
            quiet=True,
        )
    encoder = load_link_encoder(folder / ENCODER, text)
    vectors = Vectors([encoder.entities(embeddings)])
    query = query_function(encoder.bind(names), vectors, texts, names)
    kge = ComplEx(*_kept(folder / COMPLEX, lambda: _complex(graph, structure)))
    size, count = graph.n_entities, graph.n_relations
    kge.entities[np.setdiff1d(np.arange(size), graph.triples[:, [0, 2]])] = 0.0  # never trained
    basis = constraint_basis(graph.triples, size, count)
    links = KnownLinks(graph.triples, size, count)
    rules = mine_rules(links)
    case_based = CaseBasedEvidence(links, vectors, Vectors([kge.entities]), rules)
    constraints = constraint_vectors(graph.triples, size, basis)
    kinds = kinds_of(graph)
    entities = Vectors([np.concatenate([kge.entities, constraints, kinds.entities], axis=1)])
    none = np.zeros((2, 2 * count + 1, WEIGHTS), dtype=np.float32)
    features = GraphFeatures(entities, kge.relations, basis, kinds.relations, rules, none)
    return Refitting(features, case_based, vectors, query)


def _complex(graph: KnowledgeGraph, settings: ontodex.ComplExTraining) -> tuple[Floats, Floats]:
    made = train_complex(graph, settings, quiet=True)
    return made.entities, made.relations


def _kept(file: Path, make: Callable[[], Sequence[Floats]]) -> list[Floats]:
    """Return the arrays of a file; if it is missing, make them and save them there."""
    if not file.exists():
        np.savez(file, *make())
    with np.load(file) as arrays:
        return [arrays[name] for name in arrays.files]


def _reciprocal_ranks(
    refitting: Refitting, graph: KnowledgeGraph, seed: int
) -> dict[str, Reciprocal]:
    """Fit the weights of each row on either half of the validation triples; rank the other."""
    halves = np.array_split(np.random.default_rng(seed).permutation(graph.valid), 2)
    looped = _with_loops(graph)
    parts: dict[str, dict[str, list[Any]]] = {row: {end: [] for end in PROTOCOLS} for row in ROWS}
    for half, other in (halves, halves[::-1]):
        ranked = with_triples(graph, graph.triples, other, np.concatenate([half, graph.test]))
        for row, (drawn, itself) in ROWS.items():
            scores = refitting.scores(looped if itself else graph, half, drawn)
            features = refitted(refitting.features, scores)
            for end, among in PROTOCOLS.items():
                ranks = refitting.ranks(features, ranked, split="valid", itself=among)
                parts[row][end] += [1 / one for one in ranks.values()]
            means = {end: float(np.concatenate(one).mean()) for end, one in parts[row].items()}
            print(f"{row}: {means}", file=sys.stderr)
    return {
        row: {end: np.concatenate(ranks) for end, ranks in ends.items()}
        for row, ends in parts.items()
    }


def _with_loops(graph: KnowledgeGraph) -> KnowledgeGraph:
    """Return a graph where every relation links an entity that no question is about to itself.

    The asked entity is then a candidate of every question.
    """
    (entity, *_) = np.setdiff1d(np.arange(graph.n_entities), graph.valid[:, [0, 2]])
    loops = [(entity, relation, entity) for relation in range(graph.n_relations)]
    known = np.concatenate([graph.triples, np.array(loops, dtype=graph.triples.dtype)])
    return with_triples(graph, known, graph.valid, graph.test)


def _figures(found: dict[str, Reciprocal]) -> dict[str, dict[str, float]]:
    """Return the MRR of each row, and by how much the first one's is higher."""
    (first, *_) = found
    figures: dict[str, dict[str, float]] = {}
    for row, ends in found.items():
        figures[row] = {f"mrr{end}": float(ranks.mean()) for end, ranks in ends.items()}
        if row != first:
            for end, ranks in ends.items():
                gain = found[first][end] - ranks
                error = gain.std(ddof=1) / np.sqrt(len(gain))
                figures[row] |= {
                    f"gain{end}": float(gain.mean()),
                    f"gain, standard error{end}": float(error),
                }
    return figures


def _verdict(figures: dict[str, dict[str, float]]) -> str:
    """Return which gains are more than two standard errors from zero."""
    clear = [
        f"{row}, gain{end}: {own[f'gain{end}']:+.4f} ± {own[f'gain, standard error{end}']:.4f}"
        for row, own in figures.items()
        for end in PROTOCOLS
        if abs(own.get(f"gain{end}", 0.0)) > 2 * own.get(f"gain, standard error{end}", 0.0)
    ]
    told = "; ".join(clear)
    return f"More than two standard errors from zero: {told or 'none of the gains'}."
