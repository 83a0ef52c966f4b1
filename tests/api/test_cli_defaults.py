"""What the commands that train do by default is what Python does."""

from __future__ import annotations

from dataclasses import MISSING, fields
from inspect import signature
from typing import Any

import pytest

import ontodex
from ontodex.cli import conditions as cli_conditions
from ontodex.cli import entailment as cli_entailment
from ontodex.cli import training as cli_training
from ontodex.cli import trees as cli_trees

COMMANDS = {
    "hyper-cl": (cli_training.train_hyper_cl, ontodex.HyperCLTraining),
    "cross-encoder": (cli_training.train_cross_encoder, ontodex.CrossEncoderTraining),
    "hit": (cli_training.train_hit, ontodex.HiTTraining),
    "condition": (cli_conditions.train_condition, ontodex.ConditionTraining),
    "gauss-cse": (cli_entailment.train_gauss_cse, ontodex.GaussCSETraining),
    "self-strae": (cli_trees.train_self_strae, ontodex.SelfStrAETraining),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_defaults_are_those_of_the_settings(name: str) -> None:
    command, settings = COMMANDS[name]
    of_python: dict[str, Any] = {
        one.name: one.default for one in fields(settings) if one.default is not MISSING
    }
    of_python.pop("valid", None)  # a number of pairs; that of the command is a file
    of_shell = {
        key: one.default for key, one in signature(command).parameters.items() if key in of_python
    }
    assert "seed" in of_shell
    assert of_shell == {key: of_python[key] for key in of_shell}
