"""Noun phrases of Chinese text: names by their last characters, people, places one goes to."""

from __future__ import annotations

from ... import lazy_re as re
from ..references.cues import CHINESE_CUTS, CHINESE_KINDS, words
from .mentions import NounPhrase, PhraseRole

__all__ = ["chinese_phrases"]

_CJK_RUN = re.compile(r"[\u4e00-\u9fff]+")
_CHINESE_HEAD = re.compile("|".join(sorted(CHINESE_KINDS, key=lambda head: (-len(head), head))))
_NAME_BEGINS = {
    "和": "平谐睦顺悦颐泰丰园风",
    "过": "桥",
    "对": "面山",
    "到": "家",
    "想": "念",
    "看": "海山江湖",
    "往": "来事",
    "住": "友",
    "在": "水",
    "就": "是",
}
_NAME_GOES_ON = {
    "和": "颐仁雍嘉祥永太中义三人协共",
    "过": "路",
    "想": "理梦联幻",
    "对": "绝",
    "看": "好",
    "离": "距",
    "买": "小",
}
"""Signs with which a name goes on after one that else ends what comes before it ("和平宾馆"), or that stand before it in names."""


def _cut(sign: str) -> str:
    if len(sign) > 1 or sign not in _NAME_BEGINS.keys() | _NAME_GOES_ON.keys():
        return sign
    before, after = _NAME_GOES_ON.get(sign, ""), _NAME_BEGINS.get(sign, "")
    return (f"(?<![{before}])" if before else "") + sign + (f"(?![{after}])" if after else "")


_CHINESE_CUT = re.compile(
    "[一两三四五六七八九十几这那][个只辆台部家座本张件条双把间位场款]|"
    + "|".join(_cut(sign) for sign in sorted(CHINESE_CUTS, key=lambda cut: (-len(cut), cut)))
)
_CHINESE_PERSON = re.compile(
    r"(?:(?P<kin>妹妹|姐姐|哥哥|弟弟|妈妈|爸爸|妻子|丈夫|老婆|老公|女儿|儿子|表妹|表姐|表哥|表弟|奶奶|爷爷|外婆|外公|阿姨|叔叔|朋友|同事|同学|老板)"
    r"(?P<kinname>[小老阿][\u4e00-\u9fff])?)|(?P<nick>[小老阿](?!时|吃|心|说|狗|猫|店|区|孩|镇|朋|学|组|城|师|板|家|人|姨|型|于"
    r"|费)[\u4e00-\u9fff])"
    r"(?![\u4e00-\u9fff]{0,2}(?:店|馆|厅|酒店|公园))|(?P<titled>[赵钱孙李周吴郑王冯陈卫蒋沈韩杨朱秦许何吕张孔曹严华金魏陶姜谢邹潘葛范彭鲁韦马方俞任袁柳唐罗薛贺倪汤"
    r"郝毕安常于傅康余顾孟黄萧姚汪毛禹狄戴宋庞熊项董梁杜蓝季贾江郭林钟徐邱骆高夏蔡田胡凌霍万柯卢莫丁邓洪石崔程陆曾叶]"
    r"[\u4e00-\u9fff]{0,2}?(?P<honor>先生|女士|小姐|太太|老师|医生|经理|教授))"
)
_CHINESE_PLACE = re.compile(
    r"(?:飞往|搬到|搬去|去|到)([\u4e00-\u9fff]{2,3}?)(?=玩|旅游|旅行|出差|工作|度假|上学|定居|生活|[一二两三四五六七八九十\d]+天)"
)
_FEMALE_CHINESE = words("妹妹 姐姐 妈妈 妻子 老婆 女儿 表妹 表姐 奶奶 外婆 阿姨 女士 小姐 太太")
_MALE_CHINESE = words("哥哥 弟弟 爸爸 丈夫 老公 儿子 表哥 表弟 爷爷 外公 叔叔 先生")


def chinese_phrases(text: str) -> list[NounPhrase]:
    """The named things, people and places in the Chinese parts of a text."""
    found: list[NounPhrase] = []
    taken: list[tuple[int, int]] = []
    group = 10_000

    def add(start: int, end: int, shown: str, head: str, kind: str, gender: str, name: bool, role: PhraseRole) -> None:
        nonlocal group
        group += 1
        taken.append((start, end))
        found.append(
            NounPhrase(
                start=start, end=end, text=shown, determiner="", head=head, kind=kind, gender=gender, plural=False, name=name,
                role=role, preposition="", sentence=0, group=group,
            )
        )  # fmt: skip

    for run in _CJK_RUN.finditer(text):
        part, offset = run[0][:200], run.start()
        for m in _CHINESE_HEAD.finditer(part):
            before = part[max(0, m.start() - 8) : m.start()]
            cut = 0
            for c in _CHINESE_CUT.finditer(before):
                cut = c.end()
            prefix = before[cut:]
            begin = offset + m.start() - len(prefix)
            end = offset + m.end()
            if taken and begin < taken[-1][1]:
                continue
            kind = CHINESE_KINDS[m[0]]
            following = part[m.end() : m.end() + 1]
            if len(m[0]) == 1 and (not prefix or following not in ("", "的", "很", "是", "在")):
                continue
            is_name = bool(prefix)
            add(begin, end, prefix + m[0], m[0], kind, "", is_name, "object")
        for m in _CHINESE_PERSON.finditer(part):
            begin, end = offset + m.start(), offset + m.end()
            if any(begin < e and s < end for s, e in taken):
                continue
            word = m["kin"] or m["honor"] or ""
            gender = "f" if word in _FEMALE_CHINESE else "m" if word in _MALE_CHINESE else ""
            shown = m["kinname"] or m[0]
            owner = part[m.start() - 1 : m.start()] if m["kin"] and not m["kinname"] and m.start() else ""
            if owner in ("我", "你", "他", "她"):
                begin, shown = begin - 1, owner + shown
            add(begin, end, shown, m["kin"] or "", "person", gender, not (m["kin"] and not m["kinname"]), "subject")
        for m in _CHINESE_PLACE.finditer(part):
            begin, end = offset + m.start(1), offset + m.end(1)
            if not any(begin < e and s < end for s, e in taken):
                add(begin, end, m[1], "", "place", "", True, "object")
    return found
