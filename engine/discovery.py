"""Link discovery: the most probable missing links among the answers to all questions."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, checked, milliseconds, no_rows
from ontodex.engine.known import Known
from ontodex.engine.link_queries import LinkQueries
from ontodex.engine.resolve import ResolvedTerm, resolve_relation
from ontodex.engine.resources import Resources
from ontodex.engine.results.link import parts_of
from ontodex.engine.results.missing_links import MissingLink, MissingLinks
from ontodex.engine.search.topk import Searcher
from ontodex.errors import UnknownRelation, nearest
from ontodex.graph.known_links import KnownLinks
from ontodex.scoring.calibration import (
    BestAnswers,
    answerable,
    best_answers,
    missing_probabilities,
)
from ontodex.scoring.graph_features import Offsets
from ontodex.scoring.rules import no_rules
from ontodex.storage.space_names import LINK

__all__ = ["LinkDiscovery"]

Found = tuple[Rows, NDArray[np.float64]]
"""Keys of links (integers that encode relation, head and tail) and their probabilities."""

METHOD = "log-probability of the link, by tail and head prediction"
CALIBRATED = f"{METHOD} (calibrated on held-out links)"
UNCALIBRATED = f"{METHOD} (not calibrated: the index has too few held-out links)"


class LinkDiscovery:
    """Finds missing links; see :meth:`ontodex.engine.links.LinkQuestions.missing`.

    Args:
        resources: Encoders and scorers of an opened index.
        known: Known triples of the index and of further graphs.
        link_queries: Makes the query vectors.
        searcher: Returns the searcher of a space, given its name.
    """

    def __init__(
        self,
        resources: Resources,
        known: Known,
        link_queries: LinkQueries,
        searcher: Callable[[str], Searcher],
    ) -> None:
        self._resources, self._index = resources, resources.index
        self._known, self._queries, self._searcher = known, link_queries, searcher

    def links(self, relation: str | None, k: int, *, linked: bool, quiet: bool) -> MissingLinks:
        """Return the k most probable missing links.

        Args:
            relation: Return only links of this relation; ``None`` for all relations.
            k: Number of links.
            linked: Include links between entities that another relation links already; if false,
                such links are left out.
            quiet: Show no progress on stderr.
        """
        k, start = checked(k), time.perf_counter()
        self._index.encoder_info(LINK)
        graph, features = self._index.graph, self._resources.graph_features
        only = None if relation is None else self._resolved(relation)
        numbers = (
            None if only is None else np.array([only.row, graph.n_relations + (only.row or 0)])
        )
        calibration = asked = None
        rules = no_rules()
        if features is not None:
            calibration, asked = features.calibration, features.asked_calibration
            rules = features.rules
        links = self._known.links()
        no_answers = self._no_answers(links, linked)
        questions = answerable(links, rules, numbers)
        best: Found = no_rows(), np.zeros(0)
        from tqdm import tqdm

        with tqdm(
            total=len(questions),
            desc="missing",
            unit="question",
            file=sys.stderr,
            disable=quiet,
            delay=1,
        ) as bar:
            for of_one in _by_relation(questions, graph.n_relations):
                answers = self._answers(links, of_one, no_answers, bar.update)
                found = _joined(
                    [
                        (keys, missing_probabilities(best_of_block, calibration, asked))
                        for keys, best_of_block in answers
                    ]
                )
                best = _most_probable([best, found], k)
        relations_and_heads, tails = np.divmod(best[0], graph.n_entities)
        relations, heads = np.divmod(relations_and_heads, graph.n_entities)
        rows = tuple(
            MissingLink(
                **parts_of(graph, head, number, tail),
                score=math.log(probability),
                probability=None if calibration is None else probability,
            )
            for head, number, tail, probability in zip(
                *(part.tolist() for part in (heads, relations, tails, best[1])), strict=True
            )
        )
        resolution = None if only is None else only.resolution
        method = UNCALIBRATED if calibration is None else CALIBRATED
        return MissingLinks(rows, resolution, method, milliseconds(start, 1), graph)

    def _resolved(self, relation: str) -> ResolvedTerm:
        graph = self._index.graph
        term = resolve_relation(graph, relation)
        if term.row is None:
            raise UnknownRelation(
                f"{graph.source}: expected a relation of the graph, found free text {relation!r}"
                f"{nearest(relation, graph.relation_labels)}"
            )
        return term

    def _no_answers(self, links: KnownLinks, linked: bool) -> Callable[[int, int], Rows]:
        """Return a function from an (entity, relation) question to the entities to exclude.

        Unless ``linked``, the entities that have a link with the entity of the question are
        excluded. For a relation of the hierarchy, or from an individual to its class, the ancestors
        and descendants of the entity are excluded, too.
        """
        graph = self._index.graph
        upward = graph.hierarchy_relations + graph.instance_relations
        hierarchy = self._known.hierarchy

        def rows(entity: int, number: int) -> Rows:
            near = no_rows() if linked else links.links_of(entity)[1]
            if hierarchy is None or number % graph.n_relations not in upward:
                return near
            return np.concatenate(
                [near, hierarchy.ancestors(entity), hierarchy.descendants(entity)]
            )

        return rows

    def _answers(
        self,
        links: KnownLinks,
        questions: Rows,
        no_answers: Callable[[int, int], Rows],
        done: Callable[[int], object],
    ) -> Iterator[tuple[Rows, BestAnswers]]:
        """Yield keys of the best answers to questions, and the answers, in blocks."""
        count, searcher = links.n_relations // 2, self._searcher(self._queries.space)

        def scored(entities: Rows, numbers: Rows) -> tuple[NDArray[np.float32], Sequence[Offsets]]:
            scores = searcher.products(self._queries.of_rows(entities, numbers))
            rules = self._queries.add_case_based(entities, numbers, scores)
            scores /= np.float32(self._queries.score_unit)
            done(len(entities))
            return scores, rules

        for best in best_answers(
            questions,
            scored,
            links,
            self._known.reflexive,
            no_answers,
            case_based=self._resources.case_based,
        ):
            given, by = best.entities, best.relations
            heads, tails = np.where(by < count, [given, best.tails], [best.tails, given])
            yield (by % count * links.n_entities + heads) * links.n_entities + tails, best


def _by_relation(questions: Rows, count: int) -> list[Rows]:
    """Split questions by relation; questions for its tails and for its heads stay together.

    Only the answers of one relation are then in memory at a time.

    Args:
        questions: (entity, relation) of each question; inverses are numbered from ``count``.
        count: Number of relations.
    """
    relations = questions[:, 1] % count
    order = np.argsort(relations, kind="stable")
    return np.split(questions[order], np.flatnonzero(np.diff(relations[order])) + 1)


def _joined(answers: Sequence[Found]) -> Found:
    """Return distinct links.

    If both tail and head prediction found a link, the larger of the two probabilities is its own:
    both estimate the same event from much the same evidence.
    """
    parts = [(no_rows(), np.zeros(0)), *answers]
    links, at = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
    largest = np.zeros(len(links))
    np.maximum.at(largest, at, np.concatenate([values for _, values in parts]))
    return links, largest


def _most_probable(found: Sequence[Found], k: int) -> Found:
    """Return the k most probable links of several disjoint sets of links."""
    links, values = (np.concatenate(part) for part in zip(*found, strict=True))
    best = np.lexsort((links, -values))[:k]
    return links[best], values[best]
