"""Measures a memory on RULER's tasks: what stands in what it returns.

RULER scores a model's answer by the share of reference strings that occur in it (``string_match_all``). Without a
model there is no answer; scored is then what the memory returns for the question, and nothing is added to the
question on the way:

- needles and variable tracking: the share of the gold values that stand, as whole words, in the returned text. Since
  a text that returned everything would score 1, its length and its share of the haystack are reported with it, and for
  several chains the share of foreign variables that came along. ``read`` is the same score over all that was read on
  the way, whether or not it stands in the text.
- aggregation: the words of the hits, or of all passages that research read, are counted, and the most frequent ones (10
  of common, 3 of frequent words) are the answer; an estimate from a sample, as good as the sample. Where a model
  answered, its answer is scored instead.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hexamem.errors import InvalidInputError
from hexamem.evals.asking import Asked, ask
from hexamem.evals.records import Conversation
from hexamem.evals.ruler import FAMILIES, Form, make_ruler, tasks_named
from hexamem.evals.runner import MemoryLike, store_conversation
from hexamem.models.tokens import count_tokens

__all__ = ["DEFAULT_ROUNDS", "evaluate_ruler", "most_frequent", "read_score", "share_found"]

DEFAULT_ROUNDS = 5
"""A chain of four hops has five links, one a round."""
_WORD = re.compile(r"[^\W\d_]{3,}")


def share_found(values: Sequence[str], text: str) -> float:
    """The share of the values that stand in the text as whole words, in the same case.

    Raises:
        InvalidInputError: there are no values.
    """
    if not values:
        raise InvalidInputError("a question without values has no score")
    return sum(_stands(value, text) for value in values) / len(values)


def most_frequent(passages: Sequence[str], n: int) -> list[str]:
    """The n most frequent words of three letters or more in the passages; of equally frequent ones the first met."""
    counts = Counter(word for passage in passages for word in _WORD.findall(passage.lower()))
    return [word for word, _ in counts.most_common(n)]


def read_score(gold: Mapping[str, Any], asked: Asked) -> float:
    """The score of what came back, 0 to 1, read as the module says; ``gold`` is the question's."""
    values: Sequence[str] = gold["values"]
    if gold["read"] == "contains":
        return share_found(values, asked.text)
    by_model = asked.answer if asked.calls else None
    return share_found(values, by_model or " ".join(most_frequent(asked.passages, len(values))))


def _stands(value: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", text) is not None


@dataclass(frozen=True, slots=True)
class _Scored:
    tokens: int
    task: str
    score: float
    read: float
    read_tokens: int
    context_tokens: int
    foreign: float | None
    evidence: float | None


@dataclass(slots=True)
class _Strategy:
    scored: list[_Scored] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)
    calls: int = 0
    llm_tokens: int = 0
    degraded: Counter[str] = field(default_factory=Counter)


def evaluate_ruler(
    memory_factory: Callable[[], AbstractContextManager[MemoryLike]],
    tokens: Sequence[int],
    strategies: Sequence[str],
    *,
    tasks: Sequence[str] = (),
    count: int = 1,
    seed: int = 0,
    form: Form = "conversation",
    k: int = 10,
    rounds: int = DEFAULT_ROUNDS,
    progress: Callable[[str, int, int], None] | None = None,
    embedder: str | None = None,
    model: str | None = None,
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
        embedder: name in the results, as is ``model``.
        model: see there.

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
    measured = {strategy: _Strategy() for strategy in strategies}
    total = len(tokens) * len(names) * count * (1 + len(strategies))
    done = n_steps = 0
    seconds = 0.0
    samples = [(length, task, seed + index) for length in tokens for task in names for index in range(count)]
    with memory_factory() as memory:
        for length, task, number in samples:
            sample = make_ruler(task, length, seed=number, form=form)
            user = memory.user(sample.id)
            started = time.perf_counter()
            turn_of = store_conversation(user, sample)
            seconds += time.perf_counter() - started
            n_steps += len(sample.messages)
            done += 1
            if progress:
                progress(f"store {task} {length:,}", done, total)
            for strategy, one in measured.items():
                asked = ask(user, sample.questions[0].text, k=k, strategy=strategy, rounds=rounds)
                one.scored.append(_score(sample, asked, turn_of))
                one.milliseconds.append(asked.seconds * 1_000)
                one.calls, one.llm_tokens = one.calls + asked.calls, one.llm_tokens + asked.tokens
                one.degraded.update(asked.degraded)
                done += 1
                if progress:
                    progress(f"ask {task} {length:,} ({strategy})", done, total)
    shared = {"embedder": embedder, "model": model, "form": form, "seed": seed, "count": count}
    speed = n_steps / seconds if seconds else None
    return [
        {
            "dataset": "ruler",
            "strategy": strategy,
            **shared,
            "k": k,
            "rounds": rounds if strategy == "research" else None,
            "n_conversations": len(samples),
            "n_steps": n_steps,
            "n_questions": len(one.scored),
            **_tables(one.scored, tokens, names),
            "latency_ms": dict(zip(("p50", "p95"), map(float, np.percentile(one.milliseconds, [50, 95])), strict=True)),
            "ingest_steps_per_s": speed,
            "llm_calls": one.calls,
            "llm_tokens": one.llm_tokens,
            "degraded": dict(one.degraded),
        }
        for strategy, one in measured.items()
    ]


def _score(sample: Conversation, asked: Asked, turn_of: Mapping[str, str]) -> _Scored:
    (question,) = sample.questions
    returned = {turn_of.get(step) for step in asked.steps}
    foreign: Sequence[str] = question.gold["foreign"]
    return _Scored(
        tokens=sample.metadata["tokens"],
        task=question.category,
        score=read_score(question.gold, asked),
        read=share_found(question.gold["values"], "\n".join(asked.passages)),
        read_tokens=sum(map(count_tokens, asked.passages)),
        context_tokens=count_tokens(asked.text),
        foreign=share_found(foreign, asked.text) if foreign else None,
        evidence=len(returned.intersection(question.evidence)) / len(question.evidence) if question.evidence else None,
    )


def _tables(scored: Sequence[_Scored], tokens: Sequence[int], names: Sequence[str]) -> dict[str, Any]:
    tasks: dict[str, dict[str, dict[str, float | int | None]]] = {}
    families: dict[str, dict[str, float | None]] = {}
    for length in tokens:
        here = [one for one in scored if one.tokens == length]
        tasks[str(length)] = {name: _row([one for one in here if one.task == name], length) for name in names}
        families[str(length)] = {
            family: _mean([one.score for one in here if one.task in members]) for family, members in FAMILIES.items()
        }
    return {"tasks": tasks, "families": families}


def _row(scored: Sequence[_Scored], length: int) -> dict[str, float | int | None]:
    context = _mean([one.context_tokens for one in scored])
    return {
        "n": len(scored),
        "score": _mean([one.score for one in scored]),
        "read": _mean([one.read for one in scored]),
        "read_tokens": _mean([one.read_tokens for one in scored]),
        "all_found": _mean([float(one.score == 1) for one in scored]),
        "context_tokens": context,
        "context_share": None if context is None else context / length,
        "evidence": _mean([one.evidence for one in scored if one.evidence is not None]),
        "foreign": _mean([one.foreign for one in scored if one.foreign is not None]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
