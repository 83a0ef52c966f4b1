"""SSSOM/TSV, the exchange format of mappings between terms (https://w3id.org/sssom)."""

from __future__ import annotations

import itertools
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from urllib.parse import quote

from ontodex.engine.results.answer_table import tsv
from ontodex.graph.prefixes import WELL_KNOWN, contract, expand
from ontodex.graph.vocabulary import OUR_TOOL, OURS, PROPOSED, TOOL

__all__ = ["UNSPECIFIED_LICENSE", "SssomMapping", "sssom_table"]

UNSPECIFIED_LICENSE = "https://w3id.org/sssom/license/unspecified"
"""SSSOM's IRI for an unknown licence."""

SEMAPV = "https://w3id.org/semapv/vocab/"
COLUMNS = (
    "subject_id",
    "subject_label",
    "predicate_id",
    "predicate_modifier",
    "object_id",
    "object_label",
    "mapping_justification",
    "mapping_tool",
    "confidence",
)

_URN = re.compile(r"urn:[A-Za-z0-9][A-Za-z0-9-]{0,31}:\S+")
"""A URN (RFC 8141), an IRI that has no ``://``."""


@dataclass(frozen=True)
class SssomMapping:
    """A line of an SSSOM table.

    Attributes:
        subject: Identifier and label of the subject.
        predicate: CURIE of the predicate, with a well-known prefix.
        negated: Whether the line states that the mapping does not hold.
        object: Identifier and label of the object.
        confidence: Confidence in [0, 1]; ``None`` if there is none.
    """

    subject: tuple[str, str]
    predicate: str
    negated: bool
    object: tuple[str, str]
    confidence: float | None


def sssom_table(
    mappings: Sequence[SssomMapping],
    prefixes: Mapping[str, str],
    *,
    license: str = UNSPECIFIED_LICENSE,
) -> str:
    """Return an SSSOM/TSV set of mappings, with its metadata in comment lines before the table.

    An identifier that is neither an IRI nor a CURIE of a known prefix, or that has nothing after
    the prefix, is percent-encoded under ``urn:ontodex:``, as in RDF.

    Args:
        mappings: The mappings.
        prefixes: IRI namespace of each CURIE prefix.
        license: IRI of the licence of the set.
    """
    spaces = {"rdfs": WELL_KNOWN["rdfs"], "semapv": SEMAPV, "skos": WELL_KNOWN["skos"]}
    rows = [
        [
            _curie(one.subject[0], prefixes, spaces),
            one.subject[1],
            one.predicate,
            "Not" if one.negated else "",
            _curie(one.object[0], prefixes, spaces),
            one.object[1],
            PROPOSED,
            TOOL,
            one.confidence,
        ]
        for one in mappings
    ]
    table = tsv(COLUMNS, rows)
    mapping_set_id = f"https://w3id.org/sssom/mappings/{uuid.uuid5(uuid.NAMESPACE_URL, table)}"
    header = [
        "curie_map:",
        *(f"  {prefix}: {json.dumps(space)}" for prefix, space in sorted(spaces.items())),
        f"mapping_set_id: {json.dumps(mapping_set_id)}",
        f"license: {json.dumps(license)}",
        OUR_TOOL,
        f"mapping_tool_version: {json.dumps(version('ontodex'))}",
    ]
    return "".join(f"#{line}\n" for line in header) + table


def _curie(name: str, prefixes: Mapping[str, str], spaces: dict[str, str]) -> str:
    """Return the CURIE of an identifier, and add the namespace of its prefix to ``spaces``."""
    iri = expand(name, prefixes)
    short = contract(name, prefixes)
    if iri is None and _URN.fullmatch(name):
        iri = short = name
    elif iri is not None and "://" not in short:
        prefix, _, local = short.partition(":")
        if local:
            spaces[prefix] = iri.removesuffix(local)
            return short
    cut = (
        0 if iri is None else max(iri.rfind(mark) for mark in ("#/" if "://" in iri else "#/:")) + 1
    )
    if iri is None or not iri[cut:]:
        spaces["ontodex"] = OURS
        return f"ontodex:{quote(name, safe='')}"
    taken = {space: prefix for prefix, space in spaces.items()}
    fresh = next(
        prefix
        for number in itertools.count(1)
        if (prefix := f"ns{number}") not in {*spaces, *prefixes}
    )
    prefix = taken.get(iri[:cut], fresh)
    spaces[prefix] = iri[:cut]
    return f"{prefix}:{iri[cut:]}"
