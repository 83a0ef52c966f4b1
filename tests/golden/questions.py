"""Indexes of three small graphs, and their answers to every kind of question."""

from __future__ import annotations

import csv
import io
import itertools
import json
import random
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import ontodex
from ontodex.evaluation import SCORES
from tests.golden.graphs import write_benchmark, write_phenotypes, write_table
from tests.golden.reading import digest, without_paths

__all__ = ["GRAPHS", "answers_of"]

ROOT = Path(__file__).parents[2]
QUICK = ontodex.HyperCLTraining(steps=30, queries=128, negatives=128)
LINKS = ontodex.ComplExTraining(rank=32, steps=60)
SPACES = ("text", "link", "hybrid", "hierarchy", "entailment", "span")
"""Arguments of ``Engine.embeddings``."""

VOLATILE = {"took_ms", "path", "created", "bytes", "seconds"}
"""Keys of results that differ from run to run."""

FINGERPRINT = re.compile(r"[0-9a-f]{32}")
"""Fingerprint of an encoder, which changes with the last bit of a weight."""


@dataclass(frozen=True)
class About:
    """The questions to the index of a graph.

    Attributes:
        texts: Entities by id, label and synonym, and free text, also misspelt.
        links: Head, relation and tail of questions about links, some of them free text.
        conditions: Relations, inverse relations and free text.
    """

    texts: tuple[str, ...]
    links: tuple[tuple[str, str, str], ...]
    conditions: tuple[str, ...]


PHENOTYPES = About(
    texts=(
        "HP:0002360",
        "http://purl.obolibrary.org/obo/HP_0000365",
        "Insomnia",
        "Difficulty staying or falling asleep",
        "Deafness",
        "hearing impairment",
        "Sleep apnoea",
        "cannot sleep at night because of noise",
        "hereing los",
        "Autosomal dominant inheritance",
        "OMIM:176270",
        "SF3B4",
    ),
    links=(
        ("OMIM:176270", "has phenotype", "HP:0002360"),
        ("ORPHA:247585", "has phenotype", "Insomnia"),
        ("OMIM:154400", "has inheritance", "Autosomal dominant inheritance"),
        ("SF3B4", "associated with disease", "OMIM:154400"),
        ("a disease of sleep", "has phenotype", "Hearing impairment"),
        ("OMIM:176270", "is treated by", "Sleep apnea"),
        ("Insomnia", "inverse has phenotype", "OMIM:176270"),
        ("HP:0100785", "is_a", "HP:0002360"),
    ),
    conditions=(
        "has phenotype",
        "inverse has phenotype",
        "is a",
        "which part of the body it is about",
    ),
)
PEOPLE = About(
    texts=(
        "p0",
        "p1",
        "t3",
        "town of Solilhom",
        "Solwilkes republic",
        "nurse",
        "nobody that is known",
        "p12",
    ),
    links=(
        ("p0", "born in", "t3"),
        ("p1", "citizen_of", "l2"),
        ("p2", "spouse of", "p3"),
        ("nurse", "inverse works as", "p5"),
        ("a nurse in the town of Solilhom", "lives in", "t0"),
        ("p7", "is a friend of", "p9"),
    ),
    conditions=("works as", "inverse lives in", "the country"),
)
INSTRUMENTS = About(
    texts=(
        "MI:0012",
        "violin",
        "violins",
        "common flute",
        "MUSICAL INSTRUMENT",
        "something to blow into",
        "vioiln",
    ),
    links=(
        ("violin", "made of", "wood"),
        ("a flute of bamboo", "made of", "bamboo"),
        ("drum", "is a", "percussion instrument"),
        ("trumpet", "is sold by", "brass metal"),
    ),
    conditions=("made of", "inverse made of", "how it sounds"),
)


# Plain data ---------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return a result as plain data, numbers rounded to nine decimal places."""
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, ontodex.Embeddings):
        names = ("geometry", "curvature", "vectors")
        lines = map("\t".join, zip(value.ids, value.texts, strict=True))
        return {**{name: plain(getattr(value, name)) for name in names}, "rows": digest(lines)}
    if isinstance(value, np.ndarray):
        return checksum(value)
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items() if key not in VOLATILE}
    if isinstance(value, str) and FINGERPRINT.fullmatch(value):
        return "fingerprint"
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float | np.floating):
        return round(float(value), 9)
    return value


