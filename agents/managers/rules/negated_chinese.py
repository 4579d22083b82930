"""What a Chinese clause denies, said as the statement that it denies: 我已经不吃素了 → 我吃素."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.dates.words_chinese import WEEK
from .sentence_parts import MASK

__all__ = ["NOW_ON_ZH", "NO_MORE_ZH", "denied_by_zh", "other_days_zh", "put_in_place_zh"]

NO_MORE_ZH = re.compile(r"不再|已经不|早就不|早不|没再|戒|[不没].{1,14}了(?:$|[，。！])")
"""That what is denied was so until now."""
_LEAD = (
    r"^(?:其实|原来|对了|不过|但是?|后来|结果|好消息|事实上|不好意思|抱歉|更正一下|更正|对不起|啊|哦|嗯|检查结果出来"
    r"|现在|而且|说明|医生说|，|：|\s){0,6}"
)
_WHO = rf"(?P<who>[^{MASK}，。：；不没]{{0,10}}?)"
_SINCE = r"(?:已经|早就|现在|其实|也|并|根本|早|都|如今|目前|真的|确实|现如今)*"
_WHAT = rf"(?P<what>[^{MASK}，。；：]{{1,24}}?)(?P<over>了|啦)?$"
_TO_X = re.compile(
    rf"{_LEAD}{_WHO}{_SINCE}对(?P<to>[^{MASK}，。；：不没]{{1,12}}?){_SINCE}(?:不再?|没有?)过敏(?:了|啦)?$"
)
_NOT = re.compile(rf"{_LEAD}{_WHO}{_SINCE}(?:不再|没再|不){_WHAT}")
_HAS_NOT = re.compile(rf"{_LEAD}{_WHO}{_SINCE}没有?(?P<what>[^{MASK}，。；：过]{{1,12}}?)(?:了|啦)$")
_GAVE_UP = re.compile(
    rf"{_LEAD}{_WHO}{_SINCE}(?:把(?P<what2>[^{MASK}，。；：]{{1,8}}?))?戒(?:掉)?了?(?P<what>[^{MASK}，。；：]{{0,8}}?)(?:了|啦)?$"
)
_NO_STATEMENT = re.compile(
    r"^(?:能|想|会(?![说讲弹开游写])|敢|要|知道|觉得|认为|太|怎么|大|得|行|好|够|可|该|用|必|清楚|记得|确定|一定|只|光|仅|过|如|同|久|错|是说|是因为|是为了|是不"
    r"|是只|是所有|是每|是一直|是很|是特别|是那么|是想|是要|是说|是开玩笑|是什么|止|但|管|论|小心|好意思|用|需|见|少|比|算|像)|因为|才|什么|怎么|完全|全都|[吗呢吧么]$|谁|哪|多少"
)
_MOMENT = re.compile(
    r"今[天晚早年]|明[天年早]|昨|后天|刚才|这[次周个会]|下[次周个]|上[次周个]|暂时|待会|等会|有时|经常|总是?|平时|每"
)


def denied_by_zh(text: str) -> list[str]:
    """The statements that a clause denies, as :func:`~.negated_english.denied_by` gives them."""
    if len(text) > 60 or not re.search("[不没戒]", text) or _MOMENT.search(text):
        return []
    return list(dict.fromkeys(_positive(text)))


def _positive(text: str) -> Iterator[str]:
    if match := _TO_X.match(text):
        yield f"{match['who']}对{match['to']}过敏"
        return
    if match := _GAVE_UP.match(text):
        what = match["what2"] or match["what"]
        if what:
            for verb in "喝抽吃":
                yield f"{match['who']}{verb}{what}"
        return
    if match := _HAS_NOT.match(text):
        yield f"{match['who']}有{match['what']}"
        return
    match = _NOT.match(text)
    if match is None or _NO_STATEMENT.search(match["what"]):
        return
    who, what = match["who"], match["what"]
    yield f"{who}{what}"
    if what.startswith("是"):
        yield f"{who}{what.removeprefix('是')}"
    if what.startswith(("喝", "吃", "看", "玩", "打", "弹", "跑", "踢", "抽")) and match["over"]:
        yield f"{who}喜欢{what}"


_NUMBER = r"(?:\d+(?:\.\d+)?|[一二两三四五六七八九十百]+)"
_KINDS = (
    re.compile(rf"{WEEK}[一二三四五六日天]"),
    re.compile(rf"{_NUMBER}月{_NUMBER}[日号]?"),
    re.compile(rf"{_NUMBER}(?P<unit>岁半?|点半?|个|号|日|块|元|只|条|年级|年|楼|层|斤|公斤|米|次|分钟|小时|天|口)?"),
)


def put_in_place_zh(statement: str, value: str) -> list[str]:
    """A statement with ``value`` in the place of the one value of its kind, or of what follows its last verb of being."""
    value = value.strip(" ，。！了")
    for kind in _KINDS:
        if not kind.fullmatch(value):
            continue
        places = [match for match in kind.finditer(statement) if match[0][-1] == value[-1] or kind is not _KINDS[-1]]
        if len(places) != 1 or places[0][0] == value:
            return []
        return [statement[: places[0].start()] + value + statement[places[0].end() :]]
    verb = next(reversed(list(re.finditer(r"叫做?|名叫|是|在|姓|住在?|来自", statement))), None)
    if verb is None or statement[verb.end() :].strip(" 了") in ("", value):
        return []
    return [statement[: verb.end()] + value.removeprefix(verb[0])]


_DAY = re.compile(rf"{WEEK}(?P<day>[一二三四五六日天])")
NOW_ON_ZH = re.compile(
    rf"{_LEAD}(?:我们?的?)?(?P<what>[^{MASK}，。：；不没在是改换挪调]{{1,8}}?)(?:现在|以后|从现在起|已经|被)*"
    r"(?:改到|改成|改在|换到|换成|挪到|调到|移到|(?<=现在)(?:是|在)|(?<=以后)(?:是|在))了?(?P<when>每?(?:周|星期|礼拜)[一二三四五六日天])了?$"
)
"""Something regular that is on another day of the week now."""


def other_days_zh(statement: str) -> list[str]:
    """As :func:`~.negated_english.other_days`, of a statement that tells one day in Chinese."""
    places = list(_DAY.finditer(statement))
    if len(places) != 1:
        return []
    at = places[0].start("day")
    days = "一二三四五六日" if statement[at] != "天" else "一二三四五六"
    return [statement[:at] + day + statement[at + 1 :] for day in days if day != statement[at]]
