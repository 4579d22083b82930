"""Further ways in which people tell of themselves in English: "I've been in Cork for years", "staying put in Leeds", "I don't do X"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .english_grammar import ADV, LEAD, PHRASE, PLACE, POINTS, VAGUE, Fact, clean, rule_set
from .people import is_name
from .sentences import Clause
from .words import NAME

__all__ = ["FURTHER_RULES"]

FURTHER_RULES, _rule = rule_set()

_BODY = r"(?:knees?|back|hips?|shoulders?|heart|ankles?|neck|wrists?|eyesight|hearing|feet|foot|elbows?|lungs|stomach|leg|hand)"
_ILL = (
    r"(?:disease|syndrome|disorder|deficiency|intolerance|apnoea|apnea|[a-z]{3,}(?:itis|osis|emia|aemia|algia|pathy))"
)
_SPAN = (
    r"(?:for\s|since\s|(?:about\s|nearly\s|almost\s|over\s)?(?:\d+|an?|two|three|four|five|six|seven|eight|nine|ten"
    r"|\w+teen|twenty)\s(?:years?|months?|decades?)\b)"
)


@_rule(
    "been staying stay stuck ended settled rent rented renting own bought home",
    rf"{LEAD}(?i:(?:I|we)(?:'ve|\shave)\s{ADV}been\s(?P<prep>in|near|outside)\s){PLACE}(?=,?\s(?i:{_SPAN}))"
    rf"|(?i:\b(?:I|we)(?:'m|'re|\sam|\sare)?\s{ADV}(?:staying put|stay put|stuck|ended up|settled down|settled|rent|renting"
    rf"|(?:rent|own|bought|have)\s(?:an?\s|our\s|my\s)(?:\w+\s)?(?:flat|house|apartment|place|cottage|room))\s(?:in|near)\s)(?P<put>{NAME})"
    rf"|(?i:\b(?:my\s)?home\s(?:for\s(?:me|us)\s)?is\s(?:now\s|in\s)*)(?P<is>{NAME})(?=$|,)"
    rf"|(?i:\b(?:I|we)\s(?:now\s)?call\s)(?P<call>{NAME})\s(?i:home)\b",
)
def _home(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    place = match["place"] or match["put"] or match["is"] or match["call"]
    if is_name(place):
        yield Fact(
            label="home",
            value=f"Lives {(match['prep'] or 'in').lower()} {place}",
            stated=place,
            clause=clause,
            slot="home_city",
            confidence=0.75,
        )


@_rule(
    "calls call knows know known",
    rf"(?i:\b(?:everyone|everybody|friends|people|colleagues|family"
    rf"|most people|they all)\s(?:just\s)?(?:calls?|knows?)\sme\s(?:as\s)?)"
    rf"(?P<name>{NAME})(?=$|[,.;!])|(?i:\bI'm\s(?:better\s|usually\s|mostly\s)?known\sas\s)(?P<known>{NAME})(?=$|[,.;!])",
)
def _known_as(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    name = match["name"] or match["known"]
    if is_name(name):
        yield Fact(label="form of address", value=f"Is called {name}", clause=clause, slot="form_of_address")


@_rule(
    "now days officially legally",
    rf"(?i:^(?:and\s|so\s)*(?:from now on|these days|officially|legally|as of (?:today|now)),?\s(?:it's|I'm|I\sam|my name is)\s)"
    rf"(?P<name>{NAME})(?=$|,)",
)
def _new_name(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if is_name(match["name"]):
        yield Fact(label="name", value=match["name"], clause=clause, slot="name", starts=True)


@_rule("sign", rf"(?i:^(?:please\s|and\s)*sign\s(?:it|this|that|off)\s(?:off\s)?(?:as\s|with\s)?)(?P<name>{NAME})$")
def _signed(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if is_name(match["name"]):
        yield Fact(label="name", value=match["name"], clause=clause, slot="name", confidence=0.7)


@_rule(
    "shift shifts nights",
    r"(?i:\b(?:I\s(?:just\s)?(?:do|work|started|am on|took on)|I'm on|I've started"
    r"|my)\s(?:the\s)?(?P<when>night|day|early|late|evening|weekend)\s?shifts?"
    r"\s(?:at|in)\s(?:an?|the)\s(?P<where>[\w-]+(?:\s[\w-]+)?)(?=$|\s(?:and|so|but|since|now)\b))",
)
def _shifts(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(
        label="work", value=f"Works {match['when'].lower()} shifts at the {match['where']}", clause=clause, starts=True
    )


@_rule(
    "knee knees back hip hips shoulder shoulders heart ankle ankles neck wrist wrists eyesight hearing feet foot elbow"
    " elbows lungs stomach leg hand",
    rf"(?i:\b(?:I'm|I\sam|I've|I\shave|I)\b[^;:]{{0,40}}?\b(?:with|got|have|having)\s(?:an?\s"
    rf"|my\s)?(?P<how>bad|dodgy|weak|poor|arthritic|gammy|replaced|slipped)"
    rf"\s(?P<part>{_BODY})\b|\bmy\s(?P<part2>{_BODY})\s(?:is|are)\s(?P<how2>bad|dodgy|weak|poor|arthritic|knackered|shot)\b)",
)
def _weak(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    how, part = (match["how"] or match["how2"]).lower(), (match["part"] or match["part2"]).lower()
    yield Fact(label="health", value=f"Has {'' if part.endswith('s') else 'a '}{how} {part}", clause=clause)


@_rule(
    "have got ive diagnosed suffer",
    rf"(?i:\bI(?:'ve|\shave|\swas|'ve been)?\s(?:just\s|been\s|got\s)*(?:diagnosed with|suffer from|suffering from)\s(?:an?\s)?)"
    rf"{PHRASE}(?=\s(?i:and|but|so|since|in|at|last|when|because)\b|\s*$)"
    rf"|(?i:\bI(?:'ve got|'ve|\shave|\shave got)\s(?:an?\s|mild\s|chronic\s|severe\s)*)(?P<named>(?:[\w'-]+\s){{0,2}}{_ILL})\b",
)
def _condition(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = clean(match["named"] or match["what"])
    if not VAGUE.match(what) and not POINTS.search(what) and len(what.split()) <= 5:
        yield Fact(label="health", value=f"Has {what}", clause=clause, confidence=0.8)


@_rule(
    "gives give makes make triggers trigger sets agree react tolerate",
    r"(?i:^(?:and\s|but\s|because\s|as\s)?(?P<what>(?!it\b|that\b|this\b|he\b|she\b|they\b|you\b|which\b)[a-z][\w-]*(?:\s[\w-]+)?)\s"
    r"(?:(?:gives?|give)\sme\s(?P<ill>hives|migraines?|a rash|heartburn|cramps|headaches?|stomach ache)"
    r"|makes?\sme\s(?P<ill2>ill|sick|sneeze|wheeze|itch|nauseous)|triggers?\smy\s(?P<ill3>\w+)|(?:doesn't|don't)\sagree\swith\sme))"
    r"|(?i:\bI\s(?:react badly to|can't tolerate|cannot tolerate|come out in hives from)\s)(?P<to>[\w-]+(?:\s[\w-]+)?)",
)
def _reacts(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = clean(match["what"] or match["to"])
    ill = match["ill"] or match["ill2"] or match["ill3"]
    if not VAGUE.match(what) and not POINTS.search(what):
        yield Fact(
            label="health",
            value=f"Does not tolerate {what}{f' ({ill})' if ill else ''}",
            clause=clause,
            confidence=0.75,
        )


@_rule(
    "do nothing no",
    r"(?i:\bI\s(?:don't|do not|never)\sdo\s(?P<what>[a-z-]+(?:\s[a-z-]+)?)$)"
    r"|(?i:^(?:and\s|but\s|please\s)*nothing\s(?:with|containing)\s(?P<with>[a-z-]+(?:\s(?:or\s)?[a-z-]+){0,2}?)(?:\sin it|\splease)?$)"
    r"|(?i:^(?:and\s|but\s)*no\s(?P<for>[a-z-]+(?:\s(?:or\s)?[a-z-]+){0,2}?)\sfor\sme(?:\splease)?$)",
)
def _without(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = clean(match["what"] or match["with"] or match["for"])
    if (
        not VAGUE.match(what)
        and not POINTS.search(what)
        and not re.match(r"(?:well|much|more|thanks|plans?|work)\b", what)
    ):
        yield Fact(label="avoids", value=f"Avoids {what}", clause=clause, confidence=0.75)


@_rule(
    "drink eat smoke cycle wear cook vape",
    r"(?i:^(?:and\s|but\s|so\s)?I\s(?P<verb>drink|eat|smoke|wear|cook)\s(?P<what>[a-z-]+(?:\s[a-z-]+){0,2}?)"
    r"\s(?:now|these days|nowadays|again)$)",
)
def _takes_now(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if not VAGUE.match(match["what"]) and not POINTS.search(match["what"]):
        yield Fact(
            label="habit", value=f"{match['verb'].capitalize()}s {match['what']} now", clause=clause, starts=True
        )


@_rule(
    "whenever time future forward on default",
    r"(?i:^(?:and\s|also\s|oh\s)*(?P<wish>[^\ue000;:!?()]{4,80}?\bplease,?\s(?:whenever|every time|each time"
    r"|any time|from now on|in future|going forward|by default)"
    r"\b[^\ue000;:!?()]{0,60})$)",
)
def _standing_wish(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="preference", value=f"Wants {clean(match['wish'])}", clause=clause, confidence=0.75)
