"""Making a generation of an index."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

from ontodex.errors import IndexFailure
from ontodex.graph import KnowledgeGraph, TextSettings
from ontodex.indexers.encoder_files import Encoders
from ontodex.indexers.generation import LinkTrainer, NewGeneration
from ontodex.indexers.graph_features import StructureTrainer
from ontodex.indexers.previous import live
from ontodex.scoring.graph_features import GraphFeatures
from ontodex.storage import generations
from ontodex.storage.index import Index
from ontodex.storage.manifest import FORMAT

__all__ = ["build_generation", "build_index"]


def build_index(
    graph: KnowledgeGraph,
    path: Path,
    encoders: Encoders,
    *,
    train: LinkTrainer | None = None,
    structure: StructureTrainer | GraphFeatures | None = None,
    texts: TextSettings | None = None,
    settings: dict[str, Any] | None = None,
    quiet: bool = False,
) -> int:
    """Build the next generation of an index, publish it, and drop the old ones that nobody reads.

    Entities whose text an earlier generation has encoded are not encoded again. An interrupted build goes on where it was,
    if it is called again with the same arguments.

    Args:
        graph: What is known.
        path: Folder of the index; made if it is not there.
        encoders: Encoders of the spaces.
        train: Trains an encoder of the link space where none is given; ``None`` for an index without one.
        structure: Trains structural vectors to stand beside those of the link space, if there is one, or has them already.
        texts: How an entity's text is built; for a space whose encoder says how it was trained, as that says.
        settings: What else the result depends on; written to the manifest.
        quiet: Show no progress on stderr.

    Returns:
        The number of the generation.

    Raises:
        IndexLocked: If another process is writing the index.
        IndexFailure: If the folder cannot be written, or holds something else.
        IndexMismatch: If it holds an index of a newer version.
    """
    if path.is_dir() and any(path.iterdir()) and not generations.is_index(path):
        raise IndexFailure(
            f"{path}: expected an index or an empty folder, found other files; choose another name"
        )
    with generations.writer(path):
        return build_generation(
            graph,
            path,
            encoders,
            train=train,
            structure=structure,
            texts=texts,
            settings=settings,
            quiet=quiet,
        )


def build_generation(
    graph: KnowledgeGraph,
    path: Path,
    encoders: Encoders,
    *,
    train: LinkTrainer | None = None,
    structure: StructureTrainer | GraphFeatures | None = None,
    texts: TextSettings | None = None,
    settings: dict[str, Any] | None = None,
    quiet: bool = False,
    kept: Index | None = None,
) -> int:
    """Do as :func:`build_index`, as the one writer of the index (:func:`ontodex.storage.generations.writer`).

    With ``kept``, an index of the graph as it was, nothing changes that was fitted or learnt: the hierarchy encoder has the
    rule that it has, and relations the projections that they had, whatever they are called now.
    """
    texts = texts or TextSettings()
    number = generations.next_number(path)
    about = {"texts": dataclasses.asdict(texts), **(settings or {})}
    job = _job(graph, encoders, about)
    try:
        with live(path) as earlier:
            made = NewGeneration(
                path, number, graph, encoders, texts, about, quiet, kept, earlier, job
            )
            made.start()
            made.make(train, structure)
        generations.publish(path, made.folder, number)
    except OSError as error:
        raise IndexFailure(
            f"{path}: the index cannot be written ({error}); the next build goes on from here"
        ) from error
    generations.drop_old(path, keep=number)
    return number


def _job(graph: KnowledgeGraph, encoders: Encoders, settings: dict[str, Any]) -> str:
    given = encoders.link is not None, encoders.fingerprints
    parts = (FORMAT, graph.fingerprint, encoders.text.fingerprint, *given, settings)
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()
