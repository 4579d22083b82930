"""Whom "he" and "she" stand for: the one person or animal that the latest steps name, or nobody."""

from __future__ import annotations

from collections.abc import Sequence

from ... import lazy_re as re
from ..phrases.analysis import Analysis, NounPhrase
from .antecedents import Found, Source, put
from .nearer import continues, name_opens, names_it, nearer, sentence_end
from .person_nouns import is_person_noun
from .pleonastic import CLAUSE_END

__all__ = ["best_person", "resolve_person"]

_HE = re.compile(r"\b(?:he|him|his)\b|他", re.IGNORECASE)
_SHE = re.compile(r"\b(?:she|her|hers)\b|她", re.IGNORECASE)


def best_person(sources: Sequence[Source], gender: str, speaker: str) -> tuple[NounPhrase, str, float] | None:
    """The one person (or animal) whom "he" or "she" can mean, said in the latest steps that name any.

    Nobody, where a step since then, or a later sentence of the same one, speaks of somebody else who may be meant.
    """
    speakers = {source.speaker.casefold() for source in sources} | {speaker.casefold()}
    pronoun = _HE if gender == "m" else _SHE
    for depth, source in enumerate(sources[:4]):
        people: dict[str, NounPhrase] = {}
        doubtful = False
        for phrase in source.analysis.phrases:
            if phrase.kind not in ("person", "animal") or phrase.plural or _addresses(phrase, speakers):
                continue
            if phrase.kind == "animal" and not (
                phrase.name or phrase.determiner in ("my", "our", "a", "his", "her", "the")
            ):
                continue
            if phrase.gender and phrase.gender != gender:
                continue
            doubtful = doubtful or phrase.determiner in ("your", "their", "his", "her")
            people[phrase.text.casefold()] = phrase
        if len(people) == 1 and not doubtful:
            phrase = next(iter(people.values()))
            if not _tells_who(phrase, source) or _another(source, gender, after=phrase):
                return None
            sure = 0.9 if phrase.gender == gender else 0.75
            return phrase, source.id, sure * source.weight
        if people or _another(source, gender):
            return None
        if depth >= 1 and not pronoun.search(source.text):
            return None  # the talk has moved on
    return None


def _another(source: Source, gender: str, after: NounPhrase | None = None) -> bool:
    """Whether a step speaks of somebody of whom no more is known than that "he" or "she" may mean them.

    Args:
        after: only in the sentences after that of this phrase.
    """
    begins = 0 if after is None else sentence_end(source.text, after.end)
    return name_opens(source.text, begins, len(source.text)) or any(
        phrase.start >= begins and _may_be_person(phrase, gender) for phrase in source.analysis.phrases
    )


def _may_be_person(phrase: NounPhrase, gender: str) -> bool:
    """Whether a phrase of no known kind may name a person: "our apprentice Sofie", "Sofie", "the apprentice"."""
    if phrase.plural or phrase.kind or (phrase.gender and phrase.gender != gender):
        return False
    plain = [word for word in phrase.text.split() if word[:1].islower()]
    if plain:
        noun = plain[-1].removesuffix("'s")
        return (
            phrase.determiner not in ("your", "any", "some") and is_person_noun(noun) and not plain[-1].endswith("s'")
        )
    if not phrase.name or phrase.determiner or phrase.text.isupper():
        return False
    return phrase.role == "subject" or phrase.preposition in ("with", "without", "by", "than")


def _tells_who(phrase: NounPhrase, source: Source) -> bool:
    """Whether a person's noun can stand for them: not "LeBron is the man", "Joan is an inspiring writer", "the woman"."""
    if phrase.name or phrase.determiner in ("my", "our"):
        return True
    if phrase.kind == "person" and phrase.determiner == "the" and " " not in phrase.text:
        return False
    if phrase.kind == "person" and phrase.role == "oblique":
        return False  # "with a guide"
    return not any(
        other.name and not other.kind and other.role == "subject" and other.sentence == phrase.sentence
        for other in source.analysis.phrases
    ) and not re.search(r"\b(?:is|was|['’]s|am|are|such)\s+$", source.analysis.text[: phrase.start], re.IGNORECASE)


def _addresses(phrase: NounPhrase, speakers: set[str]) -> bool:
    """Whether a name is that of someone in the conversation, in full or in short ("Mel" for Melanie)."""
    name = phrase.text.casefold()
    return phrase.name and any(
        name == who or (len(name) >= 3 and who.startswith(name)) or (len(who) >= 3 and name.startswith(who + " "))
        for who in speakers
    )


def resolve_person(
    match: re.Match[str], text: str, own: Analysis, sources: Sequence[Source], speaker: str, word: str
) -> Found | None:
    """What "he", "him", "his", "she" or "her" stands for, where the step itself has named nobody before.

    Somebody who was spoken of on another day is meant only where the sentence opens with the pronoun.
    """
    start, end = match.span()
    gender = "m" if word in ("he", "him", "his") else "f"
    if nearer(text, start, end, own, word):
        return None
    if re.search(r"[\"“][^\"”]{0,200}$", text[:start]) and "“" in text[:start]:
        return None
    best = best_person(sources, gender, speaker)
    if best is None or (best[0].name and names_it(text, start, end)):
        return None
    source = next(source for source in sources if source.id == best[1])
    if not source.lately and not continues(text, start):
        return None  # said on another day: only of a sentence that goes on about them
    possessive = word == "his" or (
        word == "her" and re.match(r"\s+[a-z]", text[end:]) is not None and not CLAUSE_END.match(text, end)
    )
    if (
        word == "her"
        and possessive
        and re.match(
            r"\s+(?:\w+ly|yesterday|today|tomorrow|tonight|last|next|this|again|back|once|twice|later|soon|about|after|before|to|that|the|a|an|my|your|our|how|what|when|if|so|more|very|some)\b",
            text[end:],
        )
    ):
        possessive = False
    return put((best[0], source, best[2]), text, start, end, possessive=possessive, speaker=speaker)
