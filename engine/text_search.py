"""Search by text: entities ranked by how well their names and texts match."""

from __future__ import annotations

import copy
import dataclasses
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Answer, Rows, Scored, answered, checked, hits_of, no_rows
from ontodex.engine.entity_types import EntityType
from ontodex.engine.mentions import Mentions, words_of_names
from ontodex.engine.query_forms import QueryForms
from ontodex.engine.resolve import ResolvedTerm, resolve_entities
from ontodex.engine.resources import Resources
from ontodex.engine.results.hits import Hits
from ontodex.engine.search.topk import Searcher
from ontodex.engine.spelling import Spelling
from ontodex.engine.text_scores import Similarities
from ontodex.geometry.cosine import score_pairs
from ontodex.geometry.vectors import Vectors
from ontodex.graph import EntitySentences, Hierarchy, KnowledgeGraph
from ontodex.graph.arrays import distinct, runs, spans
from ontodex.graph.sentences import label_parts, sentences
from ontodex.graph.text import in_words
from ontodex.scoring.lexicon import Lexicon, plurals
from ontodex.scoring.name_completion import NameCompletion
from ontodex.scoring.name_similarity import NameSimilarity, plain
from ontodex.scoring.word_differences import words_of
from ontodex.storage.space_names import DEFINITION, NAME

__all__ = ["Query", "TextSearch", "named", "search", "search_letters"]

METHOD = "similarity of names, texts and links (cosine), of letters (trigrams) and of words"

NAMES = (
    "similarity of names and links (cosine), of letters (trigrams) and of words; texts are not "
    "encoded yet"
)
LETTERS = "similarity of letters (trigrams); names and texts are not encoded yet"

WORDS_FROM = 0.3
"""Least similarity of letters of a name that may have all words of a query."""

LINKED, NEAREST_LINKED = 16, 3
"""Most linked entities in each direction, and the number with the most similar labels that count.
"""

CORRECTED, FORM, ABBREVIATED = 0.97, 0.97, 0.9
VARIANT, PART, SENTENCE = 0.93, 0.97, 0.97
"""Factors of the cosine with the best name.

They are for the corrected spelling, for other forms of a query (see
:class:`~ontodex.engine.query_forms.QueryForms`), for a name that it abbreviates, for replaced
words, for a part of a label as name, and for one sentence of a query of several. They were chosen
as the weights of :mod:`~ontodex.engine.text_scores` were.
"""

DEFINING = 0.93
"""Factor of the cosine with a definition of the query; a definition of a name counts as a name."""

DEFINITIONS = 2
"""Number of definitions of a query: those of its most usual senses."""

CANDIDATES = 64
"""Number of entities with the most similar texts, and with the most similar letters, to score."""

FORMS, EXPANSIONS = 2, 3
"""Number of other forms of a query, and of names that it abbreviates."""

VARIANTS, NEAR_VARIANT = 4, 32
"""Number of texts with replaced words, and of entities of similar letters to score for each.

As many entities are scored for each sentence of a query of several.
"""

