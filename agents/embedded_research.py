"""Research without a chat model: iterated recall, and extraction of answering sentences by the bundled encoder.

The first round searches for the question, each later one for the question with a sentence of the round before (a second
hop). Every sentence is scored by the cosine of its span vector and the question's vector, and by the rank of its passage;
the best are the answer, unless all cosines are below a threshold. A sentence that ends with a question mark is never quoted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hexamem.agents.research_question import ROLES, Question
from hexamem.agents.research_showing import in_time_order, joined
from hexamem.memory_types.research import Claim, Lane, Passage, Reflection, SearchRequest
from hexamem.models.sentences import split_sentences
from hexamem.retrieval.packing import item_text
from hexamem.retrieval.signals.question import is_question

if TYPE_CHECKING:
    from hexamem.models.encoder import EncodedText

__all__ = [
    "MAIN_NEED",
    "NOT_HELD",
    "THRESHOLDS",
    "Encode",
    "Extraction",
    "ReadSentences",
    "Thresholds",
    "asks_only",
    "best_score",
    "choose_tier",
    "extract",
    "plan",
    "reflect",
    "score_sentences",
]

MAIN_NEED = ""
"""The need of the question itself, in search requests."""
NOT_HELD = "Memory does not hold an answer to this."
"""The answer of a research that abstains."""
PassageSteps: TypeAlias = Mapping[str, Sequence[tuple[str, str]]]
"""Page id → (step id, text) of its steps."""
Encode: TypeAlias = "Callable[[Sequence[str]], Sequence[EncodedText]]"
"""Texts → their encodings; see :meth:`hexamem.models.encoder.Encoder.encode`."""

_LONGEST_TEXT = 12_000  # characters of a passage, or of a step of a page, that are read
_WINDOWS = 64  # encoded at a time, since the states of all tokens of a window are large
_WINDOW = 90  # estimated tokens of the sentences that are encoded together
_MOST_PASSAGES = 400
_MOST_QUOTED, _MOST_FOLLOWED = 3, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Thresholds on the cosines of the encoder.

    On the validation part of ``evals/corpus`` the best sentence of 95 in 100 answerable questions is above ``answers``, and
    small talk scores below it against most statements. A question whose answer is only almost in memory is not recognized:
    its best sentences score as high as those of other questions.

    Attributes:
        answers: the least score of a sentence that answers the question; below it, research abstains.
        held: where the probability that memory contains an answer (``Recall.answerable``) is less, ``doubtful`` takes the
            place of ``answers``. On the validation part that raises the share of questions about something else that are
            left unanswered from 20% to 47%, and of answerable ones from 8% to 9%.
        doubtful: see ``held``.
        enough: the least score that makes a further round unnecessary.
        sure: the least score with which the automatic tier calls no model.
        follows: the least score of a sentence that starts a second hop.
        hop: factor on the score of a sentence against a follow-up query.
        beside: share of the best score that a further quoted sentence needs.
        ranked: the weight of the rank ``r`` of a sentence's passage, counted from 0, as ``1 / (1 + r / 5)``. Chosen on the
            validation part with ``beside``: of 202 first sentences 51% are of the evidence, by the cosine alone 41%.
    """

    answers: float = 0.32
    held: float = 0.5
    doubtful: float = 0.42
    enough: float = 0.7
    sure: float = 0.72
    follows: float = 0.25
    hop: float = 0.9
    beside: float = 0.8
    ranked: float = 0.3


THRESHOLDS = Thresholds()


class _ReadSentence(NamedTuple):
    """An encoded sentence of a passage, and the id of its step; "" for none."""

    text: str
    step_id: str
    vector: NDArray[np.float32]


ReadSentences: TypeAlias = "dict[tuple[str, int], list[_ReadSentence]]"
"""(id, round) of a passage → its encoded sentences: the cache of one research."""


class ScoredSentence(NamedTuple):
    """A sentence of a passage.

    Attributes:
        step_id: the id of its step, or of the item's source; "" for none.
        score: the cosine, and the share of the passage's rank.
        cosine: the best with the question and the follow-up queries.
        direct: the cosine with the question.
    """

    passage: Passage
    text: str
    step_id: str
    score: float
    cosine: float
    direct: float


class Extraction(NamedTuple):
    """The quoted sentences in order of time, the answer composed of them, and whether there is one."""

    claims: tuple[Claim, ...]
    answer: str
    answerable: bool


