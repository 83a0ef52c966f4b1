"""Tables of triples."""

from __future__ import annotations

import gzip
import random
import tracemalloc

import pytest

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning
from ontodex.readers import read
from ontodex.readers.table_files import freebase_words
from tests.graph_strategies import says

KNOWN = {("ex:dog", "is_a", "ex:animal")}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "ex:dog\tis_a\tex:animal"),
        ("a.tsv", "head\trelation\ttail\nex:dog\tis_a\tex:animal\n"),
        ("a.tsv", "id\tSubject\tPredicate\tObject\nx\tex:dog\tis_a\tex:animal\n"),
        ("a.tsv", "child\trelation\tparent\nex:dog\tis_a\tex:animal\n"),
        ("a.tsv", "Entity1\tType\tEntity2\nex:dog\tis_a\tex:animal\n"),
        ("a.tsv", "TARGET\tSOURCE\tTYPE\nex:animal\tex:dog\tis_a\n"),
        ("a.csv", "node1,node2,type,relation\nex:dog,ex:animal,x,is_a\n"),
        ("a.csv", "obj,pred,subj\nex:animal,is_a,ex:dog\n"),
        ("a.csv", "From,To,type\nex:dog,ex:animal,is_a\n"),
        ("a.csv", "ex:dog,is_a,ex:animal\n"),
        ("a.csv", "head;relation;tail\nex:dog;is_a;ex:animal\n"),
        ("a.csv", "ex:dog;is_a;ex:animal\n"),
        ("a.csv", 'From;To;type;why\nex:dog;ex:animal;is_a;"it barks; a dog does, mostly"\n'),
        ("a.csv", "From,To,type,why\nex:dog,ex:animal,is_a,it barks; a dog does\n"),
        ("a.csv", 'head,relation,tail\n"ex:dog","is_a","ex:animal"\n'),
        ("a.tsv", '"head"\t"relation"\t"tail"\n"ex:dog"\t"is_a"\t"ex:animal"\n'),
        ("a.csv", ":START_ID(Pet-ID),role,:END_ID(Pet-ID),:TYPE\nex:dog,x,ex:animal,is_a\n"),
        ("a.csv", "sourceId,targetId,relationType\nex:dog,ex:animal,is_a\n"),
        ("a.sif", "source\tmetaedge\ttarget\nex:dog\tis_a\tex:animal\n"),
        ("a.csv", "relation,x_name,y_name\nis_a,ex:dog,ex:animal\n"),
        ("a.csv", "id,label,source,target,type\n1,an edge,ex:dog,ex:animal,is_a\n"),
        ("a.tsv", "\ufeffex:dog\tis_a\tex:animal\r\n\r\n"),
        ("a.tsv", "subject_id\tpredicate_id\tobject_id\nex:dog\tis_a\tex:animal\n"),
        ("a.tsv", "id\trelation\ttarget_label\nex:dog\tis_a\tex:animal\n"),
        ("a.csv", "id,property,value_id\nex:dog,is_a,ex:animal\n"),
        ("a.txt", " ex:dog \tis_a\tex:animal\nex:dog\tis_a\tex:animal\n"),
    ],
)
def test_layouts(write, name: str, content: str) -> None:
    graph = read(write(name, content), on_error="raise")
    assert says(graph)["known"] == KNOWN
    assert graph.relation_labels[0] == "is a"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"one\ttwo", "expected 3 columns, found 2"),
        (b"a\tb\tc\td", "expected 3 columns, found 4"),
        (b"a\t\tc", "empty cell"),
        ("caf\u00e9\tr\tb".encode("latin-1"), "expected UTF-8, found byte 0xe9 in column 4"),
        (b"a\0\tr\tb", "NUL byte"),
    ],
)
def test_a_bad_line_is_left_out_and_named(write, bad: bytes, message: str) -> None:
    path = write("a.tsv", b"a\tr\tb\n" + bad + b"\nb\tr\tc\n")
    graph = read(path, on_error="skip")
    assert says(graph)["known"] == {("a", "r", "b"), ("b", "r", "c")}
    assert graph.skipped == 1
    with pytest.raises(ReadError, match=message) as error:
        read(path, on_error="raise")
    assert error.value.line == 2


def test_a_table_of_neither_kind_is_refused_with_the_header_expected(write) -> None:
    path = write("a.csv", "piano,wood,black,house\nflute,silver,white,house\n")
    with pytest.raises(
        ReadError, match="name head, relation and tail in a header, or id, label and parent"
    ):
        read(path)


