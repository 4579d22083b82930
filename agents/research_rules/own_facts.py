"""Questions that people ask about themselves: which noted fact answers one, and of whom or what an answer must speak.

"Where do I live?" shares no word with "home: Porto". A core item states a slot (home, employer, birthday), and a plain
question of the user about that slot is answered by it. Where the question is about somebody or something of the user
("my dog"), an answer must speak of them.
"""

from __future__ import annotations

from ... import lazy_re as re
from ...memory_types.research import Passage
from ..applying.slots import slot_name
from ..managers.rules.words import ANIMALS, ANIMALS_ZH, CHILDREN, FEMALE, KIN_ZH, MALE, PARTNERS
from .living import with_plain_work

__all__ = ["asked_slots", "asks_of_past", "only_of_others", "possessed", "stated_slot", "states_slot"]

_PAST = re.compile(
    r"\b(?:did|was|were|used to|before|previous(?:ly)?|former(?:ly)?|original(?:ly)?|last|first|old(?=\s+(?:home|job|flat|house)))\b"
    r"|以前|之前|原来|过去|曾|当时|那时|上[次个一]|去年|最早|最初|小时候",
    re.I,
)
_SELF = r"(?:do|am|are|'m|’m)\s+(?:i|we)\b(?:\s+(?:currently|now|actually|both|all))?"
_NOW_ZH = r"(?:现在|目前|如今|到底|平时|是)*"
_ASKED_ZH = r"(?:哪[里儿个座家所]?|什么|何处)"
_MAY_NOT = (
    r"(?:can(?:['’]t|not|\s+not)|must(?:n['’]t|\s+not)|should(?:n['’]t|\s+not)|may\s+not|do(?:n['’]t|\s+not)|am\s+not)"
)
_MAY = r"(?:can|must|should|may|do|am)"
_MAY_NOT_ZH = r"(?:不能|不可以?|不该|不应该|不宜|不敢|不得)"
_FOOD_ZH = r"(?:什么|啥|哪些)(?:东西|食物|菜|吃的)?"
_NOT_EATEN = ("allergy to food", "avoids food", "diet")
"""Of allergies and what is avoided only those to do with food state what may not be eaten."""
_FORMS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(form, re.I), slots)
    for form, slots in (
        (
            rf"^(?:in\s+)?(?:where|(?:which|what)\s+(?:city|town|place|country)),?\s+{_SELF}\s+(?:live|living|reside|based)\b"
            rf"|我们?{_NOW_ZH}(?:居住|定居|住)[在于]?{_ASKED_ZH}|我们?{_NOW_ZH}在{_ASKED_ZH}\w{{0,3}}(?:居住|定居|住|生活)"
            rf"|我们?家{_NOW_ZH}[住在]+{_ASKED_ZH}",
            ("home_city", "address", "country"),
        ),
        (
            rf"^(?:for\s+|at\s+|in\s+)?(?:where|whom?|(?:which|what)\s+(?:company|firm|employer|organi[sz]ation)),?"
            rf"\s+{_SELF}\s+(?:work|working|employed)\b|^who\s+(?:employs\s+me|pays\s+(?:me|my\s+(?:salary|wages?))|do\s+i\s+work\s+for)\b"
            rf"|我{_NOW_ZH}在{_ASKED_ZH}\w{{0,4}}(?:工作|上班|任职|就职|谋生|挣钱|赚钱)",
            ("employer",),
        ),
        (
            rf"^what\s+{_SELF}\s+(?:do|doing)\s+(?:for\s+(?:a\s+living|work|a\s+job)|at\s+work)\b|^what\s+{_SELF}\s+work(?:ing)?\s+as\b"
            rf"|^what\s+(?:kind|sort|type)\s+of\s+(?:work|job)\s+{_SELF}\s+(?:do|have|doing)\b"
            rf"|我{_NOW_ZH}(?:做|干|从事)的?是?什么(?:工作|职业|行业|的)|我{_NOW_ZH}靠什么(?:谋生|生活)"
            r"|^how\s+do\s+i\s+work[?.!\s]*$",
            ("job_title", "employer"),
        ),
        (
            rf"^(?:what|which)(?:\s+(?:kinds?\s+of\s+)?(?:foods?|dish(?:es)?|things?))?\s+(?:{_MAY_NOT}\s+i|{_MAY}\s+i\s+not)"
            r"(?:\s+(?:allowed|supposed|able)\s+to)?\s+eat(?:\s+(?:now|any\s?more|these\s+days))?[?.!\s]*$"
            rf"|^我{_NOW_ZH}{_MAY_NOT_ZH}吃{_FOOD_ZH}[?？。\s]*$|^(?:有)?{_FOOD_ZH}(?:是)?我?{_MAY_NOT_ZH}吃的?[?？。\s]*$"
            r"|^我(?:有什么|有哪些|有没有)?忌口",
            _NOT_EATEN,
        ),
        (r"^how\s+old\s+am\s+i\b|我(?:现在|今年)*(?:多大|几岁|多少岁)", ("age",)),
        (r"^(?:what\s+am\s+i\s+called|who\s+am\s+i)\b|我叫(?:什么|啥)|我是谁", ("name",)),
    )
)
_LABEL = re.compile(
    r"^(?:what|who|when|where|which)(?:['’]s|\s+is|\s+are)\s+my\s+(?:(?:current|present|own|full)\s+)?"
    r"(?P<label>[a-z][a-z -]{1,40}?)\s*(?:now|currently|these\s+days|at\s+the\s+moment)?[?.!\s]*$"
    r"|我们?(?:现在|目前)?的?(?P<han>姓名|名字|昵称|年龄|生日|出生地|住址|地址|居住地|公司|工作单位|单位|职业|工作|职位|学校|专业|母语)(?:是|叫|在)(?:什么|多少|哪)",
    re.I,
)
_FAMILY = FEMALE | MALE | PARTNERS | CHILDREN
_MINE_ZH = re.compile(
    rf"我(?:们|家)?里?的?({'|'.join(re.escape(one) for one in KIN_ZH if one in _FAMILY)}|{ANIMALS_ZH})", re.I
)
_HOLDERS = _FAMILY | ANIMALS


