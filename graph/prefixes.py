"""Conversion between CURIEs and IRIs by prefixes, and local names of identifiers.

Vocabularies that are known without a prefix map are in :mod:`ontodex.graph.identifiers`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["OBO", "WELL_KNOWN", "contract", "expand", "local_name", "looks_like_identifier"]

OBO = "http://purl.obolibrary.org/obo/"

WELL_KNOWN: Mapping[str, str] = {
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "schema": "https://schema.org/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
}

_SPACE = "[A-Za-z][A-Za-z0-9]*"
_OBO_IRI = re.compile(rf"{re.escape(OBO)}({_SPACE}(?:(?:_{_SPACE})+(?=_\d+$))?)_([A-Za-z0-9]+)$")
_OBO_CURIE = re.compile(rf"({_SPACE}(?:(?:_{_SPACE})+(?=:\d+$))?):([A-Za-z0-9]+)$")
_NAMESPACED = re.compile(r"/|[a-z][a-z0-9+.-]*://|(?:[A-Za-z_][\w.-]*)?:\S+$")
_CONCEPT = re.compile(r"/c/[a-z]{2,3}/([^/]+)")
_IDENTIFIER = re.compile(r"(?:[a-z][a-z0-9+.-]*://\S+|[A-Za-z_][\w.-]*:[\w./#-]+)$")


def contract(iri: str, prefixes: Mapping[str, str]) -> str:
    """Return the CURIE of an IRI by the longest matching namespace, or else the IRI itself.

    >>> contract(f"{OBO}HP_0001166", {}), contract(f"{OBO}APOLLO_SV_00000796", {})
    ('HP:0001166', 'APOLLO_SV:00000796')
    >>> contract("https://schema.org/Person", {"schema": "https://schema.org/"})
    'schema:Person'
    """
    iri = iri.strip().removeprefix("<").removesuffix(">")
    if "://" not in iri:
        return iri
    if match := _OBO_IRI.match(iri):
        return f"{match[1]}:{match[2]}"
    fits = [
        (len(space), prefix)
        for prefix, space in prefixes.items()
        if space and iri.startswith(space)
    ]
    for length, prefix in sorted(fits, reverse=True):
        local = iri[length:]
        if local and not re.search(r"[/#?\s]", local):
            return f"{prefix}:{local}"
    return iri


def expand(curie: str, prefixes: Mapping[str, str]) -> str | None:
    """Return the IRI of a CURIE, or ``None`` if its prefix has no namespace.

    A CURIE in the form of an OBO identifier needs no prefix map.

    >>> expand("HP:0001166", {}), expand("APOLLO_SV:00000796", {}).removeprefix(OBO)
    ('http://purl.obolibrary.org/obo/HP_0001166', 'APOLLO_SV_00000796')
    """
    if "://" in curie:
        return curie
    prefix, colon, local = curie.partition(":")
    if colon and prefix in prefixes:
        return prefixes[prefix] + local
    if match := _OBO_CURIE.match(curie):
        return f"{OBO}{match[1]}_{match[2]}"
    return None


def local_name(identifier: str) -> str:
    """Return the part of a CURIE, an IRI or a path after its namespace; else the name itself.

    >>> local_name("schema:worksFor"), local_name("http://x.org/onto#hasPart")
    ('worksFor', 'hasPart')
    >>> local_name("/people/person/gender")
    'gender'
    >>> local_name("/c/en/cat/n/wn/animal")  # of ConceptNet: the word, without its sense
    'cat'
    >>> local_name(":BigDog"), local_name(":-)")
    ('BigDog', '-)')
    >>> [local_name(name) for name in ("AC/DC", "C#", "Blade Runner: 2049", "dbr:Mercury_(planet)")]
    ['AC/DC', 'C#', 'Blade Runner: 2049', 'Mercury_(planet)']
    """
    if concept := _CONCEPT.match(identifier):
        return concept[1]
    if not _NAMESPACED.match(identifier):
        return identifier
    return identifier.rstrip("/#").rsplit("#", 1)[-1].rsplit("/", 1)[-1].rsplit(":", 1)[-1]


def looks_like_identifier(name: str) -> bool:
    """Return whether a name has the form of a CURIE or an IRI.

    >>> looks_like_identifier("HP:0001166"), looks_like_identifier("trouble falling asleep")
    (True, False)
    """
    return bool(_IDENTIFIER.match(name.strip()))
