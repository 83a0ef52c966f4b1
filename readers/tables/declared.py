"""Tables with declared columns: data packages and ROBOT templates."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ontodex.errors import ReadError
from ontodex.readers.files import plain_name
from ontodex.readers.tables.mapping import RelationColumn, TableMapping, column_names

__all__ = ["DATA_PACKAGE", "Declared", "declared_by", "robot_mapping"]

DATA_PACKAGE = "datapackage.json"
"""Name of a data package (https://specs.frictionlessdata.io/tabular-data-package/)."""

VALUES = frozenset(
    (
        *("number", "integer", "boolean", "date", "time", "datetime", "year", "yearmonth"),
        *("duration", "geopoint", "geojson", "object"),
    )
)
"""Types of fields whose values are not entities, unless the fields are keys."""


@dataclass(frozen=True)
class Declared:
    """Declarations of a data package about a table.

    Attributes:
        name: Name of the table in the package.
        key: Columns of the primary key.
        foreign: Foreign keys: for each column, the name and the column of the other table.
        types: Type of each field.
    """

    name: str = ""
    key: tuple[str, ...] = ()
    foreign: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, str]:
        """Reason to leave out a column, for each column with values that is not a key."""
        return {
            column: f"declared as {kind}"
            for column, kind in self.types.items()
            if kind in VALUES and column not in (*self.key, *self.foreign)
        }


def declared_by(path: Path) -> Declared:
    """Return what the data package beside a file declares; empty without a package.

    Raises:
        ReadError: If the package is not JSON.
    """
    package = path.parent / DATA_PACKAGE
    if not package.is_file():
        return Declared()
    return _package(package, package.stat().st_mtime_ns).get(plain_name(path), Declared())


@lru_cache(maxsize=16)
def _package(path: Path, changed: int) -> dict[str, Declared]:
    """Return the declarations of a data package, by lower-case file name."""
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ReadError(f"expected a data package, found a fault ({error})", str(path)) from None
    resources = document.get("resources") if isinstance(document, dict) else None
    tables = [
        one
        for one in resources or ()
        if isinstance(one, dict) and isinstance(one.get("path"), str) and _schema(one)
    ]
    stems = {str(one.get("name", "")): Path(plain_name(Path(one["path"]))).stem for one in tables}
    found = {}
    for one in tables:
        schema, name = _schema(one), Path(one["path"])
        found[plain_name(name)] = Declared(
            stems[str(one.get("name", ""))],
            _names(schema.get("primaryKey")),
            dict(_foreign(schema, {**stems, "": stems[str(one.get("name", ""))]})),
            {
                str(of["name"]): str(of.get("type", "string"))
                for of in schema.get("fields") or ()
                if isinstance(of, dict) and "name" in of
            },
        )
    return found


