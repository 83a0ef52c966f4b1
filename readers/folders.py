"""Folders: benchmark splits with the texts beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import plain_name
from ontodex.readers.problems import Problems
from ontodex.readers.tables.reader import read_table
from ontodex.readers.tables.table import Table
from ontodex.readers.texts import DESCRIPTIONS, read_entity_text, read_relation_text

__all__ = ["finish_splits", "read_splits", "split_files", "text_files"]

SPLITS = {"train": "train", "valid": "valid", "dev": "valid", "val": "valid", "test": "test"}
SPLIT_NAME = re.compile(r"(?:.*[-_.])?(train|valid|dev|val|test)\.(?:txt|tsv|csv)$")


def split_files(folder: Path) -> dict[str, Path]:
    """Return the files of train, valid and test that a folder holds.

    Raises:
        ReadError: If one split has several files.
    """
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and (match := SPLIT_NAME.match(plain_name(path))):
            split = SPLITS[match[1]]
            if split in found:
                both = f"{found[split].name} and {path.name}"
                raise ReadError(
                    f"expected one file of the {split} split, found {both}; remove one", str(folder)
                )
            found[split] = path
    return found


def read_splits(folder: Path, builder: GraphBuilder, problems: Problems, table: Table) -> None:
    """Read train, valid and test, and the names, definitions and relation texts beside them.

    ``entity_text.tsv`` and ``relation2text.txt`` declare what they name, in their order; the text files of SimKGC and
    KG-BERT, which often cover more than one set, only describe what the triples name. Triples that are held out and in the
    training split too make a warning. ``table`` takes what tables of entities say of their keys.

    Raises:
        ReadError: If there is no training split, or nothing of a benchmark.
    """
    files = split_files(folder)
    if "train" not in files:
        held_out = " and ".join(sorted(path.name for path in files.values()))
        others = ", ".join(
            sorted(path.name for path in folder.iterdir() if path.name[0] != ".")[:5]
        )
        raise ReadError(
            f"expected train.txt (.tsv, .csv) beside {held_out}, found none"
            if files
            else f"expected files that ontodex reads, found {others or 'none'}; name a folder that has some, or a file",
            str(folder),
        )
    texts = text_files(folder)
    if "entity_text.tsv" in texts:
        read_entity_text(texts["entity_text.tsv"], builder, problems)
    if "relation2text.txt" in texts:
        read_relation_text(texts["relation2text.txt"], builder, problems)
    for split in ("train", "valid", "test"):
        if split in files:
            read_table(files[split], builder, problems, table, split)
    finish_splits(texts, builder, problems)


def finish_splits(texts: Mapping[str, Path], builder: GraphBuilder, problems: Problems) -> None:
    """Say what is held out and known too, and read the names and definitions of what the triples name."""
    for split in ("valid", "test"):
        if shared := builder.count_shared("train", split):
            problems.remark(
                f"{shared:,} triples of {split} are in train too, where a model sees them; take them out of one"
            )
    for name, describe in DESCRIPTIONS.items():
        if name in texts:
            describe(texts[name], builder, problems)


def text_files(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by their plain names."""
    return {plain_name(path): path for path in sorted(folder.iterdir()) if path.is_file()}
