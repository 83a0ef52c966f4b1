"""``ontodex inspect`` from the command line, as a process."""

import pytest
import yaml

import ontodex
from ontodex.readers import read

PETS = """id,name,kind,home,born,keeper,remark
P1,Rex,dog,yard,2019,Ann,old friend
P2,Tom,cat,house,2020,Ann,mouser
P3,Ida,dog,house,2018,Bob,rare
P4,Kit,cat,yard,2021,Bob,grey
"""
COMPANIES = "id,name,country\n1,Alpha,DE\n2,Beta,FR\n3,Gamma,DE\n4,Dot,FR\n"
FILMS = "id,title,company_id\n1,Alien,1\n2,Heat,1\n3,Solo,2\n"


def columns_in(report):
    """Return what each column becomes: ``{table: {column: what}}`` of a printed report."""
    tables, columns = {}, {}
    for line in report.splitlines():
        if line.endswith((": entities", ": triples")):
            columns = tables.setdefault(line.rpartition(":")[0], {})
        elif line.startswith("  ") and line[2] != " ":
            name, _, becomes = line.strip().partition("  ")
            columns[name] = becomes.strip()
    return tables


@pytest.fixture
def build(shell, tmp_path, tiny_encoder):
    """Build an index with ``ontodex build``; return the fingerprint of its graph."""

    def run(*arguments):
        index = tmp_path / "built.odx"
        status, _, err = shell(
            "build", *arguments, "-o", index, "--encoder", tiny_encoder, "--no-train",
            "--no-structure", "--no-hierarchy", "--no-entailment", "--device", "cpu", "-q",
        )  # fmt: skip
        assert status == 0, err
        with ontodex.open(index) as engine:
            return engine.graph.fingerprint

    return run


def test_the_columns_of_a_csv_of_entities(shell, write):
    status, out, err = shell("inspect", write("pets.csv", PETS))
    assert (status, out.splitlines()[0].endswith("pets.csv: entities")) == (0, True), err
    (columns,) = (found for name, found in columns_in(out).items() if name.endswith("pets.csv"))
    assert {name: columns[name] for name in PETS.split("\n", 1)[0].split(",")} == {
        "id": "id",
        "name": "label",
        "kind": "relation",
        "home": "relation",
        "born": "left out: numbers or dates",
        "keeper": "relation",
        "remark": "left out: texts that few rows share",
    }
    assert "    P3 Ida: kind dog; home house; keeper Bob\n" in out
    assert out.endswith("pets.csv: 10 entities, 3 relations, 12 triples\n")
    (warning,) = err.splitlines()
    assert warning.startswith("warning: ")
    assert "pets.csv: left out born (numbers or dates), remark (" in warning


def test_inspecting_writes_nothing_without_an_output(shell, write, tmp_path):
    path = write("pets.csv", PETS)
    assert shell("inspect", path)[0] == 0
    assert [*tmp_path.iterdir()] == [path]


def test_a_written_mapping_gives_the_graph_that_was_inspected(shell, write, tmp_path, build):
    path, mapping = write("pets.csv", PETS), tmp_path / "mapping.yaml"
    status, report, err = shell("inspect", path, "-o", mapping)
    assert status == 0, err
    inspected = ontodex.inspect(path).graph
    by_mapping = read(path, mapping=mapping, on_error="raise")
    assert by_mapping.fingerprint == inspected.fingerprint
    assert build(path, "--mapping", mapping) == inspected.fingerprint
    assert shell("inspect", path, "--mapping", mapping)[:2] == (0, report)


def test_an_edited_mapping_changes_the_graph(shell, write, tmp_path, build):
    path, mapping = write("pets.csv", PETS), tmp_path / "mapping.yaml"
    assert shell("inspect", path, "-o", mapping)[0] == 0
    (table,) = yaml.safe_load(mapping.read_text("utf-8"))
    assert (table["id"], table["label"], table["ignored"]) == (
        "id",
        "name",
        {"born": "numbers or dates", "remark": "texts that few rows share"},
    )
    del table["ignored"]["remark"]
    table["definition"] = "remark"
    mapping.write_text(yaml.safe_dump([table]), "utf-8")
    graph = read(path, mapping=mapping)
    assert graph.definitions[graph.find("P3")[0]] == "rare"
    assert build(path, "--mapping", mapping) == graph.fingerprint
    assert graph.fingerprint != ontodex.inspect(path).graph.fingerprint
    status, out, err = shell("inspect", path, "--mapping", mapping)
    assert status == 0, err
    assert ("  remark  definition\n" in out, "remark" in err) == (True, False)


