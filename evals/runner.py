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
from hexamem.evals.agreement import AgreementTally
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
        facts: keys of each result that describe what was measured, such as ``embedder``, ``weights`` and ``model``.

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
    measured = [_Measured(name, Aggregator(k_values, _RANGES if locomo else None), rounds) for name in strategies]
    stored, agreement = Stored(), AgreementTally()
    sessions = sum(len(_sessions(conversation)) for conversation in conversations)
    n_scored = sum(len(_scored(conversation)) for conversation in conversations)
    advance = counted(progress, sessions + len(strategies) * n_scored)
    with memory_factory() as memory:
        for conversation in conversations:
            user, before = memory.user(conversation.id), spent(memory)
            stored.advance = partial(advance, f"store {conversation.id}")
            turn_of = store_conversation(user, conversation, stored)
            after = spent(memory)
            stored.calls += after.calls - before.calls
            stored.tokens += after.tokens - before.tokens
            labels = getattr(user, "labels", None)
            if conversation.gold and labels is not None:
                agreement.add(conversation, turn_of, labels.induced())
            for strategy in measured:
                strategy.ask(user, conversation, turn_of, partial(advance, f"{strategy.name} on {conversation.id}"))
    n_questions = sum(len(conversation.questions) for conversation in conversations)
    return [
        {
            "dataset": dataset_of(conversations),
            "strategy": strategy.name,
            **(facts or {}),
            "n_conversations": len(conversations),
            "n_steps": stored.steps,
            "n_questions": n_scored,
            "skipped_questions": n_questions - n_scored,
            "counts": strategy.scores.counts(),
            **_tables(strategy.scores, locomo),
            "latency_ms": strategy.tally.latency(),
            "ingest_steps_per_s": stored.rate,
            "llm_calls": stored.calls + strategy.tally.calls,
            "llm_tokens": stored.tokens + strategy.tally.tokens,
            "scope": agreement.scope(),
            "events": agreement.events(),
            "degraded": dict(stored.degraded + strategy.tally.degraded),
            "notes": notes_of(conversations),
            "by_conversation": strategy.scores.by_conversation(),
        }
        for strategy in measured
    ]


class _Measured:
    """A strategy with its scores and costs so far."""

    def __init__(self, name: str, scores: Aggregator, rounds: int) -> None:
        self.name, self.scores, self.rounds, self.tally = name, scores, rounds, Tally()

    def ask(
        self, user: Any, conversation: Conversation, turn_of: Mapping[str, str], advance: Callable[[], None]
    ) -> None:
        """Ask the questions of a conversation that have evidence, after calls that warm up a recall."""
        k_values, questions = self.scores.k_values, _scored(conversation)
        for number in range(WARM_UP_CALLS if questions and self.name != RESEARCH else 0):
            ask(user, f"warm-up call {number + 1}", k=max(k_values), strategy=self.name)
        thread_of = {message.id: message.thread_id or conversation.id for message in conversation.messages}
        for question in questions:
            asked = ask(user, question.text, k=max(k_values), strategy=self.name, rounds=self.rounds)
            self.tally.add(asked)
            ranked, further = turns_of(asked.steps, turn_of), {}
            if gold := frozenset(question.evidence_threads):
                retrieved = {k: gold.intersection(thread_of.get(turn) for turn in ranked[:k]) for k in k_values}
                further["session_recall"] = {k: len(threads) / len(gold) for k, threads in retrieved.items()}
            self.scores.add(conversation.id, question.category, ranked, question.evidence, further=further)
            advance()


def _scored(conversation: Conversation) -> list[Question]:
    return [question for question in conversation.questions if question.evidence]


def dataset_of(conversations: Sequence[Conversation]) -> str:
    """The formats of conversations, joined by ``+``."""
    return "+".join(dict.fromkeys(conversation.dataset for conversation in conversations))


def notes_of(conversations: Sequence[Conversation]) -> list[str]:
    """What the loaders noted, each with the conversation's id."""
    return [f"{conversation.id}: {note}" for conversation in conversations for note in conversation.notes]


def compare(a: Mapping[str, Any], b: Mapping[str, Any], *, k: int = 10, group: str = "all") -> Interval:
    """The difference in recall at k, ``a - b``, of two results of :func:`evaluate`, by paired bootstrap over conversations.

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
        stored: adds up steps, seconds and fallbacks.

    Returns:
        Step id → turn; turns without an id are left out.

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

    @property
    def rate(self) -> float | None:
        """Steps a second."""
        return self.steps / self.seconds if self.seconds else None


def _check(conversations: Sequence[Conversation], strategies: Sequence[str]) -> None:
    if isinstance(strategies, str) or not strategies or len(set(strategies)) != len(strategies):
        raise InvalidInputError(f"strategies {strategies!r}: give a list of names, at least one, each once")
    counts = Counter(conversation.id for conversation in conversations)
    if doubles := [name for name, count in counts.items() if count > 1]:
        raise InvalidInputError(f"conversation id {doubles[0]!r} occurs twice; their memories would be mixed")
    if not any(map(_scored, conversations)):
        raise InvalidInputError(
            f"none of the {len(conversations)} conversation(s) has a question with evidence; there is nothing to score"
        )


def _sessions(conversation: Conversation) -> list[tuple[str, list[EvalMessage]]]:
    # Consecutive turns of a thread together: a thread that is taken up again later comes again, in order.
    groups = itertools.groupby(conversation.messages, key=lambda turn: turn.thread_id or conversation.id)
    return [(thread, list(turns)) for thread, turns in groups]


def _tables(scores: Aggregator, locomo: bool) -> dict[str, Any]:
    tables = {name: scores.means(name) for name in (*METRICS, "session_recall")}
    if not locomo:
        tables = {name: {**table, "1-4": None} if table else table for name, table in tables.items()}
    return tables
