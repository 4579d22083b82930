"""Runs a memory over conversations and measures what it finds, through its public calls alone.

One user a conversation. Sessions are stored in order, one ``remember`` a session; then every strategy answers every
question that has evidence. What counts is turns: a step hit is its own turn, any other hit the turns it cites.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from hexamem.errors import InvalidInputError
from hexamem.evals.agreement import AgreementTally, Induced, induced_labels
from hexamem.evals.asking import RESEARCH, AskedHit, AskedUser, ask, steps_of
from hexamem.evals.longmemeval_metrics import PUBLISHED_DEPTH, PUBLISHED_NAMES, published_metrics
from hexamem.evals.metrics import DEFAULT_K_VALUES, METRICS, Aggregator, Interval, paired_bootstrap
from hexamem.evals.records import Conversation, EvalMessage, Question

__all__ = [
    "WARM_UP_CALLS",
    "MemoryLike",
    "compare",
    "evaluate",
    "paired_bootstrap",
    "ranked_turns",
    "store_conversation",
]

WARM_UP_CALLS = 3
_RANGES = {"1-4": ("1", "2", "3", "4")}


class _Receipt(Protocol):
    @property
    def step_ids(self) -> Sequence[str]: ...
    @property
    def degraded(self) -> Sequence[str]: ...


class _User(AskedUser, Protocol):
    def remember(self, messages: list[dict[str, Any]], *, thread_id: str) -> _Receipt: ...
    def flush(self) -> Any: ...


class MemoryLike(Protocol):
    """What the runner asks of a memory: :meth:`user`, whose result has ``remember``, ``flush`` and ``recall``."""

    def user(self, user_id: str) -> Any: ...


@dataclass(slots=True)
class _Measured:
    """One strategy's scores, latencies in milliseconds, and how often each fallback was reported."""

    scores: Aggregator
    latencies: list[float] = field(default_factory=list)
    degraded: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    tokens: int = 0


@dataclass(slots=True)
class _Ingest:
    steps: int = 0
    seconds: float = 0.0
    degraded: Counter[str] = field(default_factory=Counter)


