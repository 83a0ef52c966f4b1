"""Batches of tokenised sentences of like length, and the tokenizer that cuts them."""

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
"""Tokens of a vocabulary whose size was not given: the paper's."""

POOL = 50
"""Batches whose sentences are drawn together, and sorted by length."""

CHUNK = 10_000
"""Sentences that are tokenised together."""


def train_tokenizer(texts: Sequence[str], vocabulary: int = 0) -> Tokenizer:
    """Train byte-pair encoding on texts, in lower case, words and punctuation apart.

    Args:
        texts: What the merges are counted on.
        vocabulary: Number of tokens; 0 for 25,000, or fewer if the texts have not so many.

    Raises:
        SettingsError: If the texts have fewer tokens.

    Example:
        >>> train_tokenizer(["the cat sat on the mat", "the cat ran"]).encode("the cat").tokens
        ['the', 'cat']
    """
    made = Tokenizer(models.BPE(unk_token=UNKNOWN))  # marks inside words are numbered by chance
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
            f"vocabulary: expected at most the {made.get_vocab_size():,} tokens that the text has, found {vocabulary:,}"
        )
    return made


@dataclass(frozen=True, eq=False)
class TokenisedSentences:
    """Sentences as token ids, one after the other.

    Attributes:
        tokens: Token ids, ``int32`` of shape (tokens,).
        starts: Where each sentence begins, ``int64`` of shape (sentences,).
        lengths: Its number of tokens, ``int64`` of shape (sentences,).
        cut: Number of sentences that had more tokens than are read.
        short: Number of sentences that were left out: one token alone has no tree.
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
        """Return some of the sentences; the tokens of all are kept."""
        return TokenisedSentences(self.tokens, self.starts[rows], self.lengths[rows])

    def shares(self, vocabulary: int) -> NDArray[np.float64]:
        """Return the share of each token in the whole text, of shape (vocabulary,)."""
        return np.bincount(self.tokens, minlength=vocabulary) / len(self.tokens)

    def batch(self, rows: NDArray[np.int64], number: int = 0) -> SentenceBatch:
        """Return a batch of some sentences, the longest first."""
        rows = rows[np.argsort(-self.lengths[rows], kind="stable")]
        return SentenceBatch(number, self.tokens_of(rows).astype(np.int64), self.lengths[rows])

    def tokens_of(self, rows: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the tokens of some sentences, one after the other."""
        return self.tokens[runs(self.starts[rows], self.lengths[rows])[1]]


@dataclass(frozen=True, eq=False)
class SentenceBatch:
    """Sentences of a batch.

    Attributes:
        number: Which batch of the run it is.
        tokens: Token ids, sentence by sentence, ``int64`` of shape (tokens,).
        lengths: Number of tokens of each sentence, falling, ``int64`` of shape (sentences,).
    """

    number: int
    tokens: NDArray[np.int64]
    lengths: NDArray[np.int64]


class SentenceBatches(EpochBatches[SentenceBatch, list[NDArray[np.int64]]]):
    """The batches of a run: sentences of like length, in another order in every epoch.

    Args:
        sentences: What is learnt.
        epochs: Passes over them.
        batch: Sentences of a batch.
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
