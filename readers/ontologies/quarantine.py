"""Parsing untrusted RDF documents in a separate process, with limits on time and memory.

A parser in native code may loop, or exhaust memory, on a file of some kilobytes. The only way to
stop the parser is to end its process, so it must not run in the process of the user.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyoxigraph as ox

from ontodex.errors import ReadError

__all__ = ["Fault", "Quarantine"]

PROGRAM = Path(__file__).with_name("quarantined.py")
SECONDS, BYTES_A_SECOND = 2, 2 << 20
"""Limit on processor time: 2 s, plus 0.5 s per MiB; usual files take a twentieth of the limit."""

MEMORY, BYTES_A_BYTE = 320 << 20, 20
"""Limit on address space: 320 MiB, plus 20 times the size of the file."""

BLOCK = 10_000
SLICE = 1 << 16


class Fault(Exception):
    """Error that a document is not in its format.

    Args:
        message: Message of the parser.
        line: Line number, counted from 1, if known.
    """

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


class Quarantine:
    """A document that is parsed in a separate process; iterating over it yields its quads.

    Args:
        stream: The document.
        size: Approximate length of the document in bytes; the limits grow with it.
        format: Format of the document.
        base: Base of relative IRIs.
        source: Name of the document, for messages.
        lenient: Accept names of resources that are not valid IRIs; if false, they are faults.

    Attributes:
        prefixes: Declared prefixes; filled after all quads are read.

    Raises:
        ReadError: If parsing exceeds the limits of time or memory, or crashes.
    """

    def __init__(
        self,
        stream: Any,
        size: int,
        format: ox.RdfFormat,
        base: str,
        source: str,
        *,
        lenient: bool = False,
    ) -> None:
        self.prefixes: dict[str, str] = {}
        self.source = source
        self._stream = stream
        self._seconds = SECONDS + size // BYTES_A_SECOND
        self._memory = MEMORY + BYTES_A_BYTE * size
        self._command = [
            *(
                sys.executable,
                "-I",
                str(PROGRAM),
                _NAMES[format],
                base,
                "lenient" if lenient else "",
            ),
            *(str(self._seconds), str(self._memory)),
            *filter(None, sys.path),
        ]
        self._failure: BaseException | None = None

    def __iter__(self) -> Iterator[Any]:
        """Yield the quads.

        Raises:
            ReadError: If a limit is exceeded, or the stream raises this error.
            Fault: If the document is not in its format.
        """
        pipe = subprocess.PIPE
        quiet = {**os.environ, "RUST_BACKTRACE": "0"}  # a backtrace would take seconds
        with subprocess.Popen(  # noqa: S603
            self._command, stdin=pipe, stdout=pipe, stderr=pipe, env=quiet
        ) as process:
            messages: list[bytes] = []
            pumps = [
                threading.Thread(target=self._feed, args=(process,)),
                threading.Thread(target=lambda: messages.append(_rest_of(process.stderr))),
            ]
            for pump in pumps:
                pump.start()
            try:
                while block := list(islice(process.stdout, BLOCK)):  # type: ignore[arg-type]
                    if block[-1].endswith(b"\n"):  # otherwise the process was stopped within a line
                        yield from _again(b"".join(block))
                process.wait()
            finally:
                process.kill()
                for pump in pumps:
                    pump.join()
        self._judge(process.returncode, b"".join(messages))

    def _feed(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            try:
                while chunk := self._stream.read(SLICE):
                    process.stdin.write(chunk)
            except BrokenPipeError:
                raise
            except (
                BaseException
            ) as error:  # of any kind: a partial document must not pass for a complete one
                self._failure = error
                process.kill()
            finally:
                process.stdin.close()

    def _judge(self, code: int, message: bytes) -> None:
        if self._failure is not None:
            raise self._failure
        if code:
            raise ReadError(
                f"{self._cause(code)}; refused: mend the file, or leave it", self.source
            )
        found = json.loads(message)
        if "fault" in found:
            raise Fault(found["fault"], found["line"])
        self.prefixes = found["prefixes"]

    def _cause(self, code: int) -> str:
        if -code in (getattr(signal, "SIGXCPU", None), getattr(signal, "SIGKILL", None)):
            limit = f"{self._seconds} seconds"
            return f"expected a document that {limit} suffice to parse, found one that takes longer"
        if -code == signal.SIGABRT:
            limit = f"{self._memory >> 20} MiB"
            return f"expected a document that {limit} suffice to parse, found one that takes more"
        return f"expected a document, found one that its parser cannot stand (status {code})"


def _rest_of(stream: IO[bytes] | None) -> bytes:
    return b"" if stream is None else stream.read()


def _again(quads: bytes) -> Iterator[Any]:
    """Yield the quads in N-Quads that the other process wrote."""
    try:
        yield from ox.parse(quads, format=ox.RdfFormat.N_QUADS, lenient=True)
    except SyntaxError as error:
        raise Fault(str(error.args[0]), None) from None


_NAMES = {getattr(ox.RdfFormat, name): name for name in ("TURTLE", "TRIG", "RDF_XML", "JSON_LD")}
