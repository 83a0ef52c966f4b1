"""Changing the graph of an index, with the encoders that it has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ontodex.errors import settings_from
from ontodex.graph import KnowledgeGraph, TextSettings
from ontodex.indexers.build import build_generation
from ontodex.indexers.encoder_files import Encoders
from ontodex.indexers.graph_features import carried
from ontodex.scoring.neighbour_voting import NeighbourVoting
from ontodex.storage import generations
from ontodex.storage.index import Index
from ontodex.storage.space_names import CONDITION, GAUSS, HIT, LINK

__all__ = ["encoders_of", "update_index"]


def encoders_of(index: Index) -> Encoders:
    """Load the encoders of an index.

    Raises:
        IndexMismatch: If one is not the one that the manifest names.
    """
    given = index.manifest.encoders
    return Encoders(
        index.text_encoder,
        link=index.link_encoder if LINK in given else None,
        hit=index.hit_encoder if HIT in given else None,
        condition=index.condition_encoder if CONDITION in given else None,
        gauss=index.gauss_encoder if GAUSS in given else None,
        kin=NeighbourVoting.read(given.get(HIT, {}), str(index.folder / "manifest.json")),
    )


def update_index(
    path: Path,
    change: Callable[[KnowledgeGraph], KnowledgeGraph],
    *,
    device: str = "auto",
    quiet: bool = False,
) -> int:
    """Make a generation of a changed graph; only texts that are new are encoded, and nothing is trained or fitted.

    From the reading of the graph to the new generation there is no other writer, so that no change is lost.

    Args:
        path: Folder of the index.
        change: From the graph of the index to the new one.
        device: Where to encode.
        quiet: Show no progress on stderr.

    Returns:
        The number of the generation.

    Raises:
        IndexFailure: If there is no index, or it cannot be written.
        IndexLocked: If another process is writing the index.
    """
    generations.current(path)  # to be a writer would make a folder where there is none
    with generations.writer(path):
        index = Index.open(path, device)
        try:
            graph = change(index.graph)
            number = build_generation(
                graph,
                path,
                encoders_of(index),
                structure=carried(index, graph),
                texts=settings_from(
                    TextSettings, index.manifest.settings["texts"], str(index.folder)
                ),
                settings={
                    name: index.manifest.settings.get(name)
                    for name in ("training", "structure", "spans")
                },
                quiet=quiet,
                kept=index,  # a new rule, or new projections, would change the scores of what has not changed
            )
        finally:
            index.close()
        generations.drop_old(path, keep=number)
    return number
