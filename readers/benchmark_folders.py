"""Benchmark folders of link prediction: training, validation and test triples, with texts.

Two kinds of folders are read: triples of names (``train.txt``), and triples of numbers as OpenKE
(``train2id.txt``) and LibKGE (``train.del``) write them. Files of labels, definitions and relation
texts may lie beside the triples.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ontodex.errors import ReadError
from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of, plain_name, text_of
from ontodex.readers.formats import folder_format
from ontodex.readers.mapping.headers import ID, EntityHeader
from ontodex.readers.problems import Problems
from ontodex.readers.table_files import name_freebase, read_table
from ontodex.readers.tables.table import Table
from ontodex.readers.tables.values import cell_parts, one_line

__all__ = ["NUMBERED", "SPLITS"]

# Triples of names ---------------------------------------------------------------------------------

SPLIT_NAMES = {"train": "train", "valid": "valid", "dev": "valid", "val": "valid", "test": "test"}
SPLIT_NAME = re.compile(r"(?:.*[-_.])?(train|valid|dev|val|test)\.(?:txt|tsv|csv)$")


def _split_files(folder: Path) -> dict[str, Path]:
    """Return the file of each split in a folder, by ``"train"``, ``"valid"`` and ``"test"``.

    Raises:
        ReadError: If one split has several files.
    """
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and (match := SPLIT_NAME.match(plain_name(path))):
            split = SPLIT_NAMES[match[1]]
            if split in found:
                both = f"{found[split].name} and {path.name}"
                raise ReadError(
                    f"expected one file of the {split} split, found {both}; remove one", str(folder)
                )
            found[split] = path
    return found


def _read_splits(folder: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read the triples of each split, and the texts beside them.

    ``entity_text.tsv`` and ``relation2text.txt`` declare entities and relations, in the order of
    their lines. The text files of SimKGC and KG-BERT often cover several data sets, so their texts
    are used only for names that occur in the triples. A warning counts held-out triples that are
    also in the training split.

    Args:
        folder: The folder.
        builder: Receives the triples by split, and the texts.
        problems: Receives faulty lines, and remarks.

    Raises:
        ReadError: If there is no training split.
    """
    files = _split_files(folder)
    if "train" not in files:
        beside = " and ".join(sorted(path.name for path in files.values()))
        raise ReadError(
            f"expected train.txt (.tsv, .csv){beside and f' beside {beside}'}, found none",
            str(folder),
        )
    texts = _files(folder)
    if "entity_text.tsv" in texts:
        _read_entity_text(texts["entity_text.tsv"], builder, problems)
    if "relation2text.txt" in texts:
        _read_relation_text(texts["relation2text.txt"], builder, problems)
    for split in ("train", "valid", "test"):
        if split in files:
            read_table(files[split], builder, problems, Table(), split)
    _finish(texts, builder, problems)


def _finish(texts: Mapping[str, Path], builder: GraphBuilder, problems: Problems) -> None:
    """Warn of held-out triples in the training split, and read texts of names in the triples."""
    for split in ("valid", "test"):
        if shared := builder.count_shared("train", split):
            problems.remark(
                f"{shared:,} triples of {split} are in train too, where a model sees them; "
                "take them out of one"
            )
    relations = {*builder.relation_ids()}
    for name, texts_of in DESCRIPTIONS.items():
        if name not in texts:
            continue
        path = texts[name]
        is_json = name.endswith(".json")
        for identifier, entry in (
            _under_ids(path, problems) if is_json else _cells(path, problems, 2)
        ):
            of = texts_of(identifier, entry)
            if identifier in builder:
                builder.entity(identifier, *of)
            elif identifier in relations:
                builder.relation(identifier, of.label)


