"""Which day of the trips in hand a text speaks of when it names none: one linear model over all days.

Under one trip the same kinds of things are asked for each day, so what tells a day is what was talked about there: its
names ("does Mosaic House store bags?"), its things ("the heuriger", "the last boat"), its meals still to be filled. Each
day that has steps is a candidate, the one in hand among them; its score is a weighted sum of the features below, and
the highest score wins (a conditional logit; McFadden 1974). A switch is likely once an exchange is closed and unlikely
while an answer is awaited; an answer is weighed together with the question that it answers, since it repeats names and dates
that the question left out. The weights are learnt from written trajectories by ``scripts/learn_scope_returns.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..contract import Vectors
from .calendar import key_of
from .cues import Cues
from .registry import Key, Registry, Scope
from .return_candidates import FEATURES, Candidate, is_read, trip_named
from .return_forms import (
    ANCHOR,
    AND,
    ARRIVES_AT,
    BESIDE,
    CALLED_DAY,
    CN_CALLED_DAY,
    CN_DEFINITE,
    CN_HEAD,
    CN_RUN,
    DEFINITE,
    GOES_TO,
    LEAVES_FROM,
    LODGES,
    MEALS,
    ONE_MORE,
    REPEATS,
    THIS,
    TIED,
    TURNS,
    UNTOLD,
    WHOLE_DAY,
    WORD,
    YES,
)
from .return_weights import REPLY_WEIGHTS, STEP_WEIGHTS
from .return_words import COMMON, tells
from .text import NAME, Words, stem
from .thread import Thread

__all__ = [
    "FEATURES",
    "Candidate",
    "chosen",
    "features",
    "scores",
]

_HEAD = 20  # characters of an answer in which a date is what it speaks of
_LED = 1.0  # the score from which a person's text leads to a date
_MOST = 3.0  # a feature's most: a long answer that repeats itself is one piece of evidence


def features(
    found: Sequence[Candidate],
    words: Words,
    cues: Cues,
    vector: Vectors | None,
    thread: Thread,
    registry: Registry,
    ruled: Scope | None = None,
    *,
    user: bool,
) -> list[Candidate]:
    """Fill in the features of each candidate day for a text.

    Args:
        found: as :func:`candidates` gives them: the day in hand first.
        ruled: the day that rules say the text names, if any.
        user: whether it is a person's text, rather than an answer.
    """
    here, profiles = found[0], registry.profiles
    counts = [profiles.counts(one.index) if one.index >= 0 else _NO_COUNTS for one in found]
    called = _called(words) if user else _NO_TERMS
    _share(found, counts, words, registry, user=user)
    if words.has_cjk:
        _share_signs(found, counts, words)
    named = trip_named(words, registry, here.root)
    trip_words = _trip_words(found, counts, words) if len(registry.roots) > 1 else {}
    dated = _dates(found, cues, thread.current or here.root, user=user)
    _hints(found, words, called)
    meal = _meal(words)
    said = words.lower[:300]
    arrives, leaves, lodging, whole, untold = (
        form.search(said) is not None for form in (ARRIVES_AT, LEAVES_FROM, LODGES, WHOLE_DAY, UNTOLD)
    )
    last: dict[int, int] = {}
    for one in found:
        if one.key is not None and one.key[0] == "day" and isinstance(one.key[1], int):
            last[one.root.index] = max(last.get(one.root.index, 2), one.key[1])
    told_so = next((dated.get(one.index) for one in found if one.scope is ruled), None) if ruled is not None else None
    rivals = {
        one.index
        for one in found
        if told_so and dated.get(one.index) == told_so and _may_be_meant(one, ruled, trip_words)
    }
    shared = ruled is not None and len(rivals) > 1 and named is not ruled.root  # of which trip the day is was not told
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
        values[_LEFT_UNTOLD] = float(not thread.told and ranks.get(one.index) == 1)
        values[_SAME] = float(one.root is here.root and one is not here)
        values[_TRIP_NAMED] = float(one.root is named)
        values[_TRIP_WORDS] = trip_words.get(one.root.index, 0.0)
        values[_DATE_LED : _STEPPED + 1] = dated.get(one.index, (0.0, 0.0, 0.0, 0.0))
        if ruled is not None and (one.scope is ruled or (shared and one.index in rivals)):
            values[_RULED] = 0.5 if shared else 1.0
            values[_RULED_NEAR] = float(one.root is here.root and one is not here)
        if called:
            values[_CALLED] = sum(term in count for term in called) / len(called)
        values[_MEAL] = float(meal is not None and not any(word in count for word in meal))
        values[_BACK] = float(cues.back and ranks.get(one.index) == 1)
        fresh = one.scope is None or not one.scope.steps
        values[_NEW] = float(fresh)
        unbegun = fresh and one.root is not here.root and not one.root.steps and not one.root.children
        values[_NEW_TRIP] = float(unbegun and arrives)
        values[_WHOLE] = float(whole and fresh)
        values[_LEFT] = float(untold and fresh)
        if one.key is not None and one.key[0] == "day":
            values[_ARRIVES] = float(arrives and one.key[1] == 1 and not unbegun)
            values[_LEAVES] = float(leaves and one.key[1] == (one.root.length or last.get(one.root.index)))
            values[_LODGING] = float(lodging and one.key[1] == 1)
        elif one.key is None:
            values[_ARRIVES], values[_LODGING] = float(arrives), float(lodging)
    standing, values, opening = thread.standing, here.values, words.lower[:80]
    last_said = thread.local[-1][0] if thread.local else _NO_TERMS
    values[_HERE:_LEFT_UNTOLD] = [
        1.0,
        float(standing.asked and not standing.person),
        float(standing.offered),
        float(standing.confirmed),
        float((len(words.text) <= 8 if words.has_cjk else words.count <= 5) and not cues.question),
        float(cues.question or words.text.rstrip()[-1:] in "吗呢"),
        float(TURNS.search(opening) is not None),
        float(ONE_MORE.search(opening) is not None),
        float(GOES_TO.search(opening) is not None),
        float(cues.resume and AND.search(opening) is None),
        float(AND.search(opening) is not None),
        float(cues.anaphoric),
        float(thread.current is not None and thread.current.steps <= 2),
        float(ruled is None and REPEATS.search(words.lower[:160]) is not None),
        float(values[_NAME] + values[_PLAIN] + values[_SIGNS] > 0),
        float(user and standing.person and standing.asked and ruled is None),
        float(THIS.search(words.lower[:300]) is not None),
        float(TIED.search(words.lower[:200]) is not None),
        min(_MOST, float(sum(term in last_said for term in words.terms))),
        2.0 / max(2, thread.visit),
        float(thread.told),
        float(standing.asked and not standing.person and YES.search(opening) is not None),
        float(standing.recap and not last_said.isdisjoint(words.terms)),
    ]
    return list(found)


def _may_be_meant(one: Candidate, ruled: Scope | None, trip_words: Mapping[int, float]) -> bool:
    """Whether a day of another trip may be meant as well as the one that rules found.

    So it is if it was spoken of, begins its trip, or more words of the text were said of its trip alone.
    """
    if ruled is None or one.scope is ruled:
        return True
    begins = one.key == ("day", 1) and not one.root.children and not one.root.steps
    told = trip_words.get(one.root.index, 0.0) > trip_words.get(ruled.root.index, 0.0)
    return one.root is not ruled.root and (begins or told or (one.scope is not None and one.scope.steps > 0))


def _called(words: Words) -> frozenset[str]:
    """The words that a text calls a day by: "the castle day", "the night we land", "看熊猫那天"."""
    found: set[str] = set()
    for match in CALLED_DAY.finditer(words.lower[:400]):
        found.update(stem(word) for word in WORD.findall(match["what"] or match["after"]))
    if words.has_cjk:
        for match in CN_CALLED_DAY.finditer(words.text[:400]):
            found.update(match["what"][at : at + 2] for at in range(len(match["what"]) - 1))
    return frozenset(term for term in found if term in words.terms and tells(term))


def _hints(found: Sequence[Candidate], words: Words, called: frozenset[str]) -> None:
    """What was said of a day before its turn, and the text says again."""
    if not any(one.root.hints for one in found):
        return
    kept = [one.root.hints.get(one.key, _NO_COUNTS) if one.key is not None else _NO_COUNTS for one in found]
    for term in words.terms:
        total = sum(term in terms for terms in kept)
        for one, terms in zip(found, kept, strict=True):
            if term in terms:
                one.values[_HINTED] = min(_MOST, one.values[_HINTED] + (0.5 if term[0] > "\u2e80" else 1.0) / total)
                one.values[_CALLED_HINT] += (term in called) / (total * len(called)) if called else 0.0


def _trip_words(found: Sequence[Candidate], counts: Sequence[Mapping[str, int]], words: Words) -> dict[int, float]:
    """For each trip, how many of a text's words were said of it alone."""
    roots = {one.root.index: one.root for one in found}
    told: dict[int, float] = dict.fromkeys(roots, 0.0)
    if len(roots) < 2:
        return told
    for term in words.terms:
        if not tells(term):
            continue
        having = {index for index, root in roots.items() if term in root.own_words}
        having |= {one.root.index for one, count in zip(found, counts, strict=True) if term in count}
        if len(having) == 1:
            index = having.pop()
            weight = 2.0 if term in roots[index].own_words else 1.0
            told[index] = min(_MOST, told[index] + weight * (0.5 if term[0] > "\u2e80" else 1.0))
    return told


