"""Tables of entities: which columns hold what, by the header and the rows."""

from __future__ import annotations

import pytest

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning
from ontodex.readers import read
from ontodex.readers.tables.mapping import RelationColumn, TableMapping
from tests.graph_strategies import says


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (
            "child,parent\ndog,animal\ncat,animal\n",
            {("dog", "is_a", "animal"), ("cat", "is_a", "animal")},
        ),
        ("Concept\tBroader\nDog\tanimal\nAnimal\t\n", {("Dog", "is_a", "Animal")}),
        (
            "Label\tDefinition\tLikes\ndog\tit barks\tcat\ncat\tit purrs\t\n",
            {("dog", "Likes", "cat")},
        ),
        (
            "category,is a,concept\ntopic,is a,concept\n",
            {(name, "is a", "concept") for name in ("category", "topic")},
        ),
        ("id,parent,parent\n1,2,3\n", {("1", "is_a", "2"), ("1", "is_a", "3")}),
        ("name;kind of\ndog;animal\nanimal;n/a\n", {("dog", "is_a", "animal")}),
        ("# pets\nid,label,parent\n1,dog,2\n2,animal,\n", {("1", "is_a", "2")}),
    ],
)
def test_headers_of_entities(write, content: str, known: set[tuple[str, str, str]]) -> None:
    assert says(read(write("a.csv", content), on_error="skip"))["known"] == known


@pytest.mark.parametrize(
    "content",
    [
        "id,label,definition,parent,type,source\nP1,dog,barks,P2,species,Wikipedia\n"
        "P2,canine,a family,,family,Wikipedia\n",
        "id,label,parent,type,start,end\nP1,dog,P2,species,1914,1918\nP2,canine,,family,1900,\n",
        "id,label,parent,\nP1,dog,P2,\nP2,canine,,\n",
        'id\tlabel\tparent\n"P1"\t"dog"\t"P2"\n"P2"\t"canine"\t\n',
    ],
)
def test_what_has_an_id_and_a_label_is_an_entity(write, content: str) -> None:
    graph = read(write("a.csv", content), on_error="raise")
    assert {"P1": "dog", "P2": "canine"}.items() <= dict(
        zip(graph.ids, graph.labels, strict=True)
    ).items()
    assert ("P1", "is_a", "P2") in says(graph)["known"]


@pytest.mark.parametrize(
    "header", ["Class ID,Preferred Label,Synonyms,Definitions", "id,label,Alt_Label,definition"]
)
def test_headers_of_other_tools(write, header: str) -> None:
    graph = read(write("a.csv", f"{header}\nP1,dog,hound|pooch,It barks.\n"), on_error="raise")
    assert (list(graph.synonyms[0]), graph.definitions[0]) == (["hound", "pooch"], "It barks.")


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (
            "id,name,category\n1,phone,goods\n2,case,goods\n",
            {("1", "category", "goods"), ("2", "category", "goods")},
        ),
        (
            "class,title,definition\npet,dog,barks\npet,cat,purrs\n",
            {("dog", "class", "pet"), ("cat", "class", "pet")},
        ),
        (
            "name,category\ndog,pet\ncat,pet\n",
            {("dog", "category", "pet"), ("cat", "category", "pet")},
        ),
    ],
)
def test_a_category_beside_a_label_is_no_synonym(
    write, content: str, known: set[tuple[str, str, str]]
) -> None:
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
    "header",
    ["Skill,Parent skill", "JobTitle,ParentJobTitle", "Unit,Unit parent", "topic,broader topic"],
)
def test_a_column_named_after_what_it_lists_beside_one_of_their_parents(write, header: str) -> None:
    graph = read(write("a.csv", f"{header},Description\ndog,pet,barks\npet,,\n"), on_error="raise")
    assert says(graph)["known"] == {("dog", "is_a", "pet")}
    assert graph.definitions[0] == "barks"


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (
            "label,capital,continent\nGermany,Berlin,Europe\nFrance,Paris,Europe\n"
            "Japan,Tokyo,Asia\n",
            "continent",
        ),
        ("name,currency\nGermany,Euro\nFrance,Euro\nJapan,Yen\n", "currency"),
        ("SKU,Product Name,Brand\n1,Drill,Bosch\n2,Hammer,Bosch\n3,Saw,Tefal\n", "Brand"),
        ("Product ID,Product Name,Brand\n1,Drill,Bosch\n2,Hammer,Bosch\n3,Saw,Tefal\n", "Brand"),
        (
            "Product Name,Parent Category,Brand\nDrill,Tools,Bosch\nHammer,Tools,Bosch\n"
            "Tools,,Tefal\n",
            "Brand",
        ),
    ],
)
def test_a_known_first_column_makes_a_table_of_entities(write, content: str, known: str) -> None:
    graph = read(write("table.csv", content), on_error="skip")
    assert known in graph.relation_ids
    place = content.startswith(("SKU", "Product ID"))
    assert set(graph.labels) >= {line.split(",")[place] for line in content.splitlines()[1:]}


