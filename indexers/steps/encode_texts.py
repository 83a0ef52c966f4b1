"""The text space, of every entity's label, synonyms and definition, and the space of names."""

from __future__ import annotations

import numpy as np

from ontodex.geometry.vectors import Vectors
from ontodex.graph import entity_names, entity_texts
from ontodex.indexers.embed import text_keys
from ontodex.indexers.step import Build, Space, Step
from ontodex.storage.space_names import NAME, TEXT

__all__ = ["EncodeTexts"]


class EncodeTexts(Step):
    """Encodes the texts and the names of all entities; resumes after the last chunk of texts.

    A name that is the whole text of an entity is not encoded again.
    """

    name = "encode texts"
    stage = "search"
    makes = (TEXT, NAME)

    def run(self, build: Build) -> None:
        """Make both spaces."""
        texts, encoder = entity_texts(build.inputs.graph, build.inputs.texts), build.encoders.text
        fingerprint = TEXT, "fingerprint", encoder.fingerprint
        build.spaces[TEXT] = Space(texts, build.embed(TEXT, texts, encoder, fingerprint))
        names = entity_names(build.inputs.graph)
        vectors = build.embed(
            NAME,
            names.texts,
            encoder,
            fingerprint,
            dtype=np.float16,
            known=(text_keys(texts), Vectors([build.spaces[TEXT].vectors])),
        )
        build.spaces[NAME] = Space(names.texts, vectors, sentences=names)
