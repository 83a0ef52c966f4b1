"""Names, definitions and relation texts in files beside the triples, in the layouts that benchmark sets come in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from ontodex.graph.builder import GraphBuilder
from ontodex.graph.readers.files import lines_of
from ontodex.graph.readers.problems import Problems
from ontodex.graph.readers.tables.entities import add_entity
from ontodex.graph.readers.tables.entity_columns import ID, EntityColumns

__all__ = ["DESCRIPTIONS", "read_entity_text", "read_relation_text"]

Describe = Callable[[Path, GraphBuilder, Problems], None]


def _cells(path: Path, problems: Problems, width: int) -> Iterator[list[str]]:
    """Yield the cells of each line; a line of fewer than ``width`` is a problem, tabs in the last cell stay."""
    for number, line in lines_of(path, problems):
        if not line or line.isspace():
            continue
        cells = line.split("\t", width - 1)
        if len(cells) == width:
            yield cells
        else:
            problems.report(f"expected {width} columns, found {len(cells)}: {line[:60]!r}", number, str(path))


def read_entity_text(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read a table of entities, whose header tells id, label, synonyms (parted by ``|``) and definition."""
    columns: EntityColumns | None = None
    alternatives: dict[str, str] = {}
    for number, line in lines_of(path, problems):
        if not line or line.isspace():
            continue
        cells = line.split("\t")
        if columns is None:
            columns = EntityColumns.of(cells)
            if not columns.id:
                problems.report(f"expected a header with one of {', '.join(ID)}", number, str(path))
                return
        elif len(cells) != columns.width or not cells[columns.id[0]].strip():
            problems.report(f"expected {columns.width} columns and an id, found {line[:60]!r}", number, str(path))
        else:
            identifier = add_entity(columns, cells, builder, exact=True)
            alternatives.update(dict.fromkeys(columns.names(columns.alternatives, cells, exact=True), identifier))
    builder.replace(alternatives)


def read_relation_text(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read ``relation2text.txt``: relation, tab, its words."""
    for identifier, text in _cells(path, problems, 2):
        builder.relation(identifier.strip(), text)


def _names(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    for identifier, name in _cells(path, problems, 2):
        if identifier in builder:
            label, comma, gloss = name.partition(", ") if re.fullmatch(r"\d{8}", identifier) else (name, "", "")
            builder.entity(identifier, label=label.replace("_", " "), definition=gloss if comma else "")


def _definitions(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    for identifier, text in _cells(path, problems, 2):
        if identifier in builder:
            quoted = re.fullmatch(r'"(.*)"(?:@[\w-]+)?', text.strip())
            plain = quoted[1].replace('\\"', '"').replace("\\n", " ") if quoted else text
            builder.entity(identifier, definition=plain)


def _wordnet_definitions(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    for identifier, word, gloss in _cells(path, problems, 3):
        if identifier in builder:
            label = re.sub(r"_[A-Z]+_\d+$", "", word.removeprefix("__")).replace("_", " ")
            builder.entity(identifier, label=label, definition=gloss)


DESCRIPTIONS: Mapping[str, Describe] = MappingProxyType(
    {
        "wordnet-mlj12-definitions.txt": _wordnet_definitions,
        "fb15k_mid2name.txt": _names,
        "fb15k_mid2description.txt": _definitions,
        "entity2textlong.txt": _definitions,
        "entity2text.txt": _names,
    }
)
"""How each text file of SimKGC and KG-BERT is read, by its lower-case name; the first definition of an entity stays."""
