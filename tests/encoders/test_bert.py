"""BERT without transformers: equal vectors, and models that only transformers can load."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

from ontodex.encoders.bert import Bert
from ontodex.encoders.device import has_bfloat16
from ontodex.encoders.locate import DEFAULT_ENCODER, locate
from ontodex.encoders.sentence_transformer import LibraryEncoder
from ontodex.encoders.text import TextEncoder
from ontodex.encoders.text_reader import Text
from ontodex.errors import EncoderError

TEXTS: list[Text] = [
    "dog",
    "",
    "a wild Dog lives in the forest.",
    "dog " * 300,
    "日本語 café",
    "x\x00y",
    "[SEP] cat",
]


@pytest.fixture
def copy(tiny_encoder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_encoder, tmp_path / "copy"))


def same(folder: Path, texts: list[Text], **settings: Any) -> bool:
    """Return whether tokens and vectors are those of the library."""
    ours, theirs = Bert(folder, **settings), LibraryEncoder(folder, "cpu", **settings)
    tokens, wanted = ours.tokenise(texts), theirs.tokenise(texts)
    assert tokens["input_ids"] == wanted["input_ids"]
    assert ours.longest == theirs.longest
    with torch.inference_mode():
        torch.testing.assert_close(ours(tokens), theirs(wanted), atol=1e-5, rtol=1e-4)
    return True


@pytest.mark.parametrize("settings", [{}, {"unit": False}, {"max_tokens": 9}], ids=str)
@pytest.mark.parametrize("default", [False, True])
def test_vectors_are_the_library_s(
    tiny_encoder: Path, default: bool, settings: dict[str, Any]
) -> None:
    folder = locate(DEFAULT_ENCODER) if default else tiny_encoder
    assert Bert.is_at(folder)
    assert same(folder, TEXTS, **settings)
    assert same(folder, [("dog", "a wild cat"), ("dog " * 80, "cat " * 70), ("", "")], **settings)


def test_folders_that_are_saved_by_the_library(tiny_encoder: Path, tmp_path: Path) -> None:
    words = Transformer(str(tiny_encoder), max_seq_length=20)
    for pooling in ("mean", "cls"):
        folder = tmp_path / pooling
        SentenceTransformer(modules=[words, Pooling(32, pooling), Normalize()], device="cpu").save(
            str(folder)
        )
        assert Bert.is_at(folder)
        assert same(folder, TEXTS)


def test_a_folder_of_transformers_own(tiny_encoder: Path, tmp_path: Path) -> None:
    Transformer(str(tiny_encoder)).model.save_pretrained(tmp_path / "plain")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(tiny_encoder / name, tmp_path / "plain" / name)
    assert Bert.is_at(tmp_path / "plain")
    assert same(tmp_path / "plain", TEXTS)


def settings_of(name: str, **changes: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def without_a_layer(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "layer.1.output" not in name}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})


def another_module(folder: Path) -> None:
    modules = json.loads((folder / "modules.json").read_text())
    modules.append(
        {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    )
    (folder / "modules.json").write_text(json.dumps(modules))


@pytest.mark.parametrize(
    "change",
    [
        settings_of("config.json", model_type="roberta"),
        settings_of("config.json", hidden_act="relu"),
        settings_of("config.json", position_embedding_type="relative_key"),
        settings_of("config.json", is_decoder=True),
        settings_of("config.json", num_hidden_layers=10**12),
        settings_of("1_Pooling/config.json", pooling_mode="max"),
        settings_of("tokenizer_config.json", do_lower_case=False),
        settings_of("tokenizer_config.json", truncation_side="left"),
        another_module,
        without_a_layer,
        lambda folder: (folder / "tokenizer.json").unlink(),
        lambda folder: (folder / "cross_encoder").mkdir(),
    ],
)
def test_other_models_are_left_to_the_library(copy: Path, change: Callable[[Path], None]) -> None:
    change(copy)
    assert not Bert.is_at(copy)


def tokenizer_of(**parts: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        settings_of("tokenizer_config.json", tokenizer_class="BertTokenizer")(folder)
        settings_of("tokenizer.json", **parts)(folder)

    return change


def without_modules(folder: Path) -> None:
    (folder / "modules.json").unlink()
    settings_of("sentence_bert_config.json", max_seq_length=20)(folder)


def old_name(folder: Path) -> None:
    text = json.dumps({"max_seq_length": 20})
    (folder / "sentence_bert_config.json").unlink()
    (folder / "sentence_roberta_config.json").write_text(text)


CHANGES: dict[str, Callable[[Path], None]] = {
    "causal": settings_of("config.json", is_causal=True),
    "limits of another kind": settings_of(
        "sentence_bert_config.json", config_args={"num_hidden_layers": 1}
    ),
    "limits of the tokenizer": settings_of(
        "sentence_bert_config.json", tokenizer_args={"model_max_length": 7}
    ),
    "another task": settings_of("sentence_bert_config.json", transformer_task="fill-mask"),
    "no modules": without_modules,
    "limits under an old name": old_name,
    "no limit": settings_of("tokenizer_config.json", model_max_length=None),
    "an endless limit": settings_of("tokenizer_config.json", model_max_length=10**30),
    "another tokenizer": settings_of("tokenizer_config.json", tokenizer_class="RobertaTokenizer"),
    "special tokens in parts": settings_of("tokenizer_config.json", split_special_tokens=True),
    "no kinds of tokens": settings_of(
        "tokenizer_config.json", model_input_names=["input_ids", "attention_mask"]
    ),
    "as BertTokenizer makes it": settings_of(
        "tokenizer_config.json", tokenizer_class="BertTokenizer"
    ),
    "cased": tokenizer_of(normalizer={"type": "Lowercase"}),
    "no normalizer": tokenizer_of(normalizer=None),
    "split at spaces": tokenizer_of(pre_tokenizer={"type": "WhitespaceSplit"}),
    "no frame": tokenizer_of(post_processor=None),
    "another first token": settings_of(
        "tokenizer_config.json", tokenizer_class="BertTokenizer", cls_token="[MASK]"
    ),
    "pooled by two": settings_of(
        "1_Pooling/config.json",
        pooling_mode=None,
        pooling_mode_mean_tokens=1,
        pooling_mode_cls_token=True,
    ),
}


READ = {"no modules", "no limit", "an endless limit"}
"""Write changes of a folder that plain BERT still covers."""


@pytest.mark.parametrize("name", CHANGES)
def test_folders_read_here_give_the_vectors_of_the_library(copy: Path, name: str) -> None:
    CHANGES[name](copy)
    assert Bert.is_at(copy) == (name in READ)
    if name in READ:
        assert same(copy, TEXTS)
        assert same(copy, [("dog", "a wild cat"), ("", "")])


def test_another_activation_is_read_by_the_library(copy: Path, tiny_encoder: Path) -> None:
    settings_of("config.json", hidden_act="relu")(copy)
    plain = SentenceTransformer(str(copy), device="cpu", local_files_only=True)
    wanted = torch.from_numpy(plain.encode(["a wild dog"], normalize_embeddings=True))
    found = [
        torch.from_numpy(TextEncoder(folder, "cpu").encode(["a wild dog"]))
        for folder in (copy, tiny_encoder)
    ]
    error, other = (1 - (one @ wanted.T).item() for one in found)
    assert error < 2e-3  # bfloat16 on random weights
    assert error < other / 2


@pytest.mark.parametrize(
    "change",
    [
        settings_of("config.json", num_attention_heads=5),
        settings_of("config.json", vocab_size=10**15),
        settings_of("config.json", intermediate_size=7),
        lambda folder: settings_of("tokenizer.json", model={"type": "Unheard"})(folder),
    ],
)
def test_inconsistent_folders_are_an_encoder_error(
    copy: Path, change: Callable[[Path], None]
) -> None:
    change(copy)
    with pytest.raises(EncoderError, match="does not load"):
        TextEncoder(copy, "cpu")


@pytest.mark.slow  # bfloat16 is emulated on some machines
def test_bfloat16_changes_little_and_the_batch_less() -> None:
    folder = locate(DEFAULT_ENCODER)
    bert, library = Bert(folder), LibraryEncoder(folder, "cpu")
    tokens = bert.tokenise(TEXTS)
    with torch.inference_mode():
        whole = bert(tokens)
        bert.to_bfloat16()
        library.to_bfloat16()
        half = bert(tokens)
        error, theirs = (
            1 - (whole * found).sum(1).min() for found in (half, library(library.tokenise(TEXTS)))
        )
        alone = torch.cat([bert(bert.tokenise([text])) for text in TEXTS])
    assert half.dtype == torch.float32
    assert error < 2e-4
    assert error < theirs / 1.5
    # Where bfloat16 is emulated, ontodex computes in float32, and the order of sums depends
    # more on the batch.
    assert 1 - (half * alone).sum(1).min() < (error if has_bfloat16("cpu") else 2e-4)


def test_the_library_is_not_imported() -> None:
    code = (
        "from ontodex.encoders.text import TextEncoder as T; t = T.load(); t.encode(['dog']); "
        "import sys; print('torch' in sys.modules); t.encode(['dog ' * 600]); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("False")  # a short text needs no torch
    assert "torch" in done.stdout.split()
    assert not {"transformers", "sentence_transformers", "sklearn"} & set(done.stdout.split())
