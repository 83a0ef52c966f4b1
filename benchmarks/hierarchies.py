"""Loaders of the hierarchies of the benchmarks: graphs with names and definitions."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import ontodex
from ontodex.graph import GraphBuilder, KnowledgeGraph, merge

__all__ = ["LOADERS", "ROOTED"]


def wordnet(data: Path) -> KnowledgeGraph:
    """Return the hypernym links of WordNet 3.0 among noun synsets.

    A synset has the name of its first lemma; synsets without a hypernym link are left out.
    """
    folder = data / "wordnet"
    links = [
        (head, tail)
        for head, relation, tail in _rows(folder / "noun_links.tsv.gz")
        if relation == "hypernym"
    ]
    linked = {synset for link in links for synset in link}
    builder = GraphBuilder("wordnet")
    builder.relation("hypernym", "is a")
    for synset, name, lemmas, gloss in _rows(folder / "noun_synsets.tsv.gz", header=True):
        if synset in linked:
            builder.entity(
                synset, name.replace("_", " "), lemmas.replace("_", " ").split("|"), gloss
            )
    for child, parent in links:
        builder.triple(child, "hypernym", parent)
    return builder.build()


def doid_2026(data: Path) -> KnowledgeGraph:
    """Return the Disease Ontology of July 2026."""
    folder = data / "ontologies"
    builder = GraphBuilder("doid-2026")
    for identifier, label, definition in _rows(
        folder / "doid-2026-07-31-classes.tsv.gz", header=True
    ):
        builder.entity(identifier, label, definition=definition)
    for child, parent in _rows(folder / "doid-2026-07-31-is_a.tsv.gz", header=True):
        builder.triple(child, "is_a", parent)
    return builder.build()


def doid_2016(data: Path) -> KnowledgeGraph:
    """Return the Disease Ontology of September 2016, without its seven faulty definitions."""
    return replace(
        ontodex.read(data / "ontologies" / "doid-2016-09-01.obo.gz", on_error="skip"),
        source="doid-2016",
    )


def go_2022(data: Path) -> KnowledgeGraph:
    """Return the Gene Ontology of July 2022, with part_of and regulates beside the hierarchy."""
    folder = data / "ontologies"
    builder = GraphBuilder("go-2022")
    for identifier, name, _, definition, synonyms in _rows(
        folder / "go-2022-07-01-terms.tsv.gz", header=True
    ):
        builder.entity(identifier, name, filter(None, synonyms.split("|")), definition)
    return merge(builder.build(), ontodex.read(folder / "go-2022-07-01-edges.tsv.gz"))


def schema_org(data: Path) -> KnowledgeGraph:
    """Return the classes of Schema.org 30.0 and their subclass links.

    Classes of other vocabularies are left out.
    """
    graph = ontodex.read(data / "ontologies" / "schemaorg-30.0.ttl")
    hierarchy = graph.hierarchy("rdfs:subClassOf")
    builder = GraphBuilder("schema-org")
    builder.prefixes.update(graph.prefixes)
    own = [row for row in hierarchy.members.tolist() if graph.ids[row].startswith("schema:")]
    for row in own:
        builder.entity(
            graph.ids[row], graph.labels[row], graph.synonyms[row], graph.definitions[row]
        )
    for child, parent in hierarchy.links.tolist():
        if child in own and parent in own:
            builder.triple(graph.ids[child], "rdfs:subClassOf", graph.ids[parent])
    return builder.build()


LOADERS: dict[str, Callable[[Path], KnowledgeGraph]] = {
    "wordnet": wordnet,
    "doid-2026": doid_2026,
    "doid-2016": doid_2016,
    "go-2022": go_2022,
    "schema-org": schema_org,
}
"""Loaders of each hierarchy; they take the folder that ``--data`` names."""

ROOTED = frozenset(LOADERS) - {"wordnet"}
"""Those to which the paper adds a root, owl:Thing: see :func:`ontodex.graph.with_root`."""


def _rows(path: Path, *, header: bool = False) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        if header:
            next(rows)
        yield from rows
