"""Readable names for topics that nobody named: a noun phrase that was said, in the words in which it was said.

"I just moved into a flat above a bakery" → ``Flat above a bakery``; "Remember that Petra is allergic to peanuts" →
``Petra allergic to peanuts``; "阳台上的番茄叶子发黄了" → ``番茄叶子``. A name has one to four words, or at most six Chinese
characters.
"""

from __future__ import annotations

from collections.abc import Iterator

from ... import lazy_re as re
from ..phrases.analysis import NounPhrase, analyse
from ..references.cues import KINDS, NEVER_NAMES, PERSON_NOUNS, VERBS, words
from .text import STOP, same_length_lower

__all__ = ["said_names"]

_READ = 400
_SENTENCE = re.compile(r"(?<=[.!?;。！？；])\s*|\n+")
_MOST_WORDS, _MOST_SIGNS = 4, 6
_NAME_ALONE = 0.65  # what a name without a noun counts less: who or where tells little of what a talk is about
_LINKS = words("above below over near for of with about against between behind beside under from to by on in at")
_PLACED = words("above below over near behind beside under")
_STATE = re.compile(
    r"\b(?P<who>[A-Za-z][\w’'-]+) (?:is|are|was|were) "
    r"(?P<what>[a-z-]{4,} (?:to|of|with|about) (?:the |a )?[a-z-]{3,}|in [a-z-]{4,})\b(?! [A-Z])"
)
_OWNED = re.compile(r"\b[A-Z][a-z]+['’]s (?:[a-z-]{3,} )?[a-z-]{3,}\b")
_WORD = re.compile(r"(?<!\w)[^\W\d_][\w’'&-]*")
_ORDINAL = re.compile(r"\d+")
_DOES = re.compile(
    r"\b(?:I|we|you|he|she|it|they|who|that|which)\s(?:(?:also|always|never|often|still|just|only|really|sometimes|usually|even)\s)?$",
    re.I,
)
"""What stands before a verb: "he also barks at night"."""
_ON = re.compile(
    r"\s+(?:up|down|out|off|on|at|in|over|away|back|through|every|all|my|our|his|her|the|me|us|him|it|too|so|like)\b"
)
"""What stands behind a verb in "the baby wakes up", and seldom behind a plural."""
_GREETING = re.compile(
    r"^\W*(?:hi|hey|hello|thanks|thank you|welcome|good (?:morning|evening|afternoon))\b[^.!?]{0,20}[,.!?]", re.I
)
_ME = re.compile(r"\bI['’]?a?m [A-Z]\w+(?= and\b|[,.!]|$)(?: and\b)?")
_PLAIN_TALK = words(
    "way thing things stuff lot bit time day days week month year today tomorrow yesterday morning evening night one ones idea "
    "answer "
    "question problem called guess lately user assistant "
    "half dozen twenty thirty forty fifty hundred remember please tell know think hope learning trying "
    "people persons guys everyone everybody someone somebody anyone anybody nobody "
    "once twice somewhere anywhere everywhere nowhere whether"
)
_UNTOLD = frozenset({"time", "amount", "abstract", "address"})
_PRAISE = words("good great nice best better lovely decent proper cool perfect favourite favorite own")
"""What a name does not begin with: a good recipe is a recipe."""
_MEALS = words("breakfast brunch lunch dinner supper picnic barbecue")
_NO_HEADS = (_PLAIN_TALK | NEVER_NAMES) - _MEALS
"""No name ends with one: no person is called "Dinner", a topic is."""
_NO_TAILS = STOP | _PLAIN_TALK
_EMPTY = STOP | _NO_HEADS
_CJK = re.compile(r"[\u4e00-\u9fff]+")
_CUT = re.compile(
    r"一家|一个|一只|一座|一间|一下|下个月|上个月|这个|那个|每天|今天|明天|昨天|[下上本这]?(?:周|星期)[一二三四五六日天末]|[下上本这](?:周|星期|礼拜)|早上|上午|中午|下午|晚上|"
    r"我们|你们|他们|她们|你好|您好|大家|可以|打算|请记住|记住|怎么办|怎么样|怎么|什么|多久|多少|哪里|哪儿|为什么|帮我|顺便|对了|刚刚|最近|"
    r"发黄|改到|改成|贴在|住在|搬到|需要|应该|有点|可能|比较|方便|希望|谢谢|好的|已经|还是|或者|以及|因为|所以|但是|如果|那边|这边|楼上|"
    r"[我你您他她它的了吗呢吧啊呀是在有要想去到会能把被对给和跟与也都就还不很太最更刚叫请让说问看带做等从将吃喝住学写买]|上(?=$)|里(?=$)"
)
_OTHER_SIGNS = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")


