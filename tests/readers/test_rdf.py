"""Documents of RDF, in every syntax."""

from __future__ import annotations

import gzip

import pyoxigraph
import pytest
import rdflib

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning
from ontodex.graph.prefixes import expand
from ontodex.graph.writers.nquads import write_nquads
from ontodex.readers import read
from tests.graph_strategies import says

DATA = """@prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
ex:dog rdfs:label "Hund"@de, "dog"@en, "plain" ; skos:altLabel "hound"@en, "Köter"@de ; \
skos:definition "barks" .
ex:cat rdfs:label "Katze"@de, "cat" ; rdfs:comment "chat"@fr .
ex:dog ex:chases ex:cat ; ex:age 3 ; ex:knows [ ex:name "x" ] ; a ex:Animal .
ex:chases a owl:ObjectProperty ; rdfs:label "runsAfter" .
ex:old owl:deprecated true ; ex:chases ex:cat .
ex:mouse rdfs:label "mouse"@en .
<http://example.org/> a owl:Ontology ; owl:imports <http://127.0.0.1:9/never.owl> .
"""


SENTENCE_SPACES = {
    "known": {("ex:dog", "ex:chases", "ex:cat"), ("ex:dog", "rdf:type", "ex:Animal")},
    "entities": {
        "ex:dog": ("dog", {"hound", "plain"}, "barks"),
        "ex:cat": ("cat", set(), "chat"),
        "ex:Animal": ("Animal", set(), ""),
        "ex:mouse": ("mouse", set(), ""),
    },
    "alternatives": {},
    "relations": {"ex:chases": "runsAfter", "rdf:type": "type"},
    "valid": set(),
    "test": set(),
}


def test_plain_data_in_turtle(write) -> None:
    assert says(read(write("a.ttl", DATA), on_error="raise")) == SENTENCE_SPACES


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.nt", pyoxigraph.RdfFormat.N_TRIPLES),
        ("a.nq", pyoxigraph.RdfFormat.N_QUADS),
        ("a.trig", pyoxigraph.RdfFormat.TRIG),
        ("a.rdf", pyoxigraph.RdfFormat.RDF_XML),
        ("a.jsonld", pyoxigraph.RdfFormat.JSON_LD),
        ("plain", pyoxigraph.RdfFormat.RDF_XML),
        ("lines", pyoxigraph.RdfFormat.N_TRIPLES),
    ],
)
def test_every_syntax_says_the_same(write, name: str, format: pyoxigraph.RdfFormat) -> None:
    quads = (quad.triple for quad in pyoxigraph.parse(DATA, format=pyoxigraph.RdfFormat.TURTLE))
    content = pyoxigraph.serialize(quads, format=format, prefixes={"ex": "http://example.org/"})
    graph = read(write(name, content), on_error="raise")
    long = {name.replace("ex:", "http://example.org/") for name in SENTENCE_SPACES["entities"]}
    assert set(graph.ids) in (set(SENTENCE_SPACES["entities"]), long)
    assert set(graph.labels) == {entry[0] for entry in SENTENCE_SPACES["entities"].values()}
    assert graph.n_triples == 2


def test_labels_are_those_that_rdflib_finds(write) -> None:
    reference = rdflib.Graph().parse(data=DATA, format="turtle")
    graph = read(write("a.ttl", DATA), on_error="skip")
    compared = 0
    for name, label in zip(graph.ids, graph.labels, strict=True):
        node = rdflib.URIRef(name.replace("ex:", "http://example.org/"))
        found = {(text.language, str(text)) for text in reference.objects(node, rdflib.RDFS.label)}
        for language in ("en", None, "de"):
            if texts := {text for tag, text in found if tag == language}:
                assert label in texts
                compared += 1
                break
    assert compared == 3  # dog, cat and mouse; chases is a relation


def test_named_graphs_are_read(write) -> None:
    content = "<http://x.org/a> <http://x.org/r> <http://x.org/b> <http://x.org/g> .\n"
    assert read(write("a.nq", content)).n_triples == 1


