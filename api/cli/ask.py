"""The commands that ask an index: search, links, hierarchy, entailment, explanation and plots."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import ontodex
from ontodex.cli.answers import answer, expect_one_form, open_engine, show, singles
from ontodex.cli.columns import (
    column_of,
    expect_table_file,
    read_rows,
    table_text,
    write_rows,
)
from ontodex.cli.options import (
    Also,
    Batch,
    Definition,
    Device,
    IndexPath,
    Json,
    K,
    KnownChoice,
    PathShown,
    Picture,
    Quiet,
    Rdf,
    Relation,
    Rerank,
    Text,
    Tsv,
    Type,
)
from ontodex.engine.results.about import joined
from ontodex.engine.results.printable import json_text, printable
from ontodex.errors import SettingsError

__all__ = ["COMMANDS"]

GROUNDED = ("term_id", "term_label", "probability", "decision")
"""Columns that ``ground`` adds to a table."""


def search(
    index: IndexPath, text: Text = None, k: K = 10, type: Type = None,
    spans: Annotated[
        bool, typer.Option("--spans", help="Print which phrase matched; needs build --spans.")
    ] = False,
    queries: Batch = None, path: PathShown = False, definition: Definition = False,
    json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank all entities by similarity to TEXT."""
    with open_engine(index, device) as engine:
        answer(
            (text,),
            queries,
            lambda asked: engine.search_batch(singles(asked), k, spans=spans, type=type),
            json,
            tsv,
            path=path,
            definition=definition,
        )


def ground(
    index: IndexPath,
    file: Annotated[
        Path, typer.Argument(help="A table (TSV, CSV or Excel); its first row names the columns.")
    ],
    column: Annotated[
        str | None,
        typer.Option(help="Name of the column; not needed if there is one.", show_default=False),
    ] = None,
    type: Type = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="File to write: .tsv, .csv or .xlsx.", show_default=False
        ),
    ] = None,
    path: PathShown = False,
    definition: Definition = False,
    json: Json = False,
    device: Device = "auto",
) -> None:
    """Find the term that each text of a column means, or none, with a probability.

    The table is printed with the columns term_id, term_label, probability and decision (match or
    none) added, and with --path and --definition also term_path and term_definition; the term is
    the most probable one, whatever the decision.
    """
    if output is not None:
        expect_table_file(output)
    rows = read_rows(file)
    at = column_of(rows[0], column, file)
    with open_engine(index, device) as engine:
        found = engine.ground([row[at] for row in rows[1:]], type=type)
        found = found.described(path=path, definition=definition)
    columns = [*GROUNDED, *["term_path"] * path, *["term_definition"] * definition]
    table: list[list[Any]] = [[*rows[0], *columns]]
    table += [
        [*row, *(None if one.decision == "" else joined(getattr(one, name)) for name in columns)]
        for row, one in zip(rows[1:], found, strict=True)
    ]
    if output is not None:
        write_rows(table, output)
    if json:
        show(found, json=True)
    elif output is None:
        shown = [
            [printable(cell) if isinstance(cell, str) else cell for cell in row] for row in table
        ]
        typer.echo(table_text(shown), nl=False)


def complete(
    index: IndexPath,
    prefix: Annotated[str, typer.Argument(help="Letters typed so far.")],
    k: K = 10, json: Json = False, tsv: Tsv = False,
) -> None:  # fmt: skip
    """Complete a name: labels and synonyms with a word that starts with PREFIX."""
    expect_one_form(json=json, tsv=tsv)
    with open_engine(index, "cpu") as engine:
        show(engine.complete(prefix, k), json=json, tsv=tsv)


def describe(
    index: IndexPath,
    entity: Annotated[str, typer.Argument(help="A CURIE, an IRI, a label or a synonym.")],
    json: Json = False,
) -> None:
    """Print what the graph says of an entity: names, definition, hierarchy and links."""
    with open_engine(index, "cpu") as engine:
        show(engine.describe(entity), json=json)


