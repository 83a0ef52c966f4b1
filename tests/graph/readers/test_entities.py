"""Tables of entities."""

from __future__ import annotations

import pytest
from graph_strategies import says

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning, read

PETS = """id,label,synonyms,definition,parent,habitat,weight kg,tame,note
P1,dog,hound|domestic dog,an animal that barks,P2,house; yard,10,yes,old friend
P2,canine,,,animal,,,no,a family
P3,wolf,,"it howls, at night",Canine,forest,45,no,grey
P4,cat,,,P5,house,4,yes,mouser
P5,feline,,,animal,,,no,another family
P6,"wolf dog, mixed",,,"P1,P3",forest,40,no,rare
"""


def test_a_table_of_entities(write) -> None:
    graph = read(write("pets.csv", PETS), on_error="raise")
    assert says(graph)["known"] == {
        *(("P1", "is_a", "P2"), ("P2", "is_a", "animal"), ("P3", "is_a", "P2"), ("P4", "is_a", "P5")),
        *(("P5", "is_a", "animal"), ("P6", "is_a", "P1"), ("P6", "is_a", "P3"), ("P1", "habitat", "house")),
        *(("P1", "habitat", "yard"), ("P3", "habitat", "forest"), ("P4", "habitat", "house")),
        ("P6", "habitat", "forest"),
    }
    dog = graph.ids.index("P1")
    assert (graph.labels[dog], list(graph.synonyms[dog])) == ("dog", ["hound", "domestic dog"])
    assert graph.definitions[graph.ids.index("P3")] == "it howls, at night"
    assert graph.labels[graph.ids.index("P6")] == "wolf dog, mixed"
    assert len(graph.hierarchy().links) == 7


@pytest.mark.parametrize(
    ("content", "known"),
    [
        ("child,parent\ndog,animal\ncat,animal\n", {("dog", "is_a", "animal"), ("cat", "is_a", "animal")}),
        ("Concept\tBroader\nDog\tanimal\nAnimal\t\n", {("Dog", "is_a", "Animal")}),
        ("Label\tDefinition\tLikes\ndog\tit barks\tcat\ncat\tit purrs\t\n", {("dog", "Likes", "cat")}),
        ("category,is a,concept\ntopic,is a,concept\n", {(name, "is a", "concept") for name in ("category", "topic")}),
        ("id,parent,parent\n1,2,3\n", {("1", "is_a", "2"), ("1", "is_a", "3")}),
        ("name;kind of\ndog;animal\nanimal;n/a\n", {("dog", "is_a", "animal")}),
        ("# pets\nid,label,parent\n1,dog,2\n2,animal,\n", {("1", "is_a", "2")}),
    ],
)
def test_headers_of_entities(write, content: str, known: set[tuple[str, str, str]]) -> None:
    assert says(read(write("a.csv", content), on_error="skip"))["known"] == known


def test_a_frame_of_entities() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2], "label": ["dog", "animal"], "parent": ["2", None]})
    graph = read(frame, on_error="raise")
    assert says(graph)["known"] == {("1", "is_a", "2")}
    assert list(graph.labels) == ["dog", "animal"]


def test_entities_parted_by_semicolons(write) -> None:
    content = 'id;label;synonyms;parent\n1;tool;;\n2;saw;"hand saw; fretsaw, small";tool\n'
    graph = read(write("a.csv", content))
    assert says(graph)["known"] == {("2", "is_a", "1")}
    assert graph.synonyms[graph.ids.index("2")] == ("hand saw", "fretsaw, small")


def test_a_row_without_an_entity_is_left_out_and_named(write) -> None:
    path = write("a.csv", "id,label,parent\n1,dog,2\n,stray\n,,2\n2,animal,\n")
    with pytest.warns(ReadWarning, match="a.csv:3: expected 3 columns and an id or label, found 2"):
        graph = read(path)
    assert list(graph.ids) == ["1", "2"]
    assert graph.skipped == 2


