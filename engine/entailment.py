"""Asymmetric entailment between sentences, by the GaussCSE encoder of an index."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Answer, Rows, answered, checked, left_out, no_rows, own_row
from ontodex.engine.known import CHOICES
from ontodex.engine.resolve import ResolvedTerm, expect_pairs, resolve_entities
from ontodex.engine.resources import Resources
from ontodex.engine.results.hits import Hit, Hits
from ontodex.engine.results.verdicts import Direction, Verdict
from ontodex.engine.search.gaussian_space import GaussianSpace
from ontodex.engine.search.topk import Found, Searcher
from ontodex.engine.similarity import fetched, text_vectors, top_per_owner
from ontodex.errors import expect_choice
from ontodex.geometry.entailment import Entailment
from ontodex.geometry.gaussian import similarity
from ontodex.geometry.logistic import sigmoid
from ontodex.geometry.vectors import Vectors
from ontodex.graph import EntitySentences, Hierarchy, KnowledgeGraph, sentences
from ontodex.graph.arrays import runs
from ontodex.graph.text import in_words
from ontodex.scoring.name_similarity import NameSimilarity
from ontodex.storage.space_names import ENTAILMENT

__all__ = ["Entailments"]

Gaussians = NDArray[np.floating]


@dataclass(frozen=True)
class Judge:
    """A cross-encoder, and the search of texts that finds further entities for it.

    Attributes:
        probabilities: Returns the probability that each premise entails its hypothesis.
        searcher: Search of the entities' texts.
        vectors: Returns the text vectors of terms.
    """

    probabilities: Callable[[list[tuple[str, str]]], NDArray[np.float64]]
    searcher: Searcher
    vectors: Callable[[Sequence[ResolvedTerm]], NDArray[np.float32]]


@dataclass(frozen=True)
class _Encoded:
    """An entity or a text, its sentences, and a Gaussian of each of them."""

    term: ResolvedTerm
    sentences: list[str]
    gaussians: Gaussians

    def as_hypothesis(self) -> _Encoded:
        """Return the term as a hypothesis: for an entity, only the sentences of its label."""
        if self.term.row is None:
            return self
        count = max(1, len(set(sentences(in_words(self.term.resolution.label)))))
        return _Encoded(self.term, self.sentences[:count], self.gaussians[:count])

    @property
    def premises(self) -> list[str]:
        """The sentences, and the whole text if there are several."""
        several = len(self.sentences) > 1
        return [*self.sentences, " ".join(self.sentences)] if several else self.sentences


METHODS = {
    "scaled": "GaussCSE: similarity 1 / (1 + KL/d) of hypothesis to premise",
    "paper": "GaussCSE: similarity 1 / (1 + KL) of hypothesis to premise",
    "per-dimension": "GaussCSE: mean over the dimensions of 1 / (1 + KL), of hypothesis to premise",
}

RERANKED = 10
"""Number of entities by GaussCSE, and by the similarity of texts, that a cross-encoder ranks."""

COSINE_WEIGHT, COSINE_FROM = 10.0, 0.6
"""Weight of the cosine of texts in the logit of a ranked entity, and the cosine that adds 0.

