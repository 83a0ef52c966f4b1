"""Progress of a build on stderr: which stage is done, which comes next, and when all are done."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from ontodex.graph import KnowledgeGraph
from ontodex.indexers.step import Build
from ontodex.storage.progress import note_ends

__all__ = ["Progress", "tell"]

SECONDS_PER_CHARACTER = 6e-5
"""Seconds to encode a character on two cores, before the build has measured its own."""

CHARACTERS_PER_TRIPLE, CHARACTERS_OF_TRAINING = 10, 1_000_000
"""The stage of links takes as long as encoding this many characters, for each triple and in all."""


class Progress:
    """Tells of the stages of a build on stderr, and notes when each is expected to end.

    Durations are estimated from the number of characters to encode, and the seconds that the first
    stage has taken for each.

    Args:
        build: The build.
        stages: The stages of the build, in order.
    """

    def __init__(self, build: Build, stages: Sequence[str]) -> None:
        self._build, self._stages = build, list(stages)
        self._began = self._stage_began = time.time()
        self._rate = SECONDS_PER_CHARACTER
        self._work = {stage: _work(stage, build.inputs.graph) for stage in stages}
        self._note()

    def end(self, stage: str, *, tell: bool) -> None:
        """Note that a stage is done, and tell of it if questions are answered by it now."""
        now = time.time()
        if stage == "search":
            # Vectors of a previous generation are not encoded again: the rate is not below a tenth.
            rate = (now - self._stage_began) / max(1, self._work[stage])
            self._rate = max(rate, SECONDS_PER_CHARACTER / 10)
        self._stage_began = now
        self._stages.remove(stage)
        self._note()
        if tell:
            self._say(stage)

    def _note(self) -> None:
        """Note the expected end of each stage to come."""
        end, self._ends = time.time(), {}
        for stage in self._stages:
            end += self._work[stage] * self._rate
            self._ends[stage] = end
        note_ends(self._build.inputs.index, self._ends)

    def _say(self, done: str) -> None:
        left = max(self._ends.values(), default=0.0) - time.time()
        seconds, quiet = time.time() - self._began, self._build.inputs.quiet
        tell(done, seconds, self._stages, left, quiet=quiet)


def tell(
    done: str, seconds: float, pending: Sequence[str] = (), left: float = 0.0, *, quiet: bool
) -> None:
    """Print that a stage is done after some seconds, and how long those to come will take."""
    text = f"{done}: ready after {_duration(seconds)}"
    if pending:
        text += f"; to come: {', '.join(pending)}, about {_duration(left)}"
    if not quiet:
        print(text, file=sys.stderr)  # noqa: T201


def _work(stage: str, graph: KnowledgeGraph) -> int:
    """Return the work of a stage, in characters to encode."""
    labels = sum(map(len, graph.labels))
    definitions = sum(map(len, graph.definitions))
    if stage in ("search", "texts"):
        synonyms = sum(len(name) for names in graph.synonyms for name in names)
        return labels + synonyms + (definitions if stage == "texts" else 0)
    if stage == "links":
        return CHARACTERS_OF_TRAINING + CHARACTERS_PER_TRIPLE * graph.n_triples
    return labels if stage == "hierarchy" else labels + definitions


def _duration(seconds: float) -> str:
    seconds = max(0.0, seconds)
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