SENTENCE_END = re.compile(r"[.!?]\s+\S")
"""The end of a sentence that another follows."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Query:
    """A query as it is compared with entities.

    Attributes:
        term: What was asked: an entity, if it is an id, or free text.
        near: Entities of similar letters and their similarities, for the query and for each of the
            first ``others``: its other forms, and the query with corrected spelling.
        others: Further texts, each with the factor of its cosine: those of ``near``; and the names
            that the query abbreviates, its sentences if it has several, or the query with replaced
            words.
        candidates: Entities with names like one of the further texts that are not of ``near``.
        definitions: Definitions of the query, if it is a noun of the lexicon.
        unknown: Share of the words that neither the graph, the text encoder nor the lexicon knows.
        written: Entities that have a name that only writes the query otherwise.
        mentions: Entities that the query mentions; empty if it has several sentences.
    """

    term: ResolvedTerm
    near: list[Scored]
    others: list[tuple[str, float]] = field(default_factory=list)
    candidates: list[Rows] = field(default_factory=list)
    definitions: Sequence[str] = ()
    unknown: float = 0.0
    written: Rows = field(default_factory=no_rows)
    mentions: Mentions = field(default_factory=Mentions)


def search(
    index: TextSearch,
    texts: Sequence[str],
    k: int,
    *,
    lexicon: bool,
    only: EntityType | None = None,
) -> list[Hits]:
    """Rank all entities by their names and texts; entities of exactly that name come first.

    Args:
        index: The names and texts to compare with.
        texts: Queries: texts, or ids for the texts of their entities.
        k: Number of hits.
        lexicon: Whether words are also replaced by words of the same meaning, and defined.
        only: The type of the entities that are ranked; ``None`` for all.
    """
    k = checked(k)
    start = time.perf_counter()
    if only is not None:
        index = index.within(only.rows)
    resolved = resolve_entities(index.graph, texts, any_text=True)
    answers = []
    for one, scored in zip(resolved, index.ranked(resolved, k, lexicon, only), strict=True):
        resolutions = {"text": one.resolution}
        if only is not None:
            resolutions["type"] = only.resolution
        hits = hits_of(index.graph, scored, no_rows())
        answers.append(Answer(hits, resolutions, index.method))
    return answered(index.graph, "search", answers, start)


def search_letters(
    resources: Resources, texts: Sequence[str], k: int, only: EntityType | None = None
) -> list[Hits]:
    """Rank all entities by the letters of their names; those of exactly that name come first.

    See :func:`search`.
    """
    k = checked(k)
    start = time.perf_counter()
    graph = resources.index.graph
    answers = []
    for one in resolve_entities(graph, texts, any_text=True):
        exact = named(graph, one.resolution.text)
        rows, similarity = resources.name_similarity.find(one.words)
        resolutions = {"text": one.resolution}
        if only is not None:
            exact, kept = only.only(exact), np.isin(rows, only.rows)
            rows, similarity = rows[kept], similarity[kept]
            resolutions["type"] = only.resolution
        others = ~np.isin(rows, exact)
        rows, similarity = rows[others], similarity[others]
        scored = _ranked(exact, 1.0, rows, similarity, k)
        answers.append(Answer(hits_of(graph, scored, no_rows()), resolutions, LETTERS))
    return answered(graph, "search", answers, start)


def _ranked(
    first: Rows, score_of_first: float, rows: Rows, scores: NDArray[np.floating], k: int
) -> Scored:
    """Return the best entities: those that come first, then the others by score."""
    best = np.lexsort((rows, -scores))
    return (
        np.concatenate([first, rows[best]])[:k],
        np.concatenate([np.full(len(first), score_of_first), scores[best]])[:k],
    )


def named(graph: KnowledgeGraph, text: str) -> Rows:
    """Return the entities that a text is the name of, those in most triples first."""
    rows, _ = graph.find_all(text) or ([], None)
    return np.array(graph.by_links(rows), dtype=np.int64)


class TextSearch:
    """Compares queries with the names, texts and links of entities.

    Args:
        graph: The graph of the entities.
        hierarchy: Parents of the entities, as links; ``None`` for a graph without a hierarchy.
        searcher: Search of the vectors of the entities' texts; ``None`` before they are encoded,
            when labels take their place.
        names: Vectors of the names, see :func:`~ontodex.graph.entity_names`.
        owners: Row of the entity of each name, ascending.
        similarity: Similarity of the names by letters.
        completion: The sorted words of the names; without, no abbreviation is expanded.
        definitions: Definitions of names in the lexicon, and the search of their vectors; ``None``
            to use none, neither of names nor of queries.
        encode: From texts to their vectors, of shape (texts, dim).
        knows: From words to whether the text encoder knows each, for the spelling.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        hierarchy: Hierarchy | None,
        searcher: Searcher | None,
        names: Vectors,
        owners: NDArray[np.int32],
        similarity: NameSimilarity,
        completion: NameCompletion | None,
        definitions: tuple[EntitySentences, Searcher] | None,
        encode: Callable[[list[str]], NDArray[np.float32]],
        knows: Callable[[Sequence[str]], list[bool]],
    ) -> None:
        self.graph, self.similarity, self.encode = graph, similarity, encode
        self.spelling = Spelling(graph, similarity, knows)
        self.forms = QueryForms(graph, similarity, completion)
        self._knows = knows
        self.method = METHOD if searcher is not None else NAMES
        if searcher is None:
            labels = names[np.searchsorted(owners, np.arange(graph.n_entities))]
            searcher = Searcher(Vectors([labels.astype(np.float32)]))
        self._hierarchy, self._searcher = hierarchy, searcher
        self._within: tuple[Rows, Searcher] | None = None
        self._names, self._owners = names, owners
        self._definitions = definitions

    @classmethod
    def of(
        cls, resources: Resources, searcher: Searcher | None, hierarchy: Hierarchy | None
    ) -> TextSearch:
        """Return the search of an opened index."""
        index = resources.index
        return cls(
            index.graph,
            hierarchy,
            searcher,
            index.vectors(NAME),
            index.sentences(NAME).owners,
            resources.name_similarity,
            resources.name_completion,
            (index.sentences(DEFINITION), Searcher(index.vectors(DEFINITION)))
            if DEFINITION in index.manifest.spaces
            else None,
            lambda texts: resources.encoders.text.encode(texts),
            lambda words: resources.encoders.text.knows(words),
        )

    def within(self, rows: Rows) -> TextSearch:
        """Return the search of some entities only.

        Args:
            rows: The entities, ascending.
        """
        owners = self.similarity.owners
        other = copy.copy(self)
        other.similarity = dataclasses.replace(
            self.similarity,
            lengths=np.where(np.isin(owners, rows), self.similarity.lengths, np.float32(np.inf)),
        )
        other._within = rows, Searcher(Vectors([self._searcher.vectors[rows]]))
        return other

    def without_definitions(self) -> TextSearch:
        """Return the search that uses no definitions of the lexicon."""
        other = copy.copy(self)
        other._definitions = None
        return other

    @cached_property
    def lexicon(self) -> Lexicon:
        """Words of the same meaning, and definitions."""
        return Lexicon.load()

    def ranked(
        self,
        terms: Sequence[ResolvedTerm],
        k: int,
        lexicon: bool,
        only: EntityType | None = None,
    ) -> list[Scored]:
        """Return the best entities for each query; those of exactly that name come first.

        Args:
            terms: The queries.
            k: Number of entities.
            lexicon: Whether words are also replaced by words of the same meaning, and defined.
            only: The type that this search is restricted to; ``None`` for all entities.
        """
        if not lexicon and self._definitions is not None:
            return self.without_definitions().ranked(terms, k, lexicon, only)
        queries = [self.query(one.unless_named, lexicon) for one in terms]
        vectors = self.vectors(queries)
        exact = [named(self.graph, one.resolution.text) for one in terms]
        firsts = [
            (rows, 1.0) if len(rows) else (query.written, FORM)
            for rows, query in zip(exact, queries, strict=True)
        ]
        if only is not None:
            firsts = [(only.only(rows), score) for rows, score in firsts]
        found = self.candidates(queries, vectors, [rows for rows, _ in firsts], max(k, CANDIDATES))
        return [
            _ranked(*first, rows, self.similarities(query, own, rows).score(query.unknown), k)
            for first, query, own, rows in zip(firsts, queries, vectors, found, strict=True)
        ]

    def query(self, term: ResolvedTerm, lexicon: bool) -> Query:
        """Return a query as it is compared with entities.

        Args:
            term: An entity, to be compared by its text, or free text.
            lexicon: Whether words are also replaced by words of the same meaning.
        """
        names = self.similarity
        if term.row is not None:
            return Query(term, [names.find(term.resolution.label)])
        known = self.lexicon if lexicon else None
        text = self.spelling.parted(term.words, known)
        if text != term.words:
            parted = dataclasses.replace(term.resolution, text=text)
            term = dataclasses.replace(term, resolution=parted)
        corrected, unknown = self.spelling.corrected(text, known)
        is_name = term.resolution.id is not None
        written, forms, abbreviated = (no_rows(), [], []) if is_name else self._forms(text)
        defined: list[str] = []
        if self._definitions is not None and not is_name:
            defined = self.lexicon.definitions(corrected or text)[:DEFINITIONS]
        if abbreviated:
            corrected, unknown = None, 0.0
        spelt = [(form, FORM) for form in forms] + ([(corrected, CORRECTED)] if corrected else [])
        near = [names.find(text), *(names.find(one) for one, _ in spelt)]
        parts = list(dict.fromkeys(sentences(text))) if SENTENCE_END.search(text) else []
        if abbreviated:
            further = [(name, ABBREVIATED) for name in abbreviated]
        elif parts:
            further = [(part, SENTENCE) for part in parts]
        elif lexicon:
            variants = self.lexicon.variants(plain(corrected or text), names, VARIANTS)
            further = [(variant, VARIANT) for variant in variants]
        else:
            further = []
        candidates = [_nearest(names.find(one), NEAR_VARIANT) for one, _ in further]
        mentions = Mentions()
        if not parts:
            likely = _nearest(near[0], CANDIDATES).tolist()
            mentions = Mentions.of(self.graph, corrected or text, likely)
        return Query(term, near, spelt + further, candidates, defined, unknown, written, mentions)

    def _forms(self, text: str) -> tuple[Rows, list[str], list[str]]:
        """Return the other forms of a query that is no name.

        Returns:
            The entities of a name that only writes the query otherwise; if there are none, forms of
            the query that names have; and if there are none, the names that it abbreviates.
        """
        written = named(self.graph, text)  # if the query joined the words of this name
        if not len(written):
            written = np.array(self.forms.named(text), dtype=np.int64)
        forms = [] if len(written) else self.forms.of(text, FORMS)
        if len(written) or forms or not self._abbreviates(text):
            return written, forms, []
        return written, forms, self.forms.expanded(text, EXPANSIONS)

    def _abbreviates(self, text: str) -> bool:
        """Return whether a query may be an abbreviation: in capitals, or no word of the encoder."""
        word = text.strip()
        return " " not in word and (word.isupper() or not self._knows([plain(word)])[0])

    def vectors(self, queries: Sequence[Query]) -> list[NDArray[np.float32]]:
        """Return the vectors of each query and of its other texts, definitions last.

        They are of shape (texts, dim).
        """
        texts = [
            [
                *([query.term.words] if query.term.row is None else []),
                *(text for text, _ in query.others),
                *query.definitions,
            ]
            for query in queries
        ]
        every = [text for own in texts for text in own]
        encoded = np.asarray(self.encode(every)) if every else np.zeros((0, 0), np.float32)
        ends = np.cumsum([len(own) for own in texts])
        stored = self._searcher.vectors
        return [
            encoded[end - len(own) : end]
            if query.term.row is None
            else stored[np.array([query.term.row])]
            for query, own, end in zip(queries, texts, ends.tolist(), strict=True)
        ]

    def candidates(
        self,
        queries: Sequence[Query],
        vectors: Sequence[NDArray[np.float32]],
        exclude: Sequence[Rows],
        most: int,
    ) -> list[Rows]:
        """Return the entities to score for each query, ascending.

        Args:
            queries: The queries.
            vectors: Their vectors, see :meth:`vectors`.
            exclude: Entities that are left out, for each query.
            most: Number of entities with the most similar texts.
        """
        own = np.array([rows[0] for rows in vectors]).reshape(len(queries), -1)
        defining = [
            rows[len(rows) - len(query.definitions) :]
            for query, rows in zip(queries, vectors, strict=True)
        ]
        found = [
            distinct(
                np.concatenate(
                    [
                        rows,
                        defined,
                        *self._similar(own_definitions, NEAR_VARIANT),
                        *(_nearest(near, CANDIDATES) for near in query.near),
                        *query.candidates,
                    ]
                ).astype(np.int64)
            )
            for query, rows, defined, own_definitions in zip(
                queries,
                self._similar(own, most, exclude),
                self._defined(own),
                defining,
                strict=True,
            )
        ]
        return [
            rows[~np.isin(rows, left_out)] for rows, left_out in zip(found, exclude, strict=True)
        ]

    def _similar(
        self, vectors: NDArray[np.float32], most: int, exclude: Sequence[Rows] | None = None
    ) -> list[Rows]:
        """Return the entities with the texts most similar to each vector."""
        if self._within is None:
            return [rows for rows, _ in self._searcher.top(vectors, most, exclude)]
        within, searcher = self._within
        return [within[rows] for rows, _ in searcher.top(vectors, most)]

    def _defined(self, vectors: NDArray[np.float32]) -> list[Rows]:
        """Return the entities with the names whose definitions are most similar to each vector."""
        if self._definitions is None:
            return [no_rows()] * len(vectors)
        defined, searcher = self._definitions
        found = [
            defined.owners[rows].astype(np.int64) for rows, _ in searcher.top(vectors, CANDIDATES)
        ]
        if self._within is None:
            return found
        return [np.intersect1d(rows, self._within[0]) for rows in found]

    def similarities(self, query: Query, vectors: NDArray[np.float32], rows: Rows) -> Similarities:
        """Return the similarities of a query and entities.

        Args:
            query: The query.
            vectors: Vectors of the query and of its other texts, of shape (texts, dim).
            rows: The entities, ascending.
        """
        factors = [1.0, *(factor for _, factor in query.others)]
        factors += [DEFINING] * len(query.definitions)
        stored = self._searcher.vectors
        asked = 1 + len(query.others)
        texts = _products(vectors[:asked], stored[rows], factors[:asked])
        letters = np.zeros(len(rows))
        for near, similarity in query.near:
            places = np.searchsorted(near, rows).clip(max=max(0, len(near) - 1))
            if len(near):
                found = np.where(near[places] == rows, similarity[places], 0.0)
                letters = np.maximum(letters, found)
        if query.term.row is None:
            letters[self._has_part(query.term.words, rows)] = 1.0
        names = self._best_names(vectors, factors, rows)
        if self._definitions is not None and query.term.row is None:
            cosines = self._best_definitions(vectors[:asked], factors[:asked], rows)
            names = np.maximum(names, cosines)
        words = self._has_words(query.term.words, rows, letters)
        above = self._parents_of(rows)
        linked = self._linked(rows, above)
        parents, links = self._of_links(vectors[0], rows, above, linked)
        facts, unsaid = query.mentions.shares(self.graph, rows, *linked)
        return Similarities(names, texts, parents, links, facts, unsaid, letters, words)

    def _has_words(self, text: str, rows: Rows, letters: Floats) -> Floats:
        """Return 1 for each entity of which a name has all words of a text, else 0."""
        asked, found = words_of(text), np.zeros(len(rows))
        for place in np.flatnonzero(letters > WORDS_FROM).tolist() if asked else ():
            row = int(rows[place])
            found[place] = any(asked <= name for name in words_of_names(self.graph, row))
        return found

    def _has_part(self, text: str, rows: Rows) -> NDArray[np.bool_]:
        """Return whether a text is a part of the label of each entity, singular or plural."""
        name = plain(text)
        wanted = {name, *plurals(name)}
        labels = map(self.graph.labels.__getitem__, rows.tolist())
        return np.array(
            [any(plain(part) in wanted for part in label_parts(in_words(one))) for one in labels],
            dtype=bool,
        )

    def _best_names(
        self, vectors: NDArray[np.float32], factors: Sequence[float], rows: Rows
    ) -> Floats:
        """Return the cosine of the best name of each entity with the best text of a query."""
        firsts, counts = spans(self._owners, rows)
        entities, places = runs(firsts, counts)
        cosines = _products(vectors, self._names[places], factors)
        _, whole = spans(self.similarity.owners, rows)
        cosines = np.where(places - firsts[entities] < whole[entities], cosines, PART * cosines)
        starts = np.cumsum(counts) - counts
        return np.asarray(np.maximum.reduceat(cosines, starts)) if len(rows) else np.zeros(0)

    def _best_definitions(
        self, vectors: NDArray[np.float32], factors: Sequence[float], rows: Rows
    ) -> Floats:
        """Return the cosine of the best definition of a name of each entity, or -1 without any."""
        assert self._definitions is not None
        defined, searcher = self._definitions
        entities, places = runs(*spans(defined.owners, rows))
        best = np.full(len(rows), -1.0)
        np.maximum.at(best, entities, _products(vectors, searcher.vectors[places], factors))
        return best

    def _parents_of(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return pairs of a position in ``rows`` and the row of a parent."""
        if self._hierarchy is None:
            return no_rows(), no_rows()
        owners, parents = self._hierarchy.parents_of(rows)
        return owners, parents.astype(np.int64)

    def _linked(self, rows: Rows, above: tuple[Rows, Rows]) -> tuple[Rows, Rows]:
        """Return linked entities of each row: parents, and some in either direction.

        Args:
            rows: The entities.
            above: Pairs of :meth:`_parents_of`.

        Returns:
            For each (entity, linked entity) pair, the position in ``rows`` and the row of the
            linked entity; pairs are distinct and ascending.
        """
        count = self.graph.n_entities
        pairs = (self.graph.linked(rows, LINKED), above)
        keys = [owners * count + others for owners, others in pairs]
        return np.divmod(distinct(np.concatenate(keys)), count)

    def _of_links(
        self,
        vector: NDArray[np.float32],
        rows: Rows,
        above: tuple[Rows, Rows],
        linked: tuple[Rows, Rows],
    ) -> tuple[Floats, Floats]:
        """Return the mean cosine with the labels of parents, and of the nearest linked entities.

        Of an entity without any it is the cosine with the own label.

        Args:
            vector: The query.
            rows: The entities.
            above: Pairs of :meth:`_parents_of`.
            linked: Pairs of :meth:`_linked`.
        """
        (children, parents), (owners, others) = above, linked
        each = distinct(np.concatenate([others, rows]))
        labels = self._names[np.searchsorted(self._owners, each)]
        cosines = _products(vector[None], labels, [1.0])
        alone = cosines[np.searchsorted(each, rows)]
        of_parents = _means(children, cosines[np.searchsorted(each, parents)], alone)
        of_links = cosines[np.searchsorted(each, others)]
        order = np.lexsort((-of_links, owners))
        near = order[np.arange(len(owners)) - np.searchsorted(owners, owners) < NEAREST_LINKED]
        return of_parents, _means(owners[near], of_links[near], alone)


def _means(owners: Rows, values: Floats, alone: Floats) -> Floats:
    """Return the mean of each owner's values, or what it has alone if there are none."""
    counts = np.bincount(owners, minlength=len(alone))
    sums = np.bincount(owners, values, minlength=len(alone))
    return np.where(counts > 0, sums / np.maximum(counts, 1), alone)


def _nearest(found: Scored, most: int) -> Rows:
    rows, similarity = found
    return rows[np.argsort(-similarity, kind="stable")[:most]]


def _products(
    queries: NDArray[np.float32], items: NDArray[np.floating], factors: Sequence[float]
) -> Floats:
    """Return the largest product of each item with a query, each times its factor."""
    wide = items.astype(np.float64)
    products = [
        factor * score_pairs(query[None], wide[None])[0]
        for query, factor in zip(queries, factors, strict=True)
    ]
    return np.asarray(np.max(products, axis=0))
