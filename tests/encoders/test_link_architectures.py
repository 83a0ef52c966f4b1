"""Every architecture of link prediction implements the same protocol."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ontodex.encoders.bi_encoder import BiEncoder
from ontodex.encoders.compositions import make_network
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.hypernetwork import LinkNetworkSettings
from ontodex.encoders.link_architectures import (
    BI_ENCODER,
    TRI_ENCODERS,
    LinkPairs,
    TextArchitecture,
    query_function,
)
from ontodex.encoders.link_encoder import LinkEncoder, load_link_encoder, open_architecture
from ontodex.encoders.text import TextEncoder
from ontodex.geometry.vectors import Vectors

ENTITIES = ["dog", "a farm", "wild boar"]
RELATIONS = ["lives in", "eats", "inverse lives in", "inverse eats"]


@pytest.fixture(scope="module")
def text(tiny_encoder: Path) -> TextEncoder:
    return TextEncoder(tiny_encoder, "cpu")


def made(name: str, text: TextEncoder) -> LinkEncoder:
    if name == BI_ENCODER:
        return BiEncoder(text)
    settings = LinkNetworkSettings(dim=text.dim, condition=8, rank=4, architecture=name)
    return HyperCL(text, make_network(settings))


def unused(what: str):
    def fail():
        raise AssertionError(f"{what} not needed")

    return fail


@pytest.mark.parametrize("name", [*TRI_ENCODERS, BI_ENCODER])
def test_an_opened_architecture_makes_the_queries_of_its_encoder(
    name: str, text: TextEncoder, tmp_path: Path
) -> None:
    encoder = made(name, text)
    encoder.save(tmp_path / "model")
    loaded = load_link_encoder(tmp_path / "model", device="cpu")
    assert type(loaded) is type(encoder)
    assert (loaded.fingerprint, loaded.described()) == (encoder.fingerprint, encoder.described())
    assert encoder.described()["architecture"] == name
    stored = encoder.projections(RELATIONS)
    opened = open_architecture(
        name,
        unused("projections") if stored is None else lambda: stored,
        lambda: encoder,
        unused("text encoder"),
    )
    vectors = Vectors([encoder.entities(text.encode(ENTITIES))])
    rows, numbers = np.array([2, 0, 0]), np.array([3, 0, 1])
    found, wanted = (
        query_function(one, vectors, ENTITIES, RELATIONS)(rows, numbers)
        for one in (opened, encoder.bind(RELATIONS))
    )
    assert np.array_equal(found, wanted)
    assert opened.projects == (name != BI_ENCODER)
    np.testing.assert_allclose(opened.encode(ENTITIES), vectors[np.arange(3)], atol=1e-6)


def pairs(
    vectors: np.ndarray, texts: list[str], relations: list[str], numbers: list[int]
) -> LinkPairs:
    both = list(zip(texts, relations, strict=True))
    return LinkPairs(
        np.array(numbers),
        lambda: vectors,
        lambda: texts,
        lambda: relations,
        lambda: [" ".join(pair) for pair in both],
    )


@pytest.mark.parametrize("name", [*TRI_ENCODERS, BI_ENCODER])
def test_unknown_relations_among_known_ones_have_the_queries_of_their_texts(
    name: str, text: TextEncoder
) -> None:
    encoder = made(name, text)
    architecture = encoder.bind(RELATIONS)
    texts, relations = ["dog", "dog", "a farm", "dog"], ["eats", "sees", "lives in", "sees"]
    vectors = encoder.entities(text.encode(texts))
    mixed = architecture.query(pairs(vectors, texts, relations, [1, -1, 0, -1]))
    for at, relation in enumerate(relations):
        alone = encoder.bind([relation]).query(pairs(vectors[[at]], [texts[at]], [relation], [0]))
        np.testing.assert_allclose(mixed[[at]], alone, atol=1e-5)


@pytest.mark.parametrize("name", [*TRI_ENCODERS, BI_ENCODER])
def test_queries_of_one_entity_by_each_relation_are_those_of_its_pairs(
    name: str, text: TextEncoder
) -> None:
    encoder = made(name, text)
    architecture = encoder.bind(RELATIONS)
    some = pairs(
        np.repeat(encoder.entities(text.encode(["dog"])), 4, axis=0),
        ["dog"] * 4,
        RELATIONS,
        [0, 1, 2, 3],
    )
    np.testing.assert_allclose(
        architecture.query_by_each(some), architecture.query(some), atol=1e-5
    )


@pytest.mark.parametrize("name", TRI_ENCODERS)
def test_a_tri_encoder_is_not_loaded_for_known_entities_and_relations(
    name: str, text: TextEncoder
) -> None:
    encoder = made(name, text)
    stored = encoder.projections(RELATIONS)
    assert stored is not None
    opened = open_architecture(name, lambda: stored, unused("encoder"), unused("text encoder"))
    vectors = Vectors([encoder.entities(text.encode(ENTITIES))])
    queries = query_function(opened, vectors, ENTITIES, RELATIONS)
    assert queries(np.array([1]), np.array([2])).shape == (1, text.dim)
    projections, number = opened.projection(2, RELATIONS[2])
    assert (projections, number) == (stored, 2)


def test_without_a_link_encoder_a_pair_is_one_text(text: TextEncoder) -> None:
    opened = open_architecture(None, unused("projections"), unused("encoder"), lambda: text)
    assert isinstance(opened, TextArchitecture)
    vectors = Vectors([text.encode(ENTITIES)])
    found = query_function(opened, vectors, ENTITIES, RELATIONS)(np.array([0]), np.array([1]))
    assert np.array_equal(found, text.encode(["dog eats"]))


@pytest.mark.parametrize("name", [BI_ENCODER, None])
def test_architectures_that_read_texts_have_no_projections(
    name: str | None, text: TextEncoder
) -> None:
    opened = open_architecture(name, unused("projections"), lambda: BiEncoder(text), lambda: text)
    assert not opened.projects
    with pytest.raises(NotImplementedError, match="no projections of relations"):
        opened.projection(0, "eats")


def test_an_unknown_architecture_is_no_key_of_the_registry(text: TextEncoder) -> None:
    with pytest.raises(KeyError):
        open_architecture("tensor product", unused("projections"), unused("e"), lambda: text)
