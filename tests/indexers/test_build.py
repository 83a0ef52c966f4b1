from __future__ import annotations

import gc
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import ontodex
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.hypernetwork import HyperNetwork, LinkNetworkSettings
from ontodex.encoders.index_encoders import Encoders, StoredEncoders
from ontodex.encoders.text import TextEncoder
from ontodex.errors import GraphError, IndexFailure, SettingsError
from ontodex.geometry.cosine import score_pairs
from ontodex.graph import (
    GraphBuilder,
    KnowledgeGraph,
    entity_names,
    entity_texts,
    merge,
    relation_texts,
    remove,
)
from ontodex.indexers.build import build_index
from ontodex.scoring.lexicon import Lexicon
from ontodex.storage import blobs
from ontodex.storage.index import Index
from tests.plain import build_plain

ALIKE = 0.998  # bfloat16 on random weights: a text in another batch


def all_of(index: Index, space: str) -> np.ndarray:
    return index.vectors(space)[np.arange(index.graph.n_entities)]


def least_cosine(found: np.ndarray, wanted: np.ndarray) -> float:
    assert found.shape == wanted.shape
    return float(score_pairs(found, wanted[:, None]).min())


def built(graph: KnowledgeGraph, path: Path, *encoders: Path, **settings: Any) -> ontodex.Engine:
    settings.setdefault("hierarchy", False)
    return ontodex.build(
        graph, path, encoders=encoders, device="cpu", entailment=False, quiet=True, **settings
    )


