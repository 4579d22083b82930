"""Which full stops end no sentence: "Dr. Smith", "J. Smith", "No. 5", "3 p.m. on Friday", "am 3. Mai", "z. B."."""

from __future__ import annotations

from ... import lazy_re as re
from .tokens import word_set

__all__ = ["is_abbreviation_stop"]

_BEFORE_NAME = word_set(
    "mr mrs ms dr prof rev mt ft pt gen col capt lt sgt cpl maj adm cmdr insp det supt sen gov pres rep hon messrs mme mlle mgr fr"
    " hr hrn dipl ing mag"
)
_BEFORE_NUMBER = word_set("no nos nr vol pp p fig art ch sec tel ext bd abs kap")
_NEVER_LAST = word_set(
    "e.g i.e vs v approx cf ca eg ie incl viz z.b d.h u.a o.ä i.d.r m.e s.o s.u v.a bzw inkl zzgl evtl ggf vgl sog bspw"
)
_SOMETIMES_LAST = word_set(
    "etc ave rd jr sr blvd ln sq ltd inc co corp dept est min max hr hrs tbsp tsp lb oz a.m p.m govt assn bros univ intl usw"
    " str std mio mrd geb u.a.m"
)
_DATE_WORDS = word_set(
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun okt dez mo di"
)
_GERMAN_MONTHS = word_set(
    "januar jänner februar feber märz april mai juni juli august september oktober november dezember jan feb apr jun jul aug sep"
    " sept okt nov dez january february march may june july october december"
)
_OPENS_ENGLISH = word_set(
    "i i'm i've i'll i'd my we we're we've our he he's she she's it it's its they they're their this that these those the a an"
    " his her you you're your there there's here what when where who why how which and but so or if then also no yes not please"
    " thanks in on at for from after before since because one two three some all most maybe let's let can could would will do"
    " does did is are was were have has had don't now today tomorrow yesterday next last both every each nobody everyone"
)
_OPENS_GERMAN = word_set(
    "ich wir er sie es ihr du das der die dem den ein eine mein meine unser unsere dann danach und aber oder also wenn weil da"
    " dort hier heute morgen gestern jetzt nun wie was wann wo wer warum kannst können ist sind hat haben bitte danke ja nein"
    " nicht auch im am in an auf mit von zu bei nach vor für seit später dieser diese dieses"
)
_GERMAN = word_set(
    "ich wir ist sind und das der den dem des ein eine einen einem einer mein meine meinen meinem meiner unser unsere nicht mit"
    " von für auf zum zur vom habe hat haben wird werden bei beim nach aus auch noch sich er es ihr kommt wohne wohnt ziehe ziehen"
    " fliege fliegt treffen heute morgen gestern jetzt seit bis ab uhr"
)
_ENGLISH = word_set("i i'm the my is are and of was we've i've he she they you to with our his her for it")
_ORDINAL_AFTER = word_set(
    "am im der die das dem den des zum zur vom beim bis ab seit mein meine meinen meinem meiner unser unsere unserem sein seine"
    " ihr ihre ein eine einen und oder jeden jeder jedem als dieser diesem"
)
_TAKES_A_LETTER = word_set(
    "a an the plan vitamin option type group grade hepatitis section block gate room class team level part point size model"
    " schedule version appendix exhibit form figure table step choice answer letter drive terminal wing hall line row bus line"
    " platform zone phase stage series category not and or nor do am than as"
)
_WORD_BEFORE = re.compile(r"(?:(?<![^\W_])[^\W\d_]{1,2}\.(?=[^\W\d_]))?(?:(?<=\.)[^\W\d_]\.)*[^\W\d_]+\Z")
_SPACED = re.compile(r"(?<!\w)[^\W\d_]\.\s(?:[^\W\d_]\.\s)?[^\W\d_]\Z")
_DAY_BEFORE = re.compile(r"(?<![\w.,:/-])\d{1,2}\.\d{1,2}\Z")
_NUMBER_BEFORE = re.compile(r"(?<![\w.,:/-])\d{1,2}\Z")
_LAST_WORD = re.compile(r"([^\W\d_][\w'’-]*|\d{1,2}\.)[ \t]*\Z")
_FIRST_WORD = re.compile(r"[\"“„('‘]?([^\W_][\w'’-]*)")
_ALL_WORDS = re.compile(r"[^\W\d_]+(?:['’][a-z]+)?")
_LETTERED = re.compile(r"[^\W\d_]\.(?:\s|\w|$)")
_NAMED_STREET = re.compile(
    r"(?<![\w'’])(?!(?:At|In|To|From|The|Near|By|On|Of|And|For|With|Is|Was|My|Our|Visit|See|I|We|No|Yes)\s)[A-Z][\w'’-]*\s\Z"
)
_LONGEST = 14  # characters of an abbreviation
_AROUND = 80  # characters on either side that tell which language it is


