from __future__ import annotations

import gzip
import json

import pytest

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says


def test_wn18rr_as_simkgc_has_it(write) -> None:
    root = write(
        "wn/train.txt",
        "00260881\t_hypernym\t00260622\n00260881\t_derivationally_related_form\t00260622\n",
    ).parent
    write("wn/valid.txt", "00260622\t_hypernym\t00260881\n")
    write("wn/test.txt", "00260622\t_also_see\t00260881\n")
    write(
        "wn/wordnet-mlj12-definitions.txt",
        "00260881\t__land_reform_NN_1\ta redistribution of land\n99999999\t__x_NN_1\ty\n",
    )
    graph = read(root, on_error="raise")
    assert says(graph)["relations"] == {
        "_hypernym": "hypernym",
        "_derivationally_related_form": "derivationally related form",
        "_also_see": "also see",
    }
    assert (graph.n_entities, graph.n_triples, len(graph.valid), len(graph.test)) == (2, 2, 1, 1)
    assert (graph.labels[0], graph.definitions[0]) == ("land reform", "a redistribution of land")


def test_fb15k237_as_simkgc_has_it(write) -> None:
    relation = "/film/actor/film./film/performance/film"
    root = write("fb/train.txt.gz", gzip.compress(f"/m/1\t{relation}\t/m/2\n".encode())).parent
    write("fb/FB15k_mid2name.txt", "/m/1\tGary_Rydstrom\n/m/2\tToy_Story\n/m/3\tNot_here\n")
    write("fb/FB15k_mid2description.txt", '/m/1\t"Gary \\"R\\" is\\na designer."@en\n')
    graph = read(root, on_error="raise")
    assert list(graph.labels) == ["Gary Rydstrom", "Toy Story"]
    assert graph.definitions[0] == 'Gary "R" is a designer.'
    assert graph.relation_labels[0] == "performance actor film"


WIKIDATA = {
    "Q1": ("dog", set(), "It barks."),
    "Q2": ("animal", set(), ""),
    "00260622": ("land reform", set(), "a redistribution"),
}


@pytest.mark.parametrize(
    ("entities", "relations"),
    [
        (
            [
                {"entity_id": "Q1", "entity": "dog", "entity_desc": "It barks."},
                {"entity_id": "Q2", "entity": "animal", "entity_desc": ""},
                {
                    "entity_id": "00260622",
                    "entity": "__land_reform_NN_1",
                    "entity_desc": "a redistribution",
                },
                {"entity_id": "Q9", "entity": "not here"},
                {"entity": "no id"},
                "no object",
            ],
            {"P1": "kind of", "P9": "not here"},
        ),
        (
            {
                "Q1": {
                    "label": "dog",
                    "description": "It barks.",
                    "wiki": "https://en.wikipedia.org/wiki/Dog",
                },
                "Q2": {"label": "animal", "description": None},
                "00260622": {"label": "land reform", "description": "a redistribution"},
                "Q9": {"label": "not here"},
            },
            {"P1": {"label": "kind of", "description": "what it is"}, "P9": 7},
        ),
    ],
    ids=["SimKGC", "CoDEx"],
)
def test_names_in_json_beside_triples(write, entities: object, relations: object) -> None:
    root = write("kg/train.txt", "Q1\tP1\tQ2\nQ2\tP1\t00260622\n").parent
    write("kg/test.txt", "Q2\tP1\tQ1\n")
    write(
        "kg/test.txt.json", json.dumps([{"head_id": "Q2", "relation": "kind of", "tail_id": "Q1"}])
    )
    write("kg/entities.json", json.dumps(entities))
    write("kg/relations.json", json.dumps(relations))
    graph = read(root, on_error="raise")
    assert says(graph)["entities"] == WIKIDATA
    assert (says(graph)["relations"], graph.n_triples, len(graph.test)) == ({"P1": "kind of"}, 2, 1)
    write("kg/entities.json", "{")
    with pytest.raises(ReadError, match=r"entities\.json: expected JSON, found a fault"):
        read(root, on_error="raise")


def test_wikidata5m(write) -> None:
    root = write("kg/wikidata5m_transductive_train.txt", "Q1\tP1\tQ2\n").parent
    write("kg/wikidata5m_transductive_test.txt", "Q2\tP2\tQ1\n")
    write("kg/wikidata5m_entity.txt", "Q1\tdog\thound\tdogs\nQ2\tanimal\nQ9\tnot here\n")
    write("kg/wikidata5m_relation.txt", "P1\tkind of\tis a\nP2\teats\nP9\tnot here\n")
    write("kg/wikidata5m_text.txt", "Q1\tThe dog barks.\nQ9\tNot here.\n")
    graph = read(root, on_error="raise")
    assert says(graph)["entities"] == {
        "Q1": ("dog", {"hound", "dogs"}, "The dog barks."),
        "Q2": ("animal", set(), ""),
    }
    assert says(graph)["relations"] == {"P1": "kind of", "P2": "eats"}