def checksum(vectors: np.ndarray) -> dict[str, Any]:
    """Return the shape of an array, its first numbers, and eight random projections of all of it.

    A hash of rounded numbers would change with a number on the edge of two roundings; a projection
    by weights of standard deviation 1/√n changes by as much as the numbers do.
    """
    draw = np.random.default_rng(0)
    flat = np.asarray(vectors, dtype=np.float64).ravel()
    sums = [
        float(flat @ draw.standard_normal(flat.size)) / max(1, flat.size) ** 0.5 for _ in range(8)
    ]
    return {
        "shape": list(vectors.shape),
        "first": plain(flat[:6].tolist()),
        "projections": plain(sums),
    }


class Answers(dict[str, Any]):
    """Results by the call that returned them."""

    def note(self, call: str, make: Callable[[], Any]) -> None:
        """Store a result, or the error that was raised."""
        try:
            self[call] = plain(make())
        except Exception as error:
            self[call] = {"error": type(error).__name__, "message": str(error)}

    def ask(self, engine: ontodex.Engine, method: str, *args: Any, **settings: Any) -> None:
        """Store the result of a method of an engine."""
        given = [*map(repr, args), *(f"{name}={value!r}" for name, value in settings.items())]
        self.note(
            f"{method}({', '.join(given)})", lambda: getattr(engine, method)(*args, **settings)
        )


# Questions ----------------------------------------------------------------------------------------


def ask_everything(engine: ontodex.Engine, about: About) -> Answers:
    """Ask an engine every kind of question."""
    answers = Answers()
    ask_about_texts(answers, engine, about)
    ask_about_links(answers, engine, about)
    ask_for_vectors(answers, engine, about)
    ask_wrongly(answers, engine, about)
    return answers


def ask_about_texts(answers: Answers, engine: ontodex.Engine, about: About) -> None:
    """Ask for search, similarity, hierarchy and entailment."""
    texts = [*about.texts]
    for method in ("search", "similar", "parents", "children", "place", "entailed_by", "entailing"):
        for text in texts:
            answers.ask(engine, method, text)
        answers.ask(engine, f"{method}_batch", texts, 3)
    answers.ask(engine, "search_batch", texts, 4, spans=True)
    for condition in about.conditions:
        answers.ask(engine, "similar_batch", texts, 5, condition=condition)
    answers.ask(engine, "similar", texts[0], condition=about.conditions[0])
    several = [about.conditions[number % len(about.conditions)] for number in range(len(texts))]
    answers.ask(engine, "similar_batch", texts, 3, condition=several)
    for method in ("parents", "children", "entailed_by", "entailing"):
        for known in ("exclude", "only"):
            answers.ask(engine, f"{method}_batch", texts, 5, known)
    answers.ask(engine, "audit")
    answers.ask(engine, "audit", 5)
    pairs = [*itertools.pairwise(texts), (texts[0], texts[0])]
    answers.ask(engine, "entails", *pairs[0])
    answers.ask(engine, "direction", *pairs[1])
    answers.ask(engine, "entails_batch", pairs)
    answers.ask(engine, "direction_batch", pairs)


def ask_about_links(answers: Answers, engine: ontodex.Engine, about: About) -> None:
    """Ask for tails, heads, relations, missing links and explanations."""
    for head, relation, tail in about.links:
        answers.ask(engine, "tails", head, relation)
        answers.ask(engine, "heads", relation, tail)
        answers.ask(engine, "relations", head, tail)
        answers.ask(engine, "why", head, relation, tail)
        hits = answers.get(f"tails({head!r}, {relation!r})", {}).get("hits")
        if hits:
            answers.ask(engine, "why", head, relation, hits[0]["id"], 5)
    tails, heads = [link[:2] for link in about.links], [link[1:] for link in about.links]
    for known in ("exclude", "include", "only"):
        answers.ask(engine, "tails_batch", tails, 5, known)
        answers.ask(engine, "heads_batch", heads, 5, known)
        answers.ask(
            engine, "relations_batch", [(head, tail) for head, _, tail in about.links], 5, known
        )
    answers.ask(engine, "missing", quiet=True)
    answers.ask(engine, "missing", k=40, linked=False, quiet=True)
    for relation in {relation: None for _, relation, _ in about.links}:
        answers.ask(engine, "missing", relation, 10, quiet=True)
    head, relation, tail = about.links[0]
    forms: dict[str, Callable[[], Any]] = {
        "tails": lambda: engine.tails(head, relation, 5),
        "heads": lambda: engine.heads(relation, tail, 5),
        "relations": lambda: engine.relations(head, tail, 5),
        "parents": lambda: engine.parents(about.texts[0], 5, "exclude"),
        "missing": lambda: engine.missing(k=5, quiet=True),
        "audit": lambda: engine.audit(3),
        "place": lambda: engine.place(about.texts[-1]),
        "why": lambda: engine.why(head, relation, tail),
        "search": lambda: engine.search(about.texts[0], 3),
    }
    for name, make in forms.items():
        for form in ("to_tsv", "to_rdf", "to_sssom", "triples", "to_pandas"):
            answers.note(f"{name}: {form}", lambda make=make, form=form: in_form(make(), form))


