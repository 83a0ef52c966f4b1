"""Search and completion engine for knowledge graphs and ontologies.

::

    import ontodex

    graph = ontodex.read("hp.obo")
    engine = ontodex.build(graph, "hp.odx")  # or ontodex.open("hp.odx")
    engine.tails("Marfan syndrome", "has phenotype", k=10)

Importing this package is quick: what a call needs is imported by the call.
"""

from __future__ import annotations

import importlib
import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontodex.conditions import conditional_pairs, evaluate_csts, train_condition
    from ontodex.engine.engine import Engine
    from ontodex.engine.results.audit_rows import Audit, AuditRow
    from ontodex.engine.results.embeddings import Embeddings
    from ontodex.engine.results.explanation import Explanation, Reason, SimilarCase
    from ontodex.engine.results.hits import Hit, Hits
    from ontodex.engine.results.link import Link
    from ontodex.engine.results.missing_links import MissingLink, MissingLinks
    from ontodex.engine.results.placements import Placement, Placements
    from ontodex.engine.results.verdicts import Direction, Verdict
    from ontodex.entailment import evaluate_nli, train_gauss_cse
    from ontodex.errors import OntodexError
    from ontodex.evaluation import evaluate_kgc
    from ontodex.graph import Hierarchy, KnowledgeGraph, TextSettings
    from ontodex.hierarchy_evaluation import evaluate_hierarchy
    from ontodex.indexing import build, open
    from ontodex.readers import formats, read
    from ontodex.self_strae import draw_tree, evaluate_sts, load_self_strae, train_self_strae
    from ontodex.trainers.conditions.condition_encoder import ConditionTraining
    from ontodex.trainers.data.conditional_pairs import ConditionalPairsSettings
    from ontodex.trainers.data.corpus import read_corpus
    from ontodex.trainers.data.csts import read_csts
    from ontodex.trainers.data.entailment_pairs import EntailmentPairs, entailment_pairs
    from ontodex.trainers.data.nli import read_nli
    from ontodex.trainers.entailment.gauss_cse import GaussCSETraining
    from ontodex.trainers.hierarchies.hit import HiTTraining
    from ontodex.trainers.links.complex import ComplExTraining
    from ontodex.trainers.links.cross_encoder import CrossEncoderTraining
    from ontodex.trainers.links.hyper_cl import HyperCLTraining
    from ontodex.trainers.trees.self_strae import SelfStrAETraining
    from ontodex.training import train_cross_encoder, train_hit, train_hyper_cl
    from ontodex.updates import add, remove, remove_links

if "OMP_WAIT_POLICY" not in os.environ:
    # Torch's threads wait for each other in a loop, for milliseconds at first. Beside a busy program that is time taken from
    # the thread that is waited for: training on a small graph took 20 times as long. GCC's OpenMP reads this with torch.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")

# oneDNN keeps code for 1,024 shapes of bfloat16 matrices, a hundred megabytes more in a long run, and is no faster for it.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128")

__all__ = [
    "Audit",
    "AuditRow",
    "ComplExTraining",
    "ConditionTraining",
    "ConditionalPairsSettings",
    "CrossEncoderTraining",
    "Direction",
    "Embeddings",
    "Engine",
    "EntailmentPairs",
    "Explanation",
    "GaussCSETraining",
    "HiTTraining",
    "Hierarchy",
    "Hit",
    "Hits",
    "HyperCLTraining",
    "KnowledgeGraph",
    "Link",
    "MissingLink",
    "MissingLinks",
    "OntodexError",
    "Placement",
    "Placements",
    "Reason",
    "SelfStrAETraining",
    "SimilarCase",
    "TextSettings",
    "Verdict",
    "add",
    "build",
    "conditional_pairs",
    "draw_tree",
    "entailment_pairs",
    "evaluate_csts",
    "evaluate_hierarchy",
    "evaluate_kgc",
    "evaluate_nli",
    "evaluate_sts",
    "formats",
    "load_self_strae",
    "open",
    "read",
    "read_corpus",
    "read_csts",
    "read_nli",
    "remove",
    "remove_links",
    "train_condition",
    "train_cross_encoder",
    "train_gauss_cse",
    "train_hit",
    "train_hyper_cl",
    "train_self_strae",
]

__version__ = version("ontodex")

_NAMES = {
    "ontodex.conditions": ("conditional_pairs", "evaluate_csts", "train_condition"),
    "ontodex.engine.results.audit_rows": ("Audit", "AuditRow"),
    "ontodex.engine.engine": ("Engine",),
    "ontodex.engine.results.embeddings": ("Embeddings",),
    "ontodex.engine.results.explanation": ("Explanation", "Reason", "SimilarCase"),
    "ontodex.engine.results.hits": ("Hit", "Hits"),
    "ontodex.engine.results.link": ("Link",),
    "ontodex.engine.results.missing_links": ("MissingLink", "MissingLinks"),
    "ontodex.engine.results.placements": ("Placement", "Placements"),
    "ontodex.engine.results.verdicts": ("Direction", "Verdict"),
    "ontodex.entailment": ("evaluate_nli", "train_gauss_cse"),
    "ontodex.errors": ("OntodexError",),
    "ontodex.evaluation": ("evaluate_kgc",),
    "ontodex.graph": ("Hierarchy", "KnowledgeGraph", "TextSettings"),
    "ontodex.hierarchy_evaluation": ("evaluate_hierarchy",),
    "ontodex.indexing": ("build", "open"),
    "ontodex.readers": ("formats", "read"),
    "ontodex.trainers.data.conditional_pairs": ("ConditionalPairsSettings",),
    "ontodex.trainers.data.corpus": ("read_corpus",),
    "ontodex.trainers.data.csts": ("read_csts",),
    "ontodex.trainers.data.entailment_pairs": ("EntailmentPairs", "entailment_pairs"),
    "ontodex.trainers.data.nli": ("read_nli",),
    "ontodex.updates": ("add", "remove", "remove_links"),
    "ontodex.self_strae": ("draw_tree", "evaluate_sts", "load_self_strae", "train_self_strae"),
    "ontodex.trainers.links.complex": ("ComplExTraining",),
    "ontodex.trainers.conditions.condition_encoder": ("ConditionTraining",),
    "ontodex.trainers.links.cross_encoder": ("CrossEncoderTraining",),
    "ontodex.trainers.entailment.gauss_cse": ("GaussCSETraining",),
    "ontodex.trainers.hierarchies.hit": ("HiTTraining",),
    "ontodex.trainers.links.hyper_cl": ("HyperCLTraining",),
    "ontodex.trainers.trees.self_strae": ("SelfStrAETraining",),
    "ontodex.training": ("train_cross_encoder", "train_hit", "train_hyper_cl"),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ontodex' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted((*__all__, "__version__"))
