"""Self-reports in Chinese, and in Chinese mixed with English: 我叫文静, 住在成都, 我对芒果过敏, 老公叫陆铭, 一只橘猫叫豆包."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .english_grammar import Fact, rule_set
from .family_chinese import chinese_family
from .people import KIN_ZH_PATTERN, People, is_name
from .sentences import Clause, Reading
from .words import HAN, NAME, SURNAME_ZH

__all__ = ["chinese_facts"]

_I = (
    r"(?:我(?!们?(?:的|家|妈|爸|老|哥|姐|弟|妹|朋|同|儿|女|外"
    r"|爷|奶|公|婆|岳|男|闺|室|弟|先|太|爱|想|觉|看|问|听))\s?|^)"
)
_ADV = (
    r"(?:现在|目前|已经|刚刚?|最近|一直|都|也|就|还|平时|平常|从小|特别|非常"
    r"|最|很|真的|超|比较|上周[一二三四五六日天]?|昨天|今年|去年|这个月|上个月|是)*"
)
_NAME = rf"(?P<name>[{HAN}]{{2,3}}(?=$|[，。！、；：\s])|{NAME})"
_PLACE = (
    rf"(?P<place>[{HAN}]{{2,7}}?(?=$"
    rf"|[了，。！、；：\s的]|工作|上班|生活|定居|读书|这边|住|已经|快|有|\d)|{NAME})"
)
_WHAT = rf"(?P<what>[{HAN}A-Za-z0-9 &'+-]{{1,20}}?)"
_END = r"(?=$|[，。！；：、]|了$|，)"
_NOT_PLACES = re.compile(
    r"^(?:一起|哪|那里|这里|这边|那边|家里?|外面|公司|楼上|酒店|附近|一个|新|里面|学校|单位|这|那|得|不|的)"
)
_NOT_WHAT = re.compile(r"^(?:你|他|她|它|这|那|什么|怎么|一个人|说|想|看到|的|了|是|不|没|吗|吃什么|自己)")

_RULES, _rule = rule_set()


def _raw(match: re.Match[str], group: str, clause: Clause) -> str:
    """The group in the characters it was written in."""
    start, end = match.span(group)
    return clause.raw[start:end].strip(" ，。、")


@_rule(
    "",
    rf"我(?:的名字|大名)?(?:叫做?|名字?叫|的名字是|全名是)\s?{_NAME}"
    rf"|(?:^|你好\W*)我是\s?(?P<am>[小老阿][{HAN}](?=$|[，。！])|{SURNAME_ZH}[{HAN}]{{1,2}}(?=$|[，。！])"
    rf"|{NAME}(?=$|[，。！]))",
)
def _name(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    group = "name" if match["name"] else "am"
    name = _raw(match, group, clause)
    if match["am"] and re.search(r"[人生员师者座客手工长迷控粉民家党族哥姐妈爸]$|的|单身|素食", name):
        return
    if name and (not name.isascii() or is_name(name)):
        yield Fact(label="name", value=name, clause=clause, slot="name")


@_rule("", rf"(?:叫我|称呼我为?|喊我)\s?(?P<name>[{HAN}]{{2,4}}|{NAME})(?:就行|就好|吧|即可)?")
def _called(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    name = re.sub(r"(?:就行|就好|就可以|即可|吧)$", "", _raw(match, "name", clause))
    if re.search(r"妈|老师|都|大家|他们|同事|起床|吃饭|一声|早|去", name):
        return
    if name and not re.search(r"(?:他|她|们|都|妈|爸)\s*$", clause.text[: match.start()]):
        yield Fact(label="form of address", value=f"希望被称为{name}", clause=clause, slot="form_of_address")


@_rule("", rf"(?:{_I}|我们家?|我家){_ADV}(?:住在|住|定居在?|家在|base\s?在)\s?{_PLACE}")
def _home(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    place = _raw(match, "place", clause)
    if not _NOT_PLACES.match(place) and not re.search(
        KIN_ZH_PATTERN, clause.text[: match.start("place")].replace("我家", "")
    ):
        yield Fact(label="home", value=f"住在{place}", stated=place, clause=clause, slot="home_city", starts=True)


@_rule(
    "",
    rf"(?:{_I}|我们){_ADV}.{{0,8}}?(?:搬到|搬去|搬来|搬回"
    rf"|移居到?|搬家到|move\s?到|relocate\s?到)\s?了?\s?{_PLACE}",
)
def _moved(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    place = _raw(match, "place", clause)
    if not _NOT_PLACES.match(place) and not re.search(
        rf"(?:想|要|打算|准备|计划|{KIN_ZH_PATTERN}|他|她|公司|办公室|单位|总部)", match[0].removeprefix("我们")
    ):
        yield Fact(label="home", value=f"住在{place}", stated=place, clause=clause, slot="home_city", starts=True)


@_rule("", rf"(?:我是|我老家(?:是|在)?|老家[在是]?|我来自)\s?(?P<place>[{HAN}]{{2,5}}?|{NAME})(?:人|的)?(?=$|[，。！])")
def _origin(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    place = _raw(match, "place", clause)
    if (
        ("老家" in match[0] or "来自" in match[0] or match[0].endswith("人"))
        and len(place) >= 2
        and not re.search(r"[一个的好坏本]|什么|自己|女|男|大|负责|年轻|老", place)
    ):
        yield Fact(label="origin", value=f"来自{place}", clause=clause, slot="hometown")


_ORG = rf"(?P<org>一?[家所个]?[{HAN}A-Za-z0-9& ·]{{2,16}}?)"
_JOB_ZH = (
    r"(?:工程师|设计师|老师|教师|医生|护士|律师|会计|程序员|产品经理|经理|销售|前台"
    r"|司机|厨师|编辑|记者|翻译|分析师|研究员|顾问|主管|总监|助理|店长|摄影师|药剂师"
    r"|建筑师|插画师|教练|导游|警察|军人|公务员|学生|研究生|博士生|博士|实习生"
    r"|自由职业者?|客服|运营|文员|出纳|保安|飞行员|空姐|空乘|演员|歌手|作家|画家|兽医"
    r"|园艺师|咖啡师|面包师|理发师|美容师|快递员|技师|科学家|社工|心理咨询师|家庭主妇"
    r"|全职妈妈|product manager|engineer|designer|manager"
    r"|developer|analyst|intern|consultant|PM|data scientist|accountant|teacher|nurse|lawyer)"
)


@_rule("", rf"(?:{_I}){_ADV}在\s?{_ORG}(?:工作|上班|任职|就职|实习)")
def _works_at(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    org = _raw(match, "org", clause)
    if not re.search(r"^(?:家|外面|这|那|哪|公司$|楼|学校$|单位|里|外地|同一)|他|她|你", org):
        yield Fact(label="employer", value=f"在{org}工作", stated=org, clause=clause, slot="employer")


@_rule(
    "",
    rf"(?:{_I}){_ADV}在\s?{_ORG}(?:做|当|担任|教|负责)\s?(?P<job>[{HAN}A-Za-z ]{{2,16}}?)(?:的?工作)?(?=$|[，。！了])",
)
def _does_at(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    org, job = _raw(match, "org", clause), _raw(match, "job", clause)
    if re.search(r"家里?$|这|那|哪|他|她|你", org) or re.match(r"饭|菜|梦|什么|作业|的|个", job):
        return
    yield Fact(label="employer", value=f"在{org}工作", stated=org, clause=clause, slot="employer")
    yield Fact(label="job", value=f"在{org}做{job}", stated=job, clause=clause, slot="job_title")


@_rule(
    "",
    rf"(?:(?:我|^)(?:现在|目前)?(?:是|做)(?:一?[名个位])?)(?P<job>(?:[{HAN}A-Za-z ]{{0,8}}?){_JOB_ZH})(?=$"
    rf"|[，。！的了])|^做\s?(?P<job2>[{HAN}A-Za-z ]{{0,16}}?{_JOB_ZH})(?=$|[，。！])|^(?:现在|目前)?(?:当|转行做|转做"
    rf"|升职?(?:做|为|成)|升任)(?:了)?\s?(?P<job3>[{HAN}A-Za-z ]{{0,12}}?{_JOB_ZH})",
)
def _job(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    group = next(name for name in ("job", "job2", "job3") if match[name])
    job = _raw(match, group, clause)
    if not re.search(r"他|她|你|不|妈|爸", match[0]):
        yield Fact(label="job", value=f"职业：{job}", stated=job, clause=clause, slot="job_title", starts=True)


@_rule("", rf"(?:我|^)(?:现在|一直)?是?(?:做|搞|从事)(?P<job>[{HAN}A-Za-z]{{2,10}})(?:的|行业|工作)$")
def _trade(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    job = _raw(match, "job", clause)
    if not re.search(r"[了过得给好完他她你这那]|什么|饭|菜|梦|饭", job):
        yield Fact(label="job", value=f"做{job}", stated=job, clause=clause, slot="job_title")


@_rule("", rf"^(?:我)?现在(?:我)?在家(?P<job>(?:做|接|写|画|教|带|卖|开|当)[{HAN}A-Za-z ]{{2,14}}?)(?=$|[，。！])")
def _works_home(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="job", value=f"在家{_raw(match, 'job', clause)}", clause=clause, slot="job_title", starts=True)


@_rule(
    "",
    rf"(?:{_I}).{{0,12}}?(?:入职|跳槽到|加入|去了?|onboard|join"
    rf"|进了?)(?:了)?\s?(?P<org>(?<=入职)[{HAN}A-Za-z]{{2,10}}(?=$|[，。！])"
    rf"|(?<=跳槽到)[{HAN}A-Za-z]{{2,10}}(?=$|[，。！])|{NAME}"
    rf"|[{HAN}A-Za-z]{{2,10}}?(?:公司|医院|学校|大学|银行|集团|科技|工作室|事务所))",
)
def _joined(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    org = _raw(match, "org", clause)
    if (
        re.search(r"入职|跳槽到|加入|onboard|join", match[0])
        and not re.search(r"想|打算|他|她|如果", match[0])
        and (not org.isascii() or is_name(org))
    ):
        yield Fact(label="employer", value=f"在{org}工作", stated=org, clause=clause, slot="employer", starts=True)


@_rule(
    "",
    rf"^(?:我的?|新)?(?:公司|单位|东家)(?:名字)?(?:叫做?"
    rf"|是)\s?(?P<org>{NAME}|[{HAN}A-Za-z]{{2,12}}?)(?=$|[，。！])",
)
def _company(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    org = _raw(match, "org", clause)
    if org and not re.search(r"[的做不一在]", org):
        yield Fact(label="employer", value=f"在{org}工作", stated=org, clause=clause, slot="employer", starts=True)


@_rule(
    "",
    rf"(?:从\s?(?P<org>[{HAN}A-Za-z& ]{{2,12}}?)\s?(?:离职|辞职|跳槽)"
    rf"|(?:把)?(?P<org2>[{HAN}A-Za-z]{{2,10}}?)的(?:工作|活儿?)也?(?:给)?辞(?:掉)?了?)",
)
def _left(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    group = "org" if match["org"] else "org2"
    org = _raw(match, group, clause)
    if not re.search(r"他|她|想|要|打算|准备", clause.text[: match.end()]):
        yield Fact(
            label="employer",
            value=f"已离开{org}",
            stated=f"不在{org}了",
            clause=clause,
            slot="employer",
            starts=True,
            ends=True,
        )


@_rule("", rf"(?:{_I}|^我们?\s?)[^他她你]{{0,6}}?对\s?{_WHAT}\s?(?:都|也|严重|有点|轻微)?(?:过敏|不耐受|allergic)")
def _allergy(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    before = clause.text[: match.start("what")]
    if re.search(r"不$|没有|他|她|你", before) or re.search(KIN_ZH_PATTERN, before) or not _own(before):
        return
    yield Fact(label="allergy", value=f"对{_raw(match, 'what', clause)}过敏", clause=clause, confidence=0.9)


def _own(before: str) -> bool:
    """Whether what stands before a verb is the user or nothing: no other subject."""
    rest = re.sub(r"我们?|自己|对|其实|因为|另外|还有|然后|而且|但是?|不过|" + _ADV, "", before).strip(" ，")
    return not rest


@_rule(
    "",
    rf"^(?P<lead>.{{0,8}}?)(?:不(?:太能|太|怎么|能|可以)?|从不|从来不)(?P<act>吃|喝|碰|抽"
    rf"|沾)(?P<what>[{HAN}A-Za-z]{{0,10}}?)(?=$|[，。！的了也])",
)
def _avoids(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = _raw(match, "what", clause)
    if (
        not _own(match["lead"])
        or (not what and match["act"] != "抽")
        or re.search(r"饱|完|下|到|起|惯|早|午|晚|了|什么|亏|得|消", what)
        or _NOT_WHAT.match(what)
    ):
        return
    yield Fact(label="avoids", value=f"不{match['act']}{what}", clause=clause, confidence=0.8)


@_rule(
    "",
    r"^(?P<lead>(?:btw|ps|fyi|by the way|\s)*.{0,8}?)(?:吃素|素食(?:者|主义者)?|纯素|是\s?(?:vegan|vegetarian)|戒酒|不吃肉)",
)
def _diet(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    lead = re.sub(r"是|开始|一个|btw|ps|fyi|by the way", "", match["lead"])
    if _own(lead):
        yield Fact(label="diet", value=clause.raw[match.start() :][:30].removeprefix("我").strip(), clause=clause)


@_rule(
    "",
    rf"^(?P<lead>.{{0,10}}?)(?P<verb>喜欢|最爱|爱吃|爱喝|爱看|爱听|偏爱|讨厌"
    rf"|不喜欢|受不了|不爱|最怕|怕|热爱|喜欢上了|迷上了?|爱)\s?{_WHAT}(?=$|[，。！])",
)
def _likes(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = _raw(match, "what", clause)
    lead = match["lead"]
    if (
        not _own(lead)
        or ("我" not in lead and match["verb"] in ("爱", "怕"))
        or _NOT_WHAT.match(what)
        or (len(what) < 2 and not what.isascii())
    ):
        return
    verb = match["verb"]
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
    r"|月)[一二三四五六日天末]?)(?:早上|晚上|上午|下午|中午)?都?(?:要|会)?(?:上|去|练|跑|打|游"
    r"|学|做|吃|喝|参加|骑|走|写|读|看|冥想)[^，。！]{1,16})(?=$|[，。！])",
)
def _routine(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="habit", value=_raw(match, "act", clause), clause=clause, confidence=0.75)


@_rule(
    "",
    r"(?:我|^)(?:从小|天生)?(?:是|就是)(?:个|一个)?(?P<trait>左撇子|色盲"
    r"|色弱|近视|独生子女?|独生女|早起的人|夜猫子|社恐|路痴|素食者|糖尿病患者|聋哑?人|盲人)",
)
def _trait(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="trait", value=f"是{_raw(match, 'trait', clause)}", clause=clause)


@_rule(
    "",
    r"^我?(?:有|得了|患有?|查出了?|确诊了?)(?:点|轻度|轻微"
    r"|严重的?)?(?P<what>糖尿病|哮喘|高血压|高血脂|偏头痛|湿疹|鼻炎|胃炎|胃病|关节炎|失眠症?"
    r"|抑郁症|焦虑症|心脏病|乳糖不耐受?|甲亢|甲减|痛风|贫血|腰椎间盘突出|颈椎病|癫痫)",
)
def _health(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="health", value=f"有{_raw(match, 'what', clause)}", clause=clause)


@_rule(
    "",
    r"我(?:的)?\s?(?:生日|birthday)\s?(?:是|在)\s?(?P<when>[^，。！]{3,14})|我(?:是)?(?P<born>(?:19"
    r"|20)\d\d年[^，。！]{0,8}?)(?:出?生|的)",
)
def _birthday(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    group = "when" if match["when"] else "born"
    yield Fact(label="birthday", value=f"生日：{_raw(match, group, clause)}", clause=clause, slot="birthday")


@_rule(
    "",
    r"^(?:我)?(?:今年)(?P<age>\d{1,3}|[一二三四五六七八九]?十[一二三四五六七八九]?)(?:岁|周岁)?(?:了)?(?=$|[，。！])",
)
def _age(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    if "我" in match[0]:
        yield Fact(label="age", value=f"{_raw(match, 'age', clause)}岁", clause=clause, slot="age")


@_rule("", r"我(?:已经|刚)?(?P<state>结婚|订婚|离婚|怀孕|单身|未婚|已婚)(?:了)?(?=$|[，。！])")
def _state(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    state = match["state"]
    yield Fact(
        label="family",
        value=_raw(match, "state", clause),
        clause=clause,
        slot="" if state == "怀孕" else "marital_status",
        starts=True,
    )


@_rule(
    "",
    r"(?:我|^)(?:也|最近|现在|一直|正)*(?P<verb>会说|会讲|在学|学了|正在学|开始学"
    r"|母语是)\s?(?P<what>[\u4e00-\u9fff、和]{1,12}?(?:语|文|话)|[\u4e00-\u9fffA-Za-z ]{2,10}?)(?=$|[，。！])",
)
def _language(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = _raw(match, "what", clause)
    if not what.endswith(("语", "文", "话", "語")):
        if "学" in match["verb"] and not re.search(r"[的了不]", what):
            yield Fact(label="hobby", value=f"在学{what}", clause=clause, confidence=0.75)
        return
    yield Fact(label="languages", value=f"{_raw(match, 'verb', clause)}{what}", clause=clause)


@_rule(
    "",
    r"(?:我|我们)(?:现在|最近|已经|刚)?(?:把[^，。]{1,10})?"
    r"(?:从\s?(?P<old>[^，。！]{1,12}?)\s?)?(?:换成了?|改用了?|换到了?"
    r"|换用了?|转用了?|switch\s?到)\s?(?P<new>[^，。！]{2,16}?)(?:了)?(?=$|[，。！])",
)
def _switched(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    old = f"（之前：{_raw(match, 'old', clause)}）" if match["old"] else ""
    slot = f"uses.{match['old'].lower()}" if match["old"] else ""
    yield Fact(
        label="uses",
        value=f"使用{_raw(match, 'new', clause)}{old}",
        clause=clause,
        slot=slot,
        starts=True,
        confidence=0.75,
    )


_ANSWER = re.compile(
    r"回答|回复|答复|说话|表情|emoji|繁体|简体|普通话|中文|英文|英语|日语|句话"
    r"|字以内|简短|简洁|啰嗦|详细|要点|列点|分点|列表|markdown|公制|摄氏|称呼"
    r"|您|客套|语气|术语|举例|结论"
)
_STANDING = re.compile(
    r"以后|今后|往后|从现在起|每次|总是|一律|永远|一直|别再|不要再|都(?:用|要"
    r"|请)|请(?:用|你|一直|都|尽量)|(?:跟|和|给)我(?:说|讲|回|聊)|(?:希望"
    r"|喜欢)你|回[答复](?:我|时|的时候)?(?:都|请|要|尽量|用|简)"
)
_OTHER_SUBJECT = re.compile(
    rf"^(?:然后|而且|但是?|因为|所以|还有|我们?家?的?|咱们?家?的?"
    rf"|\s)*(?:{KIN_ZH_PATTERN}|他|她|它|你|您|大家|别人|有人|[小老阿](?!家"
    rf"|师)[\u4e00-\u9fff](?=是|在|有|对|也|很|最|不|喜|从))|^这|^那"
)


def chinese_facts(reading: Reading, people: People) -> Iterator[Fact]:
    """The core facts that a reading holds in Chinese, or in Chinese mixed with English."""
    for sentence in reading.sentences:
        if not sentence.holds or not sentence.clauses:
            continue
        yield from chinese_family(sentence.text, sentence.raw, sentence.clauses)
        if (
            len(sentence.text) <= 120
            and _ANSWER.search(sentence.text)
            and _STANDING.search(sentence.text)
            and not re.search(r"他们|客户|老板|同事", sentence.text)
        ):
            first = next((c for c in sentence.clauses if _STANDING.search(c.text) or _ANSWER.search(c.text)), None)
            if first is not None:
                end = sentence.clauses[-1].end
                raw = sentence.raw[first.start - sentence.start : end - sentence.start]
                yield Fact(
                    label="answers",
                    value=raw,
                    confidence=0.8,
                    clause=Clause(start=first.start, end=end, text=raw, raw=raw, holds=True, sentence=first.sentence),
                )
                continue
        own = True
        for clause in sentence.clauses:
            # Who is spoken of stays so up to the next subject: "我爸血压高，每天吃药" says nothing of the user.
            own = _speaks_of_self(clause.text, own)
            if not clause.holds or not own:
                continue
            for _, pattern, make in _RULES:
                match = pattern.search(clause.text)
                if match:
                    yield from make(match, clause)


def _speaks_of_self(text: str, before: bool) -> bool:
    if _OTHER_SUBJECT.match(text):
        return False
    return True if text.startswith("我") or "我" in text[:6] else before
