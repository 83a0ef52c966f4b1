"""Simple baselines that the benchmarks share: rankers of entities that need no training."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

import bm25s
import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process, utils
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from ontodex.graph import Hierarchy, KnowledgeGraph
from ontodex.graph.text import in_words

__all__ = [
    "FUSION",
    "NOTES",
    "VOTERS",
    "Ranker",
    "TrigramVotes",
    "Trigrams",
    "first_right",
    "fused",
    "label_paths",
    "ranker",
    "rankers",
    "ranks_better",
    "string_matching",
]

Floats = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Floats]
"""From texts to their vectors, ``float32`` of shape (texts, dim)."""

Score = Callable[[list[str]], Floats]
"""From queries to the scores of all entities, of shape (queries, entities)."""

Ranker = Callable[[list[str]], list[list[int]]]
"""From queries to rows of entities, the best first."""

BLOCK = 64
"""Queries in one block."""

VOTERS = 10
"""Number of nearest neighbours whose parents are voted for."""

FUSION = "reciprocal rank fusion of the baselines"
FUSION_K = 60
"""Constant of reciprocal rank fusion; the value of Cormack et al. (2009)."""

NOTES = [
    "Baselines, none of them trained or tuned. Cosines: all-MiniLM-L6-v2. cosine of labels: the "
    "label alone. cosine of names: the best of the label and the synonyms. cosine of labels and "
    'paths: one text "label, parent, grandparent, ...", concatenated up to a root along the first '
    "parent of each entity; it equals the cosine of labels where there is no hierarchy.",
    "bm25s: BM25 over label, synonyms and definition with that package's settings (Lucene's "
    "formula, k1 1.5, b 0.75, English stop words). rapidfuzz: fuzz.token_sort_ratio of "
    "lower-case names, the best name of each entity. trigrams: cosine of TF-IDF of character "
    "trigrams (scikit-learn, char_wb), the best name of each entity.",
    f"{FUSION}: k = {FUSION_K}, over the first answers of all six baselines above; its time "
    "includes theirs.",
]


def rankers(
    graph: KnowledgeGraph, paths: Sequence[str], encode: Encode, k: int
) -> dict[str, Ranker]:
    """Return the baselines of search in a graph, without their fusion (see :func:`fused`).

    Args:
        graph: Entities with labels, synonyms and definitions.
        paths: Label and path of each entity; see :func:`label_paths`.
        encode: Text encoder.
        k: Number of entities that each returns, at most.
    """
    names = [
        [in_words(label), *synonyms]
        for label, synonyms in zip(graph.labels, graph.synonyms, strict=True)
    ]
    labels = [[own[0]] for own in names]
    texts = [
        f"{'; '.join(own)} {definition}"
        for own, definition in zip(names, graph.definitions, strict=True)
    ]
    scores: dict[str, Score] = {
        "cosine of labels": _cosine(labels, encode),
        "cosine of names": _cosine(names, encode),
        "cosine of labels and paths": _cosine([[path] for path in paths], encode),
        "rapidfuzz": _fuzzy(names),
        "trigrams": Trigrams(names).scores,
    }
    found = {name: ranker(score, k) for name, score in scores.items()}
    return {name: _of_words(one) for name, one in {**found, "bm25s": _bm25(texts, k)}.items()}


def _of_words(ranked: Ranker) -> Ranker:
    """Return a ranker that splits queries in camel case into words, as it does with labels."""
    return lambda texts: ranked([in_words(text) for text in texts])


def label_paths(graph: KnowledgeGraph, hierarchy: Hierarchy | None) -> list[str]:
    """Return the label of each entity with its path: "label, parent, grandparent, ...".

    The path follows the first parent of each entity.
    """
    paths = [in_words(label) for label in graph.labels]
    for row in hierarchy.topological.tolist() if hierarchy else []:
        for parent in hierarchy.parents(row)[:1].tolist():
            paths[row] += f", {paths[parent]}"
    return paths


def first_right(answers: Iterable[object], right: Container[object]) -> float:
    """Return the rank of the first right answer, from 1; infinity if there is none."""
    return next((float(rank) for rank, one in enumerate(answers, 1) if one in right), math.inf)


def ranker(score: Score, k: int) -> Ranker:
    """Return a ranker by a score: at most k entities with a positive one, ties in row order."""

    def ranked(texts: list[str]) -> list[list[int]]:
        found = []
        for start in range(0, len(texts), BLOCK):
            for row in score(texts[start : start + BLOCK]):
                order = np.argsort(-row, kind="stable")[:k]
                found.append(order[row[order] > 0].tolist())
        return found

    return ranked


def fused(rankings: Sequence[list[list[int]]], k: int) -> list[list[int]]:
    """Return the reciprocal rank fusion of several rankings of the same queries.

    The score of an entity is the sum of 1 / (60 + rank) over the rankings that have it.

    Args:
        rankings: For each ranker and query the rows of entities, the best first.
        k: Number of entities to return for each query, at most.
    """
    answers = []
    for lists in zip(*rankings, strict=True):
        sums: dict[int, float] = {}
        for rows in lists:
            for rank, row in enumerate(rows, 1):
                sums[row] = sums.get(row, 0.0) + 1 / (FUSION_K + rank)
        answers.append(sorted(sums, key=lambda row: (-sums[row], row))[:k])
    return answers


def _cosine(names: Sequence[Sequence[str]], encode: Encode) -> Score:
    """Score entities by the cosine of a query with the best of their names."""
    flat, firsts = _flat(names)
    vectors = _unit(encode(flat))

    def score(texts: list[str]) -> Floats:
        cosines = _unit(encode(texts)) @ vectors.T
        return np.asarray(np.maximum.reduceat(cosines, firsts, axis=1))

    return score


def _fuzzy(names: Sequence[Sequence[str]]) -> Score:
    """Score entities by rapidfuzz's ratio of sorted words, between 0 and 100."""
    flat, firsts = _flat(names)
    plain = [utils.default_process(name) for name in flat]

    def score(texts: list[str]) -> Floats:
        ratios = process.cdist(
            [utils.default_process(text) for text in texts],
            plain,
            scorer=fuzz.token_sort_ratio,
            dtype=np.float32,
        )
        return np.asarray(np.maximum.reduceat(ratios, firsts, axis=1))

    return score