def _schema(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    schema = resource.get("schema")
    return schema if isinstance(schema, dict) else {}


def _names(value: Any) -> tuple[str, ...]:
    several = value if isinstance(value, list) else [value] if isinstance(value, str) else []
    return tuple(map(str, several))


def _foreign(schema: Mapping[str, Any], stems: Mapping[str, str]) -> Sequence[tuple[str, Any]]:
    """Return the foreign keys that consist of one column."""
    found = []
    for key in schema.get("foreignKeys") or ():
        reference = key.get("reference") if isinstance(key, dict) else None
        if not isinstance(reference, dict):
            continue
        columns, named = _names(key.get("fields")), _names(reference.get("fields"))
        other = stems.get(str(reference.get("resource", "")), "")
        if len(columns) == len(named) == 1 and other:
            found.append((columns[0], (other, named[0])))
    return found


# ROBOT templates ----------------------------------------------------------------------------------

TEMPLATE = re.compile(
    r"(?:ID|LABEL|TYPE|CLASS_TYPE|PROPERTY_TYPE|"
    r"(?:>*)(?:A[TLI]?|S?C|EC|DC|I|DOMAIN|RANGE|CHARACTERISTIC)(?:\s.*)?)"
    r"(?:\s+SPLIT=.)?"
)
"""A cell of the second header row of a ROBOT template (http://robot.obolibrary.org/template)."""

SPLIT = re.compile(r"\s*SPLIT=(.)\s*$")

ANNOTATIONS = {
    "label": ("rdfs:label", "label", "skos:prefLabel"),
    "synonyms": (
        *("oboInOwl:hasExactSynonym", "oboInOwl:hasRelatedSynonym", "oboInOwl:hasNarrowSynonym"),
        *("oboInOwl:hasBroadSynonym", "oio:hasExactSynonym", "oio:hasRelatedSynonym"),
        *("oio:hasNarrowSynonym", "oio:hasBroadSynonym", "oboInOwl:hasSynonym", "skos:altLabel"),
        *("IAO:0000118", "obo:IAO_0000118", "alternative term", "has_exact_synonym"),
        *("has_related_synonym", "has_narrow_synonym", "has_broad_synonym"),
    ),
    "definition": ("IAO:0000115", "obo:IAO_0000115", "definition", "skos:definition"),
    "alternative_ids": ("oboInOwl:hasAlternativeId", "oio:hasAlternativeId", "skos:exactMatch"),
    "obsolete": ("owl:deprecated", "deprecated"),
}
"""Annotation properties whose values are read, by the field of the mapping."""

SOME = re.compile(r"\(?\s*(?:'([^']+)'|(\S+))\s+some\s+\(?\s*'?%'?\s*\)?\s*\)?")
"""An existential class expression such as "part_of some %"."""


def robot_mapping(names: Sequence[str], template: Sequence[str]) -> TableMapping | None:
    """Return the mapping that the second header row of a ROBOT template declares, or ``None``.

    >>> found = robot_mapping(["Id", "Name", "In"], ["ID", "A rdfs:label", "SC part_of some %"])
    >>> found.id, found.label, found.relations["In"].relation
    (('Id',), ('Name',), 'part_of')
    >>> robot_mapping(["id", "name"], ["1", "dog"])
    """
    cells = [cell.strip() for cell in template]
    filled = [cell for cell in cells if cell]
    is_template = (
        len(cells) == len(names)
        and {"ID", "LABEL"} & {*filled}
        and len(filled) > 1
        and all(map(TEMPLATE.fullmatch, filled))
    )
    if not is_template:
        return None
    columns, found = column_names(names), dict[str, list[str]]()
    relations, separators = dict[str, RelationColumn](), dict[str, str]()
    ignored = dict[str, str]()
    for column, cell in zip(columns, cells, strict=True):
        if split := SPLIT.search(cell):
            separators[column] = split[1]
            cell = cell[: split.start()]
        kind, what = _said(cell)
        if kind == "relation":
            relations[column] = RelationColumn(relation=what)
        elif kind:
            found.setdefault(kind, []).append(column)
        else:
            ignored[column] = f"{cell}: {what}" if cell else "without a template"
    several: dict[str, Any] = {kind: tuple(of) for kind, of in found.items()}
    return TableMapping(
        columns=tuple(columns),
        **several,
        relations=relations,
        separators={name: of for name, of in separators.items() if name not in ignored},
        ignored=ignored,
    )


def _said(cell: str) -> tuple[str, str]:
    """Return the field and relation of a template cell; for an ignored column, ``""`` and why.

    >>> _said("AL rdfs:label@en"), _said("SC %"), _said("C 'part of' some %"), _said("EC %")
    (('label', ''), ('parent', ''), ('relation', 'part of'), ('', 'an expression that is no link'))
    """
    kind, _, what = cell.partition(" ")
    what = what.strip()
    if cell in ("ID", "LABEL"):
        return cell.lower(), ""
    if kind in ("A", "AL", "AT", "AI"):
        name = re.sub(r"(?:@[\w-]+|\^\^\S+)$", "", what).strip("'\" ")
        field = next((one for one, known in ANNOTATIONS.items() if name in known), "")
        return field, "" if field else "an annotation"
    if kind in ("C", "SC"):
        if what in ("", "%"):
            return "parent", ""
        some = SOME.fullmatch(what)
        return ("relation", some[1] or some[2]) if some else ("", "an expression that is no link")
    if kind == "I":
        return ("relation", what.strip("'")) if what else ("", "an individual")
    return "", "an expression that is no link" if kind in ("EC", "DC") else "no link"
