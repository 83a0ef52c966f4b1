"""Usual names of the relation from child to parent, and of its inverse."""

from __future__ import annotations

from ontodex.graph.names import normalise
from ontodex.graph.prefixes import WELL_KNOWN, contract, local_name

__all__ = ["BROADER", "DOWNWARD", "EQUIVALENT", "PARENT", "SUBCLASS", "UPWARD", "spelt"]

SUBCLASS = frozenset(
    (
        *("is a", "isa", "subclassof", "sub class of", "subclass of"),
        *("kind of", "is a kind of", "subtype of"),
    )
)
"""Names of one and the same relation, as :func:`~ontodex.graph.names.normalise` spells them, like all here."""

BROADER = frozenset(
    ("broader", "broader concept", "broader term", "broader transitive", "broader generic")
)
"""Those of another, in thesauri."""

EQUIVALENT = frozenset(("equivalentclass", "equivalent class"))
"""Names of the relation between classes that are the same (``owl:equivalentClass``)."""

UPWARD = SUBCLASS | BROADER | {"hypernym", "instance hypernym"}
"""Names that tell by themselves that a relation leads from child to parent."""

PARENT = frozenset(
    ("parent", "parents", "superclass", "super class", "generalisation", "generalization")
)
"""Names that mean it in a question, but may be those of another relation in a graph."""

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
"""Names of its inverse."""


def spelt(identifier: str, label: str = "") -> frozenset[str]:
    """Return the id of a relation, its local name and the label, as they are spelt here.

    >>> sorted(spelt("http://www.w3.org/2004/02/skos/core#broader", "has broader"))
    ['broader', 'has broader', 'skos:broader']
    """
    short = contract(identifier, WELL_KNOWN)
    return frozenset(map(normalise, (short, local_name(short), label or short)))
