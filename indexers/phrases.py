"""The phrases of texts: the parts of which an encoder's trees are made."""

from __future__ import annotations

import numpy as np

from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError
from ontodex.graph import Statements

__all__ = ["phrases"]

CHUNK = 4096
"""Sentences whose trees are held at once."""


def phrases(said: Statements, encoder: TextEncoder) -> Statements:
    """Return what each node of the trees of sentences stands for, the same words of an entity once.

    Args:
        said: The sentences of entities.
        encoder: A text encoder that finds trees.

    Raises:
        EncoderError: If it finds none.
    """
    if encoder.structured is None:
        raise EncoderError(
            f"{encoder.folder}: expected a Self-StrAE encoder, which takes texts apart into phrases, found another; train "
            "one (ontodex train self-strae), or build without spans"
        )
    texts: list[str] = []
    owners: list[int] = []
    own: dict[str, None] = {}
    for start in range(0, len(said), CHUNK):
        rows = said.owners[start : start + CHUNK].tolist()
        found = encoder.structured.trees(said.texts[start : start + CHUNK])
        for row, tree in zip(rows, found, strict=True):
            if not owners or row != owners[-1]:
                own = {}
            for number in reversed(range(len(tree.nodes))):
                phrase = tree.span(number)
                if phrase not in own:
                    own[phrase] = None
                    texts.append(phrase)
                    owners.append(row)
    return Statements(texts, np.array(owners, dtype=np.int32))
