"""Taxonomies whose categories are named by paths, or by a column for each level."""

from __future__ import annotations

import pytest

from ontodex.errors import ReadError
from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says

GOODS = """# Google_Product_Taxonomy_Version: 2021-09-21
Pets
Pets > Supplies
Pets > Supplies > Bowls, Feeders & Waterers
Food, Drinks & Tobacco
Food, Drinks & Tobacco > Supplies
"""
LINE = "\n"
CHAIN = {
    ("Pets > Supplies", "is_a", "Pets"),
    ("Pets > Supplies > Bowls, Feeders & Waterers", "is_a", "Pets > Supplies"),
    ("Food, Drinks & Tobacco > Supplies", "is_a", "Food, Drinks & Tobacco"),
}
VIDEO = {("A > Video", "is_a", "A"), ("A > Video > TV", "is_a", "A > Video")}
SHELVES = [
    f"Goods > {kind} > {place}"
    for kind in ("Food", "Toys", "Tools")
    for place in (f"new {kind}", f"old {kind}")
]
SOFAS = {("Home > Sofas", "is_a", "Home"), ("Home > Beds", "is_a", "Home")}


def upwards(path: str) -> set[tuple[str, str, str]]:
    """Return the links of a path to what it begins with."""
    names = path.split(" > ")
    return {
        (" > ".join(names[: at + 1]), "is_a", " > ".join(names[:at])) for at in range(1, len(names))
    }


@pytest.mark.parametrize(
    "content", [GOODS, GOODS.replace(" > ", ">"), f"category\n{GOODS.partition(LINE)[2]}"]
)
def test_a_path_a_line(write, content: str) -> None:
    graph = read(write("taxonomy.txt", content), on_error="raise")
    assert says(graph)["known"] == CHAIN
    assert (
        dict(zip(graph.ids, graph.labels, strict=True))["Food, Drinks & Tobacco > Supplies"]
        == "Supplies"
    )
    assert graph.n_entities == 5


@pytest.mark.parametrize(
    "content",
    [
        "# v1\n7 - A\n8 - A > Video\n9 - A > Video > TV, sets\n",
        "gid://x/7   : A\ngid://x/8   : A > Video\ngid://x/9   : A > Video > TV, sets\n",
        "7\tA\n8\tA > Video\n9\tA > Video > TV, sets\n",
        '7,A\n8,A > Video\n9,"A > Video > TV, sets"\n',
    ],
)
def test_ids_before_paths(write, content: str) -> None:
    graph = read(write("taxonomy.txt", content), on_error="raise")
    named = dict(zip((name[-1] for name in graph.ids), graph.labels, strict=True))
    assert named == {"7": "A", "8": "Video", "9": "TV, sets"}
    assert {(head[-1], tail[-1]) for head, _, tail in says(graph)["known"]} == {
        ("8", "7"),
        ("9", "8"),
    }  # type: ignore[attr-defined]
    assert graph.ids[graph.find("A > Video")[0]][-1] == "8"  # type: ignore[index]


@pytest.mark.parametrize(
    ("content", "known"),
    [
        ("id,path\n9,A/Video/TV\n8,A/Video\n7,A\n", {("9", "is_a", "8"), ("8", "is_a", "7")}),
        ("path\n/A/Video/TV\n/A/Video\n", VIDEO),
        ("name,full path\nTV,A / Video / TV\n", VIDEO),
        ("name,definition\nA > Video > TV,it shows\n", VIDEO),
        ("category_id,category\n8,a > video\n7,a\n", {("8", "is_a", "7")}),
        (
            "id,name,parent\n7,A,\n8,Video,A\n9,TV,A > Video\n10,DVD,A > Video\n",
            {("8", "is_a", "7"), *((x, "is_a", "8") for x in ("9", "10"))},
        ),
        (
            "category_path,colour\nA > Video,red\nA > Audio,red\nA,red\n",
            {
                ("A > Video", "is_a", "A"),
                ("A > Audio", "is_a", "A"),
                ("A > Video", "colour", "red"),
                ("A > Audio", "colour", "red"),
                ("A", "colour", "red"),
            },
        ),
        ("id,category_path,obsolete\n9,A > Video > TV,\n8,A > Video,true\n", set()),
    ],
)
def test_a_column_of_the_rows_own_paths(
    write, content: str, known: set[tuple[str, str, str]]
) -> None:
    assert says(read(write("a.csv", content), on_error="raise"))["known"] == known


@pytest.mark.parametrize(
    ("content", "links", "above"),
    [
        (
            "sku,name,category\n1,x,Home > Sofas\n2,y,Home > Beds\n",
            {("1", "Home > Sofas"), ("2", "Home > Beds")},
            SOFAS,
        ),
        (
            "sku,category\n1,Home > Sofas\n2,Home > Beds\n3,Home > Beds\n",
            {("1", "Home > Sofas"), ("2", "Home > Beds"), ("3", "Home > Beds")},
            SOFAS,
        ),
        (
            'id,name,tree\n1,x,"[""Home >> Sofas""]"\n2,y,"[""Home >> Beds""]"\n',
            {("1", "Home > Sofas"), ("2", "Home > Beds")},
            SOFAS,
        ),
        (
            'id,name,kind\n1,x,"Home > Sofas|Home > Beds"\n2,y,n/a\n3,z,Home\n',
            {("1", "Home > Sofas"), ("1", "Home > Beds"), ("3", "Home")},
            SOFAS,
        ),
        (
            "id,name,kind path\n1,x,Home/Sofas|Home/Beds\n2,y,Home\n",
            {("1", "Home > Sofas"), ("1", "Home > Beds"), ("2", "Home")},
            SOFAS,
        ),
        (
            "id,name,kind path\n"
            + "".join(f"{row},x,{path.replace(' > ', '|')}\n" for row, path in enumerate(SHELVES)),
            {(str(row), path) for row, path in enumerate(SHELVES)},
            {pair for path in SHELVES for pair in upwards(path)},
        ),
        ("id,name,breadcrumb\n1,x,A::Video::TV\n", {("1", "A > Video > TV")}, VIDEO),
    ],
)
def test_a_column_that_links_rows_to_categories(
    write, content: str, links: set[tuple[str, str]], above: set[tuple[str, str, str]]
) -> None:
    known = says(read(write("a.csv", content), on_error="raise"))["known"]
    relation = content.splitlines()[0].rpartition(",")[2]
    assert known == {(head, relation, tail) for head, tail in links} | above


