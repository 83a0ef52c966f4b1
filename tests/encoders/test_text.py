from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.encoders import short_texts
from ontodex.encoders import text as module
from ontodex.encoders.sentence_transformer import LibraryEncoder
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError

WORDS = [
    "dog",
    "cat",
    "lives",
    "in",
    "of",
    "kind",
    "Marfan",
    "syndrome",
    "protein",
    "kinase",
    "(EC",
    "2.7)",
    "α-helix",
]


def varied_texts() -> list[str]:
    """Return 200 texts of 0 to 1,000 words, in many scripts, with control and joined characters."""
    rng = np.random.default_rng(0)
    odd = [
        *(
            "",
            " ",
            "\n\t",
            ".",
            "a",
            "\x00",
            "\u200b",
            "\ufeff",
            "🧬🐕‍🦺",
            "e\u0301",
            "İstanbul",
            "ﬁ",
            "ß",
            "日本語の文章",
        ),
        *(
            "Ελληνικά κείμενα",
            "עברית",
            "العربية",
            "हिन्दी",
            "Việt Nam",
            "HP:0001166",
            "http://x.org/a#b",
            "<b>&amp;</b>",
        ),
        *(
            "dog " * 1000,
            "x" * 5000,
            "漢" * 700,
            "DOG",
            "dog",
            "dog.",
            "[CLS]",
            "[SEP] [PAD] dog",
            "1 2 3",
            "café",
            "naïve",
        ),
    ]
    return odd + [
        " ".join(rng.choice(WORDS, int(rng.integers(1, 30))).tolist())
        for _ in range(200 - len(odd))
    ]


@pytest.fixture(scope="module")
def tiny(tiny_encoder: Path) -> TextEncoder:
    return TextEncoder(tiny_encoder, "cpu")


