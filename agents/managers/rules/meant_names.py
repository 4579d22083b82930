"""Names said by mistake and put right at once: "my sister is called Petra - no wait, Paula", "sorry, I meant Bosch"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .... import lazy_re as re
from .people import KIN_ZH_PATTERN, People, is_name
from .sentences import Reading
from .words import NAME

__all__ = ["MeantName", "meant_names"]

_SORRY = r"(?:(?:no|oh|wait|sorry|oops|whoops|actually|ah|um|uh|hang on|hmm|scratch that|correction|typo|and|but)[\s,:!.–—-]+)*"
_MEANT = re.compile(
    rf"(?:^|[,;:!?.…–—-]\s*|\s)(?i:{_SORRY}(?:I\s(?:meant?|should have said|meant to (?:say|write|type))(?:\sto say)?|(?:make|scratch) that"
    r"|or rather|correction|no,? wait|wait,? no|no,? hang on|no,? sorry|sorry,? no|no,? actually|actually,? no|(?P<plain>no))"
    r"[\s,:–—-]+(?:(?:(?:she|he|it|they)(?:['’]s|\sis|['’]re|\sare)|(?:her|his|its|the) name(?:['’]s|\sis))\s(?:called\s)?)?"
    rf"(?:(?:at|in|to|with|for|from)\s)?)(?P<new>{NAME})[\s.!…]*$"
)
"""That another name was meant, and no more than that; ``plain``: a bare "no", which may as well answer somebody."""
_OF_WORDS = re.compile(
    r"\b(?:when|by|with|if)\b[^.]*\b(?:sa(?:y|id|ying)|wr(?:ite|ote)|sp(?:eak|oke)|call(?:ed)?|mention\w*)\b",
    re.IGNORECASE,
)
"""Before it: that it tells whom a word stands for, "when I said my boss, I meant Paula"."""
_WRONG_ZH = r"(?:(?:啊|哦|不好意思|抱歉|[，,。！\s])*(?:不对|我?(?:说|写|打|记)错了?|口误|更正一?下?))+[，,。！\s]*"
_MISTAKE_ZH = re.compile(_WRONG_ZH)
_MEANT_ZH = re.compile(
    rf"(?P<wrong>{_WRONG_ZH})(?:我是说|我(?:想|要)说的?是|我的意思是|应该?是|应该叫|是|叫|在)"
    r"(?P<new>(?![我你他她它这那])[\u4e00-\u9fff]{2,6}|[A-Z][\w ]{1,20})[。.！!]*$"
)
_NO_NAME_ZH = re.compile(r"[周月日号点岁年天的了很不]|星期|礼拜|[一二三四五六七八九十]|" + KIN_ZH_PATTERN)
_ANY_NAME = re.compile(NAME)
_FEW = 3  # sentences back


@dataclass(frozen=True, slots=True)
class MeantName:
    """A name that was a slip.

    Attributes:
        old, new: what was said, and what was meant; old is empty in Chinese, where no letter tells a name.
        said: the words in which the old name was said.
        start, end: of the sentence that puts it right.
    """

    old: str
    new: str
    said: str
    start: int
    end: int


def meant_names(reading: Reading, before: Sequence[str], people: People) -> Iterator[MeantName]:
    """The names that a step puts right, each with the words of it or of the step before in which it was said wrongly.

    Where nothing tells which of several names was wrong, none is.

    Args:
        before: the sentences that the same person said in the step before, in their order.
        people: of the conversation: what begins a sentence is a name where it is one of theirs.
    """
    said: list[str] = []
    for number, sentence in enumerate(reading.sentences):
        if reading.has_han and (zh := _chinese(reading, number, [*before, *said])):
            yield zh
        match = _MEANT.search(sentence.text) if sentence.holds else None
        lead = sentence.text[: match.start()].strip() if match else ""
        if match is None or not is_name(match["new"]) or _OF_WORDS.search(lead):
            said.append(sentence.text)
            continue
        statements = [lead] if lead else [*reversed(said)] if match["plain"] else [*reversed(said), *reversed(before)]
        for statement in statements[:_FEW]:
            names = _names(statement, people)
            if not names:
                continue
            at_end = statement.rstrip(" ,;.!…–—-").endswith(names[-1]) and bool(lead)
            if (at_end or len(set(names)) == 1) and names[-1].casefold() != match["new"].casefold():
                yield MeantName(names[-1], match["new"], statement, sentence.start, sentence.end)
            break
        said.append(lead)


def _chinese(reading: Reading, number: int, said: Sequence[str]) -> MeantName | None:
    """What a sentence puts right of the words before it, which are its own or those of the sentence before."""
    sentence = reading.sentences[number]
    last = reading.sentences[number - 1].text if number else ""
    text = last + sentence.text if _MISTAKE_ZH.fullmatch(last) else sentence.text
    match = _MEANT_ZH.search(text) if sentence.holds else None
    if match is None or _NO_NAME_ZH.search(match["new"]):
        return None
    told = [one for one in (*said, text[: match.start()]) if one and not _MISTAKE_ZH.fullmatch(one)]
    return MeantName("", match["new"], told[-1], sentence.start, sentence.end) if told else None


def _names(text: str, people: People) -> list[str]:
    """The names of a text in their order."""
    found = [match for match in _ANY_NAME.finditer(text) if is_name(match[0])]
    # Any word is capitalised at the beginning.
    first = [match for match in found if not text[: match.start()].strip() and people.named(match[0]) is None]
    return [match[0] for match in found if len(found) == 1 or match not in first]
