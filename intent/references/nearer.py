"""Whom the step itself names before "he" or "she", by form alone: "Marcus broke …", "someone", "the plumber", 小李说.

Such a one comes before everybody of earlier steps. No list holds all names and trades, so a word in the place of a
subject counts where it may be a person's: better nobody than the wrong one.
"""

from __future__ import annotations

from ... import lazy_re as re
from ..phrases.analysis import Analysis, NounPhrase
from .cues import FUNCTION_WORDS, KINDS, NEVER_NAMES, VERBS, words
from .person_nouns import is_person_noun

__all__ = ["chinese_nearer", "continues", "name_opens", "names_it", "nearer", "sentence_end"]

_SENTENCE_END = re.compile(r"[.!?;\n](?!\d)|[。！？；]")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_ANYBODY = re.compile(
    r"\b(?:some|any|every|no)(?:one|body)\b|\bno one\b|\b(?:one|another|each|neither|either) of\b", re.IGNORECASE
)
_NO_SUBJECT_NEXT = FUNCTION_WORDS - words(
    "is am are was were be been do does did has have had will would shall should can could may might must never always "
    "often sometimes usually just still already also only even ever soon and or who whose not too really"
)
_ACTS = re.compile(
    r"(?:er|or|ist|ian|eer|ant|man|woman|boy|girl|nurse|chef|cook|guard|vet|guy|lad|lass|tot|hound|terrier)\Z"
)
_THING = re.compile(
    r"(?:tion|sion|ment|ness|ity|ism|ship|ance|ence|ancy|ency|ure|age|hood|dom|ware|ing|line|day|side|way|work|room)\Z"
)
_NO_ACTOR = words(
    "letter number summer winter paper water weather dinner supper corner counter computer printer charger router order "
    "offer answer matter quarter power tower flower poster newsletter chapter error floor door motor sensor monitor colour "
    "color favour favor humour harbour elevator refrigerator mirror doctorate restaurant plant grant warrant plan button "
    "tumor tumour fever shower filter folder holder container trailer tractor sweater jumper layer border trouser river "
    "lever finger shoulder liver bladder cancer disorder disaster transfer laser timer meter metre litre server user's"
)
_GOT = re.compile(
    r"\b(?:adopt(?:ed|ing)?|got|get|getting|rescued?|met|meet|meeting|hired?|hiring|date[ds]?|dating|raised?|bred|had|have|have got|"
    r"found|saw|seen|know|knew|bought)\s+(?:\w+ly\s+)?\Z",
    re.IGNORECASE,
)
_NAMING = re.compile(
    r"\b(?:call(?:s|ed|ing)?|nam(?:e|es|ed|ing)|christen(?:s|ed|ing)?|bapti[sz](?:e|es|ed|ing)|dub(?:s|bed)?|nicknam(?:e|es|ed|ing))\s+\Z",
    re.IGNORECASE,
)
_A_NAME = re.compile(r"\s+(?:after\b|[\"“'‘]?[A-Z])")
_CLITIC = re.compile(r"['’](?:s|re|ve|ll|d|m)\Z", re.IGNORECASE)
_OPENING = re.compile(
    r"(?:[\W_]|\b(?:and|but|so|also|well|oh|ok|okay|yes|yeah|no|now|then|today|yesterday|actually|sadly|luckily|apparently"
    r"|maybe|perhaps|meanwhile|finally|still|hey|hi|anyway|i|we)\b)*",
    re.IGNORECASE,
)
_OPENING_ZH = re.compile(
    r"(?:[\s，,。！!、]|好的?|嗯|哦|那么?|谢谢|对了|太好了|是的|但是?|可是?|不过|所以|因为|后来|然后|而且|现在|今天|昨天|明天|今早|今晚|昨晚|刚才|刚刚"
    r"|听说|原来|其实|可能|也许|希望|我们?|咱们?|你们?|您|想知道|知道|记得|觉得|认识|问|帮|请|把|给|用|对|跟|和|找|见到?了?|看到?了?|喜欢|爱|等|想|约|陪|送|带|去|要"
    r"|会|能|为什么|什么时候|怎么|是不是|是否|也|又|还|都|再)*+"
)


