"""Baselines of hierarchy encoders: mask probe, pair classifier, static embeddings."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import torch

from ontodex.encoders.text import TextEncoder
from ontodex.errors import EncoderError, SettingsError, TrainingError
from ontodex.graph import Hierarchy, draw_negatives
from ontodex.trainers.data.subsumptions import make_task
from ontodex.trainers.hierarchies import probe as probing
from ontodex.trainers.hierarchies.evaluation import evaluate_scores
from ontodex.trainers.hierarchies.pair_classifier import (
    PairClassifierTraining,
    train_pair_classifier,
)
from ontodex.trainers.hierarchies.probe import mask_token, probe
from ontodex.trainers.hierarchies.static_poincare import (
    StaticPoincareTraining,
    exponential_map,
    train_static_poincare,
)


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return TextEncoder(tiny_encoder, "cpu")


@pytest.fixture(scope="module")
def task(small_graph):
    return make_task(small_graph.hierarchy(), "multi-hop", negatives=10, held_out=0.5)


def test_the_probe_is_the_cosine_of_two_sentences(encoder, monkeypatch):
    monkeypatch.setattr(probing, "PAIRS_PER_BLOCK", 2)
    names = ["dog", "wild animal", "dog", "farm"]
    children, parents = np.array([0, 0, 2, 3, 1]), np.array([1, 3, 1, 1, 0])
    found = probe(encoder, names)(children, parents)
    masked = encoder.encode([f"{names[child]} is a [MASK]." for child in children])
    filled = encoder.encode(
        [f"{names[a]} is a {names[b]}." for a, b in zip(children, parents, strict=True)]
    )
    assert found == pytest.approx((masked * filled).sum(1), abs=1e-2)
    assert found[0] == pytest.approx(found[2])


def test_a_tokenizer_without_a_mask_cannot_be_probed(encoder, monkeypatch):
    assert mask_token(encoder) == "[MASK]"
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(encoder.folder))
    tokenizer.mask_token = None
    monkeypatch.setattr(AutoTokenizer, "from_pretrained", lambda *_, **__: tokenizer)
    with pytest.raises(EncoderError, match="mask token"):
        probe(encoder, ["dog"])


@pytest.mark.slow
def test_the_classifier_learns_pairs_and_scores_each_by_its_own_names(
    task, small_graph, tiny_encoder
):
    names = list(small_graph.labels)
    seen = draw_negatives(task.known, task.train)

    def trained(steps):
        settings = PairClassifierTraining(steps=steps, batch=32, rate=2e-3)
        return train_pair_classifier(
            task, names, encoder=tiny_encoder, settings=settings, device="cpu", quiet=True
        )

    score = trained(150)
    on_links = replace(task, valid=seen, test=seen)
    learnt, untrained = (
        evaluate_scores(on_links, one, names)["hard.f1"] for one in (score, trained(1))
    )
    assert learnt > max(0.5, untrained + 0.2)
    children, parents, _ = (rows[:100].astype(np.int64) for rows in task.test.pairs("hard"))
    at_once = score(children, parents)
    one_by_one = [
        score(children[row : row + 1], parents[row : row + 1])[0] for row in range(0, 100, 9)
    ]
    assert at_once[::9] == pytest.approx(one_by_one, abs=0.1)


def test_the_classifier_is_the_same_for_a_seed(task, small_graph, tiny_encoder):
    children, parents, _ = task.test.pairs("random")

    def scores(seed):
        settings = PairClassifierTraining(steps=3, batch=16, seed=seed)
        made = train_pair_classifier(
            task,
            list(small_graph.labels),
            encoder=tiny_encoder,
            settings=settings,
            device="cpu",
            quiet=True,
        )
        return made(children.astype(np.int64), parents.astype(np.int64))

    assert np.array_equal(scores(1), scores(1))
    assert not np.array_equal(scores(1), scores(2))


def test_the_exponential_map_is_that_of_geoopt():
    generator = torch.Generator().manual_seed(0)
    points = torch.rand(50, 5, generator=generator, dtype=torch.float64) - 0.5
    vectors = (
        torch.randn(50, 5, generator=generator, dtype=torch.float64)
        * torch.logspace(-8, 0, 50)[:, None]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # geoopt uses torch.jit.script
        import geoopt

        wanted = geoopt.PoincareBall(c=1.0).expmap(points, vectors, project=False)
    torch.testing.assert_close(exponential_map(points, vectors), wanted)
    assert torch.equal(exponential_map(points, torch.zeros_like(points)), points)


def test_static_embeddings_learn_the_hierarchy():
    children = np.arange(1, 300, dtype=np.int32)
    tree = Hierarchy(children, (children - 1) // 4, ids=[str(row) for row in range(300)])
    task = make_task(tree, held_out=0.5)
    asked = tuple(rows.astype(np.int64) for rows in task.test.pairs("random")[:2])

    def trained(epochs, seed=0):
        settings = StaticPoincareTraining(
            epochs=epochs, burn_in=5, dim=8, batch=64, rate=0.05, seed=seed
        )
        return train_static_poincare(task, settings=settings, device="cpu", quiet=True)

    learnt, untrained = (evaluate_scores(task, trained(epochs))["random.f1"] for epochs in (60, 1))
    assert learnt > max(0.6, untrained + 0.2)
    assert np.array_equal(trained(3)(*asked), trained(3)(*asked))
    assert not np.array_equal(trained(3)(*asked), trained(3, seed=1)(*asked))


def test_without_training_links_there_is_nothing_to_train(small_graph, tiny_encoder):
    task = make_task(small_graph.hierarchy(), "transfer")
    with pytest.raises(TrainingError, match="training links"):
        train_pair_classifier(
            task, list(small_graph.labels), encoder=tiny_encoder, device="cpu", quiet=True
        )
    with pytest.raises(TrainingError, match="training links"):
        train_static_poincare(task, device="cpu", quiet=True)


@pytest.mark.parametrize(
    ("settings", "name", "value"),
    [
        (PairClassifierTraining, "steps", -1), (PairClassifierTraining, "batch", 0),
        (PairClassifierTraining, "rate", -1.0), (PairClassifierTraining, "max_tokens", 4),
        (StaticPoincareTraining, "epochs", 0), (StaticPoincareTraining, "dim", 0),
        (StaticPoincareTraining, "rate", 0.0),
        (StaticPoincareTraining, "rate", float("nan")), (StaticPoincareTraining, "negatives", 0),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(settings, name, value):
    with pytest.raises(SettingsError, match=f"^{name}: expected .*, found {value!r}$"):
        settings(**{name: value})
