"""Updating the graph of an index, with the same encoders and the same fitted parts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ontodex.encoders.index_encoders import StoredEncoders
from ontodex.errors import IndexFailure, settings_from
from ontodex.graph import KnowledgeGraph, TextSettings
from ontodex.indexers.build import build_generation, steps_of
from ontodex.storage import generations
from ontodex.storage.index import Index

__all__ = ["update_index"]


def update_index(
    path: Path,
    change: Callable[[KnowledgeGraph], KnowledgeGraph],
    *,
    device: str = "auto",
    quiet: bool = False,
) -> int:
    """Make a generation of a changed graph: new texts are encoded, nothing is trained or fitted.

    The lock of the index is held from the reading of its graph to the publishing of the new
    generation, so that no other change is lost.

    Args:
        path: Folder of the index.
        change: Function from the graph of the index to the new graph.
        device: Device of the encoders.
        quiet: Show no progress on stderr.

    Returns:
        The number of the generation.

    Raises:
        IndexFailure: If there is no index, it is unfinished, or it cannot be written.
        IndexLocked: If another process is writing the index.
        IndexMismatch: If an encoder is not the one that the index was built with.
    """
    generations.current(path)  # raises if there is no index: the lock would create a folder
    with generations.writer(path):
        index = Index.open(path)
        try:
            if pending := index.manifest.pending:
                raise IndexFailure(
                    f"{path}: expected a finished index, found one whose build has stopped before "
                    f"{', '.join(pending)}; start `ontodex build` again as before"
                )
            graph, settings = change(index.graph), index.manifest.settings
            number = build_generation(
                graph,
                path,
                StoredEncoders(index, device).load(set(index.manifest.encoders)),
                steps_of(),
                settings_from(TextSettings, settings["texts"], str(index.folder)),
                {name: value for name, value in settings.items() if name != "texts"},
                update_of=index,
                quiet=quiet,
            )
        finally:
            index.close()
        generations.drop_old(path, keep=number)
    return number
