"""The hierarchy space of an index: lifted points, rule, encoder, and damage to them."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ontodex
from ontodex.encoders import text as text_module
from ontodex.encoders.hit import HiT
from ontodex.encoders.index_encoders import Encoders, StoredEncoders
from ontodex.encoders.text import TextEncoder
from ontodex.errors import IndexDamaged, IndexMismatch, SettingsError
from ontodex.geometry.subsumption import MIN_LINKS, Subsumption
from ontodex.graph import GraphBuilder, KnowledgeGraph, entity_texts
from ontodex.indexers import embed
from ontodex.indexers.build import build_index
from ontodex.indexers.neighbour_voting import default_voting
from ontodex.scoring.neighbour_voting import NeighbourVoting
from ontodex.storage import manifest
from ontodex.storage.index import Index
from tests.plain import build_plain

RULE = Subsumption(weight=1.5, threshold=-7.0, slope=0.5, offset=3.0)


def all_of(index: Index, space: str = "hierarchy") -> np.ndarray:
    return index.vectors(space)[np.arange(index.graph.n_entities)]


def generation(path: Path) -> Path:
    return path / (path / "CURRENT").read_text().strip()


def edit_manifest(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change a manifest and make its checksum fit again."""
    file = generation(path) / "manifest.json"
    content = json.loads(file.read_text())
    del content["blake2b"]
    change(content)
    file.write_text(json.dumps({"blake2b": manifest._digest(content), **content}))


def fan(links: int) -> KnowledgeGraph:
    """Return a graph of children of ten kinds."""
    builder = GraphBuilder("fan")
    for number in range(links):
        builder.triple(f"wild {number}", "is_a", f"kind {number % 10}")
    return builder.build()


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute in float32 on every machine."""
    monkeypatch.setattr(text_module, "has_bfloat16", lambda device: False)


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record every text that a hierarchy encoder encodes; its vectors are not of length 1."""
    texts: list[str] = []
    encode: Callable[..., Any] = TextEncoder._encode_unique

    def counted(self: TextEncoder, unique: list[str]) -> Any:
        texts.extend([] if self.unit else unique)
        return encode(self, unique)

    monkeypatch.setattr(TextEncoder, "_encode_unique", counted)
    return texts


def test_vectors_are_the_items_of_the_labels(
    small_index: Path, tiny_hit: Path, small_graph: KnowledgeGraph
) -> None:
    with ontodex.open(small_index, device="cpu") as engine:
        index = engine.index
        info = index.manifest.spaces["hierarchy"]
        assert (info.geometry, info.dim, info.rows, info.recall) == (
            "poincare",
            33,
            small_graph.n_entities,
            None,
        )
        assert index.curvature == 1 / 32
        assert index.verify() == []
        hit = HiT.load(tiny_hit, "cpu")
        np.testing.assert_allclose(
            all_of(index), hit.items(list(small_graph.labels)), rtol=1e-5, atol=1e-6
        )
        stored = engine.resources.encoders.hierarchy
        assert stored.fingerprint == hit.fingerprint
        assert stored.rule == index.rule
        np.testing.assert_array_equal(stored.items(["a new one"]), hit.items(["a new one"]))
        assert index.candidates("hierarchy") is None


def test_too_few_links_leave_the_encoder_its_own_rule(
    tmp_path: Path, tiny_encoder: Path, tiny_hit: Path
) -> None:
    own = HiT.load(tiny_hit, "cpu").rule
    for links in (MIN_LINKS - 1, MIN_LINKS):
        with build_plain(
            fan(links), tmp_path / str(links), tiny_encoder, hierarchy=tiny_hit
        ) as engine:
            assert (engine.index.rule == own) == (links < MIN_LINKS)


