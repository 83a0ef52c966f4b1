"""The steps of a build, one module per step; :mod:`ontodex.indexers.build` defines the order."""
