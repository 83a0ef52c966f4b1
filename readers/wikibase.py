"""Entities of Wikibase in JSON, as in dumps and pages of Wikidata.

See the `data model <https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html>`_.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.names import language_rank
from ontodex.readers.problems import Problems

__all__ = ["is_wikibase", "read_wikibase"]

ENTITY = re.compile(r"[QPLME]\d+")

STRUCTURAL = {
    "P31": "instance of",
    "P171": "parent taxon",
    "P279": "subclass of",
    "P361": "part of",
    "P527": "has part(s)",
}
"""Labels of Wikidata's hierarchical properties, for files without the property entities."""

UNNAMED = 10
"""Maximal number of properties without a label that a warning names."""


def is_wikibase(objects: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether records are entities of Wikibase; only the first record is examined."""
    first: Mapping[str, Any] = next(iter(objects), {})
    return {"id", "claims"} <= first.keys() and bool(ENTITY.fullmatch(str(first["id"])))


def read_wikibase(
    entities: Iterable[Mapping[str, Any]], builder: GraphBuilder, problems: Problems
) -> None:
    """Read labels, descriptions and aliases of entities, and statements whose value is an entity.

    Qualifiers and deprecated statements are left out. If a property has preferred statements, only
    those are read. Properties are relations; their labels come from the property entities.

    Args:
        entities: The entities.
        builder: Receives the entities and their links.
        problems: Receives objects that are not entities.
    """
    labels = dict(STRUCTURAL)
    for number, entity in enumerate(entities, start=1):
        identifier, claims = entity.get("id"), entity.get("claims")
        if not isinstance(identifier, str) or not isinstance(claims, dict | list):
            why = f"number {number}"
            problems.unexpected("an entity with an id and claims", entity, why=why)
            continue
        label = _in_language(entity.get("labels"), builder.language)
        if entity.get("type") == "property":
            labels.update({identifier: label[0]} if label else {})
        else:
            builder.entity(
                identifier,
                next(iter(label), ""),
                _in_language(entity.get("aliases"), builder.language),
                next(iter(_in_language(entity.get("descriptions"), builder.language)), ""),
            )
            for relation, tail in _links(claims):
                builder.triple(identifier, relation, tail)
    for name in builder.relation_ids():
        builder.relation(name, labels.get(name, ""))
    if unnamed := [name for name in builder.relation_ids() if name not in labels]:
        more = f" and {len(unnamed) - UNNAMED} more" if len(unnamed) > UNNAMED else ""
        problems.remark(
            f"found no label of {', '.join(unnamed[:UNNAMED])}{more}: read the entities of these "
            "properties too, which have them"
        )


def _in_language(texts: Any, language: str) -> list[str]:
    """Return the texts in a language, or else in the best other language; see ``language_rank``."""
    if not isinstance(texts, dict) or not texts:
        return []
    best = min(texts, key=lambda tag: language_rank(tag, language))
    found = texts[best] if isinstance(texts[best], list) else [texts[best]]
    return [
        one["value"] for one in found if isinstance(one, dict) and isinstance(one.get("value"), str)
    ]


def _links(claims: dict[str, Any] | list[Any]) -> Iterator[tuple[str, str]]:
    """Yield property and value of each statement of the best rank whose value is an entity."""
    for relation, statements in claims.items() if isinstance(claims, dict) else ():
        stated = (
            [one for one in statements if isinstance(one, dict)]
            if isinstance(statements, list)
            else []
        )
        is_preferred = any(one.get("rank") == "preferred" for one in stated)
        for one in stated:
            if one.get("rank") == "deprecated" or (is_preferred and one.get("rank") != "preferred"):
                continue
            if tail := _tail(one.get("mainsnak", one)):
                yield relation, tail


def _tail(snak: Any) -> str:
    """Return the id of the entity that is the value of a snak, or ``""``."""
    value = (
        snak.get("datavalue", {})
        if isinstance(snak, dict) and snak.get("snaktype", "value") == "value"
        else {}
    )
    inside = (
        value.get("value")
        if isinstance(value, dict) and value.get("type") == "wikibase-entityid"
        else None
    )
    found = inside.get("id") if isinstance(inside, dict) else None
    return found if isinstance(found, str) else ""
