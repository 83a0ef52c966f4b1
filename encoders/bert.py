"""BERT as an encoder of texts, without the library that trains it: importing that takes longer than most questions do."""

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
"""Tokens of a text up to which torch's own attention is slower than its products, which take memory by the square."""


class Layer(nn.Module):
    """A layer of BERT: attention, and two linear maps of each token.

    Matrices are multiplied in the precision of their weights; what runs from layer to layer, the norms and the softmax are
    ``float32``. With weights in bfloat16 that is as fast as to have all in it, and a third to a quarter as far off.
    """

    def __init__(self, dim: int, heads: int, width: int, eps: float) -> None:
        super().__init__()
        if dim % heads:
            raise ValueError(f"expected heads of one size, found {heads} of {dim} numbers")
        self.heads = heads
        self.attention, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.wide, self.narrow = nn.Linear(dim, width), nn.Linear(width, dim)
        self.norm, self.last_norm = nn.LayerNorm(dim, eps), nn.LayerNorm(dim, eps)

    def forward(self, states: Tensor, padding: Tensor) -> Tensor:
        """Map states of shape (texts, tokens, dim); ``padding`` (texts, tokens) says which are none."""
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
    """BERT (Devlin et al. 2019) and the mean of its tokens' states, or the state of the first.

    Only folders that sentence-transformers reads as just this are read; which they are, :meth:`is_at` says. For inference
    alone.

    Args:
        folder: A sentence-transformers or Hugging Face folder.
        unit: Scale the vectors to length 1.
        adapter: A folder with a LoRA adapter in the layout of ``peft``, whose weights are added to the model's.
        max_tokens: Texts are cut to this many tokens, if the model's own limit is not lower.

    Attributes:
        dim: Length of a vector.
        longest: Tokens that are read of a text, the two that frame it counted.

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
        self.words = nn.Embedding(config["vocab_size"], self.dim)
        self.positions = nn.Embedding(config["max_position_embeddings"], self.dim)
        self.kinds = nn.Embedding(config["type_vocab_size"], self.dim)
        self.norm = nn.LayerNorm(self.dim, norm)
        sizes = (self.dim, config["num_attention_heads"], config["intermediate_size"], norm)
        self.layers = nn.ModuleList(Layer(*sizes) for _ in range(config["num_hidden_layers"]))

    @staticmethod
    def is_at(folder: Path) -> bool:
        """Tell whether a folder holds such an encoder and nothing that would change its vectors."""
        return is_plain_bert(folder)

    def to_bfloat16(self) -> None:
        """Multiply matrices in bfloat16."""
        for module in self.layers.modules():
            if isinstance(module, nn.Linear):
                module.to(torch.bfloat16)

    def tokenise(self, texts: Sequence[Text]) -> dict[str, list[list[int]]]:
        """Return columns ``input_ids`` and ``token_type_ids`` with a row for each text, cut to what is read of it."""
        read = self._tokenizer.encode_batch(list(texts))
        return {
            "input_ids": [one.ids for one in read],
            "token_type_ids": [one.type_ids for one in read],
        }

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, not cut."""
        return [len(one.ids) for one in self._whole_tokenizer.encode_batch(list(texts))]

    def forward(self, columns: Mapping[str, Sequence[Sequence[int]]]) -> Tensor:
        """Embed rows of what :meth:`tokenise` returned.

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
    def _whole_tokenizer(self) -> Tokenizer:
        return self._load_tokenizer()

    def _load_tokenizer(self) -> Tokenizer:
        tokenizer = Tokenizer.from_file(str(self._vocabulary))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer
