"""Graphs that are in memory already."""

from __future__ import annotations

import io

import networkx
import pandas
import pytest

from ontodex.graph import ReadWarning
from ontodex.readers import read
from tests.graph_strategies import says


def test_edges_without_a_direction_make_a_warning() -> None:
    frame = pandas.DataFrame(
        [("dog", "is_a", "animal"), ("poodle", "is_a", "dog")], columns=["head", "relation", "tail"]
    )
    edges = {"source": "head", "target": "tail", "edge_attr": "relation"}
    with pytest.warns(
        ReadWarning, match="expected a directed graph, found one whose edges have no direction"
    ):
        read(networkx.from_pandas_edgelist(frame, **edges))
    directed = networkx.from_pandas_edgelist(frame, **edges, create_using=networkx.DiGraph)
    assert says(read(directed, on_error="raise"))["known"] == says(read(frame))["known"]


def test_an_index_with_a_name_is_a_column(write) -> None:
    table = "id,label,parent,habitat\nA1,dog,A2,land\nA2,animal,,land\nA3,carp,A2,water\n"
    indexed = read(pandas.read_csv(io.StringIO(table), index_col="id"), on_error="raise")
    assert says(indexed) == says(read(write("a.csv", table), on_error="raise"))


def test_columns_of_other_names_make_a_warning() -> None:
    rows = [("Ann", "lives in", "Rome"), ("Bob", "lives in", "Rome"), ("Cy", "lives in", "Oslo")]
    with pytest.warns(
        ReadWarning,
        match="took the three columns, person, how, city, for head, relation and tail",
    ):
        named = read(pandas.DataFrame(rows, columns=["person", "how", "city"]))
    assert (
        says(named)["known"]
        == set(rows)
        == says(read(pandas.DataFrame(rows), on_error="raise"))["known"]
    )