def said_names(text: str) -> Iterator[str]:
    """Names that a text offers for what it is about, the best first; none where it says nothing that could be one.

    Args:
        text: a step's text; its first 400 characters are read.
    """
    text = _ME.sub(" ", _GREETING.sub("", text[:_READ].replace("/", " ").replace("–", "-")))
    signs = sum(map(len, _CJK.findall(text)))
    if signs and signs * 3 > len(text.strip()):
        yield from _chinese(text)
        return
    if _OTHER_SIGNS.search(text):
        return
    seen: set[str] = set()
    for _, name in sorted(_english(text), key=lambda pair: -pair[0]):
        shown = name[:1].upper() + name[1:]
        if shown.casefold() not in seen:
            seen.add(shown.casefold())
            yield shown


def _english(text: str) -> Iterator[tuple[float, str]]:
    for place, sentence in enumerate(part for part in _SENTENCE.split(text)[:4] if part.strip()):
        late = 0.6 * place + (0.3 if sentence.rstrip().endswith("?") and place else 0.0)
        for match in _STATE.finditer(sentence):
            who, last = match["who"], match["what"].split()[-1]
            person = who.lower() in PERSON_NOUNS or (
                who[0].isupper() and who.lower() not in STOP and who not in ("It", "That")
            )
            if person and last not in STOP and len(f"{who} {match['what']}".split()) <= _MOST_WORDS:
                yield 3.5 - late, f"{who} {match['what']}"
        for match in _OWNED.finditer(sentence):
            if not any(same_length_lower(word) in STOP for word in match[0].split()[1:]):
                yield 3.2 - late, match[0]
        for phrase in analyse(sentence).phrases:
            yield from _of_phrase(phrase, sentence, late)
        yield from _bare(sentence, late)


def _of_phrase(phrase: NounPhrase, sentence: str, late: float) -> Iterator[tuple[float, str]]:
    """The names that a noun phrase makes, alone and with what it is linked to ("flat above a bakery")."""
    parts = phrase.text.split()
    tail = sentence[phrase.end :]
    while len(parts) > 1 and (parts[-1].lower() in _LINKS or parts[-1].lower() in STOP):
        tail = f" {parts.pop()}{tail}"
    if len(parts) > 1 and parts[-1].endswith("s") and KINDS.get(parts[-2].lower()) and parts[-1].lower() not in KINDS:
        parts.pop()  # "the washing machine leaks": a verb
    elif (
        len(parts) > 1
        and phrase.role == "subject"
        and _is_verb(parts[-1], tail)
        and not parts[-2].lower().endswith("s")
    ):
        parts.pop()  # "the baby wakes up"
    if parts[0].lower() in ("st", "nd", "rd", "th") and (number := _ORDINAL.fullmatch(phrase.determiner)):
        parts[0] = number[0] + parts[0]  # "his 60th birthday"
        if len(parts) == 1:
            return
    if len("".join(parts)) < 2:  # "the F chord"
        return
    while len(parts) > 1 and parts[0] in _PRAISE:
        parts.pop(0)
    lowers = [part.lower() for part in parts]
    if phrase.kind in _UNTOLD or not parts or len(parts) > _MOST_WORDS or lowers[-1] in _NO_HEADS:
        return
    if not phrase.name and (all(low in STOP for low in lowers) or lowers[-1] in STOP):
        return
    score = 1.6 + 0.4 * (len(parts) > 1) + 0.4 * (phrase.determiner in ("my", "our"))
    score += {"subject": 0.7, "object": 0.2}.get(phrase.role, 0.0)
    score -= (0.9 if phrase.kind == "person" else 0.0) + late
    name = " ".join(parts).strip(" ,.;:")
    if phrase.name and len(parts) == 1 and phrase.role != "subject" and phrase.kind != "person":
        name = _with_what_it_names(name, tail)  # "the Fauré requiem"
    if phrase.name and " " not in name:
        score -= _NAME_ALONE
    linked = re.match(r"\s+([a-z]+)\s+((?:the|a|an|my|our)\s+)?([A-Za-z][\w’'-]+)\b(?!['’-])", tail)
    dated = linked is not None and linked[1] in ("by", "on") and linked[3].lower().endswith("day")
    if linked and linked[1] in _LINKS and (dated or linked[3].lower() not in _NO_TAILS):
        longer = f"{name} {linked[1]} {linked[2] or ''}{linked[3]}"
        if len(longer.split()) <= _MOST_WORDS and linked[3].lower() not in VERBS:
            yield score + (0.7 if linked[1] in _PLACED else -0.1), longer
    yield score, name


