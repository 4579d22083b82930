"""How a name and a secret are joined: names in identifiers, links ("is", ":", "是"), complements ("for the router"), values.

Every pattern here is matched at one known place, over a bounded stretch and without nested repeats, so a rule's cost
is a constant for each cue it meets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from hexamem.stores.secrets.spans import TextForms

__all__ = [
    "CJK",
    "Link",
    "Value",
    "continues_word",
    "ends_clause",
    "find_link",
    "followed_by_unit",
    "identifier_bounds",
    "identifier_end",
    "left_words",
    "occurrences",
    "read_value",
]

CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

LinkKind = Literal["colon", "equals", "copula", "dash", "tag", "direct"]


class Link(NamedTuple):
    """How the name is joined to what follows at ``end``; ``of`` is the complement ("the office router") or empty."""

    kind: LinkKind
    end: int
    of: str

    @property
    def is_explicit(self) -> bool:
        """Whether a colon, an equals sign or a verb joins the two."""
        return self.kind in {"colon", "equals", "copula"}


class Value(NamedTuple):
    """A value's place; ``quoted`` when marks around it decide where it ends."""

    start: int
    end: int
    quoted: bool


_WORD = r"[\w'’.&@+/\-]{1,40}+"
_COMPLEMENT = (
    r"(?:[ ]{0,2}\([^()\n]{1,40}\))?"
    r"(?:[ ]{1,2}(?:(?:for|to|of|on|at|in|from|that|which|i|we|you|he|she|they|für|fürs|vom|von|zum|zur|zu|des|der|im|"
    r"de|del|da|do|du|para|pour|per|van|voor|ich|wir|meiner|meines|unserer|unseres|deiner|seiner|ihrer)[ ]{1,2}|d['’])"
    rf"(?P<of>{_WORD}(?:[ ]{{1,2}}{_WORD}){{0,6}}?)"
    r"|[ ]{1,2}(?P<name>[\w-]{2,20}+)(?=[ ](?:est|es|lautet|è|é)[ ]))??"  # "le mot de passe Netflix est"
    r"(?:[ ]{0,2}\([^()\n]{1,40}\))?"
)
_SPACE = r"[ \t]{0,8}(?:\r?\n[ \t]{0,8}){0,2}"
_ADVERB = (
    r"(?:[ ]{1,2}(?:now|still|currently|actually|just|simply|literally|set to|changed to|going to be|the following|"
    r"always|probably|basically|jetzt|ahora|maintenant|toujours|immer|noch))*"
)
_COPULA = (
    r"(?:,?[ ]{1,3}(?:(?:is|was|are|were|ist|war|lautet|es|era|est|était|è|é|será|becomes|remains|это)"
    r"|(?:will|should|must|would) be"
    r"|(?:(?:has been|have been|had been|was|is|got|i|we|they|to be)[ ])?"
    r"(?:changed|set|reset|updated|switched|rotated)(?: it)? to)"
    rf"|['’]s){_ADVERB}(?:[ ]?:{_SPACE}|[ ]{{1,3}}|(?=[\"“`]))"
)
_CJK_COPULA = (
    r"[ ]{0,2}(?:一直|现在|現在|目前|还|還|就|都|应该|應該)?"
    r"(?:是|为|為|就是|改成了?|改为了?|改為了?|换成了?|換成了?|设成了?|设置成了?|设置为了?|设为了?|設為了?|变成了?|用的是|叫|は|은|는)"
    r"[ ]{0,2}:?[ ]{0,2}"
)
_LINK = re.compile(
    _COMPLEMENT + r"(?:"
    r"(?P<equals>[\"'`\])]{0,3}[ \t]{0,8}(?::=|=>|=(?!=))[ \t]{0,8})"
    rf"|(?P<colon>[\"'`*_\])]{{0,3}}[ \t]{{0,3}}(?::(?!:)|->|→|⇒)[*_]{{0,2}}{_SPACE})"
    rf"|(?P<copula>{_COPULA}|{_CJK_COPULA})"
    r"|(?P<dash>[ ]{1,2}[-–—][ ]{1,2})"
    r")"
)
_QUOTES = {'"': '"', "`": "`", "“": "”“", "”": "”", "‘": "’", "«": "»", "„": "“”", "「": "」", "『": "』"}
# The text after an opening mark up to the closing mark on the same line; a backslash escapes a mark.
_QUOTED = {
    opening: re.compile(rf"(?:[^{closing}\\\n]|\\[^\n]){{1,260}}(?=[{closing}])")
    for opening, closing in _QUOTES.items()
}
# An apostrophe inside a word is no closing mark.
_QUOTED["'"] = re.compile(r"(?:[^'’\\\n]|\\[^\n]|['’](?=\w)){1,260}(?=['’](?!\w))")
_PREFIX = re.compile(r"@|[rbfu]{1,2}(?=[\"'])", re.IGNORECASE)
_FENCE = re.compile(r"```\w{0,20}\r?\n([^\n`]{1,300})\r?\n[ \t]{0,8}```")
_BOLD = re.compile(r"(\*\*|__)([^\s*_][^\n*]{0,200}?)\1(?!\w)")
_BARE = re.compile(r"[^\s，。；！？、“”‘’「」『』《》…\u200b]{1,300}")
_END = re.compile(
    r"[\"'”’*`)\]}>]{0,3}(?:[ \t]{0,4}(?:$|[\n\r。，；！？.,;!?)\]}|/<]|[-–—][ ]|\()|[ \t]{1,4}[^\w\s\"'“‘]|$)"
)
_END_WORD = re.compile(
    r"[\"'”’*`)\]]{0,3}[ ]{1,2}(?:and|but|so|if|for|to|in|on|please|thanks|ok|okay|by the way|btw|in case|just|not|user|login|"
    r"with|when|don't|do not|und|y|et|aber|pero|mais|is my|is our|is the)\b"
)
_UNIT = re.compile(
    r"[ -]{0,2}(?:characters?|chars?|digits?|letters?|symbols?|words?|bits?|bytes?|days?|hours?|minutes?|mins?|seconds?|"
    r"weeks?|months?|years?|times?|percent|%|people|users?|dollars|euros|bucks|usd|eur|points?|lines?|pages?|steps?|"
    r"items?|attempts?|tries|of (?:the|them|those)|miles|km|kg|lbs|pounds|feet|am\b|pm\b|o'clock|zeichen|stellen|"
    r"位|个|個|次|天|年|月|日|号|"
    r"元|字|块|分|秒|岁|人|行|页|%)"
)
_OPEN = {")": "(", "]": "[", "}": "{", ">": "<"}
_CLAUSE_MARKS = re.compile(r"[\n.,;:!?()\[\]{}|<>=&;`\"“”【】，。；：！？、（）]")