def _share(
    found: Sequence[Candidate], counts: Sequence[Mapping[str, int]], words: Words, registry: Registry, *, user: bool
) -> None:
    """What the text's words say for each day: the day's share of all that was said with them."""
    definite = {stem(word) for match in DEFINITE.finditer(words.lower) for word in WORD.findall(match["what"])}
    anchored = {stem(word) for match in ANCHOR.finditer(words.lower) for word in WORD.findall(match["what"])}
    beside = {stem(word) for match in BESIDE.finditer(words.lower) for word in WORD.findall(match["what"])}
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
                if term in beside:
                    one.values[_BESIDE] += share
                if spread == 1 and kind != _OF_EACH:
                    one.values[_OWN_NAME if kind == _NAME else _OWN_PLAIN] += 1.0


def _share_signs(found: Sequence[Candidate], counts: Sequence[Mapping[str, int]], words: Words) -> None:
    """The same for Chinese, whose words stand unmarked: pairs of signs, and runs of them that only one day has."""
    definite: set[str] = set()
    for match in CN_DEFINITE.finditer(words.text[:200]):
        what = match[match.lastgroup or 0]
        definite.update(what[at : at + 2] for at in range(len(what) - 1))
    owner, run = -1, 0
    sentences = CN_RUN.findall(words.text[:400])
    for sentence in sentences:
        for at in range(len(sentence)):
            head = at <= CN_HEAD and sentence is sentences[0]
            pair = sentence[at : at + 2]
            had = [n.get(pair, 0) for n in counts] if len(pair) > 1 and tells(pair) else [0] * len(found)
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


