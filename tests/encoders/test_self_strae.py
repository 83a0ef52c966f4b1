import json

import numpy as np
import pytest
import torch

from ontodex.encoders.locate import fingerprint
from ontodex.encoders.self_strae import SelfStrAE
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError
from ontodex.trainers.trees.batches import train_tokenizer

TEXTS = ["the cat sat on the mat", "a dog barks at the cat", "cats and dogs", "the mat", "mat"]


@pytest.fixture(scope="module")
def encoder():
    made = SelfStrAE(train_tokenizer([*TEXTS, *TEXTS]), channels=8, size=2)
    draw = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in made.parameters():
            weight.copy_(torch.randn(weight.shape, generator=draw))
    return made.eval()


@pytest.fixture(scope="module")
def folder(encoder, tmp_path_factory):
    path = tmp_path_factory.mktemp("strae")
    encoder.write(path)
    return path


def test_is_loaded_as_it_was_written(encoder, folder):
    again = SelfStrAE.load(folder)
    assert again.config == encoder.config
    for name, weight in encoder.network.state_dict().items():
        torch.testing.assert_close(again.network.state_dict()[name], weight)


def test_is_a_text_encoder_of_unit_vectors(encoder, folder):
    text = TextEncoder(folder)
    found = text.encode(TEXTS)
    assert found.shape == (5, 16)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(
        found, [tree.vectors[-1] for tree in encoder.trees(TEXTS)], atol=1e-6
    )
    assert text.structured is not None
    assert text.fingerprint == fingerprint(folder)


def test_loads_with_sentence_transformers_once_its_code_is_trusted(folder):
    from sentence_transformers import SentenceTransformer

    found = SentenceTransformer(str(folder), trust_remote_code=True).encode(
        TEXTS, normalize_embeddings=True
    )
    np.testing.assert_allclose(found, TextEncoder(folder).encode(TEXTS), atol=1e-6)


def test_a_text_alone_has_the_vector_that_it_has_among_others(folder):
    text = TextEncoder(folder)
    np.testing.assert_allclose(text.encode([TEXTS[1]])[0], text.encode(TEXTS)[1], atol=1e-6)


def test_trees_cover_the_text_and_name_their_parts(encoder):
    for text, tree in zip(TEXTS, encoder.trees(TEXTS), strict=True):
        root = len(tree.nodes) - 1
        tokens = [node for node in tree.nodes if node.left is None]
        assert tree.span(root) == text
        assert len(tree.nodes) == 2 * len(tokens) - 1 == len(tree.vectors)
        assert "".join(text[node.start : node.end] for node in tokens) == text.replace(" ", "")
        for node in tree.nodes:
            if node.left is not None:
                left, right = tree.nodes[node.left], tree.nodes[node.right]
                assert (node.start, node.end) == (left.start, right.end)
                assert left.end <= right.start
                assert -1 <= node.similarity <= 1


def test_a_part_of_a_text_has_the_vector_that_it_has_alone(encoder):
    """Indexes rely on it to store phrases: merges inside a phrase do not depend on its context."""
    tree = encoder.trees([TEXTS[1]])[0]
    for number in range(len(tree.nodes)):
        np.testing.assert_allclose(
            encoder.trees([tree.span(number)])[0].vectors[-1], tree.vectors[number], atol=1e-5
        )


def test_a_drawn_tree_has_a_line_for_each_node(encoder):
    tree = encoder.trees(["the cat sat"])[0]
    lines = str(tree).splitlines()
    assert len(lines) == len(tree.nodes)
    assert lines[0].startswith("the cat sat  ")
    assert all(word in "\n".join(lines[1:]) for word in ("the", "cat", "sat"))


def test_texts_without_tokens_and_long_ones_are_read(encoder):
    cut = SelfStrAE(encoder.tokenizer, 8, 2, max_tokens=3)
    cut.network = encoder.network
    assert [len(tree.nodes) for tree in cut.trees(["", " ", "the cat sat on the mat"])] == [1, 1, 5]
    assert cut.trees(["the cat sat on the mat"])[0].text == "the cat sat"


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        (
            "model.safetensors",
            lambda path: path.write_bytes(path.read_bytes()[:50]),
            "does not load",
        ),
        ("tokenizer.json", lambda path: path.write_text("{"), "tokenizer"),
        (
            "config.json",
            lambda path: path.write_text(path.read_text().replace("channels", "canals")),
            "canals",
        ),
        ("config.json", lambda path: _set(path, vocabulary=7), "does not load"),
    ],
)
def test_a_damaged_folder_is_named(encoder, tmp_path, name, change, said):
    encoder.write(tmp_path)
    change(tmp_path / "self_strae" / name)
    with pytest.raises((EncoderError, SettingsError), match=said):
        TextEncoder(tmp_path)


def test_a_tokenizer_of_another_size_is_refused(encoder, tmp_path):
    encoder.write(tmp_path)
    train_tokenizer(TEXTS).save(str(tmp_path / "self_strae" / "tokenizer.json"))
    other = train_tokenizer(["a b"])
    other.save(str(tmp_path / "self_strae" / "tokenizer.json"))
    with pytest.raises(EncoderError, match="expected a tokenizer of"):
        SelfStrAE.load(tmp_path)


def _set(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