@pytest.mark.parametrize(
    "bad", [b"broken line", b'<http://x.org/a> <http://x.org/r> "\xff" .', b"<a> <b>\0 <c> ."]
)
@pytest.mark.parametrize("name", ["a.nt", "a.nq"])
def test_lines_go_on_after_a_fault(write, name: str, bad: bytes) -> None:
    good = b"<http://x.org/a> <http://x.org/r> <http://x.org/%d> .\n"
    path = write(name, good % 1 + bad + b"\n" + good % 2)
    with pytest.warns(ReadWarning, match=f"{name}:2: expected a statement"):
        graph = read(path)
    assert (graph.n_triples, graph.skipped) == (2, 1)
    with pytest.raises(ReadError) as error:
        read(path, on_error="raise")
    assert error.value.line == 2


RDF_XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:x="http://x.org/" xml:base="{base}">
<rdf:Description rdf:ID="{id}"><x:r rdf:resource="#b c"/></rdf:Description></rdf:RDF>"""


@pytest.mark.parametrize(
    ("name", "content", "head", "tail"),
    [
        (
            "a.nt",
            "<http://x.org/a b> <http://x.org/r> <http://x.org/{c}> .",
            "http://x.org/a b",
            "http://x.org/{c}",
        ),
        (
            "a.ttl",
            "<http://x.org/a%zz> <http://x.org/r> <http://x.org/b> .",
            "http://x.org/a%zz",
            "http://x.org/b",
        ),
        (
            "a.rdf",
            RDF_XML.format(base="http://y.org/", id="GO%3A1+2"),
            "http://y.org/#GO%3A1+2",
            "http://y.org/#b c",
        ),
        ("a.rdf", RDF_XML.format(base="pets.owl", id="1a"), "pets.owl#1a", "pets.owl#b c"),
    ],
)
def test_names_that_are_no_iris_are_read_as_they_stand(
    write, tmp_path, name: str, content: str, head: str, tail: str
):
    path = write(name, content)
    with pytest.warns(ReadWarning, match="strictly no IRIs are read as they stand"):
        graph = read(path)
    assert [expand(one, graph.prefixes) or one for one in graph.ids] == [head, tail]
    write_nquads(graph, tmp_path / "again.nq")
    again = read(tmp_path / "again.nq", on_error="raise")
    assert (list(again.ids), again.n_triples) == (list(graph.ids), 1)
    with pytest.raises(ReadError):
        read(path, on_error="raise")


@pytest.mark.parametrize("name", ["a.ttl", "a.nt"])
@pytest.mark.parametrize("letter", ["\\u003E", "\\u000A", "\\u005C"])
def test_a_name_that_cannot_be_written_out_is_a_fault(write, name: str, letter: str) -> None:
    with pytest.raises(ReadError):
        read(write(name, f"<http://x.org/a{letter}D b> <http://x.org/r> <http://x.org/c> ."))


@pytest.mark.parametrize("policy", ["raise", "warn", "skip"])
@pytest.mark.parametrize("name", ["a.ttl", "a.trig"])
def test_half_a_document_never_passes_for_a_whole(write, name: str, policy: str) -> None:
    path = write(name, DATA + "ex:a ex:b oops .\nex:b ex:c ex:d .\n")
    with pytest.raises(ReadError, match="2 of 13 lines were not read") as error:
        read(path, on_error=policy)
    assert error.value.line == 12


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.ttl", DATA.encode().replace(b"barks", b"caf\xe9")),
        (
            "a.rdf",
            b'<?xml version="1.0"?>'
            b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><open></rdf:RDF>',
        ),
        ("a.jsonld", b'{"@id": "http://x.org/a", "http://x.org/r": '),
        ("a.jsonld", b'{"@context": "http://127.0.0.1:9/context", "@id": "http://x.org/a"}'),
        ("a.json", b"[" * 100_000),
        ("a.json", b'{"some": "json"}'),
        ("a.json", b'{"graphs": [{"nodes": 1, "edges": {"sub": 2}}, 3]}'),
    ],
)
def test_broken_documents(write, name: str, content: bytes) -> None:
    with pytest.raises(ReadError):
        read(write(name, content), on_error="skip")


def test_relative_names_do_not_tell_where_the_file_lay(write) -> None:
    assert read(write("my file.ttl", "<#a> <#r> <#b> .")).ids[0] == "file:///my%20file.ttl#a"


def test_a_context_elsewhere_is_not_fetched_and_that_is_said(write) -> None:
    path = write(
        "a.jsonld", '{"@context": "https://schema.org/", "@id": "http://x.org/a", "name": "a"}'
    )
    with pytest.raises(ReadError, match="Nothing is fetched: write the context into the document"):
        read(path)


@pytest.mark.parametrize("begin", ["", "\n", '<?xml version="1.0"?>\n'])
def test_a_document_without_a_type_is_known_by_its_first_element(write, begin: str) -> None:
    text = f"""{begin}<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
  xmlns:x="http://x.org/" xmlns:owl="http://www.w3.org/2002/07/owl#">
  <owl:Ontology/>
  <x:Pet rdf:about="http://x.org/rex"><x:owner rdf:resource="http://x.org/ann"/></x:Pet>