def _bm25(texts: Sequence[str], k: int) -> Ranker:
    """Rank entities by BM25 of their texts; those that share no word with the query are none."""
    index = bm25s.BM25()
    index.index(bm25s.tokenize(list(texts), show_progress=False), show_progress=False)

    def ranked(queries: list[str]) -> list[list[int]]:
        rows, scores = index.retrieve(
            bm25s.tokenize(queries, show_progress=False),
            k=min(k, len(texts)),
            show_progress=False,
        )
        return [own[score > 0].tolist() for own, score in zip(rows, scores, strict=True)]

    return ranked


class Trigrams:
    """Similarity of entities' names to texts: cosine of the TF-IDF of character trigrams.

    Texts in camel case are split into words, as labels are.

    Args:
        names: Names of each entity, at least one.
    """

    def __init__(self, names: Sequence[Sequence[str]]) -> None:
        flat, self._firsts = _flat(names)
        self._vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 3), strip_accents="unicode", dtype=np.float32
        )
        self._stored = self._vectorizer.fit_transform(flat).T.tocsr()

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> Trigrams:
        """Compare the labels and synonyms of a graph's entities."""
        return cls(
            [
                [in_words(label), *synonyms]
                for label, synonyms in zip(graph.labels, graph.synonyms, strict=True)
            ]
        )

    def scores(self, texts: list[str]) -> Floats:
        """Return the similarity of the best name of each entity, of shape (texts, entities)."""
        words = [in_words(text) for text in texts]
        similarity = (self._vectorizer.transform(words) @ self._stored).toarray()
        return np.asarray(np.maximum.reduceat(similarity, self._firsts, axis=1))


