"""Options that are the fields of settings dataclasses, and the panels of the help."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

import ontodex
from ontodex.cli.app import app
from ontodex.cli.settings import Fields, settings_options
from ontodex.errors import expect_whole

SETTINGS: dict[str, tuple[type, ...]] = {
    "build": (ontodex.TextSettings,),
    "conditions": (ontodex.ConditionalPairsSettings,),
    "train condition": (ontodex.ConditionTraining,),
    "train cross-encoder": (ontodex.CrossEncoderTraining, ontodex.TextSettings),
    "train gauss-cse": (ontodex.GaussCSETraining,),
    "train hit": (ontodex.HiTTraining,),
    "train hyper-cl": (ontodex.HyperCLTraining, ontodex.TextSettings),
    "train self-strae": (ontodex.SelfStrAETraining,),
}
RENAMED = {("train gauss-cse", "valid"): "valid_pairs"}  # --valid is a file
DERIVED = {("train self-strae", "size")}  # derived from --dimension and --channels


def options(command: str) -> dict[str, Any]:
    found: Any = typer.main.get_command(app)
    for name in command.split():
        found = found.commands[name]
    return {option.name: option for option in found.params}


@pytest.mark.parametrize("command", SETTINGS)
def test_each_field_is_an_option_with_its_default_and_help(command: str) -> None:
    found = options(command)
    for settings in SETTINGS[command]:
        for field in fields(settings):
            if (command, field.name) in DERIVED:
                continue
            name = RENAMED.get((command, field.name), field.name)
            assert found[name].default == field.default, name
            assert f"--{name.replace('_', '-')}" in found[name].opts
            assert found[name].help, name
            assert "``" not in found[name].help


def test_the_dimension_of_self_strae_is_that_of_its_settings() -> None:
    settings = ontodex.SelfStrAETraining()
    dimension = options("train self-strae")["dimension"].default
    assert ontodex.SelfStrAETraining.of_dimension(dimension, settings.channels) == settings


def test_texts_of_an_evaluation_are_those_of_the_training_unless_given() -> None:
    found = options("eval kgc")
    assert [found[field.name].default for field in fields(ontodex.TextSettings)] == [None] * 4


@dataclass(frozen=True)
class Walk:
    """Settings of a walk.

    A walk has no other settings.

    Attributes:
        steps: Number of steps, with ``pace="fast"``
            also of :class:`~tests.Leap` steps; 0 for ``None``.
        pace: ``"slow"`` or ``"fast"``.

    Raises:
        SettingsError: If a setting is out of range.
    """

    steps: int = 3
    pace: str = "slow"

    def __post_init__(self) -> None:
        expect_whole(self, steps=0)


def answers_of(hint: Any, *arguments: str) -> tuple[int, str]:
    """Run a command whose settings are annotated by ``hint``; return its exit code and output."""
    own = typer.Typer()

    def walk(name: str, walk: Any, steps_file: str = "none") -> None:
        typer.echo(f"{name} {walk} {steps_file}")

    walk.__annotations__["walk"] = hint
    own.command()(settings_options(walk))
    done = CliRunner().invoke(own, arguments)
    return done.exit_code, done.output


def test_a_command_gets_the_settings_that_its_options_make() -> None:
    assert answers_of(Walk, "dog") == (0, "dog Walk(steps=3, pace='slow') none\n")
    assert answers_of(Walk, "dog", "--steps", "5", "--pace", "fast", "--steps-file", "f") == (
        0,
        "dog Walk(steps=5, pace='fast') f\n",
    )


def test_help_is_the_docstring_without_markup() -> None:
    status, out = answers_of(Walk, "--help")
    said = " ".join(out.replace("│", " ").split())
    assert status == 0
    assert "Number of steps, with --pace fast also of Leap steps; 0 for None." in said
    assert "slow or fast." in said
    assert "Walk ─" in out  # optional settings have a panel of their own


def test_optional_settings_are_none_unless_one_is_given() -> None:
    assert answers_of(Walk | None, "dog") == (0, "dog None none\n")
    assert answers_of(Walk | None, "dog", "--pace", "fast") == (
        0,
        "dog Walk(steps=3, pace='fast') none\n",
    )


def test_fields_may_be_chosen_and_renamed() -> None:
    only = Annotated[Walk, Fields("pace")]
    assert answers_of(only, "dog", "--pace", "fast")[1] == "dog Walk(steps=3, pace='fast') none\n"
    assert answers_of(only, "dog", "--steps", "5")[0] == 2
    renamed = Annotated[Walk, Fields(steps="length", pace=None)]
    assert answers_of(renamed, "dog", "--length", "5")[1] == "dog Walk(steps=5, pace='slow') none\n"
    assert answers_of(renamed, "dog", "--pace", "fast")[0] == 2


def test_a_wrong_setting_is_wrong_usage(shell, tmp_path) -> None:
    (tmp_path / "farm.tsv").write_text("ex:dog\tex:eats\tex:bone\n")
    for options, says in (
        (("--steps", "-1"), "steps: expected a whole number of at least 0, found -1"),
        (("--tune", "ful"), "did you mean 'full'?"),
        (("--max-words", "0"), "max_words: expected a whole number of at least 1, found 0"),
    ):
        status, out, err = shell(
            "train", "hyper-cl", tmp_path / "farm.tsv", "-o", tmp_path / "m", *options
        )
        assert (status, out) == (2, "")
        assert says in err


def test_the_help_has_four_panels() -> None:
    out = CliRunner().invoke(app, ["--help"]).output
    places = [out.index(f"─ {panel} ─") for panel in ("Ask", "Build", "Train", "Evaluate")]
    assert places == sorted(places)
