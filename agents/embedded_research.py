"""Research without a chat model: iterated recall, and extraction of the sentences that answer by the bundled encoder.

The first round searches for the question, each later one for the question with a sentence of the round before (a second
hop). Every sentence that was read is scored by the cosine of its span vector to the question's vector; the best are the
answer, unless they score below a threshold. A sentence that ends with a question mark is never quoted.
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
from hexamem.models.sentences import SPLIT
from hexamem.retrieval.packing import item_text

if TYPE_CHECKING:
    from hexamem.models.encoder import EncodedText

__all__ = [
    "MAIN_NEED",
    "NOT_HELD",
    "QUESTION_MARKS",
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
QUESTION_MARKS = ("?", "？")
PassageSteps: TypeAlias = Mapping[str, Sequence[tuple[str, str]]]
"""Page id → (step id, text) of its steps."""
Encode: TypeAlias = "Callable[[Sequence[str]], Sequence[EncodedText]]"
"""What :meth:`hexamem.models.encoder.Encoder.encode` does."""

_LONGEST_TEXT = 12_000  # characters of a passage, or of a step of a page, that are read
_LONGEST_PAGE = 48_000  # characters of all steps of a page that are read
_WINDOWS = 64  # encoded at a time: the states of all tokens of a window are large, the vectors of its sentences are not
_WINDOW = 90  # tokens, roughly, of the sentences that are encoded together
_MOST_PASSAGES = 400
_MOST_QUOTED, _MOST_FOLLOWED = 3, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Cosines of the encoder by which research decides.

    On the validation part of ``evals/corpus`` the best sentence of 95 in 100 answerable questions is above ``answers``, and small
    talk is below it beside most statements. Questions whose answer is only nearly in memory are not recognized: their best
    sentences score as high as those of the others.

    Attributes:
        answers: a sentence with at least this score answers the question; below it, research abstains.
        enough: with such a sentence no further round is needed.
        sure: with such a sentence the automatic tier asks no model.
        follows: a sentence of at least this score starts a second hop.
        hop: factor on the score of a sentence to a follow-up query.
        beside: share of the best score that a further quoted sentence needs.
        other_speaker: factor on the sentences of other people than those whom the question names.
    """

    answers: float = 0.32
    enough: float = 0.7
    sure: float = 0.72
    follows: float = 0.25
    hop: float = 0.9
    beside: float = 0.7
    other_speaker: float = 0.55


THRESHOLDS = Thresholds()


class _ReadSentence(NamedTuple):
    """A sentence of a passage that was encoded, and the step that it stands in; "" for none."""

    text: str
    step_id: str
    vector: NDArray[np.float32]


ReadSentences: TypeAlias = "dict[tuple[str, int], list[_ReadSentence]]"
"""Id and round of a passage → its sentences, those of passages that were read for the question before."""


class ScoredSentence(NamedTuple):
    """A sentence of a passage.

    Attributes:
        step_id: of the step that it stands in, or comes from; "" for none.
        score: to the question, or to a follow-up query; ``direct``: to the question.
    """

    passage: Passage
    text: str
    step_id: str
    score: float
    direct: float


class Extraction(NamedTuple):
    """The quoted sentences in order of time, the answer made of them, and whether there is one."""

    claims: tuple[Claim, ...]
    answer: str
    answerable: bool


def plan(
    question: Question, needs: Sequence[str], *, first: bool, lanes: Collection[Lane], kinds: Collection[str] = ()
) -> tuple[SearchRequest, ...]:
    """The searches of one round: in the first round for the question, in later ones for the needs.

    Args:
        needs: what reflection asked for.
        lanes: those that may be used. Without ``vector`` and ``keyword`` the others search for the question.
        kinds: kinds of items that the memory holds.
    """
    ways: tuple[Lane, ...] = tuple(lane for lane in ("vector", "keyword") if lane in lanes)
    if not first:
        ways = ways or tuple(lane for lane in ("page",) if lane in lanes)
        return tuple(SearchRequest(lane=lane, query=need, need=need) for need in needs for lane in ways)
    requests = [SearchRequest(lane=lane, query=question.bare, need=MAIN_NEED) for lane in ways]
    if "time" in lanes and question.since is not None:
        since, until = question.since, question.until
        requests.append(SearchRequest(lane="time", query=question.bare, need=MAIN_NEED, since=since, until=until))
    if "kind" in lanes and kinds:
        requests.append(SearchRequest(lane="kind", query=question.text, need=MAIN_NEED, kinds=tuple(kinds)))
    if not ways:
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
    """The sentences of passages that are no questions and not the question's own words, best first.

    Args:
        follow_ups: queries of earlier rounds; a sentence that stands in such a query has its score to the question alone.
        passages: all that were read, in the order of reading.
        steps: of the passages that are pages.
        read: sentences of the passages that were encoded before; those of the others are added.
    """
    passages = passages[-_MOST_PASSAGES:]
    read = {} if read is None else read
    _read(passages, encode, steps or {}, read)
    if not any(read[one.id, one.round] for one in passages):
        return []
    queries = np.stack([one.vector for one in encode([question.undated, *follow_ups])])
    scored: list[ScoredSentence] = []
    for passage in passages:
        speaker = (passage.speaker or "").casefold()
        other = bool(question.speakers and speaker) and speaker not in question.speakers
        factor = THRESHOLDS.other_speaker if other else 1.0
        for sentence, step_id, vector in read[passage.id, passage.round]:
            if sentence.casefold() == question.text.casefold():
                continue  # the same words, said before
            direct, *hops = (queries @ vector * factor).tolist()
            further = [hop for hop, query in zip(hops, follow_ups, strict=True) if sentence not in query]
            score = max([direct, *(THRESHOLDS.hop * hop for hop in further)])
            scored.append(ScoredSentence(passage, sentence, step_id, score, direct))
    return sorted(scored, key=lambda one: -one.score)


