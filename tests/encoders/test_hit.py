"""HiT encoders: points of the ball, folders, public checkpoints, and refused folders."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from peft import PeftModel
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling
from transformers import AutoModel

from ontodex.encoders import text as text_module
from ontodex.encoders.hit import HiT
from ontodex.encoders.locate import files_of
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError
from ontodex.geometry import poincare
from ontodex.geometry.subsumption import Subsumption

pytestmark = pytest.mark.filterwarnings(
    "ignore:`is_gradient_checkpointing` is deprecated:FutureWarning"
)  # peft

RULE = Subsumption(weight=1.5, threshold=-7.0, slope=0.5, offset=3.0)
TEXTS = {"synonyms": 0, "definition": False, "neighbours": 0, "max_words": 9}
PHRASES = ["dog", "a wild dog", "", "日本語", "dog " * 10_000, "dog", "thing"]


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute in float32 on every machine."""
    monkeypatch.setattr(text_module, "has_bfloat16", lambda device: False)


@pytest.fixture(params=["whole", "adapter"])
def saved(
    request: pytest.FixtureRequest, tmp_path: Path, tiny_encoder: Path, tiny_hit: Path
) -> Path:
    """Save an encoder as an adapter or as a full model; return the folder."""
    if request.param == "adapter":
        return Path(shutil.copytree(tiny_hit, tmp_path / "hit"))
    HiT(TextEncoder(tiny_encoder, "cpu", unit=False), RULE, TEXTS).save(tmp_path / "hit")
    return tmp_path / "hit"


def config_of(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "hit" / "config.json").read_text()))


def change_config(folder: Path, **values: Any) -> None:
    (folder / "hit" / "config.json").write_text(json.dumps({**config_of(folder), **values}))


