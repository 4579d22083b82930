"""What passages say on a Chinese question: how far they hold its words, whose words they are, and which sentences answer.

A talk in Chinese often names neither who is meant nor what: one asks 你女儿几岁了, the other says 刚满六岁. What somebody is
told with 你 is therefore said of them, and a passage that answers another is read together with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import pairwise
from typing import NamedTuple

from ... import lazy_re as re
from ...intent.references.cues import words
from ...memory_types.research import Passage
from .chinese_words import divide, question_words
from .question import Question
from .text_reader import TextReader

__all__ = ["Carried", "Standing", "carried_by", "standing_of"]

_YOU, _I, _ASKS = re.compile("[你您]"), re.compile("[我咱俺]"), re.compile(r"[？?]|[吗呢]\s*$")
_GAP = timedelta(minutes=10)
"""How long after another a passage may still answer it."""
_BESIDE = 0.8
"""What a word counts that the passage before holds."""
_UNSURE, _USER = 0.5, frozenset(("user",))
_FIRST, _BEST, _SHORT = 14, 6, 60
_NEAR, _RANK, _LESS = 0.6, 1.0, 0.2
"""What the score of a sentence gains by the passage around it and by rank, and loses as a question."""
_OF = re.compile(r"^\s*的([\u3400-\u9fff]+)")
_JOB = re.compile(
    r"[当做是]了?.{0,8}(?:师|员|医生|护士|警|经理|总监|主任|工人|老板|会计|编辑|记者|画家|作家|教练|司机|厨)"
    r"|上班|工作|任职|辞职|升职|退休|跳槽|律所|教.{0,3}(?:语|数学|物理|化学|历史|书)"
)
_LIKING = re.compile("喜欢|爱好|最爱|爱[吃喝看听玩做画打唱]|迷上|着迷|热衷")
_COLOUR = re.compile("[红橙黄绿青蓝紫黑白灰粉棕褐金银]色?")
_HOME = re.compile("老家|家乡|出生|是[\u3400-\u9fff]{2,4}人")
_SAID_OTHERWISE = {
    **dict.fromkeys(("职业", "职位", "职务", "工作", "行业", "岗位", "上班"), _JOB),
    **dict.fromkeys(("爱好", "兴趣", "喜好"), _LIKING),
    "颜色": _COLOUR,
    **dict.fromkeys(("年龄", "岁数"), re.compile("岁|个月大|生日")),
    **dict.fromkeys(("老家", "家乡", "籍贯"), _HOME),
}
"""Words for what is asked for that an answer says in other words: 职业 is held by 我在医院当护士."""
_CATEGORY = re.compile(r"(?:哪一?[个条所家位种座部本首支类样款]?|什么|何)([\u3400-\u9fff]{1,3})")
_NAMES = words("名字 姓名 小名 大名 昵称 外号 牌子 品牌 价格 原因 科目 专业 名次 成绩 城市 种类 品种 型号 口味")
"""Words for the kind of thing that is asked for, which an answer seldom holds."""
_CATEGORY_COUNTS = 0.4
_LEAST, _SHORTER, _ENOUGH = 0.75, 0.2, 20.0
"""The share of a question's words that must be held together, and how much less where it says as much as three rare words
and more: the more it says, the less is held by accident."""
_LEAST_ALONE, _OTHERS, _PART = 0.2, 0.1, 0.5
"""What one passage alone must hold, how much more of it somebody else's may, and how far the thing of
theirs that is asked for must be held."""


class Standing(NamedTuple):
    """How a question stands to what was read, each from 0 to 1.

    Attributes:
        together: the share of its words that the best passages of whom it asks about hold together.
        theirs, others: the most that one passage holds, of those whom it asks about and of somebody else.
        head: how far their passages hold the thing of theirs that it asks about; 1 where there is none.
        weight: how much the question's words say in all.
    """

    together: float
    theirs: float
    others: float
    head: float
    weight: float

    @property
    def enough(self) -> bool:
        """Whether this is enough for an answer."""
        least = _LEAST - _SHORTER * min(self.weight, _ENOUGH) / _ENOUGH
        return (
            self.together >= least
            and self.theirs >= _LEAST_ALONE
            and self.others - self.theirs <= _OTHERS
            and self.head >= _PART
        )


@dataclass(frozen=True, slots=True)
class Carried:
    """A sentence: where it stands, how well it answers, and what it holds itself of the question's words."""

    passage: Passage
    text: str
    score: float
    inside: float


def _before(passages: Sequence[Passage]) -> dict[str, Passage]:
    """Passage id → the question of somebody else that it may answer."""
    steps = [one for one in passages if one.kind == "step" and one.occurred_at is not None]
    steps.sort(key=lambda one: (one.thread_id or "", one.occurred_at, one.id))
    found: dict[str, Passage] = {}
    for one, after in pairwise(steps):
        assert one.occurred_at is not None
        assert after.occurred_at is not None
        near = one.thread_id == after.thread_id and after.occurred_at - one.occurred_at <= _GAP
        if near and one.speaker != after.speaker and _ASKS.search(one.text):
            found[after.id] = one
    return found


def _speakers(passages: Sequence[Passage]) -> dict[str, str | None]:
    """Passage id → who said it, casefolded; of an item who said what it was learned from, None where that was not read."""
    said = {one.id: one.speaker.casefold() for one in passages if one.speaker is not None}
    return {
        one.id: said.get(one.id)
        or next((said[source.step_id] for source in one.sources if source.step_id in said), None)
        for one in passages
    }


