"""Grounding: for each text the term of the graph that it means, or none."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, milliseconds, no_rows
from ontodex.engine.entity_types import EntityType
from ontodex.engine.resolve import list_of, resolve_entities
from ontodex.engine.results.groundings import MATCH, NONE, Grounding, Groundings
from ontodex.engine.text_search import CANDIDATES, Query, TextSearch, named
from ontodex.errors import SettingsError
from ontodex.geometry.logistic import sigmoid
from ontodex.graph import KnowledgeGraph
from ontodex.graph.names import NameKind
from ontodex.scoring.word_differences import WordDifferences

__all__ = [
    "FEATURES",
    "SHIPPED",
    "Candidates",
    "GroundingRule",
    "candidates_of",
    "ground",
    "homonym_share",
]

METHOD = "probability of the best answers of search, fitted to held-out names"

ANSWERS = 10
"""Number of best answers of the search that get a probability."""

BATCH = 512
"""Number of texts whose candidates are in memory at once."""

FEATURES = (
    "score",
    "lead of the score",
    "cosine of the best name",
    "cosine of the text",
    "similarity of letters",
    "lead of the letters",
    "share of unknown words",
    "log number of words",
    "weight of words only of the text",
    "weight of words only of the name",
    "usual difference",
    "same words",
    "words on either side",
    "no word only of the text",
    "lead of the words",
)
"""Inputs of the logistic regression.

A lead is the difference from the best other answer; see
:class:`~ontodex.scoring.word_differences.WordDifferences` for the words.
"""

ALONE, MISSING, USUAL = 8, 9, 10
"""Places of the weights of words, and of the usual difference, in :data:`FEATURES`."""

USUAL_DIFFERENCE = 3.0
"""Weight of a usual difference in the lead of the words."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GroundingRule:
    """A logistic regression from features to a probability, and the smallest one of a match.

    Attributes:
        weights: Weight of each of :data:`FEATURES`.
        offset: The intercept.
        threshold: Smallest probability of a match.
    """

    weights: tuple[float, ...]
    offset: float
    threshold: float

    def probabilities(self, features: Floats) -> Floats:
        """Return the probability of each answer.

        Args:
            features: Of shape (answers, features).
        """
        return sigmoid(features @ np.array(self.weights) + self.offset)


