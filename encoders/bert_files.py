"""Which folders hold a plain BERT, in which nothing is said that :mod:`ontodex.encoders.bert` would pass over."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from ontodex.encoders.locate import CROSS

__all__ = [
    "TOKENIZER",
    "WEIGHTS",
    "is_plain_bert",
    "longest_text",
    "model_settings",
    "pooling",
    "sources_of_weights",
]

WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"

EMBEDDINGS = {
    "words": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "kinds": "embeddings.token_type_embeddings",
    "norm": "embeddings.LayerNorm",
}
"""Names here, and in a folder."""

LAYER = {
    "out": "attention.output.dense",
    "norm": "attention.output.LayerNorm",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
    "last_norm": "output.LayerNorm",
}

ATTENTION = ("query", "key", "value")
"""Parts of a layer that are one matrix here."""

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
"""What a model's settings have to say."""

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
"""What they may say of things that do not change a vector."""

PLAIN = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}

LIMITS = {
    "max_seq_length",
    "do_lower_case",
    "transformer_task",
    "modality_config",
    "module_output_name",
}
"""What sentence-transformers may say of how texts are read."""

VERBATIM, REBUILT = (
    ("PreTrainedTokenizerFast", "TokenizersBackend"),
    ("BertTokenizer", "BertTokenizerFast"),
)
"""Tokenizers that are what ``tokenizer.json`` says, and those of which the library takes no more than the words from it."""

SPECIAL = {
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
    "pad_token": "[PAD]",
    "sep_token": "[SEP]",
    "unk_token": "[UNK]",
}


def is_plain_bert(folder: Path) -> bool:
    """Tell whether a folder holds a BERT that sentence-transformers reads as just this; when in doubt, it does not."""
    try:
        settings = model_settings(folder)
        with safe_open(folder / WEIGHTS, "pt") as file:
            names = set(file.keys())
        return (
            not (folder / CROSS).is_dir()
            and settings.keys() >= SIZES
            and all(settings.get(name, value) == value for name, value in PLAIN.items())
            and not any(
                value for name, value in settings.items() if name not in SIZES | IDLE | PLAIN.keys()
            )
            and pooling(folder) in ("mean", "cls")
            and _texts_are_read_plainly(folder)
            and longest_text(folder) > 0
            and settings["num_hidden_layers"] < len(names)
            and names.issuperset(
                itertools.chain(*sources_of_weights(settings["num_hidden_layers"]).values())
            )
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, SafetensorError):
        return False


def model_settings(folder: Path) -> dict[str, Any]:
    """Return the settings of the model."""
    return dict(_read(folder / "config.json"))


def pooling(folder: Path) -> str | None:
    """Return how a folder's vectors are pooled; ``None`` if it has modules that are not known here."""
    if not (folder / "modules.json").exists():
        return "mean"  # a folder of transformers' own
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
    """Return the most tokens that are read of a text."""
    most = model_settings(folder)["max_position_embeddings"]
    given = _limits(folder).get("max_seq_length") or _read(folder / "tokenizer_config.json").get(
        "model_max_length"
    )
    return int(min(given or most, most))


def sources_of_weights(layers: int) -> dict[str, list[str]]:
    """Return, by the name of each weight of a BERT here, the names of those in a folder that it is put together from."""
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
    """Return what sentence-transformers keeps of how texts are read, if it has written the folder."""
    path = folder / "sentence_bert_config.json"
    return dict(_read(path)) if path.exists() and (folder / "modules.json").exists() else {}


def _texts_are_read_plainly(folder: Path) -> bool:
    """Tell whether ``tokenizer.json`` alone says how texts are cut into tokens: other files may change what it says."""
    whole, told, limits = (
        _read(folder / TOKENIZER),
        _read(folder / "tokenizer_config.json"),
        _limits(folder),
    )
    kind = told.get("tokenizer_class")
    return (
        (
            (kind in VERBATIM and _is_told_alike(whole, told))
            or (kind in REBUILT and _is_rebuilt_alike(whole, told))
        )
        and whole["post_processor"]["type"]
        == "TemplateProcessing"  # so that no text is without tokens
        and limits.keys() <= LIMITS
        and not limits.get("do_lower_case")
        and limits.get("transformer_task", "feature-extraction") == "feature-extraction"
        and {path.name for path in folder.glob("sentence_*_config.json")}
        <= {"sentence_bert_config.json"}
        and not (folder / "added_tokens.json").exists()
        and _added(told) <= {(token["id"], token["content"]) for token in whole["added_tokens"]}
        and not told.get("split_special_tokens")
        and told.get("padding_side", "right") == told.get("truncation_side", "right") == "right"
        and "token_type_ids" in (told.get("model_input_names") or ["token_type_ids"])
    )


def _is_told_alike(whole: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Tell whether what the settings say of letters, if they do, is what is in ``tokenizer.json``."""
    rules = whole["normalizer"] or {}
    names = {
        "do_lower_case": "lowercase",
        "strip_accents": "strip_accents",
        "tokenize_chinese_chars": "handle_chinese_chars",
    }
    return all(told[name] == rules.get(rule) for name, rule in names.items() if name in told)


def _is_rebuilt_alike(whole: Mapping[str, Any], told: Mapping[str, Any]) -> bool:
    """Tell whether what ``BertTokenizer`` makes of its settings is what is in ``tokenizer.json``."""
    rules = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": told.get("tokenize_chinese_chars", True),
        "strip_accents": told.get("strip_accents"),
        "lowercase": told.get("do_lower_case", True),
    }
    words = {
        "type": "WordPiece",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    }
    first = [("[CLS]", 0), ("A", 0), ("[SEP]", 0)]
    frame = whole["post_processor"]
    return (
        whole["normalizer"] == rules
        and whole["pre_tokenizer"] == {"type": "BertPreTokenizer"}
        and words.items() <= whole["model"].items()
        and _pieces(frame["single"]) == first
        and _pieces(frame["pair"]) == [*first, ("B", 1), ("[SEP]", 1)]
        and all(_content(told.get(name, token)) == token for name, token in SPECIAL.items())
    )


def _pieces(template: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(piece["id"], piece["type_id"]) for one in template for piece in one.values()]


def _content(token: Any) -> Any:
    return token["content"] if isinstance(token, dict) else token


def _added(told: Mapping[str, Any]) -> set[tuple[int, str]]:
    tokens = told.get("added_tokens_decoder") or {}
    return {(int(number), _content(token)) for number, token in tokens.items()}
