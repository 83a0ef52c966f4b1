"""The command line as a process, forked from one that has imported the slow libraries."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["run_ontodex"]

ROOT = Path(__file__).parent.parent
SLOW_TO_IMPORT = (
    "ontodex.cli.app",
    "sentence_transformers",
    "transformers.trainer",
    "peft",
    "sklearn.linear_model",
    "faiss",
)


def run_ontodex(
    arguments: Sequence[object], *, stdin: str = "", cwd: Path | None = None, timeout: float = 600
) -> tuple[int, str, str]:
    """Run ``ontodex`` in a process of its own; return (exit status, stdout, stderr).

    Raises:
        TimeoutError: If it has not ended after so many seconds.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(SLOW_TO_IMPORT))
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("stdin", "stdout", "stderr")]
        streams[0].write_text(stdin, encoding="utf-8")
        words = [str(one) for one in arguments]
        process = context.Process(
            target=_ontodex, args=(words, streams, cwd or Path.cwd(), dict(os.environ))
        )
        sys.path.append(str(ROOT))  # for the new process, which imports this module by name
        process.start()
        sys.path.pop()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise TimeoutError(
                f"ontodex {' '.join(words)}\n{streams[2].read_text(encoding='utf-8')}"
            )
        return (process.exitcode, *(stream.read_text(encoding="utf-8") for stream in streams[1:]))


def _ontodex(
    arguments: Sequence[str], streams: Sequence[Path], cwd: Path, environment: Mapping[str, str]
) -> None:
    """Run the command line in this process, with files as standard streams."""
    for number, (stream, flags) in enumerate(
        zip(streams, (os.O_RDONLY, *2 * [os.O_WRONLY | os.O_CREAT]), strict=True)
    ):
        file = os.open(stream, flags)
        os.dup2(file, number)
        os.close(file)
    sys.stdin = os.fdopen(0, encoding="utf-8")
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv = ["ontodex", *arguments]
    from ontodex.cli.app import main

    main()