def plan(
    question: Question, needs: Sequence[str], *, first: bool, lanes: Collection[Lane], kinds: Collection[str] = ()
) -> tuple[SearchRequest, ...]:
    """The searches of one round: in the first round for the question, in later ones for the needs.

    Args:
        needs: the follow-up queries of reflection.
        lanes: the allowed lanes. Without ``vector`` and ``keyword`` the others search for the question.
        kinds: the kinds of items in memory.
    """
    text_lanes: tuple[Lane, ...] = tuple(lane for lane in ("vector", "keyword") if lane in lanes)
    if not first:
        text_lanes = text_lanes or tuple(lane for lane in ("page",) if lane in lanes)
        return tuple(SearchRequest(lane=lane, query=need, need=need) for need in needs for lane in text_lanes)
    requests = [SearchRequest(lane=lane, query=question.undated, need=MAIN_NEED) for lane in text_lanes]
    if "time" in lanes and question.since is not None:
        since, until = question.since, question.until
        requests.append(SearchRequest(lane="time", query=question.undated, need=MAIN_NEED, since=since, until=until))
    if "kind" in lanes and kinds:
        requests.append(SearchRequest(lane="kind", query=question.text, need=MAIN_NEED, kinds=tuple(kinds)))
    if not text_lanes:
        requests += [
            SearchRequest(lane=lane, query=question.text, need=MAIN_NEED)
            for lane in ("page", "intent")
            if lane in lanes
        ]
    return tuple(requests)


def score_sentences(
    question: Question,
    follow_ups: Sequence[str],
    passages: Sequence[Passage],
    encode: Encode,
    steps: PassageSteps | None = None,
    read: ReadSentences | None = None,
) -> list[ScoredSentence]:
    """The scored sentences of passages, best first, without questions and copies of the question.

    Args:
        follow_ups: queries of earlier rounds; a sentence is not scored against a query that contains it.
        passages: all that were read, in the order of reading.
        steps: page id → (step id, text) of its steps, for passages that are pages.
        read: cache of encoded sentences; new ones are added.
    """
    passages = passages[-_MOST_PASSAGES:]
    read = {} if read is None else read
    _read(passages, encode, steps or {}, read)
    if not any(read[passage.id, passage.round] for passage in passages):
        return []
    queries = np.stack([text.vector for text in encode([question.undated, *follow_ups])])
    scored: list[ScoredSentence] = []
    for rank, passage in enumerate(passages):
        for sentence, step_id, vector in read[passage.id, passage.round]:
            if sentence.casefold() == question.text.casefold():
                continue  # the question itself
            direct, *hops = (queries @ vector).tolist()
            further = [hop for hop, query in zip(hops, follow_ups, strict=True) if sentence not in query]
            cosine = max([direct, *(THRESHOLDS.hop * hop for hop in further)])
            score = cosine + THRESHOLDS.ranked / (1 + rank / 5)
            scored.append(ScoredSentence(passage, sentence, step_id, score, cosine, direct))
    return sorted(scored, key=lambda sentence: -sentence.score)


def _read(passages: Sequence[Passage], encode: Encode, steps: PassageSteps, read: ReadSentences) -> None:
    """Encode the sentences of passages that are not in the cache."""
    new = {key: passage for passage in passages if (key := (passage.id, passage.round)) not in read}
    sentences: ReadSentences = {key: [] for key in new}
    windows = [window for passage in new.values() for window in _windows(passage, steps)]
    for first in range(0, len(windows), _WINDOWS):
        batch = windows[first : first + _WINDOWS]
        encoded = encode([window.text for window in batch])
        for window, text in zip(batch, encoded, strict=True):
            sentences[window.passage.id, window.passage.round] += [
                _ReadSentence(window.text[start:end], window.step_id, text.span(start, end))
                for start, end in window.spans
            ]
    read.update(sentences)


def best_score(sentences: Sequence[ScoredSentence]) -> float:
    """The best score against the question itself; 0 without sentences."""
    return max((sentence.direct for sentence in sentences), default=0.0)


def extract(sentences: Sequence[ScoredSentence], zone: tzinfo, number: int, *, held: float | None = None) -> Extraction:
    """The one to three best sentences as claims; none where no sentence answers the question itself.

    Args:
        sentences: the best first.
        zone: the timezone of days in the answer.
        number: the round, counted from 1.
        held: the probability that memory contains an answer; None where it is not estimated.
    """
    doubtful = held is not None and held < THRESHOLDS.held
    if best_score(sentences) < (THRESHOLDS.doubtful if doubtful else THRESHOLDS.answers):
        return Extraction((), NOT_HELD, False)
    quoted: list[ScoredSentence] = []
    for sentence in sentences:
        if sentence.score < THRESHOLDS.beside * sentences[0].score or len(quoted) == _MOST_QUOTED:
            break
        same = next((index for index, other in enumerate(quoted) if _same(sentence, other)), None)
        if same is None:
            quoted.append(sentence)
        elif sentence.passage.kind == "step" and quoted[same].passage.kind != "step":
            quoted[same] = sentence  # the step, rather than the item that was extracted from it
    claims = in_time_order(_claim(sentence, number) for sentence in quoted)
    return Extraction(claims, joined(claims, zone), True)


