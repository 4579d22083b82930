"""Couples that parted, in English: "Ingrid and I broke up", "we got divorced", "my boyfriend left me"."""

from __future__ import annotations

from collections.abc import Iterator

from .... import lazy_re as re
from ....memory_types.proposals import Ends
from .over import Over
from .people import is_name
from .sentences import Sentence
from .words import NAME, PARTNERS, any_of

__all__ = ["SO", "WHEN", "parted", "together_again", "together_from"]

SO = r"(?:(?:just|now|recently|finally|sadly|actually|also|already|unfortunately|both|all|since|got|been)\s)*"
WHEN = (
    r"(?=\W*$|\s(?:last|this|on|in|at the|yesterday|today|tonight|two|three|four|five|six|a|an|some|over|after"
    r"|during|because|when|for good"
    r"|and|but|so|again|recently|earlier|back|from|due|since|about|\d)\b)"
)
_PARTNER = rf"(?:{any_of(word for word in PARTNERS if word.isascii())})"

_PARTS = (
    r"(?:broke up|broken up|breaking up|split up|splitting up|split|separated|parted ways|called it quits"
    r"|called off (?:the|our) engagement"
    r"|(?:are\s|'re\s)?(?:no longer|not)\s(?:together|a couple|married|engaged)(?:\sany\s?more)?|(?:aren't"
    r"|are not)\s(?:together|a couple)(?:\sany\s?more)?)"
)
_DIVORCE = r"(?:(?:got|are|have|'ve|'re|were|finally|now|just|recently)\s)*divorced"
_WHO = rf"(?:(?i:my\s(?:now\s)?(?:ex-?)?(?P<kin>{_PARTNER}))(?:,?\s(?P<kinname>{NAME}))?|(?P<name>{NAME}))"
_BOTH = re.compile(
    rf"(?:{_WHO}\s(?i:and\s(?:I|me)\b)|(?i:\b(?:me"
    rf"|I)\sand\s){_WHO.replace('kin>', 'kin2>').replace('kinname', 'kinname2').replace('<name>', '<name2>')})"
    rf"(?i:'ve|'re|\shave|\sare|\shad)?\s(?i:{SO}(?:{_PARTS}|(?P<divorce>{_DIVORCE}))\b)"
)
_FROM = re.compile(
    rf"(?i:^(?:\W|and\b|so\b|but\b|well\b|sadly\b|yes\b)*(?:I|we)(?:'ve|'re|\shave|\sare|'m|\sam"
    rf"|\shad)?\s{SO}(?:{_PARTS}|(?P<divorce>{_DIVORCE}))\b)"
    rf"(?:\s(?i:with|from)\s{_WHO})?(?=\W*$|\s(?i:last|this|on|in|yesterday|today|two|three|a|some|over|after"
    rf"|because|recently|again|\d)|[,;.])"
)
_ONE = re.compile(
    rf"(?:^|[\s,]){_WHO}\s(?i:(?:has\s|'s\s|just\s|finally\s)*(?:(?:broke|broken|split) up with me|dumped me"
    rf"|divorced me|walked out on me|left me){WHEN})"
    rf"|(?i:\bI(?:'ve)?\s{SO}(?P<act>dumped|divorced|left"
    rf"|split from)\s){_WHO.replace('kin>', 'kin2>').replace('kinname', 'kinname2').replace('<name>', '<name2>')}(?i:{WHEN})"
)


_TOGETHER = re.compile(
    r"\b(?:(?:back|got(?:ten)?|get|are|we're|living)\s(?:\w+\s)?together again|back together"
    r"|back with (?:him|her|each other)"
    r"|made up\b(?!\s(?:a|the|an|of)\b)|reconciled|got (?:married|engaged) again|remarried)\b"
    r"|和好|复合|复婚|又在一起",
    re.IGNORECASE,
)
"""That whoever had parted is a couple again."""
_ONLY_WISHED = re.compile(
    r"\b(?:hop(?:e|es|ed|ing)|want\w*|wish\w*|if|never|not|might|may|maybe|perhaps|could|would|should|won['’]t|ever|trying to"
    r"|try to|like to|think)\b|n['’]t\b|希望|想|不会|不可能|可能|也许|如果|能不能|没",
    re.IGNORECASE,
)
_CLAUSE_ENDS = re.compile(r"[.;!?。；！？]|\b(?:but|and then)\b")


