from __future__ import annotations

import fastobo
import pytest

from ontodex.errors import CycleError, ReadError
from ontodex.graph import ReadWarning, merge
from ontodex.readers import read
from ontodex.readers.ontologies.obo import _loads
from tests.graph_strategies import says

PETS = """format-version: 1.4
idspace: ex http://example.org/ "examples"
ontology: pets

[Term]
id: PET:1
name: animal

[Term]
id: PET:2
name: dog
def: "An animal that \\"barks\\"." [PMID:1]
synonym: "hound" EXACT []
synonym: "Canis" BROAD LATIN []
xref: OTHER:9
is_a: PET:1 {source="x"} ! animal
relationship: part_of PET:3 ! pack

[Term]
id: PET:3
name: pack
intersection_of: PET:1
intersection_of: has_member PET:2

[Term]
id: PET:4
name: old dog
is_obsolete: true
is_a: PET:1

[Term]
id: http://example.org/puppy
name: puppy
is_a: PET:4
is_a: PET:2

[Typedef]
id: part_of
name: is part of

[Instance]
id: PET:9
name: Rex
instance_of: PET:2
"""


def test_everything_that_is_read(write) -> None:
    graph = read(write("pets.obo", PETS), on_error="raise")
    said = says(graph)
    assert said["known"] == {
        ("PET:2", "is_a", "PET:1"),
        ("PET:2", "part_of", "PET:3"),
        ("PET:3", "has_member", "PET:2"),
        ("PET:3", "is_a", "PET:1"),
        ("ex:puppy", "is_a", "PET:2"),
        ("PET:9", "instance_of", "PET:2"),
    }
    assert said["relations"] == {
        "is_a": "is a",
        "part_of": "is part of",
        "has_member": "has member",
        "instance_of": "instance of",
    }
    assert said["entities"]["PET:2"] == ("dog", {"hound", "Canis"}, 'An animal that "barks".')
    assert "PET:4" not in said["entities"]
    assert graph.prefixes["ex"] == "http://example.org/"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_bom_and_crlf(write, mark: str, end: str) -> None:
    graph = read(write("pets.obo", mark + PETS.replace("\n", end)), on_error="raise")
    assert graph.n_entities == 5


FAULTS = {
    'def: "An "unescaped" quote." []': "expected an OBO clause",
    "is_a:": "expected an OBO clause",
    "no clause at all": "expected an OBO clause",
    "relationship: is part of PET:3": "expected an OBO clause",
    'xref: A B:1 x {source="MONDO:equivalentTo"}': "expected an OBO clause",
}


@pytest.mark.parametrize("bad", FAULTS)
def test_a_bad_line_costs_one_line(write, bad: str) -> None:
    path = write("pets.obo", PETS.replace("xref: OTHER:9", bad))
    with pytest.warns(ReadWarning, match="1 faulty"):
        graph = read(path)
    assert ("PET:2", "is_a", "PET:1") in says(graph)["known"]
    assert graph.skipped == 1
    with pytest.raises(ReadError, match=FAULTS[bad]) as error:
        read(path, on_error="raise")
    assert error.value.line == 15


def test_faults_in_many_places(write) -> None:
    bad = PETS.replace("ontology: pets", "date: 99:99").replace(
        "[Typedef]\nid: part_of", "[Typedef]\nid:"
    )
    bad += (
        '\n[Term]\nid: PET:2\nname: dog again\nsynonym: "bow-wow" EXACT []\n\n[Term]\n'
        "name: nameless\n"
    )
    graph = read(
        write("pets.obo", bad.encode() + b"\n[Term]\nid: PET:10\nname: caf\xe9\n"), on_error="skip"
    )
    assert graph.skipped == 4
    said = says(graph)
    assert said["entities"]["PET:2"] == (
        "dog",
        {"hound", "Canis", "bow-wow"},
        'An animal that "barks".',
    )
    assert said["entities"]["PET:10"] == ("PET:10", set(), "")
    assert said["relations"]["part_of"] == "part of"


def test_a_reference_without_a_frame_is_kept(write) -> None:
    graph = read(
        write("a.obo", "[Term]\nid: X:1\nname: one\nis_a: Y:2\nrelationship: r Y:2\n"),
        on_error="raise",
    )
    assert says(graph)["known"] == {("X:1", "is_a", "Y:2"), ("X:1", "r", "Y:2")}
    assert (graph.labels[1], graph.skipped) == ("Y:2", 0)


BASE = """[Term]
id: ZB:1
name: kitchen tool

[Term]
id: ZB:5
name: garden tool

[Term]
id: ZB:6
name: rake
is_a: ZB:5 ! garden tool
"""
HOE = """[Term]
id: ZB:7
name: hoe
is_a: ZB:5 ! garden tool
intersection_of: ZB:5
intersection_of: part_of UBERON:1
relationship: has_quality PATO:2
union_of: CHEBI:3
"""


