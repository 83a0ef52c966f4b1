from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import networkx
import pandas as pd
import pytest
import rdflib
from hypothesis import given, settings

from ontodex.errors import ReadError, SettingsError
from ontodex.graph import KnowledgeGraph, ReadWarning, merge
from ontodex.readers import read
from tests.graph_strategies import graphs, says

TRIPLES = "dog\tis_a\tanimal\ncat\tis_a\tanimal\n"
KNOWN = {("dog", "is_a", "animal"), ("cat", "is_a", "animal")}


@pytest.mark.parametrize(
    "values", [{"on_error": "ignore"}, {"format": "tvs"}, {"format": "turtel"}]
)
def test_unknown_settings_name_the_known(write, values) -> None:
    with pytest.raises(SettingsError, match=r"expected one of .*(warn|turtle)"):
        read(write("a.tsv", TRIPLES), **values)


def test_a_format_is_only_for_files() -> None:
    with pytest.raises(SettingsError, match="in memory"):
        read(networkx.MultiDiGraph(), format="obo")


@pytest.mark.parametrize("policy", ["raise", "warn", "skip"])
@pytest.mark.parametrize("content", [b"", b" \n\n", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0)])
def test_an_empty_file(write, content: bytes, policy: str) -> None:
    with pytest.raises(ReadError, match="empty"):
        read(write("a.tsv", content), on_error=policy)