def together_from(text: str) -> int:
    """Where a text last says that a couple is one again, as a fact; -1 where it does not."""
    found = -1
    for match in _TOGETHER.finditer(text):
        before = _CLAUSE_ENDS.split(text[: match.start()])[-1]
        if not _ONLY_WISHED.search(before):
            found = match.start()
    return found


_SECOND, _THIRD = (
    _WHO.replace("kin>", f"kin{number}>").replace("kinname", f"kinname{number}").replace("<name>", f"<name{number}>")
    for number in (2, 3)
)
_AGAIN = re.compile(
    rf"(?:{_WHO}\s(?i:and\s(?:I|me)\b)|(?i:\b(?:me|I)\sand\s){_SECOND})"
    rf"(?i:'ve|'re|\shave|\sare)?\s(?i:{SO}(?:back together|together again|reconciled|made up)\b)"
    rf"|(?i:\bI(?:'m|\sam)?\s{SO}(?:back together|back)\swith\s){_THIRD}"
)


def together_again(sentence: Sentence) -> Iterator[Over]:
    """The couple that a sentence tells is one again, where memory holds that it had parted."""
    match = _AGAIN.search(sentence.text)
    if match is None or not all(clause.holds for clause in sentence.clauses):
        return
    if _ONLY_WISHED.search(sentence.text[: match.start()]):
        return
    found = match.groupdict()
    name = next((found[key] for key in found if "name" in key and found[key]), "")
    if not name or not is_name(name):
        return
    yield Over(
        start=sentence.clauses[0].start,
        end=sentence.clauses[-1].end,
        label="partner",
        value=f"Back together with {name}",
        stated=name,
        slot="partner.name",
        ends=(Ends(slots=("partner",), words=f"Separated from {name}", needed=True),),
    )


def parted(sentence: Sentence) -> Iterator[Over]:
    """The couple that a sentence tells has parted: the user and whoever it names, or their partner."""
    for form in (_BOTH, _FROM, _ONE):
        match = form.search(sentence.text)
        if match is None:
            continue
        found = match.groupdict()
        name = next((found[key] for key in ("name", "kinname", "name2", "kinname2") if found.get(key)), "")
        kin = (found.get("kin") or found.get("kin2") or "").lower()
        if name and not is_name(name):
            continue
        if (
            form is _FROM
            and not kin
            and not name
            and re.match(r"(?i:.*\bwe\b.*\bsplit\b)", match[0])
            and "up" not in match[0]
        ):
            continue  # "we split the bill"
        if form is _ONE and found.get("act", "") in ("left", "Left") and not kin:
            continue  # "I left Ingrid at the station"
        divorced = bool(found.get("divorce")) or "divorced" in match[0].lower() or "married" in match[0].lower()
        words = name or ("" if kin in ("partner", "ex", "") else kin)
        whom = name or (f"their {kin}" if kin else "")
        ended = "Divorced from" if divorced else "Separated from"
        ends = [Ends(slots=("partner",), words=words)]
        if divorced and not words:
            ends = [Ends(slots=("partner",), words=one) for one in ("wife", "husband", "spouse")]
        ends.append(Ends(slots=("marital_status",), words="married" if divorced else "engaged"))
        clause = next(
            (
                one
                for one in sentence.clauses
                if one.start - sentence.start <= match.start() < one.end - sentence.start + 1
            ),
            sentence.clauses[0],
        )
        last = [one for one in sentence.clauses if one.start - sentence.start < match.end()][-1]
        if not all(one.holds for one in sentence.clauses if clause.start <= one.start <= last.start):
            continue
        if divorced and not words:
            yield Over(
                start=clause.start,
                end=last.end,
                label="family",
                value="Is divorced",
                slot="marital_status",
                ends=tuple(one for one in ends if "partner" in one.slots),
            )
            return
        yield Over(
            start=clause.start,
            end=last.end,
            label="partner",
            value=f"{ended} {whom}" if whom else "Is separated from their partner",
            stated=f"no longer with {whom or 'a partner'}",
            slot="partner.name",
            ends=tuple(ends),
        )
        return
