"""Building an index: stages of steps, each published when it is done, which resume."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ontodex.encoders.index_encoders import Encoders
from ontodex.errors import IndexFailure
from ontodex.graph import KnowledgeGraph, TextSettings
from ontodex.indexers.graph_features import KGETrainer
from ontodex.indexers.memory import warn_of_memory
from ontodex.indexers.previous import open_previous
from ontodex.indexers.progress import Progress, tell
from ontodex.indexers.step import Build, Inputs, Step
from ontodex.indexers.steps.embed_conditions import EmbedConditions
from ontodex.indexers.steps.embed_hierarchy import EmbedHierarchy, FitHierarchy
from ontodex.indexers.steps.embed_links import (
    EmbedLinks,
    LinkTrainer,
    ProjectRelations,
    TrainLinks,
)
from ontodex.indexers.steps.embed_sentences import EmbedSentences
from ontodex.indexers.steps.encode_texts import EncodeDefinitions, EncodeNames, EncodeTexts
from ontodex.indexers.steps.fit_grounding import FitGrounding, GroundingFitter
from ontodex.indexers.steps.learn_links import LearnLinks
from ontodex.indexers.store import write_candidates, write_store
from ontodex.storage import generations
from ontodex.storage.blobs import tree_checksum
from ontodex.storage.graph_blobs import graph_info
from ontodex.storage.index import Index
from ontodex.storage.integrity import STORE
from ontodex.storage.manifest import FORMAT, FileInfo, Manifest, file_info
from ontodex.storage.space_names import STAGES

__all__ = ["build_generation", "build_index", "steps_of"]

JOB = "job.json"
"""File with the checksum of a build's inputs; a build with the same checksum resumes."""

STAGED_FROM = 1000
"""Smallest number of entities of a graph whose stages are published one by one."""


def steps_of(
    train: LinkTrainer | None = None,
    train_kge: KGETrainer | None = None,
    fit_grounding: GroundingFitter | None = None,
    stages: Sequence[str] = tuple(STAGES),
) -> list[Step]:
    """Return the steps of a build, stage by stage, in order.

    Args:
        train: Trains a link encoder if none is given; ``None`` for no training.
        train_kge: Trains KGE vectors; ``None`` for an index without graph features.
        fit_grounding: Fits the rule of grounding; ``None`` for an index without one.
        stages: The stages in the order in which they are built, ``"search"`` and ``"texts"`` first.
    """
    steps = [
        EncodeNames(),
        EncodeTexts(),
        EncodeDefinitions(),
        FitGrounding(fit_grounding),
        TrainLinks(train),
        EmbedLinks(),
        LearnLinks(train_kge),
        ProjectRelations(),
        EmbedConditions(),
        EmbedHierarchy(),
        FitHierarchy(),
        EmbedSentences(),
    ]
    return [step for stage in stages for step in steps if step.stage == stage]


def build_index(
    graph: KnowledgeGraph,
    path: Path,
    encoders: Encoders,
    *,
    train: LinkTrainer | None = None,
    train_kge: KGETrainer | None = None,
    fit_grounding: GroundingFitter | None = None,
    texts: TextSettings | None = None,
    settings: dict[str, Any] | None = None,
    stages: Sequence[str] = tuple(STAGES),
    more_encoders: Callable[[Encoders], Encoders] | None = None,
    quiet: bool = False,
) -> int:
    """Build an index, publish its generation, and delete old generations without readers.

    Texts that the previous generation has encoded with the same encoder are not encoded again. A
    graph of at least :data:`STAGED_FROM` entities is built in stages
    (:data:`~ontodex.storage.space_names.STAGES`). Each stage publishes a generation if the live one
    has fewer spaces, so that questions are answered as soon as their stage is done. Before them, if
    there is no generation yet, one without spaces is published, in which names are searched by
    their letters. An interrupted build resumes when it is called again with the same arguments.

    Args:
        graph: The graph.
        path: Folder of the index; created if missing.
        encoders: The encoder of each space.
        train: Trains a link encoder if none is given; ``None`` for no training.
        train_kge: Trains KGE vectors; ``None`` for an index without graph features.
        fit_grounding: Fits the rule of grounding; ``None`` for an index without one.
        texts: Settings of entity texts. A space whose encoder has its own settings of entity texts
            uses the encoder's settings.
        settings: Further settings that the result depends on, for the manifest.
        stages: The stages in the order in which they are built, ``"search"`` and ``"texts"`` first.
        more_encoders: Loads encoders that take seconds to load, after names are published; a
            function from ``encoders`` to all encoders.
        quiet: Show no progress on stderr.

    Returns:
        The number of the last generation.

    Raises:
        IndexLocked: If another process is writing the index.
        IndexFailure: If the folder cannot be written, or has other files in it.
        IndexMismatch: If the folder has an index of a newer version.
    """
    if path.is_dir() and any(path.iterdir()) and not generations.is_index(path):
        raise IndexFailure(
            f"{path}: expected an index or an empty folder, found other files; choose another name"
        )
    with generations.writer(path):
        if graph.n_entities >= STAGED_FROM and not (path / "CURRENT").exists():
            _publish_names(graph, path, encoders, stages, quiet=quiet)
        if more_encoders is not None:
            encoders = more_encoders(encoders)
        steps = steps_of(train, train_kge, fit_grounding, stages)
        return build_generation(graph, path, encoders, steps, texts, settings, quiet=quiet)


