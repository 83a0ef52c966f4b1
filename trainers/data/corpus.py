"""Training sentences from text files, or from the labels and definitions of graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ontodex.errors import ReadError
from ontodex.graph.builder import LANGUAGE
from ontodex.graph.sentences import entity_sentences
from ontodex.readers import read
from ontodex.readers.files import head_of, lines_of, plain_name
from ontodex.readers.problems import Problems

__all__ = ["read_corpus"]

TEXT_SUFFIXES = (".txt", ".text")


def read_corpus(
    *sources: Any, format: str | None = None, on_error: str = "warn", language: str = LANGUAGE
) -> list[str]:
    r"""Return training sentences.

    Args:
        sources: Text files (``.txt`` or ``.txt.gz``) with one sentence in each line; or graphs, or
            sources of :func:`ontodex.read`, whose labels and definitions are turned into sentences.
        format: As in :func:`ontodex.read`; ``"sentences"`` reads files of any name as text.
        on_error: As in :func:`ontodex.read`; applies to lines that are not UTF-8.
        language: As in :func:`ontodex.read`; has no effect on text files.

    Raises:
        ReadError: If a source cannot be read or is a binary file, or there are no sentences.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "pets.txt"
        ...     _ = path.write_text("A dog barks.\n\nA cat  purrs.\n")
        ...     read_corpus(path)
        ['A dog barks.', 'A cat purrs.']
    """
    found: list[str] = []
    for source in sources:
        if _is_text(source, format):
            found.extend(_lines(Path(source), on_error))
        else:
            found.extend(
                entity_sentences(
                    read(source, format=format, on_error=on_error, language=language)
                ).texts
            )
    if not found:
        raise ReadError(
            "expected sentences, found none", ", ".join(str(source) for source in sources)
        )
    return found


def _is_text(source: Any, format: str | None) -> bool:
    if not isinstance(source, str | Path) or Path(source).is_dir():
        return False
    return format == "sentences" or (
        format is None and plain_name(Path(source)).endswith(TEXT_SUFFIXES)
    )


def _lines(path: Path, on_error: str) -> list[str]:
    if b"\0" in head_of(path):
        raise ReadError("expected text, found a binary file", str(path))
    problems = Problems(on_error, str(path))
    lines = (" ".join(line.split()) for _, line in lines_of(path, problems))
    found = [line for line in lines if line]
    if not found and problems.count:
        raise ReadError(f"nothing could be read; {problems.summary()}", str(path))
    problems.finish()
    return found
