"""Files of a BERT encoder: the check whether :mod:`ontodex.encoders.bert` supports a folder."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from ontodex.encoders.locate import CROSS

__all__ = [
    "ATTENTION",
    "EMBEDDINGS",
    "LAYER",
    "TOKENIZER",
    "WEIGHTS",
    "is_plain_bert",
    "longest_text",
    "model_settings",
    "pooling",
    "sources_of_weights",
    "vocabulary_size",
]

WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"

EMBEDDINGS = {
    "words": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "kinds": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
}
"""Name in ``model.safetensors`` of each weight of :class:`~ontodex.encoders.bert.Bert`."""

LAYER = {
    "out": "attention.output.dense",
    "norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "last_norm": "output.LayerNorm",
}
"""Name in ``model.safetensors`` of each weight of :class:`~ontodex.encoders.bert.Layer`.

The prefix of the layer is left out.
"""

ATTENTION = ("query", "key", "value")
"""Weights of a layer that are concatenated into one matrix."""

SIZES = {
    *(
        "hidden_size",
        "intermediate_size",
        "layer_norm_eps",
        "max_position_embeddings",
        "num_attention_heads",
    ),
    *("num_hidden_layers", "type_vocab_size", "vocab_size"),
}
"""Required settings of a model."""

IDLE = {
    *(
        "_name_or_path",
        "architectures",
        "attention_probs_dropout_prob",
        "bos_token_id",
        "classifier_dropout",
        "dtype",
    ),
    *(
        "eos_token_id",
        "hidden_dropout_prob",
        "initializer_range",
        "pad_token_id",
        "tie_word_embeddings",
        "torch_dtype",
    ),
    *("transformers_version", "use_cache"),
}
"""Settings of a model that do not change its vectors."""

PLAIN = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
"""The supported values of settings that change vectors."""

LIMITS = {
    "max_seq_length",
    "do_lower_case",
    "transformer_task",
    "modality_config",
    "module_output_name",
}
"""Supported settings of ``sentence_bert_config.json``, for tokenisation."""

VERBATIM, REBUILT = (
    ("PreTrainedTokenizerFast", "TokenizersBackend"),
    ("BertTokenizer", "BertTokenizerFast"),
)
"""Tokenizer classes that use all of ``tokenizer.json``, and those that use its vocabulary only.

