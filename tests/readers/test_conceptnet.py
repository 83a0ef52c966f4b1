"""Assertions of ConceptNet (rows as its releases have them)."""

from __future__ import annotations

import pytest

from ontodex.errors import ReadError
from ontodex.graph.notices import ReadWarning
from ontodex.readers import read

ABOUT = '{"dataset": "/d/wiktionary/en", "license": "cc:by-sa/4.0", "weight": 1.0}'


def assertions(*links: tuple[str, str, str]) -> str:
    return "".join(
        f"/a/[{relation}/,{start}/,{end}/]\t{relation}\t{start}\t{end}\t{ABOUT}\n"
        for relation, start, end in links
    )


LINKS = assertions(
    ("/r/IsA", "/c/en/guide_dog/n", "/c/en/dog"),
    ("/r/dbpedia/genre", "/c/en/lassie", "/c/en/drama"),
    ("/r/Synonym", "/c/fr/chien", "/c/en/dog"),
    ("/r/IsA", "/c/fr/chien", "/c/fr/animal"),
    ("/r/ExternalURL", "/c/en/dog", "http://dbpedia.org/resource/Dog"),
)


def test_concepts_in_the_language_that_is_wanted_are_read(write) -> None:
    path = write("conceptnet-assertions-5.7.0.csv", LINKS)
    with pytest.warns(ReadWarning, match="left out 3 assertions"):
        graph = read(path)
    assert list(graph.labels) == ["guide dog", "dog", "lassie", "drama"]
    assert list(graph.relation_labels) == ["Is a", "genre"]
    assert graph.hierarchy().links.tolist() == [[0, 1]]
    with pytest.warns(ReadWarning, match="left out 4 assertions"):
        assert list(read(path, language="fr").labels) == ["chien", "animal"]


def test_a_language_that_it_does_not_have_is_an_error(write) -> None:
    with pytest.raises(ReadError, match=r"concepts in 'de', found 5 of others; give language="):
        read(write("a.csv", LINKS), language="de")


def test_lines_that_are_no_assertions_are_faults(write) -> None:
    with pytest.warns(
        ReadWarning, match=r"a\.csv:2: expected an assertion of five columns, found '/r/IsA'"
    ):
        graph = read(write("a.csv", assertions(("/r/IsA", "/c/en/cat", "/c/en/pet")) + "/r/IsA\n"))
    assert graph.skipped == 1
    assert len(graph.triples) == 1
