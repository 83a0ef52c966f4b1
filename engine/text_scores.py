"""The score of an entity in a search by text: a weighted mean of similarities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Similarities"]

TEXT_WEIGHT, PARENTS_WEIGHT, LINKS_WEIGHT = 0.5, 0.15, 0.15
"""Weights of the cosines with an entity's text, and with the labels of parents and linked entities.

The cosine with its best name has the weight 1. All weights of this module were chosen on the
development half of ``benchmarks/everyday_questions.tsv``, and on synonyms, misspelt labels and
definitions of five graphs. Weights that were fitted to the questions of all graphs but the one that
is asked do not do better.
"""

TEXT_AS_NAME = 0.9
"""Factor of the cosine with the text of an entity, if it counts as that with its best name.

It does if it is larger. Names such as those of films and people say little of what they name: of
28 descriptions of 30 films, plots as definitions, 14 find the film first without it, 28 with it.
"""

LETTERS_WEIGHT, LETTERS_FROM = 0.2, 0.5
"""Weight of the similarity of letters, as far as it is above a half."""

UNKNOWN_WEIGHT = 1.0
"""Weight of the similarity of letters, times the share of unknown words."""

WORDS_WEIGHT = 0.12
"""Weight of a name that has all words of the query.

On four graphs, labels of which one word is left out, the others shuffled, have a mean reciprocal
rank of .813 with it and .772 without; other kinds of queries do not change.
"""

FACTS_WEIGHT, UNSAID_WEIGHT = 0.3, 0.2
"""Weights of the share of the query's words that links say, and of the share that is unsaid.

Of 309 questions in lay words, other spelling or descriptions on thirteen graphs, .634 have their
answer first without both and without the weight of links, .683 with them. Synonyms, definitions and
labels with a word less of three ontologies lose a little: .656 to .651.
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Similarities:
    """The similarities of a query and entities, each of shape (entities,).

    Attributes:
        names: Cosine with the best name, or with a definition of a name.
        texts: Cosine with the whole text.
        parents: Mean cosine with the labels of the parents; with the own label without any.
        links: Mean cosine with the three most similar labels of linked entities, parents among
            them; with the own label without any.
        facts: Share of the words of the query that links say.
        unsaid: If a name is only a part of the query, the share of its words that neither this name
            nor links say; see :meth:`~ontodex.engine.mentions.Mentions.shares`.
        letters: Similarity of letters of the best name; 1 if the query is a part of the label, but
            for plural and singular.
        words: 1 if a name has all words of the query, in any order; else 0.
    """

    names: Floats
    texts: Floats
    parents: Floats
    links: Floats
    facts: Floats
    unsaid: Floats
    letters: Floats
    words: Floats

    def score(self, unknown: float) -> Floats:
        """Return the scores of the entities, between -1 and 1.

        Args:
            unknown: Share of the words of the query that are unknown.
        """
        strong = np.maximum(0.0, self.letters - LETTERS_FROM) / (1 - LETTERS_FROM)
        unknown = UNKNOWN_WEIGHT * unknown
        total = (
            np.maximum(self.names, TEXT_AS_NAME * self.texts)
            + TEXT_WEIGHT * self.texts
            + PARENTS_WEIGHT * self.parents
            + LINKS_WEIGHT * self.links
            + FACTS_WEIGHT * self.facts
            - UNSAID_WEIGHT * self.unsaid
            + LETTERS_WEIGHT * strong
            + WORDS_WEIGHT * self.words
            + unknown * self.letters
        )
        weights = 1 + TEXT_WEIGHT + PARENTS_WEIGHT + LINKS_WEIGHT + FACTS_WEIGHT
        weights += LETTERS_WEIGHT + WORDS_WEIGHT + unknown
        return np.asarray(total / weights)
