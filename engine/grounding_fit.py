"""Fitting the decision of grounding to the synonyms of a graph, held out, and to other texts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows
from ontodex.engine.grounding import Candidates, GroundingRule, candidates_of
from ontodex.engine.search.topk import Searcher
from ontodex.engine.text_search import TextSearch
from ontodex.geometry.logistic import regression
from ontodex.geometry.vectors import Vectors
from ontodex.graph import EntitySentences, Hierarchy, KnowledgeGraph, TextSettings, entity_texts
from ontodex.graph.columns import NestedTextColumn
from ontodex.scoring.lexicon import Lexicon
from ontodex.scoring.name_similarity import NameSimilarity, plain
from ontodex.scoring.word_differences import WordDifferences

__all__ = ["Asked", "ask_held_out", "fit_grounding", "rule_of"]

LEAST, MOST = 50, 300
"""Smallest number of held-out synonyms to fit a rule to, and the largest that are asked."""

SHARE = 0.5
"""Largest share of a graph's entities with synonyms that have one held out."""

OTHERS = 150
"""Number of misspelt labels, and of words that the graph does not have, that are asked."""

MOST_ENTITIES = 200_000
"""Largest number of entities of a graph to which a rule is fitted."""

PRECISION, MATCHED = 0.98, 0.02
"""Smallest share of the matches that are right, and largest share of other words matched."""

FOLDS = 5
"""Number of parts of the texts; the answers to each part are judged by a fit to the others."""

