"""Integration by rules: the sentences that carry the answer, whole and quoted, in order of time with their dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from ... import lazy_re as re
from ...intent.dates.relative import find_dates
from ...intent.page_sentences import size_of, weigh
from ...memory_types.local_time import in_zone
from ...memory_types.research import Claim, Passage
from .asking import only_asks
from .chinese_evidence import carried_by, standing_of
from .linking import Chain, follow_links, identifiers
from .own_facts import only_of_others, stated_slot, states_slot
from .question import CODE, Question, Stems, holds
from .reflecting import coverage
from .text_reader import TextReader

__all__ = ["NOT_HELD", "Integrated", "claim_of", "integrate_by_rules", "joined"]

NOT_HELD = "Memory does not hold an answer to this."
_FEW, _MANY, _CHAIN = 3, 8, 24
_READ, _FIRST = 100, 14
_CODE_WEIGHT = 4.0
_LINKED = 1.0
"""What a sentence gains that is linked with an identifier of the question."""
_LEAST = 0.34
"""Share of the question's words that the best passages must hold for an answer."""
_OTHERS = 0.3
"""How many more of them somebody else's words may hold than those of whom the question asks about."""
_TELLING = 0.5
"""Where a sentence holds so large a share of the question's words, those that hold none of them are left out,
but for the best."""
_BESIDE = 0.5
"""Of the best sentence's score: what scores less is left out."""
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|dozen|once|twice|both)\b|[一二两三四五六七八九十]",
    re.I,
)
_NAME = re.compile(r"(?<![.!?…] )(?<!^)\b[A-Z][\w'’-]+")
_PLACE = re.compile(r"\b(?:in|at|to|from|near|around|of) (?:the )?[A-Z]|[在到去从]", re.UNICODE)
_REASON = re.compile(
    r"\b(?:because|since|so that|to (?:help|make|be|get)|in order|inspired|motivat\w+|reason)\b|因为|为了|所以", re.I
)


@dataclass(frozen=True, slots=True)
class Integrated:
    """What a round's passages add up to."""

    claims: tuple[Claim, ...]
    answer: str
    answerable: bool


@dataclass(frozen=True, slots=True)
class _Sentence:
    passage: Passage
    text: str
    score: float
    held: frozenset[str]
    inside: float = 0.0
    linked: bool = False


def integrate_by_rules(
    question: Question, passages: Sequence[Passage], zone: tzinfo, *, number: int = 1, reader: TextReader | None = None
) -> Integrated:
    """Choose the sentences that carry the answer from everything that was read.

    Where the question names an identifier and asks for several things, these are the sentences that are linked with it.

    Args:
        passages: all that were read so far, in the order of reading.
        zone: the user's, in which days are told.
        number: of the round.
        reader: of the run.
    """
    reader = reader or TextReader()
    read = reader.stems
    asked = [one for one in passages if _asked_before(question, one, reader)]
    if not question.chinese:  # a Chinese reply is read with what it replies to
        passages = [one for one in passages if one not in asked]
    chain = follow_links(identifiers(question.bare), passages)
    scored = (_chinese_sentences if question.chinese else _sentences)(question, passages[:_READ], chain, reader)
    scored = [one for one in scored if one.passage not in asked]
    best = frozenset().union(*(read(part) for one in passages[: 2 * _FEW] for part in (one.speaker or "", one.text)))
    weights = {word: _CODE_WEIGHT if CODE.fullmatch(word) else 1.0 for word in question.words}
    held = sum(weight for word, weight in weights.items() if holds(question, best, word, read))
    share = held / sum(weights.values()) if weights else (1.0 if passages else 0.0)
    every = frozenset().union(*(read(one.text) for one in passages)) if question.names else frozenset()
    strange = [name for name in question.names if not read(name) & every]
    unheld = share < _LEAST or (bool(strange) and len(strange) == len(question.names))
    noted = [one for one in scored if states_slot(one.passage, question.slots)]
    theirs = _speaks_of(question, passages, read)
    if noted and theirs:
        return _of_own_facts(question, noted, scored, zone, number, read)
    if question.slots:
        own = [one for one in scored if not _of_the_user(one.passage) or not only_of_others(question.text, one.text)]
        if not any(one.inside for one in own) and any(one.inside for one in scored):
            return Integrated((), NOT_HELD, False)  # only what others do has to do with it
        scored = own
    if question.chinese:
        unheld = not standing_of(question, passages, reader).enough
    else:
        unheld = unheld or _said_by_another(question, passages, read)
    if not scored or (not question.judges and (unheld or not theirs)):
        return Integrated((), NOT_HELD, False)
    chosen: list[_Sentence] = []
    most = _MANY if question.many or any(one.hops for one in chain.links) else _FEW
    if question.many and chain.links:
        chosen = [_Sentence(one.passage, one.text, 0.0, read(one.text)) for one in chain.links[:_CHAIN]]
        scored = [one for one in scored if not one.linked and one.inside]
    # Chinese sentences are weighed against the question's words already.
    to_the_point = {id(one) for one in (scored if question.chinese else _to_the_point(question, scored))}
    for one in scored:
        if len(chosen) >= most:
            break
        twin = next((at for at, other in enumerate(chosen) if _learned_from(one, other)), None)
        if twin is not None:
            if one.passage.kind == "step":  # as it was said, rather than as it was noted
                chosen[twin] = one
        elif id(one) in to_the_point and not any(_alike(one, other) for other in chosen):
            chosen.append(one)
    claims = tuple(sorted((claim_of(one.passage, one.text, zone, number) for one in chosen), key=_when))
    return Integrated(claims, joined(claims, zone), True)