def evaluate(
    memory_factory: Callable[[], AbstractContextManager[MemoryLike]],
    conversations: Sequence[Conversation],
    strategies: Sequence[str],
    k_values: Sequence[int] = DEFAULT_K_VALUES,
    progress: Callable[[str, int, int], None] | None = None,
    *,
    dataset: str | None = None,
    embedder: str | None = None,
    weights: str | None = None,
    model: str | None = None,
    usage: Callable[[], tuple[int, int]] | None = None,
    induced: Induced = induced_labels,
    rounds: int = 3,
) -> list[dict[str, Any]]:
    """Store the conversations and measure each strategy on their questions.

    Args:
        memory_factory: opens an empty memory; called once, closed at the end.
        conversations: with ids of their own; those without questions are stored too.
        strategies: names that ``recall`` knows, or ``research``, whose ranking is that of its evidence.
        k_values: cut-offs; ``recall`` is asked for the largest.
        progress: called as ``progress(what, done, total)`` after every session stored and question answered.
        dataset: name in the results; by default the conversations' formats, joined by ``+``.
        embedder: name in the results, as are ``weights`` and ``model``.
        weights: see ``embedder``.
        model: see ``embedder``; None says that the memory has none, hence 0 calls.
        usage: gives (LLM calls, tokens) spent so far; without it they are 0 if ``model`` is None, else unknown.
        induced: gives the labels that a user's memory induced, read after storing; None where it induces none.
        rounds: of research, at most.

    Returns:
        One JSON-ready object a strategy, in the order given: ``dataset``, ``strategy``, ``embedder``, ``weights``,
        ``model``, ``n_conversations``, ``n_steps``, ``llm_calls``, ``llm_tokens`` (None where one does not apply) and:

        - ``n_questions``: those scored; ``skipped_questions``: those without evidence; ``counts``: scored, by group;
        - ``recall``, ``ndcg``, ``all_at_k``, ``any_at_k``: ``{group: {"5": …}}``, means over questions; groups are
          ``all``, ``1-4`` (None unless the data is LoCoMo), and each category;
        - ``scope``, ``events``: agreement of induced labels with gold ones (:class:`~.agreement.AgreementTally`), all
          strategies share it; None where the data has no gold or the memory no labels;
        - ``session_recall``: fraction of gold sessions among those of the top k turns, where the data names them;
        - ``published``: LongMemEval's own metrics (:mod:`.longmemeval_metrics`): ``turn_recall_any``,
          ``turn_recall_all``, ``turn_ndcg_any``, ``turn_ndcg`` (the standard one) and the same for ``session``, each
          ``{group: {"1": …, "3": …}}``; None for other data;
        - ``by_conversation``: what :func:`compare` reads;
        - ``latency_ms``: of ``recall`` alone, wall time, after 3 warm-up calls a conversation whose words are no
          question's; ``ingest_steps_per_s``: ``remember`` and ``flush`` together, all strategies share it;
        - ``degraded``: ``{what fell back: how often}``, storing included; ``notes``: those of the loaders.

    Raises:
        InvalidInputError: no strategy, one named twice, two conversations with one id, or no question to score.
        HexamemError: whatever the memory raises passes through.
    """
    conversations = list(conversations)
    _check(conversations, strategies)
    locomo = any(conversation.dataset == "locomo" for conversation in conversations)
    measured = {name: _Measured(Aggregator(k_values, _RANGES if locomo else None)) for name in strategies}
    ingest = _Ingest()
    tally = AgreementTally()
    advance = _counter(progress, conversations, len(strategies))
    before = usage() if usage else (0, 0)
    with memory_factory() as memory:
        for conversation in conversations:
            user: _User = memory.user(conversation.id)
            turn_of = _store(user, conversation, ingest, advance)
            if conversation.gold and (labels := induced(user)) is not None:
                tally.add(conversation, turn_of, labels)
            for name, one in measured.items():
                _ask(user, conversation, name, turn_of, rounds, measured=one, advance=advance)
        after = usage() if usage else (0, 0)
    known = usage is not None or model is None
    shared = {
        "dataset": dataset or "+".join(dict.fromkeys(conversation.dataset for conversation in conversations)),
        "embedder": embedder,
        "weights": weights,
        "model": model,
        "n_conversations": len(conversations),
        "n_steps": ingest.steps,
        "skipped_questions": sum(not q.evidence for conversation in conversations for q in conversation.questions),
        "ingest_steps_per_s": ingest.steps / ingest.seconds if ingest.seconds else None,
        "llm_calls": after[0] - before[0] if known else None,
        "llm_tokens": after[1] - before[1] if known else None,
        "scope": tally.scope(),
        "events": tally.events(),
        "notes": [f"{conversation.id}: {note}" for conversation in conversations for note in conversation.notes],
    }
    return [_result(name, one, ingest, shared, locomo) for name, one in measured.items()]


def ranked_turns(hits: Sequence[AskedHit], turn_of: Mapping[str, str]) -> list[str]:
    """The turns that hits stand for, best first, each once.

    A hit of kind ``step`` is its own turn; any other is the turns its sources cite, in their order. A step that is
    not of this conversation keeps its own id: it takes a place and is never right.
    """
    return _turns(steps_of(hits), turn_of)


def _turns(steps: Sequence[str], turn_of: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(turn_of.get(step, f"unknown:{step}") for step in steps))


