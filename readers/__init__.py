"""Reading a graph from files, folders and objects in memory.

:func:`read` works in three steps: ``opening.py`` splits the sources into pieces (``registry.py``
detects the format of each), each piece is read by its format into a graph, and the graphs are
merged.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ontodex.errors import ReadError, SettingsError
from ontodex.graph.builder import LANGUAGE, GraphBuilder
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.merging import merge
from ontodex.graph.notices import ReadWarning
from ontodex.readers.archives import Archives
from ontodex.readers.formats import ReadSettings
from ontodex.readers.inspection import Inspection, Part, inspected, warn_of_clashes, warn_of_columns
from ontodex.readers.opening import Piece, Session, opened
from ontodex.readers.registry import formats, with_name
from ontodex.readers.tables.mapping import TableMapping, as_mappings, mapping_to

__all__ = ["ReadWarning", "formats", "inspect", "read", "read_more"]


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

    The format of a file is detected by its content and suffix; :func:`ontodex.formats` lists the
    formats. Files may be compressed (gzip, bzip2, xz). A zip or tar archive is unpacked and read as
    a folder. A folder is read as a whole if it is a benchmark (train, valid, test), a WordNet
    database, the NCBI Taxonomy, or a release of SNOMED CT, UMLS or RxNorm. Otherwise each file in
    the folder is a source; a warning names the files that are left out. Nothing is downloaded:
    imported ontologies are left out.

    Several sources, such as an ontology and tables of annotations, are merged into one graph, in
    the given order (:func:`ontodex.graph.merge`). Entities with the same CURIE or IRI become one
    entity, whatever prefixes a source uses. If a source names a term by an alternative id that an
    ontology before it declares, the id of the term replaces it. Tables whose foreign keys name rows
    of other tables, as in a database, are joined (see :func:`.mapping.joins.guess_joins`). If the
    ids of joined tables are numbers, they get the table name as a prefix (``companies:1``), with a
    warning.

    Args:
        source: Path of a file or folder, or an rdflib graph, a networkx graph or a data frame. A
            :class:`KnowledgeGraph` is returned as it is.
        more: Further sources.
        on_error: What to do about faulty parts. ``"raise"`` raises an error at the first.
            ``"warn"`` leaves them out and gives one :class:`ReadWarning` per source at the end.
            ``"skip"`` leaves them out silently. ``graph.skipped`` counts the parts left out. In
            formats that cannot be read after a fault (Turtle, RDF/XML, JSON-LD), a fault always
            raises an error.
        format: Name of the format of all sources, if it cannot be detected. ``"sentences"`` reads
            one sentence or paragraph per line, for search and entailment without a graph.
        language: Tag of the language (``"de"``, ``"pt-BR"``) of labels, synonyms and definitions,
            if a source has several languages. If an entity has no name in this language, a name
            without a language is used, then one in English, then one in any language. If several
            sources label an entity, the first label is used.
        negated: Read the links that tables negate (columns ``predicate_modifier`` of SSSOM,
            ``negated`` and ``qualifier``), instead of the links that they assert. See
            :func:`ontodex.remove_links`.
        mapping: What the columns of tables hold: the path of a YAML file that ``ontodex inspect``
            wrote, or one or several :class:`~ontodex.TableMapping`. For a table that no mapping
            fits, the mapping is guessed.

    Raises:
        ReadError: If a source cannot be read, holds nothing, or is faulty and ``on_error`` is
            ``"raise"``.
        SettingsError: If ``on_error`` or ``format`` is unknown, ``language`` is not a language
            tag, or a mapping is faulty.
        PlugInError: If an installed package that adds a format is faulty.

    Example:
        >>> import networkx
        >>> pets, wild = networkx.MultiDiGraph(), networkx.MultiDiGraph()
        >>> _ = pets.add_edge("dog", "animal", key="is_a")
        >>> _ = wild.add_edge("wolf", "animal", key="is_a")
        >>> read(pets, wild)
        KnowledgeGraph('MultiDiGraph + MultiDiGraph': 3 entities, 1 relations, 2 triples)
    """
    given = as_mappings(mapping)
    settings = ReadSettings(on_error, format, language, negated, given)
    graph, parts = _read((source, *more), settings)
    _expect_used(given, graph, parts)
    return graph


