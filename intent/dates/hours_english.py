"""The time of day in English: "at half past seven", "8 pm", "noon"; of a bare "at 7", what the words beside it tell."""

from __future__ import annotations

import re
from datetime import time

from hexamem.intent.dates.hours import Hour, HourWords, half_by_words, read_hour
from hexamem.intent.dates.numbers_english import ONES, number

__all__ = ["NO_HOUSE", "english_hour"]

_HOUR = rf"(?:1[0-2]|0?[1-9]|{'|'.join(ONES[:12])})"
NO_HOUSE = r"(?!\s[\w'’]+\s(?:street|st|road|rd|lane|avenue|ave|square|drive|close|court|place|way|gardens|terrace|crescent|hill)\b)"
"""After a number: it is no number of a house, "at 8 Mill Lane"."""
_CLOCK = re.compile(
    rf"\b(?P<h24>[01]?\d|2[0-3])[:h](?P<m24>[0-5]\d)(?!\d|:)(?:\s?(?P<ap24>[ap])\.?m\b)?"
    rf"|\b(?P<h12>{_HOUR})(?:[:.](?P<m12>[0-5]\d))?\s?(?P<ap>[ap])\.?m\b"
    rf"|\b(?:at\s)?(?P<part>half|quarter)\s(?:(?P<rel>past|to)\s)?(?P<hp>{_HOUR})\b"
    rf"|\b(?P<h>{_HOUR})\s(?:o['’]?clock\s?)?in\sthe\s(?P<when>morning|afternoon|evening)"
    rf"|\b(?:at|from|by)\s(?P<ha>{_HOUR})(?:\s?o['’]?clock)?\b(?![:.]\d|\s?[ap]\.?m\b|\s?(?:[-%/]"
    rf"|(?:people|percent|months|years|times|euros|dollars|pounds|kilo\w*)\b)){NO_HOUSE}"
    r"|\b(?:at\s)?(?P<word>noon|midday|midnight)\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    rf"\s?(?:to|until|till|-|–)\s?(?P<hour>{_HOUR})(?::?(?P<minute>[0-5]\d))?(?:\s?(?P<ap>[ap])\.?m)?\b(?!\s(?:minutes|hours|days))",
    re.IGNORECASE,
)
_JOINT = re.compile(r"[,;]|\s(?:and|but|then)\s", re.IGNORECASE)
_WORDS = HourWords(
    early=re.compile(r"\b(?:mornings?|breakfast|sunrise|dawn|first thing|before (?:work|school))\b", re.IGNORECASE),
    late=re.compile(r"\b(?:evenings?|afternoons?|sunset|bedtime|after (?:work|school))\b", re.IGNORECASE),
    night=re.compile(r"\b(?:night|tonight)\b", re.IGNORECASE),
    journeys=re.compile(
        r"\b(?:flights?|fl(?:y|ies|ying)|planes?|trains?|bus(?:es)?|ferry|taxi|cab|airport|station|shuttle|tak(?:es?|ing) off|boarding"
        r"|alarm|wak(?:es?|ing)|gets? up|getting up|shifts?|(?:start|starts|starting) (?:work|at my|the job)|school run)\b",
        re.IGNORECASE,
    ),
    parting=re.compile(
        r"\b(?:leav(?:es?|ing)|depart\w*|set(?:s|ting)? off|lands?|landing|arriv\w+|sail(?:s|ing)?|starts?|starting"
        r"|pick(?:s|ing)? (?:me|us|him|her|them|you) up)\b",
        re.IGNORECASE,
    ),
    evenings=re.compile(
        r"\b(?:dinners?|supper|tables?|drinks|concerts?|gig|theatre|theater|cinema|films?|movies?|pub|opera|ballet|musical|nightclub)\b",
        re.IGNORECASE,
    ),
    feasts=re.compile(r"\b(?:part(?:y|ies)|barbecue|bbq|reception)\b", re.IGNORECASE),
    noons=re.compile(r"\b(?:lunch(?:es)?|brunch)\b", re.IGNORECASE),
    work=re.compile(
        r"\b(?:dentist|doctor|doctor['’]s|gp|vet|appointments?|check-?up|hairdresser|barber|optician|physio\w*|therap(?:y|ist)|hospital|clinic"
        r"|surgery|operation|scan|x-ray|vaccination|interviews?|meetings?|demo|stand-?up|sync|review|presentation|workshop|seminar"
        r"|conference|lectures?|exams?|tests?|inspection|viewing|court|hearing|bank|lawyer|notary|accountant|office|plumber|electrician|tiler"
        r"|painter|carpenter|builders?|technician|engineer|cleaner|landlord|delivery|deliver(?:ed|s|ing)?|parcel|movers|school|nursery"
        r"|kindergarten|graduation|funeral|museum|walk|hike|tour|market)\b",
        re.IGNORECASE,
    ),
)


