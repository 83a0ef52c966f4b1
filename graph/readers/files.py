"""Files as bytes and as lines: gzip, byte order marks and encodings."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from ontodex.errors import ReadError
from ontodex.graph.readers.problems import Problems

__all__ = ["head_of", "lines_of", "opened", "plain_name"]

BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")


def plain_name(path: Path) -> str:
    """Return the lower-case file name without ``.gz``.

    >>> plain_name(Path("data/Train.TXT.gz"))
    'train.txt'
    """
    return path.name.lower().removesuffix(".gz")


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open ``path`` as plain bytes: unzipped, past the byte order mark.

    Raises:
        ReadError: If the file cannot be opened or unzipped, or is UTF-16.
    """
    try:
        with path.open("rb") as raw:
            zipped = raw.peek(2)[:2] == b"\x1f\x8b"
            with gzip.open(raw) if zipped else raw as stream:
                start = stream.peek(3)[:3]
                if start[:2] in UTF16:
                    raise ReadError("expected UTF-8, found UTF-16; save the file as UTF-8", str(path))
                if start == BOM:
                    stream.read(3)
                yield cast(BinaryIO, stream)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ReadError(
            f"expected a whole gzip file, found a damaged one ({error}); fetch it again", str(path)
        ) from None
    except OSError as error:
        raise ReadError(f"expected a readable file: {error.strerror or error}", str(path)) from None


def head_of(path: Path, size: int = 1 << 16) -> bytes:
    """Return the first ``size`` bytes of the file, unzipped.

    Raises:
        ReadError: As :func:`opened`.
    """
    with opened(path) as stream:
        return stream.read(size)


def lines_of(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end) of a UTF-8 file; lines that are no text are problems.

    Raises:
        ReadError: As :func:`opened`.
    """
    with opened(path) as stream:
        behind = 0
        for number, raw in enumerate(stream, start=1):
            start, behind = behind, behind + len(raw)
            try:
                line = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                where = f"in column {error.start + 1}, byte {start + error.start} of the text"
                found = f"byte 0x{raw[error.start]:02x} {where}"
                problems.report(f"expected UTF-8, found {found}; save the file as UTF-8", number, str(path))
                continue
            if "\0" in line:
                problems.report("expected text, found a NUL byte; the file is damaged here", number, str(path))
                continue
            yield number, line.rstrip("\r\n")
