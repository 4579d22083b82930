"""The people a conversation knows: by relation, by name, and whom "she" or 他 means."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .... import lazy_re as re
from .introductions import gender_of, introduced
from .words import (
    CAPITALISED_NOT_NAMES,
    CHILDREN,
    FEMALE,
    HAN,
    KIN,
    KIN_ZH,
    MALE,
    NAME,
    NICKNAME_ZH,
    PARTNERS,
    SURNAME_ZH,
    any_of,
)

__all__ = ["KIN_PATTERN", "KIN_ZH_PATTERN", "ZH_NAME", "People", "Person", "is_name"]

KIN_PATTERN = rf"(?:{any_of(KIN)})"
KIN_ZH_PATTERN = (
    r"(?:" + "|".join(rf"(?<![A-Za-z]){word}(?![A-Za-z])" if word.isascii() else word for word in KIN_ZH) + r")"
)
ZH_NAME = rf"(?:{NICKNAME_ZH}|(?!老师)[{HAN}]{{2,3}}?|{NAME})"
_OWN_CASED = re.compile(
    rf"(?i:\b(?:my|our)\s(?:(?!{KIN_PATTERN}\b)[\w-]+\s){{0,2}}(?P<kin>{KIN_PATTERN})\b)(?:"
    rf"(?i:'s\sname\sis|\sis\s(?:called|named)|,?\s(?:called|named)|\sis)?,?\s(?:(?:Prof|Dr|Mr|Mrs|Ms)\.?\s)?(?P<name>{NAME}))?"
)
_THE_CASED = re.compile(
    rf"(?i:\bthe\s(?P<kin>plumber|electrician|builder|landlord|landlady|vet|cleaner|nanny"
    rf"|childminder|gardener)\b)\s(?i:is(?:\scalled)?)\s(?P<name>{NAME})"
)
_BARE_KIN = re.compile(r"\b(?:Dad|Mum|Mom|Mam|Nana|Nanna|Nan|Gran|Grandma|Grandad|Granddad|Grandpa|Granny)\b")
_OWN_ZH = re.compile(
    rf"(?:我们?家?的?|咱们?家?|^|(?<=[，。：、；！\s])|和|跟|看|陪"
    rf"|给)\s?(?P<kin>{KIN_ZH_PATTERN})\s?(?:(?:(?:的名字)?(?:名?叫|名字叫|是|就是)\s?)?(?P<name>{ZH_NAME})(?=今年"
    rf"|[，。！、；：\s\d]|在|是|的|对|上|去|说|有|刚|也|喜|爱|从|最|住"
    rf"|做|每|带|明|后|昨|周|养|读|考|买|开|跑|搬|想|准|结|生|摔|病|一|$))?"
)
_INSIDE = re.compile(r"(?<=[a-z,] )[A-Z][a-z]\w+")
_NOT_ZH_NAMES = re.compile(
    r"今年|以前|现在|明天|昨天|最近|一起|已经|还没|退休|那边|这边|上周|下周"
    r"|周[一二三四五六日末]|都|了|很|不|在|说|要|去|来|的|是|有|也|就|刚|想|会|对|做"
    r"|住|喜欢|生日|一|两|三|每|从|给|和|跟|帮|让|前|后|上|下|大|怎么|什么"
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody the user has to do with.

    Attributes:
        relation: the word for it, folded; empty where only the name is known.
        name: empty where only the relation is known.
        gender: ``f``, ``m`` or empty.
    """

    relation: str
    name: str
    gender: str

    @property
    def shown(self) -> str:
        """``Declan (brother)``, ``Declan``, ``the user's mum`` or ``公公``."""
        if self.name:
            return f"{self.name} ({self.relation})" if self.relation else self.name
        return f"The user's {self.relation}" if self.relation.isascii() else self.relation

    @property
    def title(self) -> str:
        """What an item about them is called."""
        return self.name or self.relation

    @property
    def close(self) -> bool:
        """Whether it is a partner or a child: those belong to who the user is."""
        return self.relation in PARTNERS or self.relation in CHILDREN


