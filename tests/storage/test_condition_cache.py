"""The cache of conditions: whole factors or none, within its budget, shared by processes."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import lmdb
import numpy as np
import pytest

from ontodex.storage.condition_cache import FILE, ConditionCache, _packed

ONE, TWO, THREE = (
    np.random.default_rng(0).integers(1 << 16, size=(3, 500), dtype=np.uint16).view(np.float16)
)
PACKED = len(_packed(ONE))  # noise cannot be compressed, so all have the same length


def filled(folder: Path, budget: int = 1 << 20) -> ConditionCache:
    cache = ConditionCache(folder, budget)
    for name, factor in zip("abc", (ONE, TWO, THREE), strict=True):
        cache.put("encoder", {name: factor})
    return cache


def test_cached_factors_are_read_as_written(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    wide = np.full(6, 1e9, dtype=np.float32)
    cache.put("other", {"a": wide})
    found = cache.get("encoder", ["a", "b", "nothing"])
    assert list(found) == ["a", "b"]
    np.testing.assert_array_equal(found["b"], TWO)
    assert found["b"].dtype == np.float16
    np.testing.assert_array_equal(cache.get("other", ["a"])["a"], wide)
    assert cache.get("other", ["a"])["a"].dtype == np.float32
    assert len(cache) == 4


def test_is_smaller_than_the_numbers(tmp_path: Path) -> None:
    cache = ConditionCache(tmp_path, 1 << 20)
    cache.put(
        "encoder", {"a": np.random.default_rng(0).standard_normal(100_000).astype(np.float16)}
    )
    assert cache.bytes < 0.9 * 200_000


def test_a_few_bytes_do_not_become_very_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = ConditionCache(tmp_path, 1 << 20)
    cache.put("encoder", {"a": np.zeros(100_000, dtype=np.float16), "b": ONE})
    monkeypatch.setattr("ontodex.storage.condition_cache.LARGEST", 100_000)
    assert list(cache.get("encoder", ["a", "b"])) == ["b"]


def test_stays_on_the_disk(tmp_path: Path) -> None:
    filled(tmp_path)
    gc.collect()
    np.testing.assert_array_equal(
        ConditionCache(tmp_path, 1 << 20).get("encoder", ["c"])["c"], THREE
    )


def test_evicts_what_was_used_the_longest_ago(tmp_path: Path) -> None:
    cache = filled(tmp_path, 3 * PACKED)
    assert len(cache) == 3
    cache.get("encoder", ["a"])
    cache.put("encoder", {"d": ONE})
    assert list(cache.get("encoder", ["a", "b", "c", "d"])) == ["a", "c", "d"]
    cache.put("encoder", {"d": ONE})  # again: nothing is evicted
    assert cache.bytes == 3 * PACKED
    cache.put("encoder", dict.fromkeys("efgh", ONE))
    assert list(cache.get("encoder", list("acdefgh"))) == ["f", "g", "h"]
    cache.put(
        "encoder", {"i": np.random.default_rng(1).random(5000, dtype=np.float32)}
    )  # more than the whole budget
    assert list(cache.get("encoder", list("fghi"))) == ["f", "g", "h"]


@pytest.mark.slow
def test_works_at_its_budget_for_long(tmp_path: Path) -> None:
    budget = 8 << 20
    cache = ConditionCache(tmp_path, budget)
    rng = np.random.default_rng(0)
    for number in range(75):
        value = rng.integers(1 << 16, size=int(rng.integers(1, 1 << 20)), dtype=np.uint16).view(
            np.float16
        )
        cache.put("encoder", {str(number): value})
        np.testing.assert_array_equal(cache.get("encoder", [str(number)])[str(number)], value)
        assert cache.bytes <= budget
    assert (tmp_path / FILE).stat().st_size <= 2 * budget + (32 << 20)


def test_a_budget_of_zero_is_no_cache(tmp_path: Path) -> None:
    cache = filled(tmp_path, 0)
    assert cache.get("encoder", ["a"]) == {}
    assert (len(cache), list(tmp_path.iterdir())) == (0, [])


def test_a_folder_that_cannot_be_written_has_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert filled(tmp_path / "missing").get("encoder", ["a"]) == {}

    def read_only(*_: object, **__: object) -> None:
        raise lmdb.ReadonlyError("read-only file system")

    monkeypatch.setattr(lmdb, "open", read_only)
    cache = filled(tmp_path)
    assert (cache.get("encoder", ["a"]), len(cache)) == ({}, 0)


@pytest.mark.parametrize("damage", ["garbage", "cut", "flipped", "empty"])
def test_a_damaged_file_is_made_anew(tmp_path: Path, damage: str) -> None:
    filled(tmp_path)
    gc.collect()
    file = tmp_path / FILE
    content = file.read_bytes()
    value = _packed(TWO)[:64]  # of "b", wherever LMDB has copies of it
    file.write_bytes(
        {
            "garbage": b"no database" * 1000,
            "cut": content[: len(content) // 2],
            "flipped": content.replace(value, value[:5] + b"\xff" + value[6:]),
            "empty": b"",
        }[damage]
    )
    cache = ConditionCache(tmp_path, 1 << 20)
    assert "b" not in cache.get("encoder", ["a", "b"])
    cache.put("encoder", {"b": ONE})
    np.testing.assert_array_equal(cache.get("encoder", ["b"])["b"], ONE)


def test_caches_of_one_folder_share_the_file(tmp_path: Path) -> None:
    first, second = filled(tmp_path), ConditionCache(tmp_path, 2 << 20)
    second.put("encoder", {"d": ONE})
    assert list(first.get("encoder", ["a", "d"])) == ["a", "d"]


def test_a_cache_has_its_budget_beside_a_smaller_one(tmp_path: Path) -> None:
    small, large = filled(tmp_path, 1 << 20), ConditionCache(tmp_path, 64 << 20)
    noise = (
        np.random.default_rng(0)
        .integers(1 << 16, size=(48, 1 << 19), dtype=np.uint16)
        .view(np.float16)
    )
    for number, factor in enumerate(noise):
        large.put("encoder", {str(number): factor})
    assert len(large) == 3 + 48
    assert list(small.get("encoder", ["a", "7"])) == ["a", "7"]


def test_keeping_many_takes_no_longer_for_each(tmp_path: Path) -> None:
    cache = ConditionCache(tmp_path, 64 << 20)
    factors = {str(number): np.full(4, number, dtype=np.float16) for number in range(4200)}
    seconds = []
    for first, last in ((0, 200), (200, 4200)):
        start = time.process_time()
        cache.put("encoder", {str(number): factors[str(number)] for number in range(first, last)})
        seconds.append(time.process_time() - start)
    assert seconds[1] < 60 * seconds[0] + 0.3  # twenty times as many


WRITER = """
import sys
from pathlib import Path
import numpy as np
from ontodex.storage.condition_cache import ConditionCache
folder, name, count, budget = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
cache = ConditionCache(folder, budget)
print("ready", flush=True)
for number in range(count):
    cache.put("encoder", {f"{name}{number}": np.full(2000, number, dtype=np.float16)})
    found = cache.get("encoder", [f"{name}{number - one}" for one in range(5)])
    assert all(bool((value == int(key[1:])).all()) for key, value in found.items())
