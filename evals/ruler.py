"""RULER's synthetic tasks over long contexts, as conversations for a memory (Hsieh et al., COLM 2024, section 3).

Needles in a haystack, variable tracking and aggregation, in the settings of the benchmark's own ``synthetic.yaml``. The
haystack is made from a seed, not downloaded: prose about many small matters with names, places and figures of their own, so
that no sentence is conspicuous. The memory sees the text in steps; the question comes afterwards, as RULER words it, without
the benchmark's answer prefix, which would reveal the number of values.
"""

from __future__ import annotations

import json
import math
import random
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from importlib import resources
from itertools import islice, pairwise
from typing import Literal, get_args

from hexamem.errors import InvalidInputError
from hexamem.evals.records import Conversation, EvalMessage, Question
from hexamem.models.tokens import count_tokens

__all__ = ["FAMILIES", "TASKS", "Form", "Prose", "make_ruler", "parse_tokens", "tasks_named"]

Form = Literal["conversation", "documents"]
_SHORTEST = 2_000  # tokens
_START = datetime(2024, 1, 1, 9, 0)
_NOISE = (
    "The kettle is warm.",
    "The road is long.",
    "The lamp is lit.",
    "We go on.",
    "Out and home again.",
)
_WORDS: dict[str, list[str]] = json.loads(
    resources.files(__package__).joinpath("ruler_words.json").read_text(encoding="utf-8")
)

_Line = tuple[str, bool]  # a sentence, and whether it is evidence


@dataclass(frozen=True, kw_only=True, slots=True)
class _Draft:
    lines: list[_Line]
    question: str
    values: tuple[str, ...]
    read: Literal["contains", "count"] = "contains"
    foreign: tuple[str, ...] = ()


def make_ruler(task: str, tokens: int, *, seed: int = 0, form: Form = "conversation") -> Conversation:
    """One sample: a long text with its question; the same arguments make the same one on every machine.

    Args:
        task: a name of :data:`TASKS`.
        tokens: the length of the text by :func:`~hexamem.models.tokens.count_tokens`, met to within 5%.
        seed: any integer.
        form: ``conversation``: turns of 2 to 5 sentences by turns of user and assistant, 40 turns a thread, a thread
            a day; ``documents``: paragraphs of 6 to 9 sentences, 12 a thread.

    Returns:
        A conversation with one question. Its ``category`` is the task, ``evidence`` the turns that hold what is asked
        for (none in aggregation, where all do), ``gold["values"]`` the values to retrieve, ``gold["read"]`` how an answer
        is read from what came back (``contains`` or ``count``), ``gold["foreign"]`` variables of other chains.

    Raises:
        InvalidInputError: for an unknown task or form, or fewer than 2,000 tokens.
    """
    if form not in get_args(Form):
        raise InvalidInputError(f"form = {form!r} is unknown; use {', '.join(get_args(Form))}")
    if task not in TASKS:
        raise InvalidInputError(f"task {task!r} is unknown; use {', '.join(TASKS)}")
    if tokens < _SHORTEST:
        raise InvalidInputError(f"tokens = {tokens}: at least {_SHORTEST}")
    rng = random.Random(f"{task} {tokens} {seed}")
    draft = TASKS[task](tokens, rng)
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
    metadata = {"tokens": tokens, "form": form, "seed": seed}
    return Conversation(sample, tuple(messages), (question,), dataset="ruler", metadata=metadata)


def tasks_named(names: Sequence[str]) -> list[str]:
    """The tasks behind names of tasks and of families, each once; all of them for no name.

    Raises:
        InvalidInputError: for an unknown name; lists the known ones.
    """
    chosen: list[str] = []
    for name in names or TASKS:
        if name not in FAMILIES and name not in TASKS:
            raise InvalidInputError(f"task {name!r} is unknown; use {', '.join((*FAMILIES, *TASKS))}")
        chosen += FAMILIES.get(name, (name,))
    return list(dict.fromkeys(chosen))


def parse_tokens(text: str) -> list[int]:
    """The lengths in ``8k,32k,512000``: whole numbers of tokens, ``k`` for 1,000.

    Raises:
        InvalidInputError: for what is no such list, or a length below 2,000.
    """
    lengths: list[int] = []
    for part in map(str.strip, text.lower().replace("_", "").split(",")):
        digits, factor = (part[:-1], 1_000) if part.endswith("k") else (part, 1)
        length = int(digits) * factor if digits.isdecimal() else 0
        if length < _SHORTEST:
            raise InvalidInputError(f"{part!r} in {text!r} is no length of at least 2,000 tokens; write 8k,32k,128k")
        lengths.append(length)
    return list(dict.fromkeys(lengths))


