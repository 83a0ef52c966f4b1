from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ontodex.engine.subsumptions import Subsumptions
from ontodex.graph import KnowledgeGraph

sys.path.insert(0, str(Path(__file__).parent))  # for planted: --import-mode=importlib adds nothing

from planted import plant


@pytest.fixture(scope="module")
def planted(small_graph: KnowledgeGraph) -> Subsumptions:
    """The small graph, the whale among the tame animals, and ruminants a kind of their own."""
    ruminants = dict.fromkeys(("cow", "sheep", "goat"), "ruminant")
    texts = {"ruminant": "tame animal", "a yak": "tame animal"}
    return plant(small_graph, {"whale": "tame animal", **ruminants}, texts)