class TrigramVotes:
    """Votes for the parents of a text by its ten nearest neighbours by trigrams of names.

    A neighbour votes for each of its parents, with its similarity as weight. There is no encoder
    and no training.

    Args:
        graph: Entities with labels and synonyms.
        hierarchy: Their parents.
    """

    def __init__(self, graph: KnowledgeGraph, hierarchy: Hierarchy) -> None:
        self._graph, self._hierarchy = graph, hierarchy
        self._similarity = Trigrams.of(graph)

    def of_texts(self, texts: list[str]) -> Iterator[dict[int, float]]:
        """Yield the votes for each text: row of each parent, and its sum of weights."""
        return self._votes(texts, [-1] * len(texts))

    def of_entities(self, rows: list[int]) -> Iterator[dict[int, float]]:
        """Yield the votes for entities by their labels; an entity is no neighbour of itself."""
        return self._votes([self._graph.labels[row] for row in rows], rows)

    def ranked(self, texts: list[str]) -> list[list[int]]:
        """Rank the parents that are voted for, for each text."""
        return [sorted(votes, key=lambda row: (-votes[row], row)) for votes in self.of_texts(texts)]

    def _votes(self, texts: list[str], own: list[int]) -> Iterator[dict[int, float]]:
        for start in range(0, len(texts), BLOCK):
            block = slice(start, start + BLOCK)
            for row, scores in zip(own[block], self._similarity.scores(texts[block]), strict=True):
                if row >= 0:
                    scores[row] = 0.0
                votes: dict[int, float] = {}
                for near in np.argsort(-scores, kind="stable")[:VOTERS].tolist():
                    for parent in self._hierarchy.parents(near).tolist():
                        votes[parent] = votes.get(parent, 0.0) + float(scores[near])
                yield {parent: sum_ for parent, sum_ in votes.items() if sum_ > 0}


def string_matching(labels: Sequence[str]) -> Score:
    """Score labels by their words: 1 if they have all words of the query, plus Jaccard's index.

    Args:
        labels: Label of each entity; those in camel case are split into words.
    """
    vectorizer = CountVectorizer(token_pattern=r"\w+", binary=True, dtype=np.float32)
    stored = vectorizer.fit_transform([in_words(label) for label in labels])
    words_of, lengths = vectorizer.build_analyzer(), np.asarray(stored.sum(axis=1)).ravel()

    def score(texts: list[str]) -> Floats:
        asked = [in_words(text) for text in texts]
        own = np.array([[len(set(words_of(text)))] for text in asked], dtype=np.float32)
        shared = (vectorizer.transform(asked) @ stored.T).toarray()
        return np.asarray((shared == own) * (own > 0) + shared / (own + lengths - shared + 1e-9))

    return score


def ranks_better(
    figures: Mapping[str, Mapping[str, float]], ours: str, figure: str, baselines: Sequence[str]
) -> str:
    """Return which baselines have a higher figure than ours, with the numbers; empty if none has.

    Example:
        >>> found = {"search": {"mrr": 0.5}, "bm25s": {"mrr": 0.625}, "trigrams": {"mrr": 0.25}}
        >>> ranks_better(found, "search", "mrr", ["bm25s", "trigrams"])
        'bm25s .625 (search .500)'
    """
    own = figures[ours][figure]
    better = sorted(
        (name for name in baselines if figures.get(name, {}).get(figure, own) > own),
        key=lambda name: -figures[name][figure],
    )
    if not better:
        return ""
    listed = ", ".join(f"{name} {_short(figures[name][figure])}" for name in better)
    return f"{listed} ({ours} {_short(own)})"


def _short(value: float) -> str:
    return f"{value:g}" if isinstance(value, int) else f"{value:.3f}".removeprefix("0")


def _flat(names: Sequence[Sequence[str]]) -> tuple[list[str], NDArray[np.intp]]:
    """Return all names, and the first one of each entity."""
    firsts = np.cumsum([0, *(len(own) for own in names[:-1])]).astype(np.intp)
    return [name for own in names for name in own], firsts


def _unit(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, np.float32(1e-12)))