# -- the tasks


def _needles(
    tokens: int,
    rng: random.Random,
    *,
    keys: int = 1,
    values: int = 1,
    queries: int = 1,
    haystack: Literal["prose", "noise", "needle"] = "prose",
    key_type: Literal["words", "uuids"] = "words",
    value_type: Literal["numbers", "uuids"] = "numbers",
) -> _Draft:
    """Parameters as in RULER; a haystack of needles is nothing but other needles."""
    new_keys = _needle_keys(rng) if key_type == "words" else _uuids(rng)
    new_values = _uuids(rng) if value_type == "uuids" else _distinct(lambda: str(rng.randrange(1_000_000, 10_000_000)))

    def needle(key: str, value: str) -> str:
        return f"One of the special magic {value_type} for {key} is: {value}."

    table = {key: tuple(islice(new_values, values)) for key in islice(new_keys, max(keys, queries))}
    asked = rng.sample(list(table), queries)
    hidden = [(needle(key, value), key in asked) for key, several in table.items() for value in several]
    rng.shuffle(hidden)
    if haystack == "needle":
        source: Iterator[str] = (needle(key, value) for key, value in zip(new_keys, new_values, strict=False))
    else:
        source = _sentences(haystack, rng)
    named = asked[0] if len(asked) == 1 else f"{', '.join(asked[:-1])}, and {asked[-1]}"
    single = queries * values == 1
    what = f"is the special magic {value_type[:-1]}" if single else f"are all the special magic {value_type}"
    return _Draft(
        lines=_hidden(hidden, source, tokens, rng),
        question=f"What {what} for {named} mentioned in the provided text?",
        values=tuple(value for key in asked for value in table[key]),
    )