def test_words_for_nothing_are_no_entities(write) -> None:
    graph = read(write("a.csv", "label,parent,habitat\ndog,pet,n/a\npet,-,NA\ncat,pet,home\nmouse,pet,home\n"))
    assert set(graph.ids) == {"dog", "pet", "cat", "mouse", "home"}
    known = says(read(write("b.csv", "id,label,parent\nNA,Namibia,-\nX,Windhoek,NA\nY,none,\nZ,one,None\n")))["known"]
    assert known == {("X", "is_a", "NA"), ("Z", "is_a", "Y")}  # unless a row is one


def test_names_that_are_no_iris_stay_as_they_are(write) -> None:
    names = ["AC/DC", "TCP/IP", "C#", "YouTube", "mRNA", "Blade Runner: 2049", "New_York", "ex:dogHouse"]
    graph = read(write("a.tsv", "".join(f"{name}\tis in\tthe list\n" for name in names)))
    labels = ["AC/DC", "TCP/IP", "C#", "YouTube", "mRNA", "Blade Runner: 2049", "New York", "dog house"]
    assert [graph.labels[graph.find(name)[0]] for name in names] == labels


def test_former_ids_in_a_table(write) -> None:
    graph = read(write("a.csv", "id,label,parent,alt_ids\nX:1,dog,X:9,X:7|X:8\nX:2,pet,,X:9\n"), on_error="raise")
    assert says(graph)["former"] == {"X:1": {"X:7", "X:8"}, "X:2": {"X:9"}}
    assert says(graph)["known"] == {("X:1", "is_a", "X:2")}
    table = "id,label,synonyms,former_ids\nA,new,n/a,B|NA\nB,other,,\n"  # a row is an entity
    for content in (table, "\n".join([table.split("\n")[at] for at in (0, 2, 1)])):
        graph = read(write("b.csv", content), on_error="raise")
        assert says(graph)["entities"] == {"A": ("new", set(), ""), "B": ("other", set(), "")}
        assert not says(graph)["former"]


@pytest.mark.parametrize(
    "content",
    [
        "id,label,definition,parent,type,source\nP1,dog,barks,P2,species,Wikipedia\nP2,canine,a family,,family,Wikipedia\n",
        "id,label,parent,type,start,end\nP1,dog,P2,species,1914,1918\nP2,canine,,family,1900,\n",
        "id,label,parent,\nP1,dog,P2,\nP2,canine,,\n",
        'id\tlabel\tparent\n"P1"\t"dog"\t"P2"\n"P2"\t"canine"\t\n',
    ],
)
def test_what_has_an_id_and_a_label_is_an_entity(write, content: str) -> None:
    graph = read(write("a.csv", content), on_error="raise")
    assert {"P1": "dog", "P2": "canine"}.items() <= dict(zip(graph.ids, graph.labels, strict=True)).items()
    assert ("P1", "is_a", "P2") in says(graph)["known"]


def test_a_cell_that_names_a_row_is_one_name(write) -> None:
    graph = read(
        write("a.csv", 'id,label,parent\n1,"Arthritis; rheumatoid",\n2,Felty syndrome,"Arthritis; rheumatoid"\n')
    )
    assert says(graph)["known"] == {("2", "is_a", "1")}


@pytest.mark.parametrize("gaps", ["id,label,parent\n1,animal,\n2,dog,1.0\n", None])
def test_whole_numbers_of_columns_with_gaps(write, gaps: str | None) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2], "label": ["animal", "dog"], "parent": [None, 1]})
    graph = read(write("a.csv", gaps) if gaps else frame, on_error="raise")
    assert (says(graph)["known"], graph.n_entities) == ({("2", "is_a", "1")}, 2)


def test_lists_and_columns_of_one_name_in_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    cells = {"id": ["P1", "P2"], "label": ["dog", "pet"], "synonyms": [["hound", "pooch"], []], "parent": [["P2"], []]}
    frame = pandas.concat([pandas.DataFrame(cells), pandas.DataFrame({"label": ["Hund", "Tier"]})], axis=1)
    graph = read(frame, on_error="raise")
    assert says(graph)["known"] == {("P1", "is_a", "P2")}
    assert [sorted(names) for names in graph.synonyms] == [["Hund", "hound", "pooch"], ["Tier"]]
    assert read(pandas.DataFrame({"head": [1], "relation": ["r"], "tail": [2.0]})).ids[1] == "2"


