"""Triples as TSV: one file, or a folder of splits with the texts beside them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ontodex.errors import GraphError
from ontodex.graph.knowledge_graph import KnowledgeGraph
from ontodex.graph.writers.atomic import expect_own_folder, replacing

__all__ = ["write_rows", "write_tsv"]

HEADER = ("head", "relation", "tail")
TEXTS = "entity_text.tsv"


def write_tsv(graph: KnowledgeGraph, path: str | Path) -> None:
    """Write the graph as tab-separated files that :func:`ontodex.read` reads back.

    A path with a suffix becomes one file of the known triples under the header head, relation, tail. A path without one, or
    of a folder, becomes a folder: ``train.tsv``, ``valid.tsv`` and ``test.tsv`` (where there are such), ``entity_text.tsv``
    (id, label, synonyms and alternative ids parted by ``|``, definition) and ``relation2text.txt``. White space in a cell
    becomes one space, and ``|`` in a synonym or alternative id becomes ``/``. In triples, an id that is in quotes itself is
    quoted once more.

    Args:
        graph: What to write.
        path: A file such as ``pets.tsv``, or a folder.

    Raises:
        GraphError: If two ids are the same once their white space is cleaned, or an id is blank; or the folder holds files
            that are not of an earlier export.
        OSError: If the place cannot be written to.

    Example:
        >>> import tempfile
        >>> from ontodex.graph import GraphBuilder
        >>> from ontodex.readers import read
        >>> builder = GraphBuilder("pets")
        >>> builder.triple("dog", "is_a", "animal")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_tsv(builder.build(), f"{folder}/pets.tsv")
        ...     read(f"{folder}/pets.tsv").n_triples
        1
    """
    path = Path(path)
    entities = _cleaned(graph.ids, "entity")
    relations = _cleaned(graph.relation_ids, "relation")

    def rows(triples: NDArray[np.int32]) -> Iterable[tuple[str, ...]]:
        yield HEADER
        for head, relation, tail in triples.tolist():
            yield _quoted(entities[head]), _quoted(relations[relation]), _quoted(entities[tail])

    if path.suffix and not path.is_dir():
        write_rows(path, rows(graph.triples))
        return
    expect_own_folder(path, TEXTS)
    path.mkdir(parents=True, exist_ok=True)
    texts = zip(
        entities,
        graph.labels,
        graph.synonyms,
        graph.definitions,
        graph.alternative_ids,
        strict=True,
    )
    write_rows(
        path / TEXTS,
        [
            ("id", "label", "synonyms", "definition", "alternative_ids"),
            *(
                (name, label, _list(synonyms), text, _list(alternatives))
                for name, label, synonyms, text, alternatives in texts
            ),
        ],
    )
    write_rows(path / "relation2text.txt", zip(relations, graph.relation_labels, strict=True))
    for split, triples in (("valid", graph.valid), ("test", graph.test)):
        if len(triples):
            write_rows(path / f"{split}.tsv", rows(triples))
        else:
            (path / f"{split}.tsv").unlink(missing_ok=True)
    write_rows(path / "train.tsv", rows(graph.triples))


def _cleaned(ids: Iterable[str], kind: str) -> list[str]:
    cleaned = [_cell(name) for name in ids]
    if len(set(cleaned)) < len(cleaned) or "" in cleaned:
        seen: set[str] = set()
        bad = next(name for name in cleaned if not name or name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise GraphError(
            f"expected {kind} ids that differ by more than white space, found {bad!r} twice or blank"
        )
    return cleaned


def _list(names: Iterable[str]) -> str:
    return "|".join(name.replace("|", "/") for name in names)


def _cell(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())


def _quoted(name: str) -> str:
    """Return a cell of a triple; from one in quotes they would be taken when it is read."""
    return (
        '"' + name.replace('"', '""') + '"' if name.startswith('"') and name.endswith('"') else name
    )


def write_rows(path: Path, rows: Iterable[Iterable[str]]) -> None:
    """Write rows of cells, tabs between them; white space in a cell becomes one space.

    Raises:
        OSError: If the place cannot be written to.
    """
    with replacing(path) as stream:
        for row in rows:
            stream.write(("\t".join(map(_cell, row)) + "\n").encode())
