import numpy as np
import pytest

from ontodex.errors import ReadError
from ontodex.trainers.data.sts import read_sts


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "sts.csv",
            'sent1,sent2,score\n"a, b",c,1.5\nd,e,0\n',
            [("a, b", "c", 1.5), ("d", "e", 0.0)],
        ),
        ("semrel.tsv", "id\tsent1\tsent2\tscore\nx-1\ta\tb\t0.64\n", [("a", "b", 0.64)]),
        (
            "sick.txt",
            "pair_ID\tsentence_A\tsentence_B\tlabel\trelatedness_score\n1\ta\tb\tNEUTRAL\t4.5\n",
            [("a", "b", 4.5)],
        ),
        ("simlex.tsv", "old\tnew\t1.58\n", [("old", "new", 1.58)]),
        ("odd.tsv", "one\tother\thow much\nold\tnew\t10\n", [("old", "new", 10.0)]),
    ],
)
def test_columns_go_by_name_or_come_first(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    found = read_sts(path)
    assert list(zip(found.ones, found.others, found.scores.tolist(), strict=True)) == expected


def test_scores_are_numbers_not_strings(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("a\tb\t10\nc\td\t9\n", encoding="utf-8")
    np.testing.assert_array_equal(np.argsort(read_sts(path).scores), [1, 0])


@pytest.mark.parametrize("line", ["a\tb", "a\tb\thigh", "a\tb\tnan", "a\tb\tinf"])
def test_faulty_lines_are_named_or_left_out(tmp_path, line):
    path = tmp_path / "words.tsv"
    path.write_text(f"old\tnew\t1.58\n{line}\n", encoding="utf-8")
    with pytest.raises(ReadError, match=r"words\.tsv:2: expected two texts and a number"):
        read_sts(path)
    assert len(read_sts(path, on_error="skip")) == 1


def test_a_file_without_pairs_is_named(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("sent1\tsent2\tscore\n", encoding="utf-8")
    with pytest.raises(ReadError, match="expected pairs of texts"):
        read_sts(path)
    with pytest.raises(ReadError, match="found none of this name"):
        read_sts(tmp_path / "nothing.tsv")
