"""Reading files as bytes and lines: compression, byte order marks, encodings and size limits."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ontodex.errors import ReadError
from ontodex.readers.problems import Problems

__all__ = [
    "ZIP",
    "ZIPPED",
    "bounded_lines",
    "head_of",
    "lines_of",
    "names_in_zip",
    "opened",
    "plain_name",
    "size_of",
    "text_of",
]

BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")
Unzip = Callable[[BinaryIO], gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]
UNZIPPERS: Mapping[re.Pattern[bytes], Unzip] = {
    re.compile(rb"\x1f\x8b"): gzip.open,
    re.compile(rb"BZh\d1AY&SY"): bz2.open,
    re.compile(rb"\xfd7zXZ\0"): lzma.open,
}
"""Decompressor of each compressed format, by its magic bytes."""

ZIPPED = (".gz", ".bz2", ".xz")
"""Suffixes of compressed files."""

ZIP = b"PK\x03\x04"
HEAD = 1 << 16
LONGEST_LINE = 1 << 22
FREE = 1 << 20
MOST_TIMES = 100
"""A file that decompresses to more than ``FREE`` bytes and ``MOST_TIMES`` its size is rejected."""

USUAL_TIMES = 16
"""Assumed ratio of decompressed to compressed size."""


def plain_name(path: Path) -> str:
    """Return the lower-case file name without a suffix of compression such as ``.gz``.

    >>> plain_name(Path("data/Train.TXT.gz"))
    'train.txt'
    """
    name = path.name.lower()
    return name[: -len(Path(name).suffix)] if name.endswith(ZIPPED) else name


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, decompressed and without a byte order mark.

    Raises:
        ReadError: If the file cannot be opened or decompressed, is UTF-16, or decompresses to more
            than a hundred times its size.
    """
    try:
        with path.open("rb") as raw:
            unzip = _unzipper(raw.peek(HEAD))
            stream = io.BufferedReader(_Unzipped(raw, path, unzip)) if unzip else raw
            start = stream.peek(3)[:3]
            if start[:2] in UTF16:
                raise ReadError("expected UTF-8, found UTF-16; save the file as UTF-8", str(path))
            if start == BOM:
                stream.read(3)
            yield stream
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise ReadError(
            f"expected a whole zipped file, found a damaged one ({error}); fetch it again",
            str(path),
        ) from None
    except OSError as error:
        raise ReadError(f"expected a readable file: {error.strerror or error}", str(path)) from None


def _unzipper(start: bytes) -> Unzip | None:
    return next((unzip for begins, unzip in UNZIPPERS.items() if begins.match(start)), None)


class _Unzipped(io.RawIOBase):
    """The decompressed content of a file, up to the limits."""

    def __init__(self, raw: BinaryIO, path: Path, unzip: Unzip) -> None:
        self._raw, self._path, self._made = raw, path, 0
        self._file = unzip(raw)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        self._made += count
        if self._made > FREE and self._made > MOST_TIMES * self._raw.tell():
            raise ReadError(
                f"expected a zipped file of at most {MOST_TIMES} times its size, found one that "
                "grows beyond; if you trust it, unzip it and read that",
                str(self._path),
            )
        return count


def names_in_zip(path: Path) -> list[str]:
    """Return the names of the members of a zip file; an empty list for other or damaged files."""
    if not path.is_file():
        return []
    try:
        with path.open("rb") as file:
            if file.read(len(ZIP)) != ZIP:
                return []
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError):
        return []


def size_of(path: Path) -> int:
    """Estimate the decompressed size of a file in bytes."""
    with path.open("rb") as file:
        return path.stat().st_size * (USUAL_TIMES if _unzipper(file.read(16)) else 1)


def bounded_lines(stream: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield the lines of a stream.

    Raises:
        ReadError: If a line is longer than 4 MiB.
    """
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise ReadError(
                f"expected lines of at most {LONGEST_LINE:,} bytes, found a longer one",
                str(path),
                number,
            )
        yield line


def head_of(path: Path) -> bytes:
    """Return the first 64 KiB of a file, decompressed.

    Raises:
        ReadError: See :func:`opened`.
    """
    with opened(path) as stream:
        return stream.read(HEAD)


def text_of(path: Path) -> str:
    """Return the text of a UTF-8 file.

    Raises:
        ReadError: See :func:`opened`; also if the file is not UTF-8.
    """
    with opened(path) as stream:
        try:
            return stream.read().decode("utf-8")
        except UnicodeDecodeError as error:
            raise ReadError(
                f"expected UTF-8, found another encoding ({error}); save the file as UTF-8",
                str(path),
            ) from None


def lines_of(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """Yield the number of each line of a UTF-8 file, from 1, and its text without the line end.

    Lines that are not UTF-8 or have NUL bytes are left out and reported to ``problems``.

    Raises:
        ReadError: See :func:`opened` and :func:`bounded_lines`.
    """
    with opened(path) as stream:
        behind = 0
        for number, raw in enumerate(bounded_lines(stream, path), start=1):
            start, behind = behind, behind + len(raw)
            try:
                line = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                where = f"in column {error.start + 1}, byte {start + error.start} of the text"
                found = f"byte 0x{raw[error.start]:02x} {where}"
                problems.report(
                    f"expected UTF-8, found {found}; save the file as UTF-8", number, str(path)
                )
                continue
            if "\0" in line:
                problems.report(
                    "expected text, found a NUL byte; the file is damaged here", number, str(path)
                )
                continue
            yield number, line.rstrip("\r\n")