def in_form(found: Any, form: str) -> Any:
    """Return a result in another form, as lines or rows; ``None`` if it does not have that form."""
    made = getattr(found, form, None)
    if made is None or form == "triples":
        return made
    made = made()
    if form == "to_pandas":
        return {
            "columns": list(made.columns),
            "types": [str(kind) for kind in made.dtypes],
            "rows": len(made),
        }
    return [line for line in made.splitlines() if "mapping_set_id" not in line]


def ask_for_vectors(answers: Answers, engine: ontodex.Engine, about: About) -> None:
    """Ask for vectors of entities and of queries."""
    pairs = [link[:2] for link in about.links]
    for space in SPACES:
        asked = pairs if space in ("link", "hybrid") else about.texts
        answers.note(f"embeddings: {space}", lambda space=space: engine.embeddings(space))
        answers.note(f"embed: {space}", lambda space=space, asked=asked: engine.embed(asked, space))


def ask_wrongly(answers: Answers, engine: ontodex.Engine, about: About) -> None:
    """Ask with arguments that raise errors."""
    text, (head, relation, tail) = about.texts[0], about.links[0]
    answers.ask(engine, "search", "")
    answers.ask(engine, "search", text, 0)
    answers.ask(engine, "similar", "HP:9999999")
    answers.ask(engine, "similar", "https://example.org/nothing")
    answers.ask(engine, "similar", text, condition="")
    answers.ask(engine, "parents", text, known="maybe")
    answers.ask(engine, "tails", "HP:9999999", relation)
    answers.ask(engine, "tails", head, "RO:9999999")
    answers.ask(engine, "tails", head, "")
    answers.ask(engine, "tails_batch", [head])
    answers.ask(engine, "heads", relation, tail, -1)
    answers.ask(engine, "why", head, relation, "no entity of the graph")
    answers.ask(engine, "missing", "no relation of the graph")
    answers.ask(engine, "embed", [""])
    answers.ask(engine, "embeddings", "no space")


def graph_facts(engine: ontodex.Engine) -> Answers:
    """Return sizes, fingerprint and hierarchy of the graph of an index."""
    facts, graph = Answers(), engine.graph
    facts["sizes"] = [graph.n_entities, graph.n_relations, graph.n_triples]
    facts["fingerprint"] = graph.fingerprint
    facts["hierarchy"] = None if engine.hierarchy is None else len(engine.hierarchy.links)
    return facts


# Indexes ------------------------------------------------------------------------------------------


def phenotypes(folder: Path) -> dict[str, Any]:
    """Query the default build of an ontology, also after add and remove, and from the shell."""
    found, path = dict[str, Any](), folder / "hp.odx"
    graph = ontodex.read(*write_phenotypes(folder))
    with ontodex.build(
        graph, path, training=QUICK, structure=LINKS, device="cpu", quiet=True
    ) as engine:
        found["graph"] = graph_facts(engine)
        found["built"] = ask_everything(engine, PHENOTYPES)
    found["shell"] = from_shell(folder, path)
    reviewed = folder / "reviewed.tsv"
    reviewed.write_text("head\trelation\ttail\nOMIM:176270\thas phenotype\tHP:0000365\n")
    with ontodex.open(path, device="cpu", known=reviewed, exact=True) as engine:
        found["also known"] = few(engine, PHENOTYPES)
    more = folder / "more.obo"
    more.write_text(MORE_TERMS)
    with ontodex.add(more, path, device="cpu", quiet=True) as engine:
        found["added"] = {"graph": graph_facts(engine), **few(engine, PHENOTYPES, ADDED)}
    with ontodex.remove(
        ["HP:0100785", "Deafness of mice"], path, device="cpu", quiet=True
    ) as engine:
        found["removed"] = {"graph": graph_facts(engine), **few(engine, PHENOTYPES, ADDED)}
    wrong = folder / "wrong.tsv"
    wrong.write_text("head\trelation\ttail\nHP:7000001\tis_a\tHP:0002360\n")
    with ontodex.remove_links(wrong, path, device="cpu", quiet=True) as engine:
        found["links removed"] = {"graph": graph_facts(engine), **few(engine, PHENOTYPES, ADDED)}
    return found


