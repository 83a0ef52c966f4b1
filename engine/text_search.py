"""Search by text: entities ranked by how well their names and texts match."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Answer, Rows, Scored, answered, checked, hits_of, no_rows
from ontodex.engine.resolve import ResolvedTerm, resolve_entities
from ontodex.engine.resources import Resources
from ontodex.engine.results.hits import Hits
from ontodex.engine.search.topk import Searcher
from ontodex.geometry.cosine import score_pairs
from ontodex.graph import Hierarchy, KnowledgeGraph
from ontodex.graph.arrays import runs
from ontodex.graph.sentences import sentences
from ontodex.scoring.name_similarity import plain
from ontodex.storage.space_names import NAME, TEXT

__all__ = ["search"]

METHOD = "similarity of names, texts and parents (cosine) and of letters (trigrams)"

TEXT_WEIGHT, PARENTS_WEIGHT = 0.5, 0.25
"""Weights of the cosines with the text of an entity and with the labels of its parents.

The cosine with its best name has the weight 1. All weights and factors of this module were chosen
on the development half of ``benchmarks/everyday_questions.tsv`` and on synonyms, misspelt labels
and definitions of five graphs.
"""

LETTERS_WEIGHT, LETTERS_FROM = 0.2, 0.5
"""Weight of the similarity of letters, as far as it is above a half."""

UNKNOWN_WEIGHT = 1.0
"""Weight of the similarity of letters, times the share of unknown words."""

CORRECTED, VARIANT, PART, SENTENCE = 0.97, 0.93, 0.97, 0.97
"""Factors of the cosine with the best name.

They are for the corrected spelling, for replaced words, for a part of a label as name, and for one
sentence of a query of several.
"""

CANDIDATES = 64
"""Number of entities with the most similar texts, and with the most similar letters, to score."""

VARIANTS, NEAR_VARIANT = 6, 32
"""Number of texts with replaced words, and of entities of similar letters to score for each.

As many entities are scored for each sentence of a query of several.
"""

SENTENCE_END = re.compile(r"[.!?]\s+\S")
"""The end of a sentence that another follows."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Query:
    """A query as it is compared with entities.

    Attributes:
        term: What was asked: an entity, if it is an id, or free text.
        near: Entities of similar letters and their similarities, once for each spelling.
        others: Further texts, each with the factor of its cosine: the query with corrected
            spelling, with replaced words, and its sentences, if it has several.
        candidates: Entities with names like a sentence, or like a text with replaced words.
        unknown: Share of the words that neither the graph nor the text encoder knows.
    """

    term: ResolvedTerm
    near: list[Scored]
    others: list[tuple[str, float]] = field(default_factory=list)
    candidates: list[Rows] = field(default_factory=list)
    unknown: float = 0.0


def search(
    resources: Resources,
    searcher: Searcher,
    hierarchy: Hierarchy | None,
    texts: Sequence[str],
    k: int,
    *,
    lexicon: bool,
) -> list[Hits]:
    """Rank all entities by their names and texts; entities of exactly that name come first.

    Args:
        resources: Encoders and scorers of an opened index.
        searcher: Search of the text space.
        hierarchy: Parents of the entities; ``None`` for a graph without a hierarchy.
        texts: Queries: texts, or ids for the texts of their entities.
        k: Number of hits.
        lexicon: Whether words are also replaced by words of the same meaning.
    """
    k = checked(k)
    start = time.perf_counter()
    graph = resources.index.graph
    resolved = resolve_entities(graph, texts, any_text=True)
    queries = [_query(resources, one.unless_named, lexicon) for one in resolved]
    vectors = _vectors(resources, queries)
    exact = [_named(graph, one.resolution.text) for one in resolved]
    own = np.array([rows[0] for rows in vectors]).reshape(len(queries), searcher.vectors.dim)
    similar = searcher.top(own, max(k, CANDIDATES), exact)
    scorer = _Scorer(resources, hierarchy)
    answers = []
    for number, query in enumerate(queries):
        first = exact[number]
        alike = [_nearest(found, CANDIDATES) for found in query.near]
        near = [similar[number][0], *alike, *query.candidates]
        rows = np.setdiff1d(np.concatenate(near).astype(np.int64), first)
        scores = scorer.scores(query, vectors[number], rows)
        best = np.lexsort((rows, -scores))
        scored = (
            np.concatenate([first, rows[best]])[:k],
            np.concatenate([np.ones(len(first)), scores[best]])[:k],
        )
        hits = hits_of(graph, scored, no_rows())
        answers.append(Answer(hits, {"text": resolved[number].resolution}, METHOD))
    return answered(graph, "search", answers, start)


def _named(graph: KnowledgeGraph, text: str) -> Rows:
    """Return the entities that a text is the name of, those in most triples first."""
    rows, _ = graph.find_all(text) or ([], None)
    return np.array(graph.by_links(rows), dtype=np.int64)


