"""A process of its own, started by ``quarantine.py``: RDF of any format on stdin becomes N-Quads on stdout.

Whatever the file does to the parser, it does here. Imports nothing of the package, and sees no file of the user's.
"""

from __future__ import annotations

import json
import sys


def main(format: str, base: str, seconds: str, memory: str, *places: str) -> None:
    """Parse stdin; at the end, one JSON object on stderr says the prefixes, or the fault and its line."""
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
    parser = ox.parse(sys.stdin.buffer, format=getattr(ox.RdfFormat, format), base_iri=base)
    try:
        plain = (quad for quad in parser if not isinstance(quad.object, ox.Triple))
        ox.serialize(plain, sys.stdout.buffer, format=ox.RdfFormat.N_QUADS)
        said: dict[str, object] = {"prefixes": dict(parser.prefixes)}
    except (SyntaxError, ValueError, MemoryError) as error:
        said = {"fault": str(error.args[0]), "line": getattr(error, "lineno", None)}
    sys.stdout.buffer.flush()
    sys.stderr.write(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
