"""Whether a piece of text may be the value of a secret, by its form and by lists of words that never are.

"my password is hunter2" and "my password is weak" differ in nothing but the last word.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from enum import IntEnum

__all__ = [
    "FUNCTION_WORDS",
    "NOT_VALUES",
    "Strength",
    "entropy",
    "is_placeholder",
    "is_plain_word",
    "is_random",
    "strength",
]


class Strength(IntEnum):
    """How much a value looks like a secret by itself."""

    NONE = 0  # never a value: a placeholder, code, an ordinary word, a quantity
    WEAK = 1  # a plain word: a value only where the grammar leaves no other reading
    STRONG = 2  # digits among letters, symbols inside, four digits or more, four words joined by hyphens


_WORDS = """
incorrect wrong right correct invalid valid expired expiring secure insecure weak weaker stronger strong long longer short
shorter safe unsafe compromised leaked stolen hacked needed required optional mandatory missing empty blank hidden
visible case encrypted hashed salted stored saved sent shared changed reset forgotten lost gone unknown private public
secret secrets confidential personal unique random complex simple easy easier hard harder tough tricky fine good great bad
terrible awful old new newer same different similar identical temporary permanent default standard common below above value
values auth credential credentials
here there attached enclosed inside this that these those mine yours ours hers his theirs something nothing
anything everything what which who whom whatever not never always also too very only now still later soon today
tomorrow tonight yesterday ready working broken locked unlocked active inactive disabled enabled protected important
critical crucial essential vital key annoying stupid silly dumb funny ridiculous crazy weird obvious guessable up down
out off okay yes yeah nope none null true false undefined string str int integer varchar char text bytes object number
boolean bool any redacted masked omitted tbd todo unset set input prompt getpass changeme placeholder example sample
your you yourself the and but for from with without when where why how because since until unless while though although
it's its it'll i'll i'm i've i'd don't won't can't didn't doesn't isn't wasn't that's what's there's let's you're we're they're
forgot forget remember maybe perhaps probably just really quite pretty rather almost nearly simply literally
password passwords passwd passphrase passcode passwort kennwort pwd username user login email e-mail wifi
account confirm confirmation reset change update create choose enter type use make keep please see check ask tell give
get click try again help hint policy field manager protection security authentication authorization
one two three four five six seven eight nine ten both either neither each every all some many most few several more less
enough over under about around like unlike than then so if in on at by to of or an be been being is are was were am has
have had do does did will would shall should can could may might must let no ok n/a na via per as
love life patience honesty money time people everyone someone nobody anyone everybody somebody hope trust kindness
characters chars letters digits symbols words numbers bits minimum maximum least length uppercase lowercase
written somewhere nowhere anywhere elsewhere home work online offline
automatically generated manually twice once weekly monthly yearly daily annually regularly frequently
falsch richtig vergessen geändert sicher unsicher lang kurz zu nicht abgelaufen erforderlich geheim wichtig schwach
incorrecta correcta segura larga corta muy olvidada necesaria obligatoria secreta débil paciencia
incorrect oublié changé correct expiré trop très obligatoire requis secret sûr faible long
"""
NOT_VALUES = frozenset(_WORDS.split())
# Without the nouns and adjectives that occur in passphrases.
FUNCTION_WORDS = NOT_VALUES - {
    "correct", "love", "hope", "trust", "time", "home", "life", "people",
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
}  # fmt: skip

_PLACEHOLDER = re.compile(
    r"""
    [*•●·xX.…_\-#?=~:]+            # masked: ****, xxxx, ..., ----
    | <[^<>]*> | \[[^\[\]]*\] | \([^()]*\)
    | \$\{[^{}]*\}? | \{\{?[^{}]*\}?\}? | %\(?\w+\)?s? | \$\(?[A-Za-z_]\w*\)? | @[A-Za-z_]+@
    | (?:your|my|the|some|enter|insert|replace|change|put|example|sample|dummy|fake|test)[-_ ]?(?:\w+[-_ ])*
      (?:pass(?:word|wd|phrase)?|key|secret|token|pwd|here|me|code|value|string)
    | (?:change|replace)[-_]?me(?:[-_]\w+)? | (?:n/?a|nil|null|none|tbd|todo|foo|bar|baz|foobar|string|redacted)\W*
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Calls, subscripts, attribute chains, templates and paths: program text in the place of a value.
_CODE = re.compile(
    r"[A-Za-z_][\w.]*(?:\(.*|\[[^\]]*\]?|<\w.*)"
    r"|(?:self|this|os|sys|process|env|config|settings|request|req|args|user|form|data|params|options|ctx|app)[.\[]\S*"
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[./~]?/?(?:[\w.-]+/)+[\w.-]*|[A-Za-z]:\\\S*"
    r"|(?:https?|ftp|file|ssh)://\S*|(?:new|await|function)\b.*|&\w+;?|\{.*|\(.*|\[.*|<.*",
    re.IGNORECASE,
)
_NOT_STRONG = re.compile(
    r"""
    \d+(?:st|nd|rd|th|x|k|m|h|s|d|w|y|ms|min|mins|hrs?|gb|mb|kb|tb|bits?|bytes?|px|pt|am|pm|kg|km|cm|mm|ft|lbs?|usd|eur|%)
    | \d+[-–](?:[a-z]+[-–]?)+ | \d+[-–]\d{1,3} | \d+[-–]to[-–]\d+ | \d+\+
    | [$€£¥]\d[\d.,]*[kmb]? | \d[\d.,]*[%$€£¥]
    | \d{1,2}:\d{2}(?::\d{2})?(?:am|pm)? | v?\d+(?:\.\d+)+[a-z]?
    | sha-?\d+ | aes-?\d+ | rsa-?\d+ | md[45] | argon2\w* | pbkdf2 | oauth2? | [23]fa | utf-?8 | base\d\d | bcrypt
    | wpa[23]?(?:-\w+)? | ipv?[46] | web[23] | log4j | win(?:dows)?\d+ | ios\d+ | x\d{1,2} | [a-z]\d{1,2} | covid-?19
    | [\w.+-]+@[\w-]+(?:\.[\w-]+)+[.,]? | (?:q[1-4]|fy)\d{2,4}
    | (?:page|step|section|chapter|figure|table|line|day|week|option|part|level)\d+
    | [a-z]+(?:['’][a-z]{1,3})? | (?:[a-z]+[-/&.,+])+[a-z]*
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HYPHENATED = re.compile(r"[A-Za-z]{3,}(?:[-_.][A-Za-z]{3,}){3,}[0-9]*")
_ADJECTIVE = re.compile(r".*(?:ed|ing|ly|able|ible|ful|less|ous|ive|tion|sion|ment|ness|ity)", re.IGNORECASE)
_WORDLIKE = re.compile(r"[a-z]{5}")
_JOINTS = re.compile(r"[-_./:]")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S*)?")
_TOKEN_ALPHABET = re.compile(r"[A-Za-z0-9_\-+/=.~:%$!@#^&*,]+")


def is_placeholder(value: str) -> bool:
    """Whether the text is a placeholder: masked, a template, ``your-key-here``, a variable."""
    return _PLACEHOLDER.fullmatch(value) is not None


def is_plain_word(value: str) -> bool:
    """Whether a weak value may be a chosen word (``swordfish``) rather than a statement about it (``unbreakable``)."""
    folded = value.casefold()
    return len(value) >= 4 and folded not in NOT_VALUES and _ADJECTIVE.fullmatch(folded) is None


def strength(value: str) -> Strength:
    """Classify a bare value (no quotes, no sentence marks around it). See :class:`Strength`."""
    if len(value) < 3 or value.casefold() in NOT_VALUES or is_placeholder(value) or _CODE.fullmatch(value):
        return Strength.NONE
    if value.isdigit() or (value[0].isdigit() and value.replace("-", "").isdigit()):
        if sum(map(str.isdigit, value)) < 4 or (_NOT_STRONG.fullmatch(value) and not value.isdigit()):
            return Strength.NONE
        return Strength.STRONG
    if _HYPHENATED.fullmatch(value) and not FUNCTION_WORDS & set(re.split(r"[-_.]", value.casefold())):
        return Strength.STRONG
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if _NOT_STRONG.fullmatch(value):
        return Strength.WEAK if value.isalpha() else Strength.NONE
    if letters and digits:
        return Strength.STRONG if len(value) >= 4 else Strength.NONE
    if not letters and sum(map(str.isdigit, value)) >= 4 and any(c in "#*!@" for c in value):
        return Strength.STRONG
    inner = value[1:-1]
    if (letters or digits) and any(c in "!@#$%^*+=~?|\\<>;§" for c in inner):
        return Strength.STRONG if len(value) >= 5 else Strength.NONE
    return Strength.WEAK if value.isalpha() else Strength.NONE


def entropy(value: str) -> float:
    """Shannon entropy of the characters, in bits a character."""
    n = len(value)
    return -sum(c / n * math.log2(c / n) for c in Counter(value).values()) if n else 0.0


def is_random(value: str, *, min_length: int = 16) -> bool:
    """Whether a token looks random: long, mixed, and not words, a path, a date or an identifier.

    Linear in the value's length; hexadecimal text passes at a lower entropy, since it has only 16 characters.
    """
    if len(value) < min_length or not _TOKEN_ALPHABET.fullmatch(value) or is_placeholder(value) or _DATE.match(value):
        return False
    bare = _JOINTS.sub("", value)
    digits = sum(map(str.isdigit, bare))
    letters = sum(map(str.isalpha, bare))
    if not digits or not letters:
        return False
    turns = sum(a.isdigit() != b.isdigit() for a, b in itertools.pairwise(bare))
    words = [w for w in _JOINTS.split(value) if w]
    # Identifiers: most parts are words of letters, with a number at the end at best.
    if len(words) > 1 and sum(w.isalpha() and len(w) < 16 for w in words) * 2 > len(words) and turns < 4:
        return False
    if turns < 3 and (turns < 1 or len(bare) < 20 or digits < 2 or _WORDLIKE.search(bare)):
        return False
    return entropy(bare) >= min(3.0, math.log2(len(bare)) - 0.9)