MORE_TERMS = """format-version: 1.2

[Term]
id: HP:7000001
name: Sleeping badly because of pain
def: "Sleep that is disturbed by pain at night." []
synonym: "Nocturnal pain insomnia" EXACT []
is_a: HP:0002360

[Term]
id: HP:7000002
name: Deafness of mice
def: "Mice that do not hear." []
is_a: HP:0000365

[Term]
id: HP:0000365
name: Dulled hearing
def: "Hearing less than others do." []
"""
ADDED = (
    "HP:7000001",
    "Nocturnal pain insomnia",
    "Dulled hearing",
    "HP:7000002",
    "Deafness of mice",
)


def few(engine: ontodex.Engine, about: About, texts: Sequence[str] = ()) -> Answers:
    """Ask fewer questions, of most kinds."""
    answers, asked = Answers(), [*texts, *about.texts[:4]]
    for method in ("search", "similar", "parents", "children", "place", "entailed_by", "entailing"):
        for text in asked:
            answers.ask(engine, method, text, 5)
    for head, relation, tail in about.links[:5]:
        answers.ask(engine, "tails", head, relation, 6, "include")
        answers.ask(engine, "heads", relation, tail, 6)
        answers.ask(engine, "relations", head, tail)
        answers.ask(engine, "why", head, relation, tail)
    answers.ask(engine, "similar", asked[0], condition=about.conditions[0])
    answers.ask(engine, "missing", quiet=True)
    answers.ask(engine, "audit")
    answers.note("embeddings: text", lambda: engine.embeddings("text"))
    return answers


def people(folder: Path) -> dict[str, Any]:
    """Query and evaluate an index of a link prediction benchmark with a condition encoder."""
    source, conditions, path = write_benchmark(folder), folder / "conditions", folder / "people.odx"
    quick = ontodex.ConditionTraining(rank=16, condition=16, epochs=1, pairs=64)
    ontodex.train_condition(source, conditions, training=quick, device="cpu", quiet=True)
    found = dict[str, Any]()
    settings: dict[str, Any] = {
        "training": QUICK,
        "structure": LINKS,
        "device": "cpu",
        "quiet": True,
    }
    with ontodex.build(source, path, encoders=conditions, **settings) as engine:
        found["graph"] = graph_facts(engine)
        found["built"] = ask_everything(engine, PEOPLE)
    for score in SCORES:
        found[f"evaluate_kgc {score}"] = plain(
            ontodex.evaluate_kgc(path, source, score=score, device="cpu")
        )
    pairs = ontodex.conditional_pairs(source)
    found["conditional_pairs"] = {"rows": len(pairs.train), "seen": plain(list(pairs.seen))}
    return found


