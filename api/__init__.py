"""Search and completion engine for knowledge graphs and ontologies.

::

    import ontodex

    graph = ontodex.read("hp.obo")
    engine = ontodex.build(graph, "hp.odx")  # or ontodex.open("hp.odx")
    engine.tails("Marfan syndrome", "has phenotype", k=10)

Importing this package is quick: what a call needs is imported by the call.
"""

from __future__ import annotations

import importlib
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontodex.engine.engine import Engine
    from ontodex.engine.hits import Hit, Hits
    from ontodex.errors import OntodexError
    from ontodex.graph import Hierarchy, KnowledgeGraph, TextSettings, read
    from ontodex.indexing import add, build, open, remove
    from ontodex.trainers.hyper_cl import HyperCLTraining

__all__ = [
    "Engine",
    "Hierarchy",
    "Hit",
    "Hits",
    "HyperCLTraining",
    "KnowledgeGraph",
    "OntodexError",
    "TextSettings",
    "add",
    "build",
    "open",
    "read",
    "remove",
]

__version__ = version("ontodex")

_HOMES = {
    "Engine": "ontodex.engine.engine",
    "Hierarchy": "ontodex.graph",
    "Hit": "ontodex.engine.hits",
    "Hits": "ontodex.engine.hits",
    "HyperCLTraining": "ontodex.trainers.hyper_cl",
    "KnowledgeGraph": "ontodex.graph",
    "OntodexError": "ontodex.errors",
    "TextSettings": "ontodex.graph",
    "add": "ontodex.indexing",
    "build": "ontodex.indexing",
    "open": "ontodex.indexing",
    "read": "ontodex.graph",
    "remove": "ontodex.indexing",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ontodex' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted((*__all__, "__version__"))