def test_too_few_links_leave_neighbour_voting_its_default_weights(
    tmp_path: Path, tiny_encoder: Path, tiny_hit: Path
) -> None:
    own = HiT.load(tiny_hit, "cpu").rule
    assert own is not None
    for links in (MIN_LINKS - 1, MIN_LINKS):
        with build_plain(
            fan(links), tmp_path / str(links), tiny_encoder, hierarchy=tiny_hit
        ) as engine:
            found = NeighbourVoting.read(engine.index.manifest.neighbour_voting, "x")
            assert (found == default_voting(own)) == (links < MIN_LINKS)
            assert engine.parents("dog 1").method.endswith("neighbour votes")


def test_a_public_checkpoint_gets_its_rule_from_the_graph(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    with build_plain(
        fan(MIN_LINKS), tmp_path / "x.odx", tiny_encoder, hierarchy=tiny_encoder
    ) as engine:
        assert isinstance(engine.index.rule, Subsumption)
        rule = engine.index.rule
    ontodex.remove(
        [f"wild {number}" for number in range(10)], tmp_path / "x.odx", device="cpu", quiet=True
    ).close()
    with ontodex.open(tmp_path / "x.odx", device="cpu") as engine:
        assert engine.index.rule == rule  # too few links to fit another rule


def test_an_encoder_without_a_rule_needs_links_before_anything_is_encoded(
    tmp_path: Path, tiny_encoder: Path, encoded: list[str]
) -> None:
    builder = GraphBuilder("none")
    builder.triple("dog", "eats", "hen")
    for graph, links in ((fan(MIN_LINKS - 1), MIN_LINKS - 1), (builder.build(), 0)):
        with pytest.raises(
            SettingsError, match=rf"at least {MIN_LINKS} hierarchy links.* found {links};"
        ):
            build_plain(graph, tmp_path / "x.odx", tiny_encoder, hierarchy=tiny_encoder)
    assert encoded == []
    chain = GraphBuilder("chain")
    for number in range(60):
        chain.triple(f"dog {number}", "is_a", f"dog {number + 1}")
    with pytest.raises(
        SettingsError, match=r"expected 10 entities that are no ancestors.*found fewer"
    ):
        build_plain(chain.build(), tmp_path / "x.odx", tiny_encoder, hierarchy=tiny_encoder)


def test_a_chain_is_asked_by_the_rule_that_the_encoder_brings(
    tmp_path: Path, tiny_encoder: Path, tiny_hit: Path
) -> None:
    chain = GraphBuilder("chain")
    for number in range(60):
        chain.triple(f"dog {number}", "is_a", f"dog {number + 1}")
    with build_plain(chain.build(), tmp_path / "x.odx", tiny_encoder, hierarchy=tiny_hit) as engine:
        assert engine.index.rule == HiT.load(tiny_hit, "cpu").rule


def test_texts_are_built_as_the_encoder_was_trained(
    tmp_path: Path, tiny_encoder: Path, small_graph: KnowledgeGraph
) -> None:
    texts = ontodex.TextSettings(synonyms=2, definition=True)
    text = TextEncoder(tiny_encoder, "cpu")
    hit = HiT(TextEncoder(tiny_encoder, "cpu", unit=False), RULE, asdict(texts))
    build_index(small_graph, tmp_path / "x.odx", Encoders(text, hierarchy=hit), quiet=True)
    index = Index.open(tmp_path / "x.odx")
    np.testing.assert_allclose(
        all_of(index), hit.items(entity_texts(small_graph, texts)), rtol=1e-5, atol=1e-6
    )
    assert StoredEncoders(index, "cpu").hierarchy.texts == asdict(texts)
    index.close()
    hit.texts = {"synonims": 2}
    with pytest.raises(SettingsError, match="synonyms"):
        build_index(small_graph, tmp_path / "y.odx", Encoders(text, hierarchy=hit), quiet=True)


def test_only_new_labels_are_encoded_again(
    own_index: Path, small_graph: KnowledgeGraph, encoded: list[str], exact: None
) -> None:
    before = {
        name: Index.open(own_index).vectors("hierarchy")[row]
        for row, name in enumerate(small_graph.ids)
    }
    more = GraphBuilder("more")
    more.entity("ex:lynx", "lynx", ["wild cat"], "a wild animal")
    more.triple("ex:lynx", "is_a", "ex:wild")
    more.entity(
        "ex:n0", "thing 0", ["another synonym"], "another definition"
    )  # none of its labels is new
    with ontodex.add(more.build(), own_index, device="cpu", quiet=True) as engine:
        # the last three by the entailment encoder, which reads every sentence
        assert encoded == ["lynx", "another definition", "a wild animal", "lynx"]
        ids = list(engine.graph.ids)
        vectors = all_of(engine.index)
        for name, vector in before.items():
            np.testing.assert_array_equal(vectors[ids.index(name)], vector)
        wanted = engine.resources.encoders.hierarchy.items(["lynx"])[0]
        np.testing.assert_allclose(vectors[ids.index("ex:lynx")], wanted, atol=1e-4)
    encoded.clear()
    with ontodex.remove(["ex:lynx", "ex:dog"], own_index, device="cpu", quiet=True) as engine:
        assert encoded == []
        assert engine.index.manifest.spaces["hierarchy"].rows == small_graph.n_entities - 1
        for name, vector in zip(engine.graph.ids, all_of(engine.index), strict=True):
            np.testing.assert_array_equal(vector, before[name])
        assert engine.index.verify() == []


def test_another_encoder_encodes_everything_anew(
    own_index: Path, small_graph: KnowledgeGraph, tiny_encoder: Path, encoded: list[str]
) -> None:
    with build_plain(small_graph, own_index, tiny_encoder, hierarchy=tiny_encoder) as engine:
        assert sorted(encoded) == sorted(set(small_graph.labels))
        assert engine.resources.encoders.hierarchy.adapter is None
        assert engine.index.verify() == []


def files_below(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


ADAPTER = {"hit/adapter_config.json", "hit/adapter_model.safetensors", "hit/config.json"}


def test_an_adapter_of_the_text_encoder_is_stored_alone(own_index: Path) -> None:
    assert files_below(generation(own_index) / "encoders" / "hierarchy") == ADAPTER


@pytest.mark.parametrize("form", ["adapter", "whole"])
def test_an_encoder_with_another_text_encoder_is_stored_whole(
    tmp_path: Path,
    tiny_encoder: Path,
    other_encoder: Path,
    tiny_hit: Path,
    small_graph: KnowledgeGraph,
    form: str,
) -> None:
    base = Path(shutil.copytree(tiny_encoder, tmp_path / "base"))
    folder = Path(shutil.copytree(tiny_hit, tmp_path / "hit"))
    if form == "whole":
        shutil.rmtree(folder)
        HiT(TextEncoder(base, "cpu", unit=False), RULE, {}).save(folder)
    else:
        config = json.loads((folder / "hit" / "config.json").read_text())
        (folder / "hit" / "config.json").write_text(json.dumps({**config, "base": str(base)}))
    hit = HiT.load(folder, "cpu")
    with build_plain(small_graph, tmp_path / "x.odx", other_encoder, hierarchy=folder) as engine:
        assert {name: info.dim for name, info in engine.index.manifest.spaces.items()} == {
            "text": 16,
            "name": 16,
            "definition": 16,
            "hierarchy": 33,
        }
    wanted, fingerprint = hit.items(["an old dog"]), hit.fingerprint
    shutil.rmtree(base)
    shutil.rmtree(folder)
    for _ in range(2):
        stored = files_below(generation(tmp_path / "x.odx") / "encoders" / "hierarchy")
        assert {"model.safetensors", "hit/config.json"} < stored
        assert (stored > ADAPTER) == (form == "adapter")
        with ontodex.open(tmp_path / "x.odx", device="cpu") as engine:
            assert engine.resources.encoders.hierarchy.fingerprint == fingerprint
            np.testing.assert_array_equal(
                engine.resources.encoders.hierarchy.items(["an old dog"]), wanted
            )
            assert engine.index.verify() == []
        ontodex.remove("ex:n0", tmp_path / "x.odx", device="cpu", quiet=True).close()
        ontodex.add(_one("ex:n0", "thing 0"), tmp_path / "x.odx", device="cpu", quiet=True).close()


def _one(identifier: str, label: str) -> KnowledgeGraph:
    builder = GraphBuilder("one")
    builder.entity(identifier, label)
    return builder.build()


def changed(own_index: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change a file of the encoder and leave its length."""
    file = generation(own_index) / "encoders" / "hierarchy" / "hit" / name
    content = file.read_bytes()
    after = change(content)
    assert len(after) == len(content)
    assert after != content
    file.unlink()
    file.write_bytes(after)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (
            "adapter_model.safetensors",
            lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        ),  # another weight
        (
            "adapter_model.safetensors",
            lambda content: content[:8] + b"x" + content[9:],
        ),  # another header
        ("adapter_model.safetensors", lambda content: b"\xff" * 8 + content[8:]),
        (
            "adapter_config.json",
            lambda content: content.replace(b'"lora_alpha": 8', b'"lora_alpha": 9'),
        ),
        ("adapter_config.json", lambda content: b"[" + content[1:]),
        ("config.json", lambda content: b"[" + content[1:]),
        (
            "config.json",
            lambda content: content.replace(b'"base_weights": "', b'"base_weights":"x'),
        ),
    ],
)
def test_an_encoder_that_is_not_the_one_is_named(
    own_index: Path, name: str, change: Callable[[bytes], bytes]
) -> None:
    changed(own_index, name, change)
    with ontodex.open(own_index, device="cpu") as engine:
        engine.search("dog")  # what does not need it is answered
        with pytest.raises(IndexMismatch, match=r"encoders/hierarchy: .*build the index anew"):
            _ = engine.resources.encoders.hierarchy
        assert any(name in problem for problem in engine.index.verify())
    with pytest.raises(IndexMismatch, match="encoders/hierarchy"):
        ontodex.add(_one("ex:new", "new"), own_index, device="cpu", quiet=True)


def test_an_encoder_that_was_cut_is_named_on_opening(own_index: Path) -> None:
    for name in ADAPTER:
        file = generation(own_index) / "encoders" / "hierarchy" / name
        whole = file.read_bytes()
        file.write_bytes(whole[:-1])
        with pytest.raises(IndexDamaged, match=f"encoders/hierarchy/{name}: expected"):
            ontodex.open(own_index, device="cpu")
        file.write_bytes(whole)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["encoders"]["hierarchy"].update(curvature=1 / 384),
        lambda content: content["spaces"]["hierarchy"].update(dim=385),
    ],
)
def test_another_dimension_or_curvature_is_named(
    own_index: Path, change: Callable[[dict[str, Any]], Any]
) -> None:
    edit_manifest(own_index, change)
    index = Index.open(own_index)
    with pytest.raises(
        IndexMismatch,
        match=r"the index holds points of \d+ dimensions and curvature -0\.\d+, its enc",
    ):
        _ = StoredEncoders(index, "cpu").hierarchy
    index.close()


def test_a_graph_without_a_hierarchy_has_no_such_space(
    tmp_path: Path, tiny_encoder: Path, tiny_hit: Path
) -> None:
    builder = GraphBuilder("none")
    builder.triple("dog", "eats", "hen")
    for number, (graph, hit) in enumerate([(builder.build(), True), (fan(60), False)]):
        with build_plain(graph, tmp_path / str(number), tiny_encoder, hierarchy=hit) as engine:
            assert set(engine.index.manifest.spaces) <= {"text", "name", "definition"}
            assert set(engine.index.manifest.encoders) == {"text"}
            with pytest.raises(
                IndexMismatch, match="no hierarchy space; build one of a graph with a hierarchy"
            ):
                _ = engine.resources.encoders.hierarchy
            with pytest.raises(IndexMismatch, match="no space 'hierarchy'; it has name, text"):
                engine.index.vectors("hierarchy")
    with build_plain(
        builder.build(), tmp_path / "asked for", tiny_encoder, hierarchy=tiny_hit
    ) as engine:
        assert "hierarchy" in engine.index.manifest.spaces  # what is asked for by name is made


def test_an_interrupted_encoding_goes_on(
    tmp_path: Path, tiny_encoder: Path, tiny_hit: Path, small_graph: KnowledgeGraph,
    encoded: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(text_module, "CHUNK", 8)
    note = embed._note

    def noted(journal: Path, vectors: Any, done: int, texts: int) -> None:
        note(journal, vectors, done, texts)
        if journal.name == "hierarchy.json" and done == 4:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embed, "_note", noted)
        with pytest.raises(KeyboardInterrupt):
            build_plain(small_graph, tmp_path / "cut.odx", tiny_encoder, hierarchy=tiny_hit)
    assert len(encoded) == 4 * 8
    encoded.clear()
    with build_plain(small_graph, tmp_path / "cut.odx", tiny_encoder, hierarchy=tiny_hit) as engine:
        assert len(encoded) == small_graph.n_entities - 4 * 8
        found, rule = all_of(engine.index), engine.index.rule
    with build_plain(
        small_graph, tmp_path / "whole.odx", tiny_encoder, hierarchy=tiny_hit
    ) as engine:
        np.testing.assert_array_equal(all_of(engine.index), found)
        assert engine.index.rule == rule
    left = {file.name for file in generation(tmp_path / "cut.odx").iterdir()}
    assert not left & {"hierarchy.f32", "hierarchy.json", "text.f32", "text.json", "job.json"}


def test_a_build_that_is_interrupted_anywhere_leaves_the_old_index_or_the_new_one(
    own_index: Path, tiny_encoder: Path, tiny_hit: Path, small_graph: KnowledgeGraph
) -> None:
    graph = fan(60)
    calls = 0

    def profile(limit: int) -> Callable[..., None]:
        def counted(frame: Any, event: str, argument: Any) -> None:
            nonlocal calls
            if event == "call" and "/indexers/" in frame.f_code.co_filename:
                calls += 1
                if calls == limit:
                    raise KeyboardInterrupt

        return counted

    def attempt(limit: int) -> None:
        nonlocal calls
        calls = 0
        sys.setprofile(profile(limit))
        try:
            build_plain(graph, own_index, tiny_encoder, hierarchy=tiny_hit).close()
        finally:
            sys.setprofile(None)

    copy = Path(shutil.copytree(own_index, own_index.with_name("count.odx")))
    own_index, original = copy, own_index
    attempt(-1)
    total = calls
    own_index = original
    for share in (0.1, 0.3, 0.45, 0.6, 0.75, 0.9):
        with pytest.raises(KeyboardInterrupt):
            attempt(int(total * share))
        with ontodex.open(own_index, device="cpu") as engine:
            assert engine.graph.fingerprint in (small_graph.fingerprint, graph.fingerprint)
            assert engine.index.verify() == []
            assert engine.resources.encoders.hierarchy.dim == 32
            assert len(engine.index.vectors("hierarchy")) == engine.graph.n_entities
    build_plain(graph, own_index, tiny_encoder, hierarchy=tiny_hit).close()
    with (
        ontodex.open(own_index, device="cpu") as engine,
        ontodex.open(copy, device="cpu") as wanted,
    ):
        assert engine.graph.fingerprint == graph.fingerprint
        np.testing.assert_array_equal(all_of(engine.index), all_of(wanted.index))
        assert engine.index.rule == wanted.index.rule
