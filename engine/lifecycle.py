"""Lifecycle guard: rejects calls after ``close()`` and calls from a forked process."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from ontodex.errors import IndexFailure
from ontodex.geometry.matrix_threads import one_thread

__all__ = ["LifecycleGuard", "guarded"]

T = TypeVar("T", bound=type)


class LifecycleGuard:
    """Counts running calls, and rejects new calls once it is closed.

    Args:
        name: Name of the guarded index, for messages.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._process = os.getpid()
        self._running: dict[int, int] = {}
        self._closed = False
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        """Start a call; after a close, only a thread with a running call may start another.

        Raises:
            IndexFailure: If the guard is closed, or was made before a fork of the process.
        """
        if os.getpid() != self._process:
            raise IndexFailure(
                f"{self._name}: expected the process that opened the index ({self._process}), "
                f"found its fork ({os.getpid()}), in which encoders and their threads are broken; "
                "open the index after the fork"
            )
        thread = threading.get_ident()
        with self._changed:
            if self._closed and thread not in self._running:
                raise IndexFailure(
                    f"{self._name}: expected an open index, found one that was closed; open it "
                    "again"
                )
            self._running[thread] = self._running.get(thread, 0) + 1

    def __exit__(self, *_: object) -> None:
        thread = threading.get_ident()
        with self._changed:
            self._running[thread] -= 1
            if not self._running[thread]:
                del self._running[thread]
                self._changed.notify_all()

    def close(self) -> None:
        """Reject new calls, and wait for running ones; in a forked process, do nothing."""
        if os.getpid() != self._process:
            return
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._running.keys() - {threading.get_ident()})


def guarded(*further: str) -> Callable[[T], T]:
    """Guard the ``_batch`` methods of a class, and the methods named in ``further``.

    The lifecycle guard is the attribute ``guard`` of an instance. Small matrix products in these
    methods use one thread; see :mod:`ontodex.geometry.matrix_threads`.
    """

    def decorate(cls: T) -> T:
        for name in [name for name in vars(cls) if name.endswith("_batch") or name in further]:
            setattr(cls, name, _guarded(getattr(cls, name)))
        return cls

    return decorate


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        with self.guard, one_thread():
            return method(self, *arguments, **named)

    return call
