import random

import numpy as np
import pytest
import torch

from ontodex.encoders.locate import is_self_strae
from ontodex.encoders.self_strae import SelfStrAE
from ontodex.encoders.text import TextEncoder
from ontodex.errors import SettingsError, TrainingError
from ontodex.trainers.trees.batches import SentenceBatches, TokenisedSentences, train_tokenizer
from ontodex.trainers.trees.objectives import OBJECTIVES, TreeModel
from ontodex.trainers.trees.self_strae import train_self_strae
from ontodex.trainers.trees.settings import SelfStrAETraining
from ontodex.trainers.trees.token_counts import counted_vectors, without_common

ANIMALS, FOODS = ("dog", "cat", "cow", "hen", "pig"), ("bread", "soup", "rice", "cake", "fish")
SMALL = {"channels": 16, "size": 2, "epochs": 6, "batch": 64, "evaluations": 3, "nodes": 256}


def corpus(n=600, seed=0):
    """Sentences in which animals, and foods, occur in contexts of their kind."""
    draw = random.Random(seed)
    animal = ("the {} runs over the field", "a {} sleeps in the barn", "this {} hears its young")
    food = ("we eat {} with a spoon", "she cooks {} in a pan", "he buys {} at the shop")
    return [
        draw.choice(animal).format(draw.choice(ANIMALS))
        if draw.random() < 0.5
        else draw.choice(food).format(draw.choice(FOODS))
        for _ in range(n)
    ]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    train_self_strae(
        corpus(), folder, settings=SelfStrAETraining(**{**SMALL, "epochs": 20}), quiet=True
    )
    return folder


def test_words_of_similar_contexts_get_similar_vectors(trained):
    encoder = TextEncoder(trained)
    found = encoder.encode([*ANIMALS, *FOODS])
    cosines = found @ found.T
    within = (cosines[:5, :5].sum() + cosines[5:, 5:].sum() - 10) / 40
    across = cosines[:5, 5:].mean()
    assert within > across + 0.3


def test_training_leaves_only_the_encoder(trained):
    names = sorted(
        path.relative_to(trained).as_posix() for path in trained.rglob("*") if path.is_file()
    )
    assert names == [
        "modules.json",
        "self_strae/config.json",
        "self_strae/model.safetensors",
        "self_strae/tokenizer.json",
    ]