def _theirs(question: Question, one: Passage, speaker: str | None) -> float:
    """How surely a passage speaks of those whom the question asks about, as far as its speaker and pronouns tell."""
    if not question.speakers:
        return 1.0
    if speaker is None:
        return 1.0 if question.speakers == _USER else _UNSURE
    told, own = _YOU.search(one.text) is not None, _I.search(one.text) is not None
    asks = not own and _ASKS.search(one.text) is not None
    if speaker in question.speakers:
        return _UNSURE if asks and not told else float(own or not told)
    return 1.0 if told and not own else _UNSURE if asks or told else 0.0


def _weights(question: Question, reader: TextReader) -> list[float]:
    """What each word of a question says; the kind of thing that is asked for is seldom named by what answers."""
    asked = _NAMES.union(*(question_words(kind) for kind in _CATEGORY.findall(question.text)))
    return [reader.chinese.weight(one) * (_CATEGORY_COUNTS if one in asked else 1.0) for one in question.words]


def _held(question: Question, text: str, reader: TextReader) -> list[float]:
    """How far a text holds each word of a question; what says it otherwise counts beside most of the other words."""
    held = list(reader.chinese.holds(question.words, text))
    otherwise = [at for at, one in enumerate(question.words) if one in _SAID_OTHERWISE]
    if otherwise:
        rest = [one for at, one in enumerate(held) if at not in otherwise]
        beside = sum(rest) >= len(rest) / 2
        for at in otherwise:
            said = _SAID_OTHERWISE[question.words[at]].search(text) is not None
            held[at] = float(beside and (said or held[at]))
    return held


def standing_of(question: Question, passages: Sequence[Passage], reader: TextReader) -> Standing:
    """How a question stands to the passages, the best first."""
    weights = _weights(question, reader)
    whole = sum(weights)
    if not whole:
        return Standing(0.0, 0.0, 0.0, 1.0, 0.0)
    before = _before(passages)
    said = _speakers(passages)

    def share(held: Sequence[float]) -> float:
        return sum(weight * one for weight, one in zip(weights, held, strict=True)) / whole

    own: list[list[float]] = []
    theirs = others = 0.0
    for one in passages[:_FIRST]:
        held = _held(question, one.text, reader)
        sure = _theirs(question, one, said[one.id])
        if sure == 1.0:
            if one.id in before:
                asked = _held(question, before[one.id].text, reader)
                held = [max(here, _BESIDE * there) for here, there in zip(held, asked, strict=True)]
            theirs = max(theirs, share(held))
            own.append(held)
        elif not sure:
            others = max(others, share(held))
    together = share([max(column) for column in zip(*own[:_BEST], strict=True)]) if own else 0.0
    head = _head(question)
    at = question.words.index(head) if head else -1
    asked_for = max((held[at] for held in own), default=0.0) if at >= 0 else 1.0
    return Standing(together, theirs, others, asked_for, whole)


def _head(question: Question) -> str:
    """The thing of those whom a question asks about that it asks for: 猫 of 小雨的猫多大了; none of another question."""
    after = _OF.match(question.bare) if len(question.speakers) == 1 else None
    if after is None:
        return ""
    first = next(iter(divide(after.group(1))), "")
    return first if first in question.words and first not in _NAMES and first not in _SAID_OTHERWISE else ""


def _quotable(text: str, reader: TextReader) -> list[str]:
    """What may be quoted of a text: its sentences; a short text whole, which tells more."""
    sentences = [one.text for one in reader.sentences(text)]
    bare = text.strip()
    return [bare] if len(sentences) > 1 and len(bare) <= _SHORT and "\n" not in bare else sentences


def carried_by(question: Question, passages: Sequence[Passage], reader: TextReader) -> list[Carried]:
    """The best sentence of each passage, the best first."""
    every = [_held(question, one.text, reader) for one in passages]
    weights = [
        weight / (1 + sum(held[at] > _BESIDE for held in every)) ** 0.5
        for at, weight in enumerate(_weights(question, reader))
    ]
    whole = sum(weights) or 1.0
    before = _before(passages)
    said = _speakers(passages)
    asked = {one.id: held for one, held in zip(passages, every, strict=True)}
    found: dict[str, Carried] = {}
    for rank, (one, around) in enumerate(zip(passages, every, strict=True)):
        prior = asked.get(before[one.id].id) if one.id in before else None
        beside = [max(here, _BESIDE * there) for here, there in zip(around, prior, strict=True)] if prior else around
        near = sum(weight * held for weight, held in zip(weights, beside, strict=True)) / whole
        sure = _theirs(question, one, said[one.id])
        best: Carried | None = None
        for bare in _quotable(one.text, reader):
            held = _held(question, bare, reader)
            inside = sum(weight * each for weight, each in zip(weights, held, strict=True)) / whole
            score = inside + _NEAR * near + _RANK / (1 + rank) ** 0.5
            score -= _LESS if bare.endswith(("？", "?")) else 0.0
            score *= 0.5 + 0.5 * sure
            if best is None or score > best.score:
                best = Carried(one, bare, score, inside)
        if best is not None:
            found[one.id] = best
    for (
        reply,
        question_before,
    ) in before.items():  # who asks what is asked here holds its words, the reply what it wants
        here, there = found.get(reply), found.get(question_before.id)
        if here is not None and there is not None and there.score > here.score:
            found[reply] = replace(here, score=there.score)
            found[question_before.id] = replace(there, score=here.score)
    return sorted(found.values(), key=lambda each: (-each.score, each.passage.id))
