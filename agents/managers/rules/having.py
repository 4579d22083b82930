"""What one has got, and what one has not: "we bought an e-bike", "we don't have a dog", "我没有车"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....memory_types.proposals import Ends
from .english_grammar import LEAD, Fact, rule_set
from .sentences import Clause
from .words import ANIMALS, ANIMALS_ZH, HAN

__all__ = ["HAVING_RULES", "HAVING_RULES_ZH", "bought_instead", "ends_of_having"]

HAVING_RULES, _rule = rule_set()
HAVING_RULES_ZH, _rule_zh = rule_set()

_VEHICLE = (
    r"(?:cars?|vans?|motorbikes?|motorcycles?|scooters?|mopeds?|vespas?|e-?bikes?|bikes?|bicycles?|cargo bikes?|tandems?|campervans?"
    r"|motorhomes?|caravans?|estate|hatchback|suv|pick-?up|truck|tesla|boat|sailing boat|canoe|tractor)"
)
_KINDS = (
    ("vehicle", re.compile(rf"(?:.*\s)?{_VEHICLE}", re.IGNORECASE)),
    ("children", re.compile(r"(?:children|kids|a child|child|sons?|daughters?)", re.IGNORECASE)),
    ("siblings", re.compile(r"(?:siblings?|brothers?|sisters?|brothers or sisters)", re.IGNORECASE)),
    (
        "household",
        re.compile(
            r"(?:garden|balcony|tv|television|dishwasher|oven|microwave|air fryer|freezer|washing machine|dryer|tumble dryer|lift|garage"
            r"|parking space|cellar|attic|guest room|spare room|landline|smartphone|computer|laptop|printer)s?",
            re.IGNORECASE,
        ),
    ),
    (
        "licence",
        re.compile(r"(?:driving licen[cs]e|driver'?s licen[cs]e|passport|credit card|bank account)", re.IGNORECASE),
    ),
)
_KINDS_ZH = (
    ("pet", re.compile(rf"{ANIMALS_ZH}|宠物")),
    ("vehicle", re.compile(r"汽车|轿车|摩托车|电动车|电动自行车|自行车|车子|私家车|车")),
    ("children", re.compile(r"孩子|小孩|儿子|女儿")),
    ("siblings", re.compile(r"兄弟姐妹|兄弟|姐妹|哥哥|姐姐|弟弟|妹妹")),
    ("household", re.compile(r"电视机?|洗碗机|烤箱|微波炉|空调|阳台|院子|花园|车库|车位|电梯|电脑|打印机")),
    ("licence", re.compile(r"驾照|驾驶证|护照|信用卡")),
)
_LACKED = frozenset({"pet", "vehicle"})
_HAS = re.compile(r"Has an?\s(?:[\w-]+\s){0,3}?(?P<what>[\w-]+)(?=\s(?:called|named)\b|,|\s\(|$)")
_NOT_ALONE = r"(?!\s(?:for\s(?:my|our|his|her|their|the|a|[A-Z])|with\s(?:me|us|him|her)))"
_AT_ALL = (
    r"(?:\s(?:at home|at all|any\s?more|either|though|ourselves|myself|of (?:my|our) own|right now|at the moment|yet"
    r"|now))*\s*$"
)
_BOUGHT = r"(?:bought|purchased|got(?:ten)?|picked up|leased|switched to|treated (?:myself|ourselves) to)"
_INSTEAD = re.compile(
    rf"\band\s(?:(?:now\s)?(?:I|we)(?:'ve|\shave)?\s)?(?:just\s|then\s)?(?:{_BOUGHT}|(?:now\s)?(?:have|ride|drive))\s"
    rf"(?:an?|our first|my first)\s(?P<what>(?:[\w-]+\s){{0,3}}?{_VEHICLE})\b(?!\sfor\b)",
    re.IGNORECASE,
)


def bought_instead(text: str) -> str:
    """What a clause says was bought in place of a vehicle that was sold: "an e-bike"; empty where it says none."""
    match = _INSTEAD.search(text)
    return _with_article(match["what"]) if match else ""


def _with_article(what: str) -> str:
    what = " ".join(what.split())
    return f"{'an' if what[:1].casefold() in 'aeio' else 'a'} {what}"


@_rule(
    "bought purchased got gotten picked leased switched treated",
    rf"{LEAD}(?i:(?:I|we)(?:'ve|\shave)?\s(?:(?:just|finally|recently|now|also|actually)\s)*{_BOUGHT}\s(?:(?:myself|ourselves|us|me)\s)?"
    rf"(?:an?|our first|my first)\s)(?P<what>(?:(?!toy|model|rental|hire)[\w-]+\s){{0,3}}?(?i:{_VEHICLE}))\b{_NOT_ALONE}"
    r"(?=\W*$|\s(?:last|this|on|in|yesterday|today|and|instead|from|because|so|to)\b)",
)
def _got(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(
        label="vehicle", value=f"Has {_with_article(match['what'])}", clause=clause, slot="vehicle", confidence=0.75
    )


@_rule(
    "have own ive weve",
    rf"{LEAD}(?i:(?:I|we)(?:'ve\sgot|\shave(?:\sgot)?|\sown)\s(?:(?:also|now|still)\s)?an?\s)(?P<what>(?:(?!toy|model|rental|hire|company|new"
    rf"|lovely|nice)[\w-]+\s){{0,2}}?(?i:{_VEHICLE}))(?=\W*$|\s(?:now|too|already)\W*$)",
)
def _owns(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(
        label="vehicle", value=f"Has {_with_article(match['what'])}", clause=clause, slot="vehicle", confidence=0.75
    )


@_rule(
    "dont not havent no",
    rf"{LEAD}(?i:(?:I|we)(?:\s(?:don't|do not)\s(?:(?:actually|even|really|currently)\s)*(?:have|own|keep)\s(?:(?:any|an?)\s)?"
    r"|(?:'ve|\shave)\s(?:got\s)?no\s|\s(?:haven't|have not)\s(?:got\s)?(?:any|an?)\s|\sown no\s))"
    rf"(?P<what>[a-zA-Z][\w' -]{{1,30}}?)(?i:{_AT_ALL})",
)
def _lacks(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    what = match["what"].casefold()
    one = what.removesuffix("s") if what not in ANIMALS else what
    label = (
        "pet"
        if {what, one} & ANIMALS or what in ("pet", "pets")
        else next((a for a, b in _KINDS if b.fullmatch(what)), "")
    )
    if label:
        yield Fact(label=label, value=f"Has no {what}", clause=clause, confidence=0.75)


@_rule_zh(
    "",
    r"^(?:不是?，?|其实|现在|但是?|不过|目前|因为)*(?:我们?家?|咱们?家?|家里)(?:里|现在|目前|还|也|都|并|从来)*没有?(?:养过?|买)?"
    rf"(?P<what>[{HAN}A-Za-z]{{1,6}}?)(?:[的了啊呢]|$)",
)
def _lacks_zh(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    label = next((a for a, b in _KINDS_ZH if b.fullmatch(match["what"])), "")
    if label and match.end() >= len(clause.text.rstrip()):
        yield Fact(label=label, value=f"没有{match['what']}", clause=clause, confidence=0.75)


@_rule_zh(
    "",
    r"^(?:我们?家?|家里)(?:现在|目前|还|也)*有(?:了)?一?(?:辆|台|部)(?P<what>[\u4e00-\u9fffA-Za-z]{0,6}?(?:车|摩托|电动))$",
)
def _owns_zh(match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    yield Fact(label="vehicle", value=f"有{match['what']}", clause=clause, slot="vehicle", confidence=0.75)


def ends_of_having(fact: Fact) -> tuple[Ends, ...]:
    """What a fact says of having is so no more: "Has no dog" ends "Has a dog called Rex", and the other way round."""
    for lead in ("Has no ", "没有"):
        if fact.value.startswith(lead):
            what = fact.value.removeprefix(lead)
            return (Ends(slots=(fact.label,), words=what), Ends(labels=(fact.label,), words=what))
    if fact.label not in _LACKED:
        return ()
    if has := _HAS.match(fact.value):
        return (Ends(labels=(fact.label,), words=f"no {has['what']}"),)
    has_zh = dict(_KINDS_ZH)[fact.label].search(fact.value)
    return (Ends(labels=(fact.label,), words=f"没有{has_zh[0]}"),) if has_zh else ()
