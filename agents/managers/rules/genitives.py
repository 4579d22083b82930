"""Whether 's is a genitive or stands for "is" and "has": "Mum's surgery went well" against "Mum's pregnant"."""

from __future__ import annotations

from itertools import pairwise

from .... import lazy_re as re
from ....intent.phrases.tokens import word_set
from .words import ANIMALS, KIN

__all__ = ["is_genitive"]

_PREDICATE = word_set(
    "a an the my our his her its their your not never always just now still also already both even only really so very too"
    " quite pretty a-bit"
    " almost nearly usually often sometimes currently soon here there been got gone become had done taken begun born away home back off out"
    " in on at from with near by under over into against about for of to up down like than after before during without"
    " within between behind"
    " all such what where who how why this that these those going coming being sure afraid glad happy sorry certain convinced aware worried"
    " proud able unable due likely keen ready fond jealous available allergic intolerant"
)
_NUMBER = re.compile(r"\d+|one|two|three|four|five|six|seven|eight|nine|ten|\w*(?:teen|ty)(?:-\w+)?")
_AFTER_AGE = word_set("and but today now next this on in years months weeks so or already tomorrow soon old too")
_STOPS = word_set(
    "and but so because who which that where when while as if than though although or i he she it we they you there this"
)
_FINITE = word_set(
    "is isn't are aren't was wasn't were weren't has hasn't had hadn't have haven't does doesn't did didn't do don't will"
    " won't can can't could"
    " couldn't would should shouldn't may might must went came broke got ran fell made took gave said told left lost won met"
    " saw felt found kept"
    " stood sat slept sold bought brought taught thought began became grew knew drew flew threw blew wrote rode drove spoke"
    " woke wore tore bore"
    " froze chose rose ate drank sang sank rang swam sprang stole shot hit cut put let set shut hurt cost burst split spread"
    " quit read led fed"
    " bled bred sped built sent spent lent bent dealt meant learnt burnt leapt paid laid hung dug stuck struck sprung bit hid slid"
)
_PLURAL_VERB = word_set(
    "live work play go come need want like love have own run speak study sleep eat drink sing keep grow move start help"
)
_PLURAL = re.compile(r"\w+s|children|people|men|women|parents", re.IGNORECASE)
_NO_VERB = word_set(
    "sometimes always nowadays besides perhaps days weeks years months hours minutes afterwards indoors outdoors abroads"
    " less unless towards"
    " always years' this across news his hers its yours theirs ours"
)
_THINGS = (
    KIN
    | ANIMALS
    | word_set(
        "car bike boat van house flat home apartment garden room kitchen birthday party wedding funeral job work office"
        " school class flight train trip"
        " holiday name surname phone number address email laptop computer bag book letter money salary hip knee back leg arm"
        " foot hand heart eyes eye"
        " head teeth tooth hair voice health cancer exam test team band club company shop dress keys key passport recipe"
        " diet parents kids children"
        " family friends colleagues side place room idea favourite favorite turn fault plan story visit appointment results"
    )
)
_NOUN = re.compile(r"\w+(?:ery|tion|sion|ment|ness|ity|ship|hood|ism|age|ance|ence|ure)s?")
_ADVERB = re.compile(r"\w+ly")
_GOING_ON = re.compile(r"\w{2,}ing")
_LINKING = word_set("getting feeling going looking staying becoming keeping remaining")
_DONE = re.compile(r"\w{2,}ed")
_WORD = re.compile(r"[^\W_][\w'’-]*|[,;:.()]")
_READ = 6


def is_genitive(rest: str) -> bool:
    """Whether the 's that a text begins with is a genitive: something of somebody, of which the text goes on to tell.

    Args:
        rest: what follows a name or "my sister", from its 's.
    """
    if not re.match(r"['’]s\s", rest):
        return False
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(rest[3:])][:_READ]
    if not words or words[0] in _PREDICATE or _ADVERB.fullmatch(words[0]):
        return False
    if _GOING_ON.fullmatch(words[0]) and words[0] not in _THINGS:
        # "my sister's painting won a prize" against "my sister's painting the fence".
        return words[0] not in _LINKING and len(words) > 1 and words[1] in _FINITE
    if _NUMBER.fullmatch(words[0]) and (len(words) == 1 or words[1] in _AFTER_AGE or not words[1][0].isalpha()):
        return False
    for before, word in pairwise(words):
        if word in _STOPS or not word[0].isalpha():
            break
        if word in _FINITE or _DONE.fullmatch(word) or (word in _PLURAL_VERB and _PLURAL.fullmatch(before)):
            return True
        if before == words[0] and _is_verb(word) and not _DONE.fullmatch(before):
            return True
    return words[0] in _THINGS or _NOUN.fullmatch(words[0]) is not None or (len(words) > 1 and words[1] in _THINGS)


def _is_verb(word: str) -> bool:
    """Whether a word looks like a verb of the third person: "hurts", "barks"."""
    return len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "'s")) and word not in _NO_VERB
