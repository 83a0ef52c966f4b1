"""Self-StrAE: a text encoder that builds the tree of a text and embeds each node of the tree."""

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
"""The token for unknown characters, and for a text without tokens."""

TEXTS = 1024
"""Number of texts whose trees are built together."""


@dataclass(frozen=True)
class Node:
    """A node of the tree of a text.

    Attributes:
        start: Start of its span in the text, in characters.
        end: End of its span in the text, in characters, exclusive.
        left: Index of its left child in the tree; ``None`` for a token.
        right: Index of its right child in the tree; ``None`` for a token.
        similarity: Cosine of its children; ``None`` for a token.
    """

    start: int
    end: int
    left: int | None = None
    right: int | None = None
    similarity: float | None = None


@dataclass(frozen=True, eq=False)
class Tree:
    """The tree of a text.

    Attributes:
        text: The text up to its last token; longer texts are truncated.
        nodes: The tokens from left to right, then the merged nodes in the order of the merges; the
            last node is the root.
        vectors: Unit vectors of the nodes, ``float32`` of shape (nodes, dim).
    """

    text: str
    nodes: tuple[Node, ...]
    vectors: NDArray[np.float32]

    def span(self, number: int) -> str:
        """Return the span of a node as text."""
        return self.text[self.nodes[number].start : self.nodes[number].end]

    def __str__(self) -> str:
        """Draw the tree as lines of text, each merge with the cosine of its children."""
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
    """Contents of ``self_strae/config.json``; see :class:`SelfStrAE`."""

    channels: int
    size: int
    vocabulary: int
    max_tokens: int

    def __post_init__(self) -> None:
        expect_whole(self, channels=1, size=1, vocabulary=1, max_tokens=2)


class _Network(nn.Module):
    """The weights: the embeddings of tokens, and the composition of two nodes."""

    def __init__(self, config: _Config) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(config.vocabulary, config.channels * config.size))
        self.weight = nn.Parameter(torch.zeros(config.size, 2 * config.size))
        self.bias = nn.Parameter(torch.zeros(config.size))


class SelfStrAE(InputModule):
    """The encoder of a self-structuring autoencoder, as a module of sentence-transformers.

    Opper and Siddharth, 2024. Starting with the tokens, the two neighbouring nodes with the highest
    cosine are merged until one node is left. The vector of this root is the vector of the text. A
    vector consists of ``channels`` channels of ``size`` numbers. A linear layer, with a weight of
    shape (size, 2 size), composes two nodes; all channels share the layer.

    Args:
        tokenizer: Tokenizer of texts.
        channels: Number of channels.
        size: Size of a channel.
        max_tokens: Largest number of tokens of a text; longer texts are truncated.

    Raises:
        SettingsError: If a number is too small.

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
        """Embeddings of tokens, of shape (vocabulary, size * channels).

        A row is the concatenation of ``size`` planes of ``channels`` numbers.
        """
        return self.network.table

    @property
    def dim(self) -> int:
        """Dimension of vectors."""
        return self.config.channels * self.config.size

    def get_embedding_dimension(self) -> int:
        """Return the dimension of vectors; a method of sentence-transformers' interface."""
        return self.dim

    @classmethod
    def load(cls, model_name_or_path: str | Path, *_: Any, **__: Any) -> SelfStrAE:
        """Load a folder that :meth:`write` wrote.

        Args:
            model_name_or_path: The folder, by the name that sentence-transformers gives it.

        Raises:
            EncoderError: If the folder holds no Self-StrAE encoder, or a damaged one.
        """
        folder = Path(model_name_or_path)
        config, network = load_network(
            folder / TREES, _Config, lambda config, _: _Network(config), "a Self-StrAE encoder"
        )
        try:
            tokenizer = Tokenizer.from_file(str(folder / TREES / "tokenizer.json"))
        except Exception as error:  # tokenizers raises no more specific class
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
        """Write the encoder into a folder that ``TextEncoder`` and sentence-transformers load."""
        weights = {name: weight.detach() for name, weight in self.network.state_dict().items()}
        save_network(folder / TREES, vars(self.config), weights)
        self.tokenizer.save(str(folder / TREES / "tokenizer.json"))
        kind = f"{type(self).__module__}.{type(self).__name__}"
        modules = [{"idx": 0, "name": "0", "path": "", "type": kind}]
        (folder / "modules.json").write_text(json.dumps(modules, indent=1))

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
        """Write the encoder; a method of sentence-transformers' interface."""
        self.write(Path(output_path))

    def preprocess(
        self, inputs: Sequence[Any], prompt: str | None = None, **_: Any
    ) -> dict[str, Any]:
        """Tokenise texts; a method of sentence-transformers' interface.

        Returns:
            ``tokens``, the concatenated token ids of all texts, and ``lengths``, the number of
            tokens of each text.
        """
        found = self.tokenise([f"{prompt or ''}{text}" for text in inputs])
        return {
            "tokens": torch.from_numpy(np.concatenate(found)),
            "lengths": torch.tensor([len(ids) for ids in found]),
        }

    def forward(self, features: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Embed tokenised texts; a method of sentence-transformers' interface.

        Returns:
            The features, and ``sentence_embedding`` of shape (texts, dim).
        """
        tokens = torch.split(features["tokens"].to(self.table.device), features["lengths"].tolist())
        found = self.table.new_empty(len(tokens), self.dim)
        for rows, forest, nodes in self._forests(tokens):
            found[rows] = vectors(nodes.index_select(1, forest.roots))
        return {**features, "sentence_embedding": found}

    def tokenise(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Return the token ids of texts, truncated to ``max_tokens``."""
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
        """Build trees in batches, longest texts first.

        Yields:
            The batch's indices into ``tokens``, its trees, and the vectors of all nodes, of shape
            (size, nodes, channels).
        """
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
    """Return the tree of one text of a forest.

    Args:
        text: The text.
        offsets: Start and end of each token, in characters.
        own: Numbers of the text's nodes in the forest, of shape (nodes,).
        merges: Left child, right child and cosine of each parent of the text.
        units: Unit vectors of the nodes, of shape (nodes, dim).
    """
    places: Mapping[int, int] = {node: place for place, node in enumerate(own.tolist())}
    nodes = [Node(start, end) for start, end in offsets]
    for one, other, similarity in merges:
        left, right = places[one], places[other]
        nodes.append(Node(nodes[left].start, nodes[right].end, left, right, round(similarity, 6)))
    return Tree(text[: max(end for _, end in offsets)], tuple(nodes), units)