@pytest.mark.parametrize(
    "content",
    [
        "id,name,band\n1,x,AC/DC\n2,y,AC/DC\n3,z,AC/DC\n",
        "id,name,kind\n1,x,A/Video/TV\n2,y,A/Video/TV\n",
        "id,name,when\n1,x,2020/01/02\n2,y,2020/01/02\n",
        "id,name,site\n1,x,http://a.org/b/c\n2,y,http://a.org/b/c\n",
        "id,name,genre\n1,x,drama|crime|war\n2,y,drama|crime|war\n",
        "id,name,runs on\n1,x,Windows|Linux\n2,y,Linux|macOS\n3,z,Windows|macOS\n4,w,Linux\n"
        "5,v,macOS|Linux\n",
        "id,name,speaks\n1,x,French/Dutch\n2,y,French\n3,z,Dutch\n4,w,Dutch/French\n",
        "id,name,html\n1,x,<b>bold</b>\n2,y,<b>bold</b>\n",
        "A > B,is_a,A\nA > C,is_a,A\n",
        "L1,binds,L2\nL2,binds,L1\n",
    ],
)
def test_what_is_no_path_is_left_as_it_is(write, content: str) -> None:
    known = says(read(write("a.csv", content), on_error="skip"))["known"]
    assert all(tail in content for _, _, tail in known)  # type: ignore[attr-defined]
    assert not {tail for _, _, tail in known} & {"AC", "drama > crime > war"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("content", "known"),
    [
        ("Level 1,Level 2,Level 3\nA,,\nA,Video,\nA,Video,TV\n", VIDEO),
        ("Level 1,Level 2,Level 3\nA,,\n,Video,\n,,TV\n", VIDEO),
        ("L1,L2,L3\nA,Video,TV\nA,Video,Video\n", VIDEO),
        ("Tier 2\tTier 1\tName\tID\n\tA\tA\t7\nVideo\tA\tVideo\t8\n", {("8", "is_a", "7")}),
        (
            "sku,name,Goods L1,Goods L2\n1,x,Home,Sofas\n2,y,Home,Beds\n",
            {("1", "goods", "Home > Sofas"), ("2", "goods", "Home > Beds"), *SOFAS},
        ),
    ],
)
def test_a_column_for_each_level(write, content: str, known: set[tuple[str, str, str]]) -> None:
    assert says(read(write("a.csv", content), on_error="raise"))["known"] == known


def test_a_frame_with_paths() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2], "name": ["x", "y"], "category": ["Home > Sofas", None]})
    assert says(read(frame, on_error="raise"))["known"] == {
        ("1", "category", "Home > Sofas"),
        ("Home > Sofas", "is_a", "Home"),
    }


@pytest.mark.parametrize("is_first", [True, False])
def test_a_taxonomy_with_ids_and_a_table_of_its_paths_meet_in_any_order(
    write, is_first: bool
) -> None:
    taxonomy = write("taxonomy.txt", "701 - A\n802 - A > Video\n")
    goods = write("goods.csv", "sku,name,category\nx1,Radio,A > Audio\nx2,Set,A > Video\n")
    graph = read(*((taxonomy, goods) if is_first else (goods, taxonomy)), on_error="raise")
    assert says(graph)["known"] == {
        *(
            ("802", "is_a", "701"),
            ("A > Audio", "is_a", "701"),
            ("x1", "category", "A > Audio"),
            ("x2", "category", "802"),
        ),
    }


def test_a_faulty_row_of_a_table_of_paths_is_named(write) -> None:
    path = write("a.csv", "id,path\n1,A > B\n2,A > B > C,3,4\n,\n5,A > D\n")
    with pytest.warns(ReadWarning, match="a.csv:3: expected 2 columns, found 4"):
        graph = read(path)
    assert graph.skipped == 2
    assert says(graph)["known"] == {("1", "is_a", "A"), ("5", "is_a", "A")}


def test_a_list_of_few_paths_is_read_when_asked_for(write) -> None:
    path = write("files.txt", "readme\nlicence\nnotes\ndocs/guide\n")
    with pytest.raises(ReadError, match="paths by --format paths"):
        read(path, on_error="raise")
    assert says(read(path, format="paths", on_error="raise"))["entities"].keys() >= {
        "readme",
        "docs > guide",
    }  # type: ignore[attr-defined]


def test_structures_of_molecules_are_neither_paths_nor_lists(write) -> None:
    """InChIs have slashes and commas, and begin alike."""
    inchi = (
        "InChI=1S/C{0}H26N6O/c1-4-15({0}-26)22-19-23,17({0}-10)/h5-9,12-13,26H,4,10-11H2,"
        "(H2,20,{0},24)/t15-/s1"
    )
    rows = [f'd{number},drug {number},"{inchi.format(number)}",kinase' for number in range(11, 21)]
    with pytest.warns(ReadWarning, match="left out InChI"):
        graph = read(write("drugs.csv", "\n".join(["id,name,InChI,target", *rows])))
    assert list(graph.relation_ids) == ["target"]
