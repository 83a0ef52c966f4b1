"""SSSOM/TSV: what stands above its header (https://w3id.org/sssom)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from ontodex.graph.prefixes import expand
from ontodex.graph.vocabulary import OUR_TOOL, OURS

__all__ = ["SssomHeader", "sssom_header"]

PREFIX = re.compile(r"\s+[\"']?([A-Za-z_][\w.-]*)[\"']?:\s+[\"']?([^\s\"']+)[\"']?\s*$")
"""A line of the map of prefixes."""


@dataclass(frozen=True)
class SssomHeader:
    """What the comments above a table say.

    Attributes:
        is_ours: Whether an audit of ontodex wrote the table.
        prefixes: IRI namespace of each prefix.
    """

    is_ours: bool = False
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def own_id(self, name: str) -> str:
        """Return an id as the graph has it: one that is neither IRI nor CURIE was written as one.

        >>> SssomHeader().own_id("ontodex:big%20dog")
        'big dog'
        """
        iri = expand(name, {"ontodex": OURS, **self.prefixes})
        return unquote(iri.removeprefix(OURS)) if iri is not None and iri.startswith(OURS) else name


def sssom_header(lines: Iterable[str]) -> SssomHeader:
    """Read the comments above a table, which are YAML behind a ``#``.

    >>> sssom_header(["#curie_map:", '#  ex: "http://ex.org/"', "#mapping_tool: ontodex"])
    SssomHeader(is_ours=True, prefixes={'ex': 'http://ex.org/'})
    """
    is_ours, prefixes, in_map = False, dict[str, str](), False
    for line in lines:
        said = line.removeprefix("#")
        if said[:1].strip():
            in_map = said.strip() == "curie_map:"
            is_ours = is_ours or said.strip() == OUR_TOOL
        elif in_map and (found := PREFIX.match(said)):
            prefixes[found[1]] = found[2]
    return SssomHeader(is_ours, prefixes)
