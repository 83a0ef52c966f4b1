"""An index opened for reading."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ontodex.encoders.locate import fingerprint
from ontodex.errors import EncoderError, IndexDamaged, IndexFailure, IndexMismatch, settings_from
from ontodex.geometry.entailment import Entailment
from ontodex.geometry.projection import PARTS, Projections
from ontodex.geometry.subsumption import Subsumption
from ontodex.geometry.vectors import Vectors
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.known_links import KnownLinks
from ontodex.graph.sentences import EntitySentences
from ontodex.scoring.case_based import CaseBasedEvidence
from ontodex.scoring.graph_features import CASE_BASED, GraphFeatures
from ontodex.scoring.name_similarity import NameSimilarity
from ontodex.storage import generations
from ontodex.storage.blobs import BlobReader
from ontodex.storage.graph_blobs import read_graph, read_sentences
from ontodex.storage.integrity import STORE, expect_whole, fitting
from ontodex.storage.manifest import Manifest, file_info
from ontodex.storage.space_names import CONDITION, GAUSS, HIT, HYBRID, LINK, SENTENCE_SPACES, TEXT
from ontodex.storage.vectors import read_vectors

__all__ = ["Index"]

_MISSING = {
    LINK: "no relation projections; build it with training, or on all-MiniLM-L6-v2, for which ontodex brings some",
    HIT: "no hierarchy space; build one of a graph with a hierarchy",
    GAUSS: "no entailment space; build it anew with an encoder of entailment",
    CONDITION: "neither projections of relations (a bi-encoder makes none) nor an encoder of conditions; build it with one "
    "of them (`ontodex train hyper-cl`, `ontodex train condition`, and --encoder)",
}
"""What an index has not got where the manifest names no encoder of a space."""

ANOTHER = "not the encoder that the index was built with; build the index anew"


class Index:
    """One generation of an index, mapped; it stays as it is however many newer ones are published.

    Made by :meth:`open`.

    Attributes:
        path: Folder of the index.
        folder: Folder of the generation.
        manifest: What the generation says of itself.
        blobs: Its store.
    """

    def __init__(
        self, path: Path, folder: Path, manifest: Manifest, held: Any, device: str
    ) -> None:
        self.path = path
        self.folder = folder
        self.manifest = manifest
        self._release = weakref.finalize(self, held.close)
        self._asked_device = device
        self.blobs = BlobReader(folder / STORE, manifest.blobs)
        self._vectors: dict[str, Vectors] = {}
        self._said: dict[str, EntitySentences] = {}
        self._candidates: dict[str, Any] = {}

    @classmethod
    def open(cls, path: Path, device: str = "auto") -> Index:
        """Open the live generation.

        Lengths of all files, and what blobs are found by, are compared with the manifest before anything is mapped;
        checksums of large blobs are left to :meth:`verify`.

        Args:
            path: Folder of the index.
            device: Where encoders compute.

        Raises:
            IndexFailure: If there is no index.
            IndexDamaged: If a file is missing or has another length.
            IndexMismatch: If it was written by a newer version.
        """
        number = generations.current(path)
        while True:
            folder = generations.folder_of(path, number)
            try:
                held = generations.hold(folder)
                break
            except OSError as error:
                latest = generations.current(
                    path
                )  # a writer may have published and dropped between the two looks
                if latest == number:
                    raise IndexDamaged(
                        f"{folder}: expected the live generation that CURRENT names, found none ({error.strerror})"
                    ) from None
                number = latest
        try:
            manifest = Manifest.read(folder)
            expect_whole(folder, manifest)
            return cls(path, folder, manifest, held, device)
        except BaseException:
            held.close()
            raise

    def close(self) -> None:
        """Let a writer drop this generation, now and not when the last reference goes; arrays from it stay valid."""
        self._release()

    @cached_property
    def device(self) -> str:
        """Where encoders compute and vectors are searched.

        ``"auto"`` asks torch for a GPU only if there is a driver: importing torch takes longer than many a question.
        """
        if self._asked_device == "cpu" or (self._asked_device == "auto" and not _has_gpu_driver()):
            return "cpu"
        from ontodex.encoders.device import choose_device

        return choose_device(self._asked_device)

    @cached_property
    def graph(self) -> KnowledgeGraph:
        """What is known; its arrays are views of the store."""
        return read_graph(self.blobs, self.manifest.graph)

    @cached_property
    def name_similarity(self) -> NameSimilarity | None:
        """What finds names by their letters; ``None`` in an index of a format up to 9."""
        return NameSimilarity.read(self.blobs.get) if "names/keys" in self.blobs else None

    def vectors(self, space: str) -> Vectors:
        """Return the vectors of a space.

        Raises:
            IndexMismatch: If the index has no such space, or store and manifest contradict each other.
        """
        if space not in self._vectors:
            info = self.manifest.spaces.get(space)
            if info is None:
                raise IndexMismatch(
                    f"{self.path}: no space {space!r}; it has {', '.join(self.manifest.spaces)}"
                )
            found = read_vectors(
                self.blobs, info.vectors, self.manifest.spaces.get(info.vectors, info)
            ).first(info.dim)
            said = self.said(space) if space in SENTENCE_SPACES else None
            wanted = self.graph.n_entities if said is None else len(said)
            if len(found) != wanted:
                what = "entities" if said is None else "statements"
                raise IndexMismatch(f"{self.path}: {len(found):,} vectors of {wanted:,} {what}")
            self._vectors[space] = found
        return self._vectors[space]

    @cached_property
    def projections(self) -> Projections:
        """The projections of all relations; those from R on are inverses.

        Raises:
            IndexMismatch: If the index has none.
        """
        about = self.stated(LINK)
        if "residual" not in about:
            raise IndexMismatch(f"{self.path}: the index has {_MISSING[LINK]}")
        parts = {
            name: self.blobs.get(f"link/{name}") for name in PARTS if f"link/{name}" in self.blobs
        }
        return Projections(residual=bool(about["residual"]), **parts)

    @cached_property
    def text_encoder(self) -> Any:
        """The text space's encoder, loaded on first use.

        Raises:
            IndexMismatch: If it is not the one that the manifest names, or its dimension is another.
        """
        from ontodex.encoders.text import TextEncoder

        folder = self.folder / "encoders" / TEXT
        if fingerprint(folder) != self.manifest.encoders[TEXT]["text"]:
            raise IndexMismatch(f"{folder}: {ANOTHER}")
        encoder = TextEncoder(folder, self.device)
        if encoder.dim != self.manifest.spaces[TEXT].dim:
            raise IndexMismatch(
                f"{folder}: the index holds vectors of {self.manifest.spaces['text'].dim} dimensions, "
                f"its encoder makes {encoder.dim}; build the index anew"
            )
        return encoder

    @cached_property
    def link_encoder(self) -> Any:
        """The link space's encoder, loaded on first use.

        Raises:
            IndexMismatch: If the index has none, or it is not the one that the manifest names.
        """
        from ontodex.encoders.link_encoder import load_link_encoder

        stated = self.stated(LINK)
        text = self._shared_text(stated)
        return self._encoder(
            LINK, stated["network"], lambda folder: load_link_encoder(folder, text, self.device)
        )

    @cached_property
    def structure(self) -> GraphFeatures | None:
        """What the links of the graph say, and how much it counts beside the text; ``None`` if the index has no such."""
        if HYBRID not in self.manifest.spaces:
            return None
        return GraphFeatures.read(self.blobs, self.vectors(HYBRID))

    @cached_property
    def case_based(self) -> CaseBasedEvidence | None:
        """Scores by the known triples; ``None`` if the index has no weights for them."""
        if self.structure is None or not self.structure.weights[..., CASE_BASED].any():
            return None
        links = KnownLinks(self.graph.triples, self.graph.n_entities, self.graph.n_relations)
        return CaseBasedEvidence(
            links, self.vectors(LINK), self.structure.kge_vectors(), self.structure.rules
        )

    @property
    def curvature(self) -> float:
        """The hierarchy space's ball has the curvature minus this.

        Raises:
            IndexMismatch: If the index has no such space.
        """
        return float(self.stated(HIT)["curvature"])

    @property
    def rule(self) -> Subsumption:
        """When an entity counts as below another: fitted to the graph's own hierarchy if it was large enough.

        Then its probability is the share of asserted ancestors among answers of such a score, in the ten best parents of
        entities of the graph. A rule that an encoder brings knows pairs of another graph only.

        Raises:
            IndexMismatch: If the index has no hierarchy space.
        """
        return settings_from(
            Subsumption, self.stated(HIT)["rule"], str(self.folder / "manifest.json")
        )

    @cached_property
    def hit_encoder(self) -> Any:
        """The hierarchy space's encoder, loaded on first use.

        Raises:
            IndexMismatch: If the index has none, or it is not the one that the manifest names.
        """
        from ontodex.encoders.hit import HiT

        base, stated = self.folder / "encoders" / TEXT, self.stated(HIT)
        encoder = self._encoder(
            HIT, stated["encoder"], lambda folder: HiT.load(folder, self.device, base=base)
        )
        curvature, dim = self.curvature, self.manifest.spaces[HIT].dim
        if (encoder.c, encoder.dim + 1) != (curvature, dim):
            raise IndexMismatch(
                f"{self.folder}: the index holds points of {dim - 1} dimensions and curvature -{curvature:g}, its "
                f"encoder makes {encoder.dim} and -{encoder.c:g}; build the index anew"
            )
        return encoder

    def said(self, space: str) -> EntitySentences:
        """Return what the vectors of a space are of: sentences (``"gauss"``) or phrases (``"span"``), and who says each."""
        if space not in self._said:
            self._said[space] = read_sentences(self.blobs, space)
        return self._said[space]

    @property
    def entailment_rule(self) -> Entailment:
        """When a premise entails a hypothesis: the rule of the encoder."""
        return settings_from(
            Entailment, self.stated(GAUSS)["rule"], str(self.folder / "manifest.json")
        )

    @cached_property
    def gauss_encoder(self) -> Any:
        """The entailment space's encoder, loaded on first use.

        Raises:
            IndexMismatch: If the index has none, or it is not the one that the manifest names.
        """
        from ontodex.encoders.gauss_cse import GaussCSE

        base, stated = self.folder / "encoders" / TEXT, self.stated(GAUSS)
        encoder = self._encoder(
            GAUSS, stated["encoder"], lambda folder: GaussCSE.load(folder, self.device, base=base)
        )
        dim = self.manifest.spaces[GAUSS].dim
        if 2 * encoder.dim != dim:
            raise IndexMismatch(
                f"{self.folder}: expected an encoder of {dim // 2} dimensions, found {encoder.dim}"
            )
        return encoder

    @cached_property
    def condition_encoder(self) -> Any:
        """The condition space's encoder, loaded on first use.

        Raises:
            IndexMismatch: If the index has none, or it is not the one that the manifest names.
        """
        from ontodex.encoders.condition import ConditionEncoder

        stated = self.stated(CONDITION)
        text = self._shared_text(stated)
        return self._encoder(
            CONDITION,
            stated["network"],
            lambda folder: ConditionEncoder.load(folder, text, self.device),
        )

    @cached_property
    def condition_mix(self) -> Any | None:
        """The matrix (dim, dim) that a concatenation of text and condition applies to texts; else ``None``."""
        if self.stated(CONDITION)["architecture"] != "concat":
            return None
        return np.ascontiguousarray(self.condition_encoder.network.mix.weight.detach().numpy().T)

    def stated(self, space: str) -> dict[str, Any]:
        """Return what the manifest says of the encoder of a space.

        Raises:
            IndexMismatch: If the index has none.
        """
        if space not in self.manifest.encoders:
            raise IndexMismatch(f"{self.path}: the index has {_MISSING[space]}")
        return self.manifest.encoders[space]

    def expect_graph(self, graph: KnowledgeGraph) -> None:
        """Check that the index is of a graph: that entities and relations are the same.

        Raises:
            IndexMismatch: If it is of another.
        """
        if self.graph.ids != graph.ids or self.graph.relation_ids != graph.relation_ids:
            raise IndexMismatch(
                f"{self.path}: an index of {self.graph!r}, not of {graph!r}; build one of this graph"
            )

    def _encoder(self, name: str, wanted: str, load: Callable[[Path], Any]) -> Any:
        """Load an encoder of the index, which must have the fingerprint that the manifest wants."""
        folder = self.folder / "encoders" / name
        try:
            encoder = load(folder)
        except EncoderError as error:
            raise IndexMismatch(
                f"{folder}: the encoder does not load ({error}); build the index anew"
            ) from error
        if encoder.fingerprint != wanted:
            raise IndexMismatch(f"{folder}: {ANOTHER}")
        return encoder

    def _shared_text(self, stated: dict[str, Any]) -> Any | None:
        """Return the text space's encoder, if another encoder reads texts by it; ``None`` if that has its own."""
        return self.text_encoder if stated["text"] == self.manifest.encoders[TEXT]["text"] else None

    def candidates(self, space: str) -> Any | None:
        """Return the FAISS structure of a space, made anew if its file is missing or damaged; ``None`` for small ones.

        It is on :attr:`device`.
        """
        info = self.manifest.spaces[space]
        if info.recall is None:
            return None
        if info.vectors not in self._candidates:
            from ontodex.storage.candidates import load_candidates, place

            file = self.folder / f"{info.vectors}.faiss"
            found = load_candidates(file, self.manifest.files.get(file.name), self.vectors(space))
            self._candidates[info.vectors] = place(found, self.device)
        return self._candidates[info.vectors]

    def info(self) -> dict[str, Any]:
        """Return what there is to know at a glance."""
        manifest = self.manifest
        return {
            "path": str(self.path),
            "format": manifest.format,
            "generation": manifest.generation,
            "ontodex": manifest.version,
            "created": manifest.created,
            "graph": {key: value for key, value in manifest.graph.items() if key != "prefixes"},
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
            "settings": manifest.settings,
            "bytes": sum(info.bytes for info in manifest.files.values()),
            "seconds": manifest.seconds,
        }

    def verify(self) -> list[str]:
        """Compare every file and blob with its checksum; return what is wrong, nothing if all is well."""
        problems = []
        for name, info in self.manifest.files.items():
            file = self.folder / name
            if not file.is_file():
                problems.append(f"{file}: missing")
            elif file_info(file) != info:
                cache = " (a cache: it is rebuilt when used)" if name.endswith(".faiss") else ""
                problems.append(f"{file}: does not fit its checksum{cache}")
        problems.extend(self.blobs.damaged())
        for space in self.manifest.spaces:
            try:
                blocks = self.vectors(space).blocks()
                whole = all(
                    bool(fitting(self.manifest.spaces[space].geometry, block).all())
                    for _, block in blocks
                )
            except IndexFailure as error:
                problems.append(str(error))
                continue
            if not whole:
                problems.append(
                    f"{self.folder / STORE}: space {space!r} holds numbers that are none of its geometry"
                )
        return problems


def _has_gpu_driver() -> bool:
    return Path("/dev/nvidiactl").exists() or Path("/dev/kfd").exists() or Path("/dev/dxg").exists()
