"""What the rules for Chinese self-reports share: the subject, adverbs, names and places in patterns."""

from __future__ import annotations

from .... import lazy_re as re
from .sentences import Clause
from .words import HAN, NAME

__all__ = [
    "ADV_ZH",
    "NAME_ZH",
    "NOT_PLACES",
    "NOT_WHAT",
    "PLACE_ZH",
    "SELF_ZH",
    "WHAT_ZH",
    "raw_group",
    "speaks_alone",
]

SELF_ZH = (
    r"(?:我(?!们?(?:的|家|妈|爸|老|哥|姐|弟|妹|朋|同|儿|女|外"
    r"|爷|奶|公|婆|岳|男|闺|室|弟|先|太|爱|想|觉|看|问|听))\s?|^)"
)
ADV_ZH = (
    r"(?:现在|目前|已经|刚|最近|一直|都|也|就|还|平时|平常|从小|特别|非常"
    r"|最|很|真的|超|比较|开始|上个?(?:周|礼拜|星期)[一二三四五六日天]?|昨天|今年|去年|这个月|上个月|是)*"
)
NAME_ZH = rf"(?P<name>[{HAN}]{{2,3}}(?=$|[，。！、；：\s])|{NAME})"
PLACE_ZH = (
    rf"(?P<place>[{HAN}]{{2,7}}?(?=$"
    rf"|[了啦呢，。！、；：\s的]|工作|上班|生活|定居|读书|这边|住|已经|快|有|\d|[一二两三四五六七八九十半几]+个?[年月天周])|{NAME})"
)
WHAT_ZH = rf"(?P<what>[{HAN}A-Za-z0-9 &'+-]{{1,20}}?)"
NOT_PLACES = re.compile(
    r"^(?:一起|哪|那里|这里|这边|那边|家里?|外面|公司|楼上|酒店|附近|一个|新|里面|学校|单位|这|那|得|不|的)"
)
NOT_WHAT = re.compile(r"^(?:你|他|她|它|这|那|什么|怎么|一个人|说|想|看到|的|了|是|不|没|吗|吃什么|自己)")


def raw_group(match: re.Match[str], group: str, clause: Clause) -> str:
    """The group in the characters it was written in."""
    start, end = match.span(group)
    return re.sub(r"(?<=.{2})[啦了呢哦啊]+$", "", clause.raw[start:end].strip(" ，。、"))


def speaks_alone(before: str) -> bool:
    """Whether what stands before a verb is the user or nothing: no other subject."""
    before = re.sub(
        r"^.{0,8}(?:医生|大夫|护士|医院|检查|报告|化验)[^，]{0,6}?(?:说|查出|发现|显示|告诉我?)(?=我|$)", "", before
    )
    before = re.sub(r"从(?:小|初中|高中|大学|小学|[^，]{1,4})(?:就|起|开始)+", "", before)
    rest = re.sub(r"我们?|自己|对|其实|因为|另外|还有|然后|而且|但是?|不过|" + ADV_ZH, "", before).strip(" ，")
    return not rest
