"""Hostile files: name, content, and the required outcome of reading them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator

RDF = (
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"'
)
OWL = 'xmlns:owl="http://www.w3.org/2002/07/owl#"'
OBO = "format-version: 1.4\n\n[Term]\nid: A:1\nname: a\n"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
SYNONYM = "http://www.geneontology.org/formats/oboInOwl#hasExactSynonym"
DEEP = 10_000
MANY = 1_000_000

REFUSED = "refused: "
EITHER = ""
"""The file may be refused or read, within the limits of time and memory."""

Hostile = tuple[str, Callable[[], bytes], str]


def bomb(repeated: bytes, start: bytes = b"", size: int = 1 << 30) -> bytes:
    """Return a gzip file of a gigabyte."""
    block = gzip.compress(repeated * ((1 << 20) // len(repeated)), 9)
    return gzip.compress(start, 9) + block * (size >> 20)


def nested(
    before: str, opening: str, inside: str, closing: str, after: str, depth: int = DEEP
) -> bytes:
    return (before + opening * depth + inside + closing * depth + after).encode()


def entity_bomb(levels: int, size: int) -> bytes:
    entities = ['<!ENTITY e0 "aaaaaaaaaa">']
    entities += [f'<!ENTITY e{level} "{f"&e{level - 1};" * size}">' for level in range(1, levels)]
    return document(f"<rdfs:label>&e{levels - 1};</rdfs:label>", "".join(entities))


def document(inside: str, entities: str = "") -> bytes:
    doctype = f"<!DOCTYPE rdf:RDF [{entities}]>" if entities else ""
    return (
        f"{doctype}<rdf:RDF {RDF} {OWL}>"
        f'<rdf:Description rdf:about="http://a/b">{inside}</rdf:Description></rdf:RDF>'
    ).encode()


def literals(size: int = 10_000_000) -> Iterator[Hostile]:
    text = "x" * size
    graph = json.dumps({"graphs": [{"nodes": [{"id": "A:1", "lbl": text}], "edges": []}]})
    yield "literal.ttl", lambda: f'<http://a/b> <{LABEL}> "{text}" .\n'.encode(), REFUSED
    yield "literal.nt", lambda: f'<http://a/b> <{LABEL}> "{text}" .\n'.encode(), "lines of at most"
    yield (
        "literal.owl",
        lambda: document(f"<rdfs:label>{text}</rdfs:label>"),
        "names and definitions of at most",
    )
    yield "literal.jsonld", lambda: json.dumps({"@id": "http://a/b", LABEL: text}).encode(), REFUSED
    yield "literal.json", lambda: graph.encode(), "names and definitions of at most"
    yield "literal.obo", lambda: f'{OBO}def: "{text}" []\n'.encode(), "lines of at most"
    yield "literal.tsv", lambda: f"a\tr\t{text}\n".encode(), "lines of at most"


def synonyms() -> Iterator[Hostile]:
    listed = ", ".join(f'"s {number}"' for number in range(MANY))
    clauses = "".join(f'synonym: "s {number}" EXACT []\n' for number in range(MANY))
    lines = "".join(f'<http://a/b> <{SYNONYM}> "s {number}" .\n' for number in range(MANY))
    yield (
        "synonyms.ttl",
        lambda: f"<http://a/b> <{SYNONYM}> {listed} .".encode(),
        "synonyms, found more",
    )
    yield "synonyms.obo", lambda: (OBO + clauses).encode(), "frames of at most"
    yield "synonyms.nt", lambda: lines.encode(), "synonyms, found more"


def nestings() -> Iterator[Hostile]:
    fact = "<http://a/b> <http://p> "
    node, term = "[ <http://p> ", "<<( <http://a> <http://p> "
    yield "nodes.ttl", lambda: nested(fact, node, '"x"', " ]", " .\n"), EITHER
    yield "lists.ttl", lambda: nested(fact, "( ", '"x"', " )", " .\n"), EITHER
    yield "terms.ttl", lambda: nested(fact, term, '"x"', " )>>", " .\n", 200_000), REFUSED
    yield "terms.nt", lambda: nested(fact, term, '"x"', " )>>", " .\n", 100_000), REFUSED
    yield "nodes.trig", lambda: nested("<http://g> { " + fact, node, '"x"', " ]", " }\n"), EITHER
    yield "elements.owl", lambda: nested(*_elements()), EITHER
    yield (
        "objects.jsonld",
        lambda: nested('{"@context":{"p":"http://p"},', '"p":{', '"p":"x"', "}", "}"),
        EITHER,
    )
    yield (
        "arrays.jsonld",
        lambda: nested('{"@context":{"p":"http://p"},"p":', "[", "", "]", "}"),
        EITHER,
    )
    yield (
        "contexts.jsonld",
        lambda: nested('{"@context":', "[", "", "]", ',"http://p":"x"}'),
        EITHER,
    )
    yield (
        "children.json",
        lambda: nested('{"id": "a", "children": [', '{"id": "b", "children": [', "", "]}", "]}"),
        REFUSED,
    )
    yield (
        "records.json",
        lambda: nested('[{"id": "a", "b": ', '{"id": "b", "b": ', "1", "}", "}]"),
        REFUSED,
    )
    yield "arrays.json", lambda: nested('{"graphs":', "[", "", "]", "}"), REFUSED
    yield "lists.yaml", lambda: nested("a: ", "[", "", "]", "\n"), REFUSED
    yield (
        "qualifiers.obo",
        lambda: nested(OBO + "relationship: r A:2 ", '{a="b", ', "", "}", "\n"),
        EITHER,
    )
    yield "references.obo", lambda: nested(OBO + 'def: "x" ', "[", "", "]", "\n"), EITHER


def _elements() -> tuple[str, str, str, str, str]:
    opening, closing = "<rdf:Description><rdfs:p>", "</rdfs:p></rdf:Description>"
    return f"<rdf:RDF {RDF}>", opening, "x", closing, "</rdf:RDF>"


def products() -> Iterator[Hostile]:
    """Small files whose inferred links would fill the memory or take unlimited time."""
    prefixes = "".join(
        f"@prefix {name}: <http://www.w3.org/{place}#> .\n"
        for name, place in (
            ("owl", "2002/07/owl"),
            ("rdfs", "2000/01/rdf-schema"),
            ("xl", "2008/05/skos-xl"),
        )
    )
    shared = "".join(
        f"_:n{at} owl:intersectionOf (_:n{at + 1} _:n{at + 1} _:n{at + 1}) .\n" for at in range(30)
    )
    classes = (
        f"<a:a> a owl:Class ; rdfs:subClassOf _:n0 .\n"
        f"{shared}_:n30 owl:intersectionOf (<a:b> <a:c>) .\n"
    )
    listed = ", ".join(f'"n{at}"' for at in range(5000))
    forms = f"<a:l> xl:literalForm {listed} .\n"
    labelled = "".join(f"<a:c{at}> xl:altLabel <a:l> .\n" for at in range(5000))
    ends = "".join(
        f"<a:p> rdfs:domain <a:c{at}> ; rdfs:range <a:c{at}> .\n<a:c{at}> a owl:Class .\n"
        for at in range(5000)
    )
    yield "intersections.ttl", lambda: (prefixes + classes).encode(), "read: "
    yield (
        "forms.ttl",
        lambda: (prefixes + forms + labelled).encode(),
        "facts to follow from a statement",
    )
    yield (
        "ends.ttl",
        lambda: (prefixes + "<a:c1> rdfs:subClassOf <a:c0> .\n" + ends).encode(),
        "facts to follow from a",
    )


def tables() -> Iterator[Hostile]:
    """Tables with many candidates of foreign keys: each column is compared with each table."""
    many = {
        f"table {letter}{other}": [
            {
                "id": f"{other}{at}{letter}",
                **{f"c{column}": f"w{at * column % 97}" for column in range(10)},
            }
            for at in range(100)
        ]
        for letter in "abcdefghij"
        for other in "abcdefghij"
    }
    yield "tables.json", lambda: json.dumps(many).encode(), EITHER
    lists = {f"l{at}": [{"id": 1, "name": f"n{at}", "of": "x"}] for at in range(10_000)}
    yield "lists.json", lambda: json.dumps(lists).encode(), EITHER
    maps = {f"m{at}": {f"a{at}": {}, f"b{at}": {}} for at in range(20_000)}
    yield "maps.json", lambda: json.dumps(maps).encode(), EITHER


def bombs() -> Iterator[Hostile]:
    beyond = "at most 100 times its size"
    yield "lines.tsv.gz", lambda: bomb(b"aa\tr\tb\n"), beyond
    yield "line.tsv.gz", lambda: bomb(b"x"), REFUSED
    yield "zeros.nt.gz", lambda: bomb(b"\0", b'<http://a> <http://p> "'), REFUSED
    yield "literal.ttl.gz", lambda: bomb(b"x", b'<http://a/b> <http://p> "'), beyond
    yield "space.owl.gz", lambda: bomb(b" ", f"<rdf:RDF {RDF}>".encode()), beyond
    yield "space.json.gz", lambda: bomb(b" ", b'{"graphs":'), beyond
    yield "frames.obo.gz", lambda: bomb(b"[Term]\nid: A:1\nname: a\n\n", OBO.encode()), beyond


def entities() -> Iterator[Hostile]:
    yield "laughs.owl", lambda: entity_bomb(10, 10), "expected entities of plain text"
    aliases = "".join(f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]\n" for at in range(1, 30))
    yield (
        "laughs.yaml",
        lambda: f"a0: &a0 [x]\n{aliases}".encode(),
        "aliases that make no more than",
    )
    yield (
        "quadratic.owl",
        lambda: document(f"<rdfs:label>{'&a;' * 4000}</rdfs:label>", f'<!ENTITY a "{"x" * 500}x">'),
        "entities of at most 500 bytes",
    )
    yield (
        "file.owl",
        lambda: document("<rdfs:label>&a;</rdfs:label>", '<!ENTITY a SYSTEM "SECRET">'),
        "external entity",
    )
    yield (
        "parameter.owl",
        lambda: document("", '<!ENTITY % a SYSTEM "http://127.0.0.1:PORT/a.dtd"> %a;'),
        "external entity",
    )
    yield (
        "doctype.owl",
        lambda: b'<!DOCTYPE a SYSTEM "http://127.0.0.1:PORT/a.dtd">' + document(""),
        "no external DOC",
    )


def remote() -> Iterator[Hostile]:
    place = "http://127.0.0.1:PORT/x"
    kind = '<rdfs:subClassOf rdf:resource="http://a/c"/>'
    yield (
        "import.owl",
        lambda: document(f'{kind}<owl:imports rdf:resource="{place}.owl"/>'),
        "read: ",
    )
    yield (
        "import.obo",
        lambda: f"format-version: 1.4\nimport: {place}.obo\n\n[Term]\nid: A:1\n".encode(),
        "read: ",
    )
    yield (
        "context.jsonld",
        lambda: f'{{"@context": "{place}.json", "@id": "http://a", "p": "x"}}'.encode(),
        REFUSED,
    )


def others() -> Iterator[Hostile]:
    attributes = " ".join(f'rdfs:p{number}="x"' for number in range(200_000))
    prefixes = "".join(f"@prefix p{number}: <http://a/{number}/> .\n" for number in range(100_000))
    steers = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e"
    named = f"A:1\tr\tA:2\n{steers}\tr\tA:1\n"
    sparse = [{"id": str(at), f"k{at % 900}": "x"} for at in range(200_000)]
    yield (
        "keys.json",
        lambda: json.dumps([{f"k{at}": at} for at in range(200_000)]).encode(),
        "records of the same keys",
    )
    yield "sparse.json", lambda: json.dumps(sparse).encode(), "records of the same keys"
    yield (
        "attributes.owl",
        lambda: f"<rdf:RDF {RDF}><rdf:Description {attributes}/></rdf:RDF>".encode(),
        REFUSED,
    )
    yield (
        "prefixes.ttl",
        lambda: (prefixes + "<http://a> <http://p> <http://b> .\n").encode(),
        EITHER,
    )
    yield "steering.tsv", lambda: named.encode(), "read: "
    yield "zip.tsv", lambda: b"PK\x03\x04" + bytes(range(256)) * 400, REFUSED
    yield "empty.obo", lambda: b"", REFUSED


def hostile_files() -> Iterator[Hostile]:
    """Yield (name, content, text that the outcome must contain)."""
    for family in (literals, synonyms, nestings, products, tables, bombs, entities, remote, others):
        yield from family()
