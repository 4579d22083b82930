"""One weighing of all that speaks for a scope: what it was introduced with, its number, its kin, how lately it was left.

Each kind of evidence adds log-odds; staying is the rule, and what a text shares with the current scope speaks for
staying. A text that brings names of its own and parts of several scopes together that no scope has together opens a
new one. The weights of an opening are set by hand near those of two logistic regressions on written trajectories, with
and without the words that sentences begin with, so that what a text names counts for more than how it begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ... import lazy_re as re
from .cues import Cues
from .identity import IDENTIFIER, PAIR, Features, Identities, fresh_names
from .numbers import Goal
from .registry import Registry, Scope
from .text import Words

__all__ = ["Evidence", "weigh"]

_OPENERS = (
    r"start\w*|begin\w*|introduc\w+|creat\w+|approv\w+|launch\w*|kick\w*|submit\w*|establish\w*|found(?:ed|ing)|"
    r"set(?:ting)? up|present\w*|propos\w+|announc\w+|plan|plans|planning|next|first|new|"
    r"open(?:s|ing|ed)?(?! (?:round|hour|time|question))"
)
_HEAD = re.compile(
    r"^(?:\W*(?:ok|okay|so|and|now|right|well|good|hi all|all right|team|everyone)\b)*\W*"
    r"(?:(?:let'?s|let us|we(?:'re| are|'ll| will)?|i(?:'m|'ll| am| will|'d like to| would like to)?|allow me to|permit me to|"
    r"may i|time to|here|it'?s time to|i want to|we should|can we|could we|i have|we have|(?:the|our|my)(?: \w+)?|up) )*(?:\w+ly )?"
    rf"(?:{_OPENERS}|hear us|we say|we argue|we claim|we hold|in short|our (?:\w+ )?(?:argument|point|claim|case|contention))\b"
)
_ANYWHERE = re.compile(
    rf"\b(?:{_OPENERS}|agenda|argument|argue|draft|outline|core|heart|proof|prove\w*|based on|built on|draws on|rests? on|"
    r"cent(?:re|er)s? on)\b|开始|下一|草稿|规划|计划"
)
_PARENT = re.compile(
    r"\b(?:project|programme|initiative|client|workstream|epic|motion|debate|contention|argument|this house|resolved)\b"
)
_MATTER = (
    r"(?:day|one|part|stream|work|workstream|topic|argument|question|matter|case|plan|issue|side|motion|point|dispute|clash|"
    r"plank|contention|claim|discussion|debate|conversation|thread|task|module|piece|item|subject|section|visit|outing|stretch)s?"
)
_REFERS = re.compile(
    rf"\b(?:the|our|my|this|that) (?:\w+ )?{_MATTER} (?:near|around|by|with|of|for|on|about|in|at|where|concerning|regarding|"
    rf"over|as to|proper)\b|\b(?:the|our|this|that) (?:[\w-]+ ){{1,2}}{_MATTER}\b"
    r"|\b(?:regarding|concerning|as for|as to|as regards|about|returning to|turning to|over to|back to|talking of|speak of|"
    r"within|proper|itself)\b|那[日天部]|的一天|部分"
)
_LIST = re.compile(r"(?<![\w-])[€$£¥]?\d[\d.,:]*")
_NEED, _EASED, _LISTED = 0.9, 0.7, 1.0
_NUMBERED, _OTHER_NUMBER = 1.6, 2.5
_RECENT, _KIN, _VAGUE = 0.015, 0.35, 1.3
_TORN = 0.8  # so much of what a goal's name is made of lies apart only where the goal is new
_LONG = 45
_SHORT = 30  # words in which a goal is introduced; names in longer texts tell less


@dataclass(slots=True)
class Evidence:
    """What a text says on its scope.

    Attributes:
        best: the scope other than the current one that it speaks for most.
        gain: by how much more it speaks for it than for the current one.
        need: the gain from which it is a switch.
        opening: log-odds that it opens a scope.
        formal: whether it opens it in words that are used for that, or with an identifier.
        spoken: whether it opens it in such words.
    """

    best: Scope | None
    gain: float
    need: float
    opening: float
    formal: bool
    spoken: bool


def weigh(
    words: Words, features: Features, cues: Cues, registry: Registry, current: Scope | None, history: Sequence[Scope]
) -> Evidence:
    """Weigh a person's text.

    Args:
        features: of the text.
        history: scopes of the thread in the order in which they were left, the latest last.
    """
    identities = registry.identities
    scores, known = identities.scores(features)
    goals = [goal for goal in cues.goals if goal.score >= -0.5 and not goal.many and not goal.step]
    best, gain = None, -9.0
    if scores:
        ranks: dict[int, int] = {}
        for scope in reversed(history):
            ranks.setdefault(scope.index, len(ranks) + 1)

        own = 0.0 if current is None else scores.get(current.index, 0.0) + _number(current, goals)
        value, most = -9.0, max(scores.values())
        vague = most < _VAGUE  # "the privacy argument": of which motion is not said
        least = -9.0 if goals else most - 1.0
        for index, shared in scores.items():
            scope = registry.by_index[index]
            if (shared < least and value > -9.0) or scope is current or scope.index != index or not scope.steps:
                continue
            score = shared - _RECENT * min(12, ranks.get(index, 12))
            if goals:
                score += _number(scope, goals)
            if vague and score > value - _KIN and current is not None:
                score += _KIN * identities.kinship(index, current.index)
            if score > value:
                best, value = scope, score
        gain = value - own
    need = _NEED
    if best is not None and gain >= _NEED - _EASED:  # else it is no switch either way
        need -= _EASED if _referred(words, features, identities, best) else 0.0
        need += _LISTED if len(_LIST.findall(words.text)) > 3 else 0.0  # a list of options shares words with anything
    opening, spoken, coded = _opening(words, features, identities, known - max(scores.values(), default=0.0))
    return Evidence(best, gain, need, opening, spoken or coded, spoken)


def _number(scope: Scope, goals: Sequence[Goal]) -> float:
    """What the numbers that a text names say for a scope that has a number of that kind."""
    if scope.key is None:
        return 0.0
    mine = [goal for goal in goals if scope.key[0] == goal.kind]
    return sum(_NUMBERED if scope.key[1] == goal.number else -_OTHER_NUMBER for goal in mine)


def _referred(words: Words, features: Features, identities: Identities, scope: Scope) -> bool:
    """Whether a scope is spoken of as such: "the part around the harbour", "regarding privacy"."""
    own = identities.of(scope.index)
    told = [feature for feature in features if feature in own]
    for match in _REFERS.finditer(words.lower):
        phrase = words.lower[max(0, match.start() - 24) : match.end() + 48]
        if any(feature in phrase for feature in told):
            return True
    return False


def _opening(words: Words, features: Features, identities: Identities, torn: float) -> tuple[float, bool, bool]:
    """The log-odds that a text opens a scope, and whether it does so in words that are used for that, or with an identifier.

    Args:
        torn: how much of what it shares lies in other scopes than the nearest.
    """
    fresh = fresh_names(words.text, features, identities.said)
    if not fresh and torn < 0.5:
        return -9.0, False, False
    head, anywhere = _HEAD.match(words.lower) is not None, _ANYWHERE.search(words.lower) is not None
    if words.count > _LONG and not head:
        return -9.0, False, False
    fresh = min(2.0, fresh) * min(1.0, _SHORT / max(1, words.count))
    partial = any(weight >= PAIR and identities.spread(feature) for feature, weight in features.items())
    unique = any(
        weight >= IDENTIFIER and identities.spread(feature) == 1 and not feature.isalpha()
        for feature, weight in features.items()
    )
    new_words = sum(
        weight
        for feature, weight in features.items()
        if weight < 1 and " " not in feature and feature not in identities.said
    )
    odds = (
        2.4 * min(2.5, torn)
        + 2.0 * (torn >= _TORN)
        + 3.9 * fresh
        + (1.4 * fresh if partial else 0.0)
        + 0.4 * partial
        + 1.2 * anywhere
        + 0.6 * head
        + 0.75 * min(3.0, new_words)
        + 0.04 * min(30, words.count)
        - 0.8 * unique
        - 0.4 * ("?" in words.text)
        - 7.7
    )
    coded = any(
        weight == IDENTIFIER and feature not in identities.said and not feature.isalpha()
        for feature, weight in features.items()
    )
    return odds, head or _PARENT.search(words.lower) is not None, coded
