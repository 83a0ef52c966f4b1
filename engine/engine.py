"""The engine: answers questions from an index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import with_cuts
from ontodex.engine.audit import audit
from ontodex.engine.batches import answer_each, single
from ontodex.engine.completion import complete
from ontodex.engine.conditions import DISK, MEMORY, Conditions
from ontodex.engine.description import describe
from ontodex.engine.embeddings import OF_LINKS, SPACES, embed, embeddings
from ontodex.engine.entailment import Entailments
from ontodex.engine.grounding import SHIPPED, GroundingRule, ground, homonym_share
from ontodex.engine.hierarchy import Subsumptions
from ontodex.engine.known import Known
from ontodex.engine.lifecycle import LifecycleGuard, guarded
from ontodex.engine.links import LinkQuestions, Links
from ontodex.engine.placement import complete_taxonomy
from ontodex.engine.resolve import ResolvedTerm, expect_pairs, list_of, resolve_entity
from ontodex.engine.resources import Resources
from ontodex.engine.results.audit_rows import Audit
from ontodex.engine.results.completions import Completions
from ontodex.engine.results.descriptions import Description
from ontodex.engine.results.embeddings import Embeddings
from ontodex.engine.results.groundings import Groundings
from ontodex.engine.results.hits import Hits
from ontodex.engine.results.placements import Placements
from ontodex.engine.results.verdicts import Direction, Verdict
from ontodex.engine.search.topk import Searchers
from ontodex.engine.similarity import by_phrase, similar
from ontodex.engine.text_search import TextSearch, search, search_letters
from ontodex.errors import (
    GraphError,
    UnknownEntity,
    expect_choice,
    expect_count,
    nearest,
    settings_from,
)
from ontodex.graph import Hierarchy, KnowledgeGraph
from ontodex.scoring.word_differences import WordDifferences
from ontodex.storage.index import Index
from ontodex.storage.space_names import LINK, NAME, TEXT

__all__ = ["Engine"]

BY_SENTENCE, BY_HIT = ("entailed_by", "entailing"), ("parents", "children")
"""Questions whose texts are encoded sentence by sentence, and by the hierarchy encoder."""


@guarded("audit", "complete", "describe", "embed", "ground", "embeddings", "plot", "plot_norms")
class Engine(LinkQuestions):
    """Answers questions from an index, in any number of threads of the process that opened it.

    Entities and relations are given by CURIE, IRI, label, synonym or free text. Answers hold the
    resolution of each. Methods that end in ``_batch`` take many questions, and are faster than one
    call per question. A single call with an unknown CURIE or IRI raises an error. In a batch, the
    answer to that question holds the error in its attribute ``error``, and the other questions are
    answered.

    Args:
        index: An opened index.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or another torch device to encode and search on.
        known: Further graphs whose triples count as known.
        exact: Search exactly, even if the index has a FAISS index of a space.
        condition_memory: Size of the cache of entities transformed by conditions, in bytes of
            memory; see :meth:`similar`.
        condition_disk: Size of the cache of conditions' projections in the index's folder, in
            bytes; 0 for no cache.
        rerank: Folder of a cross-encoder (:func:`ontodex.train_cross_encoder`) that re-ranks the
            best fifty answers of :meth:`tails` and :meth:`heads`.
    """

    def __init__(
        self,
        index: Index,
        device: str = "auto",
        *,
        known: Iterable[KnowledgeGraph] = (),
        exact: bool = False,
        condition_memory: int = MEMORY,
        condition_disk: int = DISK,
        rerank: str | Path | None = None,
    ) -> None:
        self.index = index
        self.resources = Resources(index, device)
        self.guard = LifecycleGuard(str(index.path))
        self.graph = index.graph
        self.searcher = Searchers(self.resources, exact)
        self._known = Known(index.graph, known)
        self._links = Links(
            self.resources, self.searcher, self._known, None if rerank is None else Path(rerank)
        )
        expect_count("condition_memory", condition_memory)
        expect_count("condition_disk", condition_disk)
        self._condition_caches = condition_memory, condition_disk

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index once running calls have ended; later calls raise ``IndexFailure``."""
        self.guard.close()
        self.index.close()

    def __repr__(self) -> str:
        return f"Engine({str(self.index.path)!r}: {self.graph!r})"

    # Search --------------------------------------------------------------------------------------

    def search(
        self,
        text: str,
        k: int = 10,
        *,
        lexicon: bool = True,
        spans: bool = False,
        type: str | None = None,
    ) -> Hits:
        """Rank all entities by how well their names and texts match ``text``.

        Entities whose name is exactly ``text`` come first, with a score of 1, ordered by their
        number of triples. If there are none, those come first, with a score of 0.97, that have a
        name that only writes ``text`` otherwise: numbers in digits or Roman numerals, Greek letters
        or their names, words divided by a space, a hyphen or nothing. A word of ``text`` that joins
        words of a name is parted.

        The score of the others is a weighted mean of cosines between ``text`` and an entity's best
        name (labels, synonyms and parts of a label such as "Bread & Rolls"), its whole text, and
        the labels of its parents, of the similarity of letters of its best name, and of whether a
        name has all words of ``text``. Letters have the more weight, the more words of ``text`` are
        unknown. The best name may also be one that matches ``text`` in another form (such as the
        plural), with its spelling corrected, or with a word replaced by another of the same
        meaning, a single sentence of it, or, if ``text`` may be an abbreviation, a name of at least
        three words that has its letters as initials. A definition that WordNet has for a name
        counts as a name; those that it has for ``text``, if that is a noun, are compared as well.

        Only the best entities by text and by letters are scored: ``k`` of them, and at least 64.
        Until the first stage of a build is done, names are compared by letters alone; until the
        second is done, labels take the place of texts.

        Args:
            text: Any text.
            k: Number of hits.
            lexicon: Whether words may be replaced by words of the same meaning in WordNet, and its
                definitions are used.
            spans: Rank entities by their phrase (of label or definition) that is most similar to
                ``text`` instead. Hits then have the phrase that matched.
            type: Rank only entities of this type; see :meth:`tails`.

        Raises:
            IndexMismatch: With ``spans``, if the index was built without phrases.
            UnknownEntity: If the graph does not have the type.
        """
        return single(self.search_batch([text], k, lexicon=lexicon, spans=spans, type=type))

    def search_batch(
        self,
        texts: Sequence[str],
        k: int = 10,
        *,
        lexicon: bool = True,
        spans: bool = False,
        type: str | None = None,
    ) -> list[Hits]:
        """Answer a batch of searches; see :meth:`search`."""
        only = self._links.type_of(type)
        if spans:
            return by_phrase(self.resources, self.searcher, texts, k, only)
        if NAME not in self.index.manifest.spaces:
            return search_letters(self.resources, texts, k, only)
        return search(self._text_search, texts, k, lexicon=lexicon, only=only)

    def similar(self, text: str, k: int = 10, *, condition: str | None = None) -> Hits:
        """Rank the other entities by similarity to an entity or text, optionally under a condition.

        Under a condition, all entities are transformed by the condition encoder of the index or, if
        it has none, by relation projections, and ranked exactly. The first question under a
        condition takes longer. If the condition is a relation of the graph, a second cosine is
        added to the score: that between the sums of both entities' tail vectors. If ``text`` has no
        known tails, its projection by the relation takes the place of the sum.

        Args:
            text: An entity or any text.
            k: Number of hits.
            condition: The aspect of similarity: a relation of the graph, "inverse " and a relation,
                or any text. ``None`` compares texts without a condition.

        Raises:
            UnknownEntity: If an entity is given by a CURIE or IRI that the graph does not have.
            UnknownRelation: If a condition is a CURIE or IRI that the graph does not have.
            SettingsError: If ``k`` is below 1, a text is empty, the condition is longer than the
                limit of its encoder, or a cache is too small for one condition.
            IndexMismatch: If there is a condition, and the index has neither a condition encoder
                nor projections.
        """
        return single(self.similar_batch([text], k, condition=condition))

    def similar_batch(
        self, texts: Sequence[str], k: int = 10, *, condition: str | Sequence[str] | None = None
    ) -> list[Hits]:
        """Answer a batch of questions; see :meth:`similar`.

        Args:
            texts: Entities or texts.
            k: Number of hits.
            condition: One condition for all texts, one condition per text, or ``None``.
        """
        if condition is None:
            space = self.searcher(TEXT)
            return self._each(
                "similar", texts, lambda some: similar(self.resources, space, some, k)
            )
        ask = self._conditions.similar
        if isinstance(condition, str) or not isinstance(condition, Sequence):
            self._conditions.resolved(condition)  # if it is unknown, the whole batch fails
            return self._each("similar", texts, lambda some: ask(some, condition, k))
        texts, conditions = list_of(texts, "texts"), list(condition)
        if len(texts) != len(conditions):
            return ask(texts, conditions, k)
        found = answer_each(
            lambda pairs: ask([text for text, _ in pairs], [one for _, one in pairs], k),
            list(zip(texts, conditions, strict=True)),
            lambda pair, error: Hits.failed(
                "similar", dict(zip(("text", "condition"), pair, strict=True)), error, self.graph
            ),
        )
        return with_cuts(found, lambda: self.resources.encoders.text)

    def ground(self, texts: Sequence[str], *, type: str | None = None) -> Groundings:
        """Find the term that each text means, or none, for a column of a table.

        A text that is an id means its entity; ids and names of obsolete terms that have a
        replacement mean the replacement, as the graph has them as alternative ids. A text that is
        the name of one entity, perhaps written otherwise (see :meth:`search`), means this entity;
        if several entities have the name, the probability is divided between them. For other texts,
        the ten best answers of :meth:`search` get a probability, from their similarities, their
        lead over the other answers, and the words that the text and the name do not have in common.

        The probability is fitted, when the index is built, to synonyms that are taken out of the
        graph, to misspelt labels, and to words that the graph does not have: it assumes that about
        half of the texts mean an entity. A match is an answer with at least the probability above
        which 98 % of the answers to these synonyms and labels are right, and at most 2 % of the
        other words have a match; among synonyms alone, fewer are right. A graph with too few
        synonyms takes a rule that was fitted to other graphs.

        Args:
            texts: The texts; each distinct text is asked once. Empty texts get no answer.
            type: Keep only entities of this type; see :meth:`tails`.

        Returns:
            The groundings in the order of the texts. A text without a match has the most probable
            entity as well; its decision is ``"none"``.

        Raises:
            SettingsError: If ``texts`` is not a list of texts.
            UnknownEntity: If the graph does not have the type.
            IndexMismatch: If the texts of the entities are not encoded yet.
        """
        self.index.expect_built(TEXT)
        return ground(
            self._text_search.without_definitions(),
            self._word_differences,
            self._grounding,
            self._sure,
            texts,
            self._links.type_of(type),
        )

    def describe(self, entity: str) -> Description:
        """Describe an entity: its names, definition, place in the hierarchy and links.

        Of many parents, children or linked entities, the first eight are named, by label, beside
        their number; of the paths to the roots of the hierarchy, the three shortest.

        Args:
            entity: A CURIE, an IRI, a label or a synonym. The id of an obsolete entity describes
                its replacement, if the source names one.

        Raises:
            UnknownEntity: If the graph does not have the entity.
        """
        term = self._expect_entity(entity, "to describe")
        return describe(self.graph, self.hierarchy, term, self.index.manifest.spaces)

    def complete(self, prefix: str, k: int = 10) -> Completions:
        """Complete a name as it is typed, by the start of any word of a label or synonym.

        Case and accents do not matter. Labels come before synonyms, names that start with the
        prefix before names with a word inside that does, shorter names before longer ones. Each
        entity is listed once.

        Args:
            prefix: The letters typed so far, of one or several words. A space at the end ends the
                last word.
            k: Number of names.

        Raises:
            SettingsError: If ``k`` is below 1, or the prefix is empty.
        """
        return complete(self.graph, self.resources.name_completion, prefix, k)

    # Hierarchy -----------------------------------------------------------------------------------

    def parents(self, text: str, k: int = 10, known: str = "include") -> Hits:
        """Rank entities as parents (more general concepts) of an entity or a text.

        The score is HiT's subsumption score: the negative sum of the hyperbolic distance and the
        weighted difference of hyperbolic norms. Votes of the parents of the nearest neighbours by
        text are added to it, with weights fitted to the graph if it has at least fifty links. The
        score ranks direct parents first. The probability is that of being a direct parent, and
        rises with the score. It is fitted to the asserted parents of some entities, which are
        treated as new, by the score of the answer and the best scores of the question, among them
        those of asserted parents. A further parent of an entity that has links is less likely: the
        odds are multiplied by those that an entity with as many parents lacks one, if a twentieth
        of all links are missing. For a text, they sum to at most the largest number of parents of
        an entity. If the graph has fewer than fifty links, answers have no probability. All
        entities are ranked exactly, except the entity itself, entities with the same label, its
        descendants, and individuals, whose own parents are their classes.

        Args:
            text: An entity or any text.
            k: Number of hits.
            known: ``"include"`` lists asserted ancestors first (parents before the others, all
                without a probability), then predicted ones; ``"exclude"`` leaves asserted ancestors
                out; ``"only"`` lists only asserted ancestors.

        Raises:
            UnknownEntity: If an entity is given by a CURIE or IRI that the graph does not have.
            SettingsError: If ``k`` is below 1, ``known`` is unknown, or the text is empty.
            IndexMismatch: If the index was built without a HiT encoder, such as an index of a graph
                without a hierarchy.
        """
        return single(self.parents_batch([text], k, known))

    def parents_batch(
        self, texts: Sequence[str], k: int = 10, known: str = "include"
    ) -> list[Hits]:
        """Answer a batch of questions; see :meth:`parents`."""
        ask = self._subsumptions.ranked
        return self._each("parents", texts, lambda some: ask("parents", some, k, known))

    def children(self, text: str, k: int = 10, known: str = "include") -> Hits:
        """Rank entities as children (more specific concepts) of an entity or a text.

        Scores and arguments are as in :meth:`parents`, with parent and child exchanged: the
        children and siblings of the nearest neighbours vote, and asserted descendants are the known
        answers. The ranking for a text that is not an entity is merged with that of :meth:`search`:
        the score is then the sum of 1 / (3 + rank) over both rankings, and the answers have the
        probabilities of the ranking before, in descending order.
        """
        return single(self.children_batch([text], k, known))

    def children_batch(
        self, texts: Sequence[str], k: int = 10, known: str = "include"
    ) -> list[Hits]:
        """Answer a batch of questions; see :meth:`children`."""
        ask = self._subsumptions.ranked
        return self._each("children", texts, lambda some: ask("children", some, k, known))

    def place(self, text: str, k: int = 5) -> Placements:
        """Find positions of a new concept in the hierarchy (taxonomy completion).

        A position is a parent, with the entities below the parent that move below the concept.
        Parents are ranked as in :meth:`parents`: first asserted, then predicted ones.

        A descendant of the parent moves if its score as a child of the concept is above the
        threshold of the index's rule and above its score as a child of the parent, and if its
        hyperbolic norm is larger than the concept's. If an entity and its descendant both move,
        only the entity is listed. An entity of the graph is placed as if it were new, but never
        below its descendants or above its ancestors.

        Args:
            text: An entity or any text.
            k: Number of positions.

        Raises:
            UnknownEntity: If an entity is given by a CURIE or IRI that the graph does not have.
            SettingsError: If ``k`` is below 1, or the text is empty.
            IndexMismatch: If the index was built without a HiT encoder.
        """
        return single(self.place_batch([text], k))

    def place_batch(self, texts: Sequence[str], k: int = 5) -> list[Placements]:
        """Find positions of a batch of concepts, independently of each other; see :meth:`place`."""
        ask = self._subsumptions
        found = answer_each(
            lambda some: complete_taxonomy(ask, some, k),
            list_of(texts, "texts"),
            Placements.failed,
        )
        return with_cuts(found, lambda: self.resources.encoders.hierarchy.text)

    def audit(self, k: int = 20) -> Audit:
        """Find doubtful, missing and redundant links of the hierarchy.

        Scores and probabilities are those of :meth:`parents`. A doubtful link is an asserted link
        whose probability would be at most 0.5 if the child were new; most of them are right.
        Missing links are the best pairs of members of the hierarchy that are not ancestor and
        descendant, share no asserted parent, and have different labels. They are listed whatever
        their probability, at most five for each child.

        A redundant link is an asserted link that other asserted links imply: its child has another
        parent that is a descendant of its parent. That needs no model, and a redundant link is not
        listed as doubtful.

        Doubtful links are ordered by ascending probability, missing ones by descending probability.
        If the graph has too few links to fit probabilities, doubtful links are not judged, and
        missing ones are ordered by their scores. A hierarchy of 100,000 members takes some minutes
        on one core.

        Args:
            k: Maximal number of links of each kind.

        Raises:
            SettingsError: If ``k`` is below 1.
            IndexMismatch: If the index was built without a HiT encoder.
        """
        return audit(self._subsumptions, k)

    # Entailment ----------------------------------------------------------------------------------

    def entailed_by(self, text: str, k: int = 10, known: str = "include") -> Hits:
        """Rank the entities that an entity or a text entails.

        The text is the premise; the sentences of an entity's label and definition are hypotheses.
        GaussCSE's similarity of hypothesis to premise ranks all sentences exactly. If the text or
        the entity has several sentences, the best pair of sentences counts. The ten best entities,
        and ten with similar texts, are then ranked by the probability of entailment of the
        cross-encoder that ontodex ships, which is their score. An index with a GaussCSE encoder of
        your own has no cross-encoder; there, the similarity is the score. Hits have the sentence
        that matched. The probability is calibrated on the validation pairs of the encoder.

        Args:
            text: An entity or any text.
            k: Number of entities.
            known: ``"include"`` marks asserted ancestors; ``"exclude"`` excludes them; ``"only"``
                ranks only asserted ancestors.

        Raises:
            UnknownEntity: If an entity is given by a CURIE or IRI that the graph does not have.
            SettingsError: If ``k`` is below 1, ``known`` is unknown, or the text is empty.
            IndexMismatch: If the index was built without a GaussCSE encoder.
        """
        return single(self.entailed_by_batch([text], k, known))

    def entailed_by_batch(
        self, texts: Sequence[str], k: int = 10, known: str = "include"
    ) -> list[Hits]:
        """Answer a batch of questions; see :meth:`entailed_by`."""
        ask = self._entailments.ranked
        return self._each("entailed_by", texts, lambda some: ask("entailed_by", some, k, known))

    def entailing(self, text: str, k: int = 10, known: str = "include") -> Hits:
        """Rank the entities that entail an entity or a text.

        Score and arguments are as in :meth:`entailed_by`, with premise and hypothesis exchanged.
        Asserted descendants are the known answers. If ``text`` is an entity, the hypothesis is its
        label alone.
        """
        return single(self.entailing_batch([text], k, known))

    def entailing_batch(
        self, texts: Sequence[str], k: int = 10, known: str = "include"
    ) -> list[Hits]:
        """Answer a batch of questions; see :meth:`entailing`."""
        ask = self._entailments.ranked
        return self._each("entailing", texts, lambda some: ask("entailing", some, k, known))

    def entails(self, premise: str, hypothesis: str) -> Verdict:
        """Decide whether a premise entails a hypothesis, each an entity or any text.

        Each sentence of the hypothesis is compared with the sentence of the premise that entails it
        best. The smallest of these similarities is the similarity of the verdict. Its probability,
        found in the same way, is that of the cross-encoder that ontodex ships, which also reads the
        whole premise; in an index with a GaussCSE encoder of your own, it follows from the
        similarity. If the hypothesis is an entity, only its label is compared. A pair that the
        graph asserts is entailed, whatever the probability.
        """
        return single(self.entails_batch([(premise, hypothesis)]))

    def entails_batch(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """Decide a batch of (premise, hypothesis) pairs; see :meth:`entails`."""
        return answer_each(self._entailments.verdicts, expect_pairs(pairs), Verdict.failed)

    def direction(self, one: str, other: str) -> Direction:
        """Decide which direction of entailment between two texts is likelier; see :meth:`entails`.

        The verdicts on both directions say whether either text entails the other.
        """
        return single(self.direction_batch([(one, other)]))

    def direction_batch(self, pairs: Sequence[tuple[str, str]]) -> list[Direction]:
        """Decide the direction of a batch of pairs; see :meth:`direction`."""
        return answer_each(self._entailments.directions, expect_pairs(pairs), Direction.failed)

    def _each(
        self, question: str, texts: Sequence[str], ask: Callable[[list[str]], list[Hits]]
    ) -> list[Hits]:
        """Answer a batch of one-text questions; one that cannot be resolved gets its error."""
        found = answer_each(
            ask,
            list_of(texts, "texts"),
            lambda text, error: Hits.failed(question, {"text": text}, error, self.graph),
        )
        if question in BY_SENTENCE:
            return found
        if question in BY_HIT:
            return with_cuts(found, lambda: self.resources.encoders.hierarchy.text)
        return with_cuts(found, lambda: self.resources.encoders.text)

    # Vectors -------------------------------------------------------------------------------------

    def embeddings(self, space: str = TEXT) -> Embeddings:
        """Return the vectors of all entities in a space, for other programs; see :meth:`embed`.

        Args:
            space: ``"text"``, embeddings of texts; ``"link"``, vectors of link prediction by text;
                ``"hybrid"``, link vectors with KGE, type constraint and kind vectors appended;
                ``"hierarchy"``, points of a Poincaré ball; ``"entailment"``, means and
                log-variances of sentences; ``"span"``, embeddings of phrases.

        Raises:
            SettingsError: If ``space`` is not one of these names.
            IndexMismatch: If the index does not have the space.
        """
        expect_choice("space", space, SPACES)
        return embeddings(self.index, space)

    def embed(self, questions: Sequence[Any], space: str = TEXT) -> NDArray[np.float32]:
        """Return query vectors in the form of :meth:`embeddings`.

        The inner product of a query vector and an entity's vector is the text similarity in the
        text space, and the entity's text score as a tail in the link space. In the hybrid space, it
        is the score of :meth:`tails` without case-based evidence (similar entities and rules).

        Args:
            questions: Entities or texts. For ``"link"`` and ``"hybrid"``, (head, relation) pairs as
                in :meth:`tails`; "inverse " before a relation asks for heads.
            space: Name of the space, as in :meth:`embeddings`.

        Returns:
            ``float32`` of shape (questions, dim).

        Raises:
            SettingsError: If ``space`` is unknown, a question is empty, or a question is not a pair
                in a space of pairs.
            IndexMismatch: If the index does not have the space.
            UnknownEntity: If an entity is given by a CURIE or IRI that the graph does not have.
            UnknownRelation: If a relation is given by a CURIE or IRI that the graph does not have.
        """
        expect_choice("space", space, SPACES)
        if space not in OF_LINKS:
            return embed(self.resources, questions, space)
        self.index.vectors(space)  # raises IndexMismatch without the space
        return self._links.embed(expect_pairs(questions), text_alone=space == LINK)

    # Plots ---------------------------------------------------------------------------------------

    def plot(self, entity: str, path: str | Path, *, answers: int = 0, limit: int = 3000) -> None:
        """Plot the asserted hierarchy around an entity in the Poincaré disk.

        Plots need matplotlib: ``pip install 'ontodex[plot]'``.

        Args:
            entity: An entity of the graph.
            path: The file, ``.svg`` (with labels as text and as tooltips) or ``.png``.
            answers: Number of predicted parents, and of predicted children, to plot with their
                probabilities.
            limit: Maximal number of entities.

        Raises:
            UnknownEntity: If the graph does not have the entity.
            GraphError: If the graph has no hierarchy.
            SettingsError: If the suffix or a number is invalid, or matplotlib is not installed.
            IndexMismatch: If ``answers`` is positive, and the index was built without a HiT
                encoder.
        """
        from ontodex.engine.plotting.hierarchy import draw_hierarchy

        row, predicted = _predictions(self, entity, answers)
        draw_hierarchy(
            _asserted(self),
            list(self.graph.labels),
            row,
            Path(path),
            answers=predicted,
            limit=limit,
        )

    def plot_norms(self, path: str | Path) -> None:
        """Plot the hyperbolic norms of the entities by their depth in the hierarchy.

        Args:
            path: The file, ``.svg`` or ``.png``.

        Raises:
            GraphError: If the graph has no hierarchy.
            SettingsError: If the suffix is invalid, or matplotlib is not installed.
            IndexMismatch: If the index was built without a HiT encoder.
        """
        from ontodex.engine.plotting.hierarchy import draw_norms

        hierarchy = _asserted(self)
        members = hierarchy.members
        draw_norms(self._subsumptions.space.norms[members], hierarchy.depth[members], Path(path))

    @property
    def hierarchy(self) -> Hierarchy | None:
        """The asserted hierarchy, without links that close cycles; ``None`` if there is none."""
        return self._known.hierarchy

    @cached_property
    def _text_search(self) -> TextSearch:
        texts = self.searcher(TEXT) if TEXT in self.index.manifest.spaces else None
        return TextSearch.of(self.resources, texts, self.hierarchy)

    @cached_property
    def _word_differences(self) -> WordDifferences:
        return WordDifferences.of(self.graph)

    @cached_property
    def _grounding(self) -> GroundingRule:
        fitted = self.index.manifest.grounding
        where = str(self.index.folder / "manifest.json")
        return settings_from(GroundingRule, fitted, where) if fitted else SHIPPED

    @cached_property
    def _sure(self) -> float:
        """Probability that a text that is the name of one entity means this entity."""
        return 1 - homonym_share(self.graph) / 2

    def _expect_entity(self, entity: str, what: str) -> ResolvedTerm:
        """Resolve an entity.

        Args:
            entity: A CURIE, an IRI, a label or a synonym.
            what: What the entity is for, for the message.

        Raises:
            UnknownEntity: If the graph does not have the entity.
        """
        fits = self.hierarchy.has if self.hierarchy else None
        one = resolve_entity(self.graph, entity, fits=fits)
        if one.row is None:
            raise UnknownEntity(
                f"{self.graph.source}: expected an entity {what}, found free text {entity!r}"
                f"{nearest(entity, self.graph.labels)}; search finds entities by any text"
            )
        return one

    @cached_property
    def _conditions(self) -> Conditions:
        return Conditions(self.resources, *self._condition_caches)

    @cached_property
    def _subsumptions(self) -> Subsumptions:
        search = self._text_search if NAME in self.index.manifest.spaces else None
        return Subsumptions.of(self.resources, self.hierarchy, search)

    @cached_property
    def _entailments(self) -> Entailments:
        return Entailments.of(self.resources, self.searcher(TEXT), self.hierarchy)


def _asserted(engine: Engine) -> Hierarchy:
    """Return the asserted hierarchy.

    Raises:
        GraphError: If the graph has no hierarchy.
    """
    hierarchy = engine.hierarchy
    if hierarchy is None or not len(hierarchy.links):
        raise GraphError(
            f"{engine.graph.source}: expected a hierarchy to draw, found no links from child to "
            "parent"
        )
    return hierarchy


def _predictions(
    engine: Engine, entity: str, answers: int
) -> tuple[int, list[tuple[int, str, float | None]]]:
    """Resolve an entity, and predict parents and children of it that are not asserted.

    Args:
        engine: The engine.
        entity: A CURIE, an IRI, a label or a synonym.
        answers: Number of parents to predict, and number of children.

    Returns:
        The row of the entity, and a tuple for each answer: its row, ``"parent"`` or ``"child"``,
        and its probability, or ``None``.

    Raises:
        UnknownEntity: If the graph does not have the entity.
        SettingsError: If ``answers`` is negative.
    """
    graph = engine.graph
    one = resolve_entity(graph, entity, fits=engine.hierarchy.has if engine.hierarchy else None)
    if one.row is None:
        raise UnknownEntity(
            f"{graph.source}: expected an entity to draw around, found free text {entity!r}"
            f"{nearest(entity, graph.labels)}; for a new concept see place and parents"
        )
    expect_count("answers", answers)
    predicted: dict[int, tuple[int, str, float | None]] = {}
    for kind, ranked in (("parent", engine.parents), ("child", engine.children)) if answers else ():
        for hit in ranked(one.resolution.id or entity, answers, "exclude"):
            found = graph.find(hit.id)
            if found is None:
                continue
            row = found[0]
            if row not in predicted or (hit.probability or 0.0) > (predicted[row][2] or 0.0):
                predicted[row] = row, kind, hit.probability
    return one.row, list(predicted.values())
