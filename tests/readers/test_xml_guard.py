from __future__ import annotations

import time

import pytest

from ontodex.errors import ReadError
from ontodex.readers import read
from tests.graph_strategies import says

ROOT = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="&ex;"
  xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<rdf:Description rdf:about="&ex;dog"><ex:chases rdf:resource="&ex;cat"/><rdfs:label>%s</rdfs:label>
</rdf:Description>
</rdf:RDF>"""
FINE = '<!ENTITY ex "http://example.org/">'


def document(
    entities: str,
    label: str = "dog",
    before: str = '<?xml version="1.0"?>\n<!-- made by hand -->\n',
) -> str:
    return f"{before}<!DOCTYPE rdf:RDF [ {entities} ]>\n{ROOT % label}"


def test_the_entities_that_protege_writes(write) -> None:
    graph = read(write("a.owl", document(FINE)), on_error="raise")
    assert says(graph)["known"] == {("ex:dog", "ex:chases", "ex:cat")}
    assert graph.prefixes["ex"] == "http://example.org/"


BOMB = (
    FINE
    + '<!ENTITY a "lol lol lol lol ">'
    + "".join(
        f'<!ENTITY {name} "{f"&{inner};" * 10}">'
        for inner, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (document(BOMB, "&i;"), "holds others"),
        (document(FINE + f'<!ENTITY big "{"x" * 5000}">', "&big;" * 100), "at most"),
        (
            document(FINE + '<!ENTITY leak SYSTEM "file:///etc/passwd">', "&leak;"),
            "external entity",
        ),
        (
            document(FINE + '<!ENTITY % leak SYSTEM "http://127.0.0.1:9/x.dtd"> %leak;'),
            "external entity",
        ),
        (
            document(FINE).replace("rdf:RDF [", 'rdf:RDF SYSTEM "http://127.0.0.1:9/x.dtd" ['),
            "external DOCTYPE",
        ),
        (document(FINE, before="<!-- " + "x" * (2 << 20) + " -->"), "inside the document"),
        (
            document(FINE).replace("</rdf:RDF>", '<!DOCTYPE x [<!ENTITY y "z">]></rdf:RDF>'),
            "inside the document",
        ),
        (document(FINE + "<!ENTITY broken>"), "well-formed"),
        (document("".join(f'<!ENTITY e{n} "x">' for n in range(2000)) + FINE), "at most 1000"),
        (f'<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [ {FINE}', "near the start"),
    ],
)
@pytest.mark.parametrize("policy", ["warn", "raise"])
def test_hostile_declarations_are_refused_at_once(
    write, content: str, message: str, policy: str
) -> None:
    path = write("a.rdf", content)
    start = time.process_time()
    with pytest.raises(ReadError, match=message):
        read(path, on_error=policy)
    assert time.process_time() - start < 2


def test_a_declaration_far_into_the_document(write) -> None:
    filler = '<rdf:Description rdf:about="http://example.org/x"/>\n' * 40_000
    late = document(FINE).replace("</rdf:RDF>", filler + '<!DOCTYPE x [<!ENTITY y "z">]></rdf:RDF>')
    with pytest.raises(ReadError, match="inside the document"):
        read(write("a.rdf", late))
