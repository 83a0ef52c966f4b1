"""A text encoder in training.

Dropout is off, each text is tokenised once, and BERT encoders pack short texts into shared rows
instead of padding them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn

from ontodex.encoders.device import has_bfloat16
from ontodex.encoders.sentence_transformer import forward_tokens
from ontodex.encoders.text_reader import Text

__all__ = ["TextTower", "tokenise"]

Tokens = list[NDArray[np.int32]]

ROW = 48
"""Tokens in a row that several texts share; a longer text widens the rows of its batch."""

BLOCK = 256
"""Number of texts that are encoded at once without gradients."""

PIECES = 4
"""Number of pieces, of texts of similar length, into which a padded batch is split."""


class TextTower(nn.Module):
    """Encodes batches of texts with gradients.

    If the encoder is a BERT with mean pooling, short texts share rows, with attention restricted to
    the tokens of the same text. Names have about five tokens; padding them to the longest text of a
    batch would more than double the cost.

    Args:
        encoder: The text encoder; its weights are converted to float32.
        unit: Normalise the vectors to length 1.
    """

    def __init__(self, encoder: SentenceTransformer, *, unit: bool = True) -> None:
        super().__init__()
        self.encoder = encoder.float()
        self._unit = unit
        for module in encoder.modules():
            # Drawing dropout masks took a fifth of a step, and runs make only a few passes.
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        transformer, pooling = encoder[0], encoder[1] if len(encoder) > 1 else None
        model: Any = encoder.transformers_model
        self._packs = (
            getattr(model.config, "model_type", None) == "bert"
            and getattr(transformer, "model", None) is not None
            and getattr(pooling, "pooling_mode", None) == "mean"
            and all(type(module).__name__ == "Normalize" for module in list(encoder)[2:])
        )
        self._typed = self._packs and any(
            encoder.tokenizer("a", "b", return_token_type_ids=True)["token_type_ids"]
        )
        if encoder.device.type == "cpu" or self._packs:
            # PyTorch's fused attention has no fast backward pass on the CPU, and on a GPU none
            # with a mask in bfloat16.
            model.set_attn_implementation("eager")

    def forward(self, tokens: Sequence[NDArray[np.int32]]) -> Tensor:
        """Return the vectors of tokenised texts, ``float32`` of shape (texts, dim)."""
        vectors = self._packed(tokens) if self._packs else self._padded(tokens)
        return nn.functional.normalize(vectors, dim=-1) if self._unit else vectors

    @torch.inference_mode()
    def encode(self, tokens: Sequence[NDArray[np.int32]]) -> NDArray[np.float32]:
        """Return the vectors of tokenised texts without gradients, of shape (texts, dim).

        The vectors, ``float32``, are computed as in training, so that they can measure the model
        during a run.
        """
        order = np.argsort([len(text) for text in tokens], kind="stable")
        found = np.zeros(
            (len(tokens), self.encoder.get_embedding_dimension() or 0), dtype=np.float32
        )
        device = self.encoder.device.type
        with torch.autocast(device, torch.bfloat16, enabled=has_bfloat16(device)):
            for start in range(0, len(order), BLOCK):
                rows = order[start : start + BLOCK]
                found[rows] = self([tokens[row] for row in rows.tolist()]).float().cpu().numpy()
        return found

    def _packed(self, tokens: Sequence[NDArray[np.int32]]) -> Tensor:
        device = self.encoder.device
        ids, positions, owners = (torch.from_numpy(array).to(device) for array in _rows(tokens))
        kinds = self._kinds(ids, positions)
        dtype = (
            torch.get_autocast_dtype(device.type)
            if torch.is_autocast_enabled(device.type)
            else torch.float32
        )
        apart = owners[:, :, None] != owners[:, None, :]
        bias = torch.zeros(apart.shape, dtype=dtype, device=device).masked_fill_(
            apart, torch.finfo(dtype).min
        )
        model = self.encoder.transformers_model
        states = model(
            input_ids=ids,
            token_type_ids=kinds,
            position_ids=positions,
            attention_mask=bias[:, None],
        ).last_hidden_state  # type: ignore[misc]
        states, owner = states.float().flatten(0, 1), owners.flatten()
        real = owner >= 0
        sums = torch.zeros(len(tokens), states.shape[1], device=device).index_add(
            0, owner[real], states[real]
        )
        lengths = torch.tensor([len(text) for text in tokens], device=device)
        return sums / lengths[:, None]

    def _kinds(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Return the token types: 1 for the second text of a pair, after the first [SEP]."""
        if not self._typed:
            return torch.zeros_like(ids)
        ends = (ids == self.encoder.tokenizer.sep_token_id).long()
        before = ends.cumsum(1) - ends
        columns = torch.arange(ids.shape[1], device=ids.device)
        kinds: Tensor = before - before.gather(1, columns - positions)
        return kinds

    def _padded(self, tokens: Sequence[NDArray[np.int32]]) -> Tensor:
        order = np.argsort([len(text) for text in tokens], kind="stable")
        device = str(self.encoder.device)
        pieces = [
            forward_tokens(
                self.encoder,
                {"input_ids": [tokens[row].tolist() for row in rows]},
                device,
                unit=False,
            )
            for rows in np.array_split(order, PIECES)
            if len(rows)
        ]
        return torch.cat(pieces)[torch.from_numpy(np.argsort(order))]