def _read(passages: Sequence[Passage], encode: Encode, steps: PassageSteps, read: ReadSentences) -> None:
    """Encode the sentences of those passages that were not read before."""
    new = {(one.id, one.round): one for one in passages if (one.id, one.round) not in read}
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
    """The score of the sentence that is nearest to the question itself; 0 where there is none."""
    return max((one.direct for one in sentences), default=0.0)


def extract(sentences: Sequence[ScoredSentence], zone: tzinfo, number: int) -> Extraction:
    """The one to three best sentences as claims; none where no sentence answers the question itself.

    Args:
        sentences: the best first.
        zone: in which days are written.
    """
    if best_score(sentences) < THRESHOLDS.answers:
        return Extraction((), NOT_HELD, False)
    quoted: list[ScoredSentence] = []
    for one in sentences:
        if one.score < THRESHOLDS.beside * sentences[0].score or len(quoted) == _MOST_QUOTED:
            break
        same = next((at for at, other in enumerate(quoted) if _same(one, other)), None)
        if same is None:
            quoted.append(one)
        elif one.passage.kind == "step" and quoted[same].passage.kind != "step":
            quoted[same] = one  # the step, rather than the item that was extracted from it
    claims = in_time_order(_claim(one, number) for one in quoted)
    return Extraction(claims, joined(claims, zone), True)


def reflect(
    question: Question, sentences: Sequence[ScoredSentence], asked: Collection[str], *, answerable: bool
) -> Reflection:
    """Whether the best sentence is near enough to the question; else follow-up queries from the best of the last round.

    Args:
        asked: needs that were searched before.
        answerable: whether integration, by a model or not, has an answer.
    """
    if answerable and best_score(sentences) >= THRESHOLDS.enough:
        return Reflection(enough=True)
    latest = max((one.passage.round for one in sentences), default=0)
    new = [one.text for one in sentences if one.passage.round == latest and one.score >= THRESHOLDS.follows]
    queries = [query for text in dict.fromkeys(new) if (query := f"{question.undated} {text}") not in asked]
    return Reflection(enough=False, missing=tuple(queries[:_MOST_FOLLOWED]))


def choose_tier(score: float) -> tuple[str, str]:
    """How deep research goes, by the score of the best sentence of the first search, and the reason."""
    told = f"the best sentence has a similarity of {score:.2f} to the question"
    if score >= THRESHOLDS.sure:
        return "recall", told
    return ("one_shot" if score >= THRESHOLDS.answers else "deep"), told


def asks_only(text: str) -> bool:
    """Whether every sentence of a text ends with a question mark."""
    sentences = _sentences(text)
    return bool(sentences) and all(map(_is_question, sentences))


class _Window(NamedTuple):
    """Sentences of a passage that are encoded together, behind the speaker's name, where they have one, or an item's title."""

    passage: Passage
    step_id: str
    text: str
    spans: list[tuple[int, int]]


def _windows(passage: Passage, steps: PassageSteps) -> Iterator[_Window]:
    """The sentences of a passage in windows that the encoder reads whole; questions are context, and no spans."""
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
    room = _LONGEST_PAGE
    for step_id, text in parts:
        window = head
        spans: list[tuple[int, int]] = []
        beginning = text[: min(_LONGEST_TEXT, room)]
        room -= len(beginning)
        for sentence in _sentences(beginning):
            if window != head and _tokens(window) + _tokens(sentence) > _WINDOW:
                if spans:
                    yield _Window(passage, step_id, window, spans)
                window, spans = head, []
            start = len(window)
            window += f"{sentence} "
            if not _is_question(sentence):
                spans.append((start, start + len(sentence)))
        if spans:
            yield _Window(passage, step_id, window, spans)


def _sentences(text: str) -> list[str]:
    return [bare for one in SPLIT.split(text) if any(map(str.isalnum, bare := one.strip(" \t-*•–—#>|")))]


def _is_question(sentence: str) -> bool:
    return sentence.rstrip(" \"”'’)」』").endswith(QUESTION_MARKS)


def _tokens(text: str) -> float:
    return len(text.encode("utf-8", "replace")) / 4


def _same(one: ScoredSentence, other: ScoredSentence) -> bool:
    """Whether two sentences are alike, or one is of a step and the other of an item with that source."""
    if " ".join(one.text.split()).casefold() == " ".join(other.text.split()).casefold():
        return True
    steps = {each.passage.id for each in (one, other) if each.passage.kind == "step"}
    return any(each.step_id in steps for each in (one, other) if each.passage.kind not in ("step", "page"))


def _claim(one: ScoredSentence, number: int) -> Claim:
    return Claim(
        text=one.text,
        quote=one.text,
        passage_id=one.passage.id,
        step_ids=(one.step_id,) if one.step_id else (),
        speaker=one.passage.speaker,
        occurred_at=one.passage.occurred_at,
        round=number,
    )
