"""The entailment space of sentences, and the span space of phrases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError
from ontodex.graph import EntitySentences, entity_sentences
from ontodex.indexers.step import Build, Space, Step
from ontodex.storage.space_names import ENTAILMENT, SPAN, TEXT

if TYPE_CHECKING:
    from ontodex.encoders.self_strae import SelfStrAE

__all__ = ["EmbedSentences"]

CHUNK = 4096
"""Number of sentences whose trees are in memory at once."""


class EmbedSentences(Step):
    """Embeds the sentences of labels and definitions, and their phrases.

    Resumes after the last chunk of texts.
    """

    name = "embed sentences"
    stage = "entailment"
    makes = (ENTAILMENT, SPAN)

    def prepare(self, build: Build) -> None:
        """Reject a text encoder that does not find phrases, if the settings request phrases."""
        if build.inputs.settings.get("spans"):
            expect_trees(build.encoders.text)

    def asked_for(self, build: Build) -> bool:
        """Return whether there is an entailment encoder, or the settings request phrases."""
        return build.encoders.entailment is not None or bool(build.inputs.settings.get("spans"))

    def run(self, build: Build) -> None:
        """Make the entailment space, if it has an encoder, and the span space, if requested."""
        text, entailment = build.encoders.text, build.encoders.entailment
        if not self.asked_for(build):
            return
        sentences = entity_sentences(build.inputs.graph)
        if entailment is not None:
            vectors = build.embed_adapted(ENTAILMENT, sentences.texts, entailment)
            build.spaces[ENTAILMENT] = Space(sentences.texts, vectors, sentences=sentences)
        if build.inputs.settings.get("spans"):
            spans = phrases(sentences, text)
            fingerprint = TEXT, "fingerprint", text.fingerprint
            vectors = build.embed(SPAN, spans.texts, text, fingerprint)
            build.spaces[SPAN] = Space(spans.texts, vectors, sentences=spans)


def expect_trees(encoder: TextEncoder) -> SelfStrAE:
    """Return the Self-StrAE model of a text encoder, which parses texts into trees.

    Raises:
        EncoderError: If the text encoder is not a Self-StrAE encoder.
    """
    if encoder.structured is None:
        raise EncoderError(
            f"{encoder.folder}: expected a Self-StrAE encoder, which takes texts apart into "
            "phrases, found another; train one (ontodex train self-strae), or build without spans"
        )
    return encoder.structured


def phrases(sentences: EntitySentences, encoder: TextEncoder) -> EntitySentences:
    """Return the phrases of sentences: the texts of all nodes of their trees.

    Equal phrases of an entity are returned once.

    Args:
        sentences: The sentences of entities.
        encoder: A Self-StrAE encoder.

    Raises:
        EncoderError: If ``encoder`` is another text encoder.
    """
    finder = expect_trees(encoder)
    texts: list[str] = []
    owners: list[int] = []
    own: dict[str, None] = {}
    for start in range(0, len(sentences), CHUNK):
        rows = sentences.owners[start : start + CHUNK].tolist()
        found = finder.trees(sentences.texts[start : start + CHUNK])
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
