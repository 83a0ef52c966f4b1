"""Parents and children: entities ranked as more general, or more specific, than a query."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import (
    Answer,
    Rows,
    Scored,
    answered,
    checked,
    hits_of,
    left_out,
    no_rows,
    own_row,
)
from ontodex.engine.known import CHOICES
from ontodex.engine.resolve import ResolvedTerm, resolve_entities, vectors_of
from ontodex.engine.resources import Resources
from ontodex.engine.results.hits import Hits
from ontodex.engine.search.score_offsets import no_offsets
from ontodex.engine.search.subsumption_space import SubsumptionSpace
from ontodex.engine.search.topk import Found, Searcher
from ontodex.engine.text_search import TextSearch
from ontodex.errors import IndexMismatch, expect_choice
from ontodex.geometry.subsumption import Subsumption
from ontodex.geometry.vectors import Vectors
from ontodex.graph import Hierarchy, KnowledgeGraph
from ontodex.graph.names import NameKind, normalise
from ontodex.scoring.graph_features import Offsets
from ontodex.scoring.lexicon import Lexicon
from ontodex.scoring.name_evidence import NameEvidence
from ontodex.scoring.name_similarity import NameSimilarity
from ontodex.scoring.neighbour_voting import COMPETING, NeighbourVotes, NeighbourVoting
from ontodex.scoring.similarity import EntitySimilarity
from ontodex.storage.space_names import HIERARCHY, TEXT

__all__ = ["Subsumptions"]

Points = NDArray[np.float32]

MISSING = 0.05
"""Share of links that is supposed to be missing, as in the probabilities of missing links."""

METHOD = "subsumption score (HiT)"
METHOD_WITH_VOTES = f"{METHOD} + neighbour votes"
METHOD_MERGED = "{}, merged with plain search"

MERGED = 100
"""Number of best entities of each ranking that are merged, or the number of answers if larger."""

RANK_OFFSET = 3
"""Added to the ranks whose reciprocals are summed.

