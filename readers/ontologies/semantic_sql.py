"""Reading Semantic-SQL: databases with the RDF statements of an ontology, as used by OAK.

See https://github.com/INCATools/semantic-sql.
"""

from __future__ import annotations

from collections import ChainMap
from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.prefixes import WELL_KNOWN, expand
from ontodex.readers.ontologies.meaning import interpret
from ontodex.readers.ontologies.statements import RdfStatements
from ontodex.readers.problems import Problems
from ontodex.readers.tables.databases import columns_of, opened_database, rows_in

__all__ = ["is_semantic_sql", "read_semantic_sql"]

COLUMNS = ("subject", "predicate", "object", "value", "language")


def is_semantic_sql(path: Path) -> bool:
    """Return whether a database has a table of RDF statements.

    Raises:
        ReadError: If the database cannot be read.
    """
    with opened_database(path) as database:
        return {*COLUMNS} <= {*columns_of(database).get("statements", [])}


def read_semantic_sql(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read the RDF statements of a database; its table of prefixes is used to expand CURIEs.

    Args:
        path: The database.
        builder: Receives the graph.
        problems: Receives remarks.

    Raises:
        ReadError: If the database cannot be read.
    """
    statements = RdfStatements(builder.source, builder.language)
    spaces = ChainMap(statements.prefixes, dict(WELL_KNOWN))

    def name(short: str) -> str:
        return short if short.startswith("_:") else expand(short, spaces) or short

    with opened_database(path) as database:
        if {"prefix", "base"} <= {*columns_of(database).get("prefix", [])}:
            spaces_in = rows_in(
                database, "SELECT prefix, base FROM prefix WHERE prefix <> '' AND base <> ''", path
            )
            statements.prefixes.update((str(prefix), str(base)) for prefix, base in spaces_in)
        query = "SELECT subject, predicate, object, value, language FROM statements"
        for row in rows_in(database, query, path):
            subject, predicate, target, value, language = (
                cell if isinstance(cell, str) else "" for cell in row
            )
            if subject and predicate and target:
                statements.link(name(subject), name(predicate), name(target))
            elif subject and predicate:
                statements.literal(name(subject), name(predicate), value, language)
    interpret(statements, builder, problems)
