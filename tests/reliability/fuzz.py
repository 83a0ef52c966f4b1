"""Coverage-guided fuzzing of every reader, the manifest, and the resolver of names, by atheris.

``python -m tests.reliability.fuzz SECONDS`` (in `make torture`) starts from the seeds in
``corpus/``, where it adds inputs that fail, and from ``corpus.tar.gz``, the inputs of new coverage
that an hour of fuzzing found. ``make test`` runs all of these. The first byte of an input is the
number of its target, the rest is the input of that target.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
import tarfile
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).with_name("corpus")
KEPT = CORPUS.with_suffix(".tar.gz")
LONGEST = 4096


def in_file(name: str, use: Callable[[Path], Any]) -> Callable[[bytes], None]:
    """Return a target that reads its input from a file of this name."""

    def run(content: bytes) -> None:
        with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            use(path)

    return run


def as_graph(path: Path) -> None:
    """Read a graph, and run the steps of a build on it."""
    from ontodex.graph import entity_sentences, entity_texts, relation_texts
    from ontodex.readers import read

    graph = read(path, on_error="skip")
    assert graph.n_entities == len(graph.labels) == len(graph.ids) == len(set(graph.ids))
    assert not len(graph.heads) or 0 <= graph.heads.min() <= graph.heads.max() < graph.n_entities
    assert len(entity_texts(graph)) == graph.n_entities
    assert len(relation_texts(graph)) == 2 * graph.n_relations
    said = entity_sentences(graph)
    assert len(said.texts) == len(said)
    if graph.hierarchy_relations:
        assert len(graph.hierarchy(on_cycle="warn").depth) == graph.n_entities
    for name in list(graph.ids)[:20]:
        assert graph.find(name) is not None or not name.strip()


def as_splits(content: bytes) -> None:
    """Read a folder of files, into which lines of ``--`` split the input."""
    names = (
        "train.tsv",
        "entity_text.tsv",
        "relation2text.txt",
        "fb15k_mid2name.txt",
        "entity2text.txt",
    )
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        for name, part in zip(names, content.split(b"\n--\n"), strict=False):
            (Path(folder) / name).write_bytes(part)
        as_graph(Path(folder))


def as_manifest(content: bytes) -> None:
    """Read a manifest whose checksum fits."""
    from ontodex.storage.manifest import Manifest, _digest

    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        found = None
    whole = (
        json.dumps({"blake2b": _digest(found), **found}).encode()
        if isinstance(found, dict)
        else content
    )
    in_file("manifest.json", lambda path: Manifest.read(path.parent))(whole)


def as_name(content: bytes) -> None:
    """Look a text up, as an entity and as a relation."""
    from ontodex.engine.resolve import resolve_entity, resolve_relation
    from ontodex.errors import LookupFailed, SettingsError

    for text in (content.decode("utf-8", "replace"), content.decode("utf-16", "replace")):
        for resolve in (resolve_entity, resolve_relation):
            with contextlib.suppress(LookupFailed, SettingsError):
                assert resolve(farm(), text).resolution.text == text


@functools.cache
def farm() -> Any:
    from tests.conftest import make_small_graph

    return make_small_graph()


SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def targets() -> dict[str, Callable[[bytes], None]]:
    """Return the targets, by name."""
    from ontodex.trainers.data.csts import read_csts
    from ontodex.trainers.data.nli import read_nli
    from ontodex.trainers.data.sts import read_sts

    return {
        "table": in_file("a.tsv", as_graph),
        "csv": in_file("a.csv", as_graph),
        "obo": in_file("a.obo", as_graph),
        "nquads": in_file("a.nq", as_graph),
        "json": in_file("a.json", as_graph),
        "gzip": in_file("a.nt.gz", as_graph),
        "unknown": in_file("a", as_graph),
        "splits": as_splits,
        "nli": in_file("a.jsonl", lambda path: read_nli(path, on_error="skip")),
        "nli table": in_file("a.tsv", lambda path: read_nli(path, on_error="skip")),
        "csts": in_file("a.csv", lambda path: read_csts(path, on_error="skip")),
        "sts": in_file("a.csv", lambda path: read_sts(path, on_error="skip")),
        "manifest": as_manifest,
        "name": as_name,
        "yaml": in_file("a.yaml", as_graph),
    }


def run_one(data: bytes, known: dict[str, Callable[[bytes], None]]) -> None:
    """Run the target of an input; any exception but an OntodexError is a fault."""
    from ontodex.errors import OntodexError

    if not data:
        return
    start = time.process_time()
    with contextlib.suppress(OntodexError):
        list(known.values())[data[0] % len(known)](data[1:])
    assert time.process_time() - start < 5, "slow"


def main(seconds: int, corpus: Path) -> None:
    import atheris

    warnings.simplefilter("ignore")
    with atheris.instrument_imports(
        include=["ontodex.graph", "ontodex.storage.manifest", "ontodex.engine.resolve"]
    ):
        known = targets()

    def test(data: bytes) -> None:
        try:
            run_one(data, known)
        except BaseException:
            name = hashlib.sha256(data).hexdigest()[:16]
            (CORPUS / f"found-{name}").write_bytes(data)
            raise

    with tarfile.open(KEPT) as archive:
        archive.extractall(corpus, filter="data")
    limits = [
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST}",
        "-timeout=20",
        "-rss_limit_mb=2000",
        "-seed=1",
    ]
    atheris.Setup([sys.argv[0], str(corpus), str(CORPUS), *limits], test)
    atheris.Fuzz()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(int(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else Path(folder))
