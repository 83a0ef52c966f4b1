"""The program that ``quarantine.py`` runs in a separate process.

The program converts RDF on stdin to N-Quads on stdout. It imports no module of ontodex and opens
no files.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

ID = re.compile(rb"""(\srdf:ID\s*=\s*["'])(?![^\W\d][\w.-]*["'])""")
"""Start of an ``rdf:ID`` whose value is not an XML name; rewritten as ``rdf:about``."""

NO_IRI = re.compile(r'[\x00-\x1f<>"\\]')
"""Characters that the IRIs of the output must not contain."""


def main(format: str, base: str, lenient: str, seconds: str, memory: str, *places: str) -> None:
    """Parse stdin; write a JSON object to stderr, with prefixes, or with a fault and its line."""
    sys.path.extend(places)
    import pyoxigraph as ox

    try:
        import resource
    except ImportError:  # Windows has no such limits
        pass
    else:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    stream: Any = sys.stdin.buffer
    if lenient and format == "RDF_XML":
        stream = io.BytesIO(
            ID.sub(lambda found: found[1].replace(b"ID", b"about") + b"#", stream.read())
        )
    parser = ox.parse(
        stream, format=getattr(ox.RdfFormat, format), base_iri=base, lenient=bool(lenient)
    )
    try:
        plain = (quad for quad in parser if not isinstance(quad.object, ox.Triple))
        ox.serialize(
            _writable(plain, ox.NamedNode) if lenient else plain,
            sys.stdout.buffer,
            format=ox.RdfFormat.N_QUADS,
        )
        message: dict[str, object] = {"prefixes": dict(parser.prefixes)}
    except (SyntaxError, ValueError, MemoryError) as error:
        message = {"fault": str(error.args[0]), "line": getattr(error, "lineno", None)}
    sys.stdout.buffer.flush()
    sys.stderr.write(json.dumps(message))


def _writable(quads: Iterable[Any], named: Any) -> Iterator[Any]:
    for quad in quads:
        for node in quad:
            if isinstance(node, named) and NO_IRI.search(node.value):
                raise ValueError(f"{node.value!r} is no IRI")
        yield quad


if __name__ == "__main__":
    main(*sys.argv[1:])
