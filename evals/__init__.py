"""Data sets, metrics and the runner that measures a memory on them."""

from hexamem.evals.answers import evaluate_answers
from hexamem.evals.datasets import detect_format, load_conversations, load_files
from hexamem.evals.hotpotqa import load_hotpotqa
from hexamem.evals.records import Conversation, EvalMessage, Question
from hexamem.evals.report import write_json
from hexamem.evals.ruler import make_ruler
from hexamem.evals.ruler_run import evaluate_ruler
from hexamem.evals.runner import compare, evaluate

__all__ = [
    "Conversation",
    "EvalMessage",
    "Question",
    "compare",
    "detect_format",
    "evaluate",
    "evaluate_answers",
    "evaluate_ruler",
    "load_conversations",
    "load_files",
    "load_hotpotqa",
    "make_ruler",
    "write_json",
]
