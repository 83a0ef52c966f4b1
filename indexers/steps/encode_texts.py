"""The text space: every entity's text (label, synonyms, definition), encoded."""

from __future__ import annotations

from ontodex.graph import entity_texts
from ontodex.indexers.step import Build, Space, Step
from ontodex.storage.space_names import TEXT

__all__ = ["EncodeTexts"]


class EncodeTexts(Step):
    """Encodes the texts of all entities; resumes after the last chunk of texts."""

    name = "encode"
    makes = (TEXT,)
    working_files = ("text.f32", "text.json")

    def run(self, build: Build) -> None:
        """Make the text space."""
        texts, encoder = entity_texts(build.inputs.graph, build.inputs.texts), build.encoders.text
        fingerprint = TEXT, "fingerprint", encoder.fingerprint
        build.spaces[TEXT] = Space(texts, build.embed(TEXT, texts, encoder, fingerprint))