Among many entities, one with an unrelated text is entailed less often than among labelled pairs.
Chosen on first sentences of definitions of the Disease Ontology and Schema.org.
"""

CERTAIN = 0.5
"""Probability by the cross-encoder above which a premise entails a hypothesis."""

RERANKING = "; the first by a cross-encoder"

OVERFETCH, LEAST_FETCH = 10, 200
"""Number of candidates per hit, and minimal number of candidates, for the similarity
"per-dimension". No inner product gives its ranking, so candidates are re-scored."""


@dataclass(frozen=True)
class _Ranked:
    """Sentences of distinct entities, the best first, with scores and probabilities."""

    rows: Rows
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]


class Entailments:
    """Ranks entailed and entailing entities; see :class:`~ontodex.engine.engine.Engine`.

    Args:
        graph: The graph.
        sentences: Sentences of its entities.
        vectors: A Gaussian of each sentence: means and log-variances, of shape (sentences, 2d).
        rule: Threshold of the similarity, and the curve that maps similarities to probabilities.
        form: The similarity, one of :data:`~ontodex.geometry.gaussian.SIMILARITIES`.
        hierarchy: Asserted hierarchy, or ``None``. The ancestors of an entity count as known
            answers to what the entity entails.
        encode: Returns the Gaussians of texts.
        judge: The cross-encoder; ``None`` without one.
        device: Device of the search.
        names: Finds names of similar spelling, for hints.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        sentences: EntitySentences,
        vectors: Vectors,
        rule: Entailment,
        form: str,
        *,
        hierarchy: Hierarchy | None,
        encode: Callable[[list[str]], Gaussians],
        judge: Judge | None = None,
        device: str = "cpu",
        names: NameSimilarity | None = None,
    ) -> None:
        self.graph, self.sentences, self.vectors = graph, sentences, vectors
        self.rule, self.form = rule, form
        self.hierarchy = hierarchy
        self.device = device
        self._encode = encode
        self._judge = judge
        self._names = names

    @classmethod
    def of(
        cls, resources: Resources, searcher: Searcher, hierarchy: Hierarchy | None
    ) -> Entailments:
        """Return the rankings of an index with a GaussCSE encoder.

        Args:
            resources: Encoders and scorers of an opened index.
            searcher: Search of the entities' texts.
            hierarchy: Hierarchy of the index's graph, or ``None``.

        Raises:
            IndexMismatch: If the index was built without a GaussCSE encoder.
        """
        index = resources.index
        about = index.encoder_info(ENTAILMENT)
        cross = resources.encoders.entailment_cross_encoder
        vectors = functools.partial(text_vectors, resources)
        judge = None if cross is None else Judge(cross.probabilities, searcher, vectors)
        return cls(
            index.graph,
            index.sentences(ENTAILMENT),
            index.vectors(ENTAILMENT),
            index.entailment_rule,
            about["similarity"],
            hierarchy=hierarchy,
            encode=lambda texts: np.asarray(resources.encoders.entailment.encode(texts)),
            judge=judge,
            device=resources.device,
            names=resources.name_similarity,
        )

    @cached_property
    def hypotheses(self) -> Searcher:
        """Searcher that ranks all sentences as hypotheses of a premise."""
        space = GaussianSpace(self.vectors, "left")
        return Searcher(space.lifted, self.device, space=space)

    @cached_property
    def premises(self) -> Searcher:
        """Searcher that ranks all sentences as premises of a hypothesis."""
        space = GaussianSpace(self.vectors, "right")
        return Searcher(space.lifted, self.device, space=space)

    def ranked(self, question: str, texts: Sequence[str], k: int, known: str) -> list[Hits]:
        """Rank the entities that each text entails, or the entities that entail each text.

        Args:
            question: ``"entailed_by"`` if the texts are premises, ``"entailing"`` if they are
                hypotheses.
            texts: Entities or texts.
            k: Number of entities.
            known: See :meth:`ontodex.Engine.entailed_by`.
        """
        expect_choice("known", known, CHOICES)
        k = checked(k)
        start = time.perf_counter()
        resolved = resolve_entities(self.graph, texts, names=self._names)
        terms = self._encoded(resolved)
        if question == "entailing":
            terms = [term.as_hypothesis() for term in terms]
        queries = [term.gaussians for term in terms]
        asserted = [self._asserted(question, one.row) for one in resolved]
        most = k if self._judge is None else max(k, RERANKED)
        found = [(no_rows(), np.zeros(0))] * len(resolved)
        refused = None
        if known == "only":
            for at, (own, rows) in enumerate(zip(queries, asserted, strict=True)):
                found[at] = self._scored(question, own, self._sentences_of(rows), most)
        else:
            refused = [
                np.concatenate([own_row(one), rows if known == "exclude" else no_rows()])
                for one, rows in zip(resolved, asserted, strict=True)
            ]
            sentences_refused = [self._sentences_of(rows) for rows in refused]
            found = self._best(question, queries, sentences_refused, most)
        if self._judge is None:
            ranked = [
                _Ranked(rows, scores, self.rule.probability(scores)) for rows, scores in found
            ]
        else:
            ranked = self._reranked(question, terms, self._judge, found, refused, k)
        method = METHODS[self.form] + ("" if self._judge is None else RERANKING)
        answers = [
            Answer(
                self._hits(one, marked),
                {"text": term.term.resolution},
                method,
                left_out(self.graph.labels, marked, known),
            )
            for term, one, marked in zip(terms, ranked, asserted, strict=True)
        ]
        return answered(self.graph, question, answers, start)

    def _reranked(
        self,
        question: str,
        terms: Sequence[_Encoded],
        judge: Judge,
        found: Found,
        refused: Sequence[Rows] | None,
        k: int,
    ) -> list[_Ranked]:
        """Rank the first entities of each query, and entities with similar texts, by a judge.

        The entities after them keep their order, with at most the smallest probability.

        Args:
            question: ``"entailed_by"`` or ``"entailing"``.
            terms: The queries.
            judge: Judges pairs of texts.
            found: Numbers of sentences, one of each entity, and their similarities, the best first.
            refused: Entities that each query must not return; ``None`` to rank only those found.
            k: Number of entities.
        """
        owners, vectors = self.sentences.owners, judge.vectors([term.term for term in terms])
        similar = (
            [no_rows()] * len(terms)
            if refused is None
            else [rows for rows, _ in judge.searcher.top(vectors, RERANKED, refused)]
        )
        ranked = []
        for term, vector, (rows, scores), near in zip(terms, vectors, found, similar, strict=True):
            others = np.setdiff1d(near, owners[rows[:RERANKED]])
            own = self._sentences_of(others)
            more, _ = self._scored(question, term.gaussians, own, len(others))
            first = np.concatenate([rows[:RERANKED], more])
            best, judged = self._judged_best(question, term, judge, first)
            texts = judge.searcher.vectors[owners[first]].astype(np.float64)
            logits = (
                np.log(judged) - np.log1p(-judged) + COSINE_WEIGHT * (texts @ vector - COSINE_FROM)
            )
            probabilities = sigmoid(logits)
            order = np.lexsort((best, -probabilities))
            rest = np.flatnonzero(~np.isin(owners[rows], owners[first]))
            least = probabilities.min(initial=1.0)
            after = np.minimum(self.rule.probability(scores[rest]), least)
            every = np.concatenate([probabilities[order], after])
            ranked.append(
                _Ranked(np.concatenate([best[order], rows[rest]])[:k], every[:k], every[:k])
            )
        return ranked

    def _judged_best(
        self, question: str, term: _Encoded, judge: Judge, rows: Rows
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Judge a sentence of some entities and their labels, and return the better of both.

        Returns:
            Numbers of sentences, and their probabilities.
        """
        labels = np.searchsorted(self.sentences.owners, self.sentences.owners[rows])
        asked = []
        for row in (*rows.tolist(), *labels.tolist()):
            texts = [self.sentences.texts[row]]
            asked.append(
                (term.premises, texts) if question == "entailed_by" else (texts, term.sentences)
            )
        found = np.array(self._judged(asked, judge)).reshape(2, len(rows))
        return np.where(found[0] >= found[1], rows, labels), found.max(axis=0, initial=0.0)

    def verdicts(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """Decide whether each premise entails its hypothesis."""
        return self._verdicts(self._resolved_pairs(pairs))

    def directions(self, pairs: Sequence[tuple[str, str]]) -> list[Direction]:
        """Decide both directions of each pair."""
        resolved = self._resolved_pairs(pairs)
        both = self._verdicts([way for one, two in resolved for way in ((one, two), (two, one))])
        return [
            Direction(one, two, self._log_odds(one) - self._log_odds(two))
            for one, two in zip(both[::2], both[1::2], strict=True)
        ]

    def _log_odds(self, verdict: Verdict) -> float:
        """Return the sum of the log odds of GaussCSE's similarity and of the cross-encoder."""
        odds = float(self.rule.log_odds(verdict.similarity))
        if self._judge is None:
            return odds
        return odds + float(np.log(verdict.probability) - np.log1p(-verdict.probability))

    def _resolved_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[_Encoded, _Encoded]]:
        """Resolve and encode both sides of each pair; all texts are encoded in one batch."""
        resolved = resolve_entities(
            self.graph, [text for pair in expect_pairs(pairs) for text in pair], names=self._names
        )
        terms = self._encoded(resolved)
        return list(zip(terms[::2], terms[1::2], strict=True))

    def _verdicts(self, pairs: Sequence[tuple[_Encoded, _Encoded]]) -> list[Verdict]:
        """Decide pairs; a cross-encoder, if there is one, reads all of them in one batch."""
        pairs = [(premise, hypothesis.as_hypothesis()) for premise, hypothesis in pairs]
        similarities = [
            float(
                similarity(
                    two.gaussians.astype(np.float64)[:, None],
                    one.gaussians.astype(np.float64)[None],
                    self.form,
                )
                .max(axis=1)
                .min()
            )
            for one, two in pairs
        ]
        if self._judge is None:
            probabilities = self.rule.probability(np.array(similarities)).tolist()
            entailed = [score > self.rule.threshold for score in similarities]
        else:
            probabilities = self._judged(
                [(one.premises, two.sentences) for one, two in pairs], self._judge
            )
            entailed = [probability > CERTAIN for probability in probabilities]
        known = [
            two.term.row is not None and two.term.row in self._asserted("entailed_by", one.term.row)
            for one, two in pairs
        ]
        return [
            Verdict(
                one.term.resolution,
                two.term.resolution,
                score,
                probability,
                decision or asserted,
                asserted,
            )
            for (one, two), score, probability, decision, asserted in zip(
                pairs, similarities, probabilities, entailed, known, strict=True
            )
        ]

    def _judged(self, pairs: Sequence[tuple[list[str], list[str]]], judge: Judge) -> list[float]:
        """Return the probability of each pair of premises and hypotheses by the cross-encoder.

        It is that of the hypothesis that is entailed least, by the premise that entails it best.
        """
        texts = [(one, two) for ones, twos in pairs for two in twos for one in ones]
        distinct = list(dict.fromkeys(texts))
        known = dict(zip(distinct, judge.probabilities(distinct), strict=True))
        return [
            min(max(float(known[one, two]) for one in ones) for two in twos) for ones, twos in pairs
        ]

    def _encoded(self, entities: Sequence[ResolvedTerm]) -> list[_Encoded]:
        """Return the sentences of each entity or text, and their Gaussians."""
        texts = [
            [] if one.row is not None else sentences(one.words) or [one.words] for one in entities
        ]
        flat = [text for own in texts for text in own]
        encoded = self._encode(flat) if flat else np.zeros((0, self.vectors.dim))
        ends = np.cumsum([0, *map(len, texts)]).tolist()
        found = []
        for at, one in enumerate(entities):
            if one.row is None:
                found.append(_Encoded(one, texts[at], encoded[ends[at] : ends[at + 1]]))
            else:
                rows = self._sentences_of(np.array([one.row], dtype=np.int64))
                own = [self.sentences.texts[row] for row in rows.tolist()]
                found.append(_Encoded(one, own, self.vectors[rows]))
        return found

    def _sentences_of(self, entities: Rows) -> Rows:
        """Return the numbers of the sentences of entities, in the order of the entities."""
        owners = self.sentences.owners
        starts, ends = (np.searchsorted(owners, entities, side=side) for side in ("left", "right"))
        return runs(starts, ends - starts)[1]

    def _asserted(self, question: str, row: int | None) -> Rows:
        if row is None or self.hierarchy is None:
            return no_rows()
        found = (
            self.hierarchy.ancestors(row)
            if question == "entailed_by"
            else self.hierarchy.descendants(row)
        )
        return found.astype(np.int64)

    def _best(
        self, question: str, queries: Sequence[Gaussians], refused: Sequence[Rows], k: int
    ) -> Found:
        """Return the best k entities of each query, each by its best sentence.

        Args:
            question: ``"entailed_by"`` or ``"entailing"``.
            queries: Gaussians of the sentences of each query.
            refused: Numbers of the sentences that each query must not return.
            k: Number of entities.
        """
        searcher = self.hypotheses if question == "entailed_by" else self.premises
        flat = np.concatenate([*queries, np.zeros((0, self.vectors.dim))]).astype(np.float32)
        counts = [len(own) for own in queries]
        left_out = [rows for rows, count in zip(refused, counts, strict=True) for _ in range(count)]
        fetch = max(LEAST_FETCH, OVERFETCH * k) if self.form == "per-dimension" else 2 * k
        found = fetched(searcher, flat, self.sentences.owners, k, fetch=fetch, left_out=left_out)
        ends = np.cumsum([0, *counts])
        return [
            self._scored(
                question,
                own,
                np.unique(np.concatenate([rows for rows, _ in found[ends[at] : ends[at + 1]]])),
                k,
            )
            for at, own in enumerate(queries)
        ]

    def _scored(
        self, question: str, queries: Gaussians, rows: Rows, k: int
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return the best k entities among the owners of some sentences, each by its best sentence.

        The score of a sentence is its best similarity with any sentence of the query.

        Args:
            question: ``"entailed_by"`` or ``"entailing"``.
            queries: Gaussians of the sentences of one query.
            rows: Numbers of the sentences.
            k: Number of entities.
        """
        items, wide = self.vectors[rows].astype(np.float64), queries.astype(np.float64)
        scores = np.full(len(rows), -np.inf)
        for query in wide:
            hypothesis, premise = (items, query) if question == "entailed_by" else (query, items)
            scores = np.maximum(scores, similarity(hypothesis, premise, self.form))
        order = np.lexsort((rows, -scores))
        rows, scores = rows[order], scores[order]
        kept = top_per_owner(rows, self.sentences.owners, k)
        return rows[kept], scores[kept]

    def _hits(self, ranked: _Ranked, known: Rows) -> tuple[Hit, ...]:
        owners = self.sentences.owners[ranked.rows]
        columns = zip(
            ranked.rows.tolist(),
            owners.tolist(),
            ranked.scores.tolist(),
            np.isin(owners, known).tolist(),
            ranked.probabilities.tolist(),
            strict=True,
        )
        return tuple(
            Hit(
                self.graph.ids[owner],
                self.graph.labels[owner],
                score,
                mark,
                probability,
                self.sentences.texts[row],
            )
            for row, owner, score, mark, probability in columns
        )
