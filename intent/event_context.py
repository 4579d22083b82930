"""What a step does beside its words: its form, who speaks, and what the step before it calls for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .contract import StepView
from .phrases import CLAUSE, NUMBER, PhraseTable, Tokens, as_phrases, word_set

__all__ = ["OPTIONS", "answer_bonus", "is_argument", "structure"]

_DEBATER = re.compile(
    r"debat|affirmative|negative|opposition|\bpro\b|\bcon\b|proponent|opponent|advocate|plaintiff|defen[cs]e|正方|反方|辩",
    re.I,
)
_MODERATOR = re.compile(r"moderat|chair|\bhost\b|judge|facilitat|主持|主席|裁判", re.I)
_LIST_LINE = re.compile(r"^\s*(?:[-•*–—]|\d{1,2}[.)]|[a-c][.)])\s+\S", re.M)
_CALL = re.compile(r"^[A-Za-z_][\w.-]{0,60}\((?:\w+=|\{|\)).*\)?\s*$")
_READ = 20_000
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
        argument: whether this step is part of an argument.
    """
    if argument:
        return _ARGUED.get(main, ())
    if closed:
        return ()
    if main == "Compare" and asked:
        return (("compare", 3.5),)
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


def structure(step: StepView, tokens: Tokens, prices: int, argument: bool) -> list[tuple[str, float]]:
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
        found.append(("evidence", min(figures / sentences, 2.0) * 2.0))
        found.append(("claim", min(sentences * 0.3, 2.0)))
        return found
    keys = tokens.keys
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
