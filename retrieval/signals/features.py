"""The features of the learned ranking, computed for a whole pool at once.

Each feature belongs to a signal, whose name is in ``why``. A feature is a number of the candidate, of the steps beside it,
or of its rank in the pool; its weight is learned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from hexamem.retrieval.signals.content import Content, read_content
from hexamem.retrieval.signals.cues import CUES, LABEL_CUES
from hexamem.retrieval.signals.labels import LABEL_FEATURES, QuestionLabels, label_features
from hexamem.retrieval.signals.pool import OFFSETS, Places, Pool, places
from hexamem.retrieval.signals.question import ParsedQuestion
from hexamem.stores.embedders.base import FloatArray
from hexamem.stores.products import products
from hexamem.stores.step_form import FORM_FLAGS
from hexamem.stores.working_set import LAGS, WorkingSet

__all__ = ["FEATURES", "SIGNAL_OF", "Features", "compute_features"]

_NEAR = 0.7
"""The weight of a neighbour in the mean vector of a window."""
_PEERS = 5  # the best candidates, with which all are compared
_HOPS = 3  # the best candidates, from which a second hop is made
_RANK = 5.0
_TOP = 10
_KNOWN = CUES.index("known")
_FUSED: Mapping[str, float] = {"dense": 0.7, "bm25_names": 1.0, "late": 1.5}
_FUSED_RANK, _SPREAD = 10.0, 30
_PASSED: Mapping[int, float] = {-2: 0.3, -1: 0.6, 1: 0.6, 2: 0.3}
"""As in the presets ``rrf`` and ``rrf_neighbours``."""
_TINY = 1e-9

_BY_SIGNAL: Mapping[str, tuple[str, ...]] = {
    "dense": ("dense", "dense_bare", "dense_rank", "dense_top"),
    "hop": ("hop", "hop_rank", "hop_of_3"),
    "bm25": ("bm25", "bm25_names", "bm25_share", "bm25_rank"),
    "words": ("overlap", "rarest"),
    "late": ("late", "late_cubed", "late_weighed", "late_least", "late_rank", "late_top"),
    "exchange": (
        "dense_answered", "overlap_answered", "late_answered", "late_answered_rank", "dense_answer", "late_answer",
        "question_before",
    ),
    "neighbours": tuple(f"{name}_{way}{n}" for name in ("dense", "bm25", "late") for way in ("before", "after") for n in (1, 2)),
    "window": (
        "dense_of_3", "dense_of_5", "dense_of_3_rank", "dense_of_5_top", "overlap_of_3", "overlap_of_5", "late_of_5",
        "late_of_5_rank", "late_of_5_top",
    ),
    "session": (
        "dense_session", "bm25_session", "bm25_session_share", "late_session", "bm25_session_best", "late_over_session",
        "overlap_over_session", "late_over_rest",
    ),
    "speaker": ("spoken_by_named", "spoken_by_other", "spoken_by_only_named"),
    "form": (*FORM_FLAGS, "picture_after"),
    "place": ("position", "opening", "closing", "age"),
    "time": ("month", "month_after", "in_dates", "soon_after_dates"),
    "peers": ("like_best", "like_best_5", "feedback"),
    "items": ("is_item", "cited", "cited_dense", "cited_late"),
    "fused": ("fused", "fused_rank", "fused_beside", "fused_beside_rank"),
    "labels": LABEL_FEATURES,
}  # fmt: skip
SIGNAL_OF: Mapping[str, str] = MappingProxyType(
    {name: signal for signal, names in _BY_SIGNAL.items() for name in names}
)
"""Feature → its signal."""
FEATURES: tuple[str, ...] = tuple(SIGNAL_OF)
"""Names of the features, in the order of their columns."""
_COLUMN = {name: column for column, name in enumerate(FEATURES)}
_PLACED = {"neighbours", "session", "speaker", "form", "place", "time", "labels"}
_OF_PLACE = np.array([column for name, column in _COLUMN.items() if SIGNAL_OF[name] in _PLACED])


@dataclass(frozen=True, slots=True)
class Features:
    """A pool with its features: float32 ``(len(pool), len(FEATURES))``, and the cues of the question."""

    pool: Pool
    values: FloatArray
    cues: FloatArray

    def column(self, name: str) -> FloatArray:
        """One feature of all candidates."""
        return np.asarray(self.values[:, _COLUMN[name]])


def compute_features(
    question: ParsedQuestion, pool: Pool, steps: WorkingSet, labels: QuestionLabels | None = None
) -> Features:
    """All features of all candidates; those of labels are 0 without labels."""
    columns: dict[str, FloatArray] = {}
    cues = question.cues
    if labels is not None:
        cues = np.concatenate([cues[: len(CUES) - len(LABEL_CUES)], labels.cues])
    if len(pool):
        content = read_content(question, pool, steps)
        late = _Late(content, pool)
        _content(columns, content, late, pool, steps)
        _sessions(columns, content, late, pool, steps)
        _circumstances(columns, question, pool, steps)
        _relative(columns, content, pool, steps)
        _items(columns, pool)
        fused = _fused(columns, question, pool)
        columns.update(label_features(labels, pool, fused, columns["dense_bare"]))
    # Written by feature, which is faster than by candidate.
    table = (
        np.array([columns[name] for name in FEATURES], np.float32)
        if len(pool)
        else np.zeros((len(FEATURES), 0), np.float32)
    )
    values = table.T
    _fill(values, pool)
    return Features(pool, values, cues)


def _fill(values: FloatArray, pool: Pool) -> None:
    """Set the features of place of an item without a step to their means, so that they do not count."""
    nowhere = pool.rows < 0
    if nowhere.any() and not nowhere.all():
        values[np.ix_(nowhere, _OF_PLACE)] = values[~nowhere][:, _OF_PLACE].mean(axis=0)


class _Late:
    """Late interaction of candidates alone, and together with the steps beside them."""

    def __init__(self, content: Content, pool: Pool) -> None:
        self.weights, self.own = content.weights, content.own_likeness
        best = {offset: content.likeness[:, pool.at[offset]] for offset in OFFSETS if offset}
        self.answered = np.maximum(self.own, best[-1])
        self.answer = np.maximum(self.own, best[1])
        self.of_5 = np.maximum(np.maximum(self.answered, self.answer), np.maximum(best[-2], best[2]))
        self.beside = content.weights @ content.likeness

    def sum(self, likeness: FloatArray) -> FloatArray:
        return np.asarray(self.weights @ likeness, np.float32)


def _content(columns: dict[str, FloatArray], content: Content, late: _Late, pool: Pool, steps: WorkingSet) -> None:
    columns["dense"], columns["dense_bare"] = content.own_dense, content.own_bare
    windows = _Windows(content, pool, steps)
    for name, offsets in (("answered", (-1,)), ("answer", (1,)), ("of_3", (-1, 1)), ("of_5", (-2, -1, 1, 2))):
        columns[f"dense_{name}"] = windows.cosine(offsets)
    columns["bm25"], columns["bm25_names"] = content.own_bm25, content.own_bm25_names
    columns["bm25_share"] = content.own_bm25 / max(float(content.own_bm25.max()), _TINY)
    holds = {offset: content.holds[:, pool.at[offset]] for offset in OFFSETS if offset}
    answered = np.maximum(content.own_holds, holds[-1])
    of_3 = np.maximum(answered, holds[1])
    of_5 = np.maximum(of_3, np.maximum(holds[-2], holds[2]))
    for name, held in (
        ("overlap", content.own_holds),
        ("overlap_answered", answered),
        ("overlap_of_3", of_3),
        ("overlap_of_5", of_5),
    ):
        columns[name] = content.idf @ held
    rarest = int(content.idf.argmax()) if len(content.idf) else -1
    columns["rarest"] = content.own_holds[rarest] if rarest >= 0 else np.zeros(len(pool), np.float32)
    columns["late"] = late.sum(late.own)
    columns["late_cubed"] = late.sum(late.own**3)
    columns["late_weighed"] = content.lengths @ late.own**2
    columns["late_least"] = late.own.min(axis=0) if len(late.own) else np.zeros(len(pool), np.float32)
    columns["late_answered"], columns["late_answer"] = late.sum(late.answered), late.sum(late.answer)
    columns["late_of_5"] = late.sum(late.of_5)
    for name, values in (("dense", content.bare), ("bm25", content.bm25), ("late", late.beside)):
        for offset in OFFSETS:
            if offset:
                columns[f"{name}_{'before' if offset < 0 else 'after'}{abs(offset)}"] = values[pool.at[offset]]


class _Windows:
    """Cosines of the question with the mean vectors of candidates and the steps beside them.

    The product with a sum of vectors is the sum of products; the length of the sum is computed from the cosines between
    neighbours, which the working set stores.
    """

    def __init__(self, content: Content, pool: Pool, steps: WorkingSet) -> None:
        self._bare = content.own_bare
        self._beside = {offset: np.take(content.bare, pool.at[offset]) for offset in OFFSETS}
        self._there = {offset: (pool.at[offset] < len(pool.around)).astype(np.float32) for offset in OFFSETS}
        self._there[0] = np.ones(len(pool), np.float32)
        rows = np.append(pool.around, 0)
        self._rows = {offset: np.take(rows, pool.at[offset]) for offset in OFFSETS}
        self._lags = steps.lags.ravel() if len(steps) else np.zeros(LAGS, np.float32)

    def cosine(self, offsets: tuple[int, ...]) -> FloatArray:
        """The cosines of windows with the neighbours at some offsets, where they exist."""
        total = self._bare + _NEAR * sum(self._beside[offset] for offset in offsets)
        squared = 1.0 + _NEAR**2 * sum(self._there[offset] for offset in offsets)
        every = sorted((*offsets, 0))
        for index, first in enumerate(every):
            for second in every[index + 1 :]:
                weight = (_NEAR if first else 1.0) * (_NEAR if second else 1.0)
                squared = squared + 2 * weight * self._between(first, second)
        return np.asarray(total / np.sqrt(np.maximum(squared, 1e-3)), np.float32)

    def _between(self, first: int, second: int) -> FloatArray:
        """The cosines between the steps at two offsets, 0 where one is missing."""
        lags = np.take(self._lags, self._rows[first] * LAGS + (second - first - 1))
        return np.asarray(lags * (self._there[first] * self._there[second]), np.float32)


def _sessions(columns: dict[str, FloatArray], content: Content, late: _Late, pool: Pool, steps: WorkingSet) -> None:
    is_step = pool.rows >= 0
    session = np.where(is_step, steps.session[np.maximum(pool.rows, 0)] if len(steps) else 0, 0)
    distinct, place = np.unique(session, return_inverse=True)
    for name in _BY_SIGNAL["session"]:
        columns[name] = np.zeros(len(pool), np.float32)
    if not is_step.any():
        return
    sessions = products(steps.session_vectors(distinct), content.question[:, None])[:, 0]
    top = max(float(content.session_bm25.max()), _TINY)
    columns["dense_session"] = sessions[place] * is_step
    columns["bm25_session"] = content.session_bm25[session] * is_step
    columns["bm25_session_share"] = columns["bm25_session"] / top
    for name, values in (("late_session", columns["late"]), ("bm25_session_best", content.own_bm25)):
        best = np.zeros(len(distinct), np.float32)
        np.maximum.at(best, place, values)
        columns[name] = best[place] * is_step
    # The best of all candidates of the session together.
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(distinct)))
    for name, weights, table in (
        ("late_over_session", content.weights, content.own_likeness),
        ("overlap_over_session", content.idf, content.own_holds),
    ):
        if len(table):
            together = np.maximum.reduceat(table[:, order], starts, axis=1)
            columns[name] = (weights @ together)[place] * is_step
    columns["late_over_rest"] = columns["late_over_session"] - columns["late"] * is_step


def _circumstances(columns: dict[str, FloatArray], question: ParsedQuestion, pool: Pool, steps: WorkingSet) -> None:
    """Speaker, form of the text, position in the conversation, and time."""
    if not len(steps):
        names = (
            *(name for signal in ("speaker", "form", "place", "time") for name in _BY_SIGNAL[signal]),
            "question_before",
        )
        columns.update((name, np.zeros(len(pool), np.float32)) for name in names)
        return
    is_step = (pool.rows >= 0).astype(np.float32)
    rows = np.maximum(pool.rows, 0)
    speaker = steps.speaker[rows]
    is_named = np.full(len(steps.speakers), 0.0 if question.named else 0.5, np.float32)
    is_named[list(question.named)] = 1.0
    named = is_named[speaker]
    columns["spoken_by_named"] = named * is_step
    columns["spoken_by_other"] = (1 - named) * is_step if question.named else np.zeros(len(pool), np.float32)
    columns["spoken_by_only_named"] = named * is_step if len(question.named) == 1 else np.zeros(len(pool), np.float32)
    form = steps.form[rows] * is_step[:, None]
    for column, name in enumerate(FORM_FLAGS):
        columns[name] = form[:, column]
    beside = np.concatenate([steps.form[pool.around], np.zeros((1, len(FORM_FLAGS)), np.float32)])
    columns["question_before"] = beside[pool.at[-1], FORM_FLAGS.index("question")]
    columns["picture_after"] = beside[pool.at[1], FORM_FLAGS.index("picture")]
    position = steps.position[rows].astype(np.float32)
    size = steps.session_size[steps.session[rows]].astype(np.float32)
    columns["position"] = position / 20.0 * is_step
    columns["opening"] = (position < 2) * is_step
    columns["closing"] = (size - position <= 2) * is_step
    span = max(1, steps.latest - steps.oldest)
    columns["age"] = ((steps.latest - steps.seconds[rows]) / span).astype(np.float32) * is_step
    _times(columns, question, steps.day[rows].astype(np.int64), is_step)


def _times(columns: dict[str, FloatArray], question: ParsedQuestion, day: Places, is_step: FloatArray) -> None:
    """How the day of each candidate relates to the dates of the question; people often write of events in the weeks after."""
    inside, after, month, following = (np.zeros(len(day), np.float32) for _ in range(4))
    if question.dates:
        months = day.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        for date in question.dates:
            low, high = (
                int(np.datetime64(edge, "D").astype("datetime64[M]").astype(np.int64))
                for edge in (date.first, date.last)
            )
            if date.yearless:
                year = 365.2425
                since = (day - date.first) % year
                within, soon = (
                    since <= date.last - date.first,
                    (since > date.last - date.first) & (since <= date.last - date.first + 21),
                )
                in_month, next_month = (months - low) % 12 <= (high - low), (months - high) % 12 == 1
            else:
                within, soon = (day >= date.first) & (day <= date.last), (day > date.last) & (day <= date.last + 21)
                in_month, next_month = (months >= low) & (months <= high), months == high + 1
            for total, new in ((inside, within), (after, soon), (month, in_month), (following, next_month)):
                np.maximum(total, new, out=total)
    for name, values in (
        ("in_dates", inside),
        ("soon_after_dates", after),
        ("month", month),
        ("month_after", following),
    ):
        columns[name] = values * is_step


def _relative(columns: dict[str, FloatArray], content: Content, pool: Pool, steps: WorkingSet) -> None:
    """Ranks in the pool, distances from its best, and likeness to the best by two signals together."""
    for source, name in (
        ("dense_bare", "dense_rank"), ("bm25", "bm25_rank"), ("late", "late_rank"), ("dense_of_3", "dense_of_3_rank"),
        ("late_of_5", "late_of_5_rank"), ("late_answered", "late_answered_rank"),
    ):  # fmt: skip
        columns[name] = 1.0 / (places(columns[source]) + _RANK)
    for source, name in (
        ("dense_bare", "dense_top"),
        ("late", "late_top"),
        ("late_of_5", "late_of_5_top"),
        ("dense_of_5", "dense_of_5_top"),
    ):
        values = columns[source]
        top = min(_TOP, len(values))
        columns[name] = values - np.partition(values, -top)[-top]
    best = np.argsort(-(_standard(columns["dense_bare"]) + _standard(columns["late"])), kind="stable")[:_PEERS]
    likeness, middle = content.likeness_to(best.tolist(), pool, steps)
    columns["like_best"], columns["like_best_5"] = likeness[:, 0], likeness.max(axis=1)
    _hops(columns, content, best, pool, steps)
    # Rocchio's feedback: the question moved towards the mean of the best.
    moved = content.question + 0.7 * middle
    columns["feedback"] = (columns["dense_bare"] + 0.7 * likeness.mean(axis=1)) / max(
        float(np.linalg.norm(moved)), _TINY
    )


def _hops(
    columns: dict[str, FloatArray], content: Content, best: npt.NDArray[np.int64], pool: Pool, steps: WorkingSet
) -> None:
    """Likeness to the second-hop queries from the best candidates (``Embedder.hop``)."""
    for name in _BY_SIGNAL["hop"]:
        columns[name] = np.zeros(len(pool), np.float32)
    if content.hop is None:
        return
    sources = best[:_HOPS]
    wanted = content.hop(content.question, content.vectors_of(sources.tolist(), pool, steps))
    if wanted is None:
        return
    likeness = np.concatenate([steps.products(pool.rows[: pool.steps], wanted), products(content.items, wanted.T)])
    likeness[sources, np.arange(len(sources))] = 0.0  # a candidate is no evidence for itself
    columns["hop"] = likeness.max(axis=1)
    columns["hop_rank"] = 1.0 / (places(columns["hop"]) + _RANK)
    around = np.append(steps.products(pool.around, wanted).max(axis=1), 0.0)
    beside = np.maximum(np.take(around, pool.at[-1]), np.take(around, pool.at[1]))
    columns["hop_of_3"] = np.asarray(np.maximum(columns["hop"], _NEAR * beside), np.float32)


def _fused(columns: dict[str, FloatArray], question: ParsedQuestion, pool: Pool) -> FloatArray:
    """Reciprocal rank fusion of the plain signals, without and with neighbours: the untrained rankings ``rrf`` and
    ``rrf_neighbours``."""
    total = np.zeros(len(pool), np.float32)
    known = float(question.cues[_KNOWN])
    for name, weight in _FUSED.items():
        values = columns[name]
        total += weight * (known if name == "dense" else 1.0) / (_FUSED_RANK + 1 + places(values)) * (values > 0)
    origin = np.where(places(total) < _SPREAD, total, 0.0)
    passed = np.zeros(len(pool.around) + 1, np.float32)
    passed[pool.at[0][: pool.steps]] = origin[: pool.steps]
    passed[-1] = 0.0
    beside = total + np.maximum.reduce([share * passed[pool.at[at]] for at, share in _PASSED.items()])
    for name, values in (("fused", total), ("fused_beside", beside)):
        columns[name] = values / max(float(values.max()), _TINY)
        columns[f"{name}_rank"] = 1.0 / (places(values) + _RANK)
    return np.maximum(total, _TINY)


def _standard(values: FloatArray) -> FloatArray:
    return np.asarray((values - values.mean()) / (values.std() + 1e-6), np.float32)


def _items(columns: dict[str, FloatArray], pool: Pool) -> None:
    """Which steps are cited by items of the pool, and the best scores of these items."""
    for name in ("is_item", "cited", "cited_dense", "cited_late"):
        columns[name] = np.zeros(len(pool), np.float32)
    columns["is_item"][pool.steps :] = 1.0
    place = {step_id: index for index, step_id in enumerate(pool.ids[: pool.steps])} if pool.items else {}
    for index, item in enumerate(pool.items, pool.steps):
        for step_id in item.cites:
            if (cited := place.get(step_id)) is not None:
                columns["cited"][cited] = 1.0
                for name, values in (("cited_dense", columns["dense_bare"]), ("cited_late", columns["late"])):
                    columns[name][cited] = max(columns[name][cited], values[index])
