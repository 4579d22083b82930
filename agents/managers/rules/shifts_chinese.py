"""Changes of an event without a new day, in Chinese: 布拉格之行推迟一周, 面试推迟一个小时, 晚饭改到八点."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.hours_chinese import chinese_hour
from ....intent.dates.words_chinese import chinese_number
from .sentences import Clause, Sentence
from .shifts import Shift

__all__ = ["chinese_shifts", "thing_changed"]

_NUM = r"(?:\d{1,3}|[一二两三四五六七八九十]{1,3}|半)"
_AMOUNT = (
    rf"(?P<num>{_NUM})(?:个|個)?(?P<half>半)?(?P<unit>小时|钟头|分钟|刻钟|星期|礼拜|周|天|日(?!元)|月)(?P<plus>半)?"
    r"(?![一二三四五六日天末\d])"
)
_LATER = r"(?P<later>推迟|延迟|延后|延期|推后|往后推|往后延|往后挪|顺延|晚|后延)"
_EARLIER = r"(?P<earlier>提前|提早|往前提|往前挪|早)"
_BY = re.compile(rf"(?:{_LATER}|{_EARLIER})(?:了|到了|大约|大概)?{_AMOUNT}")
_CLOCK = (
    r"(?P<clock>(?:早上|上午|中午|下午|傍晚|晚上)?(?:\d{1,2}|[一二两三四五六七八九十]{1,3})"
    r"(?:点钟?(?:半|一刻|三刻|[一二三四五六七八九十\d]{1,3}分?)?|[:：][0-5]\d))"
)
_TO = re.compile(
    rf"(?:改|推迟?|延|提前|挪|换|调)(?:到|成|为|在)了?(?:当天|同一天|那天)?的?{_CLOCK}(?!以后|之前|前|左右的)"
    r"|(?:当天|同一天|日期|日子)(?:还是)?(?:不变|没变)?[，,]?(?:但|就是|只是)?(?:时间)?(?:改到?|改成|变成|是)?"
    + _CLOCK.replace("clock", "then")
)
_DENIES = re.compile(
    r"没有?(?:推|延|提|改|晚|早)|[不别](?:推|延|提|改|会推|会延|会提|会改|再)|能不能|可不可以|会不会|是不是|是否|想|希望|要求|申请|建议"
    r"|如果|每|总是|通常|一般|经常|平时|一直|以前|去年|上次|上个?[周月]"
)
_CHANGED = re.compile(
    r"(?:推迟|延迟|延后|延期|推后|往后推|顺延|提前|提早|改期|改到|改成|改在|挪到|换到|调到|推到|延到|泡汤|作罢|黄了|取消)了?"
    r"(?P<what>[\u4e00-\u9fff]{2,10}(?=[，。了]|$))?"
)
_LEAD = re.compile(
    r"^(?:哦|啊|嗯|对了|另外|还有|然后|刚才?|通知|听说|他们说|说|原来|但是?|不过|所以|因为|结果|只是|，|\s)+"
)
_END = re.compile(
    r"(?:\s|的?时间|已经|现在|临时|突然|可能要|将|将要|要|得|会|被|又|再|都|也|就|往|开始|统一|整体|我们|只好|必须|需要|决定)+$"
)
_TOLD = re.compile(r"(?:把|将|给|通知(?:我们?)?|说|告诉我们?)")
_PRONOUN = re.compile(r"(?:它|这个?|那个?|时间|日期|我们?|他们?|她们?|大家|医院|对方|公司|老师|老板|客户)?")


def chinese_shifts(sentence: Sentence) -> Iterator[Shift]:
    """The changes that a sentence tells of events, where it tells no day to which they move."""
    for number, clause in enumerate(sentence.clauses):
        text = clause.text
        if not clause.holds or _DENIES.search(text):
            continue
        before = sentence.clauses[number - 1].text if number else ""
        if match := _BY.search(text):
            what = _named(text[: match.start()]) or _only_name(before, text[: match.start()])
            word = match["later"] or match["earlier"]
            if len(word) == 1 and not re.search(r"(?:要|得|会|得往)$|^$", text[: match.start()].strip()) and not what:
                continue
            yield _by(clause, what, match)
        elif match := _TO.search(text):
            told = match["clock"] or match["then"]
            what = _named(text[: match.start()]) or _only_name(before, text[: match.start()])
            hour = chinese_hour(told, what)
            if hour is not None:
                yield Shift(start=clause.start, end=clause.end, at=clause.start, what=what, said=text, hour=hour)


def thing_changed(said: str) -> str:
    """What a clause says is moved or called off: 牙医 of 牙医改到周四了; empty where it names nothing."""
    match = _CHANGED.search(said)
    if match is None:
        return ""
    if named := _named(said[: match.start()]):
        return named
    return match["what"] or ""


def _by(clause: Clause, what: str, match: re.Match[str]) -> Shift:
    count = chinese_number(match["num"]) + (0.5 if match["half"] or match["plus"] else 0)
    units = {
        "小时": "hour",
        "钟头": "hour",
        "分钟": "minute",
        "刻钟": "quarter",
        "天": "day",
        "日": "day",
        "月": "month",
    }
    unit = units.get(match["unit"], "week")
    if unit == "quarter":
        count, unit = count * 15, "minute"
    sign = -1 if match["earlier"] else 1
    return Shift(
        start=clause.start,
        end=clause.end,
        at=clause.start + match.start(),
        what=what,
        said=clause.text,
        count=sign * count,
        unit=unit,
    )


def _named(text: str) -> str:
    text = _LEAD.sub("", text)
    text = _TOLD.split(text)[-1]
    text = _END.sub("", text).strip("，,：:「」 “”")
    return "" if _PRONOUN.fullmatch(text) else text


def _only_name(before: str, rest: str) -> str:
    """The clause before where it is only a name, and this one tells none: 和小李的会，推迟一天."""
    return (
        before.strip()
        if not _named(rest) and 0 < len(before.strip()) < 12 and not re.search(r"[是有在了去]", before)
        else ""
    )
