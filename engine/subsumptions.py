"""What is above and what is below an entity or a text, by the subsumption score of the index's HiT encoder."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import Rows, Scored, answered, checked, hits_of, no_rows, own_row
from ontodex.engine.known import CHOICES
from ontodex.engine.projector import vectors_of
from ontodex.engine.resolve import Resolved, resolve_entities
from ontodex.engine.results.hits import Hits
from ontodex.engine.search.subsumption_space import SubsumptionSpace
from ontodex.engine.search.topk import Searcher
from ontodex.errors import IndexMismatch, expect_choice
from ontodex.geometry.subsumption import Subsumption
from ontodex.graph import Hierarchy, KnowledgeGraph
from ontodex.graph.names import NameKind, normalise
from ontodex.indexers.evidence.kin import Added, Kin, KinRule
from ontodex.indexers.evidence.likeness import Likeness
from ontodex.indexers.evidence.name_likeness import NameLikeness
from ontodex.indexers.index import Index
from ontodex.indexers.storage.space_names import HIT, TEXT
from ontodex.indexers.storage.vectors import Vectors

__all__ = ["Subsumptions"]

Points = NDArray[np.float32]

METHOD = "the subsumption score of HiT"

KIN_METHODS = {
    "parents": f"{METHOD}, and what is above entities of like text",
    "children": f"{METHOD}, and what is below entities of like text, or beside them",
}

OfKin = Callable[[Sequence[Resolved]], list[Added]]
"""Says what is added to the parents, or children, of entities and texts."""


class Subsumptions:
    """Ranks parents and children; what each question means is said at :class:`~ontodex.engine.engine.Engine`.

    Args:
        graph: What is known.
        hierarchy: Its hierarchy, ``None`` if there is none.
        vectors: Every entity as a lifted point, of shape (n, d+1).
        curvature: The ball has curvature -c.
        rule: Scores pairs, and turns scores into probabilities.
        encode: Makes lifted points of texts.
        kin: What entities of like text add to ``"parents"`` and ``"children"``, and what the sums mean.
        device: Where vectors are searched.
        names: Finds the name that free text is spelt like.

    Attributes:
        hierarchy: As given, or one without a link.
        space: Scores all entities as parents.
        above: Searches for parents.
        below: Searches for children.
        methods: What the scores of ``"parents"`` and ``"children"`` are.
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
        kin: Mapping[str, tuple[KinRule, OfKin]] | None = None,
        device: str = "cpu",
        names: NameLikeness | None = None,
    ) -> None:
        none = np.zeros(0, dtype=np.int32)
        self.graph = graph
        self.hierarchy = Hierarchy(none, none, ids=graph.ids) if hierarchy is None else hierarchy
        self.rule = rule
        self.device = device
        self._encode = encode
        self._names = names
        self.space = SubsumptionSpace(vectors, curvature, rule.weight, rule.tilt)
        self.above = Searcher(vectors, device, space=self.space)
        self.below = self.above.scored_by(self.space.turned())
        self._kin = kin or {}
        self.methods = {of: KIN_METHODS[of] if of in self._kin else METHOD for of in KIN_METHODS}

    @classmethod
    def of(cls, index: Index, hierarchy: Hierarchy | None) -> Subsumptions:
        """Rank by the HiT encoder of an index.

        Args:
            index: An opened index.
            hierarchy: The hierarchy of its graph, ``None`` if there is none.

        Raises:
            IndexMismatch: If the index was built without a HiT encoder.
        """
        if HIT not in index.manifest.spaces:
            found, remedy = "without", "build it anew"
            if hierarchy is None or not len(hierarchy.links):
                found = "from a graph that has no links by a relation such as is_a or rdfs:subClassOf"
                remedy = "give the graph a hierarchy and build the index anew"
            raise IndexMismatch(
                f"{index.path}: expected an index with a HiT encoder, which tells parents from children, "
                f"found one built {found}; {remedy}, or search for what is alike"
            )
        return cls(
            index.graph,
            hierarchy,
            index.vectors(HIT),
            index.curvature,
            index.rule,
            encode=lambda texts: np.asarray(index.hit_encoder.items(texts)),
            kin=_kin(index, hierarchy),
            device=index.device,
            names=index.name_likeness,
        )

    def read(self, texts: Sequence[str]) -> list[Resolved]:
        """Read entities and free texts; of several that bear a name, one in the hierarchy is meant.

        Raises:
            UnknownEntity: If one is an IRI or CURIE that no entity has.
            SettingsError: If one is empty.
        """
        return resolve_entities(self.graph, texts, fits=self.hierarchy.has, names=self._names)

    def points(self, entities: Sequence[Resolved]) -> Points:
        """Return entities and texts as lifted points, of shape (entities, d+1)."""
        return vectors_of(self.space.vectors, entities, self._encode)

    def ranked(self, question: str, texts: Sequence[str], k: int, known: str) -> list[Hits]:
        """Rank ``"parents"`` or ``"children"`` of each text."""
        expect_choice("known", known, CHOICES)
        k = checked(k)
        start = time.perf_counter()
        read = self.read(texts)
        points = self.points(read)
        asserted = [self.asserted(question, one.row) for one in read]
        refused = self.refused(question, read)
        searcher, added = self.above if question == "parents" else self.below, self.added(question, read)
        if known == "only":
            parts = zip(points, asserted, added, strict=True)
            found = [searcher.among(point, rows, k, more.bonus) for point, (rows, _), more in parts]
        else:
            left_out = [
                np.concatenate([other, rows if known == "exclude" else no_rows()])
                for other, (rows, _) in zip(refused, asserted, strict=True)
            ]
            found = searcher.top(points, k, left_out, [more.bonus for more in added])
        answers = [
            (
                hits_of(self.graph, scored, rows, self.chances(question, scored, more)),
                {"text": one.reading},
                self.methods[question],
            )
            for one, scored, (rows, _), more in zip(read, found, asserted, added, strict=True)
        ]
        return answered(self.graph, question, answers, start)

    def added(self, question: str, entities: Sequence[Resolved]) -> list[Added]:
        """Return what like entities add to ``"parents"``, or ``"children"``, of each entity or text."""
        return self._kin[question][1](entities) if question in self._kin else [Added.nothing()] * len(entities)

    def chances(self, question: str, scored: Scored, added: Added) -> NDArray[np.float64]:
        """Return the probabilities of answers to a question; their scores have what is added already."""
        rows, scores = scored
        if question not in self._kin:
            return self.rule.probability(scores)
        return self._kin[question][0].probability(scores, added.logits_of(rows))

    def asserted(self, question: str, row: int | None) -> tuple[Rows, Rows]:
        """Return the asserted ancestors (or descendants), and what would close a circle if it were one."""
        if row is None:
            return no_rows(), no_rows()
        both = self.hierarchy.ancestors(row).astype(np.int64), self.hierarchy.descendants(row).astype(np.int64)
        return both if question == "parents" else both[::-1]

    def refused(self, question: str, entities: Sequence[Resolved]) -> list[Rows]:
        """Return what is no answer to each: the entity, its namesakes that are not asserted, what would close a circle."""
        found = []
        for one in entities:
            known, circular = self.asserted(question, one.row)
            alike = no_rows() if one.row is None else np.setdiff1d(self.namesakes(one.row), known)
            found.append(np.concatenate([own_row(one), alike, circular]))
        return found

    def namesakes(self, row: int) -> Rows:
        """Return all other entities of the same label: a model of texts cannot tell one from the other."""
        graph = self.graph
        label = normalise(graph.labels[row])
        bearers = {
            other
            for other, kind in graph.names.lookup(label)
            if kind is NameKind.LABEL and other != row and normalise(graph.labels[other]) == label
        }
        return np.array(sorted(bearers), dtype=np.int64)


def _kin(index: Index, hierarchy: Hierarchy | None) -> dict[str, tuple[KinRule, OfKin]]:
    """Return what entities of like text say of parents and children, if the index has weights for it."""
    rules = KinRule.read(index.manifest.encoders, str(index.folder / "manifest.json"))
    if not rules or hierarchy is None:
        return {}
    known = index.vectors(TEXT)
    kin = Kin(hierarchy, Likeness(known))

    def encode(texts: list[str]) -> Points:
        return np.asarray(index.text_encoder.encode(texts))

    def added(question: str, rule: KinRule, entities: Sequence[Resolved]) -> list[Added]:
        rows = np.array([-1 if one.row is None else one.row for one in entities], dtype=np.int64)
        return list(kin.added(question, rule, vectors_of(known, entities, encode), rows))

    return {question: (rule, partial(added, question, rule)) for question, rule in rules.items()}
