"""Measures a memory on RULER's tasks: what is in the text that it returns.

RULER scores a model's answer by the share of reference strings that occur in it (``string_match_all``). Without a
model there is no answer; scored is then what the memory returns for the question, and nothing is added to the
question on the way:

- needles and variable tracking: the share of the gold values that occur, as whole words, in the returned text. A text
  that returned everything would score 1, so its length and its share of the haystack are reported with it, and for
  several chains the share of foreign variables that came along. ``read`` is the same score over all that was read on
  the way, whether or not it is in the text.
- aggregation: the words of the hits, or of all passages that research read, are counted, and the most frequent ones
  are the answer; an estimate from a sample. Where a model answered, its answer is scored instead.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hexamem.errors import InvalidInputError
from hexamem.evals.asking import RESEARCH, Asked, Progress, Tally, ask, counted
from hexamem.evals.records import Conversation
from hexamem.evals.ruler import FAMILIES, Form, make_ruler, tasks_named
from hexamem.evals.runner import MemoryFactory, Stored, store_conversation
from hexamem.models.tokens import count_tokens

__all__ = ["evaluate_ruler", "read_score", "share_of_values"]

_WORD = re.compile(r"[^\W\d_]{3,}")
_Row = Mapping[str, float | None]


def share_of_values(values: Sequence[str], text: str) -> float:
    """The share of the values that occur in the text as whole words, in the same case."""
    return sum(re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", text) is not None for value in values) / len(values)


def read_score(gold: Mapping[str, Any], asked: Asked) -> float:
    """The score of what came back, 0 to 1, read as the module describes; ``gold`` is the question's."""
    values: Sequence[str] = gold["values"]
    if gold["read"] == "contains":
        return share_of_values(values, asked.text)
    if asked.answer and asked.calls:
        return share_of_values(values, asked.answer)
    counts = Counter(word for passage in asked.passages for word in _WORD.findall(passage.lower()))
    return share_of_values(values, " ".join(word for word, _ in counts.most_common(len(values))))


def evaluate_ruler(
    memory_factory: MemoryFactory,
    tokens: Sequence[int],
    strategies: Sequence[str],
    *,
    tasks: Sequence[str] = (),
    count: int = 1,
    seed: int = 0,
    form: Form = "conversation",
    k: int = 10,
    rounds: int = 5,
    progress: Progress | None = None,
    facts: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Store samples of each task and length, one user a sample, and ask each strategy its question.

    Args:
        memory_factory: opens an empty memory; called once, closed at the end.
        tokens: lengths of the texts.
        strategies: names that ``recall`` knows, or ``research``.
        tasks: names of tasks or families; all when empty.
        count: samples a task and length, made from the seeds ``seed``, ``seed + 1``, …
        seed: see there.
        form: see :func:`~.ruler.make_ruler`.
        k: hits a recall.
        rounds: rounds of research at most; a chain of h hops needs h + 1.
        progress: called as ``progress(what, done, total)`` after each sample stored and question asked.
        facts: keys of each result that say what was measured, such as ``embedder`` and ``model``.

    Returns:
        One JSON-ready object a strategy: ``tasks`` is ``{length: {task: {…}}}`` with ``n``, ``score`` (mean),
        ``all_found`` (share of samples with score 1), ``read`` and ``read_tokens`` (all passages, see above),
        ``context_tokens`` (mean), ``context_share`` (of the text), ``evidence`` (mean share of the turns with needles
        among those that came back, None in aggregation) and ``foreign`` (mean share of the variables of other chains
        in the text, None where there are none); ``families`` is the mean score ``{length: {family: …}}``.

    Raises:
        InvalidInputError: nothing to measure, or a name that there is not.
    """
    names = tasks_named(tasks)
    if not tokens or not strategies or count < 1 or k < 1:
        raise InvalidInputError("give at least one length, one strategy, one sample a task (count) and one hit (k)")
    scored: dict[str, dict[tuple[int, str], list[_Row]]] = {strategy: {} for strategy in strategies}
    tallies = {strategy: Tally() for strategy in strategies}
    samples = [(length, task, seed + index) for length in tokens for task in names for index in range(count)]
    advance, stored = counted(progress, len(samples) * (1 + len(strategies))), Stored()
    with memory_factory() as memory:
        for length, task, number in samples:
            sample = make_ruler(task, length, seed=number, form=form)
            user = memory.user(sample.id)
            turn_of = store_conversation(user, sample, stored)
            advance(f"store {task} {length:,}")
            for strategy, rows in scored.items():
                asked = ask(user, sample.questions[0].text, k=k, strategy=strategy, rounds=rounds)
                rows.setdefault((length, task), []).append(_score(sample, asked, turn_of))
                tallies[strategy].add(asked)
                advance(f"ask {task} {length:,} ({strategy})")
    return [
        {
            "dataset": "ruler",
            "strategy": strategy,
            **(facts or {}),
            "form": form,
            "seed": seed,
            "count": count,
            "k": k,
            "rounds": rounds if strategy == RESEARCH else None,
            "n_conversations": len(samples),
            "n_steps": stored.steps,
            "n_questions": len(samples),
            "tasks": {str(n): {task: _means(rows[n, task]) for task in names} for n in tokens},
            "families": {str(n): _families(rows, n) for n in tokens},
            "latency_ms": tallies[strategy].latency(),
            "ingest_steps_per_s": stored.rate,
            "llm_calls": tallies[strategy].calls,
            "llm_tokens": tallies[strategy].tokens,
            "degraded": dict(tallies[strategy].degraded),
        }
        for strategy, rows in scored.items()
    ]


def _score(sample: Conversation, asked: Asked, turn_of: Mapping[str, str]) -> _Row:
    (question,) = sample.questions
    gold, foreign = set(question.evidence), question.gold["foreign"]
    score = read_score(question.gold, asked)
    return {
        "score": score,
        "read": share_of_values(question.gold["values"], "\n".join(asked.passages)),
        "read_tokens": sum(map(count_tokens, asked.passages)),
        "all_found": float(score == 1),
        "context_tokens": (context := count_tokens(asked.text)),
        "context_share": context / sample.metadata["tokens"],
        "evidence": len(gold & {turn_of.get(step) for step in asked.steps}) / len(gold) if gold else None,
        "foreign": share_of_values(foreign, asked.text) if foreign else None,
    }


def _means(rows: Sequence[_Row]) -> dict[str, float | int | None]:
    return {"n": len(rows), **{name: _mean([row[name] for row in rows]) for name in rows[0]}}


def _families(rows: Mapping[tuple[int, str], Sequence[_Row]], length: int) -> dict[str, float | None]:
    return {
        family: _mean([row["score"] for task in members for row in rows.get((length, task), ())])
        for family, members in FAMILIES.items()
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None
