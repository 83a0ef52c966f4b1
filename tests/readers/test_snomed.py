"""Snapshots of SNOMED CT in release format 2, made by hand: releases may not be redistributed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ontodex.errors import ReadError
from ontodex.readers import ReadWarning, read

CONCEPTS = """
22298006 1
414545008 1
64572001 1
116680003 1
363698007 1
80891009 1
999 0
"""
DESCRIPTIONS = """
1 1 22298006 en 900000000000003001 Myocardial infarction (disorder)
2 1 22298006 en 900000000000013009 Heart attack
3 1 22298006 en 900000000000013009 Cardiac infarction
4 0 22298006 en 900000000000013009 Coronary
5 1 414545008 en 900000000000003001 Ischaemic heart disease (disorder)
6 1 64572001 en 900000000000003001 Disease (disorder)
7 1 363698007 en 900000000000003001 Finding site (attribute)
8 1 80891009 en 900000000000003001 Heart structure (body structure)
9 1 22298006 nl 900000000000013009 hartinfarct
10 1 999 en 900000000000003001 Gone (disorder)
"""
RELATIONSHIPS = """
1 1 22298006 414545008 116680003
2 1 414545008 64572001 116680003
3 1 22298006 80891009 363698007
4 0 22298006 64572001 116680003
5 1 999 64572001 116680003
"""
LANGUAGE = """
1 1 900000000000509007 1 900000000000548007
2 1 900000000000509007 2 900000000000549004
3 1 900000000000509007 3 900000000000548007
4 1 900000000000508004 3 900000000000548007
5 1 900000000000508004 2 900000000000548007
"""


def table(path: Path, header: str, rows: str, width: int) -> None:
    lines = [
        "\t".join(header.split()),
        *("\t".join(row.split(" ", width - 1)) for row in rows.strip().splitlines()),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\r\n".join(lines) + "\r\n", encoding="utf-8")


@pytest.fixture
def release(tmp_path: Path) -> Path:
    snapshot = tmp_path / "release" / "Snapshot"
    terminology = snapshot / "Terminology"
    table(terminology / "sct2_Concept_Snapshot_INT_20260101.txt", "id active", CONCEPTS, 2)
    names = "id active conceptId languageCode typeId term"
    table(terminology / "sct2_Description_Snapshot-en_INT_20260101.txt", names, DESCRIPTIONS, 6)
    definition = "1 1 64572001 en 900000000000550004 A state that is not healthy."
    table(terminology / "sct2_TextDefinition_Snapshot-en_INT_20260101.txt", names, definition, 6)
    ends = "id active sourceId destinationId typeId"
    table(terminology / "sct2_Relationship_Snapshot_INT_20260101.txt", ends, RELATIONSHIPS, 5)
    table(
        terminology / "sct2_StatedRelationship_Snapshot_INT_20260101.txt",
        ends,
        "9 1 64572001 22298006 116680003",
        5,
    )
    members = "id active refsetId referencedComponentId acceptabilityId"
    table(
        snapshot / "Refset" / "Language" / "der2_cRefset_LanguageSnapshot-en_INT_20260101.txt",
        members,
        LANGUAGE,
        5,
    )
    table(
        tmp_path / "release" / "Full" / "Terminology" / "sct2_Concept_Full_INT_20260101.txt",
        "id active",
        "7 1",
        2,
    )
    return tmp_path / "release"


def test_a_release_may_be_packed(release: Path, tmp_path: Path) -> None:
    packed = shutil.make_archive(str(tmp_path / "release"), "zip", tmp_path, "release")
    graph = read(packed, on_error="raise")
    assert (graph.ids, graph.n_triples, graph.source) == (read(release).ids, 3, f"{packed}/release")


@pytest.mark.parametrize("place", [".", "Snapshot", "Snapshot/Terminology", ".."])
def test_a_release_is_read_from_any_of_its_folders(release: Path, place: str) -> None:
    graph = read(release / place, on_error="raise")
    links = {
        (graph.labels[h], graph.relation_labels[r], graph.labels[t])
        for h, r, t in graph.triples.tolist()
    }
    assert links == {
        ("Cardiac infarction", "is a", "Ischaemic heart disease"),
        ("Ischaemic heart disease", "is a", "Disease"),
        ("Cardiac infarction", "Finding site", "Heart structure"),
    }
    row = graph.ids.index("sct:22298006")
    assert graph.synonyms[row] == ("Heart attack", "Myocardial infarction")
    assert graph.definitions[graph.ids.index("sct:64572001")] == "A state that is not healthy."
    assert "sct:999" not in graph.ids


def test_names_in_another_language_and_without_sets(release: Path) -> None:
    graph = read(release, language="nl")
    assert graph.labels[graph.ids.index("sct:22298006")] == "hartinfarct"
    assert graph.labels[graph.ids.index("sct:64572001")] == "Disease"
    british = read(release, language="en-GB")
    assert british.labels[0] == "Cardiac infarction"
    assert "hartinfarct" not in british.synonyms[0]
    for path in (release / "Snapshot" / "Refset" / "Language").iterdir():
        path.unlink()
    assert read(release).labels[0] == "Myocardial infarction"


def test_lines_that_do_not_fit(release: Path) -> None:
    path = release / "Snapshot" / "Terminology" / "sct2_Relationship_Snapshot_INT_20260101.txt"
    path.write_text(path.read_text(encoding="utf-8") + "6\t1\t22298006\n", encoding="utf-8")
    with pytest.warns(ReadWarning, match="expected 5 columns"):
        assert read(release).n_triples == 3
    with pytest.raises(ReadError, match="expected 5 columns"):
        read(release, on_error="raise")
