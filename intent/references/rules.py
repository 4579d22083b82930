"""What English references mean: which words may refer, and the rule for each.

Every rule returns nothing unless one candidate stands clearly out; see ``coreference.py`` for the principle.
"""

from __future__ import annotations

from collections.abc import Sequence

from ... import lazy_re as re
from ..phrases.analysis import Analysis
from .antecedents import PLACES, VAGUE, Found, Source, cased, display, opening
from .cues import FUNCTION_WORDS, KINDS, NEVER_NAMES, OBJECT_KINDS, VERBS, WIDER
from .options import by_degree, by_description, option_at
from .pleonastic import CLAUSE_END
from .pronouns import PRONOUNS, resolve_it

__all__ = ["ENGLISH_CUE", "english_reference", "may_refer"]

ONE = r"(?:one|option|choice|suggestion|idea)"
_NOUNS = frozenset({*WIDER, *(word for word, kind in KINDS.items() if kind in OBJECT_KINDS and kind != "thing")})
ENGLISH_CUE = re.compile(
    rf"""\b(?=th[aei]|it|h[ei]|she|opt|num|no\.|on\ the\ s|at\ the\ s)(?:
      the\ (?P<ordinal>first|second|third|fourth|fifth|last)(?:\ (?P<ordinal_noun>{ONE}\b))?
    | (?P<number>(?:option|number|no\.)\ ?(?P<digit>[1-9]|one|two|three|four|[a-d])(?![\w.:]\w))
    | the\ (?P<pair>former|latter)(?:\ {ONE})?
    | the\ (?P<degree>cheaper|cheapest|less\ expensive|least\ expensive|more\ expensive|most\ expensive
        |pricier|dearer|closer|closest|nearer|nearest
        |(?:better|higher|best|highest)[-\ ]rated|earlier|earliest|later|latest)(?:\ (?P<degree_noun>{ONE}\b))?
    | the\ one\ (?P<where>(?:with|on|in|at|near|by|from)\ (?:the\ |an?\ )?[\w'’-]+(?-i:\ [A-Z][\w'’-]+)*)
    | the\ (?P<quality>[a-z-]+(?:\ [a-z-]+)?)\ (?:one|place)
    | (?:on\ |at\ )?(?P<same>the\ same\ (?:day|date|time))
    | (?P<noun_phrase>(?P<noun_det>that|this|the)\ (?P<noun>[a-zé&]{{3,}}))
    | (?P<that_one>(?:that|this)\ one)
    | (?P<pronoun>it|its|them|they|their|he|him|his|she|her|there|then|that|this)
    )\b(?!['’]?-?\w)|(?P<short>\b(?:it|he|she|they)(?=['’](?:s|ll|d|re|ve)\b))""",
    re.IGNORECASE | re.VERBOSE,
)
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}
_DIGITS = {
    **{str(n): n - 1 for n in range(1, 10)},
    "one": 0,
    "two": 1,
    "three": 2,
    "four": 3,
    "a": 0,
    "b": 1,
    "c": 2,
    "d": 3,
}
_AFTER_BARE = frozenset(
    [
        "and",
        "or",
        "please",
        "then",
        "is",
        "was",
        "looks",
        "sounds",
        "seems",
        "has",
        "for",
        "would",
        "could",
        "can",
        "will",
        "does",
        "instead",
        "but",
        "too",
        "if",
        "on",
        "compare",
    ]
)
_OWN_WORDS = frozenset(["in", "on", "near", "at", "with", "by", "for", "from", "to", "you", "we", "i", "they"])
_WORD_AFTER = re.compile(r"\s+([\w'’-]+)")


def may_refer(match: re.Match[str]) -> bool:
    """Whether a match of :data:`ENGLISH_CUE` needs a closer look: "the" stands mostly before nouns that never refer."""
    noun = match["noun"]
    return noun is None or noun.lower() in _NOUNS


