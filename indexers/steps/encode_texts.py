"""The spaces of names, of texts, and of the definitions that a lexicon has for names."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ontodex.errors import EncoderError
from ontodex.geometry.vectors import Vectors
from ontodex.graph import EntitySentences, entity_names, entity_texts
from ontodex.indexers.embed import map_blocks, map_file, text_keys
from ontodex.indexers.previous import known_vectors
from ontodex.indexers.step import Build, Space, Step
from ontodex.scoring.lexicon import Lexicon
from ontodex.storage.space_names import DEFINITION, NAME, TEXT

__all__ = ["EncodeDefinitions", "EncodeNames", "EncodeTexts"]


class EncodeNames(Step):
    """Encodes the names of all entities; resumes after the last chunk of names."""

    name = "encode names"
    stage = "search"
    makes = (NAME,)

    def run(self, build: Build) -> None:
        """Make the space, whose numbers are stored as float16."""
        names, encoder = entity_names(build.inputs.graph), build.encoders.text
        vectors = build.embed(
            NAME, names.texts, encoder, (TEXT, "fingerprint", encoder.fingerprint)
        )
        half = map_blocks(vectors, build.inputs.folder / f"{NAME}.f16", dtype=np.float16)
        build.spaces[NAME] = Space(names.texts, half, sentences=names)


class EncodeTexts(Step):
    """Encodes the texts of all entities; resumes after the last chunk of texts.

    A text that is a name is not encoded again, unless only the previous generation encoded it,
    which has the names as float16.
    """

    name = "encode texts"
    stage = "texts"
    needs = (NAME,)
    makes = (TEXT,)

    def run(self, build: Build) -> None:
        """Make the space."""
        texts, encoder = entity_texts(build.inputs.graph, build.inputs.texts), build.encoders.text
        fingerprint = TEXT, "fingerprint", encoder.fingerprint
        names = build.spaces[NAME]
        keys = text_keys(names.texts)
        vectors = map_file(build.inputs.folder / f"{NAME}.f32", names.vectors.shape, new=False)
        before = known_vectors(build.inputs.previous, NAME, *fingerprint)
        if before is not None:
            new = ~np.isin(keys, before[0])
            keys, vectors = keys[new], vectors[new]
        known = (keys, Vectors([vectors])) if len(keys) else None
        build.spaces[TEXT] = Space(
            texts, build.embed(TEXT, texts, encoder, fingerprint, known=known)
        )


class EncodeDefinitions(Step):
    """Encodes the definitions that the lexicon has for names; resumes after the last chunk."""

    name = "encode definitions"
    stage = "texts"
    needs = (NAME,)
    makes = (DEFINITION,)

    def run(self, build: Build) -> None:
        """Make the space, unless no name is defined, or the encoder has no vectors for English."""
        encoder, names = build.encoders.text, build.spaces[NAME].sentences
        assert names is not None
        defined = _definitions(names)
        fingerprint = TEXT, "fingerprint", encoder.fingerprint
        with suppress(EncoderError):
            if len(defined):
                vectors = build.embed(DEFINITION, defined.texts, encoder, fingerprint)
                build.spaces[DEFINITION] = Space(defined.texts, vectors, sentences=defined)


def _definitions(names: EntitySentences) -> EntitySentences:
    """Return the definitions of the names of each entity, each once."""
    lexicon = Lexicon.load()
    found = {
        (owner, text): None
        for owner, name in zip(names.owners.tolist(), names.texts, strict=True)
        for text in lexicon.definitions(name)
    }
    owners = np.array([owner for owner, _ in found], dtype=np.int32)
    return EntitySentences([text for _, text in found], owners)