"""


def start(folder: Path, name: str, count: int, budget: int) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", WRITER, str(folder), name, str(count), str(budget)]
    return subprocess.Popen(
        arguments, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )


def test_processes_write_at_once(tmp_path: Path) -> None:
    budget = 80 * (4000 + 144)
    with start(tmp_path, "x", 40, budget) as first, start(tmp_path, "y", 40, budget) as second:
        assert (first.wait(60), second.wait(60)) == (0, 0)
    cache = ConditionCache(tmp_path, budget)
    names = [f"{writer}{number}" for writer in "xy" for number in range(40)]
    assert set(cache.get("encoder", names)) == set(names)


def test_a_killed_writer_leaves_whole_factors(tmp_path: Path) -> None:
    with start(tmp_path, "x", 1_000_000, 1 << 20) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(0.5)
        writer.send_signal(signal.SIGKILL)
    cache = ConditionCache(tmp_path, 1 << 20)
    assert len(cache) > 0
    names = [f"x{number}" for number in range(100_000)]
    found = cache.get("encoder", names)
    assert len(found) == len(cache)
    assert all(bool((value == np.float16(int(name[1:]))).all()) for name, value in found.items())
    cache.put("encoder", {"new": ONE})
    assert "new" in cache.get("encoder", ["new"])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_keeps_off_its_parents_file(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    child = os.fork()
    if child == 0:
        os._exit(0 if cache.get("encoder", ["a"]) == {} else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert "a" in cache.get("encoder", ["a"])
