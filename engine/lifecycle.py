"""Letting questions in until an engine is closed, and only in the process that opened it."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from ontodex.errors import IndexFailure

__all__ = ["LifecycleGuard", "guarded"]

T = TypeVar("T", bound=type)


class LifecycleGuard:
    """Counts the questions that are being answered; once shut, it lets no new ones in.

    Args:
        name: What is behind it, for messages.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._process = os.getpid()
        self._inside: dict[int, int] = {}
        self._shut = False
        self._moved = threading.Condition()

    def __enter__(self) -> None:
        """Go in: at once, if this thread is in already.

        Raises:
            IndexFailure: If it is shut, or this is a fork of the process that made it.
        """
        if os.getpid() != self._process:
            raise IndexFailure(
                f"{self._name}: expected the process that opened the index ({self._process}), found its fork "
                f"({os.getpid()}), in which encoders and their threads are broken; open the index after the fork"
            )
        thread = threading.get_ident()
        with self._moved:
            if self._shut and thread not in self._inside:
                raise IndexFailure(
                    f"{self._name}: expected an open index, found one that was closed; open it again"
                )
            self._inside[thread] = self._inside.get(thread, 0) + 1

    def __exit__(self, *_: object) -> None:
        thread = threading.get_ident()
        with self._moved:
            self._inside[thread] -= 1
            if not self._inside[thread]:
                del self._inside[thread]
                self._moved.notify_all()

    def shut(self) -> None:
        """Let nobody in any more, and wait for those inside; a fork of the process waits for none."""
        if os.getpid() != self._process:
            return
        with self._moved:
            self._shut = True
            self._moved.wait_for(lambda: not self._inside.keys() - {threading.get_ident()})


def guarded(*further: str) -> Callable[[T], T]:
    """Lead the ``_batch`` methods of a class, and further ones, through the gate that its objects have as ``gate``."""

    def lead(cls: T) -> T:
        for name in [name for name in vars(cls) if name.endswith("_batch") or name in further]:
            setattr(cls, name, _through(getattr(cls, name)))
        return cls

    return lead


def _through(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def asked(self: Any, *arguments: Any, **named: Any) -> Any:
        with self.gate:
            return method(self, *arguments, **named)

    return asked
