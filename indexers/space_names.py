"""The spaces of an index, by name."""

from __future__ import annotations

from ontodex.indexers.structure import HYBRID

__all__ = ["BUFFERS", "CONDITION", "GAUSS", "GEOMETRIES", "HIT", "HYBRID", "LINK", "SAID", "SPAN", "TEXT"]

TEXT, LINK, HIT, CONDITION, GAUSS, SPAN = "text", "link", "hit", "condition", "gauss", "span"
"""The spaces: what texts mean, which entities a relation leads to, what is below what, what is alike under a condition, what
entails what, and what the phrases of texts mean."""

SAID = (GAUSS, SPAN)
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
    *("text.f32", "link.f32", "entities.f32", "hit.f32", "hybrid.f32", "condition.f32", "gauss.f16", "span.f32"),
    "structure.safetensors",
)
