"""Questions for all that is known of the user, their people, or one of them: "What do you know about me?", "Tell me about Mia".

Such a question shares its words with nothing that answers it. What was noted does: core memory first, since it is about
the user, and in turns with it what was learned of the people and things around them, the latest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import chain, zip_longest

from .. import lazy_re as re
from ..intent.phrases.tokens import word_set
from ..stores.ledger import Transaction, get_items, read_items
from ..stores.ledger.told_items import item_texts, items_before
from .asked_facts import is_true_at
from .managers.rules.words import KIN, KIN_ZH, any_of

__all__ = ["asks_for_overview", "only_of_people", "overview", "overview_of_named"]

_LOOKED_AT = 200  # items, the latest first
_SEARCHED = 5_000  # items, for a name
_KINDS = ("core", "semantic", "episodic")
_NO_NAMES = word_set(
    "me us myself my our i you it this that these those they them he she him her there here everything anything all"
)
_KNOW = r"(?:know|remember|recall|learn(?:ed|t)?|remembered|have\s+(?:stored|saved|noted)|noted)"
_OURS = r"(?:my|our)\s+(?:family|relatives|friends|kids|children|people)(?:\s+and\s+(?:(?:my|our)\s+)?(?:family|relatives|friends|me))?"
_ABOUT = rf"(?:about|of|on)\s+(?:me|us|myself|{_OURS})"
_AND = (
    r"(?:\s*(?:,|and)\s*(?:about\s+)?(?:(?:my|our)\s+)?(?:life|family|relatives|friends|people|job|work|home|kids|children"
    r"|health|habits|plans|tastes))?"
)
_SO_FAR = r"(?:,?\s+(?:so\s+far|already|by\s+now|right\s+now|now|until\s+now|in\s+total|please))*"
_PLEASE = (
    r"(?:(?:hi|hey|hello|ok|okay|so|and|well|please)[\s,.!]+)*(?:(?:can|could|would|will)\s+you\s+(?:please\s+)?)?"
)
_WHAT_YOU_KNOW = rf"what\s+(?:all\s+)?(?:(?:do|did)\s+you|have\s+you|you)\s+{_KNOW}"
_LIST = rf"(?:list|summari[sz]e|recap)\s+(?:all|everything|what)(?:\s+that)?\s+you(?:\s+have|['’]ve)?\s+{_KNOW}"
_ENGLISH = re.compile(
    rf"^{_PLEASE}(?:"
    rf"{_WHAT_YOU_KNOW}\s+{_ABOUT}"
    rf"|(?:tell|show)\s+me\s+(?:all|everything|what)(?:\s+that)?\s+you(?:\s+have|['’]ve)?\s+{_KNOW}\s+{_ABOUT}"
    rf"|{_LIST}\s+{_ABOUT}"
    rf"|(?:who|what\s+sort\s+of\s+person|what\s+kind\s+of\s+person)\s+am\s+i|who\s+i\s+am|tell\s+me\s+who\s+i\s+am"
    rf"|(?:do\s+you\s+)?(?:know|remember)\s+(?:anything|something)\s+about\s+me"
    rf"|describe\s+me|tell\s+me\s+about\s+(?:me|myself|{_OURS})"
    rf"|what\s+have\s+i\s+told\s+you(?:\s+{_ABOUT})?"
    rf"){_AND}{_SO_FAR}\s*[?.!]*$",
    re.I,
)
_CHINESE = re.compile(
    r"^(?:请|那|那么|你好[，,！!]?|请问)?(?:"
    r"你(?:都|还|已经|现在|目前)?(?:知道|了解|记得|记住了?|记了)(?:关于)?我(?:的?家人|家里人?|的?朋友|的)?(?:些)?(?:什么|哪些|多少)(?:事情?|信息|情况)?"
    r"|(?:关于|对)我(?:的?家人|家里人?|的?朋友)?[，,]?你(?:都|还|已经)?(?:知道|了解|记得|记住了?|有)(?:些)?(?:什么|哪些|多少)(?:了解|信息|情况)?"
    r"|(?:说说|告诉我|总结一下|列出|介绍一下)?你(?:所)?(?:知道|了解|记得|记住)的(?:所有)?关于我的(?:一切|所有|全部|事情?|信息)*"
    r"|我是谁|我是(?:个)?(?:什么样|怎样)的(?:一个)?人|我(?:都)?(?:[跟和对]你[说讲]过?|告诉过?你)(?:些)?(?:什么|哪些事?)"
    r")(?:了|呢|吗|吧)?\s*[?？。!！]*$"
)
_NAMED = re.compile(
    rf"^{_PLEASE}(?:"
    rf"{_WHAT_YOU_KNOW}\s+(?:about|of|on)"
    rf"|(?:tell|show)\s+me\s+(?:(?:all|everything|more|something|what)\s+)?(?:(?:that\s+)?you(?:\s+have|['’]ve)?\s+{_KNOW}\s+)?(?:about|of|on)"
    rf"|{_LIST}\s+(?:about|of|on)"
    rf"|what\s+(?:have\s+i\s+told|did\s+i\s+tell)\s+you\s+(?:about|of)"
    rf"|who(?:\s+is|\s+are|['’]s))\s+(?P<who>[\w'’.-]+(?:\s[\w'’.-]+){{0,2}}?){_SO_FAR}\s*[?.!]*$",
    re.I,
)
_NAMED_ZH = re.compile(
    r"^(?:请|那|那么|请问)?(?:你(?:都|还|已经)?(?:知道|了解|记得|记住了?)(?:关于)?(?P<one>[^我你，。？?\s]{1,8}?)(?:的?(?:什么|哪些|多少)(?:事情?|信息)?)"
    r"|(?:说说|告诉我)(?:所有|一切)?(?:关于)?(?P<two>[^我你，。？?\s]{1,8}?)(?:的(?:一切|所有|事情?|情况|信息))"
    r"|我(?:都)?(?:跟|和|对)?(?:告诉过?)?你(?:说过|讲过|提过)?(?:关于)?(?P<three>[^我你，。？?\s]{1,8}?)的?什么|(?P<four>[^我你，。？?\s]{1,8}?)是谁)(?:了|呢|吗|吧)?\s*[?？。!！]*$"
)
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Scripts without a space between words: in these a name begins and ends anywhere."""
_FAMILY = re.compile(r"\b(?:family|relatives|people|friends)\b|家人|家里|亲戚|朋友", re.I)
_OF_ONESELF = re.compile(
    r"\b(?:me|us|myself|i)\b(?!\s+(?:about|what|all|everything))|我(?!的?家人|家里|的?朋友|的?亲戚)", re.I
)
_HIRED = word_set(
    "boss manager supervisor landlord landlady teacher tutor coach therapist doctor dentist gp nanny babysitter childminder"
    " assistant client mentor lawyer accountant plumber electrician builder mechanic hairdresser vet lead advisor professor"
    " trainer cleaner gardener leader"
    " 上司 下属 主管 保姆 助手 助理 医生 客户 导师 师傅 班主任 律师 房东 教练 月嫂 组长 经理 老师 老板 领导 合伙人"
)
"""People whom a word says to be of neither the family nor the friends of anybody."""
_CLOSE_ZH = "|".join(one for one in KIN_ZH if len(one) > 1 and not one.isascii() and one not in _HIRED)
_CLOSE = re.compile(rf"\b(?:{any_of(KIN - _HIRED)}|children|wives)(?:e?s)?\b|{_CLOSE_ZH}|(?<=我)[哥姐弟妹爸妈]", re.I)