def more_animals() -> KnowledgeGraph:
    builder = GraphBuilder("more")
    builder.entity("ex:lynx", "lynx", ["wild cat"], "a wild animal of the forest")
    builder.entity("ex:emu", "emu")
    builder.triple("ex:lynx", "is_a", "ex:wild")
    builder.triple("ex:lynx", "ex:livesIn", "ex:forest")
    builder.triple("ex:emu", "is_a", "ex:wild")
    return builder.build()


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that is encoded."""
    texts: list[str] = []
    encode: Callable[..., Any] = TextEncoder._encode_unique

    def counted(self: TextEncoder, unique: list[str]) -> Any:
        texts.extend(unique)
        return encode(self, unique)

    monkeypatch.setattr(TextEncoder, "_encode_unique", counted)
    return texts


@pytest.fixture(scope="module")
def own_link(tmp_path_factory: pytest.TempPathFactory, other_encoder: Path) -> Path:
    """A Hyper-CL encoder over a text encoder of its own, with an entity layer."""
    torch.manual_seed(3)
    network = HyperNetwork(LinkNetworkSettings(dim=16, condition=8, rank=4, width=8))
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    folder = tmp_path_factory.mktemp("link") / "model"
    HyperCL(TextEncoder(other_encoder, "cpu"), network).save(folder)
    return folder


def test_graph_and_vectors_come_back(
    small_index: Path, small_graph: KnowledgeGraph, tiny_encoder: Path
) -> None:
    with ontodex.open(small_index, device="cpu") as engine:
        index = engine.index
        assert (
            index.graph.fingerprint
            == small_graph.fingerprint
            == index.manifest.graph["fingerprint"]
        )
        assert dict(index.graph.prefixes) == dict(small_graph.prefixes)
        assert index.graph.find("creature") == small_graph.find("creature")
        assert index.graph.by_tail.tolist() == small_graph.by_tail.tolist()
        encoder = TextEncoder(tiny_encoder, "cpu")
        vectors = encoder.encode(entity_texts(small_graph))
        assert np.allclose(all_of(index, "text"), vectors, atol=1e-6)
        link = engine.resources.encoders.link
        assert np.allclose(all_of(index, "link"), link.entities(vectors), atol=1e-6)
        found, made = (
            index.projections.parts(),
            link.projections(relation_texts(small_graph)).parts(),
        )
        assert set(found) == set(made) == {"left", "right", "shift"}
        assert all(np.allclose(found[name], made[name], atol=1e-5) for name in made)
        assert index.verify() == []
        info = index.info()
        assert (info["generation"], info["spaces"]["link"]["rows"], info["graph"]["triples"]) == (
            1,
            60,
            92,
        )
        assert not any(
            path.suffix in (".tmp", ".f32") or path.name == "trained"
            for path in small_index.rglob("*")
        )


def test_arrays_outlive_the_engine(own_index: Path) -> None:
    engine = ontodex.open(own_index, device="cpu")
    vectors, labels = engine.index.vectors("text").shards[0], engine.graph.labels
    wanted = vectors.copy(), list(labels)
    assert not vectors.flags.owndata
    engine.close()
    del engine
    gc.collect()
    assert np.array_equal(vectors, wanted[0])
    assert list(labels) == wanted[1]


def test_two_engines_on_one_index(small_index: Path) -> None:
    with (
        ontodex.open(small_index, device="cpu") as first,
        ontodex.open(small_index, device="cpu", exact=True) as second,
    ):
        assert np.shares_memory(
            first.index.vectors("text").shards[0], second.index.vectors("text").shards[0]
        )
        assert first.tails("dog", "eats").hits == second.tails("dog", "eats").hits
        first.close()
        gc.collect()
        assert len(second.heads("eats", "dog")) == 10


@pytest.mark.slow
def test_no_file_handle_is_left_behind(small_index: Path) -> None:
    def opened() -> int:
        with ontodex.open(small_index, device="cpu") as engine:
            engine.tails("dog", "eats")
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    before = opened()
    assert [opened() for _ in range(6)] == [before] * 6


def defined(graph: KnowledgeGraph) -> set[str]:
    """Return the definitions that the lexicon has for the names of a graph."""
    lexicon = Lexicon.load()
    return {text for name in entity_names(graph).texts for text in lexicon.definitions(name)}


def test_add_encodes_new_texts_alone_and_equals_a_fresh_build(
    own_index: Path, small_graph: KnowledgeGraph, tmp_path: Path, tiny_hit: Path, encoded: list[str]
) -> None:
    with (
        ontodex.open(own_index, device="cpu") as before,
        ontodex.add(more_animals(), own_index, device="cpu", quiet=True) as after,
    ):
        new = set(encoded) - set(relation_texts(small_graph)) - defined(more_animals())
        assert sorted(new) == [
            "a wild animal of the forest",  # by the entailment encoder, which reads every sentence
            "emu",
            "lynx",  # by the hierarchy encoder, which reads labels alone
            "lynx (wild cat): a wild animal of the forest",
            "wild cat",
        ]
        merged = merge(small_graph, more_animals())
        assert after.graph.fingerprint == merged.fingerprint
        assert (after.index.manifest.generation, after.index.verify()) == (2, [])
        for space in ("text", "link", "hierarchy"):
            assert np.array_equal(all_of(before.index, space), all_of(after.index, space)[:60])
        link = own_index / "gen-000002" / "encoders" / "link"
        text = own_index / "gen-000002" / "encoders" / "text"
        TextEncoder(text, "cpu").save(
            link
        )  # hypernetwork and text encoder together, as a model folder has them
        with built(
            merged, tmp_path / "fresh.odx", text, link, hierarchy=tiny_hit, structure=False
        ) as fresh:
            for space in ("text", "link", "hierarchy"):
                assert least_cosine(all_of(after.index, space), all_of(fresh.index, space)) > ALIKE
            assert np.allclose(
                after.index.projections.left[4], fresh.index.projections.left[4], atol=0.02
            )
            for space in ("text", "link"):
                assert fresh.index.manifest.encoders[space] == after.index.manifest.encoders[space]
            assert (
                fresh.resources.encoders.hierarchy.fingerprint
                == after.resources.encoders.hierarchy.fingerprint
            )
            assert after.tails("emu", "lives in", k=1)[0].score == pytest.approx(
                fresh.tails("emu", "lives in", k=1)[0].score, abs=0.01
            )


def test_remove_encodes_nothing_and_equals_a_fresh_build(
    own_index: Path,
    small_graph: KnowledgeGraph,
    tmp_path: Path,
    tiny_encoder: Path,
    encoded: list[str],
) -> None:
    with ontodex.remove(["ex:dog", "ex:farm"], own_index, device="cpu", quiet=True) as engine:
        smaller = remove(small_graph, ["ex:dog", "ex:farm"])
        assert engine.graph.fingerprint == smaller.fingerprint
        assert set(encoded) <= set(relation_texts(small_graph))
        with build_plain(smaller, tmp_path / "fresh.odx", tiny_encoder) as fresh:
            assert least_cosine(all_of(engine.index, "text"), all_of(fresh.index, "text")) > ALIKE
        assert engine.index.verify() == []


def test_removed_links_are_not_known_any_more(
    own_index: Path, small_graph: KnowledgeGraph, tmp_path: Path, tiny_encoder: Path
) -> None:
    wrong = tmp_path / "wrong.tsv"
    wrong.write_text("dog\tis a\tfarm\n")
    with pytest.raises(GraphError, match="found 'dog' 'is a' 'farm', which it does not have"):
        ontodex.remove_links(wrong, own_index, device="cpu", quiet=True)
    with ontodex.open(own_index, device="cpu") as engine:
        parents = engine.parents("dog", k=3, known="only")
    wrong.write_text(f"dog\tis a\t{parents[0].id}\n")
    with ontodex.remove_links(wrong, own_index, device="cpu", quiet=True) as engine:
        assert engine.graph.n_triples == small_graph.n_triples - 1
        assert engine.graph.n_entities == small_graph.n_entities
        assert parents[0].id not in [hit.id for hit in engine.parents("dog", k=60, known="only")]
        assert engine.index.verify() == []


def test_a_link_encoder_with_its_own_text_encoder_encodes_new_texts_alone_too(
    tmp_path: Path,
    small_graph: KnowledgeGraph,
    tiny_encoder: Path,
    own_link: Path,
    encoded: list[str],
) -> None:
    with built(small_graph, tmp_path / "a.odx", tiny_encoder, own_link) as before:
        assert (before.index.vectors("text").dim, before.index.vectors("link").dim) == (32, 16)
        first = all_of(before.index, "link")
    encoded.clear()
    with ontodex.add(more_animals(), tmp_path / "a.odx", device="cpu", quiet=True) as after:
        new = set(encoded) - set(relation_texts(small_graph)) - defined(more_animals())
        assert sorted(new) == [
            "emu",
            "lynx",
            "lynx (wild cat): a wild animal of the forest",
            "wild cat",
        ]
        assert np.array_equal(all_of(after.index, "link")[:60], first)
        link = HyperCL.load(own_link, device="cpu")
        wanted = link.entities(link.text.encode(entity_texts(after.graph)))
        assert least_cosine(all_of(after.index, "link"), wanted) > ALIKE
        assert after.resources.encoders.link.fingerprint == link.fingerprint
        assert len(after.tails("some words", "some relation", k=3)) == 3


def test_another_encoder_or_another_text_is_encoded_anew(
    own_index: Path,
    small_graph: KnowledgeGraph,
    other_encoder: Path,
    tiny_encoder: Path,
    encoded: list[str],
) -> None:
    build_plain(small_graph, own_index, other_encoder).close()
    names = set(entity_names(small_graph).texts)
    assert len(encoded) == len({*entity_texts(small_graph), *names, *defined(small_graph)})
    encoded.clear()
    plain = ontodex.TextSettings(definition=False)
    with build_plain(small_graph, own_index, other_encoder, texts=plain) as engine:
        assert engine.index.manifest.settings["texts"]["definition"] is False
    assert 0 < len(encoded) < 60
    assert set(encoded) < set(entity_texts(small_graph, plain))


@pytest.mark.parametrize("damaged", ["text/vectors/0", "text/keys"])
def test_nothing_is_taken_over_from_a_damaged_generation(
    own_index: Path,
    small_graph: KnowledgeGraph,
    tiny_encoder: Path,
    encoded: list[str],
    damaged: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ontodex.open(own_index, device="cpu") as engine:
        content = engine.index.blobs.get(damaged).tobytes()
        wanted = all_of(engine.index, "text")
    gc.collect()
    store = own_index / "gen-000001" / "store.mdb"
    whole = store.read_bytes()
    store.unlink()
    store.write_bytes(whole.replace(content, content[:-1] + bytes([content[-1] ^ 0x40])))
    monkeypatch.setattr(blobs, "CHECKED_ON_READ", 100)
    with build_plain(small_graph, own_index, tiny_encoder) as engine:
        assert set(entity_texts(small_graph)) <= set(encoded)
        assert np.allclose(all_of(engine.index, "text"), wanted, atol=1e-6)
        assert engine.index.verify() == []


def test_an_index_that_cannot_be_opened_is_built_anew(
    own_index: Path, small_graph: KnowledgeGraph, tiny_encoder: Path
) -> None:
    (own_index / "gen-000001" / "store.mdb").write_bytes(b"")
    build_plain(small_graph, own_index, tiny_encoder).close()
    (own_index / "CURRENT").unlink()
    build_plain(small_graph, own_index, tiny_encoder).close()
    assert sorted(path.name for path in own_index.glob("gen-*")) == ["gen-000003"]


def test_a_reader_keeps_its_generation_as_long_as_it_reads(
    own_index: Path, tiny_encoder: Path
) -> None:
    reader = ontodex.open(own_index, device="cpu")
    first = own_index / "gen-000001"

    def answers() -> list[Any]:
        return [
            reader.tails("dog", "lives in").hits,
            reader.heads("eats", "cat").hits,
            reader.search("some wild beast").hits,  # the encoder is loaded from the old folder, too
            reader.graph.fingerprint,
        ]

    before = answers()
    again = ontodex.open(own_index, device="cpu")
    again.close()
    for names in (["ex:dog"], ["ex:cat", "ex:wild"]):
        ontodex.remove(names, own_index, device="cpu", quiet=True).close()
        assert first.is_dir()
        assert answers() == before
    late = ontodex.Engine(reader.index)  # nothing of it is in memory already
    assert late.tails("dog", "lives in").hits == before[0]
    reader.close()
    assert first.is_dir()
    ontodex.remove(["ex:cow"], own_index, device="cpu", quiet=True).close()
    assert not first.exists()
    assert (own_index / "CURRENT").read_text() == "gen-000004\n"
    with ontodex.open(own_index, device="cpu") as engine:
        assert engine.graph.find("ex:dog") is None


def test_a_folder_with_other_files_is_refused(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(
        IndexFailure,
        match="expected an index or an empty folder, found other files; choose another",
    ):
        build_plain(small_graph, tmp_path, tiny_encoder)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    (tmp_path / "empty").mkdir()
    build_plain(small_graph, tmp_path / "empty", tiny_encoder).close()


def test_a_file_system_without_hard_links(own_index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with ontodex.remove(["ex:dog"], own_index, device="cpu", quiet=True) as engine:
        assert engine.index.verify() == []
        assert len(engine.search("some words")) == 10


LABELS = ontodex.TextSettings(synonyms=0, definition=False)


def test_the_link_space_has_the_texts_that_its_encoder_was_trained_on(
    tmp_path: Path,
    small_graph: KnowledgeGraph,
    tiny_encoder: Path,
    own_link: Path,
    encoded: list[str],
) -> None:
    trained = HyperCL.load(own_link, device="cpu")
    HyperCL(trained.text, trained.network, asdict(LABELS)).save(tmp_path / "link")
    with built(small_graph, tmp_path / "a.odx", tiny_encoder, tmp_path / "link") as engine:
        wanted = trained.entities(trained.text.encode(entity_texts(small_graph, LABELS)))
        assert least_cosine(all_of(engine.index, "link"), wanted) > ALIKE
        wanted = TextEncoder(tiny_encoder, "cpu").encode(entity_texts(small_graph))
        assert least_cosine(all_of(engine.index, "text"), wanted) > ALIKE
        assert engine.resources.encoders.link.texts == asdict(LABELS)
    encoded.clear()
    with ontodex.add(more_animals(), tmp_path / "a.odx", device="cpu", quiet=True) as engine:
        new = set(encoded) - set(relation_texts(small_graph)) - defined(more_animals())
        assert new == {"lynx (wild cat): a wild animal of the forest", "lynx", "emu", "wild cat"}
        wanted = trained.entities(trained.text.encode(entity_texts(engine.graph, LABELS)))
        assert least_cosine(all_of(engine.index, "link"), wanted) > ALIKE


@pytest.mark.parametrize("width", [0, 8])
def test_other_texts_for_the_same_text_encoder(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path, width: int
) -> None:
    text = TextEncoder(tiny_encoder, "cpu")
    link = HyperCL(
        text,
        HyperNetwork(LinkNetworkSettings(dim=32, condition=8, rank=4, width=width)),
        asdict(LABELS),
    )
    build_index(small_graph, tmp_path / "a.odx", Encoders(text, link=link), quiet=True)
    index = Index.open(tmp_path / "a.odx")
    assert least_cosine(all_of(index, "text"), text.encode(entity_texts(small_graph))) > ALIKE
    assert (
        least_cosine(
            all_of(index, "link"), link.entities(text.encode(entity_texts(small_graph, LABELS)))
        )
        > ALIKE
    )
    assert not (index.folder / "encoders" / "link" / "model.safetensors").exists()
    assert (StoredEncoders(index, "cpu").link.texts, index.verify()) == (asdict(LABELS), [])
    wrong = HyperCL(text, link.network, {"synonym": 3})
    with pytest.raises(SettingsError, match="unknown setting 'synonym'; did you mean 'synonyms'"):
        build_index(small_graph, tmp_path / "b.odx", Encoders(text, link=wrong), quiet=True)


def test_an_encoder_trained_in_a_build_keeps_the_texts_of_the_build(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path
) -> None:
    training = ontodex.HyperCLTraining(
        steps=2, queries=32, negatives=8, rank=4, condition=8, width=16
    )
    with built(
        small_graph, tmp_path / "a.odx", tiny_encoder, training=training, texts=LABELS
    ) as engine:
        link = engine.resources.encoders.link
        assert link.texts == asdict(LABELS)
        wanted = link.entities(link.text.encode(entity_texts(small_graph, LABELS)))
        assert least_cosine(all_of(engine.index, "link"), wanted) > ALIKE


def test_a_place_that_cannot_be_written(
    tmp_path: Path, small_graph: KnowledgeGraph, tiny_encoder: Path
) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path / "file", tmp_path / "file" / "deeper" / "a.odx"):
        with pytest.raises(IndexFailure, match="expected a folder that can be written"):
            build_plain(small_graph, path, tiny_encoder)
    taken = tmp_path / "a.odx"  # a file where the build wants its folder
    taken.mkdir()
    (taken / "LOCK").touch()
    (taken / "gen-000001.tmp").write_text("x")
    with pytest.raises(IndexFailure, match="the index cannot be written"):
        build_plain(small_graph, taken, tiny_encoder)
    assert (tmp_path / "file").read_text() == "x"


def test_entities_without_any_words_are_indexed(
    tmp_path: Path, tiny_encoder: Path, encoded: list[str]
) -> None:
    builder = GraphBuilder("twins")
    for number in range(30):
        builder.entity(f"ex:{number}", "the same label")
    builder.entity("ex:long", "long " * 500)
    with build_plain(builder.build(), tmp_path / "a.odx", tiny_encoder) as engine:
        assert len(encoded) == 3  # the long text is cut, its name is not
        assert [hit.id for hit in engine.search("the same labels", k=30)] == [
            f"ex:{number}" for number in range(30)
        ]


def test_the_folder_of_an_index_can_have_any_name(tmp_path: Path, own_index: Path) -> None:
    moved = own_index.rename(tmp_path / "ein Index – mit „Namen“ #1.odx")
    with ontodex.open(moved, device="cpu") as engine:
        assert len(engine.search("some words")) == 10
        assert engine.index.verify() == []