def instruments(folder: Path) -> dict[str, Any]:
    """Query indexes of a table: with spans, without training, and of each architecture."""
    source, trees = write_table(folder), folder / "trees"
    small = ontodex.SelfStrAETraining.of_dimension(64, 32, epochs=4, batch=64, evaluations=1)
    ontodex.train_self_strae(sentences(source), trees, training=small, device="cpu", quiet=True)
    common: dict[str, Any] = {"device": "cpu", "quiet": True}
    builds: dict[str, dict[str, Any]] = {
        "trees": {"encoders": trees, "spans": True, "training": QUICK},
        "not trained": {"train": False, "texts": ontodex.TextSettings(neighbours=3)},
    }
    for name in ("hadamard", "concat"):
        training = ontodex.HyperCLTraining(steps=10, queries=64, negatives=64, architecture=name)
        builds[name] = {"training": training, "hierarchy": False, "entailment": False}
    tuned: dict[str, Any] = {
        "tune": "full",
        "steps": 3,
        "start": 3,
        "queries": 16,
        "entities": 16,
        "negatives": 16,
    }
    for name, settings in (
        ("hyper tuned", {}),
        ("bi-encoder", {"architecture": "bi-encoder", "towers": 1}),
    ):
        training = ontodex.HyperCLTraining(**tuned, **settings)
        ontodex.train_hyper_cl(source, folder / name, training=training, **common)
        builds[name] = {"encoders": folder / name, "hierarchy": False, "entailment": False}
    found = dict[str, Any]()
    for name, settings in builds.items():
        with ontodex.build(source, folder / f"{name}.odx", **settings, **common) as engine:
            ask = ask_everything if name in ("trees", "not trained") else few
            found[name] = {"graph": graph_facts(engine), **ask(engine, INSTRUMENTS)}
    refused = Answers()
    refused.note(
        "spans without trees",
        lambda: ontodex.build(source, folder / "no.odx", spans=True, **common),
    )
    refused.note("no index", lambda: ontodex.open(folder / "nothing.odx"))
    refused.note(
        "no source", lambda: ontodex.build(folder / "nothing.obo", folder / "no.odx", **common)
    )
    found["refused"] = refused
    return found


def sentences(table: Path) -> list[str]:
    """Return sentences to train Self-StrAE on: definitions, and permutations of their words."""
    draw = random.Random(5)
    with table.open(encoding="utf-8", newline="") as file:
        texts = [row["definition"] for row in csv.DictReader(file)]
    words = [text.removesuffix(".").split() for text in texts for _ in range(6)]
    return texts + [" ".join(draw.sample(one, len(one))) for one in words]


# Shell --------------------------------------------------------------------------------------------


def from_shell(folder: Path, index: Path) -> dict[str, Any]:
    """Run commands on an index; return exit status, stdout and stderr of each."""
    questions = folder / "questions.tsv"
    questions.write_text("has phenotype\tInsomnia\nhas phenotype\tHP:9999999\n\nnot a pair\n")
    commands = (
        ("info",),
        ("search", "cannot sleep", "-k", "5", "--json"),
        ("tails", "OMIM:176270", "has phenotype", "-k", "5", "--json", "--known", "include"),
        ("tails", "OMIM:176270", "has phenotype", "-k", "5", "--rdf"),
        ("heads", "--queries", str(questions), "-k", "3"),
        ("parents", "Insomnia", "-k", "5", "--json"),
        ("audit", "-k", "3", "--sssom"),
        ("tails", "HP:9999999", "has phenotype"),
        ("verify",),
        ("export", "-o", str(folder / "export.nq")),
    )
    found = dict[str, Any]()
    for command, *arguments in commands:
        done = subprocess.run(
            [sys.executable, "-m", "ontodex", command, str(index), *arguments],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=False,
        )
        called = without_paths(" ".join([command, *arguments]), str(folder))
        stdout, stderr = (without_paths(text, str(folder)) for text in (done.stdout, done.stderr))
        found[called] = {"status": done.returncode, "stdout": [*parsed(stdout)], "stderr": stderr}
    found["export.nq"] = sorted((folder / "export.nq").read_text("utf-8").splitlines())[::20]
    return found


def parsed(text: str) -> Iterator[Any]:
    """Yield the JSON documents of an output, or its lines, without durations."""
    try:
        yield plain(json.loads(text))
        return
    except ValueError:
        pass
    for line in io.StringIO(text):
        if line.startswith("{"):
            yield plain(json.loads(line))
        elif "mapping_set_id" not in line:
            yield re.sub(r"[\d.]+ m?s\b", "", line.rstrip("\n"))


GRAPHS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "phenotypes": phenotypes,
    "people": people,
    "instruments": instruments,
}


def answers_of(graph: str, folder: Path) -> dict[str, Any]:
    """Build the indexes of one of :data:`GRAPHS` in a folder, and query them, with one thread."""
    torch.set_num_threads(1)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", UserWarning)
        found = GRAPHS[graph](folder)
    messages = [{"category": one.category.__name__, "message": str(one.message)} for one in given]
    return json.loads(without_paths(json.dumps({**found, "warnings": messages}), str(folder)))