def _hour(text: str) -> int:
    return int(number(text))


def english_hour(text: str, around: str = "") -> Hour | None:
    """The first time of day in the text; of an hour without am or pm, the half of the day by the words beside it.

    Args:
        around: the words of the sentence that stand beside the text.
    """
    match = _CLOCK.search(text)
    if match is None:
        return None
    said = match[0].strip()
    if match["word"]:
        at = time(0 if match["word"].lower() == "midnight" else 12)
        return Hour(face=at, clock=at, sure=True, words=said)
    after = text[match.end() : match.end() + 30]
    near = _JOINT.split(after)[0]
    beside = f"{text[max(0, match.start() - 30) : match.start()]} {after}"
    around = f"{around} {text[max(0, match.start() - 30) : match.end()]}{near}"
    minute = 0
    if match["h24"]:
        hour, minute = int(match["h24"]), int(match["m24"])
        if match["ap24"]:
            return read_hour(hour % 12, minute, match["ap24"].lower() == "a", sure=True, words=said)
        if len(match["h24"]) == 2 or not hour:
            return read_hour(hour, minute, hour < 12, sure=not 10 <= hour <= 12, words=said)
        # "7:30" is told by the 24 hours, unless the words tell of an evening.
        morning, told = half_by_words(hour, beside, around, _WORDS) if hour >= 6 else (None, False)
        return read_hour(hour, minute, morning is not False, sure=told, words=said)
    if match["h12"]:
        return read_hour(_hour(match["h12"]), int(match["m12"] or 0), match["ap"].lower() == "a", sure=True, words=said)
    if match["h"]:
        return read_hour(_hour(match["h"]), 0, match["when"].lower() == "morning", sure=True, words=said)
    if match["part"]:
        hour, minute = _hour(match["hp"]), 30 if match["part"].lower() == "half" else 15
        if match["part"].lower() == "quarter" and not match["rel"]:
            return None
        if (match["rel"] or "").lower() == "to":
            hour, minute = (hour - 1) or 12, 60 - minute
    else:
        hour = _hour(match["ha"])
    ended = _by_end(hour, text, match, around) if match["ha"] else None
    morning, told = (ended, True) if ended is not None else half_by_words(hour, beside, around, _WORDS)
    return read_hour(hour, minute, morning, sure=told, words=said)


def _by_end(hour: int, text: str, begin: re.Match[str], around: str) -> bool | None:
    """Whether an hour is one of the morning by that at which it ends: "from 7 to 9 pm", "from 9 to 5"."""
    until = _UNTIL.match(text, begin.end()) if begin[0][:4].lower() == "from" else None
    if until is None:
        return None
    end = _hour(until["hour"]) % 12
    if until["ap"]:
        same = hour % 12 < end
        return same if until["ap"].lower() == "a" else not same
    if _WORDS.evenings.search(around) or (hour > 9 and _WORDS.journeys.search(around)):
        return None  # "a shift from ten to six" may be one of the night
    return True if 7 <= hour <= 11 and end <= 6 else None
