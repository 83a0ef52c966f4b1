"""Everyday questions: the graphs that are asked, and the questions with their right answers.

Six graphs are made from the data of packages on PyPI (``pip install 'ontodex[bench]'``). The
questions are in ``everyday_questions.tsv``. They were written by hand before any system was asked.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ontodex.demo_data import write_hpo, write_schema_org
from ontodex.graph import GraphBuilder, KnowledgeGraph, write_tsv

__all__ = [
    "GRAPHS",
    "HALVES",
    "KINDS",
    "QUESTIONS",
    "Question",
    "accepted",
    "asked_relation",
    "questions",
    "sources",
]

QUESTIONS = Path(__file__).with_name("everyday_questions.tsv")
"""The questions, a table with the columns graph, kind, half, question, gold and note."""

GRAPHS = ("schema-org", "hpo", "brick", "edam", "countries", "biomappings")
"""Names of the graphs."""

KINDS = ("lay", "british", "misspelt", "described", "foreign", "place", "none", "kind")
"""Kinds of questions; see :class:`Question`."""

HALVES = ("development", "test")
"""Halves of the questions: one to choose by, one to measure once at the end."""

BRICK = "1.4"
"""Version of the Brick ontology among those in the package brickschema."""

LANGUAGE_TYPES = {
    "C": "Constructed language",
    "E": "Extinct language",
    "H": "Historical language",
    "L": "Living language",
    "S": "Special language code",
}
"""Types of languages in ISO 639-3, with the label of the class of each."""

ANY, BELOW, LINKED = "*", "below:", "="
"""Marks of gold that stands for several entities; see :class:`Question`."""


@dataclass(frozen=True)
class Question:
    """A question with its right answers.

    Attributes:
        graph: Name of the graph, one of :data:`GRAPHS`.
        kind: What is asked. ``lay``, ``british``, ``misspelt``, ``described`` and ``foreign``:
            which entity the text means. ``place``: the direct parents of a new term. ``none``:
            a text that no entity means. ``kind``: the tails or heads of a new entity.
        half: ``development`` or ``test``.
        text: The question. For ``kind``, ``TEXT -> RELATION -> ?`` asks for tails and
            ``? -> RELATION -> TEXT`` for heads; see :func:`asked_relation`.
        gold: Ids of all right answers; none for ``none``. For ``kind``, what every answer must
            match: ``OMIM:*`` is any id of that prefix, ``below:ID`` the entity or one of its
            descendants, ``RELATION=ID`` any entity with that link.
        note: Why the answers are right, or what is hard about the question.
    """

    graph: str
    kind: str
    half: str
    text: str
    gold: tuple[str, ...]
    note: str


def questions(half: str | None = None) -> list[Question]:
    """Return the questions of one half, or all.

    Args:
        half: ``development`` or ``test``; None for both.
    """
    with QUESTIONS.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        found = [
            Question(
                row["graph"],
                row["kind"],
                row["half"],
                row["question"],
                tuple(filter(None, row["gold"].split("|"))),
                row["note"],
            )
            for row in rows
        ]
    return [question for question in found if half in (None, question.half)]


def asked_relation(question: Question) -> tuple[str, str, bool]:
    """Return the new entity's text, the relation, and whether tails are asked for.

    Args:
        question: A question of the kind ``kind``.

    Raises:
        ValueError: If the question is not spelt as one of that kind.
    """
    head, relation, tail = question.text.split(" -> ")
    if (head == "?") == (tail == "?"):
        raise ValueError(f"{question.text}: expected one ? beside the relation")
    return (head, relation, True) if tail == "?" else (tail, relation, False)


def accepted(question: Question, graph: KnowledgeGraph) -> frozenset[int]:
    """Return the rows of the graph's entities that are right answers.

    Args:
        question: The question.
        graph: The graph that it asks.

    Raises:
        ValueError: If a gold id is not in the graph.
    """
    return frozenset(row for gold in question.gold for row in _matches(gold, graph))


def _matches(gold: str, graph: KnowledgeGraph) -> Iterable[int]:
    """Return the rows that one part of the gold stands for."""
    if gold.startswith(BELOW):
        top = _row(gold.removeprefix(BELOW), graph)
        return (top, *graph.hierarchy().descendants(top).tolist())
    if gold.endswith(ANY):
        prefix = gold.removesuffix(ANY)
        return (row for row, name in enumerate(graph.ids) if name.startswith(prefix))
    relation, linked, tail = gold.partition(LINKED)
    if linked:
        number = graph.relation_ids.index(relation)
        chosen = (graph.relations == number) & (graph.tails == _row(tail, graph))
        heads: list[int] = graph.heads[chosen].tolist()
        return heads
    return (_row(gold, graph),)


def _row(name: str, graph: KnowledgeGraph) -> int:
    return graph.ids.index(name)


def sources(folder: Path) -> dict[str, list[Path]]:
    """Write or locate the files of each graph, to be read together by :func:`ontodex.read`.

    Args:
        folder: The folder to write to, created if necessary.

    Returns:
        Paths by the name of the graph, in the order of :data:`GRAPHS`.
    """
    return {
        "schema-org": write_schema_org(folder / "schema-org"),
        "hpo": write_hpo(folder / "hpo"),
        "brick": [_package("brickschema") / "ontologies" / BRICK / "Brick.ttl"],
        "edam": [_write_edam(folder / "edam")],
        "countries": [_write_countries(folder / "countries")],
        "biomappings": [_package("biomappings") / "resources" / "positive.sssom.tsv"],
    }


def _package(name: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(
            f"python -m benchmarks everyday: expected the package {name}, found none; "
            "run pip install 'ontodex[bench]'"
        )
    return Path(spec.submodule_search_locations[0])


def _write_edam(folder: Path) -> Path:
    """Write the classes of EDAM with their texts and parents; obsolete ones are left out."""
    builder = GraphBuilder("edam")
    with (_package("edam_ontology") / "EDAM.tsv").open(encoding="utf-8", newline="") as stream:
        rows = [
            row
            for row in csv.DictReader(stream, delimiter="\t")
            if row["Class ID"].startswith("http://edamontology.org/") and row["Obsolete"] != "TRUE"
        ]
    names = {row["Class ID"]: "edam:" + row["Class ID"].rpartition("/")[2] for row in rows}
    for row in rows:
        name = names[row["Class ID"]]
        synonyms = filter(None, row["Synonyms"].split("|"))
        builder.entity(name, row["Preferred Label"], synonyms, row["Definitions"])
    for row in rows:
        for parent in row["Parents"].split("|"):
            if parent in names:
                builder.triple(names[row["Class ID"]], "is_a", names[parent])
    return _written(builder, folder)


def _write_countries(folder: Path) -> Path:
    """Write countries, subdivisions, currencies and languages of the ISO standards.

    The kinds of subdivisions and languages are classes. A currency is the currency of the country
    whose code its own code starts with, as ISO 4217 has it.
    """
    databases = _package("pycountry") / "databases"
    builder = GraphBuilder("countries")
    for name, parent in {
        "Country": "",
        "Currency": "",
        "Language": "",
        "Subdivision": "",
        **dict.fromkeys(LANGUAGE_TYPES.values(), "Language"),
    }.items():
        builder.entity(_class(name), name)
        if parent:
            builder.triple(_class(name), "is_a", _class(parent))
    for row in _iso(databases, "3166-1"):
        others = (row.get("official_name", ""), row.get("common_name", ""))
        name = f"country:{row['alpha_2']}"
        builder.entity(name, row["name"], _others(row["name"], others))
        builder.triple(name, "is_a", _class("Country"))
    for row in _iso(databases, "3166-2"):
        name, country = f"subdivision:{row['code']}", row["code"].partition("-")[0]
        builder.entity(name, row["name"])
        builder.entity(kind := _class(f"{row['type']} (subdivision)"), row["type"])
        builder.triple(kind, "is_a", _class("Subdivision"))
        builder.triple(name, "is_a", kind)
        above = f"subdivision:{row['parent']}" if "parent" in row else f"country:{country}"
        builder.triple(name, "part_of", above)
    for row in _iso(databases, "4217"):
        name, country = f"currency:{row['alpha_3']}", f"country:{row['alpha_3'][:2]}"
        builder.entity(name, row["name"])
        builder.triple(name, "is_a", _class("Currency"))
        if country in builder:
            builder.triple(name, "currency_of", country)
    for row in _iso(databases, "639-3"):
        name = f"language:{row['alpha_3']}"
        others = (row.get("inverted_name", ""), row.get("common_name", ""))
        builder.entity(name, row["name"], _others(row["name"], others))
        builder.triple(name, "is_a", _class(LANGUAGE_TYPES[row["type"]]))
    return _written(builder, folder)


def _iso(databases: Path, standard: str) -> Iterator[dict[str, Any]]:
    content = json.loads((databases / f"iso{standard}.json").read_text(encoding="utf-8"))
    yield from content[standard]


def _class(label: str) -> str:
    return "class:" + "".join(c if c.isalnum() else "_" for c in label).strip("_")


def _others(label: str, names: tuple[str, ...]) -> Iterator[str]:
    return (name for name in names if name and name != label)


def _written(builder: GraphBuilder, folder: Path) -> Path:
    """Write a graph as a folder of tables, in place of those of an earlier call."""
    shutil.rmtree(folder, ignore_errors=True)
    write_tsv(builder.build(), folder)
    return folder
