"""Plain statements about people and things in Chinese: 采购负责人是周启航, 备用钥匙放在鞋柜第二层, 我们的日志用的是 Loki.

As with :mod:`.stated_english`, the form decides: somebody's role with a name, or a definite subject with a predicate
that lasts and holds a number, a Latin name, a weekday or a place.
"""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .people import KIN_ZH_PATTERN, People, is_name
from .sentences import MASK, Clause, Sentence
from .told import Told
from .words import HAN, NAME, SURNAME_ZH

__all__ = ["chinese_statements"]

_NOT_SURNAMED = (
    r"(?!周[一二三四五六日天末]|马上|方[案法便向式面]|程[序度]|安[排全心静]|于是|金[额子属]|余额|常[常用见]|石头|孔子|孙[子女]"
    r"|老[板师婆公家是天大人爸妈总]|小[区时心孩猫狗吃学说姐妹弟哥菜碗火米]|阿姨|家|华为|江[边南苏西]|林[业子]|叶子|黄[色瓜金油酒豆]|白"
    r"|金|万[一分]|何[时况必]|夏天|季[节度]|水|温[度水]|田|毛|余|任[何务]|施|路|毕[业竟]|严[重格]|顾客|许多|曾经|范围|单|连|和|向"
    r"|计|项[目]|汤|康|戴着|杜绝|鲁|危|成|郎|章|梁|杨[梅树]|柳)"
)
_TITLE = r"(?:总监?|经理|老师|医生|师傅|工|姐|哥|先生|女士|阿姨|主任|教授|律师|大夫|叔叔?|婶)"
_SOMEBODY = (
    rf"(?P<name>(?:(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.?\s)?{NAME}|{_NOT_SURNAMED}{SURNAME_ZH}(?:{_TITLE}|[{HAN}]{{1,2}}))"
)
_ROLE_WORD = (
    rf"(?:负责人|带队的?|领队|班主任|主任|队长|组长|对接人?|联系人|接口人|管家|物业|中介|前台|店长|老板娘?|室长|搭档|合伙人|新[来的人]+的?"
    rf"|那边|这边|站长|园长|校长|院长|经理人?|总监|主管|顾问|前端|后端|运维|测试|设计|产品|客服|财务|人事|行政|QA|PM|DBA|HR|lead"
    rf"|leader|owner|mentor|manager|TL|CTO|CEO|on-?call|{KIN_ZH_PATTERN})"
)
_ROLE = re.compile(
    rf"(?P<role>[{HAN}A-Za-z ]{{0,10}}?{_ROLE_WORD}|新的)\s?(?:的?名字)?(?:现在|目前|以后|就|都|已经|的)*\s?"
    rf"(?:是|叫做?|由|换成了?|改成了?|归|找)\s?{_SOMEBODY}(?=$|[，。！、；\s]|负责|管|带|来|接|了|在|，|对接|也|就)",
    re.IGNORECASE,
)
_CHARGE = re.compile(
    rf"^(?:还有|另外|对了|然后|现在|以后|\s)*{_SOMEBODY}\s?(?:现在|目前|以后|也|都|是|就|一直|还|主要|\s)*"
    rf"(?P<rest>(?:负责|管着?|带着?|接手|接替|主导|对接|住在?|来自|教|爱吃|爱喝|喜欢|讨厌|不吃|不喝|不能|对|在|属|是|今年|比我|"
    rf"养|做|开|用|每[天周晚月]|只|从不|会说|不会|怕)[^{MASK}]{{2,60}})$"
)
_CALLED = re.compile(
    rf"^(?P<who>她|他|名字|对方|人家)(?:的名字)?(?:叫做?|是叫|名叫)\s?(?P<name>[{HAN}]{{2,3}}|{NAME})(?P<more>.*)$"
)
_STATED = re.compile(
    rf"^(?:还有|另外|对了|而且|然后|不过|但是?|因为|其实|btw|ps|fyi|注意|记住|记一下|帮我记一?下?|提醒一下|更新一下|哦|啊|嗯|，|：|\s)*"
    rf"(?P<thing>(?:(?:我们|咱们?|我家|我司|家里|公司|学校|小区|办公室|楼下|楼上|项目|店里|单位|组里|团队)的?\s?)?"
    rf"(?!第[一二三四五六七八九十\d]|我|你|您|他|她|它|这|那|今|明|昨|后天|前天|现在|刚|最|感|觉|真|太|好|没|不|有|就|也|都|还|如|只|要|会|想|可|帮|请|给|把|让|先|再|去"
    rf"|来|谁|什么|怎|为|每|上[周个]|下[周个]|周|一|两|如果|应该|大家|有人|天气|时间|心情|问题|感觉|结果|算|等|听|看|说|记|改|发|准备|打算|已经|反正|总之|希望|谢|哈|从|在|到)"
    rf"[{HAN}A-Za-z0-9 ._/-]{{1,14}}?)(?<![现住搬])\s?"
    rf"(?P<verb>(?:现在|目前|已经|一般|平时|通常|统一|都|只|就|也|默认|改|全|每[{HAN}]{{1,4}}?)*"
    rf"(?:用的是|用的|用|是|住在|在|放在|藏在|存在|停在|叫|改成了?|改到了?|改为|换成了?|换到了?|搬到了?|涨到了?|降到了?|部署在|跑在|位于|要|需要|只能"
    rf"|只|不能|不|开到|开门|关门|营业|放假|休息|到期|归|走|写在|支持|属于|包括|等于|指|收|卖|限|满|每)|(?:现在|目前)(?=\s?\d))\s?(?P<value>[^{MASK}]{{1,60}})$"
)
_CONCRETE = re.compile(
    rf"\d|[A-Za-z][\w-]{{2,}}|周[一二三四五六日天末]|星期|[一二三四五六七八九十百两]+(?:点|号|块|元|天|年|岁|楼|层|个|次|公里|分钟|小时|米|斤|人|室|间|页|遍)"
    rf"|[{HAN}](?:抽屉|柜子?里|里面|后面|旁边|下面|上面|门口|隔壁|对面|楼下|楼上|底下|[东西南北前后侧]门|冰箱|床头|书架|鞋柜|地下|车库)|中午|晚上|凌晨|过敏|吃素"
)
_PASSING = re.compile(
    r"昨|明天|后天|前天|今[天晚早]|刚|这[周次会]|上周|下周|上个|下个|本周|马上|待会|等下|等会|一会儿?|目前还|了吧|吧$|吗|呢$|哈哈|好[累困烦冷热]|怎么|什么|谁|哪"
    r"|觉得|感觉|估计|可能|应该|好像|似乎|希望|想要?|打算|准备|要不|不知道|烦死|死了|气死|无语|好看|好吃|难吃|漂亮|可爱|厉害|开心|难过"
)
_SELF = re.compile(r"我(?!们|家|司|妈|爸)|你|您|帮我|给我|叫我|让我")
_DAY = re.compile(r"\d{1,2}\s?月\s?\d{1,2}|\d{1,2}[号日](?!楼|线|店|馆|门)|\d{4}-\d\d")
_ALWAYS = re.compile(r"每|生日|纪念日|到期|有效|截止|以来|起$|开始|改|换|涨|搬|降")


