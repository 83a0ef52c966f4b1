"""The spaces of an index: their names and geometries."""

from __future__ import annotations

__all__ = [
    "CONDITION",
    "DEFINITION",
    "ENTAILMENT",
    "FIRST_STAGES",
    "GEOMETRIES",
    "HIERARCHY",
    "HYBRID",
    "LINK",
    "NAME",
    "SENTENCE_SPACES",
    "SPAN",
    "STAGES",
    "TEXT",
]

TEXT = "text"
"""Unit vectors of the entities' texts, compared by cosine."""

LINK = "link"
"""Entity vectors for link prediction, searched with queries of (entity, relation) pairs."""

HYBRID = "hybrid"
"""Vectors of the link space followed by graph features: KGE vectors and type constraints."""

HIERARCHY = "hierarchy"
"""Lifted points of a Poincaré ball, ranked by the subsumption score of HiT."""

CONDITION = "condition"
"""Unit vectors of the entities' texts, which a condition encoder transforms by a condition."""

ENTAILMENT = "entailment"
"""Gaussians of the sentences of labels and definitions, compared by KL divergence (GaussCSE)."""

SPAN = "span"
"""Unit vectors of the phrases of labels and definitions: the nodes of Self-StrAE's trees."""

NAME = "name"
"""Unit vectors of the names of the entities: labels, synonyms, and parts of labels."""

DEFINITION = "definition"
"""Unit vectors of what WordNet says of names that are common nouns, for descriptions."""

SENTENCE_SPACES = (ENTAILMENT, SPAN, NAME, DEFINITION)
"""Spaces with a vector for each sentence, phrase, name or definition.

Others have one for each entity.
"""

STAGES = {
    "search": (NAME,),
    "texts": (TEXT, DEFINITION),
    "links": (LINK, HYBRID, CONDITION),
    "hierarchy": (HIERARCHY,),
    "entailment": (ENTAILMENT, SPAN),
}
"""The stages of a build and the spaces that each makes, in the usual order.

Before the first stage is done, an index has names, which are searched by their letters.
"""

FIRST_STAGES = ("search", "texts")
"""The stages that every index has."""

GEOMETRIES = {
    TEXT: "cosine",
    LINK: "cosine",
    HYBRID: "product",
    HIERARCHY: "poincare",
    CONDITION: "cosine",
    ENTAILMENT: "gaussian",
    SPAN: "cosine",
    NAME: "cosine",
    DEFINITION: "cosine",
}
"""Geometry of each space; see :class:`~ontodex.storage.manifest.SpaceInfo`."""
