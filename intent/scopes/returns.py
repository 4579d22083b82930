"""Which day of the trips in hand a text speaks of when it names none: one linear model over all days.

Under one trip the same kinds of things are asked for each day, so what tells a day is what was talked about there: its
names ("does Mosaic House store bags?"), its things ("the heuriger", "the last boat"), its meals still to be filled. Each
day that has steps is a candidate, the one in hand among them; its score is a weighted sum of the features below, and
the highest score wins (a conditional logit; McFadden 1974). A switch is likely once an exchange is closed and unlikely
while an answer is awaited; an answer is weighed together with the question that it answers, since it repeats names and dates
that the question left out. The weights are learnt from written trajectories by ``scripts/learn_scope_returns.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..contract import Vectors
from .calendar import aligned
from .cues import Cues
from .identity import EMPTY_SIGNS as _EMPTY_SIGNS
from .numbers import Goal
from .places import country_words
from .registry import Key, Registry, Scope
from .return_weights import REPLY_WEIGHTS, STEP_WEIGHTS
from .return_words import CN_COMMON, COMMON
from .text import NAME, Words, stem
from .thread import Standing, Thread

__all__ = [
    "FEATURES",
    "TRIP_NAMED",
    "Candidate",
    "candidates",
    "chosen",
    "features",
    "read_standing",
    "same_elsewhere",
    "scores",
]

FEATURES: Final = (
    "name", "plain", "definite", "anchored", "common", "signs", "own_name", "own_plain", "own_signs", "cosine", "recent", "same_trip",
    "trip_named", "date_led", "date", "date_mentioned", "meal_missing", "back", "new", "whole_day", "arrives", "leaves", "lodging",
    "here", "here_asked", "here_offered", "here_confirmed", "here_short", "here_question", "here_turning", "here_anaphoric",
    "here_young", "here_repeats", "here_shares", "here_answers",
    "here_this",
)  # fmt: skip
"""Of a candidate day: what the text shares with it by kind of word, and what of that no other day has (``own``); how lately
it was left, which dates and trips the text names, whether it is a day not spoken of so far (``new``); of the day in hand
(``here``) whether the last answer asked, offered or confirmed something, and the text's form."""

