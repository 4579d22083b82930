"""Parses a question for the signals: vectors, stems, tokens, named speakers, dates and cues."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo

import numpy as np
import numpy.typing as npt

from hexamem.intent.dates import find_dates
from hexamem.retrieval.signals.cues import cues_of
from hexamem.stores.embedders import Embedder
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.working_set import WorkingSet

__all__ = ["QUESTION_MARKS", "ParsedQuestion", "QuestionDate", "is_question", "read_question"]

_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORDS = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_SELF = re.compile(r"\b(?:i|my|me|mine)\b|我", re.IGNORECASE)
_OTHER = re.compile(r"\b(?:you|your|yours)\b|[你您]", re.IGNORECASE)
_NOT_WORD = re.compile(r"[\W_]+")
_PLAIN_WORDS = """
a an the of to in on at for and or is are was were be been do does did have has had i you he she it we they me my your his
her its our their this that these those with as by from what when where who whom which why how will would can could should
about any some there than then so if not no s t d ll re ve m
的 了 是 在 什 么 吗 呢 哪 谁 多 少 怎 样 和 她 他 们 有
"""
_PLAIN = frozenset(_PLAIN_WORDS.split())
"""Function words, which late interaction leaves out of a question."""


@dataclass(frozen=True, slots=True)
class QuestionDate:
    """A date in a question.

    Attributes:
        first: its first day, in days since 1970.
        last: its last day.
        yearless: whether it has no year.
    """

    first: int
    last: int
    yearless: bool


QUESTION_MARKS = ("?", "？")


def is_question(text: str) -> bool:
    """Whether a text ends with a question mark, before closing quotes and brackets."""
    return text.rstrip(" \"”'’)」』").endswith(QUESTION_MARKS)


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question as input of the signals.

    Attributes:
        vector: the vector of the question.
        bare: the vector of the question without the names of speakers.
        stems: the distinct stems without the names of speakers, with their numbers in the working set.
        all_stems: the same with the names.
        pieces: the vectors of its tokens without function words, float32 ``(tokens, dimension)``.
        piece_numbers: the numbers of these tokens in the working set.
        named: the numbers of the speakers that it names.
        dates: the dates in it.
        cues: see :mod:`.cues`.
        hop: the embedder's second hop (``Embedder.hop``).
    """

    text: str
    vector: FloatArray
    bare: FloatArray
    stems: tuple[tuple[str, int], ...]
    all_stems: tuple[tuple[str, int], ...]
    pieces: FloatArray
    piece_numbers: npt.NDArray[np.int64]
    named: frozenset[int]
    dates: tuple[QuestionDate, ...]
    cues: FloatArray
    hop: Callable[[FloatArray, FloatArray], FloatArray | None] | None = None


def read_question(
    text: str, steps: WorkingSet, embedder: Embedder, zone: tzinfo, now: datetime | None = None
) -> ParsedQuestion:
    """Parse a question against the steps of a user.

    Args:
        steps: the working set, with its speakers and stems.
        zone: the user's timezone, for dates.
        now: when the question is asked; None for the time of the latest step.
    """
    named, names = _named(text, steps)
    bare = _without(text, names)
    vector = embedder.embed_query(text)
    bare_vector = vector if bare == text or embedder.slow else embedder.embed_query(bare)
    all_stems = tuple(steps.stems.known(text))
    stems = all_stems if bare == text else tuple(steps.stems.known(bare))
    numbers, rows = _pieces(bare, steps, embedder)
    dates = _dates(text, steps, zone, now)
    cues = cues_of(
        vector,
        embedder.name,
        words=len(stems),
        speakers=len(names),
        dated=bool(dates),
        known=embedder.known_share(text),
    )
    return ParsedQuestion(text, vector, bare_vector, stems, all_stems, rows, numbers, named, dates, cues, embedder.hop)


def _named(text: str, steps: WorkingSet) -> tuple[frozenset[int], list[str]]:
    """The numbers of the speakers that a question names, by a whole or a first name, and these names."""
    lowered = text.casefold()
    words = {word.removesuffix("'s").removesuffix("’s") for word in _WORDS.findall(lowered)}
    named: set[int] = set()
    matched: list[str] = []
    names = steps.speakers[:4_096]
    # A part that all names share, such as "debater", names none of them.
    shared = set.intersection(*(set(_NOT_WORD.split(name)) for name in names)) if len(names) > 1 else set()
    for number, name in enumerate(names):
        if name in {"user", "assistant", "system", "tool"}:
            continue
        parts = [name]
        if not _HAN.search(name):
            parts += [part for part in _NOT_WORD.split(name) if len(part) > 2 and part not in shared]
        met = [part for part in parts if part in (lowered if _HAN.search(part) or _NOT_WORD.search(part) else words)]
        if not met and _HAN.search(name) and len(name) > 2 and name[1:] in lowered:
            met = [name[1:]]  # a Chinese given name without the family's
        if met:
            named.add(number)
            matched += met
    if not named:
        for role, pattern in (("user", _SELF), ("assistant", _OTHER)):
            if role in steps.roles and "assistant" in steps.roles and pattern.search(text):
                named.update(number for number, other in enumerate(steps.roles) if other == role)
    return frozenset(named), matched


def _without(text: str, names: Sequence[str]) -> str:
    """The question without the names of speakers; the names where nothing else is left."""
    for name in sorted(names, key=len, reverse=True):
        pattern = re.escape(name) if _HAN.search(name) else rf"\b{re.escape(name)}\b(?:['’]s)?"
        text = re.sub(pattern, " ", text, flags=re.IGNORECASE)
    return text if _NOT_WORD.sub("", text) else " ".join(names)


def _pieces(text: str, steps: WorkingSet, embedder: Embedder) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Numbers and vectors of the question's tokens without function words; empty without token vectors in the embedder."""
    none = (
        np.empty(0, np.int64),
        np.empty((0, 0 if embedder.token_model is None else embedder.token_model.width), np.float32),
    )
    model = embedder.token_model
    if model is None or steps.tokens is None:
        return none
    content = " ".join(
        word
        for word in re.findall(r"[\u4e00-\u9fff]+|[^\s\u4e00-\u9fff]+", text)
        if _NOT_WORD.sub("", word.lower()) not in _PLAIN
    )
    ((ids, others),) = model.tokenize([content or text])
    words = list(dict.fromkeys(word for word in others if word not in _PLAIN))
    numbers = steps.tokens.known(ids, words)
    if not len(ids) and not words:
        return none
    distinct = list(dict.fromkeys(ids))
    rows = model.token_rows(np.array(distinct, np.int64), words)
    nonzero = np.einsum("ij,ij->i", rows, rows) > 1e-12
    return numbers[nonzero], rows[nonzero]


def _dates(text: str, steps: WorkingSet, zone: tzinfo, now: datetime | None) -> tuple[QuestionDate, ...]:
    if not len(steps):
        return ()
    today = now or datetime.fromtimestamp(steps.latest, UTC)
    dates = []
    for span in find_dates(text, today, zone, prefer="past"):
        yearless = not span.explicit and _YEAR.search(span.text) is None
        dates.append(QuestionDate(_ordinal(span.day), _ordinal(span.last_day), yearless))
    return tuple(dates)


def _ordinal(day: date) -> int:
    return day.toordinal() - date(1970, 1, 1).toordinal()
