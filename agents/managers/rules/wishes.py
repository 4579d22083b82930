"""Standing wishes for what is suggested: "never suggest anything with peanuts", "别给我推荐带花生的"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .english_grammar import Fact, rule_set
from .sentences import Clause

__all__ = ["WISH_RULES", "WISH_RULES_ZH", "wishes_of_suggestions"]

WISH_RULES, _rule = rule_set()
WISH_RULES_ZH, _rule_zh = rule_set()

_LEAD = r"^(?i:(?:(?:so|and|but|also|then|therefore|please|from now on|in future|in the future|remember|note)[\s,:]+)*)"
_TO_OTHERS = re.compile(
    r"\bto\s(?:the\s|our\s|my\s|your\s)?(?:customers?|clients?|patients?|guests?|users?|students?|visitors?|colleagues?|staff|anyone|them|him|her)\b",
    re.IGNORECASE,
)
_SUGGEST = r"(?:suggest|recommend|propose|offer me|book me|order me|pick me)"
_ENGLISH = (
    rf"(?P<wish>(?:(?i:never|always|don't\sever|do not\sever)\s(?i:please\s)?(?i:{_SUGGEST})\s[^\ue000]{{3,120}}"
    rf"|(?i:don't|do not)\s(?i:{_SUGGEST})\s(?i:me\s)?(?:(?i:any\w*|more)\b|\w+(?:\s\w+)?s\b)[^\ue000]{{2,120}}))$"
)
_CHINESE = (
    r"^(?:所以|而且|另外|还有|请|麻烦|拜托|以后|今后|往后|从现在起|记住|千万|，|\s)*"
    r"(?P<wish>(?:永远|绝对|一律)?(?:不要|别|不许|不用|禁止)(?:再|总是?)?(?:给我|跟我|向我)?(?:推荐|建议|介绍|提议)[^\ue000，。]{2,40}"
    r"|(?:总是|一律|都要?|只)(?:给我)?(?:推荐|建议)[^\ue000，。]{2,40})$"
)
_BARE = re.compile(_LEAD + _ENGLISH)
_BARE_ZH = re.compile(_CHINESE)


def wishes_of_suggestions(text: str) -> bool:
    """Whether a clause or sentence is such a wish."""
    said = text.strip(" .!。！")
    return bool(_BARE.match(said) or _BARE_ZH.match(said)) and not _TO_OTHERS.search(said)


@_rule("suggest recommend propose offer book order pick", _LEAD + _ENGLISH)
def _wish(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    said = match["wish"].strip(" .!")
    if not _TO_OTHERS.search(said):
        yield Fact(label="answers", value=said[:1].upper() + said[1:], clause=clause, confidence=0.8)


@_rule_zh("", _CHINESE)
def _wish_zh(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="answers", value=match["wish"], clause=clause, confidence=0.8)