def test_a_list_of_labels_is_a_table_too(write) -> None:
    assert list(
        read(write("list.csv", "label\nPower tools\nDrills\n"), on_error="raise").labels
    ) == [
        "Power tools",
        "Drills",
    ]


def test_triples_of_a_name_are_triples(write) -> None:
    graph = read(
        write("triples.tsv", "name\tdomain\tthing\nurl\tdomain\tthing\nage\tdomain\tperson\n")
    )
    assert list(graph.relation_ids) == ["domain"]
    assert (
        len(
            read(
                write("pairs.csv", "drug_id,treats,disease_name\nd1,treats,flu\nd2,treats,cold\n")
            ).ids
        )
        == 6
    )


@pytest.mark.parametrize(
    "header",
    ["SKU,Product Name,Category", "id,product,category", "SKU,Title,Class", "id,article,category"],
)
def test_a_category_is_a_relation_of_what_stands_before_it(write, header: str) -> None:
    graph = read(
        write("products.csv", f"{header}\nA1,Hammer,Tools\nA2,Saw,Tools\nA3,Apple,Food\n"),
        on_error="skip",
    )
    relation = header.rpartition(",")[2]
    assert list(graph.labels[:3]) == ["Hammer", "Saw", "Apple"]
    assert says(graph)["known"] == {
        ("A1", relation, "Tools"),
        ("A2", relation, "Tools"),
        ("A3", relation, "Food"),
    }


def test_a_column_that_is_taken_for_labels_is_said(write) -> None:
    with pytest.warns(
        ReadWarning, match="took article for the labels, as no column is named label or name"
    ):
        read(write("a.csv", "id,article,shelf\n1,Hammer,low\n2,Saw,low\n3,Apple,top\n"))
    with pytest.warns(ReadWarning, match=r"left out remark \(sentences\): "):  # too long for names
        graph = read(
            write(
                "b.csv",
                "".join(["id,remark\n", *(f"x{at},{'so and so ' * 9}{at}\n" for at in range(5))]),
            )
        )
    assert list(graph.labels) == [f"x{at}" for at in range(5)]


def test_labels_of_something_else_are_values(write) -> None:
    rows = [
        "F1,A crew meets a monster,Ridley Scott",
        "F2,A ship sinks,James Cameron",
        "F3,A replicant,Ridley Scott",
    ]
    with pytest.warns(ReadWarning, match="took summary for the labels"):
        graph = read(write("films.csv", "\n".join(["id,summary,director_name", *rows])))
    assert says(graph)["entities"]["F1"][0] == "A crew meets a monster"
    assert ("F3", "director_name", "Ridley Scott") in says(graph)["known"]
    own = write(
        "products.csv", "product_id,product_name,maker\nP1,Drill,Bolt\nP2,Drill,Bolt\nP3,Saw,Bolt\n"
    )
    assert says(read(own, on_error="raise"))["entities"]["P2"][0] == "Drill"


