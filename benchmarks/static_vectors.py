"""Means of static vectors: skip-gram with negative sampling on Self-StrAE's tokens (gensim)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from ontodex.trainers.trees.batches import TokenisedSentences

__all__ = ["StaticVectors"]

SMOOTH = 1e-3


class StaticVectors:
    """Static token vectors; the vector of a text is the mean of its tokens' vectors.

    Args:
        tokenizer: Tokenizer of the texts.
        vectors: Token vectors of shape (vocabulary, dim).
        shares: Token frequencies in the training texts, of shape (vocabulary,).
    """

    def __init__(
        self, tokenizer: Tokenizer, vectors: NDArray[np.float32], shares: NDArray[np.float64]
    ) -> None:
        self._tokenizer, self._vectors = tokenizer, vectors
        self._smooth = SMOOTH / (SMOOTH + shares)

    @classmethod
    def trained(
        cls, texts: Sequence[str], tokenizer: Tokenizer, dim: int, *, epochs: int, seed: int
    ) -> StaticVectors:
        """Train vectors on texts."""
        from gensim.models import Word2Vec

        found = TokenisedSentences.of(texts, tokenizer, 200)
        named = found.tokens.astype(str)
        sentences = [
            named[start : start + length].tolist()
            for start, length in zip(found.starts.tolist(), found.lengths.tolist(), strict=True)
        ]
        model = Word2Vec(
            sentences,
            vector_size=dim,
            window=5,
            min_count=1,
            sg=1,
            negative=5,
            sample=1e-4,
            epochs=epochs,
            workers=1,
            seed=seed,
        )
        vectors = np.zeros((tokenizer.get_vocab_size(), dim), dtype=np.float32)
        for name in model.wv.key_to_index:
            vectors[int(name)] = model.wv[name]
        shares = found.shares(len(vectors))
        return cls(tokenizer, vectors, shares)

    def encode(self, texts: Sequence[str], *, smooth: bool) -> NDArray[np.float32]:
        """Return unit vectors of texts, of shape (texts, dim).

        Args:
            texts: The texts.
            smooth: Weight tokens by smooth inverse frequency (Arora et al., ICLR 2017).
        """
        table = self._vectors * self._smooth[:, None] if smooth else self._vectors
        read = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        means = np.stack([table[one.ids or [0]].mean(axis=0) for one in read])
        return np.asarray(
            means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12),
            dtype=np.float32,
        )