def reflect(
    question: Question, sentences: Sequence[ScoredSentence], asked: Collection[str], *, answerable: bool
) -> Reflection:
    """Whether the best sentence is near enough to the question; otherwise follow-up queries from the last round.

    Args:
        asked: queries of earlier rounds.
        answerable: whether integration, with or without a model, has an answer.
    """
    if answerable and best_score(sentences) >= THRESHOLDS.enough:
        return Reflection(enough=True)
    latest = max((sentence.passage.round for sentence in sentences), default=0)
    new = [
        sentence.text
        for sentence in sentences
        if sentence.passage.round == latest and sentence.cosine >= THRESHOLDS.follows
    ]
    queries = [query for text in dict.fromkeys(new) if (query := f"{question.undated} {text}") not in asked]
    return Reflection(enough=False, missing=tuple(queries[:_MOST_FOLLOWED]))


def choose_tier(score: float) -> tuple[str, str]:
    """The tier of research for the best score of the first search, and the reason."""
    reason = f"the best sentence has a similarity of {score:.2f} to the question"
    if score >= THRESHOLDS.sure:
        return "recall", reason
    return ("one_shot" if score >= THRESHOLDS.answers else "deep"), reason


def asks_only(text: str) -> bool:
    """Whether every sentence of a text ends with a question mark."""
    sentences = _sentences(text)
    return bool(sentences) and all(map(is_question, sentences))


class _Window(NamedTuple):
    """Sentences of a passage that are encoded together, after the name of the speaker or the title of the item."""

    passage: Passage
    step_id: str
    text: str
    spans: list[tuple[int, int]]


def _windows(passage: Passage, steps: PassageSteps) -> Iterator[_Window]:
    """The sentences of a passage in windows within the encoder's input; questions are context without a span."""
    title = ""
    if passage.kind == "page":
        parts = steps.get(passage.id) or [("", passage.text)]
    else:
        text = passage.text
        if passage.kind in ("episodic", "vault"):
            text = item_text(passage.kind, text)
        elif passage.kind != "step" and "\n" in text:
            title, _, text = text.partition("\n")
        parts = [(passage.sources[0].step_id if passage.sources else "", text)]
    name = title if passage.speaker is None or passage.speaker in ROLES else passage.speaker
    head = f"{name}: " if name else ""
    for step_id, text in parts:
        window = head
        spans: list[tuple[int, int]] = []
        for sentence in _sentences(text[:_LONGEST_TEXT]):
            if window != head and _tokens(window) + _tokens(sentence) > _WINDOW:
                if spans:
                    yield _Window(passage, step_id, window, spans)
                window, spans = head, []
            start = len(window)
            window += f"{sentence} "
            if not is_question(sentence):
                spans.append((start, start + len(sentence)))
        if spans:
            yield _Window(passage, step_id, window, spans)


def _sentences(text: str) -> list[str]:
    parts = (text[start:end].strip(" \t-*•–—#>|") for start, end in split_sentences(text))
    return [part for part in parts if any(map(str.isalnum, part))]


def _tokens(text: str) -> float:
    return len(text.encode("utf-8", "replace")) / 4


def _same(left: ScoredSentence, right: ScoredSentence) -> bool:
    """Whether two sentences have the same words, or one is of a step and the other of an item with that source."""
    if " ".join(left.text.split()).casefold() == " ".join(right.text.split()).casefold():
        return True
    steps = {sentence.passage.id for sentence in (left, right) if sentence.passage.kind == "step"}
    return any(sentence.step_id in steps for sentence in (left, right) if sentence.passage.kind not in ("step", "page"))


def _claim(sentence: ScoredSentence, number: int) -> Claim:
    return Claim(
        text=sentence.text,
        quote=sentence.text,
        passage_id=sentence.passage.id,
        step_ids=(sentence.step_id,) if sentence.step_id else (),
        speaker=sentence.passage.speaker,
        occurred_at=sentence.passage.occurred_at,
        precision=sentence.passage.precision,
        round=number,
    )