def asked_slots(text: str) -> tuple[str, ...]:
    """The slots of core items that answer a question of the user about themselves, as it is now; none of any other question.

    Args:
        text: the question.
    """
    text = with_plain_work(" ".join(text.split()))
    if _PAST.search(text):
        return ()
    for form, slots in _FORMS:
        if form.search(text):
            return slots
    label = _LABEL.search(text)
    if label is None:
        return ()
    said = slot_name(label["label"] or label["han"])
    return tuple(dict.fromkeys((said, "employer"))) if said == "job_title" else (said,) if said else ()


def asks_of_past(text: str) -> bool:
    """Whether a question is of what was, rather than of what is."""
    return _PAST.search(text) is not None


def states_slot(passage: Passage, slots: tuple[str, ...]) -> bool:
    """Whether a passage is a core item that states one of some slots."""
    return bool(slots) and passage.kind == "core" and stated_slot(passage, slots) in slots


def stated_slot(passage: Passage, slots: tuple[str, ...]) -> str:
    """The slot that a core item states, as the slots that are asked for call it."""
    label, _, value = passage.text.partition("\n")
    slot = slot_name(label)
    if slots == _NOT_EATEN and slot in ("allergy", "avoids"):
        of_food = _EATEN.search(value) if slot == "avoids" else not _NOT_FOOD.search(value)
        return f"{slot}{' to' if slot == 'allergy' else ''} food" if of_food else slot
    return slot


_EATEN = re.compile(r"\b(?:eat|eats|eating|food|meat|fish|dish)\b|吃|食", re.I)
_EATEN_ANIMALS = frozenset({"fish", "chicken", "hen", "rabbit", "goat", "horse"})
_NOT_FOOD = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, sorted(ANIMALS - _EATEN_ANIMALS)))})s?\b|{ANIMALS_ZH}"
    r"|\b(?:pollen|dust|mites?|grass(?:es)?|birch|ragweed|trees?|mou?ld|fur|hair|feathers?|latex|nickel|perfumes?|sun(?:light)?|wool"
    r"|bees?|wasps?|insects?|stings?|mosquito(?:e?s)?|penicillin|amoxicillin|antibiotics?|aspirin|ibuprofen|paracetamol|sulfa"
    r"|drugs?|medicines?|medication|plasters?)\b"
    r"|花粉|尘螨|粉尘|灰尘|霉菌|青霉素|头孢|阿司匹林|抗生素|乳胶|紫外线|毛发|[猫狗]毛|柳絮|蜂|蚊|药",
    re.I,
)
_I_ASK = re.compile(r"\b(?:do|am)\s+(?:i|we)\b|\bare\s+we\b", re.I)
_I_SAY = re.compile(
    r"\b(?:i|we|me|us|user)\b|\b(?:my|our)\s+(?:\w+\s+)?(?:flat|house|home|apartment|place|address|job|work|office|employer|company|boss|name|age|birthday)\b",
    re.I,
)


def only_of_others(question: str, sentence: str) -> bool:
    """Whether a question is of what the user does ("Where do I live?"), and a sentence says nothing of the user.

    "My friend Tom lives in Rome" tells where Tom lives, whatever words it shares with the question. English only.

    Args:
        question: one that asks for slots, see `asked_slots`.
        sentence: what the user said, or what was learned from it.
    """
    return _I_ASK.search(question) is not None and _I_SAY.search(sentence) is None


def possessed(text: str) -> tuple[str, ...]:
    """The family and animals of the user that a question is about: "dog" of "What does my old dog eat?".

    Friends, colleagues and the like are left out: people seldom say of somebody that it is a friend.
    """
    found: dict[str, None] = {}
    for match in re.finditer(r"\b(?:my|our)\s+((?:[\w’'-]+\s*){1,3})", text, re.I):
        for word in match.group(1).split():
            plain = re.sub(r"['’]s?$", "", word.casefold())
            known = next(
                (one for one in (plain, plain.removesuffix("s"), plain.removesuffix("es")) if one in _HOLDERS), None
            )
            if known is not None:
                found[known] = None
                if plain == word.casefold():  # of "my wife's dog" both are meant
                    break
    found.update((match.group(1), None) for match in _MINE_ZH.finditer(text))
    return tuple(found)
