"""Questions about the hierarchy: parents, children, placement of new concepts, and the audit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.answers import (
    Rows,
    Scored,
    answered,
    checked,
    hits_of,
    milliseconds,
    no_rows,
    own_row,
)
from ontodex.engine.known import CHOICES
from ontodex.engine.resolve import ResolvedTerm, resolve_entities, vectors_of
from ontodex.engine.resources import Resources
from ontodex.engine.results.audit_rows import Audit, AuditRow, predicate_of
from ontodex.engine.results.hits import Hits
from ontodex.engine.results.placements import Placement, Placements
from ontodex.engine.search.subsumption_space import SubsumptionSpace
from ontodex.engine.search.topk import Searcher
from ontodex.errors import IndexMismatch, expect_choice
from ontodex.geometry.subsumption import Subsumption
from ontodex.geometry.vectors import Vectors
from ontodex.graph import Hierarchy, KnowledgeGraph
from ontodex.graph.arrays import distinct
from ontodex.graph.names import NameKind, normalise
from ontodex.scoring.graph_features import Offsets
from ontodex.scoring.name_similarity import NameSimilarity
from ontodex.scoring.neighbour_voting import NeighbourVotes, NeighbourVoting, VoteOffsets
from ontodex.scoring.similarity import EntitySimilarity
from ontodex.storage.space_names import HIERARCHY, TEXT

__all__ = ["Subsumptions", "audit", "place"]

FEW = 5
"""Missing parents of one child, at most."""

BATCH = 512
"""Children that are looked at at once."""

PAIRS = 8192
"""Members in a part of what is searched."""


class _Pairs(NamedTuple):
    """Pairs of a child and a parent, each column of shape (pairs,).

    They are their rows, subsumption scores, probabilities, and leads: how far a score is above the best of the child's
    other asserted parents, and that of an asserted parent above the best of the missing ones too; 0 if there are none.
    """

    children: Rows
    parents: Rows
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    leads: NDArray[np.float64]

    @classmethod
    def none(cls) -> _Pairs:
        """Return no pair."""
        return cls(no_rows(), no_rows(), np.zeros(0), np.zeros(0), np.zeros(0))

    def at(self, places: Rows) -> _Pairs:
        """Return those at some places, in that order."""
        return _Pairs._make(column[places] for column in self)


def audit(subsumptions: Subsumptions, k: int) -> Audit:
    """Compare the asserted hierarchy with the model; see :meth:`ontodex.engine.engine.Engine.audit`."""
    k = checked(k)
    start = time.perf_counter()
    graph, members = subsumptions.graph, subsumptions.hierarchy.members.astype(np.int64)
    searcher, places = _among_members(subsumptions, members), np.full(len(graph.ids), -1)
    places[members] = np.arange(len(members))
    asserted, others = [_Pairs.none()], [_Pairs.none()]
    for first in range(0, len(members), BATCH):
        batch = members[first : first + BATCH]
        points = subsumptions.space.vectors[batch]
        added = subsumptions.vote_offsets(
            "parents", subsumptions.read([graph.ids[row] for row in batch.tolist()])
        )
        related = [places[_related(subsumptions, child)] for child in batch.tolist()]
        related = [rows[rows >= 0] for rows in related]
        found = searcher.top(points, FEW, related, [_among(places, more) for more in added])
        for child, point, more, (best, scores) in zip(
            batch.tolist(), points, added, found, strict=True
        ):
            parents = subsumptions.hierarchy.parents(child).astype(np.int64)
            known = subsumptions.above.among(point, parents, len(parents), more.offsets)
            own, rest = known[1].tolist(), scores.tolist()
            of_own = [_lead(one, [*own[:at], *own[at + 1 :], *rest]) for at, one in enumerate(own)]
            of_rest = [_lead(one, own) for one in rest]
            for pairs, scored, leads in (
                (asserted, known, of_own),
                (others, (members[best], scores), of_rest),
            ):
                probabilities = subsumptions.probabilities("parents", scored, more)
                pairs.append(
                    _Pairs(
                        np.full(len(probabilities), child),
                        *scored,
                        probabilities,
                        np.array(leads, dtype=np.float64),
                    )
                )
    rows = [
        AuditRow(
            graph.ids[child],
            graph.labels[child],
            graph.ids[parent],
            graph.labels[parent],
            probability,
            score,
            verdict,
        )
        for verdict, pairs in (
            ("doubtful", _doubtful(_joined(asserted), k)),
            ("missing", _missing(_joined(others), k)),
        )
        for child, parent, score, probability, _ in zip(
            *(column.tolist() for column in pairs), strict=True
        )
    ]
    method, took = subsumptions.methods["parents"], milliseconds(start, 1)
    return Audit(tuple(rows), method, took, predicate_of(graph), dict(graph.prefixes))


def _doubtful(asserted: _Pairs, k: int) -> _Pairs:
    """Return at most k asserted links that are no likelier than not, the most doubtful first.

    Most doubtful is what comes first in two orders taken together: by probability, and by lead. Right links too are
    unlikely, if their child's name tells little of what is above it; but then all its other parents are as unlikely.
    """
    places = _places(asserted.probabilities) + _places(asserted.leads)
    worst = np.lexsort(
        (asserted.parents, asserted.children, asserted.scores, asserted.probabilities, places)
    )
    return asserted.at(worst[asserted.probabilities[worst] <= 0.5][:k])


def _missing(others: _Pairs, k: int) -> _Pairs:
    """Return at most k pairs, the best first: by score and by lead, taken together; one of two alike one way round."""
    places = _places(others.scores) + _places(others.leads)
    best = np.lexsort((others.parents, others.children, -others.scores, -places))
    ends = np.sort(np.stack([others.children, others.parents], axis=1)[best], axis=1)
    return others.at(best[np.sort(np.unique(ends, axis=0, return_index=True)[1])][:k])


def _places(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return how many values are below each."""
    return np.searchsorted(np.sort(values), values)