</rdf:RDF>"""
    assert ("x:rex", "x:owner", "x:ann") in says(read(write("a.rdf", text), on_error="raise"))[
        "known"
    ]
    lines = "<http://x.org/a> <http://x.org/p> <http://x.org/b> .\n"
    assert read(write("a.rdf", lines), on_error="raise").n_triples == 1


def test_a_document_that_only_holds_rdf_is_no_rdf(write) -> None:
    rdf = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.org/"'
    inside = (
        '<rdf:RDF><x:Pet rdf:about="http://x.org/rex">'
        '<x:owner rdf:resource="http://x.org/ann"/></x:Pet></rdf:RDF>'
    )
    model = (
        f'<sbml {rdf}><note>{inside}</note><species id="a" name="water"/>'
        f'<species id="b" name="acid" of="a"/></sbml>'
    )
    assert {"a", "b"} <= set(read(write("model.xml", model)).ids)
    for name, content in (
        ("a.xml", inside.replace("<rdf:RDF", f"<!-- pets --><rdf:RDF {rdf}")),
        (
            "b.xml",
            '<!DOCTYPE rdf:RDF [<!ENTITY x "pets">]>'
            + inside.replace("<rdf:RDF", f"<rdf:RDF {rdf}"),
        ),
        (
            "c.xml",
            f'<x:Pet {rdf} rdf:about="http://x.org/rex">'
            f'<x:owner rdf:resource="http://x.org/ann"/></x:Pet>',
        ),
    ):
        assert ("x:rex", "x:owner", "x:ann") in says(read(write(name, content), on_error="raise"))[
            "known"
        ]


@pytest.mark.parametrize("name", ["a.ttl", "a.trig"])
def test_a_name_that_only_turtle_takes_is_a_name(write, name: str) -> None:
    graph = read(write(name, "@prefix x: <http://x.org/> . x:a x:p x:b\U000e01ef ."))
    assert list(graph.ids) == ["x:a", "x:b\U000e01ef"]


@pytest.mark.parametrize(
    "name", ["hp[1].ttl", "100%.ttl", "a{b}.ttl", "a^b.ttl", "a b.ttl", "q#1.ttl"]
)
def test_any_file_name_will_do(write, name: str) -> None:
    ids = list(read(write(name, "<#a> <http://x.org/r> <#b> ."), on_error="raise").ids)
    assert all(identifier.startswith("file:///") for identifier in ids)
    assert len({identifier.rpartition("#")[0] for identifier in ids}) == 1


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_gzip_file_that_was_cut_off_is_no_smaller_graph(write, share: float) -> None:
    triples = "".join(
        f"<http://x.org/e{at:05}> <http://x.org/r> <http://x.org/f{at:05}> .\n"
        for at in range(20_000)
    )
    whole = gzip.compress(triples.encode())
    path = write("cut.ttl.gz", whole[: int(share * len(whole))])
    with pytest.raises(ReadError, match="a damaged one"):
        read(path, on_error="skip")
