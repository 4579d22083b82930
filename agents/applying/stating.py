"""Whether an item states just what is said to be so no more: that, and at most when or how much of it."""

from __future__ import annotations

from ... import lazy_re as re
from ...intent.dates.hours_chinese import CLOCK_ZH
from .likeness import telling_words

__all__ = ["ANY_VERB", "HAN_SIGN", "denies", "opposite", "states"]

ANY_VERB = "~ "
"""At the beginning of a statement: that it may be told with any verb, ``~ yoga on Tuesdays`` by ``Has yoga on Tuesdays``."""
_ASIDE = re.compile(r"\s?[（(][^（）()]*[）)]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
HAN_SIGN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_HOW_OFTEN = frozenset(
    {
        "every", "each", "on", "in", "at", "twice", "once", "three", "daily", "weekly", "monthly", "for", "since", "before", "after",
        "during", "most", "a", "with", "several", "regularly", "often", "when", "called", "named",
    }
)  # fmt: skip
"""Words with which what is said beyond a statement tells when, how often or how."""
_AMOUNT = re.compile(
    r"every|each|\d+(?:[.,]\d+)?|mg|ml|g|mcg|of|a|an|two|three|one|half|lot|cup|cups|tablet|tablets|pills?|drops?"
    # and of hours
    r"|\d{1,2}[ap]m|[ap]m|o['’]clock|noon|quarter|past|four|five|six|seven|eight|nine|ten|eleven|twelve"
)
_OFTEN_ZH = re.compile(
    r"(?:每(?:天|晚|早|周|月|年|个?(?:星期|礼拜|周末|月))?[一二三四五六日天末]?|平时|平常|一般|通常|经常|总是|早上|晚上|上午|下午|中午|早晚|都|也|还|正|在|现在|已经|习惯|常|会|要|去|很)*"
)
_PLAIN_ZH = re.compile(r"[\s，。！、；：]|^我们?的?|了$|今年|现在")
_LETTER = re.compile(r"[B-HJ-Z]")
_DOING_ZH = re.compile(r"[每都要会我上去练做打学参加的课班有]")
_DOES_THERE_ZH = re.compile(r"工作|上班|上学|上[大小中]学|读|念|留学|生活|居?住|定居|出差|实习|当|教|做|$")
_NEGATION = re.compile(
    r"\b(?:no longer|not|never|does not|doesn['’]?t|do not|don['’]?t|isn['’]?t|aren['’]?t|am not|no|any\s?more|any longer"
    r"|has stopped|stopped|given up|gave up|has quit)\b",
    re.IGNORECASE,
)
_AGAIN = re.compile(r"\b(?:again|after all|once more)\b", re.IGNORECASE)
_NEGATION_ZH = re.compile(r"已经不|不再|早就不|没有|[不没]")


def states(known: str, statement: str) -> bool:
    """Whether a known text states this: its words and no others but those of how often, since when and how much.

    ``Takes 20 mg of fluoxetine`` states ``Takes fluoxetine``; ``Loves iced coffee`` does not state ``Loves coffee``.
    """
    known, statement = (_ASIDE.sub("", text).strip() for text in (known, statement))
    if denies(known) != denies(statement):
        return False
    if HAN_SIGN.search(statement):
        one, two = (_PLAIN_ZH.sub("", text) for text in (known, statement.removeprefix(ANY_VERB)))
        if statement.startswith(ANY_VERB):
            one = CLOCK_ZH.sub("", one)
            return sorted(_DOING_ZH.sub("", one)) == sorted(_DOING_ZH.sub("", two))
        if two.partition("在")[2] and one.startswith(two):  # who is not there does nothing there
            return _DOES_THERE_ZH.match(one[len(two) :]) is not None
        return bool(two) and one.endswith(two) and _OFTEN_ZH.fullmatch(one[: len(one) - len(two)]) is not None
    if statement.startswith(ANY_VERB):
        known = known.partition(" ")[2]
        known, statement = known.removeprefix("to "), statement.removeprefix(ANY_VERB)
    wanted, said = telling_words(statement), {match[0] for match in _WORD.finditer(statement)}
    words = [match[0] for match in _WORD.finditer(known)]
    if not wanted or not wanted <= telling_words(known) or any(_LETTER.fullmatch(word) for word in said - set(words)):
        return False
    told = [word in said or bool(telling_words(word) & wanted) for word in words]
    last = max((place for place, one in enumerate(told) if one), default=-1)
    if any(
        not one and telling_words(word) and not _AMOUNT.fullmatch(word.lower())
        for word, one in zip(words[:last], told, strict=False)
    ):
        return False
    return last + 1 == len(words) or words[last + 1].lower() in _HOW_OFTEN


def denies(text: str) -> bool:
    """Whether a text says that something is not so, or no more."""
    return _NEGATION.search(text) is not None or _NEGATION_ZH.search(text) is not None


def opposite(one: str, two: str) -> bool:
    """Whether of two texts the one denies what the other states, in the same words: "Is allergic to nuts", "Is not allergic to nuts"."""
    one, two = (_ASIDE.sub("", text).strip() for text in (one, two))
    if denies(one) == denies(two):
        return False
    if HAN_SIGN.search(one) or HAN_SIGN.search(two):
        bare = [_PLAIN_ZH.sub("", _NEGATION_ZH.sub("", text)) for text in (one, two)]
        return len(bare[0]) > 1 and bare[0] == bare[1]
    words = [telling_words(_AGAIN.sub(" ", _NEGATION.sub(" ", text))) for text in (one, two)]
    return bool(words[0]) and words[0] == words[1]
