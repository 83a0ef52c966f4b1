"""Hierarchies: held-out subsumptions, ancestors by distance, transfer, and baselines."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import ontodex
from benchmarks.hierarchies import LOADERS, ROOTED
from benchmarks.record import Goal, Measured, expect_data
from ontodex.encoders.hit import DEFAULT_HIT, HiT
from ontodex.encoders.locate import DEFAULT_ENCODER
from ontodex.encoders.text import TextEncoder
from ontodex.errors import settings_from
from ontodex.evaluation import evaluate_hierarchy
from ontodex.geometry.subsumption import LARGEST_WEIGHT
from ontodex.graph import LABEL_ALONE, Hierarchy, KnowledgeGraph, entity_texts
from ontodex.graph.negatives import KINDS
from ontodex.trainers.data.subsumptions import TASKS, HierarchyTask, with_root
from ontodex.trainers.data.task_files import hierarchy_task
from ontodex.trainers.hierarchies.baselines import BASELINES, evaluate_baselines
from ontodex.trainers.hierarchies.hit import train_hit
from ontodex.trainers.hierarchies.pair_classifier import PairClassifierTraining
from ontodex.trainers.hierarchies.static_poincare import StaticPoincareTraining

__all__ = ["add_options", "run"]

USUAL = {"wordnet": "multi-hop", "schema-org": "transfer"}
"""Tasks by graph, where it is not mixed-hop."""

GROUPS = {
    "two_weights": "HiT, two weights",
    "norm": "parent's norm alone",
    "prior": "entities below the parent",
}
"""Groups of figures by the prefix of their names; other figures are HiT's by the paper's rule, or a
baseline's."""

GOALS = {
    "multi-hop": {"random.f1": 0.93, "hard.f1": 0.92},
    "mixed-hop": {"random.f1": 0.91, "hard.f1": 0.88},
}
"""For WordNet with all-MiniLM-L6-v2."""