def test_an_ontology_in_several_files_has_no_faults(write) -> None:
    graph = read(write("base.obo", BASE), write("new.obo", HOE), on_error="raise")
    assert (graph.labels[graph.ids.index("ZB:5")], graph.skipped) == ("garden tool", 0)
    assert {("ZB:7", "is_a", "ZB:5"), ("ZB:7", "part_of", "UBERON:1")} < says(graph)["known"]
    turtle = """@prefix obo: <http://purl.obolibrary.org/obo/> .
        @prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        obo:ZB_7 a owl:Class ; rdfs:label "hoe" ; rdfs:subClassOf obo:ZB_5 ."""
    as_turtle = read(write("base.obo", BASE), write("new.ttl", turtle), on_error="raise")
    plain = HOE.partition("intersection_of")[0]
    as_obo = read(write("base.obo", BASE), write("plain.obo", plain), on_error="raise")
    assert says(as_obo)["known"] == says(as_turtle)["known"]


OLD = """format-version: 1.2
date: 99:99

[Term]
id: CHEBI:1
name: acetone
def: "A ketone." [NIST Chemistry WebBook:]
synonym: "propanone" RELATED [NIST Chemistry WebBook:]
synonym: "acetone \\"pure\\"" EXACT IUPAC_NAME [NIST Chemistry WebBook:67-64-1 \
"CAS, a number", KEGG COMPOUND:]
synonym: "dimethyl ketone" [ChEBI:]
synonym: "pyroacetic spirit"
exact_synonym: "2-propanone" [KEGG COMPOUND:C00207]
narrow_synonym: "nail polish remover" []
xref: NIST Chemistry WebBook:67-64-1 "CAS Registry Number"
xref_analog: KEGG COMPOUND:C00207 "KEGG COMPOUND"
alt_id: Old ChEBI:9
is_a: CHEBI:2 ! ketone
use_term: CHEBI:7
use_term: CHEBI:8
star_rating: 3
creation_date: yesterday
xref: two words

[Term]
id: CHEBI:2
name: ketone
star_rating: 2
"""


def test_lines_of_older_versions_say_what_they_say(write) -> None:
    path = write("chebi.obo", OLD)
    graph = read(path, on_error="raise")
    assert graph.skipped == 0
    assert says(graph)["entities"]["CHEBI:1"] == (
        "acetone",
        {
            *("propanone", 'acetone "pure"', "dimethyl ketone", "pyroacetic spirit"),
            *("2-propanone", "nail polish remover"),
        },
        "A ketone.",
    )
    assert says(graph)["known"] == {("CHEBI:1", "is_a", "CHEBI:2")}
    assert says(graph)["alternatives"] == {"CHEBI:1": {"Old ChEBI:9"}}


def test_ids_with_a_space_in_the_prefix_are_equivalents(write) -> None:
    text = """treat-xrefs-as-equivalent: Old ChEBI

[Term]
id: X:1
name: one
equivalent_to: Two Words:2
xref: A B:3 {source="MONDO:equivalentTo"}
"""
    graph = read(write("a.obo", text), on_error="raise")
    assert says(graph)["alternatives"] == {"X:1": {"Two Words:2", "A B:3"}}


def test_a_circle_is_read_and_listed(write) -> None:
    frames = "".join(f"[Term]\nid: X:{n}\nname: n{n}\nis_a: X:{(n + 1) % 3}\n\n" for n in range(3))
    graph = read(write("a.obo", frames), on_error="raise")
    with pytest.raises(CycleError, match="X:0 -> X:1 -> X:2 -> X:0"):
        graph.hierarchy()


def test_a_header_alone(write) -> None:
    with pytest.raises(ReadError, match="at least one entity"):
        read(write("a.obo", "format-version: 1.4\nontology: none\n"))


def test_values_that_are_terms_are_links(write) -> None:
    values = (
        "RO:0002161 PET:1",
        "seeAlso PET:3",
        'RO:1 "PET:1" xsd:string',
        "RO:1 PET:4",
        "RO:1 PET:77",
        "RO:1 PET:2",
    )
    lines = "".join(f"property_value: {value}\n" for value in values)
    graph = read(
        write("pets.obo", PETS.replace("xref: OTHER:9\n", f"xref: OTHER:9\n{lines}")),
        on_error="raise",
    )
    added = says(graph)["known"] - says(read(write("plain.obo", PETS)))["known"]
    assert added == {("PET:2", "RO:0002161", "PET:1")}


def test_one_term(write) -> None:
    graph = read(write("a.obo", "[Term]\nid: X:1\nname: one\n"))
    assert (graph.n_entities, graph.n_triples) == (1, 0)


