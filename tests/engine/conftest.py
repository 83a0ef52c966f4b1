from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ontodex
from ontodex.engine.hierarchy import Subsumptions
from ontodex.graph import GraphBuilder, KnowledgeGraph

sys.path.insert(0, str(Path(__file__).parent))  # for planted: --import-mode=importlib adds nothing

from planted import plant


@pytest.fixture(scope="module")
def planted(small_graph: KnowledgeGraph) -> Subsumptions:
    """The small graph, the whale among the tame animals, and ruminants a kind of their own."""
    ruminants = dict.fromkeys(("cow", "sheep", "goat"), "ruminant")
    texts = {"ruminant": "tame animal", "a yak": "tame animal"}
    return plant(small_graph, {"whale": "tame animal", **ruminants}, texts)


@pytest.fixture(scope="module")
def family(
    tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path
) -> Iterator[tuple[ontodex.Engine, list[tuple[str, str]]]]:
    """An index of parents and children, and the fifth of the child-parent pairs held out of it."""
    builder, held_out = GraphBuilder("family"), []
    count = 120
    for row in range(count):
        builder.entity(f"ex:{row}", f"person {row}")
    for parent in range(count // 2):
        for child in (2 * parent + 1, 2 * parent + 2):
            if child < count:
                builder.triple(f"ex:{parent}", "ex:parentOf", f"ex:{child}")
                if child % 5:
                    builder.triple(f"ex:{child}", "ex:childOf", f"ex:{parent}")
                else:
                    held_out.append((f"ex:{child}", f"ex:{parent}"))
        builder.triple(f"ex:{parent}", "ex:knows", f"ex:{(parent + 7) % count}")
    path = tmp_path_factory.mktemp("family") / "family.odx"
    with ontodex.build(
        builder.build(), path, encoders=[tiny_encoder], device="cpu", entailment=False, quiet=True
    ) as engine:
        yield engine, held_out
