"""Writing a graph as TSV: a file of triples, or a folder of splits and texts."""

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

    A path with a suffix is written as a file of the known triples with the header head, relation,
    tail. Any other path is written as a folder with ``train.tsv``, ``valid.tsv`` and ``test.tsv``
    (if there are such triples), ``entity_text.tsv`` (id, label, synonyms, definition, alternative
    ids; lists are separated by ``|``) and ``relation2text.txt``. White space in a cell is written
    as one space, and ``|`` in a synonym or alternative id as ``/``. In triples, an id that begins
    and ends with a quote is quoted once more, as readers remove one pair of quotes.

    Args:
        graph: The graph.
        path: A file such as ``pets.tsv``, or a folder.

    Raises:
        GraphError: If two ids differ only by white space, an id is blank, or the folder has files
            but not a previous export.
        OSError: If the path cannot be written.

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
        for bad in cleaned:
            if not bad or bad in seen:
                break
            seen.add(bad)
        raise GraphError(
            f"expected {kind} ids that differ by more than white space, "
            f"found {bad!r} twice or blank"
        )
    return cleaned


def _list(names: Iterable[str]) -> str:
    return "|".join(name.replace("|", "/") for name in names)


def _cell(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())


def _quoted(name: str) -> str:
    """Return an id as a cell of a triple.

    Readers remove quotes around a cell, so an id that has quotes around it is quoted once more.
    """
    return (
        '"' + name.replace('"', '""') + '"' if name.startswith('"') and name.endswith('"') else name
    )


def write_rows(path: Path, rows: Iterable[Iterable[str]]) -> None:
    """Write rows of tab-separated cells; white space in a cell is written as one space.

    Raises:
        OSError: If the path cannot be written.
    """
    with replacing(path) as stream:
        for row in rows:
            stream.write(("\t".join(map(_cell, row)) + "\n").encode())
