"""RDF documents that may be hostile, parsed in a process of their own under limits of time and memory.

A parser in native code can be sent round in circles, or into the ground, by a file of some kilobytes; nothing but the end
of its process stops it then, and that must not be the user's.
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
from typing import Any

import pyoxigraph as ox

from ontodex.errors import ReadError

__all__ = ["Fault", "Quarantine"]

PROGRAM = Path(__file__).with_name("quarantined.py")
SECONDS, BYTES_A_SECOND = 2, 2 << 20
"""Processor time: two seconds, and half of one for each MiB. Honest files take a twentieth of that."""

MEMORY, BYTES_A_BYTE = 320 << 20, 20
"""Address space: 320 MiB, and twenty times the file."""

BLOCK = 10_000
SLICE = 1 << 16


class Fault(Exception):
    """A document is not of its format.

    Args:
        message: What the parser found.
        line: Line number, counted from 1, when it is known.
    """

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


class Quarantine:
    """One document, parsed apart: iterate over it for its quads.

    Args:
        stream: The document.
        size: Its length in bytes, more or less; the limits grow with it.
        format: Its format.
        base: IRI that relative ones are relative to.
        source: Its name, for messages.
        lenient: Take names of resources that are strictly no IRIs.

    Attributes:
        prefixes: Those that it declares, once all quads were taken.

    Raises:
        ReadError: If it takes more time or memory than a document of its size should, or kills its parser.
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
            ReadError: As above, or as the stream raises it.
            Fault: If the document is not of its format.
        """
        pipe = subprocess.PIPE
        quiet = {**os.environ, "RUST_BACKTRACE": "0"}  # to tell where it failed would take seconds
        with subprocess.Popen(  # noqa: S603
            self._command, stdin=pipe, stdout=pipe, stderr=pipe, env=quiet
        ) as process:
            said: list[bytes] = []
            pumps = [
                threading.Thread(target=self._feed, args=(process,)),
                threading.Thread(target=lambda: said.append(process.stderr.read())),  # type: ignore[union-attr]
            ]
            for pump in pumps:
                pump.start()
            try:
                while block := list(islice(process.stdout, BLOCK)):  # type: ignore[arg-type]
                    if block[-1].endswith(b"\n"):  # else the process was stopped within a line
                        yield from _again(b"".join(block))
                process.wait()
            finally:
                process.kill()
                for pump in pumps:
                    pump.join()
        self._judge(process.returncode, b"".join(said))

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
            ) as error:  # of any kind: what came so far must not pass for a whole document
                self._failure = error
                process.kill()
            finally:
                process.stdin.close()

    def _judge(self, code: int, said: bytes) -> None:
        if self._failure is not None:
            raise self._failure
        if code:
            raise ReadError(
                f"{self._cause(code)}; refused: mend the file, or leave it", self.source
            )
        found = json.loads(said)
        if "fault" in found:
            raise Fault(found["fault"], found["line"])
        self.prefixes = found["prefixes"]

    def _cause(self, code: int) -> str:
        if -code in (getattr(signal, "SIGXCPU", None), getattr(signal, "SIGKILL", None)):
            return f"expected a document that {self._seconds} seconds suffice to parse, found one that takes longer"
        if -code == signal.SIGABRT:
            return f"expected a document that {self._memory >> 20} MiB suffice to parse, found one that takes more"
        return f"expected a document, found one that its parser cannot stand (status {code})"


def _again(quads: bytes) -> Iterator[Any]:
    """Yield what the other process has read: some names that it takes are strictly none."""
    try:
        yield from ox.parse(quads, format=ox.RdfFormat.N_QUADS, lenient=True)
    except SyntaxError as error:
        raise Fault(str(error.args[0]), None) from None


_NAMES = {getattr(ox.RdfFormat, name): name for name in ("TURTLE", "TRIG", "RDF_XML", "JSON_LD")}
