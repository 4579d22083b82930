"""A question taken apart by rules, in English and Chinese: what one search finds badly, several find well.

Parts are made of what the wording itself joins: several questions in one sentence, two things compared, two people
asked about, a thing told by what happened to it ("the aunt who moved to Lyon"), and an event that another is dated by.
A question that joins nothing has no parts. A second round asks with the names that the first one found.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .. import lazy_re as re

__all__ = ["MOST_PARTS", "bridge_question", "parts_of"]

MOST_PARTS = 4
"""Searches that a question is taken apart into, at most."""
_LONGEST = 600
_NEARLY = 0.85
_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_ASKS = r"(?:what|which|who|whom|whose|when|where|why|how|did|does|is|was|were|are)"
_SEVERAL = re.compile(
    rf"[?？;；]\s*|,?\s+(?:and|but|or)\s+(?=(?:(?:in|on|at|to|for|from|by|with|of)\s+)?{_ASKS}\b)"
    rf"|,\s*(?={_ASKS}\b)|[，,、](?=[^，,、]{{0,8}}(?:什么|哪|谁|怎么|多少|几))|(?<=[\u4e00-\u9fff])(?:和|以及|还有)(?=[^，]{{0,6}}(?:什么|哪|谁|多少|几))",
    re.IGNORECASE,
)
_THAN = re.compile(r"\s+(?:than|compared (?:with|to)|as against|rather than)\s+", re.IGNORECASE)
_MORE = re.compile(
    r"\b(?:how much|how many|by how much)\b|\b(?:more|less|fewer|longer|shorter|higher|lower|earlier|later)\b", re.I
)
_BETWEEN = re.compile(r"\bbetween\s+(.{3,80}?)\s+and\s+(.{3,80}?)(?=[?,.]|$)", re.IGNORECASE)
_HAN_THAN = re.compile(r"^(?P<one>[^，,]{2,30}?)比(?P<other>[^，,]{2,30}?)(?=[多少高低早晚快慢贵便长短大小]|，|,)")
_HAN_FROM = re.compile(r"从(?P<one>[^，,到]{2,24})到(?P<other>[^，,]{2,24})")
_TOLD = re.compile(
    r"\b(?P<head>(?:the|a|an|his|her|their|its|whose|[A-Z][\w'’]+['’]s)\s+(?:[\w'’-]+\s+){0,2}?[\w'’-]+)\s+"
    r"(?P<clause>(?:who|that|which|whom|where)(?:\s+[\w'’-]+){2,9}?)"
    r"(?=\s+(?:do|does|did|is|are|was|were|has|have|had|will|would|can|could|should)\b|\s*[?,.;]|$)",
)
_SOME_WORDS = r"[\w'’-]++(?:[ ,]++[\w'’-]++){0,11}"  # no word can be read as two, or a long one would take for ever
_DATED = re.compile(
    r"\b(?:before|after|when|while|since|until|once|by the time)\s+(?=[\w'’ ,-]{3})"
    rf"(?P<event>{_SOME_WORDS}?[ ,]*(?=[?.;]|$)|{_SOME_WORDS}(?=,))",
    re.I,
)
_HAN_DATED = re.compile(r"^(?P<event>[^，,？?]{3,24}?)(?:之前|之后|以前|以后|的时候|期间|那天|那次)")
_POINTS = re.compile(r"\b(?:it|its|they|them|their|he|him|his|she|her|that|this|those|these|one)\b", re.IGNORECASE)
_JOINED = re.compile(r"(?P<one>[\w'’-]+)\s+(?:and|or)\s+(?P<other>[\w'’-]+)")
_BOTH = re.compile(r"\b(?:both|each|together|in common|share[sd]?|either|respectively)\b|都|各自?|分别|共同", re.I)
_HAN_ASKS = re.compile(r"为什么|什么时候|什么|怎么样?|多少|哪[里儿些个天]|几|谁|依据|吗|呢|是|的|了|[，。？、\s]")
_EMPTY_WORDS = """
a an the of to in on at for and or is are was were be been do does did has have had by with from as than that this these
those it its he she they his her their who which what when where why how much many more less
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_NAME = re.compile(
    r"(?<![.!?…:\n] )(?<![.!?…:\n])(?<!^)\b[A-Z][a-zà-ÿ]{2,}(?:\s+[A-Z][a-zà-ÿ]{2,})?|《[^》]{1,20}》|“[^”]{2,20}”"
)
_COMMON_NAMES = """
I I'm I'll I've Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July August
September October November December
"""
_COMMON = frozenset(_COMMON_NAMES.split())


