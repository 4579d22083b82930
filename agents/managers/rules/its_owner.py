"""Whose "its" is: the one thing that the sentence before names, as in "I drive a Skoda Fabia. Its MOT is due in May"."""

from __future__ import annotations

from collections.abc import Sequence

from .... import lazy_re as re
from ....intent.phrases.analysis import NounPhrase, analyse
from ....intent.references.person_nouns import is_person_noun
from .sentences import Sentence

__all__ = ["ITS", "its_owner"]

ITS = re.compile(r"^its(?=\s[a-z\d])", re.IGNORECASE)
_IS = re.compile(r"(?:\b(?:is|are|was|were|being|been|such)|['’]s)\s\Z", re.IGNORECASE)
_GAP = 4
_NO_OWNER = frozenset({"person", "address", "time", "amount", "abstract"})


def its_owner(sentence: Sentence, before: Sequence[Sentence]) -> str:
    """The genitive that stands in place of "its" at the beginning of a sentence: "The Skoda Fabia's"; empty where it is open.

    Args:
        before: the sentences before it in its message.
    """
    earlier = next((each for each in reversed(before) if each.end <= sentence.start), None)
    if earlier is None or sentence.start - earlier.end > _GAP or not earlier.holds:
        return ""
    phrases = analyse(earlier.text).phrases
    owners = [
        phrase for phrase in phrases if _may_own(phrase) and not _IS.search(earlier.text[: phrase.start])
    ]  # "the house is a mess" names one thing
    subjects = [phrase for phrase in owners if phrase.role != "oblique"]
    found = subjects or owners
    if len({phrase.text.casefold() for phrase in found}) != 1:
        return ""
    owner = found[0]
    if owner.determiner in ("my", "our"):
        shown = f"{owner.determiner} {owner.text}"
    elif owner.name and not owner.determiner:
        shown = owner.text
    else:
        shown = f"the {_bare(owner)}"
    return f"{shown[:1].upper()}{shown[1:]}'" + ("" if shown.endswith("s") else "s")


def _may_own(phrase: NounPhrase) -> bool:
    words = phrase.text.split()
    noun = words[-1].casefold() if words else ""
    return not (
        phrase.plural or phrase.kind in _NO_OWNER or phrase.determiner in ("your", "his", "her", "their", "its", "this", "that")
        or is_person_noun(noun) or not (phrase.determiner or phrase.name)
    )  # fmt: skip


def _bare(phrase: NounPhrase) -> str:
    """A thing with a name by that alone: the green Skoda Fabia is the Skoda Fabia."""
    words = phrase.text.split()
    if not phrase.name or words[-1][:1].islower():
        return phrase.text
    first = next(at for at, word in enumerate(words) if word[:1].isupper())
    return " ".join(words[first:])
