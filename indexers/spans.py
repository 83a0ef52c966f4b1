"""The phrases of texts: the parts of which an encoder's trees are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError
from ontodex.graph import EntitySentences

if TYPE_CHECKING:
    from ontodex.encoders.self_strae import SelfStrAE

__all__ = ["expect_trees", "phrases"]

CHUNK = 4096
"""Sentences whose trees are held at once."""


def expect_trees(encoder: TextEncoder) -> SelfStrAE:
    """Return what finds the trees of texts.

    Raises:
        EncoderError: If nothing does.
    """
    if encoder.structured is None:
        raise EncoderError(
            f"{encoder.folder}: expected a Self-StrAE encoder, which takes texts apart into phrases, found another; train "
            "one (ontodex train self-strae), or build without spans"
        )
    return encoder.structured


def phrases(said: EntitySentences, encoder: TextEncoder) -> EntitySentences:
    """Return what each node of the trees of sentences stands for, the same words of an entity once.

    Args:
        said: The sentences of entities.
        encoder: A text encoder that finds trees.

    Raises:
        EncoderError: If it finds none.
    """
    finder = expect_trees(encoder)
    texts: list[str] = []
    owners: list[int] = []
    own: dict[str, None] = {}
    for start in range(0, len(said), CHUNK):
        rows = said.owners[start : start + CHUNK].tolist()
        found = finder.trees(said.texts[start : start + CHUNK])
        for row, tree in zip(rows, found, strict=True):
            if not owners or row != owners[-1]:
                own = {}
            for number in reversed(range(len(tree.nodes))):
                phrase = tree.span(number)
                if phrase not in own:
                    own[phrase] = None
                    texts.append(phrase)
                    owners.append(row)
    return EntitySentences(texts, np.array(owners, dtype=np.int32))
