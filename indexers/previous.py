"""What an index has already, for its next generation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ontodex.encoders.link_encoder import LinkEncoder
from ontodex.errors import IndexFailure, IndexMismatch
from ontodex.geometry.projection import Projections
from ontodex.graph import KnowledgeGraph, relation_texts
from ontodex.storage.index import Index

__all__ = ["common_rows", "live", "projections_of"]


@contextmanager
def live(path: Path) -> Iterator[Index | None]:
    """Open the live generation for what it has encoded, if there is one that can be read.

    Raises:
        IndexMismatch: If it was written by a newer version: nothing is put in its place.
    """
    index = None
    try:
        index = Index.open(path)
    except IndexMismatch:
        raise
    except IndexFailure:
        pass
    try:
        yield index
    finally:
        if index is not None:
            index.close()


def projections_of(
    link: LinkEncoder | None, graph: KnowledgeGraph, kept: Index | None
) -> Projections | None:
    """Return the projections of all relations and their inverses, if the encoder makes some.

    Args:
        link: The encoder.
        graph: Whose relations.
        kept: An index whose relations keep the projections that they have.
    """
    made = None if link is None else link.projections(relation_texts(graph))
    if made is None or kept is None:
        return made
    new, old = common_rows(kept.graph.relation_ids, graph.relation_ids)
    both = (0, 0), (graph.n_relations, kept.graph.n_relations)
    rows, others = (
        np.concatenate([part + shift[at] for shift in both]) for at, part in enumerate((new, old))
    )
    return made.carrying(rows, kept.projections, others)


def common_rows(
    before: Sequence[str], after: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of what is in both, as they are after and as they were before."""
    known: Mapping[str, int] = {name: row for row, name in enumerate(before)}
    pairs: list[Any] = [(row, known[name]) for row, name in enumerate(after) if name in known]
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
