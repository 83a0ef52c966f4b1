"""Reified links, which are stated by nodes: RDF reification, OBAN, OWL axioms and Wikibase."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import vocabulary as rdf

__all__ = ["Claim", "reified", "wikibase_claims"]

Links = NDArray[np.int32]
"""Subject, predicate and object of each link, of shape (links, 3)."""

Numbers = Callable[[Iterable[str]], set[int]]
"""Function that returns the numbers of those given resources that occur."""

OBAN = "http://purl.org/oban/association_has_"
PARTS = (
    ((rdf.RDF + "subject",), (rdf.RDF + "predicate",), (rdf.RDF + "object",)),
    ((OBAN + "subject",), (OBAN + "predicate", OBAN + "object_property"), (OBAN + "object",)),
    (
        (rdf.OWL + "annotatedSource",),
        (rdf.OWL + "annotatedProperty",),
        (rdf.OWL + "annotatedTarget",),
    ),
)
"""Per vocabulary, predicates from a node to the subject, predicate and object of its link."""

WIKIBASE_PROPERTY = re.compile(r"(.*/prop/)(P\d+)")
"""Predicate from an item of Wikibase to its statements with a property."""


class Claim(NamedTuple):
    """The link that a node states, as numbers of resources."""

    node: int
    subject: int
    predicate: int
    object: int


def reified(links: Links, numbers: Numbers) -> Iterator[Claim]:
    """Yield the links stated by nodes that have a subject, a predicate and an object."""
    for parts in PARTS:
        ends = [_ends(links, numbers(predicates)) for predicates in parts]
        for node in sorted(set.intersection(*map(set, ends))):
            yield Claim(node, *(of_part[node] for of_part in ends))


def wikibase_claims(
    links: Links, numbers: Numbers, terms: Sequence[str]
) -> Iterator[tuple[Claim, str]]:
    """Yield the links of Wikibase statements, and the IRI of the direct property of each.

    Properties with direct claims are skipped. If an item has statements of preferred rank with a
    property, only these are read, otherwise the statements of normal rank.
    """
    predicates = set(links[:, 1].tolist())
    ranks = _ends(links, numbers([rdf.WIKIBASE + "rank"]))
    preferred, deprecated = (
        numbers([f"{rdf.WIKIBASE}{rank}Rank"]) for rank in ("Preferred", "Deprecated")
    )
    for predicate in sorted(predicates):
        match = WIKIBASE_PROPERTY.fullmatch(terms[predicate])
        direct = match.expand(r"\1direct/\2") if match else ""
        if match is None or numbers([direct]) & predicates:
            continue
        values = _ends(links, numbers([match.expand(r"\1statement/\2")]))
        about = links[links[:, 1] == predicate][:, [0, 2]].tolist()
        best = {head for head, node in about if ranks.get(node) in preferred}
        for head, node in about:
            is_best = ranks.get(node) in preferred or head not in best
            if node in values and is_best and ranks.get(node) not in deprecated:
                yield Claim(node, head, predicate, values[node]), direct


def _ends(links: Links, predicates: Iterable[int]) -> dict[int, int]:
    """Return the first object that each subject has for some predicates."""
    wanted = list(predicates)
    if not wanted:
        return {}
    return dict(links[np.isin(links[:, 1], wanted)][::-1, [0, 2]].tolist())
