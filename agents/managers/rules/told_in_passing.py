"""What sentences take for granted of people and things around the user: "our cottage in Solva", "the cat, Biscuit,"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.words_english import MONTH_NAME, MONTHS, WEEKDAY_NAME
from .people import People, is_name
from .sentences import Sentence
from .told import Told
from .words import NAME

__all__ = ["told_in_passing"]

_NAME_IS = re.compile(
    rf"^(?i:(?:and|so|oh|btw)[\s,]+)?(?P<who>(?i:her|his|she|he))(?i:'s\scalled|\sis\scalled|\sname's|\sname\sis|'s\sname\sis)\s"
    rf"(?P<title>(?:Dr|Prof|Mr|Mrs|Ms|Miss)\.?\s)?(?P<name>{NAME})"
)
_MY_PLACE = re.compile(
    rf"\b(?i:my|our)\s(?P<what>(?i:(?:holiday|summer|old|second|little)\s)?(?i:cottage|cabin|caravan|allotment"
    rf"|boat|beach house|holiday home"
    rf"|office|shop|cafe|café|studio|workshop|farm|gym|church|clinic|branch|store|warehouse|chalet))\s(?P<at>in|at|near|on)\s(?:the\s)?(?P<place>{NAME})"
)
_CREATURE = re.compile(
    rf"\b(?i:the|our|my)\s(?P<animal>(?i:cat|dog|puppy|kitten|rabbit|hamster|horse|pony|parrot|budgie|tortoise)),\s(?P<name>{NAME}),"
)

_CHANGED = re.compile(
    rf"^(?i:(?:and|but|so|also|oh|btw|update|fyi|by the way|in the end|last \w+|this \w+|yesterday|today)[\s,:]+)*"
    r"(?i:we|I|they|the team|our team|(?:the )?devs|IT)(?i:'ve|\shave|\shas)?(?i:\s(?:just|finally|now|recently|also|actually|already))*"
    r"\s(?P<verb>(?i:migrated|switched|ported|upgraded|converted|moved|changed|renamed|transferred))\s(?i:over\s)?"
    rf"(?P<thing>(?i:(?:the|our|my)\s)(?:[\w&'./+-]+\s){{0,4}}?[\w&'./+-]+|{NAME})"
    r"(?:\s(?i:over|across|away))?(?:\s(?i:from)\s[\w .+-]{1,30}?)?\s(?i:to|onto)\s(?P<value>(?:[^,.;!?\n]|\.(?=\d)){2,60})"
)
_CONCRETE = re.compile(r"(?:^|\s)(?:[A-Z][\w+.-]*|\d[\w.,]*|[a-z]+[_./-]\w+)")
_NO_CHANGE = re.compile(
    r"\b(?:meeting|appointment|call|date|flight|trip|lesson|class|party|wedding|subject|mind|topic|sofa|bed|desk)\b"
    r"|^(?:it|that|this|them|him|her|us|me|you)$",
    re.IGNORECASE,
)
_A_DAY = re.compile(
    rf"\b(?:{WEEKDAY_NAME}|{MONTH_NAME}|{'|'.join(MONTHS)}|noon|\d{{1,2}}(?::\d\d|\s?[ap]m))\b",
    re.IGNORECASE,
)


def told_in_passing(sentence: Sentence, people: People) -> Iterator[Told]:
    """What a sentence takes for granted, and whose name it gives: "Her name's Dr Marchetti".

    Args:
        people: whom the conversation knows; the person so named is added.
    """
    text = sentence.text
    if (place := _MY_PLACE.search(text)) and is_name(place["place"]):
        what = place["what"].lower()
        summary = f"The user's {what} is {place['at']} {place['place']}"
        yield Told(name=what, summary=summary, start=sentence.start, end=sentence.end, confidence=0.71)
    if pet := _CREATURE.search(text):
        yield Told(
            name=pet["name"],
            summary=f"{pet['name']} is the user's {pet['animal'].lower()}",
            start=sentence.start,
            end=sentence.end,
            confidence=0.71,
        )
    changed = _CHANGED.match(text)
    if (
        changed
        and _CONCRETE.search(changed["value"])
        and not _A_DAY.search(changed["value"])
        and not _NO_CHANGE.search(changed["thing"])
        and all(clause.holds for clause in sentence.clauses)
    ):
        thing = re.sub(r"^(?:the|our|my)\s", "", changed["thing"], flags=re.IGNORECASE)
        shown = changed["thing"][:1].upper() + changed["thing"][1:]
        summary = f"{shown} was {changed['verb'].lower()} to {changed['value'].strip()}"
        yield Told(name=thing, summary=summary, start=sentence.start, end=sentence.end, confidence=0.71)
    named = _NAME_IS.match(text)
    person = (
        people.meant({"her": "she", "his": "he"}.get(named["who"].lower(), named["who"].lower()), sentence.start)
        if named
        else None
    )
    if named and person and person.relation and not person.name and not person.close and is_name(named["name"]):
        known = people.add(person.relation, named["name"])
        people.told_of(named["name"])
        yield Told(
            name=known.name,
            summary=f"{named['title'] or ''}{known.name} is the user's {known.relation}",
            start=sentence.start,
            end=sentence.end,
        )