def _lead(score: float, others: Sequence[float]) -> float:
    return score - max(others, default=score)


def _joined(pairs: Sequence[_Pairs]) -> _Pairs:
    return _Pairs(*(np.concatenate(columns) for columns in zip(*pairs, strict=True)))


def _related(subsumptions: Subsumptions, child: int) -> Rows:
    """Return what is no missing parent of an entity: itself, what is above and below, and what is near, rightly.

    Near are entities that share a parent, or a name.
    """
    hierarchy = subsumptions.hierarchy
    above, below, beside = (
        hierarchy.ancestors(child),
        hierarchy.descendants(child),
        hierarchy.siblings(child),
    )
    return distinct(
        np.concatenate([[child], subsumptions.namesakes(child), above, below, beside]).astype(
            np.int64
        )
    )


def _among(places: Rows, added: VoteOffsets) -> Offsets:
    """Return what is added to scores by the places of members, without what is none."""
    there = places[added.rows] >= 0
    return places[added.rows[there]], added.scores[there]


def _among_members(subsumptions: Subsumptions, members: Rows) -> Searcher:
    """Return a search for parents among the members alone, whose rows are their places in ``members``."""
    vectors = subsumptions.space.vectors
    if len(members) == len(vectors):
        return subsumptions.above
    parts = np.array_split(members, max(1, len(members) // PAIRS))
    vectors = Vectors([vectors[part] for part in parts])
    space = SubsumptionSpace(
        vectors, subsumptions.space.curvature, subsumptions.rule.weight, subsumptions.rule.tilt
    )
    return Searcher(vectors, subsumptions.device, space=space)


POOL = 50
"""So many of the best parents, and of the best children, are looked through, or five for each position asked for."""

SURE = 0.9
"""Above this probability of a parent, what lies above it is no news. A lower one costs direct parents their places."""


def place(subsumptions: Subsumptions, texts: Sequence[str], k: int) -> list[Placements]:
    """Find the positions of each text; see :meth:`ontodex.engine.engine.Engine.place`."""
    k = checked(k)
    start = time.perf_counter()
    read = subsumptions.read(texts)
    points = subsumptions.points(read)
    refused = {
        question: subsumptions.refused(question, read) for question in ("parents", "children")
    }
    pool, added = max(POOL, 5 * k), subsumptions.vote_offsets("parents", read)
    parents = subsumptions.above.top(
        points, pool, refused["parents"], [more.offsets for more in added]
    )
    children = subsumptions.below.top(points, pool, refused["children"])
    positions = []
    for point, one, above, more, below, none in zip(
        points, read, parents, added, children, refused["children"], strict=True
    ):
        ancestors, descendants = subsumptions.asserted("parents", one.row)
        probabilities = subsumptions.probabilities("parents", above, more)
        best = np.argsort(_no_news(subsumptions, above[0], probabilities), kind="stable")[:k]
        rows, scores = (column[best] for column in above)
        hits = hits_of(subsumptions.graph, (rows, scores), ancestors, probabilities[best])
        moving = [_moving(subsumptions, point, parent, below, none) for parent in rows.tolist()]
        positions.append(
            tuple(
                Placement(
                    hit,
                    hits_of(
                        subsumptions.graph,
                        some,
                        descendants,
                        subsumptions.rule.probability(some[1]),
                    ),
                )
                for hit, some in zip(hits, moving, strict=True)
            )
        )
    took = milliseconds(start, len(read))
    return [
        Placements(of_one, {"text": one.resolution}, subsumptions.methods["parents"], took)
        for of_one, one in zip(positions, read, strict=True)
    ]


def _no_news(
    subsumptions: Subsumptions, parents: Rows, probabilities: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Tell which parents lie above one that is all but sure to be a parent."""
    likely = parents[probabilities > SURE]
    return np.asarray(
        subsumptions.hierarchy.is_ancestor(likely[:, None], parents[None]).any(axis=0)
    )


def _moving(
    subsumptions: Subsumptions,
    point: NDArray[np.float32],
    parent: int,
    below: Scored,
    refused: Rows,
) -> Scored:
    """Return what lies below the parent and rather below the concept, the most general alone, best first.

    That is every child of the parent, and every one of the concept's best children deeper down, that the rule accepts as
    below the concept, that scores higher below it than below the parent, and that is further from the origin than it.
    """
    hierarchy, space = subsumptions.hierarchy, subsumptions.space
    direct = hierarchy.children(parent).astype(np.int64)
    deeper = below[0][hierarchy.is_ancestor(below[0], np.array(parent))]
    rows = np.setdiff1d(np.union1d(direct, deeper), refused)
    rows, scores = subsumptions.below.among(point, rows, len(rows))
    likely = scores > subsumptions.rule.threshold
    likely &= scores > space.pair_scores(space.vectors[rows], np.full(len(rows), parent))
    likely &= space.norms[rows] > space.prepare(point[None]).norms[0]
    rows, scores = rows[likely], scores[likely]
    general = ~hierarchy.is_ancestor(rows[:, None], rows[None]).any(axis=1)
    return rows[general], scores[general]


Points = NDArray[np.float32]

METHOD = "the subsumption score of HiT"

KIN_METHODS = {
    "parents": f"{METHOD}, and what is above entities of like text",
    "children": f"{METHOD}, and what is below entities of like text, or beside them",
}

VotesOf = Callable[[Sequence[ResolvedTerm]], list[VoteOffsets]]
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
        kin: Mapping[str, tuple[NeighbourVoting, VotesOf]] | None = None,
        device: str = "cpu",
        names: NameSimilarity | None = None,
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
        self.below = self.above.scored_by(self.space.reversed())
        self._kin = kin or {}
        self.methods = {of: KIN_METHODS[of] if of in self._kin else METHOD for of in KIN_METHODS}

    @classmethod
    def of(cls, resources: Resources, hierarchy: Hierarchy | None) -> Subsumptions:
        """Rank by the HiT encoder of an index.

        Args:
            resources: Encoders and scorers of an opened index.
            hierarchy: The hierarchy of its graph, ``None`` if there is none.

        Raises:
            IndexMismatch: If the index was built without a HiT encoder.
        """
        index = resources.index
        if HIERARCHY not in index.manifest.spaces:
            found, remedy = "without", "build it anew"
            if hierarchy is None or not len(hierarchy.links):
                found = (
                    "from a graph that has no links by a relation such as is_a or rdfs:subClassOf"
                )
                remedy = "give the graph a hierarchy and build the index anew"
            raise IndexMismatch(
                f"{index.path}: expected an index with a HiT encoder, which tells parents from children, "
                f"found one built {found}; {remedy}, or search for what is alike"
            )
        return cls(
            index.graph,
            hierarchy,
            index.vectors(HIERARCHY),
            index.curvature,
            index.rule,
            encode=lambda texts: np.asarray(resources.encoders.hierarchy.items(texts)),
            kin=_kin(resources, hierarchy),
            device=resources.device,
            names=resources.name_similarity,
        )

    def read(self, texts: Sequence[str]) -> list[ResolvedTerm]:
        """Read entities and free texts; of several that bear a name, one in the hierarchy is meant.

        Raises:
            UnknownEntity: If one is an IRI or CURIE that no entity has.
            SettingsError: If one is empty.
        """
        return resolve_entities(self.graph, texts, fits=self.hierarchy.has, names=self._names)

    def points(self, entities: Sequence[ResolvedTerm]) -> Points:
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
        searcher, added = (
            self.above if question == "parents" else self.below,
            self.vote_offsets(question, read),
        )
        if known == "only":
            parts = zip(points, asserted, added, strict=True)
            found = [
                searcher.among(point, rows, k, more.offsets) for point, (rows, _), more in parts
            ]
        else:
            left_out = [
                np.concatenate([other, rows if known == "exclude" else no_rows()])
                for other, (rows, _) in zip(refused, asserted, strict=True)
            ]
            found = searcher.top(points, k, left_out, [more.offsets for more in added])
        answers = [
            (
                hits_of(self.graph, scored, rows, self.probabilities(question, scored, more)),
                {"text": one.resolution},
                self.methods[question],
            )
            for one, scored, (rows, _), more in zip(read, found, asserted, added, strict=True)
        ]
        return answered(self.graph, question, answers, start)

    def vote_offsets(self, question: str, entities: Sequence[ResolvedTerm]) -> list[VoteOffsets]:
        """Return what like entities add to ``"parents"``, or ``"children"``, of each entity or text."""
        return (
            self._kin[question][1](entities)
            if question in self._kin
            else [VoteOffsets.none()] * len(entities)
        )

    def probabilities(
        self, question: str, scored: Scored, added: VoteOffsets
    ) -> NDArray[np.float64]:
        """Return the probabilities of answers to a question; their scores have what is added already."""
        rows, scores = scored
        if question not in self._kin:
            return self.rule.probability(scores)
        return self._kin[question][0].probability(scores, added.logits_of(rows))

    def asserted(self, question: str, row: int | None) -> tuple[Rows, Rows]:
        """Return the asserted ancestors (or descendants), and what would close a circle if it were one."""
        if row is None:
            return no_rows(), no_rows()
        both = (
            self.hierarchy.ancestors(row).astype(np.int64),
            self.hierarchy.descendants(row).astype(np.int64),
        )
        return both if question == "parents" else both[::-1]

    def refused(self, question: str, entities: Sequence[ResolvedTerm]) -> list[Rows]:
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


def _kin(
    resources: Resources, hierarchy: Hierarchy | None
) -> dict[str, tuple[NeighbourVoting, VotesOf]]:
    """Return what entities of like text say of parents and children, if the index has weights for it."""
    index = resources.index
    rules = NeighbourVoting.read(
        index.manifest.neighbour_voting, str(index.folder / "manifest.json")
    )
    if not rules or hierarchy is None:
        return {}
    known = index.vectors(TEXT)
    kin = NeighbourVotes(hierarchy, EntitySimilarity(known))

    def encode(texts: list[str]) -> Points:
        return np.asarray(resources.encoders.text.encode(texts))

    def added(
        question: str, rule: NeighbourVoting, entities: Sequence[ResolvedTerm]
    ) -> list[VoteOffsets]:
        rows = np.array([-1 if one.row is None else one.row for one in entities], dtype=np.int64)
        return list(kin.offsets(question, rule, vectors_of(known, entities, encode), rows))

    return {question: (rule, partial(added, question, rule)) for question, rule in rules.items()}
