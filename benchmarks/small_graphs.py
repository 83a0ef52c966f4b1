"""Link prediction on the small graphs that PyKEEN's wheel carries, beside PyKEEN's tuned models."""

from __future__ import annotations

import argparse
import gc
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pykeen.datasets import get_dataset
from pykeen.datasets.base import Dataset
from pykeen.models import Model
from pykeen.pipeline import PipelineResult, pipeline
from pykeen.stoppers import EarlyStopper
from torch.nn.init import normal_

import ontodex
from benchmarks.link_ablation import CANDIDATE, Ranks, both_protocols
from benchmarks.random_search import Grid, Setting, search
from benchmarks.record import Measured
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.ranking import Adjust, link_ranks
from ontodex.geometry.vectors import Vectors
from ontodex.graph import KnowledgeGraph

__all__ = ["add_options", "run"]

Floats = NDArray[np.float32]
Rows = NDArray[np.integer]
Row = dict[str, float]

GRAPHS = {"nations": "Nations", "kinships": "Kinships", "umls": "UMLS"}
SPREAD = ", standard deviation"
SEEDS = 5
TRAININGS = 4
"""A training takes at most the budget of a search divided by so many."""

FREQUENCY, PATIENCE, GAIN = 10, 5, 0.002
"""Validation every so many epochs; training stops after so many without this relative gain."""

