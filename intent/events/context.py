"""What a step does beside its words: its form, who speaks, and what the step before it calls for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ... import lazy_re as re
from ..contract import StepView
from ..phrases.tokens import CLAUSE, END, NUMBER, PhraseTable, Tokens, as_phrases, word_set

__all__ = [
    "FACTS",
    "OFFERED",
    "OPTIONS",
    "answer_bonus",
    "echoes",
    "imperatives",
    "is_argument",
    "is_speech",
    "structure",
    "word_count",
]

_DEBATER = re.compile(
    r"debat|affirmative|negative|opposition|\bpro\b|\bcon\b|proponent|opponent|advocate|plaintiff|defen[cs]e|正方|反方|辩",
    re.I,
)
_MODERATOR = re.compile(r"moderat|chair|\bhost\b|judge|facilitat|主持|主席|裁判", re.I)
_LIST_LINE = re.compile(r"^\s*(?:[-•*–—]|\d{1,2}[.)]|[a-c][.)])\s+\S", re.M)
_CALL = re.compile(r"^[A-Za-z_][\w.-]{0,60}\((?:\w+=|\{|\)).*\)?\s*$")
_READ = 20_000
# "Pack the torch", "send her a note": a first word that is none of these, and one of those after it, is an imperative.
_NO_VERB = word_set(
    "i you he she it we they this that these those there here who what which when where why how whose is are was were am "
    "be been do does did have has had can could will would shall should may might must in on at by for from to of with "
    "without within after before during since until till between among against about over under near behind beyond "
    "through across around along into onto off out up down as than like unlike not no nor neither either both all half "
    "only just even also too then thus if though although because while whereas unless whether once and or but so yet "
    "plus minus per via versus today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday "
    "obviously clearly perhaps maybe probably certainly quite such rather more most less least many much some any each "
    "every the a an my your his her its our their one two three first second third last next back let's it's that's "
    "regarding concerning given despite except excluding including according depending thanks congratulations"
)
_DETERMINERS = word_set("the a an some my our your his her their its us me him them it this that these those")
_FIRST_PERSON = frozenset((CLAUSE, "i", "we", "just"))
_BETWEEN = frozenset(("or", ";", "；", "options"))
# Questions that want things to choose from, rather than a fact.
OPTIONS: PhraseTable[bool] = PhraseTable(
    as_phrases(
        "somewhere/anywhere/anything, "
        "any ideas/idea/suggestions/suggestion/options/recommendations/tips/good/nice, what about, "
        "how about, what should/could/can i/we, where should/could/can/do/would i/we, "
        "which * should/would/do i/we/you, what is there, what's there, what else, what do you have, "
        "what would you, what are my/our/the/some options/choices/best/good, what's a good, what are some, "
        "what is a good, recommend, suggest, ideas for, options for, looking for, is there a/an/any, "
        "are there any, some good, a good place, best way to, 推荐, 建议, 有什么, 有没有, 哪里可以, 哪些, 去哪, 吃什么, 怎么办"
    )
)
"""Found in a question that calls for a proposal."""

# What a step calls for, per coarse type of the step before: (act, weight), from adjacency pairs (Schegloff and Sacks 1973).
_CALLS_FOR: Mapping[str, tuple[tuple[str, float], ...]] = {
    "Ask": (("inform", 2.0),),
    "Ask for options": (("propose", 3.0),),
    "Compare": (("compare", 1.0),),
    "Decide": (("decide", 3.0),),
    "Revise": (("decide", 2.0),),
    "Propose": (("decide", 0.5),),
    "Plan": (("propose", 2.5),),
    "Request": (("decide", 0.5), ("inform", 0.5), ("propose", 0.5)),
    "Raise problem": (("propose", 0.7),),
    "Report": (("evaluate", 0.5), ("social", 0.5)),
    "Socialize": (("social", 0.5),),
}
_ARGUED: Mapping[str, tuple[tuple[str, float], ...]] = {
    "Claim": (("rebut", 1.0),),
    "Cite evidence": (("rebut", 1.0),),
    "Rebut": (("rebut", 0.5),),
    "Ask": (("inform", 1.0),),
}


# A question that wants a fact, though it names a thing that could be proposed.
FACTS: PhraseTable[bool] = PhraseTable(
    as_phrases(
        "^ do/does/did/is/are/was/were/will/has/have/can/could, how much/long/many/far/late/early/old/big, "
        "^ when, what time, how do/does, per person, worth, include/includes/included, tell me more, 多少, 多久, "
        "几点, 怎么去, 怎么过去, 要不要, 远不远, 吗"
    )
)
OFFERED = word_set(
    "Hotel Restaurant Café Bar Dish Museum Attraction Tour Show Shop Flight Transport Itinerary Celebration Product"
)
"""What one asks for in order to choose."""


def answer_bonus(
    main: str, closed: bool, asked: bool, options: bool, asks: bool, argument: bool
) -> Sequence[tuple[str, float]]:
    """What the step before speaks for.

    Args:
        main: its coarse type.
        closed: whether it took up a decision of the other, after which something new begins.
        asked: whether it ended with a question.
        options: whether that question wants things to choose from.
        asks: whether this step does: then it opens a new exchange rather than closing one.
        argument: whether this step is a speech in an argument.
    """
    if argument:
        return _ARGUED.get(main, ())
    if closed or (main == "Compare" and asked):
        return ()
    found = _CALLS_FOR.get("Ask for options" if options and main in ("Ask", "Plan", "Request") else main, ())
    if asked and main not in ("Ask", "Propose") and not options:
        found = (*found, ("inform", 1.5))
    if main == "Propose" and asked:
        found = (("decide", 0.7), ("inform", 0.7))
    return [(act, value * 0.4) for act, value in found] if asks else found


def is_argument(step: StepView, sentences: int, acts: Sequence[str]) -> bool:
    """Whether a step argues a case: a debater speaks, or a longer text is full of claims, evidence and rebuttal."""
    if _DEBATER.search(step.speaker[:100]):
        return True
    arguing = sum(act in ("claim", "evidence", "rebut") for act in acts)
    return sentences >= 4 and arguing >= max(4, sentences * 0.6)


def is_speech(tokens: Tokens) -> bool:
    """Whether a turn of an argument is a speech, which does many things, rather than a short exchange."""
    return len(tokens.questions) > 5 or len(tokens.keys) > 120


def word_count(tokens: Tokens) -> int:
    """How many words a text has, about; five Han characters are four."""
    return sum([len(key) * 4 // 5 if key > "\u3400" else key[0].isalpha() or key == NUMBER for key in tokens.keys])


def echoes(tokens: Tokens, words: frozenset[str]) -> bool:
    """Whether a short text takes up a number or a longer word of the one before: "Friday at nine, right"."""
    return any(len(key) > 4 and key in words for key in tokens.keys)


def _are_parallel(tokens: Tokens) -> bool:
    """Whether two things or more are set out alike, each with figures: "A [€80, 20 min] or B [€60, 40 min]"."""
    keys = tokens.keys
    if keys.count(NUMBER) < 4:
        return False
    units: dict[str, int] = {}
    for place, key in enumerate(keys[:-1]):
        if key == NUMBER:
            after = keys[place + 1]
            unit = after[0] if after > "\u3400" else after.rstrip("s")
            if unit not in (CLAUSE, END):
                units[unit] = units.get(unit, 0) + 1
    return sum([count >= 2 for count in units.values()]) >= 2 or max(units.values(), default=0) >= 3


def imperatives(tokens: Tokens) -> int:
    """How many sentences begin with what can only be an imperative."""
    keys, found = tokens.keys, 0
    for place, asked in zip(tokens.sentences, tokens.questions, strict=True):
        start = place
        while start + 1 < len(keys) and (keys[start] == CLAUSE or keys[start + 1] == CLAUSE):
            start += 1  # what opens a clause ("please", "and") is no verb
        if start + 1 < len(keys) and not asked and keys[start + 1] in _DETERMINERS:
            verb = keys[start]
            found += verb.isascii() and verb.isalpha() and verb not in _NO_VERB and verb[-2:] not in ("ed", "ng", "ly")
    return found


def structure(step: StepView, tokens: Tokens, prices: int, argument: bool, speech: bool) -> list[tuple[str, float]]:
    """What role, lists, prices, figures, citations and tool calls speak for: acts with weights."""
    found: list[tuple[str, float]] = []
    text = step.text[:_READ]
    sentences = max(len(tokens.questions), 1)
    if step.role == "tool":
        return [("inform", 6.0)]
    if _CALL.match(text.rsplit("\n", 1)[-1][:500]):
        found.append(("request", 4.0))
    if _MODERATOR.search(step.speaker[:100]):
        found.append(("plan", 2.0))
    if argument:
        asked = sum(tokens.questions)
        if asked >= 2 and asked >= 0.3 * sentences:
            found.append(("ask", 4.0))
        figures = tokens.keys.count(NUMBER)
        if not speech and _are_parallel(tokens):
            return [("propose", 8.0)]
        found.append(("evidence", min(figures / sentences, 2.0) * (2.0 if speech else 1.5)))
        found.append(("claim", min(sentences * 0.3, 2.0)))
        return found
    keys = tokens.keys
    if sentences <= 8 and _are_parallel(tokens):
        found.append(("propose", 2.0 if step.role == "assistant" else 4.5))
    first = [] if step.role == "assistant" else [place for place, key in enumerate(keys) if key in _FIRST_PERSON]
    told = sum([key.endswith("ed") and len(key) > 4 for place in first for key in keys[place + 1 : place + 2]])
    if told:
        found.append(("share", min(0.8 * told, 2.0)))  # "we climbed", "just finished"
    if "\n" in text and len(_LIST_LINE.findall(text)) >= 2:
        found.append(("propose" if step.role == "assistant" else "inform", 2.0))
    if step.role == "assistant":
        found.append(("inform", 0.7))
        if prices >= 2 and (sentences >= 2 or ";" in tokens.keys or "；" in tokens.keys):
            between = any(key in _BETWEEN for key in tokens.keys)
            found.append(("propose", 1.0 + 0.5 * between + 0.8 * min(prices - 2, 2)))
    return found
