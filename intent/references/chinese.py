"""What Chinese references mean: 它, 他, 她, 那家店, 那里, 第二个."""

from __future__ import annotations

from collections.abc import Sequence

from ... import lazy_re as re
from ..phrases.analysis import Analysis, NounPhrase
from .antecedents import Found, Source
from .nearer import chinese_nearer
from .options import by_degree, by_words, option_at
from .people import best_person

__all__ = ["CHINESE_CUE", "chinese_reference"]

CHINESE_CUE = re.compile(
    r"(?P<pair>[前后]者)|(?P<degree>(?:最|更)?(?P<degree_word>便宜|贵|近)(?:一?[点些])?的?(?:那|这)?(?:家|个|间|款|种)(?!月|人))|"
    r"(?<![\u4e00-\u9fff])(?P<quality>[\u4e00-\u9fff]{2,8}?)的?那(?:家|个|间|款|本)(?=[\s，,。！!？?吧呢]|$)|"
    r"(?P<ordinal>第[一二两三四五六]|最后一)(?:个|家|种|间|款|项|辆)|(?P<noun>[那这](?:家|间|座|个|所|部|本))(?P<head>酒店|宾馆|旅馆|民宿|餐厅|饭店"
    r"|饭馆|咖啡馆|咖啡厅"
    r"|店|博物馆|公园|书店|地方|医院|学校|电影|小说)|(?P<there>那里|那儿|那边)|(?P<it>(?<!其)它(?!们))|(?P<he>(?<![其吉])[他她](?!们|人|乡))"
)
_AFTER_ORDINAL = re.compile(r"[\s，,。！!？?；;吧呢吗啊怎有多离贵在需要可能好是的更比最也和与就了]|方案|选项|酒店|餐厅")
_VERB_LEAD = re.compile(r"(?:那就|我要|我选|还是|就|选|去|要|订|吃|住|看)+")
_HAVING = re.compile(r"^[有在带]")
_ORDINAL = {"一": 0, "二": 1, "两": 1, "三": 2, "四": 3, "五": 4, "六": 5}
_HEADS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("酒店", "宾馆", "旅馆", "民宿"), frozenset({"lodging"})),
    **dict.fromkeys(("餐厅", "饭店", "饭馆", "咖啡馆", "咖啡厅"), frozenset({"food"})),
    "店": frozenset({"food", "shop", "lodging"}),
    "地方": frozenset({"food", "shop", "lodging", "sight", "place"}),
    "博物馆": frozenset({"sight"}),
    "公园": frozenset({"sight"}),
    "书店": frozenset({"shop"}),
    "医院": frozenset({"place"}),
    "学校": frozenset({"place"}),
    "电影": frozenset({"work"}),
    "小说": frozenset({"work"}),
}
_PLACES = frozenset({"lodging", "food", "shop", "sight", "place"})
_OPENING = re.compile(
    r"(?:[\s，,。！!、]|好的?|嗯|哦|那么?|谢谢|行|可以|请问|对了|太好了|是的|我?想知道|我想|我要|帮我|请|听起来不错|把|给|用|对|预?订|买|看|选|去|为什么|什么时候|怎么|你"
    r"|您|我|觉得|喜欢|会|能|要)*+"
)


def chinese_reference(
    match: re.Match[str], text: str, own: Analysis, sources: Sequence[Source], speaker: str
) -> Found | None:
    """What one Chinese reference stands for, or nothing where that is not safe."""
    start, end = match.span()
    if any(phrase.name and phrase.start < end and start < phrase.end for phrase in own.phrases):
        return None  # part of a name
    if match["pair"]:
        return option_at(sources, 0 if match["pair"] == "前者" else 1, start, end, exactly=2)
    if match["degree"]:
        degree = {"便宜": "cheaper", "贵": "pricier", "近": "closer"}[match["degree_word"]]
        return by_degree(degree, text[:start], sources, start, end)
    if match["quality"]:
        kept = _VERB_LEAD.match(match["quality"])  # "去有游乐区的那家" keeps its verb
        first = kept.end() if kept else 0
        said = _HAVING.sub("", match["quality"][first:])
        return by_words([said], sources, start + first, end) if len(said) > 1 else None
    if match["ordinal"]:
        after = text[end : end + 2]
        if after and not _AFTER_ORDINAL.match(after):
            return None  # "第一个月", "第二个学生"
        index = -1 if match["ordinal"].startswith("最后") else _ORDINAL[match["ordinal"][1]]
        return option_at(sources, index, start, end)
    own_before = [phrase for phrase in own.phrases if phrase.end <= start]
    if match["he"]:
        if any(phrase.kind == "person" for phrase in own_before) or not _opens(text[:start]):
            return None
        if chinese_nearer(text, start):
            return None
        found = best_person(sources, "f" if match["he"] == "她" else "m", speaker)
        return _found(found, start, end)
    if match["it"] and not _OPENING.fullmatch(text[:start]):
        return None
    kinds = _HEADS[match["head"]] if match["head"] else _PLACES if match["there"] else None
    fitting = [phrase for phrase in own_before if _fits(phrase, kinds, match["head"])]
    if fitting:
        return None
    if match["there"] and not _opens(text[:start]):
        return None
    for source in sources[:3]:
        phrases = {
            phrase.text: phrase
            for phrase in source.analysis.phrases
            if _fits(phrase, kinds, match["head"]) and (phrase.name or match["it"])
        }
        if len(phrases) == 1:
            return _found((next(iter(phrases.values())), source.id, 0.8 * source.weight + 0.1), start, end)
        if phrases:
            return None
    return None


def _fits(phrase: NounPhrase, kinds: frozenset[str] | None, head: str | None) -> bool:
    if head and phrase.text.endswith(head) and phrase.text != head:
        return True
    if kinds is None:
        return phrase.kind not in ("person", "time", "amount", "abstract") and bool(phrase.kind or phrase.name)
    return phrase.kind in kinds and phrase.name


def _opens(before: str) -> bool:
    """Whether nothing of weight stands before: what is said there would be the likelier antecedent."""
    return len(re.sub(r"[^\u4e00-\u9fff]", "", before)) <= 4


def _found(best: tuple[NounPhrase, str, float] | None, start: int, end: int) -> Found | None:
    if best is None:
        return None
    return Found(start, end, best[1], best[0].text, best[0].text, best[2])
