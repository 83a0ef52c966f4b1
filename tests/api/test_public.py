"""The public interface: what ``import ontodex`` offers."""

import os
import subprocess
import sys

import numpy as np
import pytest

import ontodex
from ontodex.errors import SettingsError
from tests.plain import build_plain


def test_every_public_name_is_there_and_listed():
    assert sorted(ontodex.__all__) == ontodex.__all__
    for name in ontodex.__all__:
        assert getattr(ontodex, name).__doc__, name
        assert name in dir(ontodex)


def test_a_name_that_is_not_there_is_an_attribute_error():
    assert not hasattr(ontodex, "frobnicate")


SPINS, SHAPES, WAITING = "GOMP_SPINCOUNT", "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "OMP_WAIT_POLICY"


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({}, ("1000", "128")),
        ({SPINS: "7", SHAPES: "9"}, ("7", "9")),
        ({WAITING: "active"}, ("None", "128")),
    ],
)
def test_threads_wait_briefly_and_few_shapes_are_kept_unless_the_user_says_how(
    own: dict[str, str], said: tuple[str, str]
) -> None:
    bare = {
        name: value for name, value in os.environ.items() if name not in (SPINS, SHAPES, WAITING)
    }
    code = f"import ontodex, os; print(os.environ.get('{SPINS}'), os.environ.get('{SHAPES}'))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=bare | own, capture_output=True, text=True, check=True
    )
    assert tuple(done.stdout.split()) == said


def test_a_lone_name_serves_where_a_list_may_stand(own_index, tiny_encoder, small_graph, tmp_path):
    with ontodex.remove("ex:n0", own_index, device="cpu", quiet=True) as engine:
        assert engine.graph.find("ex:n0") is None
    built = build_plain(small_graph, tmp_path / "x.odx", str(tiny_encoder))
    with built as engine:
        assert engine.index.vectors("text").dim == 32


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda graph, path: ontodex.open(None),
            "path: expected the folder of an index, found None",
        ),
        (lambda graph, path: ontodex.open(""), "path: expected the folder of an index, found ''"),
        (
            lambda graph, path: ontodex.build(graph, None),
            "path: expected the folder of an index, found None",
        ),
        (
            lambda graph, path: ontodex.add(graph, 5),
            "path: expected the folder of an index, found 5",
        ),
        (
            lambda graph, path: ontodex.remove([], path),
            "entities: expected names of entities to remove, found none",
        ),
        (
            lambda graph, path: ontodex.remove([5], path),
            "entity: expected a CURIE, an IRI, a label or words, found 5",
        ),
        (lambda graph, path: ontodex.remove(5, path), "expected a list of names, found 5"),
        (
            lambda graph, path: ontodex.open(path, condition_memory="1GB"),
            "condition_memory: expected a whole number",
        ),
        (
            lambda graph, path: ontodex.evaluate_kgc(path, graph, rerank=path, top=0),
            "top: expected a whole number of at least 1",
        ),
    ],
)
def test_wrong_arguments_are_named(small_graph, small_index, call, says):
    with pytest.raises(SettingsError, match=says):
        call(small_graph, small_index)


def test_whole_numbers_of_numpy_become_those_of_python():
    training = ontodex.HyperCLTraining(steps=np.int64(5))
    assert (training.steps, type(training.steps)) == (5, int)
    with pytest.raises(SettingsError, match="at least 0, found True"):
        ontodex.HyperCLTraining(steps=True)