@pytest.mark.parametrize("header", ["Class ID,Preferred Label,Synonyms,Definitions", "id,label,Alt_Label,definition"])
def test_headers_of_other_tools(write, header: str) -> None:
    graph = read(write("a.csv", f"{header}\nP1,dog,hound|pooch,It barks.\n"), on_error="raise")
    assert (list(graph.synonyms[0]), graph.definitions[0]) == (["hound", "pooch"], "It barks.")


@pytest.mark.parametrize(
    ("content", "known"),
    [
        ("id,name,category\n1,phone,goods\n2,case,goods\n", {("1", "category", "goods"), ("2", "category", "goods")}),
        ("class,title,definition\npet,dog,barks\npet,cat,purrs\n", {("dog", "class", "pet"), ("cat", "class", "pet")}),
        ("name,category\ndog,pet\ncat,pet\n", {("dog", "category", "pet"), ("cat", "category", "pet")}),
    ],
)
def test_a_category_beside_a_label_is_no_synonym(write, content: str, known: set[tuple[str, str, str]]) -> None:
    graph = read(write("a.csv", content), on_error="raise")
    assert says(graph)["known"] == known
    assert not any(graph.synonyms)


@pytest.mark.parametrize(
    "header",
    [
        "id,name,parentId,description",
        "Code,Title,Parent Code,Comment",
        "conceptUri,preferredLabel,broaderUri,description",
        "#id,label,parent,definition",
        "category_id,category_name,parent_category_id,description",
        "Skill Code,Skill,Parent Skill Code,Description",
        "id,Job Title,Parent Job Title,description",
    ],
)
def test_spellings_of_headers(write, header: str) -> None:
    graph = read(write("a.csv", f"{header}\nx1,dog,x2,barks\nx2,pet,,\n"), on_error="raise")
    assert says(graph)["known"] == {("x1", "is_a", "x2")}
    assert says(graph)["entities"]["x1"] == ("dog", set(), "barks")


@pytest.mark.parametrize(
    "header", ["Skill,Parent skill", "JobTitle,ParentJobTitle", "Unit,Unit parent", "topic,broader topic"]
)
def test_a_column_named_after_what_it_lists_beside_one_of_their_parents(write, header: str) -> None:
    graph = read(write("a.csv", f"{header},Description\ndog,pet,barks\npet,,\n"), on_error="raise")
    assert says(graph)["known"] == {("dog", "is_a", "pet")}
    assert graph.definitions[0] == "barks"


def test_the_other_label_of_a_repeated_id_is_a_synonym(write) -> None:
    graph = read(write("a.csv", "id,label,synonym\n1,car,auto\n1,car,wagon\n1,motor car,\n"), on_error="raise")
    assert says(graph)["entities"] == {"1": ("car", {"auto", "wagon", "motor car"}, "")}


def test_a_label_as_it_is_spelt_goes_before_others(write) -> None:
    text = "id,label,parent\n1,Apple,\n2,apple,\n3,Granny,apple\n4,Mac,Apple\n5,Fuji,APPLE\n6,Pear,\n7,Nashi,PEAR\n"
    with pytest.warns(ReadWarning, match="'APPLE' is the label of 1 and 2"):
        known = says(read(write("a.csv", text)))["known"]
    assert known == {("3", "is_a", "2"), ("4", "is_a", "1"), ("5", "is_a", "APPLE"), ("7", "is_a", "6")}


@pytest.mark.parametrize("root", ["0", "http://www.w3.org/2002/07/owl#Thing", "owl:Thing"])
def test_roots_of_a_table_have_no_parent(write, root: str) -> None:
    graph = read(write("a.csv", f"id,label,parent_id\n1,pet,{root}\n2,dog,1\n"), on_error="raise")
    assert says(graph)["known"] == {("2", "is_a", "1")}
    assert set(graph.ids) == {"1", "2"}
    graph = read(write("b.csv", f"id,label,parent_id\n{root},thing,\n2,dog,{root}\n"), on_error="raise")
    assert says(graph)["known"] == {("2", "is_a", root)}  # unless a row is one


def test_obsolete_rows_of_a_table_are_left_out(write) -> None:
    graph = read(write("a.csv", "Class ID,Preferred Label,Obsolete\n1,dog,FALSE\n2,hound,TRUE\n"), on_error="raise")
    assert (list(graph.ids), graph.skipped) == (["1"], 0)


