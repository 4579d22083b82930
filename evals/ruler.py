"""RULER's synthetic tasks over long contexts, as conversations for a memory (Hsieh et al., COLM 2024, section 3).

Needles in a haystack, variable tracking and aggregation, in the settings of the benchmark's own ``synthetic.yaml``.
The haystack is made, not downloaded (:mod:`.ruler_text`). The memory sees the text in steps; the question comes
afterwards, as RULER words it, without the benchmark's answer prefix, which would tell how many values to find.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, pairwise
from typing import Literal, get_args

from hexamem.errors import InvalidInputError
from hexamem.evals.records import Conversation, EvalMessage, Question
from hexamem.evals.ruler_text import NOISE, Prose, coded_words, needle_keys, needle_numbers, needle_uuids, pseudo_words
from hexamem.models.tokens import count_tokens

__all__ = ["FAMILIES", "FORMS", "TASKS", "Form", "TaskFamily", "make_ruler", "parse_tokens", "tasks_named"]

Form = Literal["conversation", "documents"]
FORMS: tuple[Form, ...] = get_args(Form)
TaskFamily = Literal["needle", "variable_tracking", "aggregation"]
SMALLEST = 2_000

_Line = tuple[str, bool]  # a sentence, and whether it is evidence
_START = datetime(2024, 1, 1, 9, 0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Needles:
    """Settings of a needle task, named as in RULER: how many keys, values a key and keys asked for.

    Attributes:
        haystack: ``prose``, ``noise`` (five short sentences over and over), or ``needle``: nothing but other needles.
    """

    keys: int = 1
    values: int = 1
    queries: int = 1
    haystack: Literal["prose", "noise", "needle"] = "prose"
    key_type: Literal["words", "uuids"] = "words"
    value_type: Literal["numbers", "uuids"] = "numbers"


@dataclass(frozen=True, kw_only=True, slots=True)
class Chains:
    """Settings of variable tracking: ``chains`` of ``hops`` + 1 variables; the first chain is asked for."""

    chains: int = 1
    hops: int = 4
    haystack: Literal["prose", "noise"] = "noise"


@dataclass(frozen=True, kw_only=True, slots=True)
class CommonWords:
    """``common`` words come ``often`` times each, all others ``seldom`` times."""

    common: int = 10
    often: int = 30
    seldom: int = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class FrequentWords:
    """The word of rank r comes in proportion to ``r ** -alpha``; the first rank is dots, ``top`` after it are asked."""

    alpha: float = 2.0
    top: int = 3


Task = Needles | Chains | CommonWords | FrequentWords
TASKS: Mapping[str, Task] = {
    "niah_single_1": Needles(haystack="noise"),
    "niah_single_2": Needles(),
    "niah_single_3": Needles(value_type="uuids"),
    "niah_multikey_1": Needles(keys=4),
    "niah_multikey_2": Needles(haystack="needle"),
    "niah_multikey_3": Needles(haystack="needle", key_type="uuids", value_type="uuids"),
    "niah_multivalue": Needles(values=4),
    "niah_multiquery": Needles(keys=4, queries=4),
    "vt": Chains(),
    "vt_chains": Chains(chains=8, haystack="prose"),
    "cwe": CommonWords(),
    "fwe": FrequentWords(),
}
"""Each task under RULER's name; ``vt_chains`` is ours: seven further chains in prose, so that finding every assignment
there is does not answer the question."""

FAMILIES: Mapping[TaskFamily, tuple[str, ...]] = {
    "needle": tuple(name for name, task in TASKS.items() if isinstance(task, Needles)),
    "variable_tracking": tuple(name for name, task in TASKS.items() if isinstance(task, Chains)),
    "aggregation": tuple(name for name, task in TASKS.items() if isinstance(task, CommonWords | FrequentWords)),
}


def tasks_named(names: Sequence[str]) -> list[str]:
    """The tasks behind names of tasks and of families, each once; all of them for no name.

    Raises:
        InvalidInputError: for an unknown name, with those there are.
    """
    chosen: list[str] = []
    for name in names or TASKS:
        members = [task for family, tasks in FAMILIES.items() if family == name for task in tasks]
        if not members and name not in TASKS:
            raise InvalidInputError(f"task {name!r} is unknown; use {', '.join((*FAMILIES, *TASKS))}")
        chosen += members or [name]
    return list(dict.fromkeys(chosen))


def parse_tokens(text: str) -> list[int]:
    """The lengths in ``8k,32k,512000``: whole numbers of tokens, ``k`` for 1,000.

    Raises:
        InvalidInputError: for what is no such list, or a length below 2,000.
    """
    lengths: list[int] = []
    for part in text.lower().replace("_", "").split(","):
        digits, factor = (part.strip()[:-1], 1_000) if part.strip().endswith("k") else (part.strip(), 1)
        length = int(digits) * factor if digits.isdecimal() else 0
        if length < SMALLEST:
            raise InvalidInputError(
                f"{part.strip()!r} in {text!r} is no length of at least 2,000 tokens; write 8k,32k,128k"
            )
        lengths.append(length)
    return list(dict.fromkeys(lengths))


def make_ruler(task: str, tokens: int, *, seed: int = 0, form: Form = "conversation") -> Conversation:
    """One sample: a long text with its question; the same arguments give the same one on every machine.

    Args:
        task: a name of :data:`TASKS`.
        tokens: how long the text is, by :func:`~hexamem.models.tokens.count_tokens`; met to within 5%.
        seed: any integer.
        form: ``conversation``: turns of 2 to 5 sentences by turns of user and assistant, 40 turns a thread, a thread
            a day; ``documents``: paragraphs of 6 to 9 sentences, 12 a thread.

    Returns:
        A conversation with one question. Its ``category`` is the task, ``evidence`` the turns that hold what is asked
        for (none in aggregation, where all do), ``gold["values"]`` the values to find, ``gold["read"]`` how an answer
        is read from what came back (``contains`` or ``count``), ``gold["foreign"]`` variables of other chains.

    Raises:
        InvalidInputError: for an unknown task or form, or fewer than 2,000 tokens.
    """
    if form not in FORMS:
        raise InvalidInputError(f"form = {form!r} is unknown; use {', '.join(FORMS)}")
    if task not in TASKS:
        raise InvalidInputError(f"task {task!r} is unknown; use {', '.join(TASKS)}")
    if tokens < SMALLEST:
        raise InvalidInputError(f"tokens = {tokens}: at least {SMALLEST}")
    rng = random.Random(f"{task} {tokens} {seed}")
    draft = _draft(TASKS[task], tokens, rng)
    sample = f"ruler-{task}-{tokens}-{seed}"
    messages, evidence = _steps(draft, form, rng)
    question = Question(
        id=sample,
        text=draft.question,
        answer=", ".join(draft.values),
        category=task,
        evidence=tuple(evidence),
        gold={"values": draft.values, "read": draft.read, "foreign": draft.foreign},
    )
    return Conversation(
        id=sample,
        messages=tuple(messages),
        questions=(question,),
        dataset="ruler",
        metadata={"tokens": tokens, "form": form, "seed": seed},
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Draft:
    lines: list[_Line]
    question: str
    values: tuple[str, ...]
    read: Literal["contains", "count"] = "contains"
    foreign: tuple[str, ...] = ()


def _draft(task: Task, tokens: int, rng: random.Random) -> _Draft:
    if isinstance(task, Needles):
        return _needles(task, tokens, rng)
    if isinstance(task, Chains):
        return _chains(task, tokens, rng)
    if isinstance(task, CommonWords):
        return _common_words(task, tokens, rng)
    return _frequent_words(task, tokens, rng)


def _needles(task: Needles, tokens: int, rng: random.Random) -> _Draft:
    keys = needle_keys(rng) if task.key_type == "words" else needle_uuids(rng)
    values = needle_numbers(rng) if task.value_type == "numbers" else needle_uuids(rng)

    def needle(key: str, value: str) -> str:
        return f"One of the special magic {task.value_type} for {key} is: {value}."

    table = {key: tuple(islice(values, task.values)) for key in islice(keys, max(task.keys, task.queries))}
    asked = rng.sample(list(table), task.queries)
    hidden = [(needle(key, value), key in asked) for key, several in table.items() for value in several]
    rng.shuffle(hidden)
    if task.haystack == "needle":
        source: Iterator[str] = (needle(key, value) for key, value in zip(keys, values, strict=False))
    else:
        source = _sentences(task.haystack, rng)
    named = asked[0] if len(asked) == 1 else f"{', '.join(asked[:-1])}, and {asked[-1]}"
    single = task.queries * task.values == 1
    what = f"is the special magic {task.value_type[:-1]}" if single else f"are all the special magic {task.value_type}"
    return _Draft(
        lines=_hidden(hidden, source, tokens, rng),
        question=f"What {what} for {named} mentioned in the provided text?",
        values=tuple(value for key in asked for value in table[key]),
    )


def _chains(task: Chains, tokens: int, rng: random.Random) -> _Draft:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    names: dict[str, None] = {}
    while len(names) < task.chains * (task.hops + 1):
        names["".join(rng.choices(letters, k=5))] = None
    every = list(names)
    chains = [every[start : start + task.hops + 1] for start in range(0, len(every), task.hops + 1)]
    values = rng.sample(range(10_000, 100_000), task.chains)
    waiting = [
        [f"VAR {chain[0]} = {value}.", *(f"VAR {new} = VAR {old}." for old, new in pairwise(chain))]
        for chain, value in zip(chains, values, strict=True)
    ]
    # The chains are interleaved, each in its own order.
    turns = [number for number, chain in enumerate(waiting) for _ in chain]
    rng.shuffle(turns)
    hidden = [(waiting[number].pop(0), number == 0) for number in turns]
    return _Draft(
        lines=_hidden(hidden, _sentences(task.haystack, rng), tokens, rng),
        question=f"Find all variables that are assigned the value {values[0]} in the text above.",
        values=tuple(chains[0]),
        foreign=tuple(name for chain in chains[1:] for name in chain),
    )


def _common_words(task: CommonWords, tokens: int, rng: random.Random) -> _Draft:
    words = pseudo_words(rng)
    common = list(islice(words, task.common))
    listed = [word for word in common for _ in range(task.often)]
    rare: list[str] = []
    lines = _in_tens(_numbered(listed))
    entries = len(listed)
    # A word costs its number, a dot and itself, and longer numbers cost more: how many fit is approached.
    for _ in range(4):
        spent = sum(count_tokens(text) for text, _ in lines)
        more = round((tokens - spent) / (spent / entries) / task.seldom)
        rare = [*rare[: len(rare) + more if more < 0 else None], *islice(words, max(0, more))]
        order = [*listed, *(word for word in rare for _ in range(task.seldom))]
        rng.shuffle(order)
        lines, entries = _in_tens(_numbered(order)), len(order)
    return _Draft(
        lines=lines,
        question=f"What are the {task.common} most common words in the above list?",
        values=tuple(common),
        read="count",
    )


def _frequent_words(task: FrequentWords, tokens: int, rng: random.Random) -> _Draft:
    vocabulary = ["...", *islice(coded_words(rng), max(task.top + 1, tokens // 50))]
    shares = [rank**-task.alpha for rank in range(1, len(vocabulary) + 1)]
    zeta = math.pi**2 / 6 if task.alpha == 2 else math.fsum(rank**-task.alpha for rank in range(1, 1_000_000))

    def text(words: int) -> list[str]:
        return [word for word, share in zip(vocabulary, shares, strict=True) for _ in range(int(words * share / zeta))]

    probe = text(4_000)
    words = text(int(4_000 * tokens / count_tokens(" ".join(probe))))
    rng.shuffle(words)
    return _Draft(
        lines=_in_tens(words),
        question="What are the three most frequently appeared words in the above coded text? Ignore the dots '...'.",
        values=tuple(vocabulary[1 : task.top + 1]),
        read="count",
    )


def _numbered(words: Sequence[str]) -> list[str]:
    return [f"{number}. {word}" for number, word in enumerate(words, 1)]


def _in_tens(words: Sequence[str]) -> list[_Line]:
    return [(" ".join(words[start : start + 10]), False) for start in range(0, len(words), 10)]


def _sentences(haystack: str, rng: random.Random) -> Iterator[str]:
    if haystack == "noise":
        while True:
            yield from NOISE
    prose = Prose(rng)
    while True:
        yield prose.sentence()


def _hidden(hidden: Sequence[_Line], source: Iterator[str], tokens: int, rng: random.Random) -> list[_Line]:
    """The needles among as much of the source as the length allows, in their order, at random places."""
    left = tokens - sum(count_tokens(text) for text, _ in hidden)
    lines: list[_Line] = []
    while left > 0:
        batch = list(islice(source, 20))
        if not batch:
            raise InvalidInputError(f"{tokens} tokens: there are not so many different keys; ask for fewer")
        cost = count_tokens(" ".join(batch))
        taken = batch if cost <= left else batch[: max(1, round(len(batch) * left / cost))]
        lines += [(text, False) for text in taken]
        left -= cost if len(taken) == len(batch) else left
    places = sorted(rng.choices(range(len(lines) + 1), k=len(hidden)), reverse=True)
    for place, line in zip(places, reversed(hidden), strict=True):
        lines.insert(place, line)
    return lines


def _steps(draft: _Draft, form: Form, rng: random.Random) -> tuple[list[EvalMessage], list[str]]:
    shortest, longest, per_thread = (2, 5, 40) if form == "conversation" else (6, 9, 12)
    messages: list[EvalMessage] = []
    evidence: list[str] = []
    start = 0
    while start < len(draft.lines):
        lines = draft.lines[start : start + rng.randint(shortest, longest)]
        start += len(lines)
        number, turn = divmod(len(messages), per_thread)
        thread = f"{'session' if form == 'conversation' else 'document'}_{number + 1}"
        turn_id = f"{thread}#{turn}"
        messages.append(
            EvalMessage(
                id=turn_id,
                role="user" if form == "documents" or turn % 2 == 0 else "assistant",
                name=None,
                content=" ".join(text for text, _ in lines),
                timestamp=(_START + timedelta(days=number, minutes=turn)).isoformat(),
                thread_id=thread,
            )
        )
        if any(gold for _, gold in lines):
            evidence.append(turn_id)
    return messages, evidence
