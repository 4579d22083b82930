"""What is no home: a night at a hotel, at a friend's place, or somewhere on a trip or for a few days.

"下周五要去北京出差三天，住在国贸附近的酒店" and "I'm living in Rome for three days" tell where the user is for a while.
"""

from __future__ import annotations

from itertools import takewhile

from .... import lazy_re as re
from ....intent.dates.words_english import WEEKDAY_NAME
from .english_grammar import Fact
from .sentences import Clause, Sentence

__all__ = ["is_stay"]

_LODGING_ZH = (
    r"(?:酒店(?!式?公寓)|宾馆|旅馆|旅店|旅社|民宿|客栈|青旅|青年旅舍|招待所|度假村|度假屋|爱彼迎|airbnb"
    r"|(?:朋友|同学|同事|网友|战友|老乡|亲戚|客户)(?:的?家|那里|那儿|那边|的?宿舍))"
)
_AT_LODGING_ZH = re.compile(
    rf"住(?:在|进|到)?[^，。；]{{0,14}}?{_LODGING_ZH}(?![路街站]|(?:的?(?:附近|旁|对面|后面|隔壁|前面|边上|不远)))",
    re.IGNORECASE,
)
_FOR_DAYS_ZH = re.compile(
    r"(?:[\d一二两三四五六七八九十几]+|半|整)个?(?:天|晚上?|夜|宿|周|星期|礼拜)(?!多?了|[前后来年]|以[前后])"
)
_FOR_NOW_ZH = re.compile(
    r"这次|这几天|这两天|这[周趟]|下[个]?(?:周|星期|礼拜)|明天|后天|周末|今晚|明晚|今天晚上|暂时|临时|期间|的时候|暂住|借住|寄住|路过"
)
_TO_TRIP_ZH = re.compile(r"[去到来赴飞][^，]{2,8}?(?:出差|旅游|旅行|度假|开会|玩)")
_SOME_DAYS_AT_ZH = re.compile(rf"(?:[去到来赴飞待呆玩]|逗留|停留)[^，]{{0,10}}?{_FOR_DAYS_ZH.pattern}")
_TRIP_ZH = re.compile(
    r"(?:[去到来赴在飞].{0,10}?|^|要)(?:出差|旅游|旅行|度假|游玩|自驾|蜜月|开会|参会|参展|探亲|走亲戚|玩)"
    r"|(?:出差|旅游|旅行|度假)(?:期间|的时候|时)"
)
_OFTEN_ZH = re.compile(r"[经常时]常|总是|老是|每[天周月年次个]")
_HABIT_ZH = re.compile(r"喜欢|[热酷]爱|讨厌|很少|不用|不想|回来|回家|不[去出]|结束|刚[从出]|上次|曾经?")
_MOVES_ZH = re.compile(r"搬(?:了?家|[到去来回进])|移居|定居|迁到|新家|买了?房|租了")
_LIVES_ZH = re.compile(r"住|base", re.IGNORECASE)
_LONG_ZH = re.compile(r"长期|常年|一直|平时|平常|开始|起")

