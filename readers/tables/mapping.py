"""Table mappings: which columns of a table are ids, labels, parents or relations; as YAML."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from ontodex.errors import ReadError, SettingsError, nearest

__all__ = [
    "ROWS_BY",
    "RelationColumn",
    "TableMapping",
    "as_mappings",
    "chosen_mapping",
    "column_names",
    "mapping_from",
    "mapping_to",
    "mappings_text",
]

Texts = tuple[str, ...]

ROWS_BY = ("any", "id", "nothing")
"""Values of ``RelationColumn.by`` that are not the name of a column."""


SINGLE = ("head", "relation", "tail", "path", "code", "justification", "tool")
"""Fields that name one column."""


@dataclass(frozen=True)
class RelationColumn:
    """A column whose cells link the entity of their row to other entities.

    Attributes:
        relation: Id of the relation; if empty, the name of the column is the id.
        label: Label of the relation; if empty, the label is made from the id.
        by: How cells name rows of the table: ``any`` (by id or label), ``id``, ``nothing`` (cells
            do not name rows), or the name of the column in which the named row has the same value
            (such as an e-mail address or a code).
    """

    relation: str = ""
    label: str = ""
    by: str = "any"


@dataclass(frozen=True)
class TableMapping:
    """What the columns of a table hold.

    Columns are named as in the header. The second column with the same name is ``name (2)``; the
    third column, if it has no name, is ``column 3``. The columns of a table without a header are
    ``column 1``, ``column 2``, ….

    Attributes:
        table: Name of the file, sheet or list in words, without date and number. A mapping
            without a name applies to every table that has its columns.
        rows: XML elements that are the rows, as paths from the root (``.//Class``). Columns are
            then paths from these elements (``Label``, ``@code``); see
            :func:`ontodex.readers.xml_tables.read_elements`.
        columns: The header that the mapping was made for.
        header: Whether the table has a header.
        head: Column of the heads, if rows are triples; requires ``relation`` and ``tail``.
        relation: Column of the relations of triples.
        tail: Column of the tails of triples.
        id: Columns of ids; the first filled cell is used. Without ids, labels identify rows.
        id_prefix: Prefix of the ids in the graph (``companies:``).
        rows_about: Name of another table, if the rows of this table describe entities of the other
            table; ``id`` then refers to those entities.
        label: Columns of labels; the first filled cell is the label, further ones are synonyms.
        label_parts: Columns whose cells together are the label, such as first and last name.
        synonyms: Columns of synonyms.
        definition: Columns of definitions; the first filled cell is used.
        alternative_ids: Columns of other ids of the same entity. If such a column is also a
            relation, the values that name other rows are links.
        parent: Columns of parents (more general entities), by id or label.
        path: Column with the path of the row itself, if rows are categories (``Animals > Birds``).
        levels: Columns of the levels of a hierarchy, the broadest first.
        level_of: Relation of a row to the category that ``levels`` names. If empty, the row is this
            category.
        code: Column of codes that begin with the code of the parent (``A00.1`` is below ``A00``).
        relations: Columns of relations.
        labels_of: For each column whose targets have their labels in another column, that column.
        separators: Characters that separate the values of a cell, by column; by default ``|``,
            ``;`` and new lines.
        paths: Separator of the names of a path or the parts of a code, by column (``>`` for
            arrows).
        keys: Foreign keys, by column: name of the other table, and its column.
        negation: Words in cells that negate a row, by column.
        justification: Column of justifications in SSSOM. Mappings that ontodex proposed and nobody
            confirmed are left out.
        tool: Column of the tool that made a mapping, in SSSOM.
        obsolete: Columns whose cells mark obsolete rows by "yes"; such rows are left out.
        ignored: Reason for each column that is left out.
    """

    table: str = ""
    rows: Texts = ()
    columns: Texts = ()
    header: bool = True
    head: str = ""
    relation: str = ""
    tail: str = ""
    id: Texts = ()
    id_prefix: str = ""
    rows_about: str = ""
    label: Texts = ()
    label_parts: Texts = ()
    synonyms: Texts = ()
    definition: Texts = ()
    alternative_ids: Texts = ()
    parent: Texts = ()
    path: str = ""
    levels: Texts = ()
    level_of: str = ""
    code: str = ""
    relations: Mapping[str, RelationColumn] = field(default_factory=dict)
    labels_of: Mapping[str, str] = field(default_factory=dict)
    separators: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, Texts] = field(default_factory=dict)
    negation: Mapping[str, Texts] = field(default_factory=dict)
    justification: str = ""
    tool: str = ""
    obsolete: Texts = ()
    ignored: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ends = (self.head, self.relation, self.tail)
        if any(ends) and not all(ends):
            raise SettingsError(
                "mapping: expected head, relation and tail of triples, found "
                f"{' and '.join(one for one in ('head', 'relation', 'tail') if getattr(self, one))}"
                " alone; name all three columns, or id and label"
            )
        for column, key in self.keys.items():
            if len(key) != 2:
                raise SettingsError(
                    f"mapping: keys: {column}: expected the name of a table and of its column, "
                    f"found {', '.join(key)!r}; write [companies, id]"
                )
        unknown = [name for name in self.used if self.columns and name not in self.columns]
        if unknown:
            raise SettingsError(
                f"mapping of {self.table or 'a table'}: expected one of its columns, found "
                f"{unknown[0]!r}{nearest(unknown[0], self.columns)}"
            )

    @property
    def are_triples(self) -> bool:
        """Whether rows are triples; otherwise rows are entities."""
        return bool(self.head)

    @property
    def names_rows(self) -> bool:
        """Whether a column has ids, labels or paths of rows."""
        return bool(self.id or self.label or self.label_parts or self.path or self.levels)

    @property
    def used(self) -> Texts:
        """The columns that are read, without duplicates."""
        single = (getattr(self, name) for name in SINGLE)
        several = (self.id, self.label, self.label_parts, self.synonyms, self.definition)
        more = (self.alternative_ids, self.parent, self.levels, self.obsolete)
        by_column = (self.relations, self.labels_of, self.labels_of.values(), self.negation)
        keys = (of.by for of in self.relations.values() if of.by not in ROWS_BY)
        names = [*single, *(one for of in (*several, *more, *by_column, keys) for one in of)]
        return tuple(dict.fromkeys(filter(None, names)))

    def fits(self, names: Iterable[str]) -> bool:
        """Tell whether the names of a table's columns include all columns that are read."""
        return {*self.used} <= {*names}


def chosen_mapping(
    mappings: Iterable[TableMapping], table: str, columns: Sequence[str]
) -> TableMapping | None:
    """Return the mapping to read a table with, among mappings whose columns the table has.

    A mapping with the table's name is preferred, then one without a name or with the same header.

    >>> pets, any_table = TableMapping(table="pets", id=("id",)), TableMapping(id=("id",))
    >>> chosen_mapping([any_table, pets], "pets", ["id", "label"]) is pets
    True
    >>> chosen_mapping([any_table, pets], "people", ["name"])
    """
    fitting = [one for one in mappings if one.fits(columns)]
    fitting.sort(key=lambda one: one.columns != tuple(columns))
    by_name = (one for one in fitting if table and one.table == table)
    by_columns = (one for one in fitting if not one.table or one.columns == tuple(columns))
    return next(by_name, next(by_columns, None))


UNNAMED = "without a name"
"""Reason to leave out a column without a name, such as the index of a data frame."""


def column_names(header: Sequence[str]) -> list[str]:
    """Return unique column names for a header; repeated names are numbered.

    >>> column_names(["id", "name ", "name", ""])
    ['id', 'name', 'name (2)', 'column 4']
    """
    count = Counter[str]()
    found = []
    for number, cell in enumerate(header, start=1):
        name = str(cell).strip() or f"column {number}"
        count[name] += 1
        found.append(name if count[name] == 1 else f"{name} ({count[name]})")
    return found


def mapping_from(values: Any, where: str) -> TableMapping:
    """Return a mapping from parsed YAML or JSON.

    Args:
        values: Values of the fields of a mapping by name.
        where: Name of the document, for messages.

    Raises:
        SettingsError: If a key is unknown, a value is of the wrong kind, or a column does not
            exist.
    """
    found = _expect_keys(TableMapping, values, where)
    for name, value in found.items():
        default, place = getattr(TableMapping, name, None), f"{where}: {name}"
        if default is None:
            of_column = OF_COLUMNS.get(name, _text)
            found[name] = {
                str(column): of_column(of, f"{place}: {column}")
                for column, of in _expect_map(value, place).items()
            }
        elif isinstance(default, tuple):
            found[name] = _texts(value, place)
        elif isinstance(default, str):
            found[name] = _text(value, place)
        elif not isinstance(value, bool):
            raise SettingsError(f"{place}: expected true or false, found {value!r}")
    try:
        return TableMapping(**found)
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from None


def _relation(values: Any, where: str) -> RelationColumn:
    found = _expect_keys(RelationColumn, values or {}, where)
    texts = {name: _text(value, f"{where}: {name}") for name, value in found.items()}
    return RelationColumn(**texts)


def _expect_keys(kind: type, values: Any, where: str) -> dict[str, Any]:
    known = [one.name for one in dataclasses.fields(kind)]
    found = {str(key): value for key, value in _expect_map(values, where).items()}
    for key in found:
        if key not in known:
            raise SettingsError(
                f"{where}: unknown key {key!r}{nearest(key, known)}; known: {', '.join(known)}"
            )
    return found


def _expect_map(values: Any, where: str) -> Mapping[Any, Any]:
    if not isinstance(values, Mapping):
        raise SettingsError(f"{where}: expected names and their values, found {values!r}"[:300])
    return values


def _text(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise SettingsError(f"{where}: expected a text, found {value!r}; put it in quotes")
    return str(value)


def _texts(value: Any, where: str) -> Texts:
    several = value if isinstance(value, list | tuple) else [value]
    return tuple(_text(one, where) for one in several)


OF_COLUMNS = {"relations": _relation, "negation": _texts, "keys": _texts}
"""What is said of columns in fields whose values are not texts."""


def mapping_to(mapping: TableMapping) -> dict[str, Any]:
    """Return a mapping as values for YAML and JSON, without fields that have their default.

    A single column is a text rather than a list.

    >>> mapping_to(TableMapping(table="pets", id=("id",), label=("name", "title")))
    {'table': 'pets', 'id': 'id', 'label': ['name', 'title']}
    """
    found: dict[str, Any] = {}
    for name, value, default in _differing(mapping, TableMapping()):
        if name == "relations":
            plain = {
                column: {one: of for one, of, _ in _differing(relation, RelationColumn())}
                for column, relation in value.items()
            }
            found[name] = plain
        elif isinstance(default, tuple):
            found[name] = [*value] if len(value) != 1 or name == "columns" else value[0]
        elif isinstance(value, Mapping):
            found[name] = {
                key: [*one] if isinstance(one, tuple) else one for key, one in value.items()
            }
        else:
            found[name] = value
    return found


def _differing(one: Any, default: Any) -> Iterable[tuple[str, Any, Any]]:
    for of in dataclasses.fields(one):
        value, usual = getattr(one, of.name), getattr(default, of.name)
        if value != usual:
            yield of.name, value, usual


def mappings_text(mappings: Sequence[TableMapping]) -> str:
    """Return mappings as a YAML document: a list with one item per table."""
    text: str = yaml.safe_dump(
        [*map(mapping_to, mappings)], sort_keys=False, allow_unicode=True, width=100
    )
    return text


def as_mappings(given: Any) -> tuple[TableMapping, ...]:
    """Return mappings that are given as a path, a mapping, or several mappings.

    Raises:
        ReadError: If a file cannot be read or is not YAML.
        SettingsError: If a value in the file, or a given value, is not a mapping.
    """
    if given is None:
        return ()
    if isinstance(given, TableMapping):
        return (given,)
    if isinstance(given, str | Path):
        try:
            values = yaml.safe_load(Path(given).read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ReadError(f"expected a readable mapping: {error}", str(given)) from None
        except (yaml.YAMLError, RecursionError) as error:
            fault = " ".join(str(error).split())
            raise ReadError(
                f"expected a mapping in YAML, found a fault ({fault})", str(given)
            ) from None
        several = values if isinstance(values, list) else [values]
        return tuple(mapping_from(one, str(given)) for one in several)
    if isinstance(given, Iterable):
        return tuple(
            one if isinstance(one, TableMapping) else mapping_from(one, "mapping") for one in given
        )
    raise SettingsError(f"mapping: expected a path or a TableMapping, found {given!r}")
