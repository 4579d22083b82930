"""Data sets, metrics and the runner that measures a memory on them."""

from hexamem.evals.agreement import AgreementTally, induced_labels
from hexamem.evals.answers import evaluate_answers
from hexamem.evals.datasets import detect_format, load_conversations, load_files
from hexamem.evals.hotpotqa import load_hotpotqa
from hexamem.evals.jsonl import JsonlMessages, read_jsonl
from hexamem.evals.longmemeval_metrics import published_metrics
from hexamem.evals.metrics import (
    DEFAULT_K_VALUES,
    Aggregator,
    Interval,
    all_at_k,
    any_at_k,
    ndcg_at_k,
    paired_bootstrap,
    recall_at_k,
)
from hexamem.evals.narrativeqa import load_narrativeqa
from hexamem.evals.records import FORMATS, Conversation, DataFormat, EvalMessage, Question
from hexamem.evals.report import print_report, print_ruler, print_sizes, write_json
from hexamem.evals.ruler import make_ruler
from hexamem.evals.ruler_run import evaluate_ruler
from hexamem.evals.runner import MemoryLike, compare, evaluate

__all__ = [
    "DEFAULT_K_VALUES",
    "FORMATS",
    "Aggregator",
    "AgreementTally",
    "Conversation",
    "DataFormat",
    "EvalMessage",
    "Interval",
    "JsonlMessages",
    "MemoryLike",
    "Question",
    "all_at_k",
    "any_at_k",
    "compare",
    "detect_format",
    "evaluate",
    "evaluate_answers",
    "evaluate_ruler",
    "induced_labels",
    "load_conversations",
    "load_files",
    "load_hotpotqa",
    "load_narrativeqa",
    "make_ruler",
    "ndcg_at_k",
    "paired_bootstrap",
    "print_report",
    "print_ruler",
    "print_sizes",
    "published_metrics",
    "read_jsonl",
    "recall_at_k",
    "write_json",
]
