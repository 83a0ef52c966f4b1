"""The questions about links that an engine answers."""

from __future__ import annotations

from collections.abc import Sequence

from ontodex.engine.gate import gated
from ontodex.engine.links import Links
from ontodex.engine.resolve import expect_pairs
from ontodex.engine.results.explanation import Explanation
from ontodex.engine.results.hits import Hits
from ontodex.engine.results.missing_links import MissingLinks

__all__ = ["LinkQuestions"]


@gated("missing", "why")
class LinkQuestions:
    """What :class:`~ontodex.engine.engine.Engine` answers about links."""

    _links: Links

    def tails(self, head: str, relation: str, k: int = 10, known: str = "exclude") -> Hits:
        """Rank the entities that ``head`` may be linked to by ``relation``.

        ``head`` itself is left out, unless the graph links some entity to itself by ``relation``.

        Args:
            head: An entity or any text.
            relation: A relation of the graph, "inverse " and a relation, or the text of one that it does not have.
            k: How many.
            known: ``"exclude"`` leaves known tails out, ``"include"`` marks them, ``"only"`` ranks them alone.

        Raises:
            UnknownEntity: If a CURIE or IRI is not in the graph.
            UnknownRelation: Likewise.
            SettingsError: If ``k`` is below 1, ``known`` none of the above, or a text empty.
        """
        return self.tails_batch([(head, relation)], k, known)[0]

    def tails_batch(self, questions: Sequence[tuple[str, str]], k: int = 10, known: str = "exclude") -> list[Hits]:
        """Answer many (head, relation) questions at once; see :meth:`tails`."""
        return self._links.ends("tails", expect_pairs(questions), k, known)

    def heads(self, relation: str, tail: str, k: int = 10, known: str = "exclude") -> Hits:
        """Rank the entities that may be linked to ``tail`` by ``relation``; see :meth:`tails`."""
        return self.heads_batch([(relation, tail)], k, known)[0]

    def heads_batch(self, questions: Sequence[tuple[str, str]], k: int = 10, known: str = "exclude") -> list[Hits]:
        """Answer many (relation, tail) questions at once; see :meth:`heads`."""
        return self._links.ends("heads", [(tail, relation) for relation, tail in expect_pairs(questions)], k, known)

    def relations(self, head: str, tail: str, k: int = 10, known: str = "include") -> Hits:
        """Rank the relations of the graph by the chance that it is this one that leads from ``head`` to ``tail``.

        The probability is that of the relation if exactly one of those ranked links the two; the score is its logarithm. It
        comes of how often entities like either are linked by the relation, and of how likely each is an answer to a question
        about the other, by text and links as in :meth:`tails`. Of more than 64 relations those are told apart by such
        answers that are the likeliest by what both are linked by; the others are left out, unless ``k`` is larger.

        Args:
            head: An entity or any text.
            tail: An entity or any text.
            k: How many.
            known: ``"include"`` marks relations that are known to link them; ``"exclude"`` leaves them out; ``"only"`` ranks
                them alone.

        Raises:
            UnknownEntity: If a CURIE or IRI is not in the graph.
            SettingsError: If ``k`` is below 1, ``known`` none of the above, or a text empty.
        """
        return self.relations_batch([(head, tail)], k, known)[0]

    def relations_batch(self, questions: Sequence[tuple[str, str]], k: int = 10, known: str = "include") -> list[Hits]:
        """Answer many (head, tail) questions at once; see :meth:`relations`."""
        return self._links.between(expect_pairs(questions), k, known)

    def missing(
        self, relation: str | None = None, k: int = 20, *, linked: bool = True, quiet: bool = False
    ) -> MissingLinks:
        """Find the links that the graph lacks most likely, whatever they are about.

        Every head and relation that has known tails, or surely has one as a rule says, is asked as in :meth:`tails`, every
        relation and tail likewise; the best twenty answers count. A link is the likelier the larger its share of the chances
        of its question, the more answers are known, and the surer rules are, as fitted to links held out: the validation
        triples of the graph or, if it has fewer than 50, a twentieth of its triples, at least 50 and at most 5,000. The
        probability is right if as many are missing as were held out. Triples for validation and test are not known, and may
        be found; what follows from the hierarchy is not missing. It takes 3 minutes for 15,000 entities and 270,000 triples
        on one processor core.

        Args:
            relation: Of this one alone; by default of all.
            k: How many.
            linked: Whether two that some relation links already may lack a link by another.
            quiet: Show no progress on stderr.

        Raises:
            UnknownRelation: If the relation is none of the graph.
            SettingsError: If ``k`` is below 1.
            IndexMismatch: If the index has no projections of relations.
        """
        return self._links.missing.links(relation, k, linked=linked, quiet=quiet)

    def why(self, head: str, relation: str, tail: str, k: int = 3) -> Explanation:
        """Explain why ``tail`` has the score, and the rank, that it has as an answer to :meth:`tails`.

        The score is taken apart into what text, structure, range, analogies and rules add to it, each compared with what it
        adds to an entity in the mean, so that a part may be negative; analogies and rules come with the known links they
        go by. Why a head is an answer to :meth:`heads` is asked by the inverse: ``why(tail, "inverse …", head)``. A
        cross-encoder has no part in it.

        Args:
            head: An entity or any text.
            relation: A relation of the graph, "inverse " and a relation, or the text of one that it does not have.
            tail: An entity of the graph.
            k: How many links, or paths, to name of each kind.

        Raises:
            UnknownEntity: If a CURIE or IRI is not in the graph, or the tail is free text.
            UnknownRelation: Likewise, of the relation.
            SettingsError: If ``k`` is below 1, or a text empty.
        """
        return self._links.why(head, relation, tail, k)