def english_reference(
    match: re.Match[str], text: str, own: Analysis, sources: Sequence[Source], speaker: str
) -> Found | None:
    """What one reference stands for, or nothing where that is not safe.

    Args:
        match: of :data:`ENGLISH_CUE` in ``text``, the step's text with secrets masked.
        sources: earlier steps, the newest first.
    """
    start, end = match.span()
    if match["ordinal"]:
        following = _WORD_AFTER.match(text, end)
        word = following[1].lower() if following else ""
        if following and word not in FUNCTION_WORDS and word not in VERBS and word not in _NOUNS:
            return None  # "the first day", "the second one hundred visitors"
        if following and following[1].lower() in _NOUNS and not match["ordinal_noun"]:
            end = following.end()  # "the second hotel"
        bare = end == match.end() and not match["ordinal_noun"]
        if bare and following and word not in _AFTER_BARE:
            return None  # "the last of the day", "the first two"
        index = _ORDINALS.get(match["ordinal"].lower())  # none for "ſecond": letters that fold to Latin ones
        return None if index is None else opening(option_at(sources, index, start, end, listed=bare), text)
    if match["number"]:
        return option_at(sources, _DIGITS[match["digit"].lower()], start, end, listed=True)
    if match["pair"]:
        if len([p for p in own.phrases if p.end <= start and p.name]) >= 2:
            return None
        return opening(option_at(sources, 0 if match["pair"].lower() == "former" else 1, start, end, exactly=2), text)
    if match["degree"]:
        if not match["degree_noun"] and not CLAUSE_END.match(text, end):
            return None
        return opening(by_degree(match["degree"].lower(), text[:start], sources, start, end), text)
    if match["where"] or match["quality"]:
        return opening(by_description(match["where"] or match["quality"], sources, start, end), text)
    if match["same"]:
        if match["same"].lower().endswith("time") and re.search(
            r"\bat\s+$", text[: match.start("same")], re.IGNORECASE
        ):
            return None  # mostly "together"
        return _same_time(match, own, sources)
    if match["noun_phrase"]:
        return _definite(match, text, own, sources)
    if match["that_one"]:
        return resolve_it(match, text, own, sources, speaker, "that") if CLAUSE_END.match(text, end) else None
    word = (match["pronoun"] or match["short"]).lower()
    rule = PRONOUNS.get(word)
    return None if rule is None else rule(match, text, own, sources, speaker, word)


def _same_time(match: re.Match[str], own: Analysis, sources: Sequence[Source]) -> Found | None:
    day = not match["same"].lower().endswith("time")
    start, end = match.span("same")
    if any(time.day == day and time.start < start for time in own.times):
        return None
    for source in sources[:3]:
        times = {time.text.casefold(): time.text for time in source.analysis.times if time.day == day}
        if len(times) == 1:
            shown = next(iter(times.values()))
            return Found(start, end, source.id, shown, shown, 0.8 * source.weight)
        if times:
            return None
    return None


def _definite(match: re.Match[str], text: str, own: Analysis, sources: Sequence[Source]) -> Found | None:
    noun, determiner = match["noun"].lower(), match["noun_det"].lower()
    start, end = match.span()
    following = re.match(r"\s+([\w'’-]+)", text[end:])
    if following:
        word = following[1].lower()
        known = word in FUNCTION_WORDS or word in VERBS or word in NEVER_NAMES or word.endswith("ly")
        if not known or word in ("of", "that", "which", "who", "where") or following[1][0].isupper():
            return None  # "the hotel room", "the hotel of her dreams", "the restaurant Nonna"
        if determiner == "the" and word in _OWN_WORDS:
            return None  # its own words say which
    if determiner == "that" and re.search(
        r"\b(?:think|know|hope|say|said|believe|sure|so)\s+$", text[:start], re.IGNORECASE
    ):
        return None
    wider = WIDER.get(noun, frozenset())
    if determiner == "the" and noun in VAGUE | {"event"}:
        return None
    demonstrative = determiner != "the"
    if any((phrase.kind in wider or phrase.head == noun) and phrase.end <= start for phrase in own.phrases):
        return None
    if wider & PLACES and any(p.name and not p.kind and p.end <= start for p in own.phrases):
        return None  # "I stay in Galway. This place …"
    for depth, source in enumerate(sources):
        same, of_kind, unknown = [], [], []
        for phrase in source.analysis.phrases:
            if phrase.kind == "person" or phrase.plural:
                continue
            kind = phrase.kind or source.kinds.get(phrase.text.casefold(), "")
            if phrase.head == noun and (
                phrase.name or (demonstrative and " " in phrase.text and phrase.kind in ("software", "event"))
            ):
                same.append(phrase)
            elif phrase.name and kind in wider:
                of_kind.append(phrase)
            elif phrase.name and not kind and phrase.role != "oblique":
                unknown.append(phrase)
        candidates = [*same, *of_kind] or (unknown if demonstrative and depth == 0 and (wider & PLACES) else [])
        texts = {phrase.text.casefold(): phrase for phrase in candidates}
        offered = {item.text.casefold().removeprefix("the ") for item in source.analysis.items}
        if not offered.isdisjoint(texts):
            return None  # one of several, and not said which
        if len(texts) > 1:  # what stands behind a preposition is mentioned in passing
            texts = {key: phrase for key, phrase in texts.items() if phrase.role != "oblique"}
        if len(texts) == 1:
            phrase = next(iter(texts.values()))
            return Found(
                start, end, source.id, cased(display(phrase, "the "), text, start), phrase.text, 0.85 * source.weight
            )
        if candidates:
            return None
    return None