def test_kg_bert_layout(write) -> None:
    root = write("kg/train.tsv", "a\tr_x\tb\n").parent
    write("kg/dev.tsv", "b\tr_x\ta\n")
    write("kg/entity2text.txt", "a\tthe first\nb\tthe second\n")
    write("kg/entity2textlong.txt", "a\ta longer text\n")
    write("kg/relation2text.txt", "r_x\trelated to\n")
    graph = read(root, on_error="raise")
    assert says(graph)["entities"] == {
        "a": ("the first", set(), "a longer text"),
        "b": ("the second", set(), ""),
    }
    assert (graph.relation_labels[0], len(graph.valid)) == ("related to", 1)


def test_kg_bert_wordnet_names_carry_the_gloss(write) -> None:
    root = write("wn/train.tsv", "00260881\t_hypernym\t00260622\n").parent
    write("wn/entity2text.txt", "00260881\tland reform, a redistribution, of land\n")
    graph = read(root)
    assert (graph.labels[0], graph.definitions[0]) == ("land reform", "a redistribution, of land")


def test_entity_text_by_its_header(write) -> None:
    root = write("set/train.tsv", "m1\tr\tm2\n").parent
    write(
        "set/entity_text.tsv",
        "mid\tname\tfirst sentence\twikidata_label\twikidata_description\tlemmas\n"
        "m2\tTwo\t\tTwo things\tsecond\tdeux|zwei\nm1\tOne\tOne is first.\tOne\tfirst\t\n"
        "bad line\n",
    )
    graph = read(root, on_error="skip")
    assert list(graph.ids) == ["m2", "m1"]
    assert says(graph)["entities"] == {
        "m2": ("Two", {"Two things", "deux", "zwei"}, "second"),
        "m1": ("One", set(), "One is first."),
    }
    assert graph.skipped == 1


def test_entity_text_needs_an_id_column(write) -> None:
    root = write("set/train.tsv", "m1\tr\tm2\n").parent
    write("set/entity_text.tsv", "m1\tone\n")
    with pytest.raises(ReadError, match="expected a header with one of id"):
        read(root, on_error="raise")


def test_two_files_of_one_split(write) -> None:
    write("set/train.tsv", "a\tr\tb\n")
    with pytest.raises(ReadError, match=r"train\.tsv and train\.txt|train\.txt and train\.tsv"):
        read(write("set/train.txt", "a\tr\tb\n").parent)


def test_held_out_without_training(write) -> None:
    with pytest.raises(ReadError, match="train"):
        read(write("set/test.tsv", "a\tr\tb\n").parent)


def test_original_wordnet_names(write) -> None:
    root = write("wn/wordnet-mlj12-train.txt", "00000001\t_hypernym\t00000002\n").parent
    write("wn/wordnet-mlj12-test.txt", "00000002\t_hypernym\t00000001\n")
    graph = read(root)
    assert (graph.n_triples, len(graph.test)) == (1, 1)


WORDNET = (
    "  1 This software and database is being provided\n"
    "00001740 03 n 01 entity 0 001 ~ 00001930 n 0000 | that which is perceived\n"
    "00001930 03 n 02 physical_entity 0 thing(p) 0 003 "
    "@ 00001740 n 0000 + 00001740 v 0101 #p 09999999 n 0000 | an entity\n"
)


def test_a_wordnet_database(write) -> None:
    root = write("dict/data.noun", WORDNET).parent
    write("dict/data.verb", "00001740 29 v 01 breathe 0 000 01 + 02 00 | draw air\nno synset\n")
    graph = read(root, on_error="skip")
    assert says(graph)["entities"]["00001930-n"] == ("physical entity", {"thing"}, "an entity")
    assert says(graph)["known"] == {
        ("00001740-n", "hyponym", "00001930-n"),
        ("00001930-n", "hypernym", "00001740-n"),
        ("00001930-n", "derivationally_related_form", "00001740-v"),
    }
    assert says(graph)["relations"]["derivationally_related_form"] == "derivationally related form"
    assert graph.skipped == 2
    assert len(graph.hierarchy().links) == 1


def test_held_out_triples_that_are_known_are_counted(write) -> None:
    write("kg/train.txt", "a\tr\tb\nb\tr\tc\nc\tr\td\n")
    folder = write("kg/test.txt", "a\tr\tb\na\tr\tb\nd\tr\ta\n").parent
    with pytest.warns(ReadWarning, match="1 triples of test are in train too"):
        assert len(read(folder).test) == 2