PAPER = {
    ("wordnet", "multi-hop"): "Published prior .091. HiT with L6 .871 / .907, with mpnet .916 / "
    ".899; probe (L6) .235 / .209, fine-tuned (L6) .625 / .670, static Poincaré embeddings .864 / "
    ".830.",
    ("wordnet", "mixed-hop"): "HiT with L6 .856 / .862, with mpnet .900 / .863; probe "
    "(L6) .235 / .208, fine-tuned (L6) .650 / .660.",
    ("doid-2026", "mixed-hop"): "an older release, trained on WordNet with L12: HiT .704 / "
    ".566, fine-tuned .603 / .297, probe .389 / .235.",
    ("schema-org", "transfer"): "an older release, trained on WordNet with L12: HiT .553 / "
    ".480, fine-tuned .411 / .351, probe .391 / .330.",
}  # fmt: skip
PAPER["doid-2016", "mixed-hop"] = PAPER["doid-2026", "mixed-hop"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be set."""
    parser.add_argument(
        "--graph", choices=list(LOADERS), default="wordnet", help="default %(default)s"
    )
    parser.add_argument(
        "--task",
        choices=TASKS,
        help="default multi-hop for wordnet, transfer for schema-org, otherwise mixed-hop",
    )
    parser.add_argument(
        "--model", type=Path, action="append", default=[],
        help="a trained HiT encoder (default: the shipped one); several encoders of different "
        "seeds give their mean and spread",
    )  # fmt: skip
    parser.add_argument(
        "--seeds",
        type=int,
        nargs="+",
        help="seed of the split that each --model was trained on; default --seed for all",
    )
    parser.add_argument(
        "--train",
        type=Path,
        help="train a model for each seed into this folder, unless it is there, and measure these",
    )
    parser.add_argument(
        "--training",
        nargs="+",
        default=[],
        metavar="NAME=VALUE",
        help="settings of --train, as of ontodex.HiTTraining",
    )
    parser.add_argument(
        "--budget", default="", help="what the models were trained with, for the record"
    )
    parser.add_argument(
        "--variant", default="", help="what sets this training apart, for the name of the record"
    )
    parser.add_argument(
        "--trained-on",
        default="",
        help="the graph that they were trained on, where it is another one",
    )
    parser.add_argument(
        "--base", default=DEFAULT_ENCODER, help="pretrained encoder of models and baselines"
    )
    parser.add_argument(
        "--baselines",
        nargs="*",
        choices=BASELINES,
        default=[],
        help="measured on the first seed's split",
    )
    parser.add_argument(
        "--baseline-pairs",
        type=int,
        help="most positives in validation and in test of the baselines",
    )
    parser.add_argument(
        "--classifier-steps",
        type=int,
        default=1000,
        help="batches of 64 pairs (default %(default)s)",
    )
    parser.add_argument(
        "--static-epochs", type=int, default=200, help="epochs (default %(default)s)"
    )
    parser.add_argument(
        "--queries", type=int, default=2000, help="members whose ancestors are ranked, default 2000"
    )
    parser.add_argument(
        "--pairs", type=Path, help="folder to keep the pairs in, or to read them from"
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Measure, and return what came out."""
    expect_data(options, "hierarchy")
    if options.quick:
        options.queries, options.baseline_pairs, options.classifier_steps, options.static_epochs = (
            50,
            20,
            2,
            1,
        )
    if options.train and options.model:
        sys.exit("python -m benchmarks hierarchy: expected --train or --model, found both")
    models: list[str | Path] = list(options.model) or [DEFAULT_HIT]
    seeds = options.seeds or [options.seed] * len(models)
    if options.train:
        models = [options.train / str(seed) for seed in seeds]
    if len(seeds) != len(models):
        sys.exit(
            f"python -m benchmarks hierarchy: expected a seed for each of {len(models)} models, "
            f"found {len(seeds)}"
        )
    graph = LOADERS[options.graph](options.data)
    graph = dataclasses.replace(
        with_root(graph) if options.graph in ROOTED else graph, source=options.graph
    )
    return [
        _measured(
            options, graph, options.task or USUAL.get(options.graph, "mixed-hop"), models, seeds
        )
    ]


def _train(
    options: argparse.Namespace, graph: KnowledgeGraph, task: HierarchyTask, folder: Path, seed: int
) -> float | None:
    """Train a model, unless it is there, and return how many seconds that took."""
    if HiT.is_at(folder):
        return None
    given = dict(setting.split("=", 1) for setting in options.training)
    kinds = {part.name: type(part.default) for part in dataclasses.fields(ontodex.HiTTraining)}
    values = {name: kinds.get(name, str)(value) for name, value in given.items()}
    start = time.perf_counter()
    train_hit(
        task,
        entity_texts(graph, LABEL_ALONE),
        folder,
        encoder=TextEncoder.load(options.base),
        base=options.base,
        settings=settings_from(ontodex.HiTTraining, {"seed": seed, **values}, "--training"),
        texts=dataclasses.asdict(LABEL_ALONE),
        seen=[options.graph],
    )
    return time.perf_counter() - start


def _measured(
    options: argparse.Namespace,
    graph: KnowledgeGraph,
    name: str,
    models: list[str | Path],
    seeds: list[int],
) -> Measured:
    tasks = {
        seed: hierarchy_task(
            graph, name, seed=seed, pairs=options.pairs and options.pairs / str(seed)
        )
        for seed in dict.fromkeys(seeds)
    }
    taken: list[float | None] = []
    if options.train:
        taken = [
            _train(options, graph, tasks[seed], Path(model), seed)
            for model, seed in zip(models, seeds, strict=True)
        ]
    each = []
    for model, seed in zip(models, seeds, strict=True):
        print(f"{graph!r}: {name}, split {seed}, {model} …", file=sys.stderr)
        each.append(
            evaluate_hierarchy(model, graph, task=tasks[seed], seed=seed, queries=options.queries)
        )
    figures: dict[str, dict[str, float]] = {"HiT": {}}
    for key in each[0]:
        prefix, _, rest = key.partition(".")
        group, name_in_group = (GROUPS[prefix], rest) if prefix in GROUPS else ("HiT", key)
        figures.setdefault(group, {})[name_in_group] = float(np.mean([one[key] for one in each]))
    if len(each) > 1:
        figures[f"HiT, largest - smallest of {len(each)}"] = {
            key: float(np.ptp([one[key] for one in each]))
            for key in each[0]
            if key.endswith(("f1", "precision", "recall"))
        }  # fmt: skip
    trained = [seconds for seconds in taken if seconds is not None]
    if trained:
        figures["HiT"]["seconds of training"] = float(np.mean(trained))
    if options.baselines:
        found = evaluate_baselines(
            tasks[seeds[0]],
            graph,
            options.baselines,
            base=options.base,
            limit=options.baseline_pairs,
            seed=seeds[0],
            classifier=PairClassifierTraining(steps=options.classifier_steps, seed=seeds[0]),
            static=StaticPoincareTraining(epochs=options.static_epochs, seed=seeds[0]),
        )
        for key, value in found.items():
            figures.setdefault(key.partition(".")[0], {})[key.partition(".")[2]] = value
    base = Path(options.base).name
    known = (
        options.graph == "wordnet" and base == Path(DEFAULT_ENCODER).name and not options.trained_on
    )
    parts = ["hierarchy", options.graph, name, options.trained_on and f"from-{options.trained_on}"]
    boxed = "" if options.model or options.train or options.trained_on else "the encoder in the box"
    parts += [
        "" if base == Path(DEFAULT_ENCODER).name else base,
        boxed and "box",
        options.variant.replace(" ", "-"),
    ]
    return Measured(
        name="-".join(filter(None, parts)),
        title=f"Hierarchy of {options.graph}, {name}"
        + (f", trained on {options.trained_on}" if options.trained_on else "")
        + ("" if base == Path(DEFAULT_ENCODER).name else f", {base}")
        + (boxed and f", {boxed}")
        + (options.variant and f", {options.variant}"),
        seed=seeds[0],
        settings={
            "graph": repr(graph),
            "hierarchy": repr(tasks[seeds[0]].known),
            "base": base,
            "models": len(models),
            "seeds": seeds,
            "budget": options.budget,
            "positives in validation, test": [
                len(tasks[seeds[0]].valid),
                len(tasks[seeds[0]].test),
            ],
            "queries": options.queries,
            "baseline pairs": options.baseline_pairs,
        },
        figures=figures,
        goals={
            f"HiT · {key}": Goal(at_least=GOALS[name][key.removeprefix("neighbours.")])
            for key in figures["HiT"]
            if known and key.removeprefix("neighbours.") in GOALS.get(name, {})
        },
        seen={Path(model).name: HiT.seen_by(Path(model)) for model in models},
        notes=[
            *_notes(options, name, base, len(models), tasks[seeds[0]]),
            *_limit_notes(each),
        ],
    )


_PRIOR = (
    "how many entities are below the parent by the training links",
    "the number of other positive pairs of validation that have this parent, as there are no "
    "training links",
)


def _limit_notes(each: Sequence[Mapping[str, float]]) -> list[str]:
    """Return a note that names every fitted weight at the limit of its search, of any model."""
    found = []
    for rule in ("", "two_weights."):
        for kind in KINDS:
            weights = [
                (one[f"{rule}{kind}.weight"], one.get(f"{rule}{kind}.tilt", 0.0)) for one in each
            ]
            fitted = [max(weight, weight + tilt) for weight, tilt in weights]
            if max(fitted) >= 0.999 * LARGEST_WEIGHT:
                words = "two weights" if rule else "the paper's rule"
                found.append(f"{words}, {kind} negatives")
    if not found:
        return []
    return [
        f"A fitted weight is at the limit of its search, {LARGEST_WEIGHT:g}, by "
        f"{'; '.join(found)}: there the norms "
        "decide, and the distance hardly counts."
    ]


def _following(task: HierarchyTask) -> float:
    """Return the share of the test positives that follow from the training links."""
    train = Hierarchy(*task.train.T, ids=task.known.ids)
    return float(train.is_ancestor(*task.test.positives.T).mean())


def _notes(
    options: argparse.Namespace, name: str, base: str, count: int, task: HierarchyTask
) -> list[str]:
    notes = [
        f"{base}; trained {f'on {options.trained_on} ' if options.trained_on else ''}with: "
        f"{' '.join(options.training) or options.budget or 'not said'}. "
        f"{'Mean of ' + str(count) + ' models of different seeds.' if count > 1 else 'One model.'}",
        "Each positive has ten random negatives, or ten hard ones (siblings first). Weights and "
        "thresholds are searched exactly on validation, for each kind of negatives. HiT: the "
        "paper's rule, -(distance + λ (norm of the parent - norm of the child)), with one λ. HiT, "
        "two weights: the rule that ontodex stores, with a weight for each norm.",
        "parent's norm alone: the score is minus that norm; it does not read the child. entities "
        "below the parent: the "
        f"score is {_PRIOR[not len(task.train)]}; it reads no text.",
        f"hop…: all members are ranked as ancestors of {options.queries:,} members drawn by seed, "
        "by the score with the weight that was fitted on random negatives, of either rule; "
        "distance_only: by the distance alone. The figure is the share of the true ancestors so "
        "many links up that are among the first 10 and 100. Ancestors by training links count too; "
        "all compete for the same places.",
    ]
    if name == "mixed-hop":
        notes.append(
            "neighbours: a logistic regression, fitted on validation, over HiT's distance, both "
            f"norms and the training links of entities of similar text ({base}); an entity's own "
            f"links do not count. {100 * _following(task):.0f} % of the test positives follow from "
            "the training links."
        )
    if "classifier" in options.baselines:
        notes.append(
            f"classifier: {options.classifier_steps:,} batches of 64 pairs, half of the negatives "
            "random, half hard (the paper: three epochs of each kind); its threshold is chosen on "
            "validation (the paper: 0)."
        )
    if "static" in options.baselines:
        notes.append(f"static: {options.static_epochs} epochs of 200 dimensions, as the paper.")
    if options.baselines and options.baseline_pairs:
        notes.append(
            f"Baselines: {options.baseline_pairs:,} positives, drawn by seed, in validation and in "
            "test."
        )
    if (options.graph, name) in PAPER:
        notes.append(f"F1, random / hard negatives, in the paper: {PAPER[options.graph, name]}")
    return notes
