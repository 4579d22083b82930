"""Noun phrases of English text, without a tagger.

A phrase starts at a determiner or a name and ends where a function word, a known verb or punctuation stands. That finds
names, titles and plain objects; what it does not find is simply never an antecedent.
"""

from __future__ import annotations

from itertools import accumulate

from ... import lazy_re as re
from ..references.cues import (
    BOTH,
    FEMALE,
    FUNCTION_WORDS,
    KINDS,
    MALE,
    NEVER_NAMES,
    PERSON_NOUNS,
    PLURAL_PEOPLE,
    VERBS,
    words,
)
from .mentions import HAS_CJK, NounPhrase, PhraseRole

__all__ = ["MAX_PHRASES", "english_phrases"]

MAX_PHRASES = 200
_TITLE = re.compile(r"[\"“«]([^\"“”«»\n]{2,60})[\"”»]|《([^《》\n]{1,40})》|「([^「」\n]{1,40})」")
_QUOTING = frozenset('"“«《「')  # what a title opens with
_LETTER = r"A-Za-z\u00C0-\u024F\u0370-\u1FFF"
_TOKEN = re.compile(
    rf"([{_LETTER}]+(?:['’&-][{_LETTER}]+)*(?:-\d{{1,7}}\b|(?<=s)['’](?=\s[A-Z]))?|[$€£¥]?\d+(?:[.,:]\d+)*%?|\n"
    rf"|[^\w\s])"
)
_SMALL = frozenset("abcdefghijklmnopqrstuvwxyz")
_DETERMINERS = words(
    "a an the my our his her your their its this that these those some another two three four five six seven eight "
    "nine ten several few both many"
)
_COUNTED = words("two three four five six seven eight nine ten several few both these those many")
_PREPOSITIONS = words(
    "in on at by for from with without to of off over under into onto up down after before among near during until "
    "till via within across along around behind beside beyond inside outside towards toward per between through as "
    "than about like against"
)
_JOINERS = frozenset({",", "and", "or", "&", "/", "、"})
_NAME_LINKS = frozenset(
    {"of", "the", "de", "la", "le", "del", "della", "di", "da", "du", "van", "von", "der", "&", "and", "'s"}
)
_FINITE = words("is are was were has had have will would can could should does did do costs takes opens closes")
_CONTRACTED = ("'ll", "'ve", "'d", "'re", "n't", "'m", "let's")
_TICKET = re.compile(r"[A-Z]{2,10}-\d{1,7}")
_ENDS = frozenset(".!?\n;")
_OPENS = frozenset(".!?\n;:•–—-*")
_QUOTES = frozenset("\"'“‘(*")
_CLITICS = ("'s", "'re", "n't")
_NEW_CLAUSE = ("and", "but", "so", "because", "while", "which", "who")
_EFFECT: dict[str, bool] = dict.fromkeys(_FINITE | VERBS, True) | dict.fromkeys(_NEW_CLAUSE, False)
"""Word → whether a verb has now been seen in the clause."""
_MARKED = _DETERMINERS | frozenset(_EFFECT)
_PEOPLE = PLURAL_PEOPLE | frozenset(PERSON_NOUNS) | frozenset(f"{noun}s" for noun in PERSON_NOUNS)
_PERSON_VERBS = words(
    "said says told thinks thought wants wanted loves loved likes lives lived works worked asked knows felt feels hopes"
)
_TITLES = {
    "mr": "m",
    "mrs": "f",
    "ms": "f",
    "miss": "f",
    "dr": "",
    "prof": "",
    "professor": "",
    "aunt": "f",
    "uncle": "m",
    "coach": "",
}
_LEADS_TO_OBJECT = words(
    "up went go goes going gone been looking look looked listen listened listening worked working work works apply "
    "applied joined"
)
_GREETINGS = words("hi hey hello thanks wow oh yeah yes no sure congrats congratulations bye great cool dear sorry")
_NAMED = frozenset({"named", "called"})
_DAY_NAME = re.compile(
    "(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september"
    "|october|november|december"
)
_MAX_PHRASE = 7


