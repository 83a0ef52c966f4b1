"""Entities that a query mentions: those with a name that is a part of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ontodex.graph import KnowledgeGraph
from ontodex.graph.arrays import within
from ontodex.scoring.lexicon import plurals
from ontodex.scoring.name_similarity import plain
from ontodex.scoring.word_differences import STOP_WORDS, WORD, Words, words_of

__all__ = ["Mentions", "words_of_names"]

PHRASE = 4
"""Largest number of words of a part of a query that is looked up."""

LONGEST = 32
"""Largest number of words of a query whose parts are looked up."""

PHRASED = 6
"""Largest number of words, without stop words, of a query of which names may leave too much unsaid.

Longer ones, such as definitions, often have the name of what they mean.
"""

Rows = NDArray[np.int64]
Shares = NDArray[np.float64]


@dataclass(frozen=True)
class Mentions:
    """The entities that a query mentions.

    All words of a name are in the query, which has further words.

    Attributes:
        asked: The words of the query, without stop words.
        last: The last of them, the head of a phrase such as *tissue microarray*.
        words: For each entity by its row, the words of its names that are mentioned.

    Example:
        >>> from ontodex.graph import GraphBuilder
        >>> builder = GraphBuilder("food")
        >>> for name in ("soup", "cold soup", "tomatoes", "bread"):
        ...     _ = builder.entity(f"ex:{name}", name)
        >>> found = Mentions.of(builder.build(), "cold soup of tomato")
        >>> {row: sorted(words) for row, words in sorted(found.words.items())}
        {0: ['soup'], 1: ['cold', 'soup'], 2: ['tomato']}
    """

    asked: Words = frozenset()
    last: Words = frozenset()
    words: Mapping[int, Words] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: KnowledgeGraph, text: str, near: Iterable[int] = ()) -> Mentions:
        """Find the entities that a query mentions.

        Up to four words in a row are looked up, the last one singular or plural.

        Args:
            graph: The graph.
            text: The query.
            near: Further entities whose names are compared, whatever the order of their words.
        """
        asked, found = words_of(text), dict[int, Words]()
        parts = WORD.findall(plain(text))
        if len(asked) < 2 or len(parts) > LONGEST:
            return cls(asked)
        last = next(filter(None, map(words_of, reversed(parts))))
        for start, end in itertools.combinations(range(len(parts) + 1), 2):
            part = parts[start:end]
            if len(part) > PHRASE or {part[0], part[-1]} & STOP_WORDS:
                continue
            said = words_of(" ".join(part))
            if said < asked:
                for row in _named(graph, " ".join(part)):
                    found[row] = found.get(row, frozenset()) | said
        for row in near:
            for said in words_of_names(graph, row):
                if said and said < asked:
                    found[row] = found.get(row, frozenset()) | said
        return cls(asked, last, found)

    def shares(
        self, graph: KnowledgeGraph, rows: Rows, owners: Rows, others: Rows
    ) -> tuple[Shares, Shares]:
        """Return how much of the query the links of entities say, and how much nothing says.

        A mention of the last word leaves nothing unsaid: *tissue microarray* may mean *microarray*,
        but *leaf stalk* does not mean *leaf*.

        Args:
            graph: The graph.
            rows: The entities.
            owners: For each link, the position of its entity in ``rows``.
            others: For each link, the row of the linked entity.

        Returns:
            Both of shape (entities,): the share of the query's words that linked entities are
            mentioned by, without words of the entity's own names; and, for an entity that a query
            of at most six words mentions, the share that neither its own mention nor those of
            linked entities has. The second is 0 for other entities.
        """
        facts, unsaid = np.zeros(len(rows)), np.zeros(len(rows))
        mentioned = np.array(sorted(self.words), dtype=np.int64)
        said: dict[int, Words] = {}
        linked = within(mentioned, others)
        for place, other in zip(owners[linked].tolist(), others[linked].tolist(), strict=True):
            said[place] = said.get(place, frozenset()) | self.words[other]
        for place, words in said.items():
            own = frozenset().union(*words_of_names(graph, int(rows[place])))
            facts[place] = len(words - own) / len(self.asked)
        if len(self.asked) > PHRASED:
            return facts, unsaid
        for place in np.flatnonzero(within(mentioned, rows)).tolist():
            own = self.words[int(rows[place])]
            if not self.last <= own:
                words = own | said.get(place, frozenset())
                unsaid[place] = len(self.asked - words) / len(self.asked)
        return facts, unsaid


def words_of_names(graph: KnowledgeGraph, row: int) -> list[Words]:
    """Return the words of the label and of each synonym of an entity."""
    return [words_of(name) for name in (graph.labels[row], *graph.synonyms[row])]


def _named(graph: KnowledgeGraph, part: str) -> Iterator[int]:
    """Yield the entities with a label or synonym, singular or plural."""
    for form in (part, *plurals(part)):
        if next(graph.names.lookup(form), None) is not None:
            rows, _ = graph.find_all(form) or ([], None)
            yield from (row for row in rows if words_of(form) in words_of_names(graph, row))