def similar(
    index: IndexPath, text: Text = None, k: K = 10,
    condition: Annotated[
        str | None, typer.Option(help="What the similarity is about: a relation, or any text.")
    ] = None,
    condition_memory: Annotated[
        int | None,
        typer.Option(
            help="Bytes of memory for entities under conditions, for later queries.",
            show_default="1 GiB",
        ),
    ] = None,
    condition_disk: Annotated[
        int | None,
        typer.Option(
            help="Bytes of the index's folder for projections of conditions; 0 for none.",
            show_default="256 MiB",
        ),
    ] = None,
    queries: Batch = None, path: PathShown = False, definition: Definition = False,
    json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank the other entities by similarity to a text or entity, optionally under a condition."""
    with open_engine(
        index, device, condition_memory=condition_memory, condition_disk=condition_disk
    ) as engine:
        answer(
            (text,),
            queries,
            lambda asked: engine.similar_batch(singles(asked), k, condition=condition),
            json,
            tsv,
            path=path,
            definition=definition,
        )


def tails(
    index: IndexPath, head: Text = None, relation: Relation = None, k: K = 10,
    known: KnownChoice = "exclude", also_known: Also = None, type: Type = None,
    queries: Batch = None, path: PathShown = False, definition: Definition = False,
    json: Json = False, tsv: Tsv = False, rdf: Rdf = False, rerank: Rerank = None,
    device: Device = "auto",
) -> None:  # fmt: skip
    """Rank the entities that HEAD may be linked to by RELATION."""
    with open_engine(index, device, also_known, rerank) as engine:
        answer(
            (head, relation),
            queries,
            lambda asked: engine.tails_batch(asked, k, known, type=type),
            json,
            tsv,
            rdf,
            path=path,
            definition=definition,
        )


def heads(
    index: IndexPath, relation: Relation = None, tail: Text = None, k: K = 10,
    known: KnownChoice = "exclude", also_known: Also = None, type: Type = None,
    queries: Batch = None, path: PathShown = False, definition: Definition = False,
    json: Json = False, tsv: Tsv = False, rdf: Rdf = False, rerank: Rerank = None,
    device: Device = "auto",
) -> None:  # fmt: skip
    """Rank the entities that may be linked to TAIL by RELATION."""
    with open_engine(index, device, also_known, rerank) as engine:
        answer(
            (relation, tail),
            queries,
            lambda asked: engine.heads_batch(asked, k, known, type=type),
            json,
            tsv,
            rdf,
            path=path,
            definition=definition,
        )


def relations(
    index: IndexPath, head: Text = None, tail: Text = None, k: K = 10,
    known: KnownChoice = "include", also_known: Also = None, queries: Batch = None,
    json: Json = False, tsv: Tsv = False, rdf: Rdf = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank the relations that may link HEAD to TAIL."""
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
        str | None,
        typer.Argument(help="A relation of the graph; by default all.", show_default=False),
    ] = None,
    k: K = 20,
    linked: Annotated[
        bool, typer.Option(help="Include pairs that another relation links already.")
    ] = True,
    also_known: Also = None, json: Json = False, tsv: Tsv = False, rdf: Rdf = False,
    device: Device = "auto", quiet: Quiet = False,
) -> None:  # fmt: skip
    """List the most probable links that the graph lacks, of one relation or all (some minutes)."""
    expect_one_form(json=json, tsv=tsv, rdf=rdf)
    with open_engine(index, device, also_known) as engine:
        found = engine.missing(relation, k, linked=linked, quiet=quiet)
    show(found, json=json, tsv=tsv, rdf=rdf)