def _query(resources: Resources, term: ResolvedTerm, lexicon: bool) -> _Query:
    names = resources.name_similarity
    if term.row is not None:
        return _Query(term, [names.find(term.resolution.label)])
    text = term.words
    corrected, unknown = resources.spelling.corrected(text)
    near = [names.find(text)] + ([names.find(corrected)] if corrected else [])
    others = [(corrected, CORRECTED)] if corrected else []
    parts = list(dict.fromkeys(sentences(text))) if SENTENCE_END.search(text) else []
    if parts:
        further = [(part, SENTENCE) for part in parts]
    elif lexicon:
        variants = resources.lexicon.variants(plain(corrected or text), names, VARIANTS)
        further = [(variant, VARIANT) for variant in variants]
    else:
        further = []
    candidates = [_nearest(names.find(one), NEAR_VARIANT) for one, _ in further]
    return _Query(term, near, others + further, candidates, unknown)


def _nearest(found: Scored, most: int) -> Rows:
    rows, similarity = found
    return rows[np.argsort(-similarity, kind="stable")[:most]]


def _vectors(resources: Resources, queries: Sequence[_Query]) -> list[NDArray[np.float32]]:
    """Return the vectors of each query and of its other texts, of shape (texts, dim)."""
    texts = [
        [
            *([query.term.words] if query.term.row is None else []),
            *(text for text, _ in query.others),
        ]
        for query in queries
    ]
    every = [text for own in texts for text in own]
    encoded = resources.encoders.text.encode(every) if every else np.zeros((0, 0), np.float32)
    ends = np.cumsum([len(own) for own in texts])
    stored = resources.index.vectors(TEXT)
    return [
        encoded[end - len(own) : end]
        if query.term.row is None
        else stored[np.array([query.term.row])]
        for query, own, end in zip(queries, texts, ends.tolist(), strict=True)
    ]


class _Scorer:
    """Scores entities by names, texts, parents and letters.

    Args:
        resources: Encoders and scorers of an opened index.
        hierarchy: Parents of the entities; ``None`` for a graph without a hierarchy.
    """

    def __init__(self, resources: Resources, hierarchy: Hierarchy | None) -> None:
        index = resources.index
        self._texts, self._names = index.vectors(TEXT), index.vectors(NAME)
        self._owners, self._hierarchy = index.sentences(NAME).owners, hierarchy
        self._plain_owners = resources.name_similarity.owners

    def scores(self, query: _Query, vectors: NDArray[np.float32], rows: Rows) -> Floats:
        """Return the scores of entities, between -1 and 1.

        Args:
            query: The query.
            vectors: Vectors of the query and of its other texts, of shape (texts, dim).
            rows: The entities, ascending.
        """
        factors = [1.0, *(factor for _, factor in query.others)]
        spellings = len(query.near)
        texts = _products(vectors[:spellings], self._texts[rows], factors[:spellings])
        letters = np.zeros(len(rows))
        for near, similarity in query.near:
            places = np.searchsorted(near, rows).clip(max=max(0, len(near) - 1))
            if len(near):
                found = np.where(near[places] == rows, similarity[places], 0.0)
                letters = np.maximum(letters, found)
        strong = np.maximum(0.0, letters - LETTERS_FROM) / (1 - LETTERS_FROM)
        unknown = UNKNOWN_WEIGHT * query.unknown
        total = (
            self._best_names(vectors, factors, rows)
            + TEXT_WEIGHT * texts
            + PARENTS_WEIGHT * self._parents(vectors[0], rows)
            + LETTERS_WEIGHT * strong
            + unknown * letters
        )
        return np.asarray(total / (1 + TEXT_WEIGHT + PARENTS_WEIGHT + LETTERS_WEIGHT + unknown))

    def _best_names(
        self, vectors: NDArray[np.float32], factors: Sequence[float], rows: Rows
    ) -> Floats:
        """Return the cosine of the best name of each entity with the best text of a query."""
        firsts = np.searchsorted(self._owners, rows)
        counts = np.searchsorted(self._owners, rows, side="right") - firsts
        entities, places = runs(firsts, counts)
        cosines = _products(vectors, self._names[places], factors)
        whole = np.searchsorted(self._plain_owners, rows, side="right") - np.searchsorted(
            self._plain_owners, rows
        )
        cosines = np.where(places - firsts[entities] < whole[entities], cosines, PART * cosines)
        starts = np.cumsum(counts) - counts
        return np.asarray(np.maximum.reduceat(cosines, starts)) if len(rows) else np.zeros(0)

    def _parents(self, vector: NDArray[np.float32], rows: Rows) -> Floats:
        """Return the mean cosine with the labels of the parents, or the own label without any."""
        owners = parents = np.zeros(0, dtype=np.int64)
        if self._hierarchy is not None:
            owners, above = self._hierarchy.parents_of(rows)
            parents = above.astype(np.int64)
        counts = np.bincount(owners, minlength=len(rows))
        alone = np.flatnonzero(counts == 0)
        owners = np.concatenate([owners, alone])
        labels = np.searchsorted(self._owners, np.concatenate([parents, rows[alone]]))
        cosines = _products(vector[None], self._names[labels], [1.0])
        sums = np.bincount(owners, cosines, minlength=len(rows))
        return np.asarray(sums / np.maximum(counts, 1))


def _products(
    queries: NDArray[np.float32], items: NDArray[np.floating], factors: Sequence[float]
) -> Floats:
    """Return the largest product of each item with a query, each times its factor."""
    wide = items.astype(np.float64)
    products = [
        factor * score_pairs(query[None], wide[None])[0]
        for query, factor in zip(queries, factors, strict=True)
    ]
    return np.asarray(np.max(products, axis=0))
