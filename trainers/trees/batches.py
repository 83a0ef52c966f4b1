"""Batches of tokenised sentences of similar length, and training of their tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from ontodex.encoders.self_strae import UNKNOWN
from ontodex.errors import SettingsError
from ontodex.graph.arrays import runs
from ontodex.trainers.epoch_batches import EpochBatches

__all__ = ["SentenceBatch", "SentenceBatches", "TokenisedSentences", "train_tokenizer"]

LARGEST_VOCABULARY = 25_000
"""Default size of the vocabulary, as in the paper."""

POOL = 50
"""Number of batches whose sentences are drawn together and sorted by length."""

CHUNK = 10_000
"""Sentences that are tokenised together."""


def train_tokenizer(texts: Sequence[str], vocabulary: int = 0) -> Tokenizer:
    """Train byte-pair encoding on lower-cased texts, with words and punctuation split.

    Args:
        texts: Texts on which merges are counted.
        vocabulary: Number of tokens; 0 for 25,000, or as many as the texts support.

    Raises:
        SettingsError: If the texts support fewer tokens than ``vocabulary``.

    Example:
        >>> train_tokenizer(["the cat sat on the mat", "the cat ran"]).encode("the cat").tokens
        ['the', 'cat']
    """
    # No prefix for tokens inside words: tokenizers numbers such tokens in random order.
    made = Tokenizer(models.BPE(unk_token=UNKNOWN))
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary or LARGEST_VOCABULARY,
        special_tokens=[UNKNOWN],
        min_frequency=2,
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer, length=len(texts))
    if made.get_vocab_size() < vocabulary:
        raise SettingsError(
            f"vocabulary: expected at most the {made.get_vocab_size():,} tokens that the text has, "
            f"found {vocabulary:,}"
        )
    return made


@dataclass(frozen=True, eq=False)
class TokenisedSentences:
    """Concatenated token ids of sentences.

    Attributes:
        tokens: Token ids, ``int32`` of shape (tokens,).
        starts: Position of the first token of each sentence, ``int64`` of shape (sentences,).
        lengths: Number of tokens of each sentence, ``int64`` of shape (sentences,).
        cut: Number of sentences that were truncated.
        short: Number of sentences that were left out because they have fewer than two tokens.
    """

    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    cut: int = 0
    short: int = 0

    def __len__(self) -> int:
        return len(self.lengths)

    @classmethod
    def of(cls, texts: Sequence[str], tokenizer: Tokenizer, max_tokens: int) -> TokenisedSentences:
        """Tokenise texts."""
        parts: list[NDArray[np.int32]] = []
        cut = short = 0
        for start in range(0, len(texts), CHUNK):
            for found in tokenizer.encode_batch_fast(
                list(texts[start : start + CHUNK]), add_special_tokens=False
            ):
                ids = found.ids
                cut += len(ids) > max_tokens
                short += len(ids) < 2
                if len(ids) > 1:
                    parts.append(np.array(ids[:max_tokens], dtype=np.int32))
        lengths = np.array([len(part) for part in parts], dtype=np.int64)
        tokens = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)
        return cls(tokens, np.cumsum(lengths) - lengths, lengths, cut, short)

    def part(self, rows: NDArray[np.int64]) -> TokenisedSentences:
        """Return a subset of the sentences; it shares the tokens of all sentences."""
        return TokenisedSentences(self.tokens, self.starts[rows], self.lengths[rows])

    def shares(self, vocabulary: int) -> NDArray[np.float64]:
        """Return the relative frequency of each token, of shape (vocabulary,)."""
        return np.bincount(self.tokens, minlength=vocabulary) / len(self.tokens)

    def batch(self, rows: NDArray[np.int64], number: int = 0) -> SentenceBatch:
        """Return a batch of the given sentences, the longest first."""
        rows = rows[np.argsort(-self.lengths[rows], kind="stable")]
        return SentenceBatch(number, self.tokens_of(rows).astype(np.int64), self.lengths[rows])

    def tokens_of(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the concatenated tokens of the given sentences."""
        return self.tokens[runs(self.starts[rows], self.lengths[rows])[1]]


@dataclass(frozen=True, eq=False)
class SentenceBatch:
    """Sentences of a batch.

    Attributes:
        number: Number of the batch in the run.
        tokens: Concatenated token ids, ``int64`` of shape (tokens,).
        lengths: Number of tokens of each sentence, descending, ``int64`` of shape (sentences,).
    """

    number: int
    tokens: NDArray[np.int64]
    lengths: NDArray[np.int64]


class SentenceBatches(EpochBatches[SentenceBatch, list[NDArray[np.int64]]]):
    """Batches of sentences of similar length, in a new order in each epoch.

    Args:
        sentences: The training sentences.
        epochs: Passes over the sentences.
        batch: Sentences in a batch.
        seed: Seed of the order.
    """

    def __init__(
        self, sentences: TokenisedSentences, *, epochs: float, batch: int, seed: int
    ) -> None:
        per_epoch = max(1, round(len(sentences) / batch))
        super().__init__(steps=max(1, round(epochs * per_epoch)), per_epoch=per_epoch)
        self._sentences, self._seed = sentences, seed

    def _batch(self, step: int, turn: int, order: list[NDArray[np.int64]]) -> SentenceBatch:
        return self._sentences.batch(order[turn], step)

    def _draw_order(self, epoch: int) -> list[NDArray[np.int64]]:
        rng = np.random.default_rng((self._seed, 21, epoch))
        lengths = self._sentences.lengths
        pools = np.array_split(rng.permutation(len(lengths)), -(-self.per_epoch // POOL))
        order = np.concatenate([pool[np.argsort(lengths[pool], kind="stable")] for pool in pools])
        batches = np.array_split(order, self.per_epoch)
        return [batches[turn] for turn in rng.permutation(len(batches))]
