"""The rule by which grounding tells the terms of a graph from other texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ontodex.indexers.step import Build, Step
from ontodex.storage.space_names import NAME, TEXT

__all__ = ["FitGrounding", "GroundingFitter"]

GroundingFitter = Callable[[Build], dict[str, Any]]
"""Function that returns the entry of the manifest, from the names and texts of a build."""


class FitGrounding(Step):
    """Fits the rule to synonyms of the graph; an interrupted run starts anew.

    An update carries over the rule of its index.

    Args:
        fit: Fits the rule; ``None`` for an index without one, which grounds by the rule that
            ontodex ships.
    """

    name = "fit grounding"
    stage = "texts"
    needs = (TEXT, NAME)

    def __init__(self, fit: GroundingFitter | None) -> None:
        self._fit = fit

    def run(self, build: Build) -> None:
        """Add the rule to the manifest."""
        if build.inputs.update_of is not None:
            build.entries.grounding = build.inputs.update_of.manifest.grounding
        elif self._fit is not None:
            build.entries.grounding = self._fit(build)
