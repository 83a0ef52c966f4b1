"""Reading a graph from files, folders and objects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from ontodex.errors import ReadError, SettingsError, expect_choice
from ontodex.graph.builder import LANGUAGE, GraphBuilder
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.merging import merge
from ontodex.graph.notices import ReadWarning
from ontodex.readers.annotations import ANNOTATIONS, read_annotations
from ontodex.readers.archives import Archives, innermost
from ontodex.readers.conceptnet import read_conceptnet
from ontodex.readers.folders import read_splits, split_files
from ontodex.readers.formats import GRAPH_XML, format_of
from ontodex.readers.gene_sets import read_gene_sets
from ontodex.readers.graph_xml import read_graph_xml
from ontodex.readers.joining import Document
from ontodex.readers.mapping.model import as_mappings
from ontodex.readers.memory import is_frame, read_frame, read_networkx
from ontodex.readers.ncbi_taxonomy import is_taxdump, read_taxdump
from ontodex.readers.numbered import is_numbered, read_numbered
from ontodex.readers.ontologies.obo import read_obo
from ontodex.readers.ontologies.obographs import read_obographs
from ontodex.readers.ontologies.owl_functional import read_owl_functional
from ontodex.readers.ontologies.owl_manchester import read_owl_manchester
from ontodex.readers.ontologies.owl_xml import read_owl_xml
from ontodex.readers.ontologies.rdf import RDF_FORMATS, read_rdf, read_rdflib
from ontodex.readers.ontologies.semantic_sql import is_semantic_sql, read_semantic_sql
from ontodex.readers.opening import How, opened_sources
from ontodex.readers.problems import Problems
from ontodex.readers.records import read_records
from ontodex.readers.sentences import read_sentences
from ontodex.readers.snomed import is_snomed, read_snomed
from ontodex.readers.sqlite import is_database
from ontodex.readers.tables.databases import tables_of
from ontodex.readers.tables.outlines import read_outline
from ontodex.readers.tables.parts import Part, warn_of_clashes, warn_of_columns, with_named
from ontodex.readers.tables.path_files import read_paths
from ontodex.readers.tables.reader import read_table
from ontodex.readers.tables.table import Table
from ontodex.readers.tables.workbooks import Sheet, is_workbook, sheets_of
from ontodex.readers.tables.xml import read_elements
from ontodex.readers.umls import is_umls, read_umls
from ontodex.readers.wikibase import read_wikibase
from ontodex.readers.wordnet import is_wordnet, read_wordnet

__all__ = ["FORMATS", "ReadWarning", "read"]

ABOUT_OTHERS = re.compile(
    r"(?:readme|licen[cs]e|changelog)(?:\.txt)?|datapackage\.json|.*\.(?:md|rst|pdf|html?)",
    re.IGNORECASE,
)
"""Names of files that say something of the other files of a folder."""

FOLDERS = {
    "wordnet": (is_wordnet, read_wordnet),
    "numbered": (is_numbered, read_numbered),
    "taxdump": (is_taxdump, read_taxdump),
    "snomed": (is_snomed, read_snomed),
    "umls": (is_umls, read_umls),
}
"""Formats of folders: what tells them, and what reads them."""

FORMATS = (
    "table",
    "workbook",
    "database",
    "paths",
    "outline",
    *ANNOTATIONS,
    "gmt",
    "conceptnet",
    "obo",
    *RDF_FORMATS,
    "owlxml",
    "functional",
    "manchester",
    *GRAPH_XML,
    "xml",
    "json",
    "yaml",
    "splits",
    *FOLDERS,
    "sentences",
)

PLAIN_READERS = {
    "database": read_semantic_sql,
    "obo": read_obo,
    "owlxml": read_owl_xml,
    "functional": read_owl_functional,
    "manchester": read_owl_manchester,
    "gmt": read_gene_sets,
    "conceptnet": read_conceptnet,
    "outline": read_outline,
    "sentences": read_sentences,
}
"""Of formats that need no more than a path."""

FORMS: dict[str, Callable[[Any, GraphBuilder, Problems], None]] = {
    "obographs": read_obographs,
    "wikibase": read_wikibase,
}
"""Of what JSON holds but records."""


def read(
    source: Any,
    *more: Any,
    on_error: str = "warn",
    format: str | None = None,
    language: str = LANGUAGE,
    negated: bool = False,
    mapping: Any = None,
) -> KnowledgeGraph:
    """Read a knowledge graph or an ontology, from one source or several.

    Files may be zipped (gzip, bzip2, xz), and a zip or tar archive is what is in it. Their format is known by content and
    suffix: triples in TSV or CSV (with a header such as head, relation, tail, or three columns without one), entities in
    TSV or CSV (with a header such as id, label, parent), either as sheets of an Excel workbook, tables of SQLite, objects
    of JSON or YAML or elements of XML, paths of categories (Animals > Birds), a line each or in a column, outlines,
    annotations (GAF, GPAD and GPI, phenotype.hpoa), gene sets (GMT), ConceptNet's assertions, OBO, RDF (RDF/XML, Turtle,
    N-Triples, N-Quads, TriG, JSON-LD), OWL/XML, the functional and the Manchester syntax of OWL, GraphML, GEXF and
    OBO-graph JSON. A folder holds train, valid and test (of numbers, too, as OpenKE and LibKGE have them), with names and
    definitions beside them, a WordNet database, a dump of the NCBI Taxonomy, or a release of SNOMED CT, UMLS or RxNorm; of
    any other each file is a source, but for what is of another format or cannot be read, with a warning. Nothing is ever
    fetched: imports are left out.

    Several sources, such as an ontology and tables of annotations, make one graph, in their order, as
    :func:`ontodex.graph.merge` joins them: entities meet by CURIE or IRI, whatever prefixes each source has. The
    alternative ids of an ontology stand for its terms in the sources after it. Tables whose rows name rows of one another by
    keys, as those of a database do, are joined (see :func:`.tables.joins.joins_of`): where their ids are numbers, the name
    of the table stands before each (``companies:1``), with a warning.

    Args:
        source: Path of a file or folder, or an rdflib graph, a networkx graph or a data frame; a graph that is read
            already is returned as it is.
        more: Further sources.
        on_error: What to do about faulty parts: ``"raise"`` stops at the first, ``"warn"`` leaves them out and gives
            one :class:`ReadWarning` a source at the end, ``"skip"`` leaves them out silently; ``graph.skipped`` counts
            them. A document that cannot be read past a fault (Turtle, RDF/XML, JSON-LD) is an error in any case.
        format: Name of the format of all sources, where content and suffix do not tell it; ``"sentences"`` reads a statement
            a line, for search and entailment without a graph.
        language: Tag of the language (``"de"``, ``"pt-BR"``) that labels, synonyms and definitions are wanted in, where RDF
            has several; what has none in it is named without a language, else in English, else in any. Of what several
            sources name, the label of the first stays: the one in that language goes first.
        negated: Read of tables what they say not to hold (SSSOM's ``predicate_modifier``, ``negated``, ``qualifier``), in
            place of what holds; where nothing says so, all. See :func:`ontodex.remove_links`.
        mapping: What the columns of tables hold: the path of a YAML file as :func:`ontodex.inspect` writes it, or one or
            several :class:`~ontodex.TableMapping`. A table that none of them fits is guessed.

    Raises:
        ReadError: If a source cannot be read, holds nothing, or is faulty and ``on_error`` is ``"raise"``.
        SettingsError: If ``on_error`` or ``format`` is unknown, ``language`` is no tag, or a mapping is faulty.

    Example:
        >>> import networkx
        >>> pets, wild = networkx.MultiDiGraph(), networkx.MultiDiGraph()
        >>> _ = pets.add_edge("dog", "animal", key="is_a"), wild.add_edge("wolf", "animal", key="is_a")
        >>> read(pets, wild)
        KnowledgeGraph('MultiDiGraph + MultiDiGraph': 3 entities, 1 relations, 2 triples)
    """
    if format is not None:
        expect_choice("format", format, FORMATS)
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*", str(language)):
        raise SettingsError(
            f"language: expected a tag such as 'en', 'de' or 'pt-BR', found {language!r}"
        )
    with Archives() as archives:
        how = How(on_error, format, language, negated, archives, as_mappings(mapping))
        parts = _read_each((source, *more), how)
    graph, several = parts[0].graph, f"{parts[0].graph.source} and others"
    for part in parts[1:]:
        graph = replace(merge(graph, part.graph), source=several)
    if len(parts) > 1:
        named = " + ".join(part.graph.source for part in parts) if more else str(source)
        graph = replace(with_named(graph, parts), source=named)
    warn_of_columns(parts)
    for part in parts:
        part.problems.finish()
    return graph


def _read_each(sources: Sequence[Any], how: How) -> list[Part]:
    """Return what the sources hold, part by part, with ids in place of keys where tables name rows of one another."""
    inside = [_parts(one, how) for one in sources]
    sources = [part for parts in inside for part in parts]
    among_others = [len(parts) > 1 for parts in inside for _ in parts]
    opened = opened_sources(sources, how)
    count = Counter(number for number, *_ in opened)
    parts = list[Part]()
    for number, one, table in opened:
        try:
            parts.append(_read_one(one, table, how))
        except ReadError as error:
            may_fail = among_others[number] or count[number] > 1
            if not may_fail or how.on_error == "raise" or (one is opened[-1][1] and not parts):
                raise
            what = "table" if isinstance(one, Sheet) else "list" if count[number] > 1 else "file"
            where = Path(sources[number]).parent if what == "file" else one.path
            how.problems(str(where)).remark(f"left out a {what} that cannot be read: {error}")
    warn_of_clashes(parts)
    return parts


def _parts(source: Any, how: How) -> list[Any]:
    """Return the files of a folder that is no benchmark and no WordNet, in the order of their names; else the source.

    The sheets of a workbook stand for it, the tables of a database, and what is in an archive.
    """
    if not isinstance(source, str | Path):
        return [source]
    path, format = innermost(how.archives.unpacked(Path(source))), how.format
    if format == "workbook" or (format is None and is_workbook(path)):
        return [*sheets_of(path)]
    if format in ("database", None) and is_database(path):
        return [path] if is_semantic_sql(path) else [*tables_of(path)]
    if (
        format in ("splits", *FOLDERS)
        or not path.is_dir()
        or _format_of_folder(path)
        or split_files(path)
    ):
        return [path]
    inside = sorted(one for one in path.iterdir() if not one.name.startswith("."))
    others = [one for one in inside if one.is_dir() or _is_about_others(one, how)]
    files = [one for one in inside if one not in others]
    if files and others:
        named = ", ".join(one.name for one in others[:5])
        how.problems(str(path)).remark(
            f"left out {len(others)} folder(s) and file(s) of other formats in it ({named}); name what is to be read too"
        )
    return [part for one in files for part in _parts(one, how)] or [path]


def _format_of_folder(folder: Path) -> str:
    """Return the format that the files of a folder are in together, or nothing."""
    return next((name for name, (is_it, _) in FOLDERS.items() if is_it(folder)), "")


def _is_about_others(path: Path, how: How) -> bool:
    """Tell whether a file in a folder is no source, but a text about the others, or something else.

    Raises:
        ReadError: If its format is unknown, no text's, and faults are errors.
    """
    if how.format is not None:
        return False
    if ABOUT_OTHERS.fullmatch(path.name):
        return True
    try:
        format_of(path)
    except ReadError:
        if how.on_error == "raise":
            raise
        return True
    return False


def _read_one(source: Any, table: Table, how: How) -> Part:
    if isinstance(source, ReadError):
        raise source
    if isinstance(source, KnowledgeGraph):
        return Part(source, how.problems(source.source), table)
    is_path = isinstance(source, Path | Sheet | Document)
    if how.format is not None and not is_path:
        raise SettingsError(f"format: expected None for a source in memory, found {how.format!r}")
    problems = how.problems(str(source) if is_path else type(source).__name__)
    builder = GraphBuilder(problems.source, how.language)
    if isinstance(source, Sheet):
        read_table(source, builder, problems, table, negated=how.negated)
    elif isinstance(source, Document):
        problems = source.problems
        _read_document(source, builder, table, how)
    elif isinstance(source, Path):
        _read_path(source, builder, problems, table, how)
    else:
        _read_object(source, builder, problems, table, how.negated)
    try:
        return Part(builder.build(skipped=problems.count), problems, table)
    except ReadError as error:
        if problems.count:
            raise ReadError(
                f"nothing could be read; {problems.summary()}", problems.source
            ) from None
        if how.negated:
            nothing = "expected links that do not hold, found none; SSSOM marks them by Not in predicate_modifier"
            raise ReadError(nothing, problems.source) from None
        raise error from None


def _read_path(
    path: Path, builder: GraphBuilder, problems: Problems, table: Table, how: How
) -> None:
    if not path.exists():
        raise ReadError(
            "expected a file or a folder, found nothing of this name; check the path", str(path)
        )
    if path.is_dir():
        known = how.format or _format_of_folder(path)
        if known in FOLDERS:
            FOLDERS[known][1](path, builder, problems)
        else:
            read_splits(path, builder, problems, table)
        return
    format, negated = how.format or format_of(path), how.negated
    if format in RDF_FORMATS:
        read_rdf(path, format, builder, problems)
    elif format == "table":
        read_table(path, builder, problems, table, negated=negated)
    elif format == "paths":
        read_paths(path, builder, problems, table)
    elif format in ANNOTATIONS:
        read_annotations(path, format, builder, problems, negated=negated)
    elif format in GRAPH_XML:
        read_graph_xml(path, format, builder, problems, table, negated=negated)
    elif format in PLAIN_READERS:
        PLAIN_READERS[format](path, builder, problems)
    else:
        found = "an archive in an archive; unpack it" if format == "archive" else "a file"
        raise ReadError(f"expected a folder for the format {format!r}, found {found}", str(path))


def _read_document(source: Document, builder: GraphBuilder, table: Table, how: How) -> None:
    if source.form == "elements":
        root, mappings = source.value
        read_elements(root, mappings, builder, source.problems, table)
    elif source.form:
        FORMS[source.form](source.value, builder, source.problems)
    else:
        records = [*chain.from_iterable(source.lists.values())]
        read_records(
            records, builder, source.problems, table, called=source.called, negated=how.negated
        )


def _read_object(
    source: Any, builder: GraphBuilder, problems: Problems, table: Table, negated: bool
) -> None:
    if hasattr(source, "namespaces") and hasattr(source, "triples"):
        read_rdflib(source, builder, problems)
    elif hasattr(source, "nodes") and hasattr(source, "edges") and hasattr(source, "is_multigraph"):
        read_networkx(source, builder, problems)
    elif is_frame(source):
        read_frame(source, builder, problems, table, negated=negated)
    else:
        raise ReadError(
            "expected a path, an rdflib graph, a networkx graph or a data frame, found an object of another kind",
            type(source).__name__,
        )
