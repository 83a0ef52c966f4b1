"""Names, definitions and relation texts in files beside the triples, in the layouts that benchmark sets come in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of, text_of
from ontodex.readers.mapping.headers import ID, EntityColumns
from ontodex.readers.problems import Problems
from ontodex.readers.tables.values import cell_parts, one_line

__all__ = ["DESCRIPTIONS", "read_entity_text", "read_relation_text"]

Describe = Callable[[Path, GraphBuilder, Problems], None]

SYNSET = re.compile(r"\d{8}")

IDS, NAMED, DEFINED = (
    ("entity_id", "id"),
    ("label", "name", "entity"),
    ("description", "entity_desc", "definition"),
)
"""Keys of ids, labels and definitions in JSON."""


def _cells(path: Path, problems: Problems, width: int) -> Iterator[list[str]]:
    """Yield the cells of each line; a line of fewer than ``width`` is a problem, tabs in the last cell stay."""
    for number, line in lines_of(path, problems):
        if not line or line.isspace():
            continue
        cells = line.split("\t", width - 1)
        if len(cells) == width:
            yield cells
        else:
            problems.report(
                f"expected {width} columns, found {len(cells)}: {line[:60]!r}", number, str(path)
            )


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
            problems.report(
                f"expected {columns.width} columns and an id, found {line[:60]!r}",
                number,
                str(path),
            )
        else:
            identifier = one_line(cells[columns.id[0]])
            labels = [cells[at] for at in columns.label if cells[at].strip()]
            builder.entity(
                identifier,
                label=next(iter(labels), ""),
                synonyms=[*_listed(columns.synonyms, cells), *labels],
                definition=next((cells[at] for at in columns.definition if cells[at].strip()), ""),
            )
            alternatives.update(dict.fromkeys(_listed(columns.alternatives, cells), identifier))
    builder.replace(alternatives)


def _listed(places: Sequence[int], cells: Sequence[str]) -> list[str]:
    return [part for at in places for part in cell_parts(cells[at], "|")]


def read_relation_text(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read ``relation2text.txt``: relation, tab, its words."""
    for identifier, text in _cells(path, problems, 2):
        builder.relation(identifier.strip(), text)


def _names(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    for identifier, name in _cells(path, problems, 2):
        if identifier in builder:
            label, comma, gloss = (
                name.partition(", ") if SYNSET.fullmatch(identifier) else (name, "", "")
            )
            builder.entity(
                identifier, label=label.replace("_", " "), definition=gloss if comma else ""
            )


def _definitions(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    for identifier, text in _cells(path, problems, 2):
        if identifier in builder:
            quoted = re.fullmatch(r'"(.*)"(?:@[\w-]+)?', text.strip())
            plain = quoted[1].replace('\\"', '"').replace("\\n", " ") if quoted else text
            builder.entity(identifier, definition=plain)


def _wordnet_definitions(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    for identifier, word, gloss in _cells(path, problems, 3):
        if identifier in builder:
            builder.entity(identifier, label=_wordnet_word(word), definition=gloss)


def _wordnet_word(name: str) -> str:
    """Return the word of a sense (``__land_reform_NN_1``)."""
    return re.sub(r"_[A-Z]+_\d+$", "", name.removeprefix("__")).replace("_", " ")


def _aliases(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    for identifier, names in _cells(path, problems, 2):
        if identifier in builder:
            label, *synonyms = names.split("\t")
            builder.entity(identifier, label, synonyms)


def _relation_aliases(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    known = set(builder.relation_ids())
    for identifier, names in _cells(path, problems, 2):
        if identifier in known:
            builder.relation(identifier, names.partition("\t")[0])


def _lists(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read names and definitions in JSON, under ids or in a list."""
    relations = set(builder.relation_ids())
    for identifier, about in _under_ids(path, problems):
        said = (
            {"label": about} if isinstance(about, str) else about if isinstance(about, dict) else {}
        )
        label, definition = (
            next((said[key] for key in keys if isinstance(said.get(key), str)), "")
            for keys in (NAMED, DEFINED)
        )
        if identifier in builder:
            label = _wordnet_word(label) if SYNSET.fullmatch(identifier) else label
            builder.entity(identifier, label=label, definition=definition)
        elif identifier in relations:
            builder.relation(identifier, label)


def _under_ids(path: Path, problems: Problems) -> Iterator[tuple[str, Any]]:
    try:
        value = json.loads(text_of(path))
    except (ValueError, RecursionError) as error:
        problems.report(f"expected JSON, found a fault ({error})", source=str(path))
        return
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, dict):
                yield str(next((one[key] for key in IDS if key in one), "")), one


DESCRIPTIONS: Mapping[str, Describe] = MappingProxyType(
    {
        "wordnet-mlj12-definitions.txt": _wordnet_definitions,
        "fb15k_mid2name.txt": _names,
        "fb15k_mid2description.txt": _definitions,
        "entity2textlong.txt": _definitions,
        "entity2text.txt": _names,
        "entities.json": _lists,
        "relations.json": _lists,
        "wikidata5m_entity.txt": _aliases,
        "wikidata5m_relation.txt": _relation_aliases,
        "wikidata5m_text.txt": _definitions,
    }
)
"""How each file of texts beside triples is read, by its lower-case name; the first definition of an entity stays."""