def test_freebase_relations_are_put_in_words(write) -> None:
    graph = read(write("a.tsv", "/m/1\t/people/person/place_of_birth\t/m/2\n"))
    assert graph.relation_labels[0] == "place of birth person people"
    assert freebase_words("/a/b./b/c") == "c b a"


def test_many_triples_in_little_memory(write) -> None:
    draw = random.Random(0)
    rows = (
        f"ex:{draw.randrange(60_000)}\tr{draw.randrange(20)}\tex:{draw.randrange(60_000)}\n"
        for _ in range(300_000)
    )
    path = write("a.tsv.gz", gzip.compress("".join(rows).encode(), 1))
    tracemalloc.start()
    try:
        graph = read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert graph.n_triples > 299_000
    assert peak < 80e6


def test_comments_before_a_table_cost_nothing(write) -> None:
    rows = "ex:dog\tis_a\tex:animal\n"
    notes = "#pets:\n# of\tmine\n"
    for content in (
        notes + rows,
        f"{notes}#a\tb\tc\nhead\trelation\ttail\n{rows}",
        f"{notes}#head\trelation\ttail\n{rows}",
    ):
        assert says(read(write("a.tsv", content), on_error="raise"))["known"] == KNOWN
    graph = read(write("a.tsv", f"#a\tr\tb\n{rows}"))  # a comment does not have three columns
    assert says(graph)["known"] == {("#a", "r", "b"), *KNOWN}


def test_edges_of_kgtk(write) -> None:
    content = "id\tnode1\tlabel\tnode2\tnode1;label\nE1\tQ1\tP31\tQ5\tdog\nE2\tQ1\tP279\tQ2\tdog\n"
    said = says(read(write("edges.tsv", content), on_error="raise"))
    assert said["known"] == {("Q1", "P31", "Q5"), ("Q1", "P279", "Q2")}
    assert said["entities"]["Q1"][0] == "dog"


def test_edges_of_kgx(write) -> None:
    header = (
        "id\toriginal_subject\tpredicate\toriginal_object\tcategory\trelation\tnegated\t"
        "subject\tobject\n"
    )
    rows = "u:1\t\tbiolink:has_phenotype\t\tbiolink:Association\t\t\tMGI:7\tMP:1\n"
    denied = "u:2\t\tbiolink:has_phenotype\t\tbiolink:Association\t\ttrue\tMGI:7\tMP:2\n"
    with pytest.warns(ReadWarning, match="left out 1 line"):
        said = says(read(write("edges.tsv", header + rows + denied), on_error="warn"))
    assert said["known"] == {("MGI:7", "biolink:has_phenotype", "MP:1")}


@pytest.mark.parametrize("title", ["My pets", "My pets\t\t"])
def test_a_title_above_a_header_is_no_fault(write, title: str) -> None:
    rows = "ex:dog\tis_a\tex:animal\n"
    assert (
        says(read(write("a.tsv", f"{title}\nhead\trelation\ttail\n{rows}"), on_error="raise"))[
            "known"
        ]
        == KNOWN
    )
    graph = read(
        write("b.tsv", f"{title}\n{rows}"), on_error="skip"
    )  # without one it may be a damaged line
    assert (says(graph)["known"], graph.skipped) == (KNOWN, 1)


def test_kinds_are_a_hierarchy_in_triples_too(write) -> None:
    graph = read(
        write("a.tsv", "dog\tkind of\tpet\ncat\tis_a_kind_of\tpet\nmouse\tis_a_kind_of\tpet\n")
    )
    assert len(graph.hierarchy().links) == 3


def test_concepts_and_relations_of_conceptnet_are_put_in_words(write) -> None:
    graph = read(
        write(
            "a.tsv",
            "/c/en/cat/n\t/r/UsedFor\t/c/en/animal/n/wn/animal\n/c/en/a_cat\t/r/IsA\t/c/en/cat/n\n",
        )
    )
    assert list(graph.labels) == ["cat", "animal", "a cat"]
    assert list(graph.relation_labels) == ["Used for", "Is a"]
    assert len(graph.hierarchy().links) == 1


@pytest.mark.parametrize(
    "header", ["source,target", "source,target,weight", "start,x,end", "head_id,tail_id,x,y"]
)
def test_ends_without_a_relation_are_refused(write, header: str) -> None:
    names = header.split(",")
    row = ",".join(f"c{at}" for at in range(len(names)))
    with pytest.raises(
        ReadError,
        match=r"expected a relation beside both ends, found .*; add a column named relation",
    ):
        read(write("a.csv", f"{header}\n{row}\n"), on_error="skip")
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ReadError, match="expected a relation beside both ends"):
        read(pandas.DataFrame({name: ["a"] for name in names}))


