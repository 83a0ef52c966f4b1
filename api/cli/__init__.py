"""The command line: ``ontodex`` and ``python -m ontodex``."""

from ontodex.cli.app import main

__all__ = ["main"]