LOWEST, HIGHEST = 0.5, 0.99
"""Bounds of the threshold."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORTEST = 5
"""Smallest number of letters of a label that is misspelt."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Texts whose meaning is known, and the answers of the search.

    Attributes:
        meant: Row of the entity that each text means; -1 for a word that the graph does not have.
        found: The answers to each text.
        without: The answers to each held-out synonym without the entity that it means.
    """

    meant: Rows
    found: list[Candidates]
    without: list[Candidates]


def fit_grounding(
    graph: KnowledgeGraph,
    hierarchy: Hierarchy | None,
    texts: Vectors,
    names: EntitySentences,
    name_vectors: Vectors,
    settings: TextSettings,
    encode: Callable[[list[str]], NDArray[np.float32]],
    knows: Callable[[Sequence[str]], list[bool]],
) -> GroundingRule | None:
    """Fit the probability of an answer, and the smallest one of a match.

    The arguments are those of :func:`ask_held_out`.

    Returns:
        The rule; ``None`` if the graph has fewer than :data:`LEAST` synonyms to hold out, or more
        than :data:`MOST_ENTITIES` entities, or the search finds none of the synonyms.
    """
    if graph.n_entities > MOST_ENTITIES:
        return None
    asked = ask_held_out(graph, hierarchy, texts, names, name_vectors, settings, encode, knows)
    return None if asked is None else rule_of([asked])


def ask_held_out(
    graph: KnowledgeGraph,
    hierarchy: Hierarchy | None,
    texts: Vectors,
    names: EntitySentences,
    name_vectors: Vectors,
    settings: TextSettings,
    encode: Callable[[list[str]], NDArray[np.float32]],
    knows: Callable[[Sequence[str]], list[bool]],
) -> Asked | None:
    """Search held-out synonyms, misspelt labels and words that the graph does not have.

    One synonym of some entities is taken out of their names and out of their texts.

    Args:
        graph: The graph.
        hierarchy: Its hierarchy, if it has one.
        texts: Vector of the text of each entity.
        names: Names of the entities, see :func:`~ontodex.graph.entity_names`.
        name_vectors: Vector of each name.
        settings: How the text of an entity is built.
        encode: From texts to their vectors.
        knows: From words to whether the text encoder knows each.

    Returns:
        The answers; ``None`` if fewer than :data:`LEAST` synonyms can be held out.
    """
    random = np.random.default_rng(0)
    held_out = _held_out(graph, random)
    rows = np.array(sorted(held_out), dtype=np.int64)
    fewer = _without(graph, held_out)
    synonyms = [
        (graph.synonyms[row][held_out[row]], row)
        for row in rows.tolist()
        if fewer.find_all(graph.synonyms[row][held_out[row]]) is None
    ]
    if len(synonyms) < LEAST:
        return None
    similarity = NameSimilarity.of(graph)
    lengths = similarity.lengths.copy()
    numbers = np.array([held_out[row] for row in rows.tolist()])
    lengths[np.searchsorted(similarity.owners, rows) + 1 + numbers] = np.inf
    labels = np.searchsorted(
        names.owners, rows
    )  # in place of the synonym: its best name is no other
    new_texts = entity_texts(fewer, settings)
    index = TextSearch(
        fewer,
        hierarchy,
        Searcher(texts.replacing(rows, encode([new_texts[row] for row in rows.tolist()]))),
        name_vectors.replacing(labels + 1 + numbers, name_vectors[labels]),
        names.owners,
        dataclasses.replace(similarity, lengths=lengths),
        None,
        None,
        encode,
        knows,
    )
    others = _misspelt(fewer, random) + _other_words(fewer, index.lexicon, random)
    asked = synonyms + others
    differences = WordDifferences.of(fewer)
    found = candidates_of(index, differences, [text for text, _ in asked])
    without = [
        candidates.without(row) for candidates, (_, row) in zip(found, synonyms, strict=False)
    ]
    return Asked(np.array([row for _, row in asked]), found, without)


def rule_of(asked: Sequence[Asked]) -> GroundingRule | None:
    """Fit a rule to the answers to texts of one or several graphs.

    An answer is true if the text means it. The threshold is the smallest probability above which
    98 % of the most probable answers to synonyms and misspelt labels are right, and at most 2 % of
    the words that the graph does not have reach it. Each answer is judged by a fit to other texts.

    Args:
        asked: The texts and answers of each graph.

    Returns:
        The rule; ``None`` if no answer is true, or none is false.
    """
    meant = np.concatenate([one.meant for one in asked])
    found = [candidates for one in asked for candidates in one.found]
    near = [candidates for one in asked for candidates in one.without]
    nothing = np.full(len(near), -1)
    fold = np.random.default_rng(0).integers(0, FOLDS, len(meant))
    near_fold = np.random.default_rng(1).integers(0, FOLDS, len(near))
    best, right = np.zeros(len(meant)), np.zeros(len(meant), dtype=bool)
    for part in range(FOLDS):
        here = fold == part
        rule = _fitted(
            [*_chosen(found, ~here), *_chosen(near, near_fold != part)],
            np.concatenate([meant[~here], nothing[near_fold != part]]),
        )
        if rule is None:
            return None
        for at in np.flatnonzero(here).tolist():
            candidates = found[at]
            if len(candidates.rows):
                probabilities = rule.probabilities(candidates.features)
                first = int(np.argmax(probabilities))
                best[at], right[at] = probabilities[first], candidates.rows[first] == meant[at]
    rule = _fitted([*found, *near], np.concatenate([meant, nothing]))
    return rule and dataclasses.replace(rule, threshold=_threshold(best, right, meant >= 0))


def _threshold(
    best: NDArray[np.float64], right: NDArray[np.bool_], known: NDArray[np.bool_]
) -> float:
    """Return the smallest threshold with the wanted shares, or the highest allowed one.

    Args:
        best: Highest probability of the answers to each text.
        right: Whether this answer is the entity that the text means.
        known: Whether the text means an entity.
    """
    for threshold in np.unique(best).tolist():
        if LOWEST <= threshold <= HIGHEST:
            matched = best >= threshold
            precise = right[matched & known].mean() if (matched & known).any() else 1.0
            others = matched[~known].mean() if (~known).any() else 0.0
            if precise >= PRECISION and others <= MATCHED:
                return float(threshold)
    return HIGHEST


def _fitted(found: Sequence[Candidates], meant: Rows) -> GroundingRule | None:
    """Fit the probability of answers; the threshold is not set."""
    true = np.concatenate(
        [candidates.rows == row for candidates, row in zip(found, meant.tolist(), strict=True)]
    )
    if true.all() or not true.any():
        return None
    features = np.concatenate([candidates.features for candidates in found])
    weights, offset = regression(features.T, true)
    return GroundingRule(tuple(weights), offset, HIGHEST)


def _chosen(found: Sequence[Candidates], chosen: NDArray[np.bool_]) -> list[Candidates]:
    return [found[at] for at in np.flatnonzero(chosen).tolist()]


def _held_out(graph: KnowledgeGraph, random: np.random.Generator) -> dict[int, int]:
    """Return entities, and the number of the synonym of each that is held out."""
    counts = np.diff(graph.synonyms.rows)
    rows = np.flatnonzero(counts)
    some = np.sort(random.permutation(rows)[: min(MOST, int(SHARE * len(rows)))])
    return {row: int(random.integers(counts[row])) for row in some.tolist()}


def _without(graph: KnowledgeGraph, held_out: dict[int, int]) -> KnowledgeGraph:
    """Return a graph without the held-out synonyms."""

    def kept(row: int, names: tuple[str, ...]) -> tuple[str, ...]:
        if row not in held_out:
            return names
        return tuple(name for at, name in enumerate(names) if at != held_out[row])

    synonyms = [kept(row, names) for row, names in enumerate(graph.synonyms)]
    return dataclasses.replace(graph, synonyms=NestedTextColumn.of(synonyms))


def _misspelt(graph: KnowledgeGraph, random: np.random.Generator) -> list[tuple[str, int]]:
    """Return labels with one letter left out, changed, or swapped with the next."""
    found = []
    for row in random.permutation(graph.n_entities)[: 2 * OTHERS].tolist():
        label = graph.labels[row]
        if len(label) < SHORTEST:
            continue
        at, kind = int(random.integers(1, len(label) - 1)), int(random.integers(3))
        letter = LETTERS[int(random.integers(len(LETTERS)))]
        middle = ("", letter, label[at + 1] + label[at])[kind]
        text = label[:at] + middle + label[at + (2 if kind == 2 else 1) :]
        if plain(text) != plain(label) and graph.find_all(text) is None:
            found.append((text, row))
    return found[:OTHERS]


def _other_words(
    graph: KnowledgeGraph, lexicon: Lexicon, random: np.random.Generator
) -> list[tuple[str, int]]:
    """Return words of the lexicon that no entity has as a name, with -1 as the entity."""
    words = lexicon.words
    drawn = random.permutation(len(words))[: 2 * OTHERS].tolist()
    found = [(words[at], -1) for at in drawn if graph.find_all(words[at]) is None]
    return found[:OTHERS]