def _files(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by name: lower case, without the suffix of compression."""
    return {plain_name(path): path for path in sorted(folder.iterdir()) if path.is_file()}


SPLITS = folder_format(
    "splits",
    "A benchmark of link prediction: a folder with train, valid and test.",
    matches=lambda folder: bool(_split_files(folder)),
    reader=_read_splits,
)


# Triples of numbers -------------------------------------------------------------------------------


class _Layout(NamedTuple):
    """A layout of triples of numbers.

    Attributes:
        names: Names of the files that number the entities and the relations.
        splits: File name of each split.
        number: Position of the number in a line of the files in ``names``: 0 (first) or -1 (last).
        relation: Position of the relation in a triple: 1 or 2.
    """

    names: tuple[str, str]
    splits: Mapping[str, str]
    number: int
    relation: int


LAYOUTS = (
    _Layout(
        ("entity2id.txt", "relation2id.txt"),
        {"train": "train2id.txt", "valid": "valid2id.txt", "test": "test2id.txt"},
        number=-1,
        relation=2,
    ),
    _Layout(
        ("entity_ids.del", "relation_ids.del"),
        {"train": "train.del", "valid": "valid.del", "test": "test.del"},
        number=0,
        relation=1,
    ),
)
"""OpenKE's layout (head, tail, relation), and LibKGE's (head, relation, tail)."""


def _layout(folder: Path) -> _Layout | None:
    """Return the layout of a folder of numbered triples, or ``None``."""
    return next(
        (
            one
            for one in LAYOUTS
            if all((folder / name).is_file() for name in (*one.names, one.splits["train"]))
        ),
        None,
    )


def _read_numbered(folder: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read the triples of each split, with numbers replaced by names, and the texts beside them.

    Args:
        folder: The folder.
        builder: Receives the triples by split, and the texts.
        problems: Receives lines that are not triples, and numbers without a name.

    Raises:
        ReadError: If the folder has the files of neither layout.
    """
    layout = _layout(folder)
    if layout is None:
        wanted = " or ".join(", ".join((*one.names, one.splits["train"])) for one in LAYOUTS)
        raise ReadError(f"expected {wanted}, found none of them together", str(folder))
    entities, relations = (dict(_numbers(folder / name, layout, problems)) for name in layout.names)
    for split, name in layout.splits.items():
        if not (folder / name).is_file():
            continue
        for number, line in lines_of(folder / name, problems):
            cells = line.split()
            if len(cells) == 3:
                relation = relations.get(cells.pop(layout.relation))
                head, tail = map(entities.get, cells)
                if head and relation and tail:
                    builder.triple(head, relation, tail, split)
                    continue
            if cells and not (number == len(cells) == 1):  # OpenKE's first line: number of lines
                what = "the numbers of two entities and a relation"
                problems.unexpected(what, line, number, folder / name)
    name_freebase(builder)
    _finish(_files(folder), builder, problems)


def _numbers(path: Path, layout: _Layout, problems: Problems) -> Iterator[tuple[str, str]]:
    """Yield each number, as text, and the name that it stands for."""
    for number, line in lines_of(path, problems):
        parts = line.rsplit(None, 1) if layout.number else line.split(None, 1)
        if len(parts) == 2:
            of = parts.pop(layout.number).strip()
            yield of, parts[0].strip()
        elif parts and number > 1:
            problems.unexpected("a name and its number", line, number, path)


NUMBERED = folder_format(
    "numbered",
    "A benchmark in triples of numbers: a folder of OpenKE or LibKGE.",
    matches=lambda folder: _layout(folder) is not None,
    reader=_read_numbered,
)


# Texts beside triples -----------------------------------------------------------------------------

SYNSET = re.compile(r"\d{8}")

IDS, NAMED, DEFINED = (
    ("entity_id", "id"),
    ("label", "name", "entity"),
    ("description", "entity_desc", "definition"),
)
"""Keys of ids, labels and definitions in JSON objects."""


def _cells(path: Path, problems: Problems, width: int) -> Iterator[list[str]]:
    """Yield the cells of each line as a list of ``width`` cells.

    Lines with fewer cells are reported to ``problems``. Tabs in the last cell are kept.
    """
    for number, line in lines_of(path, problems):
        if not line or line.isspace():
            continue
        cells = line.split("\t", width - 1)
        if len(cells) == width:
            yield cells
        else:
            problems.unexpected(f"{width} columns", line, number, path)


def _read_entity_text(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read a table of entities with a header: id, label, synonyms (joined by ``|``), definition."""
    filled = ((at, line) for at, line in lines_of(path, problems) if line and not line.isspace())
    rows = ((number, line.split("\t")) for number, line in filled)
    number, names = next(rows, (1, []))
    mapping = EntityHeader.of(names).mapping
    if not mapping.id:
        problems.report(f"expected a header with one of {', '.join(ID)}", number, str(path))
        return
    alternatives: dict[str, str] = {}
    for number, cells in rows:
        row = dict(zip(mapping.columns, cells, strict=False))
        identifier = one_line(row.get(mapping.id[0], ""))
        if len(cells) != len(names) or not identifier:
            what = f"{len(names)} columns and an id"
            problems.unexpected(what, " | ".join(cells), number, path)
            continue
        labels = [row[one] for one in mapping.label if row[one].strip()]
        definitions = (row[one] for one in mapping.definition if row[one].strip())
        synonyms = [*_listed(mapping.synonyms, row), *labels]
        builder.entity(identifier, next(iter(labels), ""), synonyms, next(definitions, ""))
        alternatives.update(dict.fromkeys(_listed(mapping.alternative_ids, row), identifier))
    builder.replace(alternatives)


def _listed(columns: Sequence[str], row: Mapping[str, str]) -> list[str]:
    return [part for one in columns for part in cell_parts(row[one], "|")]


def _read_relation_text(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read ``relation2text.txt``: relation, tab, text."""
    for identifier, text in _cells(path, problems, 2):
        builder.relation(identifier.strip(), text)


class _Texts(NamedTuple):
    """Texts of an entity or a relation; relations have only a label."""

    label: str = ""
    synonyms: Sequence[str] = ()
    definition: str = ""


def _name(identifier: str, name: str) -> _Texts:
    """Return a name; the name of a synset is followed by its gloss."""
    label, _, gloss = name.partition(", ") if SYNSET.fullmatch(identifier) else (name, "", "")
    return _Texts(label.replace("_", " "), definition=gloss)


def _names(identifier: str, names: str) -> _Texts:
    label, *synonyms = names.split("\t")
    return _Texts(label, synonyms)


def _definition(identifier: str, text: str) -> _Texts:
    quoted = re.fullmatch(r'"(.*)"(?:@[\w-]+)?', text.strip())
    plain = quoted[1].replace('\\"', '"').replace("\\n", " ") if quoted else text
    return _Texts(definition=plain)


def _sense(identifier: str, texts: str) -> _Texts:
    name, _, gloss = texts.partition("\t")
    return _Texts(_wordnet_word(name), definition=gloss)


def _wordnet_word(name: str) -> str:
    """Return the lemma of a WordNet sense (``__land_reform_NN_1``)."""
    return re.sub(r"_[A-Z]+_\d+$", "", name.removeprefix("__")).replace("_", " ")


def _object(identifier: str, about: Any) -> _Texts:
    """Return the texts in a JSON value: a label, or an object."""
    texts = about if isinstance(about, dict) else {NAMED[0]: about}
    label, definition = (
        next((texts[key] for key in keys if isinstance(texts.get(key), str)), "")
        for keys in (NAMED, DEFINED)
    )
    is_sense = SYNSET.fullmatch(identifier)
    return _Texts(_wordnet_word(label) if is_sense else label, definition=definition)


def _under_ids(path: Path, problems: Problems) -> Iterator[tuple[str, Any]]:
    """Yield each id of a JSON document, and its label or object.

    The document is an object with the ids as keys, or a list of objects that contain their ids.
    """
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


DESCRIPTIONS: Mapping[str, Callable[[str, Any], _Texts]] = MappingProxyType(
    {
        "wordnet-mlj12-definitions.txt": _sense,
        "fb15k_mid2name.txt": _name,
        "fb15k_mid2description.txt": _definition,
        "entity2textlong.txt": _definition,
        "entity2text.txt": _name,
        "entities.json": _object,
        "relations.json": _object,
        "wikidata5m_entity.txt": _names,
        "wikidata5m_relation.txt": _names,
        "wikidata5m_text.txt": _definition,
    }
)
"""Texts in an entry of each file, by lower-case name; the first definition of an entity is kept."""
