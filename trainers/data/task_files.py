"""Hierarchy tasks as JSON lines in the layout of HiT's public data, with their settings.

``train.jsonl`` holds ``child`` and ``parent``; ``valid.jsonl`` (``val.jsonl`` in the public data)
and ``test.jsonl`` also have ``random_negatives`` and ``hard_negatives``. ``hierarchy.jsonl`` (all
direct links) and ``settings.json`` (settings of the task) are not part of the public data.
``entity_lexicon.json`` gives the name of each entity.
"""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ontodex.errors import ReadError, SettingsError, expect_choice, nearest, settings_from
from ontodex.graph import links_fingerprint
from ontodex.graph.hierarchy import Hierarchy, Rows
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.negatives import Pairs
from ontodex.trainers.data.subsumptions import TASKS, HierarchyTask, TaskSettings, make_task

__all__ = ["hierarchy_task", "read_settings", "read_task", "write_task"]

LEAST_INDIRECT = 100
"""Smallest number of indirect subsumptions with which multi-hop is the default task."""


def hierarchy_task(
    graph: KnowledgeGraph,
    task: str | None = None,
    *,
    relation: str | None = None,
    seed: int = 0,
    negatives: int = 10,
    homonyms: bool = True,
    pairs: str | Path | None = None,
) -> HierarchyTask:
    """Return a task on the hierarchy of a graph, with pairs drawn by seed or read from a folder.

    Args:
        graph: A graph with a hierarchy.
        task: ``"multi-hop"`` holds out a tenth of the indirect subsumptions, ``"mixed-hop"`` also a
            tenth of the direct links; ``"transfer"`` holds out all subsumptions and has no training
            links. The default is multi-hop; for a flat hierarchy, with fewer than 100 indirect
            subsumptions, it is mixed-hop, with a warning.
        relation: The relation from child to parent; by default all relations with a name such as
            ``is_a``.
        seed: Seed of split and negatives.
        negatives: Negatives of each kind (random, hard) for each positive.
        homonyms: Whether an entity with the label of the child or of an ancestor may be a negative,
            as in the paper.
        pairs: A folder of pairs. If the folder has files, the pairs are read; otherwise the pairs
            are drawn and written.

    Raises:
        GraphError: If the graph has no hierarchy, or one too small for the task.
        SettingsError: If the task is unknown, or the folder holds another task or a task on another
            hierarchy.
    """
    if task is not None:
        expect_choice("task", task, TASKS)
    folder = None if pairs is None else Path(pairs)
    if folder is not None and folder.is_dir() and any(folder.iterdir()):
        stored = read_settings(folder)
        if stored is not None:
            wanted = TaskSettings(
                task or stored.task,
                seed,
                negatives,
                stored.held_out,
                homonyms,
                relation,
                stored.links,
            )
            if stored != wanted:
                raise SettingsError(
                    f"{folder}: expected pairs of {wanted}, found {stored}; name another folder"
                )
            links = graph.hierarchy(relation, on_cycle="warn").links
            if stored.links not in (None, links_fingerprint(links, graph.ids)):
                raise SettingsError(
                    f"{folder}: expected pairs of the hierarchy of {graph.source}, found those of "
                    "another, or of another state of it: its links differ; name another folder"
                )
        return read_task(folder, graph.ids)
    hierarchy, names = graph.hierarchy(relation, on_cycle="warn"), list(graph.labels)
    task = task or _usual_task(hierarchy, graph.source)
    made = make_task(
        hierarchy, task, seed=seed, negatives=negatives, names=None if homonyms else names
    )
    if made.settings is not None:
        fingerprint = links_fingerprint(hierarchy.links, graph.ids)
        made = replace(made, settings=replace(made.settings, relation=relation, links=fingerprint))
    if folder is not None:
        write_task(made, graph.ids, folder, names)
    return made


def _usual_task(hierarchy: Hierarchy, source: str) -> str:
    indirect = len(hierarchy.subsumption_keys) - len(hierarchy.links)
    if indirect >= LEAST_INDIRECT or not len(hierarchy.links):
        return "multi-hop"
    warnings.warn(
        f"{source}: a flat hierarchy, {indirect} subsumptions follow from its "
        f"{len(hierarchy.links)} links; a tenth of the links is held out too (mixed-hop)",
        stacklevel=3,
    )
    return "mixed-hop"


KEYS = ("random_negatives", "hard_negatives")


def write_task(
    task: HierarchyTask, ids: Sequence[str], folder: Path, names: Sequence[str] | None = None
) -> None:
    """Write a task to a folder, which is created if missing; files of a previous task are replaced.

    A new or empty folder is written atomically.

    Args:
        task: The task.
        ids: Id of each row.
        folder: Output folder.
        names: Name of each row, for ``entity_lexicon.json``.
    """
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        dir=folder.parent, prefix=f".{folder.name}.", suffix=".tmp"
    ) as beside:
        made = Path(beside) / folder.name
        made.mkdir()
        _write_files(task, list(ids), made, names)
        if folder.exists() and not any(folder.iterdir()):
            folder.rmdir()
        if not folder.exists():
            made.replace(folder)
            return
        for file in made.iterdir():
            file.replace(folder / file.name)


