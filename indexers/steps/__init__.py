"""The steps of a build, a module each; :mod:`ontodex.indexers.build` has their order."""
