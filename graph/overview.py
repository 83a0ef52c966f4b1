"""Overview of a graph: its relations, each with an example, and its hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ontodex.graph.knowledge_graph import KnowledgeGraph

__all__ = ["overview"]

RELATIONS, ROOTS = 20, 10
"""Number of relations, and of roots, that are listed: those with most triples and children."""


def overview(graph: KnowledgeGraph) -> dict[str, Any]:
    """Return the relations of a graph with most triples, and the size of its hierarchy.

    Returns:
        ``relations``: for each, ``id``, ``label``, number of ``triples``, and the first as
        ``example``; and, if the graph has a hierarchy, ``hierarchy``: its
        ``relations``, number of ``entities``, ``roots`` and ``depth`` (the most links on a shortest
        path from a root), and the ``first_roots``.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("pets")
        >>> builder.triple("dog", "is_a", "animal")
        >>> found = overview(builder.build())
        >>> found["relations"]
        [{'id': 'is_a', 'label': 'is a', 'triples': 1, 'example': 'dog is a animal'}]
        >>> found["hierarchy"]
        {'relations': ['is a'], 'entities': 2, 'roots': 1, 'first_roots': ['animal'], 'depth': 1}
    """
    counts = np.bincount(graph.relations, minlength=graph.n_relations)
    relations = []
    for number in np.argsort(-counts, kind="stable")[:RELATIONS].tolist():
        label, example = graph.relation_labels[number], None
        if counts[number]:
            first = int(np.argmax(graph.relations == number))
            head, tail = (graph.labels[int(end[first])] for end in (graph.heads, graph.tails))
            example = f"{head} {label} {tail}"
        relations.append(
            {
                "id": graph.relation_ids[number],
                "label": label,
                "triples": int(counts[number]),
                "example": example,
            }
        )
    found: dict[str, Any] = {"relations": relations}
    if graph.hierarchy_relations:
        hierarchy = graph.hierarchy(on_cycle="ignore")
        children = np.bincount(hierarchy.links[:, 1], minlength=graph.n_entities)
        roots = hierarchy.roots[np.argsort(-children[hierarchy.roots], kind="stable")]
        found["hierarchy"] = {
            "relations": [graph.relation_labels[number] for number in graph.hierarchy_relations],
            "entities": len(hierarchy.members),
            "roots": len(roots),
            "first_roots": [graph.labels[row] for row in roots[:ROOTS].tolist()],
            "depth": int(hierarchy.depth.max(initial=0)),
        }
    return found
