"""The registry of formats, and detection of the format of a file or folder.

Formats are tried in a fixed order, specific formats before general ones: plug-ins, binary formats,
formats with a header or a root element, formats known by their suffix, syntaxes of OWL, XML and
JSON, syntaxes of OBO and RDF, and text that may be a table. The first format that matches is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from ontodex.errors import OntodexError, PlugInError, ReadError, expect_choice
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.archives import is_archive
from ontodex.readers.benchmark_folders import NUMBERED, SPLITS
from ontodex.readers.biomedical.annotations import FORMATS as ANNOTATIONS
from ontodex.readers.biomedical.annotations import GENE_SETS
from ontodex.readers.biomedical.ncbi_taxonomy import FORMAT as NCBI_TAXONOMY
from ontodex.readers.biomedical.snomed import FORMAT as SNOMED
from ontodex.readers.biomedical.umls import FORMAT as UMLS
from ontodex.readers.conceptnet import FORMAT as CONCEPTNET
from ontodex.readers.files import ZIP, head_of
from ontodex.readers.formats import FOLDER, Format, NamedFormat, Source
from ontodex.readers.graph_xml import GEXF, GRAPHML
from ontodex.readers.ontologies.obo import FORMAT as OBO
from ontodex.readers.ontologies.owl_axioms import OWL_FUNCTIONAL, OWL_XML
from ontodex.readers.ontologies.owl_manchester import FORMAT as OWL_MANCHESTER
from ontodex.readers.ontologies.rdf import JSON_LD, RDF_XML, TEXT_FORMATS
from ontodex.readers.problems import Problems
from ontodex.readers.sentences import FORMAT as SENTENCES
from ontodex.readers.tables.databases import SQLITE
from ontodex.readers.tabular import DATABASE, JSON, PATHS, TABLE, WORKBOOK, XML, YAML
from ontodex.readers.wordnet import FORMAT as WORDNET
from ontodex.readers.xml_guard import after_prolog

__all__ = ["GROUP", "formats", "sniff", "sniff_folder", "with_name"]

GROUP = "ontodex.readers"
"""The group of entry points by which installed packages add formats."""

BINARY: tuple[Format, ...] = (WORKBOOK, DATABASE)

TEXT: tuple[Format, ...] = (
    *ANNOTATIONS,
    GRAPHML,
    GEXF,
    OWL_MANCHESTER,
    YAML,
    GENE_SETS,
    OWL_XML,
    OWL_FUNCTIONAL,
    RDF_XML,
    XML,
    JSON_LD,
    JSON,
    OBO,
    *TEXT_FORMATS,
    CONCEPTNET,
    TABLE,
    PATHS,
    SENTENCES,
)

FOLDERS: tuple[Format, ...] = (
    WORDNET,
    NUMBERED,
    NCBI_TAXONOMY,
    SNOMED,
    UMLS,
    SPLITS,
)

BUILT_IN = (*BINARY, *TEXT, *FOLDERS)

UNSUPPORTED = {
    ZIP: "a damaged archive, or a document of an office; save its tables as .xlsx or CSV",
    b"PAR1": "a Parquet file; read it with pandas or polars and give the frame to ontodex.read",
    SQLITE: "a gzipped database of SQLite; unzip it",
    b"%PDF": "a PDF; ontodex reads tables, graphs and ontologies, and plain text with --format "
    "sentences",
    b"\xd0\xcf\x11\xe0": "a workbook of an old Excel; save it as .xlsx or CSV",
}
"""What a file of an unsupported format is and what to do about it, by its first bytes."""

HTML = re.compile(rb"<(?:!doctype\s+)?html[\s>]", re.IGNORECASE)


def formats() -> tuple[Format, ...]:
    """Return all formats in the order in which they are tried, formats of plug-ins first.

    Raises:
        PlugInError: If a plug-in is faulty.
    """
    return (*_plug_ins(), *BUILT_IN)


def with_name(name: str) -> Format:
    """Return the format with a given name.

    Raises:
        SettingsError: If no format has the name; the message lists the names.
        PlugInError: If a plug-in is faulty.
    """
    by_name = {one.name: one for one in sorted(formats(), key=lambda one: one.name)}
    expect_choice("format", name, by_name)
    return by_name[name]


def sniff(path: Path) -> Format:
    """Detect the format of a file.

    Raises:
        ReadError: If the file is empty or in no known format.
        PlugInError: If a plug-in is faulty.
    """
    if is_archive(path):
        found = "an archive in an archive; unpack it"
        raise ReadError(f"expected a graph or an ontology, found {found}", str(path))
    head = head_of(path)
    if not head.strip():
        raise ReadError("expected a graph or an ontology, found an empty file", str(path))
    added = [one for one in _plug_ins() if FOLDER not in one.suffixes]
    if known := _first((*added, *BINARY), path, head):
        return known
    _refuse_unsupported(path, head)
    if known := _first(TEXT, path, head):
        return known
    raise ReadError(
        "expected triples or entities (TSV, CSV, JSON, YAML, XML, Excel, SQLite), GAF, GPAD, GPI, "
        "GMT, OBO, RDF (RDF/XML, Turtle, N-Triples, N-Quads, TriG, JSON-LD), OWL/XML, the "
        "functional or Manchester syntax of OWL, GraphML, GEXF, OBO-graph JSON or an archive, "
        "found "
        f"something else ({head[:24]!r}…); give format= in Python or --format on the command line",
        str(path),
    )


def sniff_folder(path: Path) -> Format | None:
    """Detect the format of a folder that is read as a whole; ``None`` if it is in no such format.

    Raises:
        ReadError: If a benchmark has several files of one split.
        PlugInError: If a plug-in is faulty.
    """
    added = [one for one in _plug_ins() if FOLDER in one.suffixes]
    return _first((*added, *FOLDERS), path, b"")


def _first(asked: Iterable[Format], path: Path, head: bytes) -> Format | None:
    return next((one for one in asked if one.sniff(path, head)), None)


def _refuse_unsupported(path: Path, head: bytes) -> None:
    """Check that a file is not in a format that is known to be unsupported.

    Raises:
        ReadError: If it is; the message says what the file is.
    """
    found = next((what for start, what in UNSUPPORTED.items() if head.startswith(start)), None)
    if HTML.match(head, after_prolog(head)):
        found = "an HTML page; a server's answer in place of the file: fetch the file itself"
    if found:
        raise ReadError(f"expected a graph or an ontology, found {found}", str(path))


# Plug-ins ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _PlugIn(NamedFormat):
    """A format of another package; exceptions of its code become errors that name the package."""

    place: str
    format: Format

    def sniff(self, path: Path, head: bytes) -> bool:
        """Return whether the plug-in recognises a file or folder."""
        try:
            return bool(self.format.sniff(path, head))
        except OntodexError:
            raise
        except Exception as error:  # code of another package may raise any kind
            raise self._fault(path, error) from error

    def read(self, source: Source, builder: GraphBuilder, problems: Problems) -> None:
        """Read a source with the plug-in."""
        try:
            self.format.read(source, builder, problems)
        except OntodexError:
            raise
        except Exception as error:  # code of another package may raise any kind
            raise self._fault(source.path, error) from error

    def _fault(self, path: Path, error: Exception) -> PlugInError:
        return PlugInError(
            f"{path}: expected {self.place} to read it, found a fault of the plug-in "
            f"({type(error).__name__}: {error}); update or uninstall it"
        )


@cache
def _plug_ins() -> tuple[_PlugIn, ...]:
    """Return the formats of installed packages, sorted by the names of their entry points.

    Raises:
        PlugInError: If a plug-in cannot be loaded, is not a format, or has the name of another
            format.
    """
    known = {one.name: "ontodex" for one in BUILT_IN}
    found = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        plug_in = _loaded(entry)
        if plug_in.name in known:
            raise PlugInError(
                f"{plug_in.place}: expected a new name of a format, found {plug_in.name!r}, which "
                f"{known[plug_in.name]} has; uninstall one of them"
            )
        known[plug_in.name] = plug_in.place
        found.append(plug_in)
    return tuple(found)


def _loaded(entry: EntryPoint) -> _PlugIn:
    """Load the format of an entry point.

    Raises:
        PlugInError: If the entry point cannot be loaded, or is not a format.
    """
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "a package"
    place = f"the plug-in {entry.name!r} ({entry.value}) of {package}"
    try:
        format: Any = entry.load()
        name, suffixes, description = format.name, (*format.suffixes,), format.description
        is_format = callable(format.sniff) and callable(format.read)
    except Exception as error:  # code of another package may raise any kind
        raise PlugInError(
            f"{place}: expected a format, found a fault ({type(error).__name__}: {error}); update "
            "or uninstall it"
        ) from error
    texts = (name, description, *suffixes)
    if isinstance(format, type) or not is_format or not all(isinstance(one, str) for one in texts):
        raise PlugInError(
            f"{place}: expected an object with the members of ontodex.readers.formats.Format "
            f"(name, suffixes, description, sniff, read), found {format!r}"
        )
    return _PlugIn(name, suffixes, description, place, format)
