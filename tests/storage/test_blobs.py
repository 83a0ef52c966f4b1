from __future__ import annotations

import dataclasses
import gc
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ontodex.errors import IndexDamaged, IndexMismatch
from ontodex.storage import blobs as module
from ontodex.storage import vectors as vectors_module
from ontodex.storage.blobs import BlobInfo, BlobReader, BlobWriter
from ontodex.storage.manifest import SpaceInfo
from ontodex.storage.vectors import read_vectors, write_vectors

ARRAYS: Mapping[str, np.ndarray] = {
    "bytes": np.frombuffer("naïve text".encode(), dtype=np.uint8),
    "none": np.zeros((0, 3), dtype=np.int32),
    "keys": np.array([b"\x00" * 16, b"a" * 16], dtype="S16"),
    "longs": np.arange(12, dtype=np.int64).reshape(3, 4),
    "turned": np.arange(12, dtype=np.float32).reshape(3, 4).T,
    "large": np.random.default_rng(0).normal(size=(400, 64)).astype(np.float32),
}


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> dict[str, BlobInfo]:
    writer = BlobWriter(path, sum(array.nbytes for array in arrays.values()))
    for name, array in arrays.items():
        writer.put(name, array)
    writer.close()
    return writer.infos


@pytest.fixture
def store(tmp_path: Path) -> tuple[Path, dict[str, BlobInfo]]:
    return tmp_path / "store.mdb", write(tmp_path / "store.mdb", ARRAYS)


def flip(path: Path, content: bytes) -> None:
    """Change one byte in the middle of some contents of a file, in all copies of its page."""
    middle = len(content) // 2
    changed = content[:middle] + bytes([content[middle] ^ 0x40]) + content[middle + 1 :]
    whole = path.read_bytes()
    assert content in whole
    path.unlink()  # a new file, as the old one is mapped
    path.write_bytes(whole.replace(content, changed))


def test_blobs_are_read_as_written(store: tuple[Path, dict[str, BlobInfo]]) -> None:
    reader = BlobReader(*store)
    for name, array in ARRAYS.items():
        found = reader.get(name)
        assert (found.dtype, found.shape, found.tobytes()) == (
            array.dtype,
            array.shape,
            np.ascontiguousarray(array).tobytes(),
        )
    assert "large" in reader
    assert "larger" not in reader
    assert list(reader.damaged()) == []
    with pytest.raises(IndexDamaged, match="expected a blob 'larger', found none"):
        reader.get("larger")


def test_arrays_are_views_of_the_file_and_cannot_be_written_to(
    store: tuple[Path, dict[str, BlobInfo]],
) -> None:
    reader = BlobReader(*store)
    large = reader.get("large")
    assert np.shares_memory(large, BlobReader(*store).get("large"))
    for array in (large, reader.get("longs"), reader.get("keys")):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = array
    with pytest.raises(ValueError, match="WRITEABLE"):
        large.flags.writeable = True


def test_arrays_outlive_the_reader_and_the_file(store: tuple[Path, dict[str, BlobInfo]]) -> None:
    path, infos = store
    reader = BlobReader(path, infos)
    arrays = {name: reader.get(name) for name in ARRAYS}
    parts = arrays["large"][100:200, 3]
    del reader
    gc.collect()
    path.unlink()
    write(path, {"other": np.ones(1 << 18)})
    gc.collect()
    assert all(np.array_equal(arrays[name], array) for name, array in ARRAYS.items())
    del arrays
    gc.collect()
    assert np.array_equal(parts, ARRAYS["large"][100:200, 3])


def test_a_file_that_took_the_place_of_another_is_read_anew(
    store: tuple[Path, dict[str, BlobInfo]],
) -> None:
    path, infos = store
    kept = BlobReader(path, infos).get("large")
    path.unlink()
    others = {"large": np.arange(7.0)}
    reader = BlobReader(path, write(path, others))
    assert reader.get("large").tolist() == list(range(7))
    assert np.array_equal(kept, ARRAYS["large"])


