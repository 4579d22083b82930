"""Runs a memory over conversations and measures what it finds, through its public calls alone.

One user a conversation. Sessions are stored in order, one ``remember`` a session; then every strategy answers every
question that has evidence. What counts is turns: a step hit is its own turn, any other hit the turns it cites.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Protocol

from hexamem.errors import InvalidInputError
from hexamem.evals.agreement import AgreementTally, induced_labels
from hexamem.evals.asking import RESEARCH, Progress, Tally, ask, counted, spent, turns_of
from hexamem.evals.metrics import DEFAULT_K_VALUES, METRICS, Aggregator, Interval, paired_bootstrap
from hexamem.evals.records import Conversation, EvalMessage, Question

__all__ = [
    "WARM_UP_CALLS",
    "MemoryFactory",
    "MemoryLike",
    "Stored",
    "compare",
    "dataset_of",
    "evaluate",
    "notes_of",
    "store_conversation",
]

WARM_UP_CALLS = 3
_RANGES = {"1-4": ("1", "2", "3", "4")}


class MemoryLike(Protocol):
    """What the runner asks of a memory: :meth:`user`, whose result has ``remember``, ``flush`` and ``recall``."""

    def user(self, user_id: str) -> Any: ...


MemoryFactory = Callable[[], AbstractContextManager[MemoryLike]]
"""Opens an empty memory; called once, closed at the end."""


def evaluate(
    memory_factory: MemoryFactory,
    conversations: Sequence[Conversation],
    strategies: Sequence[str],
    k_values: Sequence[int] = DEFAULT_K_VALUES,
    progress: Progress | None = None,
    *,
    rounds: int = 3,
    facts: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Store the conversations and measure each strategy on their questions.

    Args:
        memory_factory: opens an empty memory; called once, closed at the end.
        conversations: with ids of their own; those without questions are stored too.
        strategies: names that ``recall`` knows, or ``research``, whose ranking is that of its evidence.
        k_values: cut-offs; ``recall`` is asked for the largest.
        progress: called as ``progress(what, done, total)`` after every session stored and question answered.
        rounds: of research, at most.
        facts: keys of each result that say what was measured, such as ``embedder``, ``weights`` and ``model``.

    Returns:
        One JSON-ready object a strategy, in the order given: ``dataset`` (the conversations' formats, joined by ``+``),
        ``strategy``, the ``facts``, ``n_conversations``, ``n_steps``, ``llm_calls``, ``llm_tokens`` (of storing, which
        all strategies share, and of research) and:

        - ``n_questions``: those scored; ``skipped_questions``: those without evidence; ``counts``: scored, by group;
        - ``recall``, ``ndcg``, ``all_at_k``, ``any_at_k``: ``{group: {"5": …}}``, means over questions; groups are
          ``all``, ``1-4`` (None unless the data is LoCoMo), and each category;
        - ``scope``, ``events``: agreement of induced labels with gold ones (:class:`~.agreement.AgreementTally`), all
          strategies share it; None where the data has no gold or the memory no labels;
        - ``session_recall``: fraction of gold sessions among those of the top k turns, where the data names them;
        - ``by_conversation``: what :func:`compare` reads;
        - ``latency_ms``: of ``recall`` alone, wall time, after 3 warm-up calls a conversation whose words are no
          question's; ``ingest_steps_per_s``: ``remember`` and ``flush`` together, all strategies share it;
        - ``degraded``: ``{what fell back: how often}``, storing included; ``notes``: those of the loaders.

    Raises:
        InvalidInputError: no strategy, one named twice, two conversations with one id, or no question to score.
        HexamemError: whatever the memory raises passes through.
    """
    _check(conversations, strategies)
    locomo = any(conversation.dataset == "locomo" for conversation in conversations)
    measured = {name: (Aggregator(k_values, _RANGES if locomo else None), Tally()) for name in strategies}
    stored, agreement = Stored(), AgreementTally()
    asked = {
        conversation.id: [question for question in conversation.questions if question.evidence]
        for conversation in conversations
    }
    sessions = sum(len(_sessions(conversation)) for conversation in conversations)
    advance = counted(progress, sessions + len(strategies) * sum(map(len, asked.values())))
    with memory_factory() as memory:
        for conversation in conversations:
            user = memory.user(conversation.id)
            stored.advance = partial(advance, f"store {conversation.id}")
            before = spent(memory)
            turn_of = store_conversation(user, conversation, stored)
            after = spent(memory)
            stored.calls += after.calls - before.calls
            stored.tokens += after.tokens - before.tokens
            if conversation.gold and (labels := induced_labels(user)) is not None:
                agreement.add(conversation, turn_of, labels)
            for strategy, (scores, tally) in measured.items() if asked[conversation.id] else ():
                for number in range(0 if strategy == RESEARCH else WARM_UP_CALLS):
                    ask(user, f"warm-up call {number + 1}", k=max(scores.k_values), strategy=strategy)
                for question in asked[conversation.id]:
                    _score(user, conversation, question, strategy, turn_of, rounds, scores, tally)
                    advance(f"{strategy} on {conversation.id}")
    n_questions = sum(len(conversation.questions) for conversation in conversations)
    return [
        {
            "dataset": dataset_of(conversations),
            "strategy": strategy,
            **(facts or {}),
            "n_conversations": len(conversations),
            "n_steps": stored.steps,
            "n_questions": len(scores),
            "skipped_questions": n_questions - len(scores),
            "counts": scores.counts(),
            **_tables(scores, locomo),
            "latency_ms": tally.latency(),
            "ingest_steps_per_s": stored.steps / stored.seconds if stored.seconds else None,
            "llm_calls": stored.calls + tally.calls,
            "llm_tokens": stored.tokens + tally.tokens,
            "scope": agreement.scope(),
            "events": agreement.events(),
            "degraded": dict(stored.degraded + tally.degraded),
            "notes": notes_of(conversations),
            "by_conversation": scores.by_conversation(),
        }
        for strategy, (scores, tally) in measured.items()
    ]


