"""Compact storage for the RDF statements of a file that is read as a stream."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import ReadError
from ontodex.graph import vocabulary as rdf
from ontodex.graph.builder import LANGUAGE, expect_synonyms
from ontodex.graph.names import language_rank
from ontodex.graph.prefixes import WELL_KNOWN, contract, expand, local_name, looks_like_identifier

__all__ = ["RdfStatements", "expect_in_proportion", "most_facts"]

Links = NDArray[np.int32]
"""Subject, predicate and object of each link, of shape (links, 3)."""

Numbers = Callable[[Iterable[str]], set[int]]
"""Function that returns the numbers of those given resources that occur."""

OBAN = "http://purl.org/oban/association_has_"
PARTS = (
    ((rdf.RDF + "subject",), (rdf.RDF + "predicate",), (rdf.RDF + "object",)),
    ((OBAN + "subject",), (OBAN + "predicate", OBAN + "object_property"), (OBAN + "object",)),
    (
        (rdf.OWL + "annotatedSource",),
        (rdf.OWL + "annotatedProperty",),
        (rdf.OWL + "annotatedTarget",),
    ),
)
"""Per vocabulary, predicates from a node to the subject, predicate and object of its link."""

WIKIBASE_PROPERTY = re.compile(r"(.*/prop/)(P\d+)")
"""Predicate from an item of Wikibase to its statements with a property."""


class Claim(NamedTuple):
    """The link that a node states, as numbers of resources."""

    node: int
    subject: int
    predicate: int
    object: int


def reified(links: Links, numbers: Numbers) -> Iterator[Claim]:
    """Yield the links stated by nodes that have a subject, a predicate and an object."""
    for parts in PARTS:
        ends = [_ends(links, numbers(predicates)) for predicates in parts]
        for node in sorted(set.intersection(*map(set, ends))):
            yield Claim(node, *(of_part[node] for of_part in ends))


def wikibase_claims(
    links: Links, numbers: Numbers, terms: Sequence[str]
) -> Iterator[tuple[Claim, str]]:
    """Yield the links of Wikibase statements, and the IRI of the direct property of each.

    Properties with direct claims are skipped. If an item has statements of preferred rank with a
    property, only these are read, otherwise the statements of normal rank.
    """
    predicates = set(links[:, 1].tolist())
    ranks = _ends(links, numbers([rdf.WIKIBASE + "rank"]))
    preferred, deprecated = (
        numbers([f"{rdf.WIKIBASE}{rank}Rank"]) for rank in ("Preferred", "Deprecated")
    )
    for predicate in sorted(predicates):
        match = WIKIBASE_PROPERTY.fullmatch(terms[predicate])
        direct = match.expand(r"\1direct/\2") if match else ""
        if match is None or numbers([direct]) & predicates:
            continue
        values = _ends(links, numbers([match.expand(r"\1statement/\2")]))
        about = links[links[:, 1] == predicate][:, [0, 2]].tolist()
        best = {head for head, node in about if ranks.get(node) in preferred}
        for head, node in about:
            is_best = ranks.get(node) in preferred or head not in best
            if node in values and is_best and ranks.get(node) not in deprecated:
                yield Claim(node, head, predicate, values[node]), direct


def _ends(links: Links, predicates: Iterable[int]) -> dict[int, int]:
    """Return the first object that each subject has for some predicates."""
    wanted = list(predicates)
    if not wanted:
        return {}
    return dict(links[np.isin(links[:, 1], wanted)][::-1, [0, 2]].tolist())


# Statements ---------------------------------------------------------------------------------------


FOREIGN = 3
"""Rank of a language other than the preferred language and English."""

UNTAGGED = ("mul", "und", "zxx")
"""Tags for several languages, an unknown language, and no language."""


MOST_TIMES, FREE = 20, 100_000
"""Maximal number of facts: ``MOST_TIMES`` the number of statements, plus ``FREE``."""


def most_facts(read: int) -> int:
    """Return the maximal number of facts that may follow from ``read`` statements."""
    return FREE + MOST_TIMES * read


def expect_in_proportion(made: int, read: int, source: str) -> None:
    """Check that the number of facts is in proportion to the statements of a document.

    Otherwise a malicious document could exhaust memory.

    Args:
        made: Number of facts.
        read: Number of statements.
        source: Name of the source.

    Raises:
        ReadError: If there are too many facts.
    """
    if made > most_facts(read):
        raise ReadError(
            f"expected at most {MOST_TIMES} facts to follow from a statement, found {made:,} or "
            f"more from {read:,}; labels, blank nodes, domains and ranges that are shared by so "
            "many multiply: state them of each",
            source,
        )


class RdfStatements:
    """Links between resources as integers, and the names and definitions of resources.

    A resource is an IRI, or a blank node written ``_:x``. Literals other than names and definitions
    are ignored.

    Args:
        source: Name of the source, for messages.
        language: Tag of the preferred language of names and definitions.

    Example:
        >>> statements = RdfStatements()
        >>> statements.link("http://x.org/dog", "http://x.org/chases", "http://x.org/cat")
        >>> statements.literal("http://x.org/dog", rdf.RDFS + "label", "Hund", "de")
        >>> statements.literal("http://x.org/dog", rdf.RDFS + "label", "dog", "en")
        >>> statements.label(0), len(statements.links)
        ('dog', 1)
    """

    def __init__(self, source: str = "", language: str = LANGUAGE) -> None:
        self.source = source
        self.language = language.lower()
        self.prefixes: dict[str, str] = {}
        self.terms: list[str] = []
        self.deprecated: set[int] = set()
        self.alternatives: dict[str, int] = {}
        self.at_least_one: set[int] = set()
        self._numbers: dict[str, int] = {}
        self._graphs: dict[str, array[int]] = {"": array("i")}
        self._labels: dict[int, tuple[int, str, int, str]] = {}
        self._other_labels: dict[int, dict[str, tuple[int, str]]] = {}
        self._definitions: dict[int, tuple[int, str, int, str]] = {}
        self._found_language = False
        self._named_by: dict[str, list[tuple[str, str]]] = {}
        self._texts: dict[str, list[tuple[str, str]]] = {}
        self._synonyms: dict[int, dict[str, int]] = {}
        self._declared: dict[str, dict[str, str]] = {}
        self._denied: set[int] = set()

    def number(self, term: str) -> int:
        """Return the number of a resource; a new resource gets a new number."""
        number = self._numbers.get(term)
        if number is None:
            number = self._numbers[term] = len(self.terms)
            self.terms.append(term)
        return number

    def numbers(self, terms: Iterable[str]) -> set[int]:
        """Return the numbers of those given resources that occur."""
        return {self._numbers[term] for term in terms if term in self._numbers}

    def link(self, subject: str, predicate: str, target: str, graph: str = "") -> None:
        """Add a statement whose object is a resource."""
        if predicate in rdf.NAMING:
            self._named_by.setdefault(target, []).append((subject, predicate))
            return
        links = self._graphs.get(graph)
        if links is None:
            links = self._graphs[graph] = array("i")
        links.extend((self.number(subject), self.number(predicate), self.number(target)))

    def literal(self, subject: str, predicate: str, value: str, language: str = "") -> None:
        """Add a statement whose object is a literal; literals that are not needed are ignored.

        Names, definitions, deprecations, alternative ids, cardinalities, negations and declared
        prefixes are needed.

        Raises:
            ReadError: If a resource has too many synonyms.
        """
        if found := rdf.NAMING.get(predicate):
            if not value.strip():
                return
            kind, rank = found
            language = "" if language.lower() in UNTAGGED else language.lower()
            number, worth = self.number(subject), language_rank(language, self.language)
            self._found_language |= worth == 0
            if kind == "synonym":
                known = self._synonyms.setdefault(number, {})
                known.setdefault(value, worth)
                expect_synonyms(len(known), subject)
            else:
                order = worth, "" if language in (self.language, "en") else language, rank
                if kind == "label":
                    self._add_label(number, (*order, value))
                else:
                    best = self._definitions.get(number, (*order, value))
                    self._definitions[number] = min(
                        best, (*order, value), key=lambda name: name[:-1]
                    )
        elif predicate in rdf.TEXT_OF:
            self._texts.setdefault(subject, []).append((value, language))
        elif predicate == rdf.ALTERNATIVE:
            self.alternatives[value] = self.number(subject)
        elif predicate in rdf.REPLACED_BY and looks_like_identifier(value):
            self.link(subject, predicate, value)
        elif predicate == rdf.OWL + "deprecated" and value.strip().lower() in ("true", "1"):
            self.deprecated.add(self.number(subject))
        elif predicate in rdf.CARDINALITIES and value.strip().lstrip("+0").isdigit():
            self.at_least_one.add(self.number(subject))
        elif predicate in rdf.NEGATED and value.strip().lower() in ("true", "1"):
            self._denied.add(self.number(subject))
        elif predicate in (rdf.SHACL + "prefix", rdf.SHACL + "namespace"):
            self._declared.setdefault(subject, {})[predicate] = value

    def _add_label(self, number: int, label: tuple[int, str, int, str]) -> None:
        """Add a label of a resource; the best label is its label, others are further names.

        Labels are ranked by language and predicate. Further names are the labels in the preferred
        language (en-GB matches en) or without a language. If there are none, further names are the
        labels in English, or else in the language of the best label.
        """
        best = self._labels.setdefault(number, label)
        if best is label:
            return
        self._labels[number] = better = min(best, label, key=lambda name: name[:-1])
        others = self._other_labels.pop(number, {})
        for one in (best, label):
            if one[-1] != better[-1]:
                others.setdefault(one[-1], one[:2])
        least = max(1, better[0])
        fitting = {
            value: (worth, tag)
            for value, (worth, tag) in others.items()
            if worth <= least and (worth < FOREIGN or tag == better[1])
        }
        if fitting:
            self._other_labels[number] = fitting
            expect_synonyms(len(fitting), self.terms[number])

    def read_resources(self) -> None:
        """Add the labels and definitions that are resources (SKOS-XL), after all statements.

        Raises:
            ReadError: If one resource has too many labels, or if the total is too large for the
                number of statements.
        """
        named_by, texts = self._named_by, self._texts
        expect_in_proportion(
            sum(len(uses) * len(texts.get(resource, ())) for resource, uses in named_by.items()),
            sum(map(len, named_by.values())) + sum(map(len, texts.values())),
            self.source,
        )
        for resource, uses in named_by.items():
            for value, language in texts.get(resource, ()):
                for subject, predicate in uses:
                    self.literal(subject, predicate, value, language)

    @property
    def _resources(self) -> set[int]:
        """Resources that are labels or definitions, and therefore not entities."""
        return self.numbers(self._named_by.keys() & self._texts.keys())

    @property
    def links(self) -> NDArray[np.int32]:
        """Subject, predicate and object of each link, ``int32`` of shape (links, 3).

        Predictions are left out. A node that states a link, such as an ``rdf:Statement``, is
        replaced by this link. A link to a replaced resource (:meth:`present`) becomes a link to the
        replacement, unless the replacement is the subject of the link; such a link is left out.
        """
        stated, nodes = self._stated
        kept = self._links()
        if nodes:
            kept = kept[~np.isin(kept[:, [0, 2]], list(nodes)).any(axis=1)]
            kept = np.concatenate([kept, stated])
        present = np.arange(len(self.terms), dtype=np.int32)
        for old, new in self.present().items():
            present[old] = new
        led = ~np.isin(kept[:, 1], list(self.numbers(rdf.REPLACED_BY)))
        was_one = kept[:, 0] == kept[:, 2]
        kept[led, 2] = present[kept[led, 2]]
        links: NDArray[np.int32] = kept[was_one | (kept[:, 0] != kept[:, 2])]
        return links

    def _links(self) -> NDArray[np.int32]:
        arrays = {
            name: np.array(links, dtype=np.int32).reshape(-1, 3)
            for name, links in self._graphs.items()
        }
        everything = np.concatenate(list(arrays.values()))
        kinds, marked = self.numbers([rdf.TYPE]), self.numbers([rdf.PREDICTIONS])
        marks = everything[
            np.isin(everything[:, 1], list(kinds)) & np.isin(everything[:, 2], list(marked))
        ]
        predicted = {self.terms[number] for number in marks[:, 0].tolist()}
        kept = np.concatenate([links for name, links in arrays.items() if name not in predicted])
        kept = kept[~np.isin(kept[:, [0, 2]], list(self._resources)).any(axis=1)]
        return kept[~(np.isin(kept[:, 1], list(kinds)) & np.isin(kept[:, 2], list(marked)))]

    @cached_property
    def _stated(self) -> tuple[Links, set[int]]:
        """Links that nodes state, of shape (links, 3), and these nodes."""
        links = self._links()
        claims = [*reified(links, self.numbers)]
        for claim, direct in list(wikibase_claims(links, self.numbers, self.terms)):
            claims.append(claim._replace(predicate=self.number(direct)))
        nodes = {claim.node for claim in claims}
        stated = [
            claim[1:]
            for claim in claims
            if claim.node not in self._denied
            and not nodes.intersection(claim[1:])
            and not any(self.terms[end].startswith("_:") for end in claim[1:])
        ]
        return np.array(stated, dtype=np.int32).reshape(-1, 3), nodes

    def present(self) -> dict[int, int]:
        """Return the replacement of each replaced resource.

        A resource R replaces another resource in three cases: the id of the other is an alternative
        id of R; the other is deprecated and names R as its replacement; or the other is equivalent
        to R and occurs in no other statement. A resource is replaced only if it has exactly one
        replacement, and the replacement is not deprecated. A resource whose id is an alternative id
        is replaced only if it is deprecated or has no name and definition.
        """
        replaced_by, same = (
            list(self.numbers(predicates)) for predicates in (rdf.REPLACED_BY, rdf.SAME)
        )
        if not (self.alternatives or replaced_by or same):
            return {}
        found: dict[int, set[int]] = {}
        prefixes, named = self.all_prefixes(), self.named
        for name, number in self.alternatives.items():
            old = self._numbers.get(expand(name, prefixes) or name)
            if old is not None and (old in self.deprecated or old not in named):
                found.setdefault(old, set()).add(number)
        links = self._links()
        for old, _, new in links[np.isin(links[:, 1], replaced_by)].tolist():
            if old in self.deprecated:
                found.setdefault(old, set()).add(new)
        for one, elsewhere in self._elsewhere(links, same):
            found.setdefault(elsewhere, set()).add(one)
        return {
            old: min(new)
            for old, new in found.items()
            if len(new) == 1 and not new & {old, *self.deprecated}
        }

    def _elsewhere(self, links: NDArray[np.int32], same: list[int]) -> Iterator[tuple[int, int]]:
        """Yield pairs (resource, equivalent) whose equivalent occurs in no other statement."""
        is_same = np.isin(links[:, 1], same)
        pairs = links[is_same][:, [0, 2]]
        said = np.concatenate(
            [links[:, 0], links[:, 1], links[~is_same, 2], np.array([*self.named], dtype=np.int32)]
        )
        for one, elsewhere in pairs[~np.isin(pairs[:, 1], said)].tolist():
            if not (
                self.terms[one].startswith("_:")
                or self.terms[elsewhere].startswith(("_:", *rdf.VOCABULARY))
            ):
                yield one, elsewhere

    @property
    def other_languages(self) -> list[str]:
        """Languages of the labels, if no name is in the preferred language; otherwise empty."""
        taken = {tag or "en" for worth, tag, *_ in self._labels.values() if worth > 1}
        return [] if self._found_language else sorted(taken)

    @property
    def named(self) -> set[int]:
        """Resources with a label, a synonym or a definition."""
        names = self._labels.keys() | self._synonyms.keys() | self._definitions.keys()
        return names - self._resources - self._stated[1]

    def label(self, number: int) -> str:
        """Return the label of a resource, or ``""``.

        Languages are preferred in this order: the preferred language, no language, English, other
        languages by tag. If a resource has no label and its local name has a digit, its first
        synonym is the label.
        """
        if number in self._labels:
            return self._labels[number][-1]
        is_code = any(letter.isdigit() for letter in local_name(self.terms[number]))
        return next(iter(self.synonyms(number)), "") if is_code else ""

    def definition(self, number: int) -> str:
        """Return the definition of a resource; languages are preferred as for :meth:`label`."""
        return self._definitions[number][-1] if number in self._definitions else ""

    def synonyms(self, number: int) -> list[str]:
        """Return the further labels of a resource, and its synonyms.

        The synonyms are those in the preferred language or without a language. If there are none,
        the synonyms are those in English, or else in all languages.
        """
        known = self._synonyms.get(number, {})
        best = max(1, min(known.values(), default=1))
        return [
            *self._other_labels.get(number, ()),
            *(name for name, worth in known.items() if worth <= best),
        ]

    def all_prefixes(self) -> dict[str, str]:
        """Return the prefixes of the source, those declared in SHACL, and well-known prefixes."""
        declared = {
            entry[rdf.SHACL + "prefix"]: entry[rdf.SHACL + "namespace"]
            for entry in self._declared.values()
            if len(entry) == 2
        }
        return {**WELL_KNOWN, **declared, **self.prefixes}

    def curies(self) -> list[str]:
        """Return, for each resource, its id in the graph."""
        prefixes = self.all_prefixes()

        def curie(term: str) -> str:
            if not term.startswith(rdf.OURS):
                return contract(term, prefixes)
            return unquote(term.removeprefix(rdf.RELATIONS).removeprefix(rdf.OURS))

        return [curie(term) for term in self.terms]