def read_more(
    mappings: Sequence[Mapping[str, Any]], *sources: Any, **settings: Any
) -> KnowledgeGraph:
    """Read sources that are added to a graph, with the table mappings of that graph.

    Args:
        mappings: Mappings of the graph's tables, as stored in an index. Mappings of other tables
            are guessed.
        sources: See :func:`read`.
        settings: Keyword arguments of :func:`read`. Mappings in ``mapping`` have priority over
            ``mappings``.

    Raises:
        ReadError: See :func:`read`.
        SettingsError: See :func:`read`.
    """
    given = as_mappings(settings.pop("mapping", None))
    kept = as_mappings(mappings)
    more, parts = _read(sources, ReadSettings(**settings, mappings=(*given, *kept)))
    _expect_used(given, more, parts)
    return more


def _expect_used(
    given: Sequence[TableMapping], graph: KnowledgeGraph, parts: Sequence[Part]
) -> None:
    """Check that at least one of the given mappings fits a table.

    Raises:
        SettingsError: If no given mapping was used.
    """
    used = [one for part in parts for one in part.table.read_by]
    if given and not any(one in used for one in given):
        columns = ", ".join(given[0].used)
        raise SettingsError(
            f"mapping: expected a table with the columns {columns}, found none in {graph.source}"
        )


def inspect(
    source: Any,
    *more: Any,
    format: str | None = None,
    language: str = LANGUAGE,
    mapping: Any = None,
) -> Inspection:
    """Return how sources would be read: mappings, joins, sampled rows and ignored columns.

    Args:
        source: See :func:`read`.
        more: Further sources.
        format: Name of the format of all sources; see :func:`read`.
        language: Tag of the preferred language of names; see :func:`read`.
        mapping: Known mappings of tables; see :func:`read`.

    Raises:
        ReadError: If a source cannot be read.
        SettingsError: See :func:`read`.
    """
    settings = ReadSettings("warn", format, language, mappings=as_mappings(mapping))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", ReadWarning)
        graph, parts = _read((source, *more), settings)
    return inspected(graph, parts, [str(one.message) for one in found])


def _read(sources: Sequence[Any], settings: ReadSettings) -> tuple[KnowledgeGraph, list[Part]]:
    """Read sources; return the merged graph, and the part that each piece was read into."""
    if settings.format is not None:
        with_name(settings.format)
    with Archives() as archives:
        session = Session(settings, archives)
        parts = _read_each(opened(sources, session), session)
    graph, several = parts[0].graph, f"{parts[0].graph.source} and others"
    for part in parts[1:]:
        graph = replace(merge(graph, part.graph), source=several)
    if len(parts) > 1:
        source = (
            " + ".join(part.graph.source for part in parts) if len(sources) > 1 else str(sources[0])
        )
        graph = replace(graph, source=source)
    warn_of_columns(parts)
    for part in parts:
        part.problems.finish()
    new = [
        mapping_to(mapping)
        for part in parts
        for mapping in part.table.read_by
        if mapping.header and not mapping.rows
    ]
    mappings = (*graph.mappings, *(one for one in new if one not in graph.mappings))
    return (replace(graph, mappings=mappings) if new else graph), parts


def _read_each(pieces: Sequence[Piece], session: Session) -> list[Part]:
    """Read pieces; leave out an unreadable one with a warning if its source has other pieces."""
    parts = list[Part]()
    for piece in pieces:
        try:
            parts.append(_read_piece(piece))
        except ReadError as error:
            is_last_hope = piece is pieces[-1] and not parts
            may_fail = piece.has_siblings or piece.kind == "list"
            if not may_fail or session.settings.on_error == "raise" or is_last_hope:
                raise
            left_out = f"left out a {piece.kind} that cannot be read: {error}"
            session.problems(piece.place).remark(left_out)
    warn_of_clashes(parts)
    return parts


def _read_piece(piece: Piece) -> Part:
    """Read a piece into a graph.

    Raises:
        ReadError: If the piece cannot be read, or holds nothing.
    """
    if piece.fault:
        raise piece.fault
    source, problems = piece.source, piece.problems
    if isinstance(source.content, KnowledgeGraph):
        return Part(source.content, problems, source.table)
    builder = GraphBuilder(problems.source, source.settings.language)
    piece.reader(source, builder, problems)
    try:
        return Part(builder.build(skipped=problems.count), problems, source.table)
    except ReadError as error:
        if problems.count:
            raise ReadError(
                f"nothing could be read; {problems.summary()}", problems.source
            ) from None
        if source.settings.negated:
            raise ReadError(
                "expected links that do not hold, found none; SSSOM marks them by Not in "
                "predicate_modifier",
                problems.source,
            ) from None
        raise error from None
