"""What is added to an index, and taken out of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ontodex.engine.engine import Engine
from ontodex.engine.resolve import expect_words, list_of
from ontodex.errors import SettingsError
from ontodex.graph import KnowledgeGraph, merge
from ontodex.graph import remove as remove_entities
from ontodex.graph import remove_links as without_links
from ontodex.indexers.update import update_index
from ontodex.indexing import expect_folder, has_links, open
from ontodex.readers import read
from ontodex.storage.space_names import HIERARCHY

__all__ = ["add", "remove", "remove_links"]


def add(source: Any, path: str | Path, *, device: str = "auto", quiet: bool = False) -> Engine:
    """Add the entities and triples of a source to an index, with the encoders that it has; only new texts are encoded.

    What the source says of an entity of the index is added too: another label becomes a synonym, a definition takes the
    place of the old one.

    Args:
        source: A graph, or anything that :func:`ontodex.read` reads.
        path: Folder of the index.
        device: Where to encode.
        quiet: Show no progress on stderr.

    Warns:
        UserWarning: If the source brings the first hierarchy, and the index has no encoder for one.
        ReadWarning: If the hierarchy runs in a circle now; it names the links that are left out of it.
    """
    folder = expect_folder(path)
    more = read(source)
    first_links = False

    def merged(graph: KnowledgeGraph) -> KnowledgeGraph:
        nonlocal first_links
        whole = merge(graph, more, corrects=True)
        first_links = has_links(whole) and not has_links(graph, on_cycle="ignore")
        return whole

    update_index(folder, merged, device=device, quiet=quiet)
    engine = open(path, device=device)
    if HIERARCHY not in engine.index.manifest.spaces and first_links:
        warnings.warn(
            f"{path}: the graph has a hierarchy now, and the index no encoder for it: parents, children, place and audit "
            "need one; build the index anew",
            stacklevel=2,
        )
    return engine


def remove(
    entities: str | Sequence[str], path: str | Path, *, device: str = "auto", quiet: bool = False
) -> Engine:
    """Remove entities, and the triples they are in, from an index.

    Args:
        entities: CURIEs, IRIs, labels or synonyms.
        path: Folder of the index.
        device: Where to encode texts that change with it.
        quiet: Show no progress on stderr.

    Raises:
        UnknownEntity: If one is not in the index.
        SettingsError: If there is none, or one is no text.
    """
    folder, names = (
        expect_folder(path),
        [entities] if isinstance(entities, str) else list_of(entities, "names"),
    )
    if not names:
        raise SettingsError("entities: expected names of entities to remove, found none")
    for name in names:
        expect_words(name, "entity")
    update_index(folder, lambda graph: remove_entities(graph, names), device=device, quiet=quiet)
    return open(path, device=device)


def remove_links(
    source: Any, path: str | Path, *, device: str = "auto", quiet: bool = False
) -> Engine:
    """Remove triples from an index; entities and relations stay.

    Of a table in SSSOM, as :meth:`ontodex.Audit.to_sssom` makes it, that is what it says not to hold (``Not``) and a
    curator confirmed: whose justification is another than ontodex gave.

    Args:
        source: The triples: a graph, or anything that :func:`ontodex.read` reads. Ends and relations are named by CURIE,
            IRI, label or synonym.
        path: Folder of the index.
        device: Where to encode texts that change with it.
        quiet: Show no progress on stderr.

    Raises:
        UnknownEntity: If an end of a link is not in the index.
        UnknownRelation: If a relation is not.
        GraphError: If the index has none of the links, or no link is given.

    Warns:
        ReadWarning: If it does not have some.
    """
    folder, links = expect_folder(path), read(source, negated=True)
    update_index(folder, lambda graph: without_links(graph, links), device=device, quiet=quiet)
    return open(path, device=device)