def chinese_statements(sentence: Sentence, people: People, told: list[Told]) -> Iterator[Told]:
    """Statements of a sentence that other rules have not told.

    Args:
        people: whom the conversation knows; who is named here is added.
        told: what was already found in it.
    """
    taken = [(each.start, each.end) for each in told]
    names = " ".join(each.name + each.summary for each in told)
    for clause in sentence.clauses:
        if not clause.holds or (MASK in clause.text and "{{" in clause.raw):
            continue
        role = _ROLE.search(clause.text)
        if role and _is_person(role["name"]) and not re.search(r"不是|不叫|没", clause.text[: role.start("name")]):
            name = clause.raw[role.start("name") : role.end("name")]
            people.add("", name, "")
            if name not in names:
                yield _whole(sentence, clause, name)
                names += name
                continue
        called = _CALLED.match(clause.text)
        if called:
            person = people.meant(called["who"], clause.start) if called["who"] in "他她" else None
            name = clause.raw[called.start("name") : called.end("name")]
            if person and person.relation and not person.name and not person.close and name not in names:
                people.add(person.relation, name)
                after = sentence.raw[clause.end - sentence.start :].strip(" ，。")
                yield Told(
                    name=name,
                    summary=f"{name}是用户的{person.relation}" + (f"，{after[:100]}" if after else ""),
                    start=clause.start,
                    end=sentence.end,
                )
                names += name
                continue
        if any(a <= clause.start < b for a, b in taken) or _SELF.search(clause.text) or _PASSING.search(clause.text):
            continue
        if re.search(r"截止|deadline|考试|面试|开会|会议|约", clause.text, re.IGNORECASE):
            continue
        if _DAY.search(clause.text) and not _ALWAYS.search(clause.text):
            continue
        charge = _CHARGE.match(clause.text)
        if charge and _is_person(charge["name"]) and len(charge["rest"]) >= 3:
            name = clause.raw[charge.start("name") : charge.end("name")]
            people.add("", name)
            yield _tailed(sentence, clause, name)
            continue
        stated = _STATED.match(clause.text)
        if (
            stated
            and _CONCRETE.search(stated["value"] + _tailed(sentence, clause, "").summary[len(clause.raw) :])
            and not re.search(r"[吗呢吧]$", clause.text)
        ):
            thing = clause.raw[stated.start("thing") : stated.end("thing")].strip()
            if len(thing) >= 2 and not re.search(
                r"^以后|^今后|一定|必须|之前|之后|的时候|^(?:我们|咱们?|我家|公司)$|[了着过得]$", thing
            ):
                yield _tailed(sentence, clause, thing)


def _is_person(name: str) -> bool:
    if name.isascii():
        return is_name(name)
    return not re.search(r"[的了是在不有要会就都也这那什么]|^(?:周[一二三四五六日末]|老师|老板)$", name)


def _whole(sentence: Sentence, clause: Clause, name: str) -> Told:
    """The sentence that says who somebody is, or the clause and its neighbours where it runs on."""
    short = len(sentence.raw) <= 90
    raw = sentence.raw if short else sentence.raw[max(0, clause.start - sentence.start - 20) :][:90]
    start, end = (sentence.start, sentence.end) if short else (clause.start, clause.end)
    return Told(name=name, summary=raw.strip(" ，。"), start=start, end=end, confidence=0.7)


def _tailed(sentence: Sentence, clause: Clause, name: str) -> Told:
    """A clause with what follows it and has no subject of its own."""
    end = clause.end
    for other in sentence.clauses:
        if other.start > clause.start and other.start - end <= 3:
            if not other.holds or not re.match(
                r"不|只|每|在|要|也|都|用|从|没有|很|最|和|有效|到|限|放|归|密码|账号|\d", other.text
            ):
                break
            end = other.end
    raw = sentence.raw[clause.start - sentence.start : end - sentence.start].strip(" ，。")
    raw = re.sub(
        r"^(?:还有|另外|对了|而且|然后|不过|但是?|其实|btw|哦|啊|嗯|注意|记住)[，：\s]*", "", raw, flags=re.IGNORECASE
    )
    return Told(name=name, summary=raw, start=clause.start, end=end, confidence=0.65)