_TITLE_ALONE = re.compile(r"(?:Dr|Mr|Mrs|Ms|Miss|Prof|Professor|Sir|Madam|Rev|Fr|Sgt|Capt)\.?\Z", re.IGNORECASE)


def is_name(word: str) -> bool:
    """Whether a capitalised word may be a name: no weekday, month, pronoun or opening word, and no bare title."""
    return (
        bool(word)
        and not _TITLE_ALONE.match(word)
        and word.split(maxsplit=1)[0].casefold().split("'")[0] not in CAPITALISED_NOT_NAMES
    )


def _gender(relation: str) -> str:
    return "f" if relation in FEMALE else "m" if relation in MALE else ""


@dataclass(frozen=True, slots=True)
class _Mention:
    """That a person was spoken of: in which sentence, at which of its characters.

    ``person`` is None where it is somebody of whom no more is known than that "she" or "he" may mean them; ``at`` is a
    character of the step, or -1 where it is that of the clause being read.
    """

    person: Person | None
    gender: str
    sentence: int
    at: int = -1


_NEAR = 2
"""In how many sentences, that of the pronoun included, somebody unknown stands in the way of those named before."""
_MOST_RECENT = 12


class People:
    """Whom the user has named so far; filled sentence by sentence."""

    def __init__(self) -> None:
        self._by_name: dict[str, Person] = {}
        self._by_relation: dict[str, Person] = {}
        self._recent: list[_Mention] = []
        self._here: list[_Mention] = []
        self._sentence = 0
        self._capitalised: set[str] = set()
        self._told: set[str] = set()

    def seen(self, name: str) -> bool:
        """Whether the word stood capitalised within a sentence, so that it is a name."""
        return name in self._capitalised

    def add(self, relation: str, name: str, gender: str = "") -> Person:
        """Take note of somebody, who is then the one last named."""
        person = self.note(relation, name, gender)
        self.mention(person)
        return person

    def note(self, relation: str, name: str, gender: str = "") -> Person:
        """Take note of somebody, whether or not it is they who are spoken of."""
        relation, key = relation.casefold(), name.casefold()
        known = self._by_name.get(key) if key else self._by_relation.get(relation)
        if known and (not relation or known.relation == relation) and (name or known.name):
            person = known
        elif known and key and not known.relation:
            person = Person(relation, known.name, known.gender or _gender(relation))
        else:
            person = Person(
                relation or (known.relation if known else ""),
                name or (known.name if known else ""),
                gender or _gender(relation),
            )
        if person.name:
            if not person.gender:
                person = replace(person, gender=gender_of(person.name))
            self._by_name[person.name.casefold()] = person
        if person.relation:
            self._by_relation[person.relation] = person
        return person

    def rename(self, old: str, new: str) -> None:
        """Note that whoever was given one name has another: the first was a slip."""
        person = self._by_name.pop(old.casefold(), None)
        self.told_of(new)
        self.add(person.relation if person else "", new, person.gender if person else "")

    def told_of(self, name: str) -> None:
        """Note that something is stored of this person, which says who they are."""
        self._told.add(name.casefold())

    def introduced(self) -> list[Person]:
        """Those named with their relation of whom nothing is stored yet; partners and children apart. Each is given once."""
        new = [
            person
            for person in self._by_name.values()
            if person.relation and not person.close and person.name.casefold() not in self._told
        ]
        self._told.update(person.name.casefold() for person in new)
        return new

    def named(self, name: str) -> Person | None:
        """Whoever has this name, whole or its first part."""
        found = self._by_name.get(name.casefold())
        if found is None and name:
            first = name.split(maxsplit=1)[0].casefold()
            matches = [person for key, person in self._by_name.items() if key.split()[0] == first]
            found = matches[0] if len(matches) == 1 else None
        return found

    def only(self, relation: str) -> Person | None:
        """Whoever stands in this relation; None where several are named who do."""
        named = [person for person in self._by_name.values() if person.relation == relation.casefold()]
        return self._by_relation.get(relation.casefold()) if len(named) < 2 else None

    def mention(self, person: Person) -> None:
        """Note that this person was just spoken of."""
        self._here.append(_Mention(person, person.gender, self._sentence))

    def meant(self, pronoun: str, at: int | None = None) -> Person | None:
        """Whom "she", "he", 她 or 他 stands for: the last one named whose gender fits; None where it is open.

        It is open where somebody who may be meant, and of whom no more is known, was spoken of later, in the same
        sentence or the one before.

        Args:
            at: the character of the step at which the pronoun stands: who is named behind it is not meant. All of the
                sentence read last counts where it is not given.
        """
        gender = "f" if pronoun.casefold() in ("she", "her", "她") else "m"
        here = [each for each in self._here if at is None or each.at < at]
        for mention in reversed([*self._recent, *here]):
            if mention.gender not in ("", gender):
                continue
            if mention.person is None:
                if self._sentence - mention.sentence < _NEAR:
                    return None
            elif not mention.person.name.isupper():
                return mention.person
        return None

    def read(self, text: str, has_han: bool, start: int = 0) -> None:
        """Take note of everyone a sentence speaks of: by relation, by name, or by a noun for a person.

        Args:
            start: the character of the step at which the sentence begins.
        """
        self._turn_over()
        spans: list[tuple[int, Person]] = []
        if len(self._capitalised) < 2_000:
            self._capitalised.update(_INSIDE.findall(text))
        if "my " in text.lower() or "our " in text.lower():
            for match in _OWN_CASED.finditer(text):
                name = match["name"] or ""
                if name and not is_name(name):
                    name = ""
                spans.append((match.start(), self.note(match["kin"], name.removesuffix("'s"))))
        if "the " in text.lower():
            for match in _THE_CASED.finditer(text):
                spans.append((match.start(), self.note(match["kin"], match["name"])))
        for match in _BARE_KIN.finditer(text):
            spans.append((match.start(), self.note(match[0], "")))
        if has_han:
            for match in _OWN_ZH.finditer(text):
                name = match["name"] or ""
                if (name and (_NOT_ZH_NAMES.search(name) or (name.isascii() and not is_name(name)))) or (
                    name
                    and not name.isascii()
                    and "叫" not in text[match.end("kin") : match.start("name")]
                    and not re.match(SURNAME_ZH, name)
                    and not text[match.end() :].startswith("今年")
                ):
                    name = ""
                spans.append((match.start(), self.note(match["kin"], name)))
        taken = {at for at, _ in spans}
        strangers: list[tuple[int, str]] = []
        for one in introduced(text, has_han=has_han):
            known = self.named(one.name) if one.name else None
            if one.sure and (known is None or (one.relation and not known.relation)):
                spans.append((one.start, self.note(one.relation, known.name if known else one.name, one.gender)))
            elif known is None and one.start not in taken:
                strangers.append((one.start, one.gender))
        for name, person in list(self._by_name.items()):
            at = _found_at(name, text)
            if at >= 0:
                spans.append((at, person))
        mentions = [
            _Mention(each, each.gender, self._sentence, start + at)
            for at, person in spans
            for each in (self._by_name.get(person.name.casefold(), person) if person.name else person,)
        ]
        mentions += [_Mention(None, gender, self._sentence, start + at) for at, gender in strangers]
        self._here = sorted(mentions, key=lambda mention: mention.at)

    def _turn_over(self) -> None:
        """What was spoken of in the sentence before is no longer here."""
        recent = [*self._recent, *self._here]
        last = {each.person.title: at for at, each in enumerate(recent) if each.person is not None}
        self._recent = [each for at, each in enumerate(recent) if each.person is None or last[each.person.title] == at][
            -_MOST_RECENT:
        ]
        self._here = []
        self._sentence += 1


def _found_at(name: str, text: str) -> int:
    """Where a name in small letters first stands in a text, as a word where it is of Latin letters; -1 where it does not."""
    folded = text.casefold()
    at = folded.find(name)
    while at >= 0 and name.isascii() and (folded[at - 1 : at].isalnum() or folded[at + len(name) :][:1].isalnum()):
        at = folded.find(name, at + 1)
    return at
