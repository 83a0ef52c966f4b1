"""The engine: questions to an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.conditions import DISK, MEMORY, Conditions
from ontodex.engine.embeddings import OF_LINKS, SPACES, embed, embeddings
from ontodex.engine.entailment import Entailments
from ontodex.engine.hierarchy import Subsumptions, audit, place
from ontodex.engine.known import Known
from ontodex.engine.lifecycle import LifecycleGuard, guarded
from ontodex.engine.links import LinkQuestions, Links
from ontodex.engine.plotting.hierarchy import draw_hierarchy, draw_norms
from ontodex.engine.resolve import expect_pairs, resolve_entity
from ontodex.engine.resources import Resources
from ontodex.engine.results.audit_rows import Audit
from ontodex.engine.results.embeddings import Embeddings
from ontodex.engine.results.hits import Hits
from ontodex.engine.results.placements import Placements
from ontodex.engine.results.verdicts import Direction, Verdict
from ontodex.engine.search.topk import Searchers
from ontodex.engine.similarity import by_phrase, search, similar
from ontodex.errors import GraphError, UnknownEntity, expect_choice, expect_count, nearest
from ontodex.graph import Hierarchy, KnowledgeGraph
from ontodex.storage.index import Index
from ontodex.storage.space_names import LINK, TEXT

__all__ = ["Engine"]


@guarded("audit", "embed", "embeddings", "plot", "plot_norms")
class Engine(LinkQuestions):
    """Answers questions from an index, in the process that opened it, in any number of threads.

    Wherever an entity is asked for, a CURIE, an IRI, a label, a synonym or free text serves; relations likewise. Every
    answer says how it was read. Forms that end in ``_batch`` take many questions and are faster than as many single calls.

    Args:
        index: An opened index.
        device: ``"auto"``, ``"cpu"``, ``"cuda"`` or another torch device to encode and search on.
        known: Further graphs whose triples count as known.
        exact: Score every entity also where the index is so large that candidates are looked up first.
        condition_memory: Bytes of memory for entities under conditions; see :meth:`similar`.
        condition_disk: Bytes of disk, in the index's folder, for the projections of conditions; 0 for none.
        rerank: Folder of a cross-encoder (:func:`ontodex.train_cross_encoder`) that reads the best fifty answers of
            :meth:`tails` and :meth:`heads` again, with the question.
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
        self._condition_room = condition_memory, condition_disk

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index, once the questions of other threads are answered; asked again, it raises `IndexFailure`."""
        self.guard.close()
        self.index.close()

    def __repr__(self) -> str:
        return f"Engine({str(self.index.path)!r}: {self.graph!r})"

    # Search -------------------------------------------------------------------------------------------------------

    def search(self, text: str, k: int = 10, *, spans: bool = False) -> Hits:
        """Rank all entities by how alike their text, and their names, are to ``text``.

        The score is two thirds of the cosine of the texts and one third of the likeness of names, of the likest 256 and
        the likest name of each: the cosine of their trigrams' inverse document frequencies, whatever is misspelt or left
        out. Entities of that very name come first, with a score of 1, of several the one in most triples before the others.
        With ``spans`` phrases of labels and definitions are compared instead, and answers say which one matched.

        Raises:
            IndexMismatch: With ``spans``, if the index was built without phrases.
        """
        return self.search_batch([text], k, spans=spans)[0]

    def search_batch(self, texts: Sequence[str], k: int = 10, *, spans: bool = False) -> list[Hits]:
        """Answer many searches at once; see :meth:`search`."""
        if spans:
            return by_phrase(self.resources, self.searcher, texts, k)
        return search(self.resources, self.searcher(TEXT), texts, k)

    def similar(self, text: str, k: int = 10, *, condition: str | None = None) -> Hits:
        """Rank the other entities by how alike they are to an entity, or to any text; under a condition, if one is given.

        Under a condition all entities are projected by it, which takes a while the first time, and ranked exactly: by the
        condition encoder of the index, or without one by the projections of relations, where tails are to be looked for.
        If the condition is a relation of the graph, what both are linked to by it is added: the cosine of the sums of their
        tails' vectors, and of those that its projection predicts for an entity or text that has none.

        Args:
            text: An entity or any text.
            k: How many.
            condition: In what they are to be alike: a relation of the graph, "inverse " and a relation, or any text.

        Raises:
            UnknownEntity: If a CURIE or IRI is not in the graph.
            UnknownRelation: Likewise, of the condition.
            SettingsError: If ``k`` is below 1, or a text empty, or the condition longer than its encoder reads, or the
                budget of memory or disk too small for one condition.
            IndexMismatch: If there is a condition, and the index has neither an encoder of conditions nor projections.
        """
        return self.similar_batch([text], k, condition=condition)[0]

    def similar_batch(
        self, texts: Sequence[str], k: int = 10, *, condition: str | Sequence[str] | None = None
    ) -> list[Hits]:
        """Answer many questions at once, under one condition or one for each; see :meth:`similar`."""
        if condition is not None:
            return self._conditions.similar(texts, condition, k)
        return similar(self.resources, self.searcher(TEXT), texts, k)

    # Hierarchy ----------------------------------------------------------------------------------------------------

    def parents(self, text: str, k: int = 10, known: str = "include") -> Hits:
        """Rank what is more general than an entity or any text: all that it is a kind of.

        The score is HiT's, minus the hyperbolic distance and the weighted difference of the norms; what is above entities of
        like text counts too, as much as fits the graph, from fifty links on. Scores rank direct parents first. The
        probability, of being an ancestor at all, is fitted to asserted ones among the answers of the graph's own entities;
        what is true and not asserted counts as wrong. All are ranked, exactly, but itself, its namesakes, and what is below.

        Args:
            text: An entity or any text.
            k: How many.
            known: ``"include"`` marks asserted ancestors, direct or not; ``"exclude"`` leaves them out; ``"only"`` ranks
                them alone.

        Raises:
            UnknownEntity: If a CURIE or IRI is not in the graph.
            SettingsError: If ``k`` is below 1, ``known`` none of the above, or the text empty.
            IndexMismatch: If the index was built without a HiT encoder, as of a graph without a hierarchy.
        """
        return self.parents_batch([text], k, known)[0]

    def parents_batch(
        self, texts: Sequence[str], k: int = 10, known: str = "include"
    ) -> list[Hits]:
        """Answer many questions at once; see :meth:`parents`."""
        return self._subsumptions.ranked("parents", texts, k, known)

    def children(self, text: str, k: int = 10, known: str = "include") -> Hits:
        """Rank what is more specific than an entity or any text: all that is a kind of it.

        As :meth:`parents`, the other way: what is below or beside entities of like text counts; descendants are known.
        """
        return self.children_batch([text], k, known)[0]

    def children_batch(
        self, texts: Sequence[str], k: int = 10, known: str = "include"
    ) -> list[Hits]:
        """Answer many questions at once; see :meth:`children`."""
        return self._subsumptions.ranked("children", texts, k, known)

    def place(self, text: str, k: int = 5) -> Placements:
        """Find where a new concept belongs: its best parents, and what below them should move below it.

        The parents are those of :meth:`parents`, best first, but what is above one that is all but sure to be a parent comes
        after all others. Their children, and other entities below them, move if they score above the threshold of
        the index's rule as children of the concept, and higher than as children of that parent; of a line of them only the
        topmost is named. An entity of the graph is placed as if it were new, but never below its own descendants or over
        its own ancestors.

        Args:
            text: An entity or any text.
            k: How many positions.

        Raises:
            UnknownEntity: If a CURIE or IRI is not in the graph.
            SettingsError: If ``k`` is below 1, or the text empty.
            IndexMismatch: If the index was built without a HiT encoder.
        """
        return self.place_batch([text], k)[0]

    def place_batch(self, texts: Sequence[str], k: int = 5) -> list[Placements]:
        """Place many concepts, each for itself; see :meth:`place`."""
        return place(self._subsumptions, texts, k)

    def audit(self, k: int = 20) -> Audit:
        """Find the links on which hierarchy and model disagree: those asserted and doubtful, and those missing.

        Scores and chances are those of :meth:`parents`. Doubtful is an asserted link with a chance up to a half; missing
        are the best pairs, however likely, of members of the hierarchy of which neither is asserted above the other, that
        share no asserted parent, and that bear different labels; at most five of one child are named. Two orders, taken
        together, say what comes first: by chance if doubtful or score if missing, and by how the score compares with those
        of the child's other parents.
        Every member is asked for its parents: some minutes for a hundred thousand on one processor core.

        Args:
            k: How many of either kind at most; there may be fewer, or none.

        Raises:
            SettingsError: If ``k`` is below 1.
            IndexMismatch: If the index was built without a HiT encoder.
        """
        return audit(self._subsumptions, k)

    # Entailment ---------------------------------------------------------------------------------------------------

    def entailed_by(self, text: str, k: int = 10, known: str = "include") -> Hits:
        """Rank what an entity or a text entails: entities by the best of the sentences of their label and definition.

        The score is GaussCSE's, the similarity of a sentence as hypothesis to the text as premise; of a text of several
        sentences, or of an entity, the best of its sentences counts. All sentences are ranked, exactly, and the one that
        matched comes with the answer. The probability is calibrated on the validation pairs of the encoder.

        Args:
            text: An entity or any text.
            k: How many entities.
            known: ``"include"`` marks asserted ancestors; ``"exclude"`` leaves them out; ``"only"`` ranks them alone.

        Raises:
            UnknownEntity: If a CURIE or IRI is not in the graph.
            SettingsError: If ``k`` is below 1, ``known`` none of the above, or the text empty.
            IndexMismatch: If the index was built without a GaussCSE encoder.
        """
        return self.entailed_by_batch([text], k, known)[0]

    def entailed_by_batch(
        self, texts: Sequence[str], k: int = 10, known: str = "include"
    ) -> list[Hits]:
        """Answer many questions at once; see :meth:`entailed_by`."""
        return self._entailments.ranked("entailed_by", texts, k, known)

    def entailing(self, text: str, k: int = 10, known: str = "include") -> Hits:
        """Rank what entails an entity or a text: as :meth:`entailed_by`, the other way, with asserted descendants known.

        An entity is asked for by its label alone, as the hypothesis.
        """
        return self.entailing_batch([text], k, known)[0]

    def entailing_batch(
        self, texts: Sequence[str], k: int = 10, known: str = "include"
    ) -> list[Hits]:
        """Answer many questions at once; see :meth:`entailing`."""
        return self._entailments.ranked("entailing", texts, k, known)

    def entails(self, premise: str, hypothesis: str) -> Verdict:
        """Judge whether a premise entails a hypothesis, each an entity or any text, with a probability.

        Some sentence of the premise must entail every sentence of the hypothesis: the least sure of these counts.
        """
        return self.entails_batch([(premise, hypothesis)])[0]

    def entails_batch(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """Judge many (premise, hypothesis) pairs at once; see :meth:`entails`."""
        return self._entailments.verdicts(pairs)

    def direction(self, one: str, other: str) -> Direction:
        """Judge which of two texts entails the other; see :meth:`entails`."""
        return self.direction_batch([(one, other)])[0]

    def direction_batch(self, pairs: Sequence[tuple[str, str]]) -> list[Direction]:
        """Judge the direction of many pairs at once; see :meth:`direction`."""
        return self._entailments.directions(pairs)

    # Vectors ------------------------------------------------------------------------------------------------------

    def embeddings(self, space: str = TEXT) -> Embeddings:
        """Return the vectors that a space of the index has of all entities, for other programs; see :meth:`embed`.

        Args:
            space: ``"text"``, what their texts mean; ``"link"``, of which relations' projections make tails; ``"hybrid"``,
                that and structure and range together; ``"hierarchy"``, points of a Poincaré ball;
                ``"entailment"``, means and log-variances of their sentences; ``"span"``, the phrases.

        Raises:
            SettingsError: If ``space`` is none of these.
            IndexMismatch: If the index has no such space.
        """
        expect_choice("space", space, SPACES)
        return embeddings(self.index, space)

    def embed(self, questions: Sequence[Any], space: str = TEXT) -> NDArray[np.float32]:
        """Return vectors of questions, in the form of :meth:`embeddings`, to compare with those.

        The inner product with a vector of an entity is, in the text space, how alike they are; in the hybrid space what
        texts, structure and range say of the entity as a tail, which is the score of :meth:`tails` but for analogies and
        rules; in the link space what texts say.

        Args:
            questions: Entities or texts; of ``"link"`` and ``"hybrid"`` (head, relation) pairs, as in :meth:`tails`, with
                "inverse " before a relation for its heads.
            space: As in :meth:`embeddings`.

        Returns:
            ``float32`` of shape (questions, dim).

        Raises:
            SettingsError: If ``space`` is unknown, or a question empty, or no pair where one is expected.
            IndexMismatch: If the index has no such space.
            UnknownEntity: If a CURIE or IRI is not in the graph.
            UnknownRelation: Likewise.
        """
        expect_choice("space", space, SPACES)
        if space not in OF_LINKS:
            return embed(self.resources, questions, space)
        self.index.vectors(space)  # an index without links has neither of the two
        return self._links.embed(expect_pairs(questions), text_alone=space == LINK)

    # Pictures -----------------------------------------------------------------------------------------------------

    def plot(self, entity: str, path: str | Path, *, answers: int = 0, limit: int = 3000) -> None:
        """Draw the asserted hierarchy around an entity in the Poincaré disk; needs ``pip install 'ontodex[plot]'``.

        Args:
            entity: An entity of the graph.
            path: Where to, ``.svg`` (text stays text, every node says its label under the mouse) or ``.png``.
            answers: So many predicted parents, and as many children, are drawn too, with their probabilities.
            limit: At most this many entities.

        Raises:
            UnknownEntity: If it is none of the graph.
            GraphError: If the graph has no hierarchy.
            SettingsError: If the suffix is another, a number makes no sense, or matplotlib is not installed.
            IndexMismatch: If answers are asked for, and the index was built without a HiT encoder.
        """
        row, likeliest = _around(self, entity, answers)
        draw_hierarchy(
            _asserted(self),
            list(self.graph.labels),
            row,
            Path(path),
            answers=likeliest,
            limit=limit,
        )

    def plot_norms(self, path: str | Path) -> None:
        """Draw how far from the origin of the Poincaré ball the entities of each depth of the hierarchy lie.

        Args:
            path: Where to, ``.svg`` or ``.png``.

        Raises:
            GraphError: If the graph has no hierarchy.
            SettingsError: If the suffix is another, or matplotlib is not installed.
            IndexMismatch: If the index was built without a HiT encoder.
        """
        hierarchy = _asserted(self)
        members = hierarchy.members
        draw_norms(self._subsumptions.space.norms[members], hierarchy.depth[members], Path(path))

    @property
    def hierarchy(self) -> Hierarchy | None:
        """The asserted hierarchy, circles cut open, as building has told; ``None`` if the graph has none."""
        return self._known.hierarchy

    @cached_property
    def _conditions(self) -> Conditions:
        return Conditions(self.resources, *self._condition_room)

    @cached_property
    def _subsumptions(self) -> Subsumptions:
        return Subsumptions.of(self.resources, self.hierarchy)

    @cached_property
    def _entailments(self) -> Entailments:
        return Entailments.of(self.resources, self.hierarchy)


def _asserted(engine: Engine) -> Hierarchy:
    """Return the hierarchy that the graph asserts.

    Raises:
        GraphError: If it has none.
    """
    hierarchy = engine.hierarchy
    if hierarchy is None or not len(hierarchy.links):
        raise GraphError(
            f"{engine.graph.source}: expected a hierarchy to draw, found no links from child to parent"
        )
    return hierarchy


def _around(engine: Engine, entity: str, answers: int) -> tuple[int, list[tuple[int, str, float]]]:
    """Find an entity of the graph, and so many of its likeliest parents and children that are not asserted.

    Args:
        engine: Whom to ask.
        entity: A CURIE, an IRI, a label or a synonym.
        answers: How many of either.

    Returns:
        The row of the entity; and row, ``"parent"`` or ``"child"``, and probability of each answer.

    Raises:
        UnknownEntity: If it is none of the graph.
        SettingsError: If the number is negative.
    """
    graph = engine.graph
    one = resolve_entity(graph, entity, fits=engine.hierarchy.has if engine.hierarchy else None)
    if one.row is None:
        raise UnknownEntity(
            f"{graph.source}: expected an entity to draw around, found free text {entity!r}"
            f"{nearest(entity, graph.labels)}; for a new concept see place and parents"
        )
    expect_count("answers", answers)
    likeliest: dict[int, tuple[float, str]] = {}
    for kind, ranked in (("parent", engine.parents), ("child", engine.children)) if answers else ():
        for hit in ranked(one.resolution.id or entity, answers, "exclude"):
            row, probability = graph.find(hit.id), hit.probability or 0.0
            if row is not None and probability > likeliest.get(row[0], (-1.0, ""))[0]:
                likeliest[row[0]] = (probability, kind)
    return one.row, [(row, kind, probability) for row, (probability, kind) in likeliest.items()]
