"""Networks in CX and CX2, the JSON formats of NDEx and Cytoscape.

See the `specifications <https://cytoscape.org/cx/>`_.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ontodex.readers.problems import Problems

__all__ = ["is_cx", "nodes_and_links"]

MARKS = ("CXVersion", "numberVerification")
"""Key of the first object of a CX2 network, and of a CX network."""

ALIASES = {"n": "name", "r": "represents", "i": "interaction"}
"""Full names of short attribute names that are used without a declaration."""

AFTER_ENDS = ("name", "shared name", "shared interaction")
"""Edge attributes that Cytoscape derives from the nodes."""

Objects = list[dict[str, Any]]


def is_cx(document: Any) -> bool:
    """Tell whether a JSON document is a network in CX or CX2."""
    first = document[0] if isinstance(document, list) and document else None
    return isinstance(first, dict) and not first.keys().isdisjoint(MARKS)


def nodes_and_links(document: list[Any], problems: Problems) -> dict[str, Objects]:
    """Return the nodes and edges of a network as objects with their attributes.

    The id of a node is what the node represents (``uniprot:O75581``), if that is one word.
    Otherwise the id is the name of the node if it is unique, or else the number. The relation of an
    edge is its ``interaction``.

    Args:
        document: The list of aspects.
        problems: Receives elements that are neither nodes nor edges.
    """
    aspects: dict[str, list[Any]] = {}
    for part in document:
        for name, elements in part.items() if isinstance(part, dict) else ():
            if isinstance(elements, list):
                aspects.setdefault(name, []).extend(elements)
    nodes, edges = (_elements(aspects, kind, problems) for kind in ("nodes", "edges"))
    names = Counter(_text(node.get("name")) for node in nodes.values())
    ids = {}
    for number, node in nodes.items():
        represents, name = _text(node.pop("represents", None)), _text(node.get("name"))
        ids[number] = (
            represents
            if len(represents.split()) == 1
            else name
            if names[name] == 1 and name
            else number
        )
    links = []
    for edge in edges.values():
        source, target = (ids.get(_text(edge.pop(end, None))) for end in "st")
        if source is None or target is None:
            problems.unexpected("an edge between two nodes", edge)
            continue
        relation = {"relation": edge.pop("interaction")} if edge.get("interaction") else {}
        rest = {key: value for key, value in edge.items() if key not in AFTER_ENDS}
        links.append({"source": source, **relation, **rest, "target": target})
    return {
        "nodes": [{"id": ids[number], **node} for number, node in nodes.items()],
        "links": links,
    }


def _elements(
    aspects: dict[str, list[Any]], kind: str, problems: Problems
) -> dict[str, dict[str, Any]]:
    """Return the attributes of each node or edge, by its number."""
    aliases = dict(ALIASES)
    for declared in aspects.get("attributeDeclarations", []):
        of_kind = declared.get(kind) if isinstance(declared, dict) else None
        for name, about in of_kind.items() if isinstance(of_kind, dict) else ():
            if isinstance(about, dict) and isinstance(about.get("a"), str):
                aliases[about["a"]] = name
    found: dict[str, dict[str, Any]] = {}
    for element in aspects.get(kind, []):
        if not isinstance(element, dict) or not (
            number := _text(element.get("@id", element.get("id")))
        ):
            problems.unexpected(f"an object of {kind} with an id", element)
            continue
        attributes = {
            key: value
            for key, value in element.items()
            if key not in ("@id", "id", "v", "x", "y", "z")
        }
        attributes |= element["v"] if isinstance(element.get("v"), dict) else {}
        found[number] = {aliases.get(key, key): value for key, value in attributes.items()}
    for value in aspects.get(f"{kind[:-1]}Attributes", []):
        if (
            isinstance(value, dict)
            and isinstance(value.get("n"), str)
            and (of_one := found.get(_text(value.get("po"))))
        ):
            of_one.setdefault(value["n"], value.get("v"))
    return found


def _text(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int) else ""
