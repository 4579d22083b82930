"""What a sentence is worth in a memo: names, numbers, days, what was done and decided, told of oneself.

One pass over the words of a sentence, by sets; patterns only for scripts without spaces and for how a sentence begins.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from .. import lazy_re as re
from .phrases.sentence_splitting import SentenceSplitter

__all__ = ["CJK", "OPENER", "SENTENCE_WORDS", "SPLIT", "Worth", "clipped", "size_of", "weigh"]

SENTENCE_WORDS = 30
"""Words of a sentence in a memo, at most."""

SPLIT = SentenceSplitter(re.compile(r"(?<=[.!?…])[\"”'’)]*\s+(?=\S)|(?<=[。！？；])|\n+"))
"""Where pages, research and answers cut what was said into sentences."""
CJK = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?")
_TITLE = re.compile(r"\"[^\"\n]{2,60}\"|“[^”\n]{2,60}”|[《「『][^》」』\n]{1,40}[》」』]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _forms(verbs: str) -> set[str]:
    """The regular forms of English verbs."""
    found = set()
    for verb in verbs.split():
        stem = verb[:-1] if verb.endswith("e") else verb
        last = verb[-1] if verb[-1] not in "aeiouwy" else ""
        found |= {verb, f"{verb}s", f"{stem}ed", f"{stem}ing", f"{verb}{last}ed", f"{verb}{last}ing"}
        found |= {f"{verb[:-1]}ied", f"{verb[:-1]}ies"} if verb.endswith("y") else set()
    return found


_DONE = frozenset(
    _forms(
        "decide book buy move sign join start finish complete win lose adopt plan agree choose pick confirm schedule "
        "cancel change visit meet make paint build write read learn teach quit hire apply accept pass graduate marry die "
        "travel cook prefer love hate dream work live grow name call cost pay need promise launch open research study "
        "practice perform attend volunteer donate raise find break hurt injure diagnose own rent sell order prepare"
    )
) | _words(
    "will going gonna bought won lost chose chosen went met got gave made built wrote written taught married engaged born "
    "died allergic allergy ran grew since favorite favourite afraid paid deadline because must found broke take took taken"
)
_DAYS = _words(
    "yesterday today tonight tomorrow monday tuesday wednesday thursday friday saturday sunday january february march april "
    "june july august september october november december ago weekend birthday anniversary"
)
_SHIFTS = frozenset(("last", "next", "this", "past", "coming"))
_UNITS = _words("night week weekend month year summer winter spring fall autumn mon tue wed thu fri sat sun")
_NUMBERS = _words("two three four five six seven eight nine ten twelve twenty hundred thousand dozen")
_STOP = _words(
    "the a an and or but so to of in on at for with from by is are was were be been am it its it's this that these those i "
    "i'm i've i'll i'd you your yours you're you've you'll we're let's my me we our us he she his her they them their as if "
    "not no do did does have has had just really very "
    "too can could would will there here what when how who which about out up some any all more than then also been like"
)
_MINE = frozenset(
    (
        "i",
        "my",
        "we",
        "our",
        "i'm",
        "i've",
        "i'll",
        "i'd",
        "i’m",
        "i’ve",
        "i’ll",
        "i’d",
        "we're",
        "we’re",
        "let's",
        "let’s",
    )
)
_YOURS = frozenset(("you", "your", "yours", "you're", "you've", "you'll", "you’re", "you’ve", "you’ll"))
_LOOSE = frozenset(("lot", "lots", "much", "stuff", "thing", "all"))
_CJK_DAY = re.compile(
    r"昨[天晚]|今[天晚早]|明[天晚早]|后天|前天|上[个周星]|下[个周星]|周[一二三四五六日末]|星期|去年|明年|今年|\d月|\d[日号]|生日|纪念日"
)
_CJK_DONE = re.compile(
    r"决定|预订|订了|订好|买了|买的|搬|加入|报名|开始|完成|赢|输|领养|打算|计划|准备|会去|要去|去了|参加|见了|同意|选了|选择|确认|取消"
    r"|改成|改到|换|毕业|结婚|离婚|出生|去世|过敏|喜欢|最爱|讨厌|害怕|住在|工作|辞职|入职|录取|通过|学会|养了|因为|必须|需要|答应"
)
_CJK_OWN, _CJK_YOURS = re.compile("[我咱]"), re.compile("[你您]")
_CJK_NUMBER = re.compile(r"\d|[一二两三四五六七八九十百千万]+(?:个|位|天|周|月|年|次|本|张|块|元|点|岁|人)")
_VAGUE = re.compile(
    r"\b(?:a lot(?:['’]s| has)? (?:been|happened|going)|lots has|much has happened|thing or two|some (?:other )?stuff|all that)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？]\s*[\"”')]?$|[吗呢][。？?]?$")
_EMPTY = re.compile(
    r"^(?:(?:oh|wow|hey|hi|hello|thanks?|thank you|yeah|yes|no|ok(?:ay)?|sure|great|cool|nice|awesome|amazing|absolutely"
    r"|definitely|totally|exactly|of course|right|haha|well|sounds|that['’]s|that is|so|really|i agree|i['’]m (?:so )?(?:glad|happy"
    r"|proud|sorry)|good (?:luck|to)|congrat\w*|glad|take care|bye|see you|you['’]re|keep|let me know|i (?:totally|completely) )\b)",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^(?:hey|hi|hello|wow|oh|thanks?|thank you)\b[^.!?,]{0,40}[!.,?]?$|^(?:你好|您好|谢谢|好的|嗯|哈哈)", re.IGNORECASE
)
OPENER = re.compile(
    r"^(?:(?:(?:oh|wow|hey|hi|hello|yeah|yes|yep|no|ok(?:ay)?|sure|great|cool|nice|awesome|well|thanks(?: a lot| so much)?"
    r"|thank you|absolutely|definitely|so|and|but|haha|aww?|right)(?:[,]? (?-i:[A-Z])[a-z]+)?[,.!…]+\s*)|(?:and|but|so|well) )+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;，；、—–]|\s(?:and|but|so|because|which|where|when)\s")


class Worth(NamedTuple):
    """What a sentence is worth, and what it is about."""

    weight: float
    content: frozenset[str]
    has_day: bool


def weigh(sentence: str, size: float) -> Worth:
    words = _WORD.findall(sentence)
    names = numbers = done = 0
    day = own = yours = loose = False
    content: list[str] = []
    before = ""
    for at, word in enumerate(words):
        low = word.lower()
        if low in _DONE:
            done += 1
        elif low in _DAYS or (low in _UNITS and before in _SHIFTS):
            day = True
        elif word[0].isdigit() or low in _NUMBERS:
            numbers += 1
        elif at and word[0].isupper() and low not in _MINE:
            names += 1
        if low in _STOP:
            own = own or low in _MINE
            yours = yours or low in _YOURS
            loose = loose or low in _LOOSE
        elif len(low) > 2 and low.isascii():
            content.append(low)
            loose = loose or low in _LOOSE
        before = low
    if not sentence.isascii() and (han := CJK.findall(sentence)):
        content += [first + second for first, second in pairwise(han)]
        day = day or _CJK_DAY.search(sentence) is not None
        done += len(_CJK_DONE.findall(sentence))
        numbers += len(_CJK_NUMBER.findall(sentence))
        own = own or _CJK_OWN.search(sentence) is not None
        yours = yours or _CJK_YOURS.search(sentence) is not None
    if ('"' in sentence or not sentence.isascii()) and _TITLE.search(sentence):
        names += 1
    weight = min(size, 18) / 18 - (0.4 if size < 5 else 0.0)
    weight += 0.7 * min(3, names) + 0.6 * min(2, numbers) + 0.7 * min(2, done) + (1.0 if day else 0.0)
    weight += 0.5 if own else -0.7 if yours else 0.0
    if loose and _VAGUE.search(sentence):
        weight -= 1.0
    if sentence[-1] in "?？\"”')" or not sentence.isascii():
        weight -= 1.6 if _ASKS.search(sentence) else 0.0
    if _EMPTY.match(sentence):
        weight -= 0.8 if done else 1.2
    return Worth(weight - (2.0 if _GREETING.match(sentence) else 0.0), frozenset(content), day)


def size_of(text: str) -> float:
    if text.isascii():
        return text.count(" ") + 1.0
    han = len(CJK.findall(text))
    return han / 2 + (text.count(" ") + 1 if han * 2 < len(text) else text.count(" ") / 2)


def clipped(text: str, most: float = SENTENCE_WORDS) -> str:
    """The beginning of a sentence up to the end of a clause, no longer than so many words."""
    if CJK.search(text) and not text.isascii() and size_of(text) > text.count(" ") + 1:
        cut = text[: int(most * 2)]
    else:
        cut = " ".join(text.split()[: int(most)])
    ends = [match.start() for match in _CLAUSE.finditer(cut) if match.start() > len(cut) * 0.55]
    return (cut[: ends[-1]] if ends else cut).rstrip(" ,;，；、-–—…") + " …"
