"""Days of a trip that are told by weekday, date, arrival and departure, "tomorrow", rather than by number.

Within a trip a day is known by number, date and weekday alike; ``calendar`` counts from one to the other. A
person's word sets such a day where it leads to it or asks about it; an answer only where it says that it goes on to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ... import lazy_re as re
from .anchor import company_after
from .calendar import aligned, day_of, set_dates, tell_day
from .cues import SWITCH, Cues
from .hints import list_places, telling
from .itinerary import COMES, LEAVES, Stay, read_stays
from .named import find_named
from .numbers import MONTHS, Goal
from .places import OTHER_TRIP, country_words
from .registry import Key, Registry, Scope
from .roots import Place
from .switch import PLANNING, Switch, goal_name
from .text import Words, same_length_lower
from .thread import Thread
from .told_trips import plans_days

__all__ = ["calendar_day", "led_by_calendar"]

_NUMBERED_LED = 2  # days set by number after which a trip's days are not sought by weekday and date
_ASK, _TOLD, _NAMED = 1.0, 1.0, 0.5  # what a question, an arrival or departure, another trip's name add
_BAR = 1.0  # the score that sets a day of a known calendar
_BAR_NEW = 2.0  # the same for a weekday or date that no calendar is known for
_BAR_ANSWER = 2.0
_QUESTION = re.compile(
    r"^\W*(?:(?:and|so|but|ok|okay|wait|also|hey|then|oh|um+|uh+|hmm+|btw|sorry|right|now)\W+)*(?:do|does|did|is|are|isn't|aren't|can|could|"
    r"should|shall|will|would|what|what's|whats|where|where's|which|how|how's|when|who|any|anything)\b"
)
_SENTENCE_END = re.compile(r"[.!?;。！？；\n]+(?=\s|$|[\u3400-\u9fff])|[。！？；\n]")
_LISTED_LIKE = re.compile(
    r"\b(?:should|shall|would|'d) (?:very much |really )?like (?:the |our |my )?(?:\w+ )?(?:on )?$"
)
_TOMORROW = re.compile(
    r"(?:(?:^|[.!?;,:\n] *|\b(?:now|and|so|then|for|about|with|to|on|ok|okay)[ ,]+)(?:for )?)tomorrow\b|明天|明儿"
)
_TODAY = re.compile(
    r"(?:^|[.!?;:\n] *|\b(?:now|and|so|then|for|about)[ ,]+)(?:for )?(?:today|tonight|this (?:evening|afternoon|morning))\b|今天|今晚|今儿"
)
_THERE = re.compile(
    r"\b(?:i|we)(?:['’]ve| have|['’]re| are|['’]m| am)? (?:just |safely |finally |now )*(?:arrived|landed|checked in|got here|here now)\b|"
    r"(?:我们?)?(?:刚|已经)?(?:到|落地|抵达)了"
)
_NEXT = re.compile(
    r"^(?:\W*[\w'’]+[.!,]+(?=\s))?\W*(?:(?:and|now|so|ok|okay|then|for|on|as for|what about|how about)\W+)*"
    r"(?:the (?P<way>day (?:after|before)|morning after)\b(?! (?:tomorrow|we|i|that|yesterday)\b)"
    r"|(?:the )?(?:next|following) morning\b)"
    r"|^[^。！？]{0,10}(?:隔天|翌日|转天|(?:睡醒|醒来)(?:以后|之后|后)?)(?![^。]{0,3}(?:了|过))"
)
_DAY_AFTER = re.compile(r"^[^.?!]{0,60}\b(?:the day after that|the (?:next|following) day)\b(?! (?:we|i|or|if)\b)")
_GOES_ON = re.compile(
    r"\b(?:(?:go|move|turn|pass|come|carry|get)(?:ing)? (?:on |over )?(?:to|with)|on to|onto|that (?:leaves|"
    r"(?:would|will) leave)(?: only| just| us with| us)?|(?:propose|suggest) (?:something |an order |a plan )?for|"
    r"leaves (?:only|just|us)|now for|next (?:is|comes|up)|as for|shall we (?:do|take|plan|look at|tackle|turn to)|"
    r"(?:start|begin|continue) with|look at|what about)\W+(?:the |our |your )?$|"
    r"(?:看看|安排|来到|轮到|接着说?|接下来(?:是)?|剩下|只剩|说说|聊聊)[^，。]{0,3}$"
)
_LENGTH = re.compile(
    r"\b(?:\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)[ -](?:full |whole )?(?:days?|nights?)\b"
)
_MOVE = re.compile(r"\b(?:start|begin|commence)(?:ing)? (?:with|in|by|there|here)\b")


def led_by_calendar(root: Scope) -> bool:
    """Whether the days of a trip may be told by weekday and date: it has dates, or its days are not called by number."""
    return root.kind == "trip" and (root.dated or root.numbered < _NUMBERED_LED)


def calendar_day(
    thread: Thread, words: Words, cues: Cues, place: Place, registry: Registry, at: datetime, *, user: bool
) -> Switch | None:
    """The day of a trip that a text sets by weekday, date or in relation to another; None where it sets none.

    Args:
        at: when it is said: "tomorrow" on the way counts from there.
        user: whether it is a person's text; only that opens trips.
    """
    opened: list[Scope] = []
    stays: list[Stay] = []
    if user and not thread.introduced and thread.anchors == 0 and any(goal.dated for goal in cues.goals):
        stays = read_stays(words, cues.goals)
        opened = _open_trips(stays, thread, words, place, registry, at)
    if opened and not plans_days(words, cues, opening=True):
        for trip in opened:
            trip.told = True
        return Switch(opened[0], 0.8)
    trips = [root for root in registry.roots if root.kind == "trip" and led_by_calendar(root) and not root.told]
    if not trips or thread.introduced:
        return None
    here = opened[0] if opened else place.root
    if here is not None and here not in trips:
        here = None
    if any(goal.kind == "day" and goal.plain and goal.score >= SWITCH for goal in cues.goals):
        return None
    named = _named_trip(words, trips, here) if user else None
    found = _told(words, cues, trips, named, here, stays, opening=bool(opened), user=user)
    if found is None and user and here is not None and not opened:
        found = _related(thread, words, named or here, place.current, at)
    if found is None and opened:
        found = opened[0], ("day", 1), 0.8
    if found is None:
        return None
    trip, key, confidence = found
    scope = trip.children.get(key)
    if scope is None:
        chinese = words.has_cjk and not any(child.own.isascii() for child in trip.children.values())
        scope = registry.open("goal", goal_name(key, chinese), parent=trip, key=key)
        tell_day(scope, words.text, registry)
        trip.dated = trip.dated or key[0] != "day"
    return Switch(scope, confidence)


# ---------------------------------------------------------------- trips


def _open_trips(
    stays: Sequence[Stay], thread: Thread, words: Words, place: Place, registry: Registry, at: datetime
) -> list[Scope]:
    """Take in the stays that a text tells; returns the trips that are new, the one to begin with first."""
    if not stays:
        return []
    root = place.root if place.root is not None and place.root.kind == "trip" else None
    planned = PLANNING.search(words.lower) is not None or len(stays) > 1
    if root is None and not (thread.seen < 3 and (planned or stays[0].place)) and not (thread.answered and planned):
        return []
    opened: list[Scope] = []
    by_stay: list[tuple[Stay, Scope]] = []
    before = 0
    for stay in stays:
        begin, before = before, stay.end
        trip = _trip_of(stay, registry)
        if trip is None and not stay.place:
            named = [one for one in find_named(words) if one.kind == "trip"] if root is None else []
            if named:
                stay.place = named[0].name.removesuffix(" trip").removesuffix("之行")
                trip = _trip_of(stay, registry)
            elif root is not None:
                trip = root if len(stays) == 1 else None
            elif planned and (stay.length or _LENGTH.search(words.lower)):
                trip = registry.open("trip", "Trip", auto=True)
                opened.append(trip)
        if trip is None and stay.place and (root is None or (stay.length > 1 and planned)):
            chinese = stay.place[:1] > "\u2e80"
            own = f"{stay.place}之行" if chinese else f"{stay.place} trip"
            tokens = (stay.place,) if chinese else tuple(same_length_lower(stay.place).split(" "))
            if root is not None and root.auto and not opened:
                registry.rename(root, own, tokens=tokens)
                trip = root
            else:
                trip = registry.open("trip", own, tokens=tokens)
                opened.append(trip)
        if trip is not None and trip in opened and len(stays) > 1:
            trip.company |= _company(words, stays, stay, begin) - registry.towns
        if trip is not None:
            by_stay.append((stay, trip))
            set_dates(trip, stay, at, registry)
            list_places(_clause(words.text, stays, stay, begin), trip)
    _tell_apart(words, stays, by_stay)
    if root is None and opened:  # "…, then three days in Porto": no dates, but a stay as well
        for goal in find_named(words):
            if goal.kind == "trip" and goal.opens and goal.length > 1:
                stay = Stay(goal.name.removesuffix(" trip").removesuffix("之行"), goal.start, length=goal.length)
                if _trip_of(stay, registry) is None:
                    opened.append(registry.open("trip", goal.name, tokens=goal.tokens))
                    opened[-1].length = goal.length
    if len(opened) > 1 and (move := _MOVE.search(words.lower)):
        before_move = words.lower[: move.end() + 24]
        said = [(before_move.rfind(trip.tokens[0]), trip) for trip in opened if trip.tokens]
        first = max(said, key=lambda pair: pair[0])[1] if said else opened[0]
        if before_move.rfind(first.tokens[0]) > len(before_move) - 90:
            opened.sort(key=lambda trip: trip is not first)
    return opened


def _clause(text: str, stays: Sequence[Stay], stay: Stay, begin: int) -> str:
    """What a text says of one of its stays: up to its dates and what stands in brackets after them."""
    end = stay.end or stay.start
    if text[end : end + 2].strip().startswith(("(", "（")):
        end = max(end, text.find(")", end) + 1, text.find("）", end) + 1)
    if len(stays) == 1:
        return text[:600]
    if begin and text[begin : begin + 2].strip().startswith(("(", "（")):  # in brackets after the stay before
        begin = max(begin, text.find(")", begin) + 1, text.find("）", begin) + 1)
    return text[begin:end]


def _tell_apart(words: Words, stays: Sequence[Stay], found: Sequence[tuple[Stay, Scope]]) -> None:
    """Where several trips are told at once, keep the words that are said of each alone."""
    if len({trip.index for _, trip in found}) < 2:
        return
    begin = 0
    said: list[tuple[Scope, set[str]]] = []
    for stay, trip in found:
        clause = _clause(words.text, stays, stay, begin)
        begin += len(clause)
        said.append((trip, telling(clause)))
    for trip, terms in said:
        trip.own_words |= terms - set().union(*(other for one, other in said if one is not trip))


def _company(words: Words, stays: Sequence[Stay], stay: Stay, begin: int) -> set[str]:
    """Who goes along and what for, from a text that tells several stays: what stands around one of them in its clause."""
    if begin:
        begin = max(begin, words.text.find(",", begin, stay.start))
    later = min((one.start for one in stays if one.start > stay.start), default=len(words.text))
    ends = [at for mark in ",.;?!" if (at := words.text.find(mark, stay.end, later)) >= 0]
    return company_after(words.text, begin, min(ends, default=stay.end))


def _trip_of(stay: Stay, registry: Registry) -> Scope | None:
    if not stay.place:
        return None
    tokens = set(same_length_lower(stay.place).split(" "))
    for root in registry.roots:
        if root.kind == "trip" and (tokens & set(root.tokens) or stay.place in root.tokens):
            return root
    return None


def _named_trip(words: Words, trips: Sequence[Scope], here: Scope | None) -> Scope | None:
    """The one trip, other than the one in hand, whose town, country or month a text names."""
    found: list[Scope] = []
    for trip in trips:
        names = {*trip.tokens, *country_words(trip.tokens)}
        if not names.isdisjoint(words.tokens) or any(name[:1] > "\u2e80" and name in words.text for name in names):
            found.append(trip)
    if here in found:
        return here
    if not found and len(trips) > 1:
        found = [trip for trip in trips if trip.month and MONTHS[trip.month - 1] in words.tokens]
        if here in found:
            return here
    if not found and len(trips) == 2 and here is not None and OTHER_TRIP.search(words.lower[:300]):
        found = [trip for trip in trips if trip is not here]
    return found[0] if len(found) == 1 else None


# ---------------------------------------------------------------- days


def _told(
    words: Words,
    cues: Cues,
    trips: Sequence[Scope],
    named: Scope | None,
    here: Scope | None,
    tells: Sequence[Stay],
    *,
    opening: bool,
    user: bool,
) -> tuple[Scope, Key, float] | None:
    """The day that a weekday, a date, "arrival day" or "the last day" of a text sets: trip, key, confidence."""
    best: tuple[float, Scope, Key] | None = None
    keys: set[tuple[int, Key]] = set()
    for goal in cues.goals:
        if goal.many or goal.step or (goal.kind != "day" and not goal.dated):
            continue
        if goal.kind == "day" and goal.plain:
            continue
        if tells and _only_tells(goal, words, tells, opening=opening):
            continue
        located = _locate(goal, words, trips, named, here)
        if located is None:
            continue
        trip, key, new = located
        keys.add((trip.index, key))
        score = _score(words, goal, user=user)
        if named is not None and trip is named and trip is not here:
            score += _NAMED
        bar = _BAR_ANSWER if not user else _BAR_NEW if new else _BAR
        if score >= bar and (best is None or score > best[0] + 0.01):
            best = score, trip, key
    if best is None or (len(keys) > 2 and best[0] < _BAR + 2.0):
        return None
    return best[1], best[2], min(0.95, 0.6 + 0.1 * best[0])


def _only_tells(goal: Goal, words: Words, stays: Sequence[Stay], *, opening: bool) -> bool:
    """Whether a date only tells when a stay begins or ends."""
    if any(stay.end and stay.start <= goal.start < stay.end + 1 for stay in stays):
        return True
    before = words.lower[max(0, goal.start - 44) : goal.start]
    return opening and goal.dated and not goal.question and (COMES.search(before) or LEAVES.search(before)) is not None


def _locate(
    goal: Goal, words: Words, trips: Sequence[Scope], named: Scope | None, here: Scope | None
) -> tuple[Scope, Key, bool] | None:
    """The trip and day that a goal means; whether it would be a day of a calendar not known so far."""
    if goal.kind == "day":
        trip = named or here
        if trip is None or not isinstance(goal.number, int) or goal.number == -2:
            return None
        number = trip.length if goal.number == -1 and trip.length > 1 else goal.number
        key: Key = ("day", number)
        return trip, key, key not in trip.children and not trip.dated and number != -1
    first = [trip for trip in (named, here) if trip is not None]
    for trip in dict.fromkeys(first):
        if (found := aligned(goal, trip)) is not None:
            return trip, found, False
    others = [(trip, found) for trip in trips if trip not in first and (found := aligned(goal, trip)) is not None]
    if len(others) == 1 and (goal.kind == "date" or here is None):
        return others[0][0], others[0][1], False
    trip = named or here
    if trip is None or not isinstance(goal.number, int):
        return None
    counted = trip.weekday_one >= 0 if goal.kind == "weekday" else trip.day_one > 0 or trip.dom_one > 0
    if counted:
        return None
    key = (goal.kind, goal.number)
    return trip, key, key not in trip.children


def _score(words: Words, goal: Goal, *, user: bool) -> float:
    begin, end = 0, len(words.text)
    for match in _SENTENCE_END.finditer(words.text):
        if match.end() <= goal.start:
            begin = match.end()
        elif match.start() >= goal.end:
            end = match.start() + 1
            break
    before, sentence = words.lower[begin : goal.start], words.lower[begin:end]
    if not user:
        return 3.0 if goal.sentence <= 1 and begin < 200 and _GOES_ON.search(before) else 0.0
    score = goal.score
    if score < 0 and _LISTED_LIKE.search(before):
        score = 2.0  # "I should like Saturday to hold …"
    if score < 0:
        return score
    if goal.question or _QUESTION.match(sentence):
        score += _ASK
    if goal.kind == "day":
        score += _TOLD
    tail = words.lower[goal.end : end].strip(" .!?,;:")
    if not tail and len(before.split()) <= 4 and begin < 60:
        score = max(score, _BAR_NEW + 0.2)  # "so gifts sunday."
    return score


def _related(
    thread: Thread, words: Words, trip: Scope, current: Scope | None, at: datetime
) -> tuple[Scope, Key, float] | None:
    """The day that "tomorrow", "the day after", "we have arrived" mean, or today where a trip is under way."""
    today = day_of(at, trip)
    number = current.key[1] if current is not None and current.parent is trip and current.key is not None else None
    hand = number if isinstance(number, int) and current is not None and current.key and current.key[0] == "day" else 0
    head = words.lower[:300]
    found = 0
    if hand > 0 and _DAY_AFTER.search(head):
        found = hand + 1
    elif match := _NEXT.search(head):
        found = hand + (-1 if (match["way"] or "").endswith("before") else 1) if hand > 0 else 0
    elif _TOMORROW.search(head):
        found = today + 1 if today else hand + 1 if hand > 0 and not trip.dated else 0
    elif today and (_TODAY.search(head) or _THERE.search(head) or (thread.open and thread.seen > 2)):
        found = today
    elif _THERE.search(head) and trip.dated and thread.open:
        found = 1
    if found < 1 or (trip.length and found > trip.length):
        return None
    return trip, ("day", found), 0.75
