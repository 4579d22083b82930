"""Who a sentence speaks of besides those whom the user has called by a relation of the family or of daily life.

"Our apprentice Sofie starts in May" introduces a person by a noun that no list need hold; "I met Sofie at the fair" and
"the lodger is ill" name somebody whom "she" may mean afterwards, so that nobody farther off is meant for sure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .... import lazy_re as re
from ....intent.phrases.tokens import word_set
from ....intent.references.cues import BOTH, FEMALE, FUNCTION_WORDS, KINDS, MALE, PERSON_NOUNS, VERBS
from ....intent.references.person_nouns import is_person_noun
from .nations import LANGUAGES, NATIONS
from .words import CAPITALISED_NOT_NAMES, HAN, NAME, NO_NICKNAME_ZH, SURNAME_ZH

__all__ = ["ROLE_AND_NAME", "Introduced", "gender_of", "introduced", "is_role", "relation_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Introduced:
    """Somebody spoken of at character ``start``.

    Attributes:
        name: empty where it is not told. sure: whether what is named so is a person.
        relation: what they are to the user, in small letters; empty where that is not said.
        gender: ``f``, ``m`` or empty.
    """

    start: int
    name: str = ""
    relation: str = ""
    gender: str = ""
    sure: bool = False


ROLE_AND_NAME = (
    r"(?P<whose>(?i:my|our|the))\s(?P<kind>(?:(?!(?i:and|or|is|was|to|of|in|at|on|for|with|from|that|who|which)\b)[a-z][a-z'-]*\s){0,3}?)"
    rf"(?P<role>[a-z][a-zé-]+),?\s(?:(?:Prof|Professor|Dr|Mr|Mrs|Ms|Miss|Sir|Rev|Fr)\.?\s)?(?P<name>{NAME})"
)
"""A noun of a person with a name behind it: "our new apprentice Sofie". To be used where case counts."""
_ROLE_AND_NAME = re.compile(rf"\b{ROLE_AND_NAME}")
_NAME_AND_ROLE = re.compile(
    rf"(?<![\w'])(?P<name>{NAME})(?:,\s(?i:my|our)|(?:'s|\s(?i:is|was))\s(?i:(?:now|still|also)\s)?(?i:my|our))\s"
    r"(?P<kind>(?:[a-z][a-z-]*\s){0,2}?)(?P<role>[a-z][a-zé-]+)(?=\s*(?:$|[,.;!]|\s(?:and|who|at|in|from|since|now|for|on)\b))"
)
_SAID_OF_MANY = re.compile(r"(?:^|\s)(?:favou?rite|beloved|late|former|old|ex|ideal|dream|then)\s")
_PUBLIC = word_set(
    "president minister king queen prince princess mayor chancellor governor senator pope emperor author writer singer"
    " actor actress player footballer composer painter poet artist hero heroine character saint god father founder"
)
"""Who may be called "ours" without having to do with the user."""
_COMPOUND = re.compile(r"(?:^|\s)(?P<first>new|au|foster|exchange|godly|summer|step|work)\s$")
_COMPOUNDS = {"hire": "new", "pair": "au", "child": "foster", "student": "exchange"}

_FAR = 120  # characters on either side of a name that say what it may be
_TITLE = re.compile(r"(?:prof|professor|dr|mr|mrs|ms|miss|sir|madam|rev|fr|sgt|capt)\.?")
_NAME = re.compile(rf"(?<![\w'’-]){NAME}")
_NOUN_BEFORE = re.compile(r"(?:\b(?P<whose>[a-z]+)\s)?(?P<noun>[a-z][a-z-]*),?\s$")
_NO_PERSON_BEHIND = re.compile(
    r"\b(?:in|at|near|into|onto|on|of|via|around|across|through|towards?|under|over|outside|behind|between|called|named|by"
    r"|a|an|the|this|that|some|any|every|each|my|our|your|his|her|their|its|name(?:'s|\sis))\s(?:\w+ly\s)?$",
    re.IGNORECASE,
)
_PERSON_BEHIND = re.compile(
    r"\b(?:meet|meets|met|meeting|see|saw|seen|know|knows|knew|hire[ds]?|hiring|married|marry|dat(?:e|ed|es|ing)|visit(?:ed|s|ing)?"
    r"|call(?:ed|s)?|rang|phoned|texted|e-?mailed|invit(?:e|ed|es|ing)|ask(?:ed|s)?|told|tell|thank(?:ed|s)?|help(?:ed|s)?|employ(?:s|ed)?"
    r"|sack(?:ed)?|fired|befriended|taught|introduced|spoke (?:to|with)|talk(?:ed|ing)? (?:to|with)|speak(?:ing)? (?:to|with)"
    r"|heard from|with|without|beside|besides|and|than|unlike|like|cook(?:ed)? for|car(?:e|es|ing) for|gave|give|lent|owe[sd]?"
    r"|miss(?:es|ed)?|love[ds]?|adore[sd]?|got|get|have|has|had|it's|there's|took on|taken on)"
    r"\s(?:now\s|just\s|also\s|only\s)?$",
    re.IGNORECASE,
)
_TO_SOMEBODY = re.compile(
    r"\b(?:said|talk\w*|spoke|gave|wrote|sent|lent|showed?|listen\w*|explain\w*)\s(?:[\w']+\s){0,4}?to\s$"
)
_CLAUSE_START = re.compile(
    r"(?:^|[,;:(–—-]|\b(?:and|but|so|because|since|when|while|if|that|although|whereas|then|though|as|or|nor|yesterday|today|now))\s*$",
    re.IGNORECASE,
)
_CALLED = re.compile(r"^(?:\W|\b(?:hi|hey|hello|dear|thanks|thank you|ok|okay|well)\b)*$", re.IGNORECASE)
_AUXILIARIES = word_set("is was has had will would can could should does did isn't wasn't doesn't didn't won't can't")
_NO_VERB_NEXT = FUNCTION_WORDS - word_set(
    "is am are was were be been do does did has have had will would shall should can could may might must never always"
    " often sometimes usually just still already also only even ever soon and or who whose not too really s"
)
_UNNAMED = re.compile(
    r"(?:(?P<opens>^(?:\W|\b(?:and|but|so|also|well|oh|yes|now|today|yesterday|then)\b)*|[,;:]\s(?:and\s|but\s|so\s)?|\b(?:and|but|because|when|while)\s)"
    r"|\b(?:there's|there is|there was|have|has|had|got|hired|employed|took on|taken on|met|meet|saw|found|engaged|is|was|it's)"
    r"\s(?:now\s|also\s|just\s)?)"
    r"(?P<det>a|an|the|our|my|his|her|their|this|that|another|one|some)\s(?:(?:(?!and\b|of\b|in\b|to\b|for\b)[a-z][\w-]*\s){0,3}?)"
    r"(?P<noun>[a-z][a-zé-]+)(?P<next>(?:'s)?(?=$|\W))(?!\s[a-z]+ing\b\sfor)",
    re.IGNORECASE,
)
_IS_ONE = re.compile(r"\b(?:is|was|it's)\s(?:now\s|also\s|just\s)?$", re.IGNORECASE)

_ZH_NAME = rf"(?:[小老阿][{HAN}]|{SURNAME_ZH}[{HAN}]{{1,2}}?)"
_ZH_ROLE = rf"(?P<role>[{HAN}]{{1,3}}?(?:徒|生|员|工|客|手|师|嫂|姨|友|伴|助理|司机|保镖|管家|合伙人|搭档|经纪人))"
_ZH_NEXT = (
    r"(?=$|[，。！、；：\s\d（(]"
    "|[是在住对今明后昨下上会要来从说有的也刚就都还喜爱吃喝不没很最叫姓养开做学教跑搬想去带给跟和每周这那负特怕请])"
)
_INTRODUCED_ZH = re.compile(
    rf"(?P<whose>(?:我们?|咱们?)(?:家|店里?|公司|团队|组)?的?|(?:新来|新招|新雇|新请|请来)的)(?:一?[个位名])?(?:新来?的?)?{_ZH_ROLE}"
    rf"(?:名?叫|是|就是)?(?P<name>{_ZH_NAME}){_ZH_NEXT}"
)
_NAMED_ZH = re.compile(
    rf"(?:^|(?<=[，。！、；：\s的和跟与同给找见])|(?<=认识|遇到|碰到|见到|看到)|(?<=认识了|遇到了|遇见了|碰到了|碰见了|见到了|看到了))(?P<name>{_ZH_NAME}){_ZH_NEXT}"
)
_NO_NAME_ZH = re.compile(
    rf"{NO_NICKNAME_ZH}"
    r"|(?:方便|方法|方面|马上|高兴|高中|高铁|高级|安全|安排|安静|常常|常去|于是|关于|关系|关门|金额|金色|黄色|黄金|万一|时候|何时|何必|任何|任务|夏天|江边|江苏"
    r"|林荫|石头|谢谢|华为|温度|温暖|苏州|季节|周[一二三四五六日天末年]|上海|成都|成绩|和平|张开|曾经|许多|余下|姚明|钱包|严格|严重|丁点|田里|鲁莽|水果|孔子|毛衣|毛巾|郑州|柳州|杭州|康复|雷雨|罗马|黄瓜|花生|孟买)"
)


def is_role(noun: str, kind: str = "") -> bool:
    """Whether a noun introduces a person: "apprentice", not "server" or "dog".

    Args:
        kind: the words before it, of which "au" makes a person of a pair.
    """
    return is_person_noun(noun.casefold()) or (noun == "pair" and kind.endswith("au "))


def relation_of(kind: str, role: str) -> str:
    """What somebody is to the user who is told of as "our KIND ROLE"; empty where they need not have to do with the user.

    Args:
        kind: the words between "our" and the noun, each with a blank behind it. role: the noun.
    """
    if "'" in kind or role in _PUBLIC or _SAID_OF_MANY.search(f" {kind}"):
        return ""
    first = _COMPOUND.search(f" {kind}")
    return f"{first['first']} {role}" if first and _COMPOUNDS.get(role) == first["first"] else role


def gender_of(name: str) -> str:
    """``f`` or ``m`` where a first name in Latin letters tells it, else empty."""
    first = name.split(maxsplit=1)[0].casefold() if name else ""
    if first in BOTH:
        return ""
    return "f" if first in FEMALE else "m" if first in MALE else ""


def introduced(text: str, *, has_han: bool) -> Iterator[Introduced]:
    """Everybody of whom a sentence speaks by a name, or by a noun for a person in the place of one, in any order.

    Relations of the lists that :mod:`people` reads are given too where a name stands beside them. Whoever is not
    sure to be a person, or has no name, only stands in the way of others.
    """
    taken: list[tuple[int, int]] = []
    for pattern in (_ROLE_AND_NAME, _NAME_AND_ROLE):
        for match in pattern.finditer(text):
            role, name = match["role"], match["name"].removesuffix("'s")
            if not is_role(role, match["kind"]) or not _may_name(name) or name.isupper():
                continue
            own = pattern is _NAME_AND_ROLE or match["whose"].casefold() != "the"
            relation = relation_of(match["kind"], role) if own else ""
            taken.append(match.span())
            gender = PERSON_NOUNS.get(role, "") or gender_of(name)
            yield Introduced(start=match.start(), name=name, relation=relation, gender=gender, sure=True)
    for match in _NAME.finditer(text):
        first = match[0].split(maxsplit=1)
        start = match.end() - len(first[1]) if len(first) > 1 and not _may_name(first[0]) else match.start()
        if not any(a <= start < b for a, b in taken) and _stands_for_person(text, start, match.end()):
            name = text[start : match.end()].removesuffix("'s")
            yield Introduced(start=start, name=name, gender=gender_of(name))
    for match in _UNNAMED.finditer(text):
        noun = match["noun"].casefold()
        if _IS_ONE.search(text[: match.start("det")]) or any(a <= match.start("noun") < b for a, b in taken):
            continue  # "Karen is a nurse" speaks of Karen
        if is_role(noun) and not match["next"]:
            yield Introduced(start=match.start("det"), gender=PERSON_NOUNS.get(noun, ""))
    if has_han:
        yield from _introduced_zh(text)


def _introduced_zh(text: str) -> Iterator[Introduced]:
    taken: list[tuple[int, int]] = []
    for match in _INTRODUCED_ZH.finditer(text):
        if not _NO_NAME_ZH.match(match["name"]):
            taken.append(match.span())
            own = match["whose"][0] in "我咱"
            yield Introduced(start=match.start(), name=match["name"], relation=match["role"] if own else "", sure=True)
    for match in _NAMED_ZH.finditer(text):
        if not _NO_NAME_ZH.match(text, match.start("name")) and not any(a <= match.start() < b for a, b in taken):
            yield Introduced(start=match.start("name"), name=match["name"])


def _may_name(name: str) -> bool:
    first = name.split(maxsplit=1)[0].casefold().split("'")[0] if name else ""
    return bool(first) and not _TITLE.fullmatch(first) and first not in CAPITALISED_NOT_NAMES and not _no_person(name)


def _no_person(name: str) -> bool:
    words = name.casefold().split()
    return bool(
        NATIONS.match(name)
        or re.fullmatch(LANGUAGES, name)
        or (words[-1] in KINDS and words[-1] not in PERSON_NOUNS)
        or (words[0] in KINDS and len(words) > 1)
    )


def _stands_for_person(text: str, start: int, end: int) -> bool:
    """Whether a capitalised word stands where a person's name may: as a subject, or behind words that take a person."""
    name, before, after = text[start:end].removesuffix("'s"), text[max(0, start - _FAR) : start], text[end : end + _FAR]
    if not _may_name(name) or (name.isupper() and len(name) > 1):
        return False
    following = re.match(r"\s*(?P<word>[a-z'][\w']*)?", after)
    word = (following["word"] or "") if following else ""
    noun = _NOUN_BEFORE.search(before)
    known = bool(gender_of(name)) or name.split()[0].casefold() in BOTH
    if noun and is_role(noun["noun"]) and not before.endswith(", "):
        return True
    if _NO_PERSON_BEHIND.search(before):
        return False
    if _PERSON_BEHIND.search(before) or _TO_SOMEBODY.search(before) or re.search(r"\w,\s$", before):
        return known or not _modifies(word)
    if not _CLAUSE_START.search(before):
        return (known or word in VERBS or word in _AUXILIARIES) and not re.search(r"\b(?:to|from|for)\s$", before)
    if _CALLED.match(before) and (name.casefold() in VERBS or name.casefold().endswith(("ing", "ly", "ed"))):
        return False
    if text[start:end].endswith("'s"):
        return word != "" and (known or not _modifies(word) or " " in after.strip())
    return word != "" and word not in _NO_VERB_NEXT and (known or not _modifies(word))


def _modifies(word: str) -> bool:
    """Whether a name before this word may be part of what that names: "Toyota dealer", "Sunday lunch"."""
    if not word or word in FUNCTION_WORDS or word in VERBS or word.startswith("'"):
        return False
    return word in KINDS or is_person_noun(word) or not word.endswith(("s", "ed", "n't"))
