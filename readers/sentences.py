"""Plain text: one sentence or paragraph per line."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of, plain_name
from ontodex.readers.formats import FileFormat, never
from ontodex.readers.problems import Problems

__all__ = ["FORMAT", "read_sentences"]


def read_sentences(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read each line that is not blank as an entity whose label is the line.

    The id consists of the name of the file and a hash of the line. Equal lines of files with
    different names are therefore different entities, and a line keeps its id if the file is edited.

    Args:
        path: A text file.
        builder: Receives the entities.
        problems: Receives lines that are not UTF-8.
    """
    name = plain_name(path).rpartition(".")[0] or plain_name(path)
    for _, line in lines_of(path, problems):
        text = " ".join(line.split())
        if text:
            builder.entity(
                f"{name}:{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}", text
            )


FORMAT = FileFormat(
    "sentences",
    (),
    "Plain text, one sentence or paragraph a line; only by name.",
    matches=never,
    reader=read_sentences,
)
