"""The encoders inside a generation: the files of each, so that an index answers unseen texts wherever it is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ontodex.encoders.condition import ConditionEncoder
from ontodex.encoders.hit import HiT
from ontodex.encoders.link_encoder import LinkEncoder
from ontodex.encoders.locate import files_of
from ontodex.encoders.text import TextEncoder

__all__ = ["copy_encoders"]


def copy_encoders(
    index: Path,
    folder: Path,
    text: TextEncoder,
    link: LinkEncoder | None,
    hit: HiT | None,
    condition: ConditionEncoder | None,
) -> None:
    """Copy encoders into a new folder, each in one of its space's name; a text encoder that several share is there once.

    Args:
        index: Folder of the index: files that are in it already are linked.
        folder: The folder to make; an older one is removed.
        text: Encoder of the text space.
        link: Encoder of the link space.
        hit: Encoder of the hierarchy space.
        condition: Encoder of the condition space.
    """
    shutil.rmtree(folder, ignore_errors=True)
    _place(index, text.folder, folder / "text")
    if link is not None:
        if link.text.fingerprint != text.fingerprint:
            _place(index, link.text.folder, folder / "link")
        link.save_network(folder / "link")
    if hit is not None:
        if hit.adapter is None or hit.text.fingerprint != text.fingerprint:
            _place(index, hit.text.folder, folder / "hit")
        hit.save_own(folder / "hit")
    if condition is not None:
        if condition.text.fingerprint != text.fingerprint:
            _place(index, condition.text.folder, folder / "condition")
        condition.save_network(folder / "condition")


def _place(index: Path, source: Path, target: Path) -> None:
    """Copy an encoder's files; link them where they are in this index already."""
    own = source.resolve().is_relative_to(index.resolve())
    for relative in files_of(source):
        (target / relative).parent.mkdir(parents=True, exist_ok=True)
        try:
            (os.link if own else shutil.copyfile)(source / relative, target / relative)
        except OSError:  # not every file system has hard links
            shutil.copyfile(source / relative, target / relative)
