"""Records and schemas in YAML."""

from __future__ import annotations

import time

import pytest

from ontodex.errors import ReadError
from ontodex.readers import read
from ontodex.readers.registry import sniff
from ontodex.readers.yaml_files import yaml_of
from tests.graph_strategies import says

LINKML = """\
id: https://x.org/pets
name: pets
prefixes: {x: "https://x.org/"}
classes:
  dog:
    is_a: pet
    aliases: [hound]
    slots: [age, owner]
    slot_usage:
      owner: {required: true}
  cat: {is_a: pet}
  pet:
    description: An animal that is kept.
slots:
  age: {range: integer}
  owner: {domain: pet}
  size: {range: integer}
enums:
"""


def test_a_schema_of_linkml(write) -> None:
    path = write("pets.yaml", LINKML)
    assert sniff(path).name == "yaml"
    graph = says(read(path, on_error="skip"))
    assert graph["known"] == {
        *(
            ("dog", "is_a", "pet"),
            ("cat", "is_a", "pet"),
            ("dog", "slots", "age"),
            ("dog", "slots", "owner"),
        ),
        *(("owner", "domain", "pet"), ("age", "range", "integer"), ("size", "range", "integer")),
    }
    assert graph["entities"]["dog"][1] == {"hound"}
    assert graph["entities"]["pet"][2] == "An animal that is kept."


def test_records_of_yaml_and_norway(write) -> None:
    path = write(
        "countries.yml",
        "- {code: NO, name: Norway, of: [Europe, 'null']}\n- code: SE\n  name: Sweden\n"
        "  of: &e\n  - Europe\n"
        "- {code: FI, name: Finland, of: *e, until: ~}\n",
    )
    assert yaml_of(path)[2] == {"code": "FI", "name": "Finland", "of": ["Europe"], "until": None}
    graph = read(path, on_error="raise")
    assert says(graph)["known"] == {(code, "of", "Europe") for code in ("NO", "SE", "FI")}
    assert dict(zip(graph.ids, graph.labels, strict=True))["NO"] == "Norway"


def test_documents_in_one_file_are_records(write) -> None:
    path = write(
        "pets.yaml", "name: dog\nkind: pet\n---\nname: cat\nkind: pet\n---\nname: cow\nkind: farm\n"
    )
    assert says(read(path, on_error="raise"))["known"] == {
        ("dog", "kind", "pet"),
        ("cat", "kind", "pet"),
        ("cow", "kind", "farm"),
    }


BOMB = "".join(
    f"{one}: &{one} [{', '.join([f'*{below}'] * 10)}]\n"
    for below, one in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[" * 100_000, "at most 200 objects and lists in one another, found more"),
        (
            f"a: &a [{', '.join('x' * 10)}]\n{BOMB}",
            "6: expected aliases that make no more than 1,000,000 values",
        ),
        ("a: &a [*a]\n", "1: expected an alias of what stands before it, found another"),
        ("a: b\nc: d: e\n", "2: expected YAML, found a fault"),
        ("a: *b\n", "expected an alias of what stands before it"),
        ("a: [b, c]\n", "found other JSON or YAML"),
    ],
)
def test_what_is_refused(write, content: str, message: str) -> None:
    start = time.process_time()
    with pytest.raises(ReadError, match=message):
        read(write("a.yaml", content))
    assert time.process_time() - start < 5


def test_values_of_enumerations_are_entities_below_them(write) -> None:
    schema = """
id: https://example.org/menu
name: menu
prefixes: {linkml: https://w3id.org/linkml/}
classes:
  Patient:
    attributes:
      sign: {range: signs menu}
enums:
  signs menu:
    permissible_values:
      odd breath sound: {meaning: "ZP:0030829"}
      taste trouble:
        permissible_values:
          no taste at all: {meaning: "ZP:0041051"}
  SamplerEnum:
    permissible_values:
      composite sampler:
      trap sampler: {is_a: composite sampler, description: passive}
      gauze swab: {is_a: trap sampler, aliases: [moor swab]}
"""
    graph = read(write("menu.yaml", schema), on_error="raise")
    assert says(graph)["known"] == {
        *(("Patient", "attributes", "sign"), ("sign", "range", "signs menu")),
        *(("odd breath sound", "is_a", "signs menu"), ("taste trouble", "is_a", "signs menu")),
        *(
            ("no taste at all", "is_a", "taste trouble"),
            ("trap sampler", "is_a", "composite sampler"),
        ),
        *(("gauze swab", "is_a", "trap sampler"), ("composite sampler", "is_a", "SamplerEnum")),
        *(("trap sampler", "is_a", "SamplerEnum"), ("gauze swab", "is_a", "SamplerEnum")),
    }
    assert says(graph)["alternatives"] == {
        "odd breath sound": {"ZP:0030829"},
        "no taste at all": {"ZP:0041051"},
    }
    assert says(graph)["entities"]["gauze swab"][1] == {"moor swab"}
    assert says(graph)["entities"]["trap sampler"][2] == "passive"
