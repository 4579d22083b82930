"""What "it", "they", "he", "she", "there" and "then" stand for: one candidate that stands clearly out, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ... import lazy_re as re
from ..phrases.analysis import Analysis, NounPhrase
from .antecedents import COUNTS, PLACES, VAGUE, Found, Source, put
from .cues import FUNCTION_WORDS, KINDS, NEVER_NAMES, OBJECT_KINDS, VERBS, words
from .people import resolve_person
from .pleonastic import (
    CLAUSE_END,
    EVENT_ED,
    FEELING,
    HANDLED_BEFORE,
    IDIOM_BEFORE,
    INVERTED,
    PLEONASTIC_AFTER,
    SUBJECT_AT_START,
    SUBJECT_VERB,
)

__all__ = ["PRONOUNS", "focus", "resolve_it"]

_WANTS: dict[str, frozenset[str]] = {
    verb: frozenset(kinds.split())
    for verbs, kinds in (
        ("book reserve", "lodging food transport event sight place work"),
        ("read wrote write", "work software thing"),
        ("watch watched", "work event"),
        ("eat ate drink wear", "thing food"),
        ("visit attend", "sight place event food lodging shop"),
        ("deploy merge debug fix fixed", "software thing transport work"),
        ("adopt adopted feed", "animal"),
        ("water prune repot spray peel boil fry bake freeze wash fold iron knit sew", "thing animal"),
    )
    for verb in verbs.split()
}
_PLURAL = re.compile(r"[a-z]{3,}(?<![siu'])s\b")
_NO_THINGS = frozenset({"time", "amount", "abstract", "address"})
_SEVERAL = re.compile(
    r"\b(?:they|them|kids|people|friends|siblings|children|parents|family|team|folks|guys|everyone|students|others)\b",
    re.IGNORECASE,
)
_THINGS_DO = re.compile(
    r"(?:\s*['’](?:re|ve)|\s+(?:are|were|have been|cost|look|fit|open|close|leave|run"
    r"|fail|failed|pass|passed|take|last|arrive|arrived|broke|come))\b",
    re.IGNORECASE,
)
_AND_MORE = re.compile(r"\s*(?:,|and|or)\s+([a-z]{3,})")
_NO_OBJECT = frozenset({"person", "address", "time", "amount", "abstract"})
_VERB_TOO = words(
    "book order show watch play match report test place coach check plan park paint perfect wow mel glad exciting "
    "interesting"
) - {"mel"}
_OPEN = re.compile(r"\b(?:it|this|that)\b(?!\s+(?:is\s+raining|way|time|day|week|month|year))", re.IGNORECASE)


def _score(phrase: NounPhrase, wanted: frozenset[str] | None) -> float:
    if phrase.kind in _NO_OBJECT or phrase.text.isdigit() or not (phrase.kind or phrase.name):
        return 0.0
    if wanted is not None and phrase.kind and phrase.kind not in wanted:
        return 0.0
    if wanted is not None and phrase.kind in ("sight", "place") and not phrase.name:
        return 0.0  # nobody books "the beach"
    score = {"subject": 0.8, "object": 0.75, "oblique": 0.35}[phrase.role]
    if phrase.name:
        score += 0.15
    if phrase.kind in OBJECT_KINDS:
        score += 0.15
    elif not phrase.determiner and " " not in phrase.text:
        score -= 0.4  # one unknown word with a capital may be anything: a person, a nickname, a greeting
    if wanted is not None and phrase.kind in wanted:
        score += 0.15
    return score


def _best(
    sources: Iterable[Source], rate: Callable[[NounPhrase], float], least: float = 0.6, margin: float = 0.14
) -> tuple[NounPhrase, Source, float] | None:
    """The one candidate that stands clearly out, in the latest step that has any at all."""
    for source in sources:
        rated: dict[str, tuple[float, NounPhrase]] = {}
        for phrase in source.analysis.phrases:
            score = rate(phrase)
            key = phrase.text.casefold()
            if score > rated.get(key, (0.0, phrase))[0]:
                rated[key] = (score, phrase)
        order = sorted(rated.values(), key=lambda pair: (-pair[0], pair[1].start))
        if not order or order[0][0] < 0.5:
            continue
        score, phrase = order[0]
        weighted = score * source.weight
        if weighted < least or (len(order) > 1 and score - order[1][0] < margin):
            return None
        return phrase, source, min(0.95, weighted)
    return None


def resolve_it(
    match: re.Match[str], text: str, own: Analysis, sources: Sequence[Source], speaker: str, word: str
) -> Found | None:
    """What "it" or "its" stands for; also "that", "this" and "that one" where they are what is booked, taken, chosen."""
    start, end = match.span()
    before, after = text[max(0, start - 60) : start], text[end : end + 120]
    wanted: frozenset[str] | None = None
    subject = False
    if word in ("that", "this"):
        verb = re.search(
            r"\b(book|reserve|take|buy|order|choose|pick|cancel|deploy|merge|visit|attend)\s+$", before, re.IGNORECASE
        )
        if verb is None or not CLAUSE_END.match(after):
            return None
        wanted = _WANTS.get(verb[1].lower())
    elif word == "its":
        noun = re.match(r"\s+(?:\w+\s+)?([a-z]\w+)", after)
        if noun is None:
            return None
    else:
        if PLEONASTIC_AFTER.match(after) or re.match(r"\s+(?:up|out|off|going|easy|real|as)\b", after):
            return None
        handled = HANDLED_BEFORE.search(before)
        if handled and EVENT_ED.search(before):
            handled = None
        if handled is None and IDIOM_BEFORE.search(before):
            return None
        inverted = INVERTED.search(before)
        if (
            handled
            and re.search(r"\b(?:is|was|does|did|has|will|can|would|could|are)\s+$", before, re.IGNORECASE)
            and not inverted
        ):
            return None
        if (
            inverted
            and re.match(
                r"\s+(?:raining|snowing|cold|hot|warm|late|early|time|ok(?:ay)?|true|possible|me|\d|going|too"
                r"|just|really|worth|like|that|matter|mean|hurt|seem|make|take|"
                r"(?:\w+\s+){0,2}(?:to|that|if)\b)\b",
                after,
                re.IGNORECASE,
            )
            and not re.match(
                r"\s+(?:take (?:cards?|credit|cash|reservations|bookings|place)|going to|worth (?:seeing"
                r"|visiting|reading|it))",
                after,
                re.IGNORECASE,
            )
        ):
            return None
        subject = handled is None or (inverted is not None)
        if handled is None and not (SUBJECT_AT_START.search(before) and SUBJECT_VERB.match(after)):
            return None
        verb = re.search(r"(\w+)\s+$", before)
        wanted = _WANTS.get(verb[1].lower()) if verb else None
    # What the step names itself is the likelier antecedent; there is then nothing to gain and much to lose.
    states = word == "it" and subject and not text[end:].split(".", maxsplit=1)[0].rstrip().endswith("?")
    if _says_much_before(text, start, 2 if states else 4) or (states and (FEELING.match(after) or not sources)):
        return None
    # Where the last step itself leaves an "it" open, what is meant was named further back, or never.
    if states and _OPEN.search(sources[0].text):
        return None
    before_it = [phrase for phrase in own.phrases if phrase.end <= start]
    if any(
        phrase.role != "oblique" and phrase.kind not in ("person", "address", "amount") and not phrase.text.isdigit()
        for phrase in before_it
    ):
        return None
    if any(_score(phrase, wanted) >= 0.4 for phrase in before_it) or own.items:
        return None
    near = [source for source in sources[:4] if source.analysis.phrases]
    if states and near and _OPEN.search(near[0].text):
        return None
    least = 0.8 if states else 0.7
    best = _best(sources[:4], lambda phrase: 0.0 if phrase.plural else _score(phrase, wanted), least=least)
    more = best and _AND_MORE.match(best[1].analysis.text, best[0].end)
    if more and more[1] not in FUNCTION_WORDS and more[1] not in VERBS:
        return None  # "the story and atmosphere"
    if best is not None and not best[0].name and (best[0].text in VAGUE or _later_object(*best[:2])):
        return None
    if best is not None and best[1] is not sources[0] and _OPEN.search(sources[0].text) and not wanted:
        return None
    return put(best, text, start, end, possessive=word == "its", speaker=speaker)


def _later_object(phrase: NounPhrase, source: Source) -> bool:
    """Whether a thing of unknown kind is spoken of after it: "I took a class. I made this grilled dish"."""
    return any(
        other.start > phrase.end
        and not other.kind
        and not other.plural
        and other.determiner
        and other.role != "oblique"
        for other in source.analysis.phrases
    )


def _says_much_before(text: str, start: int, most: int) -> bool:
    """Whether the step itself says so much before that what it means may well be there."""
    words = re.findall(r"[^\W\d_][\w'’-]*", text[:start])
    lowers = [word.lower().replace("’", "'") for word in words]
    if any(KINDS.get(word) in OBJECT_KINDS and word not in VERBS and word not in _VERB_TOO for word in lowers):
        return True
    if len(words) > 30 or any(word in ("this", "here's", "here", "these") for word in lowers):
        return True
    content = [
        w
        for w in lowers
        if w.removesuffix("'s") not in FUNCTION_WORDS and w not in VERBS and w not in NEVER_NAMES and w not in _VERB_TOO
    ]
    return len(content) > most


def _they(
    match: re.Match[str], text: str, own: Analysis, sources: Sequence[Source], speaker: str, word: str
) -> Found | None:
    start, end = match.span()
    after = text[end : end + 60]
    if word == "they" and re.match(r"\s+(?:say|call|told|are saying)\b", after, re.IGNORECASE):
        return None
    if any(
        (p.plural or p.name or p.kind == "person") and p.kind not in ("time", "amount", "address")
        for p in own.phrases
        if p.end <= start
    ):
        return None
    if any(
        word_.endswith("s") and len(word_) > 4 and word_ not in FUNCTION_WORDS and word_ not in VERBS
        for word_ in re.findall(r"[a-z]+", text[:start].lower())
    ):
        return None
    # A place is spoken of as "they"; what it does, a thing does not ("do they cook?", "they need breakfast").
    if any(p.kind in PLACES and p.end <= start for p in own.phrases):
        return None
    people = word in ("they", "their")
    things = word == "them" or (word == "they" and _THINGS_DO.match(after) is not None)

    def rate(phrase: NounPhrase) -> float:
        if wanted is not None and phrase.kind not in wanted and phrase.kind != "person":
            return 0.0  # nobody feeds restaurants
        if word == "their" and phrase.kind != "person" and not phrase.name:
            return 0.0  # whose a thing is, is a person or a house
        known = phrase.kind == "person" or (things and (phrase.kind in OBJECT_KINDS or phrase.determiner in COUNTS))
        if (
            phrase.plural
            and known
            and phrase.kind not in _NO_THINGS
            and phrase.text.casefold() not in ("people", "guys")
        ):
            return {"subject": 0.95, "object": 0.9, "oblique": 0.4}[phrase.role]
        if people and phrase.name and phrase.kind in ("lodging", "food", "shop"):
            return 0.7 if phrase.role != "oblique" else 0.3
        return 0.0

    verb = re.search(r"(\w+)\s+$", text[:start]) if word == "them" else None
    wanted = _WANTS.get(verb[1].lower()) if verb else None

    for source in sources[:3]:
        if not source.near:
            return None  # much else was said since
        pairs: dict[int, list[NounPhrase]] = {}
        for phrase in source.analysis.phrases:
            pairs.setdefault(phrase.group, []).append(phrase)
        if any(len(pair) > 1 and all(p.kind == "person" or not p.plural for p in pair) for pair in pairs.values()):
            return None  # "Alice and Diana": a pair, which no single phrase stands for
        if any(phrase.kind == "person" and not phrase.plural for phrase in source.analysis.phrases):
            return None
        if any(rate(phrase) >= 0.5 for phrase in source.analysis.phrases):
            best = _best([source], rate)
            if best is not None and best[0].plural and best[0].kind != "person":
                best = None if any(p.name and p.kind in PLACES for p in source.analysis.phrases) else best
            if best is not None and best[0].kind != "person" and _SEVERAL.search(source.text):
                return None  # whoever "they" were there are they still
            return put(best, text, start, end, possessive=word == "their", speaker=speaker)
        if _SEVERAL.search(source.text) or (things and _other_things(source)):
            return None  # what was said last are things too, though it is not known of what kind
    return None


def _other_things(source: Source) -> bool:
    """Whether a step speaks of several things that are no known kind of phrase: "my tomatoes", "roses"."""
    return any(
        found not in FUNCTION_WORDS
        and found not in VERBS
        and found[:-1] not in VERBS
        and KINDS.get(found[:-1], KINDS.get(found, "")) not in ("time", "amount", "abstract")
        for found in _PLURAL.findall(source.text[:600].lower())
    )


def _there(
    match: re.Match[str], text: str, own: Analysis, sources: Sequence[Source], speaker: str, word: str
) -> Found | None:
    start, end = match.span()
    before, after = text[:start], text[end:]
    verb = re.search(
        r"\b(get|getting|got|go|going|goes|gone|went|been|be|stay|stayed|staying|eat|eating|ate|live|living"
        r"|lived|work|working|park|arrive|arrived|travel|drive|drove|walk|fly|move|moved|moving|head"
        r"|come|back|out|from|near|around|far|dinner|lunch|meet|sleep|do|see|is it|was it|weather|like|check in)\s+$",
        before,
        re.IGNORECASE,
    )
    if verb is None or not re.match(
        r"\s*(?:$|[.!?,;)]|(?:on|at|for|by|with|in|to|after|before|again|from|next|tomorrow|too|and|this|when"
        r"|until|as|last|every|now)\b)",
        after,
        re.IGNORECASE,
    ):
        return None
    if re.search(r"\b(?:out|over|up|down|back|hang in|getting|almost|right)\s+$", before, re.IGNORECASE):
        return None
    if any(
        (p.kind in PLACES or (p.name and p.kind not in ("person", "address"))) and p.end <= start for p in own.phrases
    ):
        return None

    def rate(phrase: NounPhrase) -> float:
        if phrase.kind in PLACES and phrase.name:
            return 0.9
        if phrase.name and not phrase.kind:
            return 0.85 if phrase.preposition in ("in", "to", "at", "from", "near", "around") else 0.75
        return 0.65 if phrase.kind in ("sight", "place") and phrase.determiner in ("the", "a", "an") else 0.0

    best = _best(sources[:3], rate)
    if best is None:
        return None
    phrase = best[0]
    low = verb[1].lower()
    lead = "" if low in ("from", "near", "around") else "at "
    if low in (
        "get",
        "got",
        "getting",
        "go",
        "going",
        "goes",
        "gone",
        "went",
        "been",
        "travel",
        "drive",
        "drove",
        "walk",
        "fly",
        "move",
        "moved",
        "moving",
        "head",
        "come",
    ):
        lead = "to "
    elif phrase.preposition == "in" or (low in ("live", "living", "lived")):
        lead = "in "
    found = put(best, text, start, end, possessive=False, speaker=speaker)
    return None if found is None else Found(start, end, found.source, lead + found.text, found.name, found.confidence)


def _then(
    match: re.Match[str], text: str, own: Analysis, sources: Sequence[Source], speaker: str, word: str
) -> Found | None:
    start, end = match.span()
    if not re.search(
        r"\b(?:until|till|by|before|since|see you|meet you|free|available)\s+$", text[:start], re.IGNORECASE
    ):
        return None
    if not re.match(r"\s*(?:[.!?,;]|$)", text[end:]) or own.times:
        return None
    for source in sources[:1]:
        times = {time.text.casefold(): time.text for time in source.analysis.times}
        if len(times) == 1:
            shown = next(iter(times.values()))
            return Found(start, end, source.id, shown, shown, 0.7 * source.weight)
    return None


_Rule = Callable[["re.Match[str]", str, Analysis, Sequence[Source], str, str], "Found | None"]
PRONOUNS: dict[str, _Rule] = {
    **dict.fromkeys(("it", "its", "that", "this"), resolve_it),
    **dict.fromkeys(("they", "them", "their"), _they),
    **dict.fromkeys(("he", "him", "his", "she", "her"), resolve_person),
    "there": _there,
    "then": _then,
}


def focus(sources: Sequence[Source]) -> tuple[NounPhrase, str, float] | None:
    """The one named thing that the latest steps are about."""
    best = _best(sources[:3], lambda p: _score(p, None) if p.name and not p.plural else 0.0, least=0.55)
    return None if best is None else (best[0], best[1].id, best[2] * 0.9)
