"""BERT in NumPy: the vectors of torch, for a few short texts."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from ontodex.encoders.bert import Bert
from ontodex.encoders.gauss_cse import DEFAULT_GAUSS_CSE
from ontodex.encoders.hit import DEFAULT_HIT
from ontodex.encoders.locate import DEFAULT_ENCODER, locate
from ontodex.encoders.mapped_weights import mapped_weights
from ontodex.encoders.short_texts import MOST_TOKENS, ShortTexts, erf
from ontodex.encoders.text import TextEncoder
from ontodex.encoders.text_reader import Text

TEXTS: list[Text] = [
    "dog",
    "",
    "a wild Dog lives in the forest.",
    "日本語 café",
    ("a dog", "a cat"),
]


def test_erf_is_that_of_mathematics() -> None:
    values = np.linspace(-6, 6, 20_001, dtype=np.float32)
    wanted = [math.erf(value) for value in values.tolist()]
    np.testing.assert_allclose(erf(values), wanted, rtol=0, atol=5e-7)


def of_torch(folder: Path, texts: list[Text], **settings: Any) -> np.ndarray:
    model = Bert(folder, **settings)
    with torch.inference_mode():
        return model(model.tokenise(texts)).numpy()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"unit": False},
        {"unit": False, "adapter": DEFAULT_HIT / "hit", "max_tokens": 32},
        {"unit": False, "adapter": DEFAULT_GAUSS_CSE / "gauss_cse", "max_tokens": 64},
    ],
    ids=["unit", "pooled", "hit", "gauss_cse"],
)
def test_vectors_of_the_encoders_in_the_box_are_torch_s(settings: dict[str, Any]) -> None:
    folder = locate(DEFAULT_ENCODER)
    found = ShortTexts(folder, **settings).encode(TEXTS)
    assert found is not None
    np.testing.assert_allclose(found, of_torch(folder, TEXTS, **settings), rtol=0, atol=1e-5)


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_of_any_precision(
    tiny_encoder: Path, tmp_path: Path, precision: torch.dtype
) -> None:
    folder = Path(shutil.copytree(tiny_encoder, tmp_path / "copy"))
    weights = load_file(folder / "model.safetensors")
    save_file({name: one.to(precision) for name, one in weights.items()}, folder / "new")
    (folder / "new").replace(folder / "model.safetensors")
    found = ShortTexts(folder).encode(TEXTS)
    assert found is not None
    np.testing.assert_allclose(found, of_torch(folder, TEXTS), rtol=0, atol=1e-5)


def test_weights_are_mapped(tiny_encoder: Path) -> None:
    weights = mapped_weights(tiny_encoder / "model.safetensors")
    wanted = load_file(tiny_encoder / "model.safetensors")
    assert weights.keys() == {name for name, one in wanted.items() if one.is_floating_point()}
    for name, weight in weights.items():
        np.testing.assert_array_equal(weight, wanted[name].numpy())
        assert not weight.flags.owndata
        assert not weight.flags.writeable


def test_long_and_many_texts_are_left_to_torch(tiny_encoder: Path) -> None:
    short = ShortTexts(tiny_encoder)
    assert short.longest == 64
    assert short.encode(["dog " * 62]) is not None
    assert short.encode(["dog " * 63]) is None  # would be truncated
    most = MOST_TOKENS // 3
    assert short.encode(["dog"] * most) is not None
    assert short.encode(["dog"] * (most + 1)) is None
    encoder = TextEncoder(tiny_encoder, "cpu")
    some = encoder.encode(["dog", "cat"])
    many = encoder.encode(["dog", "cat", *(f"animal {number}" for number in range(most))])
    np.testing.assert_allclose(some, many[:2], rtol=0, atol=5e-3)  # torch may use bfloat16


def test_a_text_has_the_same_vector_beside_any_other(tiny_encoder: Path) -> None:
    short = ShortTexts(tiny_encoder)
    together = short.encode(TEXTS)
    assert together is not None
    for text, vector in zip(TEXTS, together, strict=True):
        alone = short.encode([text])
        assert alone is not None
        np.testing.assert_allclose(alone[0], vector, rtol=0, atol=1e-6)
