"""The encoders and scorers of an opened index, each loaded when a question first needs it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ontodex.encoders.device import choose_device
from ontodex.encoders.index_encoders import StoredEncoders
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.case_based import CaseBasedEvidence
from ontodex.scoring.graph_features import CASE_BASED, GraphFeatures
from ontodex.scoring.name_completion import NameCompletion
from ontodex.scoring.name_similarity import NameSimilarity
from ontodex.storage.index import Index
from ontodex.storage.space_names import HYBRID, LINK

__all__ = ["Resources"]


class Resources:
    """The encoders and scorers of an opened index, and the device they are on.

    Args:
        index: An opened index.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or another torch device to encode and search on.
    """

    def __init__(self, index: Index, device: str = "auto") -> None:
        self.index = index
        self._device = device
        self._candidates: dict[str, Any] = {}

    @cached_property
    def device(self) -> str:
        """Device of the encoders and of the vector search."""
        return choose_device(self._device)

    @cached_property
    def encoders(self) -> StoredEncoders:
        """The encoders of the index."""
        return StoredEncoders(self.index, self.device)

    @cached_property
    def name_similarity(self) -> NameSimilarity:
        """Similarity of the entities' names by trigrams."""
        return NameSimilarity.read(self.index.blobs.get)

    @cached_property
    def name_completion(self) -> NameCompletion:
        """The sorted words of the entities' names."""
        return NameCompletion.read(self.index.blobs.get)

    @cached_property
    def graph_features(self) -> GraphFeatures | None:
        """KGE vectors, kinds, rules and weights of links; ``None`` in an index without them."""
        if HYBRID not in self.index.manifest.spaces:
            return None
        return GraphFeatures.read(self.index.blobs, self.index.vectors(HYBRID))

    @cached_property
    def case_based(self) -> CaseBasedEvidence | None:
        """Case-based evidence from the known triples; ``None`` if the index gives it no weight."""
        features, graph = self.graph_features, self.index.graph
        if features is None or not features.weights[..., CASE_BASED].any():
            return None
        return CaseBasedEvidence(
            KnownLinks(graph.triples, graph.n_entities, graph.n_relations),
            self.index.vectors(LINK),
            features.kge_vectors(),
            features.rules,
        )

    def candidates(self, space: str) -> Any | None:
        """Return the FAISS index of a space, on :attr:`device`; ``None`` if the space has none."""
        stored = self.index.space_info(space).stored_in
        if stored not in self._candidates:
            found = self.index.candidates(space)
            if found is not None:
                from ontodex.storage.candidates import move_to_device

                found = move_to_device(found, self.device)
            self._candidates[stored] = found
        return self._candidates[stored]