def test_points_are_inside_the_ball_and_items_are_lifted_points(saved: Path) -> None:
    hit = HiT.load(saved, "cpu")
    points, items = hit.points(PHRASES), hit.items(PHRASES)
    assert (hit.dim, hit.c) == (32, 1 / 32)
    assert (points.shape, points.dtype, items.shape, items.dtype) == (
        (7, 32),
        np.float32,
        (7, 33),
        np.float32,
    )
    assert np.isfinite(items).all()
    assert (np.linalg.norm(points, axis=1) < 32**0.5).all()
    assert np.linalg.norm(points, axis=1).std() > 0.01  # norms differ
    np.testing.assert_allclose(items, poincare.lift_items(points, hit.c), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(points[0], points[5])


def test_vectors_beyond_the_rim_are_drawn_in(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hit = HiT.load(saved, "cpu")
    far = np.zeros((2, 32), dtype=np.float32)
    far[:, 0] = 5.6568, 1e6  # the radius is 5.65685
    monkeypatch.setattr(hit.text, "encode", lambda texts: far)
    points, items = hit.points(["", ""]), hit.items(["", ""])
    assert (np.linalg.norm(points, axis=1) < 32**0.5).all()
    assert np.isfinite(items).all()
    np.testing.assert_allclose(poincare.unlift(items.astype(float), hit.c), points, rtol=1e-4)


def test_a_folder_comes_back_as_it_was(saved: Path, tmp_path: Path) -> None:
    hit = HiT.load(saved, "cpu")
    hit.save(tmp_path / "copy")
    again = HiT.load(tmp_path / "copy", "cpu")
    assert (again.rule, again.texts, again.fingerprint) == (hit.rule, hit.texts, hit.fingerprint)
    assert hit.rule is not None
    np.testing.assert_array_equal(again.points(PHRASES), hit.points(PHRASES))
    assert HiT.is_at(saved)
    assert HiT.is_at(tmp_path / "copy")
    again.save(tmp_path / "copy")  # saving over its own folder
    assert HiT.load(tmp_path / "copy", "cpu").fingerprint == hit.fingerprint
    shutil.rmtree(saved)
    assert HiT.load(tmp_path / "copy", "cpu").points(["dog"]).shape == (1, 32)


def test_the_fingerprint_is_of_the_weights_not_of_the_rule(saved: Path, tiny_encoder: Path) -> None:
    hit = HiT.load(saved, "cpu")
    before = hit.fingerprint
    hit.rule, hit.texts = replace(RULE, weight=9.0), {}
    hit.save_own(saved)
    again = HiT.load(saved, "cpu")
    assert (again.rule, again.texts, again.fingerprint) == (replace(RULE, weight=9.0), {}, before)
    weights = (
        saved / "hit" / "adapter_model.safetensors" if hit.adapter else saved / "model.safetensors"
    )
    content = bytearray(weights.read_bytes())
    content[-1] ^= 0x01
    weights.write_bytes(content)
    assert HiT.load(saved, "cpu").fingerprint != before
    assert before != TextEncoder(tiny_encoder, "cpu").fingerprint


def test_an_adapter_is_small_and_needs_the_encoder_it_was_made_for(
    tiny_hit: Path, tiny_encoder: Path, other_encoder: Path, tmp_path: Path
) -> None:
    assert files_of(tiny_hit) == []
    assert {file.name for file in tiny_hit.rglob("*") if file.is_file()} == {
        "adapter_config.json", "adapter_model.safetensors", "config.json",
    }  # fmt: skip
    folder = Path(shutil.copytree(tiny_hit, tmp_path / "hit"))
    change_config(folder, base=str(other_encoder))
    with pytest.raises(EncoderError, match="an adapter for another text encoder than the one in"):
        HiT.load(folder, "cpu")
    with pytest.raises(EncoderError, match="an adapter for another text encoder than the one in"):
        HiT.load(tiny_hit, "cpu", base=other_encoder)
    assert HiT.load(folder, "cpu", base=tiny_encoder).dim == 32
    change_config(folder, base=str(tmp_path / "nowhere"))
    with pytest.raises(
        EncoderError, match="nowhere: expected the folder of an encoder, found nothing"
    ):
        HiT.load(folder, "cpu")
    for relative in files_of(tiny_encoder):  # a folder with an adapter and full weights
        (folder / relative).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tiny_encoder / relative, folder / relative)
    assert (
        HiT.load(folder, "cpu", base=other_encoder).fingerprint
        == HiT.load(tiny_hit, "cpu").fingerprint
    )


def test_peft_loads_the_adapter(tiny_hit: Path, tiny_encoder: Path, exact: None) -> None:
    hit = HiT.load(tiny_hit, "cpu")
    tokens = SentenceTransformer(str(tiny_encoder), device="cpu").tokenizer(
        ["a wild dog"], return_tensors="pt"
    )
    base = AutoModel.from_pretrained(tiny_encoder, dtype=torch.float32)
    with torch.inference_mode():
        plain = base(**tokens).last_hidden_state.mean(1)
        found = PeftModel.from_pretrained(base, tiny_hit / "hit")(**tokens).last_hidden_state.mean(
            1
        )
    np.testing.assert_allclose(hit.points(["a wild dog"]), found.numpy(), atol=1e-4)
    assert (found - plain).abs().max() > 0.01


def test_a_whole_encoder_is_a_plain_one_for_sentence_transformers(
    tmp_path: Path, tiny_encoder: Path, exact: None
) -> None:
    HiT(TextEncoder(tiny_encoder, "cpu", unit=False), RULE, TEXTS).save(tmp_path / "hit")
    plain = SentenceTransformer(str(tmp_path / "hit"), device="cpu")
    texts = ["dog", "a wild dog"]
    np.testing.assert_allclose(
        plain.encode(texts), HiT.load(tmp_path / "hit", "cpu").points(texts), atol=1e-4
    )


@pytest.mark.parametrize("modules", ["plain", "one", "two"])
def test_a_public_checkpoint_is_a_folder_of_sentence_transformers(
    tmp_path: Path, tiny_encoder: Path, modules: str, exact: None
) -> None:
    words = SentenceTransformer(str(tiny_encoder), device="cpu")[0]
    scaling = [Normalize() for _ in range(["plain", "one", "two"].index(modules))]
    public = SentenceTransformer(modules=[words, Pooling(32, "mean"), *scaling], device="cpu")
    public.save(str(tmp_path / "public"), create_model_card=False)
    hit = HiT.load(tmp_path / "public", "cpu")
    assert (hit.rule, hit.texts, hit.adapter) == (None, {}, None)
    texts = ["dog", "a wild dog"]
    wanted = SentenceTransformer(str(tiny_encoder), device="cpu").encode(texts)
    assert (np.abs(np.linalg.norm(wanted, axis=1) - 1) > 0.1).all()
    np.testing.assert_allclose(hit.points(texts), poincare.clip(wanted, hit.c), atol=1e-4)
    hit.rule = RULE
    hit.save(tmp_path / "own")
    again = HiT.load(tmp_path / "own", "cpu")
    assert (again.rule, again.fingerprint) == (RULE, hit.fingerprint)
    np.testing.assert_array_equal(again.points(texts), hit.points(texts))


def test_a_folder_that_is_no_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="expected the folder of an encoder, found nothing"):
        HiT.load(tmp_path / "nowhere", "cpu")
    with pytest.raises(EncoderError, match="expected an encoder folder"):
        HiT.load(tmp_path, "cpu")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "3", "null", '"x"', "{}", '{"rule": null, "other": 1}']
)
def test_settings_that_are_none_are_refused(saved: Path, content: str) -> None:
    (saved / "hit" / "config.json").write_text(content)
    with pytest.raises(EncoderError, match=r"config\.json: expected the settings of a HiT encoder"):
        HiT.load(saved, "cpu")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rule", {"weight": 1.0}),
        ("rule", {"weight": -1.0, "threshold": 0.0, "slope": 1.0, "offset": 0.0}),
        ("rule", {"weight": 1.0, "threshold": float("nan"), "slope": 1.0, "offset": 0.0}),
        ("rule", [1, 2, 3, 4]),
        ("rule", {"weight": "1", "threshold": 0.0, "slope": 1.0, "offset": 0.0}), ("rule", 3),
        ("texts", 3), ("texts", ["synonyms"]), ("texts", None), ("base", 3), ("base", ["x"]),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(saved: Path, key: str, value: Any) -> None:
    change_config(saved, **{key: value})
    with pytest.raises(EncoderError, match="expected"):
        HiT.load(saved, "cpu")


