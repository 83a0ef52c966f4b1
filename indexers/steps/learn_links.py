"""The hybrid space of link prediction: entity vectors of the link space and graph features."""

from __future__ import annotations

import warnings
from functools import partial

from ontodex.encoders.link_architectures import query_function
from ontodex.geometry.vectors import Vectors
from ontodex.graph import relation_texts
from ontodex.indexers.graph_features import (
    KGETrainer,
    default_graph_features,
    hold_out,
    join,
    learn_graph_features,
    query_function_as_new,
    why_not_learned,
)
from ontodex.indexers.previous import carry_over_graph_features
from ontodex.indexers.step import Build, Space, Step
from ontodex.scoring.graph_features import GraphFeatures
from ontodex.storage.space_names import HYBRID, LINK

__all__ = ["LearnLinks"]


class LearnLinks(Step):
    """Trains KGE vectors and fits the weights of all scores.

    If too few triples can be held out to fit weights on, there are no KGE vectors, and the weights
    are default ones. After an interruption, complete graph features are loaded. An update
    carries over the graph features of its index.

    Args:
        train: Trains the KGE vectors; ``None`` for an index without graph features.
    """

    name = "learn links"
    stage = "links"
    needs = (LINK,)
    makes = (HYBRID,)

    def __init__(self, train: KGETrainer | None) -> None:
        self._train = train
        self._are_fitted = False

    def prepare(self, build: Build) -> None:
        """Hold out triples to fit weights on; warn if too few can be held out."""
        if self._train is None:
            return
        graph = hold_out(build.inputs.graph)
        self._are_fitted = graph is not None
        if graph is not None:
            build.training_graph = graph
        elif why := why_not_learned(build.inputs.graph):
            warnings.warn(
                f"{build.inputs.graph.source}: tails and heads are ranked without KGE vectors and "
                f"fitted weights, as {why}",
                stacklevel=2,
            )

    def asked_for(self, build: Build) -> bool:
        """Return whether there will be graph features, unless the graph is too large."""
        return self._train is not None

    def run(self, build: Build) -> None:
        """Make the hybrid space, and add the graph features to the blobs of the build."""
        features = self._features(build)
        if features is None:
            return
        link = build.spaces[LINK]
        vectors = join(link.vectors, features, build.inputs.folder / "hybrid.f32")
        build.spaces[HYBRID] = Space(link.texts, vectors, extends=LINK)
        build.blobs.update(features.arrays())

    def _features(self, build: Build) -> GraphFeatures | None:
        if build.inputs.update_of is not None:
            return carry_over_graph_features(build.inputs.update_of, build.inputs.graph)
        if self._train is None:
            return None
        if not self._are_fitted:
            return default_graph_features(build.inputs.graph)
        link, space = build.encoders.link, build.spaces[LINK]
        assert link is not None
        vectors, relations = Vectors([space.vectors]), relation_texts(build.inputs.graph)
        return learn_graph_features(
            self._train,
            build.training_graph,
            build.inputs.graph,
            vectors,
            query_function(link.bind(relations), vectors, space.texts, relations),
            partial(query_function_as_new, link, build.inputs.graph),
            build.inputs.folder,
            quiet=build.inputs.quiet,
        )
