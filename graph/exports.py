"""Exports of a graph: RDF statements, an rdflib graph and a networkx graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import quote

import numpy as np
import pyoxigraph as ox
from numpy.typing import NDArray

from ontodex.graph import vocabulary as rdf
from ontodex.graph.prefixes import WELL_KNOWN, contract, expand

if TYPE_CHECKING:
    import networkx
    import rdflib

__all__ = ["Statement", "as_networkx", "as_rdflib", "entity_iri", "relation_iri", "statements"]

IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.")


class Columns(Protocol):
    """The columns of a :class:`~ontodex.graph.KnowledgeGraph` that are exported."""

    @property
    def ids(self) -> Sequence[str]: ...
    @property
    def labels(self) -> Sequence[str]: ...
    @property
    def synonyms(self) -> Sequence[Iterable[str]]: ...
    @property
    def definitions(self) -> Sequence[str]: ...
    @property
    def alternative_ids(self) -> Sequence[Iterable[str]]: ...
    @property
    def relation_ids(self) -> Sequence[str]: ...
    @property
    def relation_labels(self) -> Sequence[str]: ...
    @property
    def triples(self) -> NDArray[np.int32]: ...
    @property
    def prefixes(self) -> Mapping[str, str]: ...


class Statement(NamedTuple):
    """One statement of RDF.

    Attributes:
        subject: An IRI.
        predicate: An IRI.
        object: An IRI, or a literal text.
        is_text: Whether ``object`` is a text.
    """

    subject: str
    predicate: str
    object: str
    is_text: bool


def entity_iri(name: str, prefixes: Mapping[str, str]) -> str:
    """Return the IRI of an entity.

    An id that is neither an IRI nor a CURIE with a known prefix is percent-encoded under
    ``urn:ontodex:``.

    >>> entity_iri("HP:0001166", {}), entity_iri("big dog", {})
    ('http://purl.obolibrary.org/obo/HP_0001166', 'urn:ontodex:big%20dog')
    """
    known = {**WELL_KNOWN, **prefixes}
    iri = expand(name, known)
    if iri is not None and contract(iri, known) == name and _is_iri(iri):
        return iri
    return name if _is_iri(name) else rdf.OURS + quote(name, safe="")


def relation_iri(name: str, prefixes: Mapping[str, str]) -> str:
    """Return the IRI of a relation.

    An id that is neither an IRI nor a CURIE with a known prefix is percent-encoded under
    ``urn:ontodex:relation/``. An entity with the same id therefore has a different IRI.
    """
    iri = entity_iri(name, prefixes)
    return f"{rdf.RELATIONS}{quote(name, safe='')}" if iri.startswith(rdf.OURS) else iri


def _is_iri(name: str) -> bool:
    """Return whether a name is an IRI with an authority."""
    try:
        return bool(IRI.match(name)) and bool(ox.NamedNode(name))
    except ValueError:
        return False


def statements(graph: Columns) -> Iterator[Statement]:
    """Yield a graph as statements.

    The order is: types and labels of relations, names and definitions of entities, known triples.
    """
    entities = [entity_iri(name, graph.prefixes) for name in graph.ids]
    relations = [relation_iri(name, graph.prefixes) for name in graph.relation_ids]
    for relation, label in zip(relations, graph.relation_labels, strict=True):
        yield Statement(relation, rdf.TYPE, rdf.RDF + "Property", is_text=False)
        yield Statement(relation, rdf.RDFS + "label", label, is_text=True)
    columns = entities, graph.labels, graph.synonyms, graph.definitions, graph.alternative_ids
    for entity, label, synonyms, definition, alternatives in zip(*columns, strict=True):
        yield from (
            Statement(entity, rdf.ALTERNATIVE, other, is_text=True) for other in alternatives
        )
        yield Statement(entity, rdf.RDFS + "label", label, is_text=True)
        yield from (Statement(entity, rdf.SKOS + "altLabel", one, is_text=True) for one in synonyms)
        if definition:
            yield Statement(entity, rdf.SKOS + "definition", definition, is_text=True)
    for head, relation, tail in graph.triples.tolist():
        yield Statement(entities[head], relations[relation], entities[tail], is_text=False)


def as_rdflib(graph: Columns) -> rdflib.Graph:
    """Return the statements as an rdflib graph; see :meth:`ontodex.KnowledgeGraph.to_rdflib`."""
    import rdflib

    made = rdflib.Graph(bind_namespaces="none")
    for prefix, space in {**WELL_KNOWN, **graph.prefixes}.items():
        made.bind(prefix, rdflib.Namespace(space), override=True, replace=True)
    for subject, predicate, target, is_text in statements(graph):
        end = rdflib.Literal(target) if is_text else rdflib.URIRef(target)
        made.add((rdflib.URIRef(subject), rdflib.URIRef(predicate), end))
    return made


def as_networkx(graph: Columns) -> networkx.MultiDiGraph[Any]:
    """Return the triples as a networkx graph; see :meth:`ontodex.KnowledgeGraph.to_networkx`."""
    import networkx

    relations = dict(zip(graph.relation_ids, graph.relation_labels, strict=True))
    made: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph(
        relations=relations, prefixes=dict(graph.prefixes)
    )
    ids, names = list(graph.ids), list(graph.relation_ids)
    columns = ids, graph.labels, graph.definitions, graph.synonyms, graph.alternative_ids
    for name, label, definition, synonyms, alternatives in zip(*columns, strict=True):
        made.add_node(
            name,
            label=label,
            definition=definition,
            synonyms=list(synonyms),
            alternative_ids=list(alternatives),
        )
    made.add_edges_from(
        (ids[head], ids[tail], names[relation]) for head, relation, tail in graph.triples.tolist()
    )
    return made
