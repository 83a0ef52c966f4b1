"""The face: what ``import ontodex`` offers."""

import os
import subprocess
import sys

import pytest

import ontodex
from tests.plain import build_plain


def test_every_public_name_is_there_and_listed():
    assert sorted(ontodex.__all__) == ontodex.__all__
    for name in ontodex.__all__:
        assert getattr(ontodex, name).__doc__, name
        assert name in dir(ontodex)


def test_a_name_that_is_not_there_is_an_attribute_error():
    assert not hasattr(ontodex, "frobnicate")


@pytest.mark.parametrize(
    ("own", "spins"),
    [({}, "1000"), ({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "active"}, "None")],
)
def test_threads_wait_briefly_unless_the_user_says_how(own: dict[str, str], spins: str) -> None:
    bare = {name: value for name, value in os.environ.items() if name not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")}
    code = "import ontodex, os; print(os.environ.get('GOMP_SPINCOUNT'))"
    said = subprocess.run([sys.executable, "-c", code], env=bare | own, capture_output=True, text=True, check=True)
    assert said.stdout.split() == [spins]


def test_a_lone_name_serves_where_a_list_may_stand(own_index, tiny_encoder, small_graph, tmp_path):
    with ontodex.remove("ex:n0", own_index, device="cpu", quiet=True) as engine:
        assert engine.graph.find("ex:n0") is None
    built = build_plain(small_graph, tmp_path / "x.odx", str(tiny_encoder))
    with built as engine:
        assert engine.index.vectors("text").dim == 32