def asks_for_overview(text: str) -> bool:
    """Whether a question, in English or Chinese, asks for all that is known of the user."""
    text = " ".join(text[:200].split())
    return bool(_ENGLISH.match(text) or _CHINESE.match(text))


def only_of_people(question: str) -> bool:
    """Whether a question for an overview asks for the family and friends of the user, and not for the user too."""
    return _FAMILY.search(question) is not None and _OF_ONESELF.search(question) is None


def overview(tx: Transaction, question: str, now: datetime) -> Sequence[str]:
    """The ids of what is noted of the user and believed: core memory in its order, and in turns with it facts, then
    events, the latest first. Where the question speaks of their people, what is of people stands before the others; where
    it speaks of nothing else, that is all.

    Args:
        now: what was not true any more then, or not yet, is left out.
    """
    core = [one for one in read_items(tx, kinds=["core"]) if is_true_at(one, now)]
    places = {item_id: place for place, (item_id, _) in enumerate(items_before(tx, None, _LOOKED_AT))}
    latest = get_items(tx, places)
    others = [
        one for one in latest.values() if one.kind in _KINDS[1:] and one.status == "active" and is_true_at(one, now)
    ]
    people = bool(_FAMILY.search(question))
    others.sort(key=lambda one: (people and not _CLOSE.search(one.text), one.kind != "semantic", places[one.id]))
    if only_of_people(question):
        core, others = ([one for one in some if _CLOSE.search(one.text)] for some in (core, others))
    pairs = zip_longest([one.id for one in core], [one.id for one in others])
    return [item_id for item_id in chain.from_iterable(pairs) if item_id is not None]


def overview_of_named(tx: Transaction, question: str, now: datetime) -> Sequence[str]:
    """The ids of what is noted of somebody or something that a question names and asks all of ("Tell me about Mia", "What
    do you know of Lisbon?", "Who is Petra?"), in the order of :func:`overview`; nothing where it asks otherwise.

    Args:
        now: as above.
    """
    asked = " ".join(question[:200].split())
    match = _NAMED.match(asked) or _NAMED_ZH.match(asked)
    if match is None:
        return ()
    name = next(one for one in match.groups() if one is not None).strip("'’.-")
    if not name or name.casefold() in _NO_NAMES:
        return ()
    holds = re.compile(re.escape(name) if _UNSPACED.search(name) else rf"\b{re.escape(name)}\b", re.I)
    places = {item_id: place for place, (item_id, _) in enumerate(items_before(tx, None, _SEARCHED))}
    naming = [item_id for item_id, text in item_texts(tx, places).items() if holds.search(text)]
    found = [
        one
        for one in [*read_items(tx, kinds=["core"]), *get_items(tx, naming).values()]
        if one.kind in _KINDS and one.status == "active" and is_true_at(one, now) and holds.search(one.text)
    ]
    found.sort(key=lambda one: (_KINDS.index(one.kind), places.get(one.id, 0)))
    return list(dict.fromkeys(one.id for one in found))
