"""The user's name, home, work and studies, in Chinese: 我叫文静, 住在成都, 在第三中学教物理."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .chinese_grammar import ADV_ZH, NAME_ZH, NOT_PLACES, PLACE_ZH, SELF_ZH, raw_group
from .english_grammar import Fact, rule_set
from .people import KIN_ZH_PATTERN, is_name
from .sentences import Clause
from .words import HAN, NAME, SURNAME_ZH

__all__ = ["LIFE_RULES_ZH"]

LIFE_RULES_ZH, _rule = rule_set()


@_rule(
    "",
    rf"我(?:的名字|大名)?(?:叫做?|名字?叫|的名字是|全名是)\s?{NAME_ZH}"
    rf"|(?:^|你好\W*)我是\s?(?P<am>[小老阿][{HAN}](?=$|[，。！])|{SURNAME_ZH}[{HAN}]{{1,2}}(?=$|[，。！])"
    rf"|{NAME}(?=$|[，。！]))",
)
def _name(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    group = "name" if match["name"] else "am"
    name = raw_group(match, group, clause)
    if match["am"] and re.search(r"[人生员师者座客手工长迷控粉民家党族哥姐妈爸]$|的|单身|素食", name):
        return
    if name and (not name.isascii() or is_name(name)):
        yield Fact(label="name", value=name, clause=clause, slot="name")


@_rule("", rf"(?:叫我|称呼我为?|喊我)\s?(?P<name>[{HAN}]{{2,4}}|{NAME})(?:就行|就好|吧|即可)?")
def _called(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    name = re.sub(r"(?:就行|就好|就可以|即可|吧)$", "", raw_group(match, "name", clause))
    if re.search(r"妈|老师|都|大家|他们|同事|起床|吃饭|一声|早|去", name):
        return
    if name and not re.search(r"(?:他|她|们|都|妈|爸)\s*$", clause.text[: match.start()]):
        yield Fact(label="form of address", value=f"希望被称为{name}", clause=clause, slot="form_of_address")


@_rule("", rf"(?:{SELF_ZH}|我们家?|我家){ADV_ZH}(?:住在|住|定居在?|家在|base\s?在)\s?{PLACE_ZH}")
def _home(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    place = raw_group(match, "place", clause)
    if not NOT_PLACES.match(place) and not re.search(
        KIN_ZH_PATTERN, clause.text[: match.start("place")].replace("我家", "")
    ):
        yield Fact(label="home", value=f"住在{place}", stated=place, clause=clause, slot="home_city", starts=True)


@_rule(
    "",
    rf"(?:{SELF_ZH}|我们){ADV_ZH}.{{0,16}}?(?:搬到|搬去|搬来|搬回"
    rf"|移居到?|搬家到|move\s?到|relocate\s?到)\s?了?\s?{PLACE_ZH}",
)
def _moved(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    place = raw_group(match, "place", clause)
    if not NOT_PLACES.match(place) and not re.search(
        rf"(?:想|要|打算|准备|计划|{KIN_ZH_PATTERN}|他|她|公司|办公室|单位|总部)", match[0].removeprefix("我们")
    ):
        yield Fact(label="home", value=f"住在{place}", stated=place, clause=clause, slot="home_city", starts=True)


@_rule("", rf"(?:我是|我老家(?:是|在)?|老家[在是]?|我来自)\s?(?P<place>[{HAN}]{{2,5}}?|{NAME})(?:人|的)?(?=$|[，。！])")
def _origin(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    place = raw_group(match, "place", clause)
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


@_rule("", rf"(?:{SELF_ZH}){ADV_ZH}在\s?{_ORG}(?:工作|上班|任职|就职|实习)")
def _works_at(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    org = raw_group(match, "org", clause)
    if not re.search(r"^(?:家|外面|这|那|哪|公司$|楼|学校$|单位|里|外地|同一)|他|她|你", org):
        yield Fact(label="employer", value=f"在{org}工作", stated=org, clause=clause, slot="employer")


@_rule(
    "",
    rf"(?:{SELF_ZH})(?:刚|最近|上个?月|去年|今年)*(?:来到|来|到|在)\s?{PLACE_ZH}\s?(?:这边)?(?:读|念|上学|上大学|留学|定居)(?!过)",
)
def _studies_in(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    place = raw_group(match, "place", clause)
    if not NOT_PLACES.match(place) and not re.search(r"大学|学院|学校", place):
        yield Fact(label="home", value=f"住在{place}", stated=place, clause=clause, slot="home_city", confidence=0.75)


@_rule(
    "",
    rf"(?:(?:专业|研究方向|方向|主修的?)是\s?(?P<what>[{HAN}A-Za-z &]{{2,40}}?)"
    rf"|(?:^|我)(?:现在|目前)?(?:是|在)?(?:大[一二三四]|研[一二三]|本科|硕士|博士"
    rf"|[{HAN}]{{2,6}}大学)?(?:在读)?[学读念]\s?(?P<subject>[{HAN}A-Za-z ]{{2,20}}?)(?:专业|的))(?=$|[，。！])",
)
def _studies(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = raw_group(match, "what" if match["what"] else "subject", clause)
    if not re.search(r"[了过得]|书|他|她|你|什么|不是|语$", what):
        yield Fact(label="studies", value=f"专业：{what}", stated=what, clause=clause, slot="studies", confidence=0.75)


@_rule(
    "",
    rf"^(?:.{{0,10}}(?:起|开始|后))?我?(?:到|去)\s?{_ORG}(?:做|当|任|担任)\s?(?P<job>[{HAN}A-Za-z ]{{2,14}}?)(?:了|啦)?$",
)
def _goes_to_work(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    org, job = raw_group(match, "org", clause), raw_group(match, "job", clause)
    if not re.search(r"这|那|哪|他|她|你|家$|想|要|想|医院$", org) and not re.match(
        r"饭|菜|作业|客|检查|手术|体检|核酸|按摩|spa", job
    ):
        yield Fact(
            label="job",
            value=f"在{org}做{job}",
            stated=job,
            clause=clause,
            slot="job_title",
            starts=True,
            confidence=0.75,
        )


@_rule(
    "",
    r"(?:^|我)(?P<what>(?:烟|酒)(?:我)?(?:是|真|实在)*(?:戒不了|戒不掉|离不开)|抽了[^，。]{1,6}年烟?|烟龄[^，。]{1,6}年|(?:已经)?戒[烟酒]了?[^，。]{0,8})$",
)
def _smokes(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="habit", value=raw_group(match, "what", clause), clause=clause, confidence=0.75)


@_rule(
    "",
    rf"(?:{SELF_ZH}){ADV_ZH}在\s?{_ORG}(?P<verb>做|当|担任|教|负责)\s?(?P<job>[{HAN}A-Za-z ]{{2,16}}?)(?:的?工作)?(?=$|[，。！了])",
)
def _does_at(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    org, job = raw_group(match, "org", clause), raw_group(match, "job", clause)
    if re.search(r"家里?$|这|那|哪|他|她|你", org) or re.match(r"饭|菜|梦|什么|作业|的|个", job):
        return
    yield Fact(label="employer", value=f"在{org}工作", stated=org, clause=clause, slot="employer")
    yield Fact(
        label="job",
        value=f"在{org}{raw_group(match, 'verb', clause)}{job}",
        stated=job,
        clause=clause,
        slot="job_title",
    )


@_rule(
    "",
    rf"(?:(?:我|^)(?:现在|目前)?(?:是|做)(?:一?[名个位])?)(?P<job>(?:[{HAN}A-Za-z ]{{0,8}}?){_JOB_ZH})(?=$"
    rf"|[，。！的了])|^做\s?(?P<job2>[{HAN}A-Za-z ]{{0,16}}?{_JOB_ZH})(?=$|[，。！])|^(?:现在|目前)?(?:当|转行做|转做"
    rf"|升职?(?:做|为|成)|升任)(?:了)?\s?(?P<job3>[{HAN}A-Za-z ]{{0,12}}?{_JOB_ZH})",
)
def _job(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    group = next(name for name in ("job", "job2", "job3") if match[name])
    job = raw_group(match, group, clause)
    if not re.search(r"他|她|你|不|妈|爸", match[0]):
        yield Fact(label="job", value=f"职业：{job}", stated=job, clause=clause, slot="job_title", starts=True)


@_rule("", rf"(?:我|^)(?:现在|一直)?是?(?:做|搞|从事)(?P<job>[{HAN}A-Za-z]{{2,10}})(?:的|行业|工作)$")
def _trade(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    job = raw_group(match, "job", clause)
    if not re.search(r"[了过得给好完他她你这那]|什么|饭|菜|梦|饭", job):
        yield Fact(label="job", value=f"做{job}", stated=job, clause=clause, slot="job_title")


@_rule("", rf"^(?:我)?现在(?:我)?在家(?P<job>(?:做|接|写|画|教|带|卖|开|当)[{HAN}A-Za-z ]{{2,14}}?)(?=$|[，。！])")
def _works_home(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(
        label="job", value=f"在家{raw_group(match, 'job', clause)}", clause=clause, slot="job_title", starts=True
    )


@_rule(
    "",
    rf"(?:{SELF_ZH}).{{0,12}}?(?:入职|跳槽到|加入|去了?|onboard|join"
    rf"|进了?)(?:了)?\s?(?P<org>(?<=入职)[{HAN}A-Za-z]{{2,10}}(?=$|[，。！])"
    rf"|(?<=跳槽到)[{HAN}A-Za-z]{{2,10}}(?=$|[，。！])|{NAME}"
    rf"|[{HAN}A-Za-z]{{2,10}}?(?:公司|医院|学校|大学|银行|集团|科技|工作室|事务所))",
)
def _joined(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    org = raw_group(match, "org", clause)
    if (
        re.search(r"入职|跳槽到|加入|onboard|join", match[0])
        and not re.search(r"想|打算|他|她|如果|新同事|要[^，]|记", match[0])
        and (not org.isascii() or is_name(org))
    ):
        yield Fact(label="employer", value=f"在{org}工作", stated=org, clause=clause, slot="employer", starts=True)


@_rule(
    "",
    rf"^(?:我的?|新)?(?:公司|单位|东家)(?:名字)?(?:叫做?"
    rf"|是)\s?(?P<org>{NAME}|[{HAN}A-Za-z]{{2,12}}?)(?=$|[，。！])",
)
def _company(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    org = raw_group(match, "org", clause)
    if org and not re.search(r"[的做不一在]", org):
        yield Fact(label="employer", value=f"在{org}工作", stated=org, clause=clause, slot="employer", starts=True)


@_rule(
    "",
    rf"(?:从\s?(?P<org>[{HAN}A-Za-z& ]{{2,12}}?)\s?(?:离职|辞职|跳槽)"
    rf"|(?:把)?(?P<org2>[{HAN}A-Za-z]{{2,10}}?)的(?:工作|活儿?)也?(?:给)?辞(?:掉)?了?)",
)
def _left(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    group = "org" if match["org"] else "org2"
    org = raw_group(match, group, clause)
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
