"""What of a model's labels may be kept: names that are names, texts that say what was said and nothing else."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

from ... import lazy_re as re
from ...intent.contract import LabeledStep
from ...intent.dates.numbers_english import ONES, TENS
from ...intent.dates.words_chinese import chinese_number
from ...intent.references.cues import FUNCTION_WORDS, words

__all__ = ["Wording", "antecedents_of", "gist_fits", "one_line", "resolved_fits", "scripts_of", "summary_fits"]

_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W_]+(?:['’.,:][^\W_]+)*")
_NUMBER = re.compile(r"\d+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_LONGEST_LINE = 2_000
_REFERENCE = re.compile(r"\{\{vault:[^{}]*\}\}")
_KEPT_WORDS = 0.8  # of the words that are no references, a resolved text keeps at least so many
_KNOWN_WORDS = 0.75  # of the words that it adds, so many stand in what was said before
_LONGEST_SUMMARY, _LONGEST_GIST = 400, 800
_REPLACED = words(
    "it its it's he him his she her hers they them their theirs this that these those there here one ones then so "
    "we us our i me my you your former latter first second third other same do does did today tomorrow yesterday "
    "他 她 它 们 这 那 些 个 里 儿 此 其 该"
)


_DAY = re.compile(r"\b(?P<year>[12]\d{3})-(?P<month>\d{2})(?:-(?P<day>\d{2}))?\b(?!-)")
_YEAR_OF_MONTH = re.compile(
    r"\b(?P<said>(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?,?\s)(?P<year>[12]\d{3})\b",
    re.IGNORECASE,
)
"""A month with its year, where the step says the month alone: "from January" becomes "from January 2027"."""


_CLOCK = re.compile(r"(?<![\d:.])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?![\d:])")
"""An hour by the clock, which a step may say in words: "four in the afternoon", "half past two", 下午三点半."""
_COUNTS = {
    **{word: str(count) for count, word in enumerate(ONES[1:], 2)},
    **{word: str(10 * count) for count, word in enumerate(TENS[:4], 2)},
    **{"noon": "12", "midday": "12", "midnight": "0"},
}
"""Numbers in words, as far as they may be of an hour or minute; "one" is mostly none."""
_HAN_NUMBER = re.compile(r"[二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九]")


class Wording:
    """The words that a prompt showed, to compare what a model writes with; ``counts`` are its numbers, those in words too.

    Args:
        texts: everything that the model could read.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self.words: set[str] = set()
        self.numbers: set[str] = set()
        self.counts: set[str] = set()
        self.scripts: set[str] = set()
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Take in another text."""
        said = _words(text)
        self.words.update(said)
        self.numbers.update(_NUMBER.findall(text))
        told = [*_NUMBER.findall(text), *(_COUNTS[word] for word in said if word in _COUNTS)]
        told += [str(int(chinese_number(one))) for one in _HAN_NUMBER.findall(text)]
        self.counts.update(one.lstrip("0") or "0" for one in told)
        self.scripts |= scripts_of(text)


def scripts_of(text: str) -> set[str]:
    """The scripts of a text's letters, by the first word of their Unicode names (``LATIN``, ``CJK``, ``CYRILLIC``)."""
    letters = {character for character in text if character.isalpha()}
    return {unicodedata.name(one, "?").split(" ", 1)[0].split("-", 1)[0] for one in letters}


def one_line(text: str) -> str:
    """The beginning of a text on one line, without control characters: more of it than any line may have."""
    return " ".join(_CONTROL.sub(" ", text[:_LONGEST_LINE]).split())


def resolved_fits(text: str, resolved: str, known: Wording) -> bool:
    """Whether a resolved text may stand for the text: it keeps most of its words and adds only words said before.

    Args:
        known: what the model could read, the text included.
    """
    if not resolved.strip() or len(resolved) > 2 * len(text) + 300:
        return False
    if sorted(_REFERENCE.findall(resolved)) != sorted(_REFERENCE.findall(text)):
        return False
    before, after = Counter(_words(text)), Counter(_words(resolved))
    firm = Counter({word: count for word, count in before.items() if word not in _REPLACED})
    if sum((firm & after).values()) < _KEPT_WORDS * sum(firm.values()):
        return False
    if any(number not in after for number in before if number[0].isdecimal()):
        return False  # a number is never what a reference stands for
    if any(number not in known.numbers for number in _NUMBER.findall(resolved)):
        return False
    added = [word for word in (after - before).elements() if word not in FUNCTION_WORDS]
    return sum(word in known.words for word in added) >= _KNOWN_WORDS * len(added)


def summary_fits(text: str, summary: str, known: Wording) -> bool:
    """Whether a line may stand as the summary of a text: in its script, not too long, with no number of its own."""
    if not any(character.isalnum() for character in summary) or len(summary) > _LONGEST_SUMMARY:
        return False
    if set(_REFERENCE.findall(summary)) - set(_REFERENCE.findall(text)):
        return False
    # What is in two scripts may be summed up in one of them.
    shared = scripts_of(summary) & (scripts_of(text) or known.scripts)
    return bool(shared) and _numbers_known(summary, known)


def gist_fits(gist: str, known: Wording) -> bool:
    """Whether a line may stand as the gist of a scope."""
    if not gist or len(gist) > _LONGEST_GIST or not scripts_of(gist) <= known.scripts:
        return False
    return _numbers_known(gist, known)


def _numbers_known(text: str, known: Wording) -> bool:
    """Whether a text holds no number that was not said, dates and hours reckoned from what was said apart."""

    def near(year: int) -> bool:
        return any(str(one) in known.numbers for one in (year - 1, year, year + 1))

    def reckoned(match: re.Match[str]) -> str:
        real = 1 <= int(match["month"]) <= 12 and 1 <= int(match["day"] or 1) <= 31
        return " " if real and near(int(match["year"])) else match[0]

    def of_month(match: re.Match[str]) -> str:
        return match["said"] if near(int(match["year"])) else match[0]

    def of_clock(match: re.Match[str]) -> str:
        hour, minute = int(match["hour"]), int(match["minute"])
        hours = {hour % 12, (hour + 1) % 12} if minute > 30 else {hour % 12}  # "a quarter to three" is 14:45
        told = any(str(one) in known.counts for part in hours for one in (part, part + 12)) or (
            1 in hours and "one" in known.words
        )
        parts = {0: "", 15: "quarter 刻", 30: "half 半", 45: "quarter 刻"}.get(minute)
        full = minute == 0 or not known.counts.isdisjoint((str(minute), str(60 - minute)))
        return " " if told and (full or (parts and not known.words.isdisjoint(parts.split()))) else match[0]

    left = _CLOCK.sub(of_clock, _YEAR_OF_MONTH.sub(of_month, _DAY.sub(reckoned, text)))
    return all(number in known.numbers or number in known.counts for number in _NUMBER.findall(left))


def antecedents_of(step: LabeledStep, resolved: str, earlier: Iterable[LabeledStep]) -> tuple[str, ...]:
    """Ids of the earlier steps from which the words come that a resolved text adds, each word's latest one.

    Args:
        earlier: oldest first.
    """
    added = {
        word for word in _words(resolved) if word not in FUNCTION_WORDS and word not in set(_words(step.step.text))
    }
    found: list[str] = []
    for one in reversed(list(earlier)):
        said = added & set(_words(one.resolved_text))
        if said:
            added -= said
            found.append(one.step.id)
    return tuple(reversed(found[:5]))


def _words(text: str) -> list[str]:
    return [word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)]
