"""What is told of others in Chinese: 公公以前是开火车的, Bonnie 对 latex 过敏, report_db每天凌晨做备份."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .people import KIN_ZH_PATTERN, ZH_NAME, People, Person, is_name
from .sentences import Clause, Sentence
from .told import Told
from .words import HAN, NAME, NICKNAME_ZH

__all__ = ["chinese_others_facts"]

_SUBJECT_ZH = re.compile(
    rf"^(?:还有|另外|对了|而且|然后|不过|但是?|因为|所以|其实|我们?家?的?|咱们?家?的?|啊|哦|嗯|sorry|好消息"
    rf"|\s)*(?P<kin>{KIN_ZH_PATTERN})\s?(?P<name>{ZH_NAME})?(?P<poss>的)?(?P<rest>[^\ue000]*)$",
    re.IGNORECASE,
)
_PRONOUN_ZH = re.compile(r"^(?:而且|但是?|因为|所以|不过|其实|现在)?(?P<who>他|她)(?!们)(?P<rest>[^\ue000]+)$")
_NAME_ZH = re.compile(
    rf"^(?:还有|另外|是|\s)*(?P<name>{NAME}|{NICKNAME_ZH}(?![{HAN}]?[时吃心说])"
    rf"|[{HAN}]{{2,3}}?)\s?(?P<rest>(?:是|在|有|对|会|不"
    rf"|喜欢|爱|讨厌|负责|带|管|住|做|教|学|属|今年|每|最|特别|从|也|都|刚|已经|要"
    rf"|去|接|用|开|搬|跳槽|入职|加入|换|现在|目前|[上这]个?[月周]|去年|养|吃|喝|怕|跑|部署|由|需要)[^\ue000]*)$"
)
_BY_NICKNAME = re.compile(NICKNAME_ZH)
_SETTLED = re.compile(
    r"(?:现在|目前|已经|刚|也|都|[上这]个?[月周]|今年|去年)*(?:住在|搬[到去]|跳槽|入职|加入了?|换工作|在[^，。]{2,12}(?:工作|上班|任职))"
)
_CODE_ZH = re.compile(
    r"^(?:对了|另外|哦对?|注意|记住|还有|啊|\s)*(?P<name>[A-Za-z][\w.-]*[\w](?:\s[A-Za-z][\w.-]+)?"
    r"|[\u4e00-\u9fff]{2,6}(?:库|环境|系统|服务器?|集群|接口|项目|机器|数据库|平台"
    r"|后台)(?:的[\u4e00-\u9fff]{1,8}?)?)\s?(?P<rest>"
    r"(?:每|是|在|用|由|有|跑|部署|要|需要|会|只|不能|不要|放|走|端口|归|从|叫"
    r"|默认)[^\ue000]+)$"
)
_IS_MY = re.compile(
    rf"^(?:还有|另外|对了|其实|\s)*(?P<name>{NAME}|{NICKNAME_ZH}|(?![我你他她它这那谁])[{HAN}]{{2,3}}?)(?:也|就)?\s?是我们?的?"
    rf"(?:好|大学|高中|初中|小学|老|新|最好的)*(?P<kin>{KIN_ZH_PATTERN})(?:之一)?$"
)
"""Who somebody is to the user: 小李是我的室友."""
_TITLED_ZH = re.compile(
    rf"(?:是|叫|找|联系)\s?"
    rf"(?P<org>[{HAN}A-Za-z]{{2,10}}?)的(?P<person>[{HAN}](?:经理|总监?|老师|医生|主任|律师|女士|先生"
    rf"|工|处长|科长|主管|助理|小姐|教授|师傅|姐|哥))(?![{HAN}]{{3}})"
)
_SAID_ZH = re.compile(
    r"^(?:群里|在群里)|^(?:最近|刚才?|昨天|今天|总|老|又|还|一直|常|就"
    r"|也)*(?:说|讲|问|觉得|以为|认为|告诉|喊|叫我|让我|要我|骂|吐槽|建议|劝|想)"
)
_EMPTY_ZH = re.compile(
    r"^(?:很|挺|非常|太|好|真|特别|还|都|也|最近|今天)*(?:好|不错|开心"
    r"|高兴|忙|累|可爱|厉害|棒|生气|在|在家|知道|来了|走了|到了|睡了|行|可以"
    r"|没事)(?:啊|呀|哦|了|的|啦|吧|呢)*$"
)


def _subject(clause: Clause, people: People) -> tuple[str, int]:
    """Who or what a clause is about, as shown, and where the predicate begins; nobody where it names no one."""
    text = clause.text
    if by_kin := _SUBJECT_ZH.match(text):
        given = by_kin["name"] or ""
        known = people.named(given) if given else None
        name = known.name if known else given if given.isascii() and is_name(given) else ""
        person = people.add(by_kin["kin"], name)
        return _shown_zh(person), by_kin.end("name") if name else by_kin.end("kin")
    if by_pronoun := _PRONOUN_ZH.match(text):
        meant = people.meant(by_pronoun["who"], clause.start)
        return (_shown_zh(meant), by_pronoun.start("rest")) if meant is not None else ("", 0)
    if by_name := _NAME_ZH.match(text):
        name, start = by_name["name"], by_name.start("rest")
        known = people.named(name)
        if known is not None:
            people.mention(known)
            return _shown_zh(known), start
        if _BY_NICKNAME.fullmatch(name) and _SETTLED.match(by_name["rest"]):
            people.add("", name)
            return name, start
        if (
            name.isascii()
            and not name.isupper()
            and is_name(name)
            and re.search(r"[\u4e00-\u9fff]{2}|[A-Za-z]{3}", by_name["rest"])
        ):
            people.add("", name)
            return name, start
    thing = _CODE_ZH.match(text)
    if thing and thing["name"].casefold() not in _NO_THINGS:
        return clause.raw[thing.start("name") : thing.end("name")], thing.start("rest")
    return "", 0


_NO_THINGS = frozenset({"ok", "sorry", "hi", "lol", "thanks", "base", "bye", "btw", "hello"})


def chinese_others_facts(sentence: Sentence, people: People) -> Iterator[Told]:
    """Facts run over clauses: what follows a subject is still about it, up to another one."""
    for match in _TITLED_ZH.finditer(sentence.text):
        org = sentence.raw[match.start("org") : match.end("org")]
        person = sentence.raw[match.start("person") : match.end("person")]
        people.add("", person)
        yield Told(
            name=person,
            summary=f"{person}，来自{org}：{sentence.raw.strip()}",
            start=sentence.start,
            end=sentence.end,
            confidence=0.7,
        )
        return
    about: str = ""
    parts: list[str] = []
    start = end = 0
    found: list[Told] = []

    def close() -> None:
        nonlocal parts, about
        passing = (
            len(parts) == 1
            and len(parts[0]) < 16
            and re.search(r"昨|明天|后天|前天|[上下这本]个?(?:周|星期|礼拜|月)|今[天晚]", parts[0])
        )
        if about and parts and not passing:
            found.append(Told(name=about.split("（")[0], summary=about + "，".join(parts), start=start, end=end))
        parts, about = [], ""

    for clause in sentence.clauses:
        text = clause.text
        if (mine := _IS_MY.match(text)) and clause.holds and (not mine["name"].isascii() or is_name(mine["name"])):
            close()
            friend = people.add(mine["kin"], mine["name"])
            summary = f"{mine['name']}是用户的{mine['kin']}"
            found.append(Told(name=friend.name, summary=summary, start=clause.start, end=clause.end, confidence=0.7))
            continue
        subject, rest_start = _subject(clause, people)
        if subject:
            close()
            rest = text[rest_start:].strip(" ，")
            intro = re.match(rf"(?:名字)?(?:叫做?|是|就是)\s?(?P<name>{NAME}|[\u4e00-\u9fff]{{2,3}})$", rest)
            if (
                intro
                and (person_now := people.named(intro["name"]))
                and person_now.relation
                and not person_now.close
                and clause.holds
            ):
                found.append(
                    Told(
                        name=person_now.name,
                        summary=f"{person_now.name}是用户的{person_now.relation}",
                        start=clause.start,
                        end=clause.end,
                    )
                )
                continue
            raw = clause.raw[rest_start:].strip(" ，")
            if (
                not clause.holds
                or len(rest) < 2
                or _SAID_ZH.match(rest)
                or _EMPTY_ZH.match(rest)
                or (
                    re.match(rf"(?:名字)?(?:叫|是)\s?(?:{NAME}|[\u4e00-\u9fff]{{2,3}})$", rest)
                    and _closes(people, subject)
                )
            ):
                continue
            about, parts, start, end = subject, [raw], clause.start, clause.end
        elif about:
            if not clause.holds or re.match(r"我|咱|你|大家|所以|这|那(?!里)|不然", text) or _SAID_ZH.match(text):
                close()
            else:
                parts.append(clause.raw.strip())
                end = clause.end
    close()
    yield from found


def _closes(people: People, subject: str) -> bool:
    """Whether the subject is a partner or child, whose name alone is a core fact."""
    known = people.named(subject.split("（", maxsplit=1)[0])
    return bool(known and known.close) or any(subject.startswith(word) for word in ("老公", "老婆", "儿子", "女儿"))


def _shown_zh(person: Person) -> str:
    if person.name and person.relation:
        return f"{person.name}（{person.relation}）"
    return person.name or person.relation
