"""A text encoder in training: packing texts into rows changes no vector or gradient."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import (
    Dense,
    Normalize,
    Pooling,
    Transformer,
)
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from transformers import DistilBertConfig, DistilBertModel

from ontodex.encoders.sentence_transformer import load_sentence_transformer
from ontodex.encoders.text import TextEncoder
from ontodex.trainers.text_tower import ROW, TextTower, _rows, tokenise

MIXED = [*range(1, 61), 3, 3, 3, 60, 1]


@pytest.fixture
def tower(tiny_encoder):
    return TextTower(load_sentence_transformer(tiny_encoder, "cpu"), unit=False)


def drawn(lengths, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(5, 150, length).astype(np.int32) for length in lengths]


def alone(model, tokens):
    """Return the mean token state of each text, encoded alone."""
    vectors = []
    for ids in tokens:
        inputs = torch.from_numpy(ids.astype(np.int64))[None]
        states = model.transformers_model(
            input_ids=inputs, attention_mask=torch.ones_like(inputs)
        ).last_hidden_state
        vectors.append(states.mean(1))
    return torch.cat(vectors)


def gradients(model, vectors):
    weights = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(0))
    model.zero_grad()
    (vectors * weights).sum().backward()
    return {
        name: weight.grad.clone()
        for name, weight in model.named_parameters()
        if weight.grad is not None
    }


@pytest.mark.parametrize(
    "lengths",
    [MIXED, [5], [1], [60], [64, 64, 2], [ROW, ROW - 1, 1], [4] * 100],
    ids=lambda given: str(len(given)),
)
def test_packed_texts_have_the_vectors_and_gradients_that_they_have_alone(
    tower, lengths, monkeypatch
):
    monkeypatch.setattr(TextTower, "_padded", None)
    tokens = drawn(lengths)
    found, wanted = tower(tokens), alone(tower.encoder, tokens)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
    packed = gradients(tower.encoder, tower(tokens))
    apart = gradients(tower.encoder, wanted)
    assert packed.keys() == apart.keys()
    for name, gradient in apart.items():
        largest = max(1.0, gradient.abs().max().item())
        torch.testing.assert_close(
            packed[name] / largest, gradient / largest, atol=2e-5, rtol=0, msg=name
        )


def test_packing_computes_less_padding(tower):
    shapes = []
    tower.encoder.transformers_model.register_forward_pre_hook(
        lambda _, args, kwargs: shapes.append(tuple(kwargs["input_ids"].shape)), with_kwargs=True
    )
    tower(drawn([4] * 36 + [40, 8]))
    assert shapes == [(4, ROW)]


def test_unit_vectors_are_made_where_they_are_asked_for(tiny_encoder, tower):
    tokens = drawn([3, 7])
    unit = TextTower(load_sentence_transformer(tiny_encoder, "cpu"))(tokens)
    torch.testing.assert_close(unit, torch.nn.functional.normalize(tower(tokens), dim=-1))


def test_under_autocast_the_vectors_are_float32_and_nearly_the_same(tower):
    tokens = drawn(MIXED)
    wanted = tower(tokens)
    with torch.autocast("cpu", torch.bfloat16):
        found = tower(tokens)
    assert found.dtype == torch.float32
    assert torch.nn.functional.cosine_similarity(found, wanted).min() > 0.99


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 70), min_size=1, max_size=80))
def test_every_text_is_in_one_row_and_rows_are_filled(lengths):
    tokens = drawn(lengths)
    ids, positions, owners = _rows(tokens)
    assert ids.shape == positions.shape == owners.shape
    assert ids.shape[1] == max(ROW, *lengths)
    for text, wanted in enumerate(tokens):
        here = owners == text
        assert here.any(axis=1).sum() == 1
        assert np.array_equal(ids[here], wanted)
        assert np.array_equal(positions[here], np.arange(len(wanted)))
    used = (owners >= 0).sum(axis=1)
    for row in range(1, len(used)):  # the first text of a row did not fit into an earlier one
        assert (ids.shape[1] - used[:row] < len(tokens[owners[row, 0]])).all()


def distilbert(folder, tiny_encoder):
    """Folder of a DistilBERT, which is not packed, with the tokenizer of the tiny encoder."""
    torch.manual_seed(0)
    config = DistilBertConfig(
        vocab_size=400, dim=32, n_layers=1, n_heads=2, hidden_dim=64, max_position_embeddings=64
    )
    DistilBertModel(config).save_pretrained(folder / "plain")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(tiny_encoder / name, folder / "plain" / name)
    words = Transformer(str(folder / "plain"), max_seq_length=64)
    return SentenceTransformer(modules=[words, Pooling(32, "mean")], device="cpu")


@pytest.mark.parametrize("kind", ["cls", "max", "dense", "distilbert"])
def test_models_that_cannot_share_rows_are_padded(tiny_encoder, tmp_path, kind, monkeypatch):
    if kind == "distilbert":
        encoder = distilbert(tmp_path, tiny_encoder)
    else:
        words = SentenceTransformer(str(tiny_encoder), device="cpu")[0]
        torch.manual_seed(0)
        pooling = [Pooling(32, "mean"), Dense(32, 32)] if kind == "dense" else [Pooling(32, kind)]
        encoder = SentenceTransformer(modules=[words, *pooling], device="cpu")
    monkeypatch.setattr(TextTower, "_packed", None)
    texts = ["dog", "a wild dog", "x", "young cat of the forest " * 5, "dog"]
    wanted = encoder.encode(texts, convert_to_tensor=True).clone()
    tower = TextTower(encoder, unit=False)
    tokens = tokenise(encoder, texts, 64)
    for some in (slice(0, 5), slice(0, 1), slice(1, 3)):
        torch.testing.assert_close(tower(tokens[some]), wanted[some], atol=1e-5, rtol=1e-5)
    assert gradients(encoder, tower(tokens))


def test_a_module_that_scales_vectors_does_not_hinder_packing(tiny_encoder, monkeypatch):
    monkeypatch.setattr(TextTower, "_padded", None)
    words = SentenceTransformer(str(tiny_encoder), device="cpu")[0]
    encoder = SentenceTransformer(modules=[words, Pooling(32, "mean"), Normalize()], device="cpu")
    vectors = TextTower(encoder)(drawn([3, 9]))
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(2))


def test_texts_are_cut_to_what_is_asked_for_and_to_what_the_encoder_reads(tower):
    texts = ["", "dog", "a wild dog", "dog " * 5000]
    cut = tokenise(tower.encoder, texts, 5)
    assert [ids.tolist()[0] for ids in cut] == [2] * 4  # [CLS]
    assert [ids.tolist()[-1] for ids in cut] == [3] * 4  # [SEP]
    assert [len(ids) for ids in cut] == [2, 3, 5, 5]
    long = tokenise(tower.encoder, texts, 1000)
    assert [len(ids) for ids in long] == [2, 3, 5, 64]
    assert tower(long).isfinite().all()


def test_training_is_in_float32_and_without_dropout(tiny_encoder, tmp_path):
    half = SentenceTransformer(str(tiny_encoder), device="cpu").to(torch.bfloat16)
    half.save(str(tmp_path / "half"), create_model_card=False)
    tower = TextTower(load_sentence_transformer(tmp_path / "half", "cpu"), unit=False).train()
    assert {weight.dtype for weight in tower.parameters()} == {torch.float32}
    tokens = drawn(MIXED)
    assert torch.equal(tower(tokens), tower(tokens))


@pytest.mark.parametrize("second", [0, 1])
def test_the_second_text_of_a_pair_has_its_token_type(tiny_encoder, tmp_path, monkeypatch, second):
    monkeypatch.setattr(TextTower, "_padded", None)
    monkeypatch.setattr("ontodex.encoders.text.has_bfloat16", lambda device: False)
    folder = shutil.copytree(tiny_encoder, tmp_path / "encoder")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair=f"[CLS] $A [SEP] $B:{second} [SEP]:{second}",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    tower = TextTower(load_sentence_transformer(folder, "cpu"), unit=False)
    pairs = [("a dog", "an animal eats"), ("the cat of the house", "a cat")]
    texts = [*pairs, "a dog of the farm", "a cat"]
    found = tower(tokenise(tower.encoder, texts, 64))
    wanted = torch.from_numpy(TextEncoder(folder, "cpu", unit=False).encode(texts))
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)