def test_readers_in_many_threads_share_the_file(store: tuple[Path, dict[str, BlobInfo]]) -> None:
    def read(_: int) -> float:
        return float(BlobReader(*store).get("large").sum())

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(read, range(400))) == {float(ARRAYS["large"].sum())}


def test_no_file_handle_is_left_behind(store: tuple[Path, dict[str, BlobInfo]]) -> None:
    BlobReader(*store).get("large")
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        BlobReader(*store).get("large")
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_flipped_byte_in_a_small_blob_is_found_on_reading(
    store: tuple[Path, dict[str, BlobInfo]],
) -> None:
    path, infos = store
    flip(path, ARRAYS["longs"].tobytes())
    reader = BlobReader(path, infos)
    with pytest.raises(
        IndexDamaged,
        match=r"store\.mdb: blob 'longs' does not match its checksum; build the index anew",
    ):
        reader.get("longs")
    assert np.array_equal(reader.get("large"), ARRAYS["large"])


def test_a_flipped_byte_in_a_large_blob_is_found_by_its_name(
    store: tuple[Path, dict[str, BlobInfo]],
) -> None:
    path, infos = store
    assert infos["large"].bytes > module.CHECKED_ON_READ
    flip(path, ARRAYS["large"][200].tobytes())
    reader = BlobReader(path, infos)
    assert not np.array_equal(reader.get("large"), ARRAYS["large"])
    assert list(reader.damaged()) == [f"{path}: blob 'large' does not match its checksum"]
    assert list(reader.damaged("lo")) == []


@pytest.mark.parametrize(
    "changes",
    [{"bytes": 97}, {"shape": (3, 5)}, {"dtype": "<f3"}, {"dtype": "<i2"}, {"blake2b": ""}],
)
def test_a_blob_that_is_not_what_the_manifest_says(
    store: tuple[Path, dict[str, BlobInfo]], changes: dict[str, object]
) -> None:
    path, infos = store
    infos["longs"] = dataclasses.replace(infos["longs"], **changes)
    with pytest.raises(IndexDamaged, match="blob 'longs'"):
        BlobReader(path, infos).get("longs")


def test_a_blob_that_is_not_there(store: tuple[Path, dict[str, BlobInfo]]) -> None:
    path, infos = store
    with pytest.raises(IndexDamaged, match=r"blob 'gone': expected 96 bytes, found nothing"):
        BlobReader(path, {"gone": infos["longs"]}).get("gone")


def test_no_lmdb_file(tmp_path: Path) -> None:
    path = tmp_path / "store.mdb"
    path.write_bytes(b"this is no database " * 1000)
    with pytest.raises(IndexDamaged, match="expected an LMDB file, found damage"):
        BlobReader(path, {})


@settings(deadline=None, max_examples=40)
@given(
    vectors=hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
        elements=st.floats(-1, 1, width=32),
    ),
    shard=st.integers(1, 200),
    data=st.data(),
)
def test_vectors_in_pieces(
    tmp_path_factory: pytest.TempPathFactory, vectors: np.ndarray, shard: int, data: st.DataObject
) -> None:
    rows = data.draw(
        hnp.arrays(
            np.int64,
            hnp.array_shapes(max_dims=2, max_side=5),
            elements=st.integers(0, len(vectors) - 1),
        )
    )
    path = tmp_path_factory.mktemp("vectors") / "store.mdb"
    writer = BlobWriter(path, vectors.nbytes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors_module, "SHARD_BYTES", shard)
        shards = write_vectors(writer, "text", vectors, "product", ["text"] * len(vectors))
    writer.close()
    info = SpaceInfo("cosine", vectors.shape[1], len(vectors), shards, "text")
    found = read_vectors(BlobReader(path, writer.infos), "text", info)
    assert (len(found), found.dim) == vectors.shape
    assert np.array_equal(found[rows], vectors[rows])
    assert np.array_equal(np.concatenate([block for _, block in found.blocks()]), vectors)
    assert [start for start, _ in found.blocks()] == found.starts[:-1].tolist()
    wrong = dataclasses.replace(info, rows=len(vectors) + 1)
    with pytest.raises(IndexMismatch, match="the manifest names"):
        read_vectors(BlobReader(path, writer.infos), "text", wrong)