_DEFINITE = re.compile(r"\b(?:the|that|our|those|this)\s+(?P<what>(?:[\w'’-]+\s+){0,2}[\w'’-]+)")
_ANCHOR = re.compile(
    r"\b(?:after|before|between|following|regarding|concerning|about|near|around|"
    r"back from|as for|once we(?:['’]re| are)? (?:done )?(?:with|at|on|in))"
    r"\s+(?:the\s+|that\s+|our\s+)?(?:st\.\s+)?(?P<what>[\w'’-]+(?:\s+[\w'’-]+){0,4})"
)
_CN_DEFINITE = re.compile(
    r"(?P<what>[\u4e00-\u9fff]{2,4})那(?:天|边|晚|里|顿|家)|那(?:家|个|座|条|艘|顿|间|趟)(?P<that>[\u4e00-\u9fff]{2,4})|"
    r"(?:关于|至于)(?P<about>[\u4e00-\u9fff]{2,4})"
)
_CN_RUN = re.compile(r"[\u3400-\u9fff]+")
_CN_HEAD = 5  # signs within which a text names what it is about
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_TURNS = re.compile(
    r"^\W*(?:(?:ok|okay|and|oh|um+|uh+|hmm*|so|sorry|right|hey|great|perfect|thanks|good|nice)\W+)*(?:also|wait|uh+|"
    r"(?:one|another|a) (?:more |other |last |small |further |quick |final )?(?:question|thing|check|point|word|more|detail)|question|"
    r"another|actually|quick|before (?:i forget|going|we)|by the way|btw|do we (?:still )?(?:need|have)|did (?:the|we|you)|"
    r"does (?:the|our)|will (?:the|our)|i have had|i(?:'ve| have) (?:just )?(?:had|heard|read|seen)|(?:going )?back to|"
    r"returning to|regarding|concerning|as for|about|for the|what about|how about)\b|^\W*(?:对了|还有|另外|问一下|再问|关于|至于|再说)"
)
_THIS = re.compile(r"\b(?:this|that|same) (?:day|morning|afternoon|evening|night)\b|这[天日]|当[天晚日]")
_WHOLE_DAY = re.compile(r"\b(?:free|full|whole|other|remaining|spare) day\b")
_ARRIVES_AT = re.compile(
    r"\b(?:when|once|after|as) (?:we|i|you) (?:arrive|land|get (?:in|there)|touch down|come in)\b|\b(?:we|i) (?:arrive|land)\b|"
    r"\b(?:on|upon|after|before|our) arrival\b|\bcheck(?:ing)?[ -]?in\b|\bfrom the (?:airport|station)\b|到达|抵达|刚到|落地|入住|接机"
)
_LEAVES_FROM = re.compile(
    r"\bcheck(?:ing)?[ -]?out\b|\b(?:flight|train|bus|way|fly|flying|drive|go|going|head|heading) (?:home|back|out)\b|\bto the airport\b|"
    r"\bbefore (?:we|i|our|my|the|heading)(?: \w+)? (?:leave|fly|flight|"
    r"train|departure|to the flight)\b|\bdepart(?:s|ure|ing)?\b|\bwheels up\b|"
    r"\b(?:souvenirs?|gifts?)\b|\b(?:leave|store|drop) (?:our |the |my )?(?:bags|luggage|suitcases)\b|\bluggage storage\b|"
    r"退房|返程|回程|去机场|到机场|送机|寄存|伴手礼|带点什么"
)
_LODGES = re.compile(
    r"\b(?:stay|staying|sleep|sleeping|hotel|hostel|room|rooms|apartment|"
    r"accommodation|lodging|inn|resort|place to stay|crib)\b|住|酒店|宾馆|客栈|民宿|房间"
)
_REPEATS = re.compile(r"\b(?:again|same|repeat\w*|as (?:on|in) (?:the )?(?:day|first|second|third))\b|一样|再去一")
_MEALS: Final = (
    ("breakfast", "brunch", "早餐", "早饭", "早点"),
    ("lunch", "luncheon", "午餐", "午饭", "中午"),
    ("dinner", "supper", "晚餐", "晚饭"),
)
_CONFIRMS = re.compile(
    r"^\W*(?:(?:great|good|perfect|wonderful|excellent|lovely|sure|ok|okay|all right|very well|so|right|fine|oh)\b\W*(?:choice|pick)?\W*)*"
    r"(?:booked|noted|reserved|done|confirmed|added|changed|moved|set|switched|requested|replaced|scheduled|swapped|cancelled|"
    r"updated|registered|ordered|it is|it's|i've|i have|i'll|you're (?:in|booked)|agreed|kept)\b|"
    r"\b(?:is|are) (?:now )?(?:booked|reserved|confirmed|noted|set|scheduled|fixed)\b|"
    r"^\W*(?:好的?|好嘞|行|明白|没问题|收到)?[,，。!！ ]*(?:已|订好|换好|改好|加好|安排好|记下|预约好|定好)"
)
_AMOUNT = re.compile(r"[€$£¥]\s?\d|\d\s?(?:€|euros?|dollars?|lira|dkk|kr|元|块|%)|\b[A-Z]{3} \d")
_ASKS = re.compile(r"[?？][\s”\"')*_]*$")
_FIRST_SENTENCES = 240  # characters of an answer in which a date is its own
_MOST_DAYS = 40  # days that are weighed against each other
_HEAD = 20  # characters of an answer in which a date is what it speaks of
_LED = 1.0  # the score from which a person's text leads to a date
_MOST = 3.0  # a feature's most: a long answer that repeats itself is one piece of evidence


@dataclass(slots=True)
class Candidate:
    """A day that a text may speak of, and its features in the order of :data:`FEATURES`.

    Attributes:
        index: of its scope; negative for a day that has none so far.
    """

    index: int
    scope: Scope | None
    root: Scope
    key: Key | None
    values: list[float]


def read_standing(text: str, *, person: bool) -> Standing:
    """What a step leaves open for the next speaker, by its first and last words.

    Args:
        person: whether a person said it, rather than an assistant.
    """
    head, tail = text[:300].lower(), text[-120:]
    confirmed = _CONFIRMS.search(head) is not None
    asked = "?" in text or "？" in text if person else _ASKS.search(tail) is not None
    offered = not confirmed and len(_AMOUNT.findall(text[:1500])) >= 2
    return Standing(asked, offered, confirmed, person)


