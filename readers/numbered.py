"""Benchmark folders whose triples are numbers, as OpenKE and LibKGE have them, with the names in files beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of
from ontodex.readers.folders import finish_splits, text_files
from ontodex.readers.problems import Problems
from ontodex.readers.tables.reader import name_freebase

__all__ = ["is_numbered", "read_numbered"]


class _Layout(NamedTuple):
    """What the files are called, where a line has the number of what it names, and where a triple has its relation."""

    names: tuple[str, str]
    splits: Mapping[str, str]
    number: int
    relation: int


LAYOUTS = (
    _Layout(
        ("entity2id.txt", "relation2id.txt"),
        {"train": "train2id.txt", "valid": "valid2id.txt", "test": "test2id.txt"},
        number=-1,
        relation=2,
    ),
    _Layout(
        ("entity_ids.del", "relation_ids.del"),
        {"train": "train.del", "valid": "valid.del", "test": "test.del"},
        number=0,
        relation=1,
    ),
)
"""OpenKE's, whose lines are head, tail and relation, and LibKGE's."""


def is_numbered(folder: Path) -> bool:
    """Tell whether a folder has triples of numbers, and what these stand for."""
    return _layout(folder) is not None


def _layout(folder: Path) -> _Layout | None:
    return next(
        (
            one
            for one in LAYOUTS
            if all((folder / name).is_file() for name in (*one.names, one.splits["train"]))
        ),
        None,
    )


def read_numbered(folder: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read train, valid and test, with names in place of numbers, and the texts beside them.

    Args:
        folder: Where the files are.
        builder: Takes the triples.
        problems: Takes lines that are no triples, or of numbers that stand for nothing.
    """
    layout = _layout(folder)
    assert layout is not None
    entities, relations = (dict(_names(folder / name, layout, problems)) for name in layout.names)
    for split, name in layout.splits.items():
        if not (folder / name).is_file():
            continue
        for number, line in lines_of(folder / name, problems):
            cells = line.split()
            if len(cells) == 3:
                relation = relations.get(cells.pop(layout.relation))
                head, tail = map(entities.get, cells)
                if head and relation and tail:
                    builder.triple(head, relation, tail, split)
                    continue
            if cells and not (number == len(cells) == 1):  # OpenKE's first line counts the others
                found = f"expected the numbers of two entities and a relation, found {line[:60]!r}"
                problems.report(found, number, str(folder / name))
    name_freebase(builder)
    finish_splits(text_files(folder), builder, problems)


def _names(path: Path, layout: _Layout, problems: Problems) -> Iterator[tuple[str, str]]:
    """Yield numbers and what they stand for."""
    for number, line in lines_of(path, problems):
        parts = line.rsplit(None, 1) if layout.number else line.split(None, 1)
        if len(parts) == 2:
            of = parts.pop(layout.number).strip()
            yield of, parts[0].strip()
        elif parts and number > 1:
            problems.report(
                f"expected a name and its number, found {line[:60]!r}", number, str(path)
            )