SHIPPED = GroundingRule(
    weights=(
        -9.627,
        12.261,
        2.173,
        8.918,
        4.273,
        -2.249,
        -0.953,
        -0.956,
        0.05,
        0.04,
        0.881,
        6.285,
        0.753,
        -0.66,
        0.048,
    ),
    offset=-7.18,
    threshold=0.783,
)
"""Rule for graphs with too few synonyms, made by ``tools/fit_grounding.py``.

Fitted to the Disease Ontology (2016), the Human Phenotype Ontology and EDAM.
"""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The best answers of the search for a text.

    Attributes:
        rows: The entities, of shape (answers,), best first.
        features: Their features, of shape (answers, features); see :data:`FEATURES`.
    """

    rows: Rows
    features: Floats

    def without(self, row: int) -> Candidates:
        """Return the answers without an entity."""
        kept = self.rows != row
        return Candidates(self.rows[kept], _with_leads(self.features[kept]))


def ground(
    index: TextSearch,
    differences: WordDifferences,
    rule: GroundingRule,
    sure: float,
    texts: Sequence[str],
    only: EntityType | None = None,
) -> Groundings:
    """Find the term of each text, or none; see :meth:`ontodex.Engine.ground`.

    Args:
        index: The names and texts to compare with.
        differences: Differences of the names of the graph.
        rule: The probability of an answer, and the smallest one of a match.
        sure: Probability that the only entity of a name is meant.
        texts: The texts; each distinct text is asked once.
        only: The type of the terms that are kept; ``None`` for all.

    Raises:
        SettingsError: If ``texts`` is a single text, or an item is not a text.
    """
    start = time.perf_counter()
    texts = list_of(texts, "texts")
    for text in texts:
        if not isinstance(text, str):
            raise SettingsError(f"texts: expected texts, found {text!r}")
    distinct = [text for text in dict.fromkeys(texts) if text.strip()]
    found: dict[str, Grounding] = {}
    unknown = []
    for text in distinct:
        known = _by_name(index, text, sure, rule.threshold, only)
        if known is None:
            unknown.append(text)
        else:
            found[text] = known
    if only is not None:
        index = index.within(only.rows)
    for first in range(0, len(unknown), BATCH):
        for text, candidates in zip(
            unknown[first : first + BATCH],
            candidates_of(index, differences, unknown[first : first + BATCH]),
            strict=True,
        ):
            found[text] = _most_probable(index.graph, rule, text, candidates)
    return Groundings(
        tuple(found.get(text, Grounding(text)) for text in texts),
        rule.threshold,
        METHOD,
        milliseconds(start, len(texts)),
        index.graph,
    )


def homonym_share(graph: KnowledgeGraph) -> float:
    """Return the share of the names, labels and synonyms, that several entities have.

    A name of one entity has another meaning, which the graph lacks, about as often.
    """
    names = graph.names
    chosen = np.isin(names.kinds, (NameKind.LABEL, NameKind.SYNONYM))
    hashes, rows = names.hashes[chosen], names.rows[chosen]
    order = np.lexsort((rows, hashes))
    hashes, rows = hashes[order], rows[order]
    new_name = np.diff(hashes, prepend=hashes[:1] ^ np.uint64(1)) != 0
    if not len(hashes):
        return 0.0
    new_entity = ~new_name & (np.diff(rows, prepend=rows[:1]) != 0)
    shared = np.bitwise_or.reduceat(new_entity, np.flatnonzero(new_name))
    return float(shared.mean())


def candidates_of(
    index: TextSearch,
    differences: WordDifferences,
    texts: Sequence[str],
) -> list[Candidates]:
    """Return the best answers of the search for texts that no entity has as a name.

    Args:
        index: The names and texts to compare with.
        differences: Differences of the names of the graph.
        texts: The texts.
    """
    resolved = resolve_entities(index.graph, texts, any_text=True)
    queries = [index.query(one.unless_named, lexicon=True) for one in resolved]
    vectors = index.vectors(queries)
    found = index.candidates(queries, vectors, [no_rows()] * len(texts), CANDIDATES)
    return [
        _candidates(index, differences, text, query, own, rows)
        for text, query, own, rows in zip(texts, queries, vectors, found, strict=True)
    ]


def _candidates(
    index: TextSearch,
    differences: WordDifferences,
    text: str,
    query: Query,
    vectors: NDArray[np.float32],
    rows: Rows,
) -> Candidates:
    similar = index.similarities(query, vectors, rows)
    scores = similar.score(query.unknown)
    best = np.lexsort((rows, -scores))[:ANSWERS]
    graph, chosen = index.graph, rows[best]
    words = np.array(
        [
            differences.between(text, (graph.labels[row], *graph.synonyms[row]))
            for row in chosen.tolist()
        ]
    ).reshape(len(chosen), 6)
    count = len(chosen)
    columns = [
        scores[best],
        np.zeros(count),
        similar.names[best],
        similar.texts[best],
        similar.letters[best],
        np.zeros(count),
        np.full(count, query.unknown),
        np.full(count, np.log(max(1, len(text.split())))),
        *words.T,
        np.zeros(count),
    ]
    return Candidates(chosen, _with_leads(np.stack(columns, axis=1)))


def _with_leads(features: Floats) -> Floats:
    """Return features of answers to one text, with the leads computed from the others."""
    features = features.copy()
    closeness = USUAL_DIFFERENCE * features[:, USUAL] - features[:, ALONE] - features[:, MISSING]
    for lead, values in ((1, features[:, 0]), (5, features[:, 4]), (14, closeness)):
        features[:, lead] = _lead(values)
    return features


def _lead(values: Floats) -> Floats:
    """Return the difference of each value from the largest other value, or from 0 if it is alone.

    >>> _lead(np.array([0.75, 0.5, 0.25])).tolist()
    [0.25, -0.25, -0.5]
    """
    if len(values) < 2:
        return values
    first, second = np.sort(values)[:-3:-1]
    others = np.full(len(values), first)
    others[int(np.argmax(values))] = second
    return np.asarray(values - others)


def _by_name(
    index: TextSearch, text: str, sure: float, threshold: float, only: EntityType | None
) -> Grounding | None:
    """Return the grounding of a text that is an id or a name, or a name written otherwise.

    Args:
        index: The names to compare with.
        text: The text.
        sure: Probability that the only entity of a name is meant.
        threshold: Smallest probability of a match.
        only: The type of the terms that are kept; ``None`` for all.

    Returns:
        The grounding; ``None`` for other texts.
    """
    graph = index.graph
    found = graph.find_all(text)
    rows = named(graph, text) if found else np.array(index.forms.named(text), dtype=np.int64)
    if only is not None:
        rows = only.only(rows)
    if not len(rows):
        return None
    by_id = found is not None and found[1] in (NameKind.ID, NameKind.ALTERNATIVE_ID)
    probability = (1.0 if by_id else sure) / len(rows)
    is_match = len(rows) == 1 or probability >= threshold
    row = int(rows[0])
    return Grounding(
        text, graph.ids[row], graph.labels[row], probability, MATCH if is_match else NONE
    )


def _most_probable(
    graph: KnowledgeGraph, rule: GroundingRule, text: str, candidates: Candidates
) -> Grounding:
    if not len(candidates.rows):
        return Grounding(text, decision=NONE)
    probabilities = rule.probabilities(candidates.features)
    at = int(np.argmax(probabilities))
    row, probability = int(candidates.rows[at]), float(probabilities[at])
    decision = MATCH if probability >= rule.threshold else NONE
    return Grounding(text, graph.ids[row], graph.labels[row], probability, decision)
