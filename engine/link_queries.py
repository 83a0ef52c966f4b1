"""Queries of link prediction: from (entity, relation) pairs to vectors of the searched space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.link_architectures import LinkArchitecture, LinkPairs
from ontodex.encoders.link_encoder import open_architecture
from ontodex.engine.rerank import COSINE
from ontodex.engine.resolve import ResolvedTerm, relation_text, vectors_of
from ontodex.engine.resources import Resources
from ontodex.engine.search.score_offsets import no_offsets
from ontodex.errors import settings_from
from ontodex.geometry.projection import Projections
from ontodex.geometry.vectors import Vectors
from ontodex.graph import TextSettings, entity_texts, question_text, relation_texts
from ontodex.graph.text import in_words
from ontodex.scoring.case_based import by_rules
from ontodex.scoring.graph_features import Offsets, add_offsets
from ontodex.storage.space_names import HYBRID, LINK, TEXT

__all__ = ["LinkQueries"]

Floats = NDArray[np.float32]
Rows = NDArray[np.integer]


class LinkQueries:
    """Makes the query vectors of (entity, relation) pairs, and the score offsets of their answers.

    The architecture of the index's link encoder makes the text part of a query. If the index has
    graph features, they add the rest.

    Args:
        resources: Encoders and scorers of an opened index.
    """

    def __init__(self, resources: Resources) -> None:
        index = resources.index
        self._resources, self._index = resources, index
        self._trained = LINK in index.manifest.spaces
        self._architecture: LinkArchitecture = open_architecture(
            index.manifest.encoders[LINK]["architecture"] if self._trained else None,
            lambda: index.projections,
            lambda: resources.encoders.link,
            lambda: resources.encoders.text,
        )

    @property
    def projects(self) -> bool:
        """Whether relations have projections."""
        return self._architecture.projects

    @property
    def space(self) -> str:
        """Name of the space in which queries are searched."""
        self._index.expect_built(LINK)
        return HYBRID if HYBRID in self._index.manifest.spaces else self._text_space

    @property
    def _text_space(self) -> str:
        return LINK if self._trained else TEXT

    @property
    def score_unit(self) -> float:
        """Score difference that counts as one unit of log-probability."""
        return 1.0 if self.space == HYBRID else COSINE

    @property
    def method(self) -> str:
        """Name of the score, for answers."""
        name, features = self._architecture.method, self._resources.graph_features
        if features is not None:
            if features.are_default:
                return f"hybrid score (default weights): {name} + rules + similar entities"
            return f"hybrid score (log-odds): {name} + ComplEx + rules + similar entities"
        if self._trained:
            return f"{name} (cosine)"
        return f"{name} (cosine; the index has no link encoder)"

    @property
    def entities(self) -> Vectors:
        """Vectors of the entities in the link space; without link encoder, in the text space."""
        return self._index.vectors(self._text_space)

    def of_terms(
        self,
        entities: Sequence[ResolvedTerm],
        relations: Sequence[ResolvedTerm],
        *,
        backward: bool = False,
    ) -> tuple[Floats, list[Offsets]]:
        """Return the query of each (entity, relation) pair in :attr:`space`, and its score offsets.

        Args:
            entities: Heads; tails if ``backward``.
            relations: The relation of each entity.
            backward: Ask for heads, by the inverse relations, instead of tails.

        Returns:
            ``float32`` of shape (pairs, dim), and the score offsets of each pair.
        """
        vectors = cache(lambda: self.vectors(entities))
        queries = self._architecture.query(self._pairs(entities, relations, backward, vectors))
        return self._with_features(queries, vectors, *self.numbers(entities, relations, backward))

    def vectors_of_terms(
        self,
        entities: Sequence[ResolvedTerm],
        relations: Sequence[ResolvedTerm],
        *,
        backward: bool,
        text_alone: bool,
    ) -> Floats:
        """Return the queries of :meth:`of_terms` without score offsets.

        The index must have a link encoder.

        Args:
            entities: Heads; tails if ``backward``.
            relations: The relation of each entity.
            backward: Ask for heads, by the inverse relations, instead of tails.
            text_alone: Return queries of the link space, even if :attr:`space` is another space.
        """
        vectors = cache(lambda: self.vectors(entities))
        queries = self._architecture.query(self._pairs(entities, relations, backward, vectors))
        if text_alone or self._resources.graph_features is None:
            return queries
        return self._resources.graph_features.queries(
            queries, vectors(), *self.numbers(entities, relations, backward)
        )

    def of_rows(self, rows: Rows, relations: Rows, *, text_alone: bool = False) -> Floats:
        """Return the queries of (entity, relation) pairs of the graph.

        The index must have a link encoder.

        Args:
            rows: Rows of the entities, of shape (pairs,).
            relations: Numbers of the relations, of shape (pairs,). Numbers of at least R, the
                number of relations, are inverses.
            text_alone: Return queries of the link space, even if :attr:`space` is another space.

        Returns:
            ``float32`` of shape (pairs, dim).
        """
        graph = self._index.graph
        vectors = cache(lambda: self.entities[rows])
        queries = self._architecture.query(
            LinkPairs(
                relations,
                vectors,
                lambda: [self._texts[row] for row in rows.tolist()],
                lambda: [self._relation_texts[number] for number in relations.tolist()],
                lambda: self._questions([graph.labels[row] for row in rows.tolist()], relations),
            )
        )
        features = None if text_alone else self._resources.graph_features
        if features is None:
            return queries
        return features.queries(queries, vectors(), rows, relations)

    def by_each(
        self, entity: ResolvedTerm, vector: Floats, relations: Rows, *, backward: bool = False
    ) -> tuple[Floats, list[Offsets]]:
        """Return the queries of one entity with several relations of the graph.

        Args:
            entity: The head; the tail if ``backward``.
            vector: Vector of the entity, as returned by :meth:`vectors`, of shape (dim,).
            relations: Numbers of relations.
            backward: Ask for heads, by the inverse relations, instead of tails.
        """
        numbers = relations + self._index.graph.n_relations * backward

        @cache
        def vectors() -> Floats:
            return np.repeat(vector[None], len(numbers), axis=0)

        queries = self._architecture.query_by_each(
            LinkPairs(
                numbers,
                vectors,
                lambda: [self._text(entity)] * len(numbers),
                lambda: [self._relation_texts[number] for number in numbers.tolist()],
                lambda: self._questions([entity.resolution.label] * len(numbers), numbers),
            )
        )
        rows = np.full(len(numbers), -1 if entity.row is None else entity.row)
        return self._with_features(queries, vectors, rows, numbers)

    def add_offsets(self, rows: Rows, relations: Rows, scores: Floats) -> Floats:
        """Add score offsets to the scores of all entities for queries of :meth:`of_rows`, in place.

        Args:
            rows: Rows of the entities, of shape (pairs,).
            relations: Numbers of the relations, of shape (pairs,). Numbers of at least R, the
                number of relations, are inverses.
            scores: Scores of all entities, of shape (pairs, entities).

        Returns:
            ``scores``.
        """
        self.add_case_based(rows, relations, scores)
        return scores

    def add_case_based(self, rows: Rows, relations: Rows, scores: Floats) -> list[Offsets]:
        """Add score offsets as :meth:`add_offsets` does, and return the scores of the rules.

        Returns:
            For each pair, the rows of entities, ascending, and the scores that rules give them.
        """
        features, case_based = self._resources.graph_features, self._resources.case_based
        if features is None or case_based is None:
            return [no_offsets()] * len(rows)
        found = list(case_based.scores(self.entities[rows], rows, relations))
        add_offsets(scores, features.offsets(found, rows, relations))
        return [(reached, by_rules(values)) for reached, values in found]

    def numbers(
        self, entities: Sequence[ResolvedTerm], relations: Sequence[ResolvedTerm], backward: bool
    ) -> tuple[Rows, Rows]:
        """Return rows of entities and numbers of relations; -1 for terms that the graph lacks.

        If ``backward``, the numbers are those of the inverse relations.
        """
        shift = self._index.graph.n_relations * backward
        rows = [-1 if one.row is None else one.row for one in entities]
        numbers = [-1 if one.row is None else one.row + shift for one in relations]
        return np.array(rows, dtype=np.int64), np.array(numbers, dtype=np.int64)

    def vectors(self, entities: Sequence[ResolvedTerm]) -> Floats:
        """Return vectors in the space of :attr:`entities`: stored of entities, encoded of texts."""
        return vectors_of(self.entities, entities, self.encode)

    def encode(self, texts: list[str]) -> Floats:
        """Return vectors of texts in the space of :attr:`entities`, of shape (texts, dim)."""
        if self._index.shares_vectors(self._text_space, TEXT):  # needs no network, nor torch
            return self._resources.encoders.text.encode(texts)
        return self._architecture.encode(texts)

    def projection(
        self, relation: ResolvedTerm, *, backward: bool = False
    ) -> tuple[Projections, int]:
        """Return the projection of a relation, as a set of projections and an index into the set.

        Args:
            relation: The relation.
            backward: Return the projection of the inverse relation.
        """
        [number] = self.numbers([], [relation], backward)[1].tolist()
        text = relation_text(self._relation_texts, relation, backward)
        return self._architecture.projection(number, text)

    def _pairs(
        self,
        entities: Sequence[ResolvedTerm],
        relations: Sequence[ResolvedTerm],
        backward: bool,
        vectors: Callable[[], Floats],
    ) -> LinkPairs:
        """Return (entity, relation) pairs in the forms that architectures take."""
        return LinkPairs(
            self.numbers(entities, relations, backward)[1],
            vectors,
            lambda: [self._text(one) for one in entities],
            lambda: [relation_text(self._relation_texts, one, backward) for one in relations],
            lambda: [
                question_text(
                    in_words(one.resolution.label),
                    in_words(two.resolution.label),
                    backward=backward,
                )
                for one, two in zip(entities, relations, strict=True)
            ],
        )

    def _questions(self, labels: Sequence[str], numbers: Rows) -> list[str]:
        """Return the text of each question, given labels of entities and numbers of relations."""
        names, count = self._index.graph.relation_labels, self._index.graph.n_relations
        return [
            question_text(
                in_words(label), in_words(names[number % count]), backward=number >= count
            )
            for label, number in zip(labels, numbers.tolist(), strict=True)
        ]

    def _with_features(
        self, queries: Floats, vectors: Callable[[], Floats], rows: Rows, numbers: Rows
    ) -> tuple[Floats, list[Offsets]]:
        """Extend queries of the link space to :attr:`space`; return them with score offsets.

        Args:
            queries: Queries of the link space, of shape (pairs, dim).
            vectors: Returns the vectors of the entities in the link space.
            rows: Rows of the entities; -1 for texts.
            numbers: Numbers of the relations; -1 for texts.
        """
        features, case_based = self._resources.graph_features, self._resources.case_based
        if features is not None:
            queries = features.queries(queries, vectors(), rows, numbers)
        if features is None or case_based is None:
            return queries, [no_offsets()] * len(queries)
        return queries, list(
            features.offsets(case_based.scores(vectors(), rows, numbers), rows, numbers)
        )

    def _text(self, entity: ResolvedTerm) -> str:
        return self._texts[entity.row] if entity.row is not None else entity.words

    @cached_property
    def _relation_texts(self) -> list[str]:
        return relation_texts(self._index.graph)

    @cached_property
    def _texts(self) -> list[str]:
        """Text of each entity, as the link encoder reads it."""
        index = self._index
        texts = self._resources.encoders.link.texts or index.manifest.settings["texts"]
        return entity_texts(index.graph, settings_from(TextSettings, texts, str(index.folder)))
