"""The registry of formats, and formats of other packages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import ontodex
from ontodex.errors import ReadError, SettingsError
from ontodex.readers import ReadWarning
from ontodex.readers.formats import FOLDER
from ontodex.readers.registry import sniff, with_name

TOY = """
from pathlib import Path

from ontodex.readers.files import lines_of
from ontodex.readers.formats import FileFormat


def _is_toy(path, head):
    return head.startswith(b"%TOY")


def _read_toy(path, builder, problems):
    for number, line in lines_of(path, problems):
        if not line.startswith("%"):
            parts = line.split(" -> ")
            if len(parts) == 2:
                builder.triple(parts[0], "leads to", parts[1])
            else:
                problems.report(f"expected an arrow, found {line!r}", number, str(path))


FORMAT = FileFormat("toy", (".toy",), "Arrows, one a line.", matches=_is_toy, reader=_read_toy)
"""
ARROWS = "%TOY\na -> b\nb -> c\nstray\n"
PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "toy-format"
version = "1.0"

[project.entry-points."ontodex.readers"]
toy = "toy_format:FORMAT"

[tool.setuptools]
py-modules = ["toy_format"]
"""


def pip_installed(folder: Path) -> Path:
    """Install the toy package as pip does; return the folder that it is in."""
    (project := folder / "project").mkdir()
    (project / "toy_format.py").write_text(TOY, encoding="utf-8")
    (project / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    options = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    command = [sys.executable, "-m", "pip", "install", *options, "--target"]
    done = subprocess.run(
        [*command, str(folder / "site"), str(project)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


def unpacked(folder: Path, module: str, name: str) -> Path:
    """Unpack a package as pip would install it, but faster."""
    (site := folder / "site").mkdir()
    (site / "toy_format.py").write_text(module, encoding="utf-8")
    (info := site / "toy_format-1.0.dist-info").mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-format\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[ontodex.readers]\ntoy = toy_format:{name}\n")
    return site


def python(site: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Python with the packages of a folder beside those of this process."""
    places = [str(site), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        timeout=300,
    )


READ = """
import sys, warnings, ontodex
warnings.simplefilter("ignore")
for format in (None, "toy"):
    graph = ontodex.read(sys.argv[1], format=format)
    triples = [(graph.ids[h], graph.relation_ids[r], graph.ids[t]) for h, r, t in graph.triples]
    print(triples, graph.skipped)
"""


def test_a_format_of_another_package_is_read(tmp_path: Path) -> None:
    site = pip_installed(tmp_path)
    (path := tmp_path / "a.csv").write_text(ARROWS)
    done = python(site, "-c", READ, path)
    triples = "[('a', 'leads to', 'b'), ('b', 'leads to', 'c')]"
    assert (done.stdout, done.returncode) == (2 * f"{triples} 1\n", 0), done.stderr
    listed = json.loads(python(site, "-m", "ontodex", "formats", "--json").stdout)["formats"]
    toy = {"name": "toy", "suffixes": [".toy"], "description": "Arrows, one a line."}
    assert [one for one in listed if one["name"] == "toy"] == [toy]
    command = ("build", path, "-o", tmp_path / "a.odx", "--no-train", "--no-hierarchy")
    done = python(site, "-m", "ontodex", *command, "--no-entailment", "--format", "toy")
    assert done.returncode == 0, done.stderr
    assert f"{path}:4: expected an arrow, found 'stray'" in done.stderr
    assert "3 entities" in done.stderr


@pytest.mark.parametrize(
    ("module", "name", "fault"),
    [
        ("import nowhere_to_be_found", "FORMAT", "ModuleNotFoundError: No module named"),
        (TOY, "NONE", "AttributeError: .* has no attribute 'NONE'"),
        (TOY, "_read_toy", "AttributeError: .* has no attribute 'name'"),
        ("class Toy:\n    name, suffixes = 'toy', ()", "Toy", "no attribute 'description'"),
        (TOY, "FileFormat", "AttributeError"),
        (TOY.replace('"toy"', '"obo"'), "FORMAT", "a new name of a format, found 'obo'"),
        (TOY.replace('head.startswith(b"%TOY")', "head.nope"), "FORMAT", "has no attribute 'nope'"),
        (TOY.replace("lines_of(path, problems)", "path"), "FORMAT", "TypeError: .* not iterable"),
    ],
)
def test_a_fault_of_a_plug_in_names_it(tmp_path: Path, module: str, name: str, fault: str) -> None:
    site = unpacked(tmp_path, module, name)
    (folder := tmp_path / "arrows").mkdir()
    (folder / "a.toy").write_text(ARROWS)
    (folder / "b.tsv").write_text("dog\tis_a\tanimal\n")
    done = python(site, "-c", READ, folder)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert re.search(fault, last)
    assert f"the plug-in 'toy' (toy_format:{name}) of toy-format 1.0" in last


def test_formats_are_listed(tmp_path: Path) -> None:
    listed = ontodex.formats()
    assert len({one.name for one in listed}) == len(listed) > 30
    for one in listed:
        assert one.description.endswith(".")
        assert all(suffix == FOLDER or suffix.startswith(".") for suffix in one.suffixes)
    lines = python(tmp_path, "-m", "ontodex", "formats").stdout.splitlines()
    assert [line.split()[0] for line in lines] == sorted(one.name for one in listed)
    assert max(map(len, lines)) < 150


def test_an_unknown_format_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match=r"expected one of .*; did you mean 'turtle'\?"):
        with_name("turtel")


@pytest.mark.parametrize(
    ("name", "head", "format"),
    [
        ("a.ttl", "ontology: a <http://x.org/b> .\n", "turtle"),
        ("a.txt", "ontology: pets\n\n[Term]\nid: X:1\n", "obo"),
        ("a.nq", "<a:a> <a:b> <a:c> .\n", "nquads"),
        ("a.dat", "<a:a> <a:b> <a:c> .\n", "ntriples"),
        ("a.dat", "<a:a> <a:b> <a:c> <a:g> .\n", "nquads"),
        ("a.dat", "PREFIX a: <http://a.org/>\na:a a:b a:c .\n", "trig"),
        ("a.json", '[{"CXVersion": "2.0"}, {"nodes": [{"@id": 1}]}]', "json"),
        ("a.json", '{"@context": {}, "@id": "a:a"}', "jsonld"),
        ("a.json", '{"graphs": [{"nodes": [{"@id": 1}]}]}', "json"),
        ("a.owl", "Prefix(:=<http://a.org/>)\nOntology()\n", "functional"),
        ("a.owl", "Prefix: : <http://a.org/>\nOntology:\n", "manchester"),
        ("a.csv", "Prefix: a,b,c\n", "table"),
        ("a.owl", '<?xml version="1.0"?>\n<Ontology xmlns="http://a.org/"/>', "owlxml"),
        ("a.xml", "<r><a id='1'/></r>", "xml"),
        ("a.gmt", "S\tx\tA\tB\n", "gmt"),
        ("a.txt", "S\tx\tA\tB\n", "table"),
    ],
)
def test_specific_formats_are_asked_before_general_ones(
    write, name: str, head: str, format: str
) -> None:
    assert sniff(write(name, head)).name == format


def test_a_file_is_sniffed_once(write, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def counted(path: Path):
        asked.append(path)
        return sniff(path)

    monkeypatch.setattr("ontodex.readers.registry.sniff", counted)
    one = write("pets/a.tsv", "dog\tis_a\tanimal\n")
    other = write("pets/b.json", '[{"id": "x:1", "label": "cat", "parent": "x:2"}]')
    ontodex.read(one.parent)
    assert asked == [one, other]


def test_a_damaged_workbook_does_not_cost_the_files_beside_it(write) -> None:
    path = write("pets/a.tsv", "dog\tis_a\tanimal\n")
    with zipfile.ZipFile(path.parent / "b.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "no workbook")
    with pytest.warns(ReadWarning, match=r"left out a file that cannot be read: .*b\.xlsx"):
        assert ontodex.read(path.parent).n_triples == 1
    with pytest.raises(ReadError, match=r"b\.xlsx: expected a workbook"):
        ontodex.read(path.parent, on_error="raise")


def test_faulty_lines_of_rows_in_json_are_counted(write) -> None:
    lines = '["dog", "is_a", "animal"]\n{"cat"\n["cat", "is_a", "animal"]\n'
    path = write("a.jsonl", lines)
    graph = ontodex.read(path, on_error="skip")
    assert (graph.n_triples, graph.skipped) == (2, 1)
    with pytest.raises(ReadError, match=r"a\.jsonl:2: expected a JSON document a line"):
        ontodex.read(path, on_error="raise")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("numbered", "entity2id.txt"),
        ("splits", "train.txt"),
        ("wordnet", "at least one entity"),
    ],
)
def test_a_folder_that_is_not_in_the_format_of_its_name(write, name: str, wanted: str) -> None:
    folder = write("pets/a.tsv", "dog\tis_a\tanimal\n").parent
    with pytest.raises(ReadError, match=wanted):
        ontodex.read(folder, format=name)