Classes of the second kind build the other parts of a tokenizer from ``tokenizer_config.json``.
"""

SPECIAL = {
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
    "pad_token": "[PAD]",
    "sep_token": "[SEP]",
    "unk_token": "[UNK]",
}
"""Special tokens of BERT by their names in ``tokenizer_config.json``."""


def is_plain_bert(folder: Path) -> bool:
    """Return whether a folder holds a BERT without further modules or settings that change vectors.

    The check is conservative: an unknown setting makes the answer ``False``.
    """
    try:
        settings = model_settings(folder)
        with safe_open(folder / WEIGHTS, "np") as file:
            names = set(file.keys())
        return (
            not (folder / CROSS).is_dir()
            and settings.keys() >= SIZES
            and all(settings.get(name, value) == value for name, value in PLAIN.items())
            and not any(
                value for name, value in settings.items() if name not in SIZES | IDLE | PLAIN.keys()
            )
            and pooling(folder) in ("mean", "cls")
            and _is_plain_tokenizer(folder)
            and longest_text(folder) > 0
            and settings["num_hidden_layers"] < len(names)
            and names.issuperset(
                itertools.chain(*sources_of_weights(settings["num_hidden_layers"]).values())
            )
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, SafetensorError):
        return False


def model_settings(folder: Path) -> dict[str, Any]:
    """Return the settings of the model, ``config.json``."""
    return dict(_read(folder / "config.json"))


def vocabulary_size(folder: Path) -> int:
    """Return the number of tokens of the model."""
    return int(model_settings(folder)["vocab_size"])


def pooling(folder: Path) -> str | None:
    """Return the pooling mode, such as ``"mean"``; ``None`` for unsupported modules."""
    if not (folder / "modules.json").exists():
        return "mean"  # a Hugging Face folder
    modules = _read(folder / "modules.json")
    kinds = [module["type"].rpartition(".")[2] for module in modules]
    if (
        kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
        or modules[0]["path"]
    ):
        return None
    config = _read(folder / modules[1]["path"] / "config.json")
    if "pooling_mode" in config:
        return str(config["pooling_mode"])
    chosen = [name for name, on in config.items() if on and name.startswith("pooling_mode_")]
    return {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}.get(
        "".join(chosen)
    )


def longest_text(folder: Path) -> int:
    """Return the largest number of tokens of a text; longer texts are truncated."""
    most = model_settings(folder)["max_position_embeddings"]
    given = _limits(folder).get("max_seq_length") or _read(folder / "tokenizer_config.json").get(
        "model_max_length"
    )
    return int(min(given or most, most))


def sources_of_weights(layers: int) -> dict[str, list[str]]:
    """Map each weight of :class:`~ontodex.encoders.bert.Bert` to weights in a file.

    Args:
        layers: Number of layers.

    Returns:
        For each weight of ``Bert``, the names of the weights in ``model.safetensors`` that are
        concatenated into it.
    """
    found = {f"{here}.weight": [f"{there}.weight"] for here, there in EMBEDDINGS.items()}
    for part in ("weight", "bias"):
        found[f"norm.{part}"] = [f"{EMBEDDINGS['norm']}.{part}"]
        for number in range(layers):
            here, there = f"layers.{number}", f"encoder.layer.{number}"
            found |= {
                f"{here}.{one}.{part}": [f"{there}.{other}.{part}"] for one, other in LAYER.items()
            }
            found[f"{here}.attention.{part}"] = [
                f"{there}.attention.self.{one}.{part}" for one in ATTENTION
            ]
    return found


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _limits(folder: Path) -> dict[str, Any]:
    """Return ``sentence_bert_config.json``; empty for a folder without ``modules.json``."""
    path = folder / "sentence_bert_config.json"
    return dict(_read(path)) if path.exists() and (folder / "modules.json").exists() else {}


def _is_plain_tokenizer(folder: Path) -> bool:
    """Return whether ``tokenizer.json`` determines tokenisation, and no other file changes it."""
    tokenizer, config, limits = (
        _read(folder / TOKENIZER),
        _read(folder / "tokenizer_config.json"),
        _limits(folder),
    )
    kind = config.get("tokenizer_class")
    return (
        (
            (kind in VERBATIM and _has_same_normalizer(tokenizer, config))
            or (kind in REBUILT and _is_rebuilt_equal(tokenizer, config))
        )
        and tokenizer["post_processor"]["type"]
        == "TemplateProcessing"  # adds special tokens, so that an empty text has tokens
        and limits.keys() <= LIMITS
        and not limits.get("do_lower_case")
        and limits.get("transformer_task", "feature-extraction") == "feature-extraction"
        and {path.name for path in folder.glob("sentence_*_config.json")}
        <= {"sentence_bert_config.json"}
        and not (folder / "added_tokens.json").exists()
        and _added(config)
        <= {(token["id"], token["content"]) for token in tokenizer["added_tokens"]}
        and not config.get("split_special_tokens")
        and config.get("padding_side", "right") == config.get("truncation_side", "right") == "right"
        and "token_type_ids" in (config.get("model_input_names") or ["token_type_ids"])
    )


def _has_same_normalizer(tokenizer: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Return whether all normalisation settings of ``config`` agree with ``tokenizer.json``."""
    rules = tokenizer["normalizer"] or {}
    names = {
        "do_lower_case": "lowercase",
        "strip_accents": "strip_accents",
        "tokenize_chinese_chars": "handle_chinese_chars",
    }
    return all(config[name] == rules.get(rule) for name, rule in names.items() if name in config)


def _is_rebuilt_equal(tokenizer: Mapping[str, Any], config: Mapping[str, Any]) -> bool:
    """Return whether ``BertTokenizer`` builds the tokenizer that is in ``tokenizer.json``."""
    rules = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": config.get("tokenize_chinese_chars", True),
        "strip_accents": config.get("strip_accents"),
        "lowercase": config.get("do_lower_case", True),
    }
    words = {
        "type": "WordPiece",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    }
    first = [("[CLS]", 0), ("A", 0), ("[SEP]", 0)]
    frame = tokenizer["post_processor"]
    return (
        tokenizer["normalizer"] == rules
        and tokenizer["pre_tokenizer"] == {"type": "BertPreTokenizer"}
        and words.items() <= tokenizer["model"].items()
        and _pieces(frame["single"]) == first
        and _pieces(frame["pair"]) == [*first, ("B", 1), ("[SEP]", 1)]
        and all(_content(config.get(name, token)) == token for name, token in SPECIAL.items())
    )


def _pieces(template: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(piece["id"], piece["type_id"]) for one in template for piece in one.values()]


def _content(token: Any) -> Any:
    return token["content"] if isinstance(token, dict) else token


def _added(config: Mapping[str, Any]) -> set[tuple[int, str]]:
    tokens = config.get("added_tokens_decoder") or {}
    return {(int(number), _content(token)) for number, token in tokens.items()}