def candidates(registry: Registry, current: Scope, words: Words, cues: Cues, *, user: bool) -> list[Candidate]:
    """The days of all trips that were spoken of, the one in hand first, then those that the text dates and nobody spoke of."""
    trips = [root for root in registry.roots if root.kind == "trip"]
    days = [current]
    for root in trips:
        if ("day", 1) not in root.children and root.steps and root is not current:
            days.append(root)  # its first day, as long as that is not told by number
        days += [day for day in root.children.values() if day is not current and day.steps]
    if len(days) > _MOST_DAYS:  # those of the trip in hand, then those opened last
        days[1:] = sorted(days[1:], key=lambda day: (day.root is not current.root, -day.index))[: _MOST_DAYS - 1]
    found = [Candidate(day.index, day, day.root, day.key, [0.0] * len(FEATURES)) for day in days]
    known = {(one.root.index, one.key) for one in found}
    trips.sort(key=lambda root: root is not current.root)
    for goal in cues.goals:
        if goal.many or goal.step or not _read(goal, user):
            continue
        for root in trips:
            key = _key(goal, root)
            if key is None or (goal.kind == "day" and root is not current.root):
                continue
            if (root.index, key) not in known:
                known.add((root.index, key))
                found.append(Candidate(-len(found), root.children.get(key), root, key, [0.0] * len(FEATURES)))
            break
    if user and _WHOLE_DAY.search(words.lower) and (root := _trip_named(words, registry) or current.root):
        told = {key for index, key in known if index == root.index}
        left = next((("day", n) for n in range(1, root.length + 1) if ("day", n) not in told), None)
        if left is not None:  # "the free day in Denmark": the one that nothing was said of
            found.append(Candidate(-len(found), root.children.get(left), root, left, [0.0] * len(FEATURES)))
    return found


def _read(goal: Goal, user: bool) -> bool:
    return user or goal.start <= _FIRST_SENTENCES


def _key(goal: Goal, root: Scope) -> Key | None:
    """The day of a trip that a weekday, a date or a number stands for; None where there is none such."""
    if goal.kind in ("weekday", "date"):
        return aligned(goal, root)
    if goal.kind != "day" or not isinstance(goal.number, int):
        return None
    number = root.length if goal.number == -1 else (root.length + 1) // 2 if goal.number == -2 else goal.number
    most = root.length or max((n for kind, n in root.children if kind == "day" and isinstance(n, int)), default=0) + 1
    return ("day", number) if 1 <= number <= most else None


