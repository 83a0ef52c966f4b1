"""The steps of a build: their interface, and the state that they share."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.adapted import Adapted
from ontodex.encoders.condition import ConditionEncoder
from ontodex.encoders.index_encoders import Encoders
from ontodex.encoders.link_encoder import LinkEncoder
from ontodex.encoders.text import TextEncoder
from ontodex.errors import settings_from
from ontodex.geometry.vectors import Vectors
from ontodex.graph import (
    EntitySentences,
    KnowledgeGraph,
    TextSettings,
    entity_texts,
)
from ontodex.indexers.embed import Embeddings, KnownTexts, embed
from ontodex.indexers.previous import known_vectors
from ontodex.storage.blobs import BlobInfo
from ontodex.storage.index import Index
from ontodex.storage.manifest import SpaceInfo
from ontodex.storage.space_names import (
    CONDITION,
    ENTAILMENT,
    GEOMETRIES,
    HIERARCHY,
    LINK,
    TEXT,
)

__all__ = ["Build", "Inputs", "Space", "Step"]


@dataclass(frozen=True, eq=False)
class Space:
    """A space that a step has made.

    Attributes:
        texts: Text that each vector was made of.
        vectors: Vectors of shape (texts, dim); usually a memory-mapped file in the build's folder.
        extends: Name of a space whose vectors are the first components of these vectors. That space
            is stored as a part of this one.
        sentences: The sentences or phrases, for a space in which each vector belongs to a sentence
            or phrase instead of an entity.
    """

    texts: Sequence[str]
    vectors: Embeddings
    extends: str | None = None
    sentences: EntitySentences | None = None


@dataclass(frozen=True, eq=False)
class Inputs:
    """The inputs of a build.

    Attributes:
        index: Folder of the index.
        folder: Working folder of the build, with the files from which its steps resume after an
            interruption; removed at the end.
        graph: The graph.
        texts: How the text of an entity is built.
        settings: Settings that the result depends on, for the manifest.
        previous: The live generation, whose vectors of unchanged texts are reused.
        update_of: The index that is updated, whose trained and fitted parts are carried over;
            ``None`` for a build, which trains and fits anew.
        quiet: Show no progress on stderr.
    """

    index: Path
    folder: Path
    graph: KnowledgeGraph
    texts: TextSettings
    settings: dict[str, Any]
    previous: Index | None
    update_of: Index | None
    quiet: bool


@dataclass
class Entries:
    """Entries of the manifest that steps make; see :class:`~ontodex.storage.manifest.Manifest`."""

    spaces: dict[str, SpaceInfo] = field(default_factory=dict)
    blobs: dict[str, BlobInfo] = field(default_factory=dict)
    encoders: dict[str, dict[str, Any]] = field(default_factory=dict)
    neighbour_voting: dict[str, dict[str, Any]] = field(default_factory=dict)
    grounding: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(eq=False)
class Build:
    """A generation that is being built: its inputs, and what the steps have made so far.

    Attributes:
        inputs: The inputs.
        encoders: The encoder of each space; steps replace those that they train or fit.
        training_graph: The graph to learn links from: the graph of the inputs, or a copy in which
            some known triples are held out as validation triples.
        spaces: The spaces by name, in the order of the manifest.
        blobs: Further arrays of the store, by name.
        entries: Entries of the manifest.
    """

    inputs: Inputs
    encoders: Encoders
    training_graph: KnowledgeGraph
    spaces: dict[str, Space] = field(default_factory=dict)
    blobs: dict[str, NDArray[Any]] = field(default_factory=dict)
    entries: Entries = field(default_factory=Entries)

    @property
    def made(self) -> Encoders:
        """The encoders of the spaces that are made already."""
        chosen = {
            name: getattr(self.encoders, name)
            for name in (LINK, HIERARCHY, CONDITION, ENTAILMENT)
            if name in self.spaces
        }
        return Encoders(self.encoders.text, **chosen)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Measure the time in a ``with`` block, and add it to ``seconds`` in the manifest."""
        start, seconds = time.perf_counter(), self.entries.seconds
        yield
        seconds[name] = round(seconds.get(name, 0.0) + time.perf_counter() - start, 3)

    def embed(
        self,
        space: str,
        texts: Sequence[str],
        encoder: TextEncoder,
        fingerprint: tuple[str, str, str],
        *,
        transform: Callable[[Embeddings], Embeddings] | None = None,
        width: int | None = None,
        dtype: type[np.floating] = np.float32,
        known: KnownTexts | None = None,
    ) -> Embeddings:
        """Embed the texts of a space into a file of the build's folder; see :func:`embed`.

        Vectors that the previous generation made with the same encoder are reused.

        Args:
            space: Name of the space.
            texts: The texts.
            encoder: The text encoder.
            fingerprint: Space of the entry in the manifest's ``encoders``, key in that entry, and
                the fingerprint that this key must have for vectors to be reused.
            transform: Applied to each block of embeddings before it is stored.
            width: Length of a stored vector; by default the dimension of the encoder.
            dtype: Type of the stored numbers.
            known: Keys and vectors of texts that this build has encoded already.
        """
        return embed(
            texts,
            encoder,
            self.inputs.folder / f"{space}.f{8 * np.dtype(dtype).itemsize}",
            known=_together(known_vectors(self.inputs.previous, space, *fingerprint), known),
            transform=transform,
            width=width,
            dtype=dtype,
            geometry=GEOMETRIES[space],
            quiet=self.inputs.quiet,
        )

    def embed_adapted(self, space: str, texts: Sequence[str], encoder: Adapted) -> Embeddings:
        """Embed the texts of a space by HiT or GaussCSE; see :meth:`embed`."""
        return self.embed(
            space,
            texts,
            encoder.text,
            (space, "fingerprint", encoder.fingerprint),
            transform=encoder.stored,
            width=encoder.width,
            dtype=encoder.precision,
        )

    def texts_for(self, encoder: LinkEncoder | ConditionEncoder) -> Sequence[str]:
        """Return entity texts by the settings of an encoder, or of the build if it has none.

        Raises:
            SettingsError: If the encoder's settings of entity texts are invalid.
        """
        texts = settings_from(
            TextSettings, encoder.texts or self.inputs.settings["texts"], str(encoder.text.folder)
        )
        if texts == self.inputs.texts:
            return self.spaces[TEXT].texts
        return entity_texts(self.inputs.graph, texts)

    def is_text_space(self, texts: Sequence[str], encoder: TextEncoder) -> bool:
        """Return whether encoding the texts would give the vectors of the text space."""
        return (
            encoder.fingerprint == self.encoders.text.fingerprint
            and texts is self.spaces[TEXT].texts
        )


def _together(first: KnownTexts | None, second: KnownTexts | None) -> KnownTexts | None:
    """Return the texts of both."""
    if first is None or second is None:
        return first or second
    keys = np.concatenate([first[0], second[0]])
    return keys, Vectors([*first[1].shards, *second[1].shards])


class Step(ABC):
    """A step of a build.

    Attributes:
        name: Name of the step's duration in the manifest.
        needs: Spaces that earlier steps must have made; without them the step is left out.
        makes: Spaces that the step may make.
        stage: Stage of the build that the step belongs to, see
            :data:`ontodex.storage.space_names.STAGES`.
    """

    name: ClassVar[str]
    stage: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    makes: ClassVar[tuple[str, ...]] = ()

    def prepare(self, build: Build) -> None:  # noqa: B027 (most steps have nothing to check)
        """Check the inputs of the build before any step runs, so that errors are raised early."""

    def asked_for(self, build: Build) -> bool:
        """Return whether the step will make spaces, as far as that is known before it runs."""
        return bool(self.makes)

    @abstractmethod
    def run(self, build: Build) -> None:
        """Make the spaces and blobs of the step; resume where an interrupted run stopped."""
