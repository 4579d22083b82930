"""What clauses say to be otherwise than it was told: "I'm not vegan any more", "eight, not seven", "sorry, I meant eight"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .... import lazy_re as re
from ....intent.phrases.tokens import word_set
from ...applying.stating import ANY_VERB, HAN_SIGN
from .negated_chinese import NO_MORE_ZH, NOW_ON_ZH, denied_by_zh, put_in_place_zh
from .negated_english import NO_MORE, WEEKDAYS, denied_by, named_alike, of_one_kind, put_in_place
from .reported_speech import own_words
from .sentences import Clause, Reading

__all__ = ["Otherwise", "told_otherwise"]

_TELLING = word_set(
    "not no never longer anymore now nowadays isnt arent wasnt werent aint dont doesnt stopped quit gave given gone went off"
    " ceased cut sworn moved moves changed changes switched switches shifted instead rather meant mean sorry oops correction typo wait"
    " scratch wrong mistake"
)
"""Words of which a text without Chinese has at least one where it tells something otherwise, apostrophes left out."""
_MISTAKEN = re.compile(
    r"\b(?:mistakes?|mistaken|misdiagnos\w+|false alarm|typo|(?:was|got (?:it|that)|is|were) wrong|wrongly|misspoke|mistyped|misremembered"
    r"|in the first place|after all|turns? out|turned out|correction|I (?:meant|mean)|never (?:was|were|been)|was never|were never)\b"
    r"|搞错|弄错|记错|说错|写错|打错|误诊|原来|更正|我是说|其实",
    re.IGNORECASE,
)
"""That what was said before was not so even then."""
_NOT_OLD = re.compile(
    r"^(?:and\s|but\s)?(?:it(?:'s|\sis)\s|that(?:'s|\sis)\s|definitely\s)?not\s(?P<old>[^,;:]{1,40})$", re.IGNORECASE
)
_INSIDE = re.compile(
    r"^(?P<said>.{4,120}?),?\s(?:(?P<wrong>and\snot|not)|instead\sof|rather\sthan)\s(?P<old>[^,;:]{1,40}?)(?P<now>\snow|\sany\s?more)?$",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"^(?:(?:no|but|rather|instead|actually|in fact|now|sorry)[\s,]+)*(?:(?:it|that|he|she|they|his name|her name|its name)"
    r"(?:'s|'re|\sis|\sare)\s(?:actually\s|called\s|now\s)*)?(?P<new>(?!not\b)[^,;:]{1,40}?)(?P<now>\snow|\sthese days)?$",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"(?:^|\s)(?:it|that|he|she|they|his name|her name|its name)(?:'s|'re|\sis|\sare)\s|^but\s", re.IGNORECASE
)
_BUT = re.compile(r"^(?P<said>.{4,100}?),?\sbut\s(?:rather\s)?(?P<new>.{1,40})$", re.IGNORECASE)
_BARE = re.compile(
    r"^(?P<lead>(?:(?:no|oh|wait|sorry|oops|actually|ah|hmm)[\s,:!.]+)*(?:(?:it|that|he|she|they)(?:'s|'re|\sis|\sare|\swas)\s(?:on\s|at\s|in\s)?(?:actually\s|called\s)?"
    r"|i\s(?:meant|mean|should have said)\s(?:to\ssay\s|on\s|at\s|in\s)?)?)(?P<new>[\w'-]+(?:\s[\w'-]+)?)$",
    re.IGNORECASE,
)
"""A value with nothing that says of what it is."""
_MAY_DENY = re.compile(r"n't\b|\b(?:not|no|never|stopped|quit|gave|given)\b|[不没戒]", re.IGNORECASE)
_NOW_WORD = re.compile(r"(?:^|\s)(?:from now on|now|these days)\b", re.IGNORECASE)
_MEANT = re.compile(
    r"^(?:(?:no|oh|wait|sorry|oops|actually|correction|ah|hang on|hmm|scratch that|and|but|i mean)[\s,:!.]+)*"
    r"(?:i (?:meant|mean|should have said|meant to (?:say|write|type))(?:\sto\ssay)?\s|(?:make|that should be|should be|it should be|that's"
    r"|it's|he's|she's|they're|that is|it is|he is|she is|they are|it was)\s(?:that\s)?)"
    r"(?:actually\s|really\s)?(?P<new>(?!not\b|a lot\b|that\b|it\b|to\b|what\b|fine\b|ok\b|right\b"
    r"|wrong\b)[^,;:]{1,40}?)(?:,?\snot\s(?P<old>[^,;:]{1,40}))?$",
    re.IGNORECASE,
)
_SLIP = re.compile(
    r"\b(?:i (?:meant|mean|should have said|misspoke|mistyped|misremembered)|sorry|oops|correction|typo|wait|scratch that"
    r"|got (?:it|that) wrong"
    r"|was wrong|my mistake)\b|说错|打错|写错|记错|搞错|更正|我是说|我的意思是|应该是",
    re.IGNORECASE,
)
_MEANT_ZH = re.compile(
    r"^(?:啊|哦|不对|不好意思|抱歉|对不起|说错了|打错了|写错了|记错了|搞错了|更正一?下?|其实|[，\s])*(?:我(?:是说|指的是|的意思是)|应该是|是)(?P<new>[^，。；不]{1,12})$"
)
_NOT_OLD_ZH = re.compile(r"^(?:而|可|并)?不是(?P<old>[^，。；]{1,12})$")
_RIGHT_ZH = re.compile(r"^(?:而|其实|现在|应该)*(?P<verb>是|叫|在|住在?|姓|对)(?P<new>[^，。；不]{1,14})$")
_NOW = re.compile(rf"\bnow\b.*\b{WEEKDAYS}|\b{WEEKDAYS}\b.*\b(?:now|these days|from now on)\b", re.IGNORECASE)
_MOVED = re.compile(
    rf"^(?P<what>[^\ue000,;:]{{2,40}}?)\s(?:has\s|have\s|'s\s)?(?:(?:been\s)?(?:moved|changed|switched|shifted)|moves|changes|switches)\s"
    rf"(?:from\s{WEEKDAYS}\s)?to\s(?P<day>{WEEKDAYS})$",
    re.IGNORECASE,
)
_NO_MORE_LEFT = re.compile(r"[\s,]+(?:any\s?more|any longer|now|these days|instead|after all)\W*$", re.IGNORECASE)
_LONGEST = 160  # characters of a clause
_FEW = 4  # sentences, of those said last, in which a slip is looked for


@dataclass(frozen=True, slots=True)
class Otherwise:
    """What clauses say of something told before.

    Attributes:
        start, end: of the words that say it.
        denied: statements that are not so; affirmed: those that are so instead.
        raw: the words that deny, where nothing is affirmed.
        days: whether the affirmed is of this day of the week now, and of no other.
        wrong: whether the denied was never so. sure: whether the affirmed is said in so many words.
    """

    start: int
    end: int
    denied: tuple[str, ...]
    affirmed: tuple[str, ...] = ()
    raw: str = ""
    days: bool = False
    wrong: bool = False
    sure: bool = True


def told_otherwise(reading: Reading, before: Sequence[str]) -> Iterator[Otherwise]:
    """What the clauses of a reading say of something told before, each once."""
    if not reading.has_han and reading.words.isdisjoint(_TELLING):
        return
    done = -1
    said = list(before)
    held: list[Clause] = []
    sentences = [own_words(sentence) for sentence in reading.sentences]
    for number, sentence in enumerate(sentences):
        if not sentence.holds:
            continue
        following = sentences[number + 1].text if number + 1 < len(sentences) else ""
        mistaken = _MISTAKEN.search(sentence.text) is not None or _MISTAKEN.search(following) is not None
        slip = _SLIP.search(sentence.text) is not None
        held = [clause for clause in sentence.clauses if clause.holds and len(clause.text) <= _LONGEST]
        for place, clause in enumerate(held):
            if clause.start < done:
                continue
            last = held[place - 1] if place else None
            after = held[place + 1] if place + 1 < len(held) else None
            if after is None and number + 1 < len(sentences) and sentences[number + 1].holds:
                after = next((one for one in sentences[number + 1].clauses[:1] if one.holds), None)
            told = next(_told_by(clause, last, after, said, mistaken=mistaken, slip=slip), None)
            if told is not None:
                done = told.end
                yield told
        said.append(sentence.text)


def _told_by(
    clause: Clause, last: Clause | None, after: Clause | None, said: list[str], *, mistaken: bool, slip: bool
) -> Iterator[Otherwise]:
    text = clause.text
    if (match := _NOT_OLD.match(text) or _NOT_OLD_ZH.match(text)) and last is not None:
        wrong = _NOW_WORD.search(last.text) is None
        yield from _replaced(last.text, match["old"], last.start, clause.end, said, wrong=wrong)
        return
    if (match := _INSIDE.match(text)) and denied_by(text) == []:
        wrong = bool(match["wrong"]) and match["now"] is None and _NOW_WORD.search(match["said"]) is None
        yield from _replaced(match["said"], match["old"], clause.start, clause.end, said, wrong=wrong)
    if (bare := _MEANT.match(text) or _MEANT_ZH.match(text)) and (slip or bare.groupdict().get("old")):
        old = bare.groupdict().get("old") or ""
        yield from _meant(bare["new"], old, clause, said)
    if day := _MOVED.match(text):
        yield Otherwise(
            clause.start, clause.end, (), tuple(named_alike(f"{day['what']} is on {day['day']}")), days=True
        )
    elif day := NOW_ON_ZH.match(text):
        when = day["when"].removeprefix("每")
        yield Otherwise(clause.start, clause.end, (), (text, f"{ANY_VERB}{when}{day['what']}"), days=True)
    elif _NOW.search(text):
        plain = _NOW_WORD.sub("", text).strip()
        yield Otherwise(clause.start, clause.end, (), tuple(named_alike(plain)), days=True)
    if split := _BUT.match(text):
        denied = denied_by(split["said"])
        instead = [made for one in denied for made in put_in_place(one, split["new"])]
        if instead:
            yield Otherwise(clause.start, clause.end, _alike(denied), _alike(instead), wrong=True)
    denied = denied_by(text) or denied_by_zh(text)
    if not denied:
        return
    wrong = mistaken and NO_MORE.search(text) is None
    if after is not None and (instead := _instead(denied, after)):
        now = NO_MORE.search(text) or NO_MORE_ZH.search(text) or _NOW_WORD.search(after.text)
        yield Otherwise(clause.start, after.end, _alike(denied), _alike(instead), raw=clause.raw, wrong=not now)
    elif after is not None and not _MAY_DENY.search(after.text):  # what it says may be in place of it
        yield Otherwise(clause.start, after.end, _alike(denied), (after.text,), raw=clause.raw, wrong=wrong)
    else:
        yield Otherwise(clause.start, clause.end, _alike(denied), raw=clause.raw, wrong=wrong)


def _replaced(
    statement: str, old: str, start: int, end: int, said: list[str], *, wrong: bool = True
) -> Iterator[Otherwise]:
    """ "Levi is eight, not seven": what is so, and the same of the old value."""
    statement = _NO_MORE_LEFT.sub("", statement)
    bare = _BARE.match(statement)
    if bare is not None:
        if bare.end("lead") <= 0 and not of_one_kind(bare["new"], old):
            return
        yield from _in_what_was_said(bare["new"], old, start, end, said)
        return
    denied = put_in_place(statement, old) or put_in_place_zh(statement, old)
    if denied:
        yield Otherwise(start, end, _alike(denied), _alike([statement]), wrong=wrong)


def _meant(new: str, old: str, clause: Clause, said: list[str]) -> Iterator[Otherwise]:
    """ "Sorry, I meant eight": what was said last, with this value in the place of the one of its kind."""
    if old:
        yield from _in_what_was_said(new, old, clause.start, clause.end, said)
        return
    for statement in reversed(said[-_FEW:]):
        for made in put_in_place(statement, new) or put_in_place_zh(statement, new):
            if made.split()[:1] == statement.split()[:1] or HAN_SIGN.search(made):
                yield Otherwise(clause.start, clause.end, (statement,), (made,), wrong=True, sure=False)
                return


def _in_what_was_said(new: str, old: str, start: int, end: int, said: list[str]) -> Iterator[Otherwise]:
    """ "It's eight, not seven": what was said last of the old value, with the new one."""
    value = re.compile(
        rf"(?<![\w'-]){re.escape(old.strip())}(?![\w'-])" if old.isascii() else re.escape(old), re.IGNORECASE
    )
    for statement in reversed(said[-_FEW:]):
        if value.search(statement):
            made = value.sub(lambda _: new.strip(), statement)
            yield Otherwise(start, end, (statement,), (made,), wrong=True, sure=False)
            return


def _instead(denied: list[str], after: Clause) -> list[str]:
    """The statements that are so by the clause that follows a denial: "she's 13", "but Max", 是八岁."""
    if match := _RIGHT_ZH.match(after.text):
        new = match["new"].removesuffix("了")
        made = [one for statement in denied for one in put_in_place_zh(statement, new)]
        return made or [f"我{new}" for statement in denied[:1] if statement.startswith("我") and match["verb"] == "是"]
    if not _PRONOUN.search(after.text):
        return []
    match = _RIGHT.match(after.text)
    return [one for statement in denied for one in put_in_place(statement, match["new"])] if match else []


def _alike(statements: Sequence[str]) -> tuple[str, ...]:
    """Statements and what says the same in other words."""
    return tuple(dict.fromkeys(one for statement in statements for one in named_alike(statement)))
