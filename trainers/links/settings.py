"""Settings of training runs for link prediction; this module does not import torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ontodex.errors import SettingsError, expect_choice, expect_number, expect_whole

if TYPE_CHECKING:
    from ontodex.encoders.hypernetwork import LinkNetworkSettings

__all__ = ["ComplExTraining", "CrossEncoderTraining", "HyperCLTraining"]


@dataclass(frozen=True)
class HyperCLTraining:
    """Settings of a training run of relation projections (Hyper-CL).

    Attributes:
        tune: ``"frozen"`` trains the network on fixed text embeddings (a minute or two without a
            GPU); ``"full"`` trains the text encoder as well.
        steps: Number of batches; 0 for 20 passes over the triples, but at least 100 and at most
            600 batches. With ``tune="frozen"`` and validation triples, the default is at most 800
            batches (ten passes, but at least 50 batches, from the network that ontodex ships), and
            the run ends when the mean reciprocal rank of the validation triples does not rise at
            three of its eight validations in a row.
        queries: Largest number of queries (head, relation) in a batch, inverse relations included.
        entities: Entities encoded in a batch, with ``tune="full"``.
        negatives: Additional candidates of each query: random entities with ``tune="frozen"``, the
            entities of the previous batches with ``tune="full"``.
        start: Number of batches, with ``tune="full"``, that train the network on fixed embeddings
            before the text encoder is trained as well. These batches cost little, and the text
            encoder is not trained with a random network.
        rate: Learning rate of the network; halved with ``tune="full"``.
        encoder_rate: Learning rate of the text encoder, with ``tune="full"``.
        pretrained: Start from the network that ontodex ships, if text encoder and shape match it.
        rank: Rank of the hypernetwork's projections; 0 for full rank. By default 32, or the
            embedding dimension if it is smaller.
        condition: Length of the vector that the hypernetwork reduces a relation to; 0 for the
            embedding dimension, as in the public code. By default 64 with
            ``projection="residual"``, else 0.
        projection: How a query is made of a head h and its projection W h. ``"residual"``:
            unit(h + W h), which starts near the text encoder; ``"paper"``: unit(W h), so that a
            score is cos(W h, t); ``"public"``: W h without normalisation, as the authors' code
            trains.
        shift: Add a linear map of the relation to the projected head. By default only with
            ``projection="residual"``. The paper does not have this map; ``architecture="concat"``
            always has it.
        dropout: Share of the inputs of ``architecture="concat"`` that is set to 0 in training.
        architecture: How head and relation are combined: ``"hyper"`` (hypernetwork), ``"hadamard"``
            (elementwise product) and ``"concat"`` (linear layer over both) encode them separately;
            ``"bi-encoder"`` encodes them as one text, as SimKGC does, and needs ``tune="full"``.
        towers: Text encoders of a bi-encoder: 2 (one for pairs of head and relation, one for
            entities) or 1 for both.
        width: Hidden units of the entity layer, with ``tune="frozen"``; 0 for no such layer.
        margin: Additive margin of the contrastive loss.
        temperature: Initial value of the learnable temperature.
        max_tokens: Texts are truncated to this many tokens, special tokens included, with
            ``tune="full"``.
        save_every: Steps between checkpoints, with ``tune="full"``.
        seed: Seed of weights and batches.

    Raises:
        SettingsError: If a setting is out of range or contradicts another.
    """

    tune: str = "frozen"
    steps: int = 0
    queries: int = 1024
    entities: int = 1024
    negatives: int = 1024
    start: int = 300
    rate: float = 2e-3
    encoder_rate: float = 1e-4
    pretrained: bool = True
    rank: int | None = None
    condition: int | None = None
    projection: str = "residual"
    shift: bool | None = None
    dropout: float = 0.0
    architecture: str = "hyper"
    towers: int = 2
    width: int = 1024
    margin: float = 0.02
    temperature: float = 0.05
    max_tokens: int = 40
    save_every: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        from ontodex.encoders.link_architectures import BI_ENCODER, PROJECTIONS, TRI_ENCODERS

        expect_choice("tune", self.tune, ("frozen", "full"))
        expect_choice("architecture", self.architecture, (*TRI_ENCODERS, BI_ENCODER))
        expect_choice("projection", self.projection, PROJECTIONS)
        if self.architecture == BI_ENCODER and self.tune != "full":
            raise SettingsError(
                f"tune: expected 'full' for a bi-encoder, which consists of text encoders alone, "
                f"found {self.tune!r}"
            )
        if self.architecture == "concat" and self.shift is False:
            raise SettingsError(
                "shift: expected none or true for a concatenation, where only the shift depends on "
                "the relation, found false"
            )
        if self.architecture != "concat" and self.dropout:
            raise SettingsError(
                f"dropout: expected 0 for the architecture {self.architecture!r}, which has none, "
                f"found {self.dropout!r}"
            )
        if self.towers not in (1, 2):
            raise SettingsError(f"towers: expected 1 or 2, found {self.towers!r}")
        expect_whole(self, steps=0, queries=1, entities=1, negatives=0, start=0)
        expect_whole(self, width=0, max_tokens=3, save_every=1, seed=0)
        for name in ("rank", "condition"):
            if getattr(self, name) is not None:
                expect_whole(self, **{name: 0})
        expect_number(self, "rate", "encoder_rate", "temperature")
        expect_number(self, "margin", "dropout", zero=True)

    def network(self, dim: int) -> LinkNetworkSettings:
        """Return the shape of the network over embeddings of ``dim`` dimensions.

        Raises:
            SettingsError: If the rank is greater than ``dim``.
        """
        from ontodex.encoders.hypernetwork import LinkNetworkSettings

        condition, shift = self.condition, self.shift
        if condition is None:
            condition = LinkNetworkSettings.condition if self.projection == "residual" else 0
        if shift is None:
            shift = self.projection == "residual"
        return LinkNetworkSettings(
            dim=dim,
            condition=condition or dim,
            rank=min(dim, LinkNetworkSettings.rank) if self.rank is None else self.rank,
            shift=shift,
            projection=self.projection,
            width=self.width if self.tune == "frozen" else 0,
            architecture=self.architecture,
            dropout=self.dropout,
        )


@dataclass(frozen=True)
class CrossEncoderTraining:
    """Settings of a training run of a cross-encoder.

    Attributes:
        steps: Number of batches; 0 for one pass over the triples in both directions, but at least
            100 and at most 2,000 batches.
        queries: Queries (head, relation) in a batch.
        negatives: Number of wrong tails of each query. Half of them are tails of the same relation
            in other triples. The others are among the entities whose texts are most similar to the
            text of the true tail or of the head.
        rate: Learning rate.
        max_tokens: The text of a triple is truncated to this many tokens.
        save_every: Steps between checkpoints.
        seed: Seed of weights and batches.

    Raises:
        SettingsError: If a setting is out of range or contradicts another.
    """

    steps: int = 0
    queries: int = 16
    negatives: int = 7
    rate: float = 5e-5
    max_tokens: int = 96
    save_every: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        expect_whole(self, steps=0, queries=1, negatives=1, max_tokens=8, save_every=1, seed=0)
        expect_number(self, "rate")


@dataclass(frozen=True)
class ComplExTraining:
    """Settings of a training run of ComplEx embeddings.

    Attributes:
        rank: Complex numbers in a vector, which has twice as many floats.
        steps: Number of batches; 0 for ``passes`` passes over the queries, but at least 500 and at
            most 18,000 batches.
        passes: Passes over all queries (entity, relation), inverse relations included.
        queries: Queries in a batch; all answers of a query are positives at once.
        candidates: Number of random entities that are candidates in addition to the entities of the
            batch; 0 for all entities.
        rate: Initial learning rate of Adagrad; it decays to 0.
        regularisation: Weight of the nuclear 3-norm (N3); ``None`` for 0.12 / √(links per
            entity): the more links an entity has, the weaker the regularisation.
        seed: Seed of vectors and batches.

    Raises:
        SettingsError: If a setting is out of range or contradicts another.
    """

    rank: int = 128
    steps: int = 0
    passes: int = 10
    queries: int = 256
    candidates: int = 1024
    rate: float = 0.2
    regularisation: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        expect_whole(self, rank=1, steps=0, passes=1, queries=1, candidates=0, seed=0)
        expect_number(self, "rate")
        if self.regularisation is not None:
            expect_number(self, "regularisation", zero=True)
