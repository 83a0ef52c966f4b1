"""LoRA adapters: merging as in peft, and refusal of unknown, damaged or unfitting ones."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense
from transformers import AutoModel, AutoTokenizer, ModernBertConfig, ModernBertModel

from ontodex.encoders.adapter import ADAPTER_FILES, add_adapter
from ontodex.encoders.sentence_transformer import load_tunable
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError
from ontodex.trainers.adapter import inject_adapter

pytestmark = pytest.mark.filterwarnings(
    "ignore:`is_gradient_checkpointing` is deprecated:FutureWarning"
)  # peft

CONFIG, WEIGHTS = ADAPTER_FILES


def bare(folder: Path) -> Any:
    return AutoModel.from_pretrained(folder, dtype=torch.float32)


def made(encoder: Path, folder: Path, **settings: Any) -> Path:
    """Write an adapter with random weights, as peft saves it."""
    torch.manual_seed(0)
    settings = {"r": 4, "lora_alpha": 12, "target_modules": ["query", "dense"], **settings}
    model = get_peft_model(bare(encoder), LoraConfig(**settings))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if ".lora_" in name:
                weight.normal_(std=0.2)
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def adapter(tiny_encoder: Path, tmp_path: Path) -> Path:
    return made(tiny_encoder, tmp_path / "adapter")


def test_only_the_adapter_is_trained(tiny_encoder: Path) -> None:
    whole = SentenceTransformer(
        modules=[*load_tunable(tiny_encoder, "cpu"), Dense(32, 32)], device="cpu"
    )
    inject_adapter(whole, rank=4)
    trained = [name for name, weight in whole.named_parameters() if weight.requires_grad]
    assert trained
    assert all(".lora_" in name for name in trained)


def test_layers_of_any_name_get_an_adapter() -> None:
    names = ["Wqkv", "Wo", "Wi"]
    sizes = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
    }
    model = ModernBertModel(ModernBertConfig(vocab_size=50, pad_token_id=0, **sizes))
    whole = Transformers(model)
    inject_adapter(whole, rank=4)
    for name in names:
        assert any(f"{name}.lora_A" in path for path, _ in model.named_parameters())


class Transformers(torch.nn.Module):
    """The part of a SentenceTransformer that adapters use."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.transformers_model = model


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"r": 1, "lora_alpha": 1},
        {
            "r": 16,
            "lora_alpha": 3,
            "target_modules": ["query", "key", "value"],
            "lora_dropout": 0.5,
        },
        {"layers_to_transform": [1], "exclude_modules": ["pooler.dense"]},
        {"init_lora_weights": "gaussian"},
    ],
    ids=str,
)
def test_weights_are_those_that_peft_merges(
    tiny_encoder: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    folder = made(tiny_encoder, tmp_path / "adapter", **settings)
    wanted = PeftModel.from_pretrained(bare(tiny_encoder), folder).merge_and_unload().state_dict()
    model, before = bare(tiny_encoder), bare(tiny_encoder).state_dict()
    add_adapter(dict(model.named_parameters()), folder)
    found = model.state_dict()
    assert found.keys() == wanted.keys()
    for name, weight in wanted.items():
        torch.testing.assert_close(found[name], weight, msg=name)
    changed = {name for name in found if not torch.equal(found[name], before[name])}
    assert changed
    assert all(
        name.endswith(("query.weight", "key.weight", "value.weight", "dense.weight"))
        for name in changed
    )


def test_an_encoder_with_an_adapter_is_peft_s_too(tiny_encoder: Path, adapter: Path) -> None:
    texts = ["a wild dog", "dog", ""]
    encoder = TextEncoder(tiny_encoder, "cpu", unit=False, adapter=adapter)
    tokens = AutoTokenizer.from_pretrained(tiny_encoder)(texts[0], return_tensors="pt")
    with torch.inference_mode():
        states = PeftModel.from_pretrained(bare(tiny_encoder), adapter)(**tokens).last_hidden_state
    found = torch.from_numpy(encoder.encode(texts))[0]
    assert (
        torch.nn.functional.cosine_similarity(found, states[0].mean(0), dim=0) > 0.998
    )  # bfloat16, random weights
    plain = torch.from_numpy(TextEncoder(tiny_encoder, "cpu", unit=False).encode(texts))[0]
    assert torch.nn.functional.cosine_similarity(found, plain, dim=0) < 0.99


@pytest.mark.filterwarnings("ignore:Adapter 'default'. 9 LoRA tensor")
@pytest.mark.parametrize(
    "settings",
    [
        {"use_dora": True},
        {"use_rslora": True},
        {"rank_pattern": {"query": 2}, "alpha_pattern": {"query": 7}},
        {"lora_bias": True},
        {"modules_to_save": ["pooler"]},
        {"bias": "all"},
        {"trainable_token_indices": {"word_embeddings": [1, 2]}},
        {"target_modules": ["word_embeddings"]},
        {"init_lora_weights": "pissa"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_extensions_of_lora_are_refused(
    tiny_encoder: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    folder = made(tiny_encoder, tmp_path / "adapter", **settings)
    with pytest.raises(EncoderError, match="expected a LoRA adapter for this model"):
        TextEncoder(tiny_encoder, "cpu", adapter=folder)


def changed_config(adapter: Path, **values: Any) -> None:
    config = json.loads((adapter / CONFIG).read_text())
    (adapter / CONFIG).write_text(json.dumps({**config, **values}))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("peft_type", "LOHA"), ("peft_type", None), ("r", 0), ("r", "four"), ("r", None),
        ("lora_alpha", None),
        ("fan_in_fan_out", True), ("use_qalora", True), ("alora_invocation_tokens", [5]),
        ("layer_replication", [[0, 2], [1, 2]]),
        ("a_kind_that_nobody_knows_yet", {"of": "weights"}),
    ],
)  # fmt: skip
def test_a_setting_that_changes_what_the_numbers_mean_is_refused(
    tiny_encoder: Path, adapter: Path, key: str, value: Any
) -> None:
    changed_config(adapter, **{key: value})
    with pytest.raises(EncoderError, match="expected a LoRA adapter for this model"):
        add_adapter(dict(bare(tiny_encoder).named_parameters()), adapter)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"null", b"{}", b"\xff\xfe"])
@pytest.mark.parametrize("name", ADAPTER_FILES)
def test_a_damaged_file_is_refused(
    tiny_encoder: Path, adapter: Path, name: str, content: bytes
) -> None:
    (adapter / name).write_bytes(content)
    with pytest.raises(EncoderError, match="expected a LoRA adapter for this model"):
        add_adapter(dict(bare(tiny_encoder).named_parameters()), adapter)
    (adapter / name).unlink()
    with pytest.raises(EncoderError, match="expected a LoRA adapter for this model"):
        add_adapter(dict(bare(tiny_encoder).named_parameters()), adapter)


def test_a_cut_file_is_refused(tiny_encoder: Path, adapter: Path) -> None:
    whole = (adapter / WEIGHTS).read_bytes()
    for length in (1, 8, 100, len(whole) // 2, len(whole) - 1):
        (adapter / WEIGHTS).write_bytes(whole[:length])
        with pytest.raises(EncoderError, match="expected a LoRA adapter for this model"):
            add_adapter(dict(bare(tiny_encoder).named_parameters()), adapter)


QUERY = "base_model.model.encoder.layer.0.attention.self.query"


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: tensors.pop(f"{QUERY}.lora_A.weight"),
        lambda tensors: tensors.update({"base_model.model.pooler.extra.weight": torch.zeros(2)}),
        lambda tensors: tensors.update(
            {"base_model.model.nowhere.lora_A.weight": torch.zeros(4, 32)}
        ),
        lambda tensors: tensors[f"{QUERY}.lora_A.weight"].fill_(float("nan")),
        lambda tensors: tensors[f"{QUERY}.lora_B.weight"].fill_(float("inf")),
        lambda tensors: tensors.update(
            {f"{QUERY}.lora_B.weight": torch.ones(1, 4)}
        ),  # a shape that would broadcast over all rows
        lambda tensors: tensors.update({f"{QUERY}.lora_B.weight": torch.ones(31, 4)}),
    ],
    ids=["half", "extra", "nowhere", "nan", "inf", "spread", "shape"],
)
def test_tensors_that_do_not_fit_are_refused(
    tiny_encoder: Path, adapter: Path, change: Any
) -> None:
    tensors = load_file(adapter / WEIGHTS)
    assert f"{QUERY}.lora_A.weight" in tensors
    change(tensors)
    save_file(tensors, adapter / WEIGHTS)
    with pytest.raises(EncoderError, match="expected a LoRA adapter for this model"):
        add_adapter(dict(bare(tiny_encoder).named_parameters()), adapter)


def test_an_adapter_for_another_model_is_refused(other_encoder: Path, adapter: Path) -> None:
    with pytest.raises(EncoderError, match="expected a LoRA adapter for this model"):
        TextEncoder(other_encoder, "cpu", adapter=adapter)


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("exploded"),)


def test_a_pickle_is_never_loaded(
    tiny_encoder: Path, adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("adapter_model.bin", "adapter_model.pt", WEIGHTS):
        folder = Path(shutil.copytree(adapter, tmp_path / name))
        (folder / WEIGHTS).unlink()
        (folder / name).write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(EncoderError, match="expected a LoRA adapter for this model"):
            TextEncoder(tiny_encoder, "cpu", adapter=folder)
    assert not Path("exploded").exists()
