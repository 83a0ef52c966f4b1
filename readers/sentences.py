"""Plain text: a statement a line."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ontodex.graph.builder import GraphBuilder
from ontodex.readers.files import lines_of, plain_name
from ontodex.readers.problems import Problems

__all__ = ["read_sentences"]


def read_sentences(path: Path, builder: GraphBuilder, problems: Problems) -> None:
    """Read every line that is not blank as an entity, its label the line, its id the file's name and a hash of the line.

    So lines of files of one name stay apart, and a file that was edited meets its former self. A line may hold a paragraph:
    where sentences are searched, it is taken apart.

    Args:
        path: A text file.
        builder: Takes the entities.
        problems: Takes lines that are no text.
    """
    name = plain_name(path).rpartition(".")[0] or plain_name(path)
    for _, line in lines_of(path, problems):
        text = " ".join(line.split())
        if text:
            builder.entity(
                f"{name}:{hashlib.blake2b(text.encode(), digest_size=6).hexdigest()}", text
            )
