"""Training and building with hierarchies from Python: small, flat, circular and odd graphs."""

from __future__ import annotations

import shutil
import warnings

import pytest

import ontodex
from ontodex.encoders.hit import HiT
from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, GraphError, IndexMismatch, SettingsError, TrainingError
from ontodex.graph import GraphBuilder, ReadWarning
from ontodex.loading import load_hierarchy_encoder
from ontodex.storage.manifest import Manifest
from ontodex.trainers.data.task_files import hierarchy_task
from tests.plain import build_plain


@pytest.mark.parametrize("other", ["tiny_gauss", "links", "conditions"])
def test_an_encoder_of_another_kind_is_none_for_hierarchies(
    other, request, tmp_path, tiny_encoder, small_graph
):
    if other == "links":
        folder, what = tmp_path / "links", "Hyper-CL"
        training = ontodex.HyperCLTraining(steps=2, queries=16)
        ontodex.train_hyper_cl(
            small_graph, folder, encoder=tiny_encoder, training=training, device="cpu", quiet=True
        )
    elif other == "conditions":
        folder, what = tmp_path / "conditions", "condition"
        training = ontodex.ConditionTraining(epochs=1)
        settings = ontodex.ConditionalPairsSettings(unseen_entities=0.0, unseen_conditions=0.0)
        pairs = ontodex.conditional_pairs(small_graph, settings=settings)
        ontodex.train_condition(
            pairs, folder, encoder=tiny_encoder, training=training, device="cpu", quiet=True
        )
    else:
        folder, what = request.getfixturevalue(other), "GaussCSE"
    with pytest.raises(
        EncoderError, match=f"expected a HiT encoder, for hierarchies, found a {what} encoder"
    ):
        load_hierarchy_encoder(str(folder), "cpu")


def test_a_rank_is_at_most_the_dimension_by_default():
    assert ontodex.HyperCLTraining().network(16).rank == 16
    assert ontodex.HyperCLTraining().network(384).rank == 32
    assert ontodex.ConditionTraining().network(16).rank == 16
    with pytest.raises(SettingsError, match="rank: expected 0 to 16"):
        ontodex.HyperCLTraining(rank=32).network(16)


def test_an_added_link_that_closes_a_cycle_is_reported(tmp_path, tiny_encoder, small_graph):
    build_plain(small_graph, tmp_path / "x.odx", tiny_encoder).close()
    builder = GraphBuilder("wrong")
    builder.triple("ex:animal", "is_a", "ex:dog")
    with pytest.warns(ReadWarning, match=r"left out 1 link\(s\) that close one: "):
        ontodex.add(builder.build(), tmp_path / "x.odx", device="cpu", quiet=True).close()


QUICK = {"tune": "adapter", "epochs": 1, "rank": 4, "evaluations": 1}


def graph_of(*links):
    builder = GraphBuilder("links")
    for child, parent in links:
        builder.triple(child, "is_a", parent)
    return builder.build()


@pytest.fixture(scope="module")
def flat():
    """A hundred animals below ten kinds: a hierarchy without indirect subsumptions."""
    return graph_of(*((f"{place} {kind}", kind) for kind in "abcdefghij" for place in range(10)))


def test_a_flat_hierarchy_holds_links_out(flat, tiny_encoder, tmp_path):
    with pytest.warns(
        UserWarning, match="flat hierarchy, 0 subsumptions follow from its 100 links"
    ):
        task = hierarchy_task(flat)
    assert (task.settings.task, len(task.train), len(task.valid), len(task.test)) == (
        "mixed-hop",
        90,
        5,
        5,
    )
    with pytest.warns(UserWarning, match="mixed-hop"):
        encoder = ontodex.train_hit(
            flat,
            tmp_path / "m",
            encoder=tiny_encoder,
            training=ontodex.HiTTraining(**QUICK),
            device="cpu",
            quiet=True,
        )
    assert encoder.rule is not None
    found = ontodex.evaluate_hierarchy(tmp_path / "m", flat, device="cpu")
    assert found == ontodex.evaluate_hierarchy(tmp_path / "m", flat, task="mixed-hop", device="cpu")
    with pytest.raises(GraphError, match="mixed-hop"):
        hierarchy_task(flat, "multi-hop")


def test_named_relations_give_no_warning(flat, small_graph):
    assert hierarchy_task(flat, "mixed-hop").settings.task == "mixed-hop"
    assert hierarchy_task(small_graph).settings.task == "multi-hop"


def test_an_adapter_finds_its_text_encoder_from_everywhere(
    flat, tiny_encoder, tmp_path, monkeypatch
):
    monkeypatch.chdir(tiny_encoder.parent)
    ontodex.train_hit(
        flat,
        tmp_path / "m",
        task="mixed-hop",
        encoder=tiny_encoder.name,
        training=ontodex.HiTTraining(**QUICK),
        device="cpu",
        quiet=True,
    )
    monkeypatch.chdir(tmp_path)
    assert load_hierarchy_encoder("m", "cpu").points(["a dog"]).shape == (1, 32)


