"""GaussCSE encoders: folders, bounds of Gaussians, and refused settings."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from ontodex.encoders.gauss_cse import GaussCSE
from ontodex.encoders.gaussian_heads import GaussianHeads
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError
from ontodex.geometry.entailment import Entailment
from ontodex.geometry.gaussian import LOG_VARIANCE, kl_matrix, typical

RULE = Entailment(0.6, 20.0, -12.0)


@pytest.fixture
def whole(tiny_encoder):
    heads = GaussianHeads(32, "tanh")
    for parameter in heads.parameters():
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(0))
    return GaussCSE(
        TextEncoder(tiny_encoder, "cpu", unit=False), heads.frozen(), RULE, "per-dimension"
    )


def test_an_encoder_is_written_and_read_again(whole, tmp_path, tiny_gauss):
    whole.save(tmp_path / "m")
    again = GaussCSE.load(tmp_path / "m", "cpu")
    assert (again.rule, again.similarity, again.fingerprint) == (
        RULE,
        "per-dimension",
        whole.fingerprint,
    )
    np.testing.assert_array_equal(
        again.encode(["a dog", "a cat"]), whole.encode(["a dog", "a cat"])
    )
    adapted = GaussCSE.load(tiny_gauss, "cpu")
    adapted.save(tmp_path / "adapted")
    assert not (
        tmp_path / "adapted" / "config.json"
    ).exists()  # the text encoder of the adapter is found by its name
    moved = GaussCSE.load(tmp_path / "adapted", "cpu")
    assert moved.fingerprint == adapted.fingerprint
    np.testing.assert_array_equal(moved.encode(["a dog"]), adapted.encode(["a dog"]))
    assert (
        load_file(tmp_path / "adapted" / "gauss_cse" / "model.safetensors")["mean.weight"].dtype
        == torch.float16
    )


def test_means_and_variances_are_within_bounds(whole):
    made = whole.encode(["dog " * 40, "", "日本語", "cat"])
    assert made.shape == (4, 64)
    assert (np.abs(made[:, :32]) <= 1).all()
    assert (made[:, 32:] >= LOG_VARIANCE[0]).all()
    assert (made[:, 32:] <= LOG_VARIANCE[1]).all()


def test_untrained_heads_leave_the_vector_as_it_is():
    vectors = torch.randn(3, 16, generator=torch.Generator().manual_seed(0))
    made = GaussianHeads(16)(vectors)
    torch.testing.assert_close(made[:, :16], vectors)
    assert made[:, 16:].std() < 0.2


def test_centred_heads_make_typical_gaussians_zero_and_change_no_divergence():
    random = torch.Generator().manual_seed(0)
    vectors = 3 + torch.randn(200, 16, generator=random)
    heads = GaussianHeads(16)
    torch.nn.init.normal_(heads.log_variance.weight, std=0.1, generator=random)
    before = heads(vectors).detach()
    heads.centre(*typical(before))
    after = heads(vectors).detach()
    torch.testing.assert_close(
        after.view(200, 2, 16).mean(0), torch.zeros(2, 16), rtol=0, atol=1e-5
    )
    divergence = kl_matrix(before.double(), before.double())
    torch.testing.assert_close(
        kl_matrix(after.double(), after.double()), divergence, rtol=1e-4, atol=1e-4
    )

    def lost(gaussians):
        return (
            (kl_matrix(gaussians.half().double(), gaussians.half().double()) - divergence)
            .abs()
            .mean()
        )

    assert lost(after) < lost(before) / 2


def test_means_that_pass_tanh_are_not_centred():
    heads, vectors = GaussianHeads(16, "tanh"), torch.ones(2, 16)
    before = heads(vectors).detach()
    heads.centre(torch.ones(16), torch.full((16,), 2.0))
    torch.testing.assert_close(heads(vectors).detach(), before, rtol=0, atol=0)


@pytest.mark.parametrize("activation", ["none", "tanh"])
def test_frozen_heads_make_the_same_gaussians(activation):
    vectors = 9 * torch.randn(50, 16, generator=torch.Generator().manual_seed(0))
    heads = GaussianHeads(16, activation)
    wanted = heads(vectors).detach().numpy()
    np.testing.assert_allclose(heads.frozen()(vectors.numpy()), wanted, rtol=1e-6, atol=1e-5)


def test_fingerprints_differ_by_heads_and_adapters(whole, tiny_encoder, tiny_gauss):
    other = GaussCSE(
        TextEncoder(tiny_encoder, "cpu", unit=False),
        GaussianHeads(32).frozen(),
        RULE,
        "per-dimension",
    )
    assert (
        len({whole.fingerprint, other.fingerprint, GaussCSE.load(tiny_gauss, "cpu").fingerprint})
        == 3
    )


def spoilt(folder, name):
    own = folder / "gauss_cse"
    config = json.loads((own / "config.json").read_text())
    if name == "weights":
        (own / "model.safetensors").write_bytes(b"no tensors")
    elif name == "nan":
        weights = load_file(own / "model.safetensors")
        weights["mean.bias"][0] = torch.nan
        save_file(weights, own / "model.safetensors")
    elif name == "shape":
        config["dim"] = 31
    elif name == "similarity":
        config["similarity"] = "kl"
    elif name == "rule":
        config["rule"]["slope"] = -1.0
    elif name == "key":
        config["tresholds"] = 1
    elif name == "missing":
        (own / "config.json").unlink()
    if name != "missing":
        (own / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize(
    "name", ["weights", "nan", "shape", "similarity", "rule", "key", "missing"]
)
def test_a_damaged_encoder_is_refused_by_name(whole, tmp_path, name):
    whole.save(tmp_path / "m")
    spoilt(tmp_path / "m", name)
    with pytest.raises(EncoderError, match=str(tmp_path / "m")):
        GaussCSE.load(tmp_path / "m", "cpu")


def test_an_adapter_for_another_text_encoder_is_refused(tiny_gauss, other_encoder, tmp_path):
    with pytest.raises(EncoderError, match="an adapter for another text encoder"):
        GaussCSE.load(tiny_gauss, "cpu", base=other_encoder)
    shutil.copytree(tiny_gauss, tmp_path / "m")
    config = tmp_path / "m" / "gauss_cse" / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "base_weights": "0" * 32}))
    with pytest.raises(EncoderError, match="an adapter for another text encoder"):
        GaussCSE.load(tmp_path / "m", "cpu")


def test_settings_that_make_no_sense_are_refused(tiny_encoder):
    with pytest.raises(SettingsError, match="activation"):
        GaussianHeads(8, "relu")
    with pytest.raises(SettingsError, match="similarity"):
        GaussCSE(
            TextEncoder(tiny_encoder, "cpu", unit=False), GaussianHeads(32).frozen(), RULE, "kl"
        )


def test_equal_texts_have_equal_gaussians(whole):
    """Equal texts are encoded once, as rows of one matrix product may differ in the last bits."""
    found = whole.encode(["a dog", "a cat", "a dog", "the farm", "a dog"])
    assert found.shape == (5, 64)
    assert (found[[0, 2, 4]] == found[0]).all()
    assert whole.encode([]).shape == (0, 64)
