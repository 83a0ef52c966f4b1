"""BERT for inference, without sentence-transformers, whose import takes seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from ontodex.encoders.adapter import add_adapter
from ontodex.encoders.bert_files import (
    TOKENIZER,
    WEIGHTS,
    is_plain_bert,
    longest_text,
    model_settings,
    pooling,
    sources_of_weights,
)
from ontodex.encoders.text_reader import Text
from ontodex.errors import EncoderError

__all__ = ["Bert"]

ATTENDED = 128
"""Largest number of tokens for which explicit matrix products are faster than torch's attention.

The matrix products need memory quadratic in the number of tokens.
"""


class Layer(nn.Module):
    """A layer of BERT: self-attention and a feed-forward network.

    Matrix products are computed in the precision of the weights; the residual stream, layer norms
    and softmax in ``float32``. With weights in bfloat16, this is as fast as computing everything in
    bfloat16, and the error is a quarter to a third as large.

    Args:
        dim: Dimension of hidden states.
        heads: Number of attention heads.
        width: Dimension inside the feed-forward network.
        eps: Epsilon of the layer norms.

    Raises:
        ValueError: If ``dim`` is not a multiple of ``heads``.
    """

    def __init__(self, dim: int, heads: int, width: int, eps: float) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"expected a dimension divisible by {heads} (heads), found {dim}")
        self.heads = heads
        self.attention, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.wide, self.narrow = nn.Linear(dim, width), nn.Linear(width, dim)
        self.norm, self.last_norm = nn.LayerNorm(dim, eps), nn.LayerNorm(dim, eps)

    def forward(self, states: Tensor, padding: Tensor) -> Tensor:
        """Return the next hidden states.

        Args:
            states: Hidden states of shape (texts, tokens, dim), ``float32``.
            padding: Whether a token is padding, ``bool`` of shape (texts, tokens).

        Returns:
            Hidden states of shape (texts, tokens, dim), ``float32``.
        """
        precision = self.attention.weight.dtype
        query, key, value = (
            self.attention(states.to(precision))
            .unflatten(-1, (3, self.heads, -1))
            .permute(2, 0, 3, 1, 4)
            .unbind()
        )
        read = ~padding[:, None, None]
        if padding.shape[1] > ATTENDED:
            attended = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=read)
        else:
            scores = ((query * query.shape[-1] ** -0.5) @ key.mT).float()
            attended = scores.masked_fill_(~read, -torch.inf).softmax(dim=-1).to(precision) @ value
        states = self.norm(states + self.out(attended.transpose(1, 2).flatten(2)))
        states = self.last_norm(
            states + self.narrow(nn.functional.gelu(self.wide(states.to(precision))))
        )
        return states


class Bert(nn.Module):
    """BERT (Devlin et al. 2019) with mean or [CLS] pooling, for inference.

    Loads only the folders for which sentence-transformers computes the same vectors; see
    :meth:`is_at`.

    Args:
        folder: A sentence-transformers or Hugging Face folder.
        unit: Normalise vectors to length 1.
        adapter: Folder of a LoRA adapter in the layout of ``peft``, which is merged into the model.
        max_tokens: Largest number of tokens of a text; longer texts are truncated. The model's own
            limit applies if it is lower.

    Attributes:
        dim: Dimension of vectors.
        longest: Largest number of tokens of a text, including [CLS] and [SEP].

    Raises:
        EncoderError: If the folder or the adapter is damaged.
    """

    encode = None
    trees = None

    def __init__(
        self,
        folder: Path,
        *,
        unit: bool = True,
        adapter: Path | None = None,
        max_tokens: int | None = None,
    ) -> None:
        super().__init__()
        self._unit, self._vocabulary = unit, folder / TOKENIZER
        try:
            self._first = pooling(folder) == "cls"
            config = model_settings(folder)
            self.dim: int = config["hidden_size"]
            self.longest = min(
                longest_text(folder), max_tokens or config["max_position_embeddings"]
            )
            self._tokenizer = self._load_tokenizer()
            self._tokenizer.enable_truncation(self.longest)
            with torch.device("meta"):
                self._make_layers(config)
            weights = {name: tensor.float() for name, tensor in load_file(folder / WEIGHTS).items()}
            if adapter is not None:
                add_adapter(weights, adapter)
            parts = sources_of_weights(config["num_hidden_layers"])
            found = {
                here: torch.cat([weights[name] for name in names]) for here, names in parts.items()
            }
            self.load_state_dict(found, assign=True)
        except EncoderError:
            raise
        except Exception as error:
            raise EncoderError(
                f"{folder}: expected a BERT with model.safetensors, found one that does not load "
                f"({type(error).__name__}: {error})"
            ) from error
        self.eval().requires_grad_(False)

    def _make_layers(self, config: Mapping[str, Any]) -> None:
        norm = config["layer_norm_eps"]
        # Drawing initial embeddings would import torch._dynamo, which takes seconds.
        self.words, self.positions, self.kinds = (
            nn.Embedding.from_pretrained(  # type: ignore[no-untyped-call]
                torch.empty(config[size], self.dim)
            )
            for size in ("vocab_size", "max_position_embeddings", "type_vocab_size")
        )
        self.norm = nn.LayerNorm(self.dim, norm)
        sizes = (self.dim, config["num_attention_heads"], config["intermediate_size"], norm)
        self.layers = nn.ModuleList(Layer(*sizes) for _ in range(config["num_hidden_layers"]))

    @staticmethod
    def is_at(folder: Path) -> bool:
        """Return whether this class supports the BERT in a folder; see ``is_plain_bert``."""
        return is_plain_bert(folder)

    def to_bfloat16(self) -> None:
        """Compute the matrix products of all layers in bfloat16."""
        for module in self.layers.modules():
            if isinstance(module, nn.Linear):
                module.to(torch.bfloat16)

    def tokenise(self, texts: Sequence[Text]) -> dict[str, list[list[int]]]:
        """Return the columns ``input_ids`` and ``token_type_ids``, with one row per text.

        Rows are truncated to ``longest`` tokens.
        """
        read = self._tokenizer.encode_batch(list(texts))
        return {
            "input_ids": [one.ids for one in read],
            "token_type_ids": [one.type_ids for one in read],
        }

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without truncation."""
        return [len(one.ids) for one in self._full_tokenizer.encode_batch(list(texts))]

    def forward(self, columns: Mapping[str, Sequence[Sequence[int]]]) -> Tensor:
        """Return the vectors of tokenised texts.

        Args:
            columns: Columns from :meth:`tokenise`, with the rows to encode, not padded.

        Returns:
            Vectors of shape (rows, dim), ``float32``.
        """
        device = self.words.weight.device
        lengths = torch.tensor([len(row) for row in columns["input_ids"]])
        words, kinds = (
            pad_sequence(
                [torch.tensor(row, dtype=torch.long) for row in columns[name]], batch_first=True
            ).to(device)
            for name in ("input_ids", "token_type_ids")
        )
        padding = (torch.arange(words.shape[1]) >= lengths[:, None]).to(device)
        states = self.norm(
            self.words(words) + self.kinds(kinds) + self.positions.weight[: words.shape[1]]
        )
        for layer in self.layers:
            states = layer(states, padding)
        if self._first:
            vectors = states[:, 0]
        else:
            vectors = (
                states.masked_fill(padding[..., None], 0).sum(1)
                / lengths.clamp(min=1).to(device)[:, None]
            )
        return nn.functional.normalize(vectors, dim=-1) if self._unit else vectors

    @cached_property
    def _full_tokenizer(self) -> Tokenizer:
        return self._load_tokenizer()

    def _load_tokenizer(self) -> Tokenizer:
        tokenizer = Tokenizer.from_file(str(self._vocabulary))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer
