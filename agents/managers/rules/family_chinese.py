"""The user's partner, children and pets by name, in Chinese: 老公叫陆铭, 儿子小满今年五岁, 一只橘猫叫豆包."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from .english_grammar import Fact
from .people import KIN_ZH_PATTERN, is_name
from .sentences import Clause
from .words import ANIMALS_ZH, CHILDREN, HAN, NAME, NICKNAME_ZH, PARTNERS, SURNAME_ZH, any_of

__all__ = ["chinese_family"]

_KIN_NAME = re.compile(
    rf"(?P<kin>{KIN_ZH_PATTERN})\s?(?:的?名字?)?(?:叫做?|名叫|名字叫|是|就是)?\s?(?P<name>(?P<twice>[{HAN}])(?P=twice)(?!的)|{NICKNAME_ZH}(?=今年"
    rf"|[，。、；\s]|$|\d|[在刚已不对喜很每上去考学爱也都会要])|[{HAN}]{{2,3}}?(?=今年|[，。、；]|$|\d)"
    rf"|{NAME})(?P<age>(?:今年)?\s?(?:\d{{1,2}}|[一二三四五六七八九十两]{{1,3}})\s?岁(?:半)?)?"
)
_BAD_NAME = re.compile(
    r"老师|老板|今年|现在|退休|以前|怀孕|生日|[一二两三]个|在|的|了|说|想|要|去|来|是|不"
    r"|会|有|很|都|最|也|就|做|当|岁|还|跟|和|对|给|从|上|下|刚|每|爱|吃|喝"
    r"|住|喜|今|明|昨|后|带|开|回|学|都|没|们|工作|公司"
)
_OF_OTHERS = re.compile(
    rf"(?:(?!(?:{any_of(one for one in PARTNERS if not one.isascii())})(?:家|的)){KIN_ZH_PATTERN}|朋友|同事|邻居|老师|老板|室友|客户)"
    rf"(?:家里?的?|的)\s*$"
)
"""Whose child or pet it is, where it is somebody else's: 我妹妹的儿子, 邻居家的狗. A partner's is of the user's own household."""
_PET = re.compile(
    rf"(?P<animal>[{HAN}]{{0,3}}?{ANIMALS_ZH})\s?[，]?\s?(?:的名字|名字|它|牠)?(?:叫做?|名叫|取名"
    rf"|起名叫?)\s?(?P<name>[{HAN}]{{1,4}}?(?=[，。、；\s]|$|今年|了)|{NAME})"
)

_PETS = re.compile(
    rf"(?:我|咱)们?家?(?:里)?(?:还|现在|一共|又)?(?:养|有|领养)了?(?P<count>[两二三四五六几\d])[只条个](?:[{HAN}]{{0,3}}?)(?P<animal>{ANIMALS_ZH})[，：,:\s]*"
    rf"(?:名字)?(?:分别)?(?:叫做?|是)?\s?(?P<names>(?:[{HAN}]{{1,4}}?|{NAME})(?:[、，](?:[{HAN}]{{1,4}}?|{NAME}))*(?:和|跟"
    rf"|、)(?:[{HAN}]{{1,4}}|{NAME}))(?=[，。！；]|$)"
)
"""Several of one kind: 养了两只猫，豆包和年糕."""


def chinese_family(text: str, raw: str, clauses: tuple[Clause, ...]) -> Iterator[Fact]:
    """The partner, children and pets that a sentence names; ``raw`` is it in the characters it was written in."""
    offset = clauses[0].start
    whole = Clause(start=offset, end=clauses[-1].end, text=text, raw=raw, holds=True, sentence=clauses[0].sentence)
    for match in _KIN_NAME.finditer(text):
        kin = match["kin"]
        if kin not in PARTNERS and kin not in CHILDREN:
            continue
        name = raw[match.start("name") : match.end("name")]
        if (
            (name.isascii() and not is_name(name))
            or _BAD_NAME.search(match["name"])
            or re.search(r"(?:他|她|你|朋友|同事)的?\s*$", text[: match.start()])
            or _OF_OTHERS.search(text[: match.start()])
        ):
            continue
        between = text[match.end("kin") : match.start("name")]
        if (
            not name.isascii()
            and "叫" not in between
            and not re.match(SURNAME_ZH, match["name"])
            and not match["age"]
            and not match["twice"]
            and not text[match.end() :].startswith("今年")
        ):
            continue
        age = raw[match.start("age") : match.end("age")] if match["age"] else ""
        shown = f"{kin}：{name}" + (f"，{age}" if age else "")
        slot = "partner.name" if kin in PARTNERS else f"child.{name.lower()}"
        yield Fact(label="partner" if kin in PARTNERS else "child", value=shown, stated=name, clause=whole, slot=slot)
    named = re.search(
        rf"(?:名字|大名)(?:终于|已经|都)?(?:定了|起好了|取好了|想好了)[，,\s]*(?:就)?叫做?(?P<name>[{HAN}]{{2,4}}|{NAME})(?=$|[，。！])",
        text,
    )
    if named and not re.search(r"公司|店|项目|产品|猫|狗|品牌|app", text, re.IGNORECASE):
        name = raw[named.start("name") : named.end("name")]
        yield Fact(label="child", value=f"孩子：{name}", stated=name, clause=whole, slot=f"child.{name.lower()}")
    if re.search(rf"(?:我|我们家?|家里)(?:还)?(?:养|有).{{0,8}}{ANIMALS_ZH}", text):
        for match in re.finditer(rf"一[只条个]叫做?(?P<name>[{HAN}]{{1,4}}?(?=[，。、；\s和的]|$)|{NAME})", text):
            pet = raw[match.start("name") : match.end("name")]
            yield Fact(label="pet", value=f"养的宠物叫{pet}", stated=pet, clause=whole, slot=f"pet.{pet.lower()}")
    for match in _PETS.finditer(text):
        if re.search(
            rf"{KIN_ZH_PATTERN}家?(?:的|有|养)|他|她|你|邻居", match[0][: match.start("names") - match.start()]
        ):
            continue
        animal = raw[match.start("animal") : match.end("animal")]
        for name in re.split("[、，和跟]", raw[match.start("names") : match.end("names")]):
            yield Fact(label="pet", value=f"养了{animal}，叫{name}", clause=whole, slot=f"pet.{name.lower()}")
    for match in _PET.finditer(text):
        name = raw[match.start("name") : match.end("name")]
        before = text[: match.start()]
        if _OF_OTHERS.search(before + re.split(rf"{ANIMALS_ZH}$", match["animal"])[0]):
            continue
        if re.search(rf"{KIN_ZH_PATTERN}家?(?:的|有|养)|他|她|你|邻居", before[-12:]) and not re.search(
            r"我们?家?(?:有|养|领养)", before
        ):
            continue
        if not name.isascii() or is_name(name):
            bare = re.sub(
                r"^(?:还有|我们?家|们家|我们?(?=的)|们(?=的)|有|养了?|领养了?|了|[一两二三]|[只条个]|的)+",
                "",
                match["animal"],
            )
            animal = raw[match.end("animal") - len(bare) : match.end("animal")]
            yield Fact(label="pet", value=f"养了{animal}，叫{name}", clause=whole, slot=f"pet.{name.lower()}")