@pytest.fixture
def forwarded(tiny: TextEncoder, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Record the number of rows of each forward pass of torch, which encodes short texts too."""
    monkeypatch.setattr(short_texts, "MOST_TOKENS", 0)
    rows: list[int] = []
    hook = tiny._reader.register_forward_pre_hook(
        lambda _, given: rows.append(len(given[0]["input_ids"]))
    )
    yield rows
    hook.remove()


@pytest.mark.slow
def test_the_default_encoder_gives_the_vectors_of_sentence_transformers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from sentence_transformers import SentenceTransformer

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    encoder = TextEncoder.load(device="cpu")
    texts = varied_texts()
    plain = SentenceTransformer(str(encoder.folder), device="cpu", local_files_only=True)
    wanted = plain.encode(texts, normalize_embeddings=True, show_progress_bar=False)
    found = encoder.encode(texts)
    assert (found.dtype, found.shape, encoder.dim) == (np.float32, (200, 384), 384)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    assert np.einsum("nd,nd->n", found.astype(float), wanted.astype(float)).min() >= 0.9995


def test_the_tiny_encoder_too(tiny: TextEncoder) -> None:
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(tiny.folder), device="cpu", local_files_only=True)
    wanted = plain.encode(varied_texts(), normalize_embeddings=True, show_progress_bar=False)
    assert (
        np.einsum("nd,nd->n", tiny.encode(varied_texts()), wanted).min() >= 0.998
    )  # bfloat16 on random weights


def test_equal_texts_are_encoded_once(tiny: TextEncoder, forwarded: list[int]) -> None:
    texts = ["dog", "cat", "dog", "", "dog", "a wild cat", "cat", ""] * 5
    vectors = tiny.encode(texts)
    assert sum(forwarded) == 4
    assert all((vectors[row] == vectors[texts.index(text)]).all() for row, text in enumerate(texts))


def test_batches_hold_no_more_tokens_than_the_budget(
    tiny: TextEncoder, forwarded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(module.TOKENS_PER_BATCH, "cpu", 64)
    tiny.encode([f"dog {letter}" for letter in "abcdefghijklmnopqrstuvwxyz"])  # four tokens each
    assert forwarded == [16, 10]


def test_nothing_to_encode(tiny: TextEncoder) -> None:
    assert tiny.encode([]).shape == (0, 32)


@settings(deadline=None, max_examples=40)
@given(
    texts=st.lists(
        st.sampled_from(["dog", "cat", "", "a dog", "the farm", "x", "y", "wild cat", "cow"]),
        max_size=30,
    ),
    chunk=st.integers(1, 9),
    done=st.integers(0, 12),
)
def test_chunks_are_the_same_each_time_and_can_be_passed_over(
    tiny: TextEncoder, texts: list[str], chunk: int, done: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CHUNK", chunk)
        first, again = list(tiny.stream(texts)), list(tiny.stream(texts, done=done))
    assert sorted(row for rows, _ in first for row in rows.tolist()) == list(range(len(texts)))
    assert len(again) == max(0, len(first) - done)
    for (rows, vectors), (rows_again, vectors_again) in zip(first[done:], again, strict=True):
        assert rows.dtype == np.int64
        assert (rows.tolist(), vectors.tolist()) == (rows_again.tolist(), vectors_again.tolist())
    owners: dict[str, set[int]] = {}
    for number, (rows, _) in enumerate(first):
        for row in rows.tolist():
            owners.setdefault(texts[row], set()).add(number)
    assert all(
        len(chunks) == 1 for chunks in owners.values()
    )  # equal texts share a chunk, and so a forward pass


@pytest.mark.parametrize("chunk", [7, 4096])
def test_the_order_of_texts_makes_no_difference(
    tiny: TextEncoder, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", chunk)
    texts = varied_texts()
    order = np.random.default_rng(1).permutation(len(texts))
    assert (tiny.encode([texts[row] for row in order]) == tiny.encode(texts)[order]).all()


def test_a_text_alone_is_near_what_it_is_in_a_batch(tiny: TextEncoder) -> None:
    texts = varied_texts()
    whole = tiny.encode(texts)
    for row in (0, 20, 23, 60, 199):
        assert tiny.encode([texts[row]])[0] @ whole[row] >= 0.998


def test_save_copies_the_encoder(tiny: TextEncoder, tmp_path: Path) -> None:
    tiny.save(tmp_path / "copy")
    copy = TextEncoder(tmp_path / "copy", "cpu")
    assert copy.fingerprint == tiny.fingerprint
    assert (copy.encode(["a dog"]) == tiny.encode(["a dog"])).all()


def test_a_device_that_is_not_there(tiny_encoder: Path) -> None:
    for device in ("cuda:99", "abacus"):
        with pytest.raises(
            SettingsError, match="device: expected auto, cpu or a GPU that is there"
        ):
            TextEncoder(tiny_encoder, device)


def test_it_needs_no_network(tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert TextEncoder.load(tiny_encoder, "cpu").encode(["dog"]).shape == (1, 32)


def test_many_equal_texts_at_the_end_of_a_chunk(
    tiny: TextEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", 2)
    chunks = list(tiny.stream(["the dog", "the cat", *["cow"] * 7]))  # longest first
    assert [sorted(rows.tolist()) for rows, _ in chunks] == [[0, 1], [2, 3, 4, 5, 6, 7, 8]]


def test_no_vector_without_pooling(tiny_encoder: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_encoder, tmp_path / "encoder"))
    modules = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps(modules[:1]))
    with pytest.raises(EncoderError, match="one vector per text"):
        TextEncoder(folder, "cpu").encode(["dog"])


def test_the_length_of_a_text_may_be_asked_while_others_are_read(tiny_encoder: Path) -> None:
    encoder, text = LibraryEncoder(tiny_encoder, "cpu"), "dog " * 2000
    whole, cut = encoder.lengths([text])[0], len(encoder.tokenise([text])["input_ids"][0])
    assert whole > 2000 > cut

    def ask(turn: int) -> int:
        return (
            encoder.lengths([text])[0]
            if turn % 2
            else len(encoder.tokenise([text])["input_ids"][0])
        )

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, range(400)))
    assert set(found[1::2]) == {whole}
    assert set(found[::2]) == {cut}