LABELLED = {"Q1": ("dog", set(), ""), "Q2": ("animal", set(), ""), "Q3": ("cat", {"puss"}, "")}


@pytest.mark.parametrize(
    "header",
    [
        "head,head_label,relation,relation_label,tail,tail_label",
        "subject_id,subject_label,predicate_id,predicate_label,object_id,object_label",
        "x_id,x_name,relation,relation_name,y_id,y_name",
        "sourceId,sourceName,type,typeName,targetId,targetName",
    ],
)
def test_labels_beside_the_ends(write, header: str) -> None:
    pandas = pytest.importorskip("pandas")
    rows = ["Q1,dog,P279,is a,Q2,animal", "Q3,cat,P279,is a,Q2,animal", "Q3,puss,P279,,Q1,"]
    cells = [row.split(",") for row in rows]
    frame = pandas.DataFrame(cells, columns=header.split(","))
    for source in (write("a.csv", "\n".join([header, *rows])), frame):
        said = says(read(source, on_error="raise"))
        assert (said["entities"], said["relations"]) == (LABELLED, {"P279": "is a"})
        assert said["known"] == {("Q1", "P279", "Q2"), ("Q3", "P279", "Q2"), ("Q3", "P279", "Q1")}


def test_mappings_that_do_not_hold_are_left_out(write) -> None:
    header = (
        "#curie_map:\n#  A: http://a/\nsubject_id\tpredicate_id\tpredicate_modifier\tobject_id\n"
    )
    graph = read(
        write("a.sssom.tsv", header + "A:1\tr\t\tA:2\nA:1\tr\tNot\tA:3\n"), on_error="raise"
    )
    assert (says(graph)["known"], list(graph.ids)) == ({("A:1", "r", "A:2")}, ["A:1", "A:2"])


@pytest.mark.parametrize(
    ("column", "no", "yes"),
    [("negated", "True", "False"), ("qualifier", "NOT|contributes_to", "contributes_to")],
)
def test_what_is_denied_is_no_fact(write, column: str, no: str, yes: str) -> None:
    pandas = pytest.importorskip("pandas")
    lines = [
        f"subject,predicate,object,{column}",
        f"D:1,has,H:1,{yes}",
        f"D:1,has,H:2,{no}",
        "D:2,has,H:1,",
    ]
    frame = pandas.DataFrame([line.split(",") for line in lines[1:]], columns=lines[0].split(","))
    for source in (write("a.csv", "\n".join(lines)), frame):
        with pytest.warns(ReadWarning, match=r"left out 1 line\(s\) that say what does not hold"):
            assert says(read(source))["known"] == {("D:1", "has", "H:1"), ("D:2", "has", "H:1")}
        assert says(read(source, negated=True))["known"] == {("D:1", "has", "H:2")}
    rows = (
        f"id,name,{column},go_id\nP:1,Ann,{yes},G:1\nP:1,Ann,{no},G:2\nP:2,Bob,{yes},G:1\n"
        f"P:3,Eve,,G:2\n"
    )
    with pytest.warns(ReadWarning, match=r"left out 1 line\(s\) that say what does not hold"):
        said = says(read(write("b.csv", rows)))
    links = {(head, tail) for head, relation, tail in said["known"] if relation == "go_id"}
    assert links == {("P:1", "G:1"), ("P:2", "G:1"), ("P:3", "G:2")}
    assert said["entities"]["P:1"][0] == "Ann"
    denied = says(read(write("c.csv", rows.replace("P:3,Eve,", f"P:3,Eve,{no}")), negated=True))[
        "known"
    ]
    assert {(head, tail) for head, relation, tail in denied if relation == "go_id"} == {
        ("P:1", "G:2"),
        ("P:3", "G:2"),
    }


def test_a_line_of_ours_is_known_without_the_lines_above_the_header(write) -> None:
    header = (
        "subject_id\tsubject_label\tpredicate_id\tobject_id\tmapping_justification\tmapping_tool\n"
    )
    rows = ["a b\tX", "c\tY"]
    made = "semapv:SemanticSimilarityThresholdMatching", "semapv:ManualMappingCuration"
    lines = [
        f"ontodex:{row.replace(' ', '%20')}\tbroader\tontodex:top\t{how}\tontodex\n"
        for row, how in zip(rows, made, strict=True)
    ]
    path = write("a.tsv", header + "".join(lines))
    with pytest.warns(ReadWarning) as warned:
        said = says(read(path))
    assert said["known"] == {("c", "broader", "top")}
    assert (said["entities"]["a b"][0], said["entities"]["c"][0]) == ("a b", "Y")
    assert ["nobody confirmed" in str(one.message) for one in warned] == [True, False]
    assert "the lines above the header, which begin with #, are gone" in str(warned[1].message)
    pandas = pytest.importorskip("pandas")
    with pytest.warns(ReadWarning, match="nobody confirmed") as warned:
        assert says(read(pandas.read_csv(path, sep="\t"))) == said
    assert len(warned) == 1


