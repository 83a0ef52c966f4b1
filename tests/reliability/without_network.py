"""Run by ``tests/api/test_demo.py``: the demo, in a process that may not open a connection.

The training runs have 20 batches each. The index goes to a given folder.
"""

from __future__ import annotations

import sys
from typing import Any

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
    import ontodex
    from ontodex.cli.app import main

    build = ontodex.build

    def build_briefly(source: Any, path: Any, **settings: Any) -> ontodex.Engine:
        training, structure = ontodex.HyperCLTraining(steps=20), ontodex.ComplExTraining(steps=20)
        return build(source, path, training=training, structure=structure, **settings)

    ontodex.build = build_briefly
    sys.argv = ["ontodex", "demo", *sys.argv[1:]]
    main()
