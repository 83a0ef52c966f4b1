"""Fit the rule of grounding that ontodex ships, ``SHIPPED`` in ``engine/grounding.py``.

From the root of the project, with the indexes of several graphs that have synonyms::

    make -s tree
    PYTHONPATH=build/tree python tools/fit_grounding.py INDEX...

The rule was fitted to the Disease Ontology (2016), the Human Phenotype Ontology and EDAM.
"""

from __future__ import annotations

import sys
from pathlib import Path

import ontodex
from ontodex.engine.grounding import FEATURES
from ontodex.engine.grounding_fit import Asked, ask_held_out, rule_of
from ontodex.errors import settings_from
from ontodex.graph import TextSettings
from ontodex.storage.space_names import NAME, TEXT


def main(indexes: list[Path]) -> None:
    """Print the rule."""
    rule = rule_of([_asked(path) for path in indexes])
    if rule is None:
        sys.exit("expected graphs with synonyms that the search finds, found none")
    for name, weight in zip(FEATURES, rule.weights, strict=True):
        print(f"    {weight:.3f},  # {name}")
    print(f"offset {rule.offset:.3f}, threshold {rule.threshold:.3f}")


def _asked(path: Path) -> Asked:
    with ontodex.open(path) as engine:
        index, encoder = engine.index, engine.resources.encoders.text
        asked = ask_held_out(
            index.graph,
            engine.hierarchy,
            index.vectors(TEXT),
            index.sentences(NAME),
            index.vectors(NAME),
            settings_from(TextSettings, index.manifest.settings["texts"], str(path)),
            encoder.encode,
            encoder.knows,
        )
        if asked is None:
            sys.exit(f"{path}: expected synonyms to hold out, found too few")
        return asked


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