def test_the_first_key_is_the_id_where_others_stand_beside_it(write) -> None:
    text = (
        "person_id,name,employer_id,city\nP1,Ann Ray,C1,Rome\nP2,Bob Orr,C2,Rome\n"
        "P3,Cy Poe,C1,Oslo\nP4,Dee Fox,C1,Oslo\n"
    )
    said = says(read(write("people.csv", text), on_error="raise"))
    assert said["entities"]["P1"][0] == "Ann Ray"
    assert {("P1", "employer_id", "C1"), ("P1", "city", "Rome")} < said["known"]


@pytest.mark.parametrize(
    ("header", "rows", "identifier", "label"),
    [
        ("dept_id,emp_id,name", ["D1,E1,Ann", "D1,E2,Bob", "D2,E3,Cy"], "E2", "Bob"),
        ("ProductID,ProductName,SupplierID", ["1,Chai,7", "2,Chang,7", "3,Tofu,8"], "2", "Chang"),
        (
            "category_id,product_id,product_name",
            ["C1,P1,Drill", "C1,P2,Saw", "C2,P3,Tea"],
            "P2",
            "Saw",
        ),
        (
            "SKU,Product Name,Colour",
            ["A1,Shirt,red", "A2,Shirt,red", "A3,Shirt,blue"],
            "A2",
            "Shirt",
        ),
        ("id,dept,full_name", ["1,IT,Ann Ray", "2,IT,Ann Ray", "3,HR,Cy Poe"], "2", "Ann Ray"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*left out")
def test_the_id_column_is_the_one_that_distinguishes_rows(
    write, header: str, rows: list[str], identifier: str, label: str
) -> None:
    said = says(read(write("rows.csv", "\n".join([header, *rows]))))
    assert said["entities"][identifier][:2] == (label, set())


@pytest.mark.filterwarnings("ignore:.*left out value")
def test_a_table_of_values_under_an_id_is_one_of_entities_if_more_is_said(write) -> None:
    text = (
        "id,property,value,city\n1,Villa Rosa,350000,Rome\n2,Villa Blu,220000,Rome\n"
        "3,Casa Nera,180000,Oslo\n"
    )
    with pytest.warns(ReadWarning, match="took property for the labels"):
        assert ("1", "city", "Rome") in says(read(write("houses.csv", text)))["known"]


@pytest.mark.parametrize(
    ("content", "links"),
    [
        (
            "drug_name,indication\nA,Pain\nA,Fever\nB,Pain\nB,Fever\n",
            {("A", "indication", "Fever"), ("B", "indication", "Pain")},
        ),
        (
            "gene_name,organ,disease\nG1,eye,D1\nG2,eye,D1\nG1,ear,D2\nG2,ear,D2\n",
            {("G1", "organ", "ear"), ("G2", "disease", "D2")},
        ),
        (
            "# of 2026\n#gene\tpart\tin\tkind\n#\nG1\teye\tx\tA\nG2\teye\tx\tA\nG3\tear\tx\tB\n"
            "G4\tear\tx\tB\n",
            {("G1", "part", "eye"), ("G4", "kind", "B")},
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:.*(took|left out)")
def test_headers_of_few_columns_and_in_comments(
    write, content: str, links: set[tuple[str, str, str]]
) -> None:
    name = "a.tsv" if "\t" in content else "a.csv"
    assert links <= says(read(write(name, content)))["known"]


@pytest.mark.parametrize(
    ("codes", "ids"),
    [
        (["01001", "01003", "05001"], {"01001", "01003", "05001"}),
        (["DE", "FR", "IT"], {"DE", "FR", "IT"}),
        (["1", "2", "3"], {"Lee", "Clay"}),
        (["2020-01-01", "2020-01-02", "2020-01-03"], {"Lee", "Clay"}),
        (["Clay", "Lee", "Bay"], {"Lee", "Clay"}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*(left out|several rows that differ in fips)")
def test_codes_in_the_first_column_distinguish_namesakes(
    write, codes: list[str], ids: set[str]
) -> None:
    rows = [f"{code},{name},AL" for code, name in zip(codes, ("Lee", "Lee", "Clay"), strict=True)]
    said = says(read(write("a.csv", "\n".join(["fips,name,state", *rows]))))
    assert {head for head, relation, _ in said["known"] if relation == "state"} == ids


def test_spaces_before_quotes_are_no_part_of_a_cell(write) -> None:
    rows = [
        '"Bolt", "JAM", "gold"',
        '"Blake, Y.", "JAM", "gold"',
        '"Lewis", "USA", "gold"',
        '"Hines", "USA", "gold"',
    ]
    content = "\n".join(["name, country, medal", *rows])
    assert ("Blake, Y.", "country", "JAM") in says(read(write("a.csv", content), on_error="raise"))[
        "known"
    ]


GENES = [
    (
        "HGNC:5",
        "A1BG",
        "alpha-1-B glycoprotein",
        "",
        "",
        "ENSG00000121410",
        "gene with protein product",
    ),
    (
        "HGNC:37133",
        "A1BG-AS1",
        "A1BG antisense RNA 1",
        "FLJ23569",
        "A1BGAS|A1BG-AS",
        "ENSG00000268895",
        "RNA",
    ),
    (
        "HGNC:24086",
        "A1CF",
        "APOBEC1 complementation factor",
        "ACF, ASP, ACF64",
        "",
        "ENSG00000148584",
        "RNA",
    ),
    (
        "HGNC:7",
        "A2M",
        "alpha-2-macroglobulin",
        "FWP007, S863-7",
        "",
        "ENSG00000175899",
        "gene with protein product",
    ),
    (
        "HGNC:23336",
        "A2ML1",
        "alpha-2-macroglobulin like 1",
        "FLJ25179, p170",
        "CPAMD9",
        "ENSG00000166535",
        "RNA",
    ),
]


@pytest.mark.filterwarnings("ignore:.*left out", "ignore:.*took Approved symbol for the labels")
@pytest.mark.parametrize(
    ("header", "label", "synonym"),
    [
        ("hgnc_id symbol name alias_symbol prev_symbol ensembl_gene_id locus_type", 2, 1),
        (
            "HGNC ID;Approved symbol;Approved name;Alias symbols;Previous symbols;"
            "Ensembl gene ID (supplied by Ensembl, and checked);Locus type",
            1,
            2,
        ),
    ],
)
def test_symbols_are_names(write, header: str, label: int, synonym: int) -> None:
    """As in downloads of the HUGO Gene Nomenclature Committee, complete and of chosen columns."""
    names = header.split(";" if ";" in header else None)
    path = write("genes.tsv", "\n".join("\t".join(row) for row in [names, *GENES]))
    graph = read(path)
    assert list(graph.ids)[:5] == [row[0] for row in GENES]
    assert list(graph.labels)[:5] == [row[label] for row in GENES]
    assert graph.synonyms[1] == (GENES[1][synonym], "FLJ23569", "A1BGAS", "A1BG-AS")
    mapping = TableMapping(
        id=names[:1],
        label=names[label : label + 1],
        synonyms=names[3:4],
        separators={names[3]: ","},
    )
    graph = read(path, mapping=mapping)
    assert graph.synonyms[2] == ("ACF", "ASP", "ACF64")


def test_further_names_are_synonyms(write) -> None:
    content = (
        "id,name,official_name,alternateNames\n"
        "AF,Afghanistan,Islamic Republic of Afghanistan,Kabulistan|Ariana\n"
    )
    said = says(read(write("a.csv", content), on_error="raise"))
    assert said["entities"]["AF"][1] == {"Islamic Republic of Afghanistan", "Kabulistan", "Ariana"}
    assert not said["known"]


@pytest.mark.parametrize(
    "content",
    [
        "Drug,Target,Disease,Dose\nAspirin,COX1,Pain,5\nAspirin,COX2,Pain,7\nIbuprofen,COX1,Fever,5\n"
        "Ibuprofen,COX2,Pain,5\n",
        ",maker,body\n1,audi,compact\n2,audi,estate\n3,ford,compact\n4,ford,estate\n",
        "origin,destination,count\nA,B,3\nA,C,4\nB,C,5\nC,B,1\n",
    ],
)
def test_a_table_whose_rows_have_no_name_of_their_own_is_refused(write, content: str) -> None:
    with pytest.raises(ReadError, match="expected a column of ids or labels, found none"):
        read(write("a.csv", content), on_error="skip")
    mapping = TableMapping(id=("origin",), relations={"destination": RelationColumn()})
    if content.startswith("origin"):
        known = says(read(write("a.csv", content), mapping=mapping))["known"]
        assert ("A", "destination", "C") in known


def test_a_header_of_unknown_names(write) -> None:
    content = (
        "Produkt,Hersteller,Farbe,Preis\nEmil,Holz & Co,rot,19\nOtto,Holz & Co,blau,29\n"
        "Anna,Brett AG,rot,99\n"
    )
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


SKILLS = """code,name,{parent},{other},{text}
S1,Engineering,,,Building and maintaining software
S2,Front-end development,S1,frontend; UI development,Building what users see in a browser
S3,React,S2,ReactJS,A library for user interfaces
"""


@pytest.mark.parametrize("parent", ["Parent skill", "super-skill", "skill parent"])
def test_a_column_named_like_a_parent_has_parents_if_it_names_rows(write, parent: str) -> None:
    table = SKILLS.format(parent=parent, other="aliases", text="description")
    graph = read(write("a.csv", table), on_error="raise")
    assert says(graph)["known"] == {("S2", "is_a", "S1"), ("S3", "is_a", "S2")}
    others = table.replace("S1,frontend", "Sales,frontend").replace("S2,ReactJS", "HR,ReactJS")
    with pytest.warns(ReadWarning, match="left out"):
        assert not says(read(write("b.csv", others)))["known"]


@pytest.mark.parametrize("other", ["also called", "Alternative terms", "entry term"])
def test_columns_of_other_names_have_synonyms(write, other: str) -> None:
    table = SKILLS.format(parent="broader", other=other, text="meaning")
    graph = read(write("a.csv", table), on_error="raise")
    assert list(graph.synonyms[graph.ids.index("S2")]) == ["frontend", "UI development"]
    assert graph.definitions[graph.ids.index("S3")] == "A library for user interfaces"


def test_without_a_column_of_definitions_the_longest_texts_are_definitions(write) -> None:
    table = SKILLS.format(parent="broader", other="head of skill", text="what it is about")
    table = table.replace("ReactJS", "Anna Maria Smith").replace("frontend", "John R. Miller")
    with (
        pytest.warns(ReadWarning, match="took what it is about for the definitions"),
        pytest.warns(ReadWarning, match=r"left out head of skill \(texts that few rows share\)"),
    ):
        graph = read(write("a.csv", table))
    assert graph.definitions[graph.ids.index("S3")] == "A library for user interfaces"
    streets = SKILLS.format(parent="broader", other="aliases", text="office")
    for number, place in enumerate(
        ("Building and maintaining software", "Building what users see in a browser")
    ):
        streets = streets.replace(place, f"{number} Long Street in the town")
    streets = streets.replace("A library for user interfaces", "3 Market Square in the town")
    with pytest.warns(ReadWarning, match="left out office"):
        assert not any(read(write("b.csv", streets)).definitions)


def test_a_column_of_lists_is_a_relation_if_rows_share_some_values(write) -> None:
    table = (
        "title,starring,keywords\nThe Matrix,Keanu Reeves; Laurence Fishburne,hacker; simulation\n"
        "Speed,Keanu Reeves; Sandra Bullock,bus; bomb\n"
        "Gravity,Sandra Bullock; George Clooney,space; debris\n"
    )
    with pytest.warns(ReadWarning, match=r"left out keywords \(texts that few rows share\)"):
        graph = read(write("films.csv", table))
    assert list(graph.relation_labels) == ["starring"]
    assert ("Speed", "starring", "Sandra Bullock") in says(graph)["known"]
