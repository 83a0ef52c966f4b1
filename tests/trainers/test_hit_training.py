"""Training of HiT: quality, checkpoints, interruptions and refused settings."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from ontodex.encoders.adapter import add_adapter
from ontodex.encoders.hit import HiT, Learnt
from ontodex.encoders.locate import files_of, fingerprint
from ontodex.encoders.sentence_transformer import load_tunable
from ontodex.encoders.text import TextEncoder
from ontodex.errors import SettingsError, TrainingError
from ontodex.geometry import poincare, subsumption
from ontodex.graph import Hierarchy, links_fingerprint
from ontodex.trainers.data.subsumptions import make_task
from ontodex.trainers.hierarchies import hit as module
from ontodex.trainers.hierarchies.hit import HiTModel, train_hit
from ontodex.trainers.hierarchies.loss import HierarchyLoss
from ontodex.trainers.hierarchies.rule import measured, valid_f1
from ontodex.trainers.hierarchies.settings import HiTTraining
from ontodex.trainers.progress import ProgressOnStderr

FULL = HiTTraining(epochs=4, families=10, evaluations=3, rate=1e-3)
ADAPTER = replace(FULL, tune="adapter", rank=4, rate=5e-3)


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return TextEncoder(tiny_encoder, "cpu")


@pytest.fixture(scope="module")
def tree():
    """Return a tree of four kinds, 5 × 4 below each, whose names begin with that of the parent."""
    kinds = ["animal", "place", "thing", "forest"]
    middle = [
        f"{kind} {name}" for kind in kinds for name in ("dog", "cat", "river", "house", "wolf")
    ]
    lowest = [f"{name} {word}" for name in middle for word in ("wild", "tame", "kind", "eats")]
    names = ["of", *kinds, *middle, *lowest]
    row = {name: number for number, name in enumerate(names)}
    links = [(row[kind], 0) for kind in kinds]
    links += [(row[name], row[name.rpartition(" ")[0]]) for name in (*middle, *lowest)]
    children, parents = np.array(links, dtype=np.int32).T
    hierarchy = Hierarchy(children, parents, ids=names)
    return make_task(hierarchy, "mixed-hop", negatives=5, held_out=0.4, names=names), names


def f1(pairs, names, hit):
    return valid_f1(pairs, hit.points(names), hit.c)


def trained(tree, folder, encoder, settings):
    task, names = tree
    return train_hit(
        task,
        names,
        folder,
        encoder=encoder,
        base=str(encoder.folder),
        settings=settings,
        seen=["a tree"],
        quiet=True,
    )


def weights_of(folder):
    found = {}
    for file in sorted(folder.rglob("*.safetensors")):
        found.update(load_file(file))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("tune", ["full", "adapter"])
@pytest.mark.parametrize("batches", ["families", "random-triplets", "hard-triplets"])
def test_every_form_learns_a_hierarchy_from_names(tree, tmp_path, encoder, tune, batches):
    task, names = tree
    settings = HiTTraining(
        tune=tune, batches=batches, epochs=20 if batches == "families" else 8, families=10,
        negatives=4,
        triplets=40, rank=8, rate=3e-3 if tune == "full" else 1e-2, evaluations=2,
    )  # fmt: skip
    made = trained(tree, tmp_path / "m", encoder, settings)
    plain = HiT(TextEncoder(encoder.folder, "cpu", unit=False), None, {})
    before, after = f1(task.test, names, plain), f1(task.test, names, made)
    assert before < 0.4
    assert after > 0.6
    loaded = HiT.load(tmp_path / "m", "cpu")
    assert (loaded.fingerprint, loaded.rule, loaded.texts) == (made.fingerprint, made.rule, {})
    assert (
        loaded.learnt
        == made.learnt
        == Learnt(links_fingerprint(task.known.links, names), "mixed-hop", 0, 0.4)
    )
    np.testing.assert_array_equal(loaded.points(names[:5]), made.points(names[:5]))
    assert not (tmp_path / "m" / "checkpoints").exists()
    norms = poincare.norm(made.points(names), made.c)
    assert norms[:5].mean() < norms[-80:].mean()  # general entities are nearer to the origin


def test_the_rule_is_that_of_the_encoder_that_was_written(tree, tmp_path, encoder):
    task, names = tree
    for settings in (FULL, ADAPTER):
        made = trained(tree, tmp_path / settings.tune, encoder, settings)
        assert HiT.load(tmp_path / settings.tune, "cpu").seen == ["a tree"]
        points = HiT.load(tmp_path / settings.tune, "cpu").points(names)
        parts, labels = measured(task.valid, "random", points, made.c)
        wanted = subsumption.fit(*parts, labels)
        found = made.rule
        assert found.weight == pytest.approx(wanted.weight, abs=1e-3)
        assert found.threshold == pytest.approx(wanted.threshold, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [FULL, ADAPTER], ids=["full", "adapter"])
def test_strength_is_the_share_of_the_change_that_is_kept(tree, tmp_path, encoder, settings):
    def changes(strength):
        folder = tmp_path / str(strength)
        made = trained(tree, folder, encoder, replace(settings, strength=strength))
        model = load_tunable(
            folder if made.adapter is None else encoder.folder, "cpu"
        ).transformers_model
        if made.adapter is not None:
            add_adapter(dict(model.named_parameters()), made.adapter)
        return {name: weight - before[name] for name, weight in model.state_dict().items()}, made

    before = load_tunable(encoder.folder, "cpu").transformers_model.state_dict()
    (whole, strong), (quarter, weak) = changes(1.0), changes(0.25)
    assert max(float(change.abs().max()) for change in whole.values()) > 0.005
    for name, change in whole.items():
        torch.testing.assert_close(quarter[name], change / 4, rtol=0, atol=1e-4, msg=name)
    assert weak.rule != strong.rule  # fitted to the weights that are written


def test_equal_runs_are_equal_and_a_seed_makes_another(tree, tmp_path, encoder):
    made = [
        trained(tree, tmp_path / str(number), encoder, replace(ADAPTER, seed=seed))
        for number, seed in enumerate((0, 0, 1))
    ]
    assert made[0].fingerprint == made[1].fingerprint != made[2].fingerprint
    assert made[0].rule == made[1].rule


@pytest.mark.parametrize("settings", [FULL, ADAPTER], ids=["full", "adapter"])
def test_the_best_checkpoint_is_kept_not_the_last(tree, tmp_path, encoder, settings, monkeypatch):
    scores = iter([0.3, 0.9, 0.2, 0.1])
    seen = []

    def noted(pairs, points, c):
        seen.append(points.copy())
        return next(scores)

    monkeypatch.setattr(module, "valid_f1", noted)
    asked = []
    real = HiTModel.points

    def points(self, texts, c):
        asked.append(texts)
        return real(self, texts, c)

    monkeypatch.setattr(HiTModel, "points", points)
    made = trained(tree, tmp_path / "m", encoder, replace(settings, evaluations=4))
    assert len(seen) == 4
    names = tree[1]  # names are unique: one entity a text
    found = made.points([names[text] for text in asked[0]])
    gaps = [np.abs(found - one).mean() for one in seen]
    assert int(np.argmin(gaps)) == 1
    assert gaps[1] < 0.3 * min(gaps[0], gaps[2])


def stopping_at(monkeypatch, step, error=KeyboardInterrupt):
    """Interrupt the first run at a step; return the steps of all runs."""
    steps = []

    def noted(self, args, state, control, **kwargs):
        steps.append(state.global_step)
        if state.global_step == step and steps.count(step) == 1:
            raise error

    monkeypatch.setattr(ProgressOnStderr, "on_step_end", noted)
    return steps


@pytest.mark.slow
@pytest.mark.parametrize("settings", [FULL, ADAPTER], ids=["full", "adapter"])
def test_an_interrupted_run_goes_on_and_ends_like_an_uninterrupted_one(
    tree, tmp_path, encoder, settings, monkeypatch
):
    settings = replace(settings, epochs=3.0)
    whole = trained(tree, tmp_path / "whole", encoder, settings)
    steps = stopping_at(monkeypatch, 8)
    with pytest.raises(KeyboardInterrupt):
        trained(tree, tmp_path / "cut", encoder, settings)
    left = {entry.name for entry in (tmp_path / "cut" / "checkpoints").iterdir()}
    assert {"best.json", "best.safetensors", "ontodex-run.json"} < left
    (checkpoint,) = left - {"best.json", "best.safetensors", "ontodex-run.json"}
    at = int(checkpoint.rpartition("-")[2])
    again = trained(tree, tmp_path / "cut", encoder, settings)
    assert steps == [*range(1, 9), *range(at + 1, max(steps) + 1)]
    assert 1 < at < 8 < max(steps)
    wanted = weights_of(tmp_path / "whole")
    found = weights_of(tmp_path / "cut")
    assert found.keys() == wanted.keys()
    for name, weight in wanted.items():
        torch.testing.assert_close(found[name], weight, atol=1e-3, rtol=1e-2, msg=name)
    assert again.rule.weight == pytest.approx(whole.rule.weight, abs=0.1)
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "whole")


@pytest.mark.slow
def test_other_settings_names_or_links_are_another_run(tree, tmp_path, encoder, monkeypatch):
    task, names = tree
    for changed in (
        ((task, names), replace(FULL, cluster=4.0)),
        ((task, [*names[:-1], "other"]), FULL),
        ((replace(task, train=task.train[:-1]), names), FULL),
    ):
        steps = stopping_at(monkeypatch, 8)
        with pytest.raises(KeyboardInterrupt):
            trained(tree, tmp_path / "m", encoder, FULL)
        steps.clear()
        with pytest.raises(KeyboardInterrupt):
            trained(changed[0], tmp_path / "m", encoder, changed[1])
        assert steps[0] == 1


def test_a_loss_that_is_no_number_stops_the_run_and_loses_nothing(
    tree, tmp_path, encoder, monkeypatch
):
    real, calls = HierarchyLoss.forward, itertools.count(1)

    def broken(self, vectors, *batch):
        return real(self, vectors, *batch) * (float("nan") if next(calls) == 8 else 1)

    settings = replace(FULL, epochs=3.0)
    trained(tree, tmp_path / "whole", encoder, settings)
    with monkeypatch.context() as patch:
        patch.setattr(HierarchyLoss, "forward", broken)
        with pytest.raises(
            TrainingError, match=r"^batch 8: the loss became nan; lower the learning rate"
        ) as caught:
            trained(tree, tmp_path / "m", encoder, settings)
        assert "give another output folder (the best checkpoint, of step " in str(caught.value)
        assert str(caught.value).endswith(f"on validation, is an encoder in {tmp_path / 'm'})")
    kept = HiT.load(tmp_path / "m", "cpu")
    assert kept.rule is not None
    assert np.isfinite(kept.points(tree[1])).all()
    checkpoints = tmp_path / "m" / "checkpoints"
    kept = load_file(checkpoints / "best.safetensors")
    (last,) = checkpoints.glob("checkpoint-*/model.safetensors")
    for tensors in (kept, load_file(last)):
        assert all(tensor.isfinite().all() for tensor in tensors.values())
    steps = stopping_at(monkeypatch, 0)
    trained(tree, tmp_path / "m", encoder, settings)
    assert 1 < steps[0] < 8
    found, wanted = weights_of(tmp_path / "m"), weights_of(tmp_path / "whole")
    for name, weight in wanted.items():
        torch.testing.assert_close(found[name], weight, atol=1e-3, rtol=1e-2, msg=name)


@pytest.mark.parametrize("settings", [FULL, ADAPTER], ids=["full", "adapter"])
def test_weights_that_explode_stop_the_run_with_the_batch_named(tree, tmp_path, encoder, settings):
    with pytest.raises(
        TrainingError,
        match=r"^batch \d+: the (loss|vectors) became .* there is no checkpoint to keep\)$",
    ):
        trained(tree, tmp_path / "m", encoder, replace(settings, rate=1e30, evaluations=1))
    assert not HiT.is_at(tmp_path / "m")
    for file in (tmp_path / "m" / "checkpoints").rglob("*.safetensors"):
        assert all(tensor.isfinite().all() for tensor in load_file(file).values())


def test_vectors_that_are_no_numbers_are_never_a_checkpoint(tree, tmp_path, encoder, monkeypatch):
    real = torch.optim.AdamW.step
    calls = itertools.count(1)

    def broken(self, *arguments, **settings):
        found = real(self, *arguments, **settings)
        if next(calls) == 6:  # before the second of four evaluations
            with torch.no_grad():
                self.param_groups[0]["params"][0].fill_(float("inf"))
        return found

    settings = replace(FULL, epochs=4.0, evaluations=4)
    monkeypatch.setattr(torch.optim.AdamW, "step", broken)
    with pytest.raises(
        TrainingError, match=r"^batch 6: the vectors became infinite; lower the learning rate"
    ):
        trained(tree, tmp_path / "m", encoder, settings)
    files = list((tmp_path / "m" / "checkpoints").rglob("*.safetensors"))
    assert len(files) == 2
    for file in files:
        assert all(tensor.isfinite().all() for tensor in load_file(file).values())


def test_a_run_that_fails_leaves_an_earlier_encoder_as_it_was(tree, tmp_path, encoder, monkeypatch):
    settings = replace(FULL, epochs=3.0)
    before = trained(tree, tmp_path / "m", encoder, ADAPTER).fingerprint
    real, calls = HierarchyLoss.forward, itertools.count(1)
    monkeypatch.setattr(
        HierarchyLoss,
        "forward",
        lambda self, vectors, *batch: (
            real(self, vectors, *batch) * (float("nan") if next(calls) == 8 else 1)
        ),
    )
    with pytest.raises(
        TrainingError, match=r"is in .*best\.safetensors; the encoder in .* is as it was\)$"
    ):
        trained(tree, tmp_path / "m", encoder, settings)
    assert HiT.load(tmp_path / "m", "cpu").fingerprint == before


@pytest.mark.parametrize("settings", [FULL, ADAPTER], ids=["full", "adapter"])
def test_text_beyond_the_training_length_is_not_read(tree, tmp_path, encoder, settings):
    trained(tree, tmp_path / "m", encoder, replace(settings, epochs=0.5, max_tokens=6))
    hit = HiT.load(tmp_path / "m", "cpu")
    # Encoded one by one: equal rows of one matrix product may differ in their last bits.
    start, shorter, one, other = (
        hit.points([text])[0]
        for text in (
            "dog cat cow hen",
            "dog cat cow",
            "dog cat cow hen fox",
            "dog cat cow hen wolf",
        )
    )
    np.testing.assert_array_equal(one, other)
    # NumPy computes short texts in float32, torch truncated ones in bfloat16 where it is native.
    np.testing.assert_allclose(start, other, atol=2**-5)
    assert np.abs(shorter - start).max() > 0.01
    hit.save(tmp_path / "copy")
    np.testing.assert_array_equal(
        HiT.load(tmp_path / "copy", "cpu").points(["dog cat cow hen wolf"])[0], other
    )
    assert HiT.load(tmp_path / "copy", "cpu").fingerprint == hit.fingerprint


def test_points_are_computed_without_gradients_as_in_training(tree, encoder):
    from ontodex.encoders.device import has_bfloat16
    from ontodex.encoders.sentence_transformer import load_sentence_transformer

    names = tree[1]
    loss = HierarchyLoss(1 / 32, 5.0, 0.1, smooth=True)
    model = HiTModel(load_sentence_transformer(encoder.folder, "cpu", unit=False), names, loss, 32)
    dtypes = []
    model.tower.encoder.transformers_model.encoder.layer[
        0
    ].attention.self.query.register_forward_hook(
        lambda _, given, made: dtypes.append((made.dtype, made.requires_grad))
    )
    wanted = np.array([5, 3, 80, 0, 99])
    points = model.points(wanted, 1 / 32)
    assert dtypes == [(torch.bfloat16 if has_bfloat16("cpu") else torch.float32, False)]
    assert (points.dtype, points.shape) == (np.float32, (5, 32))
    with torch.autocast("cpu", torch.bfloat16, enabled=has_bfloat16("cpu")):
        vectors = model.tower([model.tokens[text] for text in wanted])
    assert vectors.requires_grad
    np.testing.assert_allclose(points, poincare.clip(vectors.detach().numpy(), 1 / 32), atol=0.05)


@pytest.mark.slow
def test_another_encoder_is_replaced_whole(tree, tmp_path, encoder):
    folder = tmp_path / "m"
    trained(tree, folder, encoder, FULL)
    (folder / "README.md").write_text("mine")
    trained(tree, folder, encoder, ADAPTER)
    assert {file.name for file in folder.rglob("*") if file.is_file()} == {
        "README.md", "config.json", "adapter_config.json", "adapter_model.safetensors",
    }  # fmt: skip
    assert HiT.load(folder, "cpu").adapter is not None
    again = trained(tree, folder, encoder, FULL)
    assert not (folder / "hit" / "adapter_config.json").exists()
    assert HiT.load(folder, "cpu").fingerprint == again.fingerprint
    assert (folder / "README.md").read_text() == "mine"


def test_other_files_and_the_encoder_to_start_from_are_left_alone(tree, tmp_path, encoder):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(
        TrainingError, match="expected an empty folder, or what a previous run has left"
    ):
        trained(tree, tmp_path, encoder, FULL)
    with pytest.raises(TrainingError, match="expected a folder to write, found a file"):
        trained(tree, tmp_path / "thesis.tex", encoder, FULL)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
    trained(tree, tmp_path / "m", encoder, FULL)
    before = fingerprint(tmp_path / "m")
    with pytest.raises(
        TrainingError, match="expected a folder apart from the encoder to start from"
    ):
        trained(tree, tmp_path / "m", TextEncoder(tmp_path / "m", "cpu"), FULL)
    assert fingerprint(tmp_path / "m") == before


def test_homonyms_are_reported(tree, tmp_path, encoder):
    task, names = tree
    alike = [*names[:-10], *names[5:15]]
    with pytest.warns(UserWarning, match=r"19\.0% of the entities share their text with another"):
        trained((task, alike), tmp_path / "m", encoder, FULL)


def test_entities_of_one_name_cannot_be_learnt(tree, tmp_path, encoder):
    task, names = tree
    with pytest.raises(TrainingError, match="expected links between entities of different names"):
        trained((task, ["thing"] * len(names)), tmp_path / "m", encoder, FULL)
    assert not (tmp_path / "m").exists()


def test_empty_and_very_long_names_are_trained_on(tree, tmp_path, encoder):
    task, names = tree
    odd = ["", "wild dog " * 10_000, *names[2:]]
    made = trained((task, odd), tmp_path / "m", encoder, replace(FULL, max_tokens=1000))
    assert np.isfinite(made.items(odd[:2])).all()
    assert made.text._reader.longest == 64  # the limit of the encoder, though more was requested


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tune", "half"), ("batches", "triplets"), ("families", 0), ("children", 0),
        ("negatives", 0), ("triplets", 0),
        ("rank", 0), ("max_tokens", 2), ("evaluations", 0), ("valid", 0), ("seed", -1),
        ("families", 1.5),
        ("strength", 0), ("strength", 1.01),
        ("epochs", 0), ("epochs", -1), ("epochs", float("inf")), ("cluster", float("nan")),
        ("cluster", -1.0),
        ("centripetal", -0.1), ("contraction", -1), ("rate", -1e-4), ("rate", float("inf")),
        ("rate", "fast"),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(name, value):
    hint = "; did you mean 'hard-triplets' or 'random-triplets'\\?" if value == "triplets" else ""
    with pytest.raises(SettingsError, match=f"^{name}: expected .*, found {value!r}{hint}$"):
        HiTTraining(**{name: value})