def _write_files(
    task: HierarchyTask, names_of_rows: list[str], folder: Path, names: Sequence[str] | None
) -> None:

    def named(rows: Iterable[int]) -> list[str]:
        return [names_of_rows[row] for row in rows]

    def links(pairs: Rows) -> Iterator[dict[str, Any]]:
        return (dict(zip(("child", "parent"), named(pair), strict=True)) for pair in pairs.tolist())

    def held_out(pairs: Pairs) -> Iterator[dict[str, Any]]:
        negatives = zip(pairs.random.tolist(), pairs.hard.tolist(), strict=True)
        for link, both in zip(links(pairs.positives), negatives, strict=True):
            yield {**link, **{key: named(rows) for key, rows in zip(KEYS, both, strict=True)}}

    _write_lines(folder / "train.jsonl", links(task.train))
    _write_lines(folder / "valid.jsonl", held_out(task.valid))
    _write_lines(folder / "test.jsonl", held_out(task.test))
    _write_lines(folder / "hierarchy.jsonl", links(task.known.links))
    if task.settings is not None:
        _write(folder / "settings.json", json.dumps(asdict(task.settings), indent=1) + "\n")
    if names is not None:
        lexicon = {names_of_rows[row]: {"name": names[row]} for row in task.known.members.tolist()}
        _write(
            folder / "entity_lexicon.json", json.dumps(lexicon, ensure_ascii=False, indent=0) + "\n"
        )


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def _write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    _write(path, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))


def read_task(folder: Path, ids: Sequence[str]) -> HierarchyTask:
    """Read a task that :func:`write_task` wrote, or one of HiT's public data.

    Without ``hierarchy.jsonl``, the links of ``known`` are all positives of the task, direct or
    indirect.

    Args:
        folder: Folder of the task.
        ids: Id of each row; for the public data, the keys of ``entity_lexicon.json``.

    Raises:
        ReadError: If a file is missing, or a line is faulty; the message names the line.
        SettingsError: If ``settings.json`` has unknown keys.
        CycleError: If the positives have a cycle.
    """
    rows = {identifier: row for row, identifier in enumerate(ids)}
    valid = folder / ("valid.jsonl" if (folder / "valid.jsonl").exists() else "val.jsonl")
    train = _links(folder / "train.jsonl", rows)
    held_out = _pairs(valid, rows), _pairs(folder / "test.jsonl", rows)
    if (folder / "hierarchy.jsonl").exists():
        links = _links(folder / "hierarchy.jsonl", rows)
    else:
        links = np.concatenate([train, *(part.positives for part in held_out)])
    known = Hierarchy(links[:, 0], links[:, 1], ids=ids)
    return HierarchyTask(train, *held_out, known=known, settings=read_settings(folder))


def read_settings(folder: Path) -> TaskSettings | None:
    """Return the settings of the task in a folder; ``None`` without settings (the public data).

    Raises:
        ReadError: If ``settings.json`` is not an object.
        SettingsError: If ``settings.json`` has unknown keys.
    """
    path = folder / "settings.json"
    if not path.exists():
        return None
    values = _json(_text(path), str(path))
    if not isinstance(values, dict):
        raise ReadError(f"expected an object of settings, found {type(values).__name__}", str(path))
    return settings_from(TaskSettings, values, str(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(
            f"expected a text file, found none that can be read ({error})", str(path)
        ) from None


def _json(text: str, source: str, line: int | None = None) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ReadError(f"expected JSON, found {text[:60]!r} ({error})", source, line) from None


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(_text(path).split("\n"), 1):
        if line.strip():
            entry = _json(line, str(path), number)
            if not isinstance(entry, dict) or not {"child", "parent"} <= entry.keys():
                raise ReadError(
                    f"expected an object with child and parent, found {line[:60]!r}",
                    str(path),
                    number,
                )
            yield number, entry


def _rows(found: Any, rows: Mapping[str, int], where: tuple[Path, int]) -> list[int]:
    path, number = where
    if not isinstance(found, list):
        raise ReadError(f"expected a list of entities, found {str(found)[:60]}", str(path), number)
    for name in found:
        if not isinstance(name, str) or name not in rows:
            hint = nearest(str(name), rows)
            raise ReadError(
                f"expected an entity of the hierarchy, found {name!r}{hint}", str(path), number
            )
    return [rows[name] for name in found]


def _links(path: Path, rows: Mapping[str, int]) -> Rows:
    found = [
        _rows([entry["child"], entry["parent"]], rows, (path, number))
        for number, entry in _lines(path)
    ]
    return np.array(found, dtype=np.int32).reshape(-1, 2)


def _pairs(path: Path, rows: Mapping[str, int]) -> Pairs:
    links: list[list[int]] = []
    negatives: dict[str, list[list[int]]] = {key: [] for key in KEYS}
    for number, entry in _lines(path):
        links.append(_rows([entry["child"], entry["parent"]], rows, (path, number)))
        for key in KEYS:
            found = _rows(entry.get(key), rows, (path, number))
            width = len(negatives[KEYS[0]][0]) if negatives[KEYS[0]] else len(found)
            if len(found) != width:
                raise ReadError(
                    f"expected {width} {key} as in line 1, found {len(found)}", str(path), number
                )
            negatives[key].append(found)
    if not links:
        raise ReadError("expected at least one subsumption, found none", str(path))
    random, hard = (
        np.array(negatives[key], dtype=np.int32).reshape(len(links), -1) for key in KEYS
    )
    return Pairs(np.array(links, dtype=np.int32), random, hard)
