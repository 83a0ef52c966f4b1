import gzip

import pytest

from ontodex.errors import ReadError
from ontodex.graph import GraphBuilder
from ontodex.trainers.data.corpus import read_corpus


def test_lines_of_texts_are_sentences_zipped_or_not(tmp_path):
    plain, zipped, other = tmp_path / "a.txt", tmp_path / "b.txt.gz", tmp_path / "c.md"
    plain.write_text("One  dog.\r\n\n  \nTwo dogs.\n", encoding="utf-8")
    zipped.write_bytes(gzip.compress(b"Drei Hunde.\n"))
    other.write_text("Four dogs.\n", encoding="utf-8")
    assert read_corpus(plain, zipped) == ["One dog.", "Two dogs.", "Drei Hunde."]
    assert read_corpus(other, format="sentences") == ["Four dogs."]


def test_sentences_of_a_graph_are_labels_and_definitions():
    builder = GraphBuilder("pets")
    builder.entity("ex:dog", "dog", [], "It barks. It is loyal.")
    assert read_corpus(builder.build()) == ["dog", "It barks.", "It is loyal."]


def test_a_table_that_ends_in_tsv_is_a_graph(tmp_path):
    path = tmp_path / "pets.tsv"
    path.write_text("head\trelation\ttail\ndog\tis_a\tanimal\n", encoding="utf-8")
    assert sorted(read_corpus(path)) == ["animal", "dog"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "expected sentences, found none"),
        (b" \n\n", "expected sentences, found none"),
        (b"\x7fELF\x00\x00\x01", "found a binary file"),
        ("größe\n".encode("latin-1"), r"byte 0xf6 in column 3"),
        ("größe\n".encode("utf-16"), "UTF-16"),
    ],
)
def test_files_that_are_no_text_are_named(tmp_path, content, said):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=said):
        read_corpus(path)


def test_lines_that_are_no_text_are_left_out_and_counted(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"One dog.\n" + "größe\n".encode("latin-1") + b"Two dogs.\n")
    with pytest.warns(UserWarning, match="1 faulty part"):
        assert read_corpus(path) == ["One dog.", "Two dogs."]
    with pytest.raises(
        ReadError,
        match=r"a\.txt:2: expected UTF-8, found byte 0xf6 in column 3, byte 11 of the text",
    ):
        read_corpus(path, on_error="raise")