def _chains(
    tokens: int, rng: random.Random, *, chains: int = 1, hops: int = 4, haystack: Literal["prose", "noise"] = "noise"
) -> _Draft:
    """Variable tracking: ``chains`` of ``hops`` + 1 variables; the first chain is asked for."""
    names: dict[str, None] = {}
    while len(names) < chains * (hops + 1):
        names["".join(rng.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ", k=5))] = None
    every = list(names)
    made = [every[start : start + hops + 1] for start in range(0, len(every), hops + 1)]
    values = rng.sample(range(10_000, 100_000), chains)
    waiting = [
        [f"VAR {chain[0]} = {value}.", *(f"VAR {new} = VAR {old}." for old, new in pairwise(chain))]
        for chain, value in zip(made, values, strict=True)
    ]
    # The chains are interleaved, each in its own order.
    turns = [number for number, chain in enumerate(waiting) for _ in chain]
    rng.shuffle(turns)
    hidden = [(waiting[number].pop(0), number == 0) for number in turns]
    return _Draft(
        lines=_hidden(hidden, _sentences(haystack, rng), tokens, rng),
        question=f"Find all variables that are assigned the value {values[0]} in the text above.",
        values=tuple(made[0]),
        foreign=tuple(name for chain in made[1:] for name in chain),
    )


def _common_words(tokens: int, rng: random.Random) -> _Draft:
    """Ten words come 30 times each, all others 3 times."""

    def word() -> str:
        onsets, vowels = _WORDS["onsets"], _WORDS["vowels"]
        syllables = [rng.choice(onsets) + rng.choice(vowels) for _ in range(rng.choice((2, 2, 3)))]
        return "".join(syllables) + rng.choice(_WORDS["codas"])

    words = _distinct(word)
    common = list(islice(words, 10))
    order = [word for word in common for _ in range(30)]
    listed, rare = list(order), list[str]()
    # A word costs its number, a dot and itself, and longer numbers cost more: how many fit is approached.
    for _ in range(4):
        spent = sum(count_tokens(text) for text, _ in _in_tens(order, numbered=True))
        more = round((tokens - spent) / (spent / len(order)) / 3)
        rare = [*rare[: len(rare) + more if more < 0 else None], *islice(words, max(0, more))]
        order = [*listed, *(word for word in rare for _ in range(3))]
        rng.shuffle(order)
    question = "What are the 10 most common words in the above list?"
    return _Draft(lines=_in_tens(order, numbered=True), question=question, values=tuple(common), read="count")


def _frequent_words(tokens: int, rng: random.Random) -> _Draft:
    """The word of rank r comes in proportion to ``r ** -2``; the first rank is dots, the three after it are asked."""
    coded = _distinct(lambda: "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=6)))
    vocabulary = ["...", *islice(coded, max(4, tokens // 50))]

    def text(words: int) -> list[str]:
        counts = (int(words * rank**-2.0 / (math.pi**2 / 6)) for rank in range(1, len(vocabulary) + 1))
        return [word for word, count in zip(vocabulary, counts, strict=True) for _ in range(count)]

    words = text(int(4_000 * tokens / count_tokens(" ".join(text(4_000)))))
    rng.shuffle(words)
    question = "What are the three most frequently appeared words in the above coded text? Ignore the dots '...'."
    return _Draft(lines=_in_tens(words), question=question, values=tuple(vocabulary[1:4]), read="count")


TASKS: Mapping[str, Callable[[int, random.Random], _Draft]] = {
    "niah_single_1": partial(_needles, haystack="noise"),
    "niah_single_2": _needles,
    "niah_single_3": partial(_needles, value_type="uuids"),
    "niah_multikey_1": partial(_needles, keys=4),
    "niah_multikey_2": partial(_needles, haystack="needle"),
    "niah_multikey_3": partial(_needles, haystack="needle", key_type="uuids", value_type="uuids"),
    "niah_multivalue": partial(_needles, values=4),
    "niah_multiquery": partial(_needles, keys=4, queries=4),
    "vt": _chains,
    "vt_chains": partial(_chains, chains=8, haystack="prose"),
    "cwe": _common_words,
    "fwe": _frequent_words,
}
"""Each task under RULER's name; ``vt_chains`` is ours: seven further chains in prose, so that retrieving every assignment
there is does not answer the question."""
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "needle": tuple(name for name in TASKS if name.startswith("niah")),
    "variable_tracking": ("vt", "vt_chains"),
    "aggregation": ("cwe", "fwe"),
}


# -- the text


class Prose:
    """Sentences about everyday matters, one after the other; all choices come from ``rng``."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def sentence(self) -> str:
        """One sentence of 6 to 25 words, with its full stop."""
        pick = self._rng.choice
        slots: dict[str, str] = {}
        for slot, words in (("name", "names"), ("thing", "things"), ("quality", "qualities")):
            slots[slot], slots[f"{slot}2"] = self._rng.sample(_WORDS[words], 2)
        for slot in ("place", "doing", "reason", "opinion", "month", "day", "unit"):
            slots[slot] = pick(_WORDS[f"{slot}s"])
        slots["number"] = str(self._rng.randrange(11, 9_800))
        slots["small"] = pick(("two", "three", "four", "five", "six", "seven"))
        slots["hour"] = f"{self._rng.randrange(7, 20)}:{pick(('00', '15', '30', '45'))}"
        slots |= {f"{slot}:cap": text[0].upper() + text[1:] for slot, text in slots.items()}
        sentence = pick(_WORDS["templates"])
        for slot, text in slots.items():
            sentence = sentence.replace(f"{{{slot}}}", text)
        return f"{sentence}."


def _sentences(haystack: str, rng: random.Random) -> Iterator[str]:
    prose = Prose(rng)
    while True:
        yield from _NOISE if haystack == "noise" else (prose.sentence(),)


def _needle_keys(rng: random.Random) -> Iterator[str]:
    """Keys such as ``brisk-otter``, none twice; about 45,000 of them."""
    pairs = [f"{adjective}-{noun}" for adjective in _WORDS["adjectives"] for noun in _WORDS["nouns"]]
    rng.shuffle(pairs)
    yield from pairs


def _uuids(rng: random.Random) -> Iterator[str]:
    return _distinct(lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4)))


def _distinct(make: Callable[[], str]) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        word = make()
        if word not in seen:
            seen.add(word)
            yield word


def _in_tens(words: Sequence[str], *, numbered: bool = False) -> list[_Line]:
    entries = [f"{number}. {word}" for number, word in enumerate(words, 1)] if numbered else words
    return [(" ".join(entries[start : start + 10]), False) for start in range(0, len(entries), 10)]


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
    """The messages, and the ids of those that are evidence."""
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
        role = "user" if form == "documents" or turn % 2 == 0 else "assistant"
        time = (_START + timedelta(days=number, minutes=turn)).isoformat()
        text = " ".join(text for text, _ in lines)
        messages.append(EvalMessage(turn_id, role, None, text, timestamp=time, thread_id=thread))
        evidence += [turn_id] if any(gold for _, gold in lines) else []
    return messages, evidence