On four ontologies of which terms were taken out, 1 and 10 do as well. The merged ranking finds
children better than either of the two does; that of parents would be worse.
"""

VoteFunction = Callable[[Sequence[ResolvedTerm]], list[Offsets]]
"""Function from entities and texts to the score offsets of their parents, or of their children."""


class Subsumptions:
    """Ranks parents and children; see :class:`~ontodex.engine.engine.Engine` for the questions.

    Args:
        graph: The graph.
        hierarchy: Hierarchy of the graph, or ``None``.
        vectors: Lifted points of the entities, of shape (n, d+1).
        curvature: c; the ball has curvature -c.
        rule: Weights and threshold of the score.
        encode: Returns the lifted points of texts.
        voting: Settings and functions of neighbour voting for ``"parents"`` and ``"children"``.
        device: Device of the search.
        names: Finds names of similar spelling, for hints.
        search: Plain search, whose ranking is merged with that of the children of texts; ``None``
            to rank these like those of entities.

    Attributes:
        hierarchy: The hierarchy; without links if the graph has none.
        space: The space that scores all entities as parents.
        above: Searcher for parents; it never finds individuals.
        below: Searcher for children.
        methods: Name of the score for ``"parents"`` and ``"children"``.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        hierarchy: Hierarchy | None,
        vectors: Vectors,
        curvature: float,
        rule: Subsumption,
        *,
        encode: Callable[[list[str]], Points],
        voting: Mapping[str, tuple[NeighbourVoting, VoteFunction]] | None = None,
        device: str = "cpu",
        names: NameSimilarity | None = None,
        search: TextSearch | None = None,
    ) -> None:
        none = np.zeros(0, dtype=np.int32)
        self.graph = graph
        self.hierarchy = Hierarchy(none, none, ids=graph.ids) if hierarchy is None else hierarchy
        self.rule = rule
        self.device = device
        self._encode = encode
        self._names = names
        self._search = search
        self.space = SubsumptionSpace(vectors, curvature, rule.weight, rule.tilt)
        self.below = Searcher(vectors, device, space=self.space.reversed())
        self.above = self.below.scored_by(self.space).without(self.hierarchy.individuals)
        self._voting = voting or {}
        self.methods = {
            question: METHOD_WITH_VOTES if question in self._voting else METHOD
            for question in ("parents", "children")
        }

    @classmethod
    def of(
        cls, resources: Resources, hierarchy: Hierarchy | None, search: TextSearch | None = None
    ) -> Subsumptions:
        """Return the rankings of an index with a HiT encoder.

        Args:
            resources: Encoders and scorers of an opened index.
            hierarchy: Hierarchy of the index's graph, or ``None``.
            search: Plain search, see :class:`Subsumptions`.

        Raises:
            IndexMismatch: If the index was built without a HiT encoder.
        """
        index = resources.index
        if HIERARCHY not in index.manifest.spaces:
            index.expect_built(HIERARCHY)
            found, remedy = "without", "build it anew"
            if hierarchy is None or not len(hierarchy.links):
                found = (
                    "from a graph that has no links by a relation such as is_a or rdfs:subClassOf"
                )
                remedy = (
                    "give the graph a hierarchy, or name a relation that leads to parents "
                    "(--hierarchy-relation), and build the index anew"
                )
            raise IndexMismatch(
                f"{index.path}: expected an index with a HiT encoder, which distinguishes parents "
                f"from children, found one built {found}; {remedy}, or use similarity search"
            )
        return cls(
            index.graph,
            hierarchy,
            index.vectors(HIERARCHY),
            index.curvature,
            index.rule,
            encode=lambda texts: np.asarray(resources.encoders.hierarchy.items(texts)),
            voting=_voting(resources, hierarchy),
            device=resources.device,
            names=resources.name_similarity,
            search=search,
        )

    def resolve(self, texts: Sequence[str]) -> list[ResolvedTerm]:
        """Resolve entities and texts.

        If several entities have a name, entities in the hierarchy are preferred.

        Raises:
            UnknownEntity: If a text is a CURIE or IRI that the graph does not have.
            SettingsError: If a text is empty.
        """
        return resolve_entities(self.graph, texts, fits=self.hierarchy.has, names=self._names)

    def points(self, entities: Sequence[ResolvedTerm]) -> Points:
        """Return lifted points of entities and texts, of shape (entities, d+1)."""
        return vectors_of(self.space.vectors, entities, self._encode)

    def ranked(self, question: str, texts: Sequence[str], k: int, known: str) -> list[Hits]:
        """Rank entities as parents or children of each text.

        Args:
            question: ``"parents"`` or ``"children"``.
            texts: Entities or texts.
            k: Number of hits.
            known: See :meth:`ontodex.Engine.parents`.
        """
        expect_choice("known", known, CHOICES)
        k = checked(k)
        start = time.perf_counter()
        resolved = self.resolve(texts)
        points = self.points(resolved)
        all_votes = self.vote_offsets(question, resolved)
        found, log_odds = [(no_rows(), np.zeros(0))] * len(resolved), np.zeros(len(resolved))
        by_search: dict[int, Rows] = {}
        if known != "only":
            depth = k
            if question == "children":
                by_search = self._searched(resolved, max(k, MERGED))
                depth = max(k, MERGED) if by_search else k
            found, log_odds = self.predicted(question, resolved, points, all_votes, depth)
        answers = []
        for at, (one, point, votes, predicted, common) in enumerate(
            zip(resolved, points, all_votes, found, log_odds.tolist(), strict=True)
        ):
            asserted, _ = self.asserted(question, one.row)
            best = predicted[0][:k], predicted[1][:k]
            if known != "exclude":
                best = self.asserted_first(question, one, point, votes, predicted, k)
            probabilities = self.probabilities(question, best[1], common, one.row)
            method = self.methods[question]
            if at in by_search:
                best, method = merged(predicted[0], by_search[at], k), METHOD_MERGED.format(method)
            answers.append(
                Answer(
                    hits_of(self.graph, best, asserted, probabilities),
                    {"text": one.resolution},
                    method,
                    left_out(self.graph.labels, asserted, known),
                )
            )
        return answered(self.graph, question, answers, start)

    def _searched(self, entities: Sequence[ResolvedTerm], k: int) -> dict[int, Rows]:
        """Return what plain search finds for each text that is no entity, by its position."""
        texts = [at for at, one in enumerate(entities) if one.row is None]
        if self._search is None or not texts:
            return {}
        found = self._search.ranked([entities[at] for at in texts], k, lexicon=False)
        return {at: rows for at, (rows, _) in zip(texts, found, strict=True)}

    def predicted(
        self,
        question: str,
        entities: Sequence[ResolvedTerm],
        points: Points,
        all_votes: Sequence[Offsets],
        k: int,
    ) -> tuple[Found, NDArray[np.float64]]:
        """Rank the answers that are not asserted.

        Args:
            question: ``"parents"`` or ``"children"``.
            entities: The entities or texts.
            points: Their lifted points, of shape (n, d+1).
            all_votes: The vote offsets of the answers for each.
            k: Number of answers.

        Returns:
            For each entity or text, at least ``k`` answers (if there are as many), best first; and
            the log-odds that they have in common, of shape (n,), as :meth:`log_odds` returns them.
            Of what has no asserted parents, no more parents are likely than a child of the graph
            has at most: if each has one, the probabilities sum to at most 1.
        """
        searcher = self.above if question == "parents" else self.below
        asserted = [self.asserted(question, one.row)[0] for one in entities]
        refused = self.refused(question, entities)
        excluded = [np.concatenate(rows) for rows in zip(refused, asserted, strict=True)]
        found = searcher.top(points, max(k, COMPETING), excluded, all_votes)
        most = self._most_parents if question == "parents" else np.inf
        log_odds = self._common(question, found, most)
        known = [at for at, rows in enumerate(asserted) if len(rows)]
        if known:
            log_odds[known] = self.log_odds(
                question,
                [entities[at] for at in known],
                points[known],
                [all_votes[at] for at in known],
            )
        return found, log_odds

    def log_odds(
        self,
        question: str,
        entities: Sequence[ResolvedTerm],
        points: Points,
        all_votes: Sequence[Offsets],
    ) -> NDArray[np.float64]:
        """Return the log-odds that all answers to a question have in common, asserted ones too.

        Arguments are as in :meth:`predicted`. An asserted answer with a high score makes other
        answers less likely.

        Returns:
            ``float64`` of shape (n,).
        """
        searcher = self.above if question == "parents" else self.below
        found = searcher.top(points, COMPETING, self.refused(question, entities), all_votes)
        return self._common(question, found)

    def _common(self, question: str, found: Found, most: float = np.inf) -> NDArray[np.float64]:
        """Return the log-odds in common of the answers found; at most ``most`` can be right."""
        if question not in self._voting:
            return np.zeros(len(found))
        voting = self._voting[question][0]
        return np.array([voting.log_odds(scores, most) for _, scores in found])

    def asserted_first(
        self,
        question: str,
        one: ResolvedTerm,
        point: Points,
        votes: Offsets,
        predicted: Scored,
        k: int,
    ) -> Scored:
        """Return the k best answers: direct asserted ones, other asserted ones, predicted ones.

        Args:
            question: ``"parents"`` or ``"children"``.
            one: The entity or text that the question is about; only an entity has asserted answers.
            point: Its lifted point, of shape (d+1,).
            votes: The votes for the question's answers.
            predicted: Rows and scores of the predicted answers, best first.
            k: Number of answers.
        """
        if one.row is None:
            return predicted[0][:k], predicted[1][:k]
        upward = question == "parents"
        searcher = self.above if upward else self.below
        known, _ = self.asserted(question, one.row)
        step = self.hierarchy.parents if upward else self.hierarchy.children
        direct = np.isin(known, step(one.row))
        parts = [searcher.among(point, known[direct], k, votes)]
        if len(parts[0][0]) < k:  # scoring all descendants of a top concept takes long
            parts.append(searcher.among(point, known[~direct], k, votes))
        rows, scores = (np.concatenate(column) for column in zip(*parts, predicted, strict=True))
        return rows[:k], scores[:k]

    def vote_offsets(self, question: str, entities: Sequence[ResolvedTerm]) -> list[Offsets]:
        """Return the score offsets that neighbour votes give the answers for each entity or text.

        Args:
            question: ``"parents"`` or ``"children"``.
            entities: The entities or texts.
        """
        return (
            self._voting[question][1](entities)
            if question in self._voting
            else [no_offsets()] * len(entities)
        )

    def probabilities(
        self,
        question: str,
        scores: NDArray[np.float64],
        log_odds: NDArray[np.float64] | float,
        entity: int | None,
    ) -> NDArray[np.float64] | None:
        """Return the probabilities of answers; ``None`` if none could be fitted.

        They are fitted to entities that are treated as new. An answer about an entity with links
        is a further parent of a child, and where few children have several parents, it is seldom
        right: its odds are multiplied by those that a child with as many parents lacks one.

        Args:
            question: ``"parents"`` or ``"children"``.
            scores: Scores of the answers, with vote offsets.
            log_odds: What the answers to each question have in common; see :meth:`log_odds`.
            entity: Row of the entity that the answers are about; ``None`` if it is a text, or to be
                treated as new.
        """
        if question not in self._voting:
            return None
        if entity is not None and self.hierarchy.has(entity):
            parents = len(self.hierarchy.parents(entity)) if question == "parents" else 1
            log_odds = log_odds + self._further_parents[max(1, parents)]
        return self._voting[question][0].probability(scores, log_odds)

    @cached_property
    def _most_parents(self) -> int:
        """Largest number of parents of a child, at least 1."""
        return int(np.bincount(self.hierarchy.links[:, 0]).max(initial=1))

    @cached_property
    def _further_parents(self) -> NDArray[np.float64]:
        """Log odds that a child with so many parents lacks one, of shape (most + 1,).

        One of m + 1 parents is missing with the probability (m + 1) times :data:`MISSING`. Half a
        child is added to the children with m parents, and to those with m + 1. No log odds are
        above 0: a further parent is never likelier than a parent of a new term.
        """
        counts = np.bincount(np.bincount(self.hierarchy.links[:, 0]), minlength=2) + 0.5
        one_more = np.append(counts[1:], 0.5)
        odds = MISSING * np.arange(1, len(counts) + 1) * one_more / counts
        return np.asarray(np.log(np.minimum(1.0, odds)))

    def asserted(self, question: str, row: int | None) -> tuple[Rows, Rows]:
        """Return the asserted answers, and the entities that would close a cycle as answers.

        For ``"parents"``, these are the ancestors and the descendants of the entity; for
        ``"children"``, the descendants and the ancestors.
        """
        if row is None:
            return no_rows(), no_rows()
        both = (
            self.hierarchy.ancestors(row).astype(np.int64),
            self.hierarchy.descendants(row).astype(np.int64),
        )
        return both if question == "parents" else both[::-1]

    def refused(self, question: str, entities: Sequence[ResolvedTerm]) -> list[Rows]:
        """Return the entities that are excluded from the answers for each entity or text.

        These are the entity itself, entities with the same label (unless they are asserted
        answers), and entities that would close a cycle.
        """
        found = []
        for one in entities:
            known, circular = self.asserted(question, one.row)
            same = no_rows() if one.row is None else np.setdiff1d(self.namesakes(one.row), known)
            found.append(np.concatenate([own_row(one), same, circular]))
        return found

    def namesakes(self, row: int) -> Rows:
        """Return the other entities with the same label; no text encoder distinguishes them."""
        graph = self.graph
        label = normalise(graph.labels[row])
        rows = {
            other
            for other, kind in graph.names.lookup(label)
            if kind is NameKind.LABEL and other != row and normalise(graph.labels[other]) == label
        }
        return np.array(sorted(rows), dtype=np.int64)


