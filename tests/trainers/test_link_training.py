"""Batches, loss and training runs of link prediction."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

import ontodex
from ontodex import evaluation
from ontodex.encoders.bi_encoder import query_folder
from ontodex.encoders.compositions import make_network
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.hypernetwork import LinkNetworkSettings
from ontodex.encoders.link_architectures import query_function
from ontodex.encoders.link_encoder import load_link_encoder
from ontodex.encoders.sentence_transformer import load_sentence_transformer
from ontodex.encoders.text import TextEncoder
from ontodex.engine.ranking import evaluate_links
from ontodex.errors import SettingsError, TrainingError
from ontodex.geometry.vectors import Vectors
from ontodex.graph import GraphBuilder, both_directions, entity_texts, relation_texts, split
from ontodex.trainers.links import frozen
from ontodex.trainers.links.batches import LinkBatches
from ontodex.trainers.links.hyper_cl import train_hyper_cl
from ontodex.trainers.links.loss import LinkLoss
from ontodex.trainers.links.models import FrozenLinkModel
from ontodex.trainers.links.validation import ValidationRank
from ontodex.trainers.progress import ProgressOnStderr
from ontodex.trainers.text_tower import TextTower, tokenise

FULL = ontodex.HyperCLTraining(
    tune="full",
    steps=8,
    queries=64,
    entities=24,
    negatives=48,
    start=0,
    rank=4,
    condition=8,
    save_every=4,
    encoder_rate=1e-3,
)


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return TextEncoder(tiny_encoder, "cpu")


@pytest.mark.parametrize("entities", [0, 24])
def test_batches_hold_true_triples_and_mask_exactly_the_other_true_tails(small_graph, entities):
    graph = small_graph
    true = {tuple(triple) for triple in both_directions(graph.triples, graph.n_relations).tolist()}
    batches = LinkBatches(graph, steps=12, queries=20, entities=entities, negatives=48, seed=3)
    for batch in batches:
        assert len(np.unique(batch.entities)) == len(batch.entities)
        masked = {tuple(pair) for pair in batch.masked.tolist()}
        for query, (head, relation, tail) in enumerate(
            zip(batch.heads, batch.relations, batch.tails, strict=True)
        ):
            assert (batch.entities[head], relation, batch.entities[tail]) in true
            assert max(head, tail) < batch.fresh
            for column, entity in enumerate(batch.entities):
                other = (batch.entities[head], relation, entity) in true and column != tail
                assert ((query, column) in masked) == other


def test_batches_are_the_same_for_a_seed_and_others_for_another(small_graph):
    def drawn(seed):
        batches = LinkBatches(
            small_graph, steps=5, queries=16, entities=24, negatives=24, seed=seed
        )
        return [batches[step].entities.tolist() for step in (4, 0, 2)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_an_epoch_holds_every_triple_once(small_graph):
    count = 2 * small_graph.n_triples
    batches = LinkBatches(small_graph, steps=count // 8, queries=8, negatives=0)
    seen = [
        (batch.entities[head], relation, batch.entities[tail])
        for batch in batches
        for head, relation, tail in zip(batch.heads, batch.relations, batch.tails, strict=True)
    ]
    assert len(set(seen)) == len(seen) == count // 8 * 8


def mrr(graph, made):
    """Return the mean reciprocal rank of the training triples, as of held-out ones."""
    texts = entity_texts(graph)
    vectors = Vectors([made.entities(made.text.encode(texts))])
    held_out = replace(graph, test=graph.triples)
    return evaluate_links(
        held_out,
        vectors,
        query_function(made.bind(relation_texts(graph)), vectors, texts, relation_texts(graph)),
    )["mrr"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "shape",
    [
        {"projection": "residual"},
        {"projection": "public"},
        {"projection": "paper"},
        {"architecture": "hadamard"},
        {"architecture": "concat", "dropout": 0.1},
    ],
    ids=str,
)
def test_training_on_a_frozen_encoder_learns_the_triples(tmp_path, encoder, small_graph, shape):
    def trained(steps):
        settings = ontodex.HyperCLTraining(
            steps=steps,
            queries=64,
            negatives=64,
            rank=8,
            condition=16,
            width=64,
            rate=5e-3,
            **shape,
        )
        return train_hyper_cl(
            small_graph, tmp_path / str(steps), encoder=encoder, settings=settings, quiet=True
        )

    assert mrr(small_graph, trained(120)) > 2 * mrr(small_graph, trained(1))


def held_out(graph):
    """Return the graph with its test triples known, and a fifth held out for validation."""
    known = np.concatenate([graph.triples, graph.valid, graph.test])
    none = known[:0]
    heads, relations, tails = known.T
    whole = replace(graph, heads=heads, relations=relations, tails=tails, valid=none, test=none)
    return split(whole, valid=0.2, test=0.0)


def test_validation_ranks_as_the_evaluation_does(encoder, small_graph):
    graph = held_out(small_graph)
    texts, relations = entity_texts(graph), relation_texts(graph)
    network = make_network(LinkNetworkSettings(dim=encoder.dim, rank=4, width=8))
    torch.nn.init.normal_(network.entity.outer.weight)
    embedded = encoder.encode(texts)
    model = FrozenLinkModel(network, LinkLoss(0.0, 1.0), embedded, encoder.encode(relations))
    made = HyperCL(encoder, network)
    vectors = Vectors([made.entities(embedded)])
    query = query_function(made.bind(relations), vectors, texts, relations)
    wanted = evaluate_links(graph, vectors, query, split="valid")["mrr"]
    assert ValidationRank(graph, model, seed=0)() == pytest.approx(wanted, abs=1e-4)


def test_a_run_without_a_number_of_steps_stops_by_validation(
    tmp_path, encoder, small_graph, monkeypatch
):
    monkeypatch.setattr(frozen, "VALIDATIONS", 10)
    graph = held_out(small_graph)
    settings = ontodex.HyperCLTraining(queries=64, negatives=64, rank=8, width=64, rate=2e-2)
    measured = []
    measure = ValidationRank.__call__
    monkeypatch.setattr(
        ValidationRank, "__call__", lambda self: measured.append(measure(self)) or measured[-1]
    )
    made = train_hyper_cl(graph, tmp_path / "m", encoder=encoder, settings=settings, quiet=True)
    best = int(np.argmax(measured))
    assert made.steps == 10 * (best + 1)
    assert len(measured) == 10 or len(measured) == best + 1 + frozen.PATIENCE
    assert HyperCL.load(tmp_path / "m", encoder).steps == made.steps
    assert not (tmp_path / "m" / "checkpoints").exists()
    fixed = replace(settings, steps=10)
    assert (
        train_hyper_cl(graph, tmp_path / "f", encoder=encoder, settings=fixed, quiet=True).steps
        == 10
    )


@pytest.mark.parametrize(
    ("patience", "measured", "wanted"), [(9, 5, 4), (1, 2, 1), (2, 5, 4), (3, 5, 4)]
)
def test_a_run_ends_when_its_score_has_not_risen(
    encoder, small_graph, monkeypatch, patience, measured, wanted
):
    monkeypatch.setattr(frozen, "VALIDATIONS", 5)
    monkeypatch.setattr(frozen, "PATIENCE", patience)
    vectors = encoder.encode(entity_texts(small_graph))
    network = make_network(LinkNetworkSettings(encoder.dim, rank=4))
    model = FrozenLinkModel(
        network, LinkLoss(), vectors, encoder.encode(relation_texts(small_graph))
    )
    scores, seen = iter([0.3, 0.2, 0.4, 0.5, 0.1]), []

    def validate():
        seen.append({name: weight.clone() for name, weight in model.state_dict().items()})
        return next(scores)

    batches = LinkBatches(small_graph, steps=5, queries=16)
    step = frozen.train_frozen(
        model, batches, rate=0.01, device="cpu", quiet=True, validate=validate
    )
    assert (len(seen), step) == (measured, wanted)
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, seen[wanted - 1][name])
    assert not torch.equal(
        seen[0]["loss.log_inverse"], seen[1]["loss.log_inverse"]
    )  # the run goes on between validations


def test_the_update_is_that_of_adamw() -> None:
    start = torch.tensor([[1.0, -2.0], [0.5, 3.0]])
    ours, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
    update = frozen._adamw([ours])
    optimizer = torch.optim.AdamW([theirs], weight_decay=0.0)
    for rate in (0.1, 0.05, 0.01):
        for weights in (ours, theirs):
            weights.grad = None
            (weights**2).sum().backward()
        update(rate)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
    assert not torch.equal(ours, start)
    torch.testing.assert_close(ours, theirs)


def test_an_interrupted_run_that_stops_by_validation_starts_again(
    tmp_path, encoder, small_graph, monkeypatch
):
    monkeypatch.setattr(frozen, "VALIDATIONS", 10)
    graph = held_out(small_graph)
    settings = ontodex.HyperCLTraining(queries=64, negatives=64, rank=8, width=64, rate=2e-2)

    def trained(folder):
        return train_hyper_cl(graph, folder, encoder=encoder, settings=settings, quiet=True)

    whole, measure, calls = trained(tmp_path / "whole"), ValidationRank.__call__, []

    def interrupt(self):
        calls.append(measure(self))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return calls[-1]

    with monkeypatch.context() as patch:
        patch.setattr(ValidationRank, "__call__", interrupt)
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path / "cut")
    again = trained(tmp_path / "cut")
    assert (again.steps, again.fingerprint) == (whole.steps, whole.fingerprint)
    assert not (tmp_path / "cut" / "checkpoints").exists()


def test_training_the_encoder_starts_from_a_network_trained_on_fixed_embeddings(
    tmp_path, encoder, small_graph
):
    def trained(start):
        settings = replace(FULL, start=start, steps=1, rate=5e-3, encoder_rate=1e-6)
        return train_hyper_cl(
            small_graph, tmp_path / str(start), encoder=encoder, settings=settings, quiet=True
        )

    assert mrr(small_graph, trained(120)) > 1.5 * mrr(small_graph, trained(0))


@pytest.mark.slow
@pytest.mark.parametrize("towers", [1, 2])
def test_training_a_bi_encoder_learns_the_triples(tmp_path, encoder, small_graph, towers):
    def trained(steps):
        settings = replace(
            FULL, architecture="bi-encoder", towers=towers, steps=steps, save_every=100
        )
        return train_hyper_cl(
            small_graph, tmp_path / str(steps), encoder=encoder, settings=settings, quiet=True
        )

    early, late = trained(1), trained(60)
    assert mrr(small_graph, late) > 1.5 * mrr(small_graph, early)
    assert (late.query is late.text) == (towers == 1)
    assert not (tmp_path / "60" / "checkpoints").exists()
    loaded = load_link_encoder(tmp_path / "60", device="cpu")
    assert loaded.fingerprint == late.fingerprint != early.fingerprint
    assert loaded.texts == late.texts
    pairs = [("a wild dog", "eats"), ("a wild dog", "lives in")]
    assert np.array_equal(loaded.queries(pairs), late.queries(pairs))


def test_a_bi_encoder_reads_a_pair_as_it_was_trained_to(tmp_path, encoder, small_graph):
    settings = replace(FULL, architecture="bi-encoder", steps=2, max_tokens=12)
    made = train_hyper_cl(
        small_graph, tmp_path / "m", encoder=encoder, settings=settings, quiet=True
    )
    pairs = [
        ("a wild dog that lives in a farm and in a field and in a forest", "eats"),
        ("dog", "lives in"),
    ]
    model = load_sentence_transformer(query_folder(tmp_path / "m"), "cpu")
    with torch.no_grad():
        tokens = tokenise(model, pairs, 12)
        wanted = TextTower(model)(tokens)
    assert [len(ids) for ids in tokens] == [12, 6]
    np.testing.assert_allclose(made.queries(pairs), wanted.numpy(), atol=0.02)  # bfloat16


def test_training_the_whole_encoder_gives_a_plain_text_encoder_too(tmp_path, encoder, small_graph):
    made = train_hyper_cl(
        small_graph, tmp_path / "model", encoder=encoder, settings=FULL, quiet=True
    )
    assert not (tmp_path / "model" / "checkpoints").exists()
    loaded = HyperCL.load(tmp_path / "model", device="cpu")
    assert loaded.fingerprint == made.fingerprint
    plain = SentenceTransformer(str(tmp_path / "model"), device="cpu").encode(
        ["a wild dog"], normalize_embeddings=True
    )
    assert float((plain @ loaded.text.encode(["a wild dog"]).T).item()) > 0.999
    assert float((plain @ encoder.encode(["a wild dog"]).T).item()) < 0.9999


@pytest.mark.slow
def test_an_interrupted_run_goes_on_and_ends_like_an_uninterrupted_one(
    tmp_path, encoder, small_graph, monkeypatch
):
    whole = train_hyper_cl(
        small_graph, tmp_path / "whole", encoder=encoder, settings=FULL, quiet=True
    )
    steps = []

    def stop_at_six(self, args, state, control, **kwargs):
        steps.append(state.global_step)
        if state.global_step == 6 and steps.count(6) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressOnStderr, "on_step_end", stop_at_six)
    with pytest.raises(KeyboardInterrupt):
        train_hyper_cl(small_graph, tmp_path / "cut", encoder=encoder, settings=FULL, quiet=True)
    resumed = train_hyper_cl(
        small_graph, tmp_path / "cut", encoder=encoder, settings=FULL, quiet=True
    )
    assert steps == [1, 2, 3, 4, 5, 6, 5, 6, 7, 8]
    for name, tensor in whole.network.state_dict().items():
        torch.testing.assert_close(resumed.network.state_dict()[name], tensor, atol=1e-4, rtol=1e-3)


def test_a_loss_that_is_no_number_stops_the_run(tmp_path, encoder, small_graph):
    settings = ontodex.HyperCLTraining(steps=40, queries=16, rate=1e38)
    with pytest.raises(TrainingError, match="learning rate"):
        train_hyper_cl(small_graph, tmp_path / "m", encoder=encoder, settings=settings, quiet=True)


def test_a_graph_without_triples_cannot_be_learnt(tmp_path, encoder):
    builder = GraphBuilder("none")
    builder.entity("ex:dog", "dog")
    with pytest.raises(TrainingError, match="triples"):
        train_hyper_cl(builder.build(), tmp_path / "m", encoder=encoder, quiet=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tune", "half"), ("projection", "other"), ("steps", -1), ("steps", 1.5), ("queries", 0),
        ("entities", 0),
        ("negatives", -1), ("start", -1), ("rank", -1), ("rank", 0.5), ("condition", -1),
        ("width", -1), ("max_tokens", 2),
        ("save_every", 0), ("seed", -1), ("temperature", 0), ("temperature", float("nan")),
        ("temperature", "warm"),
        ("architecture", "x"), ("towers", 3), ("rate", 0), ("encoder_rate", -1e-4),
        ("margin", -0.1),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(name, value):
    with pytest.raises(SettingsError, match=f"^{name}: expected .*, found {value!r}$"):
        ontodex.HyperCLTraining(**{name: value})


def test_a_bi_encoder_cannot_be_trained_on_a_frozen_encoder():
    with pytest.raises(SettingsError, match="tune: expected 'full' for a bi-encoder"):
        ontodex.HyperCLTraining(architecture="bi-encoder")


def test_a_rank_above_the_dimension_is_refused(tmp_path, encoder, small_graph):
    settings = ontodex.HyperCLTraining(rank=33)
    with pytest.raises(SettingsError, match=r"rank: expected 0 to 32 \(the dimension\), found 33"):
        train_hyper_cl(small_graph, tmp_path / "m", encoder=encoder, settings=settings, quiet=True)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("settings", "condition"),
    [
        ({}, 64),
        ({"projection": "public"}, 384),
        ({"condition": 0}, 384),
        ({"condition": 8}, 8),
        ({"condition": 8, "projection": "public"}, 8),
    ],
)
def test_the_length_of_a_condition(settings, condition):
    assert ontodex.HyperCLTraining(**settings).network(384).condition == condition


def test_an_encoder_is_evaluated_on_the_texts_that_it_was_trained_on(
    tmp_path, encoder, small_graph
):
    texts = ontodex.TextSettings(synonyms=0, definition=False)
    settings = ontodex.HyperCLTraining(
        steps=2, queries=32, negatives=8, rank=4, condition=8, width=16
    )
    train_hyper_cl(
        small_graph, tmp_path / "m", encoder=encoder, settings=settings, texts=texts, quiet=True
    )
    asked = []

    def noted(graph, settings):
        asked.append(settings)
        return entity_texts(graph, settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "entity_texts", noted)
        own, same, other = (
            evaluation.evaluate_kgc(tmp_path / "m", small_graph, texts=given, device="cpu")
            for given in (None, texts, ontodex.TextSettings())
        )
    assert asked == [texts, texts, ontodex.TextSettings()]
    assert own == same != other


def test_relations_are_encoded_once(tmp_path, encoder, small_graph, monkeypatch):
    relations, encoded = relation_texts(small_graph), []
    encode = TextEncoder.encode

    def noted(self, texts):
        encoded.extend(texts)
        return encode(self, texts)

    monkeypatch.setattr(TextEncoder, "encode", noted)
    settings = ontodex.HyperCLTraining(steps=2, queries=16)
    made = train_hyper_cl(
        small_graph, tmp_path / "m", encoder=encoder, settings=settings, quiet=True
    )
    found = made.projections(relations)
    assert encoded.count(relations[0]) == 1
    again = HyperCL.load(tmp_path / "m", encoder).projections(relations)
    for name, part in again.parts().items():
        np.testing.assert_allclose(found.parts()[name], part, atol=1e-6)