def _singular(word: str) -> str:
    if word in KINDS or not word.endswith("s") or word.endswith("ss"):
        return word
    for form in (word[:-1], word[:-2], word[:-3] + "y"):
        if form in KINDS or form in PERSON_NOUNS:
            return form
    return word


def _is_plural(head: str, determiner: str, is_name: bool) -> bool:
    if head in PLURAL_PEOPLE or determiner in _COUNTED:
        return True
    if is_name or determiner in ("a", "an", "this", "that"):
        return False
    return head.endswith("s") and not head.endswith(("ss", "us", "is")) and head not in KINDS


def _capital(word: str) -> bool:
    return word[0].isupper() or (word[0].isdigit() and len(word) > 1 and any(c.isupper() for c in word))


def _names_here(words: list[str], lowers: list[str], i: int, first: bool) -> bool:
    """Whether a name starts at token ``i``; a capital says little about the first word of a sentence."""
    word, low = words[i], lowers[i]
    if not _capital(word) or low in FUNCTION_WORDS or low in NEVER_NAMES or low.endswith(_CONTRACTED):
        return False
    if not first:
        return True
    following = words[i + 1] if i + 1 < len(words) else ""
    if low in _TITLES or low in FEMALE or low in MALE:
        return True
    if "-" in word and word.partition("-")[2].islower():
        return False
    if low.endswith(("ing", "ed", "ly")) and not following[:1].isupper():
        return False
    if low in VERBS:
        return False
    if following[:1].isupper() and following.lower() not in FUNCTION_WORDS and following.lower() not in NEVER_NAMES:
        return True
    if following.lower() in ("&", "on", "in") and i + 2 < len(words) and words[i + 2][:1].isupper():
        return low not in KINDS
    return following.lower() in _FINITE and low not in KINDS and not low.endswith("s")