def test_a_quoted_cell_of_many_lines_parts_synonyms(write) -> None:
    names = [f"name {n}" for n in range(60)]
    content = 'id,label,synonyms,definition\n1,dog,"' + "\n".join(names) + '","it\nbarks"\n2,"a\ncat",,\n'
    graph = read(write("a.csv", content), on_error="raise")
    assert says(graph)["entities"] == {"1": ("dog", set(names), "it barks"), "2": ("a cat", set(), "")}


@pytest.mark.parametrize(
    ("content", "known"),
    [
        ("label,capital,continent\nGermany,Berlin,Europe\nFrance,Paris,Europe\nJapan,Tokyo,Asia\n", "continent"),
        ("name,currency\nGermany,Euro\nFrance,Euro\nJapan,Yen\n", "currency"),
        ("SKU,Product Name,Brand\n1,Drill,Bosch\n2,Hammer,Bosch\n3,Saw,Tefal\n", "Brand"),
        ("Product ID,Product Name,Brand\n1,Drill,Bosch\n2,Hammer,Bosch\n3,Saw,Tefal\n", "Brand"),
        ("Product Name,Parent Category,Brand\nDrill,Tools,Bosch\nHammer,Tools,Bosch\nTools,,Tefal\n", "Brand"),
    ],
)
def test_one_name_in_the_first_place_tells_a_table_of_entities(write, content: str, known: str) -> None:
    graph = read(write("table.csv", content), on_error="skip")
    assert known in graph.relation_ids
    place = content.startswith(("SKU", "Product ID"))
    assert set(graph.labels) >= {line.split(",")[place] for line in content.splitlines()[1:]}


def test_a_list_of_labels_is_a_table_too(write) -> None:
    assert list(read(write("list.csv", "label\nPower tools\nDrills\n"), on_error="raise").labels) == [
        "Power tools",
        "Drills",
    ]


def test_triples_of_a_name_are_triples(write) -> None:
    graph = read(write("triples.tsv", "name\tdomain\tthing\nurl\tdomain\tthing\nage\tdomain\tperson\n"))
    assert list(graph.relation_ids) == ["domain"]
    assert len(read(write("pairs.csv", "drug_id,treats,disease_name\nd1,treats,flu\nd2,treats,cold\n")).ids) == 6


def test_what_is_left_out_of_a_table_is_said(write) -> None:
    with pytest.warns(ReadWarning, match="left out weight kg, tame, note: "):
        read(write("pets.csv", PETS))


def test_small_numbers_are_ids_only_where_a_name_says_so(write) -> None:
    people = "id,name,rating,manager_id\n1,Ann,3,\n2,Bob,1,1\n3,Cy,2,1\n"
    with pytest.warns(ReadWarning, match="left out rating: .* let its name end in id"):
        graph = read(write("people.csv", people))
    assert says(graph)["known"] == {("2", "manager_id", "1"), ("3", "manager_id", "1")}
    omim = "id,name,part\n154700,Marfan syndrome,\n604308,mass syndrome,154700\n129600,ectopia lentis,154700\n"
    assert says(read(write("omim.csv", omim), on_error="raise"))["known"] == {
        ("604308", "part", "154700"),
        ("129600", "part", "154700"),
    }


@pytest.mark.parametrize(
    "header", ["SKU,Product Name,Category", "id,product,category", "SKU,Title,Class", "id,article,category"]
)
def test_a_category_is_a_relation_of_what_stands_before_it(write, header: str) -> None:
    graph = read(write("products.csv", f"{header}\nA1,Hammer,Tools\nA2,Saw,Tools\nA3,Apple,Food\n"), on_error="skip")
    relation = header.rpartition(",")[2]
    assert list(graph.labels[:3]) == ["Hammer", "Saw", "Apple"]
    assert says(graph)["known"] == {
        ("A1", relation, "Tools"),
        ("A2", relation, "Tools"),
        ("A3", relation, "Food"),
    }


