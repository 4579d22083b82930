"""The contextual intent of a question: which scopes, events and entities it names (STITCH, section 3.3, F_q).

A part stays empty where the question does not say enough: an empty filter costs nothing, a wrong one hides the answer.
Where a question names no label, those of the nearest snippets may vote (:func:`vote`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from .. import lazy_re as re
from ..memory_types.labels import Label
from .contract import Vectors
from .query_identity import identified, means
from .references.cues import FUNCTION_WORDS, words
from .scopes.named import name_tokens
from .scopes.numbers import Goal, find_goals, parse_goal_name
from .scopes.text import read_words
from .summaries import Gist

__all__ = ["QueryFilter", "QueryLabeler", "query_filter", "vote"]

_SEPARATOR = " / "
_BELOW = 0.8  # of a named trip, its days
_ABOVE = 0.3  # of a named day, the trip it belongs to: what was said before the days were told apart
_CLEAR, _FEW, _SURE = 0.3, 4, 0.6  # odds against the likeliest, how many such scopes, and their share of all
_GENERIC = words(
    "trip plan project debate day days task phase week topic thread scope talk contention step part work ticket issue "
    "the our my first second third last pro con side turn plans trips days"
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_UNIT = (
    "days?|nights?|weeks?|parts?|streams?|workstreams?|contentions?|arguments?|points?|stages?|phases?|tasks?|sections?"
    "|legs?|stops?|sessions?|modules?|milestones?|projects?|trips?|topics?|teams?"
)
_WIDE = re.compile(
    rf"\b(?:each|every|all|any)(?: (?:of|single|the|our|my|your|its|their|those|these|different|other))* (?:{_UNIT})\b"
    rf"|\b(?:the|its|their|our)(?: (?:different|various|several|separate|single))? (?:days|parts|streams|phases|stages|legs)"
    r" (?:of|in|do|did|have|use)\b"
    rf"|\b(?P<unit>{_UNIT}) (?:by|for) (?P=unit)\b|\b(?:by|per) (?:{_UNIT})\b"
    r"|\b(?:throughout|across|altogether|overall|as a whole|entirety|the (?:whole|entire|complete)|all of|everything (?:in|on|about|for))\b"
    r"|全程|全部行程|整个|整趟|每[一]?[天日晚]|各[天日]|逐[一日天个]|各个?(?:部分|阶段|项目)|每[一个]+(?:部分|阶段|项目)",
    re.IGNORECASE,
)
_CJK = re.compile(r"[\u4e00-\u9fff]")
_COMMON = FUNCTION_WORDS | words(
    "said say tell told remember talked talk discuss discussed mention mentioned decide decided choose chose chosen "
    "pick picked book booked suggest suggested recommend recommended propose proposed option options time place day "
    "conversation finally final currently plan planned many name user assistant know want like go went"
)


class QueryLabeler(Protocol):
    """What finds the labels of one kind that a question names: ids with weights of at most 1, greatest first."""

    def of_query(self, text: str) -> list[tuple[str, float]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFilter:
    """``F_q = (σ_q, ε_q, κ_q)``: label scope_id → weight in (0, 1]; empty parts where the question names none.

    Attributes:
        wide: whether it asks about all parts of something ("each day of the trip"), so that its parts count alike.
        evidence: scope id → log-likelihood of the question, up to a constant, of every scope that has steps: how much
            it speaks for each, also where it names none. Empty where nothing is known of that.
        note: in a few words why, for people.
    """

    scopes: Mapping[str, float] = field(default_factory=dict)
    events: Mapping[str, float] = field(default_factory=dict)
    entities: Mapping[str, float] = field(default_factory=dict)
    evidence: Mapping[str, float] = field(default_factory=dict)
    wide: bool = False
    note: str = ""

    def __bool__(self) -> bool:
        return bool(self.scopes or self.events or self.entities)


def query_filter(
    text: str,
    scopes: Sequence[Label],
    events: QueryLabeler | None = None,
    entities: QueryLabeler | None = None,
    vector: Vectors | None = None,
    gist_vectors: Mapping[str, Vectors] | None = None,
    evidence: Mapping[str, float] | None = None,
) -> QueryFilter:
    """The labels that a question names.

    Args:
        text: the question.
        scopes: the user's scope labels with their gists, aliases too.
        events: finds the event types it asks about.
        entities: finds the entity types it asks about.
        vector: its embedding, ``(d,)``.
        gist_vectors: scope scope_id → embedding of its gist; with ``vector`` it settles what words leave in doubt.
        evidence: scope id → log-likelihood of the question (:class:`~hexamem.intent.query_evidence.ScopeEvidence`).
            Where given, the scopes that stand out by it are those that the question names.
    """
    sample = text[:2000]
    if evidence is None:
        found, note = _scopes(sample, scopes, vector, gist_vectors or {})
    else:
        found, note = _by_evidence(evidence, {label.id: label for label in scopes})
    acts = dict(events.of_query(sample)) if events is not None else {}
    kinds = dict(entities.of_query(sample)) if entities is not None else {}
    notes = [note] if note else []
    if acts:
        notes.append(f"{len(acts)} event types")
    if kinds:
        notes.append(f"{len(kinds)} entity types")
    return QueryFilter(
        scopes=found, events=acts, entities=kinds, evidence=evidence or {}, wide=_is_wide(sample), note="; ".join(notes)
    )


def _is_wide(text: str) -> bool:
    """Whether all parts of something are asked for, and none of them by its number."""
    if _WIDE.search(text) is None:
        return False
    return not any(goal.number != -1 and not goal.step and not goal.many for goal in find_goals(read_words(text)))


def vote(nearest: Iterable[tuple[Sequence[str], float]], *, least: float = 0.25, most: int = 5) -> dict[str, float]:
    """Labels by the votes of the nearest snippets (STITCH's deferred label refinement: labels match softly).

    Args:
        nearest: for each snippet its labels of one kind and its similarity to the question; those below 0 are ignored.
        least: a label needs this share of all votes.
        most: at most so many labels.

    Returns:
        Label scope_id → weight, the greatest 1; empty where no label has enough votes.
    """
    votes: defaultdict[str, float] = defaultdict(float)
    total = 0.0
    for labels, similarity in nearest:
        weight = max(0.0, similarity) ** 2 if math.isfinite(similarity) else 0.0
        total += weight
        for label in dict.fromkeys(labels):
            votes[label] += weight
    ranked = sorted(votes.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    if not ranked or total <= 0 or ranked[0][1] <= 0:
        return {}
    return {label: votes_ / ranked[0][1] for label, votes_ in ranked if votes_ >= least * total}


# ---------------------------------------------------------------- scopes


def _by_evidence(evidence: Mapping[str, float], labels: Mapping[str, Label]) -> tuple[dict[str, float], str]:
    """The scopes that share all but a little of the probability, if they are few."""
    top = max(evidence.values(), default=0.0)
    odds = {scope_id: math.exp(value - top) for scope_id, value in evidence.items()}
    total = sum(odds.values())
    clear = sorted(((one, value) for one, value in odds.items() if value >= _CLEAR), key=lambda one: (-one[1], one[0]))
    if not clear or len(clear) > _FEW or sum(value for _, value in clear) < _SURE * total:
        return {}, ""
    names = [labels[one].name.rpartition(_SEPARATOR)[2] or labels[one].name for one, _ in clear if one in labels]
    return {one: round(value, 3) for one, value in clear}, "names " + ", ".join(names)


@dataclass(slots=True)
class _Known:
    """A scope as it may be called: its own name, the number it carries, its words, and what stands above it."""

    id: str
    own: str
    parent: str | None
    goal: tuple[str, int | str] | None
    names: list[frozenset[str]]
    topic: bool
    label: Label


def _known(labels: Sequence[Label]) -> tuple[dict[str, _Known], dict[str, str]]:
    """Live scopes by scope_id, and for each scope_id (an alias's too) the live one that counts."""
    by_id = {label.id: label for label in labels if label.kind == "scope"}
    target: dict[str, str] = {}
    for scope_id in by_id:
        seen, place = {scope_id}, scope_id
        while (after := by_id[place].alias_of) is not None and after in by_id and after not in seen:
            seen.add(after)
            place = after
        target[scope_id] = place
    known: dict[str, _Known] = {}
    for scope_id in sorted(by_id, key=lambda one: by_id[one].alias_of is not None):  # aliases last
        label = by_id[scope_id]
        own = label.name.rpartition(_SEPARATOR)[2] or label.name
        base = re.sub(r" \(\d+\)$", "", own)
        name = frozenset(token for token in name_tokens(base) if token not in _GENERIC and len(token) > 1)
        count = known.get(target[scope_id])
        if count is not None:
            count.names.append(name)  # what was taken in may still be called by its name
            continue
        parent = target.get(label.parent_id) if label.parent_id else None
        known[scope_id] = _Known(scope_id, own, parent, parse_goal_name(base), [name], "," in own, label)
    return known, target


def _above(scope: _Known, known: Mapping[str, _Known]) -> list[_Known]:
    path, seen = [], {scope.id}
    while scope.parent is not None and scope.parent in known and scope.parent not in seen:
        seen.add(scope.parent)
        scope = known[scope.parent]
        path.append(scope)
    return path


def _scopes(
    text: str, labels: Sequence[Label], vector: Vectors | None, gist_vectors: Mapping[str, Vectors]
) -> tuple[dict[str, float], str]:
    known, _ = _known(labels)
    if not known:
        return {}, ""
    if found := identified(text, labels):
        names = ", ".join(known[scope_id].own for scope_id in found if scope_id in known)
        for scope_id in list(found):
            for above in _above(known[scope_id], known) if scope_id in known else ():
                found.setdefault(above.id, _ABOVE)
        return found, "names " + names
    words = read_words(text)
    goals = [goal for goal in find_goals(words) if not goal.step]
    asked = {word.casefold().removesuffix("'s").removesuffix("’s") for word in _WORD.findall(text)}
    named = [scope for scope in known.values() if not scope.topic and _is_named(scope, asked, text)]
    named_ids = {scope.id for scope in named}
    weights: dict[str, float] = {}
    # Numbered goals, only under the trip or project that the question names, if it names one.
    fitting = [scope for scope in known.values() if scope.goal is not None and _numbered(scope, goals, known)]
    under = [scope for scope in fitting if any(above.id in named_ids for above in _above(scope, known))]
    chosen = under or ([] if _elsewhere(named, known) else fitting)
    for scope in chosen:
        weights[scope.id] = 1.0 if len(chosen) == 1 or under or len(goals) > 1 else 0.7
        for above in _above(scope, known):
            weights.setdefault(above.id, _ABOVE)
    for scope in named:
        if any(scope in _above(one, known) for one in chosen):
            continue  # the day says it more exactly than the trip
        weights[scope.id] = 1.0
        for below in known.values():
            if scope in _above(below, known):
                weights[below.id] = max(weights.get(below.id, 0.0), _BELOW)
    if weights:
        called = [known[scope_id].own for scope_id, weight in weights.items() if weight >= 0.7]
        return weights, "names " + ", ".join(called[:4])
    return _by_gist(asked, text, known, labels, vector, gist_vectors)


def _is_named(scope: _Known, asked: set[str], text: str) -> bool:
    return scope.goal is None and any(_calls(name, asked, text) for name in scope.names if name)


def _calls(name: frozenset[str], asked: set[str], text: str) -> bool:
    cjk = [token for token in name if _CJK.search(token)]
    if cjk:
        return any((token.removesuffix("之行").removesuffix("旅行") or token) in text for token in cjk)
    hits = sum(token in asked for token in name)
    return hits == len(name) or (hits >= 2 and hits * 3 >= 2 * len(name))


def _numbered(scope: _Known, goals: Sequence[Goal], known: Mapping[str, _Known]) -> bool:
    kind, number = scope.goal or ("", 0)
    for goal in goals:
        if goal.kind == kind and goal.number == number:
            return True
        if goal.kind in ("weekday", "date") and scope.goal is not None:
            trip = known.get(scope.parent) if scope.parent else None
            if means(goal, scope.goal, scope.label, trip.label if trip else None):
                return True
        if goal.kind == kind and goal.number == -1 and isinstance(number, int):
            rows = [
                other.goal[1]
                for other in known.values()
                if other.goal
                and other.parent == scope.parent
                and other.goal[0] == kind
                and isinstance(other.goal[1], int)
            ]
            if number == max((row for row in rows if isinstance(row, int)), default=-2):
                return True
    return False


def _elsewhere(named: Sequence[_Known], known: Mapping[str, _Known]) -> bool:
    """Whether the question names a plan that has rows of its own, none of which fits."""
    return any(other.goal is not None and scope in _above(other, known) for scope in named for other in known.values())


def _by_gist(
    asked: set[str],
    text: str,
    known: Mapping[str, _Known],
    labels: Sequence[Label],
    vector: Vectors | None,
    gist_vectors: Mapping[str, Vectors],
) -> tuple[dict[str, float], str]:
    """The one scope whose name and gist the question's words speak for, where one stands clearly out."""
    content = {word for word in asked if word not in _COMMON and len(word) > 2 and not _CJK.search(word)}
    content |= {
        text[place : place + 2] for place in range(len(text) - 1) if len(_CJK.findall(text[place : place + 2])) == 2
    }
    if len(content) < 2:
        return {}, ""
    said: dict[str, set[str]] = {}
    for label in labels:
        if label.id not in known or not (label.gist or known[label.id].topic):
            continue
        gist = Gist.parse(label.gist)
        full = f"{known[label.id].own} {gist.purpose} {' '.join(gist.names)} {gist.latest}"
        mine = {word.casefold().removesuffix("'s") for word in _WORD.findall(full)}
        mine |= {full[place : place + 2] for place in range(len(full) - 1) if _CJK.match(full[place])}
        said[label.id] = mine & content
    if len(said) < 2:
        return {}, ""
    spread = Counter(word for words in said.values() for word in words)
    scores = {
        scope_id: sum(math.log(1 + len(said) / spread[word]) for word in words) for scope_id, words in said.items()
    }
    if vector is not None:
        for scope_id in scores:
            gist_vector = gist_vectors.get(scope_id)
            if gist_vector is not None and gist_vector.shape == vector.shape:
                scores[scope_id] += 2.0 * max(0.0, float(vector @ gist_vector))
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    (best, score), second = ranked[0], ranked[1][1]
    if len(said[best]) < 2 or score < 1.6 * second or 2 * len(said[best]) < len(content) * 0.8:
        return {}, ""
    return {best: round(min(0.8, 0.4 + 0.1 * len(said[best])), 3)}, f"speaks of {known[best].own}"