def _asked_before(question: Question, passage: Passage, reader: TextReader) -> bool:
    """Whether a message asked this before, and said nothing else."""
    if passage.kind != "step":
        return False
    sentences = reader.sentences(passage.text)
    return bool(sentences) and all(only_asks(question, bare, reader.stems) for bare, _, _ in sentences)


def _to_the_point(question: Question, scored: Sequence[_Sentence]) -> list[_Sentence]:
    """The sentences that have to do with the question, best first: there is always a third-best one.

    What an assistant asks back is no answer. Of a question that several places may answer, a lower score is no reason to
    leave a sentence out.
    """
    asked = [one.passage.speaker == "assistant" and one.text.rstrip().endswith(("?", "？")) for one in scored]
    told = [one for one, asks in zip(scored, asked, strict=True) if not asks] or list(scored)
    if max((one.inside for one in told), default=0.0) >= _TELLING:
        told = [one for one in told if one.inside or one.linked or one is told[0]]
    least = 0.0 if question.many else _BESIDE * max((one.score for one in told), default=0.0)
    return [one for one in told if one.score >= least or one.linked]


def _of_own_facts(
    question: Question, noted: Sequence[_Sentence], scored: Sequence[_Sentence], zone: tzinfo, number: int, read: Stems
) -> Integrated:
    """The answer to a question that people ask about themselves: what is noted of it, and what says all its words."""
    chosen = sorted(noted, key=lambda one: question.slots.index(stated_slot(one.passage, question.slots)))[:_FEW]
    for one in scored:
        whole = bool(question.words) and all(holds(question, one.held, word, read) for word in question.words)
        if (
            len(chosen) < _FEW
            and whole
            and one.passage.kind == "step"
            and not any(_learned_from(one, other) or _alike(one, other) for other in chosen)
        ):
            chosen.append(one)
    claims = tuple(sorted((claim_of(one.passage, one.text, zone, number) for one in chosen), key=_when))
    return Integrated(claims, joined(claims, zone), True)


def _speaks_of(question: Question, passages: Sequence[Passage], read: Stems) -> bool:
    """Whether the people and animals of a question are spoken of; the label of a core item ("partner") tells not which."""
    if not question.whose:
        return True
    texts = [one.text.partition("\n")[2] if one.kind == "core" else one.text for one in passages]
    held = frozenset().union(*map(read, texts))
    return all(holds(question, held, one, read) for one in question.whose)


def _of_the_user(passage: Passage) -> bool:
    """Whether the user said it, or it was learned from what they said; core items are of nobody else anyway."""
    return passage.speaker == "user" or passage.kind in ("semantic", "episodic")


def _learned_from(one: _Sentence, other: _Sentence) -> bool:
    """Whether one is of a step, and the other of an item that was learned from it."""
    step, item = (one.passage, other.passage) if one.passage.kind == "step" else (other.passage, one.passage)
    if step.kind != "step" or item.kind in ("step", "page"):
        return False
    return any(source.step_id == step.id for source in item.sources)


def _alike(one: _Sentence, other: _Sentence) -> bool:
    """Whether two sentences say the same: nearly the same words, and the same names of things and numbers."""
    if len(one.held & other.held) <= 0.8 * len(one.held | other.held):
        return False
    return set(CODE.findall(one.text)) == set(CODE.findall(other.text))