_LODGING = (
    r"(?:hotel|hostel|inn|motel|resort|guest\s?house|b\s?&\s?b|bed and breakfast|airbnb|air\sbnb|youth hostel"
    r"|holiday\s(?:flat|home|let|apartment)|campsite|lodge|ryokan)"
)
_IS_LODGING = re.compile(
    rf"\b{_LODGING}s?$|\b(?:hotel|hostel|holiday inn)\b|^(?:hilton|marriott|hyatt|sheraton|ibis|novotel|radisson)\b",
    re.IGNORECASE,
)
_AT_LODGING = re.compile(
    rf"(?:,?\s(?:in|at|with)\s(?:(?:an?|the|some|my|our|this|that)\s)?(?:[\w'’]+\s){{0,3}}?{_LODGING}\b"
    r"|,?\s(?:in|at|with)\s(?:(?:an?|my|our|some)\s)(?:\w+\s)?(?:friend|colleague|mate|cousin|classmate|client)(?:['’]?s|s['’])"
    r"|,?\son\s(?:an?\s)?(?:friend['’]s\s)?(?:sofa|couch))",
    re.IGNORECASE,
)
_FOR_DAYS = re.compile(
    r"\bfor\s(?:(?:just|only|about|around|another)\s)?(?:(?:the|these|this)\s(?:next\s|coming\s)?)?"
    r"(?:(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+|a few|a couple of|several|some)\s)?"
    r"(?:(?:more|whole|short|long)\s)?(?:days?|nights?|weeks?|weekend|fortnight)\b",
    re.IGNORECASE,
)
_SO_FAR = re.compile(r"(?:\b(?:I|we)['’]ve|\bhave|\bbeen)\s", re.IGNORECASE)
_TRIP = r"(?:(?:business|work)\strip|business|trip|visit|stay|conference|holiday|vacation|fair|honeymoon)"
_IN_A_PLACE = r"(?:I|we)(?:['’]m|['’]re|\sam|\sare)\s(?:\w+\s)?(?:in|at|on|over|away|there|abroad|visiting|travelling|traveling)\b"
_AT_THE_TIME = rf"(?:while|when|whenever)\s{_IN_A_PLACE}|during\s(?:my|our|the|this)\s(?:\w+\s)?{_TRIP}\b"
_FOR_NOW = re.compile(
    r"(?<!from\s)(?<!since\s)(?<!starting\s)(?<!as\sof\s)\b(?:(?:this|next)\s(?:week|weekend)\b|tomorrow\b)|\btonight\b|\btemporarily\b"
    rf"|\bon\s(?:an?\s|my\s|our\s)?(?:short\s)?{_TRIP}\b|\b{_AT_THE_TIME}"
    rf"|\b(?:until|till)\s(?:{WEEKDAY_NAME}|tomorrow)\b",
    re.IGNORECASE,
)
_WHILE_AWAY = re.compile(rf"^(?:(?:and|so|but)\s)?(?:{_AT_THE_TIME})", re.IGNORECASE)
_GOES_AWAY = re.compile(
    rf"\b(?:I|we)\s?(?:['’]m|['’]re|['’]ll|am|are|will|have to|need to|go|fly|travel)\s.{{0,60}}?"
    rf"\b(?:on|for)\s(?:an?\s|my\s|our\s|the\s)?(?:work\b|{_TRIP}\b)",
    re.IGNORECASE,
)
_OTHERWISE = re.compile(r"\s(?:and|but|so|where|which|who|because)\s")
_IS_LIVING = re.compile(r"(?:['’]m|['’]re|am|are|be|will|['’]ll)\s(?:\w+\s)?(?:living|based|live)\b", re.IGNORECASE)
_NEAR = re.compile(r"Lives (?:near|outside) ")
_MOVES = re.compile(r"\b(?:moved|relocated|emigrated|settled)\b", re.IGNORECASE)


def is_stay(fact: Fact, sentence: Sentence) -> bool:
    """Whether a fact about the user's home tells of a stay: with a host who takes guests, on a trip, or for some days.

    Args:
        fact: of any slot; only one of ``home_city`` is judged.
        sentence: that which the fact's clause is part of.
    """
    if fact.slot != "home_city":
        return False
    before = [one.text for one in takewhile(lambda one: one.start < fact.clause.start, sentence.clauses)]
    if not fact.value.isascii() and not fact.value.startswith(("Lives ", "Has a home ")):
        return _is_stay_zh(fact, sentence, before)
    text = fact.clause.text
    if _MOVES.search(text):
        return False
    at = text.find(fact.stated)
    rest = text[at + len(fact.stated) :] if at >= 0 else ""
    if _AT_LODGING.match(rest) or (_IS_LODGING.search(fact.stated) and not _NEAR.match(fact.value)):
        return True
    own = text[: len(text) - len(rest)] + _OTHERWISE.split(rest)[0]
    if _FOR_NOW.search(own) or (_FOR_DAYS.search(own) and not _SO_FAR.search(own)):
        return True
    if not before:
        return False
    return bool(_WHILE_AWAY.search(before[-1]) or (_GOES_AWAY.search(before[-1]) and _IS_LIVING.search(own)))


def _is_stay_zh(fact: Fact, sentence: Sentence, before: list[str]) -> bool:
    clause: Clause = fact.clause
    text = clause.text
    if not _LIVES_ZH.search(text) or _LONG_ZH.search(text):
        return False
    if _AT_LODGING_ZH.search(text):
        return True
    if any(_MOVES_ZH.search(one) for one in (*before, text)):
        return False
    if _FOR_NOW_ZH.search(text) or _FOR_DAYS_ZH.search(text):
        return True
    after = next((one.text for one in sentence.clauses if one.start > clause.start), "")
    if re.match(r"(?:就|只|大概|一共)?(?:[待呆住玩]|停留)", after) and _FOR_DAYS_ZH.search(after):
        return True  # "住在上海，待两天"
    return any(map(_on_trip_zh, before)) and re.match(r"(?:就|会|要|将|到时候?|先|都|并|并且)*住", text) is not None


def _on_trip_zh(text: str) -> bool:
    if _HABIT_ZH.search(text):
        return False
    if _OFTEN_ZH.search(text):
        return _TO_TRIP_ZH.search(text) is not None  # "经常出差" says nothing of where
    return (_TRIP_ZH.search(text) or _SOME_DAYS_AT_ZH.search(text)) is not None
