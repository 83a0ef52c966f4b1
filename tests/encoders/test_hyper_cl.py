from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.encoders.compositions import make_network
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.hypernetwork import (
    HyperNetwork,
    LinkNetwork,
    LinkNetworkSettings,
)
from ontodex.encoders.link_architectures import PROJECTIONS, TRI_ENCODERS
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError

RELATIONS = ["lives in", "eats", "a relation that no graph has"]


@pytest.fixture(scope="module")
def text(tiny_encoder: Path) -> TextEncoder:
    return TextEncoder(tiny_encoder, "cpu")


def network(seed: int = 0, **settings: object) -> LinkNetwork:
    torch.manual_seed(seed)
    made = make_network(LinkNetworkSettings(**settings))  # type: ignore[arg-type]
    for parameter in made.parameters():  # away from the near-identity start
        torch.nn.init.normal_(parameter, std=0.3)
    return made.eval()


def query_by_hand(projection: str, heads: torch.Tensor, moved: torch.Tensor) -> torch.Tensor:
    if projection == "public":
        return moved
    query = moved if projection == "paper" else heads + moved
    return query / query.norm(dim=-1, keepdim=True)


@settings(deadline=None, max_examples=50)
@given(
    dim=st.integers(1, 10),
    rank=st.integers(0, 10),
    condition=st.integers(1, 6),
    projection=st.sampled_from(PROJECTIONS),
    shift=st.booleans(),
    relations=st.integers(1, 4),
    heads=st.integers(1, 9),
    seed=st.integers(0, 2**31),
)
def test_queries_are_products_with_the_dense_projection(
    dim: int,
    rank: int,
    condition: int,
    projection: str,
    shift: bool,
    relations: int,
    heads: int,
    seed: int,
) -> None:
    made = network(
        seed, dim=dim, rank=min(rank, dim), condition=condition, projection=projection, shift=shift
    ).double()
    generator = torch.Generator().manual_seed(seed)
    texts = torch.nn.functional.normalize(
        torch.randn(relations, dim, generator=generator).double(), dim=-1
    )
    assert isinstance(made, HyperNetwork)
    vectors = torch.nn.functional.normalize(
        torch.randn(heads, dim, generator=generator).double(), dim=-1
    )
    which = torch.randint(
        relations, (heads,), generator=generator
    )  # some relations may have no head
    with torch.no_grad():
        parts = made(texts)
        left, right = parts["left"], parts.get("right")
        found = made.queries(vectors, texts, which)
    if min(rank, dim):
        assert right is not None
        assert (left.shape, right.shape) == (
            (relations, dim, min(rank, dim)),
            (relations, min(rank, dim), dim),
        )
    else:
        assert (left.shape, right) == ((relations, dim, dim), None)
    dense = left if right is None else left @ right
    for head, relation, query in zip(vectors, which.tolist(), found, strict=True):
        condition_vector = made.condition.weight @ texts[relation] + made.condition.bias
        by_hand = (made.left.weight @ condition_vector + made.left.bias).reshape(dim, -1)
        if made.right is not None:
            by_hand = by_hand @ (made.right.weight @ condition_vector + made.right.bias).reshape(
                -1, dim
            )
        torch.testing.assert_close(by_hand.detach(), dense[relation])
        moved = head @ dense[relation]
        if shift:
            moved = moved + made.shift.weight @ texts[relation] + made.shift.bias
        torch.testing.assert_close(query, query_by_hand(projection, head, moved))


