"""What a picture of a hierarchy shows: what is asserted, and of an entity its likeliest parents and children."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ontodex.engine.resolve import resolve_entity
from ontodex.errors import GraphError, UnknownEntity, expect_count, nearest

if TYPE_CHECKING:
    from ontodex.engine.engine import Engine
    from ontodex.graph import Hierarchy

__all__ = ["around", "asserted"]


def asserted(engine: Engine) -> Hierarchy:
    """Return the hierarchy that the graph asserts.

    Raises:
        GraphError: If it has none.
    """
    hierarchy = engine.hierarchy
    if hierarchy is None or not len(hierarchy.links):
        raise GraphError(f"{engine.graph.source}: expected a hierarchy to draw, found no links from child to parent")
    return hierarchy


def around(engine: Engine, entity: str, answers: int) -> tuple[int, list[tuple[int, str, float]]]:
    """Find an entity of the graph, and so many of its likeliest parents and children that are not asserted.

    Args:
        engine: Whom to ask.
        entity: A CURIE, an IRI, a label or a synonym.
        answers: How many of either.

    Returns:
        The row of the entity; and row, ``"parent"`` or ``"child"``, and probability of each answer.

    Raises:
        UnknownEntity: If it is none of the graph.
        SettingsError: If the number is negative.
    """
    graph = engine.graph
    one = resolve_entity(graph, entity, fits=engine.hierarchy.has if engine.hierarchy else None)
    if one.row is None:
        raise UnknownEntity(
            f"{graph.source}: expected an entity to draw around, found free text {entity!r}"
            f"{nearest(entity, graph.labels)}; for a new concept see place and parents"
        )
    expect_count("answers", answers)
    likeliest: dict[int, tuple[float, str]] = {}
    for kind, ranked in (("parent", engine.parents), ("child", engine.children)) if answers else ():
        for hit in ranked(one.reading.id or entity, answers, "exclude"):
            row, probability = graph.find(hit.id), hit.probability or 0.0
            if row is not None and probability > likeliest.get(row[0], (-1.0, ""))[0]:
                likeliest[row[0]] = (probability, kind)
    return one.row, [(row, kind, probability) for row, (probability, kind) in likeliest.items()]