(
    _NAME,
    _PLAIN,
    _DEFINED,
    _ANCHORED,
    _OF_EACH,
    _SIGNS,
    _OWN_NAME,
    _OWN_PLAIN,
    _OWN_SIGNS,
    _COSINE,
    _RECENT,
    _SAME,
    _TRIP_NAMED,
    _TRIP_WORDS,
    _DATE_LED,
    _DATE,
    _DATE_MENTIONED,
    _STEPPED,
    _RULED,
    _RULED_NEAR,
    _HINTED,
    _CALLED,
    _CALLED_HINT,
    _MEAL,
    _BACK,
    _NEW,
    _NEW_TRIP,
    _WHOLE,
    _LEFT,
    _ARRIVES,
    _LEAVES,
    _LODGING,
    _HERE,
) = range(33)
_LEFT_UNTOLD, _BESIDE = FEATURES.index("left_untold"), FEATURES.index("beside")  # fmt: skip
_NO_COUNTS: Mapping[str, int] = {}
_NO_TERMS: frozenset[str] = frozenset()


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


def _dates(
    found: Sequence[Candidate], cues: Cues, here: Scope, *, user: bool
) -> dict[int, tuple[float, float, float, float]]:
    """For each day that a text dates or numbers: whether it leads to it or begins with it, names it, mentions it only, steps to it."""
    told: dict[int, float] = {}
    stepped: dict[int, float] = {}
    days: set[Key] = set()
    keyed = {(one.root.index, one.key): one.index for one in found}
    roots = {one.root.index: one.root for one in found}
    for goal in cues.goals:
        if goal.many or not is_read(goal, user):
            continue
        for index in dict.fromkeys([here.root.index, *roots]):
            key = key_of(goal, roots[index], here) if index in roots else None
            if key is not None and (day := keyed.get((index, key))) is not None:
                if goal.step:
                    stepped[day] = 1.0 if goal.score >= _LED else 0.3 if goal.score >= 0 else 0.0
                    continue
                led = goal.score >= _LED if user else goal.start <= _HEAD
                told[day] = max(told.get(day, -1.0), 1.0 if led else 0.0 if goal.score >= 0 else -1.0)
                days.add((goal.kind, goal.number))
    share = 1.0 / max(1, len(days))
    return {
        day: (
            share * (told.get(day, 0.0) > 0),
            share * (told.get(day) == 0),
            share * (told.get(day, 0.0) < 0),
            stepped.get(day, 0.0),
        )
        for day in {**told, **stepped}
    }


def _meal(words: Words) -> frozenset[str] | None:
    for meal in MEALS:
        if not words.tokens.isdisjoint(meal[:2]) or (words.has_cjk and any(name in words.text for name in meal[1:])):
            return frozenset(meal)
    return None
