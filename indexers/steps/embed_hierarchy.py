"""The hierarchy space, and the rule and the neighbour voting that are fitted to the graph."""

from __future__ import annotations

import dataclasses

from ontodex.geometry.vectors import Vectors
from ontodex.graph import Hierarchy, hierarchy_texts
from ontodex.indexers.embedded_hierarchy import EmbeddedHierarchy
from ontodex.indexers.hierarchy_rule import hierarchy_to_fit, with_rule
from ontodex.indexers.neighbour_voting import default_voting, fit_neighbour_voting
from ontodex.indexers.step import Build, Space, Step
from ontodex.scoring.lexicon import Lexicon
from ontodex.scoring.name_evidence import NameEvidence
from ontodex.scoring.name_similarity import NameSimilarity
from ontodex.scoring.neighbour_voting import NeighbourVoting
from ontodex.storage.space_names import HIERARCHY, TEXT

__all__ = ["EmbedHierarchy", "FitHierarchy"]


class EmbedHierarchy(Step):
    """Embeds the entities in a Poincaré ball with HiT; resumes after the last chunk of texts."""

    name = "embed hierarchy"
    stage = "hierarchy"
    makes = (HIERARCHY,)

    def asked_for(self, build: Build) -> bool:
        """Return whether there is a hierarchy encoder."""
        return build.encoders.hierarchy is not None

    def run(self, build: Build) -> None:
        """Make the hierarchy space, if there is a hierarchy encoder."""
        encoder = build.encoders.hierarchy
        if encoder is not None:
            texts = hierarchy_texts(build.inputs.graph, encoder.texts, HIERARCHY)
            build.spaces[HIERARCHY] = Space(texts, build.embed_adapted(HIERARCHY, texts, encoder))


class FitHierarchy(Step):
    """Fits the subsumption rule and the neighbour voting to the graph's own hierarchy.

    An update carries over the rule and the voting of its index. A hierarchy with too few links gets
    the rule of the encoder, and a voting fitted to other hierarchies. Both fits take seconds, so an
    interrupted run starts anew.
    """

    name = "fit hierarchy"
    stage = "hierarchy"
    needs = (TEXT, HIERARCHY)

    def __init__(self) -> None:
        self._hierarchy: Hierarchy | None = None

    def prepare(self, build: Build) -> None:
        """Get the graph's hierarchy; if it is too small, reject an encoder without a rule."""
        if build.encoders.hierarchy is not None and build.inputs.update_of is None:
            self._hierarchy = hierarchy_to_fit(build.inputs.graph, build.encoders.hierarchy)

    def run(self, build: Build) -> None:
        """Set the rule of the encoder, and add the neighbour voting to the build."""
        encoder, space = build.encoders.hierarchy, build.spaces[HIERARCHY]
        assert encoder is not None
        embedded = None
        if self._hierarchy is not None:
            labels = list(build.inputs.graph.labels)
            embedded = EmbeddedHierarchy(
                self._hierarchy, space.texts, space.vectors, encoder.c, labels
            )
        encoder = with_rule(encoder, embedded)
        build.encoders = dataclasses.replace(build.encoders, hierarchy=encoder)
        voting, update_of, graph = {}, build.inputs.update_of, build.inputs.graph
        if update_of is not None:
            voting = NeighbourVoting.read(
                update_of.manifest.neighbour_voting, str(update_of.folder / "manifest.json")
            )
        elif embedded is not None:
            voting = fit_neighbour_voting(
                encoder,
                embedded,
                Vectors([build.spaces[TEXT].vectors]),
                NameEvidence(embedded.hierarchy, graph, NameSimilarity.of(graph), Lexicon.load()),
            )
        if not voting and encoder.rule is not None:
            voting = default_voting(encoder.rule)
        build.entries.neighbour_voting = {
            question: dataclasses.asdict(weights) for question, weights in voting.items()
        }