def _with_what_it_names(name: str, tail: str) -> str:
    """A name with the words that it stands before: "Swedish" of "Swedish sign language for …" is a sign language."""
    found = [name]
    for word in tail.split(" ")[1:3] if tail.startswith(" ") else ():
        low = word.strip(".,;:!?")
        if not low.isalpha() or not low.islower() or low in _EMPTY or low in _LINKS or low.endswith("ly"):
            break
        found.append(low)
        if low != word:
            break
    return " ".join(found)


def _bare(sentence: str, late: float) -> Iterator[tuple[float, str]]:
    """Runs of words that say something, where no noun phrase was found."""
    run: list[str] = []
    end = 0
    for match in [*_WORD.finditer(sentence), None]:
        low = same_length_lower(match[0]).replace("’", "'") if match else ""
        joined = match is not None and sentence[end : match.start()].strip() == ""
        does = (
            match is not None and not run and match[0].islower() and _DOES.search(sentence[: match.start()]) is not None
        )
        if match is None or does or _empty(low) or not joined:
            if len(run) > 1 and _is_verb(run[-1], sentence[end:]) and not run[-2].endswith("s"):
                run.pop()
            if run:
                yield 0.6 + 0.3 * min(len(run), 3) - late, " ".join(run[:3])
            run = []
            if match is not None and not does and not _empty(low):
                run = [match[0]]
        else:
            run.append(match[0])
        end = match.end() if match else end


def _is_verb(word: str, tail: str) -> bool:
    """Whether the last word of what was read as a noun phrase tells what its noun does."""
    low = word.lower()
    return low.endswith("s") and not low.endswith("ss") and low not in KINDS and _ON.match(tail) is not None


def _empty(low: str) -> bool:
    """Whether a word says too little to be in a name: a verb, a number, a word of any talk."""
    return (
        low in _EMPTY
        or KINDS.get(low.removesuffix("s")) in _UNTOLD
        or (low in VERBS and low not in KINDS)
        or "'" in low
        or len(low) < 3
        or low.endswith("ly")
    )


def _chinese(text: str) -> Iterator[str]:
    """Pieces between the words that hold a Chinese sentence together; of what is said first, the longest."""
    pieces: list[tuple[float, str]] = []
    for place, clause in enumerate(_CJK.findall(text)[:6]):
        for piece in (part for part in _CUT.split(clause) if part and 2 <= len(part) <= _MOST_SIGNS):
            pieces.append((min(len(piece), 4) - 0.8 * place, piece))
    for _, piece in sorted(pieces, key=lambda pair: -pair[0]):
        yield piece
