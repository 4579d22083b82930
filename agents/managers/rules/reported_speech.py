"""What is only said or thought to be so: "I never said I play golf", "They think I'm a lawyer", 没人说我在腾讯工作.

The outer clause decides how its inner one is read. What it denies, or admits to be a lie, tells nothing at all. What
others say, think or believe of the user is no word of the user's own; a doctor and a test are believed, and so is
whoever tells the user some news ("she told me I got the job"). What the user says, thinks or told before stays theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from .... import lazy_re as re
from ....intent.phrases.tokens import word_set
from .people import KIN_ZH_PATTERN
from .sentence_parts import MASK, Clause, Sentence

__all__ = ["Reported", "covered", "is_taken_back", "may_report", "own_words", "reported"]


class Reported(NamedTuple):
    """Characters ``start`` to ``end`` of a sentence that stand under a clause of saying or thinking.

    Attributes:
        denied: whether it is denied or a lie, so that nothing of it holds; else it is what others say of the user.
    """

    start: int
    end: int
    denied: bool


_SAYING = (
    r"say(?:s|ing)?|said|tell(?:s|ing)?|told|claim(?:s|ed|ing)?|insist(?:s|ed|ing)?|swear(?:s|ing)?|swore|jok(?:e|es|ed|ing)|suggest(?:s|ed"
    r"|ing)?|impl(?:y|ies|ied|ying)|stat(?:e|es|ed|ing)|writ(?:e|es|ing)|wrote|alleg(?:e|es|ed|ing)|admit(?:s|ted)?|complain(?:s|ed|ing)?"
    r"|pretend(?:s|ed|ing)?|den(?:y|ies|ied|ying)|shout(?:s|ed)?|argu(?:e|es|ed|ing)|mean|meant"
)
_THINKING = (
    r"think(?:s|ing)?|thought|assum(?:e|es|ed|ing)|believ(?:e|es|ed|ing)|guess(?:es|ed|ing)?|reckon(?:s|ed|ing)?|suppos(?:e|es|ed|ing)"
    r"|imagin(?:e|es|ed|ing)|suspect(?:s|ed|ing)?|figur(?:e|es|ed|ing)|presum(?:e|es|ed|ing)|expect(?:s|ed|ing)?|hear|heard|fear(?:s|ed)?"
    r"|(?:convinced|sure|certain|under\sthe\simpression|of\sthe\sopinion|persuaded|adamant)"
)
_SOMEBODY = (
    r"(?:you|him|her|them|me|us|everyone|everybody|people|anyone|anybody|somebody|someone|others|(?:the|my|our|his|her|their|your|a|an)"
    r"\s[\w-]+(?:\s(?!that\b|I\b|my\b|we\b)[\w-]+)?|(?-i:(?!I\b|I')[A-Z][\w'-]+))"
)
_WHOM = rf"(?i:(?:(?<=tell)|(?<=tells)|(?<=told)|(?<=telling))\s{_SOMEBODY}|\sto\s{_SOMEBODY})?"
_WHERE = r"(?:\s(?:on|in|at)\s(?:the|my|our|his|her|their|your)\s[\w-]+)?"
_OF_SELF = r"(?:I|I'\w+|Im|we|we'\w+|my|our)\b"
_VERB = re.compile(
    rf"\b(?P<verb>(?i:{_SAYING}|{_THINKING}))\b(?P<whom>{_WHOM}){_WHERE}"
    r"(?P<mark>\s?[:,]\s|\s)(?i:(?:that|how|about\show)\s)?(?=\S)",
)
_OWN_INNER = re.compile(_OF_SELF)
_YET = re.compile(r"\byet\b", re.IGNORECASE)
_NEAR = 200  # characters on either side of a verb that are read
_HELPERS = word_set(
    "always never still just also really all both often sometimes usually keep keeps kept once even only probably have has had do does"
    " did don't doesn't didn't haven't hasn't hadn't will would wouldn't won't not ever to be am is are was were isn't aren't wasn't"
    " weren't been being going seem seems like used might may could couldn't can can't cannot must should ever actually honestly simply"
    " certainly definitely clearly explicitly dont didnt havent wouldnt cant now then already so firmly quite pretty absolutely fully"
    " want wanted need loudly wrongly falsely mistakenly apparently"
)
_NOT = word_set(
    "never not don't doesn't didn't haven't hasn't hadn't wouldn't won't couldn't can't cannot dont didnt havent wouldnt cant"
)
_TELLS = re.compile(r"t(?:ell|old)", re.IGNORECASE)
_SAYS = re.compile(rf"(?:{_SAYING})\Z", re.IGNORECASE)
_LYING = re.compile(r"(?:pretend|den[yi])", re.IGNORECASE)
_SUPPOSE = word_set("say assume")
_NOBODY = re.compile(r"(?:^|[\s,])(?:nobody|no[- ]?one|none\sof|neither\sof|no\s\w+)\b", re.IGNORECASE)
_EXPERT = re.compile(
    r"\b(?:doctors?|gp|nurse|dentist|optician|optometrist|specialist|consultant|surgeon|physio\w*|midwife|psychiatrist|therapist|\w+ologist"
    r"|allergist|hospital|clinic|lab|tests?|results?|scans?|x-?ray|biopsy|screening|bloods?|diagnosis)\b",
    re.IGNORECASE,
)
_AS_SAID = re.compile(r"^\W*(?:just\s)?(?:as|like)\b", re.IGNORECASE)
_NOT_SO = re.compile(
    r"(?i:\b(?:it|that)(?:(?:'s|\sis|\swas)(?:n't|\snot|\snever)|\sain't|\swasn't|\sisn't)\s(?:\w+ly\s)?"
    r"(?:true|the case|right|correct|a fact|like)"
    r"|\b(?:it|that)(?:'s|\sis|\swas)\s(?:just\s|simply\s|all\s|only\s)?(?:an?\s)?(?:\w+\s)?(?:lie|myth|rumou?r"
    r"|misunderstanding|fib|joke|false|untrue"
    r"|wrong|nonsense|rubbish)|(?:^|[,;]\s)not|\bthe (?:lie|rumou?r|myth|claim|idea)|\b(?:lied|lying|fibbed|fib)(?:\sto\s\w+)?)"
    rf"(?i:\s(?:that|about\show))?\s(?={_OF_SELF})"
)
_SAID_TO_BE = re.compile(
    r"(?i:\baccording\sto\s(?P<who>[^,;]{2,40}),\s|\b(?:rumou?r|word|legend)\s(?:has\sit|is|goes|went)(?:\sthat|,)?\s"
    r"|\bin\s(?P<mind>[\w\s]{2,25}?)(?:'s?)?\s(?:opinion|view|eyes|mind|head),?\s|(?:^|[,;]\s)(?:supposedly|allegedly|reportedly),?\s)"
)
_ENDS = re.compile(
    r"\s?;|\s(?:but|because|while|whereas|although|though)\s|\s[–—-]{1,2}\s"
    r"|,\s(?!and\sthat\b)(?:(?:and|so|yet|or)\s)?"
    r"(?=(?i:I|I'\w+|Im|we|we'\w+|my|our|it|it's|that|that's|this|which|he|she|they|in\sfact|actually|really|the\struth|not)\b)"
)
_AFTERWARDS = re.compile(
    r",\s(?P<who>(?:\w+\s){0,2}[\w']+)\s(?:always\s|often\s|all\s|keeps?\s)?(?P<verb>says?|said|claims?|claimed|thinks?|thought|reckons?"
    r"|believes?|insists?|swears?)(?:\sanyway)?\W*$",
    re.IGNORECASE,
)
_A_LIE = (
    r"(?:(?:that|it|this|which|all)(?:'s|\sis|\swas)\s(?:\w+\s)?(?:an?\s(?:\w+\s)?)?"
    r"(?:lie|fib|joke|invention|untruth|false|untrue|made[- ]up|wrong"
    r"|nonsense|rubbish|not\strue|lies)\b|(?:that|it|this|which)\s?(?:isn't|wasn't|ain't|(?:is|was|'s)\s(?:not|never))\s(?:\w+ly\s)?true\b"
    r"|I\s(?:was\slying|lied|made\s(?:it|that|this|all)\s(?:all\s)?up|was\sjoking|was\skidding))"
)
_LIE = re.compile(rf"\b{_A_LIE}", re.IGNORECASE)
_LIE_NEXT = re.compile(
    rf"^\W*(?:(?:and|but|well|oh|of\scourse|in\sfact|actually|though)[\s,]+)*{_A_LIE}", re.IGNORECASE
)
_LIED_BEFORE = re.compile(r"\b(?:lied|lying|fibbed|bluffed|making\sthings\sup)\b", re.IGNORECASE)

_SAYS_ZH = r"(?:说|讲|提到?|告诉|宣称|声称|自称|表示|承认|坚称|写)"
_THINKS_ZH = r"(?:觉得|以为|认为|猜|怀疑|相信|当|传|想|看|笑)"
_TO_ZH = r"(?:(?:跟|和|对|向|给|同)[^，。；：说讲提]{1,6})?"
_DENIED_ZH = re.compile(
    rf"我们?(?:从来?|从没|可|并|真|根本|压根|绝对|也|都|才|又|以前|当时|什么时候|时候|就)*(?:没有?|不曾|未曾|不会|不)(?:有)?{_TO_ZH}{_SAYS_ZH}"
    rf"(?:过|了)?(?:任何人|别人|[^，。；：我]{{0,4}}?)(?:说)?[，：:,]?\s?(?=我)"
    rf"|(?:没有?(?:一个)?(?:任何)?人|没谁|谁[都也]没有?|哪有人|哪个人)(?:曾|会|再|跟你|和你)*(?:{_SAYS_ZH}|{_THINKS_ZH})(?:过|你|他|她)*[，：:]?\s?(?=我)"
    rf"|(?:骗|哄|忽悠|糊弄|瞒着|欺骗)(?:了|过)?[^，。；：说]{{0,6}}(?:说|是)?[，：:]?\s?(?=我)|我?(?:撒谎|说谎|谎|假装|装作|假称|瞎)(?:称|说)?[，：:]?\s?(?=我)"
    r"|(?:不是说|并非|谣言说|造谣说|瞎说)\s?(?=我)|我不(?:认为|觉得)\s?(?=我)"
)
_OTHERS_ZH = re.compile(
    rf"(?P<who>(?:他|她|它|你|您|人|咱)们?|大家|别人|人家|有些?人|很多人|好多人|所有人|谁都|同事们?|朋友们?|邻居们?|老师们?|网上|传言|谣言|听|据|外面|{KIN_ZH_PATTERN}"
    r"|[小老阿][\u4e00-\u9fff]|[A-Z][a-z]+)(?:一直|总是?|老是?|都|也|还|就|经|常|可能|会|误|错|肯定|非要?|硬|曾经?|昨天|今天|刚才?|跟[^，。说]{1,5}|对[^，。说]{1,5}|\s)*"
    rf"(?P<verb>{_SAYS_ZH}|{_THINKS_ZH})(?:过|了|着)?(?P<mark>[，：:,]?)\s?(?P<me>我)?"
)
_EXPERT_ZH = re.compile(r"医生|大夫|护士|医院|检查|报告|化验|体检")
_LIE_ZH = re.compile(
    r"骗[他她你人]|骗[^，。]{0,4}的|是?(?:假的|谎话|谎言|撒谎|瞎说|瞎编|编的|胡说|骗局)|不是真的|我(?:撒谎|瞎说|编)"
)
_TOLD_ZH = re.compile(
    rf"(?:我(?:当时|之前|曾|就)*{_TO_ZH}(?:说|讲|告诉)(?:过|了)?[^，。；：我]{{0,5}}[，：:]?\s?)(?=我)"
)
_ENDS_ZH = re.compile(r"；|，(?=但|不过|可是|可我|可其实|其实|而|我|因为|所以|实际|事实|那是|这是|都是)")
_REPORTING = word_set(
    "say says saying said tell tells telling told claim claims claimed insist insists insisted swear swears swore joke jokes joked suggest"
    " suggests suggested imply implies implied state states stated write writes wrote alleges alleged admit admits admitted complain"
    " complains pretend pretends pretended pretending deny denies denied shouted shouts argue argues argued mean meant think thinks"
    " thinking thought assume assumes assumed assuming believe believes believed guess guesses guessed reckon reckons reckoned suppose"
    " supposes supposed imagine imagines imagined suspect suspects suspected figure figures figured presume presumes presumed expect"
    " expects expected hear heard fear fears convinced sure certain impression opinion persuaded adamant according rumour rumor word"
    " view eyes mind head supposedly allegedly reportedly lied lying fib fibbed lie true myth misunderstanding false untrue wrong nonsense"
    " rubbish not legend isnt claiming saying case"
)
_REPORTING_ZH = re.compile(rf"{_SAYS_ZH}|{_THINKS_ZH}|骗|撒谎|谎|假装|装作|瞎|据|并非")


def may_report(words: frozenset[str], text: str, has_han: bool) -> bool:
    """Whether :func:`reported` can find anything in a text of these words; it seldom can."""
    return not words.isdisjoint(_REPORTING) or (has_han and _REPORTING_ZH.search(text) is not None)


def reported(text: str, has_han: bool) -> list[Reported]:
    """What of a sentence stands under a clause of denial, or under one of what others say and think of the user.

    Args:
        text: of one sentence, as rules read it.
        has_han: whether any of it may be Chinese.
    """
    found = [*_english(text), *(_chinese(text) if has_han else ())]
    return [one for one in found if one.end > one.start]


def is_taken_back(text: str) -> bool:
    """Whether a sentence says that the one before it was a lie."""
    return bool(
        _LIE_NEXT.match(text)
        or re.match(r"^(?:其实|那|都|这|当然|全)*(?:是)?(?:骗|假的|谎话|瞎说|编的|不是真的)", text)
    )


def _english(text: str) -> Iterator[Reported]:
    for match in _NOT_SO.finditer(text):
        yield Reported(match.end(), _end(text, match.end()), True)
    for match in _SAID_TO_BE.finditer(text):
        who = (match["who"] or match["mind"] or "others").casefold()
        if who not in ("me", "us", "my") and not _EXPERT.search(who):
            yield Reported(match.end(), _end(text, match.end()), False)
    done = 0
    for match in _VERB.finditer(text):
        if match.start() < done:
            continue
        denied = _judged(text, match)
        if denied is None:
            continue
        done = len(text) if ":" in match["mark"] else _end(text, match.end())
        yield Reported(match.end(), done, denied)
    after = _AFTERWARDS.search(text)
    if after and not re.search(r"\b(?:I|we|I've|we've)$", after["who"]) and not _EXPERT.search(after["who"]):
        yield Reported(0, after.start(), False)


def _judged(text: str, match: re.Match[str]) -> bool | None:
    """Whether what follows a verb of saying or thinking is denied, or the word of others; None where it is the user's own."""
    verb, whom = match["verb"].casefold(), match["whom"].strip().casefold().removeprefix("to ")
    own_inner = _OWN_INNER.match(text, match.end()) is not None
    begins = re.split(r"[,;:–—]\s|\s(?:and|but|because|so)\s", text[max(0, match.start() - _NEAR) : match.start()])[-1]
    words = re.findall(r"[^\W\d_][\w'-]*", begins)
    rest, helpers = list(words), set[str]()
    while rest and rest[-1].casefold() in _HELPERS:
        helpers.add(rest.pop().casefold())
    if len(rest) > 1 and ("to" in helpers or verb.endswith("ing")) and rest[-1].islower():
        rest.pop()  # "I forgot to say", "I don't remember saying"
        while rest and rest[-1].casefold() in _HELPERS:
            helpers.add(rest.pop().casefold())
    subject = rest[-1] if rest else ""
    negated = not helpers.isdisjoint(_NOT)
    nobody = _NOBODY.search(begins) is not None and not (whom in ("me", "us") and _TELLS.match(verb))
    said = _SAYS.match(verb) is not None
    if "," in match["mark"] and (not own_inner or _AS_SAID.match(begins)):
        return None
    if nobody:
        return True
    if subject.split("'")[0] in ("I", "we", "We", "Im"):
        if _LIED_BEFORE.search(text, max(0, match.start() - _NEAR), match.start()) or (
            _LYING.match(verb) and not negated
        ):
            return True
        if negated and said and not _LYING.match(verb):
            return None if _YET.search(text, match.start(), match.start() + _NEAR) else True
        if negated:
            return False if own_inner else None
        if said and _LIE.search(text, end := _end(text, match.end()), end + _NEAR):
            return True
        return None
    if not subject:
        if negated and not _TELLS.match(verb):
            return False if own_inner else None
        if verb in _SUPPOSE and not begins.strip():
            return False if own_inner else None
        if _LIED_BEFORE.search(text, max(0, match.start() - _NEAR), match.start()):
            return True
        return None
    if (
        not own_inner
        or _EXPERT.search(begins)
        or (_TELLS.match(verb) and whom in ("me", "us"))
        or _AS_SAID.match(begins)
    ):
        return None
    return False


