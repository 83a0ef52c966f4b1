"""Run by test_supply.py: the whole demo, in a process that may not open a connection. The index goes to a given folder."""

from __future__ import annotations

import sys

CALLS = (
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.sendto",
    "socket.bind",
)


def forbid(event: str, arguments: object) -> None:
    if event in CALLS:
        sys.stderr.write(f"forbidden: {event} {arguments}\n")
        raise OSError("this process may not use the network")


if __name__ == "__main__":
    sys.addaudithook(forbid)
    from ontodex.cli.app import main

    sys.argv = ["ontodex", "demo", *sys.argv[1:]]
    main()