def test_a_definition_outlives_its_references(write) -> None:
    path = write(
        "a.obo", '[Term]\nid: X:1\nname: one\ndef: "A \\"first\\" thing." [JA:Two Words, x\n'
    )
    graph = read(path, on_error="skip")
    assert (graph.definitions[0], graph.skipped) == ('A "first" thing.', 0)


def test_lines_that_are_comments_alone_are_passed_over(write) -> None:
    commented = "! first of all\n" + PETS.replace(
        "name: dog\n", "  ! within a frame\nname: dog ! at the end\n\t! x\n"
    )
    commented = commented.replace("id: PET:3\n", "! before the id\nid: PET:3\n") + "! at last\n"
    read_plain, read_commented = (
        read(write(f"{n}.obo", text), on_error="raise") for n, text in enumerate([PETS, commented])
    )
    assert says(read_commented) == says(read_plain)


def test_a_panic_of_the_parser_costs_one_line(write, monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):  # what pyo3 raises, by name: it cannot be imported
        pass

    parse = fastobo.loads

    def loads(text: str, threads: int = 0) -> object:
        if "part_of PET:3" in text:
            raise PanicException("entered unreachable code")
        return parse(text, threads=threads)

    monkeypatch.setattr(fastobo, "loads", loads)
    path = write("pets.obo", PETS)
    graph = read(path, on_error="skip")
    assert (graph.n_entities, graph.skipped) == (5, 1)
    with pytest.raises(
        ReadError,
        match=r"pets\.obo:17: expected an OBO clause, found 'relationship: "
        r"part_of PET:3 ! pack' \(the parser failed",
    ):
        read(path, on_error="raise")
    monkeypatch.setattr(fastobo, "loads", parse)
    with pytest.raises(ValueError, match="the parser failed"):
        _loads("[Term]\nid: X:1\n! a comment\n")


ALTERNATIVE = """[Term]
id: T:2
name: heart disease
alt_id: T:22

[Term]
id: T:3
name: angina
is_a: T:22

[Term]
id: T:8
name: obsolete thing
is_obsolete: true

[Term]
id: T:9
name: obsolete angina
is_obsolete: true
replaced_by: T:3
"""


def test_alternative_ids_stand_for_their_terms(write) -> None:
    ontology = write("a.obo", ALTERNATIVE)
    assert says(read(ontology, on_error="raise"))["known"] == {("T:3", "is_a", "T:2")}
    notes = write("notes.tsv", "G:1\tcauses\tT:22\nG:2\tcauses\tT:9\n")
    graph = read(ontology, notes, on_error="raise")
    assert list(graph.ids) == ["T:2", "T:3", "G:1", "G:2"]
    assert {("G:1", "causes", "T:2"), ("G:2", "causes", "T:3")} < says(graph)["known"]
    assert says(graph)["alternatives"] == {"T:2": {"T:22"}, "T:3": {"T:9"}}
    before = read(notes, ontology, on_error="raise")
    assert list(before.ids) == ["G:1", "T:2", "G:2", "T:3"]
    assert says(before) == says(graph) == says(merge(read(ontology), read(notes)))


def test_what_leads_to_its_own_alternative_id_is_no_link(write) -> None:
    links = (
        "[Term]\nid: T:4\nname: pain\nalt_id: T:44\nis_a: T:44\nrelationship: causes T:4\n"
        "relationship: after T:44\n"
    )
    assert says(read(write("a.obo", links), on_error="raise"))["known"] == {
        ("T:4", "causes", "T:4")
    }


def test_an_alternative_id_with_a_frame_of_its_own_is_a_term(write) -> None:
    graph = read(
        write("a.obo", ALTERNATIVE + "\n[Term]\nid: T:22\nname: heart attack\n"), on_error="raise"
    )
    assert says(graph)["known"] == {("T:3", "is_a", "T:22")}


def test_that_there_is_none_is_no_link_and_a_union_is_above_its_members(write) -> None:
    text = """format-version: 1.4

[Term]
id: CL:1
name: anucleate cell
relationship: has_part GO:1 {minCardinality="0", maxCardinality="0"} ! nucleus
relationship: has_part GO:2 {cardinality="0"}
relationship: develops_from GO:3 {all_only="true"}
relationship: has_part GO:4 {minCardinality="1"}
relationship: adjacent_to GO:4 {all_some="true", all_only="true"}
intersection_of: CL:0
intersection_of: has_part GO:5 {cardinality="0"}

[Term]
id: CL:0
name: cell
union_of: CL:1
union_of: CL:9
"""
    for number in range(1, 6):
        text += f"\n[Term]\nid: GO:{number}\nname: part {number}\n"
    graph = read(write("cells.obo", text), on_error="raise")
    assert says(graph)["known"] == {
        ("CL:1", "has_part", "GO:4"),
        ("CL:1", "adjacent_to", "GO:4"),
        ("CL:1", "is_a", "CL:0"),
        ("CL:9", "is_a", "CL:0"),
    }