def test_labels_alone_are_ends_and_an_audit_is_no_table_of_entities(write) -> None:
    path = write(
        "a.csv", "head_label,relation,tail_label\nBench,broader,Furniture\nSofa,broader,Furniture\n"
    )
    wanted = {("Bench", "broader", "Furniture"), ("Sofa", "broader", "Furniture")}
    assert says(read(path, on_error="raise"))["known"] == wanted
    audited = (
        "subject_id\tsubject_label\tobject_id\tobject_label\tverdict\n"
        "A:1\tdog\tA:2\tplant\tdoubtful\n"
    )
    with pytest.raises(
        ReadError,
        match=r"expected a relation beside both ends.*of an audit, give the table in SSSOM",
    ):
        read(write("b.tsv", audited))
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ReadError, match="expected a relation beside both ends"):
        read(pandas.read_csv(write("b.tsv", audited), sep="\t"))


def test_mappings_are_read_with_the_prefixes_above_them_and_negated_if_those_are_wanted(
    write,
) -> None:
    header = "#curie_map:\n#  A: http://a/\n#  b.c: 'http://b/'\n#license: x\n#  no: http://no/\n"
    rows = (
        "subject_id\tpredicate_id\tpredicate_modifier\tobject_id\nA:1\tr\t\tb.c:2\n"
        "A:1\tr\tNot\tA:3\n"
    )
    path = write("a.sssom.tsv", header + rows)
    graph = read(path, on_error="raise")
    assert dict(graph.prefixes) == {"A": "http://a/", "b.c": "http://b/"}
    with pytest.warns(ReadWarning, match=r"left out 1 line\(s\) that say what does not hold"):
        iris = read(write("b.tsv", "http://a/1\tr\thttp://b/2\n"), path)
    assert says(iris)["known"] == {("http://a/1", "r", "http://b/2")}
    assert says(read(path, on_error="raise", negated=True))["known"] == {("A:1", "r", "A:3")}
    assert says(read(write("c.tsv", "A:1\tr\tA:2\n"), negated=True))["known"] == {
        ("A:1", "r", "A:2")
    }
    with pytest.raises(
        ReadError, match="expected links that do not hold, found none; SSSOM marks them by Not"
    ):
        read(write("d.sssom.tsv", rows.replace("Not", "")), negated=True)


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        (
            "drug,effect,gene\nA,inhibits,B\nA,inhibits,C\n",
            r"the first line, 'drug \| effect \| gene', has nothing in common",
        ),
        (
            "country,city,in\nA,B,C\nD,E,C\nF,G,C\n",
            "found 4 relations in 4 triples; if the first line is a header",
        ),
    ],
)
def test_an_unknown_header_is_reported(write, content: str, warning: str) -> None:
    with pytest.warns(ReadWarning, match=warning):
        read(write("a.csv", content))


def test_lines_of_sentences_are_refused_with_their_format(write) -> None:
    with pytest.raises(ReadError, match="read lines that are sentences by --format sentences"):
        read(write("a.txt", "A man plays guitar.\nA dog runs.\n"))


@pytest.mark.parametrize(
    "nothing", ["sssom:NoTermFound", "semapv:NoTermFound", "owl:Nothing", "NA", "UNMAPPED"]
)
def test_no_term_is_no_entity(write, nothing: str) -> None:
    head = "subject_id\tsubject_label\tpredicate_id\tobject_id\tmapping_justification\n"
    rows = [("A:1", "fever", "B:1"), ("A:2", "itching ear", nothing), (nothing, "", "B:9")]
    content = head + "".join(
        f"{one}\t{label}\tskos:exactMatch\t{other}\tsemapv:ManualMappingCuration\n"
        for one, label, other in rows
    )
    with pytest.warns(
        ReadWarning, match=r"left out 2 line\(s\) whose subject or object stands for no"
    ):
        graph = read(write("a.sssom.tsv", content))
    assert says(graph)["known"] == {("A:1", "skos:exactMatch", "B:1")}
    assert {*graph.ids} == {"A:1", "B:1"}