@pytest.mark.parametrize("start", ["counts", "public"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_is_learnt(objective, start):
    model, batches = a_model(objective, start)
    before = model.eval().loss_reduction(batches)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    model.train()
    for _ in range(15):
        for batch in batches:
            optimiser.zero_grad()
            model(batch)["loss"].backward()
            optimiser.step()
    assert model.eval().loss_reduction(batches) > before + 0.004


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_comparing_all_nodes_is_the_same_in_blocks_and_whole(objective, monkeypatch):
    model, batches = a_model(objective, "public", nodes=0)
    model.eval()
    in_blocks = []
    for chunk in (7, 100_000):
        monkeypatch.setattr("ontodex.trainers.trees.objectives.CHUNK", chunk)
        model.zero_grad()
        torch.manual_seed(0)
        loss = model(batches[0])["loss"]
        loss.backward()
        in_blocks.append((float(loss.detach()), model.encoder.table.grad.clone()))
    if objective == "context":  # compares within a chunk by definition
        assert in_blocks[0][0] < in_blocks[1][0]
    else:
        assert in_blocks[0][0] == pytest.approx(in_blocks[1][0], rel=1e-4)
        torch.testing.assert_close(in_blocks[0][1], in_blocks[1][1], rtol=2e-2, atol=1e-4)


def test_at_least_one_token_is_predicted():
    model, batches = a_model("ce", "public", nodes=10)
    assert torch.isfinite(model(batches[0])["loss"])


def a_model(objective, start, nodes=128):
    tokenizer = train_tokenizer(corpus())
    sentences = TokenisedSentences.of(corpus(120), tokenizer, 200)
    batches = [
        SentenceBatches(sentences, epochs=1, batch=60, seed=0)[number] for number in range(2)
    ]
    torch.manual_seed(0)
    shares = sentences.shares(tokenizer.get_vocab_size())
    encoder = SelfStrAE(tokenizer, 16, 2)
    counted = (
        counted_vectors(sentences, len(shares), encoder.dim, seed=0) if start == "counts" else None
    )
    return TreeModel(
        encoder, torch.from_numpy(shares).float(), objective=objective, counted=counted, nodes=nodes
    ), batches


def test_token_directions_combine_counts_and_trained_vectors():
    model, _ = a_model("context", "counts")
    counted, learnt = model.counted, torch.randn(model.encoder.table.shape) * 3
    with torch.no_grad():
        model.encoder.table.copy_(learnt)
    found = model.fold().table
    torch.testing.assert_close(found.norm(dim=1), learnt.norm(dim=1) * model.length)
    own = without_common(learnt, model.shares * model.length)
    cosines = [torch.nn.functional.cosine_similarity(found, other) for other in (own, counted)]
    torch.testing.assert_close(*cosines)
    assert cosines[0].min() > 0.3


def test_the_same_seed_gives_the_same_encoder(tmp_path):
    made = []
    for name in ("one", "other"):
        train_self_strae(
            corpus(200), tmp_path / name, settings=SelfStrAETraining(**SMALL), quiet=True
        )
        made.append((tmp_path / name / "self_strae" / "model.safetensors").read_bytes())
    assert made[0] == made[1]


def test_an_interrupted_run_goes_on_and_ends_alike(tmp_path, monkeypatch):
    settings = SelfStrAETraining(**SMALL)
    whole = train_self_strae(corpus(200), tmp_path / "whole", settings=settings, quiet=True)
    calls, learnt = [], TreeModel.loss_reduction

    def interrupted(self, batches):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(1)
        return learnt(self, batches)

    monkeypatch.setattr(TreeModel, "loss_reduction", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_self_strae(corpus(200), tmp_path / "cut", settings=settings, quiet=True)
    monkeypatch.setattr(TreeModel, "loss_reduction", learnt)
    steps = []
    forward = TreeModel.forward
    monkeypatch.setattr(
        TreeModel, "forward", lambda self, batch: steps.append(batch.number) or forward(self, batch)
    )
    again = train_self_strae(corpus(200), tmp_path / "cut", settings=settings, quiet=True)
    assert steps[0] > 0
    torch.testing.assert_close(again.table, whole.table, rtol=1e-4, atol=1e-5)


def test_a_run_that_learns_nothing_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(TreeModel, "loss_reduction", lambda self, batches: 0.0)
    with pytest.raises(TrainingError, match="seed 3: expected a loss below that of chance"):
        train_self_strae(
            corpus(2000), tmp_path / "m", settings=SelfStrAETraining(**SMALL, seed=3), quiet=True
        )
    assert not is_self_strae(tmp_path / "m")


def test_a_loss_that_is_no_number_stops_the_run(tmp_path):
    settings = SelfStrAETraining(**SMALL, rate=1e30)
    with pytest.raises(TrainingError, match=r"batch \d+: the loss became"):
        train_self_strae(corpus(200), tmp_path / "m", settings=settings, quiet=True)
    assert not is_self_strae(tmp_path / "m")


@pytest.mark.parametrize(
    ("texts", "settings", "said"),
    [
        (corpus(20), {}, "at least 40 sentences"),
        (["word"] * 500, {}, "at least 40 sentences"),
        (corpus(200), {"vocabulary": 5000}, "expected at most the"),
    ],
)
def test_too_little_text_is_named(tmp_path, texts, settings, said):
    with pytest.raises(SettingsError, match=said):
        train_self_strae(
            texts, tmp_path / "m", settings=SelfStrAETraining(**SMALL, **settings), quiet=True
        )
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"objective": "strcs"}, "did you mean 'strcse'"),
        ({"start": "sums"}, "counts, public"),
        ({"channels": 0}, "channels"),
        ({"rate": -1}, "rate"),
        ({"epochs": 0}, "epochs"),
    ],
)
def test_settings_that_make_no_sense_are_named(settings, said):
    with pytest.raises(SettingsError, match=said):
        SelfStrAETraining(**settings)


def test_channels_that_do_not_divide_the_dimension_are_named():
    with pytest.raises(SettingsError, match="divides the dimension of 256, found 100"):
        SelfStrAETraining.of_dimension(256, 100)
    assert SelfStrAETraining.of_dimension(256, 16).size == 16


def test_other_files_are_not_written_over(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(TrainingError, match="other files"):
        train_self_strae(corpus(200), tmp_path, settings=SelfStrAETraining(**SMALL), quiet=True)


def test_sentences_are_cut_and_counted():
    tokenizer = train_tokenizer(corpus())
    found = TokenisedSentences.of(
        ["the dog runs over the field", "dog", "we eat soup"], tokenizer, 4
    )
    assert (found.cut, found.short, found.lengths.tolist()) == (1, 1, [4, 3])


def test_every_sentence_is_in_one_batch_of_an_epoch():
    sentences = TokenisedSentences.of(corpus(130), train_tokenizer(corpus()), 200)
    batches = SentenceBatches(sentences, epochs=2, batch=32, seed=0)
    assert len(batches) == 8
    for epoch in range(2):
        own = [batches[number] for number in range(4 * epoch, 4 * epoch + 4)]
        assert sum(len(batch.lengths) for batch in own) == 130
        assert all((np.diff(batch.lengths) <= 0).all() for batch in own)
    assert not np.array_equal(batches[0].tokens, batches[4].tokens)


def test_the_tokenizer_is_the_same_every_time():
    assert train_tokenizer(corpus()).to_str() == train_tokenizer(corpus()).to_str()