def test_a_column_that_is_taken_for_labels_is_said(write) -> None:
    with pytest.warns(ReadWarning, match="took article for the labels, as no column is named label or name"):
        read(write("a.csv", "id,article,shelf\n1,Hammer,low\n2,Saw,low\n3,Apple,top\n"))
    with pytest.warns(ReadWarning, match="left out remark: "):  # too long for names
        graph = read(write("b.csv", "".join(["id,remark\n", *(f"x{at},{'so and so ' * 9}{at}\n" for at in range(5))])))
    assert list(graph.labels) == [f"x{at}" for at in range(5)]


def test_labels_of_something_else_are_values(write) -> None:
    rows = ["F1,A crew meets a monster,Ridley Scott", "F2,A ship sinks,James Cameron", "F3,A replicant,Ridley Scott"]
    with pytest.warns(ReadWarning, match="took summary for the labels"):
        graph = read(write("films.csv", "\n".join(["id,summary,director_name", *rows])))
    assert says(graph)["entities"]["F1"][0] == "A crew meets a monster"
    assert ("F3", "director_name", "Ridley Scott") in says(graph)["known"]
    own = write("products.csv", "product_id,product_name,maker\nP1,Drill,Bolt\nP2,Drill,Bolt\nP3,Saw,Bolt\n")
    assert says(read(own, on_error="raise"))["entities"]["P2"][0] == "Drill"


def test_the_first_key_is_the_id_where_others_stand_beside_it(write) -> None:
    text = "person_id,name,employer_id,city\nP1,Ann Ray,C1,Rome\nP2,Bob Orr,C2,Rome\nP3,Cy Poe,C1,Oslo\nP4,Dee Fox,C1,Oslo\n"
    said = says(read(write("people.csv", text), on_error="raise"))
    assert said["entities"]["P1"][0] == "Ann Ray"
    assert {("P1", "employer_id", "C1"), ("P1", "city", "Rome")} < said["known"]


def test_links_to_obsolete_rows_are_left_out(write) -> None:
    text = "id,label,parent,deprecated\nA1,Widget,,false\nA2,Gadget,A1,true\nA3,Nut,A2,false\nA4,Bolt,gadget|A1,false\n"
    with pytest.warns(ReadWarning, match=r"left out 2 link\(s\) to rows that are marked as obsolete"):
        graph = read(write("parts.csv", text))
    assert says(graph)["known"] == {("A4", "is_a", "A1")}
    assert set(graph.ids) == {"A1", "A3", "A4"}


def test_of_namesakes_none_is_meant(write) -> None:
    text = "id,name,parent\nB1,Bank,\nB2,Bank,\nB3,Savings bank,Bank\nB4,Central bank,B2\n"
    with pytest.warns(ReadWarning, match="'Bank' is the label of B1 and B2"):
        graph = read(write("banks.csv", text))
    assert says(graph)["known"] == {("B3", "is_a", "Bank"), ("B4", "is_a", "B2")}


def test_a_value_is_no_row_because_one_is_called_so(write) -> None:
    countries = ["Australia", "Peru", "Chile", "Ghana", "Nepal"]
    rows = [f"F{n},{'Australia' if n == 1 else f'Film {n}'},{countries[n % 5]}" for n in range(1, 16)]
    said = says(read(write("films.csv", "\n".join(["id,title,country", *rows])), on_error="raise"))["known"]
    assert ("F5", "country", "Australia") in said
    assert ("F1", "country", "Peru") in said
    assert not any(tail == "F1" for _, _, tail in said)