LOSSES = ("crossentropy", "bcewithlogits")
GRIDS: dict[str, tuple[Grid, ...]] = {
    "ComplEx": (
        {
            "dim": (64, 128, 256),
            "N3": (0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
            "initial": (1e-3, 1e-1),
            "rate": (0.03, 0.1, 0.3),
            "batch": (64, 256, 1024),
            "loss": ("crossentropy",),
        },
    ),
    "TuckER": (
        {
            "dim": (32, 64, 128),
            "relation dim": (16, 32),
            "dropout": (0.0, 0.2, 0.4),
            "rate": (0.001, 0.003, 0.01),
            "batch": (128, 512),
            "smoothing": (0.0, 0.1),
            "loss": LOSSES,
        },
    ),
    "RotatE": (
        {
            "dim": (32, 64, 128),
            "margin": (3.0, 6.0, 9.0),
            "temperature": (0.5, 1.0),
            "negatives": (16, 32),
            "rate": (0.003, 0.01, 0.03),
            "batch": (128, 512),
            "loss": ("nssa",),
        },
        {
            "dim": (32, 64, 128),
            "rate": (0.003, 0.01, 0.03),
            "batch": (128, 512),
            "loss": ("crossentropy",),
        },
    ),
}
"""What the settings of a model are drawn from: one of its grids, then a value of each setting."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    parser.add_argument("--graph", choices=list(GRAPHS), action="append", help="default: all")
    parser.add_argument(
        "--budget",
        type=float,
        default=60.0,
        metavar="MINUTES",
        help="processor time of the search of the settings of each of PyKEEN's models "
        "(default %(default)g)",
    )


def run(options: argparse.Namespace) -> Iterator[Measured]:
    """Measure, and yield what came out of each graph as soon as it is there."""
    if options.quick:
        options.budget = 0.0
    for name in options.graph or GRAPHS:
        yield _measured(options, name)


def _measured(options: argparse.Namespace, name: str) -> Measured:
    seeds = range(options.seed, options.seed + (1 if options.quick else SEEDS))
    figures: dict[str, Row] = {}
    chosen: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        graph = _read(name, Path(scratch) / "graph")
        rows: dict[str, list[Row]] = {"ontodex": [], "ontodex, ComplEx alone": []}
        for seed in seeds:
            _say(f"{name}, ontodex, seed {seed}")
            for row, figure in _ours(graph, Path(scratch) / f"{seed}.odx", seed, options).items():
                rows[row].append(figure)
        figures.update({row: _summary(runs) for row, runs in rows.items()})
        for peer in PEERS:
            figures[f"PyKEEN, {peer}"], chosen[peer] = _tuned(graph, name, peer, seeds, options)
    return Measured(
        name=f"small-graphs-{name}",
        title=f"Link prediction on {GRAPHS[name]}, beside PyKEEN's tuned models",
        seed=options.seed,
        settings={
            "graph": repr(replace(graph, source=name)),
            "minutes of processor time of a search": options.budget,
            "seeds": list(seeds),
            "split": {
                "settings of PyKEEN's models": "valid",
                "epochs of PyKEEN's models": "valid",
                "weights of ontodex": "valid",
                "figures": "test",
            },
            "grids": GRIDS,
            "chosen": chosen,
        },
        figures=figures,
        notes=[*_notes(options, len(seeds)), *_choices(chosen)],
    )


def _notes(options: argparse.Namespace, seeds: int) -> list[str]:
    return [
        "The graph and its splits are those of PyKEEN's wheel. Filtered ranks of both directions; "
        "equal scores share their mean rank; one function ranks for all rows.",
        f"“{CANDIDATE}” is the protocol of the papers. In the other protocol the entity of the "
        "question is no candidate, unless the graph links some entity to itself by the relation: "
        "ontodex answers so, and its weights are fitted to it.",
        f"Means over {seeds} seeds; standard deviations for MRR.",
        "ontodex: ontodex.build with default settings; its texts are the names of the entities, "
        "which say nothing in Kinships (“person100”). The weights of its scores are fitted on "
        "validation. ComplEx alone: the ComplEx vectors of the same index, which are trained on "
        "train alone with default settings, without texts, rules, type constraints and weights.",
        "PyKEEN: a random search in the grids of the record, with "
        f"{options.budget:g} minutes of processor time for each model, one thread. A training "
        f"stops when the MRR on validation (papers' protocol), looked at every {FREQUENCY} epochs, "
        f"has not risen for {PATIENCE} looks, or after 1/{TRAININGS} of the budget, and keeps "
        "its best epoch. The setting of the best MRR on validation is trained again with each "
        "seed, under the same limits, and ranks test once a seed.",
        "ComplEx and TuckER have reciprocal relations and score all entities (LCWA), ComplEx with "
        "N3; RotatE has reciprocal relations with cross-entropy, and none with its own loss "
        "(NSSA, sampled negatives).",
        "With an hour for each model, as a quiet machine allows: "
        "`OMP_NUM_THREADS=1 python -m benchmarks small-graphs --budget 60`.",
    ]


def _choices(chosen: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each model: what was chosen for it."""
    for peer, choice in chosen.items():
        setting = ", ".join(f"{name} {value}" for name, value in choice["setting"].items())
        yield (
            f"{peer}, chosen of {choice['settings tried']} settings by validation "
            f"(MRR {choice['MRR on validation']:.3f}): {setting}. The budget, not validation, "
            f"ended {choice['trainings that the budget ended']} of its "
            f"{choice['settings tried'] + choice['trainings again']} trainings."
        )


def _say(what: str) -> None:
    print(f"{what} …", file=sys.stderr)


def _summary(runs: Sequence[Row]) -> Row:
    """Return the means over runs, and for MRR the standard deviations; the order is kept."""
    found: Row = {}
    for figure in runs[0]:
        values = [one[figure] for one in runs]
        found[figure] = float(np.mean(values))
        if figure.startswith("mrr"):
            found[f"{figure}{SPREAD}"] = float(np.std(values, ddof=1)) if len(runs) > 1 else 0.0
    return found


@cache
def _dataset(name: str, *, reciprocal: bool = False) -> Dataset:
    return get_dataset(dataset=name, dataset_kwargs={"create_inverse_triples": reciprocal})


def _read(name: str, folder: Path) -> KnowledgeGraph:
    """Read a graph of PyKEEN's wheel by way of files, as a user would."""
    folder.mkdir()
    dataset = _dataset(name)
    factories = {"train": dataset.training, "valid": dataset.validation, "test": dataset.testing}
    for part, factory in factories.items():
        triples = dataset.training.label_triples(factory.mapped_triples)
        np.savetxt(folder / f"{part}.txt", triples, fmt="%s", delimiter="\t", encoding="utf-8")
    return ontodex.read(folder)


def _ours(
    graph: KnowledgeGraph, path: Path, seed: int, options: argparse.Namespace
) -> dict[str, Row]:
    """Build an index; return the figures of its answers and of its ComplEx alone."""
    steps = {"steps": 20} if options.quick else {}
    start = time.process_time()
    with ontodex.build(
        graph,
        path,
        training=ontodex.HyperCLTraining(seed=seed, **steps),
        hierarchy=False,
        entailment=False,
        quiet=True,
    ) as engine:
        seconds = time.process_time() - start
        questions, features = LinkQueries(engine.resources), engine.resources.graph_features
        full = partial(
            link_ranks,
            graph,
            engine.index.vectors(questions.space),
            questions.of_rows,
            adjust=[questions.add_offsets],
        )
        alone = partial(link_ranks, graph, features.kge_vectors(), features.kge_queries)
        return {
            "ontodex": {**both_protocols(full)[0], "seconds of processor time": seconds},
            "ontodex, ComplEx alone": both_protocols(alone)[0],
        }


def _tuned(
    graph: KnowledgeGraph, name: str, peer: str, seeds: Sequence[int], options: argparse.Namespace
) -> tuple[Row, dict[str, Any]]:
    """Search the settings of a model of PyKEEN, train with the best one, and rank test.

    Returns:
        The figures, and the choice for the record.
    """
    seconds = 60 * options.budget

    cut: list[bool] = []

    def train(setting: Setting, seed: int) -> PipelineResult:
        made = _train(name, PEERS[peer](setting), setting["batch"], seed, seconds / TRAININGS)
        assert isinstance(made.stopper, _Stopper)
        cut.append(made.stopper.cut)
        return made

    def score(setting: Setting) -> float:
        found = _best(train(setting, options.seed))
        _say(f"{name}, {peer}, {setting}: {found:.3f}")
        return found

    choice = search(score, GRIDS[peer], seconds, options.seed)
    runs = []
    for seed in seeds:
        start = time.process_time()
        trained = train(choice.setting, seed)
        took = time.process_time() - start
        answers = _Answers(trained.model, _dataset(name), graph)
        figures, _ = both_protocols(answers.ranks)
        _say(f"{name}, {peer}, seed {seed}: {figures}")
        validated = {f"mrr on validation, {CANDIDATE}": _best(trained)}
        runs.append({**figures, **validated, "seconds of processor time": took})
    return _summary(runs), {
        "setting": choice.setting,
        "MRR on validation": choice.score,
        "settings tried": choice.tried,
        "trainings again": len(runs),
        "trainings that the budget ended": sum(cut),
    }


def _complex(setting: Setting) -> dict[str, Any]:
    start = partial(normal_, std=setting["initial"])
    return {
        "model": "ComplEx",
        "model_kwargs": {
            "embedding_dim": setting["dim"],
            "entity_initializer": start,
            "relation_initializer": start,
            "regularizer": "powersum",
            "regularizer_kwargs": {"p": 3.0, "weight": setting["N3"]},
        },
        "training_loop": "lcwa",
        "loss": setting["loss"],
        "optimizer": "Adagrad",
        "optimizer_kwargs": {"lr": setting["rate"]},
    }


def _tucker(setting: Setting) -> dict[str, Any]:
    return {
        "model": "TuckER",
        "model_kwargs": {
            "embedding_dim": setting["dim"],
            "relation_dim": setting["relation dim"],
            **{f"dropout_{place}": setting["dropout"] for place in range(3)},
        },
        "training_loop": "lcwa",
        "training_kwargs": {"label_smoothing": setting["smoothing"]},
        "loss": setting["loss"],
        "optimizer": "Adam",
        "optimizer_kwargs": {"lr": setting["rate"]},
    }


def _rotate(setting: Setting) -> dict[str, Any]:
    own: dict[str, Any] = {"training_loop": "lcwa"}
    if setting["loss"] == "nssa":
        own = {
            "training_loop": "slcwa",
            "loss_kwargs": {
                "margin": setting["margin"],
                "adversarial_temperature": setting["temperature"],
            },
            "negative_sampler_kwargs": {"num_negs_per_pos": setting["negatives"]},
        }
    return {
        "model": "RotatE",
        "model_kwargs": {"embedding_dim": setting["dim"]},
        "loss": setting["loss"],
        "optimizer": "Adam",
        "optimizer_kwargs": {"lr": setting["rate"]},
        **own,
    }


PEERS: dict[str, Callable[[Setting], dict[str, Any]]] = {
    "ComplEx": _complex,
    "TuckER": _tucker,
    "RotatE": _rotate,
}
"""Models of PyKEEN, and what makes the arguments of its pipeline from a setting."""


@dataclass
class _Stopper(EarlyStopper):
    """Early stopping that also stops when the processor time is used up, at the best epoch.

    Attributes:
        seconds: Processor time of a training.
        cut: Whether the processor time was used up before validation ended the training.
    """

    seconds: float = math.inf
    cut: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._until = time.process_time() + self.seconds

    def should_evaluate(self, epoch: int) -> bool:
        """Tell whether to validate after this epoch."""
        return super().should_evaluate(epoch) or time.process_time() > self._until

    def should_stop(self, epoch: int) -> bool:
        """Validate; tell whether to stop."""
        if super().should_stop(epoch):
            return True
        if time.process_time() <= self._until:
            return False
        self.stopped = self.cut = True
        assert self.best_model_path is not None
        if self.best_model_path.exists():  # it does not if the first scores were not finite
            self.model.load_state_dict(torch.load(self.best_model_path, weights_only=True))
        return True


def _train(
    name: str, arguments: Mapping[str, Any], batch: int, seed: int, seconds: float
) -> PipelineResult:
    """Train a model of PyKEEN; test triples are not used, the best epoch on validation is kept.

    PyKEEN collects garbage after each epoch, which takes .4 s if all imported modules are looked
    through, and an epoch on these graphs takes .1 s. So what exists before training is left out.
    """
    gc.collect()  # what an earlier training left
    gc.freeze()
    arguments = dict(arguments)
    reciprocal = arguments["training_loop"] == "lcwa"
    with tempfile.TemporaryDirectory() as folder:
        return pipeline(
            dataset=_dataset(name, reciprocal=reciprocal),
            training_kwargs={
                "num_epochs": 1_000_000,
                "batch_size": batch,
                "use_tqdm": False,
                **arguments.pop("training_kwargs", {}),
            },
            stopper=_Stopper,
            stopper_kwargs={
                "seconds": seconds,
                "frequency": FREQUENCY,
                "patience": PATIENCE,
                "relative_delta": GAIN,
                "metric": "both.realistic.inverse_harmonic_mean_rank",
                "best_model_path": Path(folder) / "best.pt",
                "clean_up_checkpoint": False,
            },
            evaluator_kwargs={"filtered": True},
            evaluation_kwargs={"use_tqdm": False, "batch_size": 512},
            use_testing_data=False,
            random_seed=seed,
            device="cpu",
            **arguments,
        )


def _best(trained: PipelineResult) -> float:
    """Return the MRR on validation of the epoch that was kept; 0 if it is not a number."""
    assert isinstance(trained.stopper, EarlyStopper)
    best = float(trained.stopper.best_metric)
    return best if math.isfinite(best) else 0.0


class _Answers:
    """Ranks the test triples of a graph by the scores of a model of PyKEEN.

    Args:
        model: The model.
        dataset: Its dataset, for the numbers of entities and relations.
        graph: The same graph in ontodex, which may number them otherwise.
    """

    def __init__(self, model: Model, dataset: Dataset, graph: KnowledgeGraph) -> None:
        self._model, self._graph = model, graph
        entities, relations = dataset.training.entity_to_id, dataset.training.relation_to_id
        self._entities = torch.tensor([entities[one] for one in graph.ids])
        self._relations = torch.tensor([relations[one] for one in graph.relation_ids])

    def ranks(self, *, itself: bool) -> Ranks:
        """Return the ranks of :func:`link_ranks`; see there for ``itself``."""
        nothing = Vectors([np.zeros((self._graph.n_entities, 1), dtype=np.float32)])
        score: Adjust = self._scores
        return link_ranks(self._graph, nothing, _nothing, adjust=[score], itself=itself)

    def _scores(self, rows: Rows, relations: Rows, scores: Floats) -> Floats:
        """Add the model's scores to those of all entities; all questions have one direction."""
        asked = self._entities[torch.from_numpy(rows.astype(np.int64))]
        count = self._graph.n_relations
        by = self._relations[torch.from_numpy(relations.astype(np.int64) % count)]
        if relations[0] < count:
            found = self._model.predict_t(torch.stack([asked, by], dim=1))
        else:
            found = self._model.predict_h(torch.stack([by, asked], dim=1))
        return scores + found.detach()[:, self._entities].numpy()


def _nothing(entities: Rows, relations: Rows) -> Floats:
    """Return queries, of shape (queries, 1), by which all entities score 0."""
    return np.zeros((len(entities), 1), dtype=np.float32)