def nearer(text: str, start: int, end: int, own: Analysis, word: str) -> bool:
    """Whether somebody named before the pronoun at ``start`` in the step's text may be who it stands for.

    Args:
        own: the analysis of the step.
        word: the pronoun in small letters.
    """
    begins = _sentence_start(text, start)
    if any(phrase.kind in ("person", "animal") for phrase in own.phrases if phrase.start < start):
        return True
    if any(phrase.name and not phrase.kind and phrase.start < start for phrase in own.phrases):
        return True  # an unknown name may be a person's
    sentence = text[begins:start]
    indirect = word == "him" or (word == "her" and not re.match(r"\s+[a-z]", text[end:]))
    if not indirect and _ANYBODY.search(sentence):
        return True
    if _name_opens(text, begins, start) or _name_inside(sentence) or name_opens(text, 0, begins):
        return True
    return any(
        _may_act(phrase, text, same=phrase.start >= begins)
        for phrase in own.phrases
        if phrase.end <= start and text[phrase.start : phrase.end] != text[start:end]
    )


def _sentence_start(text: str, start: int) -> int:
    begins = 0
    for match in _SENTENCE_END.finditer(text, 0, start):
        begins = match.end()
    return begins


def sentence_end(text: str, position: int) -> int:
    """Where the sentence ends in which a character stands, its mark included."""
    return next((match.end() for match in _SENTENCE_END.finditer(text, position)), len(text))


def name_opens(text: str, begins: int, end: int) -> bool:
    """Whether any sentence that begins in that part of a text opens with what may be a name: "Linh said yes"."""
    while begins < end:
        stop = next((match.end() for match in _SENTENCE_END.finditer(text, begins, end)), end)
        if _name_opens(text, begins, stop):
            return True
        begins = stop
    return False


def _name_opens(text: str, begins: int, start: int) -> bool:
    """Whether the sentence begins with a word that may be a name, in the place of a subject: "Marcus broke his wrist"."""
    first = _WORD.search(text, begins, start)
    if first is None or not first[0][0].isupper():
        return False
    bare = _CLITIC.sub("", first[0])
    low = bare.lower()
    if low in FUNCTION_WORDS or low in NEVER_NAMES or low in KINDS or low.endswith("ly"):
        return False
    if bare != first[0] or re.match(r"['’](?=\s)", text[first.end() :]):
        return True  # "Leo's birthday", "Lucas' bike"
    if low in VERBS or low.endswith(("ing", "ed")):
        return False
    following = _WORD.search(text, first.end(), start)
    if following is None:
        return False  # "Invite her": it is the verb
    between = text[first.end() : following.start()]
    if between.strip() == ",":
        return following[0].lower() in (
            "who",
            "whose",
            "the",
            "my",
            "our",
            "a",
            "an",
        )  # "Marcus, who …"; else a greeting
    return between.strip() == "" and following[0].lower() not in _NO_SUBJECT_NEXT


def _name_inside(sentence: str) -> bool:
    """Whether a capital within the sentence may be a person's: "Yesterday Marcus …", "I think Otto's …"."""
    for count, match in enumerate(_WORD.finditer(sentence)):
        low = _CLITIC.sub("", match[0]).lower()
        name = match[0][0].isupper() and low not in FUNCTION_WORDS | NEVER_NAMES and low not in KINDS
        if count and name and (low != match[0].lower() or not match[0].isupper()):
            return True
    return False


def _may_act(phrase: NounPhrase, text: str, *, same: bool) -> bool:
    """Whether a plain noun phrase may be a person or an animal.

    Args:
        same: whether it stands in the pronoun's own sentence, where any unknown subject may be meant.
    """
    if phrase.kind or phrase.plural or phrase.name or not phrase.determiner:
        return False
    if phrase.determiner in ("its", "this", "that", "some", "another") and not same:
        return False
    head = phrase.text.split()[-1].lower()
    if head in FUNCTION_WORDS or head in _NO_ACTOR:
        return False
    if is_person_noun(head):
        return True
    if _THING.search(head):
        return False
    if _ACTS.search(head):
        return True
    if phrase.determiner in ("his", "her", "their", "its"):
        return False
    if same and phrase.role == "subject":
        return True
    return phrase.determiner in ("a", "an", "my", "our") and _GOT.search(text[: phrase.start]) is not None


def names_it(text: str, start: int, end: int) -> bool:
    """Whether a name is given there: "we named her Pickle". Whoever has a name already is not meant."""
    return _NAMING.search(text[:start]) is not None and _A_NAME.match(text, end) is not None


def continues(text: str, start: int) -> bool:
    """Whether the pronoun opens its sentence, so that the sentence goes on about whoever was spoken of."""
    return _OPENING.fullmatch(text, _sentence_start(text, start), start) is not None


def chinese_nearer(text: str, start: int) -> bool:
    """Whether what stands before 他 or 她 in its sentence may name somebody: 马克说他…, 有人把他的…"""
    begins = 0
    for match in _SENTENCE_END.finditer(text, 0, start):
        begins = match.end()
    return _OPENING_ZH.fullmatch(text, begins, start) is None
