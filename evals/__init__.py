"""Data sets, metrics and the runner that measures a memory on them."""

from .agreement import AgreementTally, InducedLabels, induced_labels
from .answers import evaluate_answers
from .datasets import detect_format, load_conversations
from .hotpotqa import load_hotpotqa
from .jsonl import JsonlMessages, read_jsonl
from .longmemeval_metrics import published_metrics
from .metrics import (
    DEFAULT_K_VALUES,
    Aggregator,
    Interval,
    all_at_k,
    any_at_k,
    ndcg_at_k,
    paired_bootstrap,
    recall_at_k,
)
from .narrativeqa import load_narrativeqa
from .records import FORMATS, Conversation, DataFormat, EvalMessage, Question
from .report import print_report, print_sizes, write_json
from .ruler import make_ruler
from .ruler_report import print_ruler
from .ruler_run import evaluate_ruler
from .runner import MemoryLike, compare, evaluate, ranked_turns

__all__ = [
    "DEFAULT_K_VALUES",
    "FORMATS",
    "Aggregator",
    "AgreementTally",
    "Conversation",
    "DataFormat",
    "EvalMessage",
    "InducedLabels",
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
    "load_hotpotqa",
    "load_narrativeqa",
    "make_ruler",
    "ndcg_at_k",
    "paired_bootstrap",
    "print_report",
    "print_ruler",
    "print_sizes",
    "published_metrics",
    "ranked_turns",
    "read_jsonl",
    "recall_at_k",
    "write_json",
]