# Names that are read without a boundary before them ("wifipassword", "Masterpasswort").
_GLUED = frozenset({"password", "passwd", "passphrase", "token", "passwort", "kennwort", "key"})
_IDENTIFIER_END = re.compile(r"(?:_(?:prod|dev|test|staging|new|old|main|root|admin))?_?\d{0,2}(?![\w])")


def occurrences(text: str, signs: Iterable[str]) -> Iterator[int]:
    """The offsets of each sign, one sign after the other: ``str.find`` is many times faster than a pattern."""
    for sign in filter(text.__contains__, signs):  # most texts contain none
        at = text.find(sign)
        while at >= 0:
            yield at
            at = text.find(sign, at + len(sign))


def continues_word(low: str, at: int, marks: str = "_") -> bool:
    """Whether the character at ``at`` is an ASCII letter, digit or one of ``marks``: part of the same word."""
    return 0 <= at < len(low) and low[at].isascii() and (low[at].isalnum() or low[at] in marks)


def identifier_end(low: str, end: int) -> int | None:
    """Where the identifier that a name at ``end`` belongs to ends; None when the name is the start of another word."""
    match = _IDENTIFIER_END.match(low, end)
    return match.end() if match else None


def identifier_bounds(forms: TextForms, start: int, end: int) -> tuple[int, bool] | None:
    """Where the identifier around the name ``start:end`` begins, and whether it is one.

    ``DB_PASSWORD``, ``userPassword`` and ``password_2`` are identifiers; None when the name is part of another word
    (``compass``). Chinese, Japanese and Korean names need no boundary.
    """
    low, norm = forms.low, forms.norm
    if CJK.match(low, start):
        return start, False
    after = low[end : end + 1]
    joined = continues_word(low, end) or (after.isalpha() and not CJK.match(after))
    if joined and identifier_end(low, end) is None:
        return None
    begin = start
    while start - begin < 40 and continues_word(low, begin - 1, "_-."):
        begin -= 1
    if begin == start:
        alone = start == 0 or not low[start - 1].isalpha() or CJK.match(low, start - 1) is not None
        return (begin, False) if alone else None
    joint = low[start - 1]
    camel = norm[start].isupper() and norm[start - 1].islower()
    if joint in "_-." or (joint.isalpha() and (camel or low[start:end] in _GLUED)):
        return begin, True
    return None