def test_two_joined_tables(shell, write, tmp_path, build):
    companies, films = write("companies.csv", COMPANIES), write("films.csv", FILMS)
    mapping = tmp_path / "mapping.yaml"
    status, out, err = shell("inspect", companies, films, "-o", mapping)
    assert status == 0, err
    assert "companies:…, films:…" in err
    found = {name.rpartition("/")[2]: columns for name, columns in columns_in(out).items()}
    assert found["films.csv"]["company_id"] == "relation; key of companies (id)"
    assert found["companies.csv"]["country"] == "relation"
    for line in ("  ids begin with companies:\n", "  ids begin with films:\n"):
        assert line in out
    assert "    films:3 Solo: company companies:2\n" in out
    assert out.endswith(": 9 entities, 2 relations, 7 triples\n")
    by_table = {one["table"]: one for one in yaml.safe_load(mapping.read_text("utf-8"))}
    assert by_table["films"]["keys"] == {"company_id": ["companies", "id"]}
    graph = read(companies, films, mapping=mapping, on_error="raise")
    assert graph.fingerprint == ontodex.inspect(companies, films).graph.fingerprint
    assert build(companies, films, "--mapping", mapping) == graph.fingerprint
    film, company = graph.find("films:3")[0], graph.find("companies:2")[0]
    assert (graph.labels[film], graph.labels[company]) == ("Solo", "Beta")
    assert graph.outgoing(film)[1].tolist() == [company]


def test_a_format_without_tables_says_so(shell, write, tmp_path):
    path = write("organs.obo", "[Term]\nid: X:1\nname: heart\nis_a: X:2\n")
    status, out, err = shell("inspect", path)
    assert (status, err) == (0, "")
    assert out.startswith("no tables: ")
    assert out.endswith("organs.obo: 2 entities, 1 relations, 1 triples\n")


@pytest.mark.parametrize(
    ("name", "content", "found", "remedy"),
    [
        ("nowhere.csv", None, "found nothing of this name", "check the path"),
        ("a.xlsx", b"PK\x03\x04garbage", "found a damaged archive", "save its tables as .xlsx"),
        ("a.bin", b"\x00\x01\x02\x03\xff", "found something else", "--format"),
        ("a.ttl", b"@prefix : <http://x/> .\n:a :b ", "a.ttl:2: expected Turtle", "Mend the line"),
    ],
)
def test_a_source_that_cannot_be_read(shell, write, tmp_path, name, content, found, remedy):
    path, mapping = tmp_path / name, tmp_path / "mapping.yaml"
    if content is not None:
        write(name, content)
    status, out, err = shell("inspect", path, "-o", mapping)
    assert (status, out) == (1, "")
    assert err.startswith("ontodex: ")
    for part in (name, "expected", found, remedy):
        assert part in err
    assert ("Traceback" in err, mapping.exists()) == (False, False)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--format", "cvs"), 2, "found 'cvs'"),
        (("--mapping", "MAPPING"), 2, "unknown key 'definitoin'; did you mean 'definition'"),
        (("--mapping", "NOWHERE.yaml"), 1, "NOWHERE.yaml: expected a readable mapping"),
    ],
)
def test_wrong_options(shell, write, arguments, status, message):
    path, mapping = write("pets.csv", PETS), write("mapping.yaml", "definitoin: remark\n")
    found = shell("inspect", path, *(mapping if one == "MAPPING" else one for one in arguments))
    assert found[:2] == (status, "")
    assert message in found[2]
    assert "Traceback" not in found[2]


def test_no_source_is_wrong_usage(shell):
    status, out, err = shell("inspect")
    assert (status, out) == (2, "")
    assert "sources" in err
