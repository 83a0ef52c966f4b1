"""Evidence of names in hierarchies: the spelling of a query's own, parents' and children's names.

A new term often names its parent ("acute gastritis"), and terms of like names often have one
parent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import Hierarchy
from ontodex.scoring.name_similarity import NameSimilarity, plain

__all__ = ["NAME_SCORES", "NameEvidence"]

NAME_SCORES = ("letters", "words", "voters")
"""The scores of an answer by names; see :meth:`NameEvidence.scores`."""

VOTERS = 10
"""Number of nearest neighbours by trigrams that vote."""

WORD = re.compile(r"\w+")


class NameEvidence:
    """Scores candidate parents and children of a query by names.

    Args:
        hierarchy: Asserted hierarchy.
        labels: Label of each entity.
        names: Trigrams of the entities' names.
    """

    def __init__(self, hierarchy: Hierarchy, labels: Sequence[str], names: NameSimilarity) -> None:
        self._hierarchy, self._labels, self._names = hierarchy, labels, names
        self._words: dict[int, frozenset[str]] = {}

    def scores(
        self, question: str, texts: Sequence[str], rows: NDArray[np.integer]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Score candidate parents, or candidate children, of entities and texts.

        Candidates are the 256 entities with the most similar names, and the parents (children) of
        the nearest ten of them, the voters. An asserted descendant of the query (for children: an
        ancestor) is no voter, because the links of the query lead to its answers.

        Args:
            question: ``"parents"`` or ``"children"``.
            texts: Label of each query's entity, or the text.
            rows: Row of each query's entity, of shape (n,); -1 for a text that is not an entity's.

        Yields:
            For each query, the rows of candidates, ascending, and their scores, ``float64`` of
            shape (3, rows):

            - the cosine of trigrams (:class:`~ontodex.scoring.name_similarity.NameSimilarity`),
            - the Jaccard index of the words of query and label, plus 1 if all words of the more
              general one, the parent, are among those of the other,
            - the sum of the cosines of the voters that have the candidate as parent (child).
        """
        for text, row in zip(texts, rows.tolist(), strict=True):
            near, cosines = self._names.find(text)
            near, cosines = near[near != row], cosines[near != row]
            voters, weights = self._voters(question, row, near, cosines)
            step = (
                self._hierarchy.parents_of if question == "parents" else self._hierarchy.children_of
            )
            owners, voted = step(voters)
            rows_of_one, places = np.unique(np.concatenate([near, voted]), return_inverse=True)
            scores = np.zeros((3, len(rows_of_one)))
            at_near = places[: len(near)]
            scores[0, at_near] = cosines
            scores[1, at_near] = self._by_words(question, text, near)
            np.add.at(scores[2], places[len(near) :], weights[owners])
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

    def _by_words(self, question: str, text: str, near: NDArray[np.int64]) -> NDArray[np.float64]:
        """Compare the words of a text with those of entities' labels."""
        own, found = _words(text), np.zeros(len(near))
        for place, row in enumerate(near.tolist()):
            words = self._words.get(row)
            if words is None:
                words = self._words[row] = _words(self._labels[row])
            shared = len(own & words)
            if shared:
                general = words if question == "parents" else own
                found[place] = shared / len(own | words) + (shared == len(general))
        return found


def _words(name: str) -> frozenset[str]:
    return frozenset(WORD.findall(plain(name)))