def test_circles_and_several_roots_are_no_hindrance(tiny_encoder, tiny_hit, tmp_path):
    links = [(f"{place} {kind}", kind) for kind in "abcd" for place in range(8)]
    circular = graph_of(*links, ("a", "0 a"), ("b", "b"))
    with pytest.warns(ReadWarning) as caught:
        encoder = ontodex.train_hit(
            circular,
            tmp_path / "m",
            task="mixed-hop",
            encoder=tiny_encoder,
            training=ontodex.HiTTraining(**QUICK),
            device="cpu",
            quiet=True,
        )
    assert encoder.rule is not None
    assert sum("left out 2 link(s)" in str(one.message) for one in caught) == 1
    with pytest.warns(ReadWarning) as caught:
        engine = build_plain(circular, tmp_path / "x.odx", tiny_encoder, hierarchy=tiny_hit)
    assert sum("left out 2 link(s)" in str(one.message) for one in caught) == 1
    with engine, warnings.catch_warnings():
        warnings.simplefilter("error")  # the warning was given when the graph was built
        children = engine.children("b", known="only")
    assert {hit.id for hit in children} == {f"{place} b" for place in range(8)}


@pytest.mark.parametrize(
    "links", [[("dog", "dog")], [("dog", "animal")]], ids=["its own parent", "one link"]
)
@pytest.mark.filterwarnings("ignore::ontodex.graph.ReadWarning")
def test_the_smallest_hierarchies_can_be_asked(links, tiny_encoder, tiny_hit, tmp_path):
    path = tmp_path / "x.odx"
    with build_plain(graph_of(*links), path, tiny_encoder, hierarchy=tiny_hit) as engine:
        assert [hit.id for hit in engine.parents("a wolf")][:1]
        assert engine.place("a wolf")
        assert len(engine.parents("dog")) == len(engine.graph.ids) - 1


def test_a_graph_of_one_node_needs_no_hierarchy(tiny_encoder, tmp_path):
    builder = GraphBuilder("one")
    builder.entity("ex:dog", "dog")
    with ontodex.build(
        builder.build(),
        tmp_path / "x.odx",
        encoders=tiny_encoder,
        device="cpu",
        entailment=False,
        quiet=True,
    ) as engine:
        with pytest.raises(IndexMismatch, match="give the graph a hierarchy"):
            engine.parents("dog")
        with pytest.raises(GraphError, match="hierarchy to draw"):
            engine.plot("dog", tmp_path / "x.svg")


def test_hierarchies_that_cannot_be_trained_on_are_refused(small_graph, tiny_encoder, tmp_path):
    with pytest.raises(GraphError, match="at least 20 links to learn from, found 1"):
        ontodex.train_hit(graph_of(("dog", "animal")), tmp_path / "m")
    with pytest.raises(GraphError, match="found 0 and 1 that close a circle"):
        ontodex.train_hit(graph_of(("dog", "dog")), tmp_path / "m")
    with pytest.raises(
        SettingsError, match="expected one of multi-hop, mixed-hop, found 'transfer'"
    ):
        ontodex.train_hit(small_graph, tmp_path / "m", task="transfer")
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "thesis.txt").write_text("mine")
    with pytest.raises(TrainingError, match="other files"):
        ontodex.train_hit(
            small_graph, tmp_path / "m", encoder=tiny_encoder, device="cpu", quiet=True
        )
    assert (tmp_path / "m" / "thesis.txt").read_text() == "mine"


def test_encoders_are_given_where_they_belong(
    small_graph, tiny_encoder, tiny_hit, small_index, tmp_path
):
    with pytest.raises(SettingsError, match="give it as hierarchy="):
        ontodex.build(
            small_graph,
            tmp_path / "x.odx",
            encoders=[tiny_encoder, tiny_hit],
            device="cpu",
            entailment=False,
            quiet=True,
        )
    link = next(small_index.glob("gen-*")) / "encoders" / "link"
    folder = tmp_path / "hyper-cl"
    shutil.copytree(tiny_encoder, folder)
    shutil.copytree(link / "hyper_cl", folder / "hyper_cl")
    with pytest.raises(EncoderError, match="found a Hyper-CL encoder"):
        load_hierarchy_encoder(str(folder), "cpu")


def test_the_shipped_encoder_has_a_name():
    encoder = load_hierarchy_encoder("hit-wordnet", "cpu")
    assert encoder.dim == 384
    assert encoder.rule is not None


@pytest.mark.parametrize(("key", "value"), [("curvature", 1 / 64), ("fingerprint", "0" * 32)])
def test_an_exchanged_model_is_refused(own_index, key, value):
    (folder,) = own_index.glob("gen-*")
    manifest = Manifest.read(folder)
    manifest.encoders["hierarchy"][key] = value
    manifest.write(folder)
    (folder / "encoders" / "hierarchy" / "hit" / "config.json").touch()
    with (
        ontodex.open(own_index, device="cpu") as engine,
        pytest.raises(IndexMismatch, match="build the index anew"),
    ):
        engine.parents("something new")


def test_a_model_of_another_dimension_is_refused(own_index, other_encoder):
    """Exchange the model for one of 16 dimensions, and record its files in the manifest."""
    other = HiT(TextEncoder(other_encoder, "cpu", unit=False), None, {})
    (folder,) = own_index.glob("gen-*")
    shutil.rmtree(folder / "encoders" / "hierarchy")
    other.save(folder / "encoders" / "hierarchy")
    manifest = Manifest.read(folder)
    manifest.encoders["hierarchy"] |= {"fingerprint": other.fingerprint, "curvature": other.c}
    for name in [name for name in manifest.files if name.startswith("encoders/hierarchy/")]:
        del manifest.files[name]
    manifest.write(folder)
    with (
        ontodex.open(own_index, device="cpu") as engine,
        pytest.raises(IndexMismatch, match="build the index anew"),
    ):
        engine.parents("something new")
