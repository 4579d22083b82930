"""Which of the events that were told a change names: the one that goes by all its words, and none where two do."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import date

from .... import lazy_re as re
from ....intent.dates.spans import DateSpan
from ....intent.dates.words_chinese import simplified
from .denied_days import may_be_of
from .event_words import TYPE_RULES
from .other_events import ALIKE, ANYTHING, GOES, MEETINGS, MEETS, TRIPS, is_another
from .shifts import Shift
from .words import HAN, NAME, content_words

__all__ = ["Told", "is_on", "named_by", "the_one_meant"]

_HAN_WORDS = re.compile(rf"[{HAN}]+")
_JOINED = re.compile(r"[的和跟与、之]|我们?|咱们?|那[个场次]?|这[个场次]?|本次|原定|原来")
_TRAVEL = re.compile(r"之[行旅]")
_OF_NO_EVENT = re.compile(
    r"(?:之?行|行程|活动|安排|计划|事情|约会?|时间|[周星期礼拜]+[一二三四五六日天]|[今明后]天|下?周|上午|下午|晚上|早上)$"
)
_ALIKE_ZH = (
    ("会议", "开会", "例会", "会"),
    ("航班", "飞机", "飞", "机票"),
    ("晚饭", "晚餐", "吃饭", "饭局", "聚餐", "聚会"),
    ("午饭", "午餐", "吃饭", "饭局", "聚餐"),
    ("牙医", "看牙"),
    ("回程", "返程", "回来", "回家", "返回"),
    ("看病", "看医生", "医生", "门诊", "复诊"),
    ("面试", "面谈"),
    ("演出", "演唱会", "音乐会"),
    ("旅行", "旅游", "出行", "去", "出差"),
    ("火车", "高铁", "动车", "车票"),
    ("比赛", "球赛", "决赛"),
    ("考试", "考"),
    ("婚礼", "结婚"),
    ("课", "上课", "课程"),
)
_SHORT = re.compile(r"\b[A-Z]{2}\b")
_SMALL = content_words("new whole little big annual upcoming planned original")


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An event as it was told; ``key`` is what is looked for, ``place`` tells which event it is of those told twice."""

    key: Hashable
    text: str
    event_type: str
    when: DateSpan | None
    latest: bool = False


def named_by(what: str, text: str, event_type: str = "") -> int:
    """How well an event goes by words: 2 by each of them, 1 by words that mean the same, 0 where one is of something else."""
    folded = simplified(text.casefold())
    told = content_words(text) | content_words(event_type) | _short(text)
    words = {word for word in content_words(what) if word.isascii() or not _HAN_WORDS.match(word)} | _short(what)
    words -= ANYTHING | _SMALL
    direct = {word for word in words if word in told or _plural(word, told)}
    parts = _han_parts(what)
    sure = {part for part in parts if part in folded or _most_of(part, folded)}
    rest, open_parts = words - direct, parts - sure
    if not words and not parts:
        return 0
    if not all(_means(word, told, text) for word in rest):
        return 0
    if not all(
        any(part in group and any(one in folded for one in group) for group in _ALIKE_ZH) for part in open_parts
    ):
        return 0
    return 1 if rest or open_parts else 2


def _short(text: str) -> set[str]:
    return {match[0].casefold() for match in _SHORT.finditer(text)}


def _plural(word: str, told: frozenset[str] | set[str]) -> bool:
    return f"{word}s" in told or (word.endswith("s") and word[:-1] in told)


def _means(word: str, told: frozenset[str] | set[str], text: str) -> bool:
    if any(rule.search(word) and rule.search(text) for name, rule in TYPE_RULES if name not in ("trip", "meeting")):
        return True
    if any(word in group and told & group for group in ALIKE):
        return True
    return (word in MEETINGS and MEETS.search(text) is not None) or (word in TRIPS and GOES.search(text) is not None)


def _han_parts(what: str) -> set[str]:
    found = set()
    for run in _HAN_WORDS.finditer(simplified(what)):
        for part in _JOINED.split(_TRAVEL.sub(" ", run[0])):
            bare = _OF_NO_EVENT.sub("", part.strip()) or part.strip()
            bare = re.sub(r"^(?:[周星期礼拜]+[一二三四五六日天]|[今明后]天|下周|\d+[号日])", "", bare)
            if bare:
                found.add(bare)
    return found


def _most_of(part: str, folded: str) -> bool:
    pairs = [part[at : at + 2] for at in range(len(part) - 1)]
    return len(part) >= 4 and sum(pair in folded for pair in pairs) >= 0.6 * len(pairs)


def the_one_meant(change: Shift, told: Sequence[Told], today: date) -> tuple[Told | None, bool]:
    """The event that a change is of, and whether several may be meant, so that none is.

    An event that is over is none. "It" is what was told in the message before, where that was one event.
    """
    ahead = [one for one in told if one.when is not None and one.when.last_day >= today]
    if change.on is not None:
        ahead = [one for one in ahead if one.when is not None and is_on(change.on, one.when)]
    if not change.what:
        meant = [one for one in ahead if one.latest]
        return (meant[0] if len(meant) == 1 else None), len(meant) > 1
    said = f"{change.what} is moved" if change.what.isascii() else change.said
    scored = [
        (named_by(change.what, one.text, one.event_type), one)
        for one in ahead
        if not is_another(said, one.text)
        and not _is_theirs(change, one.text)
        and not (change.of_person and _is_person(change.what, one.text))
    ]
    best = max((score for score, _ in scored), default=0)
    meant = [one for score, one in scored if best and score == best]
    return (meant[0] if len(meant) == 1 else None), len(meant) > 1


_THEIRS = re.compile(r"^(?:his|her|their)\s", re.IGNORECASE)


def _is_theirs(change: Shift, text: str) -> bool:
    """Whether what moves is somebody's of whom an event does not tell: "Tom moved his flight back an hour"."""
    if not _THEIRS.match(change.what):
        return False
    who = content_words(change.said.partition(change.what)[0])
    return not who & content_words(text)


def is_on(on: DateSpan, when: DateSpan) -> bool:
    """Whether an event may be on a day that is told."""
    return may_be_of(on, when) or (on.day <= when.day <= on.last_day)


def _is_person(what: str, text: str) -> bool:
    """Whether words are the name of somebody of whom an event tells: "Ana" of a dinner with Ana."""
    name = re.fullmatch(NAME, what.strip())
    if name is None:
        return False
    return (
        re.search(rf"\b(?:with|see|sees|seeing|meet|meets|meeting|call|visit|and)\s{re.escape(what.strip())}\b", text)
        is not None
    )
