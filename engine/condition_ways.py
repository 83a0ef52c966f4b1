"""What transforms all entities by a condition: the network of a condition encoder, or the projections of relations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ontodex.engine.projector import Projector
from ontodex.engine.resolve import Resolved
from ontodex.errors import SettingsError
from ontodex.geometry.conditioned import compact, expanded, under_condition
from ontodex.indexers.index import Index
from ontodex.indexers.storage.condition_cache import ConditionCache, Factor
from ontodex.indexers.storage.space_names import CONDITION, LINK
from ontodex.indexers.storage.vectors import Vectors

__all__ = ["ByEncoder", "ByProjections", "Condition", "ConditionWay"]

Floats = NDArray[np.float32]
Transform = Callable[[Floats], Floats]

CONDITIONS = 64
"""Conditions whose factors are made at once."""


@dataclass(frozen=True)
class Condition:
    """In what texts are to be alike.

    Attributes:
        text: What an encoder reads.
        row: Of the relation of the graph that it stands for; ``None`` for free text.
        backward: Whether it is the relation's inverse.
        relation: How it was read; the same conditions may have been asked for by other names.
    """

    text: str
    row: int | None
    backward: bool
    relation: Resolved = field(compare=False)


class ConditionWay(Protocol):
    """Transforms vectors by conditions.

    Attributes:
        method: What the similarity of the results means.
        vectors: What is stored of the entities, to be transformed.
        width: Length of the results.
    """

    method: str
    vectors: Vectors
    width: int

    def encode(self, texts: list[str]) -> Floats:
        """Return vectors of other texts, like the stored ones."""

    def transforms(self, conditions: Sequence[Condition]) -> Iterator[tuple[Condition, Transform]]:
        """Yield what turns vectors of shape (n, dim) into unit vectors of shape (n, width), for each condition.

        Raises:
            SettingsError: If a condition is longer than the encoder reads.
        """


class ByEncoder:
    """By a condition encoder; the factors that it makes of conditions are kept on the disk.

    Args:
        index: An index with such an encoder.
        disk: Bytes for factors in the index's folder; 0 for none.

    Raises:
        SettingsError: If there is no room for one factor.
    """

    method = "similarity under the condition (cosine)"

    def __init__(self, index: Index, disk: int) -> None:
        self._index = index
        self._about = index.stated(CONDITION)
        self.vectors = index.vectors(CONDITION)
        self.width = int(self._about["width"])
        factor = self.vectors.dim * (self.width if self._about["architecture"] == "hyper" else 1) * 4 + 1024
        if disk != 0 and disk < factor:
            raise SettingsError(
                f"condition_disk: expected at least {factor:,} bytes, for the projection of one condition, or 0 for none, "
                f"found {disk:,}"
            )
        self._cache = ConditionCache(index.path, disk)

    def encode(self, texts: list[str]) -> Floats:
        """See :class:`ConditionWay`."""
        return np.asarray(self._index.condition_encoder.text.encode(texts))

    def transforms(self, conditions: Sequence[Condition]) -> Iterator[tuple[Condition, Transform]]:
        """See :class:`ConditionWay`."""
        for start in range(0, len(conditions), CONDITIONS):
            some = conditions[start : start + CONDITIONS]
            factors = self._factors([one.text for one in some])
            for one in some:
                yield one, self._by(expanded(factors[one.text], self.vectors.dim, self.width))

    def _by(self, factor: Factor) -> Transform:
        return lambda vectors: under_condition(vectors, factor, self._index.condition_mix)

    def _factors(self, conditions: Sequence[str]) -> dict[str, Factor]:
        """Return compact factors of conditions, from the disk or from their texts: the same to the last bit."""
        encoder = str(self._about["network"])
        factors = self._cache.get(encoder, conditions)
        missing = [text for text in conditions if text not in factors]
        if missing:
            made = dict(zip(missing, map(compact, self._index.condition_encoder.factors(missing)), strict=True))
            self._cache.put(encoder, made)
            factors.update(made)
        return factors


class ByProjections:
    """By what the projection of a relation makes of an entity: where its tails are to be looked for.

    Args:
        index: An index with projections of relations.
        projector: Makes them.
    """

    method = "similarity of what the relation's projection makes of both (cosine)"

    def __init__(self, index: Index, projector: Projector) -> None:
        self._index, self._projector = index, projector
        self.vectors = index.vectors(LINK)
        self.width = self.vectors.dim

    def encode(self, texts: list[str]) -> Floats:
        """See :class:`ConditionWay`."""
        return self._projector.encode(texts)

    def transforms(self, conditions: Sequence[Condition]) -> Iterator[tuple[Condition, Transform]]:
        """See :class:`ConditionWay`."""
        unknown = [one.text for one in conditions if one.row is None]
        if unknown:
            from ontodex.encoders.condition import expect_readable  # and torch with it, as the encoder has

            expect_readable(self._index.link_encoder.text, unknown)
        for one in conditions:
            yield one, self._by(one)

    def _by(self, condition: Condition) -> Transform:
        projections, number = self._projector.projections(condition.relation, backward=condition.backward)
        return lambda vectors: projections.project(vectors, number)