def tokenise(encoder: SentenceTransformer, texts: Sequence[Text], max_tokens: int) -> Tokens:
    """Return the token ids of each text or pair of texts.

    Args:
        encoder: The text encoder, whose tokenizer is used.
        texts: Texts or pairs of texts.
        max_tokens: Largest number of tokens; longer texts are truncated. The encoder's own limit
            applies if it is smaller.
    """
    found: Tokens = []
    max_tokens = min(max_tokens, encoder.max_seq_length or max_tokens)
    for start in range(0, len(texts), 10_000):
        tokens = encoder.tokenizer(
            list(texts[start : start + 10_000]), truncation=True, max_length=max_tokens
        )
        found.extend(np.array(ids, dtype=np.int32) for ids in tokens["input_ids"])
    return found


def _rows(
    tokens: Sequence[NDArray[np.int32]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Pack texts into rows by first-fit decreasing, filling one row after the other.

    Returns:
        Token ids, positions within the text, and the text of each token (-1 for padding), all of
        shape (rows, width).
    """
    lengths = np.array([len(text) for text in tokens])
    width = max(ROW, int(lengths.max()))
    order = np.argsort(-lengths, kind="stable")
    # End of each length's section of `order`, and the next unplaced text of each length.
    ends = np.cumsum(np.bincount(lengths, minlength=width + 1)[::-1])[::-1].tolist()
    following = [*ends[1:], 0]
    places, rows, starts = [], [], []
    row = at = 0
    for _ in range(len(tokens)):
        fitting = width - at
        while fitting and following[fitting] == ends[fitting]:
            fitting -= 1
        if not fitting:
            row, at, fitting = row + 1, 0, width
            while following[fitting] == ends[fitting]:
                fitting -= 1
        places.append(following[fitting])
        rows.append(row)
        starts.append(at)
        following[fitting] += 1
        at += fitting
    texts = order[places]
    sizes = lengths[texts]
    position = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    where = np.repeat(np.array(rows) * width + np.array(starts), sizes) + position
    ids, positions = (np.zeros((row + 1, width), dtype=np.int64) for _ in range(2))
    owners = np.full((row + 1, width), -1, dtype=np.int64)
    ids.flat[where] = np.concatenate([tokens[text] for text in texts.tolist()])
    positions.flat[where] = position
    owners.flat[where] = np.repeat(texts, sizes)
    return ids, positions, owners
