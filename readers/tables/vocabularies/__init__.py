"""Mappings of XML vocabularies, one YAML file each, selected by the name of the root element."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import yaml

from ontodex.readers.tables.mapping import TableMapping, mapping_from

__all__ = ["vocabulary"]


def vocabulary(root: str) -> tuple[TableMapping, ...]:
    """Return the mappings for the name of a root element; empty if no vocabulary has it.

    >>> [mapping.table for mapping in vocabulary("opml")], vocabulary("html")
    (['outlines'], ())
    """
    return _vocabularies().get(root, ())


@cache
def _vocabularies() -> dict[str, tuple[TableMapping, ...]]:
    found = {}
    for file in sorted(files(__name__).iterdir(), key=lambda one: one.name):
        if file.name.endswith(".yaml"):
            values = yaml.safe_load(file.read_text("utf-8"))
            roots = values["root"] if isinstance(values["root"], list) else [values["root"]]
            tables = tuple(mapping_from(one, file.name) for one in values["tables"])
            found.update(dict.fromkeys(roots, tables))
    return found
