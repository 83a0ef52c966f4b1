"""Which links a graph lacks most likely: the best answers to all questions that have known or sure ones, made comparable."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

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
from ontodex.scoring.calibration import answerable, best_answers, probabilities
from ontodex.scoring.graph_features import Offsets
from ontodex.scoring.rules import no_rules
from ontodex.storage.space_names import LINK

__all__ = ["Missing"]

SURE = 1e-12, 0.9999
"""Probabilities below and beyond which no answer is doubted or trusted."""

Found = tuple[Rows, NDArray[np.float64]]
"""Links by the number of their relation, head and tail in one, and how likely each is."""

METHOD = (
    "the logarithm of how likely the link is, as an answer about its head or as one about its tail"
)
FITTED = f"{METHOD}, if as many are missing as were held out to tell"
UNFITTED = (
    "the logarithm of how likely the link would be if as many were missing as are known, as an answer about its head or as "
    "one about its tail (the index has nothing fitted to links held out, to tell how likely it is)"
)


class Missing:
    """Finds missing links; what it does is said at :meth:`ontodex.engine.links.LinkQuestions.missing`.

    Args:
        resources: Encoders and scorers of an opened index.
        known: Its known triples, and further ones.
        link_queries: Makes queries.
        searcher: Gives the search of a space.
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
        """Return the k likeliest.

        Args:
            relation: Of this one alone.
            k: How many.
            linked: Whether two that some relation links already may lack a link by another.
            quiet: Show no progress on stderr.
        """
        k, start = checked(k), time.perf_counter()
        self._index.encoder_info(LINK)
        graph, structure = self._index.graph, self._resources.graph_features
        asked = None if relation is None else self._read(relation)
        numbers = (
            None if asked is None else np.array([asked.row, graph.n_relations + (asked.row or 0)])
        )
        odds, rules = (
            (None, no_rules()) if structure is None else (structure.calibration, structure.rules)
        )
        links = self._known.links()
        passed_over = self._passed_over(links, linked)
        questions = answerable(links, rules, numbers)
        best: Found = no_rows(), np.zeros(0)
        with tqdm(
            total=len(questions),
            desc="missing",
            unit="question",
            file=sys.stderr,
            disable=quiet,
            delay=1,
        ) as bar:
            for of_one in _by_relation(questions, graph.n_relations):
                answers = self._answers(links, of_one, passed_over, bar.update)
                found = _joined(
                    [(keys, probabilities(evidence, odds)) for keys, evidence in answers]
                )
                best = _likeliest([best, found], k)
        relations_and_heads, tails = np.divmod(best[0], graph.n_entities)
        relations, heads = np.divmod(relations_and_heads, graph.n_entities)
        rows = tuple(
            MissingLink(
                **parts_of(graph, head, number, tail),
                score=math.log(probability),
                probability=None if odds is None else probability,
            )
            for head, number, tail, probability in zip(
                *(part.tolist() for part in (heads, relations, tails, best[1])), strict=True
            )
        )
        resolution = None if asked is None else asked.resolution
        return MissingLinks(
            rows, resolution, UNFITTED if odds is None else FITTED, milliseconds(start, 1), graph
        )

    def _read(self, relation: str) -> ResolvedTerm:
        graph = self._index.graph
        read = resolve_relation(graph, relation)
        if read.row is None:
            raise UnknownRelation(
                f"{graph.source}: expected a relation of the graph, found free text {relation!r}"
                f"{nearest(relation, graph.relation_labels)}"
            )
        return read

    def _passed_over(self, links: KnownLinks, linked: bool) -> Callable[[int, int], Rows]:
        """Return what gives the entities that are no missing answer to a question, though nothing says so."""
        graph, upward = self._index.graph, self._index.graph.hierarchy_relations
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
        passed_over: Callable[[int, int], Rows],
        done: Callable[[int], object],
    ) -> Iterator[tuple[Rows, NDArray[np.float64]]]:
        """Yield the best answers to questions, as keys of links, and what is seen of each."""
        count, searcher = links.n_relations // 2, self._searcher(self._queries.space)

        def scored(entities: Rows, numbers: Rows) -> tuple[NDArray[np.float32], Sequence[Offsets]]:
            scores = searcher.products(self._queries.of_rows(entities, numbers))
            rules = self._queries.add_case_based(entities, numbers, scores)
            scores /= np.float32(self._queries.score_unit)
            done(len(entities))
            return scores, rules

        for best in best_answers(questions, scored, links, self._known.reflexive, passed_over):
            asked, by = best.entities, best.relations
            heads, tails = np.where(by < count, [asked, best.tails], [best.tails, asked])
            yield (by % count * links.n_entities + heads) * links.n_entities + tails, best.features


def _by_relation(questions: Rows, count: int) -> list[Rows]:
    """Part questions by their relation, of which there are so many: what is asked about heads and about tails together.

    So no more is kept at once than the answers of one relation.
    """
    relations = questions[:, 1] % count
    order = np.argsort(relations, kind="stable")
    return np.split(questions[order], np.flatnonzero(np.diff(relations[order])) + 1)


def _joined(answers: Sequence[Found]) -> Found:
    """Return links, each once: an answer about its head or its tail, or about both, which is surer than either."""
    parts = [(no_rows(), np.zeros(0)), *answers]
    links, at = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
    doubts = np.concatenate([np.log1p(-np.clip(likely, *SURE)) for _, likely in parts])
    return links, -np.expm1(np.bincount(at, doubts, len(links)))


def _likeliest(found: Sequence[Found], k: int) -> Found:
    """Return the k likeliest links of several parts, which have none in common."""
    links, likely = (np.concatenate(part) for part in zip(*found, strict=True))
    best = np.lexsort((links, -likely))[:k]
    return links[best], likely[best]
