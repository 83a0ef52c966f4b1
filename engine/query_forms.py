"""Forms of a query: how names of the graph may write its numbers, letters, hyphens and plurals."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ontodex.graph import KnowledgeGraph
from ontodex.graph.names import NameKind, normalise
from ontodex.graph.text import in_words
from ontodex.scoring.lexicon import plurals
from ontodex.scoring.name_completion import NameCompletion
from ontodex.scoring.name_similarity import NameSimilarity

__all__ = ["QueryForms"]

UNITS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
ROMAN_OF = {
    str(10 * tens + units): "x" * tens + roman
    for tens in (0, 1)
    for units, roman in enumerate(UNITS)
    if tens + units
}
"""Roman numerals of the numbers from 1 to 19."""

DIGITS_OF = {roman: digits for digits, roman in ROMAN_OF.items()}

GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta",
    "η": "eta", "θ": "theta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu",
    "ξ": "xi", "ο": "omicron", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "υ": "upsilon",
    "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
}  # fmt: skip
LETTER_OF = {name: letter for letter, name in GREEK.items()}

WORD = re.compile(r"[^\W_]+")
ALONE = r"(?<![^\W_])(?:{})(?![^\W_])"
"""Pattern of a whole word."""
ROMAN_WORD, DIGITS_WORD = re.compile(ALONE.format("[ivx]+")), re.compile(ALONE.format(r"\d\d?"))
GREEK_LETTER = re.compile(r"(?<![α-ω])(?:(?<=([^\W\d_])))?([α-ω])(?![α-ω])")
GREEK_WORD = re.compile(rf"([ -]?)(?<![^\W_])({'|'.join(LETTER_OF)})(?![^\W_])")

SEPARATOR = re.compile(r"[ -]")

LONGEST = 6
"""Largest number of words of a query that is looked up with other hyphens and plurals."""

ABBREVIATION = re.compile(r"(?:[A-Za-z0-9]\.?){3,6}")
"""Abbreviations: three to six letters or digits, each perhaps before a full stop."""


class QueryForms:
    """Finds other forms of a query that names of the graph have.

    Args:
        graph: The graph.
        similarity: Similarity of the names of its entities.
        completion: Sorted words of these names; without, no abbreviation is expanded.
    """

    def __init__(
        self, graph: KnowledgeGraph, similarity: NameSimilarity, completion: NameCompletion | None
    ) -> None:
        self._graph, self._similarity, self._completion = graph, similarity, completion

    def named(self, text: str) -> list[int]:
        """Return the entities that have a name that only writes a query otherwise.

        Numbers from 1 to 19 may be in digits or in Roman numerals, Greek letters may be letters or
        their names, and words may be one, or divided by a space or a hyphen.

        Args:
            text: The query.

        Returns:
            Rows of the entities, those in most triples first; none if the query itself is a name.

        Example:
            >>> from ontodex.graph import GraphBuilder
            >>> builder = GraphBuilder("names")
            >>> for name in ("Type II collagen", "α-tocopherol", "X-ray"):
            ...     _ = builder.entity(f"ex:{name}", name)
            >>> graph = builder.build()
            >>> forms = QueryForms(graph, NameSimilarity.of(graph), NameCompletion.of(graph))
            >>> [forms.named(text) for text in ("type 2 collagen", "alpha tocopherol", "xray")]
            [[0], [1], [2]]
        """
        query = normalise(in_words(text))
        forms = dict.fromkeys(
            form for one in _rewritten(query) if _is_short(one) for form in _separated(one)
        )
        rows = {row: None for form in forms if form != query for row in self._rows(form)}
        return self._graph.by_links(list(rows))

    def of(self, text: str, most: int) -> list[str]:
        """Return forms of a query that names have, but for those of :meth:`named`.

        These are names that have the last word of the query in the plural or singular; and the
        query with its numbers or Greek letters written otherwise, if some name has each of them
        after the same word.

        Args:
            text: The query.
            most: Number of forms.
        """
        query = normalise(in_words(text))
        forms = dict.fromkeys(_rewritten(query))
        found = [
            other
            for form in forms
            if _is_short(form)
            for one in _separated(form)
            for other in plurals(one)
            if self._rows(other)
        ]
        found += [form for form in forms if form != query and self._has_new_words(query, form)]
        return list(dict.fromkeys(found))[:most]

    def _rows(self, form: str) -> list[int]:
        """Return the entities with a label or synonym."""
        if next(self._graph.names.lookup(form), None) is None:
            return []
        rows, kind = self._graph.find_all(form) or ([], None)
        return rows if kind in (NameKind.LABEL, NameKind.SYNONYM) else []

    def expanded(self, text: str, most: int) -> list[str]:
        """Return the names whose initials are a query; empty for a query of another form.

        Names have at least three words. Labels come before synonyms, and short names before long
        ones.

        Args:
            text: The query.
            most: Number of names, of one entity each.
        """
        graph, names = self._graph, self._completion
        if names is None or not ABBREVIATION.fullmatch(text.strip()):
            return []
        found = []
        letters = text.strip().replace(".", "")
        for row, number in names.of_initials(
            letters, self._similarity.with_initials(letters), most
        ):
            place = number - int(names.owners.searchsorted(row))
            found.append(graph.synonyms[row][place - 1] if place else graph.labels[row])
        return found

    def _has_new_words(self, query: str, form: str) -> bool:
        """Return whether names have the words that a query does not have, and the word before."""
        words, new = list(WORD.finditer(form)), []
        known = set(WORD.findall(query))
        for at, word in enumerate(words):
            if word[0] not in known:
                first, last = words[max(0, at - 1)], words[max(at, min(1, len(words) - 1))]
                new.append(form[first.start() : last.end()])
        return bool((self._similarity.contained(new) > 0).all())


def _rewritten(query: str) -> Iterator[str]:
    """Yield a query with numbers and Greek letters written otherwise; also the query itself."""
    for numbered in (
        query,
        ROMAN_WORD.sub(lambda found: DIGITS_OF.get(found[0], found[0]), query),
        DIGITS_WORD.sub(lambda found: ROMAN_OF.get(found[0], found[0]), query),
    ):
        yield numbered
        yield GREEK_LETTER.sub(lambda found: ("-" if found[1] else "") + GREEK[found[2]], numbered)
        yield GREEK_LETTER.sub(lambda found: (" " if found[1] else "") + GREEK[found[2]], numbered)
        yield GREEK_WORD.sub(lambda found: found[1] + LETTER_OF[found[2]], numbered)
        yield GREEK_WORD.sub(lambda found: LETTER_OF[found[2]], numbered)


def _is_short(query: str) -> bool:
    return len(SEPARATOR.split(query)) <= LONGEST


def _separated(name: str) -> Iterator[str]:
    """Yield a name with a space, a hyphen or nothing between words, at one place or everywhere.

    A name of one word is divided at each place.
    """
    words = SEPARATOR.split(name)
    yield name
    if len(words) == 1:
        for at in range(1, len(name)):
            yield f"{name[:at]} {name[at:]}"
            yield f"{name[:at]}-{name[at:]}"
    for between in (" ", "-", ""):
        yield between.join(words)
        for place in SEPARATOR.finditer(name):
            yield name[: place.start()] + between + name[place.end() :]
