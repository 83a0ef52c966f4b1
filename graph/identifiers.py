"""Identifiers of known vocabularies: ``HP:0001945``, ``hp:0001945``, ``HP_0001945`` and several IRIs are one.

Prefixes, namespaces and patterns of local ids are those of Bioregistry (``vocabularies.tsv``, which
``tools/make_prefixes.py`` generates); :mod:`curies` looks them up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ontodex.graph.prefixes import OBO, contract

if TYPE_CHECKING:
    import curies

__all__ = ["Reference", "other_forms", "reference"]

TABLE = Path(__file__).with_name("vocabularies.tsv")

_RESOLVER = re.compile(
    r"(?:(?:www\.)?(?:identifiers\.org|bioregistry\.io|n2t\.net|bio2rdf\.org)|purl\.obolibrary\.org/obo)/"
)
"""Where ids of all vocabularies can be looked up; the rest of the IRI has the prefix and the local id."""

_RESOLVED = ("identifiers.org/{}:{}", "identifiers.org/{}/{}", "bioregistry.io/{}:{}")
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_MAY_BE_ID = re.compile(r"[\x21-\x7e]*\d[\x21-\x7e]*")
_SHORT = re.compile(r"([A-Za-z][\w-]*)_([A-Za-z]*\d[A-Za-z0-9.-]*)")
"""A short form as OLS and Open Targets write it, ``EFO_0003966``; a prefix may have underscores itself."""

_OBO_PREFIX = re.compile(r"[A-Za-z0-9]*[A-Z][A-Za-z0-9]*|[A-Z]+(?:_[A-Z]+)+")
_AGAIN = re.compile(r"([\w.-]+?)[:_](?=[^:_]*$)")


class Reference(NamedTuple):
    """What an identifier refers to, in whatever form it is written.

    Attributes:
        vocabulary: Bioregistry's prefix of the vocabulary, in small letters. Of an identifier in the style of OBO whose
            prefix Bioregistry does not have, or whose local id does not fit: the prefix itself, which has a capital.
        local: The local id.
    """

    vocabulary: str
    local: str


class _Vocabularies(NamedTuple):
    """The table.

    Attributes:
        converter: Prefixes in small letters, and namespaces with the scheme ``https``.
        patterns: Pattern of the local ids of each vocabulary.
        homes: Vocabulary of each prefix in small letters.
    """

    converter: curies.Converter
    patterns: Mapping[str, str]
    homes: Mapping[str, str]

    def fits(self, vocabulary: str, local: str) -> bool:
        """Tell whether a local id has a digit and the form that ids of a vocabulary have."""
        return bool(
            re.search(r"\d", local) and _pattern(self.patterns[vocabulary]).fullmatch(local)
        )


_pattern = lru_cache(maxsize=None)(re.compile)


@lru_cache(maxsize=1)
def _vocabularies() -> _Vocabularies:
    """Read the table, once, and when it is first needed: with the import of curies that takes a third of a second."""
    import curies

    records, patterns, homes = [], dict[str, str](), dict[str, str]()
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        vocabulary, patterns[vocabulary], prefixes, namespaces = line.split("\t")
        names = {vocabulary, *prefixes.casefold().split("|")} - {""}
        homes.update(dict.fromkeys(names, vocabulary))
        own = f"https://bioregistry.io/{vocabulary}:"
        first, *others = [f"https://{space}" for space in namespaces.split()] or [own]
        records.append(
            curies.Record(
                prefix=vocabulary,
                prefix_synonyms=sorted(names - {vocabulary}),
                uri_prefix=first,
                uri_prefix_synonyms=others,
            )
        )
    # The table has nothing twice, which curies would take a second to check.
    return _Vocabularies(curies.Converter(records, strict=False), patterns, homes)


def reference(
    identifier: str, prefixes: Mapping[str, str] = MappingProxyType({})
) -> Reference | None:
    """Return what an identifier refers to, or ``None`` if it is not one of a known vocabulary.

    Known are the vocabularies in Bioregistry whose local ids have a pattern, for local ids that fit it and have a digit,
    and any prefix with a capital before digits alone, as OBO writes its ids.

    Args:
        identifier: A CURIE, an IRI or a short form.
        prefixes: Namespaces of prefixes in a source, which go before those of Bioregistry.

    >>> reference("EFO_0003966") == reference("http://www.ebi.ac.uk/efo/EFO_0003966") == reference("efo:0003966")
    True
    >>> reference("ORPHA:558") == reference("https://www.orpha.net/ORDO/Orphanet_558")
    True
    >>> reference("https://identifiers.org/GO:0006915"), reference("ZB_5")
    (Reference(vocabulary='go', local='0006915'), Reference(vocabulary='ZB', local='5'))
    >>> [reference(name) for name in ("has_part", "HP_high", "page_19", "New_York_2", "Blade Runner: 2049")]
    [None, None, None, None, None]
    """
    identifier = identifier.removeprefix("<").removesuffix(">")
    if not _MAY_BE_ID.fullmatch(identifier):
        return None
    if scheme := _SCHEME.match(identifier):
        return _of_iri(identifier[scheme.end() :])
    prefix, colon, local = identifier.partition(":")
    if prefix in prefixes and (found := reference(f"{prefixes[prefix]}{local}")):
        return found
    if not colon or prefix in ("obo", "OBO"):
        return _of_short(local if colon else prefix)
    return _of_parts(prefix, local)


def _of_iri(bare: str) -> Reference | None:
    """Return what an IRI without its scheme refers to."""
    if resolver := _RESOLVER.match(bare):
        rest = bare[resolver.end() :]
        if f"http://{resolver[0]}" == OBO:
            return _of_short(rest)
        prefix, *local = re.split("[:/]", rest, maxsplit=1)
        return _of_parts(prefix, *local) if local else None
    known = _vocabularies()
    found = known.converter.parse_uri(f"https://{bare}")
    return Reference(*found) if found is not None and known.fits(*found) else None


def _of_short(name: str) -> Reference | None:
    """Return what a prefix with a capital, an underscore and a local id refer to."""
    match = _SHORT.fullmatch(name)
    return _of_parts(*match.groups()) if match and not match[1].islower() else None


def _of_parts(prefix: str, local: str) -> Reference | None:
    """Return what a prefix and a local id refer to; the prefix may stand before the local id once more."""
    known = _vocabularies()
    vocabulary = known.homes.get(prefix.casefold())
    if vocabulary is not None:
        again = _AGAIN.match(local)
        if again and known.homes.get(again[1].casefold()) == vocabulary:
            local = local[again.end() :]
        if known.fits(vocabulary, local):
            return Reference(vocabulary, local)
    is_obo = local.isdigit() and _OBO_PREFIX.fullmatch(prefix)
    return Reference(prefix, local) if is_obo else None


def other_forms(identifier: str, prefixes: Mapping[str, str]) -> list[str]:
    """Return how else an identifier is written: with other prefixes and namespaces of its vocabulary, or in short form.

    Prefixes that Bioregistry knows are in small letters here: names are compared without regard to case.

    Args:
        identifier: A CURIE, an IRI or a short form.
        prefixes: Namespaces of the prefixes of a graph, whose ids may be written with them.

    >>> forms = other_forms("HP:0001945", {"jax": "https://hpo.jax.org/app/browse/term/"})
    >>> {"hpo:0001945", "hp_0001945", "https://purl.obolibrary.org/obo/hp_0001945", "jax:0001945"} <= {*forms}
    True
    >>> other_forms("trouble falling asleep", {})
    []
    """
    found = reference(identifier, prefixes)
    if found is None:
        return []
    forms = dict.fromkeys(_forms(*found))
    forms |= dict.fromkeys(contract(form, prefixes) for form in forms if "://" in form)
    return [form for form in forms if form != identifier]


def _forms(vocabulary: str, local: str) -> Iterator[str]:
    known = _vocabularies()
    record = known.converter.get_record(vocabulary) if vocabulary in known.patterns else None
    names = [vocabulary] if record is None else [vocabulary, *record.prefix_synonyms]
    places = [f"{OBO}{name}_{local}" for name in names]
    for name in names:
        yield from (f"{name}:{local}", f"{name}_{local}", f"obo:{name}_{local}")
    if record is not None:
        places += [f"{space}{local}" for space in (record.uri_prefix, *record.uri_prefix_synonyms)]
        places += [f"https://{place.format(name, local)}" for place in _RESOLVED for name in names]
    for place in places:
        bare = place[_SCHEME.match(place).end() :]  # type: ignore[union-attr]
        yield from (f"http://{bare}", f"https://{bare}")
