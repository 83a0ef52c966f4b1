"""Evidence of names in hierarchies: the spelling of a query's own, parents' and children's names.

A new term often names its parent ("acute gastritis"), and terms of like names often have one
parent. What the lexicon has above a noun is likely to be its parent, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import Hierarchy, KnowledgeGraph
from ontodex.scoring.lexicon import Lexicon, plurals
from ontodex.scoring.name_similarity import NameSimilarity, plain

__all__ = ["NAME_SCORES", "NameEvidence"]

NAME_SCORES = {
    "parents": ("letters", "words", "voters", "hypernyms"),
    "children": ("letters", "words", "voters"),
}
"""The scores by names of an answer to each question; see :meth:`NameEvidence.scores`."""

VOTERS = 10
"""Number of nearest neighbours by trigrams that vote."""

WORD = re.compile(r"\w+")


class NameEvidence:
    """Scores candidate parents and children of a query by names.

    Args:
        hierarchy: Asserted hierarchy.
        graph: The graph of its entities.
        names: Trigrams of the entities' names.
        lexicon: Knows the words of wider meaning; without, no parent is found by them.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        graph: KnowledgeGraph,
        names: NameSimilarity,
        lexicon: Lexicon | None = None,
    ) -> None:
        self._hierarchy, self._graph, self._names = hierarchy, graph, names
        self._lexicon = lexicon
        self._words: dict[int, frozenset[str]] = {}

    def scores(
        self, question: str, texts: Sequence[str], rows: NDArray[np.integer]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Score candidate parents, or candidate children, of entities and texts.

        Candidates are the 256 entities with the most similar names, and the parents (children) of
        the nearest ten of them, the voters; for parents also the entities named by a word of wider
        meaning. An asserted descendant of the query (for children: an
        ancestor) is no voter, because the links of the query lead to its answers.

        Args:
            question: ``"parents"`` or ``"children"``.
            texts: Label of each query's entity, or the text.
            rows: Row of each query's entity, of shape (n,); -1 for a text that is not an entity's.

        Yields:
            For each query, the rows of candidates, ascending, and their scores, ``float64`` of
            shape (3, rows), or for parents (4, rows):

            - the cosine of trigrams (:class:`~ontodex.scoring.name_similarity.NameSimilarity`),
            - the Jaccard index of the words of query and label, plus 1 if all words of the more
              general one, the parent, are among those of the other,
            - the sum of the cosines of the voters that have the candidate as parent (child),
            - the closeness of the word of wider meaning that names the candidate
              (:meth:`~ontodex.scoring.lexicon.Lexicon.hypernyms`), divided by that of the closest
              candidate; only for the lowest of the candidates that such words name.
        """
        for text, row in zip(texts, rows.tolist(), strict=True):
            near, cosines = self._names.find(text)
            near, cosines = near[near != row], cosines[near != row]
            voters, weights = self._voters(question, row, near, cosines)
            step = (
                self._hierarchy.parents_of if question == "parents" else self._hierarchy.children_of
            )
            owners, voted = step(voters)
            wider, closeness = self._wider(text if question == "parents" else "")
            rows_of_one, places = np.unique(
                np.concatenate([near, voted, wider]), return_inverse=True
            )
            scores = np.zeros((len(NAME_SCORES[question]), len(rows_of_one)))
            at_near, at_voted, at_wider = np.split(places, [len(near), len(near) + len(voted)])
            scores[0, at_near] = cosines
            scores[1, at_near] = self._by_words(question, text, near)
            np.add.at(scores[2], at_voted, weights[owners])
            scores[3:, at_wider] = closeness
            other = rows_of_one != row
            yield rows_of_one[other].astype(np.int64), scores[:, other]

    def _voters(
        self,
        question: str,
        row: int,
        near: NDArray[np.int64],
        cosines: NDArray[np.float64],
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the nearest neighbours that vote, and their cosines."""
        if row >= 0:
            pair = (near, np.array(row)) if question == "parents" else (np.array(row), near)
            apart = ~self._hierarchy.is_ancestor(*pair)
            near, cosines = near[apart], cosines[apart]
        best = np.lexsort((near, -cosines))[:VOTERS]
        return near[best], cosines[best]

    def _wider(self, text: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the entities named by a word of wider meaning, and how close the word is.

        Entities that the hierarchy has above another of them are left out. The closest has 1.
        """
        found: dict[int, float] = {}
        words = {} if self._lexicon is None else self._lexicon.hypernyms(text)
        for word, closeness in words.items():
            for name in (word, *plurals(word)):
                named, _ = self._graph.find_all(name) or ([], None)
                found.update((row, max(closeness, found.get(row, 0.0))) for row in named)
        rows, closest = np.array(list(found), dtype=np.int64), max(found.values(), default=1.0)
        lowest = ~self._hierarchy.is_ancestor(rows, rows[:, None]).any(axis=1)
        rows = rows[lowest]
        return rows, np.array([found[row] / closest for row in rows.tolist()])

    def _by_words(self, question: str, text: str, near: NDArray[np.int64]) -> NDArray[np.float64]:
        """Compare the words of a text with those of entities' labels."""
        own, found = _words(text), np.zeros(len(near))
        for place, row in enumerate(near.tolist()):
            words = self._words.get(row)
            if words is None:
                words = self._words[row] = _words(self._graph.labels[row])
            shared = len(own & words)
            if shared:
                general = words if question == "parents" else own
                found[place] = shared / len(own | words) + (shared == len(general))
        return found


def _words(name: str) -> frozenset[str]:
    return frozenset(WORD.findall(plain(name)))
