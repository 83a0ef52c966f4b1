"""The folder of a training run: its own checkpoints, those of other runs, or other files."""

from __future__ import annotations

import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ontodex
from ontodex.encoders.hyper_cl import HyperCL
from ontodex.encoders.locate import files_of, fingerprint
from ontodex.encoders.text import TextEncoder
from ontodex.errors import TrainingError
from ontodex.graph import KnowledgeGraph, TextSettings, remove
from ontodex.trainers.checkpoints import (
    clear_checkpoints,
    data_hash,
    last_checkpoint,
)
from ontodex.trainers.links.hyper_cl import train_hyper_cl
from ontodex.trainers.progress import ProgressOnStderr

FROZEN = ontodex.HyperCLTraining(steps=2, queries=32, negatives=8, rank=4, condition=8, width=16)
FULL = replace(FROZEN, tune="full", start=0, entities=24, save_every=1, encoder_rate=1e-3)


@pytest.fixture(scope="module")
def encoder(tiny_encoder: Path) -> TextEncoder:
    return TextEncoder(tiny_encoder, "cpu")


@pytest.fixture(scope="module")
def smaller_encoder(other_encoder: Path) -> TextEncoder:
    return TextEncoder(other_encoder, "cpu")


def test_a_run_goes_on_only_if_it_is_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    assert last_checkpoint(folder, {"seed": 0}) is None
    for step in (5, 10, 15):
        (folder / f"checkpoint-{step}").mkdir()
    assert last_checkpoint(folder, {"seed": 0}) is None  # as if interrupted while all were written
    for step in (5, 10):
        (folder / f"checkpoint-{step}" / "trainer_state.json").touch()
    assert last_checkpoint(folder, {"seed": 0}) == str(folder / "checkpoint-10")
    assert last_checkpoint(folder, {"seed": 1}) is None
    assert [path.name for path in folder.iterdir()] == ["ontodex-run.json"]
    (folder / "checkpoint-5").mkdir()
    clear_checkpoints(folder)
    assert not folder.exists()


@pytest.mark.parametrize("name", ["thesis.tex", "checkpoint-5"])
def test_a_folder_of_checkpoints_that_are_not_ours_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(TrainingError, match="expected checkpoints of ontodex, found other files"):
        last_checkpoint(tmp_path, {})
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_files_beside_the_checkpoints_are_left_alone(tmp_path: Path) -> None:
    last_checkpoint(tmp_path, {})
    (tmp_path / "notes").write_text("x")
    clear_checkpoints(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_other_texts_or_numbers_are_other_data() -> None:
    numbers = np.array([1, 2])
    assert data_hash(["a", "b"], numbers) == data_hash(iter(["a", "b"]), numbers.copy())
    assert (
        len(
            {
                data_hash(["a", "b"], numbers),
                data_hash(["a\nb"], numbers),
                data_hash(["a", "b"], numbers[::-1]),
            }
        )
        == 3
    )


@pytest.mark.slow
def test_another_graph_encoder_or_text_is_another_run(
    tmp_path: Path, small_graph: KnowledgeGraph, encoder: TextEncoder, smaller_encoder: TextEncoder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    seen: list[int] = []

    def stop_at_two(self: object, args: object, state: Any, control: object, **_: object) -> None:
        seen.append(state.global_step)
        if state.global_step == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressOnStderr, "on_step_end", stop_at_two)

    def steps(
        graph: KnowledgeGraph, text: TextEncoder, texts: TextSettings | None = None
    ) -> list[int]:
        seen.clear()
        with pytest.raises(KeyboardInterrupt):
            train_hyper_cl(
                graph,
                tmp_path / "m",
                encoder=text,
                settings=replace(FULL, steps=4),
                texts=texts,
                quiet=True,
            )
        return list(seen)

    assert steps(small_graph, encoder) == [1, 2]
    assert steps(small_graph, encoder) == [2]
    smaller = remove(small_graph, ["ex:n0"])
    assert steps(smaller, encoder) == [1, 2]
    assert steps(smaller, smaller_encoder) == [1, 2]
    assert steps(smaller, smaller_encoder, TextSettings(definition=False)) == [1, 2]
    assert steps(smaller, smaller_encoder, TextSettings(definition=False)) == [2]


def test_other_files_are_refused(
    tmp_path: Path, small_graph: KnowledgeGraph, encoder: TextEncoder
) -> None:
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "years-of-work.pt").write_text("x")
    for folder, message in (
        (tmp_path, "expected an empty folder, or what a previous run has left, found other files"),
        (tmp_path / "checkpoints" / "years-of-work.pt", "expected a folder to write, found a file"),
    ):
        with pytest.raises(TrainingError, match=message):
            train_hyper_cl(small_graph, folder, encoder=encoder, settings=FROZEN, quiet=True)
    assert [path.name for path in tmp_path.rglob("*")] == ["checkpoints", "years-of-work.pt"]


