"""An index opened for reading: the files of its live generation, and the manifest."""

from __future__ import annotations

import weakref
from functools import cached_property
from pathlib import Path
from typing import Any

from ontodex.errors import IndexDamaged, IndexFailure, IndexMismatch, settings_from
from ontodex.geometry.entailment import Entailment
from ontodex.geometry.projection import PARTS, Projections
from ontodex.geometry.subsumption import Subsumption
from ontodex.geometry.vectors import Vectors
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.sentences import EntitySentences
from ontodex.storage import generations
from ontodex.storage.blobs import BlobReader
from ontodex.storage.graph_blobs import read_graph, read_sentences
from ontodex.storage.integrity import STORE, expect_intact, valid_rows
from ontodex.storage.manifest import Manifest, SpaceInfo, file_info
from ontodex.storage.progress import outlook
from ontodex.storage.space_names import (
    CONDITION,
    ENTAILMENT,
    HIERARCHY,
    LINK,
    SENTENCE_SPACES,
    STAGES,
)
from ontodex.storage.vectors import read_vectors

__all__ = ["Index"]

_MISSING = {
    LINK: "no relation projections; build it with training, or on all-MiniLM-L6-v2, for which "
    "ontodex brings some",
    HIERARCHY: "no hierarchy space; build one of a graph with a hierarchy",
    ENTAILMENT: "no entailment space; build it anew with an encoder of entailment",
    CONDITION: "neither projections of relations (a bi-encoder makes none) nor an encoder of "
    "conditions; build it with one of them (`ontodex train hyper-cl`, `ontodex train condition`, "
    "and --encoder)",
}
"""Parts of error messages: what an index without an encoder for a space lacks, and what to do."""


