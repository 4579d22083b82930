"""Contacts in a text: e-mail addresses, phone numbers, postal addresses, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo
from functools import lru_cache
from importlib import resources

import phonenumbers

from .... import lazy_re as re
from ....memory_types.items import Sensitivity
from .introductions import introduced
from .people import KIN_PATTERN, KIN_ZH_PATTERN
from .words import CAPITALISED_NOT_NAMES, HAN, NAME

__all__ = ["Contact", "find_contacts", "region_of"]

_EMAIL = re.compile(
    r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}@[A-Za-z0-9-]{1,63}"
    r"(?:\.[A-Za-z0-9-]{1,63}){1,5}(?<![-.])"
)
_DIGITS = re.compile(r"(?<![A-Za-z0-9_.])\+?\(?\d[\d\s().-]{5,22}\d(?![A-Za-z0-9_])")
_PHONE_WORD = re.compile(
    r"phone|mobile|cell|landline|\btel\b|telephone|\bcall\b|\bring\b|\btext\b|whatsapp|number"
    r"|reach|\bfax\b|hotline|电话|手机|號碼|号码|座机|联系|打给|拨",
    re.IGNORECASE,
)
_NOT_PHONE = re.compile(
    r"order|invoice|ticket|account|iban|isbn|serial|tracking|reference|订单|单号|账号|卡号|编号|学号", re.IGNORECASE
)
_LINE_WORD = re.compile(
    r"(?:\b(?:phone|mobile|cell(?:phone)?|landline|tel|telephone|whatsapp|fax|hotline|call|ring|text|dial)\b|电话|手机|座机|號碼|拨打|打给)"
    r"(?:\s(?:number|no\.?))?[^\d\n.!?]{0,12}\Z",
    re.IGNORECASE,
)
_ABROAD = re.compile(r"\+[1-9]\d{0,2}[\s().-]+\d[\d\s().-]{4,18}\d")
_THOUSANDS = re.compile(r"\+\d{1,3}(?:[\s.]\d{3})+")
_PUBLIC = re.compile(
    r"(?:\b(?:emergenc(?:y|ies)|hot-?line|help-?line|help-?desk|info(?:rmation)?[ -]?(?:line|desk)|reception|front desk|switchboard"
    r"|customer (?:service|services|care|support)|support (?:line|team|desk)|box office|toll[- ]free|booking (?:line|office)"
    r"|reservations|(?:the|an?|this|that)\s(?:[\w'-]+\s){0,3}(?:hotel|hostel|restaurant|cafe|bar|shop|store|supermarket|museum|theatre|theater|cinema"
    r"|pharmacy|hospital|clinic|town hall|library|airport|embassy|consulate|campsite|bakery))(?:'s)?\b"
    r"(?:[\s:,(–—-]|\b(?:phone|tel|telephone|number|no|line|desk|address|e-?mail|mail|is|are|at|on|under|via|by|the|their|its|for|you"
    r"|can|may|be|reached|reach|please|ring|call|dial|text|them|it|contact|write|to|open|located|situated|only)\b)*"
    r"|(?:客服|热线|熱線|前台|服务台|服務台|急诊|急救|报警|總機|总机|咨询|订票|售后|酒店|宾馆|旅馆|饭店|餐厅|医院|诊所|药店|超市|博物馆|图书馆|机场|使馆)"
    r"(?:[\s:：，,（(]|的|电话|電話|号码|热线|邮箱|地址|是|在|为|請|请|拨打|拨|打|联系|致电)*)\Z",
    re.IGNORECASE,
)
"""Words of a line that is there for everybody, up to its number: no contact of a person."""
_PUBLIC_KINDS = frozenset(
    {
        phonenumbers.PhoneNumberType.TOLL_FREE,
        phonenumbers.PhoneNumberType.PREMIUM_RATE,
        phonenumbers.PhoneNumberType.SHARED_COST,
        phonenumbers.PhoneNumberType.UAN,
    }
)
_ASKS_TO = re.compile(
    r"(?:(?:Call|Ring|Phone|Text|Dial|Reach|Contact|Message|Email|E-mail|Mail|Fax|Write|Send|Try|Ask|Tell|Please)\s)+(?=\S)"
)
_DAY_FIRST = re.compile(r"\d{4}-\d\d-\d\d")
_STREET = (
    r"(?:Street|St|Road|Rd|Row|Lane|Ln|Avenue|Ave|Drive|Dr|Way|Close|Court|Ct|Place|Pl|Square|Sq"
    r"|Terrace|Crescent|Gardens|Grove|Hill|Park|Parade"
    r"|Boulevard|Blvd|Quay|Walk|Mews|Green|Rise|Circle|Highway|Yard|Wharf|Alley|Esplanade)"
)
_ADDRESS = re.compile(
    rf"(?:(?:Flat|Apartment|Apt|Unit"
    rf"|Suite)\.?\s\w{{1,5}},\s)?\b\d{{1,5}}[A-Za-z]?\s(?:[A-Z][\w']+\s){{1,4}}?{_STREET}\b\.?"
    r"(?:,\s(?:(?:Flat|Apartment|Apt|Unit|Suite)\.?\s\w{1,5}|[A-Z][a-z][\w']*(?:\s[A-Z][a-z][\w']*){0,2})){0,3}"
    r"(?:,?\s(?:[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}|[A-Z]\d\d\s?[A-Z\d]{4}"
    r"|[A-Z]{2}\s\d{5}(?:-\d{4})?|[A-Z]\d[A-Z]\s?\d[A-Z]\d|\d{4,5}))?"
    r"|\b[A-ZÄÖÜ][a-zäöüß]+(?:straße|strasse|str\.|weg|platz|allee"
    r"|gasse)\s\d{1,4}[a-z]?(?:,\s(?:\d{4,5}\s)?[A-ZÄÖÜ][a-zäöüß]+)?"
)
_POSTCODE = r"(?:[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}|[A-Z]\d\d\s?[A-Z\d]{4}|[A-Z]{2}\s\d{5})"
_ADDRESS_TOLD = re.compile(
    rf"(?<![\w.])(?P<one>\d{{1,4}}[A-Za-z]?\s(?:[A-Z][\w']+\s?){{1,4}}(?:,\s[A-Z][\w' ]{{2,24}}){{0,2}},?\s{_POSTCODE})"
    r"|(?i:\b(?:address(?:\sis|'s)?|new place|place is|live at|living at|based at|staying at|we're at|deliver(?:ed|y)? to|shipped to"
    r"|post (?:it|them) to|send (?:it|them|post|mail|parcels) to|office is at|find (?:us|me) at|moved to"
    r"|now at)[:,]?\s(?:is\s|at\s|now\s)?)"
    r"(?P<two>(?:(?:Flat|Apt|Unit)\.?\s\w{1,4},\s)?\d{1,4}[A-Za-z]?,?\s(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b)(?:[A-Z][\w']+)(?:\s[A-Z][\w']+){0,3}"
    rf"(?:,\s(?:[A-Z][\w']*(?:\s[A-Z][\w']*){{0,2}}|{_POSTCODE})){{0,3}})"
)
_ADDRESS_ZH = re.compile(
    rf"(?:[{HAN}]{{2,8}}?(?:省|自治区))?(?:[{HAN}]{{2,6}}?市)?(?:[{HAN}]{{1,6}}?(?:区|區|县|縣|镇|鎮|乡"
    rf"|鄉))?[{HAN}]{{1,10}}(?:路|街|道|巷|弄|大道|胡同|村|段)\s?"
    rf"[\d一二三四五六七八九十]{{1,5}}\s?(?:号|號"
    rf"|弄)(?:[{HAN}]{{0,8}}?\d{{1,4}}\s?(?:幢|栋|棟|号楼|號樓|座|单元|單元|楼|樓|室"
    rf"|层|F))*(?:\d{{1,5}}(?:室|号|號)?)?"
)
_LEAD_ZH = re.compile(r"^.*?(?:寄到?|送到?|住在?|地址[是：:]*|在|搬到|来到?|改成|去)(?=[\u4e00-\u9fff])")
_OWN = re.compile(r"\b(?:my|our|me at|me on|mine)\b|我的?|我家|我们家", re.IGNORECASE)
_OTHER = re.compile(
    rf"(?i:\b(?:my|our|the)\s(?:\w+\s){{0,2}}?"
    rf"(?P<kin>{KIN_PATTERN}))\b(?:,?(?i:\sis)?\s(?P<name>{NAME}))?"
)
_OTHER_ZH = re.compile(rf"(?P<kin>{KIN_ZH_PATTERN})\s?(?P<name>[小老阿][{HAN}])?")
_NAMED = re.compile(rf"(?P<name>{NAME})(?:'s\b|\sis\b|\s?的|\sat\b|\son\b|:|,|\s\()")
_KIND_WORDS = {
    "mobile": "mobile phone",
    "cell": "mobile phone",
    "手机": "手机",
    "landline": "landline",
    "座机": "座机",
    "work": "work phone",
    "fax": "fax",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """A contact: characters ``start`` to ``end`` of the text.

    Attributes:
        entry_type: ``email``, ``phone`` or ``address``.
        owner: whose it is, in words; empty for the user's own.
        before: start of the words that tell whose it is.
    """

    start: int
    end: int
    value: str
    entry_type: str
    caption: str
    sensitivity: Sensitivity
    before: int


@lru_cache(maxsize=256)
def region_of(zone_name: str) -> str | None:
    """The country (two letters) of an IANA zone, for phone numbers without a prefix; None where it has none or several."""
    try:
        table = resources.files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    except (FileNotFoundError, ModuleNotFoundError):
        return None
    for line in table.splitlines():
        fields = line.split("\t")
        if len(fields) >= 3 and fields[2] == zone_name:
            return fields[0]
    return None


def find_contacts(text: str, zone: tzinfo, user_name: str = "") -> Iterator[Contact]:
    """The contacts of a text, e-mail addresses first.

    Args:
        text: what a person wrote, without pasted documents.
        zone: the user's timezone: its country is that of phone numbers without a prefix.
        user_name: the user's name, for captions.
    """
    taken: list[tuple[int, int]] = []
    if "@" in text:
        for match in _EMAIL.finditer(text):
            taken.append(match.span())
            if not is_public(text, match.start()):
                yield _contact(text, match.start(), match.end(), "email", user_name)
    if re.search(r"\d", text):
        for start, end in [*_addresses(text), *_phones(text, zone)]:
            if not any(a < end and start < b for a, b in taken) and not is_public(text, start):
                taken.append((start, end))
                kind = "address" if re.search(rf"[A-Za-z{HAN}]{{2}}", text[start:end]) else "phone"
                yield _contact(text, start, end, kind, user_name)


def is_public(text: str, start: int) -> bool:
    """Whether the words before a contact name a help line, a desk or a house open to all: it is told to everybody."""
    return _PUBLIC.search(text[max(0, start - 90) : start]) is not None


def _phones(text: str, zone: tzinfo) -> Iterator[tuple[int, int]]:
    if not _DIGITS.search(text):
        return
    region = region_of(getattr(zone, "key", ""))
    known: list[tuple[int, int]] = []
    for match in phonenumbers.PhoneNumberMatcher(
        text[:20_000], region, leniency=phonenumbers.Leniency.POSSIBLE, max_tries=200
    ):
        around = text[max(0, match.start - 40) : match.start]
        digits = sum(c.isdigit() for c in match.raw_string)
        told = bool(_PHONE_WORD.search(around)) or match.raw_string.startswith("+")
        known.append((match.start, match.end))
        if phonenumbers.number_type(match.number) in _PUBLIC_KINDS:
            continue
        if digits < 7 or _NOT_PHONE.search(around[-25:]) or _DAY_FIRST.match(match.raw_string):
            continue
        if told or (
            phonenumbers.is_valid_number(match.number) and re.search(r"[ ()-]|^0|^1[3-9]\d{9}$", match.raw_string)
        ):
            yield match.start, match.end
    # A number that no country gives out, made up, mistyped or of a plan that has changed, is as private as another.
    for run in _DIGITS.finditer(text[:20_000]):
        lead = text[max(0, run.start() - 40) : run.start()]
        digits = sum(c.isdigit() for c in run[0])
        if any(a < run.end() and run.start() < b for a, b in known) or not 7 <= digits <= 15:
            continue
        if _NOT_PHONE.search(lead[-25:]) or _DAY_FIRST.match(run[0]):
            continue
        abroad = digits >= 9 and _ABROAD.fullmatch(run[0]) and not _THOUSANDS.fullmatch(run[0])
        if abroad or _LINE_WORD.search(lead):
            yield run.span()


def _addresses(text: str) -> Iterator[tuple[int, int]]:
    for match in _ADDRESS.finditer(text):
        yield match.span()
    for match in _ADDRESS_TOLD.finditer(text):
        yield match.span("one" if match["one"] else "two")
    if "号" in text or "號" in text or "弄" in text:
        for match in _ADDRESS_ZH.finditer(text):
            lead = _LEAD_ZH.match(match[0])
            start = match.start() + (lead.end() if lead else 0)
            if match.end() - start >= 5:
                yield start, match.end()


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _contact(text: str, start: int, end: int, kind: str, user_name: str) -> Contact:
    before = start
    while before > 0 and start - before < 90 and text[before - 1] not in ".!?;\n。！？；":
        before -= 1
    lead = text[before:start]
    noun = {"email": "e-mail", "phone": "phone", "address": "address"}[kind]
    if kind == "phone":
        noun = next((name for word, name in _KIND_WORDS.items() if word in lead.lower()[-30:]), noun)
    if re.search(rf"[{HAN}]", lead):
        noun = {"e-mail": "邮箱", "phone": "电话", "address": "地址"}.get(noun, noun)
    owner = ""
    told = re.search(
        rf"(?P<who>[{HAN}A-Za-z ]{{1,12}}?)\s?的\s?(?:新)?(?:手机|电话|号码|邮箱|地址|座机|微信|email|e-mail|phone)",
        lead,
    )
    others = [*_OTHER.finditer(lead), *_OTHER_ZH.finditer(lead)]
    whose = {one.start for one in introduced(lead, has_han=False)}  # "our apprentice": it is theirs
    owns = [match for match in _OWN.finditer(lead) if match.start() not in whose]
    names = [
        m
        for m in _NAMED.finditer(_ASKS_TO.sub(_blank, lead))
        if m["name"].split()[0].casefold() not in CAPITALISED_NOT_NAMES
    ]
    if told and not told["who"].strip().startswith(("我", "自己")):
        owner = told["who"].strip()
    elif others:
        last = max(others, key=lambda m: m.end())
        owner = " ".join(
            part
            for part in ((last["name"] or "").removesuffix("'s"), f"({last['kin']})" if last["name"] else last["kin"])
            if part
        )
    elif names and (not owns or names[-1].start() > owns[-1].start()):
        owner = names[-1]["name"].removesuffix("'s")
    elif not owns:
        owner = "?"
    if owner == "?":
        caption = f"{noun} told in a conversation" if noun.isascii() else f"对话中提到的{noun}"
    elif owner:
        caption = f"{noun} of {owner}" if noun.isascii() else f"{owner}的{noun}"
    else:
        caption = (
            f"{user_name}'s own {noun}"
            if user_name and noun.isascii()
            else f"the user's own {noun}"
            if noun.isascii()
            else f"用户自己的{noun}"
        )
    return Contact(
        start=start,
        end=end,
        value=text[start:end],
        entry_type=kind,
        caption=caption,
        sensitivity="medium" if kind == "address" or not owner else "low",
        before=before,
    )
