"""A statement that nobody made, read as if somebody had: what memory would keep of "I'm vegan" where "I'm not vegan" was said."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from .... import lazy_re as re
from ....memory_types.proposals import Ends
from ...applying.likeness import telling_words
from ...applying.stating import ANY_VERB, HAN_SIGN
from .facts_chinese import chinese_facts
from .facts_english import english_facts
from .facts_others import others_facts
from .negated_english import told_of_user
from .people import KIN_PATTERN, People, is_name
from .sentences import read_text
from .words import ANIMALS_ZH, HAN, NAME

__all__ = ["ANY", "Statement", "ends_of", "read_statements"]

ANY = "*"
"""The label of what the user says of themselves in words that no rule reads: it may be that of any item."""
_ALIKE = (
    frozenset({"hobby", "habit", "studies", "language", "languages", "sport"}),
    frozenset({"preference", "hobby"}),
)
_HAS_PET = re.compile(rf"(?i:I|we)\s(?i:have|own|keep)\s(?P<name>{NAME})$")
_ANOTHERS_ZH = re.compile(rf"(?!我|咱)[{HAN}]{{1,6}}?家?的[{HAN}]{{0,3}}{ANIMALS_ZH}")
_TITLE = re.compile(rf"^(?i:{KIN_PATTERN})\s(?=[A-Z])")
_ASIDE = re.compile(r"\s?[（(][^（）()]*[）)]")
_NAMED = re.compile(
    rf"(?P<name>{NAME})\s(?:is|has|lives?|works?|plays?|likes?|loves?|drives?|speaks?|studies|teaches|owns|uses|goes|eats|drinks)\s.+"
    rf"|(?P<zh>[小老阿][{HAN}]|(?![我你他她它这那])[{HAN}]{{2,3}}?)(?=是|今年|\d|住在|在|有|喜欢|叫|养)(?:.+)"
)
"""Somebody of whom this conversation knows nothing, who may have been told of in another one."""
_FAVORITE = re.compile(r"\bfavorite\b")
_NOT_COUNTED = frozenset(
    {"my", "sister", "brother", "and", "even", "actually", "currently", "get", "got", "old", "going", "him", "her"}
)
_NOT_COUNTED_ZH = frozenset("我们的了是在已经现其实也都就个一叫名字")


@dataclass(frozen=True, slots=True)
class Statement:
    """What the rules make of a statement.

    Attributes:
        kind: ``core`` or ``semantic``. label: of the core item, or the name of the semantic one.
        value: what the item says; empty where the slot alone tells which it is. slot, stated: as of a finding.
    """

    kind: str
    label: str
    value: str
    slot: str = ""
    stated: str = ""
    confidence: float = 0.8

    def is_of(self, other: Statement) -> bool:
        """Whether both say something of the same matter."""
        if self.kind != other.kind:
            return False
        if ANY in (self.label, other.label):
            return self.value.split()[:1] == other.value.split()[:1]
        if self.label.casefold() != other.label.casefold():
            return bool(self.slot) and self.slot == other.slot
        return self.kind == "core" or _verb(self) == _verb(other)


def _verb(statement: Statement) -> str:
    """The first word that is said of whom a semantic statement is about."""
    _, found, rest = _ASIDE.sub("", statement.value).partition(statement.label)
    rest = rest.lstrip() if found else ""
    if HAN_SIGN.match(rest):
        return re.sub(r"[\d一二两三四五六七八九十百]+", "#", rest)[:1]
    return rest.partition(" ")[0]


def read_statements(text: str, people: People, *, whole: bool = True) -> list[Statement]:
    """The statements that the rules read in a text; whom the conversation knows is left as it is.

    Args:
        whole: whether only those count that say all that the text says, so that nothing of what limits it is lost.
    """
    if text.startswith(ANY_VERB):
        return [Statement("core", "habit", text)]
    reading = read_text("", text)
    known = copy.deepcopy(people)
    found = []
    facts = list(english_facts(reading, known)) if reading.has_latin else []
    if reading.has_han:
        facts += chinese_facts(reading, known)
    for fact in facts:
        if fact.slot.startswith("pet.") and _ANOTHERS_ZH.match(text):
            continue
        if not whole or _says_all(text, f"{fact.label} {fact.value}"):
            found.append(Statement("core", fact.label, fact.value, fact.slot, fact.stated, fact.confidence))
    for told in others_facts(reading, known):
        if not whole or _says_all(text, f"{told.name} {told.summary}"):
            found.append(Statement("semantic", told.name, told.summary, confidence=told.confidence))
    if whole and (plain := told_of_user(text)):
        found.append(Statement("core", ANY, plain))
    if (pet := _HAS_PET.match(text)) and is_name(pet["name"]):
        found.append(Statement("core", "pet", "", slot=f"pet.{pet['name'].lower()}"))
    if not found and (named := _NAMED.match(text)) and (named["zh"] or is_name(named["name"])):
        found.append(Statement("semantic", named["name"] or named["zh"], text, confidence=0.7))
    return list(dict.fromkeys(found))


def ends_of(statements: list[Statement], *, needed: bool, wrong: bool, besides: str = "") -> tuple[Ends, ...]:
    """What is over where statements are so no more, or were so at no time.

    Args:
        besides: the slot of what is said instead: a new value takes its place whatever it held.
    """
    made = []
    for one in statements:
        if one.kind == "core":
            label = one.label.casefold()
            labels = {label}.union(*(group for group in _ALIKE if label in group))
            slots = (one.slot,) if one.slot and one.slot != besides else ()
            if slots and one.slot.startswith(("pet.", "child.")):  # by its name
                made.append(Ends(slots=slots, needed=needed, wrong=wrong))
                continue
            said = tuple(text for text in (one.value, one.stated if one.slot else "") if text)
            ends = Ends(slots=slots, labels=tuple(sorted(labels)), states=said, needed=needed, wrong=wrong)
        else:
            said = (_TITLE.sub("", one.value),)
            ends = Ends(named=_TITLE.sub("", one.label), states=said, needed=needed, wrong=wrong)
        made.append(ends)
    return tuple(dict.fromkeys(made))


def _says_all(text: str, value: str) -> bool:
    if HAN_SIGN.search(text):
        return not {sign for sign in text if HAN_SIGN.match(sign)} - set(value) - _NOT_COUNTED_ZH
    plain = _FAVORITE.sub("favourite", value.casefold())
    forms = {form for word in plain.split() for form in (word, *_base_forms(word))}
    known = telling_words(" ".join(forms)) | _NOT_COUNTED
    said = telling_words(_FAVORITE.sub("favourite", text.casefold())) - known
    return all(word.endswith("ing") and not {word[:-3], f"{word[:-3]}e", word[:-4]}.isdisjoint(forms) for word in said)


def _base_forms(word: str) -> tuple[str, ...]:
    """What a verb that ends in s may be of: ``goes`` of ``go``, ``studies`` of ``study``."""
    if word.endswith("ies"):
        return (f"{word[:-3]}y",)
    return (word[:-1], word[:-2]) if word.endswith("es") else (word[:-1],) if word.endswith("s") else ()