def _said_by_another(question: Question, passages: Sequence[Passage], read: Stems) -> bool:
    """Whether what is asked about one person was plainly said by another, and not by that one."""
    if len(question.speakers) != 1 or question.many:
        return False
    theirs, others = 0.0, 0.0
    for one in passages[:_FIRST]:
        share, _ = coverage(question, [one], read)
        if (one.speaker or "").casefold() in question.speakers or one.speaker is None:
            theirs = max(theirs, share)
        else:
            others = max(others, share)
    return others - theirs >= _OTHERS


def joined(claims: Sequence[Claim], zone: tzinfo) -> str:
    """Claims as lines, each with its local day and speaker."""
    lines = []
    for one in claims:
        day = f"[{in_zone(one.occurred_at, zone):%Y-%m-%d}] " if one.occurred_at else ""
        lines.append(f"{day}{one.speaker + ': ' if one.speaker else ''}{one.text}")
    return "\n".join(lines)


def _when(claim: Claim) -> tuple[bool, datetime | None, str]:
    return (claim.occurred_at is None, claim.occurred_at, claim.passage_id)


def _sentences(question: Question, passages: Sequence[Passage], chain: Chain, reader: TextReader) -> list[_Sentence]:
    read = reader.stems
    asked = [read(word) for word in question.words]
    every = [read(one.text) for one in passages]
    # A word that every passage holds tells little about any of them.
    rarity = [1 / (1 + sum(word <= held for held in every)) ** 0.5 for word in asked]
    whole = sum(rarity) or 1.0
    linked = {(one.passage.id, one.text) for one in chain.links}
    found: list[_Sentence] = []
    for rank, (one, around) in enumerate(zip(passages, every, strict=True)):
        theirs = not question.speakers or (one.speaker or "").casefold() in question.speakers
        near = sum(weight for word, weight in zip(asked, rarity, strict=True) if word <= around) / whole
        best: _Sentence | None = None
        for bare, worth, has_day in reader.sentences(one.text):
            if one.kind == "step" and only_asks(question, bare, read):
                continue
            held = read(bare)
            inside = sum(weight for word, weight in zip(asked, rarity, strict=True) if word <= held) / whole
            score = inside + 0.4 * near + 0.15 * worth + 0.6 / (1 + rank) ** 0.5
            score += _LINKED if (one.id, bare) in linked else 0.0
            score += 0.25 if _answers(question, bare, has_day) else 0.0
            score *= 1.0 if theirs else 0.5
            if best is None or score > best.score:
                best = _Sentence(one, bare, score, held, inside, (one.id, bare) in linked)
        if best is not None:
            found.append(best)
    return sorted(found, key=lambda each: (-each.score, each.passage.id))


def _chinese_sentences(
    question: Question, passages: Sequence[Passage], chain: Chain, reader: TextReader
) -> list[_Sentence]:
    linked = {(one.passage.id, one.text) for one in chain.links}
    found = []
    for one in carried_by(question, passages, reader):
        link = (one.passage.id, one.text) in linked
        score = one.score + (_LINKED if link else 0.0)
        found.append(_Sentence(one.passage, one.text, score, reader.stems(one.text), one.inside, link))
    return sorted(found, key=lambda each: (-each.score, each.passage.id))


def _answers(question: Question, sentence: str, has_day: bool) -> bool:
    """Whether a sentence holds the kind of thing that is asked for."""
    match question.wants:
        case "number":
            return _NUMBER.search(sentence) is not None
        case "person":
            return _NAME.search(sentence) is not None
        case "place":
            return _PLACE.search(sentence) is not None
        case "reason":
            return _REASON.search(sentence) is not None
        case "time":
            return has_day
        case _:
            return False


def claim_of(passage: Passage, sentence: str, zone: tzinfo, number: int) -> Claim:
    """A sentence of a passage as a claim of a round; days told in words are told in figures too, in a timezone."""
    text = sentence
    if passage.occurred_at is not None and weigh(sentence, size_of(sentence)).has_day:
        for span in reversed(find_dates(sentence, passage.occurred_at, zone)):
            if span.told and not any(character.isdigit() for character in span.text):
                text = f"{text[: span.end]}{span.aside}{text[span.end :]}"
    return Claim(
        text=text,
        quote=sentence,
        passage_id=passage.id,
        step_ids=tuple(one.step_id for one in passage.sources[:1]),
        speaker=passage.speaker,
        occurred_at=passage.occurred_at,
        round=number,
    )
