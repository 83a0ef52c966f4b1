"""OBO-graph JSON: ``{"graphs": [{"nodes": [...], "edges": [...]}]}``."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from typing import Any

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import unique_ids_by_name
from ontodex.graph.prefixes import contract
from ontodex.graph.vocabulary import ALTERNATIVE, ASIDE, EQUIVALENT, REPLACED_BY, SAME
from ontodex.readers.problems import Problems

__all__ = ["read_obographs"]

OF_PROPERTIES = ("subPropertyOf", "inverseOf")
"""Predicates of edges between relations, which are not read."""


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
            problems.report(f"expected a graph object, found {str(graph)[:60]!r}")


def _read_graph(graph: dict[str, Any], builder: GraphBuilder, problems: Problems) -> None:
    out: set[str] = set()
    nodes: set[str] = set()
    said: list[tuple[str, str, str]] = []
    labels = {"is_a": "is a"}
    alternatives: dict[str, str] = {}
    replaced: dict[str, str] = {}
    same: list[tuple[str, str]] = []
    for node in _listed(graph, "nodes", problems):
        try:
            identifier = contract(str(node["id"]), builder.prefixes)
            meta = node.get("meta") or {}
            if node.get("type") == "PROPERTY":
                labels[identifier] = str(node.get("lbl") or "")
                out.add(identifier)
            elif meta.get("deprecated"):
                out.add(identifier)
                instead = [
                    str(value["val"]) for value in _properties(meta) if value["pred"] in REPLACED_BY
                ]
                if len(instead) == 1:
                    replaced[identifier] = contract(instead[0], builder.prefixes)
            else:
                builder.entity(
                    identifier,
                    label=str(node.get("lbl") or ""),
                    synonyms=[str(synonym["val"]) for synonym in meta.get("synonyms") or []],
                    definition=str((meta.get("definition") or {}).get("val") or ""),
                )
                nodes.add(identifier)
                for value in _properties(meta):
                    named = contract(str(value["val"]), builder.prefixes)
                    said.append((identifier, str(value["pred"]), named))
                    if value["pred"] == ALTERNATIVE:
                        alternatives[named] = identifier
                    elif value["pred"] in SAME:
                        same.append((named, identifier))
        except (KeyError, TypeError, AttributeError):
            problems.report(f"expected a node with an id, found {str(node)[:80]!r}")
    elsewhere, here = _equivalents(graph, nodes, builder, problems)
    same += elsewhere
    said += here
    builder.replace(unique_ids_by_name(same) | alternatives | replaced)
    said = [
        (head, by, tail)
        for head, by, tail in said
        if tail in nodes and tail != head and (by == EQUIVALENT or not by.startswith(ASIDE))
    ]
    for head, relation, tail in chain(_edges(graph, problems), said):
        ends = [contract(name, builder.prefixes) for name in (head, tail)]
        ends[1] = builder.aliases.get(ends[1], ends[1])
        if not out.intersection(ends):
            name = contract(relation, builder.prefixes)
            builder.relation(name, labels.get(name, ""))
            builder.triple(ends[0], name, contract(tail, builder.prefixes))


def _equivalents(
    graph: dict[str, Any], nodes: Collection[str], builder: GraphBuilder, problems: Problems
) -> tuple[list[tuple[str, str]], list[tuple[str, str, str]]]:
    """Return the equivalents of nodes.

    Returns:
        Pairs (id that is not in the graph, equivalent node), and links between equivalent nodes.
    """
    elsewhere, here = list[tuple[str, str]](), list[tuple[str, str, str]]()
    for group in _listed(graph, "equivalentNodesSets", problems):
        try:
            names = [contract(str(name), builder.prefixes) for name in group["nodeIds"]]
        except (KeyError, TypeError):
            problems.report(f"expected a set of equivalent nodes, found {str(group)[:80]!r}")
            continue
        known = [name for name in dict.fromkeys(names) if name in nodes]
        if len(known) == 1:
            elsewhere += ((name, known[0]) for name in names if name != known[0])
        here += ((known[0], EQUIVALENT, name) for name in known[1:])
    return elsewhere, here


def _properties(meta: dict[str, Any]) -> list[dict[str, Any]]:
    return meta.get("basicPropertyValues") or []


def _edges(graph: dict[str, Any], problems: Problems) -> Iterator[tuple[str, str, str]]:
    with_parent: set[str] = set()
    for edge in _listed(graph, "edges", problems):
        try:
            head, relation, tail = str(edge["sub"]), str(edge["pred"]), str(edge["obj"])
            if relation not in OF_PROPERTIES:
                yield head, relation, tail
            if relation == "is_a":
                with_parent.add(head)
        except (KeyError, TypeError):
            problems.report(f"expected an edge with sub, pred and obj, found {str(edge)[:80]!r}")
    for axiom in _listed(graph, "logicalDefinitionAxioms", problems):
        try:
            head = str(axiom["definedClassId"])
            for genus in axiom.get("genusIds") or [] if head not in with_parent else []:
                yield head, "is_a", str(genus)
            for restriction in axiom.get("restrictions") or []:
                yield head, str(restriction["propertyId"]), str(restriction["fillerId"])
        except (KeyError, TypeError, AttributeError):
            problems.report(f"expected a logical definition, found {str(axiom)[:80]!r}")


def _listed(graph: dict[str, Any], key: str, problems: Problems) -> list[Any]:
    entries = graph.get(key) or []
    if isinstance(entries, list):
        return entries
    problems.report(f"expected a list of {key}, found {str(entries)[:60]!r}")
    return []