def english_phrases(text: str) -> list[NounPhrase]:
    """The noun phrases of a text in order, at most :data:`MAX_PHRASES`."""
    found: list[NounPhrase] = []
    titles = []
    if not _QUOTING.isdisjoint(text):
        titles = [(m.start(), m.end(), (m[1] or m[2] or m[3]).strip(" ,.")) for m in _TITLE.finditer(text)]
    titles = [t for t in titles if t[2] and (HAS_CJK.match(t[2]) or t[2][0].isupper() or t[2][0].isdigit())]
    straight = text.replace("’", "'")
    parts = _TOKEN.split(straight)  # what lies between two tokens, and the tokens, by turns
    words = parts[1::2]
    lowers = [*map(str.lower, words)]
    bounds = [*accumulate(map(len, parts))]
    spans = [*zip(bounds[::2], bounds[1::2], strict=False)]
    count = len(words)
    # Most words neither begin a phrase nor say where one stands: only the others are looked at.
    marked = [
        i
        for i, (low, word) in enumerate(zip(lowers, words, strict=True))
        if low in _MARKED or word[0] not in _SMALL or "'" in low
    ]
    sentence, verb_seen, group, resume = 0, False, 0, 0
    last_end_token = -2
    title_index = 0
    for i in marked:
        if i < resume:
            continue
        word, low = words[i], lowers[i]
        if not titles and word[0] in _SMALL and low not in _DETERMINERS:
            verb_seen = _EFFECT.get(low, verb_seen or low.endswith(_CLITICS))
            continue
        start = spans[i][0]
        while title_index < len(titles) and titles[title_index][1] <= start:
            title_index += 1
        if title_index < len(titles) and titles[title_index][0] <= start:
            t_start, t_end, title = titles[title_index]
            preposition = lowers[i - 1] if i and lowers[i - 1] in _PREPOSITIONS else ""
            found.append(
                NounPhrase(
                    start=t_start, end=t_end, text=title, determiner="", head="", kind="work", gender="", plural=False, name=True,
                    role="object", preposition=preposition, sentence=sentence, group=(group := group + 1),
                )
            )  # fmt: skip
            resume = i
            while resume < count and spans[resume][0] < t_end:
                resume += 1
            last_end_token = resume - 1
            continue
        if not word[0].isalnum():
            if word in _ENDS:
                sentence += 1
                verb_seen = False
            continue
        determiner, j = "", i
        if low in _DETERMINERS or (word.isdigit() and len(word) <= 2):
            determiner, j = low, i + 1
            if j < count and lowers[j] in ("few", "two", "three", "other", "new") and lowers[j] in FUNCTION_WORDS:
                j += 1
        is_start = bool(determiner) or (word[0].isupper() and _names_here(words, lowers, i, _opens_sentence(words, i)))
        k = j
        if is_start:
            k = _extend(words, lowers, spans, j, bool(determiner))
        if not is_start or k == j or (determiner == "that" and k - j > 3):
            verb_seen = _EFFECT.get(low, verb_seen or low.endswith(_CLITICS))
            continue
        shown = words[j:k]
        previous = lowers[i - 1] if i else ""
        preposition = previous if previous in _PREPOSITIONS else ""
        if preposition == "about" and i >= 2 and lowers[i - 2] in ("how", "what"):
            preposition = ""
        if preposition in ("to", "for", "at", "on", "in") and i >= 2 and lowers[i - 2] in _LEADS_TO_OBJECT:
            preposition = ""  # "signed up for a class", "went to a concert": the class is what it is about
        joined = last_end_token >= 0 and i - last_end_token <= 3 and all(
            low_ in _JOINERS for low_ in lowers[last_end_token + 1 : i]
        )  # fmt: skip
        joined = joined and i > last_end_token + 1
        role: PhraseRole = "oblique" if preposition else ("object" if verb_seen else "subject")
        if joined and found:
            role, preposition = found[-1].role, found[-1].preposition
        else:
            group += 1
        phrase = _phrase(
            shown, lowers[j:k], determiner, start, spans[k - 1][1], role, preposition, sentence, group, text
        )
        if not phrase.kind and k < count and lowers[k] in _PERSON_VERBS and phrase.name and len(shown) <= 2:
            phrase = phrase._replace(kind="person", gender=_name_gender(shown[0]))
        if _vocative(words, lowers, i, k, phrase):
            phrase = phrase._replace(kind="address")
        if previous in _NAMED and found and found[-1].sentence == sentence and phrase.name:
            before = found.pop()
            phrase = before._replace(
                text=phrase.text, end=phrase.end, name=True, determiner="", head=before.head,
                gender=before.gender or _name_gender(shown[0]),
            )  # fmt: skip
        found.append(phrase)
        last_end_token, resume = k - 1, k
        if len(found) >= MAX_PHRASES:
            break
    return found


def _opens_sentence(words: list[str], i: int) -> bool:
    """Whether token ``i`` stands first behind a sentence's end, a colon, a dash or a bullet."""
    while i and words[i - 1] in _QUOTES:
        i -= 1
    return i == 0 or words[i - 1] in _OPENS


def _vocative(words: list[str], lowers: list[str], i: int, k: int, phrase: NounPhrase) -> bool:
    """Whether one unknown name is who is spoken to: "Wow, Mel!", "Thanks Jo, …"."""
    if phrase.kind not in ("", "person") or not phrase.name or phrase.determiner or k - i != 1:
        return False
    following = words[k] if k < len(words) else "."
    before = lowers[i - 1] if i else ""
    return following in (".", "!", "?", ",", "\n") and (before == "," or before in _GREETINGS)