def merged(first: Rows, second: Rows, k: int) -> Scored:
    """Merge two rankings by reciprocal rank fusion: sums of the reciprocals of their ranks.

    Args:
        first: Entities of one ranking, best first.
        second: Entities of the other.
        k: Number of entities to return.

    Returns:
        Rows and sums, best first; of a tie, the one that is better in the first ranking.

    Example:
        >>> rows, sums = merged(np.array([7, 5]), np.array([5, 6]), 3)
        >>> rows.tolist(), sums.round(2).tolist()
        ([5, 7, 6], [0.45, 0.25, 0.2])
    """
    both = np.concatenate([first, second])
    ranks = np.concatenate([np.arange(1, len(one) + 1) for one in (first, second)])
    rows, firsts, places = np.unique(both, return_index=True, return_inverse=True)
    sums = np.bincount(places, 1 / (RANK_OFFSET + ranks), len(rows)).astype(np.float64)
    best = np.lexsort((firsts, -sums))[:k]
    return rows[best], sums[best]


def _voting(
    resources: Resources, hierarchy: Hierarchy | None
) -> dict[str, tuple[NeighbourVoting, VoteFunction]]:
    """Return the settings and the function of neighbour voting for each question.

    The result is empty if the index has no settings of neighbour voting, or no hierarchy.
    """
    index = resources.index
    settings = NeighbourVoting.read(
        index.manifest.neighbour_voting, str(index.folder / "manifest.json")
    )
    if not settings or hierarchy is None:
        return {}
    known = index.vectors(TEXT)
    votes = NeighbourVotes(
        hierarchy,
        EntitySimilarity(known),
        NameEvidence(hierarchy, index.graph, resources.name_similarity, Lexicon.load()),
    )

    def encode(texts: list[str]) -> Points:
        return np.asarray(resources.encoders.text.encode(texts))

    def offsets(
        question: str, voting: NeighbourVoting, entities: Sequence[ResolvedTerm]
    ) -> list[Offsets]:
        rows = np.array([-1 if one.row is None else one.row for one in entities], dtype=np.int64)
        vectors = vectors_of(known, entities, encode)
        names = [one.resolution.label for one in entities]
        return list(votes.offsets(question, voting, vectors, rows, names))

    return {question: (one, partial(offsets, question, one)) for question, one in settings.items()}
