"""Slots: which attribute of which subject an item states, so that another value of it is known for a contradiction.

A slot is a short name such as ``home_city`` or ``partner.name``: what comes before the last dot is the subject (the
user where nothing does), the last part the attribute. A manager that knows the slot of an item says so in
``metadata["slot"]``. Otherwise a core item has the slot of its label where the label is known to hold one value, and a
semantic item that of its name and a predicate that holds one value ("lives in", "works at"). Everything else has none:
a value that is not known to exclude others excludes none.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Literal

from ... import lazy_re as re
from .likeness import telling_words
from .predicates import stated_by

__all__ = ["is_fixed", "is_single", "same_value", "slot_name", "slot_of", "stated_value"]

# Attributes that have one value at a time, with the names under which they go.
_SINGLE: Mapping[str, tuple[str, ...]] = {
    "home_city": ("home", "city", "residence", "lives_in", "current_city", "town", "living_place"),
    "country": ("home_country", "country_of_residence", "lives_in_country"),
    "address": ("home_address", "street_address"),
    "employer": ("company", "workplace", "works_at", "works_for", "organisation", "organization"),
    "job_title": ("job", "occupation", "profession", "role", "position", "works_as"),
    "name": ("full_name", "user_name", "username"),
    "form_of_address": ("nickname", "preferred_name", "called"),
    "surname": ("last_name", "family_name"),
    "title": ("salutation",),
    "age": (),
    "marital_status": ("relationship_status", "civil_status"),
    "partner": ("spouse", "husband", "wife", "boyfriend", "girlfriend", "fiance", "fiancee"),
    "timezone": ("time_zone",),
    "phone": ("phone_number", "mobile", "mobile_number"),
    "email": ("e_mail", "email_address"),
    "school": ("university", "college", "studies_at"),
    "studies": ("major", "field_of_study"),
    "height": (),
    "weight": (),
    "diet": (),
    "answer_language": ("preferred_language", "reply_language"),
    "answer_length": (),
    "answer_style": ("answer_format", "response_style", "response_format", "reply_style"),
    "birthday": ("date_of_birth", "birth_date", "dob", "birthdate"),
    "birth_year": ("year_of_birth",),
    "birthplace": ("place_of_birth", "born_in"),
    "native_language": ("mother_tongue", "first_language"),
    "hometown": ("origin", "home_town"),
    "vehicle": (),
}
_NAMES = {name: slot for slot, names in _SINGLE.items() for name in (slot, *names)}
_FIXED = frozenset({"birthday", "birth_year", "birthplace", "native_language"})
_MANY_TEXT = """
child children son sons daughter daughters kid kids sibling siblings brother brothers sister sisters friend
friends pet pets cat cats dog dogs hobby hobbies interest interests like likes dislike dislikes allergy
allergies language languages skill skills preference preferences goal goals fear fears habit habits medication
medications condition conditions colleague colleagues contact contacts visited trip trips family project
projects favourite favourites favorite favorites food foods avoids parent parents relative relatives neighbour
neighbours
"""
_MANY = frozenset(_MANY_TEXT.split())
_FAVOURITE = re.compile(r"(?:favou?rite|best|main|current|preferred)_\w*[^s\W]$")
_CHINESE = {
    "姓名": "name", "名字": "name", "昵称": "form_of_address", "称呼": "form_of_address", "年龄": "age", "生日": "birthday",
    "出生地": "birthplace", "住址": "address", "地址": "address", "居住地": "home_city", "所在城市": "home_city",
    "居住城市": "home_city", "现居地": "home_city", "城市": "home_city", "公司": "employer", "工作单位": "employer",
    "单位": "employer", "雇主": "employer", "职业": "job_title", "工作": "job_title", "职位": "job_title",
    "婚姻状况": "marital_status", "学校": "school", "专业": "studies", "母语": "native_language", "配偶": "partner",
}  # fmt: skip

_RANKS_TEXT = """
senior junior lead chief head vice deputy assistant associate trainee former ex retired
"""
_RANKS = frozenset(_RANKS_TEXT.split())
_NEGATED = re.compile(r"\b(?:not|no|never|no longer|n't)\b|n't\b|[不没]", re.IGNORECASE)
_GENERIC = frozenset({"live", "work", "home", "city", "town", "place", "company", "called", "old", "year", "today"})
_PART = re.compile(r"[^\w\[\]]+")


def slot_name(name: str) -> str:
    """A slot in the form in which slots are compared: ``Home City`` and ``residence`` are ``home_city``."""
    parts = [
        _PART.sub("_", unicodedata.normalize("NFKC", part).strip()).strip("_").casefold() for part in name.split(".")
    ]
    parts = [part for part in parts if part]
    if len(parts) > 1 and parts[0] in ("user", "me", "self", "用户"):
        parts = parts[1:]
    if not parts:
        return ""
    last = parts[-1].removeprefix("user_") or parts[-1]
    return ".".join([*parts[:-1], _NAMES.get(last) or _CHINESE.get(last) or last])


def is_single(slot: str, *, known: bool) -> bool:
    """Whether a slot holds one value at a time.

    Args:
        slot: as :func:`slot_name` gives it; one that ends in ``[]`` holds many.
        known: whether a manager named the slot; of a mere label only known attributes count.
    """
    *subject, last = slot.split(".")
    if subject and subject[-1] in _MANY:  # one may have several: "child.name" tells not which, "child.nell" does
        return last not in _NAMES
    if not last or last.endswith("[]") or last in _MANY or last.rsplit("_", 1)[-1] in _MANY - {"name", "language"}:
        return last in _SINGLE
    return known or last in _SINGLE or last in _CHINESE.values() or _FAVOURITE.fullmatch(last) is not None


def is_fixed(slot: str) -> bool:
    """Whether the attribute never changes, so that another value can only be a correction."""
    return slot.rsplit(".", 1)[-1] in _FIXED


def slot_of(kind: str, text: str, metadata: Mapping[str, Any]) -> str:
    """The slot of an item that holds one value at a time; empty where it has none.

    Args:
        text: of the item: the label or name is its first line.
    """
    if metadata.get("overflow_of"):
        return ""
    named = metadata.get("slot")
    if isinstance(named, str) and named.strip():
        slot = slot_name(named)
        return slot if is_single(slot, known=True) else ""
    head, _, rest = text.partition("\n")
    if kind == "core":
        slot = slot_name(head)
        return slot if is_single(slot, known=False) else ""
    found = stated_by(rest.split("\n", 1)[0]) if kind == "semantic" else None
    # The predicate must be said of the name itself: "Anna's brother lives in Porto" says nothing of Anna's home.
    if found and (found.certain or telling_words(found.subject) <= telling_words(f"{head} {found.attribute}")):
        who = slot_name((found.subject or head).replace(".", " "))
        return f"{who}.{found.attribute}" if who and who != "user" else found.attribute
    return ""


_DIGITS = re.compile(r"\d+")
_MOMENT = re.compile(r"\d{4}-\d{2}(?:-\d{2}(?: \d{2}:\d{2})?)?")


def same_value(one: str, two: str) -> Literal["same", "less", "more", "different"]:
    """What a value says beyond another of its slot: Salthill in Galway says more than Galway, Cork something else.

    A rank changes the value: a senior analyst is more than an analyst told in more detail. Days are compared as such: they
    are no sets of numbers, of which the sixth of June has one fewer than the ninth.
    """
    if _MOMENT.fullmatch(one) and _MOMENT.fullmatch(two):
        return (
            "same" if one == two else "more" if two.startswith(one) else "less" if one.startswith(two) else "different"
        )
    figures = [_DIGITS.findall(text) for text in (one, two)]
    if len(figures[0]) == len(figures[1]) and figures[0] != figures[1]:
        return "different"  # as sets of numbers 5/5 would say a part of 5/4
    known, new = (telling_words(text) - _GENERIC or telling_words(text) for text in (one, two))
    if (_NEGATED.search(one) is None) != (_NEGATED.search(two) is None):
        return "different"
    if known == new:
        return "same" if known or one.casefold().split() == two.casefold().split() else "different"
    if not known or not new or (known ^ new) & _RANKS:
        return "different"
    return "more" if known < new else "less" if new < known else "different"


def stated_value(kind: str, text: str, metadata: Mapping[str, Any]) -> str:
    """The value that an item gives its slot, as far as it can be told from the rest of its words."""
    value = metadata.get("value")
    if isinstance(value, (str, int, float)) and str(value).strip():
        return str(value)
    rest = text if kind not in ("core", "semantic") else text.partition("\n")[2] or text
    found = stated_by(rest.split("\n", 1)[0])
    if found and not (
        isinstance(metadata.get("slot"), str) and found.attribute != slot_name(metadata["slot"]).rsplit(".", 1)[-1]
    ):
        return found.value
    return rest if kind == "core" else rest.split("\n", 1)[0]
