"""Descriptions of entities: what the graph says of one, on a screen."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ontodex.engine.results.hits import Resolution
from ontodex.engine.results.printable import json_text, printable

__all__ = ["Description", "LinkedEntities"]


@dataclass(frozen=True)
class LinkedEntities:
    """Entities that are linked to the described one in the same way.

    Attributes:
        relation: Label of the relation; "inverse " before it if the described entity is the tail.
        count: Number of entities.
        first: Id and label of the first ones, by label.
    """

    relation: str
    count: int
    first: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        more = self.count - len(self.first)
        named = ", ".join(f"{label} ({identifier})" for identifier, label in self.first)
        return f"{named}{f' and {more:,} more' if more else ''}"

    def to_dict(self) -> dict[str, Any]:
        """Return ``relation``, ``count`` and ``first``, each with ``id`` and ``label``."""
        first = [{"id": identifier, "label": label} for identifier, label in self.first]
        return {"relation": self.relation, "count": self.count, "first": first}


@dataclass(frozen=True, repr=False)
class Description:
    """What the graph says of an entity; it prints as text.

    Attributes:
        resolution: How the question was resolved. If its kind is ``"alternative id"``, the question
            is an id that this entity replaces or has in another vocabulary.
        id: CURIE or IRI.
        label: Label.
        synonyms: Other names.
        alternative_ids: Other ids: former ones, those of obsolete entities that it replaces, and
            those in other vocabularies.
        definition: Definition, or an empty string.
        parents: Its parents in the hierarchy.
        children: Its children.
        paths: Some paths from a root of the hierarchy to the entity, as labels, shortest first.
        links: The entities that each other relation links it to.
        spaces: Names of the spaces of the index.
    """

    resolution: Resolution
    id: str
    label: str
    synonyms: tuple[str, ...]
    alternative_ids: tuple[str, ...]
    definition: str
    parents: LinkedEntities
    children: LinkedEntities
    paths: tuple[tuple[str, ...], ...]
    links: tuple[LinkedEntities, ...]
    spaces: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.label} ({self.id})"]
        if self.resolution.kind == "alternative id":
            lines.append(f"  in place of {self.resolution.text}")
        lines += [
            f"  {name}: {value}"
            for name, value in (
                ("definition", self.definition),
                ("synonyms", "; ".join(self.synonyms)),
                ("other ids", ", ".join(self.alternative_ids)),
            )
            if value
        ]
        lines += [f"  path: {' > '.join(path)}" for path in self.paths]
        for name, some in (("parents", self.parents), ("children", self.children)):
            if some.count:
                lines.append(f"  {name} ({some.count:,}): {some}")
        lines += [f"  {some.relation} ({some.count:,}): {some}" for some in self.links]
        lines.append(f"  spaces: {', '.join(self.spaces)}")
        return printable("\n".join(lines))

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as plain data; ``query`` is the resolution."""
        return {
            "query": {"question": "describe", "entity": asdict(self.resolution)},
            "id": self.id,
            "label": self.label,
            "synonyms": list(self.synonyms),
            "alternative_ids": list(self.alternative_ids),
            "definition": self.definition,
            "parents": self.parents.to_dict(),
            "children": self.children.to_dict(),
            "paths": [list(path) for path in self.paths],
            "links": [some.to_dict() for some in self.links],
            "spaces": list(self.spaces),
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as one line of JSON."""
        return json_text(self.to_dict())
