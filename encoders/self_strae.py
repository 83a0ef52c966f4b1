"""Self-StrAE: a text encoder that finds the tree of a text, and whose vectors are those of the tree's nodes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers.base.modules import InputModule
from tokenizers import Tokenizer
from torch import Tensor, nn

from ontodex.encoders.forest import Forest, grow, planes, vectors
from ontodex.encoders.locate import TREES
from ontodex.encoders.network_files import load_network, save_network
from ontodex.errors import EncoderError, expect_whole

__all__ = ["UNKNOWN", "Node", "SelfStrAE", "Tree"]

UNKNOWN = "[UNK]"
"""The token of what no other token spells; and of a text that has no tokens."""

TEXTS = 1024
"""Texts whose trees are found together."""


@dataclass(frozen=True)
class Node:
    """A node of the tree of a text.

    Attributes:
        start: Where its part of the text begins, in characters.
        end: Where it ends.
        left: Number of its left child in the tree; ``None`` for a token.
        right: Number of its right child; ``None`` for a token.
        similarity: Cosine of its children; ``None`` for a token.
    """

    start: int
    end: int
    left: int | None = None
    right: int | None = None
    similarity: float | None = None


@dataclass(frozen=True, eq=False)
class Tree:
    """The tree that an encoder found in a text.

    Attributes:
        text: The text, as far as it was read.
        nodes: First the tokens, from left to right, then what was merged, in that order; the root is the last.
        vectors: Their vectors, of length 1, ``float32`` of shape (nodes, dim).
    """

    text: str
    nodes: tuple[Node, ...]
    vectors: NDArray[np.float32]

    def span(self, number: int) -> str:
        """Return the part of the text that a node stands for."""
        return self.text[self.nodes[number].start : self.nodes[number].end]

    def __str__(self) -> str:
        """Draw the tree in lines of text, each merge with the similarity of its two parts."""
        return "\n".join(self._lines(len(self.nodes) - 1, "", ""))

    def _lines(self, number: int, first: str, rest: str) -> Iterator[str]:
        stack = [(number, first, rest)]
        while stack:
            at, first, rest = stack.pop()
            node = self.nodes[at]
            if node.left is None or node.right is None:
                yield f"{first}{self.span(at)}"
            else:
                yield f"{first}{self.span(at)}  {node.similarity:.2f}"
                stack.append((node.right, f"{rest}└─ ", f"{rest}   "))
                stack.append((node.left, f"{rest}├─ ", f"{rest}│  "))


@dataclass(frozen=True)
class _Config:
    """What ``self_strae/config.json`` holds; see :class:`SelfStrAE`."""

    channels: int
    size: int
    vocabulary: int
    max_tokens: int

    def __post_init__(self) -> None:
        expect_whole(self, channels=1, size=1, vocabulary=1, max_tokens=2)


class _Network(nn.Module):
    """The weights: a table of tokens, and what composes two nodes into one."""

    def __init__(self, config: _Config) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(config.vocabulary, config.channels * config.size))
        self.weight = nn.Parameter(torch.zeros(config.size, 2 * config.size))
        self.bias = nn.Parameter(torch.zeros(config.size))


class SelfStrAE(InputModule):
    """A self-structuring autoencoder's encoder (Opper and Siddharth, 2024), as a module of sentence-transformers.

    A text is cut into tokens; the two neighbours that are most alike are merged into one node, until one is left: its vector
    is the text's. A vector is ``channels`` parts of ``size`` numbers, and one matrix of 2 size² numbers merges every part of
    every two nodes.

    Args:
        tokenizer: Cuts texts into tokens.
        channels: Parts of a vector.
        size: Numbers of a part.
        max_tokens: Texts are cut to this many tokens.

    Example:
        >>> from tokenizers import Tokenizer, models, pre_tokenizers
        >>> words = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "b": 2}, unk_token="[UNK]"))
        >>> words.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> encoder = SelfStrAE(words, channels=4, size=2)
        >>> [tree.span(len(tree.nodes) - 1) for tree in encoder.trees(["a b", "c"])]
        ['a b', 'c']
    """

    save_in_root = False

    def __init__(
        self, tokenizer: Tokenizer, channels: int, size: int, max_tokens: int = 200
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.config = _Config(channels, size, tokenizer.get_vocab_size(), max_tokens)
        self.tokenizer = tokenizer
        self.network = _Network(self.config)

    @property
    def table(self) -> Tensor:
        """Vectors of the tokens, of shape (vocabulary, size * channels): plane after plane."""
        return self.network.table

    @property
    def dim(self) -> int:
        """Dimensions of a vector."""
        return self.config.channels * self.config.size

    def get_embedding_dimension(self) -> int:
        """Return the dimensions of a vector; its name is sentence-transformers'."""
        return self.dim

    @staticmethod
    def is_at(folder: Path) -> bool:
        """Tell whether a folder holds such an encoder."""
        return (folder / TREES / "config.json").exists()

    @classmethod
    def load(cls, model_name_or_path: str | Path, *_: Any, **__: Any) -> SelfStrAE:
        """Load what :meth:`write` wrote; the argument's name is sentence-transformers'.

        Raises:
            EncoderError: If the folder holds none, or a damaged one.
        """
        folder = Path(model_name_or_path)
        config, network = load_network(
            folder / TREES, _Config, lambda config, _: _Network(config), "a Self-StrAE encoder"
        )
        try:
            tokenizer = Tokenizer.from_file(str(folder / TREES / "tokenizer.json"))
        except Exception as error:  # tokenizers raises nothing more precise
            raise EncoderError(
                f"{folder}: expected a tokenizer, found one that does not load: {error}"
            ) from error
        if tokenizer.get_vocab_size() != config.vocabulary:
            raise EncoderError(
                f"{folder}: expected a tokenizer of {config.vocabulary:,} tokens, found one of "
                f"{tokenizer.get_vocab_size():,}"
            )
        made = cls(tokenizer, config.channels, config.size, config.max_tokens)
        made.network = network
        return made

    def write(self, folder: Path) -> None:
        """Write the encoder into a folder, from which ``TextEncoder`` and sentence-transformers load it."""
        weights = {name: weight.detach() for name, weight in self.network.state_dict().items()}
        save_network(folder / TREES, vars(self.config), weights)
        self.tokenizer.save(str(folder / TREES / "tokenizer.json"))
        kind = f"{type(self).__module__}.{type(self).__name__}"
        modules = [{"idx": 0, "name": "0", "path": "", "type": kind}]
        (folder / "modules.json").write_text(json.dumps(modules, indent=1))

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Write the encoder; called by sentence-transformers."""
        self.write(Path(output_path))

    def preprocess(
        self, inputs: Sequence[Any], prompt: str | None = None, **_: Any
    ) -> dict[str, Any]:
        """Return the tokens of texts one after the other, and their numbers."""
        found = self.tokenise([f"{prompt or ''}{text}" for text in inputs])
        return {
            "tokens": torch.from_numpy(np.concatenate(found)),
            "lengths": torch.tensor([len(ids) for ids in found]),
        }

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Add the vectors of texts, ``sentence_embedding`` of shape (texts, dim), as sentence-transformers expects."""
        tokens = torch.split(features["tokens"].to(self.table.device), features["lengths"].tolist())
        found = self.table.new_empty(len(tokens), self.dim)
        for rows, forest, nodes in self._forests(tokens):
            found[rows] = vectors(nodes.index_select(1, forest.roots))
        return {**features, "sentence_embedding": found}

    def tokenise(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Return the token ids of texts, cut to the most that are read."""
        found = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        unknown = self.tokenizer.token_to_id(UNKNOWN)
        return [
            np.array(one.ids[: self.config.max_tokens] or [unknown], dtype=np.int64)
            for one in found
        ]

    def trees(self, texts: Sequence[str]) -> list[Tree]:
        """Return the tree of each text."""
        read = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        unknown, most = self.tokenizer.token_to_id(UNKNOWN), self.config.max_tokens
        tokens = [
            torch.tensor(one.ids[:most] or [unknown], device=self.table.device) for one in read
        ]
        found: dict[int, Tree] = {}
        for rows, forest, nodes in self._forests(tokens):
            units = nn.functional.normalize(vectors(nodes), dim=1).cpu().numpy()
            owners = forest.owners.cpu().numpy()
            merges = list(
                zip(
                    *(part.tolist() for part in (forest.left, forest.right, forest.similarities)),
                    strict=True,
                )
            )
            order = np.argsort(owners, kind="stable")
            for own, row in zip(
                np.split(order, np.flatnonzero(np.diff(owners[order])) + 1), rows, strict=True
            ):
                offsets = read[row].offsets[:most] or [(0, len(texts[row]))]
                made = [merges[node - forest.tokens] for node in own[len(offsets) :].tolist()]
                found[row] = _tree(texts[row], offsets, own, made, units[own])
        return [found[row] for row in range(len(texts))]

    @torch.inference_mode()
    def _forests(self, tokens: Sequence[Tensor]) -> Iterator[tuple[list[int], Forest, Tensor]]:
        """Yield texts, the longest first, and the trees of so many of them as are found together."""
        order = sorted(range(len(tokens)), key=lambda row: -len(tokens[row]))
        size = self.config.size
        for start in range(0, len(order), TEXTS):
            rows = order[start : start + TEXTS]
            leaves = planes(self.table[torch.cat([tokens[row] for row in rows])], size)
            lengths = torch.tensor([len(tokens[row]) for row in rows], device=leaves.device)
            yield rows, *grow(leaves, lengths, self.network.weight, self.network.bias)


def _tree(
    text: str,
    offsets: Sequence[tuple[int, int]],
    own: NDArray[np.int64],
    merges: Sequence[tuple[int, int, float]],
    units: NDArray[np.float32],
) -> Tree:
    """Return the tree of one text of a forest, whose nodes have the numbers ``own`` there, and its merges."""
    places: Mapping[int, int] = {node: place for place, node in enumerate(own.tolist())}
    nodes = [Node(start, end) for start, end in offsets]
    for one, other, alike in merges:
        left, right = places[one], places[other]
        nodes.append(Node(nodes[left].start, nodes[right].end, left, right, round(alike, 6)))
    return Tree(text[: max(end for _, end in offsets)], tuple(nodes), units)