SHAPES: list[dict[str, object]] = [
    {"rank": 4},
    {"rank": 0},
    {"rank": 4, "shift": True},
    {"rank": 4, "projection": "public"},
    {"rank": 4, "projection": "paper"},
    {"width": 8},
    {"architecture": "hadamard"},
    {"architecture": "hadamard", "projection": "paper", "shift": True},
    {"architecture": "concat", "projection": "public", "dropout": 0.1},
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_saved_encoder_is_loaded(
    text: TextEncoder, tmp_path: Path, shape: dict[str, object]
) -> None:
    made = HyperCL(
        text, network(dim=32, condition=8, **shape), {"synonyms": 2, "definition": False}
    )
    made.save(tmp_path / "model")
    assert HyperCL.is_at(tmp_path / "model")
    assert not HyperCL.is_at(text.folder)
    loaded = HyperCL.load(tmp_path / "model", device="cpu")
    assert loaded.network.settings == made.network.settings
    assert loaded.residual is ("projection" not in shape)
    assert loaded.texts == {"synonyms": 2, "definition": False}
    assert loaded.fingerprint == made.fingerprint
    assert (
        loaded.text.fingerprint == text.fingerprint
    )  # the hypernetwork is not part of the text encoder
    vectors = text.encode(["dog", "cat"])
    assert (loaded.entities(vectors) == made.entities(vectors)).all()
    found, wanted = loaded.projections(RELATIONS).parts(), made.projections(RELATIONS).parts()
    assert found.keys() == wanted.keys()
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
    for path in (tmp_path / "model").rglob("*"):
        assert path.suffix not in (".bin", ".pt", ".pkl")


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_engine_and_the_network_project_alike(
    text: TextEncoder, shape: dict[str, object]
) -> None:
    made = HyperCL(text, network(dim=32, condition=8, **shape))
    projections = made.projections(RELATIONS)
    heads = text.encode(["dog", "cat", "a farm"])
    with torch.no_grad():
        wanted = made.network.queries(
            torch.from_numpy(heads),
            torch.from_numpy(text.encode(RELATIONS)),
            torch.tensor([1, 0, 1]),
        )
        wanted = torch.nn.functional.normalize(
            wanted, dim=-1
        )  # the length of a query does not change its ranking
    np.testing.assert_allclose(
        projections.queries(heads, np.array([1, 0, 1])), wanted.numpy(), atol=1e-5
    )


def test_projections_that_another_thread_asks_for_meanwhile_are_not_mixed_up(
    text: TextEncoder,
) -> None:
    encoder = HyperCL(text, network(dim=text.dim, rank=2))
    wanted = encoder.projections(["eats"]).parts()["left"]

    class Interrupted(str):
        """A text that is compared while other projections are made."""

        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            encoder.projections(["lives in"])
            return str.__eq__(self, other)

    found = encoder.projections([Interrupted("eats")]).parts()["left"]
    np.testing.assert_array_equal(found, wanted)


def test_dropout_of_a_concatenation_is_of_training_alone() -> None:
    made = network(dim=40, architecture="concat", projection="public", dropout=0.5)
    heads, relations = torch.ones(1, 40), torch.ones(1, 40)
    which = torch.zeros(1, dtype=torch.long)
    outputs = [made.queries(heads, relations, which) for _ in range(2)]
    assert torch.equal(*outputs)
    made.train()
    drawn = torch.cat([made.queries(heads, relations, which) for _ in range(4000)])
    assert not torch.equal(drawn[0], drawn[1])
    # The mean over masks is the output without dropout: 1 / (1 - share) scales what is left.
    error = drawn.std(0) / 4000**0.5
    assert ((drawn.mean(0) - outputs[0][0]).abs() < 5 * error).all()


def test_dropout_is_a_share_below_one() -> None:
    with pytest.raises(SettingsError, match="dropout"):
        LinkNetworkSettings(dim=4, rank=0, dropout=1.0)


def test_what_was_trained_before_there_were_architectures_is_read(
    text: TextEncoder, tmp_path: Path
) -> None:
    made = HyperCL(text, network(dim=32, condition=8, rank=4))
    made.save(tmp_path / "old")
    path = tmp_path / "old" / "hyper_cl" / "config.json"
    content = json.loads(path.read_text())
    del content["network"]["architecture"]
    path.write_text(json.dumps(content))
    loaded = HyperCL.load(tmp_path / "old", text)
    assert (loaded.architecture, loaded.fingerprint) == ("hyper", made.fingerprint)
    assert HyperCL(text, network(dim=32, architecture="concat")).fingerprint != made.fingerprint


def test_a_fresh_residual_network_hardly_moves_a_head() -> None:
    for shape in (
        {"rank": 0},
        {"rank": 1},
        {"rank": 32},
        {"rank": 64},
        *({"architecture": a} for a in TRI_ENCODERS),
    ):
        torch.manual_seed(0)
        made = make_network(LinkNetworkSettings(dim=64, **shape))  # type: ignore[arg-type]
        heads = torch.nn.functional.normalize(torch.randn(50, 64), dim=-1)
        relations = torch.nn.functional.normalize(torch.randn(5, 64), dim=-1)
        with torch.no_grad():
            queries = made.queries(heads, relations, torch.arange(50) % 5)
        assert (heads * queries).sum(-1).min() > 0.8
        assert torch.allclose(made.entities(heads), heads)


def test_sentence_transformers_loads_it_as_the_plain_text_encoder(
    text: TextEncoder, tmp_path: Path
) -> None:
    from sentence_transformers import SentenceTransformer

    HyperCL(text, network(dim=32, condition=8, rank=4)).save(tmp_path)
    plain, ours = (
        SentenceTransformer(str(path), device="cpu", local_files_only=True)
        for path in (text.folder, tmp_path)
    )
    texts = ["a dog", "", "lives in the farm"]
    assert (
        plain.encode(texts, show_progress_bar=False) == ours.encode(texts, show_progress_bar=False)
    ).all()


def test_a_network_for_another_dimension(text: TextEncoder) -> None:
    with pytest.raises(
        EncoderError, match="expects embeddings of 16 dimensions, the text encoder makes 32"
    ):
        HyperCL(text, network(dim=16, rank=4))


@pytest.fixture
def saved(text: TextEncoder, tmp_path: Path) -> Path:
    HyperCL(text, network(dim=32, condition=8, rank=4)).save(tmp_path / "model")
    return tmp_path / "model"


def edit(folder: Path, **changes: object) -> None:
    path = folder / "hyper_cl" / "config.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "network": {**content["network"], **changes}}))


def test_an_unknown_setting_names_the_nearest(saved: Path, text: TextEncoder) -> None:
    edit(saved, rnk=3)
    with pytest.raises(
        EncoderError, match=r"hyper_cl.config\.json: unknown setting 'rnk'; did you mean 'rank'"
    ):
        HyperCL.load(saved, text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"network": {"dim": 32}, "text": {}}, "unknown setting 'text'; did you mean 'texts'"),
        ({"texts": {}}, "network"),
        ({"dim": 32}, "unknown setting 'dim'"),
        (None, "does not load"),
        ({"network": {"dim": 32}, "texts": 3}, "does not load"),
        ({"network": None}, "does not load"),
    ],
    ids=str,
)
def test_other_contents_of_the_settings_file(
    saved: Path, text: TextEncoder, content: object, message: str
) -> None:
    (saved / "hyper_cl" / "config.json").write_text(json.dumps(content))
    with pytest.raises(EncoderError, match=message):
        HyperCL.load(saved, text)


