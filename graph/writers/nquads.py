"""Writing a graph as N-Quads, and predictions in a separate named graph."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

import pyoxigraph as ox

from ontodex.errors import UnknownEntity, UnknownRelation
from ontodex.graph import vocabulary as rdf
from ontodex.graph.exports import entity_iri, relation_iri, statements
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.prefixes import contract
from ontodex.graph.writers.atomic import replacing

__all__ = ["predictions_as_nquads", "write_nquads"]

Prediction = tuple[str, str, str, float]
PLACE = ox.NamedNode(rdf.OURS + "predictions")
XSD_DOUBLE = ox.NamedNode(rdf.XSD + "double")


def write_nquads(graph: KnowledgeGraph, path: str | Path) -> None:
    """Write known triples, names and definitions as N-Quads, in the default graph.

    Held-out triples are not written. An id that is neither an IRI nor a CURIE with a known prefix
    is percent-encoded, under ``urn:ontodex:`` for an entity and ``urn:ontodex:relation/`` for a
    relation. Prefixes are written as SHACL declarations.

    Args:
        graph: The graph.
        path: The file.

    Raises:
        OSError: If the path cannot be written.
    """
    with replacing(Path(path)) as stream:
        ox.serialize(_known(graph), stream, ox.RdfFormat.N_QUADS)


def predictions_as_nquads(graph: KnowledgeGraph, predictions: Iterable[Prediction]) -> str:
    """Return predictions as N-Quads.

    A prediction is a triple in the named graph ``urn:ontodex:predictions``, with an
    ``rdf:Statement`` for its score (``urn:ontodex:score``). The named graph has the type
    ``urn:ontodex:Predictions``; :func:`ontodex.read` does not read named graphs of this type as
    known triples. Ids are written as in :func:`write_nquads`. The results of several calls can be
    concatenated, also with files of :func:`write_nquads`.

    Args:
        graph: The graph.
        predictions: (head id, relation id, tail id, score); ids are CURIEs or IRIs.

    Raises:
        UnknownEntity: If the graph lacks an entity of a prediction.
        UnknownRelation: If the graph lacks a relation of a prediction.
    """
    return (
        ox.serialize(_predicted(graph, predictions), format=ox.RdfFormat.N_QUADS) or b""
    ).decode()


def _known(graph: KnowledgeGraph) -> Iterator[ox.Quad]:
    """Yield the declarations of prefixes and the statements of a graph."""
    for prefix, space in graph.prefixes.items():
        owner = ox.NamedNode(f"{rdf.OURS}prefix/{quote(prefix, safe='')}")
        yield ox.Quad(owner, ox.NamedNode(rdf.SHACL + "prefix"), ox.Literal(prefix))
        yield ox.Quad(owner, ox.NamedNode(rdf.SHACL + "namespace"), ox.Literal(space))
    for subject, predicate, target, is_text in statements(graph):
        end = ox.Literal(target) if is_text else ox.NamedNode(target)
        yield ox.Quad(ox.NamedNode(subject), ox.NamedNode(predicate), end)


def _predicted(graph: KnowledgeGraph, predictions: Iterable[Prediction]) -> Iterator[ox.Quad]:
    kind = ox.NamedNode(rdf.TYPE)
    parts = [ox.NamedNode(rdf.RDF + name) for name in ("subject", "predicate", "object")]
    for number, (head, relation, tail, score) in enumerate(predictions):
        subject, object_ = (_entity(graph, name) for name in (head, tail))
        triple = subject, _relation(graph, relation), object_
        if number == 0:
            yield ox.Quad(PLACE, kind, ox.NamedNode(rdf.PREDICTIONS), PLACE)
        yield ox.Quad(*triple, PLACE)
        content = repr((*(node.value for node in triple), float(score)))
        statement = ox.BlankNode(
            "prediction" + hashlib.blake2b(content.encode(), digest_size=16).hexdigest()
        )
        yield ox.Quad(statement, kind, ox.NamedNode(rdf.RDF + "Statement"), PLACE)
        for part, node in zip(parts, triple, strict=True):
            yield ox.Quad(statement, part, node, PLACE)
        number_of_score = ox.Literal(repr(float(score)), datatype=XSD_DOUBLE)
        yield ox.Quad(statement, ox.NamedNode(rdf.OURS + "score"), number_of_score, PLACE)


def _entity(graph: KnowledgeGraph, name: str) -> ox.NamedNode:
    found = graph.find(name)
    if found is None or not _is_id(graph.ids[found[0]], name, graph):
        raise UnknownEntity(f"expected predictions about entities of the graph, found {name!r}")
    return ox.NamedNode(entity_iri(graph.ids[found[0]], graph.prefixes))


def _relation(graph: KnowledgeGraph, name: str) -> ox.NamedNode:
    found = graph.find_relation(name)
    if found is None or not _is_id(graph.relation_ids[found[0]], name, graph):
        raise UnknownRelation(f"expected predictions of relations of the graph, found {name!r}")
    return ox.NamedNode(relation_iri(graph.relation_ids[found[0]], graph.prefixes))


def _is_id(identifier: str, name: str, graph: KnowledgeGraph) -> bool:
    """Return whether a name is a given identifier, written as a CURIE or as an IRI."""
    return identifier in (name, contract(name, graph.prefixes))