def compare(
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    *,
    metric: str = "recall",
    k: int = 10,
    group: str = "all",
    samples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """The difference ``a - b`` of two objects that :func:`evaluate` gave, by paired bootstrap over conversations.

    Args:
        a: the result of one strategy.
        b: that of another on the same conversations.
        metric: ``recall``, ``ndcg``, ``all_at_k`` or ``any_at_k``.
        k: one of the cut-offs measured.
        group: ``all`` or a range (``1-4``).
        samples: see :func:`paired_bootstrap`, as for ``level`` and ``seed``.
        level: see there.
        seed: see there.

    Raises:
        InvalidInputError: metric, cut-off or group were not measured, or the conversations are not the same or
            fewer than 2.
    """
    one, other = a["by_conversation"], b["by_conversation"]
    if one.keys() != other.keys():
        raise InvalidInputError(f"conversations differ: {sorted(one.keys() ^ other.keys())}; compare on the same ones")
    shared = [name for name in one if group in one[name]]
    if not shared:
        raise InvalidInputError(f"group {group!r} has no questions; use 'all' or a range such as '1-4'")
    if metric not in METRICS or str(k) not in one[shared[0]][group][metric]:
        raise InvalidInputError(f"{metric} at {k} was not measured; metrics are {', '.join(METRICS)}")
    if [one[name][group]["n"] for name in shared] != [other[name][group]["n"] for name in shared]:
        raise InvalidInputError("the numbers of questions differ; compare on the same ones")
    return paired_bootstrap(
        [one[name][group][metric][str(k)] for name in shared],
        [other[name][group][metric][str(k)] for name in shared],
        weights=[one[name][group]["n"] for name in shared],
        samples=samples,
        level=level,
        seed=seed,
    )


def _check(conversations: Sequence[Conversation], strategies: Sequence[str]) -> None:
    if isinstance(strategies, str) or not strategies or len(set(strategies)) != len(strategies):
        raise InvalidInputError(f"strategies {strategies!r}: give a list of names, at least one, each once")
    counts = Counter(conversation.id for conversation in conversations)
    if doubles := [name for name, count in counts.items() if count > 1]:
        raise InvalidInputError(f"conversation id {doubles[0]!r} occurs twice; their memories would be mixed")
    if not any(question.evidence for conversation in conversations for question in conversation.questions):
        raise InvalidInputError(
            f"none of the {len(conversations)} conversation(s) has a question with evidence; there is nothing to score"
        )


def _counter(
    progress: Callable[[str, int, int], None] | None, conversations: Sequence[Conversation], n_strategies: int
) -> Callable[[str], None]:
    total = sum(
        sum(1 for _ in _sessions(conversation)) + n_strategies * sum(bool(q.evidence) for q in conversation.questions)
        for conversation in conversations
    )
    done = itertools.count(1)

    def advance(what: str) -> None:
        if progress is not None:
            progress(what, next(done), total)

    return advance


def _sessions(conversation: Conversation) -> Iterator[tuple[str, list[EvalMessage]]]:
    # Consecutive turns of a thread together: a thread that is taken up again later comes again, in order.
    for thread, turns in itertools.groupby(conversation.messages, key=lambda m: m.thread_id or conversation.id):
        yield thread, list(turns)


def store_conversation(
    user: _User,
    conversation: Conversation,
    stored: Callable[[Sequence[EvalMessage], _Receipt, float], None] | None = None,
) -> dict[str, str]:
    """Store a conversation, one ``remember`` a session, and flush.

    Args:
        user: whose memory.
        conversation: its messages are all that the memory sees.
        stored: called after each session with its turns, the receipt and the seconds it took; at last, for the flush,
            with no turns and the last receipt.

    Returns:
        Which turn each step id is; turns without an id are left out.

    Raises:
        InvalidInputError: ``remember`` does not give one step id a message.
    """
    turn_of: dict[str, str] = {}
    receipt: _Receipt | None = None
    for thread, turns in _sessions(conversation):
        messages = [turn.as_message() for turn in turns]
        started = time.perf_counter()
        receipt = user.remember(messages, thread_id=thread)
        seconds = time.perf_counter() - started
        if len(receipt.step_ids) != len(turns):
            raise InvalidInputError(
                f"{conversation.id}, {thread}: remember gave {len(receipt.step_ids)} step ids for {len(turns)} "
                "messages; it must give one each"
            )
        for step_id, turn in zip(receipt.step_ids, turns, strict=True):
            if turn.id is not None:
                turn_of.setdefault(step_id, turn.id)
        if stored:
            stored(turns, receipt, seconds)
    started = time.perf_counter()
    user.flush()
    if stored and receipt is not None:
        stored((), receipt, time.perf_counter() - started)
    return turn_of


def _store(user: _User, conversation: Conversation, ingest: _Ingest, advance: Callable[[str], None]) -> dict[str, str]:
    """Store one conversation; which turn each step id is."""

    def stored(turns: Sequence[EvalMessage], receipt: _Receipt, seconds: float) -> None:
        ingest.seconds += seconds
        if turns:
            ingest.steps += len(turns)
            ingest.degraded.update(receipt.degraded)
            advance(f"store {conversation.id}")

    return store_conversation(user, conversation, stored)


def _ask(
    user: _User,
    conversation: Conversation,
    strategy: str,
    turn_of: Mapping[str, str],
    rounds: int,
    *,
    measured: _Measured,
    advance: Callable[[str], None],
) -> None:
    questions = [question for question in conversation.questions if question.evidence]
    if not questions:
        return
    depth = max(measured.scores.k_values)
    thread_of = {message.id: message.thread_id or conversation.id for message in conversation.messages}
    for number in range(0 if strategy == RESEARCH else WARM_UP_CALLS):
        ask(user, f"warm-up call {number + 1}", k=depth, strategy=strategy)
    for question in questions:
        asked = ask(user, question.text, k=depth, strategy=strategy, rounds=rounds)
        measured.latencies.append(asked.seconds * 1_000)
        measured.calls, measured.tokens = measured.calls + asked.calls, measured.tokens + asked.tokens
        measured.degraded.update(asked.degraded)
        ranked = _turns(asked.steps, turn_of)
        further = _session_recall(question, ranked, thread_of, measured.scores.k_values)
        if conversation.dataset == "longmemeval":
            # A ranking of its own: the published cut-offs count the user's turns alone, and sessions of many turns.
            deep = ask(user, question.text, k=PUBLISHED_DEPTH, strategy=strategy) if strategy != RESEARCH else asked
            further |= published_metrics(conversation, _turns(deep.steps, turn_of))
        measured.scores.add(conversation.id, question.category, ranked, question.evidence, further=further)
        advance(f"{strategy} on {conversation.id}")


def _session_recall(
    question: Question, ranked: Sequence[str], thread_of: Mapping[str | None, str], k_values: Sequence[int]
) -> dict[str, dict[int, float]]:
    gold = frozenset(question.evidence_threads)
    if not gold:
        return {}
    found = {k: gold.intersection(thread_of.get(turn) for turn in ranked[:k]) for k in k_values}
    return {"session_recall": {k: len(threads) / len(gold) for k, threads in found.items()}}


def _result(
    strategy: str, measured: _Measured, ingest: _Ingest, shared: Mapping[str, Any], locomo: bool
) -> dict[str, Any]:
    p50, p95 = (float(value) for value in np.percentile(measured.latencies, [50, 95]))
    tables = {name: measured.scores.means(name) for name in (*METRICS, "session_recall")}
    if not locomo:
        tables = {name: {**table, "1-4": None} if table else table for name, table in tables.items()}
    published = measured.scores.means(PUBLISHED_NAMES[0]) is not None
    return {
        "dataset": shared["dataset"],
        "strategy": strategy,
        **{key: shared[key] for key in ("embedder", "weights", "model", "n_conversations", "n_steps")},
        "n_questions": len(measured.scores),
        "skipped_questions": shared["skipped_questions"],
        "counts": measured.scores.counts(),
        **tables,
        "published": {name: measured.scores.means(name) for name in PUBLISHED_NAMES} if published else None,
        "latency_ms": {"p50": p50, "p95": p95},
        "ingest_steps_per_s": shared["ingest_steps_per_s"],
        # What `usage` counts holds the calls of research too.
        "llm_calls": measured.calls or shared["llm_calls"],
        "llm_tokens": measured.tokens or shared["llm_tokens"],
        **{key: shared[key] for key in ("scope", "events")},
        "degraded": dict(ingest.degraded + measured.degraded),
        "notes": shared["notes"],
        "by_conversation": measured.scores.by_conversation(),
    }