@pytest.mark.parametrize("name", ["adapter_config.json", "adapter_model.safetensors"])
def test_a_damaged_adapter_is_refused(tiny_hit: Path, tmp_path: Path, name: str) -> None:
    folder = Path(shutil.copytree(tiny_hit, tmp_path / "hit"))
    (folder / "hit" / name).write_bytes((folder / "hit" / name).read_bytes()[:-20])
    with pytest.raises(EncoderError, match="expected a LoRA adapter for this model"):
        HiT.load(folder, "cpu")


OBVIOUS = [
    *(
        ("dog", "animal"),
        ("dog", "mammal"),
        ("hammer", "tool"),
        ("car", "vehicle"),
        ("rose", "flower"),
    ),
    *(
        ("oak", "tree"),
        ("physics", "science"),
        ("apple", "fruit"),
        ("violin", "musical instrument"),
    ),
    *(
        ("eagle", "bird"),
        ("salmon", "fish"),
        ("gold", "metal"),
        ("hepatitis", "disease"),
        ("teacher", "person"),
    ),
]


def test_the_shipped_encoder_distinguishes_parents_from_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    hit = HiT.load(device="cpu")
    rule = hit.rule
    assert rule is not None
    assert hit.dim == 384

    def score(children: np.ndarray, parents: np.ndarray) -> np.ndarray:
        norms = poincare.norm(children, hit.c)
        return rule.score(
            poincare.distance(children, parents, hit.c),
            poincare.norm(parents, hit.c) - norms,
            norms,
        )

    children, parents = (hit.points(names) for names in zip(*OBVIOUS, strict=True))
    found = score(children, parents)
    assert (found > score(parents, children)).mean() > 0.8
    others = [score(children, np.roll(parents, turn, axis=0)) for turn in range(2, len(OBVIOUS))]
    assert (found > others).mean() > 0.9
