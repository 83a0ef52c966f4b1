"""Search and completion engine for knowledge graphs and ontologies.

::

    import ontodex

    graph = ontodex.read("hp.obo")
    engine = ontodex.build(graph, "hp.odx")  # or ontodex.open("hp.odx")
    engine.tails("Marfan syndrome", "has phenotype", k=10)

``__init__.pyi`` lists the public names, for type checkers and for this module. This module imports
each name on first use, so that ``import ontodex`` is quick.
"""

from __future__ import annotations

import ast
import importlib
import os
from pathlib import Path
from typing import Any

# Torch's threads wait for each other in a busy loop, by default for milliseconds. On a busy
# machine, the loop takes time from the thread that the others wait for: training on a small graph
# took 20 times as long. GCC's OpenMP reads this variable when torch is imported.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")

# By default, oneDNN caches code for 1,024 shapes of bfloat16 matrices. In a long run, this takes
# 100 MB more, and is not faster.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128")

_MODULES = {
    name.name: node.module
    for node in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    if isinstance(node, ast.ImportFrom) and node.module
    for name in node.names
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("ontodex")
    if name not in _MODULES:
        raise AttributeError(f"module 'ontodex' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
