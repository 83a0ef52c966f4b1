"""Usual names of hierarchy relations: from child to parent, and from parent to child."""

from __future__ import annotations

from ontodex.graph.names import normalise
from ontodex.graph.prefixes import WELL_KNOWN, contract, local_name

__all__ = ["BROADER", "DOWNWARD", "EQUIVALENT", "INSTANCE", "PARENT", "SUBCLASS", "UPWARD", "spelt"]

SUBCLASS = frozenset(
    (
        *("is a", "isa", "subclassof", "sub class of", "subclass of"),
        *("kind of", "is a kind of", "subtype of"),
    )
)
"""Normalised names of the subclass relation; see :func:`~ontodex.graph.names.normalise`."""

BROADER = frozenset(
    ("broader", "broader concept", "broader term", "broader transitive", "broader generic")
)
"""Normalised names of the broader relation of thesauri."""

EQUIVALENT = frozenset(("equivalentclass", "equivalent class"))
"""Normalised names of the relation between equivalent classes (``owl:equivalentClass``)."""

INSTANCE = frozenset(("rdf:type", "instance of", "instanceof"))
"""Normalised names of the relation from an individual to its class."""

UPWARD = SUBCLASS | BROADER | {"hypernym", "instance hypernym"}
"""Normalised names that always mean a relation from child to parent."""

PARENT = frozenset(
    ("parent", "parents", "superclass", "super class", "generalisation", "generalization")
)
"""Normalised names that mean a relation from child to parent in a query.

In a graph, a relation with such a name may mean something else.
"""

DOWNWARD = frozenset(
    (
        *(
            "narrower",
            "narrower concept",
            "narrower term",
            "hyponym",
            "instance hyponym",
            "child",
            "children",
        ),
        *(
            "subclass",
            "subclasses",
            "has subclass",
            "superclass of",
            "specialisation",
            "specialization",
        ),
    )
)
"""Normalised names of a relation from parent to child."""


def spelt(identifier: str, label: str = "") -> frozenset[str]:
    """Return the normalised forms of a relation's id, local name and label.

    >>> sorted(spelt("http://www.w3.org/2004/02/skos/core#broader", "has broader"))
    ['broader', 'has broader', 'skos:broader']
    """
    short = contract(identifier, WELL_KNOWN)
    return frozenset(map(normalise, (short, local_name(short), label or short)))