def features(
    found: Sequence[Candidate],
    words: Words,
    cues: Cues,
    vector: Vectors | None,
    thread: Thread,
    registry: Registry,
    *,
    user: bool,
) -> list[Candidate]:
    """Fill in the features of each candidate day for a text.

    Args:
        found: as :func:`candidates` gives them: the day in hand first.
        user: whether it is a person's text, rather than an answer.
    """
    here, profiles = found[0], registry.profiles
    counts = [profiles.counts(one.index) if one.index >= 0 else _NO_COUNTS for one in found]
    _share(found, counts, words, registry, user=user)
    if words.has_cjk:
        _share_signs(found, counts, words)
    named = _trip_named(words, registry)
    dated = _dates(found, cues, here.root, user=user)
    meal = _meal(words)
    said = words.lower[:300]
    arrives, leaves, lodging, whole = (
        form.search(said) is not None for form in (_ARRIVES_AT, _LEAVES_FROM, _LODGES, _WHOLE_DAY)
    )
    last: dict[int, int] = {}
    for one in found:
        if one.key is not None and one.key[0] == "day" and isinstance(one.key[1], int):
            last[one.root.index] = max(last.get(one.root.index, 2), one.key[1])
    ranks: dict[int, int] = {}
    for scope in reversed(thread.history):
        if scope.index != here.index:
            ranks.setdefault(scope.index, len(ranks) + 1)
    cosines = None if vector is None else profiles.similarities(vector)
    middle = 0.0
    if cosines is not None:
        middle = sum(float(cosines[one.index]) for one in found if one.index >= 0) / sum(
            one.index >= 0 for one in found
        )
    for one, count in zip(found, counts, strict=True):
        values = one.values
        for kind in range(_OWN_SIGNS + 1):
            values[kind] = min(_MOST, values[kind])
        if cosines is not None and one.index >= 0:
            values[_COSINE] = float(cosines[one.index]) - middle
        values[_RECENT] = 1.0 / ranks[one.index] if one.index in ranks else 0.0
        values[_SAME] = float(one.root is here.root and one is not here)
        values[TRIP_NAMED] = float(one.root is named)
        values[_DATE_LED : _DATE_MENTIONED + 1] = dated.get(one.index, (0.0, 0.0, 0.0))
        values[_MEAL] = float(meal is not None and not any(word in count for word in meal))
        values[_BACK] = float(cues.back and ranks.get(one.index) == 1)
        values[_NEW] = float(one.index < 0)
        values[_WHOLE] = float(whole and one.index < 0)
        if one.key is not None and one.key[0] == "day":
            values[_ARRIVES] = float(arrives and one.key[1] == 1)
            values[_LEAVES] = float(leaves and one.key[1] == (one.root.length or last.get(one.root.index)))
            values[_LODGING] = float(lodging and one.key[1] == 1)
        elif one.key is None:
            values[_ARRIVES], values[_LODGING] = float(arrives), float(lodging)
    standing, values = thread.standing, here.values
    values[_HERE:] = [
        1.0,
        float(standing.asked and not standing.person),
        float(standing.offered),
        float(standing.confirmed),
        float((len(words.text) <= 8 if words.has_cjk else words.count <= 5) and not cues.question),
        float(cues.question or words.text.rstrip()[-1:] in "吗呢"),
        float(_TURNS.search(words.lower[:80]) is not None or cues.resume),
        float(cues.anaphoric),
        float(thread.current is not None and thread.current.steps <= 2),
        float(_REPEATS.search(words.lower[:160]) is not None),
        float(values[_NAME] + values[_PLAIN] + values[_SIGNS] > 0),
        float(user and standing.person and standing.asked),
        float(_THIS.search(words.lower[:300]) is not None),
    ]
    return list(found)


def same_elsewhere(found: Sequence[Candidate], chosen: Scope) -> list[Candidate]:
    """A day that was told by its number, and those of the same number in other trips: which trip is meant was not said."""
    return [one for one in found if one.key == chosen.key]


def _share(
    found: Sequence[Candidate], counts: Sequence[Mapping[str, int]], words: Words, registry: Registry, *, user: bool
) -> None:
    """What the text's words say for each day: the day's share of all that was said with them."""
    definite = {stem(word) for match in _DEFINITE.finditer(words.lower) for word in _WORD.findall(match["what"])}
    anchored = {stem(word) for match in _ANCHOR.finditer(words.lower) for word in _WORD.findall(match["what"])}
    towns = {stem(token) for root in registry.roots if root.kind == "trip" for token in root.tokens}
    names = registry.profiles.names
    for term, weight in words.terms.items():
        if term in towns or term[0].isdigit() or term[0] > "\u2e80":
            continue
        had = [n.get(term, 0) for n in counts]
        total = sum(had)
        if not total:
            continue
        if term in COMMON:
            kind = _OF_EACH
        elif weight >= NAME or (term in names and (term in words.initial or not user)):
            kind = _NAME
        else:
            kind = _PLAIN
        spread = sum(n > 0 for n in had)
        marked = term in definite and kind != _OF_EACH
        for one, n in zip(found, had, strict=True):
            if n:
                share = n / (total + 0.5) / spread**0.5
                one.values[kind] += share
                if marked:
                    one.values[_DEFINED] += share
                if term in anchored and kind != _OF_EACH:
                    one.values[_ANCHORED] += share
                if spread == 1 and kind != _OF_EACH:
                    one.values[_OWN_NAME if kind == _NAME else _OWN_PLAIN] += 1.0


