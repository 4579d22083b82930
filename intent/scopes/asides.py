"""Whether what a person says serves no trip: everyday matters that come up while a trip is the latest subject.

A trip is sticky: dinner, a walk, the weather are all part of it. What is none of its business has no word of travel in
it, no name of the trip, no word of what was said just now, and does not answer a question. Where the trip's days are
being planned, it must moreover be told as a matter of one's own.
"""

from __future__ import annotations

from ... import lazy_re as re
from ..entity_patterns import GAZETTEER
from ..phrases.tokens import tokenize, word_set
from ..references.cues import PERSON_NOUNS
from .cues import Cues
from .registry import Registry, Scope
from .sessions import ELSEWHERE, topic_sharing_most
from .switch import PLANNING
from .text import NAME, Words
from .thread import Thread

__all__ = ["dates_no_trip", "is_aside", "resumes_trip", "tells_own"]

_NOT_OF_TRIPS = word_set(
    "Family Friend Person Team Client Company Source Statistic Society Health Pet School Music Job Home Preference Risk Date Time "
    "Duration Technology Code Bug Task Report Document Book Film Game Art Hobby Study Course Exam Policy Law Education "
    "Meeting Milestone Project Release Test Feature Argument Government Economy Environment Deadline Goal Status Feeling Priority "
    "Percentage Price Money Quantity Email Phone URL Version Access"
)
"""Types of things that are spoken of in any talk."""
_TRAVELS = re.compile(
    r"\b(?:arriv|land(?:s|ing)?\b|depart|check(?:ing|ed)?[ -](?:in|out)|luggage|suitcase|pack(?:ing|ed)?\b|passport|visa\b|airport|station|"
    r"walk|hik|swim|sail|boat|coast|sunset|sunrise|sightsee|tour|view|ride|climb|driv|picnic|breakfast|lunch|dinner|brunch|eat\b|drink|"
    r"wine|beer|rest\b|sleep in|itinerary|route|map\b|weather|rain|umbrella|souvenir|gift)|"
    r"飞|[火汽]车|开车|打车|坐车|船|票|逛|玩|景[点区]|天气|行李|餐|吃饭|小吃|好吃|吃点|吃什么|吃个|酒店|民宿|山|湖|寺|古城|路线|机场|高铁|锅|茶馆|酒吧"
)
_PART_OF_DAY = re.compile(r"\b(?:morning|afternoon|evening|night)s?\b|早上|上午|中午|下午|晚上")
_OWN = re.compile(
    r"\b(?:my|her|his) (?!sister and\b|brother and\b|parents\b|wife and\b|husband and\b|friends?\b|budget\b|flight\b|trip\b)[a-z]+|"
    r"\b(?:remember|note|remind me|keep in mind) (?:that|to)\b|"
    r"\b(?:the|our) [a-z-]+(?: [a-z-]+)? (?:is|are|was|were|has|have|leaks?|broke|wants?|comes?|says?)\b|"
    r"我(?:妈|爸|家|的|儿|女)|家里|请记住|提醒我|[爸妈哥弟姐妹婆公]的"
)
_COMPANY = PERSON_NOUNS.keys() | word_set("colleagues kids children parents kid partner group team godson guests")
_WHOSE = re.compile(r"\b(?:my|our|her|his) ([a-z]+)")
_KIN = re.compile(r"我[爸妈儿女]|[爸妈哥弟姐妹婆公](?!的)")
_WE = re.compile(r"\b(?:we|us)\b|我们")
_LEAST_TERMS = 3
_MOST_WORDS = 60


def trip_signs(words: Words, registry: Registry) -> int:
    """How much in a text is of a trip: words and things of travel, a plan, the name of a trip."""
    types = {match.payload for match in GAZETTEER.find(tokenize(words.text), overlapping=False) if match.payload}
    return travel_words(words, registry) + len(types - _NOT_OF_TRIPS)


def travel_words(words: Words, registry: Registry) -> int:
    """How often a text speaks of travelling, of a plan, of a trip by its name; that counts twice."""
    signs = len(_TRAVELS.findall(words.lower)) + (PLANNING.search(words.lower) is not None)
    signs += 2 * (not registry.towns.isdisjoint(words.tokens))
    if words.has_cjk:
        signs += 2 * any(name in words.text for name, scope in registry.cjk_names if scope.kind == "trip")
    return signs


