from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ontodex.errors import ReadError
from ontodex.graph import KnowledgeGraph
from ontodex.readers import read

SAMPLES = {
    "a.tsv": b"head\trelation\ttail\ndog\tis_a\tanimal\ncat\tis_a\tanimal\n",
    "a.csv": b'dog,is_a,"animal"\ncat,is_a,animal\n',
    "entities.csv": b'id,label,synonyms,parent,eats\n1,dog,hound|"cur",2,bone\n2,animal,,,\n'
    b'3,"cat, tame",,2,bone\n',
    "a.obo": b'format-version: 1.4\n\n[Term]\nid: X:1\nname: one\nsynonym: "uno" EXACT []\n'
    b"is_a: X:2 ! two\n\n[Term]\nid: X:2\n",
    "a.nt": b"<http://x.org/a> <http://x.org/r> <http://x.org/b> .\n"
    b'<http://x.org/a> <http://x.org/n> "x"@en .\n',
    "a.ttl": b"@prefix x: <http://x.org/> .\nx:a x:r x:b ; x:n [ x:r ( x:a 1 ) ] .\n",
    "a.rdf": b'<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY x "http://x.org/">]>\n'
    b'<rdf:RDF xmlns:x="&x;" '
    b'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="&x;a">'
    b'<x:r rdf:resource="&x;b"/></rdf:Description></rdf:RDF>',
    "a.jsonld": b'{"@id": "http://x.org/a", "http://x.org/r": {"@id": "http://x.org/b"}}',
    "a.json": b'{"graphs": [{"nodes": [{"id": "X:1", "lbl": "one", "meta": '
    b'{"synonyms": [{"val": "uno"}]}}], '
    b'"edges": [{"sub": "X:1", "pred": "is_a", "obj": "X:2"}]}]}',
    "records.json": b'{"nodes": [{"id": 1, "name": "dog", "of": {"id": 2}, '
    b'"tags": ["a", "b"], "in": {"x": {"y": 1}}}, '
    b'{"name": "pets", "children": [{"name": "cat"}]}], '
    b'"links": [{"source": 1, "target": 2, "key": "eats"}]}',
    "wikidata.json": b'[{"id": "Q1", "type": "item", "labels": {"en": {"value": "dog"}}, '
    b'"aliases": {}, "claims": '
    b'{"P279": [{"rank": "normal", "mainsnak": '
    b'{"datavalue": {"type": "wikibase-entityid", "value": {"id": "Q2"}}}}]}}]',
    "a.yaml": b"classes:\n  dog: {is_a: &p pet, slots: [age, name]}\n  pet:\n"
    b"    description: kept\nslots:\n  age: *p\n",
    "a.gmt": b"one\tna\tA\tB\nGO:1\ttwo\tA,1.0\n",
    "a.gpad": b"!gpad-version: 2.0\nMGI:MGI:1\tNOT\tRO:0002327\tGO:1\tX:1\tE:1\n"
    b"MGI:2\t\tRO:1|part_of\tGO:1\tX:1\tE:1\n",
    "a.xml": b'<c><d id="1"><name>dog</name><of ref="2"/><d><name>pup</name><tags><tag>a</tag>'
    b"</tags></d></d>"
    b'<d id="2"/></c>',
    "a.ofn": b"Prefix(:=<http://x.org/>)\nOntology(<http://x.org>\n"
    b"SubClassOf(:a ObjectSomeValuesFrom(:r :b))\n"
    b'AnnotationAssertion(rdfs:label :a "a"@en)\n)\n',
    "a.db": (Path(__file__).parents[1] / "reliability" / "corpus" / "unknown-sqlite").read_bytes()[
        1:
    ],
    "a.jsonl": b'{"head": "a", "relation": "r", "tail": {"id": "b"}}\n'
    b'{"head": "c", "relation": "r", "tail": "a"}\n',
}


@pytest.mark.parametrize("name", SAMPLES)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_whatever_a_file_holds_it_is_read_or_refused(name: str, data: st.DataObject) -> None:
    content = bytearray(SAMPLES[name])
    for _ in range(data.draw(st.integers(0, 3))):
        start = data.draw(st.integers(0, len(content)))
        end = start + data.draw(st.integers(0, 8))
        content[start:end] = data.draw(
            st.one_of(
                st.binary(max_size=4),
                st.sampled_from([b"\n", b"\t", b'"', b"[", b"null", b"1", b"{}", b"&x;", b"\\"]),
            )
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(bytes(content))
        try:
            graph = read(path, on_error="skip")
        except ReadError:
            return
    assert isinstance(graph, KnowledgeGraph)
    assert graph.n_entities