@pytest.mark.parametrize(
    "changes",
    [
        {"rank": 5},
        {"rank": -1},
        {"rank": "four"},
        {"projection": "both"},
        {"dim": 16, "rank": 4},
        {"dim": None},
        {"width": 4},
        {"architecture": "concat"},
        {"architecture": 3},
    ],
    ids=str,
)
def test_settings_that_do_not_fit_the_weights(
    saved: Path, text: TextEncoder, changes: dict[str, object]
) -> None:
    edit(saved, **changes)
    with pytest.raises(EncoderError, match="expected a Hyper-CL encoder"):
        HyperCL.load(saved, text)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b"\xff" * 64])
def test_a_damaged_file(saved: Path, text: TextEncoder, name: str, content: bytes | None) -> None:
    path = saved / "hyper_cl" / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(EncoderError, match="expected a Hyper-CL encoder"):
        HyperCL.load(saved, text)


def test_a_text_encoder_of_another_dimension_beside_it(saved: Path, other_encoder: Path) -> None:
    shutil.copytree(other_encoder, saved, dirs_exist_ok=True)
    with pytest.raises(EncoderError, match="32 dimensions, the text encoder makes 16"):
        HyperCL.load(saved, device="cpu")


def test_settings_that_make_no_sense_are_refused() -> None:
    for settings_, message in (
        (
            {"projection": "residul"},
            "projection: expected one of residual, paper, public, found 'residul'; "
            "did you mean 'residual'",
        ),
        ({"rank": 33}, r"rank: expected 0 to 32 \(the dimension\), found 33"),
        ({"condition": 0}, "condition: expected"),
        ({"width": -1}, "width: expected"),
        (
            {"architecture": "hypr"},
            "architecture: expected one of hyper, .* found 'hypr'; did you mean 'hyper'",
        ),
    ):
        with pytest.raises(SettingsError, match=message):
            LinkNetworkSettings(dim=32, **settings_)


def test_what_was_trained_before_there_were_other_architectures_keeps_its_fingerprint(
    text: TextEncoder,
) -> None:
    made = make_network(LinkNetworkSettings(dim=32, condition=8, rank=4))
    for parameter in made.parameters():
        torch.nn.init.constant_(parameter, 0.5)
    digest = hashlib.blake2b(text.fingerprint.encode(), digest_size=16)
    digest.update(b'{"dim": 32, "condition": 8, "rank": 4, "projection": "residual", "width": 0}')
    for name, tensor in sorted(made.state_dict().items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    assert HyperCL(text, made).fingerprint == digest.hexdigest()
