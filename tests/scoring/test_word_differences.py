"""Differences of names by words."""

from __future__ import annotations

import math

import pytest

from ontodex.scoring.word_differences import WordDifferences, words_of


@pytest.mark.parametrize(
    ("text", "name", "same"),
    [
        ("Tumours of the Skin", "skin tumour", True),
        ("skin tumuor", "skin tumour", True),  # swapped letters, and no name has the word
        ("skin tumur", "skin tumour", True),
        ("skin rumors", "skin tumour", False),
        ("type 2", "type 3", False),
        ("mellitis", "mellitus", True),
        ("mollitas", "mellitus", False),
    ],
)
def test_order_plural_and_one_letter_do_not_count(text, name, same):
    found = WordDifferences([("skin tumour", "type 2", "type 3", "mellitus")]).between(text, [name])
    assert bool(found[3]) == same


def test_weights_are_inverse_document_frequencies():
    names = WordDifferences([("lung pain",), ("lung",), ("acute cough",)])
    weights = names.between("lung disease", ["acute lung"])
    disease, acute = math.log(4 / 1) + 1, math.log(4 / 2) + 1
    assert weights.tolist() == pytest.approx([disease, acute, 0, 0, 1, 0])


def test_the_name_with_the_most_usual_difference_is_compared():
    pairs = [(f"{part} neoplasm", f"tumor of {part}") for part in ("lung", "bone", "skin")]
    names = WordDifferences([*pairs, ("acute pain",), ("chronic pain",)])
    usual = names.between("neoplasm of the liver", ["liver tumor", "liver"])
    assert usual[2] == pytest.approx(math.log1p(3))
    assert names.between("acute pain", ["chronic pain"])[2] == 0


def test_words_are_without_stop_words_accents_and_plural():
    assert words_of("Diseases of the Naïve (T-cells)") == {"disease", "naive", "t", "cell"}
    assert words_of("abscess of the humerus") == {"abscess", "humerus"}
