"""OBO-graph JSON: ``{"graphs": [{"nodes": [...], "edges": [...]}]}``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import unique_ids_by_name
from ontodex.graph.prefixes import contract
from ontodex.graph.vocabulary import ALTERNATIVE, ASIDE, EQUIVALENT, REPLACED_BY, SAME
from ontodex.readers.problems import Problems

__all__ = ["read_obographs"]

OF_PROPERTIES = ("subPropertyOf", "inverseOf")
"""Predicates of edges between relations, which are not read."""

ENTRIES = {
    "nodes": "a node with an id",
    "edges": "an edge with sub, pred and obj",
    "equivalentNodesSets": "a set of equivalent nodes",
    "logicalDefinitionAxioms": "a logical definition",
}
"""What the entries of each list in a graph are."""


def read_obographs(document: dict[str, Any], builder: GraphBuilder, problems: Problems) -> None:
    """Read classes, individuals, edges and existential restrictions of an OBO graph.

    Deprecated nodes and their edges are left out. If a class has no parents, the genus of its
    logical definition is its parent. Equivalent nodes are linked by ``owl:equivalentClass``. An
    equivalent outside the graph is an alternative id.

    Args:
        document: The parsed JSON; ``graphs`` is a list.
        builder: Receives the graph.
        problems: Receives faulty nodes and edges.
    """
    for graph in document["graphs"]:
        if isinstance(graph, dict):
            _read_graph(graph, builder, problems)
        else:
            problems.unexpected("a graph object", graph)


def _read_graph(graph: dict[str, Any], builder: GraphBuilder, problems: Problems) -> None:
    out: set[str] = set()
    nodes: set[str] = set()
    said: list[tuple[str, str, str]] = []
    labels = {"is_a": "is a"}
    alternatives: dict[str, str] = {}
    same: list[tuple[str, str]] = []

    def read_node(node: Any) -> None:
        identifier = contract(str(node["id"]), builder.prefixes)
        meta = node.get("meta") or {}
        values = [
            (str(value["pred"]), contract(str(value["val"]), builder.prefixes))
            for value in meta.get("basicPropertyValues") or []
        ]
        if node.get("type") == "PROPERTY":
            labels[identifier] = str(node.get("lbl") or "")
            out.add(identifier)
        elif meta.get("deprecated"):
            out.add(identifier)
            instead = [value for by, value in values if by in REPLACED_BY]
            alternatives.update({identifier: instead[0]} if len(instead) == 1 else {})
        else:
            builder.entity(
                identifier,
                label=str(node.get("lbl") or ""),
                synonyms=[str(synonym["val"]) for synonym in meta.get("synonyms") or []],
                definition=str((meta.get("definition") or {}).get("val") or ""),
            )
            nodes.add(identifier)
            said.extend((identifier, by, value) for by, value in values)
            alternatives.update((value, identifier) for by, value in values if by == ALTERNATIVE)
            same.extend((value, identifier) for by, value in values if by in SAME)

    def read_equivalents(group: Any) -> None:
        names = [contract(str(name), builder.prefixes) for name in group["nodeIds"]]
        known = [name for name in dict.fromkeys(names) if name in nodes]
        if len(known) == 1:
            same.extend((name, known[0]) for name in names if name != known[0])
        said.extend((known[0], EQUIVALENT, name) for name in known[1:])

    _each(graph, "nodes", read_node, problems)
    _each(graph, "equivalentNodesSets", read_equivalents, problems)
    builder.replace(unique_ids_by_name(same) | alternatives)
    facts = [
        (head, by, tail)
        for head, by, tail in said
        if tail in nodes and tail != head and (by == EQUIVALENT or not by.startswith(ASIDE))
    ]
    for head, relation, tail in (*_edges(graph, problems), *facts):
        ends = [contract(name, builder.prefixes) for name in (head, tail)]
        ends[1] = builder.aliases.get(ends[1], ends[1])
        if not out.intersection(ends):
            name = contract(relation, builder.prefixes)
            builder.relation(name, labels.get(name, ""))
            builder.triple(ends[0], name, contract(tail, builder.prefixes))


def _edges(graph: dict[str, Any], problems: Problems) -> list[tuple[str, str, str]]:
    """Return the edges, and the links that logical definitions imply."""
    found: list[tuple[str, str, str]] = []

    def read_edge(edge: Any) -> None:
        found.append((str(edge["sub"]), str(edge["pred"]), str(edge["obj"])))

    def read_definition(axiom: Any) -> None:
        head = str(axiom["definedClassId"])
        genera = axiom.get("genusIds") or [] if head not in with_parent else []
        found.extend((head, "is_a", str(genus)) for genus in genera)
        found.extend(
            (head, str(restriction["propertyId"]), str(restriction["fillerId"]))
            for restriction in axiom.get("restrictions") or []
        )

    _each(graph, "edges", read_edge, problems)
    with_parent = {head for head, relation, _ in found if relation == "is_a"}
    _each(graph, "logicalDefinitionAxioms", read_definition, problems)
    return [edge for edge in found if edge[1] not in OF_PROPERTIES]


def _each(graph: dict[str, Any], key: str, read: Callable[[Any], None], problems: Problems) -> None:
    """Read each entry of a list in a graph, and report faulty entries."""
    entries = graph.get(key) or []
    if not isinstance(entries, list):
        problems.unexpected(f"a list of {key}", entries)
        return
    for entry in entries:
        try:
            read(entry)
        except (KeyError, TypeError, AttributeError):
            problems.unexpected(ENTRIES[key], entry)
