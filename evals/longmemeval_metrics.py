"""LongMemEval's retrieval metrics as the benchmark's own code computes them (Wu et al., ICLR 2025, section 4).

After ``src/retrieval/eval_utils.py`` and ``run_retrieval.py`` of its repository, at the granularity of turns:

- The corpus is the user's turns; what the assistant said is dropped from the ranking before it is cut.
- A turn is right if it has the answer and lies in an answer session.
- Session level: a turn stands for its session. An answer session's turns without the answer make a document of their
  own, which is wrong. The cut-off grows until k documents are in it, or the ranking ends. Gains are counted a turn.
- ``ndcg_any`` discounts the second rank not at all and rank i by ``log2(i)`` (Järvelin and Kekäläinen's base-2
  form), where the usual one has ``log2(i + 1)``: the standard one stands beside it as ``ndcg``, where a session counts
  once.
- Not scored: questions of abstention, and those for which no turn of the user has the answer.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hexamem.evals.metrics import ndcg_at_k
from hexamem.evals.records import Conversation

__all__ = ["PUBLISHED_DEPTH", "PUBLISHED_K", "PUBLISHED_NAMES", "ndcg_any", "published_metrics", "session_cut"]

PUBLISHED_K = (1, 3, 5, 10, 30, 50)
PUBLISHED_DEPTH = 500
"""Hits to ask for: the benchmark ranks its whole corpus, and cuts among the user's turns alone."""
_LEVELS = ("turn", "session")
_METRICS = ("recall_any", "recall_all", "ndcg_any", "ndcg")
PUBLISHED_NAMES = tuple(f"{level}_{metric}" for level in _LEVELS for metric in _METRICS)


def published_metrics(
    conversation: Conversation, ranked: Sequence[str], k_values: Sequence[int] = PUBLISHED_K
) -> dict[str, dict[int, float]]:
    """The metrics of one instance by name (``turn_recall_any``, …, ``session_ndcg``) and cut-off.

    Args:
        conversation: one that :func:`~.longmemeval.load_longmemeval` gave.
        ranked: turn ids, best first, each once; ids that are no turn of the user are dropped.
        k_values: the cut-offs.

    Returns:
        Empty for an instance that the benchmark does not score.
    """
    documents = {
        str(message.id): _document(conversation.gold[str(message.id)])
        for message in conversation.messages
        if message.role == "user" and message.id in conversation.gold
    }
    right = [turn for turn, document in documents.items() if "answer" in document]
    if not right or any("_abs" in question.id for question in conversation.questions):
        return {}
    turns = [turn for turn in ranked if turn in documents]
    corpus = list(documents.values())
    sessions = [documents[turn] for turn in turns]
    answers = {documents[turn] for turn in right}
    once = list(dict.fromkeys(sessions))
    found: dict[str, dict[int, float]] = {name: {} for name in PUBLISHED_NAMES}
    for k in k_values:
        cut = session_cut(sessions, k, len(corpus))
        values = (
            *_recalls(turns[:k], right),
            ndcg_any([turn in right for turn in turns], len(right), k),
            ndcg_at_k(turns, right, k),
            *_recalls(sessions[:cut], answers),
            ndcg_any([session in answers for session in sessions], len(right), cut),
            ndcg_at_k(once, answers, k),
        )
        for name, value in zip(PUBLISHED_NAMES, values, strict=True):
            found[name][k] = value
    return found


def ndcg_any(relevant: Sequence[bool], n_relevant: int, k: int) -> float:
    """The benchmark's nDCG at k: gain 1 at ranks 1 and 2, then ``1 / log2(rank)``, over that of the best ranking.

    Args:
        relevant: whether each ranked document is right, best first.
        n_relevant: how many documents of the corpus are.
        k: the cut-off.
    """
    ideal = _dcg([True] * n_relevant, k)
    return _dcg(relevant, k) / ideal if ideal else 0.0


def session_cut(sessions: Sequence[str], k: int, corpus: int) -> int:
    """How many ranked turns to take so that k different sessions are among them; the corpus and one more at most."""
    cut = k
    while cut <= corpus and len(set(sessions[:cut])) < k:
        cut += 1
    return cut


def _dcg(relevant: Sequence[bool], k: int) -> float:
    return math.fsum(1 / math.log2(max(2, rank)) for rank, right in enumerate(relevant[:k], start=1) if right)


def _recalls(top: Sequence[str], right: Collection[str]) -> tuple[float, float]:
    found = set(right).intersection(top)
    return float(bool(found)), float(len(found) == len(set(right)))


def _document(gold: Mapping[str, Any]) -> str:
    """The session's id, by which the benchmark tells right from wrong: without the answer it is spelt differently."""
    session = str(gold["session_id"])
    return session if gold["has_answer"] else session.replace("answer", "noans")
