"""From (entity, relation) pairs to the queries whose nearest entities are the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.bi_encoder import BI_ENCODER
from ontodex.engine.rerank import COSINE
from ontodex.engine.resolve import ResolvedTerm, relation_text
from ontodex.engine.resources import Resources
from ontodex.engine.search.score_offsets import no_offsets
from ontodex.errors import settings_from
from ontodex.geometry.projection import Projections
from ontodex.geometry.vectors import Vectors
from ontodex.graph import TextSettings, entity_texts, question_text, relation_texts
from ontodex.graph.text import in_words
from ontodex.scoring.case_based import RULES
from ontodex.scoring.graph_features import Offsets, add_offsets
from ontodex.scoring.query_functions import query_function
from ontodex.storage.space_names import HYBRID, LINK, TEXT

__all__ = ["Projector", "vectors_of"]

Floats = NDArray[np.float32]
Rows = NDArray[np.integer]


class Projector:
    """Makes the queries of entities and relations.

    With a tri-encoder it projects stored vectors, with a bi-encoder it encodes pairs of texts; without either it reads
    both as one text. Where the index has structural vectors, a query asks for them as well.

    Args:
        resources: Encoders and scorers of an opened index.
    """

    def __init__(self, resources: Resources) -> None:
        index = resources.index
        self._resources, self._index = resources, index
        self._trained = LINK in index.manifest.spaces
        about = index.manifest.encoders.get(LINK, {})
        self._reads_pairs = about.get("architecture") == BI_ENCODER

    @property
    def projects(self) -> bool:
        """Whether relations have projections."""
        return self._trained and not self._reads_pairs

    @property
    def space(self) -> str:
        """The space that the queries are searched in."""
        return HYBRID if HYBRID in self._index.manifest.spaces else self._texts_space

    @property
    def _texts_space(self) -> str:
        return LINK if self._trained else TEXT

    @property
    def score_unit(self) -> float:
        """How much of a score counts as one unit of a log-probability."""
        return 1.0 if self.space == HYBRID else COSINE

    @property
    def method(self) -> str:
        """What the scores mean, for the answer."""
        way = (
            "head and relation read together" if self._reads_pairs else "the relation's projection"
        )
        if self.space == HYBRID:
            return (
                f"{way}, the links of the graph, and those of entities of like text "
                "(weighted for the relation, logarithm of the odds but for a constant)"
            )
        if self._trained:
            return f"{way} (cosine)"
        return "the text “head relation” (cosine; the index has no projections)"

    @property
    def entities(self) -> Vectors:
        """Text vectors of the entities, of the link space if there is one."""
        return self._index.vectors(self._texts_space)

    def asked(
        self,
        entities: Sequence[ResolvedTerm],
        relations: Sequence[ResolvedTerm],
        *,
        backward: bool = False,
    ) -> tuple[Floats, list[Offsets]]:
        """Return the query of each (entity, relation) pair in :attr:`space`, and what is to be added to the scores it finds.

        Args:
            entities: Heads; tails with ``backward``.
            relations: One relation for each.
            backward: Ask for heads: project by the inverse relation.

        Returns:
            ``float32`` of shape (pairs, dim), and a bonus for each pair.
        """
        vectors = self.vectors(entities) if self._trained else None
        queries = self._text_queries(entities, relations, backward, vectors)
        if vectors is None:
            return queries, [no_offsets()] * len(entities)
        return self._with_links(queries, vectors, *self.numbers(entities, relations, backward))

    def queries(
        self,
        entities: Sequence[ResolvedTerm],
        relations: Sequence[ResolvedTerm],
        *,
        backward: bool,
        text_alone: bool,
    ) -> Floats:
        """As :meth:`asked`, without what is to be added; the index has an encoder of links.

        Args:
            entities: Heads; tails with ``backward``.
            relations: One relation for each.
            backward: Ask for heads: project by the inverse relation.
            text_alone: Ask the link space, even if :attr:`space` is another.
        """
        queries = self._text_queries(entities, relations, backward, self.vectors(entities))
        if text_alone or self._resources.graph_features is None:
            return queries
        return self._resources.graph_features.queries(
            queries, *self.numbers(entities, relations, backward)
        )

    def _with_links(
        self, queries: Floats, vectors: Floats, rows: Rows, numbers: Rows
    ) -> tuple[Floats, list[Offsets]]:
        """Return queries that ask for links too, if the index has structural vectors, and what is added to scores."""
        structure, case_based = self._resources.graph_features, self._resources.case_based
        if structure is not None:
            queries = structure.queries(queries, rows, numbers)
        if structure is None or case_based is None:
            return queries, [no_offsets()] * len(queries)
        return queries, list(
            structure.offsets(case_based.scores(vectors, rows, numbers), rows, numbers)
        )

    def numbers(
        self, entities: Sequence[ResolvedTerm], relations: Sequence[ResolvedTerm], backward: bool
    ) -> tuple[Rows, Rows]:
        """Return rows of entities and numbers of relations, -1 for what the graph does not have."""
        shift = self._index.graph.n_relations * backward
        rows = [-1 if one.row is None else one.row for one in entities]
        numbers = [-1 if one.row is None else one.row + shift for one in relations]
        return np.array(rows, dtype=np.int64), np.array(numbers, dtype=np.int64)

    def _text_queries(
        self,
        entities: Sequence[ResolvedTerm],
        relations: Sequence[ResolvedTerm],
        backward: bool,
        vectors: Floats | None,
    ) -> Floats:
        """Return queries of the link space, made of the vectors of entities, or without one of the text space."""
        pairs = list(zip(entities, relations, strict=True))
        if vectors is None:
            return self.encode(
                [
                    question_text(
                        in_words(one.resolution.label),
                        in_words(two.resolution.label),
                        backward=backward,
                    )
                    for one, two in pairs
                ]
            )
        if self._reads_pairs:
            read = [
                (self._text(one), relation_text(self._relation_texts, two, backward))
                for one, two in pairs
            ]
            return np.asarray(self._resources.encoders.link.queries(read))
        queries = np.empty_like(vectors)
        groups: dict[ResolvedTerm, list[int]] = {}
        for position, relation in enumerate(relations):
            groups.setdefault(relation, []).append(position)
        for relation, positions in groups.items():
            projections, number = self.projections(relation, backward=backward)
            queries[positions] = projections.project(vectors[positions], number)
        return queries

    def ask(self, rows: Rows, relations: Rows, *, text_alone: bool = False) -> Floats:
        """Return the query of each pair of an entity and a relation of the graph; the index has an encoder of links.

        Args:
            rows: Entities, of shape (pairs,).
            relations: Their relations; those from R on are inverses.
            text_alone: Ask the link space, even if :attr:`space` is another.

        Returns:
            ``float32`` of shape (pairs, dim).
        """
        if self._reads_pairs:
            ask = query_function(
                self._resources.encoders.link, self.entities, self._texts, self._relation_texts
            )
            queries = ask(rows, relations)
        else:
            queries = self._index.projections.queries(self.entities[rows], relations)
        structure = None if text_alone else self._resources.graph_features
        return queries if structure is None else structure.queries(queries, rows, relations)

    def adjust(self, rows: Rows, relations: Rows, scores: Floats) -> Floats:
        """Add bonuses to the scores that queries of :meth:`ask` give all entities, in place.

        Args:
            rows: Entities, of shape (pairs,).
            relations: Their relations; those from R on are inverses.
            scores: Of all entities, of shape (pairs, entities).
        """
        self.add_case_based(rows, relations, scores)
        return scores

    def add_case_based(self, rows: Rows, relations: Rows, scores: Floats) -> list[Offsets]:
        """As :meth:`adjust`; return what rules say of some entities of each pair, which is part of what was added."""
        structure, case_based = self._resources.graph_features, self._resources.case_based
        if structure is None or case_based is None:
            return [no_offsets()] * len(rows)
        found = list(case_based.scores(self.entities[rows], rows, relations))
        add_offsets(scores, structure.offsets(found, rows, relations))
        return [(reached, said[RULES]) for reached, said in found]

    def vectors(self, entities: Sequence[ResolvedTerm]) -> Floats:
        """Return the text vectors of entities, of the link space if there is one: from the store, or encoded."""
        return vectors_of(self.entities, entities, self.encode)

    def encode(self, texts: list[str]) -> Floats:
        """Return vectors of texts, of the link space if there is one."""
        if not self._trained:
            return np.asarray(self._resources.encoders.text.encode(texts))
        encoder = self._resources.encoders.link
        return np.asarray(encoder.entities(encoder.text.encode(texts)))

    def projections(
        self, relation: ResolvedTerm, *, backward: bool = False
    ) -> tuple[Projections, int]:
        """Return where the projection of a relation is: among those of the graph, or alone."""
        if relation.row is not None:
            return self._index.projections, relation.row + self._index.graph.n_relations * backward
        return self._resources.encoders.link.projections(
            [relation_text(self._relation_texts, relation, backward)]
        ), 0

    def of_each(
        self, entity: ResolvedTerm, vector: Floats, relations: Rows, *, backward: bool = False
    ) -> tuple[Floats, list[Offsets]]:
        """As :meth:`asked`, of one entity by several relations of the graph.

        Args:
            entity: The head; the tail with ``backward``.
            vector: What :meth:`vectors` returned for it, of shape (dim,).
            relations: Numbers of relations.
            backward: Ask for heads: project by the inverse relation.
        """
        numbers = relations + self._index.graph.n_relations * backward
        if not self._trained:
            labels = [
                in_words(self._index.graph.relation_labels[number]) for number in relations.tolist()
            ]
            return self.encode(
                [
                    question_text(in_words(entity.resolution.label), label, backward=backward)
                    for label in labels
                ]
            ), [no_offsets()] * len(labels)
        if self._reads_pairs:
            read = [
                (self._text(entity), self._relation_texts[number]) for number in numbers.tolist()
            ]
            queries = np.asarray(self._resources.encoders.link.queries(read))
        else:
            queries = self._index.projections.by_each(vector, numbers)
        rows = np.full(len(numbers), -1 if entity.row is None else entity.row)
        return self._with_links(
            queries, np.repeat(vector[None], len(numbers), axis=0), rows, numbers
        )

    def _text(self, entity: ResolvedTerm) -> str:
        return self._texts[entity.row] if entity.row is not None else entity.words

    @cached_property
    def _relation_texts(self) -> list[str]:
        return relation_texts(self._index.graph)

    @cached_property
    def _texts(self) -> list[str]:
        """What a bi-encoder reads of each entity."""
        index = self._index
        texts = self._resources.encoders.link.texts or index.manifest.settings["texts"]
        return entity_texts(index.graph, settings_from(TextSettings, texts, str(index.folder)))


def vectors_of(
    stored: Vectors, entities: Sequence[ResolvedTerm], encode: Callable[[list[str]], Floats]
) -> Floats:
    """Return one vector per entity or text: known ones from the store, the others from ``encode``.

    Args:
        stored: The vectors of a space.
        entities: Entities and texts.
        encode: Makes vectors of texts.

    Returns:
        ``float32`` of shape (entities, dim).
    """
    vectors = np.empty((len(entities), stored.dim), dtype=np.float32)
    known = [position for position, entity in enumerate(entities) if entity.row is not None]
    unseen = [position for position, entity in enumerate(entities) if entity.row is None]
    if known:
        vectors[known] = stored[
            np.array([entities[position].row for position in known], dtype=np.int64)
        ]
    if unseen:
        vectors[unseen] = encode([entities[position].words for position in unseen])
    return vectors
