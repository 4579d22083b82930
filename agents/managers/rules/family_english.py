"""The user's partner, children and pets by name, in English."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....intent.phrases.tokens import word_set
from .english_grammar import AGE_WORDS, Fact
from .people import KIN_PATTERN, People, is_name
from .sentences import Clause
from .words import ANIMALS, CHILDREN, NAME, PARTNERS, any_of

__all__ = ["FAMILY_WORDS", "english_family", "named_next"]

FAMILY_WORDS = (
    word_set("my our girls boys kids children sons daughters twins")
    | {word for word in CHILDREN if word.isascii()}
    | {f"{word}{end}" for animal in ANIMALS for word in animal.split("-") for end in ("", "s")}
)
"""One of them stands in every sentence that names a partner, child or pet."""


_KIN_NAME = re.compile(
    rf"(?i:\b(?:my|our)\s(?:(?:\w+\s){{0,2}}?)(?P<kin>{KIN_PATTERN}))(?:(?i:'s\sname\sis|'s\scalled|'s\snamed|'s\sname's"
    rf"|\sis\s(?:called|named)|,?\s(?:called|named)|\sis|,|\swas\snamed))?\s\(?(?P<name>{NAME})"
)


_ASIDE = re.compile(
    rf"(?P<name>{NAME})(?:\s\(|,\s|'s\s|\sis\s)(?i:my"
    rf"|our)\s(?i:\w+\s)?(?P<kin>(?i:{any_of(w for w in PARTNERS | CHILDREN if w.isascii())}"
    rf"|eldest|oldest|youngest|firstborn|little one|middle one))(?=[),.]|$|\s(?:is|has|will|and)\b)"
)


_ONE_NAME = r"(?:[A-Z][\w'-]+(?:\s[A-Z][\w'-]+)?)"
_SON_OR_DAUGHTER = {"son": "Son", "boy": "Son", "daughter": "Daughter", "girl": "Daughter"}
_AND_CHILD = re.compile(
    rf",?\s(?i:and|plus)\s(?i:(?:my|our|an?)\s(?:[\w-]+\s)?)?(?P<kin>(?i:son|daughter|stepson"
    rf"|stepdaughter))(?:,?\s(?i:called|named))?,?\s(?P<name>{NAME})"
)
"""The second of two: "my son Leo and daughter Mia"."""


_CHILD_INTRO = re.compile(
    r"\b(?P<word>girls?|boys?|kids?|children|sons?|daughters?|twins|child|baby|toddler)\b", re.IGNORECASE
)


_CHILD_AGE = re.compile(
    rf"(?P<name>{NAME})\s?(?:(?i:is|who's|who is|,|turned|just turned)\s?"
    rf"|\()(?i:(?:just\s)?)(?P<age>(?i:{AGE_WORDS}))\b(?!\s(?i:minutes|hours|weeks old boss))"
)


_CHILD_LIST = re.compile(
    rf"(?i:\b(?P<word>girls?|boys?|kids?|children|sons?|daughters?|twins|child|baby)\b(?:,|:|,?\scalled"
    rf"|,?\snamed|\s-|\s(?=\()|\s(?:in|on)\s[\w ]{{3,15}},)?)\s(?P<names>{NAME}(?:,\s{NAME})*(?:,?\sand\s{NAME})?)"
)


_ANIMAL_WORD = rf"(?P<animal>(?i:{any_of(ANIMALS).replace('guinea-pig', 'guinea[- ]pig')}))"


_PET = re.compile(
    rf"\b{_ANIMAL_WORD}s?\b(?:(?i:,?\s(?:is\s|was\s)?(?:called|named)|'s\sname\sis|,?\s(?:she|he"
    rf"|it)(?:'s|\sis)\s(?:called|named))\s(?P<name>{NAME})|,?\s(?P<own>{NAME}))"
)


_PETS = re.compile(
    rf"\b{_ANIMAL_WORD}s?\b(?P<mark>,?\s(?:both\s)?(?:called|named)|,|:|\s[-–]"
    rf"|)\s\(?(?P<names>{_ONE_NAME}(?:,\s{_ONE_NAME})*,?\sand\s{_ONE_NAME})"
)
"""Several of one kind: "two cats, Miso and Tofu"."""


_OTHERS_HAVE = re.compile(
    rf"(?i:\b(?:my|our|his|her|their|the)\s(?:\w+\s)?{KIN_PATTERN}(?:'s)?\b)(?:\s{NAME})?\s(?:has|have|got|adopted|owns|keeps)\b"
)


_KIN_HAS = re.compile(rf"(?i:\b(?:my|our)\s(?:\w+\s)?{KIN_PATTERN})(?:\s{NAME})?\s(?:has|have|got|adopted|owns)\b")
_OF_KIN = re.compile(rf"(?i:\b{KIN_PATTERN}(?:'s)?\s(?:has|have|got|adopted)?)")


_PET_IS = re.compile(
    rf"(?P<name>{NAME})(?:'s|\s(?i:is))\s(?i:my|our)\s(?i:\w+\s)?{_ANIMAL_WORD}\b"
    rf"|(?i:\b(?:walk|walking|feed|feeding|take|taking)\s(?:the|my|our)\s(?P<beast>dog|cat|puppy|kitten|rabbit)),\s(?P<walked>{NAME})"
)


_PET_OWNED = re.compile(
    r"\b(?:my|our|i(?:'ve)?\s(?:\w+\s){0,2}(?:have|got|adopted|own|bought|rescued)|i've\s(?:got"
    r"|adopted)?|we\s(?:\w+\s){0,2}(?:have|got|adopted|own|bought|rescued)|we've(?:\sgot"
    r"|\sadopted)?|adopted|rescued)\b|^(?:and\s|oh\s|also\s)*an?\s|^plus\s",
    re.IGNORECASE,
)


_I_DO = re.compile(r"(?:(?:and|but|so|well|oh)[\s,]+)*(?:I|we)\b", re.IGNORECASE)
_AND_HAVE = re.compile(
    r"\band\s(?:also\s|now\s)?(?:have|got|adopted|own|bought|rescued)\s(?:[\w-]+\s){0,3}$", re.IGNORECASE
)


_NAME_NEXT = re.compile(
    rf"^(?:(?i:and|so|oh)\s)?(?i:(?P<who>she|he|it|they)(?:'s|\sis)\s(?:called|named)|(?P<whose>her|his|its|the"
    rf"\s(?:baby|puppy|kitten|dog|cat))(?:\s(?:little|first|full))?\s?name(?:'s|\sis)"
    rf"|(?:we|I)(?:'ve|\shave)?\s(?:named|called|decided to (?:name|call)|are calling|'re calling)\s(?P<whom>her|him|it))"
    rf"\s(?P<name>{NAME})"
)
_INTRODUCED = re.compile(
    rf"(?i:\b(?:my|our)\s(?:\w+\s)?(?P<kin>{KIN_PATTERN})\b|\b(?:i|we|i've|we've)\s(?:\w+\s){{0,2}}(?:got|adopted|bought"
    rf"|rescued|have|had)\s(?:an?|another|our|the)\s(?:[\w-]+\s){{0,2}}?(?P<animal>{any_of(ANIMALS)}"
    rf"|(?P<baby>baby(?:\s(?:girl|boy))?|girl|boy))\b)"
)


def named_next(before: str, text: str, clauses: tuple[Clause, ...]) -> Iterator[Fact]:
    """ "We adopted a beagle. She's called Maple.": the name of whom the sentence before has introduced."""
    for clause in clauses:
        match = _NAME_NEXT.match(clause.text)
        spoken = before if clause is clauses[0] else text[: clause.start - clauses[0].start]
        said = list(_INTRODUCED.finditer(spoken)) if match else []
        if not match or not said or not is_name(match["name"]):
            continue
        name, last = match["name"], said[-1]
        kin, animal = (last["kin"] or "").lower(), (last["animal"] or "").lower()
        if match["whom"] and not animal and not last["baby"]:
            continue  # "I called her Darling"
        if animal and not last["baby"]:
            yield _pet(animal, name, clause)
        elif kin in PARTNERS:
            yield _partner_or_child(kin, name, clause)
        elif kin in CHILDREN or last["baby"]:
            who = kin if kin in CHILDREN else (last["baby"] or "child").split()[-1].lower()
            yield _partner_or_child({"girl": "daughter", "boy": "son", "baby": "child"}.get(who, who), name, clause)


def _partner_or_child(kin: str, name: str, clause: Clause) -> Fact:
    partner = kin in PARTNERS
    return Fact(
        label="partner" if partner else "child",
        value=f"{kin.capitalize()}: {name}",
        stated=name,
        clause=clause,
        slot="partner.name" if partner else f"child.{name.lower()}",
    )


def _child(value: str, name: str, clause: Clause) -> Fact:
    return Fact(label="child", value=value, clause=clause, slot=f"child.{name.lower()}")


def _pet(animal: str, name: str, clause: Clause) -> Fact:
    return Fact(label="pet", value=f"Has a {animal} called {name}", clause=clause, slot=f"pet.{name.lower()}")


def _listed(text: str) -> Iterator[re.Match[str]]:
    """The lists of children, the first and those that follow it at once: "a son called Leo and a daughter called Mia"."""
    end = -1
    for match in _CHILD_LIST.finditer(text):
        if end >= 0 and not _NEXT_CHILD.fullmatch(text[end : match.start()]):
            return
        yield match
        end = match.end()


_NEXT_CHILD = re.compile(
    r"\)?(?:,\s|,?\s(?:and|plus)\s)(?:(?:an?|one|two|three|another|our|my)\s)?(?:[\w-]+\s){0,2}", re.IGNORECASE
)


def english_family(text: str, clauses: tuple[Clause, ...], people: People, household: bool) -> Iterator[Fact]:
    offset = clauses[0].start
    whole = Clause(start=offset, end=clauses[-1].end, text=text, raw=text, holds=True, sentence=clauses[0].sentence)
    lowered = text.lower()
    done: set[str] = set()
    yield from _by_kin(text, lowered, whole, done)
    yield from _children(text, lowered, whole, people, done)
    yield from _pets(text, whole, household, done)
    if not re.search(r"\b(?:died|passed away|put (?:down|to sleep)|lost)\b", lowered):
        yield from _one_pet(text, lowered, whole, household, done)


def _by_kin(text: str, lowered: str, whole: Clause, done: set[str]) -> Iterator[Fact]:
    if ("my " in lowered or "our " in lowered) and "my late " not in lowered:
        for match in _KIN_NAME.finditer(text):
            kin, name = match["kin"].lower(), match["name"].removesuffix("'s")
            if is_name(name) and (kin in PARTNERS or kin in CHILDREN):
                done.add(name)
                yield _partner_or_child(kin, name, whole)
    for match in _ASIDE.finditer(text):
        kin, name = match["kin"].lower(), match["name"]
        if is_name(name) and name not in done:
            done.add(name)
            yield _partner_or_child(kin if kin in PARTNERS or kin in CHILDREN else "child", name, whole)


def _children(text: str, lowered: str, whole: Clause, people: People, done: set[str]) -> Iterator[Fact]:
    intro = _CHILD_INTRO.search(text)
    if intro and re.search(
        r"\b(?:my|our|we|i|we've|i've|have|got)\b|\bthe (?:kids|boys|girls|children) are\b", lowered
    ):
        for match in _CHILD_AGE.finditer(text, intro.start()):
            if is_name(match["name"]) and match["name"] not in done:
                done.add(match["name"])
                people.add(
                    "daughter"
                    if intro["word"].lower().startswith(("girl", "daughter"))
                    else "son"
                    if intro["word"].lower().startswith(("boy", "son"))
                    else "child",
                    match["name"],
                )
                word = {"g": "Daughter", "d": "Daughter"}.get(
                    intro["word"][0].lower(), "Son" if intro["word"].lower().startswith(("boy", "son")) else "Child"
                )
                yield _child(f"{word}: {match['name']}, aged {match['age']}", match["name"], whole)
        if re.search(r"\b(?:my|our|have|had|we've|i've|got)\b", lowered[: intro.end()]):
            for listed in () if _OTHERS_HAVE.search(text[: intro.start()]) else _listed(text):
                for name in re.split(r",\s|\sand\s|,\sand\s", listed["names"]):
                    if is_name(name) and not name.endswith("'s") and name not in done and len(name.split()) <= 2:
                        done.add(name)
                        word = _SON_OR_DAUGHTER.get(listed["word"].lower().removesuffix("s"), "Child")
                        yield _child(f"{word}: {name}", name, whole)
    if done:
        for match in _AND_CHILD.finditer(text):
            kin, name = match["kin"].lower(), match["name"]
            if is_name(name) and name not in done and any(text[: match.start()].endswith(one) for one in done):
                done.add(name)
                yield _child(f"{kin.capitalize()}: {name}", name, whole)


def _pets(text: str, whole: Clause, household: bool, done: set[str]) -> Iterator[Fact]:
    """Several of one kind, and those of whom it is said what they are."""
    for match in _PETS.finditer(text):
        before = text[: match.start()]
        names = re.split(r",\s(?:and\s)?|\sand\s", match["names"])
        if (
            not all(map(is_name, names))
            or not (_PET_OWNED.search(before[-60:]) or household)
            or _OTHERS_HAVE.search(before)
        ):
            continue
        if not match["mark"] and not re.search(r"(?i:\b(?:my|our)\s(?:[\w-]+\s){0,2}$)", before):
            continue
        animal = match["animal"].lower()
        for name in names:
            if name not in done:
                done.add(name)
                yield _pet(animal, name, whole)
    for match in _PET_IS.finditer(text):
        name = match["name"] or match["walked"]
        animal = (match["animal"] or match["beast"]).lower()
        if is_name(name) and name not in done:
            done.add(name)
            yield _pet(animal, name, whole)


def _one_pet(text: str, lowered: str, whole: Clause, household: bool, done: set[str]) -> Iterator[Fact]:
    for match in _PET.finditer(text):
        name = match["name"] or match["own"]
        before = text[: match.start()]
        owned = _PET_OWNED.search(before[-60:]) if before else None
        if (
            not is_name(name)
            or name in done
            or (match["own"] and not re.search(r"(?i:\b(?:my|our)\s(?:\w+\s){0,2}$)", before))
        ):
            continue
        if owned is None and not household and not (_I_DO.match(text) and _AND_HAVE.search(before)):
            continue
        if _KIN_HAS.search(before) or (_OF_KIN.search(before[-40:]) and not re.search(r"\b(?:we|i)\b", lowered)):
            continue
        if owned and re.match(r"(?i:^(?:and\s|oh\s|also\s)*an?\s)", owned[0]) and not household:
            continue
        done.add(name)
        yield _pet(match["animal"].lower(), name, whole)
