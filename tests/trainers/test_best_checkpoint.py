"""The best weights on validation are kept, also over interruptions and failures."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from ontodex.trainers.best_checkpoint import BestCheckpoint


@pytest.fixture
def model():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2), nn.Dropout())
    model[0].requires_grad_(False)
    return model


def run(model, folder, scores, *, every=2, start=0, last=10, stop=None):
    """Run steps that fill the weights with their number."""
    scores = iter(scores)
    best = BestCheckpoint(model, folder, every, lambda: next(scores), True)
    for step in range(start + 1, (stop or last) + 1):
        with torch.no_grad():
            for weight in model[1].parameters():
                weight.fill_(step)
        best.on_step_end(None, SimpleNamespace(global_step=step, max_steps=last), None)
    return best


def weight(model):
    return model[1].bias[0].item()


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [
        ([0.1, 0.5, 0.4, 0.3, 0.2], 4),
        ([0.5, 0.4, 0.3, 0.2, 0.1], 2),
        ([0.1, 0.2, 0.3, 0.4, 0.5], 10),
        ([0.0] * 5, 2),
    ],
)
def test_the_best_comes_back_not_the_last(model, tmp_path, scores, wanted):
    best = run(model, tmp_path, scores)
    assert best.history == list(zip([2, 4, 6, 8, 10], scores, strict=True))
    assert weight(model) == 10
    frozen = model[0].weight.clone()
    best.restore()
    assert weight(model) == wanted
    assert torch.equal(model[0].weight, frozen)


def test_the_last_step_is_measured_though_it_is_no_round_one(model, tmp_path):
    best = run(model, tmp_path, [0.1, 0.2, 0.3], every=4, last=9)
    assert [step for step, _ in best.history] == [4, 8, 9]
    best.restore()
    assert weight(model) == 9


def test_a_run_that_goes_on_knows_the_best_before_it_was_cut(model, tmp_path):
    run(model, tmp_path, [0.1, 0.9, 0.2], stop=7)
    again = run(model, tmp_path, [0.3, 0.4], start=6)
    assert again.history == [(2, 0.1), (4, 0.9), (6, 0.2), (8, 0.3), (10, 0.4)]
    again.restore()
    assert weight(model) == 4


def test_evaluations_repeated_after_an_interruption_count_once(model, tmp_path):
    run(
        model, tmp_path, [0.1, 0.9], stop=5
    )  # interrupted before the checkpoint of step 4 was written
    again = run(model, tmp_path, [0.3, 0.2, 0.2, 0.2], start=2)
    assert again.history == [(2, 0.1), (4, 0.3), (6, 0.2), (8, 0.2), (10, 0.2)]
    again.restore()
    assert weight(model) == 4


def test_the_model_is_measured_in_evaluation_mode_and_goes_on_in_training_mode(model, tmp_path):
    modes = []
    best = BestCheckpoint(
        model, tmp_path, 1, lambda: modes.append(model.training) or 0.0, quiet=True
    )
    model.train()
    best.on_step_end(None, SimpleNamespace(global_step=1, max_steps=1), None)
    assert (modes, model.training) == ([False], True)


def test_only_what_is_trained_is_kept_and_no_half_file_is_left(model, tmp_path):
    run(model, tmp_path, [0.1] * 5)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["best.json", "best.safetensors"]
    assert (tmp_path / "best.safetensors").stat().st_size < 400
    assert json.loads((tmp_path / "best.json").read_text())[0] == [2, 0.1]


def test_a_measure_that_fails_leaves_what_was_best(model, tmp_path):
    def broken():
        raise RuntimeError("no measure")

    run(model, tmp_path, [0.1, 0.5], stop=4)
    best = BestCheckpoint(model, tmp_path, 1, broken, quiet=True)
    with pytest.raises(RuntimeError):
        best.on_step_end(None, SimpleNamespace(global_step=6, max_steps=10), None)
    best.restore()
    assert weight(model) == 4
    assert json.loads((tmp_path / "best.json").read_text()) == [[2, 0.1], [4, 0.5]]


def test_progress_goes_to_stderr(model, tmp_path, capsys):
    best = BestCheckpoint(model, tmp_path, 1, lambda: 0.51234, quiet=False)
    best.on_step_end(None, SimpleNamespace(global_step=1000, max_steps=2000), None)
    assert capsys.readouterr() == ("", "step 1,000: 0.5123 on validation\n")
