"""RDF statements, held small while a file streams by."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from ontodex.graph.builder import expect_synonyms
from ontodex.graph.prefixes import WELL_KNOWN, contract, local_name
from ontodex.graph.readers import vocabulary as rdf

__all__ = ["Statements"]


def _language_rank(language: str) -> int:
    """Rank a language tag: English, then none, then any other."""
    tag = language.lower()
    return 0 if tag == "en" or tag.startswith("en-") else 1 if not tag else 2


class Statements:
    """Links between resources as integers, and the names and definitions among the literals.

    A resource is an IRI, or a blank node written ``_:x``. Other literals are ignored.

    Example:
        >>> statements = Statements()
        >>> statements.link("http://x.org/dog", "http://x.org/chases", "http://x.org/cat")
        >>> statements.literal("http://x.org/dog", rdf.RDFS + "label", "Hund", "de")
        >>> statements.literal("http://x.org/dog", rdf.RDFS + "label", "dog", "en")
        >>> statements.label(0), len(statements.links)
        ('dog', 1)
    """

    def __init__(self) -> None:
        self.prefixes: dict[str, str] = {}
        self.terms: list[str] = []
        self.deprecated: set[int] = set()
        self.former: dict[str, int] = {}
        self._numbers: dict[str, int] = {}
        self._graphs: dict[str, array[int]] = {"": array("i")}
        self._labels: dict[int, tuple[int, str, int, str]] = {}
        self._definitions: dict[int, tuple[int, str, int, str]] = {}
        self._synonyms: dict[int, dict[str, int]] = {}
        self._declared: dict[str, dict[str, str]] = {}

    def __len__(self) -> int:
        return len(self.terms)

    def number(self, term: str) -> int:
        """Return the number of a resource, a new one if it is new."""
        number = self._numbers.get(term)
        if number is None:
            number = self._numbers[term] = len(self.terms)
            self.terms.append(term)
        return number

    def numbers(self, terms: Iterable[str]) -> set[int]:
        """Return the numbers of those resources that are named."""
        return {self._numbers[term] for term in terms if term in self._numbers}

    def link(self, subject: str, predicate: str, target: str, graph: str = "") -> None:
        """Add a statement whose object is a resource."""
        links = self._graphs.get(graph)
        if links is None:
            links = self._graphs[graph] = array("i")
        links.extend((self.number(subject), self.number(predicate), self.number(target)))

    def literal(self, subject: str, predicate: str, value: str, language: str = "") -> None:
        """Add a statement whose object is a literal, if it names, defines or deprecates.

        Raises:
            ReadError: If it is one synonym too many.
        """
        if found := rdf.NAMING.get(predicate):
            kind, rank = found
            number, worth = self.number(subject), _language_rank(language)
            if kind == "synonym":
                known = self._synonyms.setdefault(number, {})
                known.setdefault(value, worth)
                expect_synonyms(len(known), subject)
            else:
                store = self._labels if kind == "label" else self._definitions
                order = worth, language.lower() if worth == 2 else "", rank
                if number not in store or order < store[number][:-1]:
                    store[number] = (*order, value)
        elif predicate == rdf.FORMER:
            self.former[value] = self.number(subject)
        elif predicate in rdf.REPLACED_BY:
            self.link(subject, predicate, value)
        elif predicate == rdf.OWL + "deprecated" and value.strip().lower() in ("true", "1"):
            self.deprecated.add(self.number(subject))
        elif predicate in (rdf.SHACL + "prefix", rdf.SHACL + "namespace"):
            self._declared.setdefault(subject, {})[predicate] = value

    @property
    def links(self) -> NDArray[np.int32]:
        """Subject, predicate and object of every link that is no prediction, ``int32`` of shape (links, 3)."""
        arrays = {name: np.array(links, dtype=np.int32).reshape(-1, 3) for name, links in self._graphs.items()}
        everything = np.concatenate(list(arrays.values()))
        kinds, marked = self.numbers([rdf.TYPE]), self.numbers([rdf.PREDICTIONS])
        marks = everything[np.isin(everything[:, 1], list(kinds)) & np.isin(everything[:, 2], list(marked))]
        predicted = {self.terms[number] for number in marks[:, 0].tolist()}
        kept = np.concatenate([links for name, links in arrays.items() if name not in predicted])
        return kept[~(np.isin(kept[:, 1], list(kinds)) & np.isin(kept[:, 2], list(marked)))]

    def replaced(self) -> list[tuple[int, str]]:
        """Return deprecated resources, and the one that each is replaced by; those with several are left out."""
        kinds = np.isin(self.links[:, 1], list(self.numbers(rdf.REPLACED_BY)))
        found: dict[int, set[int]] = {}
        for old, _, new in self.links[kinds].tolist():
            found.setdefault(old, set()).add(new)
        return [(old, self.terms[new.pop()]) for old, new in found.items() if old in self.deprecated and len(new) == 1]

    @property
    def named(self) -> set[int]:
        """Resources with a label, a synonym or a definition."""
        return self._labels.keys() | self._synonyms.keys() | self._definitions.keys()

    def label(self, number: int) -> str:
        """Return the label of a resource: English, else without a language, else of the first language by its tag.

        A synonym takes its place where there is none, and the name of the resource is a code.
        """
        if number in self._labels:
            return self._labels[number][-1]
        is_code = any(letter.isdigit() for letter in local_name(self.terms[number]))
        return next(iter(self.synonyms(number)), "") if is_code else ""

    def definition(self, number: int) -> str:
        """Return the definition of a resource, chosen as the label is."""
        return self._definitions[number][-1] if number in self._definitions else ""

    def synonyms(self, number: int) -> list[str]:
        """Return the synonyms of a resource: English ones and those without a language, else all."""
        known = self._synonyms.get(number, {})
        wanted = [name for name, worth in known.items() if worth < 2]
        return wanted or list(known)

    def all_prefixes(self) -> dict[str, str]:
        """Return the prefixes of the source, those declared in SHACL, and the well-known ones."""
        declared = {
            entry[rdf.SHACL + "prefix"]: entry[rdf.SHACL + "namespace"]
            for entry in self._declared.values()
            if len(entry) == 2
        }
        return {**WELL_KNOWN, **declared, **self.prefixes}

    def curies(self) -> list[str]:
        """Return the name of every resource as an entity or relation of the graph."""
        prefixes = self.all_prefixes()
        ours = len(rdf.OURS)
        return [unquote(term[ours:]) if term.startswith(rdf.OURS) else contract(term, prefixes) for term in self.terms]
