"""The spaces of an index, by name."""

from __future__ import annotations

__all__ = [
    "BUFFERS",
    "CONDITION",
    "GAUSS",
    "GEOMETRIES",
    "HIT",
    "HYBRID",
    "LINK",
    "SENTENCE_SPACES",
    "SPAN",
    "TEXT",
]

TEXT, LINK, HIT, CONDITION, GAUSS, SPAN, HYBRID = (
    "text",
    "link",
    "hit",
    "condition",
    "gauss",
    "span",
    "hybrid",
)
"""The spaces: what texts mean, which entities a relation leads to, what is below what, what is alike under a condition, what
entails what, what the phrases of texts mean, and which entities a relation leads to by texts and links together."""

SENTENCE_SPACES = (GAUSS, SPAN)
"""Spaces whose vectors are of what entities say, not of entities."""

GEOMETRIES = {
    TEXT: "cosine",
    LINK: "cosine",
    HIT: "poincare",
    HYBRID: "product",
    CONDITION: "cosine",
    GAUSS: "gaussian",
    SPAN: "cosine",
}
BUFFERS = (
    *(
        "text.f32",
        "link.f32",
        "entities.f32",
        "hit.f32",
        "hybrid.f32",
        "condition.f32",
        "gauss.f16",
        "span.f32",
    ),
    "structure.safetensors",
)