def _end(text: str, start: int) -> int:
    match = _ENDS.search(text, start)
    return match.start() if match else len(text)


def _chinese(text: str) -> Iterator[Reported]:
    for match in _DENIED_ZH.finditer(text):
        yield Reported(match.end(), _end_zh(text, match.end()), True)
    for match in _TOLD_ZH.finditer(text):
        end = _end_zh(text, match.end())
        if _LIE_ZH.search(text, end):
            yield Reported(match.end(), end, True)
    for match in _OTHERS_ZH.finditer(text):
        told_me = match["verb"] == "告诉" and match["me"]
        if _EXPERT_ZH.search(text[max(0, match.start() - 6) : match.end()]) or (
            told_me and text[match.end() :][:1] != "在"
        ):
            continue
        quoted = match["mark"] in ("：", ":")
        if not match["me"]:
            continue
        yield Reported(match.start("me"), len(text) if quoted else _end_zh(text, match.end()), False)


def _end_zh(text: str, start: int) -> int:
    match = _ENDS_ZH.search(text, start)
    return match.start() if match else len(text)


def covered(text: str, spans: list[Reported]) -> str:
    """The text with the spans masked, of the same length."""
    for one in spans:
        text = text[: one.start] + MASK * (one.end - one.start) + text[one.end :]
    return text


def own_words(sentence: Sentence) -> Sentence:
    """The sentence without what others say or think of the user."""
    if not sentence.of_others:
        return sentence
    text = sentence.text
    clauses: list[Clause] = []
    for start, end in sentence.of_others:
        text = text[:start] + MASK * (end - start) + text[end:]
    for clause in sentence.clauses:
        own = text[clause.start - sentence.start : clause.end - sentence.start]
        if own.strip(MASK + " ,.;:"):
            clauses.append(replace(clause, text=own))
    return replace(sentence, text=text, clauses=tuple(clauses))
