"""No network: a reader that opens a connection fails its test."""

from __future__ import annotations

import socket

import pytest


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the reader went to the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