@pytest.mark.parametrize(
    "content",
    [
        b"\x7fELF\x02\x01\x01" + bytes(200),
        b"just some words\nand more\n",
        b"\x89PNG" + bytes(40),
    ],
)
def test_an_unknown_format(write, content: bytes) -> None:
    with pytest.raises(
        ReadError, match=r"found something else.*format= in Python or --format on the command line"
    ):
        read(write("a.bin", content))


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (b"PAR1", "a Parquet file; read it with pandas"),
        (b"SQLite format 3\0", "a damaged or locked one"),
        (b"%PDF-1.7", "a PDF"),
    ],
)
def test_files_of_other_kinds_are_named(write, start: bytes, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read(write("a.bin", start + bytes(100)))


def test_missing_paths_and_wrong_folders(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="check the path"):
        read(tmp_path / "none.obo")
    with pytest.raises(ReadError, match=r"expected files that ontodex reads, found none"):
        read(tmp_path)


def test_a_file_for_a_folder_format(write) -> None:
    with pytest.raises(ReadError, match="expected a folder"):
        read(write("a.tsv", TRIPLES), format="wordnet")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.ttl",
            "<!DOCTYPE html>\n<html><head><title>404</title></head></html>",
            "an HTML page; .* fetch the file itself",
        ),
        ("a.csv", "\n<HTML lang='en'><body>a,b,c</body></HTML>", "an HTML page"),
        (
            "a.owl",
            '<?xml version="1.0"?><!-- 1 < 2 --><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML"><html/>',
            "an HTML page",
        ),
    ],
)
def test_what_is_no_rdf_is_named(write, name: str, content: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read(write(name, content))


def test_a_cell_may_hold_a_tag(write) -> None:
    assert "<html> tag" in read(write("a.csv", "id,label\n1,<html> tag\n")).labels


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_zipped_files_are_known_by_content(
    write, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(TRIPLES.encode())
    assert says(read(write("a.tsv", packed)))["known"] == KNOWN
    assert says(read(write(f"b.tsv.{suffix}", packed)))["known"] == KNOWN
    with pytest.raises(ReadError, match=r"a damaged one|Invalid data stream"):
        read(write("c.tsv", packed[: len(packed) // 2]))
    with pytest.raises(ReadError, match="100 times its size"):
        read(write("d.tsv", pack(b"dog\tis_a\tanimal\n" * 1_000_000)))


def test_a_cut_gzip_file_is_never_read_in_part(write) -> None:
    whole = gzip.compress("".join(f"e{i}\tr\te{i * 7}\n" for i in range(50_000)).encode())
    with pytest.raises(ReadError, match="damaged"):
        read(write("a.tsv.gz", whole[: len(whole) // 2]), on_error="skip")


def test_utf16_is_named(write) -> None:
    with pytest.raises(ReadError, match="UTF-16"):
        read(write("a.tsv", TRIPLES.encode("utf-16")))


def test_content_goes_before_suffix(write) -> None:
    assert (
        read(write("a.txt", "format-version: 1.4\n\n[Term]\nid: X:1\nname: one\n")).labels[0]
        == "one"
    )
    turtle = "@prefix : <http://x.org/> .\n:a :near :b .\n"
    assert read(write("a.owl", turtle)).n_triples == 1
    assert read(write("plain", TRIPLES)).n_triples == 2
    assert read(write("odd.dat", TRIPLES), format="table").n_triples == 2


def test_one_warning_for_all_problems(write) -> None:
    path = write("a.tsv", TRIPLES + "one\n" * 9)
    with pytest.warns(ReadWarning) as caught:
        graph = read(path)
    assert (len(caught), graph.skipped, graph.n_triples) == (1, 9, 2)
    text = str(caught[0].message)
    assert "9 faulty part(s)" in text
    assert f"{path}:3: expected 3 columns, found 1" in text
    assert "and 4 more" in text
    assert 'on_error="raise" (--on-error raise)' in text
    assert caught[0].filename == __file__
    assert read(path, on_error="skip").skipped == 9
    with pytest.raises(ReadError) as error:
        read(path, on_error="raise")
    assert (error.value.line, error.value.source) == (3, str(path))


def test_nothing_but_faults_is_an_error(write) -> None:
    with pytest.raises(ReadError, match="nothing could be read; 2 faulty"):
        read(write("a.tsv", "one\ttwo\nthree\n"), on_error="skip")


@pytest.mark.parametrize("made", [networkx.MultiDiGraph, networkx.DiGraph])
def test_networkx(made: type[networkx.DiGraph]) -> None:
    source = made()
    source.add_node("dog", label="the dog", synonyms="hound", definition="barks")
    source.add_edge("dog", "animal", relation="is_a")
    source.add_edge("animal", "thing")
    graph = read(source, on_error="skip")
    assert says(graph)["known"] == {("dog", "is_a", "animal")}
    assert says(graph)["entities"]["dog"] == ("the dog", {"hound"}, "barks")
    assert graph.skipped == 1


@pytest.mark.parametrize(
    "names", [("head", "relation", "tail"), ("subject", "predicate", "object"), ("x", "y", "z")]
)
def test_pandas(names: tuple[str, ...]) -> None:
    rows = [
        ("dog", "is_a", "animal"),
        ("cat", "is_a", "animal"),
        ("cat", None, "animal"),
        (float("nan"), "is_a", "x"),
    ]
    graph = read(pd.DataFrame(rows, columns=names), on_error="skip")
    assert says(graph)["known"] == KNOWN
    assert graph.skipped == 2


def test_what_is_missing_in_memory_is_empty() -> None:
    frame = pd.DataFrame(
        {"head": ["dog", "cat"], "relation": ["is_a"] * 2, "tail": ["animal", None]}, dtype="string"
    )
    graph = read(frame, on_error="skip")
    assert (says(graph)["known"], graph.skipped) == ({("dog", "is_a", "animal")}, 1)
    source = networkx.DiGraph()
    source.add_node("ex:dog", label=float("nan"), name="the dog", synonyms=pd.NA, definition=None)
    source.add_node("ex:cat", label=pd.NA, synonyms=["cat", float("nan")])
    source.add_edge("ex:dog", "ex:cat", relation="chases")
    assert says(read(source))["entities"] == {
        "ex:dog": ("the dog", set(), ""),
        "ex:cat": ("cat", set(), ""),
    }


def test_lines_of_files_of_one_name_stay_apart(write) -> None:
    one = write("one/notes.txt", "The sky is blue.\nGrass is green.\n")
    other = write("other/notes.txt", "Rain is wet.\nThe sky is blue.\n")
    graph = read(one, other, format="sentences")
    assert list(graph.labels) == ["The sky is blue.", "Grass is green.", "Rain is wet."]


def test_frames_with_columns_in_any_order_or_too_few() -> None:
    frame = pd.DataFrame(
        {"tail": ["animal"], "weight": [1.0], "head": ["dog"], "relation": ["is_a"]}
    )
    assert says(read(frame))["known"] == {("dog", "is_a", "animal")}
    with pytest.raises(ReadError, match="expected links of entities, found none"):
        read(pd.DataFrame({"head": ["dog"]}), on_error="skip")


@pytest.mark.parametrize("made", [rdflib.Graph, rdflib.Dataset])
@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
def test_rdflib(made: type[rdflib.Graph]) -> None:
    source, space = made(), rdflib.Namespace("http://example.org/")
    source.bind("ex", space)
    source.add((space.dog, space.chases, space.cat))
    source.add((space.dog, rdflib.RDFS.label, rdflib.Literal("Hund", lang="de")))
    source.add((space.dog, rdflib.RDFS.label, rdflib.Literal("dog", lang="en")))
    source.add((space.dog, space.has, rdflib.BNode()))
    with pytest.warns(ReadWarning, match=r"left out 1 link.* the first by http://example.org/has"):
        graph = read(source)
    assert says(graph)["known"] == {("ex:dog", "ex:chases", "ex:cat")}
    assert graph.labels[0] == "dog"


def test_other_objects() -> None:
    with pytest.raises(ReadError, match="another kind"):
        read(SimpleNamespace())


ONTOLOGY = (
    'format-version: 1.4\n\n[Term]\nid: X:1\nname: one\ndef: "first" []\n\n[Term]\n'
    "id: X:2\nname: two\nis_a: X:1\n"
)


@pytest.mark.parametrize("order", [1, -1])
def test_an_ontology_and_annotations_make_one_graph(write, order: int) -> None:
    ontology, folder = write("x.obo", ONTOLOGY), write("notes/train.tsv", "D:1\thas\tX:1\n").parent
    write("notes/entity_text.tsv", "id\tlabel\nD:1\tdisease\n")
    sources = [ontology, str(folder)][::order]
    graph = read(*sources, on_error="raise")
    assert says(graph)["known"] == {("X:2", "is_a", "X:1"), ("D:1", "has", "X:1")}
    assert says(graph)["entities"] == {
        "X:1": ("one", set(), "first"),
        "X:2": ("two", set(), ""),
        "D:1": ("disease", set(), ""),
    }
    assert graph.source == f"{sources[0]} + {sources[1]}"
    assert next(iter(graph.ids)) == ("X:1" if order == 1 else "D:1")


@settings(deadline=None, max_examples=40)
@given(graphs(), graphs())
def test_reading_two_is_merging_two(one: KnowledgeGraph, two: KnowledgeGraph) -> None:
    parts = one.to_networkx(), two.to_networkx()
    assert says(read(*parts)) == says(merge(read(parts[0]), read(parts[1])))


def test_entities_meet_by_iri_whatever_the_prefixes(write) -> None:
    one = write(
        "one.ttl", "@prefix : <http://a.org/> . @prefix ex: <http://b.org/> . :dog :near ex:cat ."
    )
    two = write(
        "two.ttl", "@prefix : <http://b.org/> . @prefix ex: <http://c.org/> . :cat :near ex:dog ."
    )
    table = write(
        "three.tsv", "http://c.org/dog\tlike\thttp://a.org/dog\nex:cat\tlike\thttp://d.org/e#f\n"
    )
    graph = read(one, two, table)
    assert says(graph)["known"] == {
        (":dog", ":near", "ex:cat"),
        ("ex:cat", "ex:near", "http://c.org/dog"),
        ("http://c.org/dog", "like", ":dog"),
        ("ex:cat", "like", "http://d.org/e#f"),
    }
    assert (graph.prefixes[""], graph.prefixes["ex"]) == ("http://a.org/", "http://b.org/")
    by_iri = read(
        write("iris.tsv", "http://a.org/dog\tlike\thttp://purl.obolibrary.org/obo/X_1\n"),
        one,
        write("x.obo", ONTOLOGY),
    )
    assert set(by_iri.ids) == {
        "http://a.org/dog",
        "http://purl.obolibrary.org/obo/X_1",
        "ex:cat",
        "X:2",
    }
    assert by_iri.labels[1] == "one"


def test_faults_are_reported_by_source(write) -> None:
    one, two = write("one.tsv", TRIPLES + "x\n"), write("two.tsv", TRIPLES + "y\nz\n")
    with pytest.warns(ReadWarning) as caught:
        graph = read(one, two)
    assert [str(entry.message).split(": ")[0] for entry in caught] == [str(one), str(two)]
    assert {entry.filename for entry in caught} == {__file__}
    assert graph.skipped == 3
    with pytest.raises(ReadError, match=r"empty\.tsv"):
        read(one, write("empty.tsv", ""), on_error="skip")
    with pytest.raises(SettingsError, match="in memory"):
        read(one, networkx.MultiDiGraph(), format="table")


def test_a_warning_is_at_the_line_that_reads(write) -> None:
    with pytest.warns(ReadWarning) as found:
        read(write("a.tsv", "dog\tis_a\tanimal\nstray\n"))
    assert [one.filename for one in found] == [__file__]