class Index:
    """A generation of an index, memory-mapped.

    The generation does not change when a newer generation is published. Use :meth:`open` to make an
    instance.

    Attributes:
        path: Folder of the index.
        folder: Folder of the generation.
        manifest: Manifest of the generation.
        blobs: Store of the generation.
    """

    def __init__(self, path: Path, folder: Path, manifest: Manifest, held: Any) -> None:
        self.path = path
        self.folder = folder
        self.manifest = manifest
        self._release = weakref.finalize(self, held.close)
        self.blobs = BlobReader(folder / STORE, manifest.blobs)
        self._vectors: dict[str, Vectors] = {}
        self._sentences: dict[str, EntitySentences] = {}

    @classmethod
    def open(cls, path: Path) -> Index:
        """Open the live generation.

        Before anything is mapped, the lengths of all files, and the checksum of the store outside
        its large blobs, are compared with the manifest. Large blobs are checked by :meth:`verify`.

        Args:
            path: Folder of the index.

        Raises:
            IndexFailure: If there is no index, or a development version made it.
            IndexDamaged: If a file is missing or damaged.
            IndexMismatch: If a newer version made it.
        """
        number = generations.current(path)
        while True:
            folder = generations.folder_of(path, number)
            try:
                held = generations.hold(folder)
                break
            except OSError as error:
                # Meanwhile a writer may have published a new generation and dropped this one.
                latest = generations.current(path)
                if latest == number:
                    raise IndexDamaged(
                        f"{folder}: expected the live generation that CURRENT names, found none "
                        f"({error.strerror})"
                    ) from None
                number = latest
        try:
            manifest = Manifest.read(folder)
            expect_intact(folder, manifest)
            return cls(path, folder, manifest, held)
        except BaseException:
            held.close()
            raise

    def close(self) -> None:
        """Allow writers to drop this generation; arrays of the index stay valid.

        Garbage collection of the index has the same effect.
        """
        self._release()

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """The graph; its arrays are views of the store."""
        return read_graph(self.blobs, self.manifest.graph, self.manifest.mappings)

    def space_info(self, space: str) -> SpaceInfo:
        """Return the manifest's entry for a space.

        Raises:
            IndexMismatch: If the index has no such space.
        """
        info = self.manifest.spaces.get(space)
        if info is None:
            self.expect_built(space)
            raise IndexMismatch(
                f"{self.path}: no space {space!r}; it has {', '.join(self.manifest.spaces)}"
            )
        return info

    def shares_vectors(self, one: str, other: str) -> bool:
        """Return whether two spaces have the same vectors, stored once.

        Raises:
            IndexMismatch: If the index lacks one of the spaces.
        """
        first, second = self.space_info(one), self.space_info(other)
        return (first.stored_in, first.dim) == (second.stored_in, second.dim)

    def dim(self, space: str) -> int:
        """Return the dimension of the vectors of a space.

        Raises:
            IndexMismatch: If the index has no such space.
        """
        return self.space_info(space).dim

    def vectors(self, space: str) -> Vectors:
        """Return the vectors of a space, of shape (rows, dim), as views of the store.

        Raises:
            IndexMismatch: If the index has no such space, or its number of vectors contradicts the
                manifest or the graph.
        """
        if space not in self._vectors:
            info = self.space_info(space)
            stored = self.manifest.spaces.get(info.stored_in, info)
            found = read_vectors(self.blobs, info.stored_in, stored).first(info.dim)
            of_sentences = space in SENTENCE_SPACES
            expected = len(self.sentences(space)) if of_sentences else self.graph.n_entities
            if len(found) != expected:
                rows = "sentences" if of_sentences else "entities"
                raise IndexMismatch(f"{self.path}: {len(found):,} vectors of {expected:,} {rows}")
            self._vectors[space] = found
        return self._vectors[space]

    def sentences(self, space: str) -> EntitySentences:
        """Return the texts of a space's vectors, and the entity of each text.

        Args:
            space: ``"entailment"`` for sentences, ``"span"`` for phrases.
        """
        if space not in self._sentences:
            self._sentences[space] = read_sentences(self.blobs, space)
        return self._sentences[space]

    def candidates(self, space: str) -> Any | None:
        """Load the FAISS index of a space; ``None`` for a space that is searched exactly.

        If the file is missing or damaged, the FAISS index is made anew from the vectors.
        """
        info = self.space_info(space)
        if info.recall is None:
            return None
        from ontodex.storage.candidates import load_candidates

        file = self.folder / f"{info.stored_in}.faiss"
        return load_candidates(file, self.manifest.files.get(file.name), self.vectors(space))

    def encoder_info(self, space: str) -> dict[str, Any]:
        """Return the manifest's entry for the encoder of a space.

        Raises:
            IndexMismatch: If the index has no encoder for the space.
        """
        if space not in self.manifest.encoders:
            self.expect_built(space)
            raise IndexMismatch(f"{self.path}: the index has {_MISSING[space]}")
        return self.manifest.encoders[space]

    def expect_built(self, space: str) -> None:
        """Check that the stage of the build that makes a space is not still to come.

        Raises:
            IndexMismatch: If it is; the message says when the stage is expected to end.
        """
        for stage in self.manifest.pending:
            if space in STAGES[stage]:
                raise IndexMismatch(
                    f"{self.path}: the stage {stage!r} of this index is not built yet; "
                    f"{outlook(self.path, stage)}"
                )

    @cached_property
    def projections(self) -> Projections:
        """The projections of the R relations (0 to R - 1) and of their inverses (R to 2R - 1).

        Raises:
            IndexMismatch: If the index has no projections.
        """
        info = self.encoder_info(LINK)
        if "residual" not in info:
            raise IndexMismatch(f"{self.path}: the index has {_MISSING[LINK]}")
        parts = {
            name: self.blobs.get(f"link/{name}") for name in PARTS if f"link/{name}" in self.blobs
        }
        return Projections(residual=bool(info["residual"]), **parts)

    @property
    def curvature(self) -> float:
        """Parameter c of the hierarchy space; its Poincaré ball has the curvature -c.

        Raises:
            IndexMismatch: If the index has no hierarchy space.
        """
        return float(self.encoder_info(HIERARCHY)["curvature"])

    @property
    def rule(self) -> Subsumption:
        """The rule that scores pairs of the hierarchy space and turns scores into probabilities.

        If the graph's hierarchy has enough links, the rule is fitted to this hierarchy. Otherwise
        the rule is the encoder's own rule, which was fitted to another graph. The probability by a
        fitted rule estimates how many answers with the same score are asserted ancestors, among the
        ten best parents of entities of the graph.

        Raises:
            IndexMismatch: If the index has no hierarchy space.
        """
        info = self.encoder_info(HIERARCHY)
        return settings_from(Subsumption, info["rule"], str(self.folder / "manifest.json"))

    @property
    def entailment_rule(self) -> Entailment:
        """The entailment encoder's rule, which decides whether a premise entails a hypothesis.

        Raises:
            IndexMismatch: If the index has no entailment space.
        """
        info = self.encoder_info(ENTAILMENT)
        return settings_from(Entailment, info["rule"], str(self.folder / "manifest.json"))

    def expect_graph(self, graph: KnowledgeGraph) -> None:
        """Check that the index has the same entities and relations as a graph.

        Raises:
            IndexMismatch: If the entities or relations differ.
        """
        if self.graph.ids != graph.ids or self.graph.relation_ids != graph.relation_ids:
            raise IndexMismatch(
                f"{self.path}: an index of {self.graph!r}, not of {graph!r}; "
                "build one of this graph"
            )

    def info(self) -> dict[str, Any]:
        """Return a summary of the manifest: graph, spaces, encoders, settings, size, durations."""
        manifest = self.manifest
        return {
            "path": str(self.path),
            "format": manifest.format,
            "generation": manifest.generation,
            "ontodex": manifest.version,
            "created": manifest.created,
            "graph": {
                key: value
                for key, value in manifest.graph.items()
                if key not in ("prefixes", "hierarchy_relations")  # only those that were named
            },
            "spaces": {
                name: {
                    "geometry": info.geometry,
                    "dim": info.dim,
                    "rows": info.rows,
                    "recall@10": info.recall,
                }
                for name, info in manifest.spaces.items()
            },
            "encoders": manifest.encoders,
            "neighbour_voting": manifest.neighbour_voting,
            "grounding": manifest.grounding,
            "settings": manifest.settings,
            "pending": manifest.pending,
            "bytes": sum(info.bytes for info in manifest.files.values()),
            "seconds": manifest.seconds,
        }

    def verify(self) -> list[str]:
        """Compare every file and blob with its checksum, and check that all vectors are valid.

        Returns:
            A message for each problem; empty if the index is intact.
        """
        problems = []
        for name, info in self.manifest.files.items():
            file = self.folder / name
            if not file.is_file():
                problems.append(f"{file}: missing")
            elif file_info(file) != info:
                cache = " (a cache: it is rebuilt when used)" if name.endswith(".faiss") else ""
                problems.append(f"{file}: does not match its checksum{cache}")
        problems.extend(self.blobs.damaged())
        for space, about in self.manifest.spaces.items():
            try:
                blocks = self.vectors(space).blocks()
                valid = all(valid_rows(about.geometry, block).all() for _, block in blocks)
            except IndexFailure as error:
                problems.append(str(error))
                continue
            if not valid:
                problems.append(
                    f"{self.folder / STORE}: space {space!r} has vectors that are not valid in its "
                    "geometry"
                )
        return problems
