"""Building an index in stages: when each is ready, and the bound that the encoder sets.

The bound is the time that the encoder's matrix products take, by themselves and on all cores, for
the tokens of all distinct labels, synonyms and sentences of the graph, each once.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import ontodex
from benchmarks.encode import matrix_products
from benchmarks.memory import ROOT, peak_bytes
from benchmarks.record import Goal, Measured
from ontodex.demo_data import write_hpo, write_schema_org
from ontodex.encoders.text import TextEncoder
from ontodex.graph import KnowledgeGraph, entity_names, entity_sentences
from ontodex.storage import generations
from ontodex.storage.manifest import Manifest

__all__ = ["add_options", "run"]

GRAPHS = {
    "hpo": "the Human Phenotype Ontology with diseases and genes",
    "schema-org": "Schema.org",
}
WITHOUT_BFLOAT16 = {"ONEDNN_MAX_CPU_ISA": "AVX2"}
WHOLE, RATIO = "whole build, s", "whole build / bound"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this benchmark."""
    parser.add_argument("--graph", choices=list(GRAPHS), default="hpo", help="default %(default)s")
    parser.add_argument(
        "--float32", action="store_true", help="compute without bfloat16, on any processor"
    )


def run(options: argparse.Namespace) -> list[Measured]:
    """Build the index in a process of its own, and return one record."""
    graph = "schema-org" if options.quick else options.graph
    found = _in_process(graph, WITHOUT_BFLOAT16 if options.float32 else {})
    exact = not found.pop("bfloat16")
    hpo = graph == "hpo"
    return [
        Measured(
            name=f"build-{graph}" + "-float32" * options.float32,
            title=f"Building an index of {GRAPHS[graph]}" + ", in float32" * options.float32,
            seed=0,
            settings={"graph": GRAPHS[graph], "bfloat16": not exact},
            figures=found,
            goals={
                WHOLE: Goal(at_most=(480.0 if exact else 180.0) if hpo else 25.0),
                RATIO: Goal(at_most=2.2),
                "peak memory, MB": Goal(at_most=3000.0),
                **(
                    {
                        "seconds until · names are found by letters": Goal(at_most=10.0),
                        "seconds until · search": Goal(at_most=90.0 if exact else 60.0),
                    }
                    if hpo
                    else {}
                ),
            },
            notes=[
                "A process of its own reads the files and builds with the defaults. Seconds until "
                "a stage is ready are counted from the start of the process's work, reading "
                "included, importing Python's libraries not.",
                "Bound: the linear layers of the encoder alone, for the tokens of all distinct "
                "labels, synonyms and sentences, each once, measured before the build.",
            ],
        )
    ]


def _in_process(graph: str, environment: dict[str, str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.build", graph],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _build(name: str) -> dict[str, Any]:
    """Build an index of a graph; return seconds of each stage and step, the bound, and memory."""
    from ontodex.encoders.device import has_bfloat16

    with tempfile.TemporaryDirectory() as folder:
        sources = write_hpo(Path(folder)) if name == "hpo" else write_schema_org(Path(folder))
        index, ready = Path(folder) / "made.odx", dict[str, float]()
        start = time.perf_counter()
        ended = threading.Event()
        watching = threading.Thread(target=_watch, args=(index, ready, start, ended))
        watching.start()
        graph = ontodex.read(*sources)
        read = time.perf_counter() - start
        with ontodex.build(graph, index) as engine:
            whole = time.perf_counter() - start
            seconds = engine.index.manifest.seconds
        memory = peak_bytes()
        ended.set()
        watching.join()
    bound, tokens = _bound(graph)
    return {
        "entities": graph.n_entities,
        "triples": graph.n_triples,
        "tokens of distinct texts": tokens,
        "seconds until": ready,
        "seconds of steps": {"read": read, **seconds},
        WHOLE: whole,
        "bound, s": bound,
        RATIO: whole / bound,
        "peak memory, MB": memory / 1e6,
        "bfloat16": has_bfloat16("cpu"),
    }


def _watch(index: Path, ready: dict[str, float], start: float, ended: threading.Event) -> None:
    """Note when each stage of an index is published."""
    seen, pending = 0, list[str]()
    while not ended.wait(0.1):
        try:
            number = generations.current(index)
            if number == seen:
                continue
            manifest = Manifest.read(generations.folder_of(index, number))
        except ontodex.OntodexError:
            continue
        now = time.perf_counter() - start
        if not seen and manifest.pending:
            ready["names are found by letters"] = now
        ready.update({stage: now for stage in pending if stage not in manifest.pending})
        seen, pending = number, manifest.pending


def _bound(graph: KnowledgeGraph) -> tuple[float, int]:
    """Return the seconds of matrix products for each distinct text once, and the tokens."""
    from ontodex.encoders.sentence_transformer import load_sentence_transformer

    texts = {*entity_names(graph).texts, *entity_sentences(graph).texts}
    encoder = TextEncoder.load()
    model = load_sentence_transformer(encoder.folder, encoder.device)
    tokens = sum(map(len, model.tokenizer(sorted(texts))["input_ids"]))
    measure = matrix_products(model, encoder.device, tokens)
    return min(measure() for _ in range(5)), tokens


if __name__ == "__main__":
    print(json.dumps(_build(sys.argv[1])))
