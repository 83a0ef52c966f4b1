"""The link space: train a link encoder, embed the entities, make projections of relations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from ontodex.encoders.link_encoder import LinkEncoder, load_link_encoder
from ontodex.encoders.locate import fingerprint
from ontodex.encoders.text import TextEncoder
from ontodex.graph import KnowledgeGraph, relation_texts
from ontodex.indexers.embed import Embeddings, map_blocks
from ontodex.indexers.previous import carry_over_projections
from ontodex.indexers.step import Build, Space, Step
from ontodex.storage.generations import sync_tree
from ontodex.storage.space_names import LINK, TEXT

__all__ = ["EmbedLinks", "LinkTrainer", "ProjectRelations", "TrainLinks"]

LinkTrainer = Callable[[KnowledgeGraph, TextEncoder, Embeddings, Path], LinkEncoder]
"""Trains a link encoder from a graph, a text encoder and the embeddings of the entities' texts, and
saves it into a folder."""


class TrainLinks(Step):
    """Trains a link encoder if none is given.

    After an interruption, an encoder whose training is complete is loaded.

    Args:
        train: Trains the link encoder; ``None`` for no training.
    """

    name = "train projections"
    stage = "links"
    needs = (TEXT,)

    def __init__(self, train: LinkTrainer | None) -> None:
        self._train = train

    def asked_for(self, build: Build) -> bool:
        """Return whether a link encoder will be trained."""
        return self._train is not None and build.encoders.link is None

    def run(self, build: Build) -> None:
        """Add the trained encoder to the encoders of the build."""
        if self._train is None or build.encoders.link is not None:
            return
        text, folder = build.encoders.text, build.inputs.folder / "trained"
        if (folder / "done").exists():
            shared = fingerprint(folder) == text.fingerprint
            made = load_link_encoder(folder, text if shared else None, text.device)
        else:
            made = self._train(build.training_graph, text, build.spaces[TEXT].vectors, folder)
            sync_tree(folder)  # first, so that "done" implies that all files are on disk
            (folder / "done").touch()
        made.texts = dataclasses.asdict(build.inputs.texts)  # the texts of the training
        build.encoders = dataclasses.replace(build.encoders, link=made)


class EmbedLinks(Step):
    """Embeds the entities with the link encoder; resumes after the last chunk of texts."""

    name = "embed links"
    stage = "links"
    needs = (TEXT,)
    makes = (LINK,)

    def asked_for(self, build: Build) -> bool:
        """Return whether there is a link encoder already."""
        return build.encoders.link is not None

    def run(self, build: Build) -> None:
        """Make the link space, if there is a link encoder."""
        link = build.encoders.link
        if link is None:
            return
        texts = build.texts_for(link)
        if not build.is_text_space(texts, link.text):
            vectors = build.embed(
                LINK,
                texts,
                link.text,
                (LINK, "fingerprint", link.fingerprint),
                transform=link.entities,
            )
        elif link.moves_entities:
            file = build.inputs.folder / "entities.f32"
            vectors = map_blocks(build.spaces[TEXT].vectors, file, link.entities)
        else:
            vectors = build.spaces[TEXT].vectors
        build.spaces[LINK] = Space(texts, vectors)


class ProjectRelations(Step):
    """Makes projections of all relations and their inverses, unless the encoder has none."""

    name = "project relations"
    stage = "links"
    needs = (LINK,)

    def run(self, build: Build) -> None:
        """Add the parts of the projections to the blobs of the build."""
        link = build.encoders.link
        made = None if link is None else link.projections(relation_texts(build.inputs.graph))
        if made is None:
            return
        if build.inputs.update_of is not None:
            made = carry_over_projections(made, build.inputs.update_of, build.inputs.graph)
        build.blobs.update({f"link/{name}": part for name, part in made.parts().items()})
