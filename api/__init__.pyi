"""The public names of ontodex and their modules; :mod:`ontodex` imports each on first use."""

from ontodex.engine.engine import Engine as Engine
from ontodex.engine.plotting.tree import draw_tree as draw_tree
from ontodex.engine.results.audit_rows import Audit as Audit
from ontodex.engine.results.audit_rows import AuditRow as AuditRow
from ontodex.engine.results.completions import Completion as Completion
from ontodex.engine.results.completions import Completions as Completions
from ontodex.engine.results.descriptions import Description as Description
from ontodex.engine.results.descriptions import LinkedEntities as LinkedEntities
from ontodex.engine.results.embeddings import Embeddings as Embeddings
from ontodex.engine.results.explanation import Explanation as Explanation
from ontodex.engine.results.explanation import Reason as Reason
from ontodex.engine.results.explanation import SimilarCase as SimilarCase
from ontodex.engine.results.groundings import Grounding as Grounding
from ontodex.engine.results.groundings import Groundings as Groundings
from ontodex.engine.results.hits import Hit as Hit
from ontodex.engine.results.hits import Hits as Hits
from ontodex.engine.results.link import Link as Link
from ontodex.engine.results.missing_links import MissingLink as MissingLink
from ontodex.engine.results.missing_links import MissingLinks as MissingLinks
from ontodex.engine.results.placements import Placement as Placement
from ontodex.engine.results.placements import Placements as Placements
from ontodex.engine.results.verdicts import Direction as Direction
from ontodex.engine.results.verdicts import Verdict as Verdict
from ontodex.errors import OntodexError as OntodexError
from ontodex.evaluation import evaluate_csts as evaluate_csts
from ontodex.evaluation import evaluate_hierarchy as evaluate_hierarchy
from ontodex.evaluation import evaluate_kgc as evaluate_kgc
from ontodex.evaluation import evaluate_nli as evaluate_nli
from ontodex.evaluation import evaluate_sts as evaluate_sts
from ontodex.graph import Hierarchy as Hierarchy
from ontodex.graph import KnowledgeGraph as KnowledgeGraph
from ontodex.graph import TextSettings as TextSettings
from ontodex.indexing import add as add
from ontodex.indexing import build as build
from ontodex.indexing import remove as remove
from ontodex.indexing import remove_links as remove_links
from ontodex.loading import load_self_strae as load_self_strae
from ontodex.opening import open as open
from ontodex.readers import formats as formats
from ontodex.readers import inspect as inspect
from ontodex.readers import read as read
from ontodex.readers.inspection import Inspection as Inspection
from ontodex.readers.tables.mapping import RelationColumn as RelationColumn
from ontodex.readers.tables.mapping import TableMapping as TableMapping
from ontodex.trainers.conditions.settings import ConditionTraining as ConditionTraining
from ontodex.trainers.data.conditional_pairs import (
    ConditionalPairsSettings as ConditionalPairsSettings,
)
from ontodex.trainers.data.corpus import read_corpus as read_corpus
from ontodex.trainers.data.csts import read_csts as read_csts
from ontodex.trainers.data.entailment_pairs import EntailmentPairs as EntailmentPairs
from ontodex.trainers.data.entailment_pairs import entailment_pairs as entailment_pairs
from ontodex.trainers.data.nli import read_nli as read_nli
from ontodex.trainers.entailment.settings import GaussCSETraining as GaussCSETraining
from ontodex.trainers.hierarchies.settings import HiTTraining as HiTTraining
from ontodex.trainers.links.settings import ComplExTraining as ComplExTraining
from ontodex.trainers.links.settings import CrossEncoderTraining as CrossEncoderTraining
from ontodex.trainers.links.settings import HyperCLTraining as HyperCLTraining
from ontodex.trainers.trees.settings import SelfStrAETraining as SelfStrAETraining
from ontodex.training import conditional_pairs as conditional_pairs
from ontodex.training import train_condition as train_condition
from ontodex.training import train_cross_encoder as train_cross_encoder
from ontodex.training import train_gauss_cse as train_gauss_cse
from ontodex.training import train_hit as train_hit
from ontodex.training import train_hyper_cl as train_hyper_cl
from ontodex.training import train_self_strae as train_self_strae

__version__: str
