"""Statements that are nodes: reified in RDF, associations of OBAN, annotated axioms of OWL, and claims of Wikibase."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import vocabulary as rdf

__all__ = ["Claim", "reified", "wikibase_claims"]

Links = NDArray[np.int32]
"""Subject, predicate and object of each, of shape (links, 3)."""

Numbers = Callable[[Iterable[str]], set[int]]
"""Gives the numbers of those resources that are named in a source."""

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
"""What leads from a statement to its subject, its predicate and its object."""

WIKIBASE_PROPERTY = re.compile(r"(.*/prop/)(P\d+)")
"""What leads from an item of Wikibase to statements about it, by a property."""


class Claim(NamedTuple):
    """What a node states, as numbers of resources."""

    node: int
    subject: int
    predicate: int
    object: int


def reified(links: Links, numbers: Numbers) -> Iterator[Claim]:
    """Yield what the nodes state that have a subject, a predicate and an object."""
    for parts in PARTS:
        ends = [_ends(links, numbers(predicates)) for predicates in parts]
        for node in sorted(set.intersection(*map(set, ends))):
            yield Claim(node, *(of_part[node] for of_part in ends))


def wikibase_claims(
    links: Links, numbers: Numbers, terms: Sequence[str]
) -> Iterator[tuple[Claim, str]]:
    """Yield what statements of Wikibase state, where it is not stated directly, and the IRI of the direct property.

    Of the statements about one item by one property those of preferred rank count; if there are none, those of normal rank.
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
    """Return the first object of each subject by some predicates."""
    wanted = list(predicates)
    if not wanted:
        return {}
    return dict(links[np.isin(links[:, 1], wanted)][::-1, [0, 2]].tolist())