def _share_signs(found: Sequence[Candidate], counts: Sequence[Mapping[str, int]], words: Words) -> None:
    """The same for Chinese, whose words stand unmarked: pairs of signs, and runs of them that only one day has."""
    definite: set[str] = set()
    for match in _CN_DEFINITE.finditer(words.text[:200]):
        what = match[match.lastgroup or 0]
        definite.update(what[at : at + 2] for at in range(len(what) - 1))
    owner, run = -1, 0
    sentences = _CN_RUN.findall(words.text[:400])
    for sentence in sentences:
        for at in range(len(sentence)):
            head = at <= _CN_HEAD and sentence is sentences[0]
            pair = sentence[at : at + 2]
            plain = len(pair) < 2 or pair in CN_COMMON or not _EMPTY_SIGNS.isdisjoint(pair)
            had = [0] * len(found) if plain else [n.get(pair, 0) for n in counts]
            total, spread = sum(had), sum(n > 0 for n in had)
            own = next((place for place, n in enumerate(had) if n), -1) if spread == 1 else -1
            if run and own != owner:  # a run of signs that one day alone has ends: three and more are a name
                found[owner].values[_OWN_SIGNS] += 1.0 if run >= 2 or head else 0.5
                run = 0
            owner, run = own, run + 1 if own >= 0 else 0
            for one, n in zip(found, had, strict=True):
                if n:
                    share = 0.5 * n / (total + 0.5) / spread**0.5
                    one.values[_SIGNS] += share
                    one.values[_DEFINED] += share * (pair in definite)


(_NAME, _PLAIN, _DEFINED, _ANCHORED, _OF_EACH, _SIGNS, _OWN_NAME, _OWN_PLAIN, _OWN_SIGNS, _COSINE, _RECENT, _SAME, TRIP_NAMED, _DATE_LED,
 _DATE, _DATE_MENTIONED, _MEAL, _BACK, _NEW, _WHOLE, _ARRIVES, _LEAVES,
 _LODGING, _HERE) = range(24)  # fmt: skip
_NO_COUNTS: Mapping[str, int] = {}


def scores(found: Sequence[Candidate], *, user: bool) -> dict[int, float]:
    """The score of each candidate by its index; differences are log-odds."""
    weights = STEP_WEIGHTS if user else REPLY_WEIGHTS
    return {one.index: sum(weight * value for weight, value in zip(weights, one.values, strict=True)) for one in found}


def chosen(scored: Mapping[int, float], current: Scope) -> tuple[int, float]:
    """The best candidate's index, and by how much it leads: over the day in hand, or, where that is best, over all others."""
    best = max(scored, key=lambda index: (scored[index], index == current.index, -index))
    others = [score for index, score in scored.items() if index != best]
    rival = scored[current.index] if best != current.index else max(others, default=scored[best] - 9.0)
    return best, scored[best] - rival


def _trip_named(words: Words, registry: Registry) -> Scope | None:
    """The one trip whose town or country a text names."""
    found = []
    for root in registry.roots:
        if root.kind == "trip" and root.children:
            town = bool(root.tokens) and all(token in words.tokens for token in root.tokens)
            country = not root.company.isdisjoint(words.terms) or not words.tokens.isdisjoint(
                country_words(root.tokens)
            )
            if (
                town
                or country
                or (words.has_cjk and any(name in words.text for name in root.tokens if name > "\u2e80"))
            ):
                found.append(root)
    return found[0] if len(found) == 1 and len(registry.roots) > 1 else None


def _dates(found: Sequence[Candidate], cues: Cues, here: Scope, *, user: bool) -> dict[int, tuple[float, float, float]]:
    """For each day that a text dates or numbers: whether it leads to it or begins with it, names it, mentions it only."""
    told: dict[int, float] = {}
    keyed = {(one.root.index, one.key): one.index for one in found}
    roots = {one.root.index: one.root for one in found}
    for goal in cues.goals:
        if goal.many or goal.step or not _read(goal, user):
            continue
        for index in dict.fromkeys([here.index, *roots]):
            if (day := keyed.get((index, _key(goal, roots[index])))) is not None:
                led = goal.score >= _LED if user else goal.start <= _HEAD
                told[day] = max(told.get(day, -1.0), 1.0 if led else 0.0 if goal.score >= 0 else -1.0)
                break
    share = 1.0 / max(1, len(told))
    return {day: (share * (how > 0), share * (how == 0), share * (how < 0)) for day, how in told.items()}


def _meal(words: Words) -> frozenset[str] | None:
    for meal in _MEALS:
        if not words.tokens.isdisjoint(meal[:2]) or (words.has_cjk and any(name in words.text for name in meal[1:])):
            return frozenset(meal)
    return None