def _publish_names(
    graph: KnowledgeGraph, path: Path, encoders: Encoders, stages: Sequence[str], *, quiet: bool
) -> None:
    """Publish a generation without spaces, whose names can be searched by their letters."""
    start = time.time()
    inputs = Inputs(
        index=path,
        folder=path / generations.WORK,
        graph=graph,
        texts=TextSettings(),
        settings={"texts": dataclasses.asdict(TextSettings())},
        previous=None,
        update_of=None,
        quiet=quiet,
    )
    try:
        _publish(Build(inputs, encoders, graph), stages)
    except OSError as error:
        raise IndexFailure(f"{path}: the index cannot be written ({error})") from error
    tell("names", time.time() - start, quiet=quiet)


def build_generation(
    graph: KnowledgeGraph,
    path: Path,
    encoders: Encoders,
    steps: Sequence[Step],
    texts: TextSettings | None = None,
    settings: dict[str, Any] | None = None,
    *,
    update_of: Index | None = None,
    quiet: bool = False,
) -> int:
    """Build and publish a generation; the caller holds the writer's lock. See :func:`build_index`.

    Args:
        graph: The graph.
        path: Folder of the index.
        encoders: The encoder of each space.
        steps: The steps of the build.
        texts: How the text of an entity is built.
        settings: Further settings that the result depends on.
        update_of: The index that is updated, whose trained and fitted parts are carried over;
            ``None`` to train and fit anew.
        quiet: Show no progress on stderr.
    """
    texts = texts or TextSettings()
    settings = {"texts": dataclasses.asdict(texts), **(settings or {})}
    try:
        with open_previous(path) as previous:
            inputs = Inputs(
                index=path,
                folder=path / generations.WORK,
                graph=graph,
                texts=texts,
                settings=settings,
                previous=previous,
                update_of=update_of,
                quiet=quiet,
            )
            build = Build(inputs, encoders, graph)
            _open_folder(inputs, _job(graph, encoders, settings))
            number = _run(build, steps)
            shutil.rmtree(inputs.folder)
    except OSError as error:
        raise IndexFailure(
            f"{path}: the index cannot be written ({error}); the next build resumes from here"
        ) from error
    generations.drop_old(path, keep=number)
    return number


def _run(build: Build, steps: Sequence[Step]) -> int:
    """Run all steps, publish what is ready after each stage, and return the last generation."""
    staged = build.inputs.graph.n_entities >= STAGED_FROM
    if staged:
        warn_of_memory(build.inputs.graph)
    for step in steps:
        step.prepare(build)
    stages = list(dict.fromkeys(step.stage for step in steps if step.asked_for(build)))
    inputs = build.inputs
    progress = Progress(build, stages) if staged and inputs.update_of is None else None
    live = None if inputs.previous is None else set(inputs.previous.manifest.spaces)
    for position, stage in enumerate(stages, start=1):
        for step in steps:
            if step.stage == stage and all(space in build.spaces for space in step.needs):
                with build.timed(step.name):
                    step.run(build)
        pending, made = stages[position:], set(build.spaces)
        adds = staged and live is not None and live < made
        if adds or not pending:
            number = _publish(build, pending)
            live = made
        if progress is not None:
            progress.end(stage, tell=adds)
    build.spaces.clear()  # closes the memory maps of working files
    return number


def _job(graph: KnowledgeGraph, encoders: Encoders, settings: dict[str, Any]) -> str:
    """Return a checksum of the inputs of a build."""
    given = encoders.link is not None, encoders.fingerprints
    parts = (FORMAT, graph.fingerprint, encoders.text.fingerprint, *given, settings)
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()


def _open_folder(inputs: Inputs, job: str) -> None:
    """Create the working folder, or keep it for the same job; remove other unfinished folders."""
    for folder in inputs.index.glob("gen-*.tmp"):
        shutil.rmtree(folder)
    if inputs.folder.exists() and _read_job(inputs.folder) != job:
        shutil.rmtree(inputs.folder)
    inputs.folder.mkdir(exist_ok=True)
    (inputs.folder / JOB).write_text(json.dumps({"job": job}))


def _read_job(folder: Path) -> str | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads((folder / JOB).read_text())["job"])
    return None


def _publish(build: Build, pending: Sequence[str]) -> int:
    """Publish what the build has made so far as a generation, and return its number.

    Args:
        build: The build.
        pending: The stages to come.
    """
    index, graph = build.inputs.index, build.inputs.graph
    number = generations.next_number(index)
    folder = index / f"gen-{number:06d}.tmp"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with build.timed("store"):
        write_store(build, folder)
        write_candidates(build, folder)
    files: dict[str, FileInfo] = {
        file.relative_to(folder).as_posix(): file_info(file)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
    Manifest(
        generation=number,
        version=version("ontodex"),
        created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        graph=graph_info(graph),
        settings=build.inputs.settings,
        files=files,
        tree_checksum=tree_checksum(folder / STORE, build.entries.blobs),
        mappings=[dict(mapping) for mapping in graph.mappings],
        pending=list(pending),
        **vars(build.entries),
    ).write(folder)
    generations.sync_tree(folder)
    generations.publish(index, folder, number)
    generations.drop_old(index, keep=number)
    return number