def parts_of(question: str, named: Sequence[str] = ()) -> tuple[str, ...]:
    """The sub-questions of a question, each a text to search with; empty where it has none.

    Args:
        question: in English, Chinese or both.
        named: the names of the speakers that it names, as they stand in it.
    """
    text = " ".join(question[:_LONGEST].split())
    found: list[str] = [*_several(text), *_compared(text), *_of_each(text, named), *_told(text), *_dated(text)]
    whole = _words(text)
    kept: dict[frozenset[str], str] = {}
    for one in found:
        words = _words(one)
        # A part that says nearly all of the question is the question.
        if _told_by(one) and words and not len(words & whole) > _NEARLY * len(whole):
            kept.setdefault(frozenset(words), " ".join(one.split()).strip(" ,，、?？。"))
    return tuple(kept.values())[:MOST_PARTS]


def bridge_question(question: str, texts: Sequence[str], known: Collection[str] = (), most: int = 4) -> str | None:
    """The question of a second round: the first one with the names that its best finds hold and it lacks.

    Args:
        texts: what the best finds of the first round say.
        known: names that tell nothing new, such as those of the speakers.

    Returns:
        None where the finds name nothing new.
    """
    lowered = question.casefold()
    away = {one.casefold() for one in known}
    found: dict[str, int] = {}
    for text in texts:
        for name in {match.group().strip("《》“”") for match in _NAME.finditer(text[:2_000])}:
            if name in _COMMON or name.casefold() in lowered or any(one in away for one in name.casefold().split()):
                continue
            found[name] = found.get(name, 0) + 1
    names = sorted(found, key=lambda one: -found[one])[:most]
    return f"{question} {' '.join(names)}" if names else None


def _told_by(part: str) -> bool:
    """Whether a part says anything but that it asks."""
    return not _HAN.search(part) or len(_HAN_ASKS.sub("", part)) > 2


def _words(text: str) -> set[str]:
    found: set[str] = set()
    for match in _WORD.finditer(text.casefold()):
        word = match.group()
        if _HAN.search(word):
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
        elif word not in _EMPTY:
            found.add(word)
    return found


def _several(text: str) -> list[str]:
    parts = [one.strip(" ,，") for one in _SEVERAL.split(text) if one and _words(one)]
    if len(parts) < 2:
        return []
    # "…, and how much did it cost?" is about what the first part is about.
    subject = parts[0]
    return [parts[0], *(f"{one} {subject}" if _POINTS.search(one) else one for one in parts[1:])]


def _compared(text: str) -> list[str]:
    found: list[str] = []
    if (match := _HAN_THAN.search(text)) is not None:
        found += [match["one"], match["other"] + text[match.end() :]]
    if (match := _HAN_FROM.search(text)) is not None:
        found += [match["one"], match["other"]]
    if _MORE.search(text) and len(halves := _THAN.split(text, maxsplit=1)) == 2:
        found += [_MORE.sub(" ", halves[0]), halves[1]]
    if (match := _BETWEEN.search(text)) is not None:
        found += [match[1], match[2]]
    return found


def _of_each(text: str, named: Sequence[str]) -> list[str]:
    """One part for each of several people or things of whom the same is asked."""
    names = list(dict.fromkeys(named))
    if len(names) > 1:
        return [_without(text, [other for other in names if other != one]) for one in names[:MOST_PARTS]]
    if _BOTH.search(text) and (match := _JOINED.search(text)) is not None:
        one, other = match["one"], match["other"]
        if one.casefold() not in _EMPTY and other.casefold() not in _EMPTY:
            return [text.replace(match.group(), one), text.replace(match.group(), other)]
    return []


def _without(text: str, names: Sequence[str]) -> str:
    for name in names:
        mark = re.escape(name)
        pattern = mark if _HAN.search(name) else rf"(?:\band\s+)?\b{mark}\b(?:['’]s)?(?:\s+and\b)?"
        text = re.sub(pattern, " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def _told(text: str) -> list[str]:
    return [f"{match['head']} {match['clause']}" for match in _TOLD.finditer(text)][:2]


def _dated(text: str) -> list[str]:
    told = [match["event"] for match in _DATED.finditer(text) if match.start() > 0]
    found = [one for one in told if len(_words(one)) > 1][:1]
    if (match := _HAN_DATED.search(text)) is not None:
        found.append(match["event"])
    rest = [_DATED.sub(" ", text)] if found and match is None and len(_words(_DATED.sub(" ", text))) >= 2 else []
    return [*found, *rest]