def dates_no_trip(thread: Thread, words: Words, cues: Cues, registry: Registry) -> bool:
    """Whether the weekdays of a text are said where no trip is the subject, and not of one."""
    current = thread.current
    if current is None or current.root.kind != "topic" or thread.introduced:
        return False
    return any(goal.dated for goal in cues.goals) and not trip_signs(words, registry)


def tells_own(words: Words) -> bool:
    """Whether a text tells a matter of one's own ("My dog has to …", "Remember that …") rather than asks for something."""
    return _OWN.search(words.lower) is not None and "?" not in words.text and "？" not in words.text


def is_aside(thread: Thread, words: Words, cues: Cues, registry: Registry) -> bool:
    """Whether a person's text, said to an assistant where a trip is the subject, is about something else.

    Args:
        thread: where it is said.
        words: the text's words.
        cues: what it says about its goal.
        registry: the user's scopes.
    """
    current = thread.current
    if current is None or current.root.kind != "trip" or thread.introduced or thread.anchors or not thread.answered:
        return False
    trip = current.root
    if any(goal.plain or not goal.dated for goal in cues.goals) or cues.back or cues.target:
        return False
    if _is_elsewhere(thread, words, cues, registry, trip):
        return True
    if cues.yes:
        return False
    if words.count > _MOST_WORDS or len(words.terms) < _LEAST_TERMS + (3 if words.has_cjk else 0):
        return False
    standing = thread.standing
    if not cues.shift and (cues.anaphoric or ((standing.asked or standing.offered) and not standing.person)):
        return False
    planned = trip.length > 1 or trip.numbered > 0 or trip.day_one > 0
    planned = planned or any(child.steps for child in trip.children.values())
    if cues.question and not cues.shift and _WE.search(words.lower):
        return False  # what "we" ask about is the trip
    if planned and not (cues.shift or _OWN.search(words.lower)):
        return False
    if planned and not cues.shift and (_KIN.search(words.text) or not _COMPANY.isdisjoint(_WHOSE.findall(words.lower))):
        return False  # who goes along is a matter of the trip
    if planned and _PART_OF_DAY.search(words.lower):
        return False
    shared = len(thread.said() & words.terms.keys())
    chance = 1 if words.has_cjk else 0  # two signs side by side are often no word
    if shared > max(chance, cues.shift) or trip_signs(words, registry):
        return False
    said = [registry.profiles.counts(scope.index) for scope in (trip, *trip.children.values())]
    least = 0.0 if planned else 1.0  # where days are planned, any word that was said of them will do
    known = [term for term, weight in words.terms.items() if weight > least and any(term in counts for counts in said)]
    return len(known) <= (chance if not cues.shift else 0)


def _is_elsewhere(thread: Thread, words: Words, cues: Cues, registry: Registry, trip: Scope) -> bool:
    """Whether a text has nothing of a trip but what other topics of the user have, or comes long after it."""
    if not words.terms or travel_words(words, registry) or not thread.said().isdisjoint(words.terms):
        return False
    standing = thread.standing
    if not thread.rested and (cues.anaphoric or ((standing.asked or standing.offered) and not standing.person)):
        return False
    profiles = registry.profiles
    said = [profiles.counts(scope.index) for scope in (trip, *trip.children.values())]
    if any(term in counts for counts in said for term in words.terms):
        return False
    signs = trip_signs(words, registry)
    if thread.rested and not signs and len(words.terms) >= _LEAST_TERMS:
        return True
    topic, share = topic_sharing_most(registry, words)
    if topic is None:
        return False
    names = [term for term, weight in words.terms.items() if weight >= NAME or term in profiles.names]
    if signs <= 1 and any(term in profiles.counts(topic.index) for term in names):
        return True
    return not signs and share >= ELSEWHERE


def resumes_trip(thread: Thread, words: Words, cues: Cues, registry: Registry) -> bool:
    """Whether a person's text goes on with the trip that an aside had left, without naming it."""
    if words.count > _MOST_WORDS or cues.shift or cues.back or cues.anaphoric or tells_own(words):
        return False
    return trip_signs(words, registry) >= 2 and thread.said().isdisjoint(words.terms)