def _extend(words: list[str], lowers: list[str], spans: list[tuple[int, int]], j: int, determined: bool) -> int:
    """The token behind the phrase whose first content word stands at ``j``."""
    k, count, saw_name = j, len(words), False
    while k < count and k - j < _MAX_PHRASE:
        word, low = words[k], lowers[k]
        if word[0].isdigit():
            # A number belongs to a name only right behind it ("Corvus Pro 14"), not as a price or a time.
            if not (saw_name and k > j and word.isdigit() and len(word) <= 4 and spans[k][0] - spans[k - 1][1] == 1):
                break
            k += 1
            continue
        capital = _capital(word)
        if word == "." and k > j and lowers[k - 1] in _TITLES and k + 1 < count and _capital(words[k + 1]):
            k += 1
            continue
        if low in _NAME_LINKS and saw_name and k + 1 < count:
            ahead = k + 1 if lowers[k + 1] not in ("the", "la") else k + 2
            linked = ahead < count and words[ahead][0].isupper() and lowers[ahead] not in FUNCTION_WORDS
            if linked and low not in ("and", "the"):
                k = ahead
                continue
            break
        adverb = low.endswith("ly") and not capital and low not in KINDS and not (determined and k == j)
        if not word[0].isalpha() or low in FUNCTION_WORDS or adverb or (k > j and not capital and low in _COUNTED):
            break
        never = low in NEVER_NAMES and (
            _DAY_NAME.fullmatch(low) is not None
            or not (saw_name or (determined and k + 1 < count and words[k + 1][0].isupper()))
        )
        if capital and (k == j or saw_name or determined) and not never:
            saw_name = True
            k += 1
            continue
        if low in VERBS and not capital and k > j:
            break
        if not capital and saw_name and not determined and low not in KINDS:
            break
        if not capital and saw_name and low not in KINDS and low not in PERSON_NOUNS:
            break
        if capital and never:
            break
        k += 1
    while k > j and (lowers[k - 1] in _NAME_LINKS or not words[k - 1][0].isalnum()):
        k -= 1
    return k


def _name_gender(word: str) -> str:
    low = word.lower()
    if low in BOTH:
        return ""
    return "f" if low in FEMALE else "m" if low in MALE else ""


def _phrase(
    parts: list[str],
    lowers: list[str],
    determiner: str,
    start: int,
    end: int,
    role: PhraseRole,
    preposition: str,
    sentence: int,
    group: int,
    text: str,
) -> NounPhrase:
    name = any(part[0].isupper() for part in parts)
    last = lowers.index("of") - 1 if "of" in lowers[1:] else -1  # "the National Museum of Scotland" is a museum
    head = _singular(lowers[last])
    kind, gender = KINDS.get(head, ""), ""
    if "-" in parts[-1] and _TICKET.fullmatch(parts[-1]):
        kind = "software"
    if name and not kind:  # "Hotel Sol", "Café Luna": the kind stands in front
        kind = KINDS.get(lowers[0], "") if lowers[0] not in PERSON_NOUNS else ""
        if kind in ("time", "amount", "abstract"):
            kind = ""
    shown = text[start:end]
    if determiner:
        shown = shown[len(determiner) :].lstrip()
    person = "" if _PEOPLE.isdisjoint(lowers) else next(low for low in lowers if low in _PEOPLE)
    if lowers[0].rstrip(".") in _TITLES and len(parts) > 1 and name and not determiner:
        kind, gender = "person", _TITLES[lowers[0].rstrip(".")]
    elif person and person == lowers[-1]:
        kind, gender = "person", PERSON_NOUNS.get(_singular(person), "")
    elif person and parts[-1][0].isupper():  # "my cousin Elena"
        kind = "person"
        gender = PERSON_NOUNS.get(_singular(person), "") or _name_gender(parts[lowers.index(person) + 1])
        shown, determiner = " ".join(parts[lowers.index(person) + 1 :]), ""
    elif name and not determiner and (lowers[0] in FEMALE or lowers[0] in MALE) and len(parts) <= 3 and not kind:
        kind, gender = "person", _name_gender(parts[0])
    plural = _is_plural(lowers[-1], determiner, name)
    # By place, since there are many: start, end, text, determiner, head, kind, gender, plural, name, role, …
    return NounPhrase(
        start, end, shown.strip(), determiner, head, kind, gender, plural, name, role, preposition, sentence, group
    )
