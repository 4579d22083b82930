"""What the user likes, avoids, is and usually does, in Chinese: 我对芒果过敏, 从不喝酒, 每周三去游泳."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .chinese_grammar import NOT_WHAT, SELF_ZH, WHAT_ZH, raw_group, speaks_alone
from .english_grammar import Fact, rule_set
from .people import KIN_ZH_PATTERN
from .sentence_parts import MASK, Clause
from .words import HAN

__all__ = ["WAYS_RULES_ZH"]

WAYS_RULES_ZH, _rule = rule_set()


@_rule(
    "", rf"(?:{SELF_ZH}|^我们?\s?)[^他她你]{{0,6}}?对\s?{WHAT_ZH}\s?(?:都|也|严重|有点|轻微)?(?:过敏|不耐受|allergic)"
)
def _allergy(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    before = clause.text[: match.start("what")]
    if re.search(r"不$|没有|他|她|你", before) or re.search(KIN_ZH_PATTERN, before) or not speaks_alone(before):
        return
    yield Fact(label="allergy", value=f"对{raw_group(match, 'what', clause)}过敏", clause=clause, confidence=0.9)


@_rule(
    "",
    rf"^(?P<lead>.{{0,8}}?)(?:不(?:太能|太|怎么|能|可以|再)?|从不|从来不)(?P<act>吃|喝|碰|抽"
    rf"|沾)(?P<what>[{HAN}A-Za-z]{{0,10}}?)(?=$|[，。！的了也])",
)
def _avoids(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = raw_group(match, "what", clause)
    if (
        not speaks_alone(match["lead"])
        or (not what and match["act"] != "抽")
        or re.search(r"饱|完|下|到|起|惯|早|午|晚|了|什么|亏|得|消", what)
        or NOT_WHAT.match(what)
    ):
        return
    yield Fact(label="avoids", value=f"不{match['act']}{what}", clause=clause, confidence=0.8)


@_rule(
    "",
    rf"^(?:我|我就|我可|我是)?(?:一点儿?|半点|一口|一滴)(?P<what>[{HAN}A-Za-z]{{1,6}}?)都?(?:不能|不敢|不会|不|没法|吃不了|喝不了|受不了)(?P<act>吃|喝|碰|沾)?(?=$|[，。！了的])",
)
def _not_a_bit(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(
        label="avoids",
        value=f"不能{match['act'] or '吃'}{raw_group(match, 'what', clause)}",
        clause=clause,
        confidence=0.75,
    )


@_rule(
    "",
    r"^(?P<lead>(?:btw|ps|fyi|by the way|\s)*.{0,8}?)(?:吃素|素食(?:者|主义者)?|纯素|是\s?(?:vegan|vegetarian)|戒酒|不吃肉)",
)
def _diet(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    lead = re.sub(r"是|开始|一个|btw|ps|fyi|by the way", "", match["lead"])
    if speaks_alone(lead):
        yield Fact(label="diet", value=clause.raw[match.start() :][:30].removeprefix("我").strip(), clause=clause)


@_rule(
    "",
    rf"我(?:们家?)?(?:个人|自己|一直|从小|现在|目前|如今|其实)*(?:最|特别|超)(?:喜欢|爱|钟爱|偏爱)(?:吃|喝|看|听|玩|读|去|穿)?的(?P<thing>[{HAN}A-Za-z]{{1,8}}?)(?:一直|还|就|现在|肯定"
    rf"|永远)*(?:是|叫|要数|非)"
    rf"(?!什么|哪|谁)(?P<what>[^，。！？；{MASK}]{{1,20}}?)(?:了|啦|呢|莫属)?(?=$|[，。！；])",
)
def _favourite(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    thing, what = raw_group(match, "thing", clause), raw_group(match, "what", clause)
    if re.match(r"[人事]$|时候|部分|一[个天次]|地方在", thing) or NOT_WHAT.match(what):
        return
    yield Fact(
        label=f"最喜欢的{thing}",
        value=f"最喜欢的{thing}：{what}",
        stated=what,
        clause=clause,
        slot=f"favourite.{thing}",
    )


@_rule(
    "",
    rf"^(?P<lead>.{{0,10}}?)(?P<verb>喜欢|最爱|爱吃|爱喝|爱看|爱听|偏爱|讨厌"
    rf"|不喜欢|受不了|不爱|最怕|怕|热爱|喜欢上了|迷上了?|爱)\s?{WHAT_ZH}(?=$|[，。！])",
)
def _likes(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = raw_group(match, "what", clause)
    lead = match["lead"]
    if (
        not speaks_alone(lead)
        or ("我" not in lead and match["verb"] in ("爱", "怕"))
        or NOT_WHAT.match(what)
        or re.search("的[^的]{1,8}是", what)
        or (len(what) < 2 and not what.isascii())
    ):
        return
    verb = match["verb"]
    if verb == "怕" and re.search(r"[不忘找丢迟错掉到]|来不及|麻烦|打扰", what):
        return
    negative = verb in ("讨厌", "不喜欢", "受不了", "不爱", "最怕", "怕")
    yield Fact(label="dislike" if negative else "preference", value=f"{verb}{what}", clause=clause, confidence=0.75)


@_rule(
    "",
    rf"^(?:我)?(?:平时|平常|一般|通常|习惯|总是|一向|每天)(?:都|只"
    rf"|会|就)?(?P<act>(?:喝|吃|用|坐|穿|选|看|听|跑|走|骑|开|早起"
    rf"|睡)[{HAN}A-Za-z0-9 ]{{0,20}})(?=$|[，。！])",
)
def _habit(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(
        label="habit", value=clause.raw[match.start() : match.end()].removeprefix("我"), clause=clause, confidence=0.75
    )


@_rule(
    "",
    r"^我?(?P<act>每(?:天|晚|早|个?(?:周|星期|礼拜"
    r"|月)[一二三四五六日天末]?)(?:早上|晚上|上午|下午|中午)?我?都?(?:要|会)?(?:上|去|练|跑|打|游"
    r"|学|做|吃|喝|参加|骑|走|写|读|看|冥想)[^，。！]{1,16})(?=$|[，。！])",
)
def _routine(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="habit", value=raw_group(match, "act", clause), clause=clause, confidence=0.75)


@_rule(
    "",
    r"(?:我|^)(?:从小|天生)?(?:是|就是)(?:个|一个)?(?P<trait>左撇子|色盲"
    r"|色弱|近视|独生子女?|独生女|早起的人|夜猫子|社恐|路痴|素食者|糖尿病患者|聋哑?人|盲人)",
)
def _trait(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="trait", value=f"是{raw_group(match, 'trait', clause)}", clause=clause)


@_rule(
    "",
    r"^我?(?:有|得了|患有?|查出了?|确诊了?)(?:点|轻度|轻微"
    r"|严重的?)?(?P<what>糖尿病|哮喘|高血压|高血脂|偏头痛|湿疹|鼻炎|胃炎|胃病|关节炎|失眠症?"
    r"|抑郁症|焦虑症|心脏病|乳糖不耐受?|甲亢|甲减|痛风|贫血|腰椎间盘突出|颈椎病|癫痫)",
)
def _health(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="health", value=f"有{raw_group(match, 'what', clause)}", clause=clause)


@_rule(
    "",
    r"我(?:的)?\s?(?:生日|birthday)\s?(?:是|在)\s?(?P<when>[^，。！]{3,14})|我(?:是)?(?P<born>(?:19"
    r"|20)\d\d年[^，。！搬来去到回结离毕考入开买进转退认学做当养]{0,8}?)(?:出?生|的)",
)
def _birthday(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    group = "when" if match["when"] else "born"
    day = raw_group(match, group, clause)
    yield Fact(label="birthday", value=f"生日：{day}", stated=day, clause=clause, slot="birthday")


@_rule(
    "",
    r"^(?:我)?(?:今年)(?P<age>\d{1,3}|[一二三四五六七八九]?十[一二三四五六七八九]?)(?:岁|周岁)?(?:了)?(?=$|[，。！])",
)
def _age(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if "我" in match[0]:
        yield Fact(label="age", value=f"{raw_group(match, 'age', clause)}岁", clause=clause, slot="age")


@_rule("", r"我(?:已经|刚)?(?P<state>结婚|订婚|离婚|怀孕|单身|未婚|已婚)(?:了)?(?=$|[，。！])")
def _state(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    state = match["state"]
    yield Fact(
        label="family",
        value=raw_group(match, "state", clause),
        clause=clause,
        slot="" if state == "怀孕" else "marital_status",
        starts=True,
    )


@_rule(
    "",
    r"(?:我|^)(?:也|最近|现在|一直|正)*(?P<verb>会说|会讲|在学|学了|正在学|开始学|在?备考|准备考"
    r"|母语是)\s?(?P<what>[\u4e00-\u9fff、和]{1,12}?(?:语|文|话)|[\u4e00-\u9fffA-Za-z ]{2,10}?)(?=$|[，。！])",
)
def _language(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = raw_group(match, "what", clause)
    if not what.endswith(("语", "文", "话", "語")):
        if re.search(r"[的了不]", what) or "母语" in match["verb"]:
            return
        if "考" in match["verb"]:
            yield Fact(label="studies", value=f"在备考{what}", clause=clause, confidence=0.75)
        elif "学" in match["verb"]:
            yield Fact(label="hobby", value=f"在学{what}", clause=clause, confidence=0.75)
        return
    yield Fact(label="languages", value=f"{raw_group(match, 'verb', clause)}{what}", clause=clause)


@_rule(
    "",
    r"(?:我|我们)(?:现在|最近|已经|刚)?(?:把[^，。]{1,10})?"
    r"(?:从\s?(?P<old>[^，。！]{1,12}?)\s?)?(?:换成了?|改用了?|换到了?"
    r"|换用了?|转用了?|switch\s?到)\s?(?P<new>[^，。！]{2,16}?)(?:了)?(?=$|[，。！])",
)
def _switched(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    old = f"（之前：{raw_group(match, 'old', clause)}）" if match["old"] else ""
    slot = f"uses.{match['old'].lower()}" if match["old"] else ""
    yield Fact(
        label="uses",
        value=f"使用{raw_group(match, 'new', clause)}{old}",
        clause=clause,
        slot=slot,
        starts=True,
        confidence=0.75,
    )