def is_abbreviation_stop(text: str, at: int) -> bool:
    """Whether the full stop at ``text[at]`` belongs to an abbreviation, and the sentence goes on after it.

    A title or "e.g." always goes on; "No." before a digit; "etc.", "Rd." and "p.m." unless a capital follows. "St." is
    a saint before a capital, and a street after a name ("Baker St. My wife"). One capital letter is an initial before
    a name, unless it names a kind ("vitamin D. Peter"). A number is a German ordinal before a month, and in a German
    sentence after an article or preposition ("im 3. Stock").

    Args:
        text: English or German; of other text no full stop is an abbreviation's.
        at: offset of the full stop.
    """
    if text[at : at + 1] != "." or text[at + 1 : at + 2] == ".":
        return False
    following = text[at + 1 : at + 40].lstrip(" \t")
    then = following[:1]
    if not then or then in "\r\n":
        return False
    if text[at - 1 : at].isdigit():
        return _is_ordinal(text, at, following)
    before = _WORD_BEFORE.search(text, max(0, at - _LONGEST), at)
    if before is None or (
        before.start() and text[before.start() - 1].isalnum() and not text[before.start() - 1].isdigit()
    ):
        return False
    word, capital = before[0].casefold(), before[0][0].isupper()
    if spaced := _SPACED.search(text, max(0, at - _LONGEST), at):
        joined = re.sub(r"\s", "", spaced[0]).casefold()
        word = joined if joined in _NEVER_LAST | _SOMETIMES_LAST else word
    if word in _NEVER_LAST:
        return word != "ca" or not capital or then.isdigit()  # "San Jose, CA. We left."
    if word in _BEFORE_NAME and capital:
        return then.isalnum()
    if word in _BEFORE_NUMBER:
        return then.isdigit()
    if word == "st":
        if not capital:
            return False
        street = _NAMED_STREET.search(text, max(0, before.start() - 40), before.start()) is not None
        return then.islower() or then in ",;" if street else then.isalnum()
    if word in _DATE_WORDS and capital:
        return then.isdigit()
    goes_on = then.islower() or then.isdigit() or then in ",;:)"
    if "." in word and word not in _SOMETIMES_LAST:  # "U.S.", "Ph.D."
        return goes_on or _is_name(following)
    if len(word) == 1:
        return _is_initial(text, at, following) if capital else _LETTERED.match(following) is not None
    return word in _SOMETIMES_LAST and goes_on


def _is_name(following: str) -> bool:
    """Whether a text begins with a capitalised word that opens no sentence."""
    first = _FIRST_WORD.match(following)
    return first is not None and first[1][0].isupper() and first[1].casefold().replace("’", "'") not in _OPENS_ENGLISH


def _is_initial(text: str, at: int, following: str) -> bool:
    if _LETTERED.match(following):
        return following[0].isupper()
    if not _is_name(following):
        return False
    last = _LAST_WORD.search(text, max(0, at - 40), at - 1)
    if last is None:
        return True  # at the beginning, or after another initial
    said = last[1].casefold()
    if text[at - 1] == "I" and said.islower() and not last[1][0].isupper():
        return False
    return said not in _TAKES_A_LETTER


def _is_ordinal(text: str, at: int, following: str) -> bool:
    if not text[at + 1 : at + 2].isspace():
        return False
    if _DAY_BEFORE.search(text, max(0, at - 8), at):
        return following[0].islower()
    number, first = _NUMBER_BEFORE.search(text, max(0, at - 8), at), _FIRST_WORD.match(following)
    if number is None or first is None:
        return False
    word = first[1].casefold()
    if word in _GERMAN_MONTHS:
        return not re.match(r"May\s(?:I|we|you)\b", following)
    last = _LAST_WORD.search(text, max(0, at - 40), number.start())
    if last is None or last[1].casefold() not in _ORDINAL_AFTER or (first[1][0].isupper() and word in _OPENS_GERMAN):
        return False
    around = f"{text[max(0, at - _AROUND) : last.start()]} {text[at + 1 : at + _AROUND]}"
    words = {one.casefold().replace("’", "'") for one in _ALL_WORDS.findall(around)}
    return not words.isdisjoint(_GERMAN) and words.isdisjoint(_ENGLISH)