def find_link(forms: TextForms, at: int) -> Link | None:
    """The link that starts at ``at``, the end of a name; None when there is none."""
    low = forms.low
    match = _LINK.match(low, at)
    if match is None:
        if low[at - 1 : at] != ">" and low[at : at + 1] == ">":
            return Link("tag", at + 1, "")
        spaces = at
        while spaces < len(low) and spaces - at < 3 and low[spaces] in " \t":
            spaces += 1
        # Chinese and Japanese need no blank between a name and its value.
        return Link("direct", spaces, "") if spaces > at or CJK.match(low, at - 1) else None
    group = "of" if match["of"] is not None else "name"
    of = forms.norm[match.start(group) : match.end(group)].strip() if match[group] is not None else ""
    kinds: tuple[LinkKind, ...] = ("equals", "colon", "copula", "dash")
    return Link(next(kind for kind in kinds if match[kind] is not None), match.end(), of)


def read_value(text: str, at: int, link: LinkKind, *, keep_marks: bool = False) -> Value | None:
    """The value that starts at ``at``: the text between quotes, else the run of characters up to a blank.

    Marks that end the sentence are not part of a bare value; within quotes they are. After "=", or with ``keep_marks``
    (a Chinese sentence ends with full-width marks), a final "!" or "?" belongs to the value.
    """
    if fence := _FENCE.match(text, at):
        return Value(fence.start(1), fence.end(1), True)
    if bold := _BOLD.match(text, at):
        inner = read_value(text[: bold.end(2)], bold.start(2), link)
        if inner is not None and inner.quoted:
            return inner
        return Value(bold.start(2), bold.end(2), True)
    prefix = _PREFIX.match(text, at)
    start = prefix.end() if prefix and text[prefix.end() : prefix.end() + 1] in ("'", '"') else at
    quote = _QUOTED.get(text[start : start + 1])
    if quote is not None:
        if quoted := quote.match(text, start + 1):
            return Value(start + 1, quoted.end(), True)
        at = start + 1
    bare = _BARE.match(text, at)
    if bare is None:
        return None
    start, end = bare.start(), bare.end()
    if link == "tag":
        close = text.find("<", start, end)
        end = close if close >= 0 else end
    elif link == "equals":
        for mark in "&;,":
            cut = text.find(mark, start + 1, end)
            if cut >= 0 and (mark != "," or cut == end - 1):
                end = cut
        # In a program the call or the template around an assignment closes behind it.
        for closing, opening in ((")", "("), ("}", "{"), ("]", "[")):
            cut = text.find(closing, start + 1, end)
            if cut >= 0 and opening not in text[start:cut]:
                end = cut
    script = CJK.search(text, start, end)
    if script is not None and script.start() > start:
        end = script.start()
    end = _without_marks(text, start, end, keep_marks=keep_marks or link in {"equals", "tag"})
    return Value(start, end, False) if end > start else None


def _without_marks(text: str, start: int, end: int, *, keep_marks: bool) -> int:
    """Where the value ends without closing quotes, unbalanced brackets and the mark that ends the sentence."""
    removed = ""
    while end > start:
        last = text[end - 1]
        if last in "\"'`”’" or (last in ")]}>" and not (start < text.rfind(_OPEN[last], start, end) + 1)):
            end -= 1
        elif last in ".,;:!?" and (not removed or last == removed) and not (keep_marks and last in "!?"):
            # Only one kind of mark ends a sentence: in "hunter2!." the "!" is part of the value.
            removed = last
            end -= 1
        elif last == "*" and text[start] == "*":
            end -= 1
        else:
            break
    return end


def ends_clause(text: str, at: int, *, words: bool = True) -> bool:
    """Whether a value that ends at ``at`` is the last word of its clause (``words``: "and", "but" … end one too)."""
    return _END.match(text, at) is not None or (words and _END_WORD.match(text, at) is not None)


def followed_by_unit(low: str, at: int) -> bool:
    """Whether a unit or counted noun follows: then the number before is a quantity."""
    return _UNIT.match(low, at) is not None


def left_words(text: str, at: int) -> list[str]:
    """Up to four words right before ``at``, on the same line and in the same clause."""
    window = text[max(0, at - 90) : at]
    clause = _CLAUSE_MARKS.split(window)[-1]
    return clause.replace("_", " ").split()[-4:]
