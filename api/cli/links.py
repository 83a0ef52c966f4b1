"""``ontodex tails``, ``heads``, ``relations``, ``missing`` and ``why``."""

from __future__ import annotations

from typing import Annotated

import typer

from ontodex.cli.answers import answer, expect_one_form, open_engine, show
from ontodex.cli.options import (
    Also,
    Batch,
    Device,
    IndexPath,
    Json,
    K,
    KnownChoice,
    Quiet,
    Rdf,
    Rerank,
    Text,
    Tsv,
)

__all__ = ["heads", "missing", "relations", "tails", "why"]

Relation = Annotated[
    str | None, typer.Argument(help="A relation of the graph, or any text.", show_default=False)
]


def tails(
    index: IndexPath, head: Text = None, relation: Relation = None, k: K = 10, known: KnownChoice = "exclude",
    also_known: Also = None, queries: Batch = None, json: Json = False, tsv: Tsv = False, rdf: Rdf = False,
    rerank: Rerank = None, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank what HEAD may be linked to by RELATION."""
    with open_engine(index, device, also_known, rerank) as engine:
        answer(
            (head, relation),
            queries,
            lambda asked: engine.tails_batch(asked, k, known),
            json,
            tsv,
            rdf,
        )


def heads(
    index: IndexPath, relation: Relation = None, tail: Text = None, k: K = 10, known: KnownChoice = "exclude",
    also_known: Also = None, queries: Batch = None, json: Json = False, tsv: Tsv = False, rdf: Rdf = False,
    rerank: Rerank = None, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank what may be linked to TAIL by RELATION."""
    with open_engine(index, device, also_known, rerank) as engine:
        answer(
            (relation, tail),
            queries,
            lambda asked: engine.heads_batch(asked, k, known),
            json,
            tsv,
            rdf,
        )


def relations(
    index: IndexPath, head: Text = None, tail: Text = None, k: K = 10, known: KnownChoice = "include",
    also_known: Also = None, queries: Batch = None, json: Json = False, tsv: Tsv = False, rdf: Rdf = False,
    device: Device = "auto",
) -> None:  # fmt: skip
    """Rank the relations that may lead from HEAD to TAIL."""
    with open_engine(index, device, also_known) as engine:
        answer(
            (head, tail),
            queries,
            lambda asked: engine.relations_batch(asked, k, known),
            json,
            tsv,
            rdf,
        )


def missing(
    index: IndexPath,
    relation: Annotated[
        str | None, typer.Argument(help="A relation of the graph; by default all.", show_default=False)
    ] = None,
    k: K = 20,
    linked: Annotated[
        bool, typer.Option(help="Whether two that some relation links already may lack a link by another.")
    ] = True,
    also_known: Also = None, json: Json = False, tsv: Tsv = False, rdf: Rdf = False, device: Device = "auto",
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """List the links that the graph lacks most likely, of all relations or one, with probabilities: some minutes."""
    expect_one_form(json=json, tsv=tsv, rdf=rdf)
    with open_engine(index, device, also_known) as engine:
        found = engine.missing(relation, k, linked=linked, quiet=quiet)
    show(found, json=json, tsv=tsv, rdf=rdf)


def why(
    index: IndexPath,
    head: Annotated[str, typer.Argument(help="An entity or any text.", show_default=False)],
    relation: Annotated[str, typer.Argument(help="A relation of the graph, or any text.", show_default=False)],
    tail: Annotated[str, typer.Argument(help="An entity of the graph.", show_default=False)],
    k: Annotated[int, typer.Option("-k", min=1, help="How many links to name of each kind.")] = 3,
    also_known: Also = None, json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Explain the score of TAIL as an answer to HEAD and RELATION: what adds to it, and the known links behind it."""
    expect_one_form(json=json, tsv=tsv)
    with open_engine(index, device, also_known) as engine:
        found = engine.why(head, relation, tail, k)
    show(found, json=json, tsv=tsv)
