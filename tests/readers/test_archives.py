"""Archives are read as their contents."""

from __future__ import annotations

import gzip
import io
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import openpyxl
import pytest

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says

COMPANIES = "id,name,country\n1,Bolt,Malta\n2,Axe,Malta\n3,Zip,Samoa\n"
PRODUCTS = "id,name,company_id\n1,Drill,1\n2,Saw,2\n3,Awl,1\n"
TRIPLES = "dog\tis_a\tanimal\ncat\tis_a\tanimal\n"

Packed = Callable[[Mapping[str, str | bytes]], Path]


def as_bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def zipped(path: Path, files: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, as_bytes(content))
    return path


def tarred(path: Path, files: Mapping[str, str | bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(as_bytes(content))
            archive.addfile(member, io.BytesIO(as_bytes(content)))
    return path


@pytest.fixture(params=["zip", "tar", "tgz", "tar.gz", "bin"])
def packed(request: pytest.FixtureRequest, tmp_path: Path) -> Packed:
    """Return a function that packs files, and returns the path of the archive."""
    path = tmp_path / f"shop.{request.param}"
    if request.param in ("zip", "bin"):
        return lambda files: zipped(path, files)
    return lambda files: tarred(path, files, "w" if request.param == "tar" else "w:gz")


@pytest.mark.parametrize("folder", ["", "shop/", "a/b/"])
def test_an_archive_is_the_folder_in_it(packed: Packed, tmp_path: Path, folder: str) -> None:
    files = {"companies.csv": COMPANIES, "products.csv": PRODUCTS}
    path = packed({f"{folder}{name}": text for name, text in files.items()})
    plain = tmp_path / "plain"
    plain.mkdir()
    for name, text in files.items():
        (plain / name).write_text(text)
    before = set(Path(tempfile.gettempdir()).glob("ontodex-*"))
    with pytest.warns(ReadWarning):
        graph, wanted = read(path), read(plain)
    assert says(graph)["known"] == says(wanted)["known"]
    assert graph.source == str(path)
    assert set(Path(tempfile.gettempdir()).glob("ontodex-*")) <= before


def test_an_archive_of_one_file_is_that_file(packed: Packed) -> None:
    graph = read(packed({"pets/pets.tsv.gz": gzip.compress(TRIPLES.encode())}))
    assert says(graph)["known"] == {("dog", "is_a", "animal"), ("cat", "is_a", "animal")}


def test_benchmarks_and_releases_may_be_packed(packed: Packed) -> None:
    graph = read(
        packed(
            {
                "toy/train.txt": TRIPLES,
                "toy/test.txt": "cow\tis_a\tanimal\n",
                "toy/README.txt": "of toys",
            }
        )
    )
    assert (graph.n_triples, len(graph.test)) == (2, 1)


def test_faults_name_the_archive(packed: Packed) -> None:
    path = packed({"pets/pets.tsv": TRIPLES + "cow\tis_a\n", "pets/more.tsv": "hen\tis_a\tbird\n"})
    with pytest.warns(ReadWarning) as warned:
        read(path)
    assert str(warned[0].message).startswith(
        f"{path}/pets/pets.tsv: 1 faulty part(s):\n  {path}/pets/pets.tsv:3: "
    )
    with pytest.raises(ReadError) as error:
        read(path, on_error="raise")
    assert str(error.value).startswith(f"{path}/pets/pets.tsv:3: expected")
    assert (error.value.source, error.value.line) == (f"{path}/pets/pets.tsv", 3)


def test_what_is_hidden_or_no_source_is_left_out(packed: Packed) -> None:
    notes = {
        "__MACOSX/pets/._pets.tsv": b"\0\5\26\7",
        "pets/.DS_Store": b"\0\0\0\1",
        ".hidden/a.tsv": "a\tb\tc\n",
    }
    graph = read(packed({**notes, "pets/pets.tsv": TRIPLES}))
    assert graph.n_entities == 3
    with pytest.warns(ReadWarning, match=r"left out 2 .*\(more, picture.png\)"):
        read(
            packed(
                {"pets.tsv": TRIPLES, "more/a.tsv": TRIPLES, "picture.png": b"\x89PNG" + bytes(40)}
            )
        )


def test_a_workbook_in_an_archive_is_read(packed: Packed) -> None:
    book = openpyxl.Workbook()
    for row in (["id", "label", "parent"], ["a:1", "dog", "a:2"], ["a:2", "animal", None]):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    path = packed({"pets.xlsx": stream.getvalue()})
    graph = read(path)
    assert (graph.n_entities, graph.source) == (2, f"{path}/pets.xlsx [Sheet]")


def test_archives_lie_in_folders_and_not_in_archives(packed: Packed, tmp_path: Path) -> None:
    path = packed({"pets.tsv": TRIPLES})
    (path.parent / "more.tsv").write_text("hen\tis_a\tbird\n")
    assert read(path.parent).n_triples == 3
    outer = zipped(tmp_path / "outer.zip", {"inner.zip": path.read_bytes()})
    with pytest.raises(
        ReadError, match=r"outer.zip/inner.zip: .*an archive in an archive; unpack it"
    ):
        read(outer)
    two = zipped(
        tmp_path / "two.zip", {"inner.zip": path.read_bytes(), "more.tsv": "hen\tis_a\tbird\n"}
    )
    with pytest.warns(
        ReadWarning, match=r"left out a file that cannot be read: .*two.zip/inner.zip"
    ):
        assert read(two).n_triples == 1


@pytest.mark.parametrize(
    "name", ["../../owned.tsv", "/tmp/owned.tsv", "C:\\owned.tsv", "a\\..\\..\\owned.tsv"]
)
def test_names_that_lead_out_are_refused(packed: Packed, name: str) -> None:
    with pytest.raises(ReadError, match="names inside the archive"):
        read(packed({"a.tsv": TRIPLES, name: TRIPLES}))


def test_links_of_tar_files_are_no_files(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, kind in (
            ("a.tsv", tarfile.SYMTYPE),
            ("b.tsv", tarfile.LNKTYPE),
            ("c.tsv", tarfile.FIFOTYPE),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    with pytest.raises(ReadError, match="found an empty one"):
        read(tmp_path / "a.tar")


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = bytes(300 << 20)
    for path in (
        zipped(tmp_path / "a.zip", {"a.tsv": zeros}),
        tarred(tmp_path / "a.tgz", {"a.tsv": zeros}, "w:gz"),
    ):
        with pytest.raises(ReadError, match="grows beyond"):
            read(path)
    hidden = tarred(tmp_path / "b.tgz", {".a": zeros, "b.tsv": TRIPLES}, "w:gz")
    with pytest.raises(ReadError, match="grows beyond"):
        read(hidden)
    monkeypatch.setattr("ontodex.readers.archives.MOST_FILES", 3)
    with pytest.raises(ReadError, match="at most 3 files"):
        read(zipped(tmp_path / "c.zip", {f"{at}.tsv": TRIPLES for at in range(4)}))


def test_damaged_and_locked_archives(packed: Packed, tmp_path: Path) -> None:
    path = packed(
        {"a.tsv": "".join(f"e{at}\tr\te{at * 7}\n" for at in range(20_000)), "b.tsv": TRIPLES}
    )
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReadError, match=r"damaged|found something else"):
        read(path)
    if zipfile.is_zipfile(io.BytesIO(whole)):
        locked = bytearray(whole)
        locked[6] |= 1
        locked[whole.index(b"PK\1\2") + 8] |= 1
        path.write_bytes(locked)
        with pytest.raises(ReadError, match=r"damaged or locked one .*password"):
            read(path)
    twice = tmp_path / "twice.tar"
    with tarfile.open(twice, "w") as archive:
        for name in ("a.tsv", "a.tsv/b.tsv"):
            member = tarfile.TarInfo(name)
            archive.addfile(member)
    with pytest.raises(ReadError, match="that can be unpacked"):
        read(twice)


def test_documents_of_an_office_are_no_archives(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "a.ods",
        {"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": "<a/>"},
    )
    with pytest.raises(
        ReadError, match=r"a document of an office; save its tables as \.xlsx or CSV"
    ):
        read(path)
