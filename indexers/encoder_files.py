"""The encoders of an index, and their files inside a generation, so that it answers unseen texts wherever it is."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ontodex.encoders.condition import ConditionEncoder
from ontodex.encoders.gauss_cse import GaussCSE
from ontodex.encoders.hit import HiT
from ontodex.encoders.link_encoder import LinkEncoder
from ontodex.encoders.locate import files_of
from ontodex.encoders.text import TextEncoder
from ontodex.scoring.neighbour_voting import KEYS, NeighbourVoting
from ontodex.storage.space_names import CONDITION, GAUSS, HIT, LINK, TEXT

__all__ = ["Encoders"]


@dataclass(frozen=True)
class Encoders:
    """The encoder of each space; a space without one is not in the index.

    Attributes:
        text: What texts mean.
        link: Which entities a relation leads to.
        hit: What is below what.
        condition: What is alike under a condition.
        gauss: What entails what.
        kin: How much entities of like text count beside ``hit``, by the question.
    """

    text: TextEncoder
    link: LinkEncoder | None = None
    hit: HiT | None = None
    condition: ConditionEncoder | None = None
    gauss: GaussCSE | None = None
    kin: Mapping[str, NeighbourVoting] = field(default_factory=dict)

    @property
    def fingerprints(self) -> list[Any]:
        """What an index depends on of the encoders that are given beside that of texts: theirs, and how they read texts."""
        read = [
            [one.fingerprint, one.texts]
            for one in (self.link, self.hit, self.condition)
            if one is not None
        ]
        return read if self.gauss is None else [*read, self.gauss.fingerprint]

    def described(self) -> dict[str, dict[str, Any]]:
        """Return what the manifest says of each."""
        found: dict[str, dict[str, Any]] = {"text": {"text": self.text.fingerprint}}
        if self.link is not None:
            about = {"text": self.link.text.fingerprint, "network": self.link.fingerprint}
            found[LINK] = {**about, **self.link.described()}
        if self.hit is not None and self.hit.rule is not None:
            found[HIT] = {
                "encoder": self.hit.fingerprint,
                "curvature": self.hit.c,
                "rule": asdict(self.hit.rule),
            }
            found[HIT] |= {KEYS[question]: asdict(rule) for question, rule in self.kin.items()}
        if self.condition is not None:
            about = {"text": self.condition.text.fingerprint, "network": self.condition.fingerprint}
            found[CONDITION] = {
                **about,
                "architecture": self.condition.architecture,
                "width": self.condition.rank,
            }
        if self.gauss is not None:
            about = {"encoder": self.gauss.fingerprint, "similarity": self.gauss.similarity}
            found[GAUSS] = {**about, "rule": asdict(self.gauss.rule)}
        return found

    def copy(self, index: Path, folder: Path) -> None:
        """Copy them into a new folder, each in one of its space's name; a text encoder that several share is there once.

        Args:
            index: Folder of the index: files that are in it already are linked.
            folder: The folder to make; an older one is removed.
        """
        shutil.rmtree(folder, ignore_errors=True)
        _place(index, self.text.folder, folder / TEXT)
        for name, one in ((LINK, self.link), (CONDITION, self.condition)):
            if one is not None:
                if one.text.fingerprint != self.text.fingerprint:
                    _place(index, one.text.folder, folder / name)
                one.save_network(folder / name)
        for name, adapted in ((HIT, self.hit), (GAUSS, self.gauss)):
            if adapted is not None:
                if adapted.adapter is None or adapted.text.fingerprint != self.text.fingerprint:
                    _place(index, adapted.text.folder, folder / name)
                adapted.save_own(folder / name)


def _place(index: Path, source: Path, target: Path) -> None:
    """Copy an encoder's files; link them where they are in this index already."""
    own = source.resolve().is_relative_to(index.resolve())
    for relative in files_of(source):
        (target / relative).parent.mkdir(parents=True, exist_ok=True)
        try:
            (os.link if own else shutil.copyfile)(source / relative, target / relative)
        except OSError:  # not every file system has hard links
            shutil.copyfile(source / relative, target / relative)
