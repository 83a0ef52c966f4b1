"""The condition space, whose vectors a condition encoder transforms when a query is answered."""

from __future__ import annotations

from ontodex.indexers.step import Build, Space, Step
from ontodex.storage.space_names import CONDITION, TEXT

__all__ = ["EmbedConditions"]


class EmbedConditions(Step):
    """Embeds the entities with the text encoder of the condition encoder.

    Resumes after the last chunk of texts.
    """

    name = "embed conditions"
    stage = "links"
    needs = (TEXT,)
    makes = (CONDITION,)

    def asked_for(self, build: Build) -> bool:
        """Return whether there is a condition encoder."""
        return build.encoders.condition is not None

    def run(self, build: Build) -> None:
        """Make the condition space, if there is a condition encoder."""
        condition = build.encoders.condition
        if condition is None:
            return
        texts = build.texts_for(condition)
        if build.is_text_space(texts, condition.text):
            vectors = build.spaces[TEXT].vectors
        else:
            fingerprint = CONDITION, "text_encoder", condition.text.fingerprint
            vectors = build.embed(CONDITION, texts, condition.text, fingerprint)
        build.spaces[CONDITION] = Space(texts, vectors)
