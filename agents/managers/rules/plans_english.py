"""What the user wants to come to, in English: "I want to learn Portuguese", "I plan to retire at sixty"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .english_grammar import LANGUAGES, Fact, rule_set
from .plain_english import CASED, COUNT, REST, SUBJECT, lasting, put
from .sentences import Clause

__all__ = ["BY_WHEN", "PLAN_RULES"]

PLAN_RULES, _rule = rule_set()

BY_WHEN = (
    rf"(?i:\s(?:this|next)\s(?:year|summer|spring|autumn|fall|winter)|\s(?:one day|some day|before (?:I|we) (?:die"
    rf"|turn \w+|retire)|in the next {COUNT} years?|in {COUNT} years?|in (?:(?:the\s)?\w+\s)?20\d\d|by the end of"
    rf" (?:the|next) year|in retirement|when I retire|at (?:\d\d|fifty|fifty-five|sixty|sixty-five|seventy)|before"
    rf" (?:I'm|I am) \w+))"
)
_AIM = (
    r"(?:(?:(?:really|also|always|eventually|ultimately|both|actually|definitely)\s)*(?:want|plan|intend|aim|mean"
    r"|have decided|decided|'ve decided|have always wanted|'ve always wanted|'ve been wanting|have been"
    r" wanting|'ve been meaning|have been planning|'ve been planning)\sto|(?:'m|\sam|'re|\sare)\s(?:(?:also"
    r"|actually|really|currently|definitely|now|both)\s)*(?:planning|hoping|determined|aiming|going)\s(?:to|on))"
)
_LANGUAGE = rf"(?:{LANGUAGES}|(?i:(?:\w+\s)?sign language|a (?:new|second|third|foreign) language))"
_GOAL = (
    rf"(?:learn\s(?:to\s(?:play|speak|drive|swim|sail|ski|fly|knit|cook|sew|surf|dance|ride|code|program|paint"
    rf"|draw|sing|dive|read music|weld)\b[\w' ]{{0,30}}?|how to (?:drive|swim|sail|ski|code|cook|sew"
    rf"|play)\b[\w' ]{{0,25}}?|{_LANGUAGE}|the (?:piano|guitar|violin|cello|drums|saxophone|flute|harp"
    rf"|ukulele))"
    rf"|retire(?:\searly)?|become\s(?:an?\s)(?:[\w-]+\s){{0,2}}[\w-]+|move\s(?:to\s{CASED}|abroad|to the"
    rf" (?:countryside|coast|city|seaside)|back to\s{CASED}|out of {CASED}|into a (?:bigger|smaller|new) \w+"
    rf"|house)|emigrate(?: to {CASED})?|write a (?:[\w-]+\s)?(?:book|novel|memoir|screenplay|cookbook)"
    rf"|run\s(?:a|the|my first|an?|another)\s(?:[\w-]+\s)?(?:marathon|half[- ]marathon|ultra\w*|10k|triathlon)"
    rf"|(?:open|start|set up|launch)\s(?:my|our|an?)\s(?:own\s)?(?:[\w-]+\s){{0,2}}?(?:business|company"
    rf"|restaurant|caf[eé]|shop|bakery|family|practice|podcast|charity|farm|studio|band|b&b|bookshop)"
    rf"|(?:go back to|go to)\s(?:university|uni|college|school|art school|medical school|law school|night"
    rf" school|grad school)|(?:buy|build|renovate|restore|sell|do up)\s(?:an?|our|my|the)\s(?:own\s|first\s"
    rf"|old\s|new\s|bigger\s|smaller\s)?(?:[\w-]+\s)?(?:house|flat|apartment|home|cottage|camper van|van|boat"
    rf"|kitchen|bathroom|loft|attic|farm|farmhouse|barn|garden|caravan|motorhome)|have\s(?:kids|children|a"
    rf" (?:baby|family|big family|second child|third child))|adopt\s(?:an?\s(?:child|dog|cat|puppy|kitten"
    rf"|greyhound|baby))|get\s(?:married|an?\s(?:dog|cat|puppy|kitten|tattoo|pilot's licence|driving licence"
    rf"|master's|phd|degree|promotion))|quit smoking|give up (?:smoking|alcohol|meat|sugar|drinking)|stop"
    rf" smoking|stop drinking|lose\s(?:{COUNT}|\d+)\s?(?:kilos?|kg|pounds|stone|lbs)|(?:study|do|train as|train"
    rf" to be|qualify as|retrain as)\s(?:an?\s)?(?:phd|master's|masters|law|medicine|nursing|architecture"
    rf"|psychology|[\w-]+(?:er|ist|or|ian|nurse))"
    rf"|climb\s(?:the\s)?{CASED}|(?:cycle|walk|hike|travel|sail|drive|backpack)\s(?:around|across|through|along"
    rf"|the length of|to)\s(?:the\s)?(?:world|country|{CASED})|walk the {CASED}|visit\s(?:{CASED}|every \w+(?:"
    rf" \w+)?)|see the (?:northern lights|pyramids|great wall|grand canyon)|live (?:abroad|in {CASED}|by the"
    rf" sea|off-grid|off the grid|in the countryside|on a boat|on a farm)|pass\s(?:my|the)\s(?:driving test"
    rf"|{CASED}|\w+ exam)|work (?:abroad|in {CASED}|part-time|for myself)|go freelance|go part-time|change"
    rf" (?:careers?|jobs?)|semi-retire|sail around the world|volunteer abroad|take a (?:gap year|sabbatical"
    rf"|career break|year off)|save (?:up )?for a {REST}{{3,30}}?|pay off\s(?:my|our)\s{REST}{{3,30}}?|compete"
    rf" in\s{REST}{{3,40}}?|publish\s(?:my|an?)\s{REST}{{3,30}}?)"
)


@_rule(
    "want plan intend aim mean wanting meaning planning hoping determined aiming going decided wanted",
    rf"{SUBJECT}(?:\s|(?='))(?P<aim>(?i:{_AIM}))\s(?P<goal>(?i:{_GOAL}))(?P<when>(?:{BY_WHEN}|\s(?i:with|for|in"
    rf"|by|near|on)\s{REST}{{2,40}}){{0,2}})$",
)
def _wants(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    aim = match["aim"].strip().lower()
    if "going" in aim and re.match(r"(?:visit|see|pass|get|go|do|run|learn how)\b", match["goal"], re.IGNORECASE):
        return  # an errand, or an event that has a day
    shown = (
        "plans to"
        if re.search(r"plan|intend|aim|going|decided|determined", aim)
        else "hopes to"
        if "hop" in aim
        else "has always wanted to"
        if "always wanted" in aim
        else "wants to"
    )
    yield lasting(clause, "goal", put(shown, f"{match['goal']}{match['when']}"))


_UNSAID = re.compile(
    r"\b(?:best|difference|impact|happy|better person|something|things?|everyone|people happy|best version|fun"
    r"|enjoy|survive)\b",
    re.IGNORECASE,
)


@_rule(
    "goal dream ambition aim",
    rf"(?i:^(?:(?:and|but|so|also|well)[\s,]+)*my\s(?:(?:big|main|biggest|lifelong|long-term|current|ultimate"
    rf"|personal|life)\s)*(?P<what>goal|dream|ambition|aim)(?:\s(?:for (?:this|next) year|for 20\d\d|in"
    rf" life))?\s(?:is|has always been)\sto\s)(?P<goal>[a-z]+\s{REST}{{3,80}})(?P<when>)$",
)
def _dreams(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if _UNSAID.search(match["goal"]):
        return
    yield lasting(clause, "goal", put("wants to", f"{match['goal']}{match['when']}"))