@pytest.mark.parametrize("left", [None, "settings.json"])
def test_a_model_with_another_tools_checkpoints_is_left_alone(
    tmp_path: Path, small_graph: KnowledgeGraph, encoder: TextEncoder, left: str | None
) -> None:
    (tmp_path / "checkpoints").mkdir()
    if left is not None:
        (tmp_path / "checkpoints" / left).write_text("{}")
    (tmp_path / "model.safetensors").write_text("x")
    with pytest.raises(TrainingError, match="found other files"):
        train_hyper_cl(small_graph, tmp_path, encoder=encoder, settings=FROZEN, quiet=True)
    assert (tmp_path / "model.safetensors").read_text() == "x"


def test_the_base_encoder_is_never_written_to(
    tmp_path: Path, small_graph: KnowledgeGraph, encoder: TextEncoder
) -> None:
    start = TextEncoder(Path(shutil.copytree(encoder.folder, tmp_path / "start")), "cpu")
    for folder in (tmp_path, tmp_path / "start", tmp_path / "start" / "mine"):
        with pytest.raises(
            TrainingError, match=r"folder apart from the encoder to start from|found other files"
        ):
            train_hyper_cl(small_graph, folder, encoder=start, settings=FROZEN, quiet=True)
    assert not (tmp_path / "start" / "mine").exists()


def test_a_run_that_was_cut_off_before_it_began_goes_on(
    tmp_path: Path, small_graph: KnowledgeGraph, encoder: TextEncoder
) -> None:
    (tmp_path / "checkpoints").mkdir()
    train_hyper_cl(small_graph, tmp_path, encoder=encoder, settings=FROZEN, quiet=True)
    assert not (tmp_path / "checkpoints").exists()


@pytest.mark.slow
@pytest.mark.parametrize("settings", [FROZEN, FULL], ids=["frozen", "full"])
def test_another_model_is_replaced_whole(
    tmp_path: Path, small_graph: KnowledgeGraph, encoder: TextEncoder, smaller_encoder: TextEncoder,
    settings: ontodex.HyperCLTraining,
) -> None:  # fmt: skip
    folder, texts = tmp_path / "m", TextSettings(definition=False)
    train_hyper_cl(small_graph, folder, encoder=encoder, settings=FULL, quiet=True)
    (folder / "2_Dense").mkdir()
    for name in ("2_Dense/model.safetensors", "vocab.txt", "results.json", "README.md"):
        (folder / name).write_text("x")
    made = train_hyper_cl(
        small_graph, folder, encoder=smaller_encoder, settings=settings, texts=texts, quiet=True
    )
    for name in ("results.json", "README.md"):  # a file of another program
        assert (folder / name).read_text() == "x"
        (folder / name).unlink()
    train_hyper_cl(
        small_graph,
        tmp_path / "fresh",
        encoder=smaller_encoder,
        settings=settings,
        texts=texts,
        quiet=True,
    )
    assert files_of(folder) == files_of(tmp_path / "fresh")
    loaded = HyperCL.load(folder, device="cpu")
    assert (loaded.text.dim, loaded.texts) == (16, asdict(texts))
    if settings.tune == "frozen":
        assert loaded.fingerprint == made.fingerprint
        assert fingerprint(folder) == smaller_encoder.fingerprint


def test_the_encoder_to_start_from_is_never_overwritten(
    tmp_path: Path, small_graph: KnowledgeGraph, encoder: TextEncoder
) -> None:
    folder = tmp_path / "m"
    train_hyper_cl(small_graph, folder, encoder=encoder, settings=FROZEN, quiet=True)
    before = fingerprint(folder)
    with pytest.raises(
        TrainingError, match="expected a folder apart from the encoder to start from"
    ):
        train_hyper_cl(
            small_graph, folder, encoder=TextEncoder(folder, "cpu"), settings=FULL, quiet=True
        )
    assert fingerprint(folder) == before
