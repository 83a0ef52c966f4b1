"""Small matrix products of a question use one thread, large ones all."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import ontodex
from ontodex.geometry import matrix_threads
from ontodex.geometry.matrix_threads import multiply, one_thread


def threads() -> set[int]:
    """The number of threads of NumPy's library, not of those that come with other packages."""
    found = ThreadpoolController().select(user_api="blas").info()
    return {one["num_threads"] for one in found if "numpy" in one["filepath"]}


has_threads = pytest.mark.skipif(not threads(), reason="NumPy's library has no number of threads")


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    monkeypatch.setattr(matrix_threads, "_threads", lambda: 2)
    with threadpool_limits(limits=2, user_api="blas"):
        yield


@has_threads
def test_one_thread_inside_and_as_before_outside():
    with one_thread():
        assert threads() == {1}
        with one_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {2}


@has_threads
@pytest.mark.parametrize(("rows", "wanted"), [(4, {1}), (1 << 10, {2})])
def test_only_large_products_use_all_threads(monkeypatch, rows, wanted):
    seen = []
    monkeypatch.setattr(matrix_threads.np, "matmul", lambda *_, **__: seen.append(threads()))
    with one_thread():
        multiply(np.ones((rows, 512), np.float32), np.ones((512, 512), np.float32))
        assert threads() == {1}
    assert seen == [wanted]


@pytest.mark.parametrize("count", [0, 1, 3, 1024])
def test_products_are_those_of_numpy(count):
    random = np.random.default_rng(0)
    queries, items = (
        random.normal(size=size).astype(np.float32) for size in ((count, 600), (900, 600))
    )
    out = np.empty((count, 900), np.float32)
    with one_thread():
        assert multiply(queries, items, out=out) is out
        np.testing.assert_array_equal(multiply(queries, items), out)
    np.testing.assert_allclose(out, queries @ items.T, rtol=1e-5, atol=1e-4)


@has_threads
def test_questions_use_one_thread(tmp_path, small_graph, tiny_encoder, monkeypatch):
    settings = {"hierarchy": False, "entailment": False, "train": False, "structure": False}
    with ontodex.build(
        small_graph,
        tmp_path / "farm.odx",
        encoders=tiny_encoder,
        device="cpu",
        quiet=True,
        **settings,
    ) as engine:
        encoder, seen = engine.resources.encoders.text, []
        encode = encoder.encode
        monkeypatch.setattr(
            encoder, "encode", lambda texts: seen.append(threads()) or encode(texts)
        )
        engine.search("a wild hare")
        engine.similar("a wild hare")
    assert seen == [{1}, {1}]
    assert threads() == {2}