@pytest.mark.parametrize(
    ("header", "rows", "identifier", "label"),
    [
        ("dept_id,emp_id,name", ["D1,E1,Ann", "D1,E2,Bob", "D2,E3,Cy"], "E2", "Bob"),
        ("ProductID,ProductName,SupplierID", ["1,Chai,7", "2,Chang,7", "3,Tofu,8"], "2", "Chang"),
        ("category_id,product_id,product_name", ["C1,P1,Drill", "C1,P2,Saw", "C2,P3,Tea"], "P2", "Saw"),
        ("SKU,Product Name,Colour", ["A1,Shirt,red", "A2,Shirt,red", "A3,Shirt,blue"], "A2", "Shirt"),
        ("id,dept,full_name", ["1,IT,Ann Ray", "2,IT,Ann Ray", "3,HR,Cy Poe"], "2", "Ann Ray"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*left out")
def test_the_id_tells_rows_apart_and_the_label_is_their_own(
    write, header: str, rows: list[str], identifier: str, label: str
) -> None:
    said = says(read(write("rows.csv", "\n".join([header, *rows]))))
    assert said["entities"][identifier][:2] == (label, set())


def test_what_is_obsolete_takes_nothing_else_with_it(write) -> None:
    text = "id,label,parent,former_ids,material,deprecated\n1,Old,,,,true\n2,New,,1,steel,false\n3,Kid,1,,steel,false\n"
    text += "4,Steel,,,wood,true\n5,Nail,4,,steel,false\n"
    with pytest.warns(ReadWarning, match=r"left out 1 link\(s\) to rows"):
        known = says(read(write("parts.csv", text)))["known"]
    assert known == {("3", "is_a", "2"), *((row, "material", "steel") for row in "235")}


@pytest.mark.filterwarnings("ignore:.*left out value")
def test_a_table_of_values_under_an_id_is_one_of_entities_if_more_is_said(write) -> None:
    text = "id,property,value,city\n1,Villa Rosa,350000,Rome\n2,Villa Blu,220000,Rome\n3,Casa Nera,180000,Oslo\n"
    with pytest.warns(ReadWarning, match="took property for the labels"):
        assert ("1", "city", "Rome") in says(read(write("houses.csv", text)))["known"]


def test_a_key_that_goes_with_the_label_is_the_id_however_many_rows_have_it(write) -> None:
    text = "disease_id,name,hpo_id\nOMIM:1,Marfan,HP:1\nOMIM:1,Marfan,HP:2\nOMIM:2,Gaucher,HP:1\n"
    said = says(read(write("a.csv", text), on_error="raise"))
    assert said["entities"]["OMIM:1"][0] == "Marfan"
    assert said["known"] == {("OMIM:1", "hpo_id", "HP:1"), ("OMIM:1", "hpo_id", "HP:2"), ("OMIM:2", "hpo_id", "HP:1")}


def test_a_row_without_an_id_has_its_label(write) -> None:
    text = "name,runs on,serial number\nweb-01,rack-1,SN1\nrack-1,,SN2\nrack-2,,SN3\napp-01,web-01,\n"
    said = says(read(write("a.csv", text), on_error="raise"))
    assert said["known"] == {("SN1", "runs on", "SN2"), ("app-01", "runs on", "SN1")}


def test_cells_that_list_values_by_commas(write) -> None:
    rows = ['Kind of Blue,"jazz, modal","New York, USA"', 'Karma,"jazz, soul","Newark, USA"', "Rust,rock,Berlin"]
    rows += ['Marx,"rock, soul, funk","Bonn, Germany"', "Dare,\"['funk', 'jazz']\",\"Kiel, Germany\"", "Sol,soul,Rome"]
    graph = read(write("a.csv", "\n".join(["name,genre,recorded in", *rows]) + "\n"), on_error="skip")
    found = says(graph)["known"]
    assert {("Kind of Blue", "genre", "modal"), ("Marx", "genre", "soul"), ("Dare", "genre", "funk")} <= found
    assert {relation for _, relation, _ in found} == {"genre"}


def test_rows_are_named_by_what_tells_them_apart(write) -> None:
    content = "name,email,manager email\nAnn,ann@x.org,\nBob,bob@x.org,ann@x.org\nCid,cid@x.org,bob@x.org\n"
    graph = read(write("staff.csv", content), on_error="skip")
    assert says(graph)["known"] == {("Bob", "manager email", "Ann"), ("Cid", "manager email", "Bob")}


def test_empty_cells_behind_a_table_are_nothing(write) -> None:
    table = write("a.csv", "CWE-ID,Name,Parent\n1,dog,2,\n2,animal,,\n3,cat,2,,\n4,cow,2,x\n")
    graph = read(table, on_error="skip")
    assert (says(graph)["known"], graph.skipped) == ({("1", "is_a", "2"), ("3", "is_a", "2")}, 1)
    triples = read(write("b.tsv", "a\tr\tb\t\nc\tr\tb\t\t\n"), on_error="raise")
    assert says(triples)["known"] == {("a", "r", "b"), ("c", "r", "b")}


def test_a_header_of_unknown_names(write) -> None:
    content = "Produkt,Hersteller,Farbe,Preis\nEmil,Holz & Co,rot,19\nOtto,Holz & Co,blau,29\nAnna,Brett AG,rot,99\n"
    with pytest.warns(ReadWarning) as caught:
        graph = read(write("a.csv", content + "Berta,Brett AG,blau,129\n"))
    assert "took Produkt for the labels" in str(caught[0].message)
    assert ("Otto", "Hersteller", "Holz & Co") in says(graph)["known"]
    for other in (
        "1,2,3,4\n2,3,4,5\n",
        "a,b,c,d\n1,2,3,4\n",
        "a b,c,d,e\nx,c,y,z\n",
        "one, two, three, four.\nfive.\nsix, x\n",
    ):
        with pytest.raises(ReadError):
            read(write("b.csv", other), on_error="skip")


@pytest.mark.parametrize(
    ("codes", "links"),
    [
        ("11 111 1111 11111 11112 1112 112 21 211", {("1111", "111"), ("11112", "1111"), ("112", "11"), ("211", "21")}),
        ("A00 A00.0 A00.1 A01 A01.0 A01.01 A01.02 B20 B20.1", {("A00.1", "A00"), ("A01.02", "A01.0")}),
        (
            "1 1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9 1.10 1.10.1 2 2.1 2.2",
            {("1.10", "1"), ("1.10.1", "1.10"), ("2.2", "2")},
        ),
        ("A 01 01.1 01.11 01.12 01.2 01.21 02 02.1 02.10 02.3", {("01.11", "01.1"), ("01.2", "01"), ("02.10", "02.1")}),
        ("pet pet.dog pet.dogfish pet.cat tool tool.saw tool.drill", {("pet.dogfish", "pet")}),
        (" ".join(map(str, range(1, 60))), set()),
        (" ".join(f"X{number}" for number in range(1, 60, 2)), set()),
        ("dog dogma cat catalogue bird fish", set()),
        ("1001 1002 1003 1004 10 2001 2002", set()),
    ],
)
def test_codes_that_tell_what_they_are_below(write, codes: str, links: set[tuple[str, str]]) -> None:
    rows = [f"{code},name {code}" for code in codes.split()]
    content = "\n".join(["code,name", *rows, ""])
    found = says(read(write("a.csv", content), on_error="skip"))["known"]
    assert {relation for _, relation, _ in found} <= {"is_a"}
    assert links <= {(child, parent) for child, _, parent in found}
    assert bool(links) == bool(found)
    named = says(read(write("b.csv", content.replace("code,name", "code,parent")), on_error="skip"))["known"]
    assert all(parent.startswith("name") for _, _, parent in named)


def test_a_warning_tells_of_codes(write) -> None:
    rows = "".join(f"{code},thing {code}\n" for code in (1, 11, 111, 1111, 12, 13, 2, 21, 22))
    with pytest.warns(ReadWarning, match="took what ids begin with for what they are below"):
        read(write("a.csv", f"id,label\n{rows}"))


def test_dates_are_no_relation(write) -> None:
    rows = [
        f"Film {at},{at % 3 + 1} May 1998,2013-07-20T00:00:0{at % 3}Z,{['Sun', 'Mon', 'Tue'][at % 3]}"
        for at in range(9)
    ]
    with pytest.warns(ReadWarning, match="left out released, seen:"):
        graph = read(write("a.csv", "\n".join(["name,released,seen,day", *rows]) + "\n"))
    assert {relation for _, relation, _ in says(graph)["known"]} == {"day"}


def test_a_column_that_names_its_own_rows_holds_names(write) -> None:
    rows = (
        "7,oak_log,Oak log,wood,7",
        "8,stone,Stone,rock,8",
        "9,porkchop,Raw porkchop,meat,9",
        "12,plank,Plank,wood,12",
    )
    graph = read(write("a.csv", "\n".join(["id,name,display name,made of,number", *rows, ""])), on_error="skip")
    assert {relation for _, relation, _ in says(graph)["known"]} <= {"made of"}
    names = dict(zip(graph.ids, graph.synonyms, strict=True))
    assert [*map(list, (names["9"], names["7"]))] == [["Raw porkchop"], ["Oak log"]]