def why(
    index: IndexPath,
    head: Annotated[str, typer.Argument(help="An entity or any text.", show_default=False)],
    relation: Annotated[
        str, typer.Argument(help="A relation of the graph, or any text.", show_default=False)
    ],
    tail: Annotated[str, typer.Argument(help="An entity of the graph.", show_default=False)],
    k: Annotated[int, typer.Option("-k", min=1, help="Number of links to name of each kind.")] = 3,
    also_known: Also = None, json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Explain the score of a link: its parts, and the known links that are evidence for it."""
    expect_one_form(json=json, tsv=tsv)
    with open_engine(index, device, also_known) as engine:
        found = engine.why(head, relation, tail, k)
    show(found, json=json, tsv=tsv)


def parents(
    index: IndexPath, text: Text = None, k: K = 10, known: KnownChoice = "include",
    queries: Batch = None, path: PathShown = False, definition: Definition = False,
    json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank the entities that are more general than an entity or a text, with probabilities.

    Asserted ancestors are marked.
    """
    with open_engine(index, device) as engine:
        answer(
            (text,),
            queries,
            lambda asked: engine.parents_batch(singles(asked), k, known),
            json,
            tsv,
            path=path,
            definition=definition,
        )


def children(
    index: IndexPath, text: Text = None, k: K = 10, known: KnownChoice = "include",
    queries: Batch = None, path: PathShown = False, definition: Definition = False,
    json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank the entities that are more specific than an entity or a text, with probabilities.

    Asserted descendants are marked.
    """
    with open_engine(index, device) as engine:
        answer(
            (text,),
            queries,
            lambda asked: engine.children_batch(singles(asked), k, known),
            json,
            tsv,
            path=path,
            definition=definition,
        )


def place(
    index: IndexPath, text: Text = None, k: K = 5, queries: Batch = None, json: Json = False,
    tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Place a new concept in the hierarchy, between a parent and some of the parent's children."""
    with open_engine(index, device) as engine:
        answer((text,), queries, lambda asked: engine.place_batch(singles(asked), k), json, tsv)


def audit(
    index: IndexPath, k: K = 20, json: Json = False, tsv: Tsv = False,
    sssom: Annotated[
        bool, typer.Option("--sssom", help="Print SSSOM/TSV, for curation tools.")
    ] = False,
    device: Device = "auto",
) -> None:  # fmt: skip
    """List doubtful, missing and redundant links of the hierarchy, at most k of each kind."""
    expect_one_form(json=json, tsv=tsv, sssom=sssom)
    with open_engine(index, device) as engine:
        found = engine.audit(k)
    show(found, json=json, tsv=tsv, sssom=sssom)


def entailed_by(
    index: IndexPath, text: Text = None, k: K = 10, known: KnownChoice = "include",
    queries: Batch = None, path: PathShown = False, definition: Definition = False,
    json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank the entities that an entity or a text entails, with the sentence that matched.

    Asserted ancestors are marked.
    """
    with open_engine(index, device) as engine:
        answer(
            (text,),
            queries,
            lambda asked: engine.entailed_by_batch(singles(asked), k, known),
            json,
            tsv,
            path=path,
            definition=definition,
        )


def entailing(
    index: IndexPath, text: Text = None, k: K = 10, known: KnownChoice = "include",
    queries: Batch = None, path: PathShown = False, definition: Definition = False,
    json: Json = False, tsv: Tsv = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Rank the entities that entail an entity or a text, with the sentence that matched.

    Asserted descendants are marked.
    """
    with open_engine(index, device) as engine:
        answer(
            (text,),
            queries,
            lambda asked: engine.entailing_batch(singles(asked), k, known),
            json,
            tsv,
            path=path,
            definition=definition,
        )


def entails(
    index: IndexPath, premise: Text = None, hypothesis: Text = None, queries: Batch = None,
    json: Json = False, device: Device = "auto",
) -> None:  # fmt: skip
    """Judge whether PREMISE entails HYPOTHESIS, and the reverse, each with a probability."""
    with open_engine(index, device) as engine:
        answer((premise, hypothesis), queries, engine.direction_batch, json, False)


def tree(
    model: Annotated[Path, typer.Argument(help="Folder of a Self-StrAE encoder.")],
    text: Annotated[str, typer.Argument(help="Any text.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Draw the tree: .svg or .png.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Print the tree that an encoder builds for TEXT, with the similarity of each merge."""
    if not text.strip():
        raise SettingsError(f"text: expected words, found {text!r}")
    found = ontodex.load_self_strae(model).trees([text])[0]
    if output is not None:
        ontodex.draw_tree(found, output)
    if json:
        nodes = [
            {**vars(node), "text": found.span(number)} for number, node in enumerate(found.nodes)
        ]
        typer.echo(json_text({"text": found.text, "nodes": nodes}))
    elif output is None:
        typer.echo(printable(str(found)))


def plot(
    index: IndexPath,
    output: Picture,
    root: Annotated[str | None, typer.Option(help="Draw the hierarchy around this entity.")] = None,
    norms: Annotated[bool, typer.Option("--norms", help="Draw hyperbolic norms by depth.")] = False,
    answers: Annotated[
        int, typer.Option(help="Number of predicted parents, and children, to draw too.", min=0)
    ] = 0,
    limit: Annotated[int, typer.Option(help="Largest number of entities drawn.", min=1)] = 3000,
    device: Device = "auto",
) -> None:
    """Draw the hierarchy in the Poincaré disk (--root ENTITY), or norms by depth (--norms)."""
    if norms == (root is not None):
        raise SettingsError(
            f"expected one of --root ENTITY and --norms, found {'both' if norms else 'neither'}"
        )
    with open_engine(index, device) as engine:
        if root is None:
            engine.plot_norms(output)
        else:
            engine.plot(root, output, answers=answers, limit=limit)


COMMANDS = (
    search,
    ground,
    complete,
    describe,
    similar,
    tails,
    heads,
    relations,
    missing,
    why,
    parents,
    children,
    place,
    audit,
    entailed_by,
    entailing,
    entails,
    tree,
    plot,
)
"""The commands of this module, in the order of the help."""