def dataset_of(conversations: Sequence[Conversation]) -> str:
    """The formats of conversations, joined by ``+``."""
    return "+".join(dict.fromkeys(conversation.dataset for conversation in conversations))


def notes_of(conversations: Sequence[Conversation]) -> list[str]:
    """What the loaders noted, each with the conversation's id."""
    return [f"{conversation.id}: {note}" for conversation in conversations for note in conversation.notes]


def compare(a: Mapping[str, Any], b: Mapping[str, Any], *, k: int = 10, group: str = "all") -> Interval:
    """The difference in recall at k, ``a - b``, of two objects that :func:`evaluate` returned, by paired bootstrap over
    conversations.

    Args:
        a: the result of one strategy.
        b: that of another on the same conversations.
        k: one of the cut-offs measured.
        group: ``all`` or a range (``1-4``).

    Raises:
        InvalidInputError: cut-off or group were not measured, or the conversations are not the same or fewer than 2.
    """
    first, second = a["by_conversation"], b["by_conversation"]
    if first.keys() != second.keys():
        raise InvalidInputError(
            f"conversations differ: {sorted(first.keys() ^ second.keys())}; compare on the same ones"
        )
    shared = [name for name in first if group in first[name]]
    if not shared:
        raise InvalidInputError(f"group {group!r} has no questions; use 'all' or a range such as '1-4'")
    if str(k) not in first[shared[0]][group]["recall"]:
        raise InvalidInputError(f"recall at {k} was not measured")
    weights = [first[name][group]["n"] for name in shared]
    if weights != [second[name][group]["n"] for name in shared]:
        raise InvalidInputError("the numbers of questions differ; compare on the same ones")
    values, others = ([table[name][group]["recall"][str(k)] for name in shared] for table in (first, second))
    return paired_bootstrap(values, others, weights=weights)


def store_conversation(user: Any, conversation: Conversation, stored: Stored | None = None) -> dict[str, str]:
    """Store a conversation, one ``remember`` a session, and flush.

    Args:
        user: whose memory.
        conversation: its messages are all that the memory sees.
        stored: adds up steps, seconds and fallbacks.

    Returns:
        Which turn each step id is; turns without an id are left out.

    Raises:
        InvalidInputError: ``remember`` does not return one step id a message.
    """
    stored = stored or Stored()
    turn_of: dict[str, str] = {}
    for thread, turns in _sessions(conversation):
        messages = [turn.as_message() for turn in turns]
        started = time.perf_counter()
        receipt = user.remember(messages, thread_id=thread)
        stored.seconds += time.perf_counter() - started
        if len(receipt.step_ids) != len(turns):
            raise InvalidInputError(
                f"{conversation.id}, {thread}: remember returned {len(receipt.step_ids)} step ids for {len(turns)} "
                "messages; it must return one each"
            )
        for step_id, turn in zip(receipt.step_ids, turns, strict=True):
            if turn.id is not None:
                turn_of.setdefault(step_id, turn.id)
        stored.steps += len(turns)
        stored.degraded.update(receipt.degraded)
        stored.advance()
    started = time.perf_counter()
    user.flush()
    stored.seconds += time.perf_counter() - started
    return turn_of


class Stored:
    """What storing took."""

    def __init__(self) -> None:
        self.steps, self.seconds, self.degraded = 0, 0.0, Counter[str]()
        self.calls = self.tokens = 0
        self.advance: Callable[[], None] = lambda: None


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


def _sessions(conversation: Conversation) -> list[tuple[str, list[EvalMessage]]]:
    # Consecutive turns of a thread together: a thread that is taken up again later comes again, in order.
    groups = itertools.groupby(conversation.messages, key=lambda turn: turn.thread_id or conversation.id)
    return [(thread, list(turns)) for thread, turns in groups]


def _score(
    user: Any,
    conversation: Conversation,
    question: Question,
    strategy: str,
    turn_of: Mapping[str, str],
    rounds: int,
    scores: Aggregator,
    tally: Tally,
) -> None:
    asked = ask(user, question.text, k=max(scores.k_values), strategy=strategy, rounds=rounds)
    tally.add(asked)
    ranked = turns_of(asked.steps, turn_of)
    further: dict[str, dict[int, float]] = {}
    if gold := frozenset(question.evidence_threads):
        thread_of = {message.id: message.thread_id or conversation.id for message in conversation.messages}
        retrieved = {k: gold.intersection(thread_of.get(turn) for turn in ranked[:k]) for k in scores.k_values}
        further["session_recall"] = {k: len(threads) / len(gold) for k, threads in retrieved.items()}
    scores.add(conversation.id, question.category, ranked, question.evidence, further=further)


def _tables(scores: Aggregator, locomo: bool) -> dict[str, Any]:
    tables = {name: scores.means(name) for name in (*METRICS, "session_recall")}
    if not locomo:
        tables = {name: {**table, "1-4": None} if table else table for name, table in tables.items()}
    return tables
