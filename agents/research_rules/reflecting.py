"""Reflection by rules: which words of the question no passage covers yet, and what the best passages lead on to.

Pseudo-relevance feedback (Rocchio, 1971) as needs of their own: a word alone finds what the whole question buries, and a
name that the best passages share leads from one of them to the next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from ... import lazy_re as re
from ...intent.references.cues import FUNCTION_WORDS
from ...memory_types.research import Passage, Reflection
from .linking import follow_links, identifiers
from .own_facts import states_slot
from .question import CODE, Question, Stems, asks_for_a_list, holds, stems
from .text_reader import TextReader

__all__ = ["asks_one_thing", "coverage", "may_hold_more", "reflect_by_rules"]

_ASKING = re.compile(
    r"^\W*(?:\w+\s)?(?:who|whom|whose|what|which|when|where|why|how)\b(?:['’]s)?|什么|甚麼|什麼|谁|誰|哪|几|怎么|怎麼|为何",
    re.IGNORECASE,
)
_CHAINED = re.compile(
    r"\b(?:who|whom|whose|which|that|where|when|while)\b|['’]s\b.*['’]s\b|\bof\b.*\bof\b|['’]s\b.*\bof\b|\bof\b.*['’]s\b"
    r"|\b(?:and|or|before|after|since|until|till|during|than|first|last|latest|earliest|newest|oldest|\w{3,}est|most|least|more|fewer"
    r"|same|both|other|else|also|besides|ever|always|usually|every|each|all|total|altogether|common|between|compare[ds]?|differ\w*)\b"
    r"|之前|之后|以前|以后|期间|比|最|先|首|第一|相同|同一|一样|都|每|总|一共|另外|其他|还有|除了|和|跟|与|以及|或|还是|、|的.{1,8}的|(?:人|朋友|同事)的",
    re.IGNORECASE,
)
_RANGING = re.compile(  # over all that there may be: what was not found may change the answer
    r"\b(?:ever|never|always|usually|every\w*|each|all|any\w*|total|altogether|other|others|else|also|besides|most|least|more|fewer"
    r"|last(?! (?:name|night|week|month|year|summer|winter|autumn|spring|mon|tue|wed|thu|fri|sat|sun))"
    r"|first(?! (?:name|day|night|week|month|year|lesson|language|aid|floor|class|of\b))"
    r"|latest|earliest|newest|oldest|\w{3,}est)\b"
    r"|都|每|总|一共|所有|其他|另外|还有|除了|最|首次|第一次|曾经|任何|从来",
    re.IGNORECASE,
)
_RECKONED = re.compile(
    r"\bhow (?:many (?:days|nights|weeks|months|years|hours|minutes)|long)\b(?=.*\b(?:between|until|till|before|after|apart|from)\b)"
    r"|(?:多少|几)个?(?:天|星期|周|月|年|小时)(?=.*(?:之间|相隔|以后|之后|之前))|(?:之间|相隔|相差|隔).{0,4}(?:多少|几)个?(?:天|星期|周|月|年|小时)",
    re.IGNORECASE,
)

_NAME = re.compile(r"(?<![.!?…] )(?<!^)\b[A-Z][\w'’-]{2,}(?: [A-Z][\w'’-]+)*")
_LOOSE = re.compile(r"I['’]|[A-Z][a-z]+['’](?:s|t|ll|re|ve|d|m)$")
_BEST, _NEEDS, _BRIDGES, _LINKS = 5, 4, 2, 8


def coverage(question: Question, passages: Sequence[Passage], read: Stems = stems) -> tuple[float, tuple[str, ...]]:
    """The share of the question's words that the passages hold, from 0 to 1, and the words that they do not.

    A core item that states what the user asks about themselves holds all of them: "Lives in Porto" and "Which city am I in?".
    """
    if any(states_slot(one, question.slots) for one in passages):
        return 1.0, ()
    if not question.words:
        return (1.0 if passages else 0.0), ()
    held = frozenset().union(*(read(part) for one in passages for part in (one.speaker or "", one.text)))
    missing = tuple(word for word in question.words if not holds(question, held, word, read))
    return 1 - len(missing) / len(question.words), missing


def asks_one_thing(question: Question) -> bool:
    """Whether a single statement may answer a question in full: "What is Saar allergic to?", "你住在哪里？".

    Not where it asks for several things or in parts, what is likely, about an identifier (whose passages may lead on),
    by way of something else that must be found first ("Where does the friend who gave me the violin live?", "Mia's
    teacher's name"), for what comparing shows (the first, more than, before, both, ever), or for yes or no, since a no
    may rest on what was not found. In doubt it is not.
    """
    if question.many or question.parts or question.judges or identifiers(question.text):
        return False
    asking = _ASKING.search(question.text)
    return asking is not None and _CHAINED.search(question.text.replace(asking[0], "", 1)) is None


def may_hold_more(question: Question) -> bool:
    """Whether what nobody found may belong to the answer: lists, counts, firsts and lasts, "ever", identifiers that lead on.

    A stretch of time between two things ("how many days lie between them?") is reckoned of these, and no count.
    """
    counts = asks_for_a_list(question.text) and not _RECKONED.search(question.text)
    leads_on = any(set(one) & set("0123456789_") for one in identifiers(question.text))  # "MOT" is a word
    return counts or leads_on or _RANGING.search(question.text) is not None


def reflect_by_rules(
    question: Question,
    passages: Sequence[Passage],
    asked: Collection[str],
    *,
    answerable: bool,
    last: bool,
    reader: TextReader | None = None,
) -> Reflection:
    """Whether what was read is enough, and what to look for next.

    It is enough where one of the best passages, of somebody whom the question asks about, holds all its words, and one
    passage is what an answer needs. Where the question names an identifier, those that its passages lead on to are asked
    for first, as long as there are any that nobody searched.

    Args:
        passages: all that were read, in the order of reading.
        asked: needs that were searched before.
        last: whether no round follows: then nothing is asked for.
        reader: of the run.
    """
    read = (reader or TextReader()).stems
    share, missing = coverage(question, passages, read)
    theirs = [
        one for one in passages[:_BEST] if not question.speakers or (one.speaker or "").casefold() in question.speakers
    ]
    whole = any(coverage(question, [one], read)[0] == 1.0 for one in theirs[:3])
    noted = any(states_slot(one, question.slots) for one in passages)
    chain = follow_links(identifiers(question.bare), passages)
    links = chain.open(asked)[:_LINKS]
    one_will_do = noted or (whole and not question.many and not question.parts)
    enough = answerable and share == 1.0 and (last or (one_will_do and not links))
    told = missing or (() if enough else tuple(question.words))
    if enough or last:
        return Reflection(enough=enough, missing=() if enough else told)
    if links:
        return Reflection(enough=False, missing=tuple(links))
    known = {one.casefold() for one in asked}
    rest = sorted((one for one in question.words if one not in missing), key=len, reverse=True)
    words = [one for one in dict.fromkeys((*missing, *rest)) if one.casefold() not in known]
    latest = max((one.round for one in passages), default=0)
    lately = [one for one in passages if one.round == latest][:_BEST]
    speakers = {one.speaker for one in passages if one.speaker}
    trail = [one for one in (*question.words, *asked) if CODE.fullmatch(one)]
    bridges = [
        one for one in _bridges(question, [*lately, *theirs], speakers, trail, read) if one.casefold() not in known
    ]
    bridges = bridges[:_BRIDGES]
    needs = [*words[: _NEEDS - len(bridges)], *bridges]
    return Reflection(enough=False, missing=tuple(needs))


def _bridges(
    question: Question, passages: Sequence[Passage], speakers: Collection[str], trail: Collection[str], read: Stems
) -> list[str]:
    """Identifiers and names in the passages that the question does not hold, identifiers first.

    Those count most that stand with an identifier of the question, or one that led here: the ``trail``.
    """
    own = frozenset().union(*map(read, (question.text, *question.speakers, *speakers)))
    found: Counter[str] = Counter()
    codes: set[str] = set()
    for passage in {one.id: one for one in passages}.values():
        led = sum(read(one) <= read(passage.text) for one in trail)
        names = {match.group() for match in _NAME.finditer(passage.text)}
        codes.update(identifiers(passage.text))
        for name in names.union(identifiers(passage.text)):
            held = read(name)
            if held and not held <= own and not _LOOSE.match(name) and name.casefold() not in FUNCTION_WORDS:
                found[name] += 1 + 4 * led
    return [name for name, _ in sorted(found.items(), key=lambda pair: (pair[0] not in codes, -pair[1], pair[0]))]
