"""The graph as a networkx graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ontodex.graph.knowledge_graph import KnowledgeGraph

if TYPE_CHECKING:
    import networkx

__all__ = ["to_networkx"]


def to_networkx(graph: KnowledgeGraph) -> networkx.MultiDiGraph[Any]:
    """Return the known triples as edges from head to tail, with the relation id as key.

    Nodes are entity ids with the attributes ``label``, ``definition``, ``synonyms`` and ``alternative_ids`` (lists); the
    graph has the attributes ``relations`` (label of each relation) and ``prefixes``. Held-out triples are left out.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("pets")
        >>> builder.triple("dog", "is_a", "animal")
        >>> list(to_networkx(builder.build()).edges(keys=True))
        [('dog', 'animal', 'is_a')]
    """
    import networkx

    relations = dict(zip(graph.relation_ids, graph.relation_labels, strict=True))
    made: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph(
        relations=relations, prefixes=dict(graph.prefixes)
    )
    ids = list(graph.ids)
    columns = ids, graph.labels, graph.definitions, graph.synonyms, graph.alternative_ids
    for name, label, definition, synonyms, alternatives in zip(*columns, strict=True):
        made.add_node(
            name,
            label=label,
            definition=definition,
            synonyms=list(synonyms),
            alternative_ids=list(alternatives),
        )
    names = list(graph.relation_ids)
    made.add_edges_from(
        (ids[head], ids[tail], names[relation]) for head, relation, tail in graph.triples.tolist()
    )
    return made