def test_each_file_of_another_folder_is_a_source(write) -> None:
    root = write(
        "annotations/genes.tsv", "head\trelation\ttail\nex:FBN1\tcauses\tMarfan syndrome\n"
    ).parent
    write("annotations/diseases.csv", "id,label,parent\nex:1,Marfan syndrome,ex:2\nex:2,disease,\n")
    write("annotations/.hidden", "no graph\n")
    assert says(read(root, on_error="raise"))["known"] == {
        ("ex:1", "is_a", "ex:2"),
        ("ex:FBN1", "causes", "ex:1"),
    }
    write("annotations/README.md", "Genes, diseases, and what one has to do with the other.\n")
    write("annotations/older/genes.tsv", "ex:FBN2\tcauses\tex:1\n")
    write("annotations/zebra.png", "\x89PNG\n")
    with pytest.warns(ReadWarning, match=r"left out 3 .*\(README\.md, older, zebra\.png\)"):
        assert read(root).n_triples == 2
    with pytest.raises(ReadError, match=r"zebra\.png"):
        read(root, on_error="raise")
    empty = root.parent / "empty"
    empty.mkdir()
    with pytest.raises(ReadError, match="expected files that ontodex reads, found none"):
        read(empty)


def test_a_folder_in_a_folder_alone_is_entered(write) -> None:
    root = write("pets/2026/data/pets.tsv", "dog\tis_a\tanimal\n").parents[2]
    write("pets/.hidden", "no graph\n")
    assert says(read(root))["known"] == {("dog", "is_a", "animal")}
    write("pets/2025/data/pets.tsv", "cat\tis_a\tanimal\n")
    with pytest.raises(ReadError, match="found 2025, 2026; name a folder that has some"):
        read(root)


def test_what_is_held_out_needs_training(write) -> None:
    write("pets/valid.txt", "cat\tis_a\tanimal\n")
    with pytest.raises(
        ReadError, match=r"expected train\.txt .* beside test\.tsv and valid\.txt, found none"
    ):
        read(write("pets/test.tsv", "dog\tis_a\tanimal\n").parent)


def test_a_file_of_a_folder_that_cannot_be_read_does_not_cost_the_others(tmp_path) -> None:
    (tmp_path / "a.csv").write_text("1,A,1990,Movie\n2,B,1990,Movie\n")
    (tmp_path / "b.csv").write_text("head,relation,tail\ndog,is_a,animal\n")
    with pytest.warns(ReadWarning, match=r"left out a file that cannot be read: .*a\.csv:"):
        assert says(read(tmp_path))["known"] == {("dog", "is_a", "animal")}
    with pytest.raises(ReadError, match="expected 3 columns"):
        read(tmp_path, on_error="raise")
    (tmp_path / "b.csv").write_text("some\nwords\n")
    with pytest.warns(ReadWarning, match="left out a file that"), pytest.raises(ReadError):
        read(tmp_path)


RELATION = "/people/person/nationality"


@pytest.mark.parametrize(
    "files",
    [
        {
            "entity2id.txt": "3\n/m/1\t0\n/m/2\t1\n/m/3\t2\n",
            "relation2id.txt": f"1\n{RELATION}\t0\n",
            "train2id.txt": "2\n0 1 0\n2 1 0\n",
            "valid2id.txt": "1\n0\t2\t0\n",
            "test2id.txt": "0\n",
        },
        {
            "entity_ids.del": "0\t/m/1\n1\t/m/2\n2\t/m/3\n",
            "relation_ids.del": f"0\t{RELATION}\n",
            "train.del": "0\t0\t1\n2\t0\t1\n",
            "valid.del": "0\t0\t2\n",
        },
    ],
)
def test_triples_of_numbers(write, files: dict[str, str]) -> None:
    """As OpenKE and LibKGE have them."""
    for name, content in {**files, "entity2text.txt": "/m/1\tAnn\n/m/9\tnot here\n"}.items():
        root = write(f"fb/{name}", content).parent
    graph = read(root, on_error="raise")
    said = says(graph)
    assert said["known"] == {("/m/1", RELATION, "/m/2"), ("/m/3", RELATION, "/m/2")}
    assert (len(graph.valid), len(graph.test)) == (1, 0)
    assert said["relations"] == {RELATION: "nationality person people"}
    assert said["entities"]["/m/1"][0] == "Ann"
    train = next(name for name in files if name.startswith("train"))
    write(f"fb/{train}", f"{files[train]}0\t7\t0\nstray\n")
    with pytest.warns(
        ReadWarning, match=rf"{train}:\d: expected the numbers of two entities and a relation"
    ):
        assert read(root).skipped == 2
