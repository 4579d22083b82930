"""What sentences take for granted of people and things around the user: "our cottage in Solva", "the cat, Biscuit,"."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    named = _NAME_IS.match(text)
    person = (
        people.meant({"her": "she", "his": "he"}.get(named["who"].lower(), named["who"].lower())) if named else None
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
