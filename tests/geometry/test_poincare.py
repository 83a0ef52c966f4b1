from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ontodex.geometry import poincare

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", r"`torch\.jit\.script", DeprecationWarning)  # geoopt, import
    import geoopt

DIM = 384
C = poincare.curvature(DIM)
HIT = (0.2, 0.55)  # √c|x| of the paper's hyperbolic norms 8 to 24
SHARES = {"float32": 3e-5, "float64": 1e-11}


def points_of(
    shares: tuple[float, float], n: int = 40, dim: int = DIM, c: float = C, seed: int = 0
) -> np.ndarray:
    """Random directions at √c|x| drawn from ``shares``."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(n, dim))
    return (
        directions
        / np.linalg.norm(directions, axis=1)[:, None]
        * rng.uniform(*shares, (n, 1))
        / np.sqrt(c)
    )


def exact(left: np.ndarray, right: np.ndarray, c: float) -> list[float]:
    """Distances by arcosh with 60 digits, of the points as they are stored."""
    found = []
    with mpmath.workdps(60):
        for x, y in zip(left.tolist(), right.tolist(), strict=True):
            gap = mpmath.fsum(
                (mpmath.mpf(a) - mpmath.mpf(b)) ** 2 for a, b in zip(x, y, strict=True)
            )
            room = [1 - c * mpmath.fsum(mpmath.mpf(a) ** 2 for a in side) for side in (x, y)]
            found.append(
                float(mpmath.acosh(1 + 2 * c * gap / (room[0] * room[1])) / mpmath.sqrt(c))
            )
    return found


@pytest.fixture
def ball() -> geoopt.PoincareBall:
    return geoopt.PoincareBall(c=torch.tensor(C, dtype=torch.float64))


@pytest.fixture(params=["float32", "float64"])
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_everything_agrees_with_geoopt_in_the_range_of_hit(
    ball: geoopt.PoincareBall, dtype: str, kind: Callable[[np.ndarray], Any]
) -> None:
    left, right = points_of(HIT).astype(dtype), points_of(HIT, seed=1).astype(dtype)
    x, y = (torch.from_numpy(side).double() for side in (left, right))
    found = {
        "distance": poincare.distance(kind(left), kind(right), C),
        "pairwise": poincare.pairwise(kind(left), kind(right), C),
        "norm": poincare.norm(kind(left), C),
        "exp": poincare.exp_origin(kind(left), C),
        "log": poincare.log_origin(kind(left), C),
        "clip": poincare.clip(kind(left), C),
    }
    wanted = {
        "distance": ball.dist(x, y),
        "pairwise": ball.dist(x[:, None], y[None]),
        "norm": ball.dist0(x),
        "exp": ball.expmap0(x),
        "log": ball.logmap0(x),
        "clip": ball.projx(x),
    }
    for name, value in found.items():
        assert isinstance(value, type(kind(left)))
        assert str(value.dtype).removeprefix("torch.") == dtype, name
        np.testing.assert_allclose(
            value, wanted[name], rtol=SHARES[dtype], atol=SHARES[dtype], err_msg=name
        )


@pytest.mark.parametrize("share", [0.9, 0.99, 1 - 1e-3, 1 - 1e-5])
def test_distance_is_right_near_the_rim(share: float, ball: geoopt.PoincareBall) -> None:
    left, right = points_of((share, share), n=6), points_of((share, share), n=6, seed=1)
    wanted = exact(left, right, C)
    np.testing.assert_allclose(poincare.distance(left, right, C), wanted, rtol=1e-11)
    np.testing.assert_allclose(np.diag(poincare.pairwise(left, right, C)), wanted, rtol=1e-11)
    np.testing.assert_allclose(
        poincare.norm(left, C), exact(left, np.zeros_like(left), C), rtol=1e-11
    )
    if share > 0.9999:  # why geoopt is no reference here
        assert (
            np.abs(
                ball.dist(torch.from_numpy(left), torch.from_numpy(right)).numpy() - wanted
            ).max()
            > 1
        )
    # In float32, b(x) = 1 - c|x|² keeps an absolute error of the dtype's epsilon.
    slack = 2 / np.sqrt(C) * 8 * np.finfo(np.float32).eps / (1 - share) + 1e-4
    narrow = left.astype(np.float32), right.astype(np.float32)
    np.testing.assert_allclose(poincare.distance(*narrow, C), exact(*narrow, C), atol=slack)


@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-5])
def test_near_duplicates_keep_their_distance_in_float32(gap: float) -> None:
    left = points_of((0.55, 0.55)).astype(np.float32)
    right = left + (points_of((0.3, 0.5), seed=1) * gap).astype(np.float32)
    assert (left != right).any()
    wanted = exact(left, right, C)
    np.testing.assert_allclose(poincare.distance(left, right, C), wanted, rtol=1e-5)
    assert np.max(wanted) < 30 * gap
    assert np.abs(np.diag(poincare.pairwise(left, right, C)) - wanted).max() < 0.05


def test_the_origin_and_equal_points() -> None:
    origin, points = np.zeros((1, DIM)), points_of(HIT)
    assert (
        poincare.norm(origin, C).tolist() == poincare.distance(origin, origin, C).tolist() == [0.0]
    )
    assert not poincare.distance(points, points, C).any()
    assert not poincare.exp_origin(origin, C).any()
    assert not poincare.log_origin(origin, C).any()
    assert not poincare.unlift(poincare.lift_items(origin, C), C).any()
    assert poincare.distance(points[0], points[1], C).shape == ()
    assert poincare.norm(points[:0], C).shape == (0,)
    assert poincare.distance(points[:, None], points[None, :3], C).shape == (40, 3)


def test_clip_moves_only_what_is_too_far_out(dtype: str) -> None:
    inside = np.vstack([points_of(HIT), points_of((0.99, 1 - 1e-3)), np.zeros((1, DIM))]).astype(
        dtype
    )
    assert np.array_equal(poincare.clip(inside, C), inside)
    outside = points_of((1.0, 50.0)).astype(dtype)
    clipped = poincare.clip(outside, C)
    np.testing.assert_allclose(np.linalg.norm(clipped, axis=1) * np.sqrt(C), 1 - 1e-5, rtol=1e-6)
    np.testing.assert_allclose(
        clipped / outside, np.broadcast_to((clipped / outside)[:, :1], outside.shape), rtol=1e-5
    )
    assert np.isfinite(poincare.distance(clipped, inside[:40], C)).all()


def test_a_point_outside_is_drawn_inwards() -> None:
    point = torch.from_numpy(points_of((2.0, 2.0), n=1)).requires_grad_()
    poincare.norm(poincare.clip(point, C), C).sum().backward()
    assert point.grad is not None
    assert torch.nn.functional.cosine_similarity(
        point.grad, point.detach()
    ).item() == pytest.approx(1)


@pytest.mark.parametrize(
    "name", ["distance", "pairwise", "norm", "exp_origin", "log_origin", "products", "unlift"]
)
def test_gradients_are_finite_everywhere(name: str, dtype: str) -> None:
    rows = [
        points_of(shares, n=4, seed=1)
        for shares in (HIT, (1.0, 1.0), (1 - 1e-5, 1.0), (1.5, 40.0), (1e-12, 1e-9))
    ]
    points = np.vstack([*rows, np.zeros((2, DIM))]).astype(dtype)
    for clipped in (True, False):
        left, right = (torch.from_numpy(points.copy()).requires_grad_() for _ in range(2))
        x, y = (poincare.clip(side, C) if clipped else side for side in (left, right))
        if name in {"norm", "exp_origin", "log_origin"}:
            found = getattr(poincare, name)(torch.cat([x, y]), C)
        elif name == "products":
            products = poincare.lift_queries(x, C) @ poincare.lift_items(y, C).T
            found = poincare.distance_of_products(products, (x * x).sum(-1)[:, None], C)
        elif name == "unlift":
            items = poincare.lift_items(torch.cat([x, y]), C)
            found = poincare.unlift(items, C).sum(-1) + poincare.item_norms(items, C)
        else:
            found = getattr(poincare, name)(x, y, C)
        assert torch.isfinite(found).all()
        found.sum().backward()
        for side in (left, right):
            assert side.grad is not None
            assert torch.isfinite(side.grad).all()


@pytest.mark.parametrize("name", ["distance", "pairwise"])
def test_gradients_are_geoopts(name: str, ball: geoopt.PoincareBall) -> None:
    sides = [torch.from_numpy(points_of(HIT, n=5, seed=seed)).requires_grad_() for seed in (0, 1)]
    found = torch.autograd.grad(getattr(poincare, name)(*sides, C).square().sum(), sides)
    left = sides[0][:, None] if name == "pairwise" else sides[0]
    wanted = torch.autograd.grad(ball.dist(left, sides[1]).square().sum(), sides)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-12)


def test_pairwise_keeps_its_precision_under_autocast_and_with_half_precision() -> None:
    left, right = (torch.from_numpy(points_of(HIT, seed=seed)).float() for seed in (0, 1))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = poincare.pairwise(left, right, C)
    torch.testing.assert_close(found, poincare.pairwise(left, right, C), rtol=0, atol=0)
    coarse = left.bfloat16()
    assert poincare.pairwise(coarse, coarse, C).dtype == torch.float32
    torch.testing.assert_close(
        poincare.norm(coarse, C), poincare.norm(coarse.float(), C), rtol=0, atol=0
    )


@pytest.mark.parametrize("shares", [HIT, (0.55, 0.9), (0.9, 0.99), (1 - 1e-3, 1 - 1e-4)])
def test_the_lift_turns_distances_into_products(shares: tuple[float, float], dtype: str) -> None:
    queries, items = points_of(shares).astype(dtype), points_of(shares, n=60, seed=1).astype(dtype)
    x, y = queries.astype(np.float64), items.astype(np.float64)
    lifted = poincare.lift_queries(queries, C), poincare.lift_items(items, C)
    assert [part.dtype for part in lifted] == [queries.dtype] * 2
    square = (x * x).sum(-1)[:, None]
    products = lifted[0].astype(np.float64) @ lifted[1].astype(np.float64).T
    gaps = ((x[:, None] - y) ** 2).sum(-1) / (1 - C * (y * y).sum(-1))
    np.testing.assert_allclose(products, square - gaps, rtol=1e-6 if dtype == "float32" else 1e-11)
    found = poincare.distance_of_products(products, square, C)
    np.testing.assert_allclose(
        found, poincare.distance(x[:, None], y, C), rtol=1e-5 if dtype == "float32" else 1e-10
    )
    np.testing.assert_allclose(poincare.unlift(lifted[1], C), items, rtol=1e-6)
    np.testing.assert_allclose(poincare.item_norms(lifted[1], C), poincare.norm(y, C), rtol=1e-6)
    same = poincare.lift_items(torch.from_numpy(items), C)
    np.testing.assert_allclose(same, lifted[1], rtol=1e-6)


@pytest.mark.parametrize("shares", [HIT, (0.9, 0.99), (1 - 1e-3, 1 - 1e-4)])
def test_float32_products_of_the_lift_find_the_ten_nearest(shares: tuple[float, float]) -> None:
    rng = np.random.default_rng(2)
    centres = points_of((0.3, 0.5), n=40)[rng.integers(40, size=2020)]  # in clusters, as names are
    points = centres + rng.normal(scale=0.15, size=centres.shape)
    points *= (rng.uniform(*shares, 2020) / np.sqrt(C) / np.linalg.norm(points, axis=1))[:, None]
    items, queries = points[:2000].astype(np.float32), points[2000:].astype(np.float32)
    products = poincare.lift_queries(queries, C) @ poincare.lift_items(items, C).T
    distances = poincare.distance(queries[:, None].astype(np.float64), items.astype(np.float64), C)
    found, wanted = np.argsort(-products, axis=1)[:, :10], np.argsort(distances, axis=1)[:, :10]
    assert np.mean([len(set(a) & set(b)) for a, b in zip(found, wanted, strict=True)]) >= 9.9


CURVATURES = st.sampled_from([1.0, 0.1, C])


@st.composite
def three_points(draw: st.DrawFn) -> tuple[np.ndarray, float]:
    """Three points of up to five dimensions, anywhere in the ball, and its curvature."""
    dim, c, seed = draw(st.integers(1, 5)), draw(CURVATURES), draw(st.integers(0, 2**32 - 1))
    shares = [draw(st.floats(0, 1 - 1e-4)) for _ in range(3)]
    return np.vstack([points_of((s, s), 1, dim, c, seed + i) for i, s in enumerate(shares)]), c


@settings(deadline=None)
@given(three_points())
def test_distance_is_a_metric_and_the_norm_its_distance_to_the_origin(
    given_points: tuple[np.ndarray, float],
) -> None:
    (x, y, z), c = given_points
    xy, yz, xz = (float(poincare.distance(a, b, c)) for a, b in ((x, y), (y, z), (x, z)))
    assert xy == float(poincare.distance(y, x, c))
    assert xy >= 0
    assert xz <= (xy + yz) * (1 + 1e-9) + 1e-9
    norms = poincare.norm(np.stack([x, y]), c)
    np.testing.assert_allclose(
        norms, poincare.distance(np.stack([x, y]), np.zeros_like(x), c), rtol=1e-12
    )
    assert abs(norms[0] - norms[1]) <= xy * (1 + 1e-9) + 1e-9
    np.testing.assert_allclose(
        poincare.item_norms(poincare.lift_items(np.stack([x, y]), c), c), norms, rtol=1e-9
    )


@settings(deadline=None)
@given(three_points())
def test_exp_and_log_at_the_origin_are_each_others_inverse(
    given_points: tuple[np.ndarray, float],
) -> None:
    points, c = given_points
    vectors = poincare.log_origin(points, c)
    np.testing.assert_allclose(
        2 * np.linalg.norm(vectors, axis=1), poincare.norm(points, c), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(poincare.exp_origin(vectors, c), points, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(
        poincare.log_origin(poincare.exp_origin(points, c), c), points, rtol=1e-9, atol=1e-15
    )


@settings(deadline=None)
@given(three_points(), st.integers(0, 99))
def test_turning_the_ball_changes_no_distance(
    given_points: tuple[np.ndarray, float], seed: int
) -> None:
    points, c = given_points
    assume(points.shape[1] > 1)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(points.shape[1],) * 2))[0]
    before, after = (poincare.distance(p[:1], p[1:], c) for p in (points, points @ turn))
    np.testing.assert_allclose(after, before, rtol=1e-7, atol=1e-7)


def test_importing_the_ball_does_not_import_torch() -> None:
    code = (
        "import sys, numpy as np; from ontodex.geometry import poincare; "
        "poincare.norm(np.zeros(2), 1.0);"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
