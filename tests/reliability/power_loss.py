"""Run by test_crash.py: changes that lose un-synced writes at some point. Prints JSON.

A model of the disk: after a loss of power a file has at least the contents, and a folder at least
the names, of its last sync. The volatile tree is recorded at every sync; a loss of power leaves any
state between the two.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.changes import Change, Models, changes, in_child

Entry = tuple[str, int]
"""Kind (file or folder) and inode."""


@dataclass
class Tree:
    """Names of folders and contents of files, by inode."""

    root: int = 0
    names: dict[int, dict[str, Entry]] = field(default_factory=dict)
    contents: dict[int, bytes] = field(default_factory=dict)

    def copy(self) -> Tree:
        return Tree(
            self.root,
            {inode: dict(names) for inode, names in self.names.items()},
            dict(self.contents),
        )


def look(folder: Path, opened: dict[int, int]) -> Tree:
    """Return the tree as programs see it; files are kept open, so that no inode is used twice."""
    tree = Tree(folder.stat().st_ino)
    for place, _, files in os.walk(folder):
        names = {}
        for entry in os.scandir(place):
            names[entry.name] = ("folder" if entry.is_dir() else "file", entry.inode())
        tree.names[os.stat(place).st_ino] = names
        for name in files:
            path = Path(place, name)
            inode = path.stat().st_ino
            if inode not in opened:
                opened[inode] = os.open(path, os.O_RDONLY)
            tree.contents[inode] = path.read_bytes()
    return tree


class Disk:
    """Records the durable and the visible tree at every sync of a change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.opened: dict[int, int] = {}
        self.durable = look(folder, self.opened)
        self.moments: list[tuple[Tree, Tree]] = []

    def sync(self, inode: int) -> None:
        visible = look(self.folder, self.opened)
        self.moments.append((self.durable.copy(), visible))
        if inode in visible.contents:
            self.durable.contents[inode] = visible.contents[inode]
        if inode in visible.names:
            self.durable.names[inode] = dict(visible.names[inode])

    def watch(self, change: Change) -> list[tuple[Tree, Tree]]:
        fsync, flush = os.fsync, np.memmap.flush

        def watched(handle: int) -> None:
            self.sync(os.fstat(handle).st_ino)
            fsync(handle)

        def flushed(array: Any) -> None:
            flush(array)
            self.sync(os.stat(array.filename).st_ino)

        os.fsync, np.memmap.flush = watched, flushed
        try:
            change.act(self.folder)
        finally:
            os.fsync, np.memmap.flush = fsync, flush
        for handle in self.opened.values():
            os.close(handle)
        visible = look(self.folder, {})
        self.moments.append((self.durable, visible))
        return self.moments


def write(tree: Tree, inode: int, target: Path) -> None:
    target.mkdir()
    for name, (kind, child) in tree.names.get(inode, {}).items():
        if kind == "folder":
            write(tree, child, target / name)
        else:
            (target / name).write_bytes(tree.contents.get(child, b""))


def losses(durable: Tree, visible: Tree, rng: random.Random) -> Iterator[tuple[str, Tree]]:
    """Yield trees after a loss of power: no un-synced writes, names only, or a random part."""
    yield "all un-synced writes", durable
    contents = {**{inode: b"" for inode in visible.contents}, **durable.contents}
    yield "un-synced contents", Tree(visible.root, visible.names, contents)
    torn = {}
    for inode, whole in visible.contents.items():
        kept = durable.contents.get(inode, b"")
        torn[inode] = (
            rng.choice([kept, whole, whole[: len(whole) // 2], bytes(len(whole))])
            if whole != kept
            else whole
        )
    names = {}
    for inode, now in visible.names.items():
        before = durable.names.get(inode, {})
        names[inode] = {**{n: e for n, e in before.items() if n in now or rng.random() < 0.5}}
        names[inode].update(
            {n: e for n, e in now.items() if before.get(n) == e or rng.random() < 0.7}
        )
    known = {**durable.names, **names}
    yield "some un-synced writes", Tree(visible.root, known, {**durable.contents, **torn})


def main(folder: Path, old: Path, text: Path, hit: Path, gauss: Path, moments: int) -> None:
    rng = random.Random(0)
    found = []
    for change in changes(old, Models(text, hit, gauss)):
        change.prepare(folder)
        path = change.copy(folder / f"{change.name}.odx")
        path.mkdir(exist_ok=True)
        watched = Disk(path).watch(change)
        last = len(watched) - 1
        ends = range(max(0, last - min(moments, 4)), last + 1)  # of publishing
        chosen = {*ends, *rng.sample(range(last), min(moments, last))}
        for number in sorted(chosen):
            for lost, tree in losses(*watched[number], rng):
                left = folder / f"{change.name}-{number}.odx"
                write(tree, tree.root, left)
                after = change.state(left)
                again = in_child(lambda c=change, p=left: c.again(p))
                one = {
                    "change": change.name,
                    "moment": number,
                    "of": len(watched),
                    "lost": lost,
                    "after": after,
                }
                found.append({**one, "again": again, "finally": change.state(left)})
                shutil.rmtree(left)
        shutil.rmtree(path)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:-1]), int(sys.argv[-1]))
